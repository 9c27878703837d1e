//! Decides in integers, without rounding, whether a moving sphere touches a triangle.
//!
//! All vectors are relative to the centre of the sphere at the start of the step.

use std::array::from_fn;
use std::cmp::Ordering::{self, Equal, Greater, Less};

use dashu_int::IBig;

use super::Triangle;
use crate::Feature;
use crate::domain::Products;
use crate::exact::integers::{Dyadic, Numbers3, cross, dot, in_units, nearest, sign, unit_of};
use crate::number::sealed::Numbers;

type Vector = [IBig; 3];

/// Corners relative to the centre, and the radius, in units of 2^`length`, the relative
/// velocity in units of 2^`speed`.
pub(in crate::walls) struct TriangleIntegers {
    corners: [Vector; 3],
    r: IBig,
    length: i32,
    v: Vector,
    speed: i32,
}

/// In one common unit. `path` is the displacement of the sphere up to some time.
struct Moved {
    corners: [Vector; 3],
    r: IBig,
    path: Vector,
}

/// The squared distance is `square[0]` / `square[1]`.
struct NearestFeature {
    feature: Feature,
    square: [IBig; 2],
}

fn minus(x: &Vector, y: &Vector) -> Vector {
    from_fn(|k| &x[k] - &y[k])
}

fn square(x: &Vector) -> IBig {
    dot(x, x)
}

pub(super) fn has_area(corners: &[[f64; 3]; 3]) -> bool {
    let corners = corners.map(|corner| corner.map(Dyadic::from));
    let unit = unit_of(corners.as_flattened());
    let corners = corners.map(|corner| corner.map(|x| in_units(x, unit)));
    normal(&corners).iter().any(|x| !x.is_zero())
}

fn normal(corners: &[Vector; 3]) -> Vector {
    let [a, b, c] = corners;
    cross(&minus(b, a), &minus(c, a))
}

impl TriangleIntegers {
    pub(in crate::walls) fn new(
        triangle: &Triangle<f64>,
        &(center, radius, velocity): &Numbers3,
        products: &Products,
    ) -> Self {
        let dyadic = Dyadic::from;
        let corners = triangle.corners.map(|corner| corner.map(dyadic));
        let center = center.map(dyadic);
        let radius = dyadic(radius);
        let products = products.map(|terms| terms.map(|(x, n)| (dyadic(x), n)));
        let edges = products.as_flattened().iter().map(|&(edge, _)| edge);
        let lengths = corners.as_flattened().iter().chain(&center).copied();
        let lengths: Vec<_> = lengths.chain([radius]).chain(edges).collect();
        let length = unit_of(&lengths);
        let center: Vector = from_fn(|axis| {
            let start = in_units(center[axis], length);
            let products = products[axis].iter().filter(|&&(_, n)| n != 0);
            products.fold(start, |sum, &(edge, n)| {
                sum + in_units(edge, length) * IBig::from(n)
            })
        });
        let [own, other] = [velocity, triangle.velocity].map(|v| v.map(dyadic));
        let speed = unit_of(&[own, other].concat());
        Self {
            corners: corners.map(|corner| minus(&corner.map(|x| in_units(x, length)), &center)),
            r: in_units(radius, length),
            length,
            v: from_fn(|k| in_units(own[k], speed) - in_units(other[k], speed)),
            speed,
        }
    }

    fn start(&self) -> Moved {
        Moved {
            corners: self.corners.clone(),
            r: self.r.clone(),
            path: [IBig::ZERO; 3],
        }
    }

    /// Compares the rate at which the distance of the sphere's centre from the triangle changes at the start with 0.
    pub(in crate::walls) fn growth(&self) -> Ordering {
        let start = self.start();
        start.growth(start.nearest(&start.path).feature, &self.v)
    }

