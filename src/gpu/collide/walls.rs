//! The walls of a step in the form that the shaders read, and the exact decisions about them on the host.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::Zeroable;
use glam::DVec3;

use crate::dynamics::surface::{adjoined, surroundings};
use crate::exact::integers::numbers;
use crate::exact::{GRAZING, Hit, Settling, Translation};
use crate::gpu::device::shader::layout::{
    GatheredWall, GpuMeshBox, GpuMeshTriangle, GpuTriangle, GpuWall, GpuWallLattice, WallParams,
};
use crate::lattice::duals;
use crate::walls::{HalfSpace, Round, Solid, Triangle, edges_across, vector};
use crate::{Domain, Error, MAX_MAGNITUDE, Mesh, Sphere, Wall, WallCollision, Walls};

/// Lower limit for `extent`. Rounding a subnormal number changes it by at most 2⁻¹⁵⁰, which is
/// negligible in comparison.
const LEAST_EXTENT: f64 = 1.0 / (1_u128 << 100) as f64;

/// Rounding to float32 then does not make a float64 smaller.
const ROUNDED_UP: f64 = 1.0 + 1.0 / (1 << 20) as f64;

/// Checked.
pub(crate) struct StepWalls {
    /// With velocities in the unit of time of the spheres.
    walls: Arc<Walls>,
    domain: Domain,
    pub(crate) extent: f32,
}

fn extent_of(wall: &Wall, dt: f32) -> f64 {
    let (point, size) = match wall.solid() {
        Solid::HalfSpace(HalfSpace { normal, offset, .. }) => {
            ([0.0; 3], f64::from(offset) / vector(normal).length())
        }
        Solid::Round(Round { point, radius, .. }) => (point, radius.into()),
    };
    let moved = vector(wall.velocity()) * f64::from(dt);
    let largest = |x: DVec3| x.abs().max_element();
    largest(vector(point)).max(largest(moved)).max(size.abs())
}

/// Returns the greater of a bound of the coordinates of the bounding spheres, and of the
/// largest component of the displacement.
fn extent_of_mesh(mesh: &Mesh, dt: f32) -> f64 {
    let largest = |x: DVec3| x.abs().max_element();
    let of_bound = |bound: &Sphere| largest(vector(bound.center)) + f64::from(bound.radius);
    let bounds = mesh.bounds().iter().map(of_bound);
    bounds.fold(largest(vector(mesh.velocity())) * f64::from(dt), f64::max)
}

impl StepWalls {
    /// Checks the walls. `times` is `dt` if spheres are given by displacements, or 1 if by
    /// velocities. `last`, the walls of an earlier step, is used again if it is equal.
    pub(crate) fn new(
        walls: Option<&Walls>,
        dt: f32,
        times: f32,
        domain: &Domain,
        last: Option<&Arc<Walls>>,
    ) -> Result<Option<Self>, Error> {
        let Some(walls) = walls.filter(|walls| !walls.is_empty()) else {
            return Ok(None);
        };
        walls.check(dt, domain)?;
        let simple = walls.simple().iter().map(|wall| extent_of(wall, dt));
        let meshes = walls.meshes().iter().map(|mesh| extent_of_mesh(mesh, dt));
        let extent = simple.chain(meshes).fold(LEAST_EXTENT, f64::max);
        let shared = match last {
            Some(last) if times == 1.0 && **last == *walls => last.clone(),
            _ => Arc::new(slower(walls, times)),
        };
        Ok(Some(Self {
            walls: shared,
            domain: *domain,
            extent: extent.min(f64::from(MAX_MAGNITUDE)) as f32,
        }))
    }

    pub(crate) fn counts(&self) -> [u64; 2] {
        let simple = self.walls.simple().len();
        [simple, self.walls.len() - simple].map(|count| count as u64)
    }

    pub(crate) fn params(this: Option<&Self>, domain: &Domain, capacity: u64) -> WallParams {
        let mut params = WallParams {
            count: this.map_or(0, |walls| walls.walls.simple().len() as u32),
            capacity: capacity.min(u64::from(u32::MAX)) as u32,
            periodic: u32::from(!domain.is_open()),
            ..WallParams::zeroed()
        };
        for k in (0..3).filter(|&k| domain.periodic()[k]) {
            let edge = domain.periodic_edge(k);
            params.edges[k] = with(edge, edge.abs().element_sum());
        }
        params
    }

