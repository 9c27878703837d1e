//! Steps and neighbour lists, checked by `verify` and against one another.

use std::sync::{Mutex, OnceLock};

use carom::gpu::{BufferOptions, CollisionPipeline, wgpu};
use carom::{
    Backend, Collisions, Detector, Error, ErrorKind, Hits, NeighborSearch, Number, Options,
    Spheres, Step, Touching, verify, verify_walls,
};
use fastrand::Rng;

use crate::Tally;
use crate::device::Device;
use crate::memory::attempt;
use crate::worlds::{domain, duration, hard_spheres, rarity, spheres, walls};

/// Low limits, so that no step takes long.
fn options() -> Options {
    Options::new()
        .with_max_candidates(1 << 24)
        .with_max_pairs(1 << 18)
}

fn on_cpu() -> Detector {
    Detector::new(options().with_backend(Backend::Cpu)).expect("the CPU is always there")
}

/// Other errors come from any way to the same list.
fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit | ErrorKind::Device)
        || matches!(error, Error::ImageOutOfRange { .. })
}

/// Checks a result by exact arithmetic, and its reductions by their definition.
fn check<'a, T: Number>(
    step: &Step<'a, Spheres<'a, T>>,
    found: Result<&Collisions<T>, &Error>,
    rng: &mut Rng,
    tally: &mut Tally,
) where
    T::Collision: PartialEq + std::fmt::Debug,
    T::WallCollision: PartialEq + std::fmt::Debug,
{
    let Ok(found) = found else {
        if let Err(error) = found
            && !is_limit(error)
        {
            let empty = Hits::default();
            let periodic = !step.domain().is_open();
            let hits = if periodic {
                Hits::with_images(vec![], vec![])
            } else {
                Ok(empty)
            };
            // Walls are the other one's.
            let refused = verify(step, &hits.expect("no images")).is_err()
                || verify_walls(step, &Hits::default()).is_err();
            assert!(refused, "only the detector says: {error}");
        }
        return;
    };
    // A limit of `verify` is no mistake of the list.
    if let Some(truth) = tally.note(attempt(rng, || verify(step, &found.pairs))) {
        assert_eq!(truth.mistakes(), 0);
    }
    if step.walls().is_some()
        && let Some(truth) = tally.note(attempt(rng, || verify_walls(step, &found.walls)))
    {
        assert_eq!(truth.mistakes(), 0);
    }
    let mut first = vec![f64::INFINITY; found.sphere_count()];
    let second = found.second_set_start().unwrap_or(0) as u32;
    for pair in found.pairs.iter().map(Touching::wide) {
        for sphere in [pair.a, pair.b + second] {
            let time = &mut first[sphere as usize];
            *time = time.min(pair.toi);
        }
    }
    for hit in found.walls.iter().map(Touching::wide) {
        let time = &mut first[hit.a as usize];
        *time = time.min(hit.toi);
    }
    let earliest = attempt(rng, || found.earliest()).expect("there is memory");
    assert_eq!(earliest.len(), first.len());
    for (earliest, first) in earliest.iter().zip(first) {
        assert_eq!(earliest.is_some(), first.is_finite());
        if let Some(earliest) = earliest {
            let toi: f64 = earliest.toi.into();
            assert_eq!(toi, first);
        }
    }
    let contacts = attempt(rng, || found.contacts()).expect("there is memory");
    let all: usize = (0..found.sphere_count())
        .map(|k| contacts.of(k).len())
        .sum();
    assert_eq!(all % 2, 0);
    let changes = attempt(rng, || found.changes_since(found)).expect("there is memory");
    assert!(changes.began.is_empty() && changes.ended.is_empty());
}

