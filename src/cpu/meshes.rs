//! `meshes`: finds the spheres that touch triangles, in open space. Each mesh has a tree of boxes. A sphere that
//! may touch the box of a triangle is tested against the triangle itself.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ triangles"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use super::walls::{WallHits, append};
use crate::exact::Impact;
use crate::limits::Limits;
use crate::walls::{Mesh, Path, ToVisit, Walls};
use crate::{Error, Sphere, WallCollision};

/// A step with meshes in open space.
pub(super) struct Meshes<'a> {
    dt: f32,
    /// Each mesh, and the number of its first triangle among the walls.
    meshes: Vec<(u32, &'a Mesh)>,
    limits: Limits,
    tested: AtomicU64,
}

impl<'a> Meshes<'a> {
    pub(super) fn new(walls: &'a Walls, dt: f32, limits: Limits) -> Self {
        let mut first = walls.simple().len();
        let meshes = walls.meshes().iter().map(|mesh| {
            let number = first;
            first += mesh.triangles().len();
            (number as u32, mesh)
        });
        Self {
            dt,
            meshes: meshes.collect(),
            limits,
            tested: AtomicU64::new(0),
        }
    }

    /// Adds the spheres of one chunk that touch triangles. `start` is the index of its first sphere.
    pub(super) fn run(
        &self,
        spheres: &[Sphere],
        start: usize,
        pairs: &AtomicU64,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let before = found.hits.len();
        let mut to_visit = ToVisit::default();
        for &(first, mesh) in &self.meshes {
            let moved = mesh.velocity();
            for (index, sphere) in (start..).zip(spheres) {
                let displacement = [0, 1, 2].map(|k| (sphere.velocity[k] - moved[k]) * self.dt);
                let path = Path::new(sphere.center, sphere.radius, displacement);
                if mesh.tree().may_meet(&path) && !mesh.is_ignored_by(sphere) {
                    let names = [index as u32, first];
                    self.search(mesh, names, sphere, &path, &mut to_visit, pairs, found)?;
                }
            }
        }
        // The tree names the triangles of a sphere in any order.
        if found.hits.len() > before {
            found.sort();
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the state of one search")]
    fn search(
        &self,
        mesh: &Mesh,
        [sphere_index, first]: [u32; 2],
        sphere: &Sphere,
        path: &Path,
        to_visit: &mut ToVisit,
        pairs: &AtomicU64,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let mut tested = 0;
        mesh.tree().each(path, to_visit, |triangle| {
            tested += 1;
            let impact = mesh.triangle(triangle as usize);
            let impact = impact.and_then(|triangle| triangle.impact(sphere, (), self.dt));
            let Some(Impact { toi, depth }) = impact else {
                return Ok(());
            };
            self.limits
                .allow_pairs(pairs.fetch_add(1, Ordering::Relaxed) + 1)?;
            let hit = WallCollision {
                sphere: sphere_index,
                wall: first + triangle,
                toi,
                depth,
            };
            append(&mut found.hits, &[hit])
        })?;
        let all = self.tested.fetch_add(tested, Ordering::Relaxed) + tested;
        self.limits.allow_candidates(all)
    }
}
