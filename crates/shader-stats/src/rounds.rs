//! Simulates the loops in which the GPU kernel `pairs` searches for pairs, for a warp: 32
//! invocations that run side by side.

use std::fmt::Write;

use carom::Sphere;
use carom_scenes::Scene;

const WARP: usize = 32;

/// Mean numbers of loop iterations (rounds) that a warp of 32 invocations executes. A warp iterates
/// as often as its longest invocation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rounds {
    /// Number of rows of cells in other grids than the sphere's own. Each has a loop of its own.
    pub(crate) rows: f64,
    pub(crate) candidates: f64,
    pub(crate) filters: f64,
    pub(crate) reports: f64,
}

impl Rounds {
    fn all_mut(&mut self) -> [&mut f64; 4] {
        [
            &mut self.rows,
            &mut self.candidates,
            &mut self.filters,
            &mut self.reports,
        ]
    }
}

#[derive(Debug, Default)]
pub(crate) struct Simulated {
    pub(crate) rounds: Rounds,
    /// Mean numbers for a sphere: its time segments, the candidates that the search tests for it, and those
    /// that touch it.
    pub(crate) proxies: f64,
    pub(crate) tested: f64,
    pub(crate) touching: f64,
}

type Vec3 = [f64; 3];

/// One time segment of a sphere's path: its sphere, and the middle and half length of the segment in time.
#[derive(Clone, Copy)]
struct Proxy {
    center: Vec3,
    velocity: Vec3,
    radius: f64,
    middle: f64,
    half: f64,
}

impl Proxy {
    fn place(&self) -> Vec3 {
        std::array::from_fn(|k| self.center[k] + self.velocity[k] * self.middle)
    }

    fn half_extent(&self) -> f64 {
        let fastest = self.velocity.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        self.radius + fastest * self.half
    }
}

/// Cuts each path into the fewest equal time segments (1, 2, 4 and so on) that are short enough.
/// Along each axis, a segment may be as long as the larger of `limit` and the diameter of the
/// sphere.
fn cut(spheres: &[Sphere], limit: f64) -> Vec<Proxy> {
    let mut proxies = Vec::new();
    for sphere in spheres {
        let radius = f64::from(sphere.radius);
        let velocity = sphere.velocity.map(f64::from);
        let fastest = velocity.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let longest = limit.max(2.0 * radius);
        let mut parts = 1;
        while fastest > longest * f64::from(parts) && parts < 1 << 15 {
            parts *= 2;
        }
        let half = 0.5 / f64::from(parts);
        proxies.extend((0..parts).map(|k| Proxy {
            center: sphere.center.map(f64::from),
            velocity,
            radius,
            middle: f64::from(2 * k + 1) * half,
            half,
        }));
    }
    proxies
}

/// Returns the number of the size class of a time segment: 2·log₂ of the smallest cell edge that the segment
/// allows, rounded down.
fn class_of(proxy: &Proxy) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "logarithms are small")]
    let class = (2.0 * (2.0 * proxy.half_extent()).log2()).floor() as i32;
    class
}

/// A grid of the cost estimate: its number of time segments, its cell edge, and the width of its
/// largest segment.
#[derive(Clone, Copy)]
struct Side {
    n: f64,
    cell: f64,
    edge: f64,
}

impl Side {
    /// Returns the cost of the searches that the time segments of this grid make in `other`, a grid with
    /// larger cells.
    fn search_coarser(self, other: Side, volume: f64) -> f64 {
        let wide = (self.edge + other.edge) / other.cell + 1.0;
        self.n * (wide.powi(3) * other.cell.powi(3) * other.n / volume + 2.0 * wide * wide)
    }

    /// Returns the cost of the searches that the time segments of this grid make in `other`, a grid with
    /// smaller cells. The cost is infinite if a search would visit more rows of cells, or meet more segments,
    /// than carom allows.
    fn search_finer(self, other: Side, volume: f64) -> f64 {
        let rows = (self.cell / other.cell + 2.0).powi(2);
        let met = (self.cell + 2.0 * other.cell).powi(3) * other.n / volume;
        if rows > 100.0 || met > 200.0 {
            return f64::INFINITY;
        }
        self.n * (met + 2.0 * rows)
    }
}

