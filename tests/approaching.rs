//! Tests steps without the pairs that touch at the start and do not approach (`Step::without_separating`), against whole
//! numbers.

mod backends;

use backends::both;
use carom::{
    Collisions, Detector, Domain, HardSphere, Mesh, Number, Options, Partner, Sphere, Spheres,
    Step, Touching, Wall, WallShape, Walls, verify, verify_walls,
};
use fastrand::Rng;

/// All numbers of the tests are multiples of this one.
const UNIT: f32 = 0.125;

/// Edge of the periodic domain.
const EDGE: i32 = 96;

type Whole = [i128; 3];

fn whole(x: [f32; 3]) -> Whole {
    x.map(|x| {
        let whole = x / UNIT;
        assert_eq!(whole, whole.round());
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it is a small whole number"
        )]
        let whole = whole as i128;
        whole
    })
}

fn minus(x: Whole, y: Whole) -> Whole {
    [0, 1, 2].map(|k| x[k] - y[k])
}

fn dot(x: Whole, y: Whole) -> i128 {
    (0..3).map(|k| x[k] * y[k]).sum()
}

fn cross(x: Whole, y: Whole) -> Whole {
    [1, 2, 0].map(|k| x[k] * y[(k + 1) % 3] - x[(k + 1) % 3] * y[k])
}

fn displaced(place: Whole, image: [i32; 3]) -> Whole {
    [0, 1, 2].map(|k| place[k] + i128::from(image[k] * EDGE))
}

/// Returns a number with the sign of the rate at which the distance from a triangle changes. The regions around a triangle
/// are those of C. Ericson (Real-Time Collision Detection, 2005, section 5.1.5).
fn growth_at_triangle([a, b, c]: [Whole; 3], p: Whole, v: Whole) -> i128 {
    let corner = |from: Whole| dot(minus(p, from), v);
    let edge = |from: Whole, to: Whole| {
        let (edge, away) = (minus(to, from), minus(p, from));
        dot(away, v) * dot(edge, edge) - dot(away, edge) * dot(edge, v)
    };
    let (ab, ac) = (minus(b, a), minus(c, a));
    let [[d1, d2], [d3, d4], [d5, d6]] =
        [a, b, c].map(|from| [dot(ab, minus(p, from)), dot(ac, minus(p, from))]);
    if d1 <= 0 && d2 <= 0 {
        return corner(a);
    }
    if d3 >= 0 && d4 <= d3 {
        return corner(b);
    }
    if d6 >= 0 && d5 <= d6 {
        return corner(c);
    }
    if d1 * d4 - d3 * d2 <= 0 && d1 >= 0 && d3 <= 0 {
        return edge(a, b);
    }
    if d5 * d2 - d1 * d6 <= 0 && d2 >= 0 && d6 <= 0 {
        return edge(a, c);
    }
    if d3 * d6 - d5 * d4 <= 0 && d4 >= d3 && d5 >= d6 {
        return edge(b, c);
    }
    let normal = cross(ab, ac);
    dot(normal, minus(p, a)) * dot(normal, v)
}

fn growth_at_wall(walls: &Walls, number: usize, sphere: &Sphere, image: [i32; 3]) -> i128 {
    let (c, own) = (
        displaced(whole(sphere.center), image),
        whole(sphere.velocity),
    );
    let Some(wall) = walls.simple().get(number) else {
        let mesh = &walls.meshes()[0];
        let triangle = mesh.triangles()[number - walls.simple().len()];
        let corners = triangle.map(|corner| whole(mesh.vertices()[corner as usize]));
        return growth_at_triangle(corners, c, minus(own, whole(mesh.velocity())));
    };
    let v = minus(own, whole(wall.velocity()));
    let (outwards, hollow) = match wall.shape() {
        WallShape::HalfSpace { normal, .. } => (dot(whole(normal), v), false),
        WallShape::Sphere { center, hollow, .. } => (dot(minus(c, whole(center)), v), hollow),
        WallShape::Cylinder {
            point,
            axis,
            hollow,
            ..
        } => {
            let (p, axis) = (minus(c, whole(point)), whole(axis));
            let along = dot(p, axis) * dot(v, axis);
            (dot(axis, axis) * dot(p, v) - along, hollow)
        }
        other => panic!("{other:?}"),
    };
    if hollow { -outwards } else { outwards }
}

