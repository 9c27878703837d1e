//! Functions that all benchmarked methods share.

use carom::{Collision, Sphere};

/// Relative enlargement of float32 bounding volumes. The bounding volumes of two touching spheres then always
/// overlap in spite of rounding.
const SLACK: f32 = 8.0 * f32::EPSILON;

#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    /// The moving spheres at the start of the time step.
    pub(crate) spheres: &'a [Sphere],
    pub(crate) dt: f32,
}

pub(crate) struct Found {
    /// The pairs (a, b) of spheres that touch during the time step, sorted by a and then by b. Only carom
    /// computes the penetration depths. The other methods set them to 0.
    pub(crate) pairs: Vec<Collision>,
    /// Number of candidate pairs. These are the pairs that the method tested exactly. If the method first
    /// compares bounding volumes, these comparisons are counted instead.
    pub(crate) candidates: u64,
}

/// Returns the time of impact of two moving spheres, or `None` if the spheres do not touch during
/// the time step. The time is computed in float64, where the differences of float32 coordinates are
/// exact or nearly so.
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

#[expect(
    clippy::cast_possible_truncation,
    reason = "carom takes at most 2³⁰ spheres"
)]
pub(crate) fn index(i: usize) -> u32 {
    i as u32
}

#[inline]
pub(crate) fn pair(a: u32, b: u32, toi: f32) -> Collision {
    Collision {
        a: a.min(b),
        b: a.max(b),
        toi,
        depth: 0.0,
    }
}

#[inline]
pub(crate) fn test(world: World<'_>, a: u32, b: u32, pairs: &mut Vec<Collision>) {
    let World { spheres, dt } = world;
    if let (Some(one), Some(other)) = (spheres.get(a as usize), spheres.get(b as usize))
        && let Some(toi) = impact(one, other, dt)
    {
        pairs.push(pair(a, b, toi));
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ball {
    pub(crate) center: [f32; 3],
    pub(crate) reach: f32,
}

impl Ball {
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

    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let [x, y, z] = [0, 1, 2].map(|k| self.center[k] - other.center[k]);
        let reach = self.reach + other.reach;
        x * x + y * y + z * z <= reach * reach
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) min: [f32; 3],
    pub(crate) max: [f32; 3],
}

impl Bounds {
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

/// Returns the spheres, moved back along their velocities by the given number of time steps.
pub(crate) fn before(world: World<'_>, steps: f32) -> Vec<Sphere> {
    let back = |sphere: &Sphere| Sphere {
        center: [0, 1, 2].map(|k| sphere.center[k] - steps * world.dt * sphere.velocity[k]),
        ..*sphere
    };
    world.spheres.iter().map(back).collect()
}

/// Sorts a list of pairs (a, b): a counting sort orders the pairs by a, and then the few pairs with the same
/// a are sorted by b.
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

/// Compares two lists of touching pairs. Returns the number of pairs that are in only one of them,
/// or whose times of impact differ by more than a ten-thousandth of the time step.
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