pub(crate) fn detect(rng: &mut Rng, tally: &mut Tally) {
    let rarity = rarity(rng);
    let [first, second] = [(); 2].map(|()| spheres(rng, rarity));
    let (domain, walls) = (domain(rng, rarity), walls(rng, rarity));
    let dt = duration(rng, rarity) as f32;
    let mut step = match rng.bool() {
        true => Step::new(&first, dt),
        false => Step::between(&first, &second, dt),
    };
    step = step.in_domain(&domain);
    if rng.bool() {
        step = step.with_walls(&walls);
    }
    if rng.bool() {
        step = step.without_separating();
    }
    let mut detector = on_cpu();
    let found = attempt(rng, || detector.detect(&step));
    // The same detector, into an old list.
    let mut again = Collisions::default();
    let into = attempt(rng, || detector.detect_into(&step, &mut again));
    match (&found, into) {
        (Ok(found), Ok(())) => {
            assert_eq!((&again.pairs, &again.walls), (&found.pairs, &found.walls));
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        (one, other) => panic!("{one:?} and {other:?}"),
    }
    check(&step, found.as_ref(), rng, tally);
    tally.note(found);
}

pub(crate) fn detect_in_float64(rng: &mut Rng, tally: &mut Tally) {
    let rarity = rarity(rng);
    let spheres = hard_spheres(rng, rarity);
    let domain = domain(rng, rarity);
    let step: Step<'_, Spheres<'_, f64>> = Step::new(&*spheres, duration(rng, rarity));
    let step = step.in_domain(&domain);
    let found = attempt(rng, || on_cpu().detect(&step));
    check(&step, found.as_ref(), rng, tally);
    tally.note(found);
}

/// A neighbour list has the pairs that spheres at rest with half the cutoff as radius have.
pub(crate) fn neighbors(rng: &mut Rng, tally: &mut Tally) {
    let rarity = rarity(rng);
    let mut spheres = spheres(rng, rarity);
    let domain = domain(rng, rarity);
    let cutoff = f32::from(rng.u8(..40)) / 4.0;
    let mut detector = on_cpu();
    let search = NeighborSearch::within(&*spheres, cutoff).in_domain(&domain);
    let found = attempt(rng, || detector.find_neighbors(&search));
    let Some(list) = tally.note(found) else {
        return;
    };
    let pairs: Vec<_> = list
        .pairs()
        .iter_with_images()
        .map(|(pair, image)| (*pair, image))
        .collect();
    for sphere in &mut spheres {
        (sphere.radius, sphere.velocity) = (0.5 * cutoff, [0.0; 3]);
    }
    let step = Step::new(&spheres, 0.0).in_domain(&domain);
    if let Some(touching) = tally.note(detector.detect(&step)) {
        let touching = touching.pairs.iter_with_images();
        let touching: Vec<_> = touching
            .map(|(hit, image)| ([hit.a, hit.b], image))
            .collect();
        assert_eq!(pairs, touching);
    }
}

/// Compares the GPU backend with the CPU. Each may have limits of its own.
pub(crate) fn detect_twice(rng: &mut Rng, tally: &mut Tally) {
    static GPU: OnceLock<Mutex<Detector>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| {
        let detector = Detector::new(options().with_backend(Backend::Gpu));
        Mutex::new(detector.expect("this test needs a graphics adapter"))
    });
    let rarity = rarity(rng);
    let spheres = spheres(rng, rarity);
    let domain = domain(rng, rarity);
    let step = Step::new(&spheres, duration(rng, rarity) as f32).in_domain(&domain);
    let found = on_cpu().detect(&step);
    let on_gpu = gpu.lock().expect("no test has panicked").detect(&step);
    match (&found, &on_gpu) {
        (Ok(found), Ok(on_gpu)) => assert_eq!(found.pairs, on_gpu.pairs),
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => assert!(is_limit(error), "{error}"),
        (Err(_), Err(_)) => {}
    }
    tally.note(found);
    tally.note(on_gpu);
}

/// A device of an application is lost between two calls. It computes nothing, so no list may be returned.
pub(crate) fn lose_a_device(rng: &mut Rng, tally: &mut Tally) {
    let device = Device::noop(&wgpu::DeviceDescriptor::default());
    let lost = rng.u8(..5);
    let lose = |at: u8| {
        if at == lost {
            device.device.destroy();
        }
    };
    let spheres = spheres(rng, u32::MAX);
    let step = Step::new(&spheres, 1.0);
    lose(0);
    let Some(pipeline) = tally.note(CollisionPipeline::new(&device.device)) else {
        return;
    };
    lose(1);
    let made = pipeline.create_buffers(&BufferOptions::new(rng.u32(1..30)));
    let Some(mut buffers) = tally.note(made) else {
        return;
    };
    for _ in 0..2 {
        lose(2);
        let mut encoder = device.encoder();
        if tally.note(buffers.record(&mut encoder, &step)).is_none() {
            continue;
        }
        lose(3);
        let Some(mut ticket) = tally.note(buffers.read_exact(&mut encoder)) else {
            continue;
        };
        device.queue.submit([encoder.finish()]);
        lose(4);
        let _ = device.device.poll(wgpu::PollType::wait_indefinitely());
        let taken = ticket.try_take();
        assert!(!matches!(taken, Ok(Some(_))), "nothing was computed");
        tally.note(taken);
    }
}
