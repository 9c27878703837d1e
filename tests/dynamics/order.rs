//! Tests that spheres meet in the order of the reference.

use carom::{HardSphere, Simulation, SimulationOptions, StepReport};
use fastrand::Rng;
use glam::DVec3;

use crate::event_driven::Reference;
use crate::{balls, fluid, lattice, normal, note, other, periodic, step};

/// Checks for each sphere that the first `count` spheres that it hits are the same as in a plain event-driven
/// simulation.
fn check_order(
    spheres: Vec<HardSphere>,
    options: SimulationOptions,
    edge: Option<f64>,
    count: usize,
) {
    let length = spheres.len();
    let mut simulation =
        Simulation::new(spheres.clone(), options.with_impact_list()).expect("a valid simulation");
    let mut found = vec![Vec::new(); length];
    while found.iter().any(|partners: &Vec<_>| partners.len() < count) {
        let report = step(&mut simulation, 0.25);
        assert!(report.impacts.is_sorted_by_key(|impact| impact.time));
        assert_eq!(report.impacts.len() as u64, report.sphere_impacts);
        for impact in &report.impacts {
            note(&mut found, impact.sphere as usize, other(impact));
        }
        assert!(simulation.time() < 100.0);
    }
    let mut reference = Reference::new(&balls(&spheres), edge, 1.0, simulation.time());
    let mut expected = vec![Vec::new(); length];
    while let Some(event) = reference.next() {
        note(&mut expected, event.a, event.b);
        if expected.iter().all(|partners| partners.len() >= count) {
            break;
        }
    }
    for (sphere, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found[..count], expected[..count], "sphere {sphere}");
    }
}

fn check_fluid(seed: u64) {
    let (spheres, edge) = fluid(10, 0.3, seed);
    // The longer a substep is, the more of its impacts depend on one another. So the seed chooses
    // one of three durations of a substep.
    let impacts = [0.1, 0.4, 2.0][seed as usize % 3];
    let options = periodic(edge).with_impacts_per_substep(impacts);
    check_order(spheres, options, Some(edge), 5);
}

#[test]
fn spheres_of_a_fluid_meet_in_the_order_of_the_reference() {
    for seed in 0..3 {
        check_fluid(seed);
    }
}

#[test]
#[ignore = "takes minutes; run it with `--ignored`"]
fn spheres_of_many_fluids_meet_in_the_order_of_the_reference() {
    for seed in 0..20 {
        check_fluid(seed);
    }
}

/// Returns how many impacts agree with the reference before the first difference. Rounding errors grow with
/// each impact, so the two lists differ in the end.
fn first_same(report: &StepReport, mut reference: Reference) -> usize {
    let events = std::iter::from_fn(|| reference.next());
    let both = report.impacts.iter().zip(events);
    let same = both.take_while(|(impact, event)| {
        (impact.sphere as usize, other(impact)) == (event.a, event.b)
    });
    same.count()
}

/// A cloud of spheres of different radii and masses that flies together and apart again, with inelastic
/// impacts.
#[test]
fn a_mixture_in_open_space_meets_in_the_order_of_the_reference() {
    for seed in 0..4 {
        let mut rng = Rng::with_seed(seed);
        let (mut spheres, edge) = lattice(8, 0.1, seed);
        for sphere in &mut spheres {
            sphere.radius = 0.1 + 0.6 * rng.f64();
            sphere.mass = 10_f64.powf(2.0 * rng.f64() - 1.0);
            sphere.velocity = (DVec3::from(sphere.velocity)
                + 2.0 * (DVec3::splat(edge / 2.0) - DVec3::from(sphere.center)))
            .to_array();
        }
        let options = SimulationOptions::new().with_restitution(0.8);
        let mut simulation = Simulation::new(spheres.clone(), options.clone().with_impact_list())
            .expect("a valid cloud");
        let report = step(&mut simulation, 0.5);
        let reference = Reference::new(&balls(&spheres), None, 0.8, 0.5);
        let compared = first_same(&report, reference);
        assert!(compared > 4000, "{compared} impacts were compared");
    }
}

