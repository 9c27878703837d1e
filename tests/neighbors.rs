//! Tests of neighbour lists, against exact arithmetic on all pairs of particles and their periodic copies
//! (images).

use std::error::Error;
use std::ops::RangeInclusive;
use std::sync::Once;

use carom::{Backend, Detector, Domain, NeighborList, NeighborSearch, Options, Sphere};
use fastrand::Rng;
use rayon::ThreadPoolBuilder;

type Test = Result<(), Box<dyn Error>>;

/// Returns a detector on the CPU. rayon's global pool has two threads, whatever the machine has.
fn detector() -> Result<Detector, carom::Error> {
    static POOL: Once = Once::new();
    POOL.call_once(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build_global();
        pool.expect("no other global pool exists");
    });
    Detector::new(Options::new().with_backend(Backend::Cpu))
}

/// An entry of a neighbour list: the indices of particles i and j, the periodic copy of j, the vector from i
/// to this copy, and the square of its length.
type Entry = ([u32; 2], [i32; 3], [f32; 3], f64);

/// All corners, positions and cutoffs of these tests are multiples of 1/8. So sums and squares are
/// exact in float64.
struct World {
    spheres: Vec<Sphere>,
    domain: Domain,
}

impl World {
    fn random(rng: &mut Rng) -> Self {
        let mut edges = [[0.0; 3]; 3];
        for (k, edge) in edges.iter_mut().enumerate() {
            edge[k] = eighths(rng, 4..=40);
        }
        if rng.bool() {
            edges[1][0] = eighths(rng, -30..=30);
            edges[2][0] = eighths(rng, -30..=30);
            edges[2][1] = eighths(rng, -30..=30);
        }
        let periodic = [0; 3].map(|_| rng.u8(0..4) > 0);
        let corner = [0; 3].map(|_| eighths(rng, -20..=20));
        let domain = Domain::triclinic(corner, edges).with_periodic(periodic);
        let sphere = |_| {
            let center = [0; 3].map(|_| eighths(rng, -60..=60));
            Sphere::new(center, eighths(rng, 0..=8)).with_velocity([eighths(rng, -9..=9); 3])
        };
        let spheres = (0..12).map(sphere).collect();
        Self { spheres, domain }
    }

    /// Returns the entries of the full neighbour list. Two particles are neighbours if their distance is at
    /// most the result of `reach` for them.
    fn entries(&self, reach: impl Fn(&Sphere, &Sphere) -> f64) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (i, one) in (0..).zip(&self.spheres) {
            for (j, other) in (0..).zip(&self.spheres) {
                let reach = reach(one, other);
                for n3 in self.images(2, one, other, [0, 0], reach) {
                    for n2 in self.images(1, one, other, [0, n3], reach) {
                        for n1 in self.images(0, one, other, [n2, n3], reach) {
                            let image = [n1, n2, n3];
                            let vector = self.vector(one, other, image);
                            let square: f64 = vector.iter().map(|x| x * x).sum();
                            if square <= reach * reach && (i, [0; 3]) != (j, image) {
                                #[allow(clippy::cast_possible_truncation, reason = "it is exact")]
                                let vector = vector.map(|x| x as f32);
                                entries.push(([i, j], image, vector, square));
                            }
                        }
                    }
                }
            }
        }
        entries.sort_by_key(|&(pair, image, ..)| (pair, image));
        entries
    }

    /// Returns a range of multiples n of edge k of the periodic cell. A copy of the particle
    /// `other` is displaced by n times edge k. The range has every n for which the copy is at most
    /// `reach` away from the particle `one` along axis k. `later` has the multiples of the edges
    /// after k by which the copy is also displaced. The edges before k do not matter, because they
    /// have no component along axis k.
    fn images(
        &self,
        k: usize,
        one: &Sphere,
        other: &Sphere,
        later: [i32; 2],
        reach: f64,
    ) -> RangeInclusive<i32> {
        if !self.domain.periodic()[k] {
            return 0..=0;
        }
        let distance = self.vector(one, other, [0, later[0], later[1]])[k];
        let edge = self.domain.edges()[k][k];
        // Each end of the range is a distance divided by a periodic edge. This quotient is rounded, so the
        // range of integers is extended by 1 at each end.
        #[allow(clippy::cast_possible_truncation, reason = "the numbers are small")]
        let [first, last] =
            [-reach - distance, reach - distance].map(|x| (x / edge).floor() as i32);
        first - 1..=last + 1
    }

    fn vector(&self, one: &Sphere, other: &Sphere, image: [i32; 3]) -> [f64; 3] {
        let shift = self.domain.displacement(image);
        [0, 1, 2].map(|k| f64::from(other.center[k]) - f64::from(one.center[k]) + shift[k])
    }
}

