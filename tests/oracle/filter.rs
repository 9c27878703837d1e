//! The definition in float64, with a bound on what rounding may have done.
//!
//! Each question of the definition is the sign of a number; here each number comes with a bound of
//! its error, and its sign is known when it is larger than that.
//!
//! **No overflow, no underflow.** Inputs are 0 or between 2⁻¹⁴⁹ and 2⁶⁰ and the products below are
//! of degree six at most, so they are 0 or between 2⁻⁸⁹⁴ and 2³⁷²: all normal numbers of float64.
//! So every operation has a *relative* error of at most u = 2⁻⁵³, and a sum whose error bound is 0
//! is a sum of exact zeros, exact itself.
//!
//! **What is rounded.** With (k) for a relative error of at most k·u, up to terms in u²:
//! - p, v componentwise and r are one operation on float32 values: (1).
//! - p·p, v·v, of positive terms: (1) + (1) for the factors, 1 for the product, 2 for the sums: (5).
//! - r·r: (3). So c is off by at most 5u·(p·p + r·r).
//! - p·v: the same count, but terms may cancel: at most 5u·Σ|pₖvₖ|.
//! - a·dt: (6).
//! - q = p + v·dt: u|pₖ| and 2u|vₖ|dt from before, and u|qₖ| for the sum: eₖ = 4u(|pₖ| + |vₖ|dt) is
//!   enough. An error of eₖ in qₖ moves its square by at most eₖ(2|qₖ| + eₖ); squaring and adding
//!   rounds by another 3u·q·q.
//! - x = p × v, a component pᵢvⱼ − pⱼvᵢ: 3 for each product, 1 for the difference, so
//!   eₖ = 4u(|pᵢvⱼ| + |pⱼvᵢ|), and x·x as q·q.
//! - r²·a: 3 + 5 + 1 = (9).
//!
//! Every bound below takes 8u where at most 5u or 6u is needed, and 16u for the 9u, which more than
//! covers the terms in u² and the rounding of the bound itself.
//!
//! **How sharp it is.** b² − a·c cancels; Lagrange's identity b² + |p × v|² = |p|²·|v|² makes it
//! r²·a − |p × v|², which does so only near tangency. A pair is left undecided only when its closest
//! approach d differs from r by some 20u·|p| or 20u·r: relative to those, 2·10⁻¹⁵.

use std::cmp::Ordering;

use carom::Sphere;

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A computed number, and how far it may be from the true one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// The sign of the true number, if that can be told.
    pub(crate) fn sign(self) -> Option<Ordering> {
        let known = self.value.abs() > self.error || self.error == 0.0;
        if known {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }
}

/// The motion of one sphere as seen from another.
pub(crate) struct Relative {
    p: [f64; 3],
    v: [f64; 3],
    r: f64,
    dt: f64,
}

impl Relative {
    /// Of `b` as seen from `a`.
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

    /// v·v.
    fn a(&self) -> f64 {
        sum(|k| self.v[k] * self.v[k])
    }

    /// The distance of the centres at the start.
    pub(crate) fn distance(&self) -> f64 {
        sum(|k| self.p[k] * self.p[k]).sqrt()
    }

    /// The sum of the radii.
    pub(crate) fn r(&self) -> f64 {
        self.r
    }

    /// c = p·p − r².
    pub(crate) fn outside(&self) -> Bounded {
        let [pp, rr] = [sum(|k| self.p[k] * self.p[k]), self.r_squared()];
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr),
        }
    }

    /// −b = −p·v.
    pub(crate) fn closing(&self) -> Bounded {
        let product = |k: usize| self.p[k] * self.v[k];
        Bounded {
            value: -sum(product),
            error: 8.0 * U * sum(|k| product(k).abs()),
        }
    }

    /// −b − a·dt: positive when the closest approach comes after the step.
    fn after_step(&self) -> Bounded {
        let closing = self.closing();
        let at_end = self.a() * self.dt;
        Bounded {
            value: closing.value - at_end,
            error: closing.error + 8.0 * U * at_end,
        }
    }

    /// c + 2b·dt + a·dt² = q·q − r² with q = p + v·dt.
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

    /// b² − a·c = r²·a − |p × v|².
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

    /// Whether they collide, if that can be told.
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

/// Whether two spheres collide; `None` when float64 cannot tell.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> Option<bool> {
    Relative::new(a, b, dt).collides()
}

fn sum(term: impl Fn(usize) -> f64) -> f64 {
    term(0) + term(1) + term(2)
}
