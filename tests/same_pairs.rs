//! Tests that the CPU and the GPU backend return identical lists of colliding pairs, and that exact brute
//! force finds the same pairs.

mod backends;
mod oracle;
mod tangency;
mod worlds;

use backends::{both, detector, with_threads};
use carom::{Backend, Collision, Collisions, Detector, Mesh, Options, Sphere, Step, Wall, Walls};
use fastrand::Rng;
use glam::Vec3;
use rayon::ThreadPoolBuilder;
use tangency::{KINDS, Kind, Pair};

/// Compares the collisions of a world on the CPU and on the GPU with brute force and with each other. Returns
/// the list of the CPU.
fn assert_right(world: &str, spheres: &[Sphere], dt: f32) -> Collisions {
    let truth = oracle::brute_force(spheres, dt);
    let [cpu, gpu] = both(|detector| {
        let found = detector
            .detect(&Step::new(spheres, dt))
            .unwrap_or_else(|error| panic!("{world}: {error}"));
        let statistics = &found.statistics;
        println!(
            "{world}: {:?} {} pairs, {:.1} candidates and {:.2} proxies per sphere, {} levels, \
             {} grazing",
            statistics.backend,
            statistics.pairs,
            statistics.candidates as f64 / spheres.len() as f64,
            statistics.proxies as f64 / spheres.len() as f64,
            statistics.levels,
            statistics.grazing,
        );
        truth.assert_same(world, spheres, dt, &found);
        assert_eq!(statistics.pairs, found.pairs.len() as u64, "{world}");
        found
    });
    assert_eq!(
        cpu.pairs, gpu.pairs,
        "{world}: the backends differ in times of impact or depths"
    );
    cpu
}

#[test]
fn benchmark_scenes_match_brute_force() {
    for scene in carom_scenes::Scene::ALL {
        assert_right(scene.name(), &scene.generate(10_000, 1), 1.0);
    }
}

/// With 100 000 spheres, the GPU backend tests up to 1.4 times as many pairs as the CPU backend. Its table of cells has
/// fewer entries for each sphere than the CPU's, so its cells are a little wider.
#[test]
fn a_gpu_tests_hardly_more_pairs_than_the_cpu_if_sizes_or_speeds_differ() {
    let scenes = [
        (carom_scenes::Scene::Polydisperse, 1.4),
        (carom_scenes::Scene::Fast, 1.4),
        (carom_scenes::Scene::Thermal, 1.1),
    ];
    for (scene, factor) in scenes {
        let spheres = scene.generate(100_000, 1);
        let [cpu, gpu] = both(|detector| {
            let found = detector.detect(&Step::new(&spheres, 1.0)).unwrap();
            found.statistics.candidates as f64
        });
        println!("{}: {:.2} times as many", scene.name(), gpu / cpu);
        assert!(gpu <= factor * cpu, "{}: {gpu} and {cpu}", scene.name());
    }
}

#[test]
fn hard_worlds_match_brute_force() {
    for (world, spheres, dt) in worlds::all(10_000, 1) {
        assert_right(world, &spheres, dt);
    }
}

/// In worlds of a few giant spheres and many small ones, the CPU searches around each giant sphere for small
/// spheres, because a search around each small sphere would cost more.
#[test]
fn giants_among_dust_match_brute_force() {
    for power in [2, 10, 20, 30, 40] {
        let rng = &mut Rng::with_seed(1);
        let size = 2_f32.powi(power);
        let mut vector = |scale: f32| [0; 3].map(|_| (2.0 * rng.f32() - 1.0) * scale);
        let spheres: Vec<Sphere> = (0..4000)
            .map(|i| match i % 500 {
                0 => {
                    let [x, y, z] = vector(1.0);
                    let length = (x * x + y * y + z * z).sqrt().max(0.1);
                    let center = [x, y, z].map(|x| x / length * size);
                    Sphere::new(center, size * 0.999).with_velocity(vector(0.01 * size))
                }
                _ => Sphere::new(vector(4.0), 0.1).with_velocity(vector(0.1)),
            })
            .collect();
        let found = assert_right(&format!("giants of 2^{power}"), &spheres, 1.0);
        assert!(found.statistics.candidates < 100 * spheres.len() as u64);
        let (one, other) = spheres.split_at(2001);
        both(|detector| {
            let found = detector
                .detect(&Step::between(one, other, 1.0))
                .unwrap_or_else(|error| panic!("{error}"));
            oracle::assert_same_between("giants between two sets", one, other, 1.0, &found);
        });
    }
}

