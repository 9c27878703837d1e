//! Tests of detectors with device limits and initial capacities that only unit tests can set.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use carom_scenes::Scene;

use super::*;

/// Returns a detector that may use any graphics adapter, hardware or software. Its first buffers
/// have room for `pairs` pairs and `segments` time segments. `None` stands for carom's usual
/// capacity.
fn on_gpu(backend: Backend, pairs: Option<u64>, segments: Option<u64>) -> Detector {
    let gpu = block_on(Gpu::new(false, false))
        .unwrap_or_else(|error| panic!("this test needs a graphics adapter: {error}"));
    Detector {
        options: Options::new().with_backend(backend),
        gpu: Some(gpu.with_first_capacities(pairs, segments)),
        cpu: Cpu::default(),
        reason: String::new(),
        packed: ReusedVec::default(),
        bounded_walls: BoundedWalls::default(),
        touching: Collisions::default(),
        enclosed: EnclosedMemory::default(),
        enclosed_walls: WallsMemory::default(),
    }
}

/// Returns the spheres of a scene. The crate `carom_scenes` is linked against the library, not this
/// test build, so its `Sphere` is a distinct type with the same layout.
fn spheres_of(scene: Scene, count: usize) -> Vec<Sphere> {
    bytemuck::cast_vec(scene.generate(count, 3))
}

fn detect(detector: &mut Detector, spheres: &[Sphere]) -> Collisions {
    let found = detector.detect(&Step::new(spheres, 1.0));
    found.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn auto_falls_back_to_the_cpu_and_says_so_when_the_gpu_cannot_hold_the_world() {
    let mut detector = on_gpu(Backend::Auto, None, None);
    let few = vec![Sphere::new([0.0; 3], 1.0); 2];
    let found = detect(&mut detector, &few);
    assert_eq!(
        (found.pairs.len(), found.statistics.backend),
        (1, Backend::Gpu)
    );

    // The device may bind at most one mebibyte of a buffer, too little for 40 000 spheres of 32
    // bytes.
    if let Some(gpu) = &mut detector.gpu {
        gpu.limits().max_storage_buffer_binding_size = 1 << 20;
    }
    let many: Vec<Sphere> = (0..40_000)
        .map(|i| Sphere::new([(i % 200) as f32, (i / 200) as f32, 0.0], 0.4))
        .collect();
    let found = detect(&mut detector, &many);
    assert_eq!(
        (found.pairs.len(), found.statistics.backend),
        (0, Backend::Cpu)
    );
    assert!(
        found
            .statistics
            .reason
            .contains("max_storage_buffer_binding_size"),
        "{}",
        found.statistics.reason
    );
    detector.options.backend = Backend::Gpu;
    let error = detector.detect(&Step::new(&many, 1.0)).err();
    assert!(
        matches!(error, Some(Error::DeviceLimit { .. })),
        "{error:?}"
    );
}

/// The first buffers of the detector have the requested capacity for pairs, as far as the device
/// allows. They grow when a step finds more pairs.
#[test]
fn any_first_capacity_works() {
    for capacity in [1, 1 << 61, (1 << 61) + 4, u64::MAX] {
        let mut detector = on_gpu(Backend::Gpu, Some(capacity), None);
        let crowd = vec![Sphere::new([1.0, 2.0, 3.0], 0.5); 10];
        let found = detector.detect(&Step::new(&crowd, 1.0));
        assert_eq!(found.map(|found| found.pairs.len()), Ok(45), "{capacity}");
    }
}

#[test]
fn every_scene_gives_the_same_bytes_with_a_first_capacity_of_one() {
    let bytes = |found: Collisions| bytemuck::cast_slice::<_, u8>(&found.pairs).to_vec();
    for scene in Scene::ALL {
        let spheres = spheres_of(scene, 8_000);
        let options = Options::new().with_backend(Backend::Cpu);
        let mut cpu = Detector::new(options).unwrap_or_else(|error| panic!("{error}"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.unwrap_or_else(|error| panic!("{error}"));
        let truth = pool.install(|| detect(&mut cpu, &spheres));
        assert!(!truth.pairs.is_empty(), "{scene}");
        // Each scene needs a new detector, because a detector keeps its grown buffers.
        let mut small = on_gpu(Backend::Gpu, Some(1), Some(1));
        let found = detect(&mut small, &spheres);
        assert_eq!(found.statistics.backend, Backend::Gpu);
        assert!(bytes(truth) == bytes(found), "{scene}, small");
    }
}

#[test]
fn a_reused_list_that_was_sorted_by_time_is_in_index_order_again_on_a_gpu() {
    let spheres = spheres_of(Scene::Fast, 2_000);
    let mut gpu = on_gpu(Backend::Gpu, None, None);
    let expected = detect(&mut gpu, &spheres);
    let mut list = expected.clone();
    list.sort_by_time();
    assert_ne!(list.pairs, expected.pairs);
    let refilled = gpu.detect_into(&Step::new(&spheres, 1.0), &mut list);
    refilled.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(list.pairs, expected.pairs);
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The future of a step is dropped after different numbers of polls.
#[test]
fn a_detector_works_after_a_step_was_dropped_midway() {
    let [spheres, few] = [8_000, 200].map(|count| spheres_of(Scene::Gas, count));
    let step = Step::new(&spheres, 1.0);
    let mut detector = on_gpu(Backend::Gpu, Some(1), None);
    let mut other = on_gpu(Backend::Gpu, None, None);
    let [expected, of_few] = [&spheres, &few].map(|spheres| detect(&mut other, spheres).pairs);
    assert!(!expected.is_empty() && !of_few.is_empty());
    let mut given_up = 0;
    for polls in [0, 1, 1, 1, 2, 4, 8, 16, 32] {
        let mut list = detect(&mut other, &few);
        {
            let mut future = pin!(detector.detect_into_async(&step, &mut list));
            // The pauses give the device time to make progress between polls.
            let done = (0..polls).any(|_| {
                std::thread::sleep(Duration::from_millis(2));
                poll(future.as_mut()).is_ready()
            });
            given_up += u32::from(!done && polls > 0);
            if done {
                continue;
            }
        }
        assert!(polls == 0 || list.pairs.is_empty());
        assert_eq!(detect(&mut detector, &few).pairs, of_few);
        assert_eq!(detect(&mut detector, &spheres).pairs, expected);
    }
    assert!(given_up > 0, "no step was dropped midway");
}

#[test]
fn awaited_steps_give_the_same_lists() {
    let spheres = spheres_of(Scene::Fast, 5_000);
    let step = Step::new(&spheres, 1.0);
    let mut cpu = pollster::block_on(Detector::new_async(
        Options::new().with_backend(Backend::Cpu),
    ))
    .unwrap_or_else(|error| panic!("{error}"));
    let mut gpu = on_gpu(Backend::Gpu, Some(1), None);
    let expected = detect(&mut cpu, &spheres).pairs;
    assert!(!expected.is_empty());
    for detector in [&mut cpu, &mut gpu] {
        let found = pollster::block_on(detector.detect_async(&step));
        assert_eq!(found.map(|found| found.pairs), Ok(expected.clone()));
    }
    fn is_send(future: impl Send) {
        drop(future);
    }
    is_send(Detector::new_async(Options::new()));
    is_send(gpu.detect_async(&step));
}
