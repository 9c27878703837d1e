//! Estimates the time of a step on an NVIDIA H200 from numbers of instructions, bytes and dispatches.
//! docs/performance.md describes the formula.

use std::fmt::Write as _;

use anyhow::Context;
use carom_scenes::Scene;

use crate::rounds::{Kind, Rounds, Simulated, simulate};
use crate::table::Table;

/// Instructions that an NVIDIA H200 can issue in a microsecond: 132 multiprocessors, 4 instructions
/// per clock, 1.7 GHz.
const ISSUES: f64 = 132.0 * 4.0 * CLOCKS;
/// Clock cycles of the GPU in a microsecond.
const CLOCKS: f64 = 1700.0;
/// Bytes that the GPU's memory can move in a microsecond.
const BYTES: f64 = 4.8e6;
/// Time in microseconds to launch a compute dispatch.
pub(crate) const DISPATCH: f64 = 3.0;
/// Latency of the GPU's memory and of its second-level cache, in clocks.
pub(crate) const MEMORY: f64 = 600.0;
pub(crate) const CACHE: f64 = 270.0;
pub(crate) const WARP: f64 = 32.0;

/// The work of one compute dispatch on a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Instructions that a warp of 32 invocations executes.
    pub(crate) instructions: f64,
    pub(crate) warps: f64,
    pub(crate) bytes: f64,
    /// Clocks of the longest chain of dependent operations.
    pub(crate) chain: f64,
}

impl Work {
    /// Returns three times of a kernel in microseconds: the time to issue its instructions, the
    /// time to move its bytes, and the time of its longest chain of dependent operations.
    fn times(&self) -> [f64; 3] {
        let issue = self.instructions * self.warps / ISSUES;
        [issue, self.bytes / BYTES, self.chain / CLOCKS]
    }

    /// Returns a lower and an upper bound of the time of a dispatch in microseconds, without its
    /// launch. They are the maximum and the sum of three times: to issue the instructions, to move
    /// the bytes, and for the longest chain of dependent operations.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        let times = self.times();
        [times.into_iter().fold(0.0, f64::max), times.iter().sum()]
    }
}

/// Numbers of instructions in the compiled kernels, by name.
pub(crate) type Counts<'a> = &'a dyn Fn(&str) -> anyhow::Result<f64>;

/// Numbers of instructions in the compiled kernels before their restructuring in November 2026
/// (Mesa 22.3.6, navi21). Two of these kernels are gone: `scan_spine` added up the sums of blocks,
/// and `tally` counted candidates.
const OLD: [(&str, f64); 12] = [
    ("measure_spacing", 835.0),
    ("measure_ranks", 173.0),
    ("measure_curve", 951.0),
    ("measure_sizes", 823.0),
    ("plan", 1849.0),
    ("bin", 368.0),
    ("scan_reduce", 218.0),
    ("scan_spine", 111.0),
    ("scan_apply", 128.0),
    ("scatter", 230.0),
    ("tally", 941.0),
    ("results", 169.0),
];

fn old_count(name: &str) -> anyhow::Result<f64> {
    let found = OLD.iter().find(|(kernel, _)| *kernel == name);
    Ok(found
        .with_context(|| format!("there is no old kernel {name}"))?
        .1)
}

/// Number of instructions that a kernel skips if spheres need no conversion to another unit of
/// length. This is the case in all benchmark scenes. The first number is for the old version of the
/// kernel, and the second for the present version. The old version skips 15 instructions for each
/// number that it reads. The present version skips all instructions of the conversion.
const CONVERSIONS: [(&str, [f64; 2]); 4] = [
    ("measure_spacing", [210.0, 484.0]),
    ("measure_sizes", [105.0, 165.0]),
    ("bin", [90.0, 142.0]),
    ("scatter", [105.0, 165.0]),
];
/// Number of instructions of the compiled kernel `measure_sizes` that make a list of time segments
/// (parts of the paths of fast spheres). In the present version of the kernel, a workgroup skips
/// them if it cuts no path into segments.
const LISTING: f64 = 311.0;

