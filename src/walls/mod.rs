//! Walls, which the spheres of a step may touch: half-spaces, solid or hollow spheres and
//! cylinders, and triangles.
//!
//! Each kind of wall has a file that defines when a sphere touches it. The file also decides
//! without error whether a given sphere does. The file `approx.rs` has float64 arithmetic with
//! error bounds, for half-spaces, spheres and cylinders. `src/cpu/walls.rs` tests all spheres of a
//! step against all walls.

mod approx;
mod contact;
mod half_space;
mod images;
mod mesh;
mod round;
mod tree;
mod triangle;
mod vectors;
mod wall;
mod wide;

pub(crate) use self::half_space::HalfSpace;
pub(crate) use self::images::CylinderImages;
#[cfg(feature = "gpu")]
pub(crate) use self::images::edges_across;
pub use self::mesh::Mesh;
pub(crate) use self::round::Round;
pub(crate) use self::tree::Path;
pub(crate) use self::triangle::Triangle;
pub(crate) use self::vectors::{is_parallel, unit, vector};
pub(crate) use self::wall::Solid;
pub use self::wall::{Wall, WallShape};
pub(crate) use self::wide::WideWall;

use crate::{Domain, Error, Number};

/// The walls of a step.
///
/// Walls are numbered from 0: first the walls of simple shapes, and then the triangles of the
/// meshes, each in the order in which they were added.
///
/// A sphere may touch several walls in one step: for example, the walls of a corner, or both
/// triangles at their common edge.
///
/// The numbers `T` of the walls are those of the spheres of the step: float32 or float64 ([`Number`]).
/// `Walls::from(&walls)` gives walls in float32 the same numbers in float64.
///
/// carom finds pairs of spheres as if there were no walls. So spheres on different sides of a wall may touch.
///
/// ```
/// use carom::{Detector, Options, Sphere, Step, Walls};
/// let walls = Walls::inside_box([0.0; 3], [10.0; 3]);
/// let ball = [Sphere::new([8.0, 5.0, 5.0], 1.0).with_velocity([2.0, 0.0, 0.0])];
/// let mut detector = Detector::new(Options::default())?;
/// let found = detector.detect(&Step::new(&ball, 1.0).with_walls(&walls))?;
/// assert_eq!((found.walls[0].sphere, found.walls[0].wall, found.walls[0].toi), (0, 1, 0.5));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Walls<T = f32> {
    simple: Vec<Wall<T>>,
    meshes: Vec<Mesh<T>>,
}

impl<T: Number> Default for Walls<T> {
    fn default() -> Self {
        Self {
            simple: Vec::new(),
            meshes: Vec::new(),
        }
    }
}

impl<T: Number> Walls<T> {
    /// Creates an empty collection of walls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the six half-spaces that keep spheres inside a box with faces perpendicular to x, y and z.
    ///
    /// `low` and `high` are any two opposite corners of the box. The walls are numbered 0 (low x), 1 (high x),
    /// 2 (low y), 3 (high y), 4 (low z) and 5 (high z).
    pub fn inside_box(low: impl Into<[T; 3]>, high: impl Into<[T; 3]>) -> Self {
        let (a, b) = (low.into(), high.into());
        let faces = (0..3).flat_map(|axis| {
            let [low, high] = if a[axis] > b[axis] {
                [b[axis], a[axis]]
            } else {
                [a[axis], b[axis]]
            };
            [(1.0, low.into()), (-1.0, -high.into())].map(|(sign, offset): (f64, f64)| {
                let mut normal = [T::default(); 3];
                normal[axis] = T::nearest(sign);
                Wall::half_space(normal, T::nearest(offset))
            })
        });
        faces.collect()
    }

    /// Adds a wall, and returns its number.
    pub fn push(&mut self, wall: impl Into<Wall<T>>) -> usize {
        self.simple.push(wall.into());
        self.simple.len() - 1
    }

