//! Finds the spheres that touch walls of finite size (triangles and solid spheres) in a periodic
//! domain. In open space, `walls.rs` and `meshes.rs` find them. A search lists the spheres of the
//! step that touch the bounding sphere of a wall. Each listed sphere is then tested against the
//! wall itself. Twin of `shaders/walls/triangles.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres and walls"
)]

use rayon::prelude::*;

use super::run::Cpu;
use super::wall_hits::{LIST, WallHits, append};
use crate::exact::{Hit, Translation};
use crate::limits::{CHUNK, Limits};
use crate::memory::collect_in_parallel;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::step::UncheckedStep;
use crate::threads;
use crate::walls::{Solid, Walls};
use crate::{Collision, Domain, Error, Sphere, WallCollision};

#[derive(Debug, Default)]
pub(crate) struct BoundedWalls {
    both: ReusedVec<Sphere>,
    pairs: Vec<Collision>,
    images: Vec<[i32; 3]>,
}

struct Targets<'a> {
    walls: &'a Walls,
    /// Solid spheres, with their indices in the list of walls.
    spheres: Vec<(u32, Sphere)>,
    /// The number of the first triangle of each mesh.
    first_triangles: Vec<usize>,
    count: usize,
}

impl<'a> Targets<'a> {
    fn new(walls: &'a Walls) -> Self {
        let solid_sphere = |(number, wall): (usize, &crate::Wall)| match wall.solid() {
            Solid::Round(round) => Some((
                number as u32,
                Sphere {
                    groups: wall.groups(),
                    ..round.ball()?
                },
            )),
            Solid::HalfSpace(_) => None,
        };
        let simple = walls.simple().iter().enumerate();
        let spheres: Vec<_> = simple.filter_map(solid_sphere).collect();
        let mut count = 0;
        let first_triangles = walls.meshes().iter().map(|mesh| {
            count += mesh.triangles().len();
            count - mesh.triangles().len()
        });
        let first_triangles = first_triangles.collect();
        Self {
            walls,
            count: count + spheres.len(),
            spheres,
            first_triangles,
        }
    }

    fn bounds(&self, out: &mut [Sphere]) {
        let triangles = self.walls.meshes().iter().flat_map(|mesh| mesh.bounds());
        let spheres = self.spheres.iter().map(|(_, sphere)| sphere);
        for (out, bound) in out.iter_mut().zip(spheres.chain(triangles)) {
            *out = *bound;
        }
    }

    /// Decides exactly whether a sphere, displaced by `image`, touches a wall.
    fn test(
        &self,
        pair: &Collision,
        sphere: &Sphere,
        domain: &Domain,
        image: [i32; 3],
        dt: f32,
    ) -> Option<WallCollision> {
        let target = pair.b as usize;
        let hit = |wall, Hit { toi, depth }| WallCollision {
            sphere: pair.a,
            wall,
            toi,
            depth,
        };
        let Some(index) = target.checked_sub(self.spheres.len()) else {
            let Collision { toi, depth, .. } = *pair;
            return Some(hit(self.spheres[target].0, Hit { toi, depth }));
        };
        let mesh = self
            .first_triangles
            .partition_point(|&first| first <= index)
            - 1;
        let triangle = self.walls.meshes()[mesh].triangle(index - self.first_triangles[mesh])?;
        let impact = triangle.impact(sphere, Translation::new(domain, image), dt);
        Some(hit((self.walls.simple().len() + index) as u32, impact?))
    }

    fn explain(&self, error: Error) -> Error {
        match error {
            Error::ImageOutOfRange {
                index,
                set: Some(1),
                limit,
            } => Error::InvalidWall {
                wall: match self.spheres.get(index) {
                    Some(&(number, _)) => number as usize,
                    None => self.walls.simple().len() + index - self.spheres.len(),
                },
                problem: format!(
                    "it passes more than {limit} cells away from the periodic domain; move it \
                     nearer to the cell, or shorten the time step"
                ),
            },
            error => error,
        }
    }
}

impl BoundedWalls {
    pub(crate) fn find(
        &mut self,
        cpu: &mut Cpu,
        step: &UncheckedStep<'_>,
        walls: &Walls,
        limits: Limits,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let targets = Targets::new(walls);
        let count = step.spheres.len() + targets.count;
        if targets.count == 0 || step.spheres.is_empty() {
            self.both.rest();
            return Ok(());
        }
        let both = self
            .both
            .enough(count, "a copy of the spheres and the walls")?;
        let (spheres, bounds) = both.split_at_mut(step.spheres.len());
        spheres.copy_from_slice(step.spheres);
        targets.bounds(bounds);
        let two_sets = UncheckedStep {
            spheres: both,
            sets: Sets::Two {
                first: step.spheres.len(),
            },
            ..*step
        };
        let (pairs, images) = (&mut self.pairs, &mut self.images);
        let work = || {
            let checked = two_sets.check()?;
            cpu.run(checked, limits, pairs, images, Vec::new())
        };
        let outcome = threads::run(count, work);
        outcome.map_err(|error| targets.explain(error))?;
        self.list(&targets, step, found)
    }

    fn list(
        &self,
        targets: &Targets<'_>,
        step: &UncheckedStep<'_>,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let test = |number: usize| {
            let mut part = WallHits::default();
            let end = self.pairs.len().min((number + 1) * CHUNK);
            for index in number * CHUNK..end {
                let pair = &self.pairs[index];
                // The search returns the displacement of the wall, the test
                // needs that of the sphere.
                let image = self.images[index].map(i32::wrapping_neg);
                let sphere = &step.spheres[pair.a as usize];
                if let Some(hit) = targets.test(pair, sphere, &step.domain, image, step.dt) {
                    append(&mut part.hits, &[hit])?;
                    append(&mut part.images, &[image])?;
                }
            }
            Ok(part)
        };
        let numbers = (0..self.pairs.len().div_ceil(CHUNK)).into_par_iter();
        let work = || collect_in_parallel(numbers.map(test), LIST);
        for part in threads::run(self.pairs.len(), work)? {
            let part = part?;
            append(&mut found.hits, &part.hits)?;
            append(&mut found.images, &part.images)?;
        }
        // The images are in the order of the wall's displacement.
        found.sort()
    }
}
