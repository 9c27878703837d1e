//! Decides without rounding whether two spheres collide during a time step.
//!
//! Let p be the relative position of two spheres, v their relative velocity, and r the sum of their radii.
//! Their closest approach during a step of length dt is at the time t in [0, dt] nearest to −p·v / v·v. The
//! spheres collide when |p + v·t|² ≤ r².
//!
//! The time of impact of two spheres is at most x exactly when they collide during a step of length
//! x. So a time of impact is checked by steps that are slightly shorter and longer.
//!
//! Every float is an integer times a power of two. So the time of closest approach is a fraction n/d of
//! integers, and so is the relative position (p·d + v·n)/d at this time.

use std::array::from_fn;
use std::cmp::Ordering;

use carom::Sphere;
use num_bigint::{BigInt, BigUint, Sign};

/// A non-negative fraction: its numerator and its positive denominator.
#[derive(Clone, Debug)]
pub(crate) struct Fraction([BigInt; 2]);

impl Fraction {
    fn of(x: f64) -> Self {
        let (mantissa, exponent) = parts(x);
        Self([mantissa, BigInt::from(1)]).times_power(exponent)
    }

    fn times_power(self, exponent: i32) -> Self {
        let [n, d] = self.0;
        match u32::try_from(exponent) {
            Ok(left) => Self([n << left, d]),
            Err(_) => Self([n, d << exponent.unsigned_abs()]),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        (a * d).cmp(&(c * b))
    }
}

/// Returns m and e with x = m·2ᵉ for a float x. The integer m is odd or 0.
pub(super) fn parts(x: f64) -> (BigInt, i32) {
    assert!(x.is_finite(), "{x} is not a finite number");
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).expect("eleven bits");
    let fraction = bits & ((1 << 52) - 1);
    let (magnitude, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    let zeros = magnitude.trailing_zeros();
    let magnitude = BigInt::from(if magnitude == 0 {
        0
    } else {
        magnitude >> zeros
    });
    (
        if x < 0.0 { -magnitude } else { magnitude },
        exponent + i32::try_from(zeros).expect("at most 64"),
    )
}

/// Converts floats to integer multiples of the largest possible power of two. Returns the integers
/// and the exponent of the power.
fn alike<const N: usize>(numbers: [f32; N]) -> ([BigInt; N], i32) {
    let numbers = numbers.map(|x| parts(x.into()));
    let used = numbers.iter().filter(|(m, _)| *m != BigInt::ZERO);
    let unit = used.map(|&(_, exponent)| exponent).min().unwrap_or(0);
    let scaled = numbers.map(|(m, exponent)| m << u32::try_from(exponent - unit).unwrap_or(0));
    (scaled, unit)
}

fn dot(x: &[BigInt; 3], y: &[BigInt; 3]) -> BigInt {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}

/// The exact motion of one sphere relative to another, in integers. The relative position p and the sum of
/// the radii r are multiples of 2^`length`. The relative velocity v is a multiple of 2^`speed`.
pub(crate) struct Exact {
    p: [BigInt; 3],
    r: BigInt,
    length: i32,
    v: [BigInt; 3],
    speed: i32,
}

impl Exact {
    pub(crate) fn new(a: &Sphere, b: &Sphere) -> Self {
        Self::of_image(a, b, &[[0.0; 3]; 3], [0; 3])
    }

    /// Returns the motion of a periodic copy of sphere `b`, displaced by multiples of the three edges,
    /// relative to sphere `a`.
    pub(crate) fn of_image(a: &Sphere, b: &Sphere, edges: &[[f32; 3]; 3], image: [i32; 3]) -> Self {
        let ([ax, ay, az], [bx, by, bz]) = (a.center, b.center);
        let [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2]] = *edges;
        let (lengths, length) = alike([
            ax, ay, az, bx, by, bz, a.radius, b.radius, a0, a1, a2, b0, b1, b2, c0, c1, c2,
        ]);
        let ([ax, ay, az], [bx, by, bz]) = (a.velocity, b.velocity);
        let (speeds, speed) = alike([ax, ay, az, bx, by, bz]);
        Self {
            p: from_fn(|k| {
                let edges = (0..3).map(|e| &lengths[8 + 3 * e + k] * image[e]);
                &lengths[k + 3] - &lengths[k] + edges.sum::<BigInt>()
            }),
            r: &lengths[6] + &lengths[7],
            length,
            v: from_fn(|k| &speeds[k + 3] - &speeds[k]),
            speed,
        }
    }

    fn nearest(&self, dt: &Fraction) -> Fraction {
        let (closing, speed) = (-dot(&self.p, &self.v), dot(&self.v, &self.v));
        if closing.sign() != Sign::Plus {
            return Fraction::of(0.0);
        }
        let unbounded = Fraction([closing, speed]).times_power(self.length - self.speed);
        if unbounded.cmp(dt).is_lt() {
            unbounded
        } else {
            dt.clone()
        }
    }

