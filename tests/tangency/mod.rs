//! Random pairs of spheres that barely touch or barely miss, which are hard to decide in floating point.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "rounded to float32 on purpose"
)]

use carom::{MAX_MAGNITUDE, Sphere};
use fastrand::Rng;
use glam::DVec3;

/// Triples of perpendicular vectors of equal length, in whole numbers. A sphere that moves along the first
/// vector can be exactly tangent to a sphere displaced along one of the other two.
const EXACT: [[DVec3; 3]; 4] = [
    [DVec3::X, DVec3::Y, DVec3::Z],
    [
        DVec3::new(3.0, 4.0, 0.0),
        DVec3::new(-4.0, 3.0, 0.0),
        DVec3::new(0.0, 0.0, 5.0),
    ],
    [
        DVec3::new(-1.0, 2.0, 2.0),
        DVec3::new(2.0, -1.0, 2.0),
        DVec3::new(2.0, 2.0, -1.0),
    ],
    [
        DVec3::new(2.0, 3.0, 6.0),
        DVec3::new(3.0, -6.0, 2.0),
        DVec3::new(6.0, 2.0, -3.0),
    ],
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The two spheres are nearest to each other at a time within the step, and their distance is then the
    /// sum of their radii. If all numbers of the pair are whole multiples of one unit, nothing is rounded, so
    /// this is exact. In two of three pairs of every kind, one number is then changed by one or two ulps.
    Exact,
    Passing,
    /// The two spheres are nearest to each other at the end of the step. In most pairs of this
    /// kind, they still approach each other at that time.
    AtTheEnd,
    /// The two spheres touch at the start of the step, and then move apart.
    Leaving,
    /// The two spheres are at rest relative to each other.
    Resting,
    /// The velocities of the two spheres differ by only some ulps.
    Alike,
    /// The two spheres have a large common velocity and a small relative velocity.
    Formation,
    /// The two spheres are far from the origin, compared with their distance.
    Offset,
    /// During the step, the two spheres move relative to each other by many times the sum of their radii.
    Bullet,
    /// The two spheres are far smaller than the largest length in their world.
    Specks,
    /// All lengths are so small that float32 has few digits for them.
    Subnormal,
    /// All lengths are at the upper end of the range that carom accepts.
    Huge,
}

pub(crate) const KINDS: [Kind; 12] = [
    Kind::Exact,
    Kind::Passing,
    Kind::AtTheEnd,
    Kind::Leaving,
    Kind::Resting,
    Kind::Alike,
    Kind::Formation,
    Kind::Offset,
    Kind::Bullet,
    Kind::Specks,
    Kind::Subnormal,
    Kind::Huge,
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) spheres: [Sphere; 2],
    pub(crate) dt: f32,
    /// Largest magnitude of a coordinate, a displacement or a radius in the world to which the two
    /// spheres belong. carom chooses its unit of length by this number.
    pub(crate) extent: f32,
}

