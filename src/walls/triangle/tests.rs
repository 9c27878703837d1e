//! Compares the decisions about spheres and triangles with an independent oracle. The oracle uses another
//! formula, and exact fractions whose integers are from another library.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::array::from_fn;

use num_bigint::BigInt;

use super::float64::TriangleFloat64;
use super::{Defect, Triangle};
use crate::exact::Hit;
use crate::{Domain, Feature, Sphere};

/// The oracle: the smallest squared distance between a segment and a triangle, as an exact fraction.
///
/// A point of the segment minus a point of the triangle is `start` + Σ xₖ·`directions[k]`. So the smallest
/// distance is a linear least-squares problem with up to three unknowns. It is solved for each of the 3 · 7
/// combinations of a part of the segment (an end or the whole) and a part of the triangle (a corner, an edge or
/// the whole).
struct Oracle {
    /// Corners of the triangle and start and end of the segment, in units of 2⁻³⁰⁰.
    corners: [[BigInt; 3]; 3],
    start: [BigInt; 3],
    velocity: [BigInt; 3],
    radius: BigInt,
}

fn big(x: f64) -> BigInt {
    const UNIT: i32 = 300;
    let (bits, negative) = (x.abs().to_bits(), x < 0.0);
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    if mantissa == 0 {
        return BigInt::ZERO;
    }
    let zeros = mantissa.trailing_zeros();
    let shift = exponent + UNIT + i32::try_from(zeros).unwrap();
    let whole =
        BigInt::from(mantissa >> zeros) << u32::try_from(shift).expect("a whole number of units");
    if negative { -whole } else { whole }
}

fn dot(x: &[BigInt; 3], y: &[BigInt; 3]) -> BigInt {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}

fn minus(x: &[BigInt; 3], y: &[BigInt; 3]) -> [BigInt; 3] {
    from_fn(|k| &x[k] - &y[k])
}

fn determinant(rows: &[Vec<BigInt>]) -> BigInt {
    match rows {
        [] => BigInt::from(1),
        [first, rest @ ..] => (0..rows.len()).fold(BigInt::ZERO, |sum, k| {
            let minor: Vec<Vec<BigInt>> = rest
                .iter()
                .map(|row| [&row[..k], &row[k + 1..]].concat())
                .collect();
            let term = &first[k] * determinant(&minor);
            if k % 2 == 0 { sum + term } else { sum - term }
        }),
    }
}

impl Oracle {
    fn new(triangle: &Triangle, sphere: &Sphere, by: [f64; 3]) -> Self {
        let wide = |x: [f32; 3]| x.map(|x| big(x.into()));
        let by = by.map(big);
        Self {
            corners: triangle.corners.map(wide),
            start: from_fn(|k| big(sphere.center[k].into()) + &by[k]),
            velocity: minus(&wide(sphere.velocity), &wide(triangle.velocity)),
            radius: big(sphere.radius.into()),
        }
    }

    /// Returns whether the sphere touches the triangle in a step of duration `dt`.
    fn touches(&self, dt: f64) -> bool {
        let path: [BigInt; 3] = from_fn(|k| (&self.velocity[k] * big(dt)) >> 300_u32);
        let rounded = (0..3).any(|k| &path[k] << 300_u32 != &self.velocity[k] * big(dt));
        assert!(!rounded, "the displacement is a whole number of units");
        let end: [BigInt; 3] = from_fn(|k| &self.start[k] + &path[k]);
        let [a, b, c] = &self.corners;
        let square = &self.radius * &self.radius;
        let segments = [vec![&self.start], vec![&end], vec![&self.start, &end]];
        let faces = [
            vec![a],
            vec![b],
            vec![c],
            vec![a, b],
            vec![b, c],
            vec![c, a],
            vec![a, b, c],
        ];
        let near = |segment: &Vec<&[BigInt; 3]>, face: &Vec<&[BigInt; 3]>| {
            least_squares(segment, face).is_some_and(|[n, d]| n <= &square * d)
        };
        segments
            .iter()
            .any(|segment| faces.iter().any(|face| near(segment, face)))
    }

