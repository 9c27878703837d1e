//! Checks of the CPU backend alone.

use carom::{
    Backend, Detector, HardSphere, NeighborSearch, Options, Simulation, SimulationOptions, Sphere,
    Step, Walls, verify, verify_walls,
};

use carom_scenes::Scene;
use js_sys::{Function, Reflect};
use wasm_bindgen::JsCast;

use crate::worlds::World;
use crate::{Checked, ensure, text};

/// Steps of the worlds of each kind, whose lists exact arithmetic confirms, and some steps of a simulation.
pub(crate) fn all() -> Checked<String> {
    let mut detector = Detector::new(Options::default()).map_err(text)?;
    ensure(detector.backend() == Backend::Cpu, || {
        "no GPU was to be expected".to_owned()
    })?;
    let refused = Detector::new(Options::new().with_backend(Backend::Gpu));
    ensure(refused.is_err(), || "there is a GPU".to_owned())?;
    let mut pairs = 0;
    for number in 0..60 {
        let world = World::nth(number);
        let step = world.step();
        let found = detector.detect(&step).map_err(text)?;
        pairs += found.pairs.len() + found.walls.len();
        let checked = verify(&step, &found.pairs).map_err(text)?;
        ensure(checked.passed(), || format!("{}: {checked:?}", world.name))?;
        if step.walls().is_some() {
            let checked = verify_walls(&step, &found.walls).map_err(text)?;
            ensure(checked.passed(), || format!("{}: {checked:?}", world.name))?;
        }
    }
    ensure(pairs > 10_000, || format!("only {pairs} pairs"))?;

    let wide: Vec<HardSphere> = (0..100)
        .map(|i| HardSphere::new([f64::from(i) * 0.1, 0.0, 0.0], 0.05))
        .collect();
    let found = detector.detect(&Step::new(&wide, 1.0)).map_err(text)?;
    ensure(!found.pairs.is_empty(), || "no pairs in float64".to_owned())?;
    let centers: Vec<Sphere> = (0..100)
        .map(|i| Sphere::new([i as f32, 0.0, 0.0], 0.0))
        .collect();
    let list = detector.find_neighbors(&NeighborSearch::within(&centers, 1.5));
    let list = list.map_err(text)?;
    ensure(list.len() == 99, || format!("{} neighbours", list.len()))?;

    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([0.0; 3], [10.0; 3]))
        .with_gravity([0.0, 0.0, -9.8]);
    let balls = (1..9).map(|i| HardSphere::new([f64::from(i), 5.0, 5.0], 0.4));
    let mut simulation = Simulation::new(balls.collect(), options).map_err(text)?;
    let mut impacts = 0;
    for _ in 0..120 {
        impacts += simulation.step(1.0 / 60.0).map_err(text)?.wall_impacts;
    }
    ensure(impacts >= 8, || format!("{impacts} impacts"))?;
    Ok(format!(
        "60 worlds, {pairs} pairs and contacts, all confirmed; {impacts} impacts"
    ))
}

/// As `carom bench` does.
pub(crate) fn speed(count: u32, repeats: u32) -> Checked<String> {
    let mut lines = String::new();
    for scene in Scene::ALL {
        let spheres = scene.generate(count as usize, 1);
        let step = Step::new(&spheres, 1.0);
        let mut detector = Detector::new(Options::default()).map_err(text)?;
        let mut times = Vec::new();
        // The first step makes room.
        for _ in 0..=repeats.max(1) {
            let begin = clock();
            detector.detect(&step).map_err(text)?;
            times.push(clock() - begin);
        }
        let times = &mut times[1..];
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        lines += &format!("{} {median:.2}\n", scene.name());
    }
    Ok(lines)
}

/// The time in ms.
fn clock() -> f64 {
    let performance = Reflect::get(&js_sys::global(), &"performance".into());
    let performance = performance.unwrap_or_default();
    let now = Reflect::get(&performance, &"now".into()).unwrap_or_default();
    let now = (now.dyn_into::<Function>()).and_then(|now| now.call0(&performance));
    now.ok().and_then(|now| now.as_f64()).unwrap_or_default()
}
