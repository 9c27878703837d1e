//! Exact brute force for spheres in float64. A float64 is a whole number times a power of two, and so is every sum and
//! product of such numbers.

use std::cmp::Ordering;

use carom::{Domain, HardSphere};
use glam::DVec3;
use num_bigint::BigInt;

/// The number m·2^e.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    m: BigInt,
    e: i64,
}

impl From<f64> for Dyadic {
    fn from(x: f64) -> Self {
        let bits = x.abs().to_bits();
        let (exponent, fraction) = (bits >> 52, bits % (1 << 52));
        let m = BigInt::from(if exponent == 0 {
            fraction
        } else {
            fraction + (1 << 52)
        });
        Self {
            m: if x < 0.0 { -m } else { m },
            e: i64::try_from(exponent.max(1)).expect("11 bits") - 1075,
        }
    }
}

impl Dyadic {
    fn at(&self, e: i64) -> BigInt {
        &self.m << usize::try_from(self.e - e).expect("a finer unit")
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let e = self.e.min(other.e);
        let m = self.at(e) + other.at(e);
        Self { m, e }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            m: &self.m * &other.m,
            e: self.e + other.e,
        }
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.plus(&Self {
            m: -&other.m,
            e: other.e,
        })
    }

    /// Returns 2^`exponent`.
    pub(crate) fn power(exponent: i64) -> Self {
        Self {
            m: 1.into(),
            e: exponent,
        }
    }

    fn half(&self) -> Self {
        Self {
            m: self.m.clone(),
            e: self.e - 1,
        }
    }

    pub(crate) fn sign(&self) -> Ordering {
        self.m.cmp(&BigInt::ZERO)
    }
}

pub(crate) fn dot(x: &[Dyadic; 3], y: &[Dyadic; 3]) -> Dyadic {
    let [a, b, c] = [0, 1, 2].map(|k| x[k].times(&y[k]));
    a.plus(&b).plus(&c)
}

/// The relative motion of two spheres: c = p·p − r², b = p·v and a = v·v, and the sum r of the radii.
pub(crate) struct Motion {
    p: [Dyadic; 3],
    r: Dyadic,
    c: Dyadic,
    b: Dyadic,
    a: Dyadic,
}

impl Motion {
    pub(crate) fn new(
        one: &HardSphere,
        other: &HardSphere,
        domain: &Domain,
        image: [i32; 3],
    ) -> Self {
        let difference = |x: f64, y: f64| Dyadic::from(x).minus(&y.into());
        let p = [0, 1, 2].map(|axis| {
            let mut p = difference(other.center[axis], one.center[axis]);
            for (edge, times) in domain.edges().iter().zip(image) {
                p = p.plus(&Dyadic::from(edge[axis]).times(&f64::from(times).into()));
            }
            p
        });
        let v = [0, 1, 2].map(|axis| difference(other.velocity[axis], one.velocity[axis]));
        let r = Dyadic::from(one.radius).plus(&other.radius.into());
        Self {
            c: dot(&p, &p).minus(&r.times(&r)),
            b: dot(&p, &v),
            a: dot(&v, &v),
            p,
            r,
        }
    }

    pub(crate) fn collide(&self, dt: f64) -> bool {
        let Self { c, b, a, .. } = self;
        if c.sign().is_le() {
            return true;
        }
        if b.sign().is_ge() {
            return false;
        }
        let dt = Dyadic::from(dt);
        if b.plus(&a.times(&dt)).sign().is_lt() {
            return self.outside_at(&dt).sign().is_le();
        }
        b.times(b).minus(&a.times(c)).sign().is_ge()
    }

    fn outside_at(&self, time: &Dyadic) -> Dyadic {
        let Self { c, b, a, .. } = self;
        c.plus(&b.plus(b).times(time))
            .plus(&a.times(time).times(time))
    }

    /// Compares the time of impact, of spheres that are apart at the start, with `time`.
    fn time_against(&self, time: &Dyadic) -> Ordering {
        let approach = self.b.plus(&self.a.times(time)).sign();
        match (self.outside_at(time).sign(), approach) {
            (Ordering::Less, _) | (Ordering::Greater, Ordering::Greater | Ordering::Equal) => {
                Ordering::Less
            }
            (Ordering::Equal, approach) if approach.is_le() => Ordering::Equal,
            (Ordering::Equal, _) => Ordering::Less,
            (Ordering::Greater, Ordering::Less) => Ordering::Greater,
        }
    }

    /// Compares the depth r − |p| with `length`.
    fn depth_against(&self, length: &Dyadic) -> Ordering {
        let rest = self.r.minus(length);
        if rest.sign().is_lt() {
            return Ordering::Less;
        }
        rest.times(&rest).minus(&dot(&self.p, &self.p)).sign()
    }

    /// Returns whether the time of impact and the depth of spheres that touch are the nearest float64.
    pub(crate) fn is_nearest(&self, toi: f64, depth: f64) -> bool {
        if self.c.sign().is_le() {
            toi.to_bits() == 0 && is_nearest(depth, |x| self.depth_against(x))
        } else {
            depth.to_bits() == 0 && is_nearest(toi, |x| self.time_against(x))
        }
    }

