//! Decides without error whether a moving sphere touches a moving triangle, when, and how deep.
//!
//! The sphere touches the triangle when the distance of its centre from the closed triangle (face, edges and
//! corners, from either side) is at most its radius. During a step of length x, the centre moves along a
//! straight segment relative to the triangle. So the sphere touches during this step exactly when the distance
//! of the segment from the triangle is at most the radius. All conditions for this are polynomials of the
//! inputs.
//!
//! The same decision rounds the time of impact correctly: for a step whose length is halfway between two float32
//! numbers, it tells which of the two is nearer to the time of impact.
//!
//! [`float64`] decides most pairs of a sphere and a triangle, with bounds of the rounding errors, and [`integers`]
//! all others. docs/exact.md ("Triangles") has the proof.

mod corners;
mod float64;
mod integers;
#[cfg(test)]
mod tests;

pub(crate) use self::corners::Triangle;
pub(super) use self::float64::TriangleFloat64;
pub(super) use self::integers::TriangleIntegers;
use crate::exact::integers::numbers;
use crate::exact::{Hit, Shift, Touch};
use crate::{Feature, Number, Sphere};

/// What is wrong with an invalid triangle, against which no sphere can be tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Defect {
    /// A coordinate is infinite, NaN, or too large.
    Coordinate { corner: usize, axis: usize },
    /// The three corners lie on one line, or two of them coincide.
    NoArea,
}

impl<T: Number> Triangle<T> {
    /// Returns a defect of the corners, or `None` if spheres can be tested against the triangle. Whether the
    /// area is 0 is decided exactly.
    pub(crate) fn defect(corners: &[[T; 3]; 3]) -> Option<Defect> {
        let corners = corners.map(|corner| corner.map(Into::into));
        for (corner, point) in corners.iter().enumerate() {
            // NaN fails every comparison, so it is outside the range of valid coordinates, too.
            let valid = |x: &f64| x.abs() <= T::MAX.into();
            if let Some(axis) = point.iter().position(|x| !valid(x)) {
                return Some(Defect::Coordinate { corner, axis });
            }
        }
        (!float64::has_area(&corners) && !integers::has_area(&corners)).then_some(Defect::NoArea)
    }
}

impl Triangle {
    /// Returns the impact of a sphere in a step of duration `dt`, or `None` if the sphere does not
    /// touch. `shift` displaces the sphere. The triangle must be valid, which
    /// [`defect`](Self::defect) checks.
    pub(crate) fn impact(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> Option<Hit> {
        let float64 = TriangleFloat64::new(self, sphere, shift);
        let guess = match float64.impact(dt.into()) {
            Ok(decided) => return decided,
            Err(guess) => guess,
        };
        self.in_integers(sphere, shift, dt, guess)
    }

    fn in_integers(&self, sphere: &Sphere, shift: impl Shift, dt: f32, guess: f64) -> Option<Hit> {
        let wide = Triangle {
            corners: self.corners.map(|corner| corner.map(f64::from)),
            velocity: self.velocity.map(f64::from),
        };
        let integers = TriangleIntegers::new(&wide, &numbers(sphere), &shift.products());
        integers.rounded(dt, guess, f32::MAX).map(Hit::from)
    }

    /// Returns the geometry of the contact at the time of impact `toi`, in float64, and whether the face, an
    /// edge or a corner is touched. The normal points from the centre of the sphere to the triangle.
    ///
    /// Near a boundary between face, edges and corners, rounding may select either of two neighbouring parts.
    pub(crate) fn touch(&self, sphere: &Sphere, shift: impl Shift, toi: f32) -> (Touch, Feature) {
        TriangleFloat64::new(self, sphere, shift).touch(toi)
    }
}
