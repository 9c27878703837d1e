//! The oracle: exact brute force, which tests every pair of spheres by the definition of a collision. It
//! shares no code with carom except the type of a sphere.
//!
//! Two spheres have the relative position p and velocity v, and the sum of radii r. They collide
//! when |p + v·t| ≤ r for some t in [0, dt]. With c = p·p − r², b = p·v and a = v·v, this means:
//! 1. If c ≤ 0, the pair collides.
//! 2. Otherwise, if b ≥ 0, the pair does not collide.
//! 3. Otherwise, if −b > a·dt, the pair collides exactly when c + 2b·dt + a·dt² ≤ 0.
//! 4. Otherwise, the pair collides exactly when b² ≥ a·c.
//!
//! Float64 with an error bound decides nearly all pairs ([`filter`]), and fractions of integers decide the
//! others ([`exact`]).

#![allow(
    dead_code,
    unused_imports,
    reason = "shared by several tests, each of which uses a part"
)]

pub(crate) mod check;
pub(crate) mod dyadic;
pub(crate) mod exact;
pub(crate) mod filter;
pub(crate) mod periodic;
pub(crate) mod times;
pub(crate) mod walls;
pub(crate) mod wide_walls;

use std::sync::atomic::{AtomicU64, Ordering};

use carom::Sphere;
use rayon::prelude::*;

pub(crate) use check::{assert_same, assert_same_between};
pub(crate) use times::{depth, toi};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Oracle {
    /// The sorted indices of each colliding pair. In a pair of one set, the smaller index is first. In a pair
    /// between two sets, the index in the first set is first.
    pub(crate) hits: Vec<(u32, u32)>,
    /// Number of pairs that integer arithmetic decided, because float64 could not.
    pub(crate) decided_exactly: u64,
}

pub(crate) fn brute_force(spheres: &[Sphere], dt: f32) -> Oracle {
    try_all(spheres, spheres, dt, |i| i + 1)
}

pub(crate) fn brute_force_between(first: &[Sphere], second: &[Sphere], dt: f32) -> Oracle {
    try_all(first, second, dt, |_| 0)
}

/// Returns whether two spheres collide during a step of length `dt`, whatever their collision groups.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    filter::collides(a, b, dt).unwrap_or_else(|| exact::collides(a, b, dt))
}

/// For each i, tests sphere i of `first` against all spheres of `second` from index `from(i)` on.
fn try_all(first: &[Sphere], second: &[Sphere], dt: f32, from: fn(usize) -> usize) -> Oracle {
    let [bodies, others] = [first, second].map(|set| Reach::of_all(set, dt));
    let decided_exactly = AtomicU64::new(0);
    let row = |(i, (one, body)): (usize, (&Sphere, &Reach))| {
        let from = from(i).min(second.len());
        let mut hits = Vec::new();
        let candidates = second[from..].iter().zip(&others[from..]).enumerate();
        for (k, (other, its)) in candidates {
            if body.too_far(its) || ignore_each_other(one, other) {
                continue;
            }
            let hit = filter::collides(one, other, dt).unwrap_or_else(|| {
                decided_exactly.fetch_add(1, Ordering::Relaxed);
                exact::collides(one, other, dt)
            });
            if hit {
                let index = |x| u32::try_from(x).expect("indices of spheres are 32 bits");
                hits.push((index(i), index(from + k)));
            }
        }
        hits
    };
    let hits = first
        .par_iter()
        .zip(&bodies)
        .enumerate()
        .flat_map_iter(row)
        .collect();
    Oracle {
        hits,
        decided_exactly: decided_exactly.into_inner(),
    }
}

/// Returns whether one of two spheres ignores a collision group in which the other is a member
/// ([`Sphere::with_groups`]).
fn ignore_each_other(a: &Sphere, b: &Sphere) -> bool {
    let member_of = |sphere: &Sphere| sphere.groups % (1 << 16);
    let ignored = |sphere: &Sphere| sphere.groups / (1 << 16);
    member_of(a) & ignored(b) != 0 || member_of(b) & ignored(a) != 0
}

/// A ball that contains a sphere during the whole step.
struct Reach {
    center: [f64; 3],
    radius: f64,
}

impl Reach {
    fn of_all(spheres: &[Sphere], dt: f32) -> Vec<Self> {
        let of = |sphere: &Sphere| {
            let speed = sphere
                .velocity
                .map(|v| f64::from(v).powi(2))
                .iter()
                .sum::<f64>()
                .sqrt();
            Self {
                center: sphere.center.map(f64::from),
                radius: f64::from(sphere.radius) + speed * f64::from(dt),
            }
        };
        spheres.iter().map(of).collect()
    }

    /// Returns whether two balls certainly do not meet. The relative rounding errors of this test are a few
    /// times 10⁻¹⁶, much smaller than its margin of 10⁻¹².
    fn too_far(&self, other: &Self) -> bool {
        let square = |k: usize| (self.center[k] - other.center[k]).powi(2);
        let reach = self.radius + other.radius;
        square(0) + square(1) + square(2) > reach * reach * (1.0 + 1e-12)
    }
}