fn direction(rng: &mut Rng) -> DVec3 {
    loop {
        let inside = DVec3::from_array(std::array::from_fn(|_| rng.f64() * 2.0 - 1.0));
        if (0.01..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Returns 2ˣ for a random integer x in the range, times a random factor from 1 to 2.
fn scale(range: std::ops::Range<i32>, rng: &mut Rng) -> f64 {
    2_f64.powi(rng.i32(range)) * (1.0 + rng.f64())
}

impl Pair {
    pub(crate) fn new(kind: Kind, rng: &mut Rng) -> Self {
        let exact = rng.bool();
        let dt = match kind {
            Kind::Huge if exact => 2_f64.powi(rng.i32(0..8)),
            _ if exact => 2_f64.powi(rng.i32(-8..8)),
            Kind::Subnormal | Kind::Huge => 1.0 + rng.f64(),
            _ => scale(-8..8, rng),
        };
        Self::with_step(kind, exact, dt as f32, rng)
    }

    /// Returns a random pair of spheres for the time step `step`. If `whole` is set, all numbers of
    /// the pair are whole multiples of a power of two, and `step` must be a power of two.
    pub(crate) fn with_step(kind: Kind, whole: bool, step: f32, rng: &mut Rng) -> Self {
        let dt = f64::from(step);
        let unit = match kind {
            Kind::Specks => 2_f64.powi(rng.i32(-80..-30)),
            Kind::Subnormal => 2_f64.powi(rng.i32(-148..-120)),
            Kind::Huge => 2_f64.powi(rng.i32(40..48)),
            _ => 2_f64.powi(rng.i32(-12..12)),
        };
        // `size` scales the vector between the two centres at the closest approach (`miss` below). `far`
        // scales the displacement of one sphere relative to the other during the step (`flight` below).
        let size = if whole {
            f64::from(rng.u32(1..=64))
        } else {
            scale(-2..6, rng)
        };
        let far = match kind {
            Kind::Resting | Kind::Leaving | Kind::AtTheEnd => size,
            Kind::Bullet => scale(8..27, rng),
            _ if whole => f64::from(rng.u32(1..=64)),
            _ => scale(-6..10, rng),
        };
        let [along, across, up] = if whole {
            *rng.choice(&EXACT).expect("not empty")
        } else {
            let along = direction(rng);
            let across = along
                .cross(direction(rng))
                .normalize_or(along.any_orthonormal_vector());
            [along, across, along.cross(across)]
        };
        let part = if whole {
            f64::from(rng.u32(0..=8)) / 8.0
        } else {
            rng.f64()
        };
        // `miss` is the vector between the two centres at the closest approach. `flight` is the relative
        // displacement during the step. `part` is the time of the closest approach, as a fraction of the
        // step.
        let (miss, flight, part) = match kind {
            Kind::Resting if whole => (across * size, DVec3::ZERO, 0.0),
            Kind::Resting => (direction(rng) * size, DVec3::ZERO, 0.0),
            Kind::Leaving => {
                let outwards = f64::from(rng.u32(0..3));
                (across * size, along * far + across * outwards, 0.0)
            }
            Kind::AtTheEnd => {
                let inwards = f64::from(rng.u32(0..3));
                (across * size, along * far - across * inwards, 1.0)
            }
            Kind::Alike => (across * size, along * (far * scale(-30..-15, rng)), part),
            _ => (
                if rng.bool() { across } else { up } * size,
                along * far,
                part,
            ),
        };
        let common = match kind {
            Kind::Formation | Kind::Alike => direction(rng) * scale(4..16, rng),
            _ if rng.bool() => DVec3::ZERO,
            _ => along * f64::from(rng.i32(-8..8)),
        };
        let place = match kind {
            Kind::Offset => direction(rng) * scale(8..20, rng),
            _ if rng.bool() => DVec3::ZERO,
            _ => DVec3::from_array(std::array::from_fn(|_| f64::from(rng.i32(-64..=64)))),
        };
        let meeting = [place, place + miss];
        let flights = [common, common + flight];
        let mut spheres = [0, 1].map(|i| {
            let start = (meeting[i] - flights[i] * part) * unit;
            let velocity = flights[i] * (unit / dt);
            Sphere::new(start.as_vec3(), 0.0).with_velocity(velocity.as_vec3())
        });
        // The radii are chosen so that the spheres touch exactly. Their sum is the smallest distance of the
        // centres during the step, computed from the centres and velocities after their rounding to float32.
        // If all numbers are whole multiples of `unit`, nothing is rounded, and the distance is known
        // exactly.
        let nearest = nearest(&spheres, dt);
        let sum = if whole { miss.length() * unit } else { nearest };
        let one = (sum * f64::from(rng.u32(0..=4)) / 4.0) as f32;
        spheres[0].radius = one;
        spheres[1].radius = (sum - f64::from(one)).max(0.0) as f32;
        if rng.u32(0..3) > 0 {
            nudge(&mut spheres[rng.usize(0..2)], rng);
        }
        rng.shuffle(&mut spheres);
        let lengths = spheres.iter().flat_map(|s| {
            let shift = s.velocity.map(|v| v * step);
            [s.center, shift, [s.radius; 3]].concat()
        });
        let own = lengths.fold(0.0_f32, |most, x| most.max(x.abs()));
        let extent = match kind {
            Kind::Specks => own.max(1.0),
            _ => own,
        };
        let fastest = spheres.iter().flat_map(|s| s.velocity);
        let most = fastest.fold(extent, |most, v| most.max(v.abs()));
        assert!(most <= MAX_MAGNITUDE, "{kind:?}: {spheres:?}");
        Self {
            spheres,
            dt: step,
            extent,
        }
    }
}

/// Returns approximately the smallest distance of the centres of two spheres during the step.
fn nearest(spheres: &[Sphere; 2], dt: f64) -> f64 {
    let [p, v] = [|s: &Sphere| s.center, |s: &Sphere| s.velocity].map(|of| {
        let [one, other] = spheres
            .each_ref()
            .map(|s| DVec3::from(of(s).map(f64::from)));
        other - one
    });
    let t = (-p.dot(v) / v.length_squared()).clamp(0.0, dt);
    if t.is_nan() {
        p.length()
    } else {
        (p + v * t).length()
    }
}

/// Changes a radius, or a coordinate of a centre or velocity, by one or two ulps.
fn nudge(sphere: &mut Sphere, rng: &mut Rng) {
    let number = match rng.usize(0..7) {
        k @ 0..3 => &mut sphere.center[k],
        k @ 3..6 => &mut sphere.velocity[k - 3],
        _ => &mut sphere.radius,
    };
    let up = rng.bool();
    for _ in 0..rng.u32(1..=2) {
        *number = if up {
            number.next_up()
        } else {
            number.next_down()
        };
    }
    sphere.radius = sphere.radius.max(0.0);
}