/// Returns how many instructions of a kernel are not executed in a benchmark scene, because no
/// sphere needs a conversion to another unit or no path is cut into time segments. `proxies` is the
/// mean number of time segments of a sphere.
fn skipped(name: &str, kind: Kind, proxies: f64) -> f64 {
    let found = CONVERSIONS.iter().find(|(kernel, _)| *kernel == name);
    let [old, new] = found.map_or([0.0; 2], |&(_, skipped)| skipped);
    match kind {
        Kind::Old => old,
        Kind::New if name == "measure_sizes" && proxies <= 1.0 => new + LISTING,
        Kind::New => new,
    }
}

/// Number of instructions of the whole kernel `pairs`, in the compiled version in which the instructions of
/// each part were counted by hand.
const PAIRS_COUNTED: f64 = 1644.0;

/// Estimates how many instructions a warp executes in the kernel `pairs`. For each part of the
/// kernel, the number of its instructions is multiplied by the number of times that the warp
/// executes it. The instructions of the parts were counted in a version of the kernel with
/// [`PAIRS_COUNTED`] instructions. So the sum is scaled to `count`, the number of instructions of
/// the present version.
fn new_pairs(rounds: &Rounds, count: f64) -> f64 {
    let sum = 500.0
        + 63.0 * rounds.candidates
        + 106.0 * rounds.filters
        + 170.0 * rounds.reports
        + 40.0 * rounds.rows;
    sum * count / PAIRS_COUNTED
}

/// Returns how many instructions a warp executed in the old kernel `pairs`, which tested every
/// candidate by the expensive filter.
fn old_pairs(rounds: &Rounds) -> f64 {
    500.0 + 27.0 * rounds.rows + 106.0 * rounds.candidates + 170.0 * rounds.reports
}

/// Returns the name and the work of each compute dispatch in a step of `n` spheres, in the order of
/// the dispatches. The work consists of numbers of instructions and bytes, and of waiting time.
pub(crate) fn step(
    n: f64,
    s: &Simulated,
    kind: Kind,
    count: Counts<'_>,
) -> anyhow::Result<Vec<(&'static str, Work)>> {
    let is_new = kind == Kind::New;
    let proxies = n * s.proxies;
    let [by_sphere, by_proxy] = [n / WARP, proxies / WARP];
    let slots = 4.0 * proxies;
    // Each invocation of a prefix sum processes eight counts.
    let by_scan = slots / 8.0 / WARP;
    let mut work = Vec::new();
    let mut add = |name, extra: f64, warps, bytes, chain| -> anyhow::Result<()> {
        let instructions = count(name)? - skipped(name, kind, s.proxies) + extra;
        work.push((
            name,
            Work {
                instructions,
                warps,
                bytes,
                chain,
            },
        ));
        Ok(())
    };
    // The kernel `measure_spacing` computes 2048² distances in 512 workgroups of 64 invocations. So each
    // invocation has 128 rounds, with 31 instructions each.
    add(
        "measure_spacing",
        127.0 * 31.0,
        1024.0,
        0.0,
        MEMORY + 128.0 * 30.0,
    )?;
    let (rounds, each) = if is_new { (123.0, 30.0) } else { (489.0, 20.0) };
    add(
        "measure_ranks",
        (rounds - 1.0) * each,
        512.0,
        0.0,
        MEMORY + rounds * 30.0,
    )?;
    // The kernel `measure_curve` has 32 rounds (loop iterations) of 350 clocks each. It computes two prefix
    // sums. Each of them had 16 barriers of 30 clocks in the old version of the kernel, and has two in the
    // new one.
    let barriers = if is_new { 4.0 } else { 32.0 };
    add(
        "measure_curve",
        0.0,
        8.0,
        0.0,
        MEMORY + 32.0 * 350.0 + barriers * 30.0,
    )?;
    let barriers = if is_new { 2.0 } else { 16.0 };
    add(
        "measure_sizes",
        0.0,
        by_sphere,
        36.0 * n,
        2.0 * MEMORY + barriers * 30.0,
    )?;
    // The old kernel `plan` loads the numbers that describe a size class one after another. The new
    // kernel loads them all at once.
    let loads = if is_new { 8.0 } else { 8.0 + 3.0 * 9.0 };
    add("plan", 0.0, 2.0, 0.0, loads * CACHE + count("plan")? * 4.0)?;
    add("bin", 0.0, by_proxy, 68.0 * proxies, 3.0 * MEMORY)?;
    add("scan_reduce", 0.0, by_scan, 4.0 * slots, MEMORY)?;
    if !is_new {
        add("scan_spine", 0.0, 8.0, 0.0, MEMORY + 16.0 * 30.0)?;
    }
    add("scan_apply", 0.0, by_scan, 8.0 * slots, 2.0 * MEMORY)?;
    add("scatter", 0.0, by_proxy, 108.0 * proxies, 3.0 * MEMORY)?;
    let bytes = 92.0 * proxies + 16.0 * n * s.touching;
    let executed = if is_new {
        new_pairs(&s.rounds, count("pairs")?)
    } else {
        // The old kernel counted the candidates in a separate dispatch: about 300 instructions, and
        // five loads that wait for each other.
        work.push((
            "tally",
            Work {
                instructions: 300.0,
                warps: by_proxy,
                bytes: 36.0 * proxies,
                chain: 6.0 * CACHE,
            },
        ));
        old_pairs(&s.rounds)
    };
    // Number of loads in the kernel `pairs` that wait for one another. It is 3 for the loads before the
    // loops, plus 1 for each row of grid cells that has a loop of its own, plus 1 for each iteration of a
    // loop (which tests one candidate).
    let loads = 3.0 + s.loads;
    work.push((
        "pairs",
        Work {
            instructions: executed,
            warps: by_proxy,
            bytes,
            chain: MEMORY + loads * CACHE,
        },
    ));
    work.push((
        "results",
        Work {
            instructions: count("results")?,
            warps: 2.0,
            bytes: 0.0,
            chain: MEMORY,
        },
    ));
    Ok(work)
}

