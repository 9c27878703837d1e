//! Tests of meshes.

use carom::{HardSphere, Mesh, Response, SimulationOptions, StepReport, Wall, Walls};
use fastrand::Rng;
use glam::{DVec3, Vec3};

use crate::contacts::collapse;
use crate::meshes::{box_mesh, flat};
use crate::{at_walls, random, simulation, step, with_walls};

/// Balls in a box of triangles move as in a box of half-spaces.
#[test]
fn a_box_of_triangles_reflects_like_a_box_of_planes() {
    let mut rng = Rng::with_seed(3);
    let balls: Vec<_> = (0..8)
        .map(|k| {
            let center = DVec3::from([0, 1, 2].map(|axis| 2.5 + 5.0 * f64::from(k >> axis & 1)));
            HardSphere::new(center, 0.5 + 0.5 * rng.f64()).with_velocity(4.0 * random(&mut rng))
        })
        .collect();
    for gravity in [DVec3::ZERO, DVec3::new(0.5, -1.0, -3.0)] {
        let mut mesh = Walls::new();
        mesh.push_mesh(box_mesh([0.0; 3], [10.0; 3]));
        let options = SimulationOptions::new()
            .with_gravity(gravity)
            .with_impact_list();
        let planes = Walls::inside_box([0.0; 3], [10.0; 3]);
        let mut of_planes = simulation(&balls, options.clone().with_walls(planes));
        let mut of_triangles = simulation(&balls, options.with_walls(mesh));
        let [one, other] = [&mut of_planes, &mut of_triangles].map(|world| step(world, 20.0));
        assert!(one.wall_impacts > 60 && one.sphere_impacts > 2, "{one:?}");
        let faces = |report: &StepReport, triangles: u32| -> Vec<_> {
            let impacts = at_walls(report).into_iter();
            impacts
                .map(|(_, ball, wall)| (ball, wall / triangles))
                .collect()
        };
        assert!(one.substeps < 200 && other.substeps < 200);
        let (expected, found) = (faces(&one, 1), faces(&other, 2));
        assert_eq!(found[..60], expected[..60]);
    }
}

/// An edge acts like a cylinder of radius 0, and a corner like a sphere of radius 0.
#[test]
fn edges_and_corners_reflect_like_thin_cylinders_and_points() {
    let mut rng = Rng::with_seed(5);
    let mut hits = [0; 2];
    for _ in 0..300 {
        // A wedge with its edge along x, from −5 to 5, which points up.
        let vertices = vec![[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.3, -9.0]];
        let mut walls = Walls::new();
        walls.push_mesh(Mesh::new(vertices, vec![[0, 1, 2]]).expect("a valid triangle"));
        let corner = rng.bool();
        let middle = if corner { 5.4 } else { 0.0 };
        let ball = HardSphere::new([middle + 0.2 * rng.f64(), rng.f64() - 0.5, 2.0], 1.0)
            .with_velocity([0.0, 0.2 * (rng.f64() - 0.5), -1.0]);
        let like = if corner {
            Wall::sphere([5.0, 0.0, 0.0], 0.0)
        } else {
            Wall::cylinder([0.0; 3], [1.0, 0.0, 0.0], 0.0)
        };
        let gravity = [0.0, 0.1, -0.3];
        let options = SimulationOptions::new()
            .with_gravity(gravity)
            .with_walls(walls);
        let mut mesh = simulation(&[ball], options);
        let mut round = simulation(&[ball], with_walls([like]).with_gravity(gravity));
        let reports = [&mut mesh, &mut round].map(|world| step(world, 1.5));
        if reports[0].wall_impacts == 1 && reports[1].wall_impacts == 1 {
            hits[usize::from(corner)] += 1;
            let away =
                DVec3::from(mesh.spheres()[0].center) - DVec3::from(round.spheres()[0].center);
            assert!(away.length() < 1e-9, "{away}");
        }
    }
    assert!(hits[0] > 100 && hits[1] > 100, "{hits:?}");
}

