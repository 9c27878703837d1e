//! A program that has another version of glam, or mint, passes its vectors to carom and takes the results out. carom's
//! own version of glam plays no part in this.

use carom::{Domain, HardSphere, Outcome, Response, Simulation, SimulationOptions, Sphere};

#[test]
fn vectors_of_another_version_of_glam_go_in_and_out() {
    use glam_033::{DVec3, Vec3};
    let sphere = Sphere::new(Vec3::X, 1.0).with_velocity(Vec3::Y);
    assert_eq!(Vec3::from(sphere.center), Vec3::X);
    assert_eq!(Vec3::from(sphere.velocity), Vec3::Y);
    let domain = Domain::rectangular(Vec3::ZERO, Vec3::splat(64.0));
    assert_eq!(DVec3::from(domain.origin()), DVec3::ZERO);

    let left = HardSphere::new(DVec3::splat(8.0), 0.5).with_velocity(2.0 * DVec3::X);
    let right = HardSphere::new(DVec3::new(11.0, 8.0, 8.0), 0.5);
    let options = SimulationOptions::new()
        .with_domain(domain)
        .with_gravity(DVec3::NEG_Z)
        .with_impact_list();
    let mut simulation = Simulation::new(vec![left, right], options).expect("two balls");
    assert_eq!(DVec3::from(simulation.gravity()), DVec3::NEG_Z);
    let report = simulation.step_with(2.0, &|encounter| {
        let [first, _] = encounter.velocities.map(DVec3::from);
        let back = first.reflect(encounter.normal.into());
        Response::Each([Outcome::Velocity(back.into()), Outcome::Remove])
    });
    let report = report.expect("a step");
    let is_near = |found: [f64; 3], expected| DVec3::from(found).distance(expected) < 1e-12;
    let impact = report.impacts[0];
    assert_eq!(DVec3::from(impact.normal), DVec3::X);
    assert!(is_near(impact.point, DVec3::new(10.5, 8.0, 7.5)));
    assert!(is_near(impact.impulse, 4.0 * DVec3::X));
    assert!(is_near(report.removed[0].velocity, DVec3::NEG_Z));
    let [left, right] = [0, 1].map(|k| simulation.spheres()[k]);
    assert!(is_near(left.momentum(), DVec3::new(-2.0, 0.0, -2.0)));
    let center = simulation.unwrapped_center(0).expect("sphere 0 exists");
    assert!(is_near(center, DVec3::new(8.0, 8.0, 6.0)));
    assert!(is_near(right.center, DVec3::new(11.0, 8.0, 7.5)));
}

#[test]
fn vectors_of_mint_go_in_and_out() {
    use mint::{Point3, Vector3};
    let at = Point3::from([1.0_f32, 2.0, 3.0]);
    let sphere = Sphere::new(at, 1.0);
    assert_eq!(Point3::from(sphere.center), at);
    let domain = Domain::rectangular(at, Vector3::from([8.0_f32; 3]));
    assert_eq!(Point3::from(domain.origin()), Point3::from([1.0, 2.0, 3.0]));

    let (velocity, gravity) = (
        Vector3::from([0.0_f64, 3.0, 0.0]),
        Vector3::from([0.0_f64; 3]),
    );
    let ball = HardSphere::new(Point3::from([2.0_f64; 3]), 0.5).with_velocity(velocity);
    let options = SimulationOptions::new().with_gravity(gravity);
    let mut simulation = Simulation::new(vec![ball], options).expect("a ball");
    assert_eq!(Vector3::from(simulation.gravity()), gravity);
    simulation.step(1.0).expect("a step");
    let ball = simulation.spheres()[0];
    assert_eq!(Point3::from(ball.center), Point3::from([2.0, 5.0, 2.0]));
    assert_eq!(Vector3::from(ball.velocity), velocity);
    let momentum = Vector3::from(ball.momentum());
    assert_eq!(momentum, velocity);
}
