//! Tests of contacts that last: spheres that slide, rest, or have no room.

use std::sync::atomic::{AtomicU64, Ordering};

use carom::{Error, HardSphere, Mesh, Response, SimulationOptions, Wall, WallShape, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::backends::with_threads;
use crate::{random, rounded, simulation, step, with_walls};

/// A ball that slides along a plane without restitution keeps its speed along the plane.
#[test]
fn a_ball_slides_along_a_plane() {
    let ball = HardSphere::new([0.0, 0.0, 2.0], 1.0).with_velocity([3.0, 1.0, -1.0]);
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)]).with_wall_restitution(0.0);
    let mut simulation = simulation(&[ball], options);
    assert_eq!(step(&mut simulation, 100.0).wall_impacts, 1);
    let after = simulation.spheres()[0];
    assert_eq!(after.velocity, [3.0, 1.0, 0.0]);
    assert_eq!(after.center[2], 1.0);
    assert_eq!(rounded(after.center[0]), 300.0);
}

/// A ball that has hit a wall of any orientation without restitution slides along it. Rounding
/// errors of the normal must not make the ball hit the wall again and again.
#[test]
fn a_ball_slides_along_oblique_walls() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..200 {
        let normal = random(&mut rng).normalize();
        let along = normal.any_orthonormal_vector();
        let across = normal.cross(along);
        let f32s = |x: DVec3| x.as_vec3().to_array();
        // A square of 128 triangles, a plane, and a cylinder, all with the same tangent plane.
        let corner = |k: u32| along * (f64::from(k % 9) - 4.0) + across * (f64::from(k / 9) - 4.0);
        let squares = (0..72).filter(|k| k % 9 < 8);
        let triangles = squares.flat_map(|k| [[k, k + 1, k + 9], [k + 1, k + 10, k + 9]]);
        let vertices = (0..81).map(|k| f32s(2.0 * corner(k))).collect();
        let mut square = Walls::new();
        square.push_mesh(Mesh::new(vertices, triangles.collect()).expect("a valid mesh"));
        let plane = Wall::half_space(f32s(normal), 0.0);
        let cylinder = Wall::cylinder(f32s(-3.0 * normal), f32s(along), 3.0);
        let aside = along * (2.0 * rng.f64() - 1.0);
        for (walls, sideways) in [
            (square, across * rng.f64()),
            (Walls::from_iter([plane]), across * rng.f64()),
            (Walls::from_iter([cylinder]), DVec3::ZERO),
        ] {
            let ball = HardSphere::new(normal * 0.8, 0.5)
                .with_velocity(aside + sideways - normal * (0.1 + rng.f64()));
            let options = SimulationOptions::new()
                .with_walls(walls)
                .with_wall_restitution(0.0);
            let mut simulation = simulation(&[ball], options);
            let impacts = step(&mut simulation, 5.0).wall_impacts;
            let after = simulation.spheres()[0];
            let height = DVec3::from(after.center).dot(normal);
            assert!((1..20).contains(&impacts), "{impacts} impacts");
            // The float32 corners of the triangles are not exactly in one plane. So an edge between two
            // triangles may lift the ball a little.
            assert!((-1e-5..1e-2).contains(&(height - 0.5)), "{after:?}");
        }
    }
}

