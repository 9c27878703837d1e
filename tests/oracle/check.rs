//! Compares a list of collisions with the truth, and says in what they differ.

use std::collections::BTreeSet;
use std::fmt::Write;

use carom::{Collision, Collisions, Sphere};
use rayon::prelude::*;

use super::{Oracle, brute_force, brute_force_between, depth, toi};

/// How far a time or depth may be off, relative to itself.
const RELATIVE: f64 = 1e-6;
/// How far a time may be off besides, relative to dt, and a depth relative to the radii: what
/// float64 loses in c = p·p − r² when two spheres only just touch.
const CANCELLED: f64 = 1e-12;
/// Differences shown of each kind.
const SHOWN: usize = 10;

/// Panics when `collisions` is not exactly what collides among `spheres`.
pub(crate) fn assert_same(world: &str, spheres: &[Sphere], dt: f32, collisions: &Collisions) {
    brute_force(spheres, dt).assert_same(world, spheres, dt, collisions);
}

/// Panics when `collisions` is not exactly what collides between two sets.
pub(crate) fn assert_same_between(
    world: &str,
    first: &[Sphere],
    second: &[Sphere],
    dt: f32,
    collisions: &Collisions,
) {
    let oracle = brute_force_between(first, second, dt);
    panic_if_any(
        world,
        differences(&oracle, first, second, dt, &collisions.pairs),
    );
}

impl Oracle {
    /// Panics when `collisions` is not exactly what collides among `spheres`, of which this is the
    /// answer: for comparing several backends with one brute force.
    pub(crate) fn assert_same(
        &self,
        world: &str,
        spheres: &[Sphere],
        dt: f32,
        collisions: &Collisions,
    ) {
        panic_if_any(
            world,
            differences(self, spheres, spheres, dt, &collisions.pairs),
        );
    }
}

fn panic_if_any(world: &str, differences: String) {
    assert!(differences.is_empty(), "{world}:\n{differences}");
}

/// Everything in which the list is wrong, in words; empty when it is right.
pub(crate) fn differences(
    oracle: &Oracle,
    first: &[Sphere],
    second: &[Sphere],
    dt: f32,
    found: &[Collision],
) -> String {
    let mut report = String::new();
    let mut tell = |what: &str, pairs: &[(u32, u32)]| {
        if pairs.is_empty() {
            return;
        }
        let _ = writeln!(report, "{} {what}, dt = {dt:?}", pairs.len());
        for &(a, b) in pairs.iter().take(SHOWN) {
            let (one, other) = (first.get(a as usize), second.get(b as usize));
            let _ = writeln!(report, "  ({a}, {b})\n    {one:?}\n    {other:?}");
        }
    };
    let listed: Vec<(u32, u32)> = found.iter().map(|pair| (pair.a, pair.b)).collect();
    let disordered = |pair: &&[(u32, u32)]| pair[0] > pair[1];
    let out_of_order: Vec<_> = listed
        .windows(2)
        .filter(disordered)
        .map(|pair| pair[1])
        .collect();
    let mut sorted = listed;
    sorted.par_sort_unstable();
    let repeated: BTreeSet<_> = sorted
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    let repeated: Vec<_> = repeated.into_iter().collect();
    sorted.dedup();
    let absent_from = |from: &[(u32, u32)], of: &[(u32, u32)]| -> Vec<(u32, u32)> {
        of.par_iter()
            .filter(|&pair| from.binary_search(pair).is_err())
            .copied()
            .collect()
    };
    tell("pairs are missing", &absent_from(&sorted, &oracle.hits));
    tell("pairs do not collide", &absent_from(&oracle.hits, &sorted));
    tell("pairs are listed more than once", &repeated);
    tell("pairs are out of order", &out_of_order);
    let wrong: Vec<String> = found
        .par_iter()
        .filter_map(|pair| wrong_times(pair, first, second, dt))
        .collect();
    if !wrong.is_empty() {
        let _ = writeln!(
            report,
            "{} pairs have a wrong time or depth, dt = {dt:?}",
            wrong.len()
        );
        wrong
            .iter()
            .take(SHOWN)
            .for_each(|line| report.push_str(line));
    }
    report
}

/// What is wrong with the time and depth of a pair that does collide.
fn wrong_times(pair: &Collision, first: &[Sphere], second: &[Sphere], dt: f32) -> Option<String> {
    let (one, other) = (first.get(pair.a as usize)?, second.get(pair.b as usize)?);
    let true_toi = toi(one, other, dt)?;
    let true_depth = depth(one, other);
    let radii = f64::from(one.radius) + f64::from(other.radius);
    let toi_right = near(pair.toi, true_toi, f64::from(dt));
    if toi_right && near(pair.depth, true_depth, radii) {
        return None;
    }
    Some(format!(
        "  ({}, {}) toi {:?} instead of {true_toi:?}, depth {:?} instead of {true_depth:?}\n    \
         {one:?}\n    {other:?}\n",
        pair.a, pair.b, pair.toi, pair.depth
    ))
}

/// Whether a float32 is `truth`, within the allowance. The last term is for what is too small for
/// any float32.
fn near(found: f32, truth: f64, scale: f64) -> bool {
    let allowed = RELATIVE * truth.abs() + CANCELLED * scale + f64::from(f32::from_bits(1));
    (f64::from(found) - truth).abs() <= allowed
}