/// Estimates the cost of dividing size classes among grids. Each tested pair of time segments costs
/// 1, and each row of cells that a segment searches in another grid costs 2. `begins` has the first
/// size class of each grid. For each size class, `counts` has the number that names it, how many
/// time segments it has, and the cell edge that the largest of these needs.
fn cost(counts: &[(i32, f64, f64)], begins: &[i32], volume: f64) -> f64 {
    let level = |k: usize| {
        let end = begins.get(k + 1).copied().unwrap_or(i32::MAX);
        let classes = counts.iter().filter(|c| c.0 >= begins[k] && c.0 < end);
        let (n, edge) = classes.fold((0.0, 0.0_f64), |(n, edge), c| (n + c.1, edge.max(c.2)));
        let cell = edge.max(0.625 * (volume / f64::max(n, 1.0)).cbrt());
        Side { n, cell, edge }
    };
    let levels: Vec<_> = (0..begins.len()).map(level).collect();
    let mut sum = 0.0;
    for (k, &fine) in levels.iter().enumerate() {
        sum += fine.n * 13.5 * fine.cell.powi(3) * fine.n / volume;
        for &coarse in &levels[k + 1..] {
            let coarser = fine.search_coarser(coarse, volume);
            sum += coarser.min(coarse.search_finer(fine, volume));
        }
    }
    sum
}

/// Chooses the largest length of a time segment, and one to three grids, so that the estimated cost is least.
/// Returns a list of the time segments in each grid.
fn grids(spheres: &[Sphere]) -> Vec<Vec<Proxy>> {
    let axis = |k: usize| {
        let at = spheres.iter().map(|s| f64::from(s.center[k]));
        at.clone().fold(f64::MIN, f64::max) - at.fold(f64::MAX, f64::min)
    };
    let volume: f64 = (0..3).map(|k| axis(k).max(1e-9)).product();
    let spacing = (volume / spheres.len() as f64).cbrt();
    let mut best = (f64::INFINITY, Vec::new(), f64::INFINITY);
    for limit in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, f64::INFINITY].map(|k| k * spacing) {
        let proxies = cut(spheres, limit);
        let mut counts = std::collections::BTreeMap::new();
        for proxy in &proxies {
            let entry: &mut (f64, f64) = counts.entry(class_of(proxy)).or_default();
            *entry = (entry.0 + 1.0, entry.1.max(2.0 * proxy.half_extent()));
        }
        let counts: Vec<_> = counts.iter().map(|(&c, &(n, edge))| (c, n, edge)).collect();
        let first = counts[0].0;
        for (k, &(one, ..)) in counts.iter().enumerate() {
            for &(two, ..) in &counts[k..] {
                let mut begins = vec![first, one, two];
                begins.dedup();
                let cost = cost(&counts, &begins, volume) + 10.0 * proxies.len() as f64;
                if cost < best.0 {
                    best = (cost, begins, limit);
                }
            }
        }
    }
    let (_, begins, limit) = best;
    let mut levels = vec![Vec::new(); begins.len()];
    for proxy in cut(spheres, limit) {
        let class = class_of(&proxy);
        levels[begins.iter().filter(|&&begin| begin <= class).count() - 1].push(proxy);
    }
    levels
}

/// A grid, with its time segments sorted by cell. x is the fastest axis.
struct Grid {
    proxies: Vec<Proxy>,
    cells: Vec<[usize; 3]>,
    starts: Vec<usize>,
    dims: [usize; 3],
    low: Vec3,
    cell: f64,
    reach: f64,
    volume: f64,
}