/// A ball bounces on a floor and loses speed in each impact. Without a contact time, the number of impacts is
/// infinite, which is an error. With a contact time, the ball ends at rest on the floor.
#[test]
fn a_ball_comes_to_rest_on_a_floor() {
    let ball = HardSphere::new([0.0, 0.0, 2.0], 1.0).with_velocity([1.0, 0.0, 0.0]);
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)])
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5);
    let mut collapsing = simulation(&[ball], options.clone());
    let error = collapsing
        .step(10.0)
        .expect_err("the ball has infinitely many impacts");
    assert!(
        matches!(error, Error::TooManyImpacts { sphere: 0, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("contact time"));
    let mut resting = simulation(&[ball], options.with_contact_time(1e-3));
    let report = step(&mut resting, 10.0);
    assert!(
        (5..20).contains(&report.wall_impacts),
        "{} impacts",
        report.wall_impacts
    );
    let after = resting.spheres()[0];
    assert!((after.center[2] - 1.0).abs() < 1e-9, "{}", after.center[2]);
    assert_eq!(rounded(after.center[0]), 10.0);
}

/// Returns the error of a step in which some balls run out of room or of speed, and the centres
/// after the step. The step must end after at most `most` encounters have been decided.
pub(crate) fn collapse(
    balls: &[HardSphere],
    options: SimulationOptions,
    duration: f64,
    most: u64,
) -> (String, Vec<[f64; 3]>) {
    let encounters = AtomicU64::new(0);
    let mut collapsing = simulation(balls, options);
    let result = collapsing.step_with(duration, &|_| {
        assert!(encounters.fetch_add(1, Ordering::Relaxed) < most);
        Response::Bounce
    });
    let error = result.expect_err("the balls have infinitely many impacts");
    assert!(matches!(error, Error::TooManyImpacts { .. }), "{error}");
    let centers = collapsing.spheres().iter().map(|ball| ball.center);
    (error.to_string(), centers.collect())
}

/// Balls bounce between two walls that close on them. They have infinitely many impacts until time
/// 10, when no room is left. The step must end with an error soon, for one ball and for many, and
/// the error must not depend on the number of threads.
#[test]
fn balls_between_closing_walls_run_out_of_room() {
    let walls = [
        Wall::half_space([0.0, 0.0, 1.0], -2.0).with_velocity([0.0, 0.0, 0.1]),
        Wall::half_space([0.0, 0.0, -1.0], -2.0).with_velocity([0.0, 0.0, -0.1]),
    ];
    for (count, most) in [(1, 500_000), (11, 500_000), (300, 5_000_000)] {
        let mut rng = Rng::with_seed(15);
        let balls: Vec<_> =
            (0..count)
                .map(|k| {
                    HardSphere::new([3.0 * f64::from(k), 0.0, rng.f64() - 0.5], 1.0)
                        .with_velocity([0.0, 0.0, 1.0 + rng.f64()])
                })
                .collect();
        let [one, other] = [1, 3].map(|threads| {
            with_threads(threads, || collapse(&balls, with_walls(walls), 20.0, most))
        });
        assert_eq!(one, other);
    }
}

/// If many balls collapse at the same time, carom processes the impacts of only a few of them until
/// it returns the error.
#[test]
fn many_balls_that_collapse_cost_no_more_than_a_few() {
    let balls: Vec<_> = (0..1000)
        .map(|k| HardSphere::new([3.0 * f64::from(k), 0.0, 2.0], 1.0))
        .collect();
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)])
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5);
    with_threads(1, || collapse(&balls, options, 10.0, 500_000));
}

/// A ball flies for a long time, and then slides along a hollow wall with one impact in each contact time. Substeps with
/// too many impacts are begun again with a shorter duration.
#[test]
fn a_substep_with_too_many_impacts_is_shortened() {
    let ball = HardSphere::new([0.0, 0.0, 0.0], 1.0).with_velocity([1.0, 1.0, 0.0]);
    let options = with_walls([Wall::cylinder_inside([0.0, 2.0, 0.0], [0.0, 0.0, 1.0], 5.0)])
        .with_wall_restitution(0.0)
        .with_contact_time(1e-4)
        .with_max_impacts(50);
    let report = step(&mut simulation(&[ball], options), 5.0);
    assert!(report.wall_impacts > 8000, "{}", report.wall_impacts);
}

/// A ball that slides along the inside of a round wall follows the wall.
#[test]
fn a_ball_slides_along_a_hollow_wall() {
    let ball = HardSphere::new([0.0, 0.0, 0.0], 1.0).with_velocity([1.0, 1.0, 0.0]);
    let options = with_walls([Wall::cylinder_inside([0.0, 2.0, 0.0], [0.0, 0.0, 1.0], 5.0)])
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3);
    let mut simulation = simulation(&[ball], options);
    let report = step(&mut simulation, 50.0);
    assert!(
        (10..60_000).contains(&report.wall_impacts),
        "{} impacts",
        report.wall_impacts
    );
    let after = simulation.spheres()[0];
    let from_axis = DVec3::from(after.center).truncate() - glam::DVec2::new(0.0, 2.0);
    assert!((from_axis.length() - 4.0).abs() < 1e-6, "{from_axis}");
}

