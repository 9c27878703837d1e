//! Decides without rounding whether two spheres touch. Every float32 is an integer times a power of
//! two, so every decision is the sign of a polynomial of integers.
//!
//! Integers of up to 128 bits need no allocated memory. They are enough for most inputs.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::array::from_fn;
use std::cmp::Ordering::{self, Equal, Greater, Less};

use dashu_int::ops::BitTest as _;
use dashu_int::{IBig, Sign};
use glam::DVec3;

use super::answer::{Hit, Touch};
use super::shift::Shift;
use crate::domain::Products;
use crate::number::sealed::Numbers;
use crate::shared::moving_sphere::MovingSphere;

/// The number m·2^e. m is odd, or m and e are both 0.
#[derive(Clone, Copy)]
pub(crate) struct Dyadic {
    pub(crate) mantissa: i64,
    pub(crate) exponent: i32,
}

impl From<f64> for Dyadic {
    fn from(x: f64) -> Self {
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, (bits & ((1 << 52) - 1)) as i64);
        let (mantissa, exponent) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, exponent - 1075),
        };
        if mantissa == 0 {
            return Self {
                mantissa,
                exponent: 0,
            };
        }
        let zeros = mantissa.trailing_zeros();
        let mantissa = mantissa >> zeros;
        Self {
            mantissa: if x < 0.0 { -mantissa } else { mantissa },
            exponent: exponent + zeros as i32,
        }
    }
}

pub(crate) fn unit_of(numbers: &[Dyadic]) -> i32 {
    let exponents = numbers
        .iter()
        .filter(|number| number.mantissa != 0)
        .map(|number| number.exponent);
    exponents.min().unwrap_or(0)
}

/// Returns v − w as integers times 2ⁿ, and n.
pub(crate) fn velocity_between(v: [f64; 3], w: [f64; 3]) -> ([IBig; 3], i32) {
    let [v, w] = [v, w].map(|x| x.map(Dyadic::from));
    let unit = unit_of(&[v, w].concat());
    let difference = from_fn(|k| in_units(v[k], unit) - in_units(w[k], unit));
    (difference, unit)
}

pub(crate) fn in_units(number: Dyadic, unit: i32) -> IBig {
    IBig::from(number.mantissa) << usize::try_from(number.exponent - unit).unwrap_or(0)
}

pub(crate) fn dot(x: &[IBig; 3], y: &[IBig; 3]) -> IBig {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}

pub(crate) fn sign(x: &IBig) -> Ordering {
    if x.is_zero() {
        Equal
    } else {
        match x.sign() {
            Sign::Positive => Greater,
            Sign::Negative => Less,
        }
    }
}

/// Relative position p and radii r in units of 2^`length`, relative velocity v in units of
/// 2^`speed`.
pub(crate) struct PairIntegers {
    p: [IBig; 3],
    r: IBig,
    length: i32,
    v: [IBig; 3],
    speed: i32,
    outside: IBig,
}

pub(crate) type Numbers3 = ([f64; 3], f64, [f64; 3]);

/// Returns the numbers of a sphere.
pub(crate) fn numbers<S: MovingSphere>(sphere: &S) -> Numbers3 {
    let [center, velocity] =
        [sphere.center(), sphere.velocity()].map(|vector| vector.map(f64::from));
    (center, sphere.radius().into(), velocity)
}

impl PairIntegers {
    pub(super) fn new<S: MovingSphere>(a: &S, b: &S, shift: impl Shift) -> Self {
        Self::of(&[numbers(a), numbers(b)], &shift.products())
    }

