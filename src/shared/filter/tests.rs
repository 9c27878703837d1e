//! Compares the filter of a GPU and the float64 tests of the CPU with exact arithmetic, for pairs
//! of spheres close to tangency.

#[path = "../../../tests/oracle/mod.rs"]
pub(crate) mod oracle;
#[path = "../../../tests/tangency/mod.rs"]
pub(crate) mod tangency;

use std::collections::BTreeMap;

use fastrand::Rng;
use rayon::prelude::*;

use super::any_gpu::AnyGpu;
use super::*;
use crate::Sphere;
use crate::exact::{Arithmetic, Hit, impact, sweep};
use crate::gpu::filter_on_gpu;
use crate::shared::scaled_sphere::ScaledSphere;
use crate::shared::sorted::SortedProxy;
use crate::shared::units::Units;
use oracle::exact::Exact;
use tangency::{KINDS, Kind, Pair};

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    pairs: u64,
    touching: u64,
    grazing: u64,
    by_integers: u64,
    error: f64,
    /// Largest distance from exact tangency among the pairs that the filter could not decide, in
    /// units of 2⁻²⁴ times the sum of the radii and of the magnitudes of the relative coordinates
    /// of the pair.
    farthest: f64,
}

impl Seen {
    fn and(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            touching: self.touching + other.touching,
            grazing: self.grazing + other.grazing,
            by_integers: self.by_integers + other.by_integers,
            error: self.error.max(other.error),
            farthest: self.farthest.max(other.farthest),
        }
    }
}

fn prepared(pair: &Pair) -> ([SortedProxy; 2], f32, f64) {
    let [one, other] = pair.spheres;
    let world = [one, other, Sphere::new([0.0; 3], pair.extent)];
    let units = Units::new(pair.dt, pair.extent);
    let scale = units.scale(pair.dt);
    let spheres = world.map(|sphere| scale.sphere(&sphere));
    let unit = match pair.extent {
        0.0 => 1.0,
        extent => f64::from(spheres[2].radius) / f64::from(extent),
    };
    let proxy = |k: usize| {
        let ScaledSphere {
            center,
            radius,
            velocity,
            ..
        } = spheres[k];
        SortedProxy {
            center,
            radius,
            velocity,
            sphere: 0,
        }
    };
    ([proxy(0), proxy(1)], scale.dt, unit)
}

fn check(pair: &Pair, ([i, j], _, unit): &([SortedProxy; 2], f32, f64), found: [f32; 2]) -> Seen {
    let [margin, bound] = found.map(f64::from);
    let [a, b] = &pair.spheres;
    let truth = Exact::new(a, b);
    let true_margin = truth.margin(pair.dt.into()) * unit * unit;
    let touches = truth.collide(pair.dt.into());
    let error = (margin - true_margin).abs() - f64::from(EPSILON) * margin.abs();
    assert!(
        error <= bound,
        "margin {margin:e}, expected {true_margin:e}: the error is {} times the bound: {pair:?}",
        error / bound
    );
    if margin > bound {
        assert!(
            touches,
            "the filter finds a certain hit, but the spheres miss: {pair:?}"
        );
    }
    if margin < -bound {
        assert!(
            !touches,
            "the filter finds a certain miss, but the spheres touch: {pair:?}"
        );
    }
    let grazing = margin.abs() <= bound;
    let relative = |x: [f32; 3], y: [f32; 3]| -> f64 {
        (0..3)
            .map(|k| (f64::from(y[k]) - f64::from(x[k])).abs())
            .sum()
    };
    let r = f64::from(i.radius) + f64::from(j.radius);
    let terms = relative(i.center, j.center) + r;
    let d = (r * r - true_margin).max(0.0).sqrt();
    let slow = relative(i.velocity, j.velocity) < 2.0 * f64::from(SLOW).sqrt();
    let least = 2_f64.powi(if slow { -14 } else { -40 });
    let mut farthest = 0.0;
    if grazing && terms > least {
        // The distance |r − d| of the pair from tangency, where d is the smallest distance of the
        // centres, is computed as |r² − d²| / (r + d). For two spheres of radius 0 that meet, r + d
        // is 0, so a tiny positive number replaces it.
        let apart = true_margin.abs() / (r + d).max(f64::MIN_POSITIVE);
        farthest = apart / (f64::from(EPSILON) / 2.0 * terms);
        assert!(
            farthest <= 64.0,
            "a pair {farthest} ulps from tangency is grazing: {pair:?}"
        );
    }
    let (decision, by) = impact(a, b, (), pair.dt);
    assert_eq!(
        decision.is_some(),
        touches,
        "wrong decision by {by:?}: {pair:?}"
    );
    if let Some(impact) = decision {
        assert!(
            truth.rounds_to_toi(impact.toi) && truth.rounds_to_depth(impact.depth),
            "wrong value in {impact:?}, by {by:?}: {pair:?}"
        );
    }
    Seen {
        pairs: 1,
        touching: touches.into(),
        grazing: grazing.into(),
        by_integers: (by == Arithmetic::Integers).into(),
        error: error / bound,
        farthest,
    }
}

