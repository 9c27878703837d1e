//! Tests of the GPU backend of `Detector`, with access to its internal buffers.

#[path = "../../../tests/worlds/mod.rs"]
mod hard;

use super::super::filter_on_gpu::adapter as gpu;
use super::*;
use crate::Sphere;
use crate::blocking::block_on;
use crate::cpu::measure;
use crate::cpu::plan::plan;
use crate::gpu::device::shader::layout::{Counters, GpuPlan, GpuSegment, GpuSizeClass, GpuSpace};
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::shared::tag::SEGMENT_BITS;
use crate::shared::units::Units;
use crate::step::UncheckedStep;

const LIMITS: Limits = Limits {
    candidates: 1 << 34,
    pairs: 1 << 28,
};

/// Returns `count` spheres of equal size at random places in a cube. Most of the spheres are slow.
/// Every fiftieth sphere moves by up to the edge of the cube along each axis.
fn world(count: usize) -> Vec<Sphere> {
    let mut rng = fastrand::Rng::with_seed(7);
    let side = (count as f32 * 10.0).cbrt();
    let mut place = |scale: f32| [0; 3].map(|_| rng.f32() * scale);
    (0..count)
        .map(|i| {
            let speed = if i % 50 == 0 { side } else { 0.5 };
            Sphere::new(place(side), 0.5).with_velocity(place(speed))
        })
        .collect()
}

fn pairs((_, found): &(StepOutcome, Vec<Collision>)) -> Vec<(u32, u32)> {
    found.iter().map(|pair| (pair.a, pair.b)).collect()
}

fn find(gpu: &mut Gpu, step: UncheckedStep<'_>) -> Result<(StepOutcome, Vec<Collision>), Error> {
    let (mut pairs, mut images) = (Vec::new(), Vec::new());
    let found = gpu.run(step, LIMITS, Wait::Block, &mut pairs, &mut images);
    let outcome = block_on(found)?;
    Ok((outcome, pairs))
}

