//! Tests of the serial event-driven simulation.

use std::collections::VecDeque;

use carom::{Partner, Simulation, SimulationOptions};

use crate::deepest_overlap;
use crate::fluid::{Fluid, impact_rate};
use crate::heap::{Heap, Hit};

/// Returns the partners and times of the impacts of each sphere.
fn by_sphere(hits: impl IntoIterator<Item = Hit>, count: usize) -> Vec<Vec<(u32, f64)>> {
    let mut lists = vec![Vec::new(); count];
    for hit in hits {
        let [a, b] = hit.spheres;
        lists[a as usize].push((b, hit.time));
        lists[b as usize].push((a, hit.time));
    }
    lists
}

fn heap_of(simulation: &Simulation, edge: f64) -> Heap {
    let spheres = simulation.spheres();
    let places: Vec<_> = spheres.iter().map(|s| s.center).collect();
    let velocities: Vec<_> = spheres.iter().map(|s| s.velocity).collect();
    Heap::new(&places, &velocities, edge).unwrap()
}

/// For each sphere, only this number of its first impacts in the two simulations are compared, because each
/// impact makes the rounding errors larger.
const COMPARED: usize = 5;

#[test]
fn carom_and_the_heap_find_the_same_impacts() {
    // The factor by which an impact enlarges rounding errors is about 20 in the dilute gas, because the spheres fly far
    // between impacts.
    let cases = [
        (500, 0.3, 12.0, 1e-9),
        (3000, 0.3, 12.0, 1e-9),
        (1000, 0.45, 12.0, 1e-9),
        (3000, 0.05, 4.0, 1e-6),
    ];
    for (count, eta, impacts, tolerance) in cases {
        let Fluid { spheres, domain } = Fluid::new(count, eta, 7);
        let edge = domain.edges()[0][0];
        let options = SimulationOptions::new()
            .with_domain(domain)
            .with_impact_list();
        let mut simulation = Simulation::new(spheres, options).unwrap();
        let rate = impact_rate(eta);
        simulation.step(10.0 / rate).unwrap();
        let start = simulation.time();
        let mut heap = heap_of(&simulation, edge);
        heap.list = Some(Vec::new());
        let duration = impacts / rate;
        heap.advance(duration);
        let list = simulation.step(duration).unwrap().impacts;
        let expected = list.iter().map(|impact| {
            let Partner::Sphere(partner) = impact.partner else {
                panic!("there are no walls");
            };
            Hit {
                time: impact.time - start,
                spheres: [impact.sphere, partner],
            }
        });
        let expected = by_sphere(expected, count as usize);
        let found = by_sphere(heap.list.take().unwrap(), count as usize);
        let mut compared = 0;
        for (expected, found) in expected.iter().zip(&found) {
            let mut found: VecDeque<_> = found.iter().collect();
            for (partner, time) in expected.iter().take(COMPARED) {
                let &(other, at) = found.pop_front().expect("an impact is missing");
                assert_eq!(*partner, other, "at {time} and {at}");
                assert!((time - at).abs() < tolerance, "{time} and {at}");
                compared += 1;
            }
        }
        let least = 0.8 * impacts.min(COMPARED as f64) * f64::from(count);
        assert!(f64::from(compared) > least, "only {compared} were compared");
    }
}

#[test]
fn the_heap_keeps_the_energy_and_no_spheres_overlap() {
    let eta = 0.4;
    let Fluid { spheres, domain } = Fluid::new(2000, eta, 3);
    let edge = domain.edges()[0][0];
    let options = SimulationOptions::new().with_domain(domain);
    let simulation = Simulation::new(spheres, options).unwrap();
    let mut heap = heap_of(&simulation, edge);
    let sums = |velocities: &[[f64; 3]]| {
        let energy: f64 = velocities.iter().flatten().map(|v| v * v).sum();
        let momentum = [0, 1, 2].map(|axis| velocities.iter().map(|v| v[axis]).sum::<f64>());
        (energy, momentum)
    };
    let (energy, momentum) = sums(&heap.state().1);
    let rate = impact_rate(eta);
    heap.advance(50.0 / rate);
    // Theory expects 50 impacts of each sphere of a fluid in this time. But the spheres start as a crystal
    // that has to melt first, so the test accepts 40 to 60 impacts.
    let impacts = 2.0 * heap.hits as f64 / 2000.0;
    assert!((40.0..60.0).contains(&impacts), "{impacts} impacts");
    let (places, velocities) = heap.state();
    let (after, other_momentum) = sums(&velocities);
    assert!((after / energy - 1.0).abs() < 1e-12, "{energy} {after}");
    for (one, other) in momentum.iter().zip(other_momentum) {
        assert!((one - other).abs() < 1e-9, "{one} and {other}");
    }
    let deepest = deepest_overlap(&places, edge);
    assert!(deepest < 1e-9, "{deepest}");
}

#[test]
fn an_overlap_is_found_across_a_face() {
    let places = [[0.2, 5.0, 0.1], [9.9, 5.2, 9.9], [5.0, 5.0, 5.0]];
    let distance = (0.3_f64.powi(2) + 2.0 * 0.2_f64.powi(2)).sqrt();
    assert!((deepest_overlap(&places, 10.0) - (1.0 - distance)).abs() < 1e-12);
}
