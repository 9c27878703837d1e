//! Tests of steps and neighbour lists of spheres in float64, against exact arithmetic on every pair.

#[path = "../oracle/mod.rs"]
mod oracle;
mod random;
mod worlds;

use std::error::Error;

use carom::{
    Backend, Collision64, Collisions, Detector, Domain, ErrorKind, HardSphere, NeighborSearch,
    Options, Sphere, Step,
};
use fastrand::Rng;
use glam::DVec3;
use oracle::dyadic::{Motion, near};
use random::{unit, vector};
use worlds::{World, units, worlds};

type Test = Result<(), Box<dyn Error>>;

fn detector() -> Result<Detector, carom::Error> {
    Detector::new(Options::new().with_backend(Backend::Cpu))
}

/// Returns the same number, or one of the next float64 below or above it.
fn nudged(rng: &mut Rng, x: f64) -> f64 {
    match rng.u8(0..3) {
        0 => x,
        1 => x.next_up(),
        _ => x.next_down().max(0.0),
    }
}

/// Returns two spheres that touch or nearly so, in a way that the bounds of the arithmetic are made for. Most numbers have all
/// digits. The radii are about `unit`, the relative speed is about `speed`, and the first sphere is at `place`.
fn hard_pair(rng: &mut Rng, place: [f64; 3], unit: f64, speed: f64) -> [HardSphere; 2] {
    let power = |rng: &mut Rng, most: i32| (-f64::from(rng.i32(0..=most))).exp2();
    let radii = [0; 2].map(|_| (1.0 + rng.f64()) * [1.0, 1.0, 1e-3][rng.usize(0..3)]);
    let r = radii[0] + radii[1];
    let normal = DVec3::from(vector(rng, 1.0)).normalize_or(DVec3::X);
    // The second sphere approaches steeply, or hardly at all.
    let steep = power(rng, 50);
    let velocity = (normal.any_orthonormal_vector() - normal * steep) * (0.5 + rng.f64());
    let away = if rng.bool() {
        // A gap or a depth at the start.
        normal * (r - r * power(rng, 50) * unit_sign(rng))
    } else {
        let miss = [0.0, unit_sign(rng) * power(rng, 52)][rng.usize(0..2)];
        let time = [
            (16.0 * rng.f64()).exp2(),
            4.0 * rng.f64(),
            steep * rng.f64(),
        ][rng.usize(0..3)];
        normal * (r + miss) - velocity * time
    };
    let first = HardSphere::new(place, radii[0] * unit).with_velocity(vector(rng, speed));
    let other = HardSphere::new(plus(place, (away * unit).to_array()), radii[1] * unit)
        .with_velocity(plus(first.velocity, (velocity * speed).to_array()));
    [first, other]
}

fn unit_sign(rng: &mut Rng) -> f64 {
    if rng.bool() { 1.0 } else { -1.0 }
}

fn plus(x: [f64; 3], y: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| x[k] + y[k])
}

/// Pairs that the bounds of the arithmetic are made for: just before or after the first touch, grazing, in the last digits,
/// far from all other spheres so that the enclosing spheres are coarse, or with squares that underflow.
#[test]
fn hard_pairs_are_exact() -> Test {
    let mut rng = Rng::with_seed(8);
    let mut detector = detector()?;
    let (mut touching, mut by_integers) = (0, 0);
    let exp = |rng: &mut Rng, from: i32, to: i32| f64::from(rng.i32(from..=to)).exp2();
    for round in 0..80_000 {
        let kind = round % 10;
        // The lengths and the speed of a pair, those of the other spheres, and the time.
        let (unit, speed, others, time) = match kind {
            0 => (exp(&mut rng, -545, -190), 0.0, 1.0, 1.0),
            1 => {
                let unit = exp(&mut rng, -540, -180);
                (unit, unit, 1.0, 1.0)
            }
            // Only products of lengths and speeds underflow.
            8 => {
                let unit = exp(&mut rng, -450, -300);
                (unit, exp(&mut rng, -545, -505) / unit, 1.0, 1.0)
            }
            2 => {
                let most = [-420, -960][rng.usize(0..2)];
                let unit = exp(&mut rng, -1000, most);
                (unit, unit, unit, 1.0)
            }
            // Only squares of lengths underflow.
            9 => {
                let (unit, time) = (exp(&mut rng, -560, -500), exp(&mut rng, -690, -600));
                (unit, unit / time, unit, time)
            }
            3 => {
                let (unit, time) = (exp(&mut rng, -199, -190), exp(&mut rng, 120, 150));
                (unit, unit / time, unit, time)
            }
            _ => (1.0, 1.0, exp(&mut rng, 0, 24), 1.0),
        };
        let place = vector(&mut rng, if kind < 2 || kind == 8 { 0.0 } else { others });
        let mut spheres: Vec<_> = hard_pair(&mut rng, place, unit, speed).into();
        for k in 1..4 {
            let center = [3.0, 5.0, 7.0].map(|x| x * f64::from(k) * others);
            spheres.push(HardSphere::new(center, 0.0));
        }
        let length = (-f64::from(rng.i32(0..20))).exp2() * 4e4 * time;
        let mut world = World {
            groups: vec![0; spheres.len()],
            first: None,
            dt: if kind == 0 { 0.0 } else { length * rng.f64() },
            domain: Domain::open(),
            spheres,
        };
        let found = world.detect(&mut detector)?;
        touching += world.check(&found);
        by_integers += found.statistics.grazing_by_integers;
        // A step that ends with the impact, just before or after, or soon after.
        if let Some(pair) = found.pairs.first()
            && pair.toi > 0.0
        {
            let toi = pair.toi;
            let ends = [toi, toi.next_down(), toi.next_up(), 1.25 * toi];
            world.dt = ends[rng.usize(0..4)];
            let found = world.detect(&mut detector)?;
            touching += world.check(&found);
        }
    }
    assert!(
        touching > 20_000 && by_integers > 1_000,
        "{touching} {by_integers}"
    );
    Ok(())
}

