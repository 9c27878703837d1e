//! Simulations: steps, edits and rules that panic. A copy on another number of threads does the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use carom::{Encounter, Error, HardSphere, Response, Simulation, SimulationOptions, StepReport};
use fastrand::Rng;

use crate::Tally;
use crate::backends::with_threads;
use crate::memory::{armed, attempt};
use crate::worlds::{domain, duration, hard_spheres, rarity, walls};

fn options(rng: &mut Rng, rarity: u32) -> SimulationOptions {
    let mut options = SimulationOptions::new()
        .with_domain(domain(rng, rarity))
        .with_max_step_impacts(2_000)
        .with_max_impacts(500)
        .with_impact_list();
    if rng.bool() {
        options = options.with_walls(walls(rng, rarity));
    }
    if rng.bool() {
        options = options.with_gravity([0.0, 0.0, -duration(rng, rarity)]);
    }
    if rng.bool() {
        options = options.with_restitution(0.5).with_wall_restitution(0.25);
    }
    if rng.bool() {
        options = options.with_contact_time(1e-3).with_contact_changes();
    }
    options
}

fn are_finite(spheres: &[HardSphere]) -> bool {
    let numbers = |sphere: &HardSphere| [sphere.center, sphere.velocity].concat();
    spheres.iter().flat_map(numbers).all(f64::is_finite)
}

fn check(simulation: &Simulation, report: &StepReport) {
    assert!(report.kinetic_energy.is_finite() && report.virial.is_finite());
    assert!(report.kinetic_energy.is_sign_positive());
    assert_eq!(report.kinetic_energy, simulation.kinetic_energy());
    let impulses = report.wall_impulses.iter().flatten();
    assert!(impulses.copied().all(f64::is_finite));
    assert_eq!(
        report.impacts.len() as u64,
        report.sphere_impacts + report.wall_impacts
    );
    for impact in &report.impacts {
        assert!(impact.time <= simulation.time() * (1.0 + 1e-12));
    }
}

/// The same work on a copy with another number of threads gives the same bytes.
fn same(
    simulation: &mut Simulation,
    threads: usize,
    mut work: impl FnMut(&mut Simulation) -> String + Send,
) {
    let mut copy = simulation.clone();
    let other = with_threads(threads, || {
        let text = work(&mut copy);
        (text, copy)
    });
    let text = work(simulation);
    assert_eq!(text, other.0);
    assert_eq!(simulation.spheres(), other.1.spheres());
    assert_eq!(simulation.time().to_bits(), other.1.time().to_bits());
}

pub(crate) fn simulate(rng: &mut Rng, tally: &mut Tally) {
    let rarity = rarity(rng);
    let spheres = hard_spheres(rng, rarity);
    let options = options(rng, rarity);
    // Copies are made before, because in the call, they could fail.
    let mut given = [(spheres.clone(), options.clone()), (spheres, options)].into_iter();
    let made = attempt(rng, || {
        let (spheres, options) = given.next().expect("there are two attempts");
        Simulation::new(spheres, options)
    });
    let Some(mut simulation) = tally.note(made) else {
        return;
    };
    for _ in 0..rng.u8(1..8) {
        act(&mut simulation, rng, rarity, tally);
        assert!(are_finite(simulation.spheres()));
        let removed = |&k: &usize| simulation.is_removed(k);
        let removed = (0..simulation.spheres().len()).filter(removed);
        assert!(
            removed
                .map(|k| simulation.spheres()[k].velocity)
                .all(|v| v == [0.0; 3])
        );
    }
    if rng.u8(..4) == 0 {
        let text = serde_json::to_string(&simulation).expect("a simulation can be written");
        let mut read: Simulation = serde_json::from_str(&text).expect("and read");
        let [one, other] = [&mut simulation, &mut read]
            .map(|world| world.step(0.25).map_err(|error| error.to_string()));
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        assert_eq!(simulation.spheres(), read.spheres());
        let cut = serde_json::from_str::<Simulation>(&text[..text.len() / 2]);
        assert!(cut.is_err());
    }
}

/// A step of a copy, which goes on if memory was missing.
fn step_without_memory(simulation: &Simulation, duration: f64, rng: &mut Rng, tally: &mut Tally) {
    let mut copy = simulation.clone();
    let before = copy.time();
    if let Err(Error::OutOfMemory { .. }) = armed(rng, || copy.step(duration)) {
        assert!(are_finite(copy.spheres()) && copy.time() >= before);
        if let Some(report) = tally.note(copy.step(duration)) {
            check(&copy, &report);
        }
    }
}

fn act(simulation: &mut Simulation, rng: &mut Rng, rarity: u32, tally: &mut Tally) {
    let count = simulation.spheres().len();
    let sphere = rng.usize(..count + 2);
    let before = (simulation.spheres().to_vec(), simulation.time());
    let after = |simulation: &Simulation| (simulation.spheres().to_vec(), simulation.time());
    match rng.u8(..10) {
        0..4 => {
            let duration = duration(rng, rarity);
            step_without_memory(simulation, duration, rng, tally);
            let mut report = None;
            same(simulation, rng.usize(1..4), |world| {
                let result = world.step(duration);
                let text = format!("{result:?}");
                report = Some(result);
                text
            });
            if let Some(Some(report)) = report.map(|report| tally.note(report)) {
                check(simulation, &report);
            }
        }
        4 => {
            // A rule that panics leaves the simulation at the end of a substep.
            let left = AtomicU32::new(rng.u32(..20));
            let rule = |_: &Encounter| {
                let calls = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
                assert!(calls.is_ok(), "the rule panics");
                Response::Bounce
            };
            let step = || simulation.step_with(0.5, &rule);
            if let Ok(report) = catch_unwind(AssertUnwindSafe(step)) {
                tally.note(report);
            }
        }
        5 => {
            let change = hard_spheres(rng, rarity);
            let result = attempt(rng, || {
                simulation.edit(|spheres| {
                    for (sphere, change) in spheres.iter_mut().zip(&change) {
                        *sphere = *change;
                    }
                })
            });
            if tally.note(result).is_none() {
                assert_eq!(after(simulation), before);
            }
        }
        6 => {
            if tally
                .note(attempt(rng, || simulation.remove(sphere)))
                .is_none()
            {
                assert_eq!(after(simulation), before);
            }
        }
        7 => {
            let new = hard_spheres(rng, rarity)
                .pop()
                .unwrap_or(HardSphere::new([0.0; 3], 1.0));
            let restores = rng.bool();
            let result = attempt(rng, || match restores {
                true => simulation.restore(sphere, new),
                false => simulation.add(new).map(|_| ()),
            });
            if tally.note(result).is_none() {
                assert_eq!(after(simulation), before);
            }
        }
        8 => {
            let passes = rng.u32(..20);
            let result = attempt(rng, || simulation.separate(passes));
            if tally.note(result).is_none() {
                assert_eq!(after(simulation), before);
            }
        }
        _ => {
            let walls = walls(rng, rarity);
            let gravity = [0.0, duration(rng, rarity), 0.0];
            if rng.bool() {
                tally.note(simulation.edit_walls(|old| *old = walls));
            } else {
                tally.note(simulation.set_gravity(gravity));
            }
        }
    }
}