#[test]
fn eight_million_pairs_at_one_point_are_all_found() {
    let (world, spheres, dt) = worlds::one_point(4000, 1);
    assert_eq!(
        assert_right(world, &spheres, dt).pairs.len(),
        4000 * 3999 / 2
    );
}

/// Detects the collisions of spheres after `reorder` has changed their order. Returns the pairs with their
/// original indices, sorted.
fn of_reordered(
    detector: &mut Detector,
    spheres: &[Sphere],
    reorder: impl FnOnce(&mut [u32]),
) -> Vec<Collision> {
    let mut order: Vec<u32> = (0_u32..).take(spheres.len()).collect();
    reorder(&mut order);
    let reordered: Vec<Sphere> = order.iter().map(|&i| spheres[i as usize]).collect();
    let found = detector
        .detect(&Step::new(&reordered, 1.0))
        .unwrap_or_else(|error| panic!("{error}"));
    let back = |pair: &Collision| {
        let [a, b] = [pair.a, pair.b].map(|k| order[k as usize]);
        Collision {
            a: a.min(b),
            b: a.max(b),
            ..*pair
        }
    };
    let mut pairs: Vec<Collision> = found.pairs.iter().map(back).collect();
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    pairs
}

#[test]
fn every_scene_gives_the_same_bytes_for_any_backend_thread_count_and_order() {
    let mut detectors = [(Backend::Cpu, 1), (Backend::Cpu, 2), (Backend::Gpu, 2)]
        .map(|(backend, threads)| (detector(backend, Options::new()), threads));
    for scene in carom_scenes::Scene::ALL {
        let spheres = scene.generate(8_000, 3);
        let list = |detector: &mut Detector| match detector.detect(&Step::new(&spheres, 1.0)) {
            Ok(found) => found.pairs,
            Err(error) => panic!("{scene}: {error}"),
        };
        let truth = with_threads(1, || list(&mut detectors[0].0));
        assert!(!truth.is_empty(), "{scene}");
        let bytes = |pairs: &[Collision]| bytemuck::cast_slice::<_, u8>(pairs).to_vec();
        for (seed, (detector, threads)) in (0..).zip(&mut detectors) {
            let what = format!("{scene}, {detector:?}, {threads} threads");
            with_threads(*threads, || {
                assert!(bytes(&truth) == bytes(&list(detector)), "{what}");
                let shuffle = |order: &mut [u32]| Rng::with_seed(seed).shuffle(order);
                let shuffled = of_reordered(detector, &spheres, shuffle);
                assert!(bytes(&truth) == bytes(&shuffled), "{what}, shuffled");
            });
        }
    }
}

/// If neighbours in memory are not neighbours in space, the CPU first copies the spheres to buckets
/// that fit in a cache (docs/design.md, "On the CPU").
#[test]
fn a_large_world_gives_the_same_pairs_sorted_and_unsorted() {
    for scene in [carom_scenes::Scene::Gas, carom_scenes::Scene::Fast] {
        let spheres = scene.generate(400_000, 1);
        let same = |threads| {
            let mut detector = detector(Backend::Cpu, Options::new());
            let found = detector
                .detect(&Step::new(&spheres, 1.0))
                .unwrap_or_else(|error| panic!("{error}"));
            let by_place = |order: &mut [u32]| {
                let z = |&i: &u32| spheres[i as usize].center[2];
                order.sort_unstable_by(|a, b| z(a).total_cmp(&z(b)));
            };
            let in_order = of_reordered(&mut detector, &spheres, by_place);
            assert!(in_order.len() > 50_000, "{scene}");
            assert!(in_order == *found.pairs, "{scene}, {threads} threads");
        };
        for threads in [1, 3] {
            with_threads(threads, || same(threads));
        }
    }
}