    pub(crate) fn shapes(&self) -> Vec<GpuWall> {
        self.walls.simple().iter().map(GpuWall::new).collect()
    }

    /// For each wall, returns the edges along which images of a sphere touch it
    /// differently: for a cylinder, those not parallel to its axis.
    pub(crate) fn lattices(&self) -> Vec<GpuWallLattice> {
        let lattice = |wall| GpuWallLattice::new(wall, &self.domain);
        self.walls.simple().iter().map(lattice).collect()
    }

    pub(crate) fn triangles(&self) -> Result<Vec<GpuTriangle>, Error> {
        let [simple, count] = self.counts();
        let mut triangles = crate::memory::allocate(count as usize, "the triangles")?;
        let made = (0..count).filter_map(|k| self.walls.triangle((simple + k) as usize));
        triangles.extend(made.map(
            |Triangle {
                 corners: [a, b, c],
                 velocity,
             }| GpuTriangle {
                a,
                b,
                c,
                velocity,
                ..GpuTriangle::zeroed()
            },
        ));
        Ok(triangles)
    }

    pub(crate) fn bounds(&self) -> Result<Vec<Sphere>, Error> {
        let what = "the bounding spheres of the triangles";
        let mut bounds = crate::memory::allocate(self.counts()[1] as usize, what)?;
        bounds.extend(self.walls.meshes().iter().flat_map(Mesh::bounds));
        Ok(bounds)
    }

    pub(crate) fn shared(&self) -> Arc<Walls> {
        self.walls.clone()
    }
}

fn slower(walls: &Walls, times: f32) -> Walls {
    let mut slower = walls.clone();
    if times == 1.0 {
        return slower;
    }
    for wall in slower.simple_mut() {
        *wall = wall.with_velocity(wall.velocity().map(|v| v * times));
    }
    for mesh in slower.meshes_mut() {
        let velocity = mesh.velocity().map(|v| v * times);
        *mesh = std::mem::take(mesh).with_velocity(velocity);
    }
    slower
}

impl GpuWall {
    pub(crate) fn of_mesh(mesh: &Mesh) -> Self {
        Self {
            velocity: mesh.velocity(),
            groups: mesh.groups(),
            ..Self::zeroed()
        }
    }

    pub(crate) fn new(wall: &Wall) -> Self {
        let unit = |x: [f32; 3]| vector(x).normalize().as_vec3().to_array();
        let (kind, point, direction, size) = match wall.solid() {
            Solid::HalfSpace(HalfSpace { normal, offset, .. }) => {
                let offset = f64::from(offset) / vector(normal).length();
                (HALF_SPACE, [0.0; 3], unit(normal), offset as f32)
            }
            Solid::Round(Round {
                point,
                axis,
                radius,
                inside,
                ..
            }) => {
                let kind = match (axis.is_some(), inside) {
                    (false, false) => SOLID_SPHERE,
                    (false, true) => HOLLOW_SPHERE,
                    (true, false) => SOLID_CYLINDER,
                    (true, true) => HOLLOW_CYLINDER,
                };
                (kind, point, axis.map_or([0.0; 3], unit), radius)
            }
        };
        Self {
            point,
            size,
            direction,
            kind,
            velocity: wall.velocity(),
            groups: wall.groups(),
        }
    }
}

impl GpuMeshBox {
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let corners = || mesh.vertices().iter().copied().map(vector);
        let (Some(low), Some(high)) = (corners().reduce(DVec3::min), corners().reduce(DVec3::max))
        else {
            return Self::zeroed();
        };
        Self {
            center: ((low + high) / 2.0).as_vec3().to_array(),
            half_sides: ((high - low) / 2.0).as_vec3().to_array(),
            ..Self::zeroed()
        }
    }
}

impl GpuMeshTriangle {
    /// The meshes are numbered from `first` in the list of walls.
    pub(crate) fn all(walls: &Walls, first: u32) -> Result<Vec<Self>, Error> {
        let count = walls.len() - walls.simple().len();
        let what = "the triangles of the simulation";
        // A place for each triangle and its edges, and about half a place for the corners.
        let mut all = crate::memory::allocate(count.saturating_mul(9) / 4, what)?;
        for (mesh, number) in walls.meshes().iter().zip(first..) {
            let triangles = (0..mesh.triangles().len()).filter_map(|k| mesh.triangle(k));
            all.extend(triangles.map(|triangle| {
                let [a, b, c] = triangle.corners.map(vector);
                let [b, c] = [b - a, c - a];
                let [b_a, c_a, normal] =
                    [b, c, b.cross(c).normalize()].map(|x| x.as_vec3().to_array());
                Self {
                    a: triangle.corners[0],
                    mesh: number,
                    b: b_a,
                    c: c_a,
                    normal,
                    ..Self::zeroed()
                }
            }));
        }
        Self::add_around(&mut all, walls)?;
        Ok(all)
    }

