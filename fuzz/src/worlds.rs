//! Small worlds made from raw bytes: the list has to be what brute force in exact arithmetic gives,
//! to the last bit of every time.

#![no_main]

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

use std::cell::RefCell;

use carom::{Backend, Detector, MAX_MAGNITUDE, Options, Sphere, Step};
use libfuzzer_sys::fuzz_target;

/// Spheres in a world at most.
const MOST: usize = 8;

/// Reads numbers off raw bytes; past their end there are zeros.
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

    /// Any float32 that is valid.
    fn any(&mut self) -> f32 {
        valid(f32::from_le_bytes(self.take()))
    }

    /// A multiple of a power of two, of which many are the same, or add up to others.
    fn multiple(&mut self, unit: f32) -> f32 {
        valid(f32::from(self.signed()) * unit)
    }

    /// A power of two from 2⁻¹²⁸ to 2¹²⁷, towards 1 more often.
    fn unit(&mut self) -> f32 {
        let x = i32::from(self.signed());
        2_f32.powi(if x % 2 == 0 { x / 16 } else { x })
    }
}

fn valid(x: f32) -> f32 {
    if x.is_finite() {
        x.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE)
    } else {
        0.0
    }
}

/// So many float32 above or below.
fn nudged(x: f32, ulps: i8) -> f32 {
    let step = |x: f32| if ulps > 0 { x.next_up() } else { x.next_down() };
    (0..ulps.unsigned_abs() % 4).fold(x, |x, _| step(x))
}

/// Directions, each with two across it that are as long, so that tangents are exact.
const AXES: [[[f32; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], [0.0, 0.0, 5.0]],
    [[-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], [2.0, 2.0, -1.0]],
];
/// How long those are.
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
            // Passes the last one at some distance, at some time.
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
            // Of twelve, see below.
            let groups = bytes.byte();
            sphere = sphere.with_groups(u16::from(groups & 15), u16::from(groups >> 4));
        }
        spheres.push(sphere);
    }
    // Displacements have a limit too.
    let fastest = spheres.iter().flat_map(|sphere| sphere.velocity);
    let fastest = fastest.fold(0.0_f32, |fastest, v| fastest.max(v.abs()));
    while fastest * dt > MAX_MAGNITUDE {
        dt *= 0.5;
    }
    (spheres, dt)
}

thread_local! {
    static DETECTOR: RefCell<Detector> = {
        // One thread, this one: waking others takes longer than a world does.
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("there is no other pool yet");
        let options = Options::new().with_backend(Backend::Cpu);
        RefCell::new(Detector::new(options).expect("the CPU is always there"))
    };
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let head = bytes.byte();
    let two_sets = head % 4 == 0;
    let (mut spheres, dt) = world(&mut bytes);
    // Bits that are no group of any sphere here: into how many segments the longest way is cut.
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