    /// Asserts that an answer is the exact one, rounded to the nearest float32, ties to even.
    fn check(&self, found: Option<Hit>, dt: f32) -> Result<(), String> {
        let Some(Hit { toi, depth }) = found else {
            let missed = self.touches(dt.into());
            return if missed { Err("missed".into()) } else { Ok(()) };
        };
        let mid = |x: f32, y: f32| (f64::from(x) + f64::from(y)) / 2.0;
        let is_even = |x: f32| x.to_bits().is_multiple_of(2);
        if self.touches(0.0) {
            // The penetration depth is at least x exactly if a sphere with a radius smaller by x also touches.
            let at_least = |x: f64| {
                let radius = &self.radius - big(x);
                radius >= BigInt::ZERO && {
                    let smaller = Self {
                        radius,
                        ..self.clone()
                    };
                    smaller.touches(0.0)
                }
            };
            let nearby = |x: f64| [x.next_down(), x.next_up()];
            let below = if depth > 0.0 {
                mid(depth.next_down(), depth)
            } else {
                0.0
            };
            let above = mid(depth, depth.next_up());
            // An exact depth halfway between two float32 numbers is rounded to the number whose
            // last bit is 0. So if the last bit of `depth` is 0, the halfway points below and above
            // it are rounded to `depth`. If the last bit is 1, these two points are rounded to
            // other numbers.
            let low = if is_even(depth) {
                below
            } else {
                nearby(below)[1]
            };
            let high = if is_even(depth) {
                nearby(above)[1]
            } else {
                above
            };
            let good = toi == 0.0 && at_least(low) && !at_least(high);
            return if good {
                Ok(())
            } else {
                Err(format!("depth {depth:e} {toi:e}"))
            };
        }
        let below = mid(toi.next_down().max(0.0), toi);
        let above = mid(toi, toi.next_up());
        let early = if is_even(toi) {
            below.next_down()
        } else {
            below
        };
        let late = if is_even(toi) {
            above
        } else {
            above.next_down()
        };
        let good = depth == 0.0
            && toi <= dt
            && !self.touches(early.max(0.0))
            && self.touches(late.min(dt.into()));
        if good {
            Ok(())
        } else {
            Err(format!("toi {toi:e} of {dt:e}, depth {depth:e}"))
        }
    }
}

impl Clone for Oracle {
    fn clone(&self) -> Self {
        Self {
            corners: self.corners.clone(),
            start: self.start.clone(),
            velocity: self.velocity.clone(),
            radius: self.radius.clone(),
        }
    }
}

/// Returns the numerator and the denominator of the squared distance between two flats (points,
/// lines or planes). The points in `segment` span one flat, and the points in `face` span the
/// other. Returns `None` if the nearest points of the two flats are not unique. Also returns `None`
/// if they lie outside the segment or the triangle between the given points.
fn least_squares(segment: &[&[BigInt; 3]], face: &[&[BigInt; 3]]) -> Option<[BigInt; 2]> {
    let start = minus(segment[0], face[0]);
    let along = segment[1..].iter().map(|point| minus(point, segment[0]));
    let across = face[1..].iter().map(|point| minus(face[0], point));
    let directions: Vec<[BigInt; 3]> = along.chain(across).collect();
    let gram = |k: usize, l: usize| dot(&directions[k], &directions[l]);
    let count = directions.len();
    let matrix: Vec<Vec<BigInt>> = (0..count)
        .map(|k| (0..count).map(|l| gram(k, l)).collect())
        .collect();
    let whole = determinant(&matrix);
    if whole == BigInt::ZERO {
        return None;
    }
    let right: Vec<BigInt> = directions.iter().map(|x| -dot(x, &start)).collect();
    // Cramer's rule solves the linear system of `matrix` and `right`. `whole` is the determinant of the matrix,
    // and unknown k is `solution[k]` / `whole`.
    let solution: Vec<BigInt> = (0..count)
        .map(|k| {
            let mut replaced = matrix.clone();
            for (row, value) in replaced.iter_mut().zip(&right) {
                row[k] = value.clone();
            }
            determinant(&replaced)
        })
        .collect();
    let of_segment = segment.len() - 1;
    for part in [&solution[..of_segment], &solution[of_segment..]] {
        let sum: BigInt = part.iter().sum();
        if part.iter().any(|x| *x < BigInt::ZERO) || sum > whole {
            return None;
        }
    }
    let nearest: [BigInt; 3] = from_fn(|axis| {
        let moved = directions
            .iter()
            .zip(&solution)
            .map(|(x, part)| &x[axis] * part);
        &start[axis] * &whole + moved.sum::<BigInt>()
    });
    Some([dot(&nearest, &nearest), &whole * &whole])
}