/// Spheres whose centres are at one place, or as near to it as the last digits of the radii or far nearer, also displaced, overlap by
/// almost the sum of their radii. Hardly any pair needs integers.
#[test]
fn depths_of_coincident_spheres_are_exact() -> Test {
    let mut rng = Rng::with_seed(13);
    let mut detector = detector()?;
    let (mut pairs, mut by_integers) = (0, 0);
    for round in 0..6_000 {
        let size = f64::from([0, 0, rng.i32(-300..300)][rng.usize(0..3)]).exp2();
        let radius = |rng: &mut Rng| size * [0.5, 1.0, 1.0 + rng.f64(), rng.f64()][rng.usize(0..4)];
        let place = match rng.u8(0..3) {
            0 => vector(&mut rng, size),
            _ => [0.0; 3],
        };
        let spheres: Vec<_> = (0..4)
            .map(|_| {
                let near = f64::from([rng.i32(40..70), rng.i32(0..700)][rng.usize(0..2)]);
                let off = vector(&mut rng, size * (-near).exp2());
                let off = [off, [0.0; 3]][rng.usize(0..2)];
                HardSphere::new(plus(place, off), radius(&mut rng))
                    .with_velocity(vector(&mut rng, size))
            })
            .collect();
        let domain = match round % 3 {
            0 => Domain::rectangular_f64(
                [0.0; 3],
                [5.0 * size, 5.0 * size * rng.f64().max(0.9), 5.0 * size],
            ),
            _ => Domain::open(),
        };
        let world = World {
            groups: vec![0; 4],
            first: None,
            dt: rng.f64(),
            domain,
            spheres,
        };
        let found = world.detect(&mut detector)?;
        pairs += world.check(&found);
        by_integers += found.statistics.grazing_by_integers;
    }
    // The depth is almost halfway between two numbers, and the distance has errors.
    for _ in 0..1_000 {
        let size = 0.5_f64.powi(rng.i32(50..54));
        let off = vector(&mut rng, size);
        let radius = DVec3::from(off).length() + 0.5_f64.powi(53);
        let spheres = [HardSphere::new([0.0; 3], 1.0), HardSphere::new(off, radius)];
        let found = detector.detect(&Step::new(&spheres, 0.0))?;
        let pair = found.pairs[0];
        let motion = Motion::new(&spheres[0], &spheres[1], &Domain::open(), [0; 3]);
        assert!(
            motion.is_nearest(pair.toi, pair.depth),
            "{pair:?} {spheres:?}"
        );
    }
    assert!(pairs > 36_000 && by_integers < 100, "{pairs} {by_integers}");
    Ok(())
}