fn number(rng: &mut Rng, most: i32) -> f32 {
    UNIT * rng.i32(-most..=most) as f32
}

fn vector(rng: &mut Rng, most: i32) -> [f32; 3] {
    [(); 3].map(|()| number(rng, most))
}

fn spheres(rng: &mut Rng, count: usize) -> Vec<Sphere> {
    let sphere = |rng: &mut Rng| {
        let radius = UNIT * rng.i32(0..12) as f32;
        // Small velocities make many pairs neither approach nor part.
        Sphere::new(vector(rng, 40), radius).with_velocity(vector(rng, 2))
    };
    (0..count).map(|_| sphere(rng)).collect()
}

fn walls(rng: &mut Rng, periodic: bool) -> Walls {
    let mut walls = Walls::new();
    let mut push = |wall: Wall| {
        walls.push(wall.with_velocity(vector(rng, 2)));
    };
    push(Wall::sphere([1.0, -2.0, 0.5], 1.5));
    push(Wall::cylinder([0.5, 1.0, 2.0], [0.0, 1.0, 0.0], 0.75));
    if !periodic {
        push(Wall::half_space([0.25, -0.5, 0.125], -1.0));
        push(Wall::sphere_inside([0.5, 0.0, 0.0], 5.0));
        push(Wall::cylinder([1.0, 0.0, 0.0], [0.5, 0.125, -0.25], 1.0));
        push(Wall::cylinder_inside([0.0; 3], [0.0, 0.25, 0.125], 4.0));
    }
    let corners = vec![[0.0; 3], [3.0, 0.5, 0.0], [0.5, 2.0, 1.0], [-2.0, 1.0, 3.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh");
    walls.push_mesh(mesh.with_velocity(vector(rng, 1)));
    walls
}

/// Compares a list with the list of the whole step, without the pairs and contacts that whole numbers show to part.
fn check<T: Number>(
    detector: &mut Detector,
    step: Step<'_, Spheres<'_, T>>,
    [first, second]: [&[Sphere]; 2],
    walls: &Walls,
) -> [usize; 2] {
    let whole_step: Collisions<T> = detector.detect(&step).expect("it is valid");
    let step = step.without_separating();
    let found = detector.detect(&step).expect("it is valid");
    let parts = |pair: &T::Collision, image: [i32; 3]| {
        let [a, b] = pair.sides().map(|index| index as usize);
        let (a, b) = (&first[a], &second[b]);
        let p = minus(displaced(whole(b.center), image), whole(a.center));
        let v = minus(whole(b.velocity), whole(a.velocity));
        pair.toi() == T::default() && dot(p, v) >= 0
    };
    let mut pairs = whole_step.pairs.clone();
    pairs.retain(|pair, image| !parts(pair, image));
    assert_eq!(found.pairs, pairs);
    assert_eq!(found.statistics.pairs, pairs.len() as u64);
    let all: Vec<_> = match step.second_set() {
        None => first.to_vec(),
        Some(_) => [first, second].concat(),
    };
    let leaves = |hit: &T::WallCollision, image: [i32; 3]| {
        let [sphere, wall] = hit.sides().map(|index| index as usize);
        hit.toi() == T::default() && growth_at_wall(walls, wall, &all[sphere], image) >= 0
    };
    let mut hits = whole_step.walls.clone();
    hits.retain(|hit, image| !leaves(hit, image));
    assert_eq!(found.walls, hits);
    assert!(verify(&step, &found.pairs).is_ok_and(|truth| truth.passed()));
    assert!(verify_walls(&step, &found.walls).is_ok_and(|truth| truth.passed()));
    let [all, left] = [&whole_step, &found].map(|found| [found.pairs.len(), found.walls.len()]);
    [all[0] - left[0], all[1] - left[1]]
}

#[test]
fn pairs_that_part_are_left_out() {
    let mut rng = Rng::with_seed(5);
    let mut out = [0; 2];
    let mut count = |left: [usize; 2]| (0..2).for_each(|k| out[k] += left[k]);
    for round in 0..24 {
        let periodic = round % 2 == 1;
        let [first, second] = [300, 80].map(|count| spheres(&mut rng, count));
        let walls = walls(&mut rng, periodic);
        let wide = Walls::from(&walls);
        let [hard, other] = [&first, &second].map(|spheres| {
            let hard = spheres.iter().map(|&sphere| HardSphere::from(sphere));
            hard.collect::<Vec<_>>()
        });
        let domain = Domain::rectangular([-6.0; 3], [EDGE as f32 * UNIT; 3]);
        let domain = if periodic { domain } else { Domain::open() };
        both(|detector| {
            let own = [&first[..], &first];
            let sets = [&first[..], &second];
            let one = Step::new(&first, 1.0).in_domain(&domain).with_walls(&walls);
            count(check(detector, one, own, &walls));
            let two = Step::between(&first, &second, 1.0).in_domain(&domain);
            count(check(detector, two.with_walls(&walls), sets, &walls));
            let one = Step::new(&hard, 1.0).in_domain(&domain).with_walls(&wide);
            count(check(detector, one, own, &walls));
            let two = Step::between(&hard, &other, 1.0).in_domain(&domain);
            count(check(detector, two.with_walls(&wide), sets, &walls));
        });
    }
    assert!(out[0] > 10_000 && out[1] > 1000, "{out:?}");
}

/// The next number after 1 decides whether two spheres approach, and so do the smallest numbers.
#[test]
fn the_last_bit_decides_whether_a_pair_parts() {
    let place = [1.0 / 3.0, 1.0, -1e-3_f32];
    let mut rng = Rng::with_seed(2);
    both(|detector| {
        for _ in 0..50 {
            let a = Sphere::new([0.0; 3], 2.0);
            let scale = 10_f32.powi(rng.i32(-30..10));
            // Perpendicular to the place of b, up to rounding.
            let v = [place[1] * scale, -place[0] * scale, 0.0];
            let exact =
                f64::from(place[0]) * f64::from(v[0]) + f64::from(place[1]) * f64::from(v[1]);
            for (turned, parts) in [(v, exact >= 0.0), (v.map(|x| -x), exact <= 0.0)] {
                let spheres = [a, Sphere::new(place, 1.0).with_velocity(turned)];
                let step = Step::new(&spheres, 1.0).without_separating();
                let found = detector.detect(&step).expect("it is valid");
                assert_eq!(found.pairs.is_empty(), parts, "{turned:?}");
            }
        }
        let touching = [
            Sphere::new([0.0; 3], 1.0),
            Sphere::new([2.0, 0.0, 0.0], 1.0),
        ];
        for (speed, parts) in [(-1e-45_f32, false), (0.0, true), (1e-45, true)] {
            let spheres = [touching[0], touching[1].with_velocity([speed, 9.0, 0.0])];
            let step = Step::new(&spheres, 1.0).without_separating();
            let found = detector.detect(&step).expect("it is valid");
            assert_eq!(found.pairs.is_empty(), parts, "{speed}");
        }
    });
}

/// A bullet starts inside its ship, and hits the target behind the ship's own hull. Without the option, its first impact is
/// the ship.
#[test]
fn a_bullet_leaves_its_ship_and_hits_its_target() {
    let ship = Sphere::new([0.0; 3], 5.0).with_velocity([3.0, 0.0, 0.0]);
    let bullet = Sphere::new([4.5, 0.0, 0.0], 0.5).with_velocity([100.0, 0.0, 0.0]);
    let target = Sphere::new([50.0, 0.0, 0.0], 2.0);
    let spheres = [ship, bullet, target];
    both(|detector| {
        let step = Step::new(&spheres, 1.0);
        let first = |step: &Step<'_>, detector: &mut Detector| {
            let found = detector.detect(step).expect("it is valid");
            let first = found.earliest().expect("it fits in memory")[1].expect("it hits something");
            (first.partner, first.toi)
        };
        assert_eq!(first(&step, detector), (Partner::Sphere(0), 0.0));
        let step = step.without_separating();
        assert_eq!(first(&step, detector), (Partner::Sphere(2), 0.43));
    });
    // On the way back, it meets the ship again.
    let back = [ship, bullet.with_velocity([0.0; 3]), target];
    let step = Step::new(&back, 1.0).without_separating();
    let mut detector = Detector::new(Options::default()).expect("it needs nothing");
    let found = detector.detect(&step).expect("it is valid");
    assert_eq!(
        (found.pairs[0].a, found.pairs[0].b, found.pairs[0].toi),
        (0, 1, 0.0)
    );
}