/// Numbers of random test cases, by the result of the impact test.
#[derive(Debug, Default)]
struct Counts {
    at_start: usize,
    later: usize,
    misses: usize,
    by_integers: usize,
}

fn check_all(
    rounds: usize,
    seed: u64,
    mut case: impl FnMut(&mut fastrand::Rng) -> (Triangle, Sphere, f32),
) -> Counts {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut counts = Counts::default();
    for round in 0..rounds {
        let (triangle, sphere, dt) = case(&mut random);
        if Triangle::defect(&triangle.corners).is_some() {
            continue;
        }
        let found = triangle.impact(&sphere, (), dt);
        let oracle = Oracle::new(&triangle, &sphere, [0.0; 3]);
        if let Err(what) = oracle.check(found, dt) {
            panic!("case {round}: {what}\n{triangle:?}\n{sphere:?}\ndt {dt:e}: {found:?}");
        }
        counts.by_integers += usize::from(
            TriangleFloat64::new(&triangle, &sphere, ())
                .impact(dt.into())
                .is_err(),
        );
        match found {
            Some(Hit { toi: 0.0, .. }) => counts.at_start += 1,
            Some(_) => counts.later += 1,
            None => counts.misses += 1,
        }
    }
    counts
}

fn within(random: &mut fastrand::Rng, size: f32) -> [f32; 3] {
    from_fn(|_| (random.f32() * 2.0 - 1.0) * size)
}

fn on_grid(random: &mut fastrand::Rng, size: i32) -> [f32; 3] {
    from_fn(|_| random.i32(-size..=size) as f32)
}

#[test]
fn random_triangles_are_decided_as_by_the_oracle() {
    let counts = check_all(6000, 1, |random| {
        let size = 2_f32.powi(random.i32(-1..=3));
        let triangle = Triangle {
            corners: from_fn(|_| within(random, size)),
            velocity: within(random, 1.0),
        };
        let sphere = Sphere::new(within(random, 3.0), random.f32() * random.f32())
            .with_velocity(within(random, 6.0));
        (triangle, sphere, random.f32() * 2.0)
    });
    assert!(
        counts.at_start > 60 && counts.later > 150 && counts.misses > 1000,
        "{counts:?}"
    );
    // Spheres and triangles with random numbers are hardly ever close to tangency.
    assert!(counts.by_integers < 40, "{counts:?}");
}

#[test]
fn tangent_spheres_on_a_grid_are_decided_as_by_the_oracle() {
    // Small whole numbers make faces, edges and corners coincide, and make spheres tangent to them.
    let counts = check_all(10_000, 2, |random| {
        let triangle = Triangle {
            corners: from_fn(|_| on_grid(random, 2)),
            velocity: on_grid(random, 1),
        };
        let sphere = Sphere::new(on_grid(random, 4), random.i32(0..=2) as f32)
            .with_velocity(on_grid(random, 3));
        (
            triangle,
            sphere,
            [0.0, 0.5, 1.0, 2.0, 3.0][random.usize(0..5)],
        )
    });
    assert!(
        counts.at_start > 400 && counts.later > 300 && counts.misses > 1000,
        "{counts:?}"
    );
    assert!(counts.by_integers > 100, "{counts:?}");
}

#[test]
fn slivers_points_and_giants_are_decided_as_by_the_oracle() {
    let counts = check_all(4000, 3, |random| {
        let from = within(random, 1.0);
        let to = within(random, 1.0);
        let thin = 2_f32.powi(random.i32(-24..=-1));
        let along = random.f32();
        let third = from_fn(|k| from[k] + (to[k] - from[k]) * along + (random.f32() - 0.5) * thin);
        let radius = match random.u8(0..4) {
            0 => 0.0,
            1 => random.f32() * 1e-6,
            2 => random.f32(),
            _ => 1000.0,
        };
        // The sphere begins at a distance from a point of the triangle that exceeds its radius by at most 1. It
        // flies almost straight towards this point.
        let aim: [f32; 3] = from_fn(|k| from[k] * 0.5 + to[k] * 0.25 + third[k] * 0.25);
        let way = within(random, 1.0);
        let length = way.iter().map(|x| x * x).sum::<f32>().sqrt();
        let far = radius + random.f32();
        let center = from_fn(|k| aim[k] + way[k] / length * far);
        let velocity = from_fn(|k| way[k] / length * -2.0 + (random.f32() - 0.5) * 0.1);
        let triangle = Triangle {
            corners: [from, to, third],
            velocity: [0.0; 3],
        };
        (
            triangle,
            Sphere::new(center, radius).with_velocity(velocity),
            1.0,
        )
    });
    assert!(counts.later > 1000 && counts.misses > 20, "{counts:?}");
}

