//! Detectors on devices and with capacities that only a test can have.

#[path = "../../examples/scenes/mod.rs"]
mod scenes;

use scenes::Scene;

use super::*;

/// A detector on any adapter, whose first buffers have these capacities for pairs and for
/// further segments; `None` for the usual ones.
fn on_gpu(backend: Backend, pairs: Option<u64>, segments: Option<u64>) -> Detector {
    let gpu = Gpu::new(false)
        .unwrap_or_else(|error| panic!("this test needs a graphics adapter: {error}"));
    Detector {
        options: Options::new().with_backend(backend),
        pool: None,
        gpu: Some(gpu.with_first_capacities(pairs, segments)),
        cpu: Cpu::default(),
        reason: String::new(),
        both: ReusedVec::default(),
    }
}

fn detect(detector: &mut Detector, spheres: &[Sphere]) -> Collisions {
    let found = detector.detect(&Step::new(spheres, 1.0));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Only a test can make a device too small.
#[test]
fn auto_falls_back_to_the_cpu_and_says_so_when_the_gpu_cannot_hold_the_world() {
    let mut detector = on_gpu(Backend::Auto, None, None);
    let few = vec![Sphere::new([0.0; 3], 1.0); 2];
    let found = detect(&mut detector, &few);
    assert_eq!(
        (found.pairs.len(), found.statistics.backend),
        (1, ActiveBackend::Gpu)
    );

    // A device that can bind no more than a mebibyte: half of it spheres, half of it
    // segments.
    if let Some(gpu) = &mut detector.gpu {
        gpu.limits().max_storage_buffer_binding_size = 1 << 20;
    }
    let many: Vec<Sphere> = (0..40_000)
        .map(|i| Sphere::new([(i % 200) as f32, (i / 200) as f32, 0.0], 0.4))
        .collect();
    let found = detect(&mut detector, &many);
    assert_eq!(
        (found.pairs.len(), found.statistics.backend),
        (0, ActiveBackend::Cpu)
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

/// Buffers begin with any capacity, and grow.
#[test]
fn first_capacities_may_be_anything() {
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
        let spheres = scene.generate(8_000, 3);
        let options = Options::new().with_backend(Backend::Cpu).with_threads(1);
        let mut cpu = Detector::new(options).unwrap_or_else(|error| panic!("{error}"));
        let truth = detect(&mut cpu, &spheres);
        assert!(!truth.pairs.is_empty(), "{scene}");
        // A detector of its own for each scene: capacities stay grown.
        let mut small = on_gpu(Backend::Gpu, Some(1), Some(1));
        let found = detect(&mut small, &spheres);
        assert_eq!(found.statistics.backend, ActiveBackend::Gpu);
        assert!(bytes(truth) == bytes(found), "{scene}, small");
    }
}
