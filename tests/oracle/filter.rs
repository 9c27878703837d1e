//! The definition in float64, with bounds on the rounding errors.
//!
//! Each condition of the definition is the sign of a number. Here each number comes with a bound on
//! its error. Its sign is certain when its magnitude exceeds the bound.
//!
//! **No overflow, no underflow.** Inputs are 0 or between 2⁻¹⁴⁹ and 2⁶⁰ in magnitude, and the
//! products below are of degree six at most. So all products are 0 or between 2⁻⁸⁹⁴ and 2³⁷², which
//! are normal numbers of float64. Every operation therefore has a *relative* error of at most
//! u = 2⁻⁵³, and a sum whose error bound is 0 is a sum of exact zeros, which is exact.
//!
//! **Rounding errors.** (k) stands for a relative error of at most k·u, up to terms in u²:
//! - p and v, componentwise, and r are one operation on float32 values: (1).
//! - p·p and v·v are sums of positive terms: (1) + (1) for the factors, 1 for the product, 2 for
//!   the sums: (5).
//! - r·r: (3). So the error of c is at most 5u·(p·p + r·r).
//! - p·v: the same count, but its terms may cancel, so the error is at most 5u·Σ|pₖvₖ|.
//! - a·dt: (6).
//! - q = p + v·dt: u|pₖ| for p, 2u|vₖ|dt for v·dt, and u|qₖ| for the sum, so eₖ = 4u(|pₖ| + |vₖ|dt)
//!   is a bound on the error of qₖ. An error of eₖ in qₖ changes its square by at most
//!   eₖ(2|qₖ| + eₖ). Squaring and adding contribute another 3u·q·q.
//! - x = p × v, with components pᵢvⱼ − pⱼvᵢ: 3 for each product, 1 for the difference, so the bound
//!   is eₖ = 4u(|pᵢvⱼ| + |pⱼvᵢ|). x·x is bounded like q·q.
//! - r²·a: 3 + 5 + 1 = (9).
//!
//! Every bound below takes 8u where at most 6u is needed, and 16u where 9u is. This more than
//! covers the terms in u² and the rounding of the bound itself.
//!
//! **Sharpness.** b² − a·c cancels. Lagrange's identity b² + |p × v|² = |p|²·|v|² turns it into
//! r²·a − |p × v|², which cancels only near tangency. So a pair is left undecided only when its
//! closest approach d differs from r by at most about 20u·|p| or 20u·r, a relative difference of
//! 2·10⁻¹⁵.

use std::cmp::Ordering;

use carom::Sphere;

/// Half an ulp of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A computed number, and a bound on its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// Returns the sign of the exact number, if it is certain.
    pub(crate) fn sign(self) -> Option<Ordering> {
        let known = self.value.abs() > self.error || self.error == 0.0;
        if known {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }
}

/// The motion of one sphere relative to another.
pub(crate) struct Relative {
    p: [f64; 3],
    v: [f64; 3],
    r: f64,
    dt: f64,
}

impl Relative {
    /// Returns the motion of `b` relative to `a`.
    pub(crate) fn new(a: &Sphere, b: &Sphere, dt: f32) -> Self {
        let difference =
            |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|k| f64::from(b[k]) - f64::from(a[k]));
        Self {
            p: difference(a.center, b.center),
            v: difference(a.velocity, b.velocity),
            r: f64::from(a.radius) + f64::from(b.radius),
            dt: f64::from(dt),
        }
    }

    fn r_squared(&self) -> f64 {
        self.r * self.r
    }

    /// Returns a = v·v.
    fn a(&self) -> f64 {
        sum(|k| self.v[k] * self.v[k])
    }

    /// Returns the distance of the centres at the start.
    pub(crate) fn distance(&self) -> f64 {
        sum(|k| self.p[k] * self.p[k]).sqrt()
    }

    /// Returns the sum of the radii.
    pub(crate) fn r(&self) -> f64 {
        self.r
    }

    /// Returns c = p·p − r².
    pub(crate) fn outside(&self) -> Bounded {
        let [pp, rr] = [sum(|k| self.p[k] * self.p[k]), self.r_squared()];
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr),
        }
    }

    /// Returns −b = −p·v.
    pub(crate) fn closing(&self) -> Bounded {
        let product = |k: usize| self.p[k] * self.v[k];
        Bounded {
            value: -sum(product),
            error: 8.0 * U * sum(|k| product(k).abs()),
        }
    }

    /// Returns −b − a·dt, which is positive when the closest approach is after the step.
    fn after_step(&self) -> Bounded {
        let closing = self.closing();
        let at_end = self.a() * self.dt;
        Bounded {
            value: closing.value - at_end,
            error: closing.error + 8.0 * U * at_end,
        }
    }

    /// Returns c + 2b·dt + a·dt² = q·q − r² with q = p + v·dt.
    fn outside_at_end(&self) -> Bounded {
        let q = |k: usize| self.p[k] + self.v[k] * self.dt;
        let error = |k: usize| 8.0 * U * (self.p[k].abs() + (self.v[k] * self.dt).abs());
        let qq = sum(|k| q(k) * q(k));
        let moved = sum(|k| error(k) * (2.0 * q(k).abs() + error(k)));
        let rr = self.r_squared();
        Bounded {
            value: qq - rr,
            error: moved + 8.0 * U * (qq + rr),
        }
    }

    /// Returns b² − a·c = r²·a − |p × v|².
    pub(crate) fn discriminant(&self) -> Bounded {
        let products = |k: usize| {
            let [i, j] = [(k + 1) % 3, (k + 2) % 3];
            [self.p[i] * self.v[j], self.p[j] * self.v[i]]
        };
        let x = |k| products(k)[0] - products(k)[1];
        let error = |k| 8.0 * U * (products(k)[0].abs() + products(k)[1].abs());
        let xx = sum(|k| x(k) * x(k));
        let moved = sum(|k| error(k) * (2.0 * x(k).abs() + error(k)));
        let rra = self.r_squared() * self.a();
        Bounded {
            value: rra - xx,
            error: moved + 16.0 * U * (xx + rra),
        }
    }

    /// Returns whether the spheres collide, or `None` if float64 cannot decide it.
    pub(crate) fn collides(&self) -> Option<bool> {
        if self.outside().sign()? != Ordering::Greater {
            return Some(true);
        }
        if self.closing().sign()? != Ordering::Greater {
            return Some(false);
        }
        if self.after_step().sign()? == Ordering::Greater {
            Some(self.outside_at_end().sign()? != Ordering::Greater)
        } else {
            Some(self.discriminant().sign()? != Ordering::Less)
        }
    }
}

/// Returns whether two spheres collide, or `None` if float64 cannot decide it.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> Option<bool> {
    Relative::new(a, b, dt).collides()
}

fn sum(term: impl Fn(usize) -> f64) -> f64 {
    term(0) + term(1) + term(2)
}