fn run(gpu: &mut Gpu, spheres: &[Sphere]) -> (StepOutcome, Vec<Collision>) {
    let step = UncheckedStep {
        enclosing: false,
        spheres,
        sets: Sets::One,
        dt: 1.0,
        domain: carom::Domain::open(),
    };
    find(gpu, step).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn fresh_buffers_full_of_noise_give_the_same_list() {
    let spheres = world(5000);
    let expected = pairs(&run(&mut gpu(), &spheres));
    assert!(expected.len() > 1000);
    for mut gpu in [gpu(), gpu().deciding()] {
        for seed in 0..3 {
            gpu.buffers = None;
            gpu.noise = Some(seed);
            assert_eq!(pairs(&run(&mut gpu, &spheres)), expected);
        }
    }
}

#[test]
fn a_first_capacity_of_one_still_gives_the_full_list() {
    let spheres = world(5000);
    let expected = run(&mut gpu(), &spheres);
    assert!(
        expected.0.proxies > 5000 + 1,
        "no sphere is cut into segments"
    );
    let mut gpu = gpu().with_first_capacities(Some(1), Some(1));
    assert_eq!(pairs(&run(&mut gpu, &spheres)), pairs(&expected));
    let grown = gpu.buffers.as_ref().map(CollisionBuffers::capacity);
    assert!(grown.is_some_and(|capacity| capacity.pairs > 1 && capacity.segments > 1));
}

#[test]
fn dispatches_wider_than_an_axis_are_folded() {
    let spheres = world(5000);
    let mut gpu = gpu();
    let expected = pairs(&run(&mut gpu, &spheres));
    for widest in [9, 13, 30] {
        gpu.limits().max_compute_workgroups_per_dimension = widest;
        assert_eq!(
            pairs(&run(&mut gpu, &spheres)),
            expected,
            "at most {} an axis",
            widest
        );
    }
}

fn contents<T: bytemuck::Pod>(gpu: &Gpu, name: &str) -> Vec<T> {
    let Some(buffers) = &gpu.buffers else {
        panic!("carom has not created its buffers");
    };
    let named = &buffers.buffers.named;
    let buffer = (named.buffer(name)).unwrap_or_else(|error| panic!("{error}"));
    let mut read = Vec::new();
    let part = (buffer, 0, buffer.size());
    read_now::read(
        &gpu.device,
        &gpu.queue,
        encoder(&gpu.device),
        &[part],
        &mut read,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    read
}

/// Returns spheres of so many different sizes that the hash table of sizes in the workgroup memory
/// of the shader `measure_sizes` overflows.
fn of_all_sizes(count: usize) -> Vec<Sphere> {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut place = || [0; 3].map(|_| rng.f32() * 100.0 - 50.0);
    (0..count)
        .map(|i| {
            let radius = 1e-6 * ((i * 37 % 60) as f32 * 0.5).exp2();
            let velocity = place().map(|x| x * ((i % 7) as f32 - 6.0).exp2());
            Sphere::new(place(), radius).with_velocity(velocity)
        })
        .collect()
}

/// Returns random spheres. The spheres with an index in `bullets` are fast: they move by `far`
/// along x, and by `0.25 * far` and `-0.5 * far` along y and z.
fn with_bullets(bullets: std::ops::Range<usize>, far: f32) -> Vec<Sphere> {
    let mut spheres = world(3000);
    for sphere in &mut spheres[bullets] {
        sphere.velocity = [far, 0.25 * far, -0.5 * far];
    }
    spheres
}

#[test]
fn every_sphere_is_in_the_histogram_and_has_its_segments_and_a_level() {
    let worlds = [
        ("a gas", world(5000), 0),
        ("a gas of two sets", world(5000), 1234),
        ("sixty sizes", of_all_sizes(3000), 0),
        ("sixty sizes in two sets", of_all_sizes(3000), 700),
        (
            "most segments a sphere can have",
            with_bullets(600..603, 1e7),
            0,
        ),
        ("a workgroup of bullets", with_bullets(256..512, 2000.0), 0),
        ("one sphere", world(1), 0),
    ];
    let mut gpu = gpu();
    gpu.noise = Some(1);
    for (name, spheres, split) in worlds {
        gpu.buffers = None;
        let sets = match split {
            0 => Sets::One,
            first => Sets::Two { first },
        };
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets,
            dt: 1.0,
            domain: carom::Domain::open(),
        };
        find(&mut gpu, step).unwrap_or_else(|error| panic!("{name}: {error}"));

        // The CPU computes which size classes and time segments the GPU should have found. It uses
        // the length of a segment and the moving origin that the GPU has chosen.
        let own: GpuSpace = contents(&gpu, "space")[0];
        let scale = &Units::default().scale(1.0);
        let mut space = measure::measure_space(&spheres, scale, None, &mut Default::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let shortest = gpu.buffers.as_ref().map_or(0.0, |b| b.shortest_segment);
        space.segment = own.segment.max(shortest);
        space.frame.origin = own.frame.origin.into();
        space.frame.drift = own.frame.drift.into();
        space.trimmed = [own.trimmed_low, own.trimmed_high].map(Into::into);
        let mut kept = measure::SizesMemory::default();
        let sizes = measure::measure_sizes(&spheres, scale, &space, None, sets, &mut kept)
            .unwrap_or_else(|error| panic!("{name}: {error}"));

        let class_of: Vec<u32> = contents(&gpu, "size_class_of_sphere");
        let expected: Vec<u32> = sizes.class_of.iter().map(|&class| class.into()).collect();
        assert!(
            class_of[..spheres.len()] == expected,
            "{name}: other size classes"
        );

        let classes: Vec<GpuSizeClass> = contents(&gpu, "size_classes");
        let counters: Counters = contents(&gpu, "counters")[0];
        let mut used = vec![0; counters.used.len()];
        for (number, expected) in sizes.classes {
            used[number / 32] |= 1_u32 << (number % 32);
            let class = &classes[*number];
            assert_eq!(
                (class.count, class.inside),
                (expected.count, expected.inside),
                "{name}, size class {number}"
            );
            let close = |found: f32, expected: f32| {
                assert!(
                    (found - expected).abs() <= 1e-5 * expected.abs().max(1e-3),
                    "{name}, size class {number}: {found} is not {expected}"
                );
            };
            close(f32::from_bits(class.half_cell), expected.half_cell);
            // The GPU stores the bounds of the spheres' positions as unsigned integers in the order
            // of the float32 values. The integer has the bits of the float32. The sign bit is
            // flipped for a positive number, and all bits for a negative one.
            let float = |word: u32| match word >> 31 {
                1 => f32::from_bits(word & 0x7fff_ffff),
                _ => f32::from_bits(!word),
            };
            for axis in 0..3 {
                close(-float(class.low[axis]), expected.bounds[0][axis]);
                close(float(class.high[axis]), expected.bounds[1][axis]);
            }
        }
        let total: u64 = classes.iter().map(|class| u64::from(class.count)).sum();
        let proxies = spheres.len() + sizes.segments.len();
        assert_eq!(total, proxies as u64, "{name}: more size classes");
        assert!(counters.used[..] == used, "{name}: other bits");
        if name.starts_with("most segments") {
            assert!(proxies > 3 << SEGMENT_BITS, "{name}: {proxies} proxies");
        }

        // The CPU computes which grids the GPU should have chosen. It uses the distribution of the
        // distances between spheres that the GPU has measured.
        space.log_others = own.log_others;
        let (slots, mut level_of_class) = (gpu.size().0 as u32, ReusedVec::default());
        let expected = plan(&space, sizes.classes, sets, slots, &mut level_of_class);
        let own: GpuPlan = contents(&gpu, "plan")[0];
        assert_eq!(own.levels as usize, expected.levels.len(), "{name}");
        for &(number, _) in sizes.classes {
            let level = u32::from(expected.level_of_class[number]);
            assert_eq!(
                own.level_of_size_class[number], level,
                "{name}, size class {number}"
            );
        }

        let segments: Vec<GpuSegment> = contents(&gpu, "segments");
        let further = sizes.segments.len();
        let found = segments[..further].iter();
        let mut found: Vec<_> = found.map(|own| (own.sphere, own.number)).collect();
        found.sort_unstable();
        let expected = sizes.segments.iter();
        let mut expected: Vec<_> = expected.map(|own| (own.sphere, own.number)).collect();
        expected.sort_unstable();
        assert_eq!(counters.segments, [further as u32, 0], "{name}");
        assert!(found == expected, "{name}: other segments");
    }
}

#[test]
fn a_dispatch_of_more_workgroups_than_an_axis_allows_finds_all_pairs() {
    // The 2²² spheres of this test are more than the invocations of the largest dispatch along one
    // axis, which are 65 535 workgroups of 64. The buffer of the spheres, at 32 bytes each, takes
    // 128 MiB, the largest buffer binding in wgpu's default limits.
    let count = 1 << 22;
    let spheres: Vec<Sphere> = (0..count)
        .map(|i: u32| {
            Sphere::new(
                [(i % 2048) as f32, (i / 2048) as f32, 0.0],
                if i % 1000 == 1 { 0.6 } else { 0.45 },
            )
        })
        .collect();
    let found = pairs(&run(&mut gpu(), &spheres));
    let in_reach = |i: u32| {
        // In the square grid of spheres, a large sphere touches its neighbours in the same row and
        // in the same column.
        let (x, y) = (i % 2048, i / 2048);
        [
            (x > 0).then(|| i - 1),
            (x < 2047 && i + 1 < count).then(|| i + 1),
            (y > 0).then(|| i - 2048),
            (i + 2048 < count).then(|| i + 2048),
        ]
    };
    let mut expected: Vec<(u32, u32)> = (0..count)
        .filter(|i| i % 1000 == 1)
        .flat_map(|i| {
            in_reach(i)
                .into_iter()
                .flatten()
                .map(move |j| (i.min(j), i.max(j)))
        })
        .collect();
    expected.sort_unstable();
    expected.dedup();
    assert!(
        found == expected,
        "{} pairs, not {}",
        found.len(),
        expected.len()
    );
}

/// Returns the complete result of a step: the pairs with the bits of their times and depths, and their images.
fn full(gpu: &mut Gpu, step: &UncheckedStep<'_>) -> (Vec<[u32; 4]>, Vec<[i32; 3]>, u64) {
    let (mut pairs, mut images) = (Vec::new(), Vec::new());
    let found = block_on(gpu.run(*step, LIMITS, Wait::Block, &mut pairs, &mut images));
    let outcome = found.unwrap_or_else(|error| panic!("{error}"));
    let bits = |pair: &Collision| [pair.a, pair.b, pair.toi.to_bits(), pair.depth.to_bits()];
    (
        pairs.iter().map(bits).collect(),
        images,
        outcome.grazing.all,
    )
}

/// Tests a detector whose device decides the pairs, as on hardware, beside one whose host decides them.
#[test]
fn a_device_that_decides_gives_the_list_of_a_host_that_decides() {
    let mut host = gpu();
    host.decides = false;
    let mut device = gpu().deciding();
    let cell = |edges| carom::Domain::triclinic([-3.0, 1.0, 2.0], edges);
    let skewed = cell([[17.0, 0.0, 0.0], [5.5, 16.0, 0.0], [-4.0, 3.25, 19.0]]);
    let domains = [
        carom::Domain::open(),
        skewed,
        skewed.with_periodic([true, false, true]),
    ];
    let mut worlds = hard::all(700, 3);
    worlds.push(("a gas with bullets", world(4000), 1.0));
    let touching =
        |i: usize| Sphere::new([0, 1, 2].map(|k| (i / 10_usize.pow(k) % 10) as f32), 0.5);
    worlds.push(("a lattice", (0..1000).map(touching).collect(), 1.0));
    let (mut listed, mut open) = (0, 0);
    for (name, spheres, dt) in &worlds {
        for split in [0, spheres.len() / 3] {
            let sets = match split {
                0 => Sets::One,
                first => Sets::Two { first },
            };
            let step = UncheckedStep {
                enclosing: false,
                spheres,
                sets,
                dt: *dt,
                domain: carom::Domain::open(),
            };
            let [expected, found] = [&mut host, &mut device].map(|gpu| full(gpu, &step));
            assert!(
                found.0 == expected.0,
                "{name}: other pairs, times or depths"
            );
            listed += found.0.len();
            open += found.2;
        }
    }
    println!("{listed} pairs, {open} open");
    assert!(listed > 50_000);
    for domain in domains {
        let spheres: Vec<Sphere> = world(2000);
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets: Sets::One,
            dt: 0.25,
            domain,
        };
        let [expected, found] = [&mut host, &mut device].map(|gpu| full(gpu, &step));
        assert!(found.0.len() > 300);
        assert!(found.0 == expected.0 && found.1 == expected.1, "{domain:?}");
    }
}

/// The device gets the radius and the groups once if all spheres have the same.
#[test]
fn what_all_spheres_share_is_not_uploaded_for_each() {
    // More than one part that threads write.
    let mut alike = world(9000);
    alike.iter_mut().for_each(|sphere| sphere.groups = 5);
    let (mut larger, mut other) = (alike.clone(), alike.clone());
    larger[5000].radius = 0.75;
    other[8999].groups = 5 << 16 | 5;
    let open = carom::Domain::open();
    let cell = carom::Domain::rectangular([1.0; 3], [45.0; 3]);
    let (mut host, mut device) = (gpu(), gpu().deciding());
    for (spheres, first, domain, is_compact) in [
        (&alike, 0, open, true),
        (&alike, 3000, cell, true),
        (&alike[..3].to_vec(), 1, open, true),
        (&larger, 0, open, false),
        (&other, 3000, open, false),
    ] {
        let step = UncheckedStep {
            enclosing: false,
            spheres,
            sets: match first {
                0 => Sets::One,
                first => Sets::Two { first },
            },
            dt: 0.5,
            domain,
        };
        device.buffers = None;
        // The second step follows one of the same kind.
        for _ in 0..2 {
            let [found, expected] = [&mut device, &mut host].map(|gpu| full(gpu, &step));
            assert!(found.0 == expected.0 && found.1 == expected.1, "{first}");
            assert!(found.0.len() > 500 || spheres.len() < 10);
            let recorded = device.buffers.as_ref().and_then(|b| b.recorded.as_ref());
            let loads = recorded.is_some_and(|recorded| recorded.stages.contains(&"load"));
            assert_eq!(loads, is_compact);
        }
    }
    device.buffers = None;
    for index in [3, 8500] {
        let mut spheres = alike.clone();
        spheres[index].center[1] = f32::NAN;
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets: Sets::One,
            dt: 0.5,
            domain: open,
        };
        let refused = find(&mut device, step).map(|_| ());
        assert!(
            matches!(refused, Err(Error::InvalidSphere { index: at, .. }) if at == index),
            "{refused:?}"
        );
    }
}