impl Grid {
    fn new(unsorted: &[Proxy]) -> Self {
        let places: Vec<Vec3> = unsorted.iter().map(Proxy::place).collect();
        let low: Vec3 =
            std::array::from_fn(|k| places.iter().map(|p| p[k]).fold(f64::MAX, f64::min));
        let high: Vec3 =
            std::array::from_fn(|k| places.iter().map(|p| p[k]).fold(f64::MIN, f64::max));
        let reach = unsorted.iter().map(Proxy::half_extent).fold(0.0, f64::max);
        let volume: f64 = (0..3).map(|k| (high[k] - low[k]).max(1e-9)).product();
        let spacing = (volume / unsorted.len().max(1) as f64).cbrt();
        let mut cell = (2.0 * reach * 1.0001).max(0.625 * spacing).max(1e-9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cells of a box are few and not negative"
        )]
        let at = |p: f64, k: usize, cell: f64| ((p - low[k]) / cell) as usize + 1;
        let mut dims = std::array::from_fn(|k| at(high[k], k, cell) + 2);
        while dims.iter().product::<usize>() > (4 * unsorted.len()).max(1024) {
            cell *= 1.125;
            dims = std::array::from_fn(|k| at(high[k], k, cell) + 2);
        }
        let cells: Vec<[usize; 3]> = (places.iter())
            .map(|p| std::array::from_fn(|k| at(p[k], k, cell)))
            .collect();
        let slot = |c: &[usize; 3]| (c[2] * dims[1] + c[1]) * dims[0] + c[0];
        let mut order: Vec<usize> = (0..unsorted.len()).collect();
        order.sort_by_key(|&i| slot(&cells[i]));
        let mut starts = vec![0; dims.iter().product::<usize>() + 1];
        for c in &cells {
            starts[slot(c) + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        Self {
            proxies: order.iter().map(|&i| unsorted[i]).collect(),
            cells: order.iter().map(|&i| cells[i]).collect(),
            starts,
            dims,
            low,
            cell,
            reach,
            volume,
        }
    }

    fn row(&self, x: [usize; 2], y: usize, z: usize) -> [usize; 2] {
        let slot = (z * self.dims[1] + y) * self.dims[0];
        [self.starts[slot + x[0]], self.starts[slot + x[1] + 1]]
    }

    /// Returns the sorted time segments against which segment `i` is tested in its own grid. They
    /// are five ranges, one for each row of cells in half the neighbourhood of the segment. The
    /// segments in the other half are tested against segment `i` in their own turn.
    fn own(&self, i: usize) -> Vec<[usize; 2]> {
        let [x, y, z] = self.cells[i];
        let around = [[y + 1, z], [y - 1, z + 1], [y, z + 1], [y + 1, z + 1]];
        let mut rows = vec![[i + 1, self.row([x, x + 1], y, z)[1]]];
        rows.extend(around.map(|[y, z]| self.row([x - 1, x + 1], y, z)));
        rows
    }

    /// Returns the ranges of sorted time segments of this grid that may touch `proxy`, a time segment of
    /// another grid.
    fn other(&self, proxy: &Proxy) -> Vec<[usize; 2]> {
        let place = proxy.place();
        let bound = |k: usize| {
            let reach = self.reach + proxy.radius + proxy.velocity[k].abs() * proxy.half;
            let last = self.dims[k] - 1;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the values are clamped to the box"
            )]
            let cell = |p: f64| {
                ((p - self.low[k]) / self.cell + 1.0)
                    .floor()
                    .clamp(0.0, last as f64) as usize
            };
            [cell(place[k] - reach), cell(place[k] + reach)]
        };
        let [x, y, z] = std::array::from_fn(bound);
        let rows = (z[0]..=z[1]).flat_map(|z| (y[0]..=y[1]).map(move |y| (y, z)));
        rows.map(|(y, z)| self.row(x, y, z)).collect()
    }
}

/// Returns the results of two tests of a pair of spheres in the time segment `i` of the first one:
/// whether the pair passes the cheap distance test of the kernel `pairs`, and whether the spheres
/// touch.
fn test(i: &Proxy, j: &Proxy) -> [bool; 2] {
    let p: Vec3 = std::array::from_fn(|k| j.center[k] - i.center[k]);
    let v: Vec3 = std::array::from_fn(|k| j.velocity[k] - i.velocity[k]);
    let dot = |a: &Vec3, b: &Vec3| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let radii = i.radius + j.radius;
    let distance = |t: f64| {
        let q: Vec3 = std::array::from_fn(|k| p[k] + v[k] * t);
        dot(&q, &q)
    };
    let speed = dot(&v, &v);
    let reach = radii + speed.sqrt() * i.half;
    let is_near = distance(i.middle) <= reach * reach * (1.0 + 1e-6);
    let closest = if speed > 0.0 {
        -dot(&p, &v) / speed
    } else {
        0.0
    };
    let closest = closest.clamp(i.middle - i.half, i.middle + i.half);
    [is_near, is_near && distance(closest) <= radii * radii]
}

