//! Whether two spheres touch, when and how deep.

use super::answer::{Arithmetic, Impact, Touch};
use super::float64::Float64;
use super::integers::Integers;
use super::two_pairs::just_touch;
use crate::shared::moving_sphere::MovingSphere;
use crate::validate::{check_dt, invalid_field};
use crate::{Error, Sphere};

/// Whether two spheres touch in a step of length `dt`, when and how deep; and the
/// arithmetic that it took to tell.
pub(crate) fn impact<S: MovingSphere>(a: &S, b: &S, dt: f32) -> (Option<Impact>, Arithmetic) {
    // First, because no error bound can tell that two spheres just touch, and other pairs fail
    // this test at the first sum or square.
    if just_touch([[a, b]; 2]) != 0 {
        return (Some(Impact::default()), Arithmetic::Float64);
    }
    let pair = Float64::new(a, b);
    match pair.impact(dt) {
        Some(answer) => (answer, Arithmetic::Float64),
        None => (
            Integers::new(a, b).impact(dt, pair.guess()),
            Arithmetic::Integers,
        ),
    }
}

/// How two spheres would first touch if they flew on for ever. `None` if they
/// never do.
pub(crate) fn first_touch(a: &Sphere, b: &Sphere) -> Option<Touch> {
    let pair = Float64::new(a, b);
    pair.first_touch()
        .or_else(|| Integers::new(a, b).first_touch())
}

/// When two spheres first touch during a step of length `dt`, in the unit of `dt`, rounded
/// to the nearest float32; 0 when they touch or overlap at its start, `None` when they do
/// not touch. Exact, as the lists are. Their groups are ignored.
///
/// ```
/// use carom::{Sphere, time_of_impact};
/// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([8.0, 0.0, 0.0]);
/// let wall = Sphere::new([4.0, 0.0, 0.0], 1.0);
/// assert_eq!(time_of_impact(&ball, &wall, 0.25)?, Some(0.25)); // at the very end
/// assert_eq!(time_of_impact(&ball, &wall, 0.24)?, None);
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidTimeStep`]; [`Error::InvalidSphere`], of which `index` is 0 for `a` and 1
/// for `b`.
pub fn time_of_impact(a: &Sphere, b: &Sphere, dt: f32) -> Result<Option<f32>, Error> {
    check_dt(dt)?;
    for (index, sphere) in [a, b].into_iter().enumerate() {
        if let Some((field, value)) = invalid_field(sphere, dt) {
            return Err(Error::InvalidSphere {
                index,
                set: None,
                field,
                value,
            });
        }
    }
    Ok(impact(a, b, dt).0.map(|impact| impact.toi))
}
