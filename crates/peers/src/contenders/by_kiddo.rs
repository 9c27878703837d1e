//! The k-d tree of the crate kiddo as one of the benchmarked methods.

use anyhow::anyhow;
use kiddo::{ImmutableKdTree, SquaredEuclidean};

use super::contender::Contender;
use crate::step::{Ball, Found, World, index, sorted, test};

/// A k-d tree of the centres of the bounding balls of all moving spheres. Each ball queries all centres
/// within twice its own radius, and keeps only smaller balls (or balls of equal radius and lower index). So
/// each pair is found once, and a large ball does not enlarge the queries of other balls.
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
            .map_err(|error| anyhow!("kiddo cannot build a tree: {error:?}"))?;
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
