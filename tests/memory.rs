//! A step like those before it allocates nothing on the CPU, but for what docs/design.md tells: counted
//! by an allocator that serves all threads of this program, so all of it is one test.

mod backends;

use backends::detector;
use carom::{Backend, Collisions, Detector, Options, Sphere, Step};
use carom_scenes::Scene;
use dhat::{HeapStats, Profiler};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Steps that are counted.
const STEPS: u64 = 50;

/// What rayon allocates when work is handed to its threads: a block of its queue for 63 times.
const QUEUE: u64 = STEPS.div_ceil(63);

/// Blocks that were allocated so far, and their bytes.
fn allocated() -> [u64; 2] {
    let HeapStats {
        total_blocks,
        total_bytes,
        ..
    } = HeapStats::get();
    [total_blocks, total_bytes]
}

/// Works on a world for so many steps, moving the spheres by `moves` of their way in each and back
/// into the box when they leave it, and returns how many blocks and bytes the steps allocated.
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
        if let Err(error) = detector.detect_into(&Step::new(spheres, dt), found) {
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

/// Works on until as many steps as `count` does allocate nothing.
fn settle(world: &str, count: &mut dyn FnMut() -> [u64; 2]) {
    // Not for ever: rayon's threads have to be up, and each to have had the largest task.
    let counts = (0..20).map(|_| count());
    let counts: Vec<[u64; 2]> = counts.take_while(|[blocks, _]| *blocks > QUEUE).collect();
    println!("{world}: {counts:?}");
    assert!(
        counts.len() < 20,
        "{world}: {counts:?} in {STEPS} steps each"
    );
}

#[test]
fn a_step_like_those_before_it_allocates_nothing() {
    let _profiler = Profiler::builder().testing().build();
    for threads in [1, 2] {
        let options = Options::new().with_threads(threads);
        let mut detector = detector(Backend::Cpu, options);
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
        settle(&format!("two sets, {threads} threads"), &mut between);

        let worlds = [
            (Scene::Gas, 60_000, 1.0),
            // In units of its own.
            (Scene::Gas, 60_000, 1.0 / 1024.0),
            // On the caller's thread.
            (Scene::Gas, 800, 1.0),
            (Scene::Polydisperse, 60_000, 1.0),
            // Cut into segments.
            (Scene::Fast, 60_000, 1.0),
            (Scene::Clustered, 60_000, 1.0),
            // So many that they are brought to their buckets first.
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
            settle(&world, &mut || count(STEPS, 0.0));

            // Where spheres move, now and then some part of the world outgrows what it had.
            count(STEPS, 1.0);
            let moving = count(STEPS, 1.0);
            let kept = found.statistics.memory;
            println!("{world}: {kept} bytes kept; moving {moving:?}");
            assert!(moving[1] < kept / 8, "{world}: {moving:?} in {STEPS} steps");
        }
    }
}