fn eighths(rng: &mut Rng, range: RangeInclusive<i16>) -> f32 {
    f32::from(rng.i16(range)) / 8.0
}

fn is_in_half(&([i, j], image, ..): &Entry) -> bool {
    i < j || (i == j && image > [0; 3])
}

/// Fails unless a neighbour list has exactly the expected entries, in order. The entries of each particle
/// must be one row: a contiguous range.
fn check(list: &NeighborList, world: &World, expected: &[Entry]) {
    let images = if world.domain.is_open() {
        vec![[0; 3]; list.pairs().len()]
    } else {
        list.pairs().images().to_vec()
    };
    assert_eq!(
        list.pairs().images().is_empty(),
        world.domain.is_open() || list.pairs().is_empty()
    );
    let of = |&(pair, image, vector, _): &Entry| (pair, image, vector);
    let found: Vec<_> = (list.pairs().iter().zip(&images).zip(list.vectors()))
        .map(|((&pair, &image), &vector)| (pair, image, vector))
        .collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(*found, of(expected));
    }
    assert_eq!(list.distances().len(), expected.len());
    for (&distance, &(.., square)) in list.distances().iter().zip(expected) {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the nearest float32 is expected"
        )]
        let nearest = square.sqrt() as f32;
        assert_eq!(distance, nearest);
    }
    let mut end = 0;
    for (i, _) in (0..).zip(&world.spheres) {
        let row = list.row(i);
        assert_eq!(row.start, end);
        end = row.end;
        assert!(list.pairs()[row].iter().all(|pair| pair[0] as usize == i));
    }
    assert_eq!(end, expected.len());
    assert!(list.row(world.spheres.len()).is_empty() && list.row(usize::MAX).is_empty());
}

#[test]
fn lists_have_all_pairs_within_the_cutoff() -> Test {
    let mut rng = Rng::with_seed(5);
    let mut detector = detector()?;
    let (mut list, mut ties, mut own) = (NeighborList::default(), 0, 0);
    for _ in 0..400 {
        let world = World::random(&mut rng);
        let cutoff = eighths(&mut rng, 0..=24);
        let full = world.entries(|_, _| f64::from(cutoff));
        let search = NeighborSearch::within(&world.spheres, cutoff).in_domain(&world.domain);
        detector.find_neighbors_into(&search.full(), &mut list)?;
        check(&list, &world, &full);
        let half: Vec<Entry> = full.into_iter().filter(is_in_half).collect();
        detector.find_neighbors_into(&search, &mut list)?;
        check(&list, &world, &half);
        assert_eq!(list.statistics().spheres, world.spheres.len() as u64);
        let square = f64::from(cutoff).powi(2);
        ties += half.iter().filter(|entry| entry.3 == square).count();
        own += half.iter().filter(|entry| entry.0[0] == entry.0[1]).count();
    }
    // The random worlds must have pairs exactly at the cutoff, and particles that are neighbours of their own
    // periodic copies.
    assert!(ties > 100 && own > 100, "{ties} {own}");
    Ok(())
}

