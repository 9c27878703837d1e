//! The physics engine rapier3d with the same spheres, in a box with hard faces.

use carom::HardSphere;
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle, SharedShape, Vector,
};

use crate::runs::Run;

/// rapier3d has no periodic domains. So the box is larger than the periodic cube by the radius of a sphere on each
/// side, and holds the same spheres without overlaps.
pub(crate) struct ByRapier {
    world: PhysicsWorld,
    balls: Vec<RigidBodyHandle>,
    steps: u64,
}

impl ByRapier {
    /// Puts spheres of diameter 1 into a box of rapier3d, whose edges have the length `edge`. A step of
    /// rapier3d lasts `dt`.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rapier3d computes in float32"
    )]
    pub(crate) fn new(spheres: &[HardSphere], edge: f64, dt: f64) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::ZERO;
        world.integration_parameters.dt = dt as f32;
        let elastic = |collider: ColliderBuilder| collider.restitution(1.0).friction(0.0);
        for axis in [Vector::X, Vector::Y, Vector::Z] {
            for (normal, distance) in [(axis, -0.5), (-axis, edge as f32 + 0.5)] {
                let face = ColliderBuilder::new(SharedShape::halfspace(normal));
                world.insert_collider(elastic(face).translation(axis * distance), None);
            }
        }
        let balls = spheres.iter().map(|sphere| {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::from_array(sphere.center.map(|x| x as f32)))
                .linvel(Vector::from_array(sphere.velocity.map(|x| x as f32)))
                .lock_rotations()
                .can_sleep(false)
                .ccd_enabled(true);
            world
                .insert(body, elastic(ColliderBuilder::ball(0.5).mass(1.0)))
                .0
        });
        let balls = balls.collect();
        Self {
            world,
            balls,
            steps: 0,
        }
    }
}

impl Run for ByRapier {
    fn name(&self) -> String {
        "rapier3d with CCD".to_owned()
    }

    fn advance(&mut self, duration: f64) -> anyhow::Result<Option<u64>> {
        let dt = f64::from(self.world.integration_parameters.dt);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number of steps is small and positive"
        )]
        let steps = (duration / dt).round() as u64;
        anyhow::ensure!(
            steps > 0,
            "a segment must last at least one step of rapier3d"
        );
        for _ in 0..steps {
            self.world.step();
        }
        self.steps += steps;
        Ok(None)
    }

    fn energy(&self) -> f64 {
        let velocities = self
            .balls
            .iter()
            .map(|&ball| self.world.bodies[ball].linvel());
        0.5 * velocities
            .map(|v| f64::from(v.length_squared()))
            .sum::<f64>()
    }

    fn places(&self) -> Option<Vec<[f64; 3]>> {
        None
    }

    fn remark(&self) -> String {
        let dt = self.world.integration_parameters.dt;
        format!("{} steps of {dt:.4}", self.steps)
    }
}