    /// Adds the corners, with the vectors for `vector_around` of
    /// `shaders/dynamics/parts/dynamics_triangles.wgsl`.
    fn add_around(all: &mut Vec<Self>, walls: &Walls) -> Result<(), Error> {
        let triangles = adjoined(walls)?;
        let around = surroundings(&triangles, false)?;
        let mut vectors: Vec<[f32; 3]> = Vec::new();
        for ((corners, _), around) in triangles.iter().zip(&around) {
            let corners = corners.map(vector);
            let edges = around.edges.iter().enumerate().map(|(k, into)| {
                let own = [0, 1, 2].map(|n| corners[(k + n) % 3]);
                beyond(into, own).as_vec3().to_array()
            });
            vectors.extend(edges);
        }
        let mut lists = HashMap::new();
        for (triangle, around) in all.iter_mut().zip(&around) {
            let starts = around.corners.each_ref().map(|list| {
                *lists.entry(list.as_ptr()).or_insert_with(|| {
                    let start = vectors.len();
                    for direction in list.iter().map(|x| x.as_vec3().to_array()) {
                        if !vectors[start..].contains(&direction) {
                            vectors.push(direction);
                        }
                    }
                    vectors.push([0.0; 3]);
                    start as u32
                })
            });
            [triangle.corner_a, triangle.corner_b, triangle.corner_c] = starts;
        }
        all.extend(vectors.chunks(4).map(|four| {
            let [a, b, c, normal] = [0, 1, 2, 3].map(|k| four.get(k).copied().unwrap_or_default());
            Self {
                a,
                b,
                c,
                normal,
                ..Self::zeroed()
            }
        }));
        Ok(())
    }
}

const SAME_ANGLE: f64 = 1e-9;

/// Returns the direction from an edge into the triangle that adjoins it there, or 0. `into` has
/// the directions into all triangles with this edge. Of more than two, spheres touch the edge
/// only between the outermost two; the others get the opposite of their own direction, which
/// leaves only that of the face.
fn beyond(into: &[DVec3], corners: [DVec3; 3]) -> DVec3 {
    let [from, to, third] = corners;
    let along = (to - from).normalize_or_zero();
    let own = (third - from).reject_from_normalized(along);
    let side = along.cross(own);
    let mut others: Vec<_> = into
        .iter()
        .map(|x| (x.dot(side).atan2(x.dot(own)), *x))
        .collect();
    if let Some(at) = others
        .iter()
        .position(|(angle, _)| angle.abs() < SAME_ANGLE)
    {
        others.swap_remove(at);
    }
    let is_at = |angle: f64, side: f64| {
        side * angle > -SAME_ANGLE || angle.abs() > std::f64::consts::PI - SAME_ANGLE
    };
    let is_outermost = [1.0, -1.0].map(|side| others.iter().all(|(angle, _)| is_at(*angle, side)));
    if is_outermost == [false; 2] {
        return -own.normalize_or_zero();
    }
    let farthest =
        |one: &&(f64, DVec3), other: &&(f64, DVec3)| one.0.abs().total_cmp(&other.0.abs());
    others
        .iter()
        .max_by(farthest)
        .map_or(DVec3::ZERO, |(_, x)| *x)
}

/// In cells: the distance of a wall from the cell, and its radius, in hard-sphere dynamics.
const FARTHEST: f64 = 100.0;
const LARGEST: f64 = 6.0;

// Values of `CaromWall::kind`.
const HALF_SPACE: u32 = 0;
const SOLID_SPHERE: u32 = 1;
const HOLLOW_SPHERE: u32 = 2;
const SOLID_CYLINDER: u32 = 3;
const HOLLOW_CYLINDER: u32 = 4;

#[cfg(test)]
pub(crate) const KINDS: [(&str, u32); 5] = [
    ("CAROM_HALF_SPACE", HALF_SPACE),
    ("CAROM_SOLID_SPHERE", SOLID_SPHERE),
    ("CAROM_HOLLOW_SPHERE", HOLLOW_SPHERE),
    ("CAROM_SOLID_CYLINDER", SOLID_CYLINDER),
    ("CAROM_HOLLOW_CYLINDER", HOLLOW_CYLINDER),
];