    /// Returns (sum of the radii)² − (distance of the centres at the time `t`)², exactly. The
    /// result is an integer m and a unit of length u (a fraction), which together stand for the
    /// number m·u². In the unit u, all lengths are integers.
    fn outside(&self, t: &Fraction) -> (BigInt, Fraction) {
        let [n, d] = &t.0;
        // Let p and v be the relative position and velocity of the spheres, and r the sum of their radii. p
        // and r are stored as integers in the unit 2^length, and v as integers in the unit 2^speed. At the
        // time n/d, p + v·n/d and r are integers in the unit 2^min(length, speed) / d.
        let finer = u32::try_from(self.length - self.speed).unwrap_or(0);
        let coarser = u32::try_from(self.speed - self.length).unwrap_or(0);
        let q = from_fn(|k| (&self.p[k] << finer) * d + (&self.v[k] << coarser) * n);
        let r = (&self.r << finer) * d;
        let unit = Fraction([BigInt::from(1), d.clone()]).times_power(self.length.min(self.speed));
        (&r * &r - dot(&q, &q), unit)
    }

    /// Returns (sum of the radii)² − (distance of the centres)² at the closest approach, in float64. The
    /// spheres collide when the result is 0 or more.
    pub(crate) fn margin(&self, dt: f64) -> f64 {
        let (margin, Fraction([n, d])) = self.outside(&self.nearest(&Fraction::of(dt)));
        let [n, d] = [&n * &n, &d * &d];
        let value = ratio(margin.magnitude() * n.magnitude(), d.magnitude());
        if margin.sign() == Sign::Minus {
            -value
        } else {
            value
        }
    }

    pub(crate) fn collide(&self, dt: f64) -> bool {
        let nearest = self.nearest(&Fraction::of(dt));
        self.outside(&nearest).0.sign() != Sign::Minus
    }

    /// Returns whether the two spheres touch for the first time at the end of a step of length `dt`.
    fn first_touch_at(&self, dt: f64) -> bool {
        let end = Fraction::of(dt);
        self.outside(&end).0 == BigInt::ZERO && self.nearest(&end).cmp(&end).is_eq()
    }

    /// Returns whether the float32 `found` is the exact time of impact of two colliding spheres,
    /// rounded to nearest with ties to even.
    pub(crate) fn rounds_to_toi(&self, found: f32) -> bool {
        let even = found.to_bits().is_multiple_of(2);
        let (below, above) = halfway(found);
        let early = below.is_some_and(|x| self.collide(x) && !(even && self.first_touch_at(x)));
        let late = !self.collide(above) || (!even && self.first_touch_at(above));
        !early && !late
    }

    /// Compares the penetration depth r − |p| with a length. r is the sum of the radii, and |p| the
    /// distance of the centres at the start. Comparing (r − length)² with p·p has no rounding
    /// errors.
    fn depth_compared_with(&self, length: f64) -> Ordering {
        let Fraction([n, d]) = Fraction::of(length).times_power(-self.length);
        let rest = &self.r * &d - n;
        if rest.sign() == Sign::Minus {
            return Ordering::Less;
        }
        (&rest * &rest).cmp(&(dot(&self.p, &self.p) * &d * &d))
    }

    /// Returns whether the float32 `found` is the exact penetration depth of two spheres at the start of the
    /// step, rounded to nearest with ties to even. The depth of separate spheres is 0.
    pub(crate) fn rounds_to_depth(&self, found: f32) -> bool {
        if self.depth_compared_with(0.0).is_le() {
            return found == 0.0;
        }
        let even = found.to_bits().is_multiple_of(2);
        let (below, above) = halfway(found);
        let shallow = |x| {
            let order = self.depth_compared_with(x);
            order.is_lt() || (order.is_eq() && !even)
        };
        let deep = self.depth_compared_with(above);
        !below.is_some_and(shallow) && (deep.is_lt() || (deep.is_eq() && even))
    }
}

/// Returns the two numbers halfway between a non-negative float32 and its neighbours, the lower number first.
/// For 0, there is no lower number.
pub(super) fn halfway(x: f32) -> (Option<f64>, f64) {
    let with = |y: f32| (f64::from(x) + f64::from(y)) / 2.0;
    ((x > 0.0).then(|| with(x.next_down())), with(x.next_up()))
}

/// Returns the quotient of two integers of any size in float64.
fn ratio(numerator: BigUint, denominator: &BigUint) -> f64 {
    // Shifts the numerator so that the integer quotient has 63 to 65 bits, more than the 53 of a
    // float64.
    let shift = 64 + denominator.bits();
    let surplus = numerator.bits().saturating_sub(64);
    let quotient = ((numerator >> surplus) << shift) / denominator;
    let spare = quotient.bits().saturating_sub(64);
    let leading = (quotient >> spare).iter_u64_digits().next().unwrap_or(0);
    let exponent = |bits: u64| i32::try_from(bits).expect("numbers have thousands of bits at most");
    // Multiplies by 2^power in two steps, because 2^power may be outside the range of float64.
    let power = exponent(spare + surplus) - exponent(shift);
    leading as f64 * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2)
}

pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    Exact::new(a, b).collide(dt.into())
}
