//! Finds the columns of an input file that hold positions, radii and velocities of spheres, and reads the
//! rows.

use carom::{Field, HardSphere};

use crate::read::cell::Cell;
use crate::read::column_names::REPLACED;
use crate::read::words::{self, Motion};
use crate::read::{Radii, ReadOptions, Type, elements, number};

const MOST_SHOWN: usize = 200;

/// Largest number of columns of vectors, so that an invalid one does not fill the memory.
pub(crate) const MOST_COLUMNS: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) center: [&'static str; 3],
    /// Column that determines the radius: `radius`, `diameter`, or `type` if the options give a radius for
    /// each type of sphere.
    pub(crate) size: &'static str,
    pub(crate) velocity: [&'static str; 3],
}

impl Names {
    pub(crate) const PLAIN: Self = Self {
        center: ["x", "y", "z"],
        size: "radius",
        velocity: ["vx", "vy", "vz"],
    };

    pub(crate) fn of(&self, field: Field) -> &'static str {
        let (names, axis) = match field {
            Field::Radius => return self.size,
            Field::Center(axis) => (self.center, axis),
            Field::Velocity(axis) | Field::Displacement(axis) => (self.velocity, axis),
        };
        names.get(axis).copied().unwrap_or("?")
    }
}

/// Columns of an input file that are read, counted from 0.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: Names,
    /// Columns of the centres. Without a column of z, the world is two-dimensional, and z is 0.
    center: [usize; 2],
    height: Option<usize>,
    size: Size,
    /// Columns of the velocity. A component without a column is read as 0.
    velocity: [Option<usize>; 3],
    /// Source of the masses, if the columns of `velocity` hold momenta.
    mass: Option<Mass>,
    /// Momenta and masses beside velocities, with which they must agree.
    other: Option<([Option<usize>; 3], Mass)>,
    centers_only: bool,
    /// Whether the options say that all spheres are at rest.
    at_rest: bool,
    id: Option<usize>,
    kind: Option<usize>,
    /// Simulation box to which scaled coordinates refer, or `None` for unscaled coordinates.
    cell: Option<Cell>,
    /// Whether each coordinate is scaled.
    scaled: [bool; 3],
    /// Column that shows whether a sphere moves along z, also if velocities are not read.
    watched: Option<usize>,
}

/// Source of the radii: a column of radii or diameters, one radius for all spheres, or a column of types and
/// a radius for each type.
#[derive(Debug)]
enum Size {
    Radius(usize),
    Diameter(usize),
    /// A radius and a diameter, which must agree.
    Both(usize, usize),
    Constant(f64),
    Kind(usize, Radii),
}

/// Source of the masses of the spheres: a column of masses, of symbols of elements, or of atomic numbers.
#[derive(Clone, Copy, Debug)]
enum Mass {
    Column(usize),
    /// Two columns of masses, which must agree.
    Columns(usize, usize),
    Symbol(usize),
    Number(usize),
}

/// Names of momenta in extended XYZ as ASE writes it.
const MOMENTA: [&str; 3] = ["momenta 1", "momenta 2", "momenta 3"];

/// A sphere of an input file, and its id and type if the options request them.
pub(crate) struct Row {
    pub(crate) sphere: HardSphere,
    pub(crate) id: Option<i64>,
    pub(crate) kind: Option<Type>,
    /// Whether the sphere moves along z, if the columns watch this.
    pub(crate) leaves_plane: bool,
}

#[derive(Debug)]
pub(crate) struct BadField {
    pub(crate) name: &'static str,
    /// Description of the error, written to follow the name of the field, such as "is `abc`, but must be a
    /// finite number".
    pub(crate) what: String,
}

