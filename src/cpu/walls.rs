//! `walls`: tests every sphere against every wall. A float32 filter discards the walls that a sphere certainly
//! does not touch, and `src/walls/` decides the others without error.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended, and there are at most 2³⁰ spheres and walls"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use wide::f32x4;

use crate::exact::{Impact, Shift, Translation};
use crate::lanes::{LANES, dot, four, rows, three};
use crate::limits::{CHUNK, Limits};
use crate::memory::out_of_memory;
use crate::walls::{CylinderImages, MAX_CELLS, Solid, Wall, WallCollision, WallShape, Walls};
use crate::{Domain, Error, Sphere};

/// Bound of the error of the filter, as a fraction of the lengths that it computes with. docs/exact.md
/// (section 6) has the proof.
const ERROR: f32 = 1.0 / (1 << 18) as f32;
/// Length that is added to all lengths, to cover underflow.
const LEAST: f32 = 1.0 / (1_u64 << 50) as f32;
/// Number of spheres that are tested against one wall after the other. Their numbers fit in the first cache.
const PART: usize = 512;

const LIST: &str = "the list of wall collisions";

/// The spheres that touch walls, sorted by sphere, by wall and by image.
#[derive(Clone, Debug, Default)]
pub(crate) struct WallHits {
    pub(crate) hits: Vec<WallCollision>,
    /// In a periodic domain, the image of the sphere of each hit.
    pub(crate) images: Vec<[i32; 3]>,
}

/// A step with walls, and the walls in the forms in which they are tested.
struct Task<'a> {
    dt: f32,
    domain: &'a Domain,
    walls: Vec<Tested>,
    limits: Limits,
    found: AtomicU64,
    images: AtomicU64,
    most_images: u64,
}

struct Tested {
    wall: Wall,
    solid: Solid,
    filter: Filter,
    /// The lattice around a cylinder, whose images of spheres are searched.
    images: Option<CylinderImages>,
}

/// Finds every sphere that touches a wall of a simple shape in a step of duration `dt`.
pub(crate) fn find_at_walls(
    spheres: &[Sphere],
    dt: f32,
    walls: &Walls,
    domain: &Domain,
    limits: Limits,
    found: &mut WallHits,
) -> Result<(), Error> {
    found.hits.clear();
    found.images.clear();
    let task = Task {
        dt,
        domain,
        walls: walls
            .simple()
            .iter()
            .map(|wall| Tested::new(wall, domain, dt))
            .collect(),
        limits,
        found: AtomicU64::new(0),
        images: AtomicU64::new(0),
        most_images: spheres.len() as u64 * 64 + (1 << 20),
    };
    let parts: Result<Vec<WallHits>, Error> = spheres
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(number, chunk)| task.run(chunk, number * CHUNK))
        .collect();
    let parts = parts?;
    for part in &parts {
        append(&mut found.hits, &part.hits)?;
        append(&mut found.images, &part.images)?;
    }
    Ok(())
}

fn append<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<(), Error> {
    let room = all.try_reserve(more.len());
    room.map_err(|_| out_of_memory::<T>(all.len() + more.len(), LIST))?;
    all.extend_from_slice(more);
    Ok(())
}

impl Tested {
    fn new(wall: &Wall, domain: &Domain, dt: f32) -> Self {
        let solid = wall.solid();
        let images = match &solid {
            Solid::Round(round) => CylinderImages::new(round, domain),
            _ => None,
        };
        Self {
            wall: *wall,
            solid,
            filter: Filter::new(wall, dt),
            images,
        }
    }
}