/// The first pairs arrive together with the counts of a step, and the others in a further readback.
#[test]
fn a_list_is_complete_whatever_part_of_it_arrives_with_its_counts() {
    let skewed = carom::Domain::rectangular([0.0; 3], [37.0; 3]);
    let worlds = [
        (world(5000), carom::Domain::open()),
        (world(5000), skewed),
        // There are more pairs than spheres.
        (lattice(9, 0.75), carom::Domain::open()),
        (lattice(9, 0.75), skewed),
    ];
    let (mut host, mut device) = (gpu(), gpu().deciding());
    for (spheres, domain) in worlds {
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets: Sets::One,
            dt: 0.5,
            domain,
        };
        let expected = full(&mut host, &step);
        assert!(expected.0.len() > 1000);
        for gpu in [&mut host, &mut device] {
            gpu.buffers = None;
            for at_once in [600, READ_AT_ONCE] {
                gpu.at_once = at_once;
                for ahead in [0, 1, 999, spheres.len() + 5, usize::MAX] {
                    gpu.ahead = ahead;
                    gpu.traffic.clear();
                    let found = full(gpu, &step);
                    assert!(found.0 == expected.0 && found.1 == expected.1, "{ahead}");
                    assert!(gpu.ahead >= found.0.len());
                    assert!(gpu.staging.len() <= MOST_PARTS);
                    let parts = gpu.traffic.len();
                    assert!(at_once > 600 || parts > found.0.len() / 80, "{parts} parts");
                }
            }
        }
    }
}