/// Pairs that touch for a short time, so that an error of the residual changes the time of impact much more than for others. The
/// other spheres are as far away as makes the enclosing spheres touch long before.
#[test]
fn times_of_grazing_pairs_are_exact() -> Test {
    let mut rng = Rng::with_seed(12);
    let mut detector = detector()?;
    let mut touching = 0;
    for _ in 0..6_000 {
        let others = f64::from(rng.i32(0..22)).exp2();
        let place = vector(&mut rng, others);
        let radii = [0; 2].map(|_| 1.0 + rng.f64());
        let normal = DVec3::from(vector(&mut rng, 1.0)).normalize_or(DVec3::X);
        let time = (3.0 + 9.0 * rng.f64()).exp2();
        let speed = 0.5 + rng.f64();
        let path = normal.any_orthonormal_vector() * speed;
        let apart = radii[0] + radii[1] - 0.5_f64.powi(rng.i32(24..46));
        let away = normal * apart - path * time;
        let other = HardSphere::new(plus(place, away.to_array()), radii[1]);
        let spheres = vec![
            HardSphere::new(place, radii[0]),
            other.with_velocity(path.to_array()),
            HardSphere::new(place.map(|x| -x), 0.0),
        ];
        let world = World {
            groups: vec![0; 3],
            first: None,
            dt: 1.25 * time,
            domain: Domain::open(),
            spheres,
        };
        let found = world.detect(&mut detector)?;
        touching += world.check(&found);
    }
    assert!(touching > 4_000, "{touching}");
    Ok(())
}

#[test]
fn lists_in_open_space_are_exact() -> Test {
    worlds(20_000, 1, false)
}

#[test]
fn lists_in_periodic_domains_are_exact() -> Test {
    worlds(4_000, 2, true)
}

/// Checks as many worlds of two to nine spheres as the environment variable `CAROM_WORLDS` says, or a million, from the seed
/// `CAROM_SEED`, or 100. One in eight is periodic.
#[test]
#[ignore = "takes minutes"]
fn many_lists_are_exact() -> Test {
    let number = |name, default| std::env::var(name).map_or(Ok(default), |text| text.parse());
    let count = number("CAROM_WORLDS", 1_000_000)?;
    let batch = 8_000;
    for (seed, done) in (number("CAROM_SEED", 100)? as u64..).zip((0..count).step_by(batch)) {
        worlds(batch * 7 / 8, seed, false)?;
        worlds(batch / 8, seed, true)?;
        println!("{} worlds", done + batch);
    }
    Ok(())
}

/// One kind of numbers may be extremely large or small while all others are not.
#[test]
fn single_extreme_numbers_are_exact() -> Test {
    let mut rng = Rng::with_seed(6);
    let mut detector = detector()?;
    let (mut touching, mut listed) = (0, 0);
    for power in (-100..=94).cycle().take(585) {
        let factor = 10_f64.powi(power);
        for kind in 0..5 {
            let mut world = World::random(&mut rng, 1.0, 1.0, kind == 4);
            match kind {
                0 => world.dt *= factor,
                4 => {
                    let edges = world.domain.edges().map(|edge| edge.map(|x| x * factor));
                    let periodic = world.domain.periodic();
                    world.domain =
                        Domain::triclinic_f64(world.domain.origin(), edges).with_periodic(periodic);
                }
                _ => {
                    for sphere in &mut world.spheres {
                        match kind {
                            1 => sphere.velocity = sphere.velocity.map(|x| x * factor),
                            2 => sphere.radius *= factor,
                            _ => sphere.center = sphere.center.map(|x| x * factor),
                        }
                    }
                }
            }
            match world.detect(&mut detector) {
                Ok(found) => {
                    touching += world.check(&found);
                    listed += 1;
                }
                // Spheres have too many images in a tiny cell, and the edges of a strange cell are refused.
                Err(error) if kind == 4 && error.kind() != ErrorKind::Device => {}
                Err(error) => panic!("{error} in {world:?}"),
            }
        }
    }
    assert!(touching > 1_500 && listed > 2_500, "{touching} {listed}");
    Ok(())
}

/// A list of neighbours with a skin is valid while no particle has moved by more than half the skin, however small or large
/// the skin and the cutoff are.
#[test]
fn skins_of_any_size_are_measured() -> Test {
    let mut detector = detector()?;
    for power in -100..=98 {
        let skin = 10_f64.powi(power);
        for cutoff in [1.0, skin, 1e-100, 1e98] {
            let still = [
                HardSphere::new([0.0; 3], 0.0),
                HardSphere::new([3.0, 4.0, 0.0], 0.0),
            ];
            let search = NeighborSearch::within(&still, cutoff).with_skin(skin);
            let list = detector.find_neighbors(&search)?;
            for (part, valid) in [(0.0, true), (0.49, true), (0.51, false), (100.0, false)] {
                let mut moved = still;
                moved[0].center = [0.0, -0.6 * part * skin, 0.8 * part * skin];
                let search = NeighborSearch::within(&moved, cutoff).with_skin(skin);
                let found = list.is_valid_for(&search);
                assert_eq!(found, valid, "{part} of {skin:e}, {cutoff:e}");
            }
        }
    }
    Ok(())
}

