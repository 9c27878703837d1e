//! Estimates the time of a substep of hard-sphere dynamics on an NVIDIA H200, and the number of impacts in
//! a second. docs/performance.md describes the assumptions.

use std::fmt::Write as _;

use carom::{Domain, HardSphere, Simulation, SimulationOptions, Sphere};

use crate::model::{CACHE, Counts, DISPATCH, MEMORY, WARP, Work, step};
use crate::rounds::{Kind, simulate};
use crate::table::Table;

/// Packing fraction: the share of the volume that the spheres fill.
const PACKING: f64 = 0.3;

// The constants up to `LATER` are means over the substeps of the example `hard_spheres --backend gpu` with
// 16 384 spheres in equilibrium, on lavapipe.

/// Number of impacts in a substep, divided by the number of spheres.
const IMPACTS: f64 = 0.1;
/// Share of the substeps that are complete. The others are rolled back.
const COMPLETE: f64 = 0.95;
/// Number of candidate pairs in a substep, divided by the number of spheres.
const CANDIDATES: f64 = 1.7;
/// Number of spheres that are processed in the first round of a substep (`FIRST`), and in all later rounds
/// together (`LATER`). Both are divided by the number of all spheres. A later round processes only the
/// spheres near a path that has changed.
const FIRST: f64 = 1.0;
const LATER: f64 = 0.61;

/// Radius of a sphere with its pad (the assumed bound on its displacement), in radii of the sphere. With this
/// radius, the number of pairs that overlap is [`CANDIDATES`].
const PADDED: f64 = 1.21;
/// Number of rounds in which paths change. With 16 384 spheres, there are five or six. There are more rounds
/// with more spheres, because the longest chain of impacts is longer.
const ROUNDS: f64 = 8.0;
/// Number of rounds that are recorded for a substep: the default of 24, plus one that finds that no impact is
/// left.
const RECORDED: f64 = 25.0;
/// Number of times that a substep looks for spheres that have moved farther than their pads (the assumed
/// bounds on their displacements).
const WIDENINGS: f64 = 6.0;

/// Number of invocations of the kernel `simulation_find` for a sphere, which share the candidates of the sphere.
const LANES: f64 = 2.0;
/// Largest number of candidates of an invocation in a warp. The mean number of candidates of a sphere is twice
/// [`CANDIDATES`], because a pair is a candidate of both of its spheres.
const ROW: f64 = 5.0;
/// Instructions of the kernel `simulation_find`, counted by hand: outside its loops, for each candidate, and
/// for each comparison of two straight pieces of the paths of a candidate pair.
const FIND: [f64; 3] = [150.0, 45.0, 240.0];
/// Number of comparisons of path pieces for one candidate pair. The first element is for the first round of a
/// substep, the second for each later round.
const PIECES: [f64; 2] = [1.0, 2.5];

/// Returns about `count` spheres in equilibrium, enlarged by their pads.
fn padded(count: usize) -> anyhow::Result<Vec<Sphere>> {
    let side = (1_u16..).find(|&side| usize::from(side).pow(3) >= count);
    let side = side.unwrap_or(1);
    let radius = (0.75 * PACKING / std::f64::consts::PI).cbrt();
    let mut rng = fastrand::Rng::with_seed(1);
    let sites = (0..side).flat_map(|x| {
        let plane = move |y| (0..side).map(move |z| [x, y, z].map(f64::from));
        (0..side).flat_map(plane)
    });
    let spheres = sites.map(|site| {
        let velocity = [0; 3].map(|_| rng.f64() - 0.5);
        HardSphere::new(site, radius).with_velocity(velocity)
    });
    let spheres = spheres.collect();
    let domain = Domain::rectangular([0.0; 3], [f32::from(side); 3]);
    let mut simulation = Simulation::new(spheres, SimulationOptions::new().with_domain(domain))?;
    simulation.step(3.0)?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the search takes float32 numbers"
    )]
    let padded = |sphere: &HardSphere| {
        let center = sphere.center.map(|x| x as f32);
        Sphere::new(center, (PADDED * sphere.radius) as f32)
    };
    Ok(simulation.spheres().iter().map(padded).collect())
}

/// Returns the name of each dispatch of the search for candidate pairs among `n` spheres, with its estimated
/// work (instructions, bytes and waiting time).
fn search(
    n: f64,
    spheres: &[Sphere],
    count: Counts<'_>,
) -> anyhow::Result<Vec<(&'static str, Work)>> {
    let mut work = step(n, &simulate(Kind::New, spheres), Kind::New, count)?;
    let name = "simulation_search";
    let params = Work {
        instructions: count(name)?,
        warps: 2.0,
        bytes: 0.0,
        chain: 2.0 * MEMORY,
    };
    work.push((name, params));
    Ok(work)
}

