//! A billiard table, its balls, and their paths. Lengths are in metres, times in seconds.

use carom::{
    Encounter, Error, HardSphere, Outcome, Partner, Response, Simulation, SimulationOptions,
    StepReport, Wall,
};
use glam::DVec3;

/// Length and width of the table between its cushions. The origin is the middle.
pub(crate) const SIZE: [f32; 2] = [2.54, 1.27];
/// Radius of a ball.
pub(crate) const RADIUS: f64 = 0.028_575;
/// Mass of a ball, in kilograms.
const MASS: f64 = 0.17;
/// Gap between the surfaces of neighbouring balls in the rack (the triangle in which the balls start). It
/// determines the order of the impacts.
const GAP: f64 = 2e-5;
/// Names of the walls (cushions) that [`start`] makes.
pub(crate) const CUSHIONS: [&str; 4] = ["left", "right", "lower", "upper"];
/// A ball whose centre comes this close to the middle of a pocket falls into it.
pub(crate) const POCKET: f64 = 0.06;
/// Distance of its surface from the middle of the pocket then.
#[allow(clippy::cast_possible_truncation, reason = "walls are float32")]
const FALLS: f32 = (POCKET - RADIUS) as f32;
/// Names and places of the pockets, which are walls after the cushions: solid spheres that a ball touches when it falls.
pub(crate) const POCKETS: [(&str, [f32; 2]); 6] = [
    ("lower left", [-0.5, -0.5]),
    ("lower middle", [0.0, -0.5]),
    ("lower right", [0.5, -0.5]),
    ("upper left", [-0.5, 0.5]),
    ("upper middle", [0.0, 0.5]),
    ("upper right", [0.5, 0.5]),
];

/// Returns the middle of a pocket.
pub(crate) fn pocket([x, y]: [f32; 2]) -> [f32; 3] {
    [x * SIZE[0], y * SIZE[1], 0.0]
}

/// A ball that touches a pocket is removed. All others bounce.
pub(crate) fn rule(encounter: &Encounter) -> Response {
    match encounter.partner {
        Partner::Wall(wall) if wall as usize >= CUSHIONS.len() => {
            Response::Each([Outcome::Remove, Outcome::Keep])
        }
        _ => Response::Bounce,
    }
}

/// Puts the cue ball, number 0, and the triangle of the other 15 balls on the table. The cue ball has the given
/// speed, and hits the first ball of the triangle almost centrally.
///
/// With pockets, [`rule`] is to be the rule of each step.
pub(crate) fn start(
    speed: f64,
    [balls, cushions]: [f64; 2],
    with_pockets: bool,
) -> Result<Simulation, Error> {
    let cue = HardSphere::new([-0.635, 0.004, 0.0], RADIUS).with_velocity([speed, 0.0, 0.0]);
    let mut spheres = vec![cue.with_mass(MASS)];
    let distance = 2.0 * RADIUS + GAP;
    for row in 0..5 {
        for place in 0..=row {
            let x = 0.635 + f64::from(row) * distance * 0.75_f64.sqrt();
            let y = (f64::from(place) - 0.5 * f64::from(row)) * distance;
            spheres.push(HardSphere::new([x, y, 0.0], RADIUS).with_mass(MASS));
        }
    }
    let [x, y] = SIZE.map(|length| -0.5 * length);
    let walls = [
        Wall::half_space([1.0, 0.0, 0.0], x),
        Wall::half_space([-1.0, 0.0, 0.0], x),
        Wall::half_space([0.0, 1.0, 0.0], y),
        Wall::half_space([0.0, -1.0, 0.0], y),
    ];
    let pockets = POCKETS.map(|(_, place)| Wall::sphere(pocket(place), FALLS));
    let pockets = pockets.into_iter().filter(|_| with_pockets);
    // The centres and velocities have z = 0. They keep this value exactly, so the motion stays in the plane.
    let options = SimulationOptions::new()
        .with_walls(walls.into_iter().chain(pockets).collect())
        .with_restitution(balls)
        .with_wall_restitution(cushions)
        .with_impact_list();
    Simulation::new(spheres, options)
}

/// The path of a ball: straight pieces between the times and places of its impacts.
pub(crate) struct Path {
    pub(crate) points: Vec<(f64, DVec3)>,
    velocity: DVec3,
}

impl Path {
    fn go_to(&mut self, time: f64) {
        if let Some(&(from, place)) = self.points.last() {
            self.points
                .push((time, place + self.velocity * (time - from)));
        }
    }
}

/// Returns the paths of balls from the time 0 to the time `end`, according to the listed impacts. The path of a removed ball
/// ends where it was removed.
pub(crate) fn paths(start: &[HardSphere], report: &StepReport, end: f64) -> Vec<Path> {
    let mut paths: Vec<_> = start
        .iter()
        .map(|ball| Path {
            points: vec![(0.0, ball.center.into())],
            velocity: ball.velocity.into(),
        })
        .collect();
    for impact in &report.impacts {
        let change = DVec3::from(impact.impulse) / MASS;
        let path = &mut paths[impact.sphere as usize];
        path.go_to(impact.time);
        path.velocity -= change;
        if let Partner::Sphere(other) = impact.partner {
            let path = &mut paths[other as usize];
            path.go_to(impact.time);
            path.velocity += change;
        }
    }
    for (ball, path) in paths.iter_mut().enumerate() {
        let mut removed = report.removed.iter();
        let removed = removed.find(|removed| removed.sphere as usize == ball);
        match removed {
            Some(removed) => path.go_to(removed.time),
            None => path.go_to(end),
        }
    }
    paths
}
