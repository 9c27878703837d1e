//! The part `meshes` of the stage `walls`: finds the spheres that touch triangles, in open space. Each mesh has
//! a tree of bounding boxes of its triangles. A sphere whose path may reach a triangle's box is tested against
//! the triangle.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres and triangles"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use wide::f32x4;

use super::wall_hits::{LIST, WallHits, append, each_block};
use crate::exact::Hit;
use crate::lanes::{Bits, LANES, each, rows, three};
use crate::limits::Limits;
use crate::memory::{collect, collect_in_parallel, extend};
use crate::walls::{Mesh, Path, Triangle, Walls};
use crate::{Error, Sphere, WallCollision};

const FEW: usize = 512;

pub(super) struct Meshes<'a> {
    dt: f32,
    meshes: Vec<(u32, &'a Mesh)>,
    limits: Limits,
    tested: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NearMesh {
    mesh: u32,
    /// Spheres are processed along the space-filling curve of the triangles, so that nodes
    /// are still in the cache.
    place: u64,
    sphere: u32,
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

    /// Appends to `near` the spheres of a chunk, from index `start`, that may touch triangles.
    pub(super) fn select(
        &self,
        spheres: &[Sphere],
        start: usize,
        near: &mut Vec<NearMesh>,
    ) -> Result<(), Error> {
        for (number, (_, mesh)) in (0..).zip(&self.meshes) {
            if mesh.triangles().is_empty() {
                continue;
            }
            each_block(spheres, |first, block, valid| {
                let mask = mesh.tree().near(&self.paths(mesh, block)) & valid;
                for lane in Bits(mask) {
                    let sphere = &block[lane];
                    if mesh.is_ignored_by(sphere) {
                        continue;
                    }
                    let one = NearMesh {
                        mesh: number,
                        place: mesh.tree().place(sphere.center),
                        sphere: (start + first + lane) as u32,
                    };
                    append(near, &[one])?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    #[inline(always)]
    fn paths(&self, mesh: &Mesh, spheres: &[Sphere; LANES]) -> Path<f32x4> {
        let [[x, y, z, radius], [u, v, w, _]] = rows(spheres.each_ref());
        let moved = three(mesh.velocity(), f32x4::splat);
        let dt = f32x4::splat(self.dt);
        let displacement = each([u, v, w], moved, |of_sphere, of_mesh| {
            (of_sphere - of_mesh) * dt
        });
        Path::new([x, y, z], radius, displacement)
    }

    /// Tests the spheres of `near`. Appends those that touch to `found`, and adds their
    /// number to `pairs`.
    pub(super) fn search(
        &self,
        spheres: &[Sphere],
        mut near: Vec<NearMesh>,
        pairs: &AtomicU64,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        near.par_sort_unstable();
        let parts = near.par_chunks(FEW);
        let parts = parts.map(|near| self.test(spheres, near, pairs));
        for part in collect_in_parallel(parts, LIST)? {
            append(&mut found.hits, &part?)?;
        }
        found.sort()
    }

    fn test(
        &self,
        spheres: &[Sphere],
        near: &[NearMesh],
        pairs: &AtomicU64,
    ) -> Result<Vec<WallCollision>, Error> {
        // In a separate loop, so that many cache misses overlap.
        let mut copies = [Sphere::default(); FEW];
        for (copy, near) in copies.iter_mut().zip(near) {
            *copy = spheres[near.sphere as usize];
        }
        let mut copies = &copies[..];
        let mut hits = Vec::new();
        for near in near.chunk_by(|a, b| a.mesh == b.mesh) {
            let (spheres, others) = copies.split_at(near.len());
            copies = others;
            self.test_one_mesh(spheres, near, pairs, &mut hits)?;
        }
        Ok(hits)
    }

    fn test_one_mesh(
        &self,
        spheres: &[Sphere],
        near: &[NearMesh],
        pairs: &AtomicU64,
        hits: &mut Vec<WallCollision>,
    ) -> Result<(), Error> {
        let (first, mesh) = self.meshes[near[0].mesh as usize];
        let moved = mesh.velocity();
        let paths = spheres.iter().map(|sphere| {
            let displacement = [0, 1, 2].map(|k| (sphere.velocity[k] - moved[k]) * self.dt);
            Path::new(sphere.center, sphere.radius, displacement)
        });
        let paths = collect(paths, LIST)?;
        let mut triangles: Vec<(usize, u32, Triangle)> = Vec::new();
        mesh.tree().each(&paths, &mut |found| {
            let more = found.len() as u64;
            let all = self.tested.fetch_add(more, Ordering::Relaxed) + more;
            self.limits.allow_candidates(all)?;
            triangles.clear();
            let found = found.iter().filter_map(|&(sphere, triangle)| {
                let corners = mesh.triangle(triangle as usize)?;
                Some((sphere as usize, first + triangle, corners))
            });
            extend(&mut triangles, found, LIST)?;
            for &(sphere, wall, triangle) in &triangles {
                let impact = triangle.impact(&spheres[sphere], (), self.dt);
                let Some(Hit { toi, depth }) = impact else {
                    continue;
                };
                self.limits
                    .allow_pairs(pairs.fetch_add(1, Ordering::Relaxed) + 1)?;
                let hit = WallCollision {
                    sphere: near[sphere].sphere,
                    wall,
                    toi,
                    depth,
                };
                append(hits, &[hit])?;
            }
            Ok(())
        })
    }
}
