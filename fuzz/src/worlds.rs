//! Fuzz target: for small worlds made from arbitrary bytes, the list must equal the list found by
//! brute force in exact arithmetic, bit for bit.

#![no_main]

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

use std::cell::RefCell;

use carom::{Backend, Detector, MAX_MAGNITUDE, Options, Sphere, Step};
use libfuzzer_sys::fuzz_target;

/// Maximum number of spheres in a world.
const MOST: usize = 8;

/// Reads numbers from bytes. After the end of the bytes, it reads zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let n = N.min(self.0.len());
        taken[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        taken
    }

    fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    fn signed(&mut self) -> i8 {
        i8::from_le_bytes(self.take())
    }

    /// Returns any valid float32.
    fn any(&mut self) -> f32 {
        valid(f32::from_le_bytes(self.take()))
    }

    /// Returns a small multiple of `unit`, a power of two. Such numbers are often equal, and their
    /// sums are often exact and equal to other numbers.
    fn multiple(&mut self, unit: f32) -> f32 {
        valid(f32::from(self.signed()) * unit)
    }

    /// Returns a power of two from 2⁻¹²⁷ to 2¹²⁷. Powers near 1 are more frequent.
    fn unit(&mut self) -> f32 {
        let x = i32::from(self.signed());
        2_f32.powi(if x % 2 == 0 { x / 16 } else { x })
    }
}

/// Returns `x` clamped to the valid range, or 0 if `x` is not finite.
fn valid(x: f32) -> f32 {
    if x.is_finite() {
        x.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE)
    } else {
        0.0
    }
}

/// Returns the float32 that is up to 3 steps above or below `x`. The sign of `ulps` gives the
/// direction.
fn nudged(x: f32, ulps: i8) -> f32 {
    let step = |x: f32| if ulps > 0 { x.next_up() } else { x.next_down() };
    (0..ulps.unsigned_abs() % 4).fold(x, |x, _| step(x))
}

/// Triples of perpendicular vectors of equal integer length. With them, a path along one vector can
/// be exactly tangent to a sphere displaced along another.
const AXES: [[[f32; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], [0.0, 0.0, 5.0]],
    [[-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], [2.0, 2.0, -1.0]],
];
/// Lengths of the vectors in [`AXES`].
const LENGTHS: [f32; 3] = [1.0, 5.0, 3.0];

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
            // A sphere that passes the previous sphere at a chosen distance, at a chosen time.
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
            // Only groups 0 to 3 have members. The fuzz target below uses the groups from 12 on.
            let groups = bytes.byte();
            sphere = sphere.with_groups(u16::from(groups & 15), u16::from(groups >> 4));
        }
        spheres.push(sphere);
    }
    // The library also limits displacements, velocity times dt, to MAX_MAGNITUDE.
    let fastest = spheres.iter().flat_map(|sphere| sphere.velocity);
    let fastest = fastest.fold(0.0_f32, |fastest, v| fastest.max(v.abs()));
    while fastest * dt > MAX_MAGNITUDE {
        dt *= 0.5;
    }
    (spheres, dt)
}

thread_local! {
    static DETECTOR: RefCell<Detector> = {
        // The pool consists of this thread only: waking other threads takes longer than a world.
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no other global pool exists");
        let options = Options::new().with_backend(Backend::Cpu);
        RefCell::new(Detector::new(options).expect("the CPU backend is always available"))
    };
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let head = bytes.byte();
    let two_sets = head % 4 == 0;
    let (mut spheres, dt) = world(&mut bytes);
    // The first sphere ignores some of the groups 12 to 14, which have no members. In a build with
    // `carom_fuzzing`, the library derives from them into how many segments the longest path is
    // cut.
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
