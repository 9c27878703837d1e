//! Meshes of triangles.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::tree::Tree;
use super::triangle::{Defect, Triangle};
use super::wall::{check_motion, check_restitution};
use crate::error::Shortest;
use crate::limits::MAX_SPHERES;
use crate::memory::{allocate, collect, out_of_memory};
use crate::number::sealed::{Family, Numbers, Split};
use crate::{Error, MAX_MAGNITUDE, Number, Sphere};

/// A mesh of triangles, which spheres touch from both sides. The mesh may move as a whole with constant
/// velocity during the step.
///
/// The numbers `T` are those of the spheres of the step: float32 or float64 ([`Number`]).
///
/// ```
/// use carom::{Detector, Mesh, Options, Sphere, Step, Walls};
/// // A ramp of two triangles.
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 2.0], [4.0, 4.0, 2.0], [0.0, 4.0, 0.0]];
/// let ramp = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]])?;
/// let mut walls = Walls::new();
/// walls.push_mesh(ramp);
/// let ball = [Sphere::new([3.0, 1.0, 9.0], 1.0).with_velocity([0.0, 0.0, -8.0])];
/// let mut detector = Detector::new(Options::default())?;
/// let found = detector.detect(&Step::new(&ball, 1.0).with_walls(&walls))?;
/// assert_eq!((found.walls[0].sphere, found.walls[0].wall), (0, 0));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Mesh<T = f32> {
    #[cfg_attr(feature = "serde", serde(serialize_with = "shared"))]
    vertices: Arc<Vec<[T; 3]>>,
    #[cfg_attr(feature = "serde", serde(serialize_with = "shared"))]
    triangles: Arc<Vec<[u32; 3]>>,
    velocity: [T; 3],
    groups: u32,
    restitution: Option<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    around: Arc<Surrounding>,
}

#[cfg(feature = "serde")]
fn shared<T: serde::Serialize, S: serde::Serializer>(
    items: &Arc<Vec<T>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&**items, to)
}

/// Empty for a mesh in float64, which a step encloses by one in float32.
#[derive(Clone, Debug, Default, PartialEq)]
struct Surrounding {
    /// Bounding sphere of each triangle.
    bounds: Vec<Sphere>,
    tree: Tree,
}

const MESH: &str = "the triangles of a mesh";

impl Surrounding {
    fn new(vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Self, Error> {
        let mut bounds = allocate(triangles.len(), "the bounding spheres of triangles")?;
        for (triangle, indices) in triangles.iter().enumerate() {
            let bound = corners(vertices, *indices).and_then(|corners| bound(&corners));
            bounds.push(bound.map_err(|problem| Error::InvalidTriangle { triangle, problem })?);
        }
        let tree = Tree::new(triangles.len(), |triangle| {
            corners(vertices, triangles[triangle]).ok()
        })?;
        Ok(Self { bounds, tree })
    }
}

struct Vertices<'a>(PhantomData<&'a ()>);

impl<'a> Family for Vertices<'a> {
    type Of<T: Number> = &'a [[T; 3]];
}