#[test]
fn after_a_wrong_pair_the_host_decides_all_pairs_of_a_device() {
    let spheres = world(5000);
    let step = UncheckedStep {
        enclosing: false,
        spheres: &spheres,
        sets: Sets::One,
        dt: 1.0,
        domain: carom::Domain::open(),
    };
    let expected = full(&mut gpu(), &step).0;
    let mut device = gpu().deciding();
    device.spoils = true;
    device.checks = false;
    assert!(full(&mut device, &step).0 != expected && device.decides);
    device.checks = true;
    assert!(full(&mut device, &step).0 == expected && !device.decides);
    assert!(!device.pipeline.kernels.trust.is_right());
}

/// Returns one large sphere for each number, which touches that many small spheres with greater indices.
fn stars(numbers: &[usize]) -> Vec<Sphere> {
    let mut spheres = Vec::new();
    for (star, &number) in numbers.iter().enumerate() {
        let x = 100.0 * star as f32;
        spheres.push(Sphere::new([x, 0.0, 0.0], 20.0));
        let small = |k: usize| Sphere::new([x, (k % 32) as f32 * 0.5, (k / 32) as f32 * 0.25], 0.1);
        spheres.extend((0..number).map(small));
    }
    spheres
}

fn lattice(edge: usize, radius: f32) -> Vec<Sphere> {
    let at = |i: usize| [0, 1, 2].map(|k| (i / edge.pow(k) % edge) as f32);
    (0..edge.pow(3))
        .map(|i| Sphere::new(at(i), radius))
        .collect()
}

