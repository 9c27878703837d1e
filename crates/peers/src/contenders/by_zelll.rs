//! The cell lists of the crate zelll as one of the benchmarked methods.

use zelll::{CellGrid, ParticleLike};

use super::contender::Contender;
use super::grid::PlainGrid;
use crate::step::{Ball, Found, World, index, sorted, test};

/// Cell lists of the bounding balls of all moving spheres. Each time step rebuilds the cells, which are as
/// wide as the largest ball.
pub(crate) struct Zelll;

#[derive(Clone, Copy, Default)]
struct Particle {
    ball: Ball,
    sphere: u32,
}

impl ParticleLike<[f32; 3]> for Particle {
    fn coords(&self) -> [f32; 3] {
        self.ball.center
    }
}

impl Contender for Zelll {
    fn name(&self) -> &'static str {
        "zelll"
    }

    fn refusal(&self, world: World<'_>) -> Option<String> {
        // The crate zelll can have any number of cells, because empty cells take no memory. Only the number
        // of candidate pairs is limited.
        PlainGrid::crowded(world)
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let World { spheres, dt } = world;
        let particle = |(i, sphere)| Particle {
            ball: Ball::new(sphere, dt),
            sphere: index(i),
        };
        let particles: Vec<Particle> = spheres.iter().enumerate().map(particle).collect();
        let reach = particles.iter().fold(0.0_f32, |x, p| x.max(p.ball.reach));
        let grid = CellGrid::<_, 3, f32>::new(particles.iter().copied(), 2.0 * reach);
        let mut pairs = Vec::new();
        let mut candidates = 0;
        for (one, other) in grid.particle_pairs() {
            candidates += 1;
            if one.ball.meets(&other.ball) {
                test(world, one.sphere, other.sphere, &mut pairs);
            }
        }
        Ok(Found {
            pairs: sorted(&pairs, spheres.len()),
            candidates,
        })
    }
}
