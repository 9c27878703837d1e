//! The coordinates in which space is divided, and the boxes of spheres in them.
//!
//! The coordinates of a place are counted in edges along the periodic edges of the domain, and in lengths along
//! directions perpendicular to all of them. In open space, they are the coordinates themselves. An image that is
//! displaced by n edges has its coordinates increased by n, up to rounding.

use carom::Domain;

use crate::Error;

/// A sphere in float64, which may be one in float32.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub(crate) center: [f64; 3],
    pub(crate) radius: f64,
    pub(crate) velocity: [f64; 3],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Space {
    origin: [f64; 3],
    pub(crate) periodic: [bool; 3],
    /// Coordinate k of a place is the product of row k and the vector from the origin.
    rows: [[f64; 3]; 3],
    /// Lengths of the rows.
    lengths: [f64; 3],
    /// Relative error of coordinates. It also covers that an edge may differ from one unit.
    error: f64,
}

/// A closed box in these coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) low: [f64; 3],
    pub(crate) high: [f64; 3],
}

/// How the path of a sphere is cut into pieces of equal time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutting {
    pub(crate) dt: f64,
    /// More than the rounding of a time of impact.
    around: f64,
    /// Least extent of a piece that is worth the cutting, as a length.
    length: f64,
}

const MOST_PIECES: f64 = 256.0;

/// Of the duration of a step: more than the rounding of a time of impact in float32.
const TIME_ERROR: f64 = 1.0 / (1 << 20) as f64;

const COORDINATE_ERROR: f64 = 1.0 / (1_u64 << 44) as f64;

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn length(a: [f64; 3]) -> f64 {
    // Without overflow or underflow of squares.
    let most = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 || !most.is_finite() {
        return most;
    }
    let scaled = a.map(|x| x / most);
    dot(scaled, scaled).sqrt() * most
}

impl Space {
    pub(crate) fn new(domain: &Domain) -> Result<Self, Error> {
        let mut rows = [0, 1, 2].map(|k| [0, 1, 2].map(|axis| f64::from(u8::from(k == axis))));
        let periodic = domain.periodic();
        if domain.is_open() {
            return Ok(Self {
                origin: [0.0; 3],
                periodic,
                rows,
                lengths: [1.0; 3],
                error: COORDINATE_ERROR,
            });
        }
        let unit = |v: [f64; 3]| {
            let length = length(v);
            v.map(|x| x / length)
        };
        // Edges of length 1, with perpendicular directions in place of those that are not periodic.
        let mut units = domain.edges().map(unit);
        let sizes = domain.edges().map(length);
        let open: Vec<usize> = (0..3).filter(|&k| !periodic[k]).collect();
        match open[..] {
            [k] => units[k] = unit(cross(units[(k + 1) % 3], units[(k + 2) % 3])),
            [j, k] => {
                let edge = units[3 - j - k];
                let axis = (0..3).min_by(|&a, &b| edge[a].abs().total_cmp(&edge[b].abs()));
                let mut other = [0.0; 3];
                other[axis.unwrap_or_default()] = 1.0;
                units[j] = unit(cross(edge, other));
                units[k] = unit(cross(edge, units[j]));
            }
            _ => {}
        }
        let volume = dot(units[0], cross(units[1], units[2]));
        let mut skew: f64 = 1.0;
        for k in 0..3 {
            let across = cross(units[(k + 1) % 3], units[(k + 2) % 3]);
            let row = across.map(|x| x / volume);
            skew = skew.max(length(row));
            let size = if periodic[k] { sizes[k] } else { 1.0 };
            rows[k] = row.map(|x| x / size);
        }
        let lengths = rows.map(length);
        let error = COORDINATE_ERROR * skew * skew;
        if !(error < 1e-3 && lengths.iter().all(|x| x.is_finite() && *x > 0.0)) {
            return Err(Error::input(
                "the domain is invalid: its periodic edges are nearly parallel; correct them, or make an edge open",
            ));
        }
        Ok(Self {
            origin: domain.origin(),
            periodic,
            rows,
            lengths,
            error,
        })
    }

    /// The length of one unit of a coordinate.
    pub(crate) fn unit(&self, k: usize) -> f64 {
        self.lengths[k].recip()
    }

    /// The coordinates of a place, in the cell of a periodic domain.
    pub(crate) fn wrapped(&self, place: [f64; 3]) -> [f64; 3] {
        let at = self.at(place);
        self.wrap(at)
    }

    fn at(&self, place: [f64; 3]) -> [f64; 3] {
        let from = [0, 1, 2].map(|k| place[k] - self.origin[k]);
        self.rows.map(|row| dot(row, from))
    }