fn filter_is_right(count: usize) {
    const BATCH: usize = 1 << 18;
    let gpu = filter_on_gpu::adapter();
    let mut seen: [BTreeMap<String, Seen>; 2] = Default::default();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for batch in 0..count.div_ceil(BATCH) {
            let mut rng = Rng::with_seed((batch * KINDS.len() + number) as u64);
            let pairs: Vec<Pair> = (0..BATCH.min(count - batch * BATCH))
                .map(|_| Pair::new(kind, &mut rng))
                .collect();
            let prepared: Vec<_> = pairs.iter().map(prepared).collect();
            let on_any = prepared
                .iter()
                .zip(rng.u64(..)..)
                .map(|(&([i, j], dt, _), seed)| AnyGpu::new(seed).filter_pair(&i, &j, dt));
            let for_gpu: Vec<_> = prepared.iter().map(|&(pair, dt, _)| (pair, dt)).collect();
            let found = [
                filter_on_gpu::filter_pairs(&gpu, &for_gpu),
                on_any.collect(),
            ];
            for (seen, found) in seen.iter_mut().zip(found) {
                let sum = (pairs.par_iter().zip(&prepared).zip(&found))
                    .map(|((pair, prepared), &found)| check(pair, prepared, found))
                    .reduce(Seen::default, Seen::and);
                let own = seen.entry(format!("{kind:?}")).or_default();
                *own = own.and(sum);
            }
        }
    }
    for (backend, seen) in ["GPU", "any GPU"].into_iter().zip(seen) {
        let all = seen
            .values()
            .fold(Seen::default(), |all, &own| all.and(own));
        for (kind, seen) in seen.iter().chain([(&"all".to_owned(), &all)]) {
            println!("{backend} {kind}: {seen:?}");
        }
        assert!(
            all.error > 1.0 / 64.0,
            "the bound is more than 64 times the worst error: {all:?}"
        );
        // Random pairs test the error bounds only if many of them are close to tangency.
        assert!(all.grazing > all.pairs / 4, "{all:?}");
        assert!(
            (all.pairs / 4..all.pairs * 3 / 4).contains(&all.touching),
            "{all:?}"
        );
        assert!(
            seen[&format!("{:?}", Kind::Exact)].by_integers > 0,
            "{all:?}"
        );
    }
}

#[test]
fn no_certain_verdict_on_pairs_near_tangency_is_wrong() {
    filter_is_right(20_000);
}

#[test]
#[ignore = "ten million pairs in exact arithmetic take minutes"]
fn no_certain_verdict_on_ten_million_pairs_near_tangency_is_wrong() {
    filter_is_right(10_000_000_usize.div_ceil(KINDS.len()));
}

#[test]
fn certain_results_of_the_paired_test_are_correct() {
    let mut rng = Rng::with_seed(1);
    let (mut hits, mut later, mut just, mut misses, mut open) = (0, 0, 0, 0, 0);
    for round in 0..40_000 {
        let mut pair = |kind: Kind| {
            let mut pair = Pair::new(kind, &mut rng);
            let part = 2.0 * rng.f32() - 1.0;
            pair.spheres[0].radius *= 1.0 + part * 2_f32.powi(-rng.i32(0..30));
            pair
        };
        for (number, &kind) in KINDS.iter().enumerate() {
            let other = KINDS[(number + round) % KINDS.len()];
            let pairs = [pair(kind), pair(other)];
            let dt = pairs[0].dt;
            let swept = sweep(
                pairs.each_ref().map(|pair| pair.spheres.each_ref()),
                [(); 2],
                dt,
            );
            for (lane, pair) in pairs.iter().enumerate() {
                let [a, b] = &pair.spheres;
                let truth = Exact::new(a, b);
                let touches = truth.collide(dt.into());
                let is = |bits: usize| bits >> lane & 1 == 1;
                let Hit { toi, depth } = swept.impacts[lane];
                match [is(swept.hits), is(swept.misses)] {
                    [true, true] => panic!("reported as both a hit and a miss: {pair:?}"),
                    [true, false] => {
                        assert!(touches, "reported as a hit, but the spheres miss: {pair:?}");
                        assert!(
                            truth.rounds_to_toi(toi) && truth.rounds_to_depth(depth),
                            "wrong time or depth in {swept:?}: {pair:?}"
                        );
                        hits += 1;
                        later += u32::from(toi > 0.0);
                        if is(swept.just) {
                            assert_eq!((toi, depth), (0.0, 0.0), "{pair:?}");
                            just += 1;
                        }
                    }
                    [false, true] => {
                        assert!(
                            !touches,
                            "reported as a miss, but the spheres touch: {pair:?}"
                        );
                        misses += 1;
                    }
                    [false, false] => open += 1,
                }
            }
        }
    }
    let all = [hits - later - just, later, misses, open];
    assert!(all.iter().all(|&some| some > 40_000), "{all:?}");
    assert!(just > 1000, "only {just} pairs just touch");
}
