//! Compares a list of colliding pairs with exact brute force, and describes the differences.

use std::collections::BTreeSet;
use std::fmt::Write;

use carom::{Collision, Collisions, Sphere};
use rayon::prelude::*;

use super::{Oracle, brute_force, brute_force_between, times};

const SHOWN: usize = 10;

pub(crate) fn assert_same(world: &str, spheres: &[Sphere], dt: f32, collisions: &Collisions) {
    brute_force(spheres, dt).assert_same(world, spheres, dt, collisions);
}

/// Panics unless `collisions` contains exactly the pairs that brute force finds between two sets of spheres.
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
    /// Panics unless `collisions` contains exactly the pairs that brute force found, which are in
    /// `self`.
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
        .filter_map(|pair| {
            let (a, b) = (first.get(pair.a as usize)?, second.get(pair.b as usize)?);
            times::wrong(pair, a, b, dt)
        })
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
