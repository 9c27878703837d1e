//! Estimates the time of a substep of hard-sphere dynamics on an NVIDIA H200, and the number of impacts in
//! a second. docs/performance.md describes the formula and its assumptions.

use std::fmt::Write as _;

use carom::glam::DVec3;
use carom::{Domain, HardSphere, Simulation, SimulationOptions, Sphere};

use crate::model::{CACHE, Counts, DISPATCH, MEMORY, WARP, Work, step};
use crate::rounds::{Kind, simulate};
use crate::table::Table;

/// Packing fraction: the share of the volume that the spheres fill.
const PACKING: f64 = 0.3;

// The following numbers are means over substeps of the program `hard_spheres --backend gpu` with 16 384
// spheres in equilibrium, on lavapipe.

/// Number of impacts in a substep, per sphere.
const IMPACTS: f64 = 0.1;
/// Share of the substeps that are complete. The others are rolled back.
const COMPLETE: f64 = 0.95;
/// Number of spheres in all rounds after the first one, per sphere. The first round has all spheres.
const LATER: f64 = 0.61;
/// Radius of a sphere with its pad (the assumed bound on its displacement), in radii of the sphere. It gives
/// 1.7 candidate pairs per sphere.
const PADDED: f64 = 1.08;
/// Number of rounds in which any path changes. It is higher than the five or six of 16 384 spheres, because
/// the longest chain of impacts grows with the number of spheres.
const ROUNDS: f64 = 8.0;

/// Number of rounds that a recording has for each substep: the default and one more, which finds that no
/// impact is left.
const RECORDED: f64 = 25.0;
/// Number of times that a recording looks for spheres that have left their pads.
const WIDENINGS: f64 = 6.0;

/// Number of candidates of the sphere in a warp that has most of them. The mean is 3.4.
const ROW: f64 = 9.0;
/// Instructions of the kernel `simulation_find`: outside its loops, for a candidate, and for each pair of
/// pieces of the two paths of a candidate.
const FIND: [f64; 3] = [150.0, 45.0, 240.0];
/// Mean number of pairs of pieces that the kernel compares for a candidate in the first round, and later.
const PIECES: [f64; 2] = [1.0, 2.5];

/// Returns spheres in equilibrium, enlarged by their pads.
fn padded(count: usize) -> anyhow::Result<Vec<Sphere>> {
    let side = (1_u16..).find(|&side| usize::from(side).pow(3) >= count);
    let side = side.unwrap_or(1);
    let radius = (PACKING * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut spheres = Vec::new();
    for [x, y, z] in (0..side)
        .flat_map(|x| (0..side).flat_map(move |y| (0..side).map(move |z| [x, y, z].map(f64::from))))
    {
        let velocity = DVec3::from([0; 3].map(|_| rng.f64() - 0.5));
        spheres.push(HardSphere::new([x, y, z], radius).with_velocity(velocity));
    }
    let domain = Domain::rectangular([0.0; 3], [f32::from(side); 3]);
    let mut simulation = Simulation::new(spheres, SimulationOptions::new().with_domain(domain))?;
    simulation.step(3.0)?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "carom's search takes float32 numbers"
    )]
    let padded =
        |sphere: &HardSphere| Sphere::new(sphere.center.as_vec3(), (PADDED * sphere.radius) as f32);
    Ok(simulation.spheres().iter().map(padded).collect())
}

