//! Decides in float64 whether two spheres collide. The decision depends on the signs of computed
//! numbers. A sign is certain if the magnitude of the number exceeds a bound on its rounding error.
//! Otherwise, the pair is left undecided.
//!
//! Neither overflow nor underflow is possible: all coordinates, radii and velocities are 0 or between 2⁻¹⁴⁹
//! and 2⁶⁰ in magnitude, and no product has more than six factors. So every operation has a relative rounding
//! error of at most u = 2⁻⁵³.
//!
//! The factors of the error bounds are larger than necessary: 8u instead of 6u, or 16u instead of
//! 9u. The rest covers terms in u² and the rounding of the bounds.
//!
//! The discriminant (p·v)² − v·v·(p·p − r²) of two spheres at relative position p is computed as r²·(v·v) −
//! |p × v|², which loses digits to cancellation only for nearly tangent pairs. Float64 leaves a pair
//! undecided only if its closest approach differs from the sum of the radii r by at most about 20u·|p| or
//! 20u·r, with u = 2⁻⁵³.

use std::cmp::Ordering;

use carom::Sphere;

/// Largest relative rounding error of an operation in float64: 2⁻⁵³.
const U: f64 = f64::EPSILON / 2.0;

/// A computed number, and a bound on the magnitude of its rounding error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// Returns the sign of the exact number, or `None` if the error bound leaves it open. An error bound of 0
    /// occurs only if the number is exactly 0.
    pub(crate) fn sign(self) -> Option<Ordering> {
        let known = self.value.abs() > self.error || self.error == 0.0;
        if known {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }
}

/// The relative position p, the relative velocity v and the sum of the radii r of two spheres, and the length
/// dt of the time step.
pub(crate) struct Relative {
    p: [f64; 3],
    v: [f64; 3],
    r: f64,
    dt: f64,
}

impl Relative {
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

    fn a(&self) -> f64 {
        sum(|k| self.v[k] * self.v[k])
    }

    pub(crate) fn distance(&self) -> f64 {
        sum(|k| self.p[k] * self.p[k]).sqrt()
    }

    pub(crate) fn r(&self) -> f64 {
        self.r
    }

    /// Returns c = p·p − r². It is positive if two spheres do not touch at the start. p is their
    /// relative position, and r is the sum of their radii. The error of p·p is at most 5u·p·p and
    /// the error of r² at most 3u·r², with u = 2⁻⁵³.
    pub(crate) fn outside(&self) -> Bounded {
        let [pp, rr] = [sum(|k| self.p[k] * self.p[k]), self.r_squared()];
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr),
        }
    }

    /// Returns −b = −p·v. It is positive if two spheres approach each other at the start. p and v
    /// are their relative position and velocity. The terms may cancel, so the error bound is a
    /// multiple of the sum of their magnitudes.
    pub(crate) fn closing(&self) -> Bounded {
        let product = |k: usize| self.p[k] * self.v[k];
        Bounded {
            value: -sum(product),
            error: 8.0 * U * sum(|k| product(k).abs()),
        }
    }

    /// Returns −b − a·dt = −(p + v·dt)·v. It is positive if two spheres still approach each other
    /// at the end of a step of length dt. p and v are their relative position and velocity, b = p·v
    /// and a = v·v.
    fn after_step(&self) -> Bounded {
        let closing = self.closing();
        let at_end = self.a() * self.dt;
        Bounded {
            value: closing.value - at_end,
            error: closing.error + 8.0 * U * at_end,
        }
    }

    /// Returns q·q − r² with q = p + v·dt. It is positive if two spheres do not touch at the end of
    /// a step of length dt. p and v are their relative position and velocity, and r is the sum of
    /// their radii. If the error of a component x of q is at most e, the error of its square is at
    /// most e(2|x| + e).
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

    /// Returns the discriminant b² − a·c = r²·a − |p × v|². It is negative if two spheres would
    /// never touch, even in an unlimited time. p and v are their relative position and velocity, r
    /// is the sum of their radii, a = v·v, b = p·v and c = p·p − r². The relative error of r²·a is
    /// at most 9u, with u = 2⁻⁵³.
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

    /// Returns whether two spheres collide during the step, or `None` if float64 cannot decide this.
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

pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> Option<bool> {
    Relative::new(a, b, dt).collides()
}

fn sum(term: impl Fn(usize) -> f64) -> f64 {
    term(0) + term(1) + term(2)
}