impl<T: Number> Mesh<T> {
    /// Returns a mesh at rest. Each triangle has the indices of its three corners in `vertices`. The order of
    /// the corners does not matter for contacts. In a [`Simulation`](crate::Simulation), the edges inside a surface lift
    /// no sphere if its triangles share their corners. An edge that ends in the middle of another one is a border.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::InvalidTriangle`] if a triangle has an index past the last vertex, a coordinate that is out of
    ///   range or not a number, or no area. It says what is wrong with the first one, and names the others.
    ///   [`cleaned`](Self::cleaned) leaves out those without an area. Vertices that belong to no triangle are not checked.
    /// - [`Error::TooManySpheres`] for more than 2³⁰ triangles.
    pub fn new(vertices: Vec<[T; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, Error> {
        if triangles.len() > MAX_SPHERES {
            return Err(Error::TooManySpheres {
                count: triangles.len(),
                limit: MAX_SPHERES,
            });
        }
        let checked = triangles.iter().map(|indices| {
            let corners = corners(&vertices, *indices);
            corners.and_then(|corners| check_corners(&corners, indices))
        });
        let mut faults = checked
            .enumerate()
            .filter_map(|(k, one)| Some((k, one.err()?)));
        if let Some((triangle, problem)) = faults.next() {
            let others = collect(faults.map(|(triangle, _)| triangle), MESH)?;
            let problem = with_others(problem, &others);
            return Err(Error::InvalidTriangle { triangle, problem });
        }
        Self::unchecked(vertices, Arc::new(triangles))
    }

    /// Returns a mesh like [`new`](Self::new), but without the triangles that have no area, and without those whose three
    /// corners are where those of an earlier triangle are. Also returns the numbers of the triangles that were left out, in
    /// order. The others stay in their order.
    ///
    /// ```
    /// use carom::Mesh;
    /// let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0]];
    /// let triangles = vec![[0, 1, 3], [0, 1, 2], [2, 0, 1], [1, 3, 2]];
    /// assert!(Mesh::new(corners.clone(), triangles.clone()).is_err());
    /// let (mesh, left_out) = Mesh::cleaned(corners, triangles)?;
    /// assert_eq!(mesh.triangles(), [[0, 1, 2], [1, 3, 2]]);
    /// assert_eq!(left_out, [0, 2]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`new`](Self::new), with the numbers that the triangles have in the mesh that is left.
    pub fn cleaned(
        vertices: Vec<[T; 3]>,
        mut triangles: Vec<[u32; 3]>,
    ) -> Result<(Self, Vec<usize>), Error> {
        let mut seen = HashSet::new();
        let room = seen.try_reserve(triangles.len());
        room.map_err(|_| out_of_memory::<[[u64; 3]; 3]>(triangles.len(), MESH))?;
        let (mut left_out, mut number) = (allocate(triangles.len(), MESH)?, 0);
        triangles.retain(|indices| {
            let keeps = corners(&vertices, *indices).map_or(true, |corners| {
                // Adding 0 makes 0 of −0.
                let bits = |x: T| (x.into() + 0.0).to_bits();
                let mut places = corners.map(|corner| corner.map(bits));
                places.sort_unstable();
                let no_area = matches!(Triangle::defect(&corners), Some(Defect::NoArea));
                !no_area && seen.insert(places)
            });
            if !keeps {
                left_out.push(number);
            }
            number += 1;
            keeps
        });
        Ok((Self::new(vertices, triangles)?, left_out))
    }

    /// The triangles may have no area.
    pub(crate) fn unchecked(
        vertices: Vec<[T; 3]>,
        triangles: Arc<Vec<[u32; 3]>>,
    ) -> Result<Self, Error> {
        Ok(Self {
            around: Arc::new(match T::split::<Vertices<'_>>(&vertices) {
                Split::Float32(vertices) => Surrounding::new(vertices, &triangles)?,
                Split::Float64(_) => Surrounding::default(),
            }),
            vertices: Arc::new(vertices),
            triangles,
            velocity: [T::default(); 3],
            groups: 0,
            restitution: None,
        })
    }

    /// Returns the same mesh with this velocity.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<[T; 3]>) -> Self {
        let velocity = velocity.into();
        if velocity == self.velocity {
            return self;
        }
        self.velocity = velocity;
        let velocity = self.velocity.map(|v| <f32 as Numbers>::nearest(v.into()));
        for bound in &mut Arc::make_mut(&mut self.around).bounds {
            bound.velocity = velocity;
        }
        self
    }

    /// Returns the same mesh with collision groups: see [`Sphere::with_groups`].
    #[must_use]
    pub fn with_groups(self, member_of: u16, ignored: u16) -> Self {
        self.with_all_groups(Sphere::default().with_groups(member_of, ignored).groups)
    }

    /// Returns the same mesh with this coefficient of restitution: see [`Wall::with_restitution`](crate::Wall::with_restitution).
    #[must_use]
    pub fn with_restitution(mut self, restitution: f64) -> Self {
        self.restitution = Some(restitution);
        self
    }

    /// Returns the coefficient of restitution, if the mesh has one of its own.
    pub fn restitution(&self) -> Option<f64> {
        self.restitution
    }

    /// Returns the same mesh with this coefficient of restitution, or without one of its own.
    #[cfg(feature = "serde")]
    pub(crate) fn with_any_restitution(self, restitution: Option<f64>) -> Self {
        Self {
            restitution,
            ..self
        }
    }

    /// Returns the positions of the vertices at the start of the step.
    pub fn vertices(&self) -> &[[T; 3]] {
        &self.vertices
    }

    /// Returns the triangles: the indices of three vertices each.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the velocity with which all vertices of the mesh move.
    pub fn velocity(&self) -> [T; 3] {
        self.velocity
    }

    pub(crate) fn with_all_groups(mut self, groups: u32) -> Self {
        if groups == self.groups {
            return self;
        }
        self.groups = groups;
        for bound in &mut Arc::make_mut(&mut self.around).bounds {
            bound.groups = groups;
        }
        self
    }