#[test]
fn radii_and_skin_extend_the_reach() -> Test {
    let mut rng = Rng::with_seed(6);
    let mut detector = detector()?;
    for _ in 0..200 {
        let world = World::random(&mut rng);
        let skin = eighths(&mut rng, 0..=8);
        let sum = |one: &Sphere, other: &Sphere| f64::from(one.radius + other.radius + skin);
        let search = NeighborSearch::touching(&world.spheres).in_domain(&world.domain);
        let list = detector.find_neighbors(&search.with_skin(skin).full())?;
        check(&list, &world, &world.entries(sum));
        let cutoff = eighths(&mut rng, 0..=16);
        let search = NeighborSearch::within(&world.spheres, cutoff).in_domain(&world.domain);
        let list = detector.find_neighbors(&search.with_skin(skin).full())?;
        check(
            &list,
            &world,
            &world.entries(|_, _| f64::from(cutoff + skin)),
        );
    }
    Ok(())
}

#[test]
fn a_skin_that_float32_would_round_down_is_rounded_up() -> Test {
    // The sum of cutoff and skin is 1 + 2⁻²⁵, which is not a float32. Rounded to the nearest float32, the sum
    // would be 1, and the pair would be lost.
    let skin = 2.0_f32.powi(-25);
    let distance = 1.0_f32.next_up();
    let particles = [0.0, distance].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    let list = detector()?.find_neighbors(&NeighborSearch::within(&particles, 1.0))?;
    assert_eq!(list.pairs().len(), 0);
    let search = NeighborSearch::within(&particles, 1.0).with_skin(skin);
    assert_eq!(detector()?.find_neighbors(&search)?.pairs()[..], [[0, 1]]);
    Ok(())
}

