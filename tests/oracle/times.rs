//! The time of impact and the penetration depth of a pair in float64, with error bounds, and
//! whether a float32 is the exact value rounded to nearest.

use carom::{Collision, Sphere};

use super::filter::{Bounded, Relative};
use super::{collides, exact::Exact};

/// Returns the earliest time in [0, dt] at which two spheres touch, or `None` if they do not. The
/// error is infinite where float64 leaves too few digits. Groups are ignored.
pub(crate) fn toi(a: &Sphere, b: &Sphere, dt: f32) -> Option<Bounded> {
    if !collides(a, b, dt) {
        return None;
    }
    let pair = Relative::new(a, b, dt);
    let outside = pair.outside();
    let at_once = match outside.sign() {
        Some(sign) => sign.is_le(),
        None => Exact::new(a, b).collide(0.0),
    };
    if at_once {
        return Some(Bounded {
            value: 0.0,
            error: 0.0,
        });
    }
    // The time is c / (−b + √(b² − a·c)). Each of these three terms has its own error bound.
    let (closing, discriminant) = (pair.closing(), pair.discriminant());
    let root = discriminant.value.max(0.0).sqrt();
    let root_error = if discriminant.value > discriminant.error {
        discriminant.error / root
    } else {
        (2.0 * discriminant.error).sqrt()
    };
    let denominator = closing.value + root;
    let value = outside.value / denominator;
    // If the relative error of the denominator is below 1/2, twice this error bounds that of its
    // inverse.
    let wrong = (closing.error + root_error) / denominator;
    let told = denominator > 0.0 && wrong < 0.5;
    let relative = 2.0 * wrong + 1e-15;
    Some(Bounded {
        value,
        error: if told {
            2.0 * outside.error / denominator + value.abs() * relative
        } else {
            f64::INFINITY
        },
    })
}

/// Returns how deep two spheres overlap at the start, or 0 if they do not.
pub(crate) fn depth(a: &Sphere, b: &Sphere) -> Bounded {
    let pair = Relative::new(a, b, 0.0);
    let outside = pair.outside();
    if outside.value > outside.error || outside.value == 0.0 && outside.error == 0.0 {
        return Bounded {
            value: 0.0,
            error: 0.0,
        };
    }
    let sum = pair.r() + pair.distance();
    Bounded {
        value: -outside.value / sum,
        error: 2.0 * outside.error / sum + 1e-15 * sum,
    }
}

/// Returns a number, which is not negative, rounded to the nearest float32, if its error leaves no
/// doubt about the result.
fn rounded(x: Bounded) -> Option<f32> {
    let [low, high] = [(x.value - x.error).max(0.0), x.value + x.error];
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    let [low, high] = [low as f32, high as f32];
    (low == high).then_some(low)
}

/// Describes what is wrong with the time and depth of a pair that collides, or returns `None`. Both
/// have to be the exact value rounded to the nearest float32.
pub(crate) fn wrong(pair: &Collision, a: &Sphere, b: &Sphere, dt: f32) -> Option<String> {
    let (true_toi, true_depth) = (toi(a, b, dt)?, depth(a, b));
    let toi_right = match rounded(true_toi) {
        Some(toi) => toi.to_bits() == pair.toi.to_bits(),
        None => pair.toi.is_sign_positive() && Exact::new(a, b).rounds_to_toi(pair.toi),
    };
    let depth_right = match rounded(true_depth) {
        Some(depth) => depth.to_bits() == pair.depth.to_bits(),
        None => pair.depth.is_sign_positive() && Exact::new(a, b).rounds_to_depth(pair.depth),
    };
    if toi_right && depth_right {
        return None;
    }
    Some(format!(
        "  ({}, {}) toi {:?} instead of {true_toi:?}, depth {:?} instead of {true_depth:?}\n    \
         {a:?}\n    {b:?}\n",
        pair.a, pair.b, pair.toi, pair.depth
    ))
}
