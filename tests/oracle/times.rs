//! When a pair meets and how deep it overlaps: in float64 with a bound, and whether a float32 is the
//! one next to the truth.

use carom::{Collision, Sphere};

use super::filter::{Bounded, Relative};
use super::{collides, exact::Exact};

/// The earliest time in [0, dt] at which two spheres touch, to about what float64 can tell; `None`
/// when they do not. Their groups are not looked at.
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
    // c / (−b + √(b² − a·c)): each of the three with the error it has.
    let (closing, discriminant) = (pair.closing(), pair.discriminant());
    let root = discriminant.value.max(0.0).sqrt();
    let root_error = if discriminant.value > discriminant.error {
        discriminant.error / root
    } else {
        (2.0 * discriminant.error).sqrt()
    };
    let denominator = closing.value + root;
    let value = outside.value / denominator;
    // At most half of the denominator may be wrong, so that this is no less than the error.
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

/// How deep two spheres overlap at the start, to about what float64 can tell; 0 if they do not.
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

/// The float32 next to a number that is not negative, where its error leaves no doubt.
fn rounded(x: Bounded) -> Option<f32> {
    let [low, high] = [(x.value - x.error).max(0.0), x.value + x.error];
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    let [low, high] = [low as f32, high as f32];
    (low == high).then_some(low)
}

/// What is wrong with the time and depth of a pair that does collide: each should be the float32
/// next to the true number.
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
