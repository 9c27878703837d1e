// Makes float32 numbers from the bytes that the fuzzer generates.

use carom::{MAX_MAGNITUDE, Sphere};

include!("input.rs");

const MOST_CANDIDATES: u64 = 1 << 22;

impl Bytes<'_> {
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
