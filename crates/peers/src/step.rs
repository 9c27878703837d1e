//! What all contenders share: the swept test in float64, the bounds that a sphere does not leave
//! during the step, the order of the list, and how two lists are compared.

use carom::{Collision, Sphere};

/// Relative slack of bounds in float32, so that rounding never parts two that touch.
const SLACK: f32 = 8.0 * f32::EPSILON;

/// One step: the spheres, and how long it is.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    /// The spheres at its start.
    pub(crate) spheres: &'a [Sphere],
    /// Its length.
    pub(crate) dt: f32,
}

/// What a contender found in a step.
pub(crate) struct Found {
    /// Every pair that touches, sorted by (a, b). Only carom tells depths.
    pub(crate) pairs: Vec<Collision>,
    /// Pairs that had the swept test, or a test by bounds just before it.
    pub(crate) candidates: u64,
}

/// When two spheres first touch, if they do within the step: in float64, from float32 differences
/// that float64 holds exactly or nearly so.
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
    reason = "times of impact are given as float32; rounding is meant"
)]
fn single(x: f64) -> f32 {
    x as f32
}

/// An index of a sphere, as lists have it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "carom takes at most 2³⁰ spheres"
)]
pub(crate) fn index(i: usize) -> u32 {
    i as u32
}

/// The entry of two spheres, whichever comes first.
#[inline]
pub(crate) fn pair(a: u32, b: u32, toi: f32) -> Collision {
    Collision {
        a: a.min(b),
        b: a.max(b),
        toi,
        depth: 0.0,
    }
}

/// Tests two spheres, and lists them if they touch.
#[inline]
pub(crate) fn test(world: World<'_>, a: u32, b: u32, pairs: &mut Vec<Collision>) {
    let World { spheres, dt } = world;
    if let (Some(one), Some(other)) = (spheres.get(a as usize), spheres.get(b as usize))
        && let Some(toi) = impact(one, other, dt)
    {
        pairs.push(pair(a, b, toi));
    }
}

/// A ball that a sphere does not leave during the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ball {
    /// The centre halfway.
    pub(crate) center: [f32; 3],
    /// Its radius.
    pub(crate) reach: f32,
}

impl Ball {
    /// The ball around the way of a sphere.
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

    /// Whether two spheres may touch, going by their balls.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let [x, y, z] = [0, 1, 2].map(|k| self.center[k] - other.center[k]);
        let reach = self.reach + other.reach;
        x * x + y * y + z * z <= reach * reach
    }
}

/// A box that a sphere does not leave during the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Its lower corner.
    pub(crate) min: [f32; 3],
    /// Its upper corner.
    pub(crate) max: [f32; 3],
}

impl Bounds {
    /// The box around the way of a sphere.
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

/// The spheres as they were so many steps before, had they always moved like this.
pub(crate) fn before(world: World<'_>, steps: f32) -> Vec<Sphere> {
    let back = |sphere: &Sphere| Sphere {
        center: [0, 1, 2].map(|k| sphere.center[k] - steps * world.dt * sphere.velocity[k]),
        ..*sphere
    };
    world.spheres.iter().map(back).collect()
}

/// Sorts a list by (a, b): a counting sort by a, and what little each a has by b.
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

/// How many pairs differ between a list and the exact one: those in one of the two only, and those
/// whose times are more than a ten thousandth of the step apart.
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
