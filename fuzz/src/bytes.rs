// Makes float32 numbers and spheres from the bytes that the fuzzer generates, and makes the detector (on the
// CPU) that is tested.

use std::cell::RefCell;

use carom::{Backend, Detector, MAX_MAGNITUDE, Options, Sphere, Step};
use libfuzzer_sys::fuzz_target;

const MOST: usize = 8;

/// The input of the fuzzer. After its end, every number is 0.
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

    fn any(&mut self) -> f32 {
        valid(f32::from_le_bytes(self.take()))
    }

    /// Reads a small multiple of `unit`, a power of two, from the fuzzer's input. Such multiples and their
    /// exact sums are often equal to one another.
    fn multiple(&mut self, unit: f32) -> f32 {
        valid(f32::from(self.signed()) * unit)
    }

    /// Reads a power of two from 2⁻¹²⁷ to 2¹²⁷ from the next byte of the fuzzer's input. Half of all bytes
    /// give a power near 1.
    fn unit(&mut self) -> f32 {
        let x = i32::from(self.signed());
        2_f32.powi(if x % 2 == 0 { x / 16 } else { x })
    }
}

/// Clamps `x` to the range that carom accepts, or returns 0 if `x` is not finite.
fn valid(x: f32) -> f32 {
    if x.is_finite() {
        x.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE)
    } else {
        0.0
    }
}

/// Returns a float32 0 to 3 ulps from `x`, in the direction of the sign of `ulps`.
fn nudged(x: f32, ulps: i8) -> f32 {
    let step = |x: f32| if ulps > 0 { x.next_up() } else { x.next_down() };
    (0..ulps.unsigned_abs() % 4).fold(x, |x, _| step(x))
}

/// Triples of perpendicular vectors of equal length, in whole numbers. A path along one vector can be exactly
/// tangent to a sphere displaced along another vector.
const AXES: [[[f32; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], [0.0, 0.0, 5.0]],
    [[-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], [2.0, 2.0, -1.0]],
];
const LENGTHS: [f32; 3] = [1.0, 5.0, 3.0];

thread_local! {
    static DETECTOR: RefCell<Detector> = {
        // The thread pool has only the fuzzer's thread. Waking other threads would take longer than
        // computing a small world.
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no other global pool exists");
        // In a thin periodic cell, eight spheres may have a million images. Testing all of their pairs would
        // take minutes.
        let options = Options::new().with_backend(Backend::Cpu).with_max_candidates(1 << 22);
        RefCell::new(Detector::new(options).expect("the CPU backend is always available"))
    };
}
