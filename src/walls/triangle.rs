//! Decides without error whether a moving sphere touches a moving triangle, when, and how deep.
//!
//! The sphere touches the triangle when the distance of its centre from the closed triangle (face, edges and
//! corners, from either side) is at most its radius. During a step of length x, the centre moves along a
//! straight segment relative to the triangle. So the sphere touches during this step exactly when the distance
//! of the segment from the triangle is at most the radius. All conditions for this are polynomials of the
//! inputs.
//!
//! The decision whether a sphere touches a triangle also rounds the time of impact correctly. The
//! time of impact is at most x exactly when the sphere touches during a step of length x. So the
//! decision for a step whose length is halfway between two float32 numbers tells which of the two
//! numbers is nearer to the time of impact.
//!
//! [`float64`] decides most pairs of a sphere and a triangle, with bounds of the rounding errors.
//! [`integers`] decides all other pairs. docs/exact.md ("Triangles") has the proof.

mod float64;
mod integers;
#[cfg(test)]
mod tests;

use self::float64::Float64;
use self::integers::Integers;
use super::vector;
use crate::Feature;
use crate::exact::{Impact, Shift, Touch};
use crate::sphere::{MAX_MAGNITUDE, Sphere};

/// A triangle whose corners move with the same constant velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [[f32; 3]; 3],
    pub(crate) velocity: [f32; 3],
}

/// What is wrong with an invalid triangle, against which no sphere can be tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Defect {
    /// A coordinate is infinite, NaN, or larger than [`MAX_MAGNITUDE`].
    Coordinate { corner: usize, axis: usize },
    /// The three corners lie on one line, or two of them coincide.
    NoArea,
}

impl Triangle {
    /// Returns a defect of the corners, or `None` if spheres can be tested against the triangle. Whether the
    /// area is 0 is decided exactly.
    pub(crate) fn defect(corners: &[[f32; 3]; 3]) -> Option<Defect> {
        for (corner, point) in corners.iter().enumerate() {
            // NaN fails every comparison, so it is outside the range of valid coordinates, too.
            let valid = -MAX_MAGNITUDE..=MAX_MAGNITUDE;
            if let Some(axis) = point.iter().position(|x| !valid.contains(x)) {
                return Some(Defect::Coordinate { corner, axis });
            }
        }
        (!float64::has_area(corners) && !integers::has_area(corners)).then_some(Defect::NoArea)
    }

    /// Returns the impact of a sphere in a step of duration `dt`, or `None` if the sphere does not
    /// touch. `shift` displaces the sphere. The triangle must be valid, which
    /// [`defect`](Self::defect) checks.
    pub(crate) fn impact(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> Option<Impact> {
        let float64 = Float64::new(self, sphere, shift);
        let guess = match float64.impact(dt) {
            Ok(decided) => return decided,
            Err(guess) => guess,
        };
        Integers::new(self, sphere, shift).impact(dt, guess)
    }

    /// Returns the same impact as [`impact`](Self::impact), always decided in integers.
    pub(crate) fn impact_in_integers(
        &self,
        sphere: &Sphere,
        shift: impl Shift,
        dt: f32,
    ) -> Option<Impact> {
        // Float64 only gives the estimate from which the search for the time or the depth starts.
        let guess = match Float64::new(self, sphere, shift).impact(dt) {
            Ok(decided) => decided.map_or(0.0, |impact| impact.toi.max(impact.depth).into()),
            Err(guess) => guess,
        };
        Integers::new(self, sphere, shift).impact(dt, guess)
    }

    /// Returns the geometry of the contact at the time of impact `toi`, in float64, and whether the face, an
    /// edge or a corner is touched. The normal points from the centre of the sphere to the triangle.
    ///
    /// Near a boundary between face, edges and corners, rounding may select either of two neighbouring parts.
    pub(crate) fn touch(&self, sphere: &Sphere, shift: impl Shift, toi: f32) -> (Touch, Feature) {
        Float64::new(self, sphere, shift).touch(toi)
    }
}