#[test]
fn distances_across_a_face_are_as_exact_as_others() -> Test {
    // The first particle's coordinate is so small that float64 rounds its distance from the second
    // one's periodic image to a multiple of 2⁻⁴³.
    let cutoff = 7.583_184e-8;
    let particles = [cutoff, 1000.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    let domain = Domain::rectangular([0.0; 3], [1000.0; 3]);
    let search = NeighborSearch::within(&particles, cutoff).in_domain(&domain);
    let list = detector()?.find_neighbors(&search)?;
    assert_eq!(
        (list.vectors(), list.distances()),
        (&[[-cutoff, 0.0, 0.0]][..], &[cutoff][..])
    );
    Ok(())
}

#[test]
fn invalid_radii_are_errors_with_a_skin_too() -> Test {
    let particles = [(-1.0, 0.0), (0.5, 2.0)].map(|(r, x)| Sphere::new([x, 0.0, 0.0], r));
    let search = NeighborSearch::touching(&particles).with_skin(4.0);
    let error = detector()?
        .find_neighbors(&search)
        .err()
        .ok_or("the radius is valid")?;
    assert!(
        error.to_string().contains("sphere 0: radius is -1.0"),
        "{error}"
    );
    Ok(())
}

#[test]
fn pairs_that_groups_leave_out_are_no_neighbors() -> Test {
    let at = |x: f32| Sphere::new([x, 0.0, 0.0], 0.0);
    let mut particles = [
        at(0.0).with_groups(1, 1),
        at(1.0).with_groups(1, 1),
        at(2.0),
    ];
    let mut list = detector()?.find_neighbors(&NeighborSearch::within(&particles, 1.0))?;
    assert_eq!(list.pairs()[..], [[1, 2]]);
    particles[0].groups = 0;
    assert!(!list.update(&NeighborSearch::within(&particles, 1.0)));
    Ok(())
}

#[test]
fn a_list_is_valid_until_a_particle_has_moved_by_half_the_skin() -> Test {
    let particles = [0.0, 1.5, 4.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    let domain = Domain::rectangular([0.0; 3], [8.0; 3]);
    let lower = Domain::rectangular([0.0; 3], [8.0, 8.0, 6.0]);
    let open_above = domain.with_periodic([true, true, false]);
    let search = NeighborSearch::within(&particles, 2.0)
        .in_domain(&domain)
        .with_skin(0.5);
    let list = detector()?.find_neighbors(&search)?;
    assert_eq!(list.pairs()[..], [[0, 1], [1, 2]]);
    assert!(list.is_valid_for(&search));
    let moved = |k: usize, by: [f32; 3]| {
        let mut particles = particles;
        (0..3).for_each(|axis| particles[k].center[axis] += by[axis]);
        list.is_valid_for(
            &NeighborSearch::within(&particles, 2.0)
                .in_domain(&domain)
                .with_skin(0.5),
        )
    };
    for (by, valid) in [
        ([0.249, 0.0, 0.0], true),
        ([0.0, 0.25_f32.next_up(), 0.0], false),
        ([0.1, -0.1, 0.1], true),
        ([0.15, 0.15, -0.15], false),
        ([8.0, 0.0, 0.0], true),
        ([8.3, 0.0, 0.0], false),
        ([-8.0, 16.0, 0.2], true),
        ([f32::NAN, 0.0, 0.0], false),
        ([f32::INFINITY, 0.0, 0.0], false),
    ] {
        for k in 0..3 {
            assert_eq!(moved(k, by), valid, "{by:?} of particle {k}");
        }
    }
    let others = [
        NeighborSearch::within(&particles[..2], 2.0)
            .in_domain(&domain)
            .with_skin(0.5),
        NeighborSearch::within(&particles, 2.0)
            .in_domain(&lower)
            .with_skin(0.5),
        NeighborSearch::within(&particles, 2.0)
            .in_domain(&open_above)
            .with_skin(0.5),
        NeighborSearch::within(&particles, 2.0).with_skin(0.5),
        NeighborSearch::within(&particles, 2.0)
            .in_domain(&domain)
            .with_skin(0.25),
        NeighborSearch::within(&particles, 1.0)
            .in_domain(&domain)
            .with_skin(0.5),
        NeighborSearch::touching(&particles)
            .in_domain(&domain)
            .with_skin(0.5),
        search.full(),
    ];
    for other in others {
        assert!(!list.is_valid_for(&other), "{other:?}");
    }
    // Without a skin (a margin for motion), a neighbour list is valid only as long as no particle moves.
    let search = NeighborSearch::touching(&particles);
    let list = detector()?.find_neighbors(&search)?;
    assert!(list.is_valid_for(&search));
    let mut larger = particles;
    larger[1].radius = 0.5;
    assert!(!list.is_valid_for(&NeighborSearch::touching(&larger)));
    larger = particles;
    larger[2].center[2] = 1e-30;
    assert!(!list.is_valid_for(&NeighborSearch::touching(&larger)));
    Ok(())
}

#[test]
fn a_list_is_valid_until_the_cell_has_shrunk_by_the_skin() -> Test {
    // Two pairs of particles along x. The second pair is across the edge of the cell.
    let places: [[f64; 2]; 4] = [[1.0, 0.0], [2.26, 0.0], [9.5, 5.0], [0.76, 5.0]];
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding does not matter here"
    )]
    let world = |factor: f64, shear: f64| {
        let at =
            |[x, y]: [f64; 2]| Sphere::new([(x * factor + y * shear) as f32, y as f32, 0.0], 0.0);
        let [edge, tilt] = [10.0 * factor, 10.0 * shear].map(|x| x as f32);
        let edges = [[edge, 0.0, 0.0], [tilt, 10.0, 0.0], [0.0, 0.0, 10.0]];
        (places.map(at), Domain::triclinic([0.0; 3], edges))
    };
    let (particles, domain) = world(1.0, 0.0);
    let search = NeighborSearch::within(&particles, 1.0).in_domain(&domain);
    let mut list = detector()?.find_neighbors(&search.with_skin(0.25))?;
    assert!(list.is_empty());
    // The distances are 1.26 times the factor. A new search finds two pairs up to a factor of 0.794.
    for (factor, shear, valid) in [
        (1.5, 0.0, true),
        (1.01, 0.2, true),
        (0.99, -0.2, true),
        (0.81, 0.0, true),
        (0.79, 0.0, false),
        (0.9, 0.3, false),
        (1.0, 0.6, false),
    ] {
        let (particles, domain) = world(factor, shear);
        let search = NeighborSearch::within(&particles, 1.0).in_domain(&domain);
        assert_eq!(
            list.update(&search.with_skin(0.25)),
            valid,
            "{factor} {shear}"
        );
        let found = detector()?.find_neighbors(&search)?;
        assert_eq!(found.len(), if factor < 0.794 { 2 } else { 0 });
    }
    Ok(())
}

