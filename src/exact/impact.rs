//! Exact time of impact and penetration depth of two spheres. Twin of `shaders/shared/exact_pair.wgsl`, which has integers
//! alone.

use super::answer::{Arithmetic, Hit, Touch};
use super::float64::PairFloat64;
use super::integers::PairIntegers;
use super::shift::Shift;
use super::two_pairs::just_touch;
use crate::shared::moving_sphere::MovingSphere;
use crate::validate::{check_dt, invalid_field};
use crate::{Error, Sphere};

/// Returns the time of impact and the depth, or `None`, and which arithmetic decided the pair.
/// `shift` displaces the second sphere.
pub(crate) fn impact<S: MovingSphere>(
    a: &S,
    b: &S,
    shift: impl Shift,
    dt: f32,
) -> (Option<Hit>, Arithmetic) {
    // Arithmetic with an error bound cannot prove that spheres just touch.
    if just_touch([[a, b]; 2], [shift; 2]) != 0 {
        return (Some(Hit::default()), Arithmetic::Float64);
    }
    let pair = PairFloat64::new(a, b, shift);
    match pair.impact(dt) {
        Some(answer) => (answer, Arithmetic::Float64),
        None => (
            PairIntegers::new(a, b, shift).impact(dt, pair.guess()),
            Arithmetic::Integers,
        ),
    }
}

pub(crate) fn first_touch(a: &Sphere, b: &Sphere, shift: impl Shift) -> Option<Touch> {
    let pair = PairFloat64::new(a, b, shift);
    pair.first_touch()
        .or_else(|| PairIntegers::new(a, b, shift).first_touch())
}

/// Returns the time at which two spheres first touch during a step of duration `dt`, or `None` if
/// they do not touch.
///
/// The returned time has the same unit as `dt`. It is 0 if the spheres touch or overlap at the
/// start of the step. It is exact: the real number, rounded to the nearest float32. The function
/// ignores the collision groups of the spheres.
///
/// ```
/// use carom::{Sphere, toi};
/// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([8.0, 0.0, 0.0]);
/// let wall = Sphere::new([4.0, 0.0, 0.0], 1.0);
/// assert_eq!(toi(&ball, &wall, 0.25)?, Some(0.25)); // at the very end
/// assert_eq!(toi(&ball, &wall, 0.24)?, None);
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// Returns one of these errors:
/// - [`Error::InvalidTimeStep`] if `dt` is negative, not finite, or more than 2⁶⁰.
/// - [`Error::InvalidSphere`] if a sphere has an invalid value. `index` in the error is 0 for the
///   first sphere, `a`, and 1 for the second, `b`.
pub fn toi(a: &Sphere, b: &Sphere, dt: f32) -> Result<Option<f32>, Error> {
    check_dt(dt)?;
    for (index, sphere) in [a, b].into_iter().enumerate() {
        if let Some((field, value)) = invalid_field(sphere, dt) {
            return Err(Error::InvalidSphere {
                index,
                set: None,
                field,
                value: value.into(),
                limit: crate::MAX_MAGNITUDE.into(),
            });
        }
    }
    Ok(impact(a, b, (), dt).0.map(|impact| impact.toi))
}