/// Returns the point of a triangle that is nearest to a place. The distance from a triangle is the
/// least distance from a point a + x·(b − a) + y·(c − a) with x ≥ 0, y ≥ 0 and x + y ≤ 1.
fn nearest_in([a, b, c]: [DVec3; 3], place: DVec3) -> DVec3 {
    let on_edge = |from: DVec3, to: DVec3| {
        let edge = to - from;
        let share = edge.dot(place - from) / edge.length_squared();
        from + edge * share.clamp(0.0, 1.0)
    };
    let mut points = vec![on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    let (u, v, w) = (b - a, c - a, place - a);
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (x, y) = (vv * u.dot(w) - uv * v.dot(w), uu * v.dot(w) - uv * u.dot(w));
    let all = uu * vv - uv * uv;
    if x >= 0.0 && y >= 0.0 && x + y <= all {
        points.push(a + (u * x + v * y) / all);
    }
    let nearest = points.into_iter().min_by(|one, other| {
        let [one, other] = [one, other].map(|point| point.distance(place));
        one.total_cmp(&other)
    });
    nearest.expect("a point")
}

/// A ball overlaps a triangle at the start. If it moves away, it has no impact. Otherwise it has
/// one impact, at once. This is so because the distance from a triangle is a convex function of the
/// place, so a ball without gravity that moves away once moves away for ever.
#[test]
fn a_ball_that_overlaps_a_triangle_leaves_it() {
    let mut rng = Rng::with_seed(12);
    let mut counts = [0; 2];
    for _ in 0..4000 {
        let corners = [(); 3].map(|()| random(&mut rng).as_vec3());
        let (radius, velocity) = (0.05 + 1.5 * rng.f64(), random(&mut rng));
        let exact = corners.map(Vec3::as_dvec3);
        let center = exact[0] + 1.5 * random(&mut rng);
        let away = center - nearest_in(exact, center);
        if away.length() > 0.999 * radius || away.dot(velocity).abs() < 1e-6 {
            continue;
        }
        let mesh = Mesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]]);
        let mut walls = Walls::new();
        walls.push_mesh(mesh.expect("a valid triangle"));
        let options = SimulationOptions::new()
            .with_walls(walls)
            .with_impact_list();
        let ball = HardSphere::new(center, radius).with_velocity(velocity);
        let approaches = away.dot(velocity) < 0.0;
        let mut bouncing = simulation(&[ball], options.clone());
        let report = step(&mut bouncing, 5.0);
        let impacts: Vec<_> = report.impacts.iter().map(|impact| impact.time).collect();
        assert_eq!(impacts, if approaches { vec![0.0] } else { vec![] });
        counts[usize::from(approaches)] += 1;

        // No rule is asked about a ball that moves away, even if gravity moves the ball.
        let mut falling = simulation(&[ball], options.with_gravity(random(&mut rng)));
        let ignoring = falling.step_with(5.0, &|encounter| {
            assert!(encounter.approach_speed > -1e-12, "{encounter:?}");
            Response::Ignore
        });
        ignoring.expect("the step succeeds");
    }
    assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
}

/// A point passes through a triangle, however short the steps are.
#[test]
fn a_point_passes_through_a_triangle() {
    let mut rng = Rng::with_seed(13);
    for _ in 0..50 {
        let corners = [(); 3].map(|()| random(&mut rng).as_vec3());
        let middle = corners.map(Vec3::as_dvec3).iter().sum::<DVec3>() / 3.0;
        let mesh = Mesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]]);
        let mut walls = Walls::new();
        walls.push_mesh(mesh.expect("a valid triangle"));
        let velocity = random(&mut rng);
        let point = HardSphere::new(middle - velocity, 0.0).with_velocity(velocity);
        let mut simulation = simulation(&[point], SimulationOptions::new().with_walls(walls));
        for _ in 0..1000 {
            assert_eq!(step(&mut simulation, 0.002).wall_impacts, 0);
        }
    }
}

fn of_mesh(mesh: Mesh) -> Walls {
    let mut walls = Walls::new();
    walls.push_mesh(mesh);
    walls
}

/// A ball slides over the edges and corners inside a flat floor of triangles, which do not lift it. It may touch the
/// floor exactly, or overlap it. It is the same if the floor consists of two meshes.
#[test]
fn edges_inside_a_flat_floor_lift_no_ball() {
    let mut rng = Rng::with_seed(8);
    for overlap in [0.0, 1.5e-9, 1e-6, 1e-4, 1e-2] {
        for round in 0..40 {
            let floor = flat(8, &mut rng);
            let [half, rest] = [0, 1].map(|k| {
                let triangles = floor.triangles().iter().copied().skip(k).step_by(2);
                Mesh::new(floor.vertices().to_vec(), triangles.collect()).expect("a valid mesh")
            });
            let mut walls = of_mesh(half);
            walls.push_mesh(rest);
            let walls = if round % 2 == 0 {
                of_mesh(floor)
            } else {
                walls
            };
            // Some paths go straight along edges and through corners.
            let along = match round {
                0..4 => DVec3::X,
                4..8 => DVec3::new(1.0, 1.0, 0.0),
                _ => DVec3::new(rng.f64(), rng.f64(), 0.0),
            };
            let velocity = 5.0 * along.normalize();
            let start = DVec3::new(1.0, 1.0, 0.5 - overlap);
            let ball = HardSphere::new(start, 0.5).with_velocity(velocity);
            for restitution in [0.0, 1.0] {
                let options = SimulationOptions::new()
                    .with_walls(walls.clone())
                    .with_wall_restitution(restitution);
                let mut sliding = simulation(&[ball], options);
                step(&mut sliding, 1.0);
                let after = DVec3::from(sliding.spheres()[0].velocity);
                assert!(
                    after.distance(velocity) < 1e-9,
                    "{overlap} {round}: {velocity} became {after}"
                );
            }
        }
    }
}

