//! The true set of colliding pairs, by trying every pair, straight from the definition:
//!
//! With p = pⱼ − pᵢ, v = vⱼ − vᵢ, r = rᵢ + rⱼ, the pair collides when |p + v·t| ≤ r for some t in
//! [0, dt]. With c = p·p − r², b = p·v, a = v·v that is
//! 1. when c ≤ 0; or else not at all
//! 2. when b ≥ 0; or else
//! 3. if −b > a·dt, exactly when c + 2b·dt + a·dt² ≤ 0;
//! 4. if not, exactly when b² ≥ a·c.
//!
//! Float64 with a proven bound decides nearly all ([`filter`]), fractions of integers the rest ([`exact`]), so
//! no pair is left undecided. Nothing here is the library's, but for the type of its input.

#![allow(
    dead_code,
    unused_imports,
    reason = "shared by several tests, each of which uses a part"
)]

pub(crate) mod check;
pub(crate) mod exact;
pub(crate) mod filter;
pub(crate) mod times;

use std::sync::atomic::{AtomicU64, Ordering};

use carom::Sphere;
use rayon::prelude::*;

pub(crate) use check::{assert_same, assert_same_between};
pub(crate) use times::{depth, toi};

/// Every pair that collides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Oracle {
    /// Sorted. In one set the smaller index first; between two, that in the first set.
    pub(crate) hits: Vec<(u32, u32)>,
    /// How many pairs, hits or not, float64 could not tell, so that integers had to.
    pub(crate) decided_exactly: u64,
}

/// Every pair of `spheres` that collides during a step of `dt`, by trying all.
pub(crate) fn brute_force(spheres: &[Sphere], dt: f32) -> Oracle {
    try_all(spheres, spheres, dt, |i| i + 1)
}

/// Every pair of one of `first` and one of `second` that collides, by trying all.
pub(crate) fn brute_force_between(first: &[Sphere], second: &[Sphere], dt: f32) -> Oracle {
    try_all(first, second, dt, |_| 0)
}

/// Whether two spheres collide, their groups aside.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    filter::collides(a, b, dt).unwrap_or_else(|| exact::collides(a, b, dt))
}

/// Sphere i of `first` against those of `second` from `from(i)` on, for all i.
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

/// The rule of [`Sphere::with_groups`]: a pair is left out when one of the two ignores a group
/// that the other is in.
fn ignore_each_other(a: &Sphere, b: &Sphere) -> bool {
    let member_of = |sphere: &Sphere| sphere.groups % (1 << 16);
    let ignored = |sphere: &Sphere| sphere.groups / (1 << 16);
    member_of(a) & ignored(b) != 0 || member_of(b) & ignored(a) != 0
}

/// A ball that a sphere does not leave during the step, to reject most pairs quickly.
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

    /// Surely out of reach: what is rounded here is a few units of 10⁻¹⁶, and the slack 10⁻¹².
    fn too_far(&self, other: &Self) -> bool {
        let square = |k: usize| (self.center[k] - other.center[k]).powi(2);
        let reach = self.radius + other.radius;
        square(0) + square(1) + square(2) > reach * reach * (1.0 + 1e-12)
    }
}
