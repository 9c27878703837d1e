//! The definition in integers: no rounding at all.
//!
//! Every float32 is a whole multiple of 2⁻¹⁴⁹, and every v·dt of 2⁻²⁹⁸. In units of 2⁻²⁹⁸ all
//! lengths of a step are integers, and with w = v·dt in the place of v, and 1 in that of dt, the
//! questions of the definition are polynomials in integers. (For dt = 0 both ways say that only
//! spheres that touch at the start collide.)

use carom::Sphere;
use num_bigint::{BigInt, BigUint, Sign};

/// Bits of the numbers that a float64 is made from here: more than its 53.
const BITS: u64 = 64;

/// The polynomials of the definition for a pair, all of one scale, for a step of length 1.
struct Exact {
    /// p·p − r².
    c: BigInt,
    /// p·w.
    b: BigInt,
    /// w·w.
    a: BigInt,
}

impl Exact {
    fn new(a: &Sphere, b: &Sphere, dt: f32) -> Self {
        let dt = integer(dt);
        let p: [BigInt; 3] =
            std::array::from_fn(|k| (integer(b.center[k]) - integer(a.center[k])) << 149);
        let w: [BigInt; 3] =
            std::array::from_fn(|k| (integer(b.velocity[k]) - integer(a.velocity[k])) * &dt);
        let r: BigInt = (integer(a.radius) + integer(b.radius)) << 149;
        Self {
            c: dot(&p, &p) - &r * &r,
            b: dot(&p, &w),
            a: dot(&w, &w),
        }
    }

    fn collides(&self) -> bool {
        let Self { c, b, a } = self;
        let minus_b = -b;
        if c.sign() != Sign::Plus {
            true
        } else if b.sign() != Sign::Minus {
            false
        } else if minus_b > *a {
            c + 2 * b + a <= BigInt::ZERO
        } else {
            b * b >= a * c
        }
    }
}

/// Whether two spheres collide.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    Exact::new(a, b, dt).collides()
}

/// The time of impact, to float64's precision; `None` when they do not collide.
pub(crate) fn toi(one: &Sphere, other: &Sphere, dt: f32) -> Option<f64> {
    let pair = Exact::new(one, other, dt);
    if !pair.collides() {
        return None;
    }
    let Exact { c, b, a } = pair;
    if c.sign() != Sign::Plus {
        return Some(0.0);
    }
    // As a fraction of the step, c / (−b + √(b² − a·c)), with enough bits after the point that it
    // does not matter that the root is cut to an integer.
    let discriminant = &b * &b - a * &c;
    let root = (discriminant.magnitude() << (2 * BITS)).sqrt();
    let denominator = (b.magnitude() << BITS) + root;
    Some(ratio(c.magnitude() << BITS, denominator) * f64::from(dt))
}

/// How deep two spheres overlap at the start, to float64's precision; 0 when they do not.
pub(crate) fn depth(one: &Sphere, other: &Sphere) -> f64 {
    let Exact { c, .. } = Exact::new(one, other, 0.0);
    if c.sign() != Sign::Minus {
        return 0.0;
    }
    // r − |p| = (r² − p·p) / (r + |p|), in units of 2⁻²⁹⁸.
    let r: BigInt = (integer(one.radius) + integer(other.radius)) << 149;
    let pp = &r * &r + &c;
    let distance = (pp.magnitude() << (2 * BITS)).sqrt();
    let denominator = (r.magnitude() << BITS) + distance;
    ratio(c.magnitude() << BITS, denominator) * 2_f64.powi(-298)
}

/// A float32 in units of 2⁻¹⁴⁹.
fn integer(x: f32) -> BigInt {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 23 & 0xff, bits & 0x7f_ffff);
    let magnitude = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 0x80_0000) << (exponent - 1),
    };
    if x.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// A quotient of positive integers, to float64's precision.
fn ratio(numerator: BigUint, denominator: BigUint) -> f64 {
    // So shifted that the quotient has BITS bits, or one more or less.
    let shift = BITS + denominator.bits();
    let quotient = (numerator.clone() << shift) / denominator;
    let surplus = quotient.bits().saturating_sub(BITS);
    let leading = (quotient >> surplus)
        .to_u64_digits()
        .first()
        .copied()
        .unwrap_or(0);
    let exponent =
        i32::try_from(surplus).unwrap_or(i32::MAX) - i32::try_from(shift).unwrap_or(i32::MAX);
    leading as f64 * 2_f64.powi(exponent)
}

fn dot(x: &[BigInt; 3], y: &[BigInt; 3]) -> BigInt {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}
