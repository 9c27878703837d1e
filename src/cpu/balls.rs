//! The ball test. A *ball* is a bounding sphere of a sphere's motion during one time segment. The
//! test compares two balls, or a path and a ball.

use bytemuck::Zeroable;
use wide::f32x4;

use crate::lanes::{LANES, dot, each, four, three};
use crate::shared::segments::{Cut, MARGIN, SpherePath};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ball {
    pub(crate) middle: [f32; 3],
    pub(crate) reach: f32,
}

/// Rounding margin of a ball, as a multiple of [`MARGIN`]: at least √3, for three axes, and the
/// rounding of the ball test (docs/exact.md, lemma 2.6).
pub(crate) const BALL_MARGIN: f32 = 2.0 * MARGIN;

/// Rounding margin of a path (docs/exact.md, lemma 2.7).
pub(crate) const PATH_MARGIN: f32 = 2.0 * BALL_MARGIN;

/// A squared length below this limit may have lost digits to underflow.
const SHORT: f32 = 1.0 / (1_u128 << 100) as f32;

/// Four balls in one cache line: x, y and z of their centres, then their radii.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, Zeroable)]
pub(crate) struct Balls([[f32; LANES]; 4]);

impl Balls {
    #[inline(always)]
    pub(crate) fn new(paths: &SpherePath<f32x4>, cuts: [Cut; LANES]) -> Self {
        let [x, y, z] = paths.at(f32x4::from(four(cuts, Cut::middle)));
        let half = f32x4::from(four(cuts, Cut::half));
        let reach = paths.reach(paths.length(), half, BALL_MARGIN);
        Self(four([x, y, z, reach], f32x4::to_array))
    }

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Ball {
        let Self([x, y, z, reach]) = self;
        Ball {
            middle: [x[lane], y[lane], z[lane]],
            reach: reach[lane],
        }
    }
}

pub(crate) trait Probe {
    fn meets(&self, balls: &Balls) -> usize;
}

pub(crate) struct BallProbe([f32x4; 4]);

impl BallProbe {
    #[inline(always)]
    pub(crate) fn new(ball: &Ball) -> Self {
        let [x, y, z] = ball.middle;
        Self(four([x, y, z, ball.reach], f32x4::splat))
    }
}

impl Probe for BallProbe {
    #[inline(always)]
    fn meets(&self, balls: &Balls) -> usize {
        let [x, y, z, reach] = four(balls.0, f32x4::from);
        let [own_x, own_y, own_z, own_reach] = self.0;
        let (x, y, z, reach) = (x - own_x, y - own_y, z - own_z, reach + own_reach);
        (x * x + y * y + z * z).simd_le(reach * reach).to_bitmask() as usize
    }
}

/// Tests which balls meet the path of a sphere during one segment, because the ball of a long
/// path would also meet spheres far from it (docs/exact.md, lemma 2.7).
pub(crate) struct PathProbe {
    middle: [f32x4; 3],
    to_end: [f32x4; 3],
    /// 1 / |`to_end`|². If this square may have lost digits to underflow, it is 0: the path
    /// is then a point, and half its length is added to `reach`.
    inverse: f32x4,
    reach: f32x4,
}

impl PathProbe {
    #[inline(always)]
    pub(crate) fn new(path: &SpherePath, middle: [f32; 3], half: f32) -> Self {
        let to_end = path.half_segment(half);
        let square = dot(to_end, to_end);
        let (inverse, length) = if square < SHORT {
            (0.0, path.length())
        } else {
            (1.0 / square, 0.0)
        };
        Self {
            middle: three(middle, f32x4::splat),
            to_end: three(to_end, f32x4::splat),
            inverse: f32x4::splat(inverse),
            reach: f32x4::splat(path.reach(length, half, PATH_MARGIN)),
        }
    }
}

impl Probe for PathProbe {
    #[inline(always)]
    fn meets(&self, balls: &Balls) -> usize {
        let [x, y, z, reach] = four(balls.0, f32x4::from);
        let away = each([x, y, z], self.middle, |x, own| x - own);
        // −1 at the start of the path, 1 at its end.
        let part = dot(away, self.to_end) * self.inverse;
        let part = part
            .fast_max(f32x4::splat(-1.0))
            .fast_min(f32x4::splat(1.0));
        let away = each(away, self.to_end, |x, to_end| x - to_end * part);
        let reach = reach + self.reach;
        dot(away, away).simd_le(reach * reach).to_bitmask() as usize
    }
}

#[cfg(test)]
mod tests;
