//! Computes the time of impact and the penetration depth of a pair of spheres in float64, with error bounds.

use carom::{Collision, Sphere};

use super::filter::{Bounded, Relative};
use super::{collides, exact::Exact};

/// Returns the earliest time in [0, dt] at which two spheres touch, with a bound of its error, or
/// `None` if they do not touch. The bound is infinite if float64 has too few digits to compute the
/// time.
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
    // The time of impact is c / (−b + √(b² − a·c)), with c = p·p − r², b = p·v and a = v·v. p and v
    // are the relative position and velocity of two spheres, and r is the sum of their radii. The
    // terms c, −b and b² − a·c have error bounds of their own.
    let (closing, discriminant) = (pair.closing(), pair.discriminant());
    let root = discriminant.value.max(0.0).sqrt();
    let root_error = if discriminant.value > discriminant.error {
        discriminant.error / root
    } else {
        (2.0 * discriminant.error).sqrt()
    };
    let denominator = closing.value + root;
    let value = outside.value / denominator;
    // If the relative error of a denominator is below 1/2, the relative error of its inverse is less than
    // twice that of the denominator.
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

/// Returns the penetration depth of two spheres at the start of the step, or 0 if they do not overlap.
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

/// Rounds a non-negative number to float32. Returns `None` if the error bound allows two or more results.
fn rounded(x: Bounded) -> Option<f32> {
    let [low, high] = [(x.value - x.error).max(0.0), x.value + x.error];
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    let [low, high] = [low as f32, high as f32];
    (low == high).then_some(low)
}

/// Checks the listed time of impact and penetration depth of a colliding pair. Returns a
/// description of the mistake if one is not the exact value rounded to the nearest float32.
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
