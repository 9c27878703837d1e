//! The simulation box of an input file: a corner and three edge vectors, which form a parallelepiped.

use carom::Domain;

use crate::error::{Error, Result, at, bail};
use crate::read::frame_text::fields;
use crate::read::{ReadOptions, number};

/// What a file says about its box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) cell: Option<Cell>,
    /// For each edge of the box, whether the world is periodic along it, or `None` if the file does not say.
    pub(crate) periodic: Option<[bool; 3]>,
    /// Line of a box that is missing or cannot be read, and what is wrong. It is an error unless the options ignore the
    /// box, or give another one.
    pub(crate) wrong_cell: Option<(u64, String)>,
    /// Line of periodic edges that cannot be read, and what is wrong. It is an error unless the options say which edges
    /// are periodic.
    pub(crate) wrong_periodic: Option<(u64, String)>,
    /// Whether `periodic` also holds for a thin box. LAMMPS and HOOMD call z periodic in two-dimensional worlds, too.
    pub(crate) is_certain: bool,
}

impl Given {
    /// Returns whether the file gives a box, even if it cannot be read.
    pub(crate) fn has_any(&self) -> bool {
        self.cell.is_some() || self.wrong_cell.is_some()
    }

    /// Returns an error if the file gives its box in a way that cannot be read, and the options do not replace it.
    pub(crate) fn check(&self, source: &str, options: &ReadOptions) -> Result<(), Error> {
        let ways_out = [
            (
                &self.wrong_cell,
                options.open || options.cell.is_some(),
                "give the box with --box and --periodic, adding --open, or take the world as open with --open",
            ),
            (
                &self.wrong_periodic,
                options.says_so(),
                "or say with --periodic which edges are periodic, or take the world as open with --open",
            ),
        ];
        for (wrong, is_replaced, way_out) in ways_out {
            if let (Some((line, what)), false) = (wrong, is_replaced) {
                return Err(at(source, "line", *line, &format!("{what}; {way_out}")));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    origin: [f64; 3],
    edges: [[f64; 3]; 3],
}

impl Cell {
    /// Parses the simulation box of a LAMMPS dump from the three lines after the line `ITEM: BOX BOUNDS`, of
    /// which each has `columns` numbers: 2 in an orthogonal box, 3 in a triclinic box (`xy xz yz`) and 4 in a
    /// general triclinic box (`abc origin`). An error is the index of the invalid line, from 0 to 2, and a
    /// message.
    pub(crate) fn read(columns: usize, lines: &[Vec<u8>; 3]) -> Result<Self, (usize, String)> {
        let mut rows = [[0.0; 4]; 3];
        for (k, line) in lines.iter().enumerate() {
            let fields: Vec<&[u8]> = fields(line).collect();
            if fields.len() != columns {
                let what = format!(
                    "this line of ITEM: BOX BOUNDS has {}, but must have {columns}",
                    number::counted(fields.len(), "number")
                );
                return Err((k, what));
            }
            for (number, field) in rows[k].iter_mut().zip(&fields) {
                *number = number::parse(field)
                    .map_err(|what| (k, format!("a bound of the box {what}")))?;
            }
            if columns < 4 && rows[k][1] < rows[k][0] {
                let what = "the upper bound of the box is below the lower bound";
                return Err((k, what.to_owned()));
            }
        }
        let cell = match columns {
            4 => Self {
                origin: rows.map(|row| row[3]),
                edges: rows.map(|[x, y, z, _]| [x, y, z]),
            },
            3 => Self::tilted(rows),
            _ => Self::tilted(rows.map(|[low, high, ..]| [low, high, 0.0, 0.0])),
        };
        // What the tilts reach beyond the edges may be more than the bounds.
        match (0..3).find(|&k| columns == 3 && cell.edges[k][k] < 0.0) {
            Some(k) => {
                let what =
                    "the bounds of the box are nearer to each other than its tilt factors reach";
                Err((k, what.to_owned()))
            }
            None => Ok(cell),
        }
    }

    /// Returns a triclinic box. Each line has the low and high bound of the axis-aligned box around the
    /// triclinic box, and a tilt factor: <https://docs.lammps.org/Howto_triclinic.html>.
    fn tilted([x, y, z]: [[f64; 4]; 3]) -> Self {
        let [xy, xz, yz] = [x[2], y[2], z[2]];
        let reach = [0.0, xy, xz, xy + xz];
        let origin = [
            x[0] - reach.into_iter().fold(0.0, f64::min),
            y[0] - yz.min(0.0),
            z[0],
        ];
        let far = [
            x[1] - reach.into_iter().fold(0.0, f64::max),
            y[1] - yz.max(0.0),
            z[1],
        ];
        let [a, b, c] = [0, 1, 2].map(|k| far[k] - origin[k]);
        Self {
            origin,
            edges: [[a, 0.0, 0.0], [xy, b, 0.0], [xz, yz, c]],
        }
    }

    pub(crate) fn new(origin: [f64; 3], edges: [[f64; 3]; 3]) -> Self {
        Self { origin, edges }
    }

    /// Returns a box from the lengths of its edges a, b and c, and the angles α between b and c, β between a and c and
    /// γ between a and b, in degrees. Edge a is along x, and b is in the plane of x and y, as in crystallography.
    pub(crate) fn of_angles(
        origin: [f64; 3],
        [a, b, c, alpha, beta, gamma]: [f64; 6],
    ) -> Result<Self, String> {
        if [alpha, beta, gamma]
            .iter()
            .any(|angle| !(*angle > 0.0 && *angle < 180.0))
        {
            return Err(format!(
                "the angles of the box are {alpha}, {beta} and {gamma} degrees, but must be between 0 and 180"
            ));
        }
        // A right angle has the cosine 0.
        let cos = |angle: f64| {
            if angle == 90.0 {
                0.0
            } else {
                angle.to_radians().cos()
            }
        };
        let sin = gamma.to_radians().sin();
        let x = cos(beta);
        let y = (cos(alpha) - cos(beta) * cos(gamma)) / sin;
        let z = (1.0 - x * x - y * y).sqrt();
        if z.is_nan() || z <= 0.0 {
            return Err(format!(
                "no box has the angles {alpha}, {beta} and {gamma} degrees"
            ));
        }
        Ok(Self {
            origin,
            edges: [
                [a, 0.0, 0.0],
                [b * cos(gamma), b * sin, 0.0],
                [c * x, c * y, c * z],
            ],
        })
    }

    /// Converts a simulation box to a domain that is periodic along the edges selected by `periodic`. A number that
    /// is not finite is an error, and so is a periodic edge without a length.
    fn domain(&self, periodic: [bool; 3]) -> Result<Domain, String> {
        check_lengths(self.edges, periodic)?;
        check_volume(self.edges, periodic)?;
        Ok(self.checked()?.with_periodic(periodic))
    }

    /// Converts a simulation box to a domain that is periodic along all edges, which may lack a length.
    pub(crate) fn checked(&self) -> Result<Domain, String> {
        for x in self
            .origin
            .into_iter()
            .chain(self.edges.into_iter().flatten())
        {
            number::finite(x).map_err(|what| format!("a number of the simulation box {what}"))?;
        }
        Ok(Domain::triclinic_f64(self.origin, self.edges))
    }

    /// Does the same as [`Self::domain`], except for a box that is open along all edges. Such a box has no
    /// influence on the spheres. So if one of its numbers is not finite, the function returns
    /// `None` instead of an error.
    fn domain_or_open(&self, periodic: [bool; 3]) -> Result<Option<Domain>, String> {
        match self.domain(periodic) {
            Ok(domain) => Ok(Some(domain)),
            Err(_) if periodic == [false; 3] => Ok(None),
            Err(what) => Err(what),
        }
    }

    /// Returns whether the third edge of the box has no length.
    pub(crate) fn is_flat(&self) -> bool {
        self.edges[2] == [0.0; 3]
    }

    /// Returns the z in the middle of the box, if the box is a thin layer across z: its third edge is along z, at
    /// right angles to the others, and at most half as long as each of them.
    pub(crate) fn middle_of_layer(&self) -> Option<f64> {
        let [a, b, [x, y, height]] = self.edges;
        let length = |[x, y, _]: [f64; 3]| x.hypot(y);
        let is_layer = a[2] == 0.0
            && b[2] == 0.0
            && x == 0.0
            && y == 0.0
            && 2.0 * height.abs() <= length(a).min(length(b));
        is_layer.then_some(self.origin[2] + 0.5 * height)
    }

    /// Returns the first periodic edge that has no length.
    pub(crate) fn without_length(&self, periodic: [bool; 3]) -> Option<usize> {
        (0..3).find(|&k| periodic[k] && self.edges[k] == [0.0; 3])
    }

    /// Returns whether the first edge is along x, and the second one in the plane of x and y.
    pub(crate) fn is_upright(&self) -> bool {
        let [[_, ay, az], [_, _, bz], _] = self.edges;
        [ay, az, bz] == [0.0; 3]
    }

    /// Converts coordinates of which some are scaled, and the others are lengths, to a position, in a box that
    /// [is upright](Self::is_upright). A number that cannot be computed is not finite.
    pub(crate) fn at_mixed(&self, [x, y, z]: [f64; 3], scaled: [bool; 3]) -> [f64; 3] {
        let [[ax, ..], [bx, by, _], [cx, cy, cz]] = self.edges;
        let [ox, oy, oz] = self.origin;
        // A part of an edge does not matter where the edge has no component.
        let of = |edge: f64, part: f64| if edge == 0.0 { 0.0 } else { edge * part };
        let c = if scaled[2] { z } else { (z - oz) / cz };
        let b = if scaled[1] {
            y
        } else {
            (y - oy - of(cy, c)) / by
        };
        [
            if scaled[0] {
                ox + (ax * x + of(bx, b) + of(cx, c))
            } else {
                x
            },
            if scaled[1] {
                oy + (by * y + of(cy, c))
            } else {
                y
            },
            if scaled[2] { oz + cz * z } else { z },
        ]
    }

    /// Converts scaled coordinates, which are fractions of the edges of the simulation box, to a position.
    pub(crate) fn at(&self, parts: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.edges;
        std::array::from_fn(|k| {
            self.origin[k] + (parts[0] * a[k] + parts[1] * b[k] + parts[2] * c[k])
        })
    }
}

/// Returns the domain of an input: the box of the file, which is periodic along the edges `periodic`, unless the
/// options give another box or other edges. If the world `is_flat`, it is open along the third edge unless the
/// options say otherwise.
pub(crate) fn domain(
    cell: Option<&Cell>,
    periodic: [bool; 3],
    is_flat: bool,
    options: &ReadOptions,
) -> Result<Option<Domain>, String> {
    let cell = cell.filter(|_| !options.open);
    let periodic = options
        .periodic
        .unwrap_or([periodic[0], periodic[1], periodic[2] && !is_flat]);
    match (options.cell, cell) {
        (Some(_), Some(_)) => Err(
            "the file has a box, so --box would contradict it; leave out --box, or add --open to \
             ignore the box of the file"
                .to_owned(),
        ),
        (Some(given), None) => {
            let given = given.with_periodic(options.periodic.unwrap_or(given.periodic()));
            check_lengths(
                given.edges().map(|edge| edge.map(f64::from)),
                given.periodic(),
            )?;
            Ok(Some(given))
        }
        (None, Some(cell)) => cell.domain_or_open(periodic),
        (None, None) if options.periodic.is_some() && !options.open => {
            Err(
                "the file has no box; give one with --box, as in --box \"0 0 0 10 10 10\" --periodic abc, or leave \
                 out --periodic"
                    .to_owned(),
            )
        }
        (None, None) => Ok(None),
    }
}

/// Returns the note that an input of the kind `kind`, which might have a box, has none.
pub(crate) fn without_box(kind: &str) -> String {
    format!("the {kind} has no box, so the world is open; --box and --periodic give one")
}

/// Returns an error if the periodic edges are parallel or in one plane.
fn check_volume(edges: [[f64; 3]; 3], periodic: [bool; 3]) -> Result<(), String> {
    let cross =
        |[a, b, c]: [f64; 3], [d, e, f]: [f64; 3]| [b * f - c * e, c * d - a * f, a * e - b * d];
    // Lengths do not matter, and their products must not underflow.
    let edges = edges.map(|edge| {
        let largest = edge.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        edge.map(|x| if largest > 0.0 { x / largest } else { 0.0 })
    });
    for (j, k) in [(0, 1), (0, 2), (1, 2)] {
        if periodic[j] && periodic[k] && cross(edges[j], edges[k]) == [0.0; 3] {
            let name = |k: usize| ["a", "b", "c"][k];
            return Err(format!(
                "the edges {} and {} of the box are parallel; correct the box, or ignore it with --open",
                name(j),
                name(k)
            ));
        }
    }
    let [x, y, z] = cross(edges[0], edges[1]);
    let [a, b, c] = edges[2];
    if periodic == [true; 3] && x * a + y * b + z * c == 0.0 {
        return Err(
            "the edges of the box are in one plane; correct the box, or ignore it with --open"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns an error if an edge is periodic but has no length.
fn check_lengths(edges: [[f64; 3]; 3], periodic: [bool; 3]) -> Result<(), String> {
    for ((edge, name), periodic) in edges.iter().zip(["a", "b", "c"]).zip(periodic) {
        if periodic && *edge == [0.0; 3] {
            return Err(format!(
                "edge {name} of the box is periodic but has length 0; give it a length, name the \
                 periodic edges with --periodic (a two-dimensional world has ab), or ignore the \
                 box of the file with --open"
            ));
        }
    }
    Ok(())
}

/// Parses a simulation box from numbers separated by spaces or commas: a corner, and then three lengths, three
/// lengths and the angles α, β and γ in degrees, or three vectors of the edges. The domain is periodic along all edges.
///
/// # Errors
/// Returns an error if the text is invalid or a number is out of range.
pub fn box_of(text: &str) -> Result<Domain> {
    let fields = text
        .split([' ', ',', '\t'])
        .filter(|field| !field.is_empty());
    let numbers: Vec<f64> = fields
        .map(|field| number::parse(field.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|what: String| Error::new(format!("a number of the box {what}")))?;
    let cell = match numbers[..] {
        [x, y, z, a, b, c] => Cell::new([x, y, z], [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]),
        [x, y, z, ref edges @ ..] if edges.len() == 9 => {
            let edge = |k: usize| [edges[3 * k], edges[3 * k + 1], edges[3 * k + 2]];
            Cell::new([x, y, z], [edge(0), edge(1), edge(2)])
        }
        [x, y, z, a, b, c, alpha, beta, gamma] => {
            Cell::of_angles([x, y, z], [a, b, c, alpha, beta, gamma]).map_err(Error::new)?
        }
        _ => {
            bail!(
                "the box has {} numbers, but must have 6 (a corner and three lengths), 9 (a corner, \
                 three lengths and three angles) or 12 (a corner and three edges)",
                numbers.len()
            );
        }
    };
    cell.checked().map_err(Error::new)
}
