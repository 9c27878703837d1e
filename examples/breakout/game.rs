//! The game: in a round well of radius 1, balls hit *bats*, which are boxes that the first hit switches off.

use std::f64::consts::{FRAC_PI_2, TAU};

use carom::{
    Error, HardSphere, Impact, Mesh, Partner, Response, Simulation, SimulationOptions, Wall, Walls,
};
use glam::{DVec2, DVec3};

/// Radius of the balls.
pub(crate) const RADIUS: f64 = 0.05;
/// Duration of a frame, which is one step of the simulation. A bat (a box that the first hit switches off)
/// remains solid until the end of the frame in which it is hit.
const FRAME: f64 = 1.0 / 60.0;
/// The rings of bats (boxes), which share their centre: for each ring, the number of its bats, and
/// its radius.
const RINGS: [(u32, f64); 2] = [(6, 0.42), (10, 0.7)];
/// Length and thickness of a bat (a box).
const BAT: [f64; 2] = [0.24, 0.05];
/// The corners of the triangles that form a bat, which is a box. Corners 0 to 3 are its lower corners, and
/// corner k + 4 is above corner k.
const TRIANGLES: [[u32; 3]; 12] = [
    [0, 1, 2],
    [0, 2, 3],
    [4, 5, 6],
    [4, 6, 7],
    [0, 1, 5],
    [0, 5, 4],
    [1, 2, 6],
    [1, 6, 5],
    [2, 3, 7],
    [2, 7, 6],
    [3, 0, 4],
    [3, 4, 7],
];

/// A box that a ball switches off by hitting it.
pub(crate) struct Bat {
    pub(crate) corners: [DVec2; 4],
    /// Time of the first hit.
    pub(crate) hit: Option<f64>,
}

/// The object that a ball hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    Ball(u32),
    Well,
    Bat(usize),
}

/// An impact of a ball with another object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) time: f64,
    pub(crate) ball: u32,
    pub(crate) target: Target,
}

pub(crate) struct Game {
    pub(crate) simulation: Simulation,
    pub(crate) bats: Vec<Bat>,
    /// For each ball: the times and positions of its impacts. Between them, the ball moves on straight lines.
    pub(crate) paths: Vec<Vec<(f64, DVec2)>>,
}

impl Game {
    /// Creates a game with balls in the middle of the round well. The balls fly apart at unit speed.
    pub(crate) fn new(balls: u32) -> Result<Self, Error> {
        let mut walls = Walls::new();
        walls.push(Wall::cylinder_inside([0.0; 3], [0.0, 0.0, 1.0], 1.0));
        let mut bats = Vec::new();
        for (count, distance) in RINGS {
            for k in 0..count {
                let corners = corners(TAU * f64::from(k) / f64::from(count), distance);
                walls.push_mesh(mesh(corners)?);
                bats.push(Bat { corners, hit: None });
            }
        }
        let ball = |k: u32| {
            // The balls start in directions that are multiples of the golden angle. So the directions do not
            // share the symmetry of the rings of bats (boxes).
            let direction = DVec2::from_angle(0.4 + 2.399_963 * f64::from(k));
            HardSphere::new((0.2 * direction).extend(0.0), RADIUS)
                .with_velocity(direction.extend(0.0))
        };
        let balls: Vec<_> = (0..balls).map(ball).collect();
        let paths = balls
            .iter()
            .map(|ball| vec![(0.0, DVec3::from(ball.center).truncate())])
            .collect();
        let options = SimulationOptions::new()
            .with_walls(walls)
            .with_impact_list();
        Ok(Self {
            simulation: Simulation::new(balls, options)?,
            bats,
            paths,
        })
    }

    /// Advances the game by the duration of one frame, and returns the impacts of the balls in the order of
    /// time.
    pub(crate) fn play(&mut self) -> Result<Vec<Event>, Error> {
        let from = self.simulation.time();
        let before = self.simulation.spheres().to_vec();
        // The function that decides about impacts must give the same answer whenever it is called
        // during a step. So it reads only the list of bats (boxes), which does not change during
        // the step.
        let bats = &self.bats;
        let report =
            self.simulation
                .step_with(FRAME, &|encounter| match target(encounter.partner) {
                    Target::Bat(bat) if bats[bat].hit.is_some() => Response::Ignore,
                    _ => Response::Bounce,
                })?;
        self.follow(from, &before, &report.impacts);
        let event = |impact: &Impact| Event {
            time: impact.time,
            ball: impact.sphere,
            target: target(impact.partner),
        };
        let events: Vec<_> = report.impacts.iter().map(event).collect();
        for event in &events {
            if let Target::Bat(bat) = event.target {
                self.bats[bat].hit.get_or_insert(event.time);
            }
        }
        Ok(events)
    }

    /// Adds a point to the path of a ball for each of its impacts. `before` has the balls at the time `from`,
    /// before the impacts.
    fn follow(&mut self, from: f64, before: &[HardSphere], impacts: &[Impact]) {
        let mut states: Vec<_> = before
            .iter()
            .map(|ball| (from, DVec3::from(ball.center), DVec3::from(ball.velocity)))
            .collect();
        for impact in impacts {
            let mut turn = |ball: u32, change: DVec3| {
                let (since, place, velocity) = &mut states[ball as usize];
                *place += *velocity * (impact.time - *since);
                *since = impact.time;
                // The mass of a ball is 1, so the impulse equals the change of the velocity.
                *velocity += change;
                self.paths[ball as usize].push((impact.time, place.truncate()));
            };
            let impulse = DVec3::from(impact.impulse);
            turn(impact.sphere, -impulse);
            if let Partner::Sphere(other) = impact.partner {
                turn(other, impulse);
            }
        }
    }

    /// Adds the present position of each ball to its path, as the last point.
    pub(crate) fn end_paths(&mut self) {
        let balls = self.simulation.spheres().iter();
        for (path, ball) in self.paths.iter_mut().zip(balls) {
            let place = DVec3::from(ball.center).truncate();
            path.push((self.simulation.time(), place));
        }
    }

    /// Returns the number of bats (small boxes that the balls bounce off) that no ball has hit yet.
    pub(crate) fn remaining(&self) -> usize {
        self.bats.iter().filter(|bat| bat.hit.is_none()).count()
    }
}

/// Returns the object that a ball has hit. Wall 0 of the simulation is the hollow cylinder in which
/// the balls fly, the *well*. The other walls are triangles: 12 for each bat (a box in the well).
fn target(partner: Partner) -> Target {
    match partner {
        Partner::Sphere(other) => Target::Ball(other),
        Partner::Wall(0) => Target::Well,
        Partner::Wall(wall) => Target::Bat((wall as usize - 1) / TRIANGLES.len()),
    }
}

/// Returns the corners of a bat, a box whose long side faces the axis of the cylinder in which the
/// balls fly.
fn corners(angle: f64, distance: f64) -> [DVec2; 4] {
    let along = 0.5 * BAT[0] * DVec2::from_angle(angle + FRAC_PI_2);
    let across = 0.5 * BAT[1] * DVec2::from_angle(angle);
    let middle = distance * DVec2::from_angle(angle);
    [
        middle - along - across,
        middle + along - across,
        middle + along + across,
        middle - along + across,
    ]
}

/// Returns the 12 triangles of a bat, a small box between z = −0.1 and z = 0.1.
fn mesh(corners: [DVec2; 4]) -> Result<Mesh, Error> {
    let level = |z: f32| corners.map(|corner| corner.as_vec2().extend(z).to_array());
    let vertices = [level(-0.1), level(0.1)].concat();
    Mesh::new(vertices, TRIANGLES.to_vec())
}