impl GpuWallLattice {
    /// Returns the edges that may change the distance of a sphere from the wall.
    pub(crate) fn new(wall: &Wall, domain: &Domain) -> Self {
        match wall.solid() {
            Solid::Round(round) if !round.inside => Self::across(round.axis, domain),
            Solid::HalfSpace(_) | Solid::Round(_) => Self::zeroed(),
        }
    }

    /// Returns all periodic edges.
    pub(crate) fn of_all_edges(domain: &Domain) -> Self {
        Self::across(None, domain)
    }

    /// Other walls would be touched by too many images, or by images too far from the cell.
    pub(crate) fn is_near(&self, wall: &Wall, domain: &Domain) -> bool {
        let of_wall = GpuWall::new(wall);
        let apart = DVec3::from(domain.origin()) - vector(of_wall.point);
        self.duals.iter().all(|&[x, y, z, length]| {
            let cells = DVec3::new(x.into(), y.into(), z.into()).dot(apart).abs();
            cells <= FARTHEST && f64::from(length * of_wall.size) <= LARGEST
        })
    }

    fn across(axis: Option<[f32; 3]>, domain: &Domain) -> Self {
        let edges = [0, 1, 2].map(|k| domain.periodic_edge(k));
        let seen = match axis {
            None => edges,
            Some(axis) => edges_across(vector(axis), domain),
        };
        let duals = duals(seen);
        let mut lattice = Self::zeroed();
        for k in (0..3).filter(|&k| seen[k] != DVec3::ZERO) {
            lattice.edges[k] = with(edges[k], edges[k].abs().element_sum());
            lattice.duals[k] = with(duals[k], duals[k].length());
        }
        lattice
    }
}

fn with(vector: DVec3, last: f64) -> [f32; 4] {
    let [x, y, z] = vector.as_vec3().to_array();
    [x, y, z, (last * ROUNDED_UP) as f32]
}

/// Decides exactly which listed spheres touch their walls. The result is sorted by sphere, wall
/// and image. `images` is empty in open space.
pub(crate) fn decide(
    gathered: &[GatheredWall],
    images: &[[i32; 3]],
    walls: &Walls,
    step: &Settling<'_>,
) -> Result<(Vec<WallCollision>, Vec<[i32; 3]>), Error> {
    let &Settling { domain, dt, .. } = step;
    let mut found = crate::memory::allocate(gathered.len(), "the list of wall collisions")?;
    for (index, gathered) in gathered.iter().enumerate() {
        let &GatheredWall {
            sphere,
            wall_and_grazing,
            values: [x, y, z, radius, u, v, w],
        } = gathered;
        let number = wall_and_grazing & !GRAZING;
        let image = images.get(index).copied().unwrap_or_default();
        let ball = Sphere::new([x, y, z], radius).with_velocity([u, v, w]);
        let shift = Translation::new(domain, image);
        let impact = match (walls.simple().get(number as usize), image == [0; 3]) {
            (Some(wall), true) => wall.solid().impact(&ball, (), dt),
            (Some(wall), false) => wall.solid().impact(&ball, shift, dt),
            (None, true) => {
                let triangle = walls.triangle(number as usize);
                triangle.and_then(|triangle| triangle.impact(&ball, (), dt))
            }
            (None, false) => {
                let triangle = walls.triangle(number as usize);
                triangle.and_then(|triangle| triangle.impact(&ball, shift, dt))
            }
        };
        let parts = || {
            let wall = walls.wide(number as usize);
            wall.is_some_and(|wall| wall.parts(&numbers(&ball), &domain.products(image)))
        };
        if let Some(Hit { toi, depth }) = impact {
            if step.approaching && toi == 0.0 && parts() {
                continue;
            }
            let hit = WallCollision {
                sphere,
                wall: number,
                toi,
                depth,
            };
            found.push((hit, image));
        }
    }
    let name = |&(hit, image): &(WallCollision, [i32; 3])| (hit.sphere, hit.wall, image);
    found.sort_unstable_by_key(name);
    // The GPU may list a grazing contact with a triangle several times.
    found.dedup_by_key(|found| name(found));
    let images = match domain.is_open() {
        true => Vec::new(),
        false => found.iter().map(|(_, image)| *image).collect(),
    };
    Ok((found.into_iter().map(|(hit, _)| hit).collect(), images))
}