/// A contact time turns a sphere that slides along a hollow wall, however fast the sphere is and however long the
/// contact time. It does not change the energy.
#[test]
fn a_contact_time_adds_no_energy_to_a_sphere_in_a_hollow_wall() {
    let axis = DVec3::new(1.0, 2.0, 2.0) / 3.0;
    let walls = [
        Wall::sphere_inside([0.0; 3], 5.0),
        Wall::cylinder_inside([0.0; 3], axis.to_array().map(|x| x as f32), 5.0),
    ];
    for wall in walls {
        for contact_time in [0.1, 4.0, 1000.0] {
            // The ball starts at the wall, and slides along it.
            let start = DVec3::new(0.0, 1.0, -1.0).normalize() * 4.0;
            let velocity = start.cross(axis) * 0.25 + axis * 0.5;
            let ball = HardSphere::new(start, 1.0).with_velocity(velocity);
            let options = with_walls([wall])
                .with_wall_restitution(0.0)
                .with_contact_time(contact_time);
            let mut simulation = simulation(&[ball], options);
            let before = simulation.kinetic_energy();
            let report = step(&mut simulation, 40.0);
            let name = format!("{wall:?}, contact time {contact_time}");
            assert!(report.wall_impacts >= 3, "{name}");
            let each = 40.0 / report.wall_impacts as f64;
            assert!(
                each > 0.7 * f64::min(contact_time, 8.0),
                "{each} for an impact, {name}"
            );
            let change = simulation.kinetic_energy() / before - 1.0;
            assert!(change.abs() < 1e-12, "{change}, {name}");
            if matches!(wall.shape(), WallShape::Cylinder { hollow: true, .. }) {
                let along = DVec3::from(simulation.spheres()[0].velocity).dot(axis);
                assert!((along - velocity.dot(axis)).abs() < 1e-6, "{along}, {name}");
            }
        }
    }
}

/// Many elastic spheres in a hollow sphere do not become faster.
#[test]
fn a_contact_time_adds_no_energy_to_a_gas_in_a_hollow_sphere() {
    let mut rng = Rng::with_seed(3);
    let balls: Vec<_> = (0..8_u32)
        .map(|k| {
            let corner = [k & 1, k >> 1 & 1, k >> 2].map(|x| f64::from(x) * 4.0 - 2.0);
            HardSphere::new(corner, 1.0).with_velocity(30.0 * random(&mut rng))
        })
        .collect();
    let options = with_walls([Wall::sphere_inside([0.0; 3], 6.0)]).with_contact_time(0.1);
    let mut simulation = simulation(&balls, options);
    let before = simulation.kinetic_energy();
    let report = step(&mut simulation, 10.0);
    assert!(report.wall_impacts > 100 && report.sphere_impacts > 100);
    let change = simulation.kinetic_energy() / before - 1.0;
    assert!(change.abs() < 1e-10, "{change}");
}

/// A ball swings in a hollow wall for a long time, with a contact time that is longer than its swings.
#[test]
fn a_long_contact_time_in_a_hollow_wall_leaves_all_numbers_finite() {
    for (radius, contact_time) in [(0.9, 1.0), (0.99, 0.3)] {
        let ball = HardSphere::new([0.0; 3], radius).with_velocity([0.01, 0.0, 0.02]);
        let options = with_walls([Wall::sphere_inside([0.0; 3], 1.0)])
            .with_gravity([0.0, -10.0, 0.0])
            .with_wall_restitution(0.5)
            .with_contact_time(contact_time);
        let mut simulation = simulation(&[ball], options);
        for _ in 0..4000 {
            step(&mut simulation, 0.01);
            assert!(simulation.kinetic_energy().is_finite());
        }
        assert!(DVec3::from(simulation.spheres()[0].center).length() < 1.0);
    }
}

/// A ball slides far down a thin oblique cylinder. It has little room in it, so rounding errors far along the axis
/// must stay small.
#[test]
fn a_ball_slides_far_along_a_thin_cylinder() {
    let axis = [-0.498, -0.121, 0.225];
    let walls = [Wall::cylinder_inside([0.0; 3], axis, 0.001_492)];
    let ball = HardSphere::new([-6.8e-5, 6e-5, -1.18e-4], 0.001_343);
    for contact_time in [1e-4, 1e-3] {
        let options = with_walls(walls)
            .with_gravity([0.0, -0.1, 0.0])
            .with_wall_restitution(0.0)
            .with_contact_time(contact_time);
        let mut simulation = simulation(&[ball.with_velocity([6e-5, 1.5e-4, 1.2e-4])], options);
        for _ in 0..300 {
            step(&mut simulation, 0.1);
        }
        // Without friction, the ball falls along the axis.
        let axis = DVec3::from(axis.map(f64::from)).normalize();
        let speed = DVec3::from(simulation.spheres()[0].velocity).dot(axis);
        assert!((speed - 30.0 * -0.1 * axis.y).abs() < 1e-3, "{speed}");
    }
}