impl Task<'_> {
    /// Tests the spheres of one chunk. `first` is the index of its first sphere.
    fn run(&self, spheres: &[Sphere], first: usize) -> Result<WallHits, Error> {
        let mut found = WallHits::default();
        let mut candidates: Vec<(u32, u32)> = Vec::new();
        let mut blocks = Vec::with_capacity(PART / LANES);
        for (number, part) in spheres.chunks(PART).enumerate() {
            blocks.clear();
            blocks.extend(part.chunks(LANES).map(|four| Block::new(four, self.dt)));
            candidates.clear();
            for (wall, tested) in self.walls.iter().enumerate() {
                if tested.images.is_some() {
                    candidates.extend((0..part.len()).map(|k| (k as u32, wall as u32)));
                } else {
                    tested
                        .filter
                        .candidates(&blocks, part.len(), wall as u32, &mut candidates);
                }
            }
            candidates.sort_unstable();
            for &(k, wall) in &candidates {
                let sphere = &part[k as usize];
                self.decide(first + number * PART + k as usize, sphere, wall, &mut found)?;
            }
        }
        Ok(found)
    }

    fn decide(
        &self,
        index: usize,
        sphere: &Sphere,
        wall: u32,
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let tested = &self.walls[wall as usize];
        let groups = Sphere {
            groups: tested.wall.groups,
            ..Sphere::default()
        };
        if sphere.ignores(&groups) {
            return Ok(());
        }
        let names = [index as u32, wall];
        let (Some(lattice), Solid::Round(round)) = (&tested.images, &tested.solid) else {
            return self.test(tested, sphere, (), names, [0; 3], found);
        };
        let images = lattice.reaching(round, sphere, self.dt);
        let images = images.ok_or(Error::ImageOutOfRange {
            index,
            set: None,
            limit: MAX_CELLS,
        })?;
        let needed = self.images.fetch_add(images.count(), Ordering::Relaxed) + images.count();
        if needed > self.most_images {
            return Err(Error::TooManyImages {
                needed,
                limit: self.most_images,
            });
        }
        let mut outcome = Ok(());
        images.each(|image| {
            if outcome.is_ok() {
                let shift = Translation::new(self.domain, image);
                outcome = self.test(tested, sphere, shift, names, image, found);
            }
        });
        outcome
    }

    fn test(
        &self,
        tested: &Tested,
        sphere: &Sphere,
        shift: impl Shift,
        [index, wall]: [u32; 2],
        image: [i32; 3],
        found: &mut WallHits,
    ) -> Result<(), Error> {
        let Some(Impact { toi, depth }) = tested.solid.impact(sphere, shift, self.dt) else {
            return Ok(());
        };
        self.limits
            .allow_pairs(self.found.fetch_add(1, Ordering::Relaxed) + 1)?;
        append(
            &mut found.hits,
            &[WallCollision {
                sphere: index,
                wall,
                toi,
                depth,
            }],
        )?;
        if !self.domain.is_open() {
            append(&mut found.images, &[image])?;
        }
        Ok(())
    }
}

/// Four spheres: their centres, radii and displacements, with the first axis as the first index.
struct Block {
    center: [f32x4; 3],
    radius: f32x4,
    shift: [f32x4; 3],
    /// Lengths of the displacements.
    distance: f32x4,
    /// Sum of the magnitudes of all numbers above.
    size: f32x4,
}

impl Block {
    /// Transposes up to four spheres. Fewer spheres are filled up with copies of the first one.
    #[inline(always)]
    fn new(spheres: &[Sphere], dt: f32) -> Self {
        let lanes = four([0, 1, 2, 3], |k| spheres.get(k).unwrap_or(&spheres[0]));
        let [[x, y, z, radius], [u, v, w, _]] = rows(lanes);
        let (center, dt) = ([x, y, z], f32x4::splat(dt));
        let shift = three([u, v, w], |v| v * dt);
        let sum = |x: [f32x4; 3]| x[0].abs() + x[1].abs() + x[2].abs();
        let distance = dot(shift, shift).sqrt();
        Self {
            center,
            radius,
            shift,
            distance,
            size: sum(center) + sum(shift) + distance + radius,
        }
    }
}

/// A wall in float32, for the test that discards spheres far from it.
enum Filter {
    HalfSpace {
        /// Unit normal.
        normal: [f32; 3],
        /// Distance of the plane from the origin.
        offset: f32,
        /// Displacement of the plane along the normal during the step.
        shift: f32,
        size: f32,
    },
    Round {
        point: [f32; 3],
        /// Unit vector along the axis of a cylinder.
        axis: Option<[f32; 3]>,
        radius: f32,
        inside: bool,
        /// Half of the displacement during the step.
        half_shift: [f32; 3],
        /// Length of `half_shift`.
        half_distance: f32,
        size: f32,
    },
}

