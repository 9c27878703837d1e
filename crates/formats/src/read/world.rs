//! The spheres read from an input file.

use carom::{Domain, HardSphere, Sphere};

use crate::error::{Error, Result, at};
use crate::memory::collect;
use crate::read::cell::Given;
use crate::read::columns::{BadField, Columns, Names, Row};
use crate::read::lines::Lines;
use crate::read::{ReadOptions, Type, number};

/// Spheres read from an input file, or from one frame of a trajectory.
#[derive(Debug)]
pub struct World {
    /// Name of the input in messages.
    pub source: String,
    /// Spheres of the input, in the order of the rows. Their masses are 1.
    pub spheres: Vec<HardSphere>,
    /// Whether the input has its numbers in float32, as a NumPy array may: see [`in_float32`](Self::in_float32).
    pub float32: bool,
    /// Id of each sphere, or `None` if ids were not requested or there are no spheres.
    pub ids: Option<Vec<i64>>,
    /// Type of each sphere, or `None` if types were not requested or there are no spheres.
    pub types: Option<Vec<Type>>,
    /// Periodic box: that of the input, or the one in the options. `None` if there is no box, or if the options
    /// ignore it.
    pub domain: Option<Domain>,
    /// Frame from which the spheres were read, or `None` if the input is no trajectory.
    pub frame: Option<Frame>,
    /// Messages that tell the user how the input was interpreted.
    pub notes: Vec<String>,
    /// If the box is periodic along z or has no height, whether the world is taken as two-dimensional.
    pub(crate) is_layer: Option<bool>,
    /// Whether there is no column of z.
    pub(crate) lacks_z: bool,
    /// Whether a sphere moves along z.
    pub(crate) leaves_plane: bool,
    names: Names,
    lines: Lines,
    /// How error messages locate a sphere in the input: by `line` or by `row`.
    unit: &'static str,
}

/// Number and timestep of a frame in a trajectory file.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Number of the frame in the trajectory file, counted from 0.
    pub number: u64,
    /// Timestep of the simulation that the frame shows, or `None` if the file does not state it.
    pub step: Option<i64>,
}

/// Field number for a column of the input that is not read.
pub(crate) const UNREAD: usize = 7;

impl World {
    pub(crate) fn new(source: &str, names: Names, unit: &'static str) -> Self {
        Self {
            source: source.into(),
            spheres: Vec::new(),
            float32: false,
            ids: None,
            types: None,
            domain: None,
            frame: None,
            notes: Vec::new(),
            is_layer: None,
            lacks_z: false,
            leaves_plane: false,
            names,
            lines: Lines::default(),
            unit,
        }
    }

    /// Returns whether a type of a sphere is a name, so that [`Columns::type_names`](crate::write::Columns) is needed.
    pub fn has_type_names(&self) -> bool {
        self.types.iter().flatten().any(Type::is_name)
    }

    /// Adds a sphere from the line or row number `row` of the input.
    pub(crate) fn push(&mut self, row: u64, sphere: HardSphere) -> Result<(), Error> {
        if !push(&mut self.spheres, sphere) {
            return Err(self.full(row));
        }
        self.lines.push(row)
    }

    /// Returns the error for a sphere that does not fit in memory.
    fn full(&self, row: u64) -> Error {
        let what = format!(
            "there is not enough memory for more than {} spheres",
            self.spheres.len()
        );
        at(&self.source, self.unit, row, &what)
    }