    fn wrap(&self, at: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| {
            if self.periodic[k] {
                at[k] - at[k].floor()
            } else {
                at[k]
            }
        })
    }

    /// A box that contains piece `piece` of `pieces` of the path of a sphere, `pads` times enlarged by the error of its
    /// coordinates.
    pub(crate) fn extent(
        &self,
        body: &Body,
        cutting: Cutting,
        [piece, pieces]: [u32; 2],
        pads: f64,
    ) -> Extent {
        let Cutting { dt, around, .. } = cutting;
        let share = |k: u32| dt * (f64::from(k) / f64::from(pieces));
        let (begin, end) = if dt == 0.0 {
            (0.0, 0.0)
        } else {
            (share(piece) - around, share(piece + 1) + around)
        };
        let from = [0, 1, 2].map(|k| body.center[k] - self.origin[k]);
        let mut extent = Extent {
            low: [0.0; 3],
            high: [0.0; 3],
        };
        let mut size = body.radius;
        for axis in 0..3 {
            size += body.center[axis].abs() + self.origin[axis].abs();
            size += body.velocity[axis].abs() * (dt + around);
        }
        for k in 0..3 {
            let place = dot(self.rows[k], from);
            let speed = dot(self.rows[k], body.velocity);
            let [a, b] = [place + speed * begin, place + speed * end];
            let mut pad = self.error * self.lengths[k] * size;
            if self.periodic[k] {
                pad += self.error;
            }
            // So that also a subnormal size has a pad.
            let pad = pads * pad + f64::MIN_POSITIVE;
            let reach = body.radius * self.lengths[k] + pad;
            extent.low[k] = a.min(b) - reach;
            extent.high[k] = a.max(b) + reach;
        }
        extent
    }

    /// The point that decides which rank has a pair: the greatest lower corner of the boxes of the two pieces at the
    /// time of impact. `image` displaces the second sphere.
    pub(crate) fn meeting(
        &self,
        [a, b]: [&Body; 2],
        image: [i32; 3],
        toi: f64,
        cutting: Cutting,
    ) -> [f64; 3] {
        let [one, other] = [a, b].map(|body| {
            let pieces = cutting.pieces(body);
            let piece = cutting.piece_at(toi, pieces);
            self.extent(body, cutting, [piece, pieces], 1.0).low
        });
        let point = [0, 1, 2].map(|k| one[k].max(other[k] + f64::from(image[k])));
        self.wrap(point)
    }

    /// Calls `visit` with the boxes in the cell of a periodic domain that are images of a box.
    pub(crate) fn in_cell(&self, extent: &Extent, mut visit: impl FnMut(&Extent)) {
        if self.periodic == [false; 3] {
            visit(extent);
            return;
        }
        let mut parts = [[[0.0; 2]; 2]; 3];
        let mut counts = [1; 3];
        for k in 0..3 {
            let [low, high] = [extent.low[k], extent.high[k]];
            if !self.periodic[k] {
                parts[k][0] = [low, high];
                continue;
            }
            let [first, last] = [low, high].map(f64::floor);
            if last - first > 1.0 || high - low >= 1.0 {
                parts[k][0] = [0.0, 1.0];
                continue;
            }
            parts[k][0] = [low - first, high - first];
            if last > first {
                parts[k][1] = [low - last, high - last];
                counts[k] = 2;
            }
        }
        for x in &parts[0][..counts[0]] {
            for y in &parts[1][..counts[1]] {
                for z in &parts[2][..counts[2]] {
                    let all = [x, y, z];
                    visit(&Extent {
                        low: all.map(|part| part[0]),
                        high: all.map(|part| part[1]),
                    });
                }
            }
        }
    }
}

impl Cutting {
    /// `least` is the least positive number of a time.
    pub(crate) fn new(dt: f64, least: f64, length: f64) -> Self {
        Self {
            dt,
            around: dt * TIME_ERROR + least,
            length,
        }
    }

    /// The number of pieces of a path.
    pub(crate) fn pieces(&self, body: &Body) -> u32 {
        let far = body
            .velocity
            .iter()
            .fold(0.0, |far: f64, v| far.max((v * self.dt).abs()));
        let least = self.length.max(2.0 * body.radius);
        if far <= least || !self.length.is_finite() {
            return 1;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 1 to MOST_PIECES"
        )]
        let pieces = (far / least).ceil().clamp(1.0, MOST_PIECES) as u32;
        pieces
    }

    fn piece_at(&self, time: f64, pieces: u32) -> u32 {
        if pieces == 1 {
            return 0;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to MOST_PIECES"
        )]
        let piece = (time / self.dt * f64::from(pieces)).clamp(0.0, MOST_PIECES) as u32;
        piece.min(pieces - 1)
    }
}
