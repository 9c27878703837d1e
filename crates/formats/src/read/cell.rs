//! The simulation box of an input file: a corner and three edge vectors, which form a parallelepiped.

use carom::Domain;

use crate::read::number;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    origin: [f64; 3],
    edges: [[f64; 3]; 3],
}

impl Cell {
    /// Parses the simulation box of a LAMMPS dump from the three lines after the line `ITEM: BOX BOUNDS`.
    /// `heading` is the text after `ITEM: BOX BOUNDS`. This text says whether the box is orthogonal,
    /// triclinic (`xy xz yz`) or general triclinic (`abc origin`). An error is the index of the invalid line,
    /// from 0 to 2, and a message.
    pub(crate) fn read(heading: &[u8], lines: &[Vec<u8>; 3]) -> Result<Self, (usize, String)> {
        let words = |text: &[u8]| -> Vec<Vec<u8>> {
            let words = text
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty());
            words.map(<[u8]>::to_vec).collect()
        };
        let heading = words(heading);
        let form = |words: &[&str]| {
            heading.len() >= words.len()
                && heading.iter().zip(words).all(|(a, b)| a == b.as_bytes())
        };
        let columns = if form(&["abc", "origin"]) {
            4
        } else if form(&["xy", "xz", "yz"]) {
            3
        } else {
            2
        };
        let mut rows = [[0.0; 4]; 3];
        for (k, line) in lines.iter().enumerate() {
            let fields = words(line);
            if fields.len() != columns {
                let what = format!(
                    "this line of ITEM: BOX BOUNDS has {} numbers, but must have {columns}",
                    fields.len()
                );
                return Err((k, what));
            }
            for (number, field) in rows[k].iter_mut().zip(&fields) {
                *number = number::parse_wide(field)
                    .map_err(|what| (k, format!("a bound of the box {what}")))?;
            }
        }
        Ok(match columns {
            4 => Self {
                origin: rows.map(|row| row[3]),
                edges: rows.map(|[x, y, z, _]| [x, y, z]),
            },
            3 => Self::tilted(rows),
            _ => Self::tilted(rows.map(|[low, high, ..]| [low, high, 0.0, 0.0])),
        })
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

    /// Converts a simulation box to a domain that is periodic along the edges selected by `periodic`. A number that
    /// is not finite is an error.
    pub(crate) fn domain(&self, periodic: [bool; 3]) -> Result<Domain, String> {
        for x in self
            .origin
            .into_iter()
            .chain(self.edges.into_iter().flatten())
        {
            number::finite(x).map_err(|what| format!("a number of the simulation box {what}"))?;
        }
        Ok(Domain::triclinic_f64(self.origin, self.edges).with_periodic(periodic))
    }

    /// Does the same as [`Self::domain`], except for a box that is open along all edges. Such a box has no
    /// influence on the spheres. So if one of its numbers is not finite, the function returns
    /// `None` instead of an error.
    pub(crate) fn domain_or_open(&self, periodic: [bool; 3]) -> Result<Option<Domain>, String> {
        match self.domain(periodic) {
            Ok(domain) => Ok(Some(domain)),
            Err(_) if periodic == [false; 3] => Ok(None),
            Err(what) => Err(what),
        }
    }

    /// Converts scaled coordinates, which are fractions of the edges of the simulation box, to a position.
    pub(crate) fn at(&self, parts: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.edges;
        std::array::from_fn(|k| {
            self.origin[k] + (parts[0] * a[k] + parts[1] * b[k] + parts[2] * c[k])
        })
    }
}
