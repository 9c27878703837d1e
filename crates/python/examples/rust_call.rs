//! Does in Rust what the tests and `bench.py` do in Python. FILE.npy has float32 or float64, N × 7.
//!
//! - `rust_call scene SCENE N BACKEND FOLDER` makes a benchmark scene and finds its collisions and neighbours, in float32 and
//!   float64, in open space with walls and in a periodic box. It writes the bytes of the spheres and of the lists to files, and
//!   prints the edge of the box.
//! - `rust_call detect FILE.npy DT THREADS REPEATS` prints the median seconds of `Detector::detect` with separate arrays.
//! - `rust_call simulate FILE.npy EDGE STEPS DURATION OUT` simulates the spheres in a periodic cube and writes their centres and
//!   velocities.

use std::error::Error;
use std::fs;
use std::time::Instant;

use bytemuck::{NoUninit, cast_slice};
use carom::{
    Backend, Detector, Domain, HardSphere, NeighborSearch, Number, Options, Simulation,
    SimulationOptions, Sphere, Spheres, Step, Walls,
};
use carom_formats::read::{self, Frames, Input, ReadOptions, World};
use carom_scenes::Scene;

fn load(path: &str) -> Result<World, Box<dyn Error>> {
    let input = Input::new(path, None);
    let mut worlds = read::open(&input, Frames::LAST, &ReadOptions::default(), &())?;
    Ok(worlds.next().ok_or("no world")??)
}

/// Returns the median time of a step of separate arrays, each in the memory of its own list.
fn detect(world: &World, dt: f64, repeats: usize) -> Result<f64, Box<dyn Error>> {
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let mut times = Vec::new();
    if world.float32 {
        let spheres = world.in_float32()?;
        let center: Vec<_> = spheres.iter().map(|sphere| sphere.center).collect();
        let radius: Vec<_> = spheres.iter().map(|sphere| sphere.radius).collect();
        let velocity: Vec<_> = spheres.iter().map(|sphere| sphere.velocity).collect();
        for _ in 0..=repeats {
            let began = Instant::now();
            let spheres = Spheres::new(&center, &radius).with_velocity(&velocity);
            #[expect(clippy::cast_possible_truncation, reason = "as Python does it")]
            let found = detector.detect(&Step::new(spheres, dt as f32))?;
            times.push(began.elapsed().as_secs_f64());
            drop(found);
        }
    } else {
        let center: Vec<_> = world.spheres.iter().map(|sphere| sphere.center).collect();
        let radius: Vec<_> = world.spheres.iter().map(|sphere| sphere.radius).collect();
        let velocity: Vec<_> = world.spheres.iter().map(|sphere| sphere.velocity).collect();
        for _ in 0..=repeats {
            let began = Instant::now();
            let spheres = Spheres::new(&center, &radius).with_velocity(&velocity);
            let found = detector.detect(&Step::new(spheres, dt))?;
            times.push(began.elapsed().as_secs_f64());
            drop(found);
        }
    }
    // The first step warms up.
    let mut times = times.split_off(1);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn simulate(
    world: World,
    edge: f32,
    steps: usize,
    duration: f64,
    out: &str,
) -> Result<(), Box<dyn Error>> {
    let domain = Domain::rectangular([0.0; 3], [edge; 3]);
    let options = SimulationOptions::new().with_domain(domain);
    let mut simulation = Simulation::new(world.spheres, options)?;
    for _ in 0..steps {
        simulation.step(duration)?;
    }
    let mut bytes = Vec::new();
    for sphere in simulation.spheres() {
        for x in sphere.center.into_iter().chain(sphere.velocity) {
            bytes.extend(x.to_ne_bytes());
        }
    }
    Ok(fs::write(out, bytes)?)
}

/// Writes the lists of a step and of a search. The names of the files end in `suffix`.
fn lists<T: Number>(
    detector: &mut Detector,
    spheres: Spheres<'_, T>,
    (dt, cutoff): (T, T),
    walls: &Walls<T>,
    domain: &Domain,
    suffix: &str,
) -> Result<(), Box<dyn Error>>
where
    T::Collision: NoUninit,
    T::WallCollision: NoUninit,
{
    let write = |name: &str, bytes: &[u8]| fs::write(format!("{name}{suffix}"), bytes);
    let open = detector.detect(&Step::new(spheres, dt).with_walls(walls))?;
    write("pairs", cast_slice(&open.pairs))?;
    write("walls", cast_slice(&open.walls))?;
    let periodic = detector.detect(&Step::new(spheres, dt).in_domain(domain))?;
    write("periodic", cast_slice(&periodic.pairs))?;
    write("images", cast_slice(periodic.pairs.images()))?;
    let search = NeighborSearch::within(spheres, cutoff).in_domain(domain);
    let found = detector.find_neighbors(&search.full())?;
    write("neighbors", cast_slice(found.pairs()))?;
    write("shifts", cast_slice(found.pairs().images()))?;
    write("distances", cast_slice(found.distances()))?;
    Ok(write("vectors", cast_slice(found.vectors()))?)
}

fn scene(name: &str, count: usize, backend: &str, folder: &str) -> Result<(), Box<dyn Error>> {
    std::env::set_current_dir(folder)?;
    let scene = Scene::from_name(name).ok_or("no such scene")?;
    let spheres: Vec<Sphere> = scene.generate(count, 1);
    let wide: Vec<HardSphere> = spheres.iter().copied().map(HardSphere::from).collect();
    fs::write("spheres", cast_slice(&spheres))?;
    let coordinates = spheres.iter().flat_map(|sphere| sphere.center);
    // Smaller than the scene, so that spheres touch walls and lie outside the cell.
    let edge = (1.5 * coordinates.map(f32::abs).fold(0.0, f32::max)).ceil();
    println!("{edge}");
    let domain = Domain::rectangular([-edge / 2.0; 3], [edge; 3]);
    let walls = Walls::inside_box([-edge / 2.0; 3], [edge / 2.0; 3]);
    let backend = match backend {
        "gpu" => Backend::Gpu,
        _ => Backend::Cpu,
    };
    let mut detector = Detector::new(Options::new().with_backend(backend))?;
    let (narrow, exact) = ((1.0, 1.5), (1.0, 1.5));
    lists::<f32>(
        &mut detector,
        (&spheres).into(),
        narrow,
        &walls,
        &domain,
        "32",
    )?;
    lists::<f64>(
        &mut detector,
        (&wide).into(),
        exact,
        &Walls::from(&walls),
        &domain,
        "64",
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["detect", file, dt, threads, repeats] => {
            let (world, dt, repeats) = (load(file)?, dt.parse()?, repeats.parse()?);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?);
            let seconds = pool
                .build()?
                .install(|| detect(&world, dt, repeats).map_err(|error| error.to_string()))?;
            println!("{seconds}");
            Ok(())
        }
        ["scene", name, count, backend, folder] => scene(name, count.parse()?, backend, folder),
        ["simulate", file, edge, steps, duration, out] => simulate(
            load(file)?,
            edge.parse()?,
            steps.parse()?,
            duration.parse()?,
            out,
        ),
        _ => Err("the arguments are in the comment of this program".into()),
    }
}