    /// Sets a field of the sphere in row `row`. Fields 0 to 6 are x, y, z, radius, vx, vy, vz, and the field
    /// [`UNREAD`] is ignored.
    pub(crate) fn set(&mut self, row: usize, field: usize, x: f64) -> Result<(), Error> {
        if field == UNREAD {
            return Ok(());
        }
        let Names {
            center: [a, b, c],
            size,
            velocity: [d, e, f],
        } = self.names;
        let x = number::finite(x).map_err(|what| {
            let name = [a, b, c, size, d, e, f].get(field).copied().unwrap_or("?");
            self.bad_field(row, name, &what)
        })?;
        if let Some(sphere) = self.spheres.get_mut(row) {
            let HardSphere {
                center,
                radius,
                velocity,
                ..
            } = sphere;
            match field {
                0..3 => center[field] = x,
                3 => *radius = x,
                4..7 => velocity[field - 4] = x,
                _ => {}
            }
        }
        Ok(())
    }

    /// Halves the radii, which were read from an array of diameters called `name`.
    pub(crate) fn halve_radii(&mut self, name: &str) -> Result<(), Error> {
        for row in 0..self.spheres.len() {
            let halved = number::halve(self.spheres[row].radius);
            self.spheres[row].radius = halved.map_err(|what| self.bad_field(row, name, &what))?;
        }
        Ok(())
    }

    /// Checks that the radii agree with the diameters, which were read from the array `name` into the first components of
    /// the velocities. These are 0 afterwards.
    pub(crate) fn compare_radii(&mut self, name: &str) -> Result<(), Error> {
        for row in 0..self.spheres.len() {
            let sphere = &mut self.spheres[row];
            let (radius, diameter) = (sphere.radius, std::mem::take(&mut sphere.velocity[0]));
            if !number::agree(2.0 * radius, diameter) {
                let what = format!(
                    "is {diameter}, but must be twice the radius, which is {radius}; save only one of them"
                );
                return Err(self.bad_field(row, name, &what));
            }
        }
        Ok(())
    }

    fn bad_field(&self, row: usize, name: &str, what: &str) -> Error {
        let message = format!("field {name} {what}");
        at(&self.source, self.unit, row as u64, &message)
    }

    pub(crate) fn set_radii(&mut self, radius: f64) {
        self.spheres
            .iter_mut()
            .for_each(|sphere| sphere.radius = radius);
    }

    /// Parses a line of the input, and adds its sphere. The caller's function `field` returns the text in a
    /// column.
    pub(crate) fn parse<'a>(
        &mut self,
        line: u64,
        columns: &Columns,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<(), Error> {
        let wrong = |BadField { name, what }: BadField| {
            at(
                &self.source,
                self.unit,
                line,
                &format!("field {name} {what}"),
            )
        };
        let Row {
            sphere,
            id,
            kind,
            leaves_plane,
        } = columns.row(&field).map_err(wrong)?;
        self.leaves_plane |= leaves_plane;
        self.lacks_z = columns.is_flat();
        self.push(line, sphere)?;
        let mut room = true;
        if let Some(id) = id {
            room &= push(self.ids.get_or_insert_default(), id);
        }
        if let Some(kind) = kind {
            room &= push(self.types.get_or_insert_default(), kind);
        }
        if room { Ok(()) } else { Err(self.full(line)) }
    }

    /// Returns the spheres with each number rounded once, to the nearest float32. They are the same spheres if
    /// [`float32`](Self::float32) is true.
    ///
    /// # Errors
    /// Returns an error if the memory does not suffice.
    pub fn in_float32(&self) -> Result<Vec<Sphere>, Error> {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
        let narrow = |x: f64| x as f32;
        let spheres = self.spheres.iter().map(|sphere| {
            Sphere::new(sphere.center.map(narrow), narrow(sphere.radius))
                .with_velocity(sphere.velocity.map(narrow))
        });
        collect(spheres, "the spheres in float32")
    }