/// Three spheres are shot into a slow gas, and cross many periodic cells until they meet something.
#[test]
fn fast_spheres_in_a_slow_gas_meet_in_the_order_of_the_reference() {
    let (mut spheres, edge) = lattice(10, 0.005, 3);
    for sphere in &mut spheres {
        sphere.velocity = (DVec3::from(sphere.velocity) * 1e-3).to_array();
    }
    let options = periodic(edge).with_impact_list();
    let mut simulation = Simulation::new(spheres, options).expect("a valid gas");
    step(&mut simulation, 1e4);
    let shoot = |spheres: &mut [HardSphere]| {
        for index in [100, 500, 900] {
            spheres[index].velocity =
                (DVec3::from(spheres[index].velocity) * (2e4 * edge)).to_array();
        }
    };
    simulation.edit(shoot).expect("the numbers are valid");
    let reference = balls(simulation.spheres());
    let time = simulation.time();
    let mut report = step(&mut simulation, 1.0);
    assert!(report.substeps < 200, "{}", report.substeps);
    report.impacts.retain(|impact| impact.time > time);
    let compared = first_same(&report, Reference::new(&reference, Some(edge), 1.0, 1.0));
    assert!(compared > 20, "{compared} impacts were compared");
}

/// Some spheres are much faster and heavier than the many others, in a small periodic cell.
#[test]
fn fast_spheres_meet_each_other_in_the_order_of_the_reference() {
    let mut across = 0;
    for seed in 0..6 {
        let (mut spheres, edge) = lattice(8, 0.05, seed);
        for (index, sphere) in spheres.iter_mut().enumerate() {
            (sphere.radius, sphere.mass) = (0.2, 1e-6);
            if index % 37 == 5 {
                (sphere.radius, sphere.mass) = (0.8, 1.0);
                sphere.velocity = (DVec3::from(sphere.velocity) * 50.0).to_array();
            }
        }
        let options = periodic(edge).with_impact_list();
        let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid mixture");
        let report = step(&mut simulation, 0.25);
        let reference = Reference::new(&balls(&spheres), Some(edge), 1.0, 0.25);
        let compared = first_same(&report, reference);
        assert!(compared > 50, "{compared} impacts were compared");
        let is_heavy = |index: usize| spheres[index].mass == 1.0;
        let both = report.impacts[..compared].iter().filter(|impact| {
            is_heavy(impact.sphere as usize) && is_heavy(other(impact)) && impact.image != [0; 3]
        });
        across += both.count();
    }
    assert!(across > 5, "{across} impacts of fast spheres across a face");
}

/// Returns a face-centred cubic packing, and the edge of its cell.
pub(crate) fn packing(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let mut rng = Rng::with_seed(seed);
    let count = 4 * per_edge.pow(3);
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / packing).cbrt();
    let edge = f64::from(edge as f32);
    let step = edge / per_edge as f64;
    let mut spheres = Vec::with_capacity(count);
    for index in 0..count {
        let cell = index / 4;
        let cell = [
            cell % per_edge,
            cell / per_edge % per_edge,
            cell / per_edge.pow(2),
        ];
        let mut place = cell.map(|k| k as f64 + 0.25);
        let corner = index % 4;
        for (axis, x) in place.iter_mut().enumerate() {
            *x += if corner != 0 && corner != axis + 1 {
                0.5
            } else {
                0.0
            };
        }
        let velocity = DVec3::from([0; 3].map(|_| normal(&mut rng)));
        spheres.push(HardSphere::new(DVec3::from(place) * step, 0.5).with_velocity(velocity));
    }
    (spheres, edge)
}

/// In a crystal near close packing, almost every impact of a substep affects later impacts. The
/// simulation must nevertheless list the impacts in the same order as `Reference`, a simple
/// event-driven simulation.
#[test]
fn a_jammed_packing_meets_in_the_order_of_the_reference() {
    let (spheres, edge) = packing(4, 0.735, 1);
    let options = periodic(edge)
        .with_impacts_per_substep(2.0)
        .with_impact_list();
    let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid packing");
    let report = step(&mut simulation, 0.02);
    assert!(report.largest_island > 128, "{}", report.largest_island);
    assert!(report.sphere_impacts > 1500, "{}", report.sphere_impacts);
    let reference = Reference::new(&balls(&spheres), Some(edge), 1.0, 0.02);
    let compared = first_same(&report, reference);
    assert!(compared > 700, "{compared} impacts were compared");
}