/// Changes the shape of a world's cell a little, and carries the particles along. All numbers are multiples
/// of 1/64 afterwards.
#[allow(clippy::cast_possible_truncation, reason = "the numbers are small")]
fn deform(world: &mut World, rng: &mut Rng) {
    let round = |x: f64| ((x * 64.0).round() / 64.0) as f32;
    let old = world.domain.edges();
    let mut new = old;
    for (k, edge) in new.iter_mut().enumerate() {
        for along in &mut edge[..=k] {
            *along += f64::from(rng.i8(-1..=1)) / 64.0;
        }
    }
    let corner = world.domain.origin();
    let domain = Domain::triclinic_f64(corner, new);
    world.domain = domain.with_periodic(world.domain.periodic());
    for sphere in &mut world.spheres {
        // The edges are lower triangular.
        let mut rest = [0, 1, 2].map(|k| f64::from(sphere.center[k]) - corner[k]);
        let mut carried = corner;
        for k in [2, 1, 0] {
            let share = rest[k] / old[k][k];
            for axis in 0..3 {
                rest[axis] -= share * old[k][axis];
                carried[axis] += share * new[k][axis];
            }
        }
        sphere.center = carried.map(round);
    }
}

#[test]
fn no_pair_is_lost_while_a_list_is_valid() -> Test {
    let mut rng = Rng::with_seed(7);
    let mut detector = detector()?;
    let (cutoff, skin) = (1.0, 0.25);
    let (mut updates, mut entered, mut wraps, mut deformed) = (0, 0, 0, 0);
    for round in 0..40 {
        let mut world = World::random(&mut rng);
        let mut list = NeighborList::default();
        let (mut any_wrapped, mut is_deformed) = (false, false);
        for _ in 0..20 {
            let search = NeighborSearch::within(&world.spheres, cutoff)
                .in_domain(&world.domain)
                .with_skin(skin);
            let search = if round % 2 == 0 {
                search
            } else {
                search.full()
            };
            let old: Vec<f32> = list.distances().to_vec();
            if list.update(&search) {
                updates += 1;
                wraps += usize::from(any_wrapped);
                deformed += usize::from(is_deformed);
                let is_new = |(&old, &new): (&f32, &f32)| old > cutoff && new <= cutoff;
                entered += old
                    .iter()
                    .zip(list.distances())
                    .filter(|&both| is_new(both))
                    .count();
            } else {
                detector.find_neighbors_into(&search, &mut list)?;
                (any_wrapped, is_deformed) = (false, false);
            }
            let expected = world.entries(|_, _| f64::from(cutoff));
            let expected = expected
                .iter()
                .filter(|entry| round % 2 > 0 || is_in_half(entry));
            let expected: Vec<_> = expected.map(|entry| (entry.0, entry.1, entry.2)).collect();
            let found = list.pairs().iter_with_images().zip(list.vectors());
            let found = found.zip(list.distances());
            let found: Vec<_> = found
                .filter(|&(_, &distance)| distance <= cutoff)
                .map(|(((&pair, image), &vector), _)| (pair, image, vector))
                .collect();
            assert!(
                found == expected,
                "{} and {} entries",
                found.len(),
                expected.len()
            );
            if rng.u8(0..4) == 0 {
                deform(&mut world, &mut rng);
                is_deformed |= !world.domain.is_open();
            }
            let domain = world.domain;
            for sphere in &mut world.spheres {
                let mut image = [0; 3];
                if rng.u8(0..8) == 0 {
                    let periodic = domain.periodic();
                    image = [0, 1, 2].map(|k| i32::from(periodic[k]) * rng.i32(-1..=1));
                    any_wrapped |= image != [0; 3];
                }
                let wrap = domain.displacement(image);
                for (x, wrap) in sphere.center.iter_mut().zip(wrap) {
                    #[allow(clippy::cast_possible_truncation, reason = "it is exact")]
                    let wrap = wrap as f32;
                    *x += wrap + f32::from(rng.i8(-1..=1)) / 64.0;
                }
            }
        }
    }
    assert!(updates > 200 && entered > 20, "{updates} {entered}");
    assert!(wraps > 100 && deformed > 50, "{wraps} {deformed}");
    Ok(())
}

