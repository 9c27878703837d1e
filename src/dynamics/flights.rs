//! Tests pairs of spheres in float32, four at a time. Those that may meet are tested again in float64.
//!
//! The unit of length is the size of a typical sphere with its pad. The unit of time is
//! the time that a search for candidates covers. So no product overflows or is rounded to 0, unless the spheres differ
//! extremely.

use glam::DVec3;
use wide::f32x4;

use super::HardSphere;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder};
use super::narrow::next_up;
use super::path::Piece;
use crate::Sphere;
use crate::lanes::LANES;

/// The float32 tests of two spheres leave a margin for rounding errors. The margin is this fraction
/// of the magnitudes of the numbers in a test.
const ERROR: f32 = 1.0 / (1 << 17) as f32;

/// A float32 product that underflows to 0 is smaller than this number.
const TINY: f32 = 1e-30;

/// The motion of a sphere in a substep: its centre and radius at the start of the substep, its
/// velocity if it meets nothing, and a bound of its mean speed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight([f32x4; 2]);

impl Flight {
    /// Reads the flight, so that the processor brings it into the cache. The result has no meaning,
    /// but is used so that the compiler does not remove the read.
    pub(crate) fn bits(&self) -> u32 {
        self.0[0].as_array()[0].to_bits()
    }

    /// Raises the bound on a sphere's mean speed to `speed`, unless the bound is higher already.
    /// Impacts have changed the sphere's path, and `speed` is a bound for the new path.
    pub(crate) fn raise_speed(&mut self, speed: f64, units: &FlightUnits) {
        let bound = &mut self.0[1].as_mut_array()[3];
        *bound = bound.max(next_up(speed * (units.per_length * units.time)));
    }
}

/// The flights of four spheres, one in each lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    center: [f32x4; 3],
    radius: f32x4,
    velocity: [f32x4; 3],
    speed: f32x4,
}

impl Four {
    #[inline(always)]
    pub(crate) fn new(flights: &[Flight], others: [u32; LANES]) -> Self {
        let [a, b, c, d] = others;
        let [a, b] = [flights[a as usize].0, flights[b as usize].0];
        let [c, d] = [flights[c as usize].0, flights[d as usize].0];
        let [x, y, z, radius] = f32x4::transpose([a[0], b[0], c[0], d[0]]);
        let [u, v, w, speed] = f32x4::transpose([a[1], b[1], c[1], d[1]]);
        Self {
            center: [x, y, z],
            radius,
            velocity: [u, v, w],
            speed,
        }
    }
}

/// The units of length and time of [`Flight`]s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlightUnits {
    /// The unit of time.
    pub(crate) time: f64,
    /// The reciprocal of the unit of length.
    pub(crate) per_length: f64,
    /// Middle of the box around the centres of all spheres at the time of the search for
    /// candidates. Coordinates relative to this point have smaller rounding errors.
    pub(crate) center: DVec3,
    /// Bound on the magnitudes of the coordinates of all spheres with their pads. The coordinates
    /// are relative to `center` and in the unit of length.
    pub(crate) most: f32,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the tests allow for the rounding"
)]
impl FlightUnits {
    fn place(&self, center: DVec3) -> [f64; 3] {
        ((center - self.center) * self.per_length).to_array()
    }

    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.time.code(coder)?;
        self.per_length.code(coder)?;
        self.center.code(coder)?;
        self.most.code(coder)
    }

    /// Returns whether rounding coordinates to float32 displaces spheres by more than a small part of their size.
    pub(crate) fn is_coarse(&self) -> bool {
        self.most > 1e5
    }

    /// Raises the bound `most` on coordinates so that it covers the sphere `padded`. The radius of
    /// this sphere includes its pad.
    /// The centre of `padded` is measured from `middle`.
    pub(crate) fn include(&mut self, padded: &Sphere, middle: DVec3) {
        let away = DVec3::from(padded.center.map(f64::from)) + (middle - self.center);
        let farthest = away.abs().max_element() + f64::from(padded.radius);
        self.most = self.most.max(next_up(farthest * self.per_length));
    }

    pub(crate) fn flight(&self, sphere: &HardSphere) -> Flight {
        let [x, y, z] = self.place(sphere.place());
        let velocity = sphere.motion() * (self.per_length * self.time);
        let [u, v, w] = velocity.to_array();
        let (radius, speed) = (sphere.radius * self.per_length, velocity.length());
        Flight([
            f32x4::new([x as f32, y as f32, z as f32, radius as f32]),
            f32x4::new([u as f32, v as f32, w as f32, speed as f32]),
        ])
    }

    /// Converts a flight to the form in which it is tested against four others, from the start of the substep to
    /// `until`.
    #[inline]
    pub(crate) fn probe_of(&self, flight: &Flight, until: f64) -> FlightProbe {
        let [[x, y, z, radius], [u, v, w, speed]] = flight.0.map(f32x4::to_array);
        FlightProbe {
            center: [f32x4::splat(x), f32x4::splat(y), f32x4::splat(z)],
            velocity: [f32x4::splat(u), f32x4::splat(v), f32x4::splat(w)],
            radius: f32x4::splat(radius),
            speed: f32x4::splat(speed),
            from: f32x4::ZERO,
            until: f32x4::splat((until / self.time) as f32),
            most: f32x4::splat(self.most),
        }
    }

    /// Converts the motion of a sphere on a piece of its path to the form in which it is tested against four flights,
    /// from `from` to `until`.
    #[inline]
    pub(crate) fn probe(&self, piece: &Piece, radius: f64, [from, until]: [f64; 2]) -> FlightProbe {
        let four = |x: f64| f32x4::splat(x as f32);
        let [x, y, z] = self.place(piece.center);
        let velocity = piece.velocity * (self.per_length * self.time);
        let [u, v, w] = velocity.to_array();
        let per_time = self.time.recip();
        FlightProbe {
            center: [four(x), four(y), four(z)],
            velocity: [four(u), four(v), four(w)],
            radius: four(radius * self.per_length),
            speed: four(velocity.length()),
            from: four(from * per_time),
            until: four(until * per_time),
            most: f32x4::splat(self.most),
        }
    }
}