#[test]
fn a_device_sends_its_pairs_in_order_and_in_few_bytes() {
    let cell = carom::Domain::rectangular([0.0; 3], [12.0; 3]);
    let worlds = [
        (
            "fewer pairs than spheres",
            lattice(12, 0.2),
            carom::Domain::open(),
        ),
        (
            "short rows",
            stars(&[1, 0, 2, 127, 128]),
            carom::Domain::open(),
        ),
        (
            "more pairs than spheres",
            lattice(12, 0.75),
            carom::Domain::open(),
        ),
        (
            "more pairs than spheres, with images",
            lattice(12, 0.75),
            cell,
        ),
        (
            "several images of each pair",
            lattice(3, 1.25),
            carom::Domain::rectangular([0.0; 3], [3.0; 3]),
        ),
    ];
    let (mut host, mut device) = (gpu(), gpu().deciding());
    for (name, mut spheres, domain) in worlds {
        if name.starts_with("fewer") {
            let far = |sphere: &Sphere| Sphere::new(sphere.center.map(|x| x + 0.3), 0.4);
            let others: Vec<_> = spheres.iter().step_by(2).map(far).collect();
            spheres.extend(others);
        }
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets: Sets::One,
            dt: 1.0,
            domain,
        };
        let expected = full(&mut host, &step);
        device.buffers = None;
        device.ahead = FIRST_AHEAD;
        full(&mut device, &step);
        let ahead = device.ahead;
        device.traffic.clear();
        let found = full(&mut device, &step);
        assert!(found.0 == expected.0 && found.1 == expected.1, "{name}");

        let count = found.0.len();
        let short = Form::new(true, ahead, spheres.len()).short;
        assert_eq!(short, !name.starts_with("fewer"), "{name}: {count} pairs");
        let image = if domain.is_open() { 0 } else { 4 };
        let least = match short {
            true => (8 + image) * ahead + 4 * spheres.len(),
            false => (12 + image) * ahead,
        };
        assert!(matches!(device.traffic[..], [bytes] if (least..least + 1024).contains(&bytes)));

        let records: Vec<u32> = contents(&device, "records");
        let sent: Vec<[u32; 2]> = match short {
            true => {
                let ends: Vec<u32> = contents(&device, "row_ends");
                let rows = (0..).zip(&ends[..spheres.len()]);
                let mut begin = 0;
                let rows = rows.flat_map(|(a, &end)| {
                    let row = begin as usize..end as usize;
                    begin = end;
                    row.map(move |at| (a, at))
                });
                rows.map(|(a, at)| [a, records[2 * at]]).collect()
            }
            false => (0..count)
                .map(|at| [records[3 * at], records[3 * at + 1]])
                .collect(),
        };
        let listed: Vec<[u32; 2]> = found.0.iter().map(|&[a, b, ..]| [a, b]).collect();
        assert!(sent == listed, "{name}: another order");
        if !domain.is_open() {
            let images: Vec<u32> = contents(&device, "pair_images");
            let images = images[..count].iter().map(|&word| unpacked_image(word));
            assert!(images.eq(found.1), "{name}: another order of images");
        }
    }
}

#[test]
fn rows_of_any_length_are_sorted() {
    let spheres = stars(&[129, 3, 1500, 128, 130]);
    let (mut host, mut device) = (gpu(), gpu().deciding());
    for domain in [
        carom::Domain::open(),
        carom::Domain::rectangular([0.0; 3], [600.0; 3]),
    ] {
        let step = UncheckedStep {
            enclosing: false,
            spheres: &spheres,
            sets: Sets::One,
            dt: 1.0,
            domain,
        };
        let expected = full(&mut host, &step);
        assert_eq!(expected.0.len(), 129 + 3 + 1500 + 128 + 130);
        let found = full(&mut device, &step);
        assert!(found.0 == expected.0 && found.1 == expected.1);
    }
}