    fn at(&self, time: Dyadic) -> Moved {
        let unit = self.speed + time.exponent;
        let finer = usize::try_from(self.length - unit).unwrap_or(0);
        let coarser = usize::try_from(unit - self.length).unwrap_or(0);
        let time = IBig::from(time.mantissa);
        Moved {
            corners: from_fn(|k| from_fn(|axis| &self.corners[k][axis] << finer)),
            r: &self.r << finer,
            path: from_fn(|axis| (&self.v[axis] * &time) << coarser),
        }
    }

    /// The sphere must not touch at the start.
    fn touch_compared_with(&self, time: Dyadic) -> Ordering {
        let moved = self.at(time);
        if !moved.touches() {
            return Greater;
        }
        let nearest = moved.nearest(&moved.path);
        if nearest.compared_with(&moved.r) != Equal {
            return Less;
        }
        // The sphere just touches. Its distance from a convex triangle is a convex
        // function of time. If it decreases, this is the first touch; if it increases,
        // the sphere touched earlier. At a minimum, it touched earlier only if the
        // distance was constant: the nearest point moved along with the sphere.
        match moved.growth(nearest.feature, &self.v) {
            Less => Equal,
            Greater => Less,
            Equal if moved.came_along(nearest.feature, &self.v) => Less,
            Equal => Equal,
        }
    }

    fn depth_compared_with(&self, depth: Dyadic, nearest: &NearestFeature) -> Ordering {
        let finer = usize::try_from(self.length - depth.exponent).unwrap_or(0);
        let coarser = usize::try_from(depth.exponent - self.length).unwrap_or(0);
        let rest = (&self.r << finer) - (IBig::from(depth.mantissa) << coarser);
        if sign(&rest) == Less {
            return Less;
        }
        nearest.compared_with_scaled(&rest, finer).reverse()
    }

    /// The depth is at most `longest`. `guess` affects only the speed.
    pub(in crate::walls) fn rounded<T: Numbers>(
        &self,
        dt: T,
        guess: f64,
        longest: T,
    ) -> Option<[T; 2]> {
        let zero = T::default();
        let start = self.start();
        let point = start.nearest(&start.path);
        if point.compared_with(&start.r) != Greater {
            let compare = |length| self.depth_compared_with(length, &point);
            return Some([zero, nearest(longest, guess, compare)]);
        }
        let end = self.at(Dyadic::from(dt.into()));
        end.touches().then(|| {
            let toi = nearest(dt, guess, |time| self.touch_compared_with(time));
            [toi, zero]
        })
    }
}

impl NearestFeature {
    fn compared_with(&self, length: &IBig) -> Ordering {
        self.compared_with_scaled(length, 0)
    }

    /// The unit of `length` is smaller by a factor of 2^`finer`.
    fn compared_with_scaled(&self, length: &IBig, finer: usize) -> Ordering {
        let [numerator, denominator] = &self.square;
        (numerator << (2 * finer)).cmp(&(length * length * denominator))
    }
}

impl Moved {
    fn edge(&self, k: usize) -> (&Vector, Vector) {
        let [from, to] = [&self.corners[k], &self.corners[(k + 1) % 3]];
        (from, minus(to, from))
    }

    fn nearest(&self, point: &Vector) -> NearestFeature {
        let normal = normal(&self.corners);
        let above = |k: usize| {
            let (from, edge) = self.edge(k);
            sign(&dot(&normal, &cross(&edge, &minus(point, from)))) == Greater
        };
        if (0..3).all(above) {
            let height = dot(&normal, &minus(point, &self.corners[0]));
            return NearestFeature {
                feature: Feature::Face,
                square: [&height * &height, square(&normal)],
            };
        }
        let on_border = (0..3_u8).map(|k| {
            let (from, edge) = self.edge(k.into());
            let away = minus(point, from);
            let (along, whole) = (dot(&away, &edge), square(&edge));
            if sign(&along) == Greater && along < whole {
                NearestFeature {
                    feature: Feature::Edge(k),
                    square: [square(&cross(&away, &edge)), whole],
                }
            } else {
                let end = sign(&along) == Greater;
                let corner = if end { (k + 1) % 3 } else { k };
                NearestFeature {
                    feature: Feature::Corner(corner),
                    square: [
                        square(&minus(point, &self.corners[usize::from(corner)])),
                        IBig::ONE,
                    ],
                }
            }
        });
        let less = |one: NearestFeature, other: NearestFeature| {
            let [[n, d], [m, e]] = [&one.square, &other.square];
            if n * e <= m * d { one } else { other }
        };
        on_border.reduce(less).unwrap_or(NearestFeature {
            feature: Feature::Face,
            square: [IBig::ZERO, IBig::ONE],
        })
    }

