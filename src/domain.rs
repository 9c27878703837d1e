//! The domain of a step: open space, or a cell that repeats along some or all of its edges.

use glam::DVec3;

use crate::error::{Error, Shortest};
use crate::number::Number;
use crate::number::sealed::Numbers;

/// The domain in which the spheres of a step move: open space, or a periodic cell.
///
/// A domain has an origin and three edges. Along a *periodic* edge, the world repeats: each sphere has
/// *images*, copies that are displaced by whole multiples of the edges. Image `[n1, n2, n3]` of a sphere is
/// displaced by n1·`edges[0]` + n2·`edges[1]` + n3·`edges[2]`. Along an edge that is not periodic, the
/// component of every image is 0.
///
/// Spheres may lie anywhere, inside or outside the cell. Images count from the given coordinates,
/// so spheres need not be wrapped into the cell.
///
/// ```
/// use carom::{Detector, Domain, Options, Sphere, Step};
/// // A cube with an edge of 10 that repeats in all directions.
/// let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
/// let spheres = [[0.5, 5.0, 5.0], [9.0, 5.0, 5.0]].map(|center| Sphere::new(center, 1.0));
/// let mut detector = Detector::new(Options::default())?;
/// let found = detector.detect(&Step::new(&spheres, 1.0).in_domain(&domain))?;
/// // Sphere 0 touches sphere 1 across the face x = 0, one edge to the left.
/// assert_eq!((found.pairs[0].a, found.pairs[0].b, found.pairs.image(0)), (0, 1, [-1, 0, 0]));
/// assert_eq!(found.pairs[0].depth, 0.5);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Domain {
    origin: [f64; 3],
    edges: [[f64; 3]; 3],
    periodic: [bool; 3],
}

/// Components of the periodic edges, and how many times each displaces an image, for each axis.
pub(crate) type Products = [[(f64, i32); 3]; 3];

impl Domain {
    /// Returns open space, the default: no sphere has images.
    pub fn open() -> Self {
        Self::default()
    }

    /// Returns a box with edges along the axes x, y and z, periodic along all three.
    ///
    /// `origin` is the lower corner of the box, and `lengths` has the lengths of its edges, in the
    /// unit of length of the spheres.
    ///
    /// ```
    /// use carom::Domain;
    /// // A channel that is periodic along x and y, and open along z.
    /// let channel = Domain::rectangular([0.0; 3], [20.0, 10.0, 5.0])
    ///     .with_periodic([true, true, false]);
    /// assert!(!channel.is_open());
    /// ```
    pub fn rectangular(origin: impl Into<[f32; 3]>, lengths: impl Into<[f32; 3]>) -> Self {
        let [x, y, z] = lengths.into();
        let edges = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
        Self::triclinic(origin, edges)
    }

    /// Returns a cell with three edges of any directions, periodic along all three.
    ///
    /// `origin` is one corner of the cell, from which the edges start. The origin and the edges are
    /// in the unit of length of the spheres. The edges may be left-handed.
    pub fn triclinic(origin: impl Into<[f32; 3]>, edges: [[f32; 3]; 3]) -> Self {
        let edges = edges.map(|edge| edge.map(f64::from));
        Self::triclinic_f64(origin.into().map(f64::from), edges)
    }

    /// Returns a box like [`rectangular`](Self::rectangular), in float64.
    ///
    /// A step of spheres in float64 uses these numbers without rounding: an image touches if it does in exact
    /// arithmetic, displaced by whole multiples of the float64 edges. A step in float32 needs a domain whose numbers are
    /// float32.
    pub fn rectangular_f64(origin: impl Into<[f64; 3]>, lengths: impl Into<[f64; 3]>) -> Self {
        let [x, y, z] = lengths.into();
        let edges = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
        Self::triclinic_f64(origin, edges)
    }