/// Returns a lower and an upper bound of the time of a step. The lower bound is the sum of the
/// lower bounds of all kernels, plus a fixed time for each launch of a kernel. The upper bound is
/// computed likewise.
fn total(step: &[(&str, Work)]) -> [f64; 2] {
    let launches = DISPATCH * step.len() as f64;
    step.iter().fold([launches; 2], |[low, high], (_, work)| {
        let [lower, upper] = work.bounds();
        [low + lower, high + upper]
    })
}

/// Returns the tables of estimated times for a step on an NVIDIA H200. Each scene is simulated with
/// `simulated` spheres.
pub(crate) fn report(table: &Table, simulated: usize) -> anyhow::Result<String> {
    let live = |name: &str| table.instructions(name);
    let mut scenes = String::new();
    let mut kernels = String::new();
    for scene in Scene::ALL {
        let spheres = scene.generate(simulated, 1);
        let [before, now] = [Kind::Old, Kind::New].map(|kind| simulate(kind, &spheres));
        for n in [1e6, 1e7] {
            let old = step(n, &before, Kind::Old, &old_count)?;
            let new = step(n, &now, Kind::New, &live)?;
            let [[a, b], [c, d]] = [total(&old), total(&new)];
            writeln!(
                scenes,
                "{:<13} {:>4.0}  {:>10.0}  {:>10.0}  {:>7.2}  {:>7.2}  {:>10.1}  {:>10.1}  {:>8.0} {:>8.0}  {:>8.0} {:>8.0}  {:>7.2}",
                scene.name(),
                n / 1e6,
                old_pairs(&before.rounds),
                new_pairs(&now.rounds, live("pairs")?),
                before.proxies,
                now.proxies,
                before.tested,
                now.tested,
                a,
                b,
                c,
                d,
                d / b
            )?;
            if scene == Scene::Gas && n < 2e6 {
                kernels = kernel_table(&old, &new)?;
                let rounds = &now.rounds;
                writeln!(
                    kernels,
                    "\npairs: executed instructions a warp: {:.0} before, {:.0} now ({:.1} candidate rounds, \
                     {:.1} filter rounds, {:.1} report rounds, {:.1} rows)",
                    old_pairs(&before.rounds),
                    new_pairs(rounds, live("pairs")?),
                    rounds.candidates,
                    rounds.filters,
                    rounds.reports,
                    rounds.rows
                )?;
            }
        }
    }
    Ok(format!(
        "Estimated microseconds of a step on an H200, lower and upper bound\n\n\
         gas, 1 million spheres:\n{kernels}\n\
         all scenes, simulated with {simulated} spheres and scaled:\n\
         scene         mio.   pairs old   pairs new  proxies      new  candidates         new       old lo/hi          new lo/hi     new/old\n\
         {scenes}"
    ))
}