    /// The sphere must not touch at the start of the path.
    fn touches(&self) -> bool {
        self.nearest(&self.path).compared_with(&self.r) != Greater
            || self.pierces()
            || (0..3).any(|k| self.passes_corner(k) || self.passes_edge(k))
    }

    fn pierces(&self) -> bool {
        let normal = normal(&self.corners);
        let start = dot(&normal, &self.corners[0]);
        let end = &start - dot(&normal, &self.path);
        if sign(&start) == Equal || sign(&end) != sign(&start).reverse() {
            return false;
        }
        let turns = from_fn::<_, 3, _>(|k| {
            let next = &self.corners[(k + 1) % 3];
            sign(&dot(&self.path, &cross(&self.corners[k], next)))
        });
        !turns.contains(&Less) || !turns.contains(&Greater)
    }

    /// At a point that is not an end of the path.
    fn passes_corner(&self, k: usize) -> bool {
        let (corner, path) = (&self.corners[k], &self.path);
        let (along, whole) = (dot(corner, path), square(path));
        sign(&along) == Greater
            && along < whole
            && square(&cross(corner, path)) <= &self.r * &self.r * whole
    }

    /// Whether the lines of the path and of edge k are within the radius, at points on the
    /// path and on the edge.
    fn passes_edge(&self, k: usize) -> bool {
        let (from, edge) = self.edge(k);
        let across = cross(&self.path, &edge);
        let whole = square(&across);
        let height = dot(from, &across);
        if whole.is_zero() || &height * &height > &self.r * &self.r * &whole {
            return false;
        }
        // From 0 at the start to `whole` at the end.
        let places = [&edge, &self.path].map(|line| dot(&cross(from, line), &across));
        let within = |place: &IBig| sign(place) != Less && *place <= whole;
        places.iter().all(within)
    }

    /// Compares with 0. The point is at the end of the path, moves with velocity `v`, and
    /// is nearest to `feature`.
    fn growth(&self, feature: Feature, v: &Vector) -> Ordering {
        match feature {
            Feature::Face => {
                let normal = normal(&self.corners);
                let height = dot(&normal, &minus(&self.path, &self.corners[0]));
                sign(&(height * dot(&normal, v)))
            }
            Feature::Edge(k) => {
                let (from, edge) = self.edge(k.into());
                let away = minus(&self.path, from);
                let across = dot(&away, v) * square(&edge);
                sign(&(across - dot(&away, &edge) * dot(&edge, v)))
            }
            Feature::Corner(k) => {
                let away = minus(&self.path, &self.corners[usize::from(k)]);
                sign(&dot(&away, v))
            }
        }
    }

    /// Whether the distance has been constant just before now, when it is not changing: the
    /// nearest point, displaced by a small multiple of −`v`, is still on the triangle.
    fn came_along(&self, feature: Feature, v: &Vector) -> bool {
        let normal = normal(&self.corners);
        let inward = |k: usize| sign(&dot(&normal, &cross(&self.edge(k).1, v))) != Greater;
        let stays = match feature {
            Feature::Face => true,
            Feature::Edge(k) => inward(k.into()),
            Feature::Corner(k) => inward(k.into()) && inward((usize::from(k) + 2) % 3),
        };
        stays && sign(&dot(&normal, v)) == Equal
    }
}
