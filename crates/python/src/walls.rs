//! Walls and meshes.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use carom::{Number, Wall, WallShape};
use carom_formats::read::mesh;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{copy_rows, gather, rows};
use crate::errors::{of_carom, of_formats};
use crate::number::Scalar;

/// A mesh of triangles.
#[pyclass(frozen)]
pub(crate) struct Mesh {
    float64: carom::Mesh<f64>,
    groups: u32,
    /// The same vertices and triangles, rounded to float32. Meshes that differ in how they move share them.
    float32: Arc<OnceLock<Result<carom::Mesh, carom::Error>>>,
}

fn member_and_ignored(groups: u32) -> (u16, u16) {
    let [a, b, c, d] = groups.to_le_bytes();
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
}

impl Mesh {
    fn finish(
        mesh: carom::Mesh<f64>,
        velocity: [f64; 3],
        groups: u32,
        restitution: Option<f64>,
    ) -> Self {
        let (member_of, ignored) = member_and_ignored(groups);
        let mesh = mesh.with_velocity(velocity).with_groups(member_of, ignored);
        Self {
            float64: match restitution {
                None => mesh,
                Some(restitution) => mesh.with_restitution(restitution),
            },
            groups,
            float32: Arc::default(),
        }
    }

    /// Returns a mesh of a simulation.
    pub(crate) fn of_simulation(mesh: &carom::Mesh, groups: u32) -> Result<Self, carom::Error> {
        let vertices = mesh.vertices().iter().map(|x| x.map(f64::from)).collect();
        let wide = carom::Mesh::new(vertices, mesh.triangles().to_vec())?;
        let velocity = mesh.velocity().map(f64::from);
        Ok(Self {
            float32: Arc::new(OnceLock::from(Ok(mesh.clone()))),
            ..Self::finish(wide, velocity, groups, mesh.restitution())
        })
    }

    /// Returns the mesh with its numbers rounded to float32.
    fn rounded(&self) -> Result<carom::Mesh, carom::Error> {
        let made = self.float32.get_or_init(|| {
            let vertices = self.float64.vertices().iter();
            let vertices = vertices.map(|x| x.map(<f32 as Scalar>::rounded)).collect();
            carom::Mesh::new(vertices, self.float64.triangles().to_vec())
        });
        let (member_of, ignored) = member_and_ignored(self.groups);
        let mesh = made
            .clone()?
            .with_velocity(self.float64.velocity().map(<f32 as Scalar>::rounded))
            .with_groups(member_of, ignored);
        Ok(match self.float64.restitution() {
            None => mesh,
            Some(restitution) => mesh.with_restitution(restitution),
        })
    }
}

#[pymethods]
impl Mesh {
    /// `vertices` is an array of float64, `triangles` one of uint32, both N × 3.
    #[new]
    #[pyo3(signature = (vertices, triangles, velocity, groups, restitution))]
    fn new(
        py: Python<'_>,
        vertices: &Bound<'_, PyArray2<f64>>,
        triangles: &Bound<'_, PyArray2<u32>>,
        velocity: [f64; 3],
        groups: u32,
        restitution: Option<f64>,
    ) -> PyResult<Self> {
        let (mut corners, mut indices) = (Vec::new(), Vec::new());
        copy_rows(vertices, &mut corners, "vertices")?;
        copy_rows(triangles, &mut indices, "triangles")?;
        let mesh = py.detach(|| carom::Mesh::new(corners, indices));
        let mesh = mesh.map_err(of_carom)?;
        Ok(Self::finish(mesh, velocity, groups, restitution))
    }

    /// Reads a file.
    #[staticmethod]
    #[pyo3(signature = (path, velocity, groups, restitution))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        velocity: [f64; 3],
        groups: u32,
        restitution: Option<f64>,
    ) -> PyResult<Self> {
        let mesh = py.detach(|| mesh::read(&path)?.wall(&path.display().to_string(), |x| x));
        let mesh = mesh.map_err(of_formats)?;
        Ok(Self::finish(mesh, velocity, groups, restitution))
    }

    /// Returns the same mesh with another motion, groups and restitution.
    #[pyo3(signature = (velocity, groups, restitution))]
    fn replace(&self, velocity: [f64; 3], groups: u32, restitution: Option<f64>) -> PyResult<Self> {
        let rounded = self.float32.get().and_then(|made| made.as_ref().ok());
        if restitution.is_none() && rounded.is_some_and(|mesh| mesh.restitution().is_some()) {
            return Err(PyValueError::new_err(
                "a mesh of a simulation that was read from a copy keeps a restitution of its own; pass one",
            ));
        }
        // A clone of the mesh would keep its restitution.
        let mesh = match restitution {
            None if self.float64.restitution().is_some() => {
                let vertices = self.float64.vertices().to_vec();
                carom::Mesh::new(vertices, self.float64.triangles().to_vec()).map_err(of_carom)?
            }
            _ => self.float64.clone(),
        };
        Ok(Self {
            float32: self.float32.clone(),
            ..Self::finish(mesh, velocity, groups, restitution)
        })
    }

    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        rows(py, gather(self.float64.vertices(), |x| *x)?)
    }

    fn triangles(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let index = |corners: &[u32; 3]| corners.map(i64::from);
        rows(py, gather(self.float64.triangles(), index)?)
    }

    #[getter]
    fn velocity(&self) -> [f64; 3] {
        self.float64.velocity()
    }

    #[getter]
    fn groups(&self) -> u32 {
        self.groups
    }

    #[getter]
    fn restitution(&self) -> Option<f64> {
        self.float64.restitution()
    }

    fn __len__(&self) -> usize {
        self.float64.triangles().len()
    }
}