#[test]
fn tangent_spheres_with_many_digits_are_decided_as_by_the_oracle() {
    // All coordinates are multiples of `spacing`, an odd number of 21 bits. So products of several coordinates
    // have too many bits for float64 and are rounded. Then these rounding errors, and the last digit of the
    // radius, decide whether a sphere is tangent.
    let counts = check_all(10_000, 7, |random| {
        let spacing = (random.u32(1 << 20..1 << 21) | 1) as f32;
        let mut point = |size| on_grid(random, size).map(|x| x * spacing);
        let triangle = Triangle {
            corners: from_fn(|_| point(3)),
            velocity: [0.0; 3],
        };
        let (center, velocity) = (point(4), point(2));
        let radius = random.i32(1..=3) as f32 * spacing;
        let radius = match random.u8(0..4) {
            0 => radius.next_up(),
            1 => radius.next_down(),
            _ => radius,
        };
        let sphere = Sphere::new(center, radius).with_velocity(velocity);
        (triangle, sphere, [0.0, 0.5, 1.0, 2.0][random.usize(0..4)])
    });
    assert!(counts.by_integers > 100, "{counts:?}");
}

#[test]
fn tiny_and_large_units_do_not_matter() {
    for power in [-120, -100, 50] {
        let unit = 2_f32.powi(power);
        let counts = check_all(300, 4, |random| {
            let mut scaled = |size: f32| within(random, size).map(|x| x * unit);
            let triangle = Triangle {
                corners: [scaled(2.0), scaled(2.0), scaled(2.0)],
                velocity: scaled(1.0),
            };
            let (center, velocity) = (scaled(2.0), scaled(4.0));
            let sphere = Sphere::new(center, random.f32() * unit).with_velocity(velocity);
            (triangle, sphere, 1.0)
        });
        assert!(
            counts.later > 20 && counts.misses > 30,
            "{power}: {counts:?}"
        );
    }
}

#[test]
fn ties_go_to_the_even_time() {
    // A sphere of radius 0 reaches the face of a triangle at time 2²⁴ + 1 or 2²⁴ + 3. Both times
    // are halfway between two float32 numbers.
    for (place, even) in [(1.0, 16_777_216.0), (3.0, 16_777_220.0)] {
        let triangle = Triangle {
            corners: [
                [-place, -1.0, -1.0],
                [-place, 2.0, -1.0],
                [-place, -1.0, 2.0],
            ],
            velocity: [0.0; 3],
        };
        let point = Sphere::new([16_777_216.0, 0.0, 0.0], 0.0).with_velocity([-1.0, 0.0, 0.0]);
        let expected = Hit {
            toi: even,
            depth: 0.0,
        };
        assert_eq!(triangle.impact(&point, (), 1e9), Some(expected));
        // A sphere of radius 0 moves within the plane of a triangle and reaches one of its edges.
        let edge_on = Triangle {
            corners: [
                [-place, 0.0, -1.0],
                [-place, 0.0, 2.0],
                [-place - 9.0, 0.0, 0.0],
            ],
            velocity: [0.0; 3],
        };
        assert_eq!(edge_on.impact(&point, (), 1e9), Some(expected));
    }
}

#[test]
fn a_sphere_over_a_shared_edge_touches_both_triangles_at_one_time() {
    let [a, b] = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    let triangle = |third| Triangle {
        corners: [a, b, third],
        velocity: [0.0, 0.0, 0.5],
    };
    let sphere = Sphere::new([0.5, 0.5, 3.0], 1.0).with_velocity([0.0, 0.0, -1.5]);
    for third in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        let found = triangle(third).impact(&sphere, (), 2.0);
        assert_eq!(
            found,
            Some(Hit {
                toi: 1.0,
                depth: 0.0
            })
        );
    }
}