fn kernel_table(old: &[(&str, Work)], new: &[(&str, Work)]) -> anyhow::Result<String> {
    let mut text = String::from("kernel           old lower    upper  new lower    upper\n");
    for (name, work) in old {
        let [a, b] = work.bounds();
        write!(text, "{name:<15}  {a:>9.1}  {b:>7.1}")?;
        if let Some((_, work)) = new.iter().find(|(kernel, _)| kernel == name) {
            let [a, b] = work.bounds();
            write!(text, "  {a:>9.1}  {b:>7.1}")?;
        }
        writeln!(text)?;
    }
    let launches = [old.len(), new.len()].map(|dispatches| DISPATCH * dispatches as f64);
    let [a, b] = launches;
    writeln!(
        text,
        "{:<15}  {a:>9.1}  {a:>7.1}  {b:>9.1}  {b:>7.1}",
        "launches"
    )?;
    let [[a, b], [c, d]] = [total(old), total(new)];
    writeln!(
        text,
        "{:<15}  {a:>9.1}  {b:>7.1}  {c:>9.1}  {d:>7.1}",
        "together"
    )?;
    for (name, step) in [("old", old), ("new", new)] {
        let sum = |of: &dyn Fn([f64; 3]) -> f64| -> f64 {
            step.iter().map(|(_, work)| of(work.times())).sum()
        };
        let [issue, memory, chain] = [0, 1, 2].map(|k| sum(&|times| times[k]));
        let launches = DISPATCH * step.len() as f64;
        writeln!(
            text,
            "parts of the upper bound, {name}: issue {issue:.0}, memory {memory:.0}, chain {chain:.0}, \
             launches {launches:.0}"
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_the_maximum_and_the_sum_of_three_times() {
        // The kernel of this test has three times. The instructions (3060 in each of 31 250 warps)
        // take 106.53 µs, the memory traffic (96 MB) takes 20 µs, and the chain of dependent
        // operations (1700 clocks) takes 1 µs.
        let work = Work {
            instructions: 3060.0,
            warps: 31_250.0,
            bytes: 96e6,
            chain: 1700.0,
        };
        let [lower, upper] = work.bounds();
        assert!((lower - 106.53).abs() < 0.01, "{lower}");
        assert!((upper - 127.53).abs() < 0.01, "{upper}");
        assert_eq!(
            total(&[("one", work), ("two", work)]),
            [6.0 + 2.0 * lower, 6.0 + 2.0 * upper]
        );
    }

    #[test]
    fn the_blocks_of_pairs_add_up_to_the_counts_by_hand() {
        let rounds = |rows, candidates, filters, reports| Rounds {
            rows,
            candidates,
            filters,
            reports,
        };
        let new = new_pairs(&rounds(0.0, 9.1, 2.1, 1.8), PAIRS_COUNTED);
        assert!((new - 1601.9).abs() < 0.1, "{new}");
        let old = old_pairs(&rounds(5.0, 15.8, 15.8, 4.4));
        assert!((old - 3060.0).abs() < 5.0, "{old}");
    }

    #[test]
    fn a_step_has_13_dispatches_before_and_11_now() {
        let simulated = Simulated {
            proxies: 1.0,
            ..Simulated::default()
        };
        assert_eq!(
            step(1e6, &simulated, Kind::Old, &old_count).unwrap().len(),
            13
        );
        assert_eq!(
            step(1e6, &simulated, Kind::New, &|_| Ok(100.0))
                .unwrap()
                .len(),
            11
        );
    }
}
