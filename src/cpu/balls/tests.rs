//! Tests of the ball test.

use fastrand::Rng;
use glam::{DVec3, Vec3};

use super::*;
use crate::exact::impact;
use crate::shared::segments::Frame;
use crate::shared::tag::SEGMENT_BITS;
use crate::shared::units::Units;
use crate::{MAX_MAGNITUDE, Sphere};

/// Returns two random spheres that touch or nearly touch, and the time of their closest approach as
/// a fraction of the step. Distances, sizes and speeds vary over many orders of magnitude.
fn pair(rng: &mut Rng, frame: &Frame) -> ([Sphere; 2], f64) {
    let mut single = || 2.0 * rng.f32() - 1.0;
    let mut vector = |scale: f32| Vec3::from([0; 3].map(|_| single())) * scale;
    let (center, drift) = (vector(1.0), vector(1.0));
    let (aside, motion) = (vector(1.0), vector(1.0));
    let mut power = |most: i32| 2_f32.powi(most - rng.i32(0..80));
    let (far, size) = (power(10), power(0));
    let speed = size * 2_f32.powi(rng.i32(-30..12));
    let center = frame.origin + center * far;
    let velocity = frame.drift + drift * speed.min(1.0);
    let v = motion * speed;
    // Makes two spheres that just touch: at their closest approach, the vector between the centres
    // is perpendicular to the relative velocity, and as long as the sum of the radii.
    let part = [0.0, 1.0, rng.f32()][rng.usize(0..3)];
    let across = aside - v * (aside.dot(v) / v.length_squared()).min(1e30);
    let across = across.try_normalize().unwrap_or(Vec3::X);
    let radii = [rng.f32() * size, rng.f32() * size];
    let other = center + across * (radii[0] + radii[1]) - v * part;
    let one = Sphere::new(center, radii[0]).with_velocity(velocity);
    let other = Sphere::new(other, radii[1]).with_velocity(velocity + v);
    let less =
        |x: [f32; 3], y: [f32; 3]| DVec3::from(x.map(f64::from)) - DVec3::from(y.map(f64::from));
    let p = less(other.center, one.center);
    let v = less(other.velocity, one.velocity);
    let nearest = -p.dot(v) / v.length_squared();
    let nearest = if nearest.is_finite() { nearest } else { 0.0 };
    ([one, other], nearest.clamp(0.0, 1.0))
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a segment's number is below 2¹⁵"
)]
#[test]
fn balls_of_touching_spheres_meet() {
    let mut rng = Rng::with_seed(1);
    let mut touching = 0;
    let scale = Units::default().scale(1.0);
    for round in 0..4_000_000 {
        let mut place = || Vec3::from([0; 3].map(|_| 2.0 * rng.f32() - 1.0));
        let frame = match round % 4 {
            0 => Frame::default(),
            1 => Frame {
                origin: place() * 1e6,
                drift: place() * 1e3,
            },
            _ => Frame {
                origin: place(),
                drift: place(),
            },
        };
        let (spheres, nearest) = pair(&mut rng, &frame);
        let [one, other] = &spheres;
        if impact(one, other, (), 1.0).0.is_none() {
            continue;
        }
        touching += 1;
        let ball = |sphere: &Sphere, power: u32| {
            let segments = (1_u32 << power) as f64;
            let segment = (nearest * segments).min(segments - 1.0);
            if power > 0 && (segment - segment.round()).abs() < 1e-3 {
                return None;
            }
            let paths = scale.paths([sphere; LANES], &frame);
            let cut = Cut {
                power,
                segment: segment as u32,
            };
            Some((Balls::new(&paths, [cut; LANES]), cut))
        };
        let power = rng.u32(0..=SEGMENT_BITS) * rng.u32(0..=1);
        let [a, b] = [ball(one, power), ball(other, rng.u32(0..=power))];
        let (Some(a), Some(b)) = (a, b) else {
            continue;
        };
        for (sphere, own, cut, others) in [(one, &a.0, a.1, &b.0), (other, &b.0, b.1, &a.0)] {
            let own = own.get(1);
            let path = PathProbe::new(&scale.path(sphere, &frame), own.middle, cut.half());
            assert_eq!(
                [BallProbe::new(&own).meets(others), path.meets(others)],
                [15; 2],
                "{spheres:?} {frame:?}: {a:?} {b:?}"
            );
        }
    }
    assert!(touching > 1_000_000, "{touching}");
}

#[test]
fn the_ball_probe_finds_the_balls_that_it_meets() {
    let ball = |x: f32, reach: f32| Ball {
        middle: [x, 0.0, 0.0],
        reach,
    };
    let rows = [
        [0.0, 3.0, 5.0, -4.0],
        [0.0; 4],
        [0.0; 4],
        [1.0, 1.0, 3.0, 2.5],
    ];
    assert_eq!(BallProbe::new(&ball(1.0, 1.0)).meets(&Balls(rows)), 0b0111);
    let far = ball(2.0 * MAX_MAGNITUDE, MAX_MAGNITUDE);
    let rows = [
        [-2.0 * MAX_MAGNITUDE; 4],
        [0.0; 4],
        [0.0; 4],
        [MAX_MAGNITUDE; 4],
    ];
    assert_eq!(BallProbe::new(&far).meets(&Balls(rows)), 0);
    assert_eq!(BallProbe::new(&far).meets(&Balls([[0.0; 4]; 4])), 0);
}

#[test]
fn the_path_probe_finds_the_balls_that_it_meets() {
    // The sphere moves from x = −16 to x = 16. The middle half of this path, from (−8, 0, 0) to
    // (8, 0, 0), is tested against four balls.
    let sphere = Sphere::new([-16.0, 0.0, 0.0], 1.0).with_velocity([32.0, 0.0, 0.0]);
    let path = Units::default().scale(1.0).path(&sphere, &Frame::default());
    let path = PathProbe::new(&path, [0.0; 3], 0.25);
    let rows = [
        [7.0, -7.0, 8.5, -10.5],
        [1.5, 2.5, 0.0, 0.0],
        [0.0; 4],
        [1.0; 4],
    ];
    assert_eq!(path.meets(&Balls(rows)), 0b0101);
}
