//! Simulates the filter on a GPU with the largest errors that WGSL allows. Rounding, fusing,
//! flushing of subnormal numbers and the order of sums are random.

#![allow(
    clippy::cast_possible_truncation,
    reason = "this code simulates rounding to float32"
)]

use fastrand::Rng;

use super::{ABSOLUTE, LINEAR, QUADRATIC, ROUNDING, SLOW, SLOWLY, SQUARES};
use crate::shared::sorted::SortedProxy;

pub(super) struct AnyGpu {
    rng: Rng,
    up: Option<bool>,
    flushes: bool,
    fuses: bool,
}

impl AnyGpu {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        Self {
            up: *rng
                .choice(&[None, Some(false), Some(true)])
                .unwrap_or(&None),
            flushes: rng.bool(),
            fuses: rng.bool(),
            rng,
        }
    }

    /// Always up, always down, or at random. Subnormal results may become zero.
    fn round(&mut self, x: f64) -> f32 {
        let nearest = x as f32;
        let up = self.up.unwrap_or_else(|| self.rng.bool());
        let rounded = if up && f64::from(nearest) < x {
            nearest.next_up()
        } else if !up && f64::from(nearest) > x {
            nearest.next_down()
        } else {
            nearest
        };
        self.flush(rounded)
    }

    fn flush(&self, x: f32) -> f32 {
        if self.flushes && x.is_subnormal() {
            0.0
        } else {
            x
        }
    }

    fn add(&mut self, x: f32, y: f32) -> f32 {
        let [x, y] = [x, y].map(|x| f64::from(self.flush(x)));
        self.round(x + y)
    }

    fn mul(&mut self, x: f32, y: f32) -> f32 {
        let [x, y] = [x, y].map(|x| f64::from(self.flush(x)));
        self.round(x * y)
    }

    fn mul_add(&mut self, x: f32, y: f32, z: f32) -> f32 {
        if self.fuses {
            let [x, y, z] = [x, y, z].map(|x| f64::from(self.flush(x)));
            self.round(x * y + z)
        } else {
            let product = self.mul(x, y);
            self.add(product, z)
        }
    }

    fn div(&mut self, x: f32, y: f32) -> f32 {
        let [x, y] = [x, y].map(|x| f64::from(self.flush(x)));
        let quotient = x / y;
        // 2⁻²³ times the power of two of the quotient.
        let octave = f64::from_bits(quotient.abs().to_bits() >> 52 << 52);
        let ulp = f64::from(f32::EPSILON) * octave;
        let off = match self.up {
            Some(true) => 1.0,
            Some(false) => -1.0,
            None => self.rng.f64() * 2.0 - 1.0,
        };
        // WGSL allows a division 2.5 ulps: up to 1.5 here, and 1 by rounding.
        self.round(quotient + off * 1.5 * ulp)
    }

    fn subtract(&mut self, x: [f32; 3], y: [f32; 3]) -> [f32; 3] {
        [0, 1, 2].map(|k| self.add(x[k], -y[k]))
    }

    fn dot(&mut self, x: [f32; 3], y: [f32; 3]) -> f32 {
        let first = self.rng.usize(0..3);
        let [a, b, c] = [first, (first + 1) % 3, (first + 2) % 3];
        let mut sum = self.mul(x[a], y[a]);
        sum = self.mul_add(x[b], y[b], sum);
        self.mul_add(x[c], y[c], sum)
    }

    fn sum(&mut self, x: [f32; 3]) -> f32 {
        let sum = self.add(x[0].abs(), x[1].abs());
        self.add(sum, x[2].abs())
    }

    /// Simulates `shaders/shared/filter.wgsl`. Returns r² − q·q and the bound of its error.
    pub(super) fn filter_pair(&mut self, i: &SortedProxy, j: &SortedProxy, dt: f32) -> [f32; 2] {
        let p = self.subtract(j.center, i.center);
        let v = self.subtract(j.velocity, i.velocity);
        let r = self.add(j.radius, i.radius);
        let (a, b) = (self.dot(v, v), self.dot(p, v));
        let slow = a < SLOW;
        let mut t = 0.0;
        if !slow {
            t = self.div(-b, a).clamp(0.0, dt);
        }
        if t < f32::MIN_POSITIVE {
            t = 0.0;
        }
        let q = [0, 1, 2].map(|k| self.mul_add(v[k], t, p[k]));
        let (rr, qq) = (self.mul(r, r), self.dot(q, q));
        let margin = if self.rng.bool() {
            self.add(rr, -qq)
        } else {
            let mut rest = rr;
            for x in q {
                rest = self.mul_add(-x, x, rest);
            }
            rest
        };
        let (distance, speed) = (self.sum(p), self.sum(v));
        let path = self.mul(speed, t);
        let reach = self.mul_add(2.0, path, distance);
        let rounding = self.mul(ROUNDING, reach);
        let across = self.sum(q);
        let linear = self.mul(LINEAR, across);
        let linear = self.mul_add(QUADRATIC, rounding, linear);
        let squares = self.add(rr, qq);
        let squares = self.mul_add(ROUNDING * SQUARES, squares, ABSOLUTE);
        let mut bound = self.mul_add(rounding, linear, squares);
        if slow {
            let shift = self.mul(speed, dt);
            let change = self.mul(SLOWLY * distance, shift);
            bound = self.add(bound, change);
        }
        [margin, bound]
    }
}
