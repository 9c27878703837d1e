//! A plain event-driven simulation of hard spheres, in a periodic cube or in open space. A heap holds the
//! predicted impacts, which are processed one after the other. Every pair of spheres is tested, with every
//! image within reach. The simulation shares no code with carom, and is the reference for the order of impacts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ball {
    pub(crate) place: [f64; 3],
    pub(crate) velocity: [f64; 3],
    pub(crate) radius: f64,
    pub(crate) mass: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) time: f64,
    pub(crate) a: usize,
    pub(crate) b: usize,
}

#[derive(PartialEq)]
struct Predicted {
    time: f64,
    a: usize,
    b: usize,
    image: [i32; 3],
    counts: [u32; 2],
}

impl Eq for Predicted {}

impl Ord for Predicted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_time = self.time.total_cmp(&other.time);
        by_time.then((self.a, self.b, self.image).cmp(&(other.a, other.b, other.image)))
    }
}

impl PartialOrd for Predicted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn dot(x: [f64; 3], y: [f64; 3]) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// The reference simulation. Each ball has a clock of its own, which shows the time of its last impact.
pub(crate) struct Reference {
    balls: Vec<Ball>,
    clocks: Vec<f64>,
    counts: Vec<u32>,
    /// Edge of the periodic cell, or `None` for open space.
    edge: Option<f64>,
    restitution: f64,
    /// A function that tells for each of two balls that meet whether it is removed. If only one is removed, the
    /// other keeps its velocity.
    pub(crate) removes: fn(usize, usize) -> [bool; 2],
    pub(crate) removed: Vec<bool>,
    queue: BinaryHeap<Reverse<Predicted>>,
    until: f64,
}

impl Reference {
    pub(crate) fn new(balls: &[Ball], edge: Option<f64>, restitution: f64, until: f64) -> Self {
        let mut reference = Self {
            balls: balls.to_vec(),
            clocks: vec![0.0; balls.len()],
            counts: vec![0; balls.len()],
            edge,
            restitution,
            removes: |_, _| [false; 2],
            removed: vec![false; balls.len()],
            queue: BinaryHeap::new(),
            until,
        };
        for a in 0..balls.len() {
            for b in a + 1..balls.len() {
                reference.predict(a, b, 0.0);
            }
        }
        reference
    }

    fn place(&self, index: usize, time: f64) -> [f64; 3] {
        let ball = &self.balls[index];
        [0, 1, 2].map(|k| ball.place[k] + ball.velocity[k] * (time - self.clocks[index]))
    }

    fn away(&self, a: usize, b: usize, image: [i32; 3], time: f64) -> [f64; 3] {
        let (from, to) = (self.place(a, time), self.place(b, time));
        let edge = self.edge.unwrap_or(0.0);
        [0, 1, 2].map(|k| to[k] - from[k] + edge * f64::from(image[k]))
    }

    /// Predicts the first impact of two balls after `now` through any image that they can reach.
    fn predict(&mut self, a: usize, b: usize, now: f64) {
        if self.removed[a] || self.removed[b] {
            return;
        }
        let v = [0, 1, 2].map(|k| self.balls[b].velocity[k] - self.balls[a].velocity[k]);
        let reach = self.balls[a].radius + self.balls[b].radius;
        let p = self.away(a, b, [0; 3], now);
        // For each axis, the range of the images of ball b that come within `reach` of ball a along this axis.
        let mut ranges = [[0, 0]; 3];
        if let Some(edge) = self.edge {
            for k in 0..3 {
                let end = p[k] + v[k] * (self.until - now);
                let least = ((-reach - p[k].max(end)) / edge).ceil();
                let most = ((reach - p[k].min(end)) / edge).floor();
                ranges[k] = [least as i32, most as i32];
            }
        }
        let [x, y, z] = ranges;
        let mut first: Option<(f64, [i32; 3])> = None;
        for i in x[0]..=x[1] {
            for j in y[0]..=y[1] {
                for k in z[0]..=z[1] {
                    let image = [i, j, k];
                    let p = self.away(a, b, image, now);
                    if let Some(wait) = wait(p, v, reach)
                        && first.is_none_or(|(time, _)| now + wait < time)
                    {
                        first = Some((now + wait, image));
                    }
                }
            }
        }
        if let Some((time, image)) = first.filter(|first| first.0 <= self.until) {
            self.queue.push(Reverse(Predicted {
                time,
                a,
                b,
                image,
                counts: [self.counts[a], self.counts[b]],
            }));
        }
    }

    /// Processes the next impact, and returns it, or `None` after the last one.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            let Reverse(next) = self.queue.pop()?;
            let (time, a, b) = (next.time, next.a, next.b);
            if next.counts != [self.counts[a], self.counts[b]] {
                continue;
            }
            let p = self.away(a, b, next.image, time);
            for index in [a, b] {
                self.balls[index].place = self.place(index, time);
                self.clocks[index] = time;
                self.counts[index] += 1;
            }
            let removes = (self.removes)(a, b);
            if removes != [false; 2] {
                self.removed[a] = removes[0];
                self.removed[b] = removes[1];
                self.predict_all(a, b, time);
                return Some(Event { time, a, b });
            }
            let length = dot(p, p).sqrt();
            let n = p.map(|x| x / length);
            let v = [0, 1, 2].map(|k| self.balls[b].velocity[k] - self.balls[a].velocity[k]);
            let (ma, mb) = (self.balls[a].mass, self.balls[b].mass);
            let impulse = -(1.0 + self.restitution) * dot(v, n) * ma * mb / (ma + mb);
            for (k, n) in n.into_iter().enumerate() {
                self.balls[a].velocity[k] -= impulse / ma * n;
                self.balls[b].velocity[k] += impulse / mb * n;
            }
            self.predict_all(a, b, time);
            return Some(Event { time, a, b });
        }
    }

    /// Predicts the next impacts of two balls that have just met.
    fn predict_all(&mut self, a: usize, b: usize, time: f64) {
        for index in [a, b] {
            for other in 0..self.balls.len() {
                if other != index && !(index == b && other == a) {
                    self.predict(index.min(other), index.max(other), time);
                }
            }
        }
    }
}

/// Returns the time until two balls that do not overlap meet.
fn wait(p: [f64; 3], v: [f64; 3], reach: f64) -> Option<f64> {
    let (a, b, c) = (dot(v, v), dot(p, v), dot(p, p) - reach * reach);
    let discriminant = b * b - a * c;
    if b >= 0.0 || discriminant < 0.0 {
        return None;
    }
    Some((c / (discriminant.sqrt() - b)).max(0.0))
}