    /// Returns the walls of simple shapes, which are all walls except the triangles of meshes. They
    /// are numbered first: entry `i` of this slice is wall `i` of the step.
    pub fn simple(&self) -> &[Wall<T>] {
        &self.simple
    }

    /// Returns the walls of simple shapes as a mutable slice, for example to move them before the
    /// next step.
    pub fn simple_mut(&mut self) -> &mut [Wall<T>] {
        &mut self.simple
    }

    /// Adds a mesh of triangles.
    pub fn push_mesh(&mut self, mesh: Mesh<T>) {
        self.meshes.push(mesh);
    }

    /// Returns the meshes.
    pub fn meshes(&self) -> &[Mesh<T>] {
        &self.meshes
    }

    /// Returns the meshes as a mutable slice, for example to replace some of them before the next
    /// step.
    pub fn meshes_mut(&mut self) -> &mut [Mesh<T>] {
        &mut self.meshes
    }

    /// Returns the number of walls, with one wall for each triangle.
    pub fn len(&self) -> usize {
        let triangles = self.meshes.iter().map(|mesh| mesh.triangles().len());
        self.simple.len() + triangles.sum::<usize>()
    }

    /// Returns the place of a wall among the walls of simple shapes and, after them, the meshes. The number of a triangle
    /// stands for its mesh.
    pub(crate) fn place(&self, wall: usize) -> Result<usize, Error> {
        let mut first = self.simple.len();
        if wall < first {
            return Ok(wall);
        }
        let mut meshes = self.meshes.iter();
        let mesh = meshes.position(|mesh| {
            first += mesh.triangles().len();
            wall < first
        });
        match mesh {
            Some(mesh) => Ok(self.simple.len() + mesh),
            None => Err(Error::InvalidSimulation {
                problem: format!("there is no wall {wall}: there are {} walls", self.len()),
            }),
        }
    }

    /// Returns whether there are no walls.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all walls are equal, without comparing vertices that meshes share.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let mut meshes = self.meshes.iter().zip(&other.meshes);
        self.simple == other.simple
            && self.meshes.len() == other.meshes.len()
            && meshes.all(|(a, b)| a.equals(b))
    }

    pub(crate) fn check(&self, dt: T, domain: &Domain) -> Result<(), Error> {
        let mut walls = self.simple.iter().enumerate();
        walls.try_for_each(|(index, wall)| wall.check(index, dt, domain))?;
        let mut first = self.simple.len();
        for mesh in &self.meshes {
            mesh.check(first, dt)?;
            first += mesh.triangles().len();
        }
        Ok(())
    }

    /// `wall` counts the walls of simple shapes first.
    pub(crate) fn triangle(&self, wall: usize) -> Option<Triangle<T>> {
        let mut index = wall.checked_sub(self.simple.len())?;
        for mesh in &self.meshes {
            if index < mesh.triangles().len() {
                return mesh.triangle(index);
            }
            index -= mesh.triangles().len();
        }
        None
    }

    /// Returns the wall of a number in float64.
    pub(crate) fn wide(&self, wall: usize) -> Option<WideWall> {
        match self.simple.get(wall) {
            Some(wall) => Some(WideWall::Solid(wall.wide().solid())),
            None => {
                let Triangle { corners, velocity } = self.triangle(wall)?;
                Some(WideWall::Triangle(Triangle {
                    corners: corners.map(|corner| corner.map(Into::into)),
                    velocity: velocity.map(Into::into),
                }))
            }
        }
    }
}

impl<T: Number, W: Into<Wall<T>>> FromIterator<W> for Walls<T> {
    fn from_iter<I: IntoIterator<Item = W>>(walls: I) -> Self {
        Self {
            simple: walls.into_iter().map(Into::into).collect(),
            meshes: Vec::new(),
        }
    }
}

impl From<&Walls> for Walls<f64> {
    fn from(walls: &Walls) -> Self {
        Self {
            simple: walls.simple.iter().map(Wall::wide).collect(),
            meshes: walls.meshes.iter().map(Mesh::wide).collect(),
        }
    }
}
