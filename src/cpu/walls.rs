//! `walls`: tests every sphere against every wall. A float32 filter discards the walls that a sphere certainly does not
//! touch, and `src/walls/` decides the others without error. Twin of `shaders/walls/walls.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended, and there are at most 2³⁰ spheres and walls"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use rayon::prelude::*;
use wide::f32x4;

use super::meshes::{Meshes, NearMesh};
use super::wall_hits::{LIST, WallHits, append, each_block};
use crate::exact::{Hit, Shift, Translation};
use crate::lanes::{LANES, dot, rows};
use crate::lattice::MAX_CELLS;
use crate::limits::{CHUNK, Limits};
use crate::memory::{collect_in_parallel, extend};
use crate::step::UncheckedStep;
use crate::walls::{CylinderImages, HalfSpace, Round, Solid, Wall, Walls, vector};
use crate::{Domain, Error, Sphere, WallCollision};

/// Relative to the lengths in the computation (docs/exact.md, section 6).
const ERROR: f32 = 1.0 / (1 << 18) as f32;
/// Covers underflow, which [`ERROR`] does not.
const LEAST: f64 = 1.0 / (1_u64 << 50) as f64;

struct WallTask<'a> {
    dt: f32,
    domain: Domain,
    walls: Vec<Tested>,
    meshes: Option<Meshes<'a>>,
    /// Tested all at once. The walls in `filters` are tested one by one.
    faces: Faces,
    filters: Vec<Filter>,
    with_images: bool,
    limits: Limits,
    found: AtomicU64,
    images: AtomicU64,
    most_images: u64,
}

struct Tested {
    wall: Wall,
    solid: Solid,
    filter: Filter,
    images: WallImages,
}

#[derive(Default)]
struct WallPart {
    found: WallHits,
    near_meshes: Vec<NearMesh>,
    /// The walls near a block of four spheres, with a mask of the spheres.
    near_walls: Vec<(u32, u32)>,
}

/// In a periodic domain, only half-spaces and cylinders, which are infinite: `bounded_walls.rs`
/// has the others.
pub(crate) fn find_at_walls(
    walls: &Walls,
    step: &UncheckedStep<'_>,
    limits: Limits,
    found: &mut WallHits,
) -> Result<(), Error> {
    let task = WallTask::new(walls, step, limits);
    let chunks = step.spheres.par_chunks(CHUNK).enumerate();
    let parts = chunks.map(|(number, spheres)| task.run(spheres, number * CHUNK));
    let parts = collect_in_parallel(parts, LIST)?;
    found.hits.clear();
    found.images.clear();
    let mut near = Vec::new();
    for part in parts {
        let part = part?;
        append(&mut found.hits, &part.found.hits)?;
        append(&mut found.images, &part.found.images)?;
        append(&mut near, &part.near_meshes)?;
    }
    match &task.meshes {
        Some(meshes) => meshes.search(step.spheres, near, &task.found, found),
        None => Ok(()),
    }
}

enum WallImages {
    /// There are none, or they touch the wall in the same way.
    None,
    /// Only those that may reach the cylinder.
    Around(CylinderImages),
    /// Tested in `bounded_walls.rs`.
    Elsewhere,
}

impl Tested {
    fn new(wall: &Wall, domain: &Domain, dt: f32) -> Self {
        let solid = wall.solid();
        let images = match &solid {
            Solid::Round(round) if !domain.is_open() && round.ball().is_some() => {
                WallImages::Elsewhere
            }
            Solid::Round(round) => {
                CylinderImages::new(round, domain).map_or(WallImages::None, WallImages::Around)
            }
            Solid::HalfSpace(_) => WallImages::None,
        };
        Self {
            wall: *wall,
            solid,
            filter: Filter::new(wall, dt),
            images,
        }
    }
}