/// Returns the name, the number of dispatches and the work of each kernel that moves `n` spheres in a
/// substep. There are no walls, and the domain is not periodic.
fn motion(n: f64, count: Counts<'_>) -> anyhow::Result<Vec<(&'static str, f64, Work)>> {
    let mut all = Vec::new();
    let mut add = |name, dispatches, instructions, invocations: f64, bytes, chain| {
        let work = Work {
            instructions,
            warps: invocations / WARP,
            bytes,
            chain,
        };
        all.push((name, dispatches, work));
    };
    let once = |loads: f64| MEMORY + loads * CACHE;
    let pairs = CANDIDATES * n;
    // `bytes` is the number of bytes that one invocation reads and writes.
    for (name, of, bytes, loads) in [
        ("simulation_plan", WARP, 0.0, 4.0),
        ("simulation_walls", WARP, 0.0, 2.0),
        ("simulation_pad", n, 188.0, 2.0),
        ("simulation_count", pairs, 152.0, 4.0),
        ("scan_reduce", n / 8.0, 32.0, 0.0),
        ("scan_apply", n / 8.0, 64.0, 2.0),
        ("simulation_fill", pairs, 56.0, 2.0),
    ] {
        add(name, 1.0, count(name)?, of, bytes * of, once(loads));
    }
    // The memory loads for a candidate form a chain, in which each load waits for the one before. The first
    // load is the index of the candidate, and the second is the candidate. Then the pieces of the two paths
    // are loaded for each comparison.
    let [outside, candidate, piece] = FIND;
    let rounds = [(FIRST, 1.0), (LATER, ROUNDS - 1.0)];
    let (mut instructions, mut bytes, mut chain) = (0.0, 0.0, 0.0);
    for ((share, rounds), pieces) in rounds.into_iter().zip(PIECES) {
        instructions += share * (outside + ROW * (candidate + piece * pieces));
        bytes += share * n * (80.0 + 2.0 * CANDIDATES * (36.0 + 96.0 * pieces));
        chain += rounds * once(4.0 + ROW * (2.0 + 2.0 * pieces));
    }
    let name = "simulation_find";
    add(name, RECORDED, instructions, LANES * n, bytes, chain);
    let name = "simulation_strike";
    let listed = n * (FIRST + LATER);
    let chain = ROUNDS * once(15.0);
    add(name, RECORDED, count(name)?, listed, 132.0 * listed, chain);
    let name = "simulation_continue";
    let chain = ROUNDS * once(4.0);
    add(name, RECORDED, count(name)?, ROUNDS * WARP, 0.0, chain);
    for (name, dispatches, of, bytes, loads) in [
        ("simulation_left", WIDENINGS, n, 116.0, 4.0),
        ("simulation_widen", WIDENINGS, n, 60.0, 4.0),
        ("simulation_verify", WIDENINGS, WARP, 0.0, 4.0),
        ("simulation_settle", 1.0, n, 116.0, 4.0),
        ("simulation_commit", 1.0, n, 162.0, 2.0),
    ] {
        add(name, dispatches, count(name)?, of, bytes * of, once(loads));
    }
    // A workgroup of 256 invocations adds up the sums of workgroups of 64 invocations.
    let name = "simulation_judge";
    let sums = n / 64.0;
    let chain = once(sums / 256.0);
    add(name, 1.0, count(name)?, 256.0, 16.0 * sums, chain);
    Ok(all)
}

/// Returns the table of estimated times of a substep with a million spheres on an NVIDIA H200. The search for
/// candidate pairs is simulated with about `simulated` spheres.
pub(crate) fn report(table: &Table, simulated: usize) -> anyhow::Result<String> {
    let count = |name: &str| table.instructions(name);
    let n = 1e6;
    let search = search(n, &padded(simulated)?, &count)?;
    let motion = motion(n, &count)?;
    let mut text = String::from(
        "Estimated microseconds of a substep on an H200, lower and upper bound\n\n\
         a million hard spheres, packing fraction 0.3:\n\
         kernel               dispatches    lower    upper\n",
    );
    let mut together = (0.0, [0.0; 2]);
    let mut line = |name: &str, dispatches: f64, [lower, upper]: [f64; 2]| {
        writeln!(
            text,
            "{name:<20} {dispatches:>10} {lower:>8.1} {upper:>8.1}"
        )
    };
    let mut include = |dispatches: f64, bounds: [f64; 2]| {
        together.0 += dispatches;
        (0..2).for_each(|k| together.1[k] += bounds[k] + DISPATCH * dispatches);
    };
    let bounds = search.iter().map(|(_, work)| work.bounds());
    let searched = bounds.fold([0.0; 2], |sum, [lower, upper]| {
        [sum[0] + lower, sum[1] + upper]
    });
    include(search.len() as f64, searched);
    line("search for pairs", search.len() as f64, searched)?;
    for (name, dispatches, work) in &motion {
        include(*dispatches, work.bounds());
        line(name, *dispatches, work.bounds())?;
    }
    let (dispatches, bounds) = together;
    line("launches", dispatches, [DISPATCH * dispatches; 2])?;
    line("together", dispatches, bounds)?;
    let [most, least] = bounds.map(|time| COMPLETE * IMPACTS * n / time);
    writeln!(
        text,
        "impacts a second: {least:.0} to {most:.0} million ({:.0} % of the substeps are complete, \
         with {IMPACTS} impacts per sphere)",
        100.0 * COMPLETE
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_padded_spheres_have_as_many_candidates_as_on_the_gpu() {
        let spheres = padded(20_000).expect("spheres in equilibrium");
        let found = simulate(Kind::New, &spheres).touching;
        assert!((found - CANDIDATES).abs() < 0.1, "{found}");
    }
}