/// A ball bounces on a flat floor of triangles as on a plane, also exactly on an edge or a corner.
#[test]
fn a_floor_of_triangles_reflects_like_a_plane() {
    let mut rng = Rng::with_seed(9);
    for round in 0..200 {
        let place = match round {
            0 => [2.0, 2.0],
            1..20 => [0.0; 2].map(|_| f64::from(rng.u32(1..7))),
            _ => [0.0; 2].map(|_| 1.0 + 6.0 * rng.f64()),
        };
        let walls = of_mesh(flat(8, &mut rng));
        let ball = HardSphere::new([place[0], place[1], 2.0], 0.5).with_velocity([0.3, 0.2, -3.0]);
        let mut bouncing = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        let impacts = step(&mut bouncing, 1.0).wall_impacts;
        let after = DVec3::from(bouncing.spheres()[0].velocity);
        assert_eq!(impacts, 1, "{round}");
        assert!(after.distance(DVec3::new(0.3, 0.2, 3.0)) < 1e-9, "{after}");
    }
}

/// Balls hit the outer edges and corners of a cube of triangles, and the border of a square.
#[test]
fn outer_edges_and_corners_of_a_mesh_reflect() {
    let cube = || of_mesh(box_mesh([0.0; 3], [2.0; 3]));
    for (place, direction, walls) in [
        (DVec3::new(2.0, 2.0, 1.1), DVec3::new(1.0, 1.0, 0.0), cube()),
        (DVec3::new(2.0, 2.0, 2.0), DVec3::new(1.0, 1.0, 1.0), cube()),
        (
            DVec3::new(0.0, 0.9, 0.0),
            DVec3::new(-1.0, 0.0, -1.0),
            cube(),
        ),
        (
            DVec3::new(0.0, 0.9, 0.0),
            DVec3::new(-1.0, 0.0, 0.5),
            of_mesh(flat(2, &mut Rng::with_seed(1))),
        ),
    ] {
        let away = direction.normalize();
        let ball = HardSphere::new(place + away * 2.5, 0.5).with_velocity(-away);
        let mut bouncing = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        step(&mut bouncing, 3.0);
        let after = DVec3::from(bouncing.spheres()[0].velocity);
        assert!(after.distance(away) < 1e-6, "{place}: {after}");
    }
}

/// Triangles that are far from all spheres cost nothing, also after an edit.
#[test]
fn far_triangles_cost_nothing() {
    let mut flying = [3, 200].map(|across| {
        let walls = of_mesh(flat(across, &mut Rng::with_seed(1)));
        let ball = HardSphere::new([0.0, 0.0, 5000.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
        let mut flying = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        step(&mut flying, 0.01);
        flying
    });
    // In turn, so that other work on the machine delays both.
    let mut best = [f64::INFINITY; 2];
    for _ in 0..50 {
        for (flying, best) in flying.iter_mut().zip(&mut best) {
            let start = std::time::Instant::now();
            for _ in 0..10 {
                let change = |balls: &mut [HardSphere]| balls[0].velocity[0] += 1e-3;
                flying.edit(change).expect("a valid edit");
                step(flying, 0.01);
            }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let [few, many] = best;
    assert!(many < 2.0 * few + 1e-4, "{many} s instead of {few} s");
}

/// One-sided triangles reflect a ball from the front, and let it pass from behind, also if it starts in between.
#[test]
fn one_sided_triangles_let_balls_pass_from_behind() {
    for (side, height) in [(1.0, 2.0), (-1.0, 2.0), (-1.0, 0.2)] {
        let ball = HardSphere::new([2.2, 2.1, side * height], 0.5);
        let ball = ball.with_velocity([0.1, 0.0, -side]);
        let walls = of_mesh(flat(4, &mut Rng::with_seed(1)));
        let options = SimulationOptions::new().with_walls(walls);
        let mut passing = simulation(&[ball], options.with_one_sided_meshes());
        step(&mut passing, 4.0);
        assert_eq!(passing.spheres()[0].velocity[2], 1.0, "{side} {height}");
    }
}

/// A ball falls on a mesh, on a point that belongs to several triangles, and stays there without a contact time. carom
/// may process as many impacts as `max_impacts` allows by default only in the last substep.
#[test]
fn a_ball_that_lies_on_a_mesh_soon_ends_the_step() {
    let corners = [
        [-2.0, -2.0, 0.0],
        [2.0, -2.0, 0.0],
        [2.0, 2.0, 0.0],
        [-2.0, 2.0, 0.0],
        [0.0; 3],
    ];
    let triangles = [0, 1, 2, 3].map(|k| [k, (k + 1) % 4, 4]);
    let mesh = Mesh::new(corners.to_vec(), triangles.to_vec()).expect("a valid mesh");
    let mut walls = Walls::new();
    walls.push_mesh(mesh);
    for velocity in [[0.0; 3], [1.0, 0.7, 0.0]] {
        let ball = HardSphere::new([0.0, 0.0, 0.8], 0.5).with_velocity(velocity);
        let options = SimulationOptions::new()
            .with_walls(walls.clone())
            .with_gravity([0.0, 0.0, -10.0])
            .with_wall_restitution(0.0);
        collapse(&[ball], options, 1.0, 3 * 100_000);
    }
}
