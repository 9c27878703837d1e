//! kiddo's k-d tree.

use anyhow::anyhow;
use kiddo::{ImmutableKdTree, SquaredEuclidean};

use super::Contender;
use crate::step::{Ball, Found, World, index, sorted, test};

/// A tree of the spheres' middles. Each asks for those within twice its own reach, and takes the
/// ones that reach less far: so each pair is found once, and a large sphere costs only itself.
pub(crate) struct Kiddo;

impl Contender for Kiddo {
    fn name(&self) -> &'static str {
        "kiddo"
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let World { spheres, dt } = world;
        let balls: Vec<Ball> = spheres.iter().map(|s| Ball::new(s, dt)).collect();
        let points: Vec<[f32; 3]> = balls.iter().map(|ball| ball.center).collect();
        let tree = ImmutableKdTree::<f32, 3>::new_from_slice(&points)
            .map_err(|error| anyhow!("kiddo builds no tree: {error:?}"))?;
        let mut pairs = Vec::new();
        let mut candidates = 0;
        for (i, ball) in balls.iter().enumerate() {
            let a = index(i);
            let most = 2.0 * ball.reach;
            tree.query(&ball.center)
                .within::<SquaredEuclidean<f32>>(most * most * (1.0 + 4.0 * f32::EPSILON))
                .unsorted()
                .visit(|found| {
                    let b = found.item;
                    let reach = balls[b as usize].reach;
                    candidates += 1;
                    if (reach, b) < (ball.reach, a) {
                        let both = ball.reach + reach;
                        if found.distance <= both * both * (1.0 + 4.0 * f32::EPSILON) {
                            test(world, a, b, &mut pairs);
                        }
                    }
                });
        }
        Ok(Found {
            pairs: sorted(&pairs, spheres.len()),
            candidates,
        })
    }
}