    /// Returns a cell like [`triclinic`](Self::triclinic), in float64: see
    /// [`rectangular_f64`](Self::rectangular_f64).
    pub fn triclinic_f64(origin: impl Into<[f64; 3]>, edges: [[f64; 3]; 3]) -> Self {
        Self {
            origin: origin.into(),
            edges,
            periodic: [true; 3],
        }
    }

    /// Returns the same domain, periodic along the edges for which `periodic` is true, and open along the
    /// others.
    #[must_use]
    pub fn with_periodic(mut self, periodic: [bool; 3]) -> Self {
        self.periodic = periodic;
        self
    }

    /// Returns the corner of the domain from which its edges start.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Returns the three edges of the domain as vectors that start at its [`origin`](Self::origin).
    pub fn edges(&self) -> [[f64; 3]; 3] {
        self.edges
    }

    pub(crate) fn origin_f32(&self) -> [f32; 3] {
        self.origin.map(f32::nearest)
    }

    pub(crate) fn edges_f32(&self) -> [[f32; 3]; 3] {
        self.edges.map(|edge| edge.map(f32::nearest))
    }

    /// Returns for each edge whether the domain is periodic along it.
    pub fn periodic(&self) -> [bool; 3] {
        self.periodic
    }

    /// Returns whether the domain is open along all edges.
    pub fn is_open(&self) -> bool {
        self.periodic == [false; 3]
    }

    /// Returns the displacement of an image, n1·`edges[0]` + n2·`edges[1]` + n3·`edges[2]`, in
    /// float64. Edges that are not periodic add nothing.
    pub fn displacement(&self, image: [i32; 3]) -> [f64; 3] {
        let terms = (0..3).map(|k| self.periodic_edge(k) * f64::from(image[k]));
        terms.sum::<DVec3>().to_array()
    }

    pub(crate) fn products(&self, image: [i32; 3]) -> Products {
        let edges = [0, 1, 2].map(|k| self.periodic_edge(k));
        [0, 1, 2].map(|axis| [0, 1, 2].map(|k| (edges[k][axis], image[k])))
    }

    pub(crate) fn periodic_edge(&self, k: usize) -> DVec3 {
        if self.periodic[k] {
            self.edges[k].into()
        } else {
            DVec3::ZERO
        }
    }

    /// Checks that the numbers of a periodic domain are of type `T` and in range.
    pub(crate) fn check<T: Number>(&self) -> Result<(), Error> {
        if self.is_open() {
            return Ok(());
        }
        let limit = T::MAX;
        let check = |what: &dyn Fn() -> String, x: f64| {
            let in_range = x.abs() <= limit.into();
            let problem = match (in_range, T::nearest(x).into() == x) {
                (true, true) => return Ok(()),
                (true, false) => {
                    "which is no float32; round it, or use spheres in float64".to_owned()
                }
                _ => format!("but must be a finite number of magnitude at most {limit:e}"),
            };
            let problem = format!("{}{:?}, {problem}", what(), Shortest(x));
            Err(Error::InvalidDomain { problem })
        };
        let axes = ["x", "y", "z"];
        for (value, axis) in self.origin.into_iter().zip(axes) {
            check(&|| format!("origin.{axis} is "), value)?;
        }
        for (number, edge) in self.edges.iter().enumerate() {
            if !self.periodic[number] {
                continue;
            }
            for (&value, axis) in edge.iter().zip(axes) {
                check(&|| format!("edge {number} has {axis} = "), value)?;
            }
            if *edge == [0.0; 3] {
                return Err(Error::InvalidDomain {
                    problem: format!(
                        "edge {number} is periodic, but its length is 0; give it a length, or \
                         make it open with `with_periodic`"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Returns the largest magnitude of a component of the origin or of a periodic edge, or 0 for
    /// an open domain.
    pub(crate) fn extent(&self) -> f32 {
        let edges = (0..3).filter(|&k| self.periodic[k]).map(|k| self.edges[k]);
        let numbers = edges.chain([self.origin]).flatten();
        if self.is_open() {
            0.0
        } else {
            f32::nearest(numbers.fold(0.0, |most, x| x.abs().max(most)))
        }
    }
}
