//! Decides, in float64 with bounds on the rounding errors, whether two spheres collide.
//!
//! Each condition of the definition of a collision depends on the sign of a number. In this file,
//! each such number comes with a bound on its error. The sign is certain when the magnitude of the
//! number exceeds the bound.
//!
//! **No overflow, no underflow.** Inputs are 0 or between 2⁻¹⁴⁹ and 2⁶⁰ in magnitude, and the
//! products below are of degree six at most. So all products are 0 or between 2⁻⁸⁹⁴ and 2³⁷², which
//! are normal numbers of float64. Every operation therefore has a *relative* error of at most
//! u = 2⁻⁵³. A sum whose error bound is 0 is a sum of exact zeros, so it is exact.
//!
//! **Rounding errors.** (k) stands for a relative error of at most k·u, up to terms in u²:
//! - Each component of p and v, and r, is the result of one operation on float32 values: (1).
//! - p·p and v·v are sums of positive terms: (1) + (1) for the factors, 1 for the product, 2 for
//!   the sums, which makes (5).
//! - r·r: (3). So the error of c is at most 5u·(p·p + r·r).
//! - p·v: as many roundings as in p·p, but its terms may cancel. So the error is at most
//!   5u·Σ|pₖvₖ|.
//! - a·dt: (6).
//! - q = p + v·dt: the errors are u|pₖ| for p, 2u|vₖ|dt for v·dt, and u|qₖ| for the sum. So
//!   eₖ = 4u(|pₖ| + |vₖ|dt) is a bound on the error of qₖ. An error of eₖ in qₖ changes its square
//!   by at most eₖ(2|qₖ| + eₖ). Squaring and adding contribute another 3u·q·q.
//! - x = p × v, with components pᵢvⱼ − pⱼvᵢ: 3 for each product and 1 for the difference. So the
//!   bound is eₖ = 4u(|pᵢvⱼ| + |pⱼvᵢ|). The error of x·x has a bound like that of q·q.
//! - r²·a: 3 + 5 + 1, which makes (9).
//!
//! Every bound in the code has the factor 8u where at most 6u is needed, and 16u where 9u is
//! needed. The larger factor more than covers the terms in u² and the rounding of the bound itself.
//!
//! **Sharpness.** The difference b² − a·c loses digits by cancellation. Lagrange's identity
//! b² + |p × v|² = |p|²·|v|² turns it into r²·a − |p × v|², which cancels only near tangency. So a
//! pair is left undecided only when its closest approach d differs from r by at most about 20u·|p|
//! or 20u·r, a relative difference of 2·10⁻¹⁵.

use std::cmp::Ordering;

use carom::Sphere;

/// The relative rounding error u of float64: half an ulp of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A computed number, and a bound on the magnitude of its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// Returns the sign of the exact number, or `None` if the error leaves the sign open.
    pub(crate) fn sign(self) -> Option<Ordering> {
        let known = self.value.abs() > self.error || self.error == 0.0;
        if known {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }
}

/// The motion of one sphere relative to another: the relative position p and velocity v, the sum of
/// the radii r, and the length of the step dt.
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

    /// Returns a = v·v, the square of the relative speed.
    fn a(&self) -> f64 {
        sum(|k| self.v[k] * self.v[k])
    }

    /// Returns |p|, the distance of the centres at the start.
    pub(crate) fn distance(&self) -> f64 {
        sum(|k| self.p[k] * self.p[k]).sqrt()
    }

    /// Returns r, the sum of the radii.
    pub(crate) fn r(&self) -> f64 {
        self.r
    }

    /// Returns c = p·p − r², which is positive when the spheres do not touch at the start.
    pub(crate) fn outside(&self) -> Bounded {
        let [pp, rr] = [sum(|k| self.p[k] * self.p[k]), self.r_squared()];
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr),
        }
    }

    /// Returns −b = −p·v, which is positive when the spheres approach each other at the start.
    pub(crate) fn closing(&self) -> Bounded {
        let product = |k: usize| self.p[k] * self.v[k];
        Bounded {
            value: -sum(product),
            error: 8.0 * U * sum(|k| product(k).abs()),
        }
    }

    /// Returns −b − a·dt, which is positive when the spheres still approach each other at the end
    /// of the step.
    fn after_step(&self) -> Bounded {
        let closing = self.closing();
        let at_end = self.a() * self.dt;
        Bounded {
            value: closing.value - at_end,
            error: closing.error + 8.0 * U * at_end,
        }
    }

    /// Returns c + 2b·dt + a·dt² = q·q − r² with q = p + v·dt, which is positive when the spheres
    /// do not touch at the end of the step.
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

    /// Returns the discriminant b² − a·c = r²·a − |p × v|², which is negative when the spheres
    /// would never touch, even if the step had no start and no end.
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

    /// Returns whether the spheres collide during the step, or `None` if float64 cannot decide
    /// this.
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

/// Returns whether two spheres collide during the step, or `None` if float64 cannot decide this.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> Option<bool> {
    Relative::new(a, b, dt).collides()
}

fn sum(term: impl Fn(usize) -> f64) -> f64 {
    term(0) + term(1) + term(2)
}
