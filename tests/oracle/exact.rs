//! The definition in rationals: no rounding at all, and nothing rearranged.
//!
//! With p = pⱼ − pᵢ, v = vⱼ − vᵢ, r = rᵢ + rⱼ, the spheres are nearest within a step at the t in
//! [0, dt] that is next to −p·v / v·v, and collide when |p + v·t|² ≤ r² there. A time of impact is
//! checked by steps of other lengths: it is at most x when the two collide in a step of length x.

use std::array::from_fn;

use carom::Sphere;
use num_bigint::BigInt;
use num_rational::BigRational;

/// One sphere as seen from another.
pub(crate) struct Exact {
    p: [BigRational; 3],
    v: [BigRational; 3],
    r: BigRational,
}

/// A float as the number it stands for.
fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).expect("the number is finite")
}

fn zero() -> BigRational {
    BigRational::from_integer(BigInt::ZERO)
}

fn dot(x: &[BigRational; 3], y: &[BigRational; 3]) -> BigRational {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}

impl Exact {
    pub(crate) fn new(a: &Sphere, b: &Sphere) -> Self {
        let difference =
            |a: [f32; 3], b: [f32; 3]| from_fn(|k| rational(b[k].into()) - rational(a[k].into()));
        Self {
            p: difference(a.center, b.center),
            v: difference(a.velocity, b.velocity),
            r: rational(a.radius.into()) + rational(b.radius.into()),
        }
    }

    fn at(&self, t: &BigRational) -> [BigRational; 3] {
        from_fn(|k| &self.p[k] + &self.v[k] * t)
    }

    /// When they are nearest in a step of length `dt`.
    pub(crate) fn nearest(&self, dt: f64) -> BigRational {
        let speed = dot(&self.v, &self.v);
        if speed == zero() {
            return zero();
        }
        let unbounded = -dot(&self.p, &self.v) / speed;
        unbounded.max(zero()).min(rational(dt))
    }

    /// r² less the squared distance at the closest approach: not negative when they collide.
    pub(crate) fn margin(&self, dt: f64) -> BigRational {
        let q = self.at(&self.nearest(dt));
        &self.r * &self.r - dot(&q, &q)
    }

    /// Whether they collide in a step of length `dt`.
    pub(crate) fn collide(&self, dt: f64) -> bool {
        self.margin(dt) >= zero()
    }

    /// Whether they touch at the very end of a step of length `dt`, and not before.
    fn first_touch_at(&self, dt: f64) -> bool {
        self.margin(dt) == zero() && self.nearest(dt) == rational(dt)
    }

    /// Whether a float32 is the one next to their time of impact, in a step in which they collide;
    /// the even one, if two are.
    pub(crate) fn rounds_to_toi(&self, found: f32) -> bool {
        let even = found.to_bits().is_multiple_of(2);
        let (below, above) = halfway(found);
        let early = below.is_some_and(|x| self.collide(x) && !(even && self.first_touch_at(x)));
        let late = !self.collide(above) || (!even && self.first_touch_at(above));
        !early && !late
    }

    /// How deep they overlap at the start is at least this when r − depth ≥ |p|.
    fn depth_compared_with(&self, depth: f64) -> std::cmp::Ordering {
        let rest = &self.r - rational(depth);
        if rest < zero() {
            return std::cmp::Ordering::Less;
        }
        (&rest * &rest).cmp(&dot(&self.p, &self.p))
    }

    /// Whether a float32 is the one next to r − |p|, or 0 where that is negative.
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

/// The numbers halfway from a float32, not negative, to its neighbours: none below 0.
fn halfway(x: f32) -> (Option<f64>, f64) {
    let with = |y: f32| (f64::from(x) + f64::from(y)) / 2.0;
    ((x > 0.0).then(|| with(x.next_down())), with(x.next_up()))
}

/// Whether two spheres collide.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    Exact::new(a, b).collide(dt.into())
}
