//! Tests that a repeated time step on the CPU allocates no memory, except for the cases that docs/design.md
//! names ("On the CPU"). Allocations of the whole program are counted, so this file has only one test.

mod backends;

use backends::{detector, with_threads};
use carom::{Backend, Collisions, Detector, Options, Sphere, Spheres, Step};
use carom_scenes::Scene;
use dhat::{HeapStats, Profiler};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const STEPS: u64 = 50;

/// Number of memory blocks that rayon's queue of calls needs in `STEPS` time steps. Each step is
/// one call, and rayon allocates one block for every 63 calls.
const QUEUE: u64 = STEPS.div_ceil(63);

fn allocated() -> [u64; 2] {
    let HeapStats {
        total_blocks,
        total_bytes,
        ..
    } = HeapStats::get();
    [total_blocks, total_bytes]
}

/// Runs `steps` time steps of a world, and returns the memory blocks and bytes that they allocated. After
/// each step, every sphere moves by the fraction `moves` of its displacement. A sphere that leaves the box
/// re-enters it on the opposite side.
fn run(
    detector: &mut Detector,
    spheres: &mut [Sphere],
    [dt, moves]: [f32; 2],
    steps: u64,
    found: &mut Collisions,
) -> [u64; 2] {
    let coordinates = spheres.iter().flat_map(|sphere| sphere.center);
    let side = 2.0 * coordinates.fold(0.0_f32, |most, x| most.max(x.abs()));
    let mut sum = [0; 2];
    for _ in 0..steps {
        let before = allocated();
        if let Err(error) = detector.detect_into(&Step::new(&*spheres, dt), found) {
            panic!("{error}");
        }
        let after = allocated();
        sum = [0, 1].map(|k| sum[k] + after[k] - before[k]);
        for sphere in &mut *spheres {
            for (x, v) in sphere.center.iter_mut().zip(sphere.velocity) {
                *x += v * dt * moves;
                *x -= side * (*x / side).round();
            }
        }
    }
    sum
}

/// Repeats the caller's function `count` until its number of memory allocations has settled.
/// `count` runs `STEPS` time steps, and returns the numbers of blocks and bytes that they allocate.
/// The repetition ends when it returns at most the number `queue` of blocks that rayon's queue needs.
fn settle(world: &str, queue: u64, count: &mut dyn FnMut() -> [u64; 2]) {
    // Allocations stop only after rayon's threads have started and each thread has run the largest task once.
    let counts = (0..20).map(|_| count());
    let counts: Vec<[u64; 2]> = counts.take_while(|[blocks, _]| *blocks > queue).collect();
    println!("{world}: {counts:?}");
    assert!(
        counts.len() < 20,
        "{world}: still allocates blocks and bytes in every {STEPS} steps: {counts:?}"
    );
}

#[test]
fn a_step_like_those_before_it_allocates_nothing() {
    let _profiler = Profiler::builder().testing().build();
    let with = |threads| {
        let mut detector = detector(Backend::Cpu, Options::new());
        let mut found = Collisions::default();
        let [few, many] = [2000, 50_000].map(|n| Scene::Gas.generate(n, 1));
        let mut between = || {
            let before = allocated();
            for _ in 0..STEPS {
                if let Err(error) =
                    detector.detect_into(&Step::between(&few, &many, 1.0), &mut found)
                {
                    panic!("{error}");
                }
            }
            [0, 1].map(|k| allocated()[k] - before[k])
        };
        settle(&format!("two sets, {threads} threads"), QUEUE, &mut between);

        let centers: Vec<[f32; 3]> = many.iter().map(|sphere| sphere.center).collect();
        let velocities: Vec<[f32; 3]> = many.iter().map(|sphere| sphere.velocity).collect();
        let radii: Vec<f32> = many.iter().map(|sphere| sphere.radius).collect();
        let columns = Spheres::new(&centers, &radii).with_velocity(&velocities);
        let mut of_columns = || {
            let before = allocated();
            for _ in 0..STEPS {
                if let Err(error) = detector.detect_into(&Step::new(columns, 1.0), &mut found) {
                    panic!("{error}");
                }
            }
            [0, 1].map(|k| allocated()[k] - before[k])
        };
        // Packing the columns is a call of its own.
        let queue = (2 * STEPS).div_ceil(63);
        settle(
            &format!("columns, {threads} threads"),
            queue,
            &mut of_columns,
        );

        let worlds = [
            (Scene::Gas, 60_000, 1.0),
            // For a time step as short as 2⁻¹⁰, carom computes with another unit of time than the caller's.
            (Scene::Gas, 60_000, 1.0 / 1024.0),
            // A step of 800 spheres runs on one thread.
            (Scene::Gas, 800, 1.0),
            (Scene::Polydisperse, 60_000, 1.0),
            // The scene `Fast` has spheres so fast that carom cuts their paths into time segments.
            (Scene::Fast, 60_000, 1.0),
            (Scene::Clustered, 60_000, 1.0),
            // With 300 000 spheres, carom first copies them to buckets that fit in a cache, and
            // then sorts each bucket by grid cell.
            (Scene::Gas, 300_000, 1.0),
        ];
        for (scene, n, dt) in worlds {
            let world = format!("{n} of {}, dt = {dt}, {threads} threads", scene.name());
            let mut spheres = scene.generate(n, 1);
            for sphere in &mut spheres {
                sphere.velocity = sphere.velocity.map(|v| v / dt);
            }
            let mut count =
                |steps, moves| run(&mut detector, &mut spheres, [dt, moves], steps, &mut found);
            settle(&world, QUEUE, &mut || count(STEPS, 0.0));

            // When spheres move, a vector of the detector may outgrow its capacity.
            count(STEPS, 1.0);
            let moving = count(STEPS, 1.0);
            let kept = found.statistics.memory;
            println!("{world}: {kept} bytes kept; moving {moving:?}");
            assert!(moving[1] < kept / 8, "{world}: {moving:?} in {STEPS} steps");
        }
    };
    for threads in [1, 2] {
        with_threads(threads, || with(threads));
    }
}