/// The results of the tests of one GPU invocation, with an inner list for each row of grid cells
/// that it searches. For each candidate (a sphere to test) in the row, the inner list has two
/// flags. The first flag tells whether the candidate passes a cheap distance test, and the second
/// whether it also passes the filter (an expensive swept test).
type Lane = Vec<Vec<[bool; 2]>>;

/// Counts the loop iterations of a warp that runs a separate loop for each row of grid cells, as it does for
/// the rows in other grids than the sphere's own.
fn row_by_row(lanes: &[Lane], rounds: &mut Rounds) {
    let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
    rounds.rows += rows as f64;
    for row in 0..rows {
        let rows: Vec<_> = lanes.iter().filter_map(|lane| lane.get(row)).collect();
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        rounds.candidates += longest as f64;
        for k in 0..longest {
            let any = |what: usize| rows.iter().any(|row| row.get(k).is_some_and(|t| t[what]));
            rounds.filters += f64::from(u8::from(any(0)));
            rounds.reports += f64::from(u8::from(any(1)));
        }
    }
}

/// Counts the loop iterations of a warp that has one loop over the candidates of all rows of cells. The loop tests candidates in batches of 32. First, a cheap test is applied to all of them, then the
/// expensive filter to the candidates that pass.
fn in_batches(lanes: &[Lane], rounds: &mut Rounds) {
    let lanes: Vec<Vec<[bool; 2]>> = lanes.iter().map(|lane| lane.concat()).collect();
    let longest = lanes.iter().map(Vec::len).max().unwrap_or(0);
    rounds.candidates += longest as f64;
    for first in (0..longest).step_by(32) {
        let batch = lanes.iter().map(|lane| {
            let tests = lane.iter().skip(first).take(32).filter(|test| test[0]);
            tests.map(|test| test[1]).collect::<Vec<bool>>()
        });
        let batch: Vec<_> = batch.collect();
        let filters = batch.iter().map(Vec::len).max().unwrap_or(0);
        rounds.filters += filters as f64;
        let reports = |k: &usize| batch.iter().any(|lane| lane.get(*k) == Some(&true));
        rounds.reports += (0..filters).filter(reports).count() as f64;
    }
}

/// For each grid, the grids that its time segments search, beginning with its own.
fn searched(grids: &[Grid]) -> Vec<Vec<usize>> {
    let mut searched: Vec<Vec<usize>> = (0..grids.len()).map(|level| vec![level]).collect();
    for (coarse, one) in grids.iter().enumerate() {
        for (fine, other) in grids[..coarse].iter().enumerate() {
            let [one, other] = [one, other].map(|grid| Side {
                n: grid.proxies.len() as f64,
                cell: grid.cell,
                edge: 2.0 * grid.reach,
            });
            let volume = grids[0].volume;
            if one.search_finer(other, volume) < other.search_coarser(one, volume) {
                searched[coarse].push(fine);
            } else {
                searched[fine].push(coarse);
            }
        }
    }
    searched
}

/// Counts the loop iterations and tests of the kernel `pairs` when its warps search the grids for
/// all spheres of a scene.
pub(crate) fn simulate(spheres: &[Sphere]) -> Simulated {
    let grids: Vec<Grid> = grids(spheres)
        .iter()
        .map(|level| Grid::new(level))
        .collect();
    let mut sum = Simulated::default();
    let mut warps = 0.0;
    for (grid, searched) in grids.iter().zip(searched(&grids)) {
        let all: Vec<usize> = (0..grid.proxies.len()).collect();
        let mut of_level = Rounds::default();
        for warp in all.chunks(WARP) {
            for (step, &target) in searched.iter().enumerate() {
                let target = &grids[target];
                let lane = |&i: &usize| -> Lane {
                    let proxy = &grid.proxies[i];
                    let rows = if step == 0 {
                        grid.own(i)
                    } else {
                        target.other(proxy)
                    };
                    let tests = rows.iter().map(|&[begin, end]| {
                        let range = target.proxies.get(begin..end).unwrap_or_default();
                        range.iter().map(|other| test(proxy, other)).collect()
                    });
                    tests.collect()
                };
                let lanes: Vec<Lane> = warp.iter().map(lane).collect();
                for [_, touches] in lanes.iter().flatten().flatten() {
                    sum.tested += 1.0;
                    sum.touching += f64::from(u8::from(*touches));
                }
                if step == 0 {
                    in_batches(&lanes, &mut of_level);
                } else {
                    row_by_row(&lanes, &mut of_level);
                }
            }
        }
        warps += all.len().div_ceil(WARP) as f64;
        for (sum, of_level) in sum.rounds.all_mut().into_iter().zip(of_level.all_mut()) {
            *sum += *of_level;
        }
    }
    let of_spheres = 1.0 / spheres.len().max(1) as f64;
    let proxies = grids.iter().map(|grid| grid.proxies.len() as f64);
    sum.proxies = proxies.sum::<f64>() * of_spheres;
    sum.tested *= of_spheres;
    sum.touching *= of_spheres;
    for count in sum.rounds.all_mut() {
        *count /= f64::max(warps, 1.0);
    }
    sum
}

