//! Exact brute force for spheres in float64 at walls.
//!
//! A sphere touches a triangle if the segment of its path and the triangle are at most its radius apart. A point of the
//! segment minus a point of the triangle is a sum of a vector and of up to three others with factors. So for each part of
//! the segment (an end or all of it) and of the triangle (a corner, an edge or all of it), the least square of the distance is
//! a quotient of two Gram determinants. It counts if it is taken at inner points of both parts.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use carom::{Domain, HardSphere, Wall, WallShape};

use super::dyadic::{Dyadic, dot, is_nearest};

type Vector = [Dyadic; 3];

fn vector(x: [f64; 3]) -> Vector {
    x.map(Dyadic::from)
}

fn zero() -> Dyadic {
    Dyadic::from(0.0)
}

fn minus(x: &Vector, y: &Vector) -> Vector {
    [0, 1, 2].map(|k| x[k].minus(&y[k]))
}

fn along(x: &Vector, factor: &Dyadic) -> Vector {
    [0, 1, 2].map(|k| x[k].times(factor))
}

fn cross(x: &Vector, y: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        x[i].times(&y[j]).minus(&x[j].times(&y[i]))
    })
}

/// A wall in float64.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Obstacle {
    Simple(Wall<f64>),
    /// The corners and the velocity of a triangle.
    Triangle([[f64; 3]; 3], [f64; 3]),
}

enum Shape {
    /// The normal and the offset of a half-space.
    HalfSpace(Vector, Dyadic),
    /// The square of the axis vector, by which squared distances are multiplied, the distance of contact, and whether the wall
    /// is hollow.
    Round(Dyadic, Dyadic, bool),
    /// The corners, relative to the sphere.
    Triangle([Vector; 3]),
}

/// A sphere, displaced by an image of the domain, and a wall.
pub(crate) struct AtObstacle {
    shape: Shape,
    /// Place and velocity of the sphere relative to the wall. For a cylinder, the cross products with the axis.
    p: Vector,
    v: Vector,
    r: Dyadic,
}

impl AtObstacle {
    pub(crate) fn new(
        sphere: &HardSphere,
        wall: &Obstacle,
        domain: &Domain,
        image: [i32; 3],
    ) -> Self {
        let mut p = vector(sphere.center);
        for (axis, p) in p.iter_mut().enumerate() {
            for (edge, times) in domain.edges().iter().zip(image) {
                *p = p.plus(&Dyadic::from(edge[axis]).times(&f64::from(times).into()));
            }
        }
        let velocity = match wall {
            Obstacle::Simple(wall) => wall.velocity(),
            Obstacle::Triangle(_, velocity) => *velocity,
        };
        let v = minus(&vector(sphere.velocity), &vector(velocity));
        let r = Dyadic::from(sphere.radius);
        let round = |p: &Vector, v: Vector, point, axis: Option<[f64; 3]>, radius: f64, hollow| {
            let (mut p, mut v, mut square) = (minus(p, &vector(point)), v, Dyadic::from(1.0));
            if let Some(axis) = axis.map(vector) {
                (p, v, square) = (cross(&axis, &p), cross(&axis, &v), dot(&axis, &axis));
            }
            let radius = Dyadic::from(radius);
            let reach = if hollow {
                radius.minus(&r)
            } else {
                radius.plus(&r)
            };
            (Shape::Round(square, reach, hollow), p, v)
        };
        let (shape, p, v) = match *wall {
            Obstacle::Triangle(corners, _) => {
                let corners = corners.map(|corner| minus(&vector(corner), &p));
                (Shape::Triangle(corners), p, v)
            }
            Obstacle::Simple(wall) => match wall.shape() {
                WallShape::HalfSpace { normal, offset } => {
                    (Shape::HalfSpace(vector(normal), offset.into()), p, v)
                }
                WallShape::Sphere {
                    center,
                    radius,
                    hollow,
                } => round(&p, v, center, None, radius, hollow),
                WallShape::Cylinder {
                    point,
                    axis,
                    radius,
                    hollow,
                } => round(&p, v, point, Some(axis), radius, hollow),
                #[allow(unreachable_patterns, reason = "the shapes that there are")]
                shape => panic!("an unknown shape: {shape:?}"),
            },
        };
        Self { shape, p, v, r }
    }

    /// Compares, at a time, how far the sphere reaches into the wall with `depth`.
    fn depth_at(&self, time: &Dyadic, depth: &Dyadic) -> Ordering {
        let q: Vector = [0, 1, 2].map(|k| self.p[k].plus(&self.v[k].times(time)));
        match &self.shape {
            Shape::HalfSpace(normal, offset) => {
                let away = dot(normal, &q).minus(offset);
                let rest = self.r.minus(depth);
                let squares = rest.times(&rest).times(&dot(normal, normal));
                match (rest.sign(), away.sign()) {
                    (Less, Less) => away.times(&away).minus(&squares).sign(),
                    (Less, _) => Less,
                    (_, Less) => Greater,
                    _ => squares.minus(&away.times(&away)).sign(),
                }
            }
            Shape::Round(square, reach, hollow) => {
                let distance = dot(&q, &q);
                let at = if *hollow {
                    reach.plus(depth)
                } else {
                    reach.minus(depth)
                };
                let squares = at.times(&at).times(square);
                match (hollow, at.sign()) {
                    (true, Less) => Greater,
                    (false, Less) => Less,
                    (true, _) => distance.minus(&squares).sign(),
                    (false, _) => squares.minus(&distance).sign(),
                }
            }
            Shape::Triangle(_) => self.depth_of_path(&zero(), depth),
        }
    }