/// Centres may be a million cells away from the cell, where wrapping rounds them. The last digit of a radius decides.
#[test]
fn far_centres_that_just_touch_are_found() -> Test {
    let mut rng = Rng::with_seed(7);
    let mut detector = detector()?;
    let mut checked = 0;
    for _ in 0..2_000 {
        let edge = 1.0 + rng.f64();
        let cells = f64::from(rng.i32(-1_000_000..1_000_000));
        let away = 0.001 * (0.1 + rng.f64());
        // This place has as few digits as one a million cells away.
        let start = (edge * rng.f64() * 2_f64.powi(30)).floor() / 2_f64.powi(30);
        let centers = [start, cells.mul_add(edge, start + away)];
        let apart = centers[1] - centers[0];
        // The difference of the centres must be exact. Then this is the distance, rounded once.
        if apart + centers[0] != centers[1] || centers[1] - apart != centers[0] {
            continue;
        }
        let distance = (-cells).mul_add(edge, apart);
        let domain = Domain::rectangular_f64([0.0; 3], [edge, 1.0, 1.0]);
        for (radius, pairs) in [(distance.next_up(), 1), (distance.next_down(), 0)] {
            let radii = [0.0, radius];
            let spheres = [0, 1].map(|k| HardSphere::new([centers[k], 0.5, 0.5], radii[k]));
            let found = detector.detect(&Step::new(&spheres, 0.0).in_domain(&domain))?;
            assert_eq!(found.pairs.len(), pairs, "{centers:?} {edge:e} {radius:e}");
        }
        checked += 1;
    }
    assert!(checked > 1_500, "{checked}");
    Ok(())
}