impl<'a> WallTask<'a> {
    fn new(walls: &'a Walls, step: &UncheckedStep<'_>, limits: Limits) -> Self {
        let &UncheckedStep {
            spheres,
            dt,
            domain,
            ..
        } = step;
        let tested = walls.simple().iter();
        let tested: Vec<_> = tested.map(|wall| Tested::new(wall, &domain, dt)).collect();
        let mut faces = Faces::none();
        let filters = tested.iter().map(|tested| tested.filter);
        let filters = filters.filter(|filter| !faces.take(filter)).collect();
        let in_open_space = domain.is_open() && !walls.meshes().is_empty();
        let meshes = in_open_space.then(|| Meshes::new(walls, dt, limits));
        Self {
            dt,
            domain,
            faces,
            filters,
            with_images: tested
                .iter()
                .any(|tested| matches!(tested.images, WallImages::Around(_))),
            walls: tested,
            meshes,
            limits,
            found: AtomicU64::new(0),
            images: AtomicU64::new(0),
            most_images: spheres.len() as u64 * 64 + (1 << 20),
        }
    }

    fn run(&self, spheres: &[Sphere], first: usize) -> Result<WallPart, Error> {
        let mut part = WallPart::default();
        if !self.walls.is_empty() {
            self.run_simple(spheres, first, &mut part)?;
        }
        if let Some(meshes) = &self.meshes {
            meshes.select(spheres, first, &mut part.near_meshes)?;
        }
        Ok(part)
    }