    pub(crate) fn shares_shape(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.vertices, &other.vertices)
            && Arc::ptr_eq(&self.triangles, &other.triangles)
    }

    /// Returns whether two meshes are equal, without comparing vertices that they share.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let numbers = |mesh: &Self| (mesh.velocity, mesh.groups, mesh.restitution);
        let is_same_shape = || {
            self.shares_shape(other)
                || (self.vertices == other.vertices && self.triangles == other.triangles)
        };
        numbers(self) == numbers(other) && is_same_shape()
    }

    pub(crate) fn shared_triangles(&self) -> Arc<Vec<[u32; 3]>> {
        Arc::clone(&self.triangles)
    }

    /// Returns the corners of all triangles.
    pub(crate) fn corners(&self) -> impl Iterator<Item = [T; 3]> + '_ {
        let corners = self.triangles.iter().flatten();
        corners.filter_map(|&corner| self.vertices.get(corner as usize).copied())
    }

    /// Returns the same mesh in float64.
    pub(crate) fn wide(&self) -> Mesh<f64> {
        let wide = |x: &[T; 3]| x.map(Into::into);
        Mesh {
            vertices: Arc::new(self.vertices.iter().map(wide).collect()),
            triangles: self.triangles.clone(),
            velocity: wide(&self.velocity),
            groups: self.groups,
            restitution: self.restitution,
            around: Arc::default(),
        }
    }

    pub(crate) fn groups(&self) -> u32 {
        self.groups
    }

    pub(crate) fn bounds(&self) -> &[Sphere] {
        &self.around.bounds
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.around.tree
    }

    pub(crate) fn is_ignored_by(&self, sphere: &Sphere) -> bool {
        sphere.ignores(&Sphere {
            groups: self.groups,
            ..Sphere::default()
        })
    }

    pub(crate) fn triangle(&self, index: usize) -> Option<Triangle<T>> {
        let corners = corners(&self.vertices, *self.triangles.get(index)?).ok()?;
        Some(Triangle {
            corners,
            velocity: self.velocity,
        })
    }

    /// An error names the mesh by `first`, the wall number of its first triangle.
    pub(crate) fn check(&self, first: usize, dt: T) -> Result<(), Error> {
        let checked = check_motion(self.velocity, dt);
        let checked = checked.and_then(|()| check_restitution(self.restitution));
        checked.map_err(|problem| Error::InvalidWall {
            wall: first,
            problem,
        })
    }
}

fn corners<T: Number>(vertices: &[[T; 3]], indices: [u32; 3]) -> Result<[[T; 3]; 3], String> {
    let mut corners = [[T::default(); 3]; 3];
    for (corner, index) in corners.iter_mut().zip(indices) {
        *corner = *vertices.get(index as usize).ok_or_else(|| {
            let count = vertices.len();
            format!("it has the vertex {index}, but there are {count} vertices, counted from 0")
        })?;
    }
    Ok(corners)
}

/// Adds the numbers of other triangles with faults to what is wrong with the first one.
fn with_others(problem: String, others: &[usize]) -> String {
    const NAMED: usize = 100;
    if others.is_empty() {
        return problem;
    }
    let named: Vec<_> = others.iter().take(NAMED).map(usize::to_string).collect();
    let more = if others.len() > NAMED {
        " and more"
    } else {
        ""
    };
    format!(
        "{problem}; {} other triangles are invalid, too: {}{more}",
        others.len(),
        named.join(", ")
    )
}

fn check_corners<T: Number>(corners: &[[T; 3]; 3], indices: &[u32; 3]) -> Result<(), String> {
    let limit = Shortest(T::MAX.into());
    Err(match Triangle::defect(corners) {
        None => return Ok(()),
        Some(Defect::Coordinate { corner, axis }) => format!(
            "its vertex {} has {} = {:?}, but must be a finite number of magnitude at most \
             {limit:e}",
            indices[corner],
            ["x", "y", "z"][axis],
            corners[corner][axis]
        ),
        Some(Defect::NoArea) => format!(
            "its corners {corners:?} lie on one line, so it has no area; remove the triangle"
        ),
    })
}

/// Hardly larger than the smallest possible one.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]
fn bound(corners: &[[f32; 3]; 3]) -> Result<Sphere, String> {
    let points = corners.map(|corner| Vec3::from(corner).as_dvec3());
    let center = smallest_center(points).as_vec3();
    let away = points.map(|point| (point - center.as_dvec3()).length());
    // Rounding may have made the distance less.
    let radius = (away.into_iter().fold(0.0, f64::max) as f32).next_up();
    if radius > MAX_MAGNITUDE {
        return Err(format!(
            "it does not fit into a sphere with a radius of {MAX_MAGNITUDE:e}; divide it"
        ));
    }
    Ok(Sphere::new(center, radius))
}

/// The middle of the longest edge if the angle opposite to it is not acute, otherwise the
/// centre of the circle through the corners.
fn smallest_center(points: [DVec3; 3]) -> DVec3 {
    for k in 0..3 {
        let [a, b, c] = [points[k], points[(k + 1) % 3], points[(k + 2) % 3]];
        if (a - c).dot(b - c) <= 0.0 {
            return a.midpoint(b);
        }
    }
    let [a, b, c] = points;
    let (u, v) = (b - a, c - a);
    let normal = u.cross(v);
    let across = (u.length_squared() * v - v.length_squared() * u).cross(normal);
    let center = a + across / (2.0 * normal.length_squared());
    // In a thin triangle, rounding may move the centre, which lies inside, far away.
    if center.is_finite() {
        center.clamp(a.min(b).min(c), a.max(b).max(c))
    } else {
        a
    }
}