/// Shape, two vectors, a number, whether it is hollow, velocity, groups, restitution.
#[derive(FromPyObject)]
struct GivenWall {
    #[pyo3(item(0))]
    shape: String,
    #[pyo3(item(1))]
    one: [f64; 3],
    #[pyo3(item(2))]
    other: [f64; 3],
    #[pyo3(item(3))]
    number: f64,
    #[pyo3(item(4))]
    hollow: bool,
    #[pyo3(item(5))]
    velocity: [f64; 3],
    #[pyo3(item(6))]
    groups: u32,
    #[pyo3(item(7))]
    restitution: Option<f64>,
}

/// What [`GivenWall`] reads.
pub(crate) type Parts = (
    &'static str,
    [f64; 3],
    [f64; 3],
    f64,
    bool,
    [f64; 3],
    u32,
    Option<f64>,
);

/// Returns the parts of a wall, or `None` for a shape that this package does not know.
pub(crate) fn parts(wall: &Wall) -> Option<Parts> {
    let (shape, one, other, number, hollow) = match wall.shape().map(f64::from) {
        WallShape::HalfSpace { normal, offset } => ("half_space", normal, [0.0; 3], offset, false),
        WallShape::Sphere {
            center,
            radius,
            hollow,
        } => ("sphere", center, [0.0; 3], radius, hollow),
        WallShape::Cylinder {
            point,
            axis,
            radius,
            hollow,
        } => ("cylinder", point, axis, radius, hollow),
        _ => return None,
    };
    let velocity = wall.velocity().map(f64::from);
    Some((
        shape,
        one,
        other,
        number,
        hollow,
        velocity,
        wall.groups(),
        wall.restitution(),
    ))
}

impl GivenWall {
    fn wall<T: Number>(&self, of: impl Fn(f64) -> T) -> PyResult<Wall<T>> {
        let [one, other] = [self.one, self.other].map(|x| x.map(&of));
        let number = of(self.number);
        let wall = match (&*self.shape, self.hollow) {
            ("half_space", _) => Wall::half_space(one, number),
            ("sphere", false) => Wall::sphere(one, number),
            ("sphere", true) => Wall::sphere_inside(one, number),
            ("cylinder", false) => Wall::cylinder(one, other, number),
            ("cylinder", true) => Wall::cylinder_inside(one, other, number),
            (shape, _) => {
                return Err(PyValueError::new_err(format!("there is no wall {shape:?}")));
            }
        };
        let (member_of, ignored) = member_and_ignored(self.groups);
        let wall = wall
            .with_velocity(self.velocity.map(of))
            .with_groups(member_of, ignored);
        Ok(match self.restitution {
            None => wall,
            Some(restitution) => wall.with_restitution(restitution),
        })
    }
}

/// The walls of a step.
#[pyclass(frozen)]
pub(crate) struct Walls {
    given: Vec<GivenWall>,
    meshes: Vec<Py<Mesh>>,
    float32: OnceLock<Arc<carom::Walls>>,
    float64: OnceLock<Arc<carom::Walls<f64>>>,
}

impl Walls {
    /// Returns the walls with their numbers rounded to float32.
    pub(crate) fn rounded(&self) -> PyResult<Arc<carom::Walls>> {
        let made = self.float32.get();
        if let Some(made) = made {
            return Ok(made.clone());
        }
        let simple = self
            .given
            .iter()
            .map(|wall| wall.wall(<f32 as Scalar>::rounded));
        let mut walls: carom::Walls = simple.collect::<PyResult<_>>()?;
        for mesh in &self.meshes {
            walls.push_mesh(mesh.get().rounded().map_err(of_carom)?);
        }
        Ok(self.float32.get_or_init(|| Arc::new(walls)).clone())
    }

    pub(crate) fn exact(&self) -> PyResult<Arc<carom::Walls<f64>>> {
        if let Some(made) = self.float64.get() {
            return Ok(made.clone());
        }
        let simple = self.given.iter().map(|wall| wall.wall(|x| x));
        let mut walls: carom::Walls<f64> = simple.collect::<PyResult<_>>()?;
        for mesh in &self.meshes {
            walls.push_mesh(mesh.get().float64.clone());
        }
        Ok(self.float64.get_or_init(|| Arc::new(walls)).clone())
    }
}

#[pymethods]
impl Walls {
    #[new]
    fn new(given: Vec<GivenWall>, meshes: Vec<Py<Mesh>>) -> Self {
        Self {
            given,
            meshes,
            float32: OnceLock::new(),
            float64: OnceLock::new(),
        }
    }
}

/// Numbers of walls.
pub(crate) trait OfWalls: Scalar {
    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls<Self>>>;
}

impl OfWalls for f32 {
    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls>> {
        walls.rounded()
    }
}

impl OfWalls for f64 {
    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls<Self>>> {
        walls.exact()
    }
}