    /// Opens the domain along z if the world is two-dimensional: all spheres are in the middle of a thin layer, as
    /// LAMMPS and HOOMD keep them, and none moves along z. If the options name the periodic edges, nothing changes. A
    /// box without height must be two-dimensional.
    pub(crate) fn flatten(&mut self, given: &Given, options: &ReadOptions) -> Result<(), Error> {
        let Some(cell) = given.cell.filter(|_| !options.says_so()) else {
            return Ok(());
        };
        if cell.is_flat() && given.periodic.is_none_or(|periodic| periodic[2]) {
            let first = self.spheres.first().map(|sphere| sphere.center[2]);
            let is_flat = |sphere: &HardSphere| Some(sphere.center[2]) == first;
            if self.leaves_plane || !self.spheres.iter().all(is_flat) {
                return Err(Error::new(format!(
                    "{}: the box has no height, but not all spheres stay at one z; name the periodic edges with \
                     --periodic (ab, if the world is open along z)",
                    self.source
                )));
            }
            self.is_layer = self.domain.filter(|domain| !domain.is_open()).map(|_| true);
        } else {
            self.is_layer = self
                .domain
                .filter(|domain| domain.periodic()[2])
                .map(|_| false);
        }
        let (Some(domain), Some(middle), false) =
            (self.domain, cell.middle_of_layer(), given.is_certain)
        else {
            return Ok(());
        };
        let [a, b, c] = domain.periodic();
        if !c || self.spheres.is_empty() {
            return Ok(());
        }
        let is_middle = |sphere: &&HardSphere| {
            let away = sphere.center[2] - middle;
            away.abs() <= 1e-6 * domain.edges()[2][2]
        };
        let count = self.spheres.iter().filter(is_middle).count();
        let first = self.spheres[0].center[2];
        let is_plane = self.spheres.iter().all(|sphere| sphere.center[2] == first);
        let is_layer = count == self.spheres.len() && !self.leaves_plane;
        self.is_layer = Some(is_layer);
        if is_layer {
            self.domain = Some(domain.with_periodic([a, b, false]));
            self.notes.push(
                "all centres are in the middle of a thin box, so the world is taken as \
                 two-dimensional, and open along z; --periodic says otherwise"
                    .to_owned(),
            );
        } else if is_plane || 2 * count >= self.spheres.len() {
            self.notes.push(
                "the box is thin, but not all centres are and stay in its middle, so the world is \
                 three-dimensional, and periodic along z; --periodic ab says otherwise"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(crate) fn check_ids(&self) -> Result<(), Error> {
        let Some(ids) = &self.ids else { return Ok(()) };
        let mut rows = collect(0..ids.len(), "the ids")?;
        rows.sort_unstable_by_key(|&row| (ids[row], row));
        let twice = rows.windows(2).find(|pair| ids[pair[0]] == ids[pair[1]]);
        let Some(&[first, second]) = twice else {
            return Ok(());
        };
        let id = ids[second];
        let [first, second] = [first, second].map(|row| self.lines.of(row).unwrap_or_default());
        let what = format!(
            "field id is {id}, as on {} {first}, but every sphere must have an id of its own",
            self.unit
        );
        Err(at(&self.source, self.unit, second, &what))
    }

    /// Adds the line or row of a sphere, and the name of the invalid field, to an error of the library, which
    /// has only the index of the sphere.
    pub fn explain(&self, error: carom::Error) -> Error {
        if let carom::Error::InvalidSphere { index, field, .. } = error
            && let Some(line) = self.lines.of(index)
        {
            return at(
                &self.source,
                self.unit,
                line,
                &format!("field {}: {error}", self.names.of(field)),
            );
        }
        if let carom::Error::InvalidDomain { .. } = error {
            return Error::new(format!("{}: {error}", self.source));
        }
        if let carom::Error::ImageOutOfRange { index, .. } = error
            && let Some(line) = self.lines.of(index)
        {
            return at(&self.source, self.unit, line, &error.to_string());
        }
        Error::other(error)
    }
}

/// Appends an element to a list, or returns false if there is no memory for it.
fn push<T>(list: &mut Vec<T>, element: T) -> bool {
    let fits = list.try_reserve(1).is_ok();
    if fits {
        list.push(element);
    }
    fits
}
