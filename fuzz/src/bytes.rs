// Code that the fuzz targets of the library share: numbers made from the input of the fuzzer, and a
// detector.

use std::cell::RefCell;

use carom::{Backend, Detector, MAX_MAGNITUDE, Options, Sphere, Step};
use libfuzzer_sys::fuzz_target;

/// Maximum number of spheres in a world.
const MOST: usize = 8;

/// Reads numbers from the input of the fuzzer. After the end of the input, it reads zeros.
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

    /// Reads a float32 of any valid value.
    fn any(&mut self) -> f32 {
        valid(f32::from_le_bytes(self.take()))
    }

    /// Reads a small multiple of `unit`, which is a power of two. Such multiples are often equal to
    /// one another. Their sums are often exact, and equal to other multiples or sums.
    fn multiple(&mut self, unit: f32) -> f32 {
        valid(f32::from(self.signed()) * unit)
    }

    /// Reads a power of two from 2⁻¹²⁷ to 2¹²⁷. Powers near 1 are more frequent.
    fn unit(&mut self) -> f32 {
        let x = i32::from(self.signed());
        2_f32.powi(if x % 2 == 0 { x / 16 } else { x })
    }
}

/// Returns `x` clamped to the range of valid inputs, or 0 if `x` is not finite.
fn valid(x: f32) -> f32 {
    if x.is_finite() {
        x.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE)
    } else {
        0.0
    }
}

/// Returns the float32 that is up to 3 ulps above or below `x`, or `x` itself. The number of ulps
/// is |`ulps`| modulo 4, and the sign of `ulps` gives the direction.
fn nudged(x: f32, ulps: i8) -> f32 {
    let step = |x: f32| if ulps > 0 { x.next_up() } else { x.next_down() };
    (0..ulps.unsigned_abs() % 4).fold(x, |x, _| step(x))
}

/// Triples of perpendicular vectors of equal length, all with integer coordinates. A path along one
/// vector of a triple can be exactly tangent to a sphere that is displaced along another one.
const AXES: [[[f32; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], [0.0, 0.0, 5.0]],
    [[-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], [2.0, 2.0, -1.0]],
];
/// For each triple of [`AXES`]: the length of its vectors.
const LENGTHS: [f32; 3] = [1.0, 5.0, 3.0];

thread_local! {
    static DETECTOR: RefCell<Detector> = {
        // The thread pool consists of this thread only, because waking other threads would take
        // longer than the computation of a small world.
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no other global pool exists");
        let options = Options::new().with_backend(Backend::Cpu);
        RefCell::new(Detector::new(options).expect("the CPU backend is always available"))
    };
}