impl Filter {
    fn new(wall: &Wall, dt: f32) -> Self {
        let vector = |x: [f32; 3]| Vec3::from(x).as_dvec3();
        let moved = vector(wall.velocity) * f64::from(dt);
        let sum = |x: DVec3| x.abs().element_sum();
        let unit = |x: [f32; 3]| vector(x).normalize();
        let narrow = |x: DVec3| x.as_vec3().to_array();
        let round = |point, axis: Option<[f32; 3]>, radius, inside| Self::Round {
            point,
            axis: axis.map(|axis| narrow(unit(axis))),
            radius,
            inside,
            half_shift: narrow(moved / 2.0),
            half_distance: (moved.length() / 2.0) as f32,
            size: (sum(vector(point)) + 2.0 * sum(moved) + f64::from(radius)) as f32 + LEAST,
        };
        match wall.shape {
            WallShape::HalfSpace { normal, offset } => {
                let offset = f64::from(offset) / vector(normal).length();
                let shift = unit(normal).dot(moved);
                Self::HalfSpace {
                    normal: narrow(unit(normal)),
                    offset: offset as f32,
                    shift: shift as f32,
                    size: (offset.abs() + shift.abs()) as f32 + LEAST,
                }
            }
            WallShape::Sphere { center, radius } => round(center, None, radius, false),
            WallShape::SphereInside { center, radius } => round(center, None, radius, true),
            WallShape::Cylinder {
                point,
                axis,
                radius,
            } => round(point, Some(axis), radius, false),
            WallShape::CylinderInside {
                point,
                axis,
                radius,
            } => round(point, Some(axis), radius, true),
        }
    }

    /// Lists the spheres that may touch the wall: their positions in the part, with the number of the wall.
    fn candidates(
        &self,
        blocks: &[Block],
        count: usize,
        wall: u32,
        candidates: &mut Vec<(u32, u32)>,
    ) {
        let mut add = |number: usize, mut lanes: u32| {
            while lanes != 0 {
                let k = number * LANES + lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                if k < count {
                    candidates.push((k as u32, wall));
                }
            }
        };
        let splat = |x: [f32; 3]| x.map(f32x4::splat);
        match *self {
            Self::HalfSpace {
                normal,
                offset,
                shift,
                size,
            } => {
                let normal = splat(normal);
                let [offset, shift, size] = splat([offset, shift, size]);
                for (number, block) in blocks.iter().enumerate() {
                    let start = dot(normal, block.center) - offset;
                    let end = start + (dot(normal, block.shift) - shift);
                    let reach = block.radius + f32x4::splat(ERROR) * (block.size + size);
                    let misses = start.simd_gt(reach) & end.simd_gt(reach);
                    add(number, !misses.to_bitmask() as u32 & 15);
                }
            }
            Self::Round {
                point,
                axis,
                radius,
                inside,
                half_shift,
                half_distance,
                size,
            } => {
                let (point, half_shift) = (splat(point), splat(half_shift));
                let axis = axis.map(splat);
                let [radius, half_distance, size] = splat([radius, half_distance, size]);
                let half = f32x4::splat(0.5);
                for (number, block) in blocks.iter().enumerate() {
                    // The position relative to the wall in the middle of the step.
                    let mut middle = [block.radius; 3];
                    for k in 0..3 {
                        let shift = block.shift[k] * half - half_shift[k];
                        middle[k] = (block.center[k] - point[k]) + shift;
                    }
                    if let Some([x, y, z]) = axis {
                        let [a, b, c] = middle;
                        middle = [y * c - z * b, z * a - x * c, x * b - y * a];
                    }
                    let square = dot(middle, middle);
                    let margin = f32x4::splat(ERROR) * (block.size + size);
                    let around = block.radius + half * block.distance + half_distance + margin;
                    let misses = if inside {
                        let room = radius - around;
                        room.simd_gt(f32x4::splat(0.0)) & square.simd_lt(room * room)
                    } else {
                        let reach = radius + around;
                        square.simd_gt(reach * reach)
                    };
                    add(number, !misses.to_bitmask() as u32 & 15);
                }
            }
        }
    }
}