/// The motion of one sphere in a range of times, to be tested against four flights. All four lanes are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlightProbe {
    center: [f32x4; 3],
    velocity: [f32x4; 3],
    radius: f32x4,
    speed: f32x4,
    /// The range of times.
    from: f32x4,
    until: f32x4,
    most: f32x4,
}

impl FlightProbe {
    /// Returns a 4-bit mask. Bit k is 1 if the moving sphere that this probe describes may meet
    /// sphere k of `others` by the end of the probe's time range, whatever directions the two move
    /// in.
    #[inline(always)]
    pub(crate) fn is_near(&self, others: &Four) -> u32 {
        let [x, y, z] = [0, 1, 2].map(|k| others.center[k] - self.center[k]);
        let speeds = others.speed + self.speed;
        let most = self.most + speeds * self.until;
        let reach = others.radius + self.radius + speeds * self.until;
        let reach = reach + (reach + most) * f32x4::splat(ERROR);
        let far = (x * x + y * y + z * z).simd_gt(reach * reach + f32x4::splat(TINY));
        !far.to_bitmask() & ((1 << LANES) - 1)
    }

    /// Returns a 4-bit mask. Bit k is 1 if the moving sphere that this probe describes may meet
    /// sphere k of `others` in the probe's time range. If bit k is 0, the two certainly do not
    /// meet.
    ///
    /// This function does for four pairs in float32 what
    /// [`predict::may_meet`](super::predict::may_meet) does for one pair in float64, with margins
    /// for rounding errors. If a number of a pair is NaN, the bit of the pair is 1.
    #[inline(always)]
    pub(crate) fn may_meet(&self, others: &Four) -> u32 {
        let &Four {
            center: [x, y, z],
            radius,
            velocity: [u, v, w],
            speed,
        } = others;
        let (error, tiny) = (f32x4::splat(ERROR), f32x4::splat(TINY));
        let (one_less, one_more) = (f32x4::ONE - error, f32x4::ONE + error);
        let v = [
            u - self.velocity[0],
            v - self.velocity[1],
            w - self.velocity[2],
        ];
        let p = [
            x - self.center[0] + v[0] * self.from,
            y - self.center[1] + v[1] * self.from,
            z - self.center[2] + v[2] * self.from,
        ];
        let square = |a: &[f32x4; 3]| a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        let speeds = speed + self.speed;
        // `most` bounds all coordinates of the spheres during the tested interval of time. The
        // rounding errors of the coordinates are proportional to this bound.
        let most = self.most + speeds * self.until;
        let b_half = p[0] * v[0] + p[1] * v[1] + p[2] * v[2];
        let b_half = b_half - error * most * speeds - tiny;
        let reach = radius + self.radius;
        // The vector p between the two centres has an error below 2⁻²¹·`most`. So the error of p² is at most 2⁻¹⁸·p² +
        // 2⁻²⁴·`most`².
        let far = error * error * f32x4::splat(1024.0);
        let c = square(&p) * one_less - reach * reach * one_more - far * most * most - tiny;
        let slow = error * error * f32x4::splat(1024.0);
        let square_v = square(&v) * one_less - slow * speeds * speeds;
        let early = f32x4::splat(-2.0) * b_half * (self.until - self.from) * one_more;
        let discriminant = b_half * b_half * one_more - square_v * c;
        let never = b_half.simd_ge(f32x4::ZERO)
            | c.simd_gt(early)
            | (discriminant.simd_lt(f32x4::ZERO) & c.simd_gt(f32x4::ZERO));
        !never.to_bitmask() & ((1 << LANES) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::predict::meeting;

    fn vector(rng: &mut fastrand::Rng, size: f64) -> DVec3 {
        DVec3::from([0; 3].map(|_| size * (2.0 * rng.f64() - 1.0)))
    }

    /// Pairs at all distances from the origin, of which many barely meet: they touch at the start, at the end, or at
    /// their closest approach.
    #[test]
    fn no_pair_that_meets_is_lost() {
        let mut rng = fastrand::Rng::with_seed(5);
        let (mut met, mut passed) = (0, 0);
        for round in 0..200_000 {
            let scale = 10_f64.powf(24.0 * rng.f64() - 12.0);
            let far = scale * 10_f64.powf(4.0 * rng.f64());
            let (duration, from) = (3.0, 3.0 * rng.f64() * f64::from(round % 2));
            let radii = [scale * rng.f64(), scale * rng.f64()];
            let reach = radii[0] + radii[1];
            let velocities = [vector(&mut rng, scale), vector(&mut rng, scale)];
            let relative = velocities[1] - velocities[0];
            // Chooses when the spheres are closest: at the start or the end of the tested time
            // range, or at a time between them.
            let nearest = [from, duration, from + rng.f64() * (duration - from)][rng.usize(..3)];
            let across = vector(&mut rng, 1.0).cross(relative).normalize_or(DVec3::X);
            let gap = [-1.0, 0.0, 1.0][rng.usize(..3)] * 10_f64.powf(-8.0 * rng.f64());
            let distance = reach * (1.0 + gap);
            let center = vector(&mut rng, far);
            let other = center + across * distance - relative * nearest;
            let piece = |center: DVec3, velocity| Piece {
                start: 0.0,
                center,
                velocity,
                falls: false,
            };
            let sphere = HardSphere::new(other, radii[1]).with_velocity(velocities[1]);
            let own = piece(center, velocities[0]);
            let range = [from, duration];
            let found = meeting(
                &own,
                &piece(other, velocities[1]),
                DVec3::ZERO,
                reach,
                range,
            );
            let units = FlightUnits {
                time: 4.0,
                per_length: scale.recip(),
                center: vector(&mut rng, far),
                most: next_up((2.0 * far + 20.0 * scale) / scale),
            };
            let flights = [units.flight(&sphere); 1];
            let four = Four::new(&flights, [0; LANES]);
            let mask = units.probe(&own, radii[0], range).may_meet(&four);
            assert!(found.is_none() || mask == 15, "round {round}: {found:?}");
            met += u32::from(found.is_some());
            passed += u32::from(mask != 0);

            let start = HardSphere::new(center, radii[0]).with_velocity(velocities[0]);
            let near = units
                .probe_of(&units.flight(&start), duration)
                .is_near(&four);
            let ever = meeting(
                &own,
                &piece(other, velocities[1]),
                DVec3::ZERO,
                reach,
                [0.0, duration],
            );
            assert!(ever.is_none() || near == 15, "round {round}");
        }
        assert!(met > 50_000 && passed < 190_000, "{met} of {passed}");
    }

    /// A moving sphere meets another sphere that comes towards it, and misses four further spheres.
    #[test]
    fn most_pairs_that_do_not_meet_are_told_apart() {
        let units = FlightUnits {
            time: 1.0,
            per_length: 1.0,
            center: DVec3::splat(1e6),
            most: 100.0,
        };
        let near = units.center + DVec3::splat(50.0);
        let own = HardSphere::new(near, 0.5).with_velocity([1.0, 0.0, 0.0]);
        let beside = |x: f64, y: f64, u: f64| {
            let other = HardSphere::new(near + DVec3::new(x, y, 0.0), 0.5);
            let flights = [units.flight(&other.with_velocity([u, 0.0, 0.0]))];
            let probe = units.probe_of(&units.flight(&own), 1.0);
            let four = Four::new(&flights, [0; LANES]);
            (probe.may_meet(&four), probe.is_near(&four))
        };
        assert_eq!(beside(2.0, 0.0, -1.0), (15, 15));
        // The next four spheres do not meet the first one: they move apart, pass beside it, are too
        // slow, or are too far away.
        assert_eq!(beside(1.1, 0.0, 2.0), (0, 15));
        assert_eq!(beside(2.0, 1.1, -1.0), (0, 15));
        assert_eq!(beside(2.5, 0.0, 0.1), (0, 0));
        assert_eq!(beside(9.0, 0.0, -1.0), (0, 0));
    }
}