/// Returns the name and the work of the compute dispatches in a substep of `n` spheres without walls in open
/// space, and the number of dispatches. Dispatches of the same kernel are added up.
fn substep(
    n: f64,
    search: Vec<(&'static str, Work)>,
    pairs: f64,
    count: Counts<'_>,
) -> anyhow::Result<(Vec<(&'static str, Work)>, f64)> {
    let [by_sphere, by_pair] = [n / WARP, n * pairs / WARP];
    let later = n * LATER;
    let launches = 2.0 + search.len() as f64 + 4.0 + 3.0 * (RECORDED + WIDENINGS) + 3.0;
    let mut work = search;
    let mut add = |name, instructions, warps, bytes, chain| {
        work.push((
            name,
            Work {
                instructions,
                warps,
                bytes,
                chain,
            },
        ));
    };
    add(
        "simulation_plan",
        count("simulation_plan")?,
        2.0,
        0.0,
        MEMORY + 4.0 * CACHE,
    );
    add(
        "simulation_pad",
        count("simulation_pad")?,
        by_sphere,
        172.0 * n,
        2.0 * MEMORY,
    );
    let each = 120.0 * n * pairs;
    add(
        "simulation_count",
        count("simulation_count")?,
        by_pair,
        each,
        3.0 * MEMORY,
    );
    let by_scan = n / 8.0 / WARP;
    add(
        "scan_reduce",
        count("scan_reduce")?,
        by_scan,
        4.0 * n,
        MEMORY,
    );
    add(
        "scan_apply",
        count("scan_apply")?,
        by_scan,
        8.0 * n,
        2.0 * MEMORY,
    );
    let each = 56.0 * n * pairs;
    add(
        "simulation_fill",
        count("simulation_fill")?,
        by_pair,
        each,
        2.0 * MEMORY,
    );
    // Loads that wait for one another: of a row's entry, the candidate, the other sphere, and its path.
    let [outside, candidate, piece] = FIND;
    let find = |pieces: f64| outside + ROW * (candidate + piece * pieces);
    let loads = |pieces: f64| MEMORY + (4.0 + ROW * (2.0 + 2.0 * pieces)) * CACHE;
    let [first, further] = PIECES;
    add(
        "simulation_find, round 1",
        find(first),
        by_sphere,
        400.0 * n,
        loads(first),
    );
    let chain = (ROUNDS - 1.0) * loads(further);
    add(
        "simulation_find, later",
        find(further),
        later / WARP,
        500.0 * later,
        chain,
    );
    let listed = n + later;
    let chain = ROUNDS * (MEMORY + 15.0 * CACHE);
    add(
        "simulation_strike",
        count("simulation_strike")?,
        listed / WARP,
        100.0 * listed,
        chain,
    );
    let chain = ROUNDS * (MEMORY + 4.0 * CACHE);
    add(
        "simulation_continue",
        count("simulation_continue")?,
        2.0 * ROUNDS,
        0.0,
        chain,
    );
    for (name, bytes) in [("simulation_left", 100.0), ("simulation_widen", 60.0)] {
        add(name, count(name)?, by_sphere, bytes * n, 4.0 * MEMORY);
    }
    add(
        "simulation_verify",
        count("simulation_verify")?,
        2.0,
        0.0,
        MEMORY + 4.0 * CACHE,
    );
    let chain = 3.0 * MEMORY + 8.0 * 30.0;
    add(
        "simulation_settle",
        count("simulation_settle")?,
        by_sphere,
        100.0 * n,
        chain,
    );
    // A workgroup of 256 invocations adds up the sums of all workgroups of 64 invocations.
    let sums = n / 64.0;
    let chain = MEMORY + sums / 256.0 * CACHE;
    add(
        "simulation_judge",
        count("simulation_judge")?,
        8.0,
        16.0 * sums,
        chain,
    );
    add(
        "simulation_commit",
        count("simulation_commit")?,
        by_sphere,
        130.0 * n,
        2.0 * MEMORY,
    );
    Ok((work, launches))
}

/// Returns the table of estimated times of a substep with a million spheres on an NVIDIA H200. Its search for
/// candidate pairs is simulated with about `simulated` spheres.
pub(crate) fn report(table: &Table, simulated: usize) -> anyhow::Result<String> {
    let count = |name: &str| table.instructions(name);
    let found = simulate(Kind::New, &padded(simulated)?);
    let n = 1e6;
    let search = step(n, &found, Kind::New, &count)?;
    let searched = search.len();
    let (work, launches) = substep(n, search, found.touching, &count)?;
    let mut text = String::from(
        "Estimated microseconds of a substep of a million hard spheres on an H200, packing fraction 0.3\n\
         kernel                       lower    upper\n",
    );
    let mut sums = [DISPATCH * launches; 2];
    let mut line = |name: &str, [lower, upper]: [f64; 2]| {
        writeln!(text, "{name:<25} {lower:>8.1} {upper:>8.1}")
    };
    let mut search = [0.0; 2];
    for (number, (name, work)) in work.iter().enumerate() {
        let bounds = work.bounds();
        for k in 0..2 {
            sums[k] += bounds[k];
            if number < searched {
                search[k] += bounds[k];
            }
        }
        if number + 1 == searched {
            line("search for candidates", search)?;
        } else if number >= searched {
            line(name, bounds)?;
        }
    }
    line(
        &format!("launches ({launches:.0})"),
        [DISPATCH * launches; 2],
    )?;
    line("together", sums)?;
    let rates = sums.map(|time| COMPLETE * IMPACTS * n / time);
    writeln!(
        text,
        "{:.2} candidate pairs and {IMPACTS} impacts per sphere; {:.0} to {:.0} million impacts a second",
        found.touching, rates[1], rates[0]
    )?;
    Ok(text)
}
