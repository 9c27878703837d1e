//! Functions that all contenders share: the test of two moving spheres in float64, bounding volumes
//! of a sphere's motion, the sort of the list, and the comparison of two lists.

use carom::{Collision, Sphere};

/// Relative amount by which float32 bounding volumes are enlarged. With it, the volumes of two
/// touching spheres always overlap in spite of rounding.
const SLACK: f32 = 8.0 * f32::EPSILON;

/// One step: the spheres and the length of the step.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    /// The spheres, with their centres at the start of the step.
    pub(crate) spheres: &'a [Sphere],
    /// Duration of the step.
    pub(crate) dt: f32,
}

/// The results of a contender for one step.
pub(crate) struct Found {
    /// Every pair of spheres that touch, sorted by (a, b). Only carom computes penetration depths.
    /// The lists of all other contenders have depths of 0.
    pub(crate) pairs: Vec<Collision>,
    /// Number of candidates: pairs for which the contender ran the exact test, or the
    /// bounding-volume test immediately before the exact test.
    pub(crate) candidates: u64,
}

/// Returns the time of impact of two spheres, or `None` if they do not touch during the step. The
/// time is computed in float64 from differences of float32 values. Float64 represents these
/// differences exactly or almost exactly.
#[inline]
pub(crate) fn impact(a: &Sphere, b: &Sphere, dt: f32) -> Option<f32> {
    let difference =
        |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|k| f64::from(b[k]) - f64::from(a[k]));
    let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let p = difference(a.center, b.center);
    let r = f64::from(a.radius) + f64::from(b.radius);
    let apart = dot(p, p) - r * r;
    if apart <= 0.0 {
        return Some(0.0);
    }
    let v = difference(a.velocity, b.velocity);
    let closing = -dot(p, v);
    if closing <= 0.0 {
        return None;
    }
    let discriminant = closing * closing - dot(v, v) * apart;
    if discriminant < 0.0 {
        return None;
    }
    let toi = apart / (closing + discriminant.sqrt());
    (toi <= f64::from(dt)).then_some(single(toi))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "times of impact are float32; rounding is intended"
)]
fn single(x: f64) -> f32 {
    x as f32
}

/// Converts the index of a sphere to `u32`, the type of the indices in a list of pairs.
#[expect(
    clippy::cast_possible_truncation,
    reason = "carom takes at most 2³⁰ spheres"
)]
pub(crate) fn index(i: usize) -> u32 {
    i as u32
}

/// Returns the list entry of a pair. The two indices may be given in either order.
#[inline]
pub(crate) fn pair(a: u32, b: u32, toi: f32) -> Collision {
    Collision {
        a: a.min(b),
        b: a.max(b),
        toi,
        depth: 0.0,
    }
}

/// Tests two spheres with [`impact`], and appends the pair to `pairs` if they touch.
#[inline]
pub(crate) fn test(world: World<'_>, a: u32, b: u32, pairs: &mut Vec<Collision>) {
    let World { spheres, dt } = world;
    if let (Some(one), Some(other)) = (spheres.get(a as usize), spheres.get(b as usize))
        && let Some(toi) = impact(one, other, dt)
    {
        pairs.push(pair(a, b, toi));
    }
}

/// A ball that contains a sphere during the whole step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ball {
    /// Centre of the ball: the centre of the sphere at half the step.
    pub(crate) center: [f32; 3],
    /// Radius of the ball.
    pub(crate) reach: f32,
}

impl Ball {
    /// Returns the bounding ball of a sphere's motion during the step.
    pub(crate) fn new(sphere: &Sphere, dt: f32) -> Self {
        let half = sphere.velocity.map(|v| 0.5 * dt * v);
        let center = [0, 1, 2].map(|k| sphere.center[k] + half[k]);
        let length = (half[0] * half[0] + half[1] * half[1] + half[2] * half[2]).sqrt();
        let reach = sphere.radius + length;
        let largest = center.iter().fold(reach, |most, x| most.max(x.abs()));
        Self {
            center,
            reach: reach + SLACK * largest,
        }
    }

    /// Returns whether two balls overlap. If the balls do not overlap, the spheres in them do not
    /// touch.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let [x, y, z] = [0, 1, 2].map(|k| self.center[k] - other.center[k]);
        let reach = self.reach + other.reach;
        x * x + y * y + z * z <= reach * reach
    }
}

/// A box that contains a sphere during the whole step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Lower corner of the box.
    pub(crate) min: [f32; 3],
    /// Upper corner of the box.
    pub(crate) max: [f32; 3],
}

impl Bounds {
    /// Returns the bounding box of a sphere's motion during the step.
    pub(crate) fn new(sphere: &Sphere, dt: f32) -> Self {
        let &Sphere {
            center: from,
            radius,
            velocity,
            ..
        } = sphere;
        let to = [0, 1, 2].map(|k| from[k] + velocity[k] * dt);
        let slack = [0, 1, 2].map(|k| radius + SLACK * (from[k].abs().max(to[k].abs()) + radius));
        Self {
            min: [0, 1, 2].map(|k| from[k].min(to[k]) - slack[k]),
            max: [0, 1, 2].map(|k| from[k].max(to[k]) + slack[k]),
        }
    }
}

/// Returns the spheres at an earlier time: moved back along their velocities by the given number of
/// steps.
pub(crate) fn before(world: World<'_>, steps: f32) -> Vec<Sphere> {
    let back = |sphere: &Sphere| Sphere {
        center: [0, 1, 2].map(|k| sphere.center[k] - steps * world.dt * sphere.velocity[k]),
        ..*sphere
    };
    world.spheres.iter().map(back).collect()
}

/// Returns the list of pairs (a, b), sorted by a and then by b. A counting sort sorts by a. Then
/// the few pairs with the same a are sorted by b. `spheres` is the number of spheres.
pub(crate) fn sorted(pairs: &[Collision], spheres: usize) -> Vec<Collision> {
    let mut starts = vec![0_usize; spheres + 2];
    for pair in pairs {
        starts[pair.a as usize + 2] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut list = vec![Collision::default(); pairs.len()];
    for pair in pairs {
        let place = &mut starts[pair.a as usize + 1];
        list[*place] = *pair;
        *place += 1;
    }
    for row in starts.windows(2) {
        list[row[0]..row[1]].sort_unstable_by_key(|pair| pair.b);
    }
    list
}

/// Returns the number of pairs in which a list differs from the exact list. A pair counts if it is
/// in only one of the two lists, or if its times of impact differ by more than a ten-thousandth of
/// the step.
pub(crate) fn differences(list: &[Collision], exact: &[Collision], dt: f32) -> u64 {
    let key = |pair: &Collision| (pair.a, pair.b);
    let mut rest = exact.iter().peekable();
    let mut different = 0;
    for pair in list {
        while rest.next_if(|other| key(other) < key(pair)).is_some() {
            different += 1;
        }
        match rest.next_if(|other| key(other) == key(pair)) {
            Some(other) => different += u64::from((pair.toi - other.toi).abs() > 1e-4 * dt),
            None => different += 1,
        }
    }
    different + rest.count() as u64
}