    /// For each axis, `products` has three lengths and how many times each is added to the
    /// second sphere's coordinate.
    pub(crate) fn of(spheres: &[Numbers3; 2], products: &Products) -> Self {
        let dyadic = Dyadic::from;
        let lengths: [Dyadic; 8] = from_fn(|k| {
            let (center, radius, _) = &spheres[k / 4];
            dyadic(*center.get(k % 4).unwrap_or(radius))
        });
        let speeds: [Dyadic; 6] = from_fn(|k| dyadic(spheres[k / 3].2[k % 3]));
        let edges = products
            .as_flattened()
            .iter()
            .map(|&(edge, _)| dyadic(edge));
        let length = edges.fold(unit_of(&lengths), |unit, edge| unit.min(unit_of(&[edge])));
        let speed = unit_of(&speeds);
        let lengths = lengths.map(|x| in_units(x, length));
        let speeds = speeds.map(|x| in_units(x, speed));
        let p = from_fn(|axis| {
            let away = &lengths[axis + 4] - &lengths[axis];
            let products = products[axis]
                .iter()
                .filter(|&&(edge, times)| edge != 0.0 && times != 0);
            products.fold(away, |sum, &(edge, times)| {
                sum + in_units(dyadic(edge), length) * IBig::from(times)
            })
        });
        let r = &lengths[3] + &lengths[7];
        Self {
            outside: dot(&p, &p) - &r * &r,
            p,
            r,
            length,
            v: from_fn(|k| &speeds[k + 3] - &speeds[k]),
            speed,
        }
    }

    /// Compares the rate at which the distance of the centres changes at the start with 0.
    pub(super) fn growth(&self) -> Ordering {
        sign(&dot(&self.p, &self.v))
    }

    /// Returns two orderings: of the distance with the sum of the radii (`Equal` if they
    /// just touch), and of `time` with the time of closest approach.
    fn at(&self, time: Dyadic) -> [Ordering; 2] {
        let shift_unit = self.speed + time.exponent;
        let finer = usize::try_from(self.length - shift_unit).unwrap_or(0);
        let coarser = usize::try_from(shift_unit - self.length).unwrap_or(0);
        let time = IBig::from(time.mantissa);
        let q = from_fn(|k| (&self.p[k] << finer) + ((&self.v[k] * &time) << coarser));
        let r = &self.r << finer;
        [sign(&(dot(&q, &q) - &r * &r)), sign(&dot(&q, &self.v))]
    }

    fn ever_touch(&self) -> bool {
        let closing = dot(&self.p, &self.v);
        let speed = dot(&self.v, &self.v);
        &closing * &closing >= &self.outside * &speed
    }

    /// The spheres must be apart at the start and touch later.
    fn touch_compared_with(&self, time: Dyadic) -> Ordering {
        match self.at(time) {
            [Less, _] | [_, Greater] | [Greater, Equal] => Less,
            [Equal, _] => Equal,
            [Greater, Less] => Greater,
        }
    }

    fn depth_compared_with(&self, depth: Dyadic) -> Ordering {
        let finer = usize::try_from(self.length - depth.exponent).unwrap_or(0);
        let coarser = usize::try_from(depth.exponent - self.length).unwrap_or(0);
        let rest = (&self.r << finer) - (IBig::from(depth.mantissa) << coarser);
        if sign(&rest) == Less {
            return Less;
        }
        let p = from_fn(|k| &self.p[k] << finer);
        (&rest * &rest).cmp(&dot(&p, &p))
    }

    /// `guess` estimates the result, and affects only the speed.
    pub(super) fn impact(&self, dt: f32, guess: f64) -> Option<Hit> {
        let [toi, depth] = self.rounded(dt, guess, f32::MAX)?;
        Some(Hit { toi, depth })
    }

    /// As [`impact`](Self::impact), rounded to `T`. The depth is at most `longest`.
    pub(crate) fn rounded<T: Numbers>(&self, dt: T, guess: f64, longest: T) -> Option<[T; 2]> {
        let zero = T::default();
        match sign(&self.outside) {
            Less => {
                let depth = nearest(longest, guess, |length| self.depth_compared_with(length));
                return Some([zero, depth]);
            }
            Equal => return Some([zero; 2]),
            Greater => {}
        }
        if sign(&dot(&self.p, &self.v)) != Less {
            return None;
        }
        let hit = match self.at(Dyadic::from(dt.into())) {
            [Less | Equal, _] => true,
            [Greater, Less] => false,
            [Greater, _] => self.ever_touch(),
        };
        hit.then(|| {
            let toi = nearest(dt, guess, |time| self.touch_compared_with(time));
            [toi, zero]
        })
    }