    /// Compares how far the sphere comes into the triangle up to a time with `depth`.
    fn depth_of_path(&self, time: &Dyadic, depth: &Dyadic) -> Ordering {
        let Shape::Triangle([a, b, c]) = &self.shape else {
            return Less;
        };
        let rest = self.r.minus(depth);
        if rest.sign() == Less {
            return Less;
        }
        let square = rest.times(&rest);
        let path = along(&self.v, time);
        let none = || vec![];
        let edge = |x: &Vector, y: &Vector| vec![minus(x, y)];
        // Each part of the triangle, as a point and the negative directions from it.
        let parts = [
            (a, none()),
            (b, none()),
            (c, none()),
            (a, edge(a, b)),
            (b, edge(b, c)),
            (c, edge(c, a)),
            (a, vec![minus(a, b), minus(a, c)]),
        ];
        let mut nearest = Less;
        for (corner, directions) in parts {
            for of_path in 0..3 {
                let start = [zero(), zero(), zero()];
                let start = if of_path == 1 { path.clone() } else { start };
                let mut all = directions.clone();
                if of_path == 2 {
                    all.push(path.clone());
                }
                let inside = directions.len();
                if let Some([numerator, denominator]) = least(&minus(&start, corner), &all, inside)
                {
                    let order = square.times(&denominator).minus(&numerator).sign();
                    nearest = nearest.max(order);
                }
            }
        }
        nearest
    }

    /// Returns whether the sphere touches the wall up to a time.
    pub(crate) fn touches(&self, time: &Dyadic) -> bool {
        if self.depth_at(&zero(), &zero()) != Less {
            return true;
        }
        match &self.shape {
            Shape::Triangle(_) => self.depth_of_path(time, &zero()) != Less,
            Shape::Round(square, reach, false) => {
                if self.depth_at(time, &zero()) != Less {
                    return true;
                }
                let (b, vv) = (dot(&self.p, &self.v), dot(&self.v, &self.v));
                if b.sign() != Less || b.plus(&vv.times(time)).sign() != Greater {
                    return false;
                }
                let outside = dot(&self.p, &self.p).minus(&reach.times(reach).times(square));
                b.times(&b).minus(&outside.times(&vv)).sign() != Less
            }
            _ => self.depth_at(time, &zero()) != Less,
        }
    }

    /// Returns whether the time of impact and the depth of a sphere that touches are the nearest float64.
    pub(crate) fn is_nearest(&self, toi: f64, depth: f64) -> bool {
        if self.depth_at(&zero(), &zero()) != Less {
            return toi.to_bits() == 0 && is_nearest(depth, |x| self.depth_at(&zero(), x));
        }
        depth.to_bits() == 0
            && is_nearest(toi, |x| {
                if !self.touches(x) {
                    return Greater;
                }
                // The time is `x` if the sphere does not touch a very little earlier.
                let little = Dyadic::power(-400);
                let before = x.minus(&x.times(&little));
                if self.touches(&before) { Less } else { Equal }
            })
    }
}

/// Returns the least square of `start` plus a sum of `directions` with factors from 0 to 1, as a fraction, if it is taken
/// within these limits. The sum of the first `inside` factors must be at most 1, too.
fn least(start: &Vector, directions: &[Vector], inside: usize) -> Option<[Dyadic; 2]> {
    let gram: Vec<Vec<Dyadic>> = directions
        .iter()
        .map(|x| directions.iter().map(|y| dot(x, y)).collect())
        .collect();
    let right: Vec<Dyadic> = directions
        .iter()
        .map(|x| zero().minus(&dot(x, start)))
        .collect();
    let whole = determinant(&gram);
    if whole.sign() != Greater {
        return None;
    }
    let mut sum = zero();
    let mut square = dot(start, start).times(&whole);
    for k in 0..directions.len() {
        let mut replaced = gram.clone();
        for (row, x) in replaced.iter_mut().zip(&right) {
            row[k] = x.clone();
        }
        let factor = determinant(&replaced);
        if factor.sign() == Less || factor.minus(&whole).sign() == Greater {
            return None;
        }
        square = square.minus(&factor.times(&right[k]));
        if k < inside {
            sum = sum.plus(&factor);
        }
    }
    (sum.minus(&whole).sign() != Greater).then_some([square, whole])
}

fn determinant(rows: &[Vec<Dyadic>]) -> Dyadic {
    let Some(first) = rows.first() else {
        return Dyadic::from(1.0);
    };
    let mut sum = zero();
    for (column, x) in first.iter().enumerate() {
        let minor: Vec<Vec<Dyadic>> = rows[1..]
            .iter()
            .map(|row| {
                let others = row.iter().enumerate().filter(|&(k, _)| k != column);
                others.map(|(_, y)| y.clone()).collect()
            })
            .collect();
        let term = x.times(&determinant(&minor));
        sum = if column % 2 == 0 {
            sum.plus(&term)
        } else {
            sum.minus(&term)
        };
    }
    sum
}