/// Coordinates and displacements may be much larger than the spheres. They cancel, and what is left has few digits of each.
#[test]
fn far_images_that_cancel_are_exact() -> Test {
    let mut rng = Rng::with_seed(9);
    let mut detector = detector()?;
    let (mut touching, mut apart) = (0, 0);
    for round in 0..24_000 {
        // The displacement along x is n·e + m·f. With n·e = i·2⁻³² + j·2⁻⁵² and a coordinate of i·2⁻³², the distance is about
        // as small as m·f, or smaller if m·f is about −j·2⁻⁵².
        let few = 1_i64 << 20;
        let n = 2 * rng.i64(few / 8..few / 4) + 1;
        let inverse = (0..5).fold(n, |x, _| x.wrapping_mul(2 - n.wrapping_mul(x)));
        let base = (1_i64 << 52) + rng.i64(0..1 << 51);
        let j = rng.i64(i64::from(round % 4 == 3)..8);
        let e = base
            + (j - n.wrapping_mul(base))
                .wrapping_mul(inverse)
                .rem_euclid(few);
        let at = (i128::from(n) * i128::from(e) - i128::from(j)) >> 20;
        let unit_of = |power: i32| f64::from(power).exp2();
        let low = f64::from(i32::try_from(j)?) * unit_of(-52);
        let small = if round % 2 == 0 {
            -51
        } else {
            rng.i32(-30..-8)
        };
        let m = rng.i32(1 << 17..1 << 18);
        let f = match round % 4 {
            3 => {
                let (f, most) = (-low / f64::from(m), 1 << rng.u8(0..20));
                f64::from_bits(f.to_bits() + rng.u64(0..most))
            }
            _ => unit(&mut rng) * unit_of(small - 18),
        };
        #[allow(clippy::cast_precision_loss, reason = "few digits")]
        let [edge, at] = [e as f64 * unit_of(-52), at as f64 * unit_of(-32)];
        let domain =
            Domain::triclinic_f64([0.0; 3], [[edge, 0.0, 0.0], [f, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let image = [-i32::try_from(n)?, -m, 0];
        let rest = (-f64::from(m)).mul_add(f, -low);
        if rest == 0.0 {
            continue;
        }
        let centers = [[0.0, 0.5, 0.5], [at, 0.5 + f64::from(m), 0.5]];
        let gap = unit_sign(&mut rng) * (-f64::from(rng.i32(0..40))).exp2();
        let radius = rest.abs() * (1.0 - gap);
        let speed = [0.0, rest][rng.usize(0..2)];
        let spheres = [
            HardSphere::new(centers[0], radius).with_velocity([speed, 0.0, 0.0]),
            HardSphere::new(centers[1], 0.0),
        ];
        let motion = Motion::new(&spheres[0], &spheres[1], &domain, image);
        let dt = 2.0 * rng.f64();
        let found = detector.detect(&Step::new(&spheres, dt).in_domain(&domain))?;
        let listed = found
            .pairs
            .iter_with_images()
            .find(|found| found.1 == image);
        assert_eq!(
            listed.is_some(),
            motion.collide(dt),
            "{spheres:?} {domain:?}"
        );
        if let Some((pair, _)) = listed {
            touching += 1;
            assert!(
                motion.is_nearest(pair.toi, pair.depth),
                "{pair:?} {spheres:?} {domain:?}"
            );
        } else {
            apart += 1;
        }
        let cutoff = 2.0 * radius.max(rest.abs());
        let list = detector
            .find_neighbors(&NeighborSearch::within(&spheres, cutoff).in_domain(&domain))?;
        let entry = list
            .pairs()
            .iter_with_images()
            .position(|(_, of)| of == image);
        let entry = entry.expect("a distance less than the cutoff");
        let [vector, distance] = [list.vectors()[entry], [list.distances()[entry]; 3]];
        for (axis, x) in vector.into_iter().enumerate() {
            assert!(
                motion.component_against(axis, x.next_down()).is_ge(),
                "{vector:?}"
            );
            assert!(
                motion.component_against(axis, x.next_up()).is_le(),
                "{vector:?}"
            );
        }
        assert!((distance[0] / vector[0].abs() - 1.0).abs() < 1e-15);
    }
    assert!(touching > 4_000 && apart > 2_000, "{touching} {apart}");
    Ok(())
}

/// A displacement along x of three terms whose last digits are beyond those of the coordinates. The pairs overlap by so little that
/// the error of the relative position shows in the depth.
#[test]
fn depths_of_far_images_are_exact() -> Test {
    let mut rng = Rng::with_seed(11);
    let mut detector = detector()?;
    for _ in 0..4_000 {
        let small = |rng: &mut Rng| (1.0 + rng.f64()) * 0.5_f64.powi(37);
        let edges = [1.0 + rng.f64(), small(&mut rng), small(&mut rng)];
        let image = [
            rng.i32(1 << 17..1 << 18),
            3 + 2 * rng.i32(0..4),
            3 + 2 * rng.i32(0..4),
        ];
        let [n, m, l] = image.map(f64::from);
        let domain = Domain::triclinic_f64(
            [0.0; 3],
            [
                [edges[0], 0.0, 0.0],
                [edges[1], 1.0, 0.0],
                [edges[2], 0.0, 1.0],
            ],
        );
        let apart = (1.0 + rng.f64()) * 0.5_f64.powi(rng.i32(16..20));
        let at = n * edges[0] + apart;
        let centers = [[0.0; 3], [at, m, l]];
        let away = (-n).mul_add(edges[0], at) - m * edges[1] - l * edges[2];
        let radius = away * (1.0 + 0.5_f64.powi(rng.i32(9..18)) * (1.0 + rng.f64()));
        let spheres = [
            HardSphere::new(centers[0], radius),
            HardSphere::new(centers[1], 0.0),
        ];
        let image = image.map(|n| -n);
        let found = detector.detect(&Step::new(&spheres, 0.0).in_domain(&domain))?;
        let pair = found
            .pairs
            .iter_with_images()
            .find(|found| found.1 == image);
        let (pair, _) = pair.expect("spheres that overlap");
        let motion = Motion::new(&spheres[0], &spheres[1], &domain, image);
        assert!(
            motion.is_nearest(pair.toi, pair.depth),
            "{pair:?} {spheres:?} {domain:?}"
        );
    }
    Ok(())
}

/// Images that touch, or nearly so: without the rounding errors of the displacement or of a sum, they would just touch.
#[test]
fn images_that_almost_just_touch_are_exact() -> Test {
    let mut rng = Rng::with_seed(14);
    let mut detector = detector()?;
    let (mut touching, mut apart) = (0, 0);
    for round in 0..2_000 {
        let edge = 1.0 + rng.f64();
        let off = (1.0 + rng.f64()) * 0.5_f64.powi(20);
        let n = if round % 2 == 0 { 1 } else { rng.i32(3..1000) };
        let more = round % 2 == 0;
        let radius = f64::from(rng.i32(1..200)) / 1024.0;
        let at = if more {
            edge + off
        } else {
            f64::from(n) * edge
        } + radius;
        let beside = if more {
            [off, 1.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let edges = [[edge, 0.0, 0.0], beside, [0.0, 0.0, 1.0]];
        let domain = Domain::triclinic_f64([0.0; 3], edges);
        let image = [-n, -i32::from(more), 0];
        let spheres = [
            HardSphere::new([0.0; 3], radius),
            HardSphere::new([at, f64::from(u8::from(more)), 0.0], 0.0),
        ];
        let motion = Motion::new(&spheres[0], &spheres[1], &domain, image);
        let found = detector.detect(&Step::new(&spheres, 0.0).in_domain(&domain))?;
        let listed = found.pairs.iter_with_images().find(|pair| pair.1 == image);
        assert_eq!(
            listed.is_some(),
            motion.collide(0.0),
            "{spheres:?} {domain:?}"
        );
        if let Some((pair, _)) = listed {
            touching += 1;
            assert!(
                motion.is_nearest(pair.toi, pair.depth),
                "{pair:?} {spheres:?} {domain:?}"
            );
        } else {
            apart += 1;
        }
    }
    assert!(touching > 500 && apart > 500, "{touching} {apart}");
    Ok(())
}

/// A list is valid only as long as it has all neighbours, even if the moves of two particles are measured with errors of the
/// last digit.
#[test]
fn valid_lists_have_all_neighbours() -> Test {
    let mut rng = Rng::with_seed(10);
    let mut detector = detector()?;
    let mut check = |old: [[f64; 3]; 2], new: [[f64; 3]; 2], cutoff: f64, skin: f64| {
        let [old, new] = [old, new].map(|places| places.map(|place| HardSphere::new(place, 0.0)));
        let search = NeighborSearch::within(&old, cutoff).with_skin(skin);
        let list = detector.find_neighbors(&search)?;
        let search = NeighborSearch::within(&new, cutoff).with_skin(skin);
        if !list.is_valid_for(&search) {
            return Ok::<_, carom::Error>(false);
        }
        let motion = Motion::new(&new[0], &new[1], &Domain::open(), [0; 3]);
        let is_near = motion.distance_against(cutoff).is_le();
        assert!(
            !is_near || list.len() == 1,
            "{old:?} {new:?} {cutoff:e} {skin:e}"
        );
        Ok(is_near)
    };
    let mut valid = 0;
    let unit_of = 0.5_f64.powi(51);
    let few = |x: DVec3| (x / unit_of).round() * unit_of;
    for _ in 0..20_000 {
        // Both particles move towards one another by half the skin. It is just less than a power of two, so the last digit of
        // the reach is small. All sums of places are exact, and half the skin is the least that allows such a move.
        let size = 1.0 - 0.01 * rng.f64();
        let moved = DVec3::from(vector(&mut rng, 1.0)).normalize_or(DVec3::X);
        let moved = few(moved * size);
        let mut half = moved.length();
        while half * half >= moved.length_squared() {
            half = half.next_down();
        }
        while half * half < moved.length_squared() {
            half = half.next_up();
        }
        let beside = few(moved * (0.5_f64.powi(20) * rng.f64()));
        let cutoff = beside.length().next_up();
        let old = [[0.0; 3], (moved + beside + moved).to_array()];
        let new = [moved.to_array(), (moved + beside).to_array()];
        valid += u32::from(check(old, new, cutoff, 2.0 * half)?);
    }
    assert!(valid > 19_000, "{valid}");
    // The sum of the cutoff and the skin is rounded.
    let (steps, off) = (0.5_f64.powi(45), 0.5_f64.powi(55));
    let old = [[-off, 0.0, 0.0], [1.0 + 2.0 * steps, 0.0, 0.0]];
    let new = [[steps, 0.0, 0.0], [1.0 + steps, 0.0, 0.0]];
    assert!(check(old, new, 1.0, 2.0 * (steps + off))?);
    Ok(())
}

/// The last digit of a coordinate or a radius decides whether two spheres touch.
#[test]
fn the_last_digit_decides() -> Test {
    let mut detector = detector()?;
    for far in [0.0, 448_200.5, 4_582_300.25] {
        for (radius, pairs) in [
            (0.125, 1),
            (0.125_f64.next_down(), 0),
            (0.125_f64.next_up(), 1),
        ] {
            let spheres =
                [[far, 0.0], [far + 0.25, 0.0]].map(|[x, y]| HardSphere::new([x, y, far], 0.125));
            let spheres = [
                spheres[0],
                HardSphere {
                    radius,
                    ..spheres[1]
                },
            ];
            let found = detector.detect(&Step::new(&spheres, 1.0))?;
            assert_eq!(found.pairs.len(), pairs, "{far} {radius:e}");
        }
    }
    Ok(())
}

/// The normal of two tiny spheres that meet after a long way has no rounding errors of this way.
#[test]
fn contacts_have_exact_normals() -> Test {
    for (unit, speed) in [
        (0.5_f64.powi(30), 1e9),
        (1e-90, 1.0),
        (0.5_f64.powi(990), 1e-100),
    ] {
        let (way, time) = (1e9 * 1024.0 * unit, 1024.0 * unit * 1e9 / speed);
        let a = HardSphere::new([0.0; 3], 2.0 * unit);
        let b = HardSphere::new([way, 3.0 * unit, 0.0], 3.0 * unit);
        let b = b.with_velocity([-speed, 0.0, 0.0]);
        let found = detector()?.detect(&Step::new(&[a, b], time))?;
        let contact = found.pairs[0].contact(&a, &b);
        let off = DVec3::from(contact.normal) - DVec3::new(0.8, 0.6, 0.0);
        assert!(off.length() < 5e-16, "{contact:?}");
        assert!(
            (contact.approach_speed / (0.8 * speed) - 1.0).abs() < 1e-15,
            "{contact:?}"
        );
    }
    let (a, b) = (
        HardSphere::new([0.0; 3], 1.0),
        HardSphere::new([9.0; 3], 1.0),
    );
    let apart = Collision64::default().contact(&a, &b);
    assert_eq!((apart.normal, apart.approach_speed), ([1.0, 0.0, 0.0], 0.0));
    Ok(())
}

/// Spheres in float32 have the same pairs and images in float64.
#[test]
fn float32_worlds_have_the_same_pairs() -> Test {
    let mut rng = Rng::with_seed(3);
    let mut detector = detector()?;
    let mut touching = 0;
    for round in 0..600 {
        let single = |rng: &mut Rng, size: f32| [0; 3].map(|_| size * (2.0 * rng.f32() - 1.0));
        let spheres: Vec<Sphere> = (0..200)
            .map(|_| {
                Sphere::new(single(&mut rng, 5.0), 0.5 * rng.f32())
                    .with_velocity(single(&mut rng, 2.0))
            })
            .collect();
        let wide: Vec<HardSphere> = spheres.iter().copied().map(HardSphere::from).collect();
        let edges = [[9.7, 0.0, 0.0], [1.3, 10.1, 0.0], [-2.1, 0.7, 11.3]];
        let domain = match round % 2 {
            0 => Domain::open(),
            _ => Domain::triclinic([-5.0; 3], edges),
        };
        let narrow = detector.detect(&Step::new(&spheres, 0.75).in_domain(&domain))?;
        let found = detector.detect(&Step::new(&wide, 0.75).in_domain(&domain))?;
        let named = |a: u32, b: u32, image: [i32; 3]| (a, b, image);
        let expected: Vec<_> = narrow
            .pairs
            .iter_with_images()
            .map(|(p, image)| named(p.a, p.b, image))
            .collect();
        let pairs: Vec<_> = found
            .pairs
            .iter_with_images()
            .map(|(p, image)| named(p.a, p.b, image))
            .collect();
        assert_eq!(pairs, expected);
        for (one, other) in narrow.pairs.iter().zip(&found) {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "both are rounded from the same number"
            )]
            let rounded = [other.toi as f32, other.depth as f32];
            assert!((rounded[0] - one.toi).abs() <= f32::EPSILON * one.toi);
            assert!((rounded[1] - one.depth).abs() <= f32::EPSILON * one.depth);
        }
        touching += pairs.len();
    }
    assert!(touching > 10_000, "{touching}");
    Ok(())
}

/// The list depends on the spheres alone: not on the backend, and not on whether they are records or columns.
#[test]
fn backends_and_layouts_agree() -> Test {
    let mut rng = Rng::with_seed(4);
    let mut cpu = detector()?;
    let mut gpu = Detector::new(Options::new().with_backend(Backend::Gpu))?;
    for round in 0..60 {
        let (size, slow) = units(&mut rng);
        let mut world = World::random(&mut rng, size, slow, round % 2 == 1);
        world.first = None;
        world.groups.fill(0);
        let expected = world.detect(&mut cpu)?;
        let step = Step::new(&world.spheres, world.dt).in_domain(&world.domain);
        for detector in [&mut cpu, &mut gpu] {
            let found = match detector.detect(&step) {
                Ok(found) => found,
                // A cell may be too small or too skewed for a GPU.
                Err(error) if error.kind() == ErrorKind::Device => continue,
                Err(error) => return Err(error.into()),
            };
            assert_eq!(found.pairs.images(), expected.pairs.images());
            let bytes =
                |found: &Collisions<f64>| bytemuck::cast_slice::<_, u8>(&found.pairs).to_vec();
            assert_eq!(bytes(&found), bytes(&expected));
        }
    }
    Ok(())
}

/// Numbers beyond the limit are errors that name the sphere and the field.
#[test]
fn numbers_out_of_range_are_named() -> Test {
    let mut detector = detector()?;
    let mut message = |spheres: &[HardSphere], dt: f64| {
        let found = detector.detect(&Step::new(spheres, dt));
        found.expect_err("a number is out of range").to_string()
    };
    let fine = HardSphere::new([1e100, -1e100, 1e-300], 1e100);
    let far = HardSphere::new([0.0, 2e100, 0.0], 1.0);
    assert_eq!(
        message(&[fine, far], 1.0),
        "sphere 1: center.y is 2e100, but must be a finite number of magnitude at most 1e100; correct or \
         remove this sphere"
    );
    let negative = HardSphere::new([0.0; 3], -0.1);
    assert!(
        message(&[negative], 1.0)
            .contains("radius is -0.1, but must be a finite number from 0 to 1e100")
    );
    let fast = fine.with_velocity([0.0, 0.0, 1e60]);
    assert!(message(&[fine, fast], 1e50).contains("sphere 1: velocity.z * dt is 1e110"));
    let nan = fine.with_velocity([f64::NAN, 0.0, 0.0]);
    assert!(message(&[nan], 1.0).contains("sphere 0: velocity.x is NaN"));
    assert!(
        message(&[], -1.0)
            .contains("the time step dt is -1, but must be a finite number from 0 to 1e100")
    );
    let message = |domain: Domain| {
        let spheres = [Sphere::new([0.0; 3], 1.0)];
        let found =
            Detector::new(Options::default())?.detect(&Step::new(&spheres, 0.0).in_domain(&domain));
        Ok::<_, carom::Error>(found.expect_err("the edge is no float32").to_string())
    };
    let box_of = |x: f64| Domain::rectangular_f64([0.0; 3], [x, 1.0, 1.0]);
    assert!(
        message(box_of(0.1))?.contains(
            "edge 0 has x = 0.1, which is no float32; round it, or use spheres in float64"
        )
    );
    Ok(())
}

/// Lists of neighbours have all pairs within the cutoff, with vectors and distances of float64.
#[test]
fn neighbours_are_exact() -> Test {
    let mut rng = Rng::with_seed(5);
    let mut detector = detector()?;
    let mut entries = 0;
    for round in 0..3_000 {
        let size = if round % 3 == 0 {
            10_f64.powi(rng.i32(-160..90))
        } else {
            1.0
        };
        let mut world = World::random(&mut rng, size, 1.0, round % 2 == 1);
        for sphere in &mut world.spheres {
            sphere.velocity = [0.0; 3];
        }
        // The distance of the first two particles, exact or nearly so, is a cutoff that the last digit decides.
        let [x, y, z] = [0, 1, 2].map(|k| world.spheres[1].center[k] - world.spheres[0].center[k]);
        let unscaled = (x / size).hypot(y / size).hypot(z / size);
        let cutoff = nudged(&mut rng, (unscaled * size).min(1.5 * size));
        let by_radii = round % 5 == 0;
        let search = if by_radii {
            NeighborSearch::touching(&world.spheres)
        } else {
            NeighborSearch::within(&world.spheres, cutoff)
        };
        let search = search.in_domain(&world.domain);
        for full in [false, true] {
            let search = if full { search.full() } else { search };
            let list = detector.find_neighbors(&search)?;
            let found = list.pairs().iter_with_images();
            let mut found = found.zip(list.vectors().iter().zip(list.distances()));
            for (i, one) in world.spheres.iter().enumerate() {
                for (j, other) in world.spheres.iter().enumerate() {
                    let more = if by_radii { 0.0 } else { cutoff };
                    for image in near(one, other, 0.0, &world.domain, more) {
                        let is_half = i < j || i == j && image > [0; 3];
                        if !(full || is_half) || (i, image) == (j, [0; 3]) {
                            continue;
                        }
                        let motion = Motion::new(one, other, &world.domain, image);
                        let is_near = if by_radii {
                            motion.collide(0.0)
                        } else {
                            motion.distance_against(cutoff).is_le()
                        };
                        if !is_near {
                            continue;
                        }
                        entries += 1;
                        let ((&[a, b], of_pair), (&vector, &distance)) =
                            found.next().expect("an entry");
                        assert_eq!(
                            (a as usize, b as usize, of_pair),
                            (i, j, image),
                            "{world:?}"
                        );
                        for (axis, x) in vector.into_iter().enumerate() {
                            assert!(motion.component_against(axis, x.next_down()).is_ge());
                            assert!(motion.component_against(axis, x.next_up()).is_le());
                        }
                        let low = distance.next_down().next_down().max(0.0);
                        assert!(motion.distance_against(low).is_ge(), "{distance:e}");
                        assert!(
                            motion
                                .distance_against(distance.next_up().next_up())
                                .is_le(),
                            "{distance:e}"
                        );
                    }
                }
            }
            assert!(found.next().is_none(), "{world:?} {cutoff:e}");
            assert_eq!(
                list.statistics().pairs * if full { 2 } else { 1 },
                list.len() as u64
            );
            for i in 0..world.spheres.len() {
                assert!(
                    list.pairs()[list.row(i)]
                        .iter()
                        .all(|pair| pair[0] as usize == i)
                );
            }
            assert_eq!(list.row(world.spheres.len() - 1).end, list.len());
        }
    }
    assert!(entries > 20_000, "{entries}");
    Ok(())
}