#[test]
fn face_edge_and_corner_are_named() {
    let triangle = Triangle {
        corners: [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
        velocity: [0.0; 3],
    };
    let cases = [
        (
            [1.0, 1.0, 5.0],
            [0.0, 0.0, -2.0],
            2.0,
            Feature::Face,
            [0.0, 0.0, -1.0],
        ),
        (
            [1.0, 1.0, -5.0],
            [0.0, 0.0, 2.0],
            2.0,
            Feature::Face,
            [0.0, 0.0, 1.0],
        ),
        (
            [2.0, -5.0, 0.0],
            [0.0, 2.0, 0.0],
            2.0,
            Feature::Edge(0),
            [0.0, 1.0, 0.0],
        ),
        (
            [-5.0, 2.0, 0.0],
            [2.0, 0.0, 0.0],
            2.0,
            Feature::Edge(2),
            [1.0, 0.0, 0.0],
        ),
        (
            [-5.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            2.0,
            Feature::Corner(0),
            [1.0, 0.0, 0.0],
        ),
        (
            [9.0, 0.0, 0.0],
            [-2.0, 0.0, 0.0],
            2.0,
            Feature::Corner(1),
            [-1.0, 0.0, 0.0],
        ),
        (
            [0.0, 9.0, 0.0],
            [0.0, -2.0, 0.0],
            2.0,
            Feature::Corner(2),
            [0.0, -1.0, 0.0],
        ),
    ];
    for (center, velocity, toi, feature, normal) in cases {
        let sphere = Sphere::new(center, 1.0).with_velocity(velocity);
        assert_eq!(
            triangle.impact(&sphere, (), 9.0),
            Some(Hit { toi, depth: 0.0 })
        );
        let (touch, touched) = triangle.touch(&sphere, (), toi);
        assert_eq!(touched, feature);
        assert!(
            (touch.normal - glam::DVec3::from(normal)).length() < 1e-12,
            "{touch:?}"
        );
        assert!((touch.time - f64::from(toi)).abs() < 1e-9 && (touch.approach - 2.0).abs() < 1e-9);
    }
}

#[test]
fn the_image_of_a_sphere_is_decided_as_by_the_oracle() {
    let mut random = fastrand::Rng::with_seed(5);
    let edges = [[3.3, 0.0, 0.0], [0.7, 3.1, 0.0], [0.1, 0.2, 2.9]];
    let domain = Domain::triclinic([0.0; 3], edges);
    let mut hits = 0;
    for _ in 0..1000 {
        let image: [i32; 3] = from_fn(|_| random.i32(-2..=2));
        let by = from_fn(|axis| {
            let products = (0..3).map(|k| f64::from(edges[k][axis]) * f64::from(image[k]));
            products.sum::<f64>()
        });
        let triangle = Triangle {
            corners: from_fn(|_| within(&mut random, 2.0)),
            velocity: within(&mut random, 1.0),
        };
        let away = within(&mut random, 2.0);
        let center = from_fn(|k| (f64::from(away[k]) - by[k]) as f32);
        let sphere = Sphere::new(center, random.f32()).with_velocity(within(&mut random, 3.0));
        let shift = crate::exact::Translation::new(&domain, image);
        let found = triangle.impact(&sphere, shift, 1.0);
        Oracle::new(&triangle, &sphere, by)
            .check(found, 1.0)
            .expect("the answer of the oracle");
        hits += usize::from(found.is_some());
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn defects_are_named() {
    let good = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert_eq!(Triangle::defect(&good), None);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.2e18] {
        let mut corners = good;
        corners[1][2] = bad;
        let named = Defect::Coordinate { corner: 1, axis: 2 };
        assert_eq!(Triangle::defect(&corners), Some(named), "{bad}");
    }
    let line = [[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.4, 0.8, 1.2]];
    let double = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]];
    assert_eq!(Triangle::defect(&line), Some(Defect::NoArea));
    assert_eq!(Triangle::defect(&double), Some(Defect::NoArea));
    // Moves one corner by one unit in the last place, so that it is no longer on the line through the two other
    // corners.
    let mut sliver = line;
    sliver[2][0] = 0.4_f32.next_up();
    assert_eq!(Triangle::defect(&sliver), None);
}
