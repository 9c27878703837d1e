//! Powers of two by which numbers in float64 are scaled.

/// Powers of two that bring most lengths of a world to about 1, and dt to between 1 and 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideScale {
    pub(crate) length: f64,
    pub(crate) time: f64,
    /// Two factors of velocities. Their product might overflow.
    pub(crate) speed: [f64; 2],
}

impl WideScale {
    /// Returns the scale that brings the length `size` to about `to`, which is a power of two.
    pub(crate) fn new(size: f64, to: f64, dt: f64) -> Self {
        let length = if size > 0.0 {
            exponent(to) - exponent(size)
        } else {
            0
        };
        let time = if dt > 0.0 { exponent(dt) } else { 0 };
        let (length, time) = (length.clamp(-900, 900), time.clamp(-900, 900));
        let speed = length + time;
        // Both factors are at most 1, or both are at least 1, so the first product loses no digits that the second keeps.
        let speed = [speed / 2, speed - speed / 2].map(power);
        Self {
            length: power(length),
            time: power(-time),
            // The speeds of a step of duration 0 do not matter.
            speed: if dt > 0.0 { speed } else { [0.0; 2] },
        }
    }

    /// Returns a velocity in these units.
    pub(crate) fn speeds(&self, velocity: [f64; 3]) -> [f64; 3] {
        velocity.map(|v| v * self.speed[0] * self.speed[1])
    }
}

/// Returns the exponent of the greatest power of two that is at most `x`, or -1023 for smaller numbers.
pub(super) fn exponent(x: f64) -> i32 {
    i32::try_from(x.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

/// Returns the power of two that brings a length to about 1, if it does not overflow.
pub(crate) fn to_one(length: f64) -> f64 {
    power((-exponent(length)).min(1000))
}

pub(super) fn power(exponent: i32) -> f64 {
    f64::from_bits(u64::try_from(1023 + exponent.clamp(-1022, 1023)).unwrap_or(1023) << 52)
}