impl Columns {
    /// Finds the columns to read among the column names of an input file. Each entry of `centers` is a set of
    /// names that the three coordinates may have, such as x, y, z. The first complete set is used.
    pub(crate) fn find(
        names: &[String],
        centers: &[[&'static str; 3]],
        options: &ReadOptions,
    ) -> Result<Self, String> {
        let mut found = None;
        let mut flat = None;
        let has = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let has_heights = centers.iter().any(|[_, _, z]| has(z));
        for &center in centers {
            match positions(names, center)? {
                [Some(x), Some(y), Some(z)] => found = found.or(Some((center, [x, y], Some(z)))),
                [Some(x), Some(y), None] if !has_heights => {
                    flat = flat.or(Some((center, [x, y], None)));
                }
                _ => {}
            }
        }
        let Some((center_names, center, height)) = found
            .or(flat)
            .map_or_else(|| mixed(names, centers), |set| Ok(Some(set)))?
        else {
            // The error message names a coordinate column that the file lacks. If the file has some
            // columns of a triple, such as x and y of x, y and z, the message names the column that
            // completes the triple.
            let partial = |center: &&[&str; 3]| center.iter().any(|name| has(name));
            let center = centers.iter().find(partial).or(centers.first());
            let absent = center.and_then(|c| c.iter().find(|&name| !has(name)));
            let named = words::position_of(names);
            let example = words::example(&["x", "y", "z"], names, named.as_deref());
            let what = missing(absent.unwrap_or(&"x"), names);
            return Err(format!(
                "{what}; say which they are with --columns {example}"
            ));
        };
        let plain = Names::PLAIN;
        let (size_name, size) = if options.centers_only {
            ("radius", Size::Constant(0.0))
        } else {
            size(names, &options.radii)?
        };
        let needed = |name, option: Option<&str>| match (position(names, name)?, option) {
            (None, Some(option)) => Err(missing(&format!("{name}, which {option} needs"), names)),
            (found, option) => Ok(found.filter(|_| option.is_some())),
        };
        let (velocity, mass, other) = if options.centers_only || options.at_rest {
            ([None; 3], None, None)
        } else {
            let (velocity, mass) = motion(names, height.is_none())?;
            let other = match mass {
                None if velocity.contains(&None) => None,
                None => momenta(names)?.and_then(|(momenta, mass)| Some((momenta, mass?))),
                Some(_) => None,
            };
            (velocity, mass, other)
        };
        Ok(Self {
            names: Names {
                center: center_names,
                size: size_name,
                velocity: if mass.is_some() {
                    MOMENTA
                } else {
                    plain.velocity
                },
            },
            center,
            height,
            size,
            velocity,
            mass,
            other,
            centers_only: options.centers_only,
            at_rest: options.at_rest,
            id: needed("id", options.ids.then_some("--ids"))?,
            kind: match kind_column(names, &KINDS)? {
                None if options.types => {
                    return Err(missing(
                        "type, element or species, which --types needs",
                        names,
                    ));
                }
                found => found.filter(|_| options.types),
            },
            cell: None,
            scaled: center_names.map(is_scaled),
            watched: None,
        })
    }

    /// Declares that the world is two-dimensional if no sphere moves along z, which the column of this motion shows, if
    /// there is one.
    pub(crate) fn watching(self, names: &[String]) -> Self {
        let find = |name: &str| {
            names
                .iter()
                .position(|other| other.eq_ignore_ascii_case(name))
        };
        Self {
            watched: find("vz").or_else(|| find(MOMENTA[2])),
            ..self
        }
    }

    /// Returns whether a coordinate is a fraction of an edge of the simulation box.
    pub(crate) fn are_scaled(&self) -> bool {
        self.scaled != [false; 3]
    }

    /// Returns whether some coordinates are scaled, and others are not.
    pub(crate) fn are_mixed(&self) -> bool {
        let axes = if self.is_flat() { 2 } else { 3 };
        let scaled = &self.scaled[..axes];
        scaled.contains(&true) && scaled.contains(&false)
    }

    /// Marks the coordinates as scaled: as fractions of the edges of the simulation box `cell`.
    pub(crate) fn within(self, cell: Cell) -> Self {
        Self {
            cell: Some(cell),
            ..self
        }
    }

    /// Reads a sphere. The caller's function `field` returns the text in a column.
    pub(crate) fn row<'a>(
        &self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Row, BadField> {
        let field = |column| field(column).unwrap_or_default();
        let bad = |name| move |what| BadField { name, what };
        let number = |column, name| number::parse(field(column)).map_err(bad(name));
        let kind = |column| Type::parse(field(column)).map_err(bad("type"));
        let mut sphere = HardSphere::new([0.0; 3], 0.0);
        if let Some(cell) = &self.cell {
            let mut parts = [0.0; 3];
            for (axis, column) in self.centers() {
                parts[axis] = number::parse(field(column)).map_err(bad(self.names.center[axis]))?;
            }
            let axes = if self.is_flat() { 2 } else { 3 };
            let center = if self.are_mixed() {
                let [x, y, z] = self.scaled;
                cell.at_mixed(parts, [x, y, z || self.is_flat()])
            } else {
                cell.at(parts)
            };
            for (axis, x) in center.into_iter().enumerate().take(axes) {
                sphere.center[axis] = number::finite(x).map_err(bad(self.names.center[axis]))?;
            }
        } else {
            for (axis, column) in self.centers() {
                sphere.center[axis] = number(column, self.names.center[axis])?;
            }
        }
        let by_mass = |momenta: [Option<usize>; 3], mass: Mass| {
            let mass = mass.of(field).map_err(|(name, what)| bad(name)(what))?;
            let mut velocity = [0.0; 3];
            for ((column, name), x) in momenta.into_iter().zip(MOMENTA).zip(&mut velocity) {
                if let Some(column) = column {
                    let momentum = number::parse(field(column)).map_err(bad(name))?;
                    *x = number::finite(momentum / mass)
                        .map_err(|what| bad(name)(format!("divided by the mass {what}")))?;
                }
            }
            Ok(velocity)
        };
        if let Some(mass) = self.mass {
            sphere.velocity = by_mass(self.velocity, mass)?;
        } else {
            for axis in 0..3 {
                if let Some(column) = self.velocity[axis] {
                    sphere.velocity[axis] = number(column, self.names.velocity[axis])?;
                }
            }
        }
        // Without a mass, nothing can be compared.
        if let Some((momenta, mass)) = self.other
            && let Ok(other) = by_mass(momenta, mass)
        {
            let one = sphere.velocity;
            let largest = one
                .into_iter()
                .chain(other)
                .fold(0.0, |most: f64, x| most.max(x.abs()));
            let differs = |axis: &usize| {
                momenta[*axis].is_some() && (one[*axis] - other[*axis]).abs() > 1e-3 * largest
            };
            if let Some(axis) = (0..3).find(differs) {
                let what = format!(
                    "divided by the mass is {}, but {} is {}; leave out one of them with --columns \"_=momenta \
                     1,_=momenta 2,_=momenta 3\" or --columns _=vx,_=vy,_=vz",
                    other[axis], self.names.velocity[axis], one[axis]
                );
                return Err(bad(MOMENTA[axis])(what));
            }
        }
        sphere.radius = match &self.size {
            &Size::Radius(column) => number(column, "radius")?,
            &Size::Diameter(column) => {
                number::halve(number(column, "diameter")?).map_err(bad("diameter"))?
            }
            &Size::Both(column, other) => {
                let (radius, diameter) = (number(column, "radius")?, number(other, "diameter")?);
                if !number::agree(2.0 * radius, diameter) {
                    let what = format!(
                        "is {diameter}, but must be twice the radius, which is {radius}; leave out one of them with \
                         --columns _=diameter or --columns _=radius"
                    );
                    return Err(bad("diameter")(what));
                }
                radius
            }
            &Size::Constant(radius) => radius,
            Size::Kind(column, radii) => {
                let kind = kind(*column)?;
                let unknown = || format!("is {kind}, but --radius-by-type lacks {kind}=RADIUS");
                radii.of_type(kind).ok_or_else(|| bad("type")(unknown()))?
            }
        };
        if self.is_flat() && sphere.velocity[2] != 0.0 {
            let what = format!(
                "is {}, but there is no column {}; name it with --columns, as in --columns z=NAME",
                sphere.velocity[2], self.names.center[2]
            );
            return Err(bad(self.names.velocity[2])(what));
        }
        let moves = |column| number::parse(field(column)).is_ok_and(|x| x != 0.0);
        let id = self
            .id
            .map(|column| number::id(field(column)).map_err(bad("id")));
        Ok(Row {
            sphere,
            id: id.transpose()?,
            kind: self.kind.map(kind).transpose()?,
            leaves_plane: self.watched.is_some_and(moves),
        })
    }

    /// Returns the axes and columns of the centres.
    fn centers(&self) -> impl Iterator<Item = (usize, usize)> {
        let [x, y] = self.center;
        [Some(x), Some(y), self.height]
            .into_iter()
            .enumerate()
            .filter_map(|(axis, column)| Some((axis, column?)))
    }

    /// Returns whether there is no column of z: z is 0.
    pub(crate) fn is_flat(&self) -> bool {
        self.height.is_none()
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let height = self.note_of_height().into_iter();
        height.chain(self.note_of_motion())
    }

    pub(crate) fn note_of_height(&self) -> Option<String> {
        self.is_flat().then(|| {
            format!(
                "there is no column {}: the world is taken as two-dimensional, with z = 0, and open \
                 along z",
                self.names.center[2]
            )
        })
    }

    /// Returns whether velocities or momenta are read.
    pub(crate) fn are_moving(&self) -> bool {
        self.velocity.iter().any(Option::is_some)
    }

    /// Returns the note about momenta.
    pub(crate) fn note_of_momenta(&self) -> Option<String> {
        self.mass.map(|mass| {
            let masses = match mass {
                Mass::Column(_) | Mass::Columns(..) => "masses",
                Mass::Symbol(_) | Mass::Number(_) => "the standard masses of the elements",
            };
            format!(
                "velocities are momenta divided by {masses}; in the units of ASE, the unit of time, also of \
                 --dt, is then Å·√(u/eV) = 10.18 fs"
            )
        })
    }

    /// Returns the columns of numbers that are read as they are, or `None` if velocities are divided by masses.
    pub(crate) fn numbers(&self) -> Option<impl Iterator<Item = usize>> {
        let size = match self.size {
            Size::Radius(column) | Size::Diameter(column) | Size::Both(column, _) => Some(column),
            Size::Constant(_) | Size::Kind(..) => None,
        };
        let centers = self.centers().map(|(_, column)| column);
        let all = centers
            .chain(size)
            .chain(self.velocity.into_iter().flatten());
        self.mass.is_none().then_some(all)
    }

    pub(crate) fn note_of_motion(&self) -> Option<String> {
        if self.centers_only || self.at_rest {
            return None;
        }
        let axes = if self.is_flat() { 2 } else { 3 };
        let missing: Vec<&str> = (self.names.velocity.into_iter())
            .zip(self.velocity)
            .take(axes)
            .filter_map(|(name, column)| column.is_none().then_some(name))
            .collect();
        match missing.len() {
            0 => None,
            count if count == axes && self.velocity[2].is_none() => Some(format!(
                "there are no columns {}: every sphere is at rest",
                missing.join(", ")
            )),
            _ => Some(format!(
                "there is no column {}: these velocity components are taken as 0",
                missing.join(", ")
            )),
        }
    }
}

impl Mass {
    /// Returns the mass in a row, or the name of the invalid field and what is wrong with it.
    fn of<'a>(self, field: impl Fn(usize) -> &'a [u8]) -> Result<f64, (&'static str, String)> {
        let unknown = |text: &[u8]| {
            format!(
                "is `{}`, but must be an element, such as Ar or H, whose mass turns the momentum into a \
                 velocity; correct it, add a column mass, or take all spheres as at rest with --at-rest",
                number::shown(text)
            )
        };
        let mass = |column| match number::parse(field(column)) {
            Ok(mass) if mass > 0.0 => Ok(mass),
            Ok(mass) => Err(("mass", format!("is {mass}, but must be larger than 0"))),
            Err(what) => Err(("mass", what)),
        };
        match self {
            Self::Column(column) => mass(column),
            Self::Columns(column, other) => {
                let (one, other) = (mass(column)?, mass(other)?);
                if !number::agree(one, other) {
                    let what = format!(
                        "is {one}, but the field masses is {other}; leave out one of them with --columns _=masses \
                         or --columns _=mass"
                    );
                    return Err(("mass", what));
                }
                Ok(one)
            }
            Self::Symbol(column) => {
                let symbol = field(column).trim_ascii();
                elements::mass_of_symbol(symbol).ok_or_else(|| ("species", unknown(symbol)))
            }
            Self::Number(column) => {
                let text = field(column).trim_ascii();
                let number = number::id(text).map_err(|what| ("Z", what))?;
                elements::mass_of_number(number).ok_or_else(|| ("Z", unknown(text)))
            }
        }
    }
}

/// Columns of a table that seem to number frames or times. A table is one frame, so they must not change.
pub(crate) struct Moment {
    all: Vec<Numbering>,
    /// Column of the ids, the id of the first row, and whether other ids followed it. If the first id comes again after
    /// others, another frame begins.
    ids: Option<Numbering>,
    has_others: bool,
}

struct Numbering {
    name: String,
    column: usize,
    first: Option<Vec<u8>>,
}

impl Moment {
    pub(crate) fn of(names: &[String]) -> Self {
        let numbering = |(column, name): (usize, &String)| Numbering {
            name: name.clone(),
            column,
            first: None,
        };
        let all = || names.iter().enumerate();
        Self {
            all: all()
                .filter(|(_, name)| words::is_moment(name))
                .map(numbering)
                .collect(),
            ids: all().find(|(_, name)| words::is_id(name)).map(numbering),
            has_others: false,
        }
    }

