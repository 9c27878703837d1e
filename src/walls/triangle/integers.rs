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

/// A sphere and a triangle as exact integers. The corners relative to the centre of the sphere, and the radius,
/// are in units of 2^`length`. The velocity of the sphere relative to the triangle is in units of 2^`speed`.
pub(in crate::walls) struct TriangleIntegers {
    corners: [Vector; 3],
    r: IBig,
    length: i32,
    v: Vector,
    speed: i32,
}

/// The corners of a triangle, and the radius and the displacement up to some time (`path`) of a sphere, as
/// integers in one common unit.
struct Moved {
    corners: [Vector; 3],
    r: IBig,
    path: Vector,
}

/// The point of a triangle nearest to a given point. The squared distance is the fraction `square[0]` /
/// `square[1]`.
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

/// Returns whether three points span a triangle with a positive area.
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

    /// Compares the time of impact with `time`. The sphere must not touch the triangle at the start of the
    /// step.
    fn touch_compared_with(&self, time: Dyadic) -> Ordering {
        let moved = self.at(time);
        if !moved.touches() {
            return Greater;
        }
        let nearest = moved.nearest(&moved.path);
        if nearest.compared_with(&moved.r) != Equal {
            return Less;
        }
        // At `time`, the sphere just touches the triangle. The triangle is convex and the sphere's
        // centre moves uniformly, so their distance is a convex function of time. If the distance
        // is decreasing at `time`, the sphere touches for the first time. If it is increasing, the
        // sphere touched earlier. Otherwise, the distance has its minimum at `time`. Then the
        // sphere touched earlier only if the distance was constant, because the nearest point of
        // the triangle moved along with the sphere.
        match moved.growth(nearest.feature, &self.v) {
            Less => Equal,
            Greater => Less,
            Equal if moved.came_along(nearest.feature, &self.v) => Less,
            Equal => Equal,
        }
    }

    /// Compares the penetration depth at the start with a length.
    fn depth_compared_with(&self, depth: Dyadic, nearest: &NearestFeature) -> Ordering {
        let finer = usize::try_from(self.length - depth.exponent).unwrap_or(0);
        let coarser = usize::try_from(depth.exponent - self.length).unwrap_or(0);
        let rest = (&self.r << finer) - (IBig::from(depth.mantissa) << coarser);
        if sign(&rest) == Less {
            return Less;
        }
        nearest.compared_with_scaled(&rest, finer).reverse()
    }

    /// Returns the time of impact and the depth in a step of duration `dt`, each rounded to the nearest number of type
    /// `T`, or `None` if the sphere does not touch. The depth is at most `longest`. `guess`, an estimate of the time of
    /// impact or of the depth, affects only the speed of this function.
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
    /// Compares the distance between the sphere's centre and its nearest point on the triangle with
    /// `length`.
    fn compared_with(&self, length: &IBig) -> Ordering {
        self.compared_with_scaled(length, 0)
    }

    /// Compares the distance between the sphere's centre and its nearest point on the triangle with
    /// `length`. The unit of `length` is smaller than the unit of the coordinates by a factor of
    /// 2^`finer`.
    fn compared_with_scaled(&self, length: &IBig, finer: usize) -> Ordering {
        let [numerator, denominator] = &self.square;
        (numerator << (2 * finer)).cmp(&(length * length * denominator))
    }
}

impl Moved {
    /// Returns a corner of the triangle and the edge from there to the next corner.
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

    /// Returns whether a point of the path of the sphere's centre is at most the sphere's radius away from
    /// the triangle. The sphere must not touch the triangle at the start of the path.
    fn touches(&self) -> bool {
        self.nearest(&self.path).compared_with(&self.r) != Greater
            || self.pierces()
            || (0..3).any(|k| self.passes_corner(k) || self.passes_edge(k))
    }

    /// Returns whether the path of the sphere's centre passes through the triangle.
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

    /// Returns whether the path of the sphere's centre comes within the sphere's radius of corner
    /// k, at a point that is not an end of the path.
    fn passes_corner(&self, k: usize) -> bool {
        let (corner, path) = (&self.corners[k], &self.path);
        let (along, whole) = (dot(corner, path), square(path));
        sign(&along) == Greater
            && along < whole
            && square(&cross(corner, path)) <= &self.r * &self.r * whole
    }

    /// Considers the line through the path of the sphere's centre, and the line through edge k.
    /// Returns whether the two lines are at most the sphere's radius apart, and their nearest
    /// points lie on the path and on the edge.
    fn passes_edge(&self, k: usize) -> bool {
        let (from, edge) = self.edge(k);
        let across = cross(&self.path, &edge);
        let whole = square(&across);
        let height = dot(from, &across);
        if whole.is_zero() || &height * &height > &self.r * &self.r * &whole {
            return false;
        }
        // Positions along the path and along the edge at which the two lines are nearest to each other. Each
        // position runs from 0 at the start to `whole` at the end.
        let places = [&edge, &self.path].map(|line| dot(&cross(from, line), &across));
        let within = |place: &IBig| sign(place) != Less && *place <= whole;
        places.iter().all(within)
    }

    /// Compares the rate of change of the distance between a point and the triangle with 0. The
    /// point is at the end of the path, and moves with velocity `v`. `feature` is the face, edge or
    /// corner of the triangle that is nearest to the point.
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

    /// Returns whether the distance between the triangle and the sphere's centre, which moves with
    /// velocity `v`, has been constant just before now. This is so if the triangle's nearest point,
    /// displaced by a small multiple of −`v`, is still a point of the triangle. `feature` is the
    /// face, edge or corner with the nearest point. The distance must not be changing now.
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