    /// Returns the first touch. If both radii are 0 and it is later, the normal is opposite
    /// to the relative velocity.
    pub(super) fn first_touch(&self) -> Option<Touch> {
        let float = |x: &IBig| x.to_f64().value();
        let floats = |x: &[IBig; 3]| DVec3::from_array(from_fn(|k| float(&x[k])));
        let (p, v) = (floats(&self.p), floats(&self.v));
        if sign(&self.outside) != Greater {
            let normal = p.try_normalize().unwrap_or(DVec3::X);
            return Some(Touch {
                time: 0.0,
                normal,
                approach: -v.dot(normal) * power(self.speed),
            });
        }
        if sign(&dot(&self.p, &self.v)) != Less || !self.ever_touch() {
            return None;
        }
        let reached =
            |bits: &u64| self.touch_compared_with(f64::from_bits(*bits).into()) != Greater;
        let time = f64::from_bits(least(0, f64::MAX.to_bits(), reached));
        let across = cross(&self.v, &self.p);
        let discriminant = &self.r * &self.r * dot(&self.v, &self.v) - dot(&across, &across);
        let root = float(&discriminant).max(0.0).sqrt();
        let normal = floats(&cross(&across, &self.v)) - v * root;
        // So that the square of its length does not overflow.
        let normal = normal / normal.abs().max_element();
        let r = float(&self.r);
        Some(if r > 0.0 {
            Touch {
                time,
                normal: normal.try_normalize().unwrap_or(DVec3::X),
                approach: root / r * power(self.speed),
            }
        } else {
            Touch {
                time,
                normal: -v.try_normalize().unwrap_or(DVec3::NEG_X),
                approach: v.length() * power(self.speed),
            }
        })
    }
}

impl PairIntegers {
    /// Returns the normal of the first touch and the speed of approach along it, with
    /// relative errors of a few units in the last place, also where the numbers of
    /// [`first_touch`](Self::first_touch) are out of range.
    pub(crate) fn contact(&self) -> Option<(DVec3, f64)> {
        let v = Floats::of(&self.v);
        if sign(&self.outside) != Greater {
            let normal = Floats::of(&self.p).unit().unwrap_or(DVec3::X);
            let approach = -v.vector.dot(normal);
            return Some((normal, scaled(approach, v.exponent + self.speed)));
        }
        if sign(&dot(&self.p, &self.v)) != Less || !self.ever_touch() {
            return None;
        }
        let across = cross(&self.v, &self.p);
        let discriminant = &self.r * &self.r * dot(&self.v, &self.v) - dot(&across, &across);
        if self.r.is_zero() {
            let approach = v.vector.length();
            return Some((
                -v.unit().unwrap_or(DVec3::NEG_X),
                scaled(approach, v.exponent + self.speed),
            ));
        }
        // A part perpendicular to the velocity, and one along it.
        let beside = Floats::of(&cross(&across, &self.v));
        let (square, exponent) = float(&discriminant);
        let (root, exponent) = (square.max(0.0).sqrt(), exponent / 2);
        let of_root = exponent + v.exponent;
        let most = beside.exponent.max(of_root);
        let part = |vector: DVec3, exponent: i32| {
            DVec3::from_array(vector.to_array().map(|x| scaled(x, exponent - most)))
        };
        let vector = part(beside.vector, beside.exponent) - part(v.vector * root, of_root);
        let (r, of_r) = float(&self.r);
        let approach = scaled(root / r, exponent - of_r + self.speed);
        Some((unit(vector)?, approach))
    }
}

/// A vector of floats times 2^`exponent`.
struct Floats {
    vector: DVec3,
    exponent: i32,
}

impl Floats {
    fn of(x: &[IBig; 3]) -> Self {
        let parts = x.each_ref().map(float);
        let exponent = parts
            .iter()
            .map(|&(_, exponent)| exponent)
            .max()
            .unwrap_or(0);
        Self {
            vector: parts.map(|(x, of_x)| scaled(x, of_x - exponent)).into(),
            exponent,
        }
    }