/// Runs steps on threads with small stacks of 256 KiB. carom must not overflow them, because an application
/// cannot catch a stack overflow.
#[test]
fn a_large_world_needs_little_stack() {
    let spheres = carom_scenes::Scene::Gas.generate(400_000, 1);
    let pool = ThreadPoolBuilder::new()
        .num_threads(8)
        .stack_size(256 << 10)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let mut detector = detector(Backend::Cpu, Options::default());
    let found = pool.install(|| detector.detect(&Step::new(&spheres, 1.0)));
    assert!(found.is_ok_and(|found| found.pairs.len() > 50_000));
}

/// Tests twelve nearly tangent pairs of spheres in the same region, so that spheres of different pairs meet
/// as well.
#[test]
fn worlds_of_nearly_tangent_pairs_match_brute_force() {
    for kind in KINDS {
        both(|detector| {
            let mut rng = Rng::with_seed(5);
            for number in 0..24 {
                let step = if kind == Kind::Huge { 1.0 } else { 0.25 };
                let exact = number % 2 == 0;
                let step = if exact { step } else { step * 1.1 };
                let spheres: Vec<Sphere> = (0..12)
                    .flat_map(|_| Pair::with_step(kind, exact, step, &mut rng).spheres)
                    .collect();
                let found = detector
                    .detect(&Step::new(&spheres, step))
                    .unwrap_or_else(|error| panic!("{kind:?}: {error}"));
                oracle::assert_same(&format!("{kind:?} {number}"), &spheres, step, &found);
                for pair in found.pairs.iter().filter(|pair| pair.toi > 0.0) {
                    let [a, b] = [pair.a, pair.b].map(|i| &spheres[i as usize]);
                    let contact = pair.contact(a, b);
                    assert!(
                        (Vec3::from(contact.normal).length() - 1.0).abs() < 1e-6
                            && contact.approach_speed >= 0.0,
                        "{kind:?}: {contact:?} of {a:?} and {b:?}"
                    );
                }
            }
        });
    }
}