    /// Checks a row, whose texts `field` returns.
    pub(crate) fn check<'a>(
        &mut self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<(), String> {
        for Numbering {
            name,
            column,
            first,
        } in &mut self.all
        {
            let now = field(*column).unwrap_or_default();
            let first = first.get_or_insert_with(|| now.to_vec());
            if now == first {
                continue;
            }
            let [now, first] = [now, first].map(number::shown);
            let name = number::printable(name, 40);
            return Err(format!(
                "field {name} is `{now}`, but `{first}` in the first row, so the table seems to have several frames, \
                 but is read as one; keep the rows of one frame, or ignore the column with --columns \"_={name}\""
            ));
        }
        let Some(Numbering {
            name,
            column,
            first,
        }) = &mut self.ids
        else {
            return Ok(());
        };
        let now = field(*column).unwrap_or_default();
        let first = first.get_or_insert_with(|| now.to_vec());
        if now != first {
            self.has_others = true;
        } else if self.has_others {
            return Err(format!(
                "field {} is `{}` again, so the table seems to have several frames, but is read as one; keep the rows \
                 of one frame, or ignore the column with --columns \"_={}\"",
                number::printable(name, 40),
                number::shown(now),
                number::printable(name, 40)
            ));
        }
        Ok(())
    }
}

/// Returns the columns of the velocities, or of the momenta and masses that give them. A column that names motion
/// from which no velocity follows is an error, so that no motion is lost.
fn motion(names: &[String], is_flat: bool) -> Result<([Option<usize>; 3], Option<Mass>), String> {
    let velocity = positions(names, Names::PLAIN.velocity)?;
    let axes = if is_flat { 2 } else { 3 };
    if velocity.iter().take(axes).all(Option::is_some) {
        return Ok((velocity, None));
    }
    let way_out = "or take all spheres as at rest with --at-rest";
    if let Some((momenta, mass)) = momenta(names)? {
        return match mass {
            Some(mass) => Ok((momenta, Some(mass))),
            None => Err(format!(
                "there are momenta, but no masses and no species, which give the velocities; add a \
                 column mass, {way_out}"
            )),
        };
    }
    // Of a velocity with some of its components, another column must not hold the others.
    let mut rest = names.to_vec();
    for place in velocity.into_iter().flatten() {
        rest[place].clear();
    }
    let Some((place, motion)) = words::motion_of(&rest, is_flat) else {
        return Ok((velocity, None));
    };
    let name = number::printable(names.get(place).map_or("", String::as_str), 40);
    Err(match motion {
        Motion::Velocity => {
            let named = words::siblings(&rest, place, axes);
            let example = words::example(&["vx", "vy", "vz"][..axes], names, named.as_deref());
            format!(
                "the column {name} seems to describe motion, but the velocities must be in columns vx, vy \
                 and vz; name them with --columns {example}, {way_out}"
            )
        }
        Motion::Momentum => format!(
            "the column {name} seems to describe motion, a momentum; divide it by the mass, and write the \
             velocity as vx, vy and vz (of XYZ, momenta:R:3 is read, with a column mass or the species), {way_out}"
        ),
    })
}

/// The columns of momenta, and the source of the masses.
type Momenta = ([Option<usize>; 3], Option<Mass>);

/// Returns the momenta of extended XYZ, if there are any.
fn momenta(names: &[String]) -> Result<Option<Momenta>, String> {
    let momenta = positions(names, MOMENTA)?;
    if momenta == [None; 3] {
        return Ok(None);
    }
    let masses = [position(names, "mass")?, position(names, "masses")?];
    let mass = match masses {
        [Some(one), Some(other)] => Some(Mass::Columns(one, other)),
        [Some(column), _] | [_, Some(column)] => Some(Mass::Column(column)),
        [None, None] => match kind_column(names, &["species", "element", "symbols"])? {
            Some(column) => Some(Mass::Symbol(column)),
            None => position(names, ATOMIC_NUMBER)?.map(Mass::Number),
        },
    };
    Ok(Some((momenta, mass)))
}

/// Name of the column of atomic numbers in extended XYZ, which is `Z` there.
const ATOMIC_NUMBER: &str = "atomic number";

/// Returns the names of the columns of a vector in extended XYZ or in a structured array. The message of an error is
/// written to follow what names the vector.
pub(crate) fn of_vector(name: &str, count: usize) -> Result<Vec<String>, String> {
    let three = match &*name.to_ascii_lowercase() {
        "pos" | "position" | "positions" => Some(Names::PLAIN.center),
        "velo" | "vel" | "vels" | "velocity" | "velocities" => Some(Names::PLAIN.velocity),
        _ => None,
    };
    Ok(match (three, count) {
        // A vector of two numbers lacks z.
        (Some(names), 2 | 3) => names
            .iter()
            .take(count)
            .map(|&name| name.to_owned())
            .collect(),
        (Some(_), _) => {
            return Err(format!(
                "gives {} {count} columns, but it must have 3, or 2 in a two-dimensional world",
                number::printable(name, 40)
            ));
        }
        (None, 2 | 3) if ["momentum", "momenta"].contains(&&*name.to_ascii_lowercase()) => {
            (1..=count).map(|k| format!("momenta {k}")).collect()
        }
        // `Z`, but not `z`, which is a coordinate.
        (None, 1) if name == "Z" => vec![ATOMIC_NUMBER.to_owned()],
        (None, 1) => vec![name.to_owned()],
        (None, _) => (1..=count).map(|k| format!("{name} {k}")).collect(),
    })
}

fn size(names: &[String], radii: &Radii) -> Result<(&'static str, Size), String> {
    let radius = position(names, "radius")?.map(|at| ("radius", Size::Radius(at)));
    let diameter = position(names, "diameter")?.map(|at| ("diameter", Size::Diameter(at)));
    let in_file = match (&radius, &diameter) {
        (&Some((name, Size::Radius(one))), &Some((_, Size::Diameter(other)))) => {
            Some((name, Size::Both(one, other)))
        }
        _ => radius.or(diameter),
    };
    let option = match radii {
        Radii::InFile => {
            return in_file.ok_or_else(|| {
                let what = missing("radius or diameter", names);
                match words::size_of(names) {
                    Some((size, name)) => format!(
                        "{what}; say which it is with --columns \"{size}={name}\", or give the radii with \
                         --radius or --radius-by-type"
                    ),
                    None => format!("{what}; give the radii with --radius or --radius-by-type"),
                }
            });
        }
        Radii::Constant(_) => "--radius",
        Radii::ByType(_) => "--radius-by-type",
    };
    if let Some((name, _)) = in_file {
        return Err(format!("there is a column {name}, so leave out {option}"));
    }
    match radii {
        &Radii::Constant(radius) => Ok(("radius", Size::Constant(radius))),
        Radii::ByType(given) => {
            // If the caller names types, they are in a column of names, if there is one.
            let mut kinds = KINDS;
            if given.keys().any(Type::is_name) {
                kinds.rotate_left(1);
            }
            match kind_column(names, &kinds)? {
                Some(column) => Ok(("type", Size::Kind(column, radii.clone()))),
                None => Err(missing(
                    "type, element or species, which --radius-by-type needs",
                    names,
                )),
            }
        }
        Radii::InFile => Err(missing("radius or diameter", names)),
    }
}

/// Returns whether a coordinate of this name is a fraction of an edge of the box.
fn is_scaled(name: &str) -> bool {
    name.ends_with('s') || name.ends_with("su")
}

/// A set of coordinates: their names, and their columns. There may be no column of z.
type Centers = ([&'static str; 3], [usize; 2], Option<usize>);

/// Returns the columns of coordinates of different kinds, such as `xs`, `y` and `z`, which LAMMPS may write.
fn mixed(names: &[String], centers: &[[&'static str; 3]]) -> Result<Option<Centers>, String> {
    let mut kinds = centers.first().copied().unwrap_or_default();
    let mut columns = [None; 3];
    for axis in 0..3 {
        for center in centers {
            if columns[axis].is_none() {
                columns[axis] = position(names, center[axis])?;
                kinds[axis] = center[axis];
            }
        }
    }
    Ok(match columns {
        [Some(x), Some(y), Some(z)] => Some((kinds, [x, y], Some(z))),
        _ => None,
    })
}

/// Names of columns of types.
const KINDS: [&str; 3] = ["type", "element", "species"];

fn kind_column(names: &[String], kinds: &[&str]) -> Result<Option<usize>, String> {
    for name in kinds {
        if let Some(column) = position(names, name)? {
            return Ok(Some(column));
        }
    }
    Ok(None)
}

fn missing(what: &str, names: &[String]) -> String {
    let replaced = |name: &String| match name.strip_prefix(REPLACED) {
        Some(name) => format!("{name} (replaced by --columns)"),
        None => name.clone(),
    };
    let all = names.iter().map(replaced).collect::<Vec<_>>().join(", ");
    let cut = number::printable(&all, MOST_SHOWN);
    let more = if all.chars().nth(MOST_SHOWN).is_some() {
        " ..."
    } else {
        ""
    };
    format!("there is no column {what}; the columns are {cut}{more}")
}

/// Returns the positions of three named columns, or `None` for a missing column. Two columns with the same
/// name are an error.
fn positions(names: &[String], three: [&str; 3]) -> Result<[Option<usize>; 3], String> {
    let [x, y, z] = three;
    Ok([
        position(names, x)?,
        position(names, y)?,
        position(names, z)?,
    ])
}

/// Returns the position of a named column. Other cases of its letters count only if no column has exactly this name.
fn position(names: &[String], name: &str) -> Result<Option<usize>, String> {
    let of = |is_name: &dyn Fn(&str) -> bool| {
        let mut found = (0..names.len()).filter(|&k| is_name(&names[k]));
        let first = found.next();
        if let (Some(first), Some(second)) = (first, found.next()) {
            let [first, second] = [first, second].map(|k| k + 1);
            return Err(format!(
                "there is more than one column {name} (columns {first} and {second}); say which is read with \
                 --columns {name}={first} or --columns {name}={second}"
            ));
        }
        Ok(first)
    };
    match of(&|other| other == name)? {
        Some(column) => Ok(Some(column)),
        None => of(&|other| other.eq_ignore_ascii_case(name)),
    }
}