    fn unit(&self) -> Option<DVec3> {
        unit(self.vector)
    }
}

fn unit(vector: DVec3) -> Option<DVec3> {
    (vector / vector.abs().max_element()).try_normalize()
}

/// Returns an integer as a float below 2⁹⁶ times 2ⁿ, and n, which is even.
fn float(x: &IBig) -> (f64, i32) {
    let digits = x.bit_len().saturating_sub(94);
    let digits = digits + digits % 2;
    ((x >> digits).to_f64().value(), digits as i32)
}

/// Returns x·2^`exponent`.
fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * power(half) * power(exponent - half)
}

pub(crate) fn cross(x: &[IBig; 3], y: &[IBig; 3]) -> [IBig; 3] {
    from_fn(|k| {
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        &x[i] * &y[j] - &x[j] * &y[i]
    })
}

fn power(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

/// Finds by bisection the least number from `low` to `high` for which `has` is true, as it is
/// for `high`.
fn least(mut low: u64, mut high: u64, has: impl Fn(&u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if has(&middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Returns the number of type `T` nearest to an unknown number from 0 to `most`, ties to even.
/// `compare` compares the unknown number with its argument. Starts at `guess`, with steps of
/// doubling size.
pub(crate) fn nearest<T: Numbers>(most: T, guess: f64, compare: impl Fn(Dyadic) -> Ordering) -> T {
    let number = |bits: u64| -> Dyadic { Dyadic::from(T::from_bits(bits).into()) };
    let reached = |&bits: &u64| compare(number(bits)) != Greater;
    // The least number that is not below the unknown one. Its bits are between `low` and `high`.
    let (mut low, mut high) = (0, most.bits());
    let guess = T::nearest(guess.max(0.0)).bits().min(high);
    if reached(&guess) {
        high = guess;
        let mut step = 1;
        while let Some(below) = high.checked_sub(step) {
            if !reached(&below) {
                low = below + 1;
                break;
            }
            high = below;
            step *= 2;
        }
    } else {
        low = guess + 1;
        let mut step = 1;
        while low + step < high {
            let above = low + step;
            if reached(&above) {
                high = above;
                break;
            }
            low = above + 1;
            step *= 2;
        }
    }
    let above = least(low, high, reached);
    let Some(below) = above.checked_sub(1) else {
        return T::default();
    };
    let nearer = match compare(middle(number(below), number(above))) {
        Less => below,
        Greater => above,
        Equal => below + below % 2,
    };
    T::from_bits(nearer)
}

fn middle(x: Dyadic, y: Dyadic) -> Dyadic {
    let unit = unit_of(&[x, y]);
    let whole = |x: Dyadic| x.mantissa << u32::try_from(x.exponent - unit).unwrap_or(0).min(63);
    let sum = match (x.mantissa, y.mantissa) {
        (0, y_mantissa) => y_mantissa,
        _ => whole(x) + whole(y),
    };
    let zeros = sum.trailing_zeros().min(63);
    Dyadic {
        mantissa: sum >> zeros,
        exponent: unit - 1 + zeros as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;

    #[test]
    fn ties_go_to_the_even_number() {
        for (less, even) in [(1.0, 16_777_216.0), (3.0, 16_777_220.0)] {
            let [a, b] = [16_777_216.0, less].map(|radius| Sphere::new([0.0; 3], radius));
            let found = PairIntegers::new(&a, &b, ()).impact(1.0, 0.0);
            let expected = Hit {
                toi: 0.0,
                depth: even,
            };
            assert_eq!(found, Some(expected));
        }
        for (less, even) in [(1.0, 16_777_216.0), (3.0, 16_777_220.0)] {
            let point = Sphere::new([16_777_216.0, 0.0, 0.0], 0.0).with_velocity([-1.0, 0.0, 0.0]);
            let other = Sphere::new([-less, 0.0, 0.0], 0.0);
            let found = PairIntegers::new(&point, &other, ()).impact(1e9, 0.0);
            let expected = Hit {
                toi: even,
                depth: 0.0,
            };
            assert_eq!(found, Some(expected));
        }
    }
}