/// Returns a table of the loop iterations in each scene with `n` spheres.
pub(crate) fn report(n: usize) -> Result<String, std::fmt::Error> {
    let mut text = format!("Loop iterations of `pairs` for a warp, in scenes of {n} spheres\n");
    writeln!(
        text,
        "scene            rows  candidates  filters  reports  segments/sphere  tests/sphere"
    )?;
    for scene in Scene::ALL {
        let Simulated {
            rounds,
            proxies,
            tested,
            ..
        } = simulate(&scene.generate(n, 1));
        writeln!(
            text,
            "{:<13}  {:>6.1}  {:>10.1}  {:>7.1}  {:>7.1}  {proxies:>15.2}  {tested:>12.1}",
            scene.name(),
            rounds.rows,
            rounds.candidates,
            rounds.filters,
            rounds.reports
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISS: [bool; 2] = [false, false];
    const NEAR: [bool; 2] = [true, false];
    const HIT: [bool; 2] = [true, true];

    #[test]
    fn a_warp_executes_the_rounds_of_its_longest_invocation() {
        let lanes = [
            vec![vec![MISS, HIT], vec![]],
            vec![vec![NEAR], vec![MISS, MISS, HIT]],
        ];
        let mut rows = Rounds::default();
        row_by_row(&lanes, &mut rows);
        // The warp visits the two rows of cells one after the other. In row 0, one invocation has two
        // candidates, so the warp iterates twice. In row 1, one has three candidates, so the warp iterates
        // three times. In three of these five iterations, a candidate passes the cheap test.
        let expected = [2.0, 5.0, 3.0, 2.0];
        assert_eq!(
            [rows.rows, rows.candidates, rows.filters, rows.reports],
            expected
        );
        let mut batches = Rounds::default();
        in_batches(&lanes, &mut batches);
        // In this test, a warp has two invocations, which have four candidates and two candidates.
        // Each invocation visits the candidates of all its rows of cells in one loop, so the warp
        // iterates four times. At most two candidates of an invocation pass
        // the cheap test, so the warp runs the expensive filter twice. Each of these two runs
        // reports a pair.
        let expected = [0.0, 4.0, 2.0, 2.0];
        assert_eq!(
            [
                batches.rows,
                batches.candidates,
                batches.filters,
                batches.reports
            ],
            expected
        );
    }

    #[test]
    fn a_batch_has_32_candidates() {
        let mut lane = vec![MISS; 40];
        lane[3] = HIT;
        lane[35] = NEAR;
        let mut rounds = Rounds::default();
        in_batches(&[vec![lane]], &mut rounds);
        assert_eq!(
            [rounds.candidates, rounds.filters, rounds.reports],
            [40.0, 2.0, 1.0]
        );
    }

    #[test]
    fn every_touching_pair_of_a_small_scene_is_tested_once() {
        let spheres = Scene::Gas.generate(2000, 1);
        let proxies = cut(&spheres, f64::INFINITY);
        let mut touching = 0.0;
        for (i, one) in proxies.iter().enumerate() {
            let hits = proxies[i + 1..].iter().filter(|other| test(one, other)[1]);
            touching += hits.count() as f64;
        }
        let simulated = simulate(&spheres);
        assert!(touching > 100.0);
        assert!((simulated.touching * 2000.0 - touching).abs() < 0.5);
        assert!(simulated.tested > simulated.touching);
    }
}