#[test]
fn a_lattice_of_touching_spheres_has_every_contact_and_no_other() {
    let side = 30;
    let spheres = carom_scenes::Scene::Touching.generate(side * side * side, 0);
    both(|detector| {
        let found = detector
            .detect(&Step::new(&spheres, 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.pairs.len(), 3 * side * side * (side - 1));
        assert!(
            found
                .pairs
                .iter()
                .all(|pair| (pair.toi, pair.depth) == (0.0, 0.0))
        );
        // All spheres of this lattice touch exactly. Float32 cannot decide such contacts. Float64 can, because it
        // holds all digits of the products, and so can the integers of a hardware GPU.
        let statistics = found.statistics;
        let by_device = statistics.backend == Backend::Gpu && statistics.grazing == 0;
        assert!(by_device || statistics.grazing == statistics.pairs);
        assert_eq!(statistics.grazing_by_integers, 0);

        // The same lattice of spheres is tested again, with every second layer in a collision group that the
        // other layers ignore. So neither the list nor the statistics may include contacts between two
        // layers.
        let layered = spheres.iter().map(|sphere| {
            let layer = sphere.center[2] / (2.0 * sphere.radius);
            let in_group = layer.floor().rem_euclid(2.0) < 0.5;
            sphere.with_groups(u16::from(in_group), u16::from(!in_group))
        });
        let layered: Vec<Sphere> = layered.collect();
        let left = |pair: &Collision| !layered[pair.a as usize].ignores(&layered[pair.b as usize]);
        let expected: Vec<Collision> = found.pairs.iter().copied().filter(left).collect();
        assert!(!expected.is_empty() && expected.len() < found.pairs.len());
        let found = detector
            .detect(&Step::new(&layered, 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(*found.pairs == expected);
        assert_eq!(found.statistics.grazing, found.statistics.pairs);
    });
}

/// Half of the moving spheres are exactly tangent to the sphere that they pass. The other half miss it,
/// because the radii are one ulp smaller.
#[test]
fn tangent_passes_are_found_and_misses_by_one_ulp_are_not() {
    let count = 20_000_u32;
    let side = 28;
    // Each row describes a moving sphere that passes a sphere at rest: the direction of motion, a
    // perpendicular vector between the centres at the closest approach, and the common length of both
    // vectors.
    let passes = [
        ([-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], 3.0_f32),
        ([3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], 5.0),
        ([2.0, 3.0, 6.0], [3.0, -6.0, 2.0], 7.0),
    ];
    let mut spheres = Vec::new();
    for i in 0..count {
        let site = [i % side, i / side % side, i / (side * side)].map(|k| 64.0 * k as f32);
        let (flight, miss, length) = passes[i as usize % 3];
        let start = std::array::from_fn(|k| site[k] + miss[k] - flight[k] * 2.0);
        let radius = if i % 2 == 0 {
            length
        } else {
            length.next_down()
        };
        spheres.push(Sphere::new(site, radius * 0.5));
        spheres.push(Sphere::new(start, radius * 0.5).with_velocity(flight.map(|x| x * 4.0)));
    }
    both(|detector| {
        let found = detector
            .detect(&Step::new(&spheres, 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        let expected = (0..count).filter(|i| i % 2 == 0).map(|i| Collision {
            a: 2 * i,
            b: 2 * i + 1,
            toi: 0.5,
            depth: 0.0,
        });
        assert!(*found.pairs == expected.collect::<Vec<_>>());
        // A pair is grazing if carom's first test leaves it undecided. On the CPU, this test is in float64, and in this world
        // only the tangent pairs are grazing. On a GPU, it is in integers, which decide all of them, or, with a software
        // adapter, in float32, which decides none.
        let grazing = found.statistics.grazing;
        match found.statistics.backend {
            Backend::Cpu => assert_eq!(grazing, u64::from(count - count / 2)),
            _ => assert!(grazing == 0 || grazing == u64::from(count)),
        }
    });
}

#[test]
fn walls_have_the_same_list_on_both_backends() {
    let mut rng = Rng::with_seed(31);
    let mut vector = |size: f32| [0; 3].map(|_| (rng.f32() - 0.5) * size);
    let spheres: Vec<Sphere> = (0..2000)
        .map(|_| Sphere::new(vector(20.0), 0.5).with_velocity(vector(4.0)))
        .collect();
    let corners = vec![[-6.0, -6.0, 1.0], [6.0, -6.0, 1.0], [0.0, 6.0, 1.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2]]).expect("a valid mesh");
    let mut walls = Walls::inside_box([-10.0; 3], [10.0; 3]);
    walls.push(Wall::sphere([1.0, 2.0, 3.0], 4.0));
    walls.push_mesh(mesh);
    let step = Step::new(&spheres, 1.0).with_walls(&walls);
    let [cpu, gpu] = both(|detector| detector.detect(&step).expect("the step is valid"));
    assert_eq!(gpu.statistics.backend, Backend::Gpu);
    for wall in 0..8 {
        let hits = cpu.walls.iter().filter(|hit| hit.wall == wall).count();
        assert!(hits > 20, "wall {wall}: {hits} hits");
    }
    assert_eq!((cpu.pairs, cpu.walls), (gpu.pairs, gpu.walls));
}
