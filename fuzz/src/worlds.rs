//! Fuzz target: in small worlds made from arbitrary bytes, carom's list of collisions must be equal, bit for
//! bit, to that of exact brute force.

#![no_main]

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

include!("bytes.rs");

fn world(bytes: &mut Bytes<'_>) -> (Vec<Sphere>, f32) {
    let (length, speed) = (bytes.unit(), bytes.unit());
    let mut dt = match bytes.byte() % 4 {
        0 => 1.0,
        1 => bytes.any().abs(),
        2 => bytes.unit().min(MAX_MAGNITUDE),
        _ => bytes.multiple(1.0 / 16.0).abs(),
    };
    let mut spheres: Vec<Sphere> = Vec::new();
    while !bytes.0.is_empty() && spheres.len() < MOST {
        let kind = bytes.byte();
        let last = spheres.last().copied().unwrap_or_default();
        let mut sphere = match kind % 8 {
            0 => Sphere::new(std::array::from_fn(|_| bytes.any()), bytes.any().abs())
                .with_velocity(std::array::from_fn(|_| bytes.any())),
            1..4 => Sphere::new(
                std::array::from_fn(|_| bytes.multiple(length)),
                bytes.multiple(length).abs(),
            )
            .with_velocity(std::array::from_fn(|_| bytes.multiple(speed))),
            4 => last,
            // The new sphere passes the previous sphere at a distance and a time from the input of the
            // fuzzer.
            _ => {
                let axes = usize::from(bytes.byte()) % 3;
                let [along, across, _] = AXES[axes];
                let [part, miss] = [bytes.signed(), bytes.signed()].map(f32::from);
                let velocity: [f32; 3] =
                    std::array::from_fn(|k| valid(last.velocity[k] + along[k] * speed));
                let center = std::array::from_fn(|k| {
                    let relative = velocity[k] - last.velocity[k];
                    valid(last.center[k] + across[k] * miss * length - relative * dt * part / 64.0)
                });
                let sum = valid(LENGTHS[axes] * miss.abs() * length);
                Sphere::new(center, (sum - last.radius).max(0.0)).with_velocity(velocity)
            }
        };
        if kind & 0x40 != 0 {
            let field = bytes.byte();
            let ulps = bytes.signed();
            let number = match field % 7 {
                k @ 0..3 => &mut sphere.center[usize::from(k)],
                k @ 3..6 => &mut sphere.velocity[usize::from(k) - 3],
                _ => &mut sphere.radius,
            };
            *number = valid(nudged(*number, ulps));
            sphere.radius = sphere.radius.max(0.0);
        }
        if kind & 0x80 != 0 {
            // A sphere is in some of the collision groups 0 to 3, and ignores some of them.
            let groups = bytes.byte();
            sphere = sphere.with_groups(u16::from(groups & 15), u16::from(groups >> 4));
        }
        spheres.push(sphere);
    }
    // Displacements during the time step, like coordinates, must not exceed MAX_MAGNITUDE. A shorter time
    // step makes them smaller.
    let fastest = spheres.iter().flat_map(|sphere| sphere.velocity);
    let fastest = fastest.fold(0.0_f32, |fastest, v| fastest.max(v.abs()));
    while fastest * dt > MAX_MAGNITUDE {
        dt *= 0.5;
    }
    (spheres, dt)
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let head = bytes.byte();
    let two_sets = head % 4 == 0;
    let (mut spheres, dt) = world(&mut bytes);
    // The fuzz input also chooses into how many time segments carom cuts the longest path. In a
    // build with `--cfg carom_fuzzing`, carom reads this choice from three bits of the first
    // sphere, which say whether the sphere ignores the collision groups 12 to 14. No sphere is in
    // these groups, so the bits do not change which spheres collide.
    if let Some(first) = spheres.first_mut() {
        first.groups |= u32::from(head >> 5) << 28;
    }
    DETECTOR.with_borrow_mut(|detector| {
        let (first, second) = spheres.split_at(spheres.len() / 2);
        let differences = if two_sets {
            let found = detector.detect(&Step::between(first, second, dt));
            let found = found.expect("every number is valid");
            let truth = oracle::brute_force_between(first, second, dt);
            oracle::check::differences(&truth, first, second, dt, &found.pairs)
        } else {
            let found = detector.detect(&Step::new(&spheres, dt));
            let found = found.expect("every number is valid");
            let truth = oracle::brute_force(&spheres, dt);
            oracle::check::differences(&truth, &spheres, &spheres, dt, &found.pairs)
        };
        assert!(differences.is_empty(), "{differences}");
    });
});