#[test]
fn invalid_searches_are_errors_and_leave_the_list_empty() -> Test {
    let particles = [
        Sphere::new([0.0; 3], 1.0),
        Sphere::new([1.0, 0.0, 0.0], 1.0),
    ];
    let mut detector = detector()?;
    let mut list = detector.find_neighbors(&NeighborSearch::touching(&particles))?;
    assert_eq!(list.pairs()[..], [[0, 1]]);
    let mut broken = particles;
    broken[1].center[2] = f32::NAN;
    let within = |cutoff| NeighborSearch::within(&particles, cutoff);
    for (search, parts) in [
        (within(-1.0), ["the cutoff is -1.0", "must be 0 or"]),
        (within(f32::NAN), ["the cutoff is NaN", "must be 0 or"]),
        (within(f32::INFINITY), ["the cutoff is inf", "1.1529215e18"]),
        (within(1e-40), ["the cutoff is 1e-40", "2.3509887e-38"]),
        (
            within(1.0).with_skin(-0.5),
            ["the skin is -0.5", "must be 0 or"],
        ),
        (
            NeighborSearch::within(&broken, 1.0),
            ["sphere 1", "center.z is NaN"],
        ),
        (
            within(1.0).in_domain(&Domain::rectangular([0.0; 3], [1.0, 0.0, 1.0])),
            ["edge 1", "its length is 0"],
        ),
    ] {
        let error = detector.find_neighbors_into(&search, &mut list).err();
        let error = error.ok_or(format!("{search:?} is valid"))?.to_string();
        for part in parts {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
        assert!(list.pairs().is_empty() && list.row(0).is_empty(), "{error}");
        assert!(!list.is_valid_for(&search));
    }
    // A neighbour search neither uses nor checks velocities.
    broken = particles;
    broken[0].velocity = [f32::NAN; 3];
    assert_eq!(
        detector
            .find_neighbors(&NeighborSearch::touching(&broken))?
            .pairs()
            .len(),
        1
    );
    assert_eq!(
        detector
            .find_neighbors(&NeighborSearch::within(&[], 1.0))?
            .pairs()
            .len(),
        0
    );
    Ok(())
}

#[test]
fn a_software_gpu_finds_the_same_neighbors() -> Test {
    let mut rng = Rng::with_seed(8);
    let at = |_| Sphere::new([0; 3].map(|_| rng.f32() * 10.0), 0.0);
    let particles: Vec<Sphere> = (0..3000).map(at).collect();
    let search = NeighborSearch::within(&particles, 0.9).full();
    let mut gpu = Detector::new(Options::new().with_backend(Backend::Gpu))?;
    let (by_gpu, by_cpu) = (
        gpu.find_neighbors(&search)?,
        detector()?.find_neighbors(&search)?,
    );
    let awaited = pollster::block_on(gpu.find_neighbors_async(&search))?;
    assert!(by_cpu.pairs().len() > 10_000);
    assert_eq!(
        (by_gpu.pairs(), by_gpu.vectors()),
        (by_cpu.pairs(), by_cpu.vectors())
    );
    assert_eq!(awaited.pairs(), by_cpu.pairs());
    Ok(())
}