    /// Compares the distance |p| with `length`.
    pub(crate) fn distance_against(&self, length: f64) -> Ordering {
        let length = Dyadic::from(length);
        dot(&self.p, &self.p).minus(&length.times(&length)).sign()
    }

    /// Compares component `axis` of p with `x`.
    pub(crate) fn component_against(&self, axis: usize, x: f64) -> Ordering {
        self.p[axis].minus(&x.into()).sign()
    }
}

/// Returns whether `x`, at least 0, is the float64 nearest to a number, ties to even. `against` compares this number with
/// its argument.
pub(crate) fn is_nearest(x: f64, against: impl Fn(&Dyadic) -> Ordering) -> bool {
    if !(0.0..f64::MAX).contains(&x) {
        return false;
    }
    let even = x.to_bits().is_multiple_of(2);
    let [below, above] =
        [x.next_down(), x.next_up()].map(|y| Dyadic::from(x).plus(&y.into()).half());
    let fits =
        |order: Ordering, wrong: Ordering| order != wrong && (even || order != Ordering::Equal);
    (x == 0.0 || fits(against(&below), Ordering::Less)) && fits(against(&above), Ordering::Greater)
}

/// Returns all images of sphere `b` that may come within `more` of sphere `a` during the step, sorted.
pub(crate) fn near(
    a: &HardSphere,
    b: &HardSphere,
    dt: f64,
    domain: &Domain,
    more: f64,
) -> Vec<[i32; 3]> {
    let longest = domain
        .edges()
        .as_flattened()
        .iter()
        .fold(0.0_f64, |most, x| most.max(x.abs()));
    if 0.0 < longest && longest < 1e-100 {
        // The squares of short edges underflow, but not those of edges that are multiplied by a power of two.
        let unit = 2.0_f64.powi(300);
        let scaled = |x: [f64; 3]| x.map(|x| x * unit);
        let [a, b] = [a, b].map(|ball| {
            HardSphere::new(scaled(ball.center), ball.radius * unit)
                .with_velocity(scaled(ball.velocity))
        });
        let cell = Domain::triclinic_f64(scaled(domain.origin()), domain.edges().map(scaled))
            .with_periodic(domain.periodic());
        return near(&a, &b, dt, &cell, more * unit);
    }
    let [p, v] = [
        DVec3::from(b.center) - DVec3::from(a.center),
        DVec3::from(b.velocity) - DVec3::from(a.velocity),
    ];
    // Squares of smaller numbers underflow.
    let is_tiny = v != DVec3::ZERO && v.length() < 1e-140;
    let speed = if is_tiny {
        v.abs().element_sum()
    } else {
        v.length()
    };
    let reach = a.radius + b.radius + speed * dt + more;
    let edges = [0, 1, 2].map(|k| match domain.periodic()[k] {
        true => DVec3::from(domain.edges()[k]),
        false => DVec3::ZERO,
    });
    let mut across = edges;
    for k in 1..3 {
        for before in 0..k {
            let other = across[before];
            if other != DVec3::ZERO {
                across[k] -= other * (edges[k].dot(other) / other.length_squared());
            }
        }
    }
    // `across[k]` is the part of edge k that is perpendicular to the edges with lower numbers. An image of
    // sphere b can be near sphere a only if their distance along each vector `across[k]` is at most `reach`.
    // Edges 0 and 1 have no component along `across[2]`. So the multiples of edge 2 are limited first, then
    // those of edge 1, and then those of edge 0.
    let range = |k: usize, from: DVec3| {
        let length = across[k].length();
        if edges[k] == DVec3::ZERO {
            return 0..=0;
        }
        let (at, wide) = (-(across[k] / length).dot(from) / length, reach / length);
        let error = 1e-9 * (1.0 + at.abs() + wide + from.length() / length);
        #[allow(clippy::cast_possible_truncation, reason = "the worlds are small")]
        let [first, last] =
            [(at - wide - error).ceil(), (at + wide + error).floor()].map(|x| x as i32);
        first..=last
    };
    let mut images = Vec::new();
    for n3 in range(2, p) {
        let p = p + edges[2] * f64::from(n3);
        for n2 in range(1, p) {
            let p = p + edges[1] * f64::from(n2);
            for n1 in range(0, p) {
                // An image that is near sphere a along every direction may still miss it. So the closest
                // approach is computed in float64, with a margin for rounding.
                let p = p + edges[0] * f64::from(n1);
                let time = (-p.dot(v / v.length()) / v.length()).max(0.0).min(dt);
                let nearest = if time > 0.0 { p + v * time } else { p };
                let touch = a.radius + b.radius + more;
                let error = 1e-9 * (p.length() + touch + v.length() * dt + edges[0].length());
                if is_tiny || nearest.length() <= touch + error + 1e-160 {
                    images.push([n1, n2, n3]);
                }
            }
        }
    }
    images.sort_unstable();
    images
}