    fn run_simple(
        &self,
        spheres: &[Sphere],
        first: usize,
        part: &mut WallPart,
    ) -> Result<(), Error> {
        let WallPart {
            found, near_walls, ..
        } = part;
        each_block(spheres, |start, spheres, valid| {
            let paths = Paths::new(spheres, self.dt);
            let mut near = self.faces.near(&paths);
            if !self.filters.is_empty() {
                let balls = paths.balls();
                for filter in &self.filters {
                    near |= filter.near(&balls);
                }
            }
            if near.to_bitmask() == 0 && !self.with_images {
                return Ok(());
            }
            let balls = paths.balls();
            near_walls.clear();
            let near = (0..).zip(&self.walls).filter_map(|(wall, tested)| {
                let near = match tested.images {
                    WallImages::None => tested.filter.near(&balls).to_bitmask(),
                    WallImages::Around(_) => 15,
                    WallImages::Elsewhere => 0,
                };
                let near = near & valid;
                (near != 0).then_some((wall, near))
            });
            extend(near_walls, near, LIST)?;
            for (k, sphere) in spheres.iter().enumerate() {
                for &(wall, near) in near_walls.iter() {
                    if near >> k & 1 == 1 {
                        self.decide(first + start + k, sphere, wall, found)?;
                    }
                }
            }
            Ok(())
        })
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
            groups: tested.wall.groups(),
            ..Sphere::default()
        };
        if sphere.ignores(&groups) {
            return Ok(());
        }
        let names = [index as u32, wall];
        let (WallImages::Around(lattice), Solid::Round(round)) = (&tested.images, &tested.solid)
        else {
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
                let shift = Translation::new(&self.domain, image);
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
        let Some(Hit { toi, depth }) = tested.solid.impact(sphere, shift, self.dt) else {
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

struct Paths {
    center: [f32x4; 3],
    radius: f32x4,
    shift: [f32x4; 3],
}

impl Paths {
    #[inline(always)]
    fn new(spheres: &[Sphere; LANES], dt: f32) -> Self {
        let [[x, y, z, radius], [u, v, w, _]] = rows(spheres.each_ref());
        let dt = f32x4::splat(dt);
        Self {
            center: [x, y, z],
            radius,
            shift: [u * dt, v * dt, w * dt],
        }
    }

    #[inline(always)]
    fn balls(&self) -> PathBalls {
        let [x, y, z] = self.center;
        let reach = self.radius + dot(self.shift, self.shift).sqrt();
        let size = x.abs() + y.abs() + z.abs() + reach;
        PathBalls {
            center: self.center,
            reach: reach + size * f32x4::splat(ERROR),
        }
    }
}

/// Each ball is around the whole path of a sphere, with a margin for rounding.
struct PathBalls {
    center: [f32x4; 3],
    reach: f32x4,
}

/// The half-spaces perpendicular to a coordinate axis, of which only the innermost on either
/// side of each axis matters. In all lanes, because copying for each block would take longer
/// than the test.
struct Faces {
    low: [f32x4; 3],
    high: [f32x4; 3],
}

impl Faces {
    fn none() -> Self {
        Self {
            low: [f32x4::splat(f32::NEG_INFINITY); 3],
            high: [f32x4::splat(f32::INFINITY); 3],
        }
    }

    /// Takes a half-space perpendicular to a coordinate axis. Returns whether it did.
    fn take(&mut self, filter: &Filter) -> bool {
        let &Filter::HalfSpace { normal, offset } = filter else {
            return false;
        };
        let normal = normal.map(|lanes| lanes.to_array()[0]);
        let unit = |k, sign| (0..3).all(|i| normal[i] == if i == k { sign } else { 0.0 });
        for k in 0..3 {
            if unit(k, 1.0) {
                self.low[k] = self.low[k].fast_max(offset);
                return true;
            }
            if unit(k, -1.0) {
                self.high[k] = self.high[k].fast_min(-offset);
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn near(&self, paths: &Paths) -> f32x4 {
        let mut near = f32x4::splat(0.0);
        for k in 0..3 {
            let center = paths.center[k];
            let reach = paths.radius + paths.shift[k].abs();
            let reach = reach + (center.abs() + reach) * f32x4::splat(ERROR);
            near |= (center - reach).simd_le(self.low[k]);
            near |= (center + reach).simd_ge(self.high[k]);
        }
        near
    }
}

/// A wall in float32, in all lanes, for the test that discards spheres far from it.
#[derive(Clone, Copy)]
enum Filter {
    /// At rest, and contains the moving half-space at all times of the step.
    HalfSpace { normal: [f32x4; 3], offset: f32x4 },
    Round {
        point: [f32x4; 3],
        axis: Option<[f32x4; 3]>,
        /// That of a wall at rest which spheres touch if they touch the moving one:
        /// larger if the wall is solid, smaller if it is hollow.
        radius: f32x4,
        inside: bool,
    },
}

impl Filter {
    fn new(wall: &Wall, dt: f32) -> Self {
        let moved = vector(wall.velocity()) * f64::from(dt);
        let unit = |x: [f32; 3]| vector(x).normalize();
        let splat = |x: DVec3| x.as_vec3().to_array().map(f32x4::splat);
        match wall.solid() {
            Solid::HalfSpace(HalfSpace { normal, offset, .. }) => {
                let offset = f64::from(offset) / vector(normal).length();
                let moved = unit(normal).dot(moved).max(0.0);
                let margin = (offset.abs() + moved) * f64::from(ERROR) + LEAST;
                Self::HalfSpace {
                    normal: splat(unit(normal)),
                    offset: f32x4::splat((offset + moved + margin) as f32),
                }
            }
            Solid::Round(Round {
                point,
                axis,
                radius,
                inside,
                ..
            }) => {
                let size = vector(point).abs().element_sum() + moved.length() + f64::from(radius);
                let around = moved.length() + size * f64::from(ERROR) + LEAST;
                let radius = f64::from(radius) + if inside { -around } else { around };
                Self::Round {
                    point: splat(vector(point)),
                    axis: axis.map(|axis| splat(unit(axis))),
                    radius: f32x4::splat(radius as f32),
                    inside,
                }
            }
        }
    }

    #[inline(always)]
    fn near(&self, balls: &PathBalls) -> f32x4 {
        match *self {
            Self::HalfSpace { normal, offset } => {
                (dot(normal, balls.center) - balls.reach).simd_le(offset)
            }
            Self::Round {
                point: [x, y, z],
                axis,
                radius,
                inside,
            } => {
                let [a, b, c] = balls.center;
                let mut away = [a - x, b - y, c - z];
                if let Some([x, y, z]) = axis {
                    let [a, b, c] = away;
                    away = [y * c - z * b, z * a - x * c, x * b - y * a];
                }
                let square = dot(away, away);
                if inside {
                    let room = radius - balls.reach;
                    room.simd_le(f32x4::splat(0.0)) | square.simd_ge(room * room)
                } else {
                    let reach = radius + balls.reach;
                    square.simd_le(reach * reach)
                }
            }
        }
    }
}
