//! The brute-force method of the benchmark, which tests every pair of spheres.

use super::contender::Contender;
use crate::step::{Ball, Found, World, impact, index, pair};

/// Largest number of spheres for which the brute-force method runs.
const MOST: usize = 20_000;

pub(crate) struct BruteForce;

impl Contender for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn refusal(&self, world: World<'_>) -> Option<String> {
        (world.spheres.len() > MOST).then(|| format!("more than {MOST} spheres"))
    }

    fn step(&mut self, World { spheres, dt }: World<'_>) -> anyhow::Result<Found> {
        let balls: Vec<Ball> = spheres.iter().map(|s| Ball::new(s, dt)).collect();
        let mut pairs = Vec::new();
        let mut candidates = 0;
        for (a, ball) in balls.iter().enumerate() {
            let others = &balls[a + 1..];
            candidates += others.len() as u64;
            for (b, other) in (a + 1..).zip(others) {
                if ball.meets(other)
                    && let Some(toi) = impact(&spheres[a], &spheres[b], dt)
                {
                    pairs.push(pair(index(a), index(b), toi));
                }
            }
        }
        Ok(Found { pairs, candidates })
    }
}
