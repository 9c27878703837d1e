//! Tests of walls in periodic domains.

use carom::{Domain, Error, HardSphere, Outcome, Partner, Response, SimulationOptions, Wall};
use fastrand::Rng;
use glam::DVec3;

use crate::simple::gap;
use crate::{random, simulation, step, with_walls};

/// A channel that is periodic along x and y, with a floor, a ceiling, a post that repeats with the domain, and a
/// round obstacle near a face of the cell.
#[test]
fn images_of_balls_meet_walls_in_a_periodic_domain() {
    let mut rng = Rng::with_seed(4);
    let domain = Domain::rectangular([0.0; 3], [6.0; 3]).with_periodic([true, true, false]);
    let walls = [
        Wall::half_space([0.0, 0.0, 1.0], 0.0),
        Wall::half_space([0.0, 0.0, -1.0], -6.0),
        Wall::cylinder([0.2, 0.1, 0.0], [0.0, 0.0, 1.0], 0.5),
        Wall::sphere([3.0, 5.9, 3.0], 0.6),
    ];
    let mut balls = Vec::new();
    for k in 0..27 {
        let place = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
        let ball = HardSphere::new(2.0 * place + 1.0, 0.3).with_velocity(random(&mut rng));
        balls.push(ball);
    }
    let options = with_walls(walls).with_domain(domain);
    let mut simulation = simulation(&balls, options);
    let mut counts = [0.0; 4];
    for _ in 0..300 {
        let report = step(&mut simulation, 0.1);
        for (count, impulse) in counts.iter_mut().zip(&report.wall_impulses) {
            *count += DVec3::from(*impulse).length();
        }
        for ball in simulation.spheres() {
            for (x, y) in [-1, 0, 1]
                .into_iter()
                .flat_map(|x| [-1, 0, 1].map(|y| (x, y)))
            {
                let image = HardSphere {
                    center: (DVec3::from(ball.center)
                        + 6.0 * DVec3::new(f64::from(x), f64::from(y), 0.0))
                    .to_array(),
                    ..*ball
                };
                for wall in &walls {
                    assert!(gap(&image, wall, 0.0) > -1e-9);
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 5.0), "{counts:?}");
}

/// The floor and the ceiling are the same for all images of a sphere along x and y.
#[test]
fn impacts_at_planes_have_no_image_along_the_planes() {
    let mut rng = Rng::with_seed(7);
    let mut balls = Vec::new();
    for cell in 0..216_u32 {
        let corner = DVec3::new(
            f64::from(cell % 6),
            f64::from(cell / 6 % 6),
            f64::from(cell / 36),
        );
        let velocity = random(&mut rng) * DVec3::new(3.0, 3.0, 1.0);
        balls.push(HardSphere::new(corner + 0.5, 0.3).with_velocity(velocity));
    }
    let domain = Domain::rectangular([0.0; 3], [6.0; 3]).with_periodic([true, true, false]);
    let planes = [
        Wall::half_space([0.0, 0.0, 1.0], 0.0),
        Wall::half_space([0.0, 0.0, -1.0], -6.0),
    ];
    let options = with_walls(planes).with_domain(domain).with_impact_list();
    let mut simulation = simulation(&balls, options);
    let report = step(&mut simulation, 5.0);
    let at_walls = report.impacts.iter();
    let at_walls = at_walls.filter(|impact| matches!(impact.partner, Partner::Wall(_)));
    let images: Vec<_> = at_walls.map(|impact| impact.image).collect();
    assert!(images.len() > 100, "{}", images.len());
    assert!(images.iter().all(|&image| image == [0; 3]), "{images:?}");
    for impact in &report.impacts {
        // Spheres move by less than 1 between the start of a substep and an impact.
        assert!(
            (DVec3::from(impact.point) - 3.0).abs().max_element() < 4.0,
            "{impact:?}"
        );
        let Partner::Wall(wall) = impact.partner else {
            continue;
        };
        let height = 6.0 * f64::from(wall);
        assert!((impact.point[2] - height).abs() < 1e-9, "{impact:?}");
    }
}

#[test]
fn a_sphere_that_a_rule_makes_too_fast_for_a_periodic_cell_is_an_error() {
    let balls = [
        HardSphere::new([0.2, 0.5, 0.5], 0.1).with_velocity([1.0, 0.0, 0.0]),
        HardSphere::new([0.8, 0.5, 0.5], 0.1),
    ];
    let options = SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [1.0; 3]));
    let mut simulation = simulation(&balls, options);
    // At this speed, a sphere crosses many cells even in the shortest time that the clock resolves.
    let fast = [-1.0, 1.0].map(|sign| Outcome::Velocity([1e17, 2e17, 3e17].map(|v| sign * v)));
    let result = simulation.step_with(1.0, &|_| Response::Each(fast));
    let error = result.map(drop).expect_err("an error");
    assert!(matches!(error, Error::TooManyImages { .. }), "{error}");
}

/// Two spheres of radius 0.1 are in a periodic cell with edges of 1. In one step, a sphere moves
/// through the cell a thousand times. The step must succeed, with as many substeps as are
/// necessary. At each impact, the two spheres exchange their velocities, so one of them is always
/// at rest. The gap before the first impact is 0.4. After it, the gap from the moving sphere to the
/// next image of the other one is 1 − 2 · 0.2 = 0.6, because centres that touch are 0.2 apart.
#[test]
fn a_sphere_crosses_a_periodic_cell_a_thousand_times_in_a_step() {
    let speed = 999.7;
    let balls = [
        HardSphere::new([0.2, 0.5, 0.5], 0.1).with_velocity([speed, 0.0, 0.0]),
        HardSphere::new([0.8, 0.5, 0.5], 0.1),
    ];
    let options = SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [1.0; 3]));
    let mut simulation = simulation(&balls, options);
    let report = simulation.step(1.0).expect("a step");
    let after_first: f64 = (speed - 0.4) / 0.6;
    assert_eq!(report.sphere_impacts, 1 + after_first.floor() as u64);
}
