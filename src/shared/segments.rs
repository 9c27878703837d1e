//! The paths of spheres in the frame, the time segments they are cut into, and how large each
//! segment is. Twin of `shaders/shared/segments.wgsl`.

use glam::Vec3;
use wide::f32x4;

use super::filter::EPSILON;
use super::scaled_sphere::ScaledSphere;
use super::size_class::{SMALLEST_CELL, size_class_of};
use super::tag::{SEGMENT_BITS, segment_of, segment_power};
use crate::lanes::{LANES, Real, dot, each, largest, three};

/// Margin for rounding on the way from a sphere to its cell, in units of ε times the largest
/// coordinate that the sphere passes, as seen from the frame: docs/exact.md adds it up. The
/// rest of the margin is for pairs that barely move past one another, see
/// [`STILL`](super::ownership::STILL). So a cell is at least 2⁻¹⁹ of that coordinate, and the
/// numbers of cells are small integers, exact in float32.
pub(crate) const MARGIN: f32 = 10.0;

/// The origin from which cells are counted: it lies amid the world, and drifts with it. Far
/// from zero, or in a common fast motion, differences are all that matters, and all that
/// float32 can tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// The place of the origin at the start of the step.
    pub(crate) origin: Vec3,
    /// The velocity of the origin.
    pub(crate) drift: Vec3,
}

/// The path of a sphere, or of [`LANES`] of them, as seen from the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpherePath<T = f32> {
    center: [T; 3],
    radius: T,
    velocity: [T; 3],
    /// Velocity times dt.
    shift: [T; 3],
    dt: T,
}

impl SpherePath {
    /// The path of a sphere during a step of length `dt`.
    #[inline(always)]
    pub(crate) fn new(sphere: &ScaledSphere, frame: &Frame, dt: f32) -> Self {
        Self::in_frame(sphere.center, sphere.radius, sphere.velocity, frame, dt)
    }
}

impl SpherePath<f32x4> {
    /// The paths of several spheres in the units of the grids, transposed by
    /// [`rows`](crate::lanes::rows).
    #[inline(always)]
    pub(crate) fn of_rows(
        [[x, y, z, radius], [u, v, w, _]]: [[f32x4; LANES]; 2],
        frame: &Frame,
        dt: f32,
    ) -> Self {
        Self::in_frame([x, y, z], radius, [u, v, w], frame, dt)
    }
}

impl<T: Real> SpherePath<T> {
    #[inline(always)]
    fn in_frame(center: [T; 3], radius: T, velocity: [T; 3], frame: &Frame, dt: f32) -> Self {
        let dt = T::of(dt);
        let from = |x: [T; 3], zero: Vec3| each(x, three(zero.to_array(), T::of), |x, y| x - y);
        let velocity = from(velocity, frame.drift);
        Self {
            center: from(center, frame.origin),
            radius,
            velocity,
            shift: three(velocity, |v| v * dt),
            dt,
        }
    }

    /// How far the sphere moves along the axis of its longest motion.
    #[inline(always)]
    pub(crate) fn extent(&self) -> T {
        largest(three(self.shift, T::abs))
    }

    /// How far the sphere moves, or a little more: a motion whose square underflows must not
    /// get lost.
    #[inline(always)]
    pub(crate) fn length(&self) -> T {
        (dot(self.shift, self.shift) + T::of(f32::MIN_POSITIVE)).sqrt()
    }

    /// How far a segment reaches from its middle, at least half the smallest cell. Half the
    /// segment is the part `half` of a path of this length; the margin for rounding is
    /// `margin`·ε of the largest coordinate that it may pass.
    #[inline(always)]
    pub(crate) fn reach(&self, length: T, half: T, margin: f32) -> T {
        let far = largest(each(self.center, self.shift, |x, y| x.abs() + y.abs()));
        let half = self.radius + length * half;
        let reach = half + T::of(margin * EPSILON) * (far + half);
        reach.max(T::of(0.5 * SMALLEST_CELL))
    }

    /// The vector from the middle of a segment to its end, which is the part `half` of the
    /// path.
    #[inline(always)]
    pub(crate) fn half_segment(&self, half: T) -> [T; 3] {
        three(self.shift, |shift| shift * half)
    }

    /// How far a segment reaches from its middle along each axis, with the margin of a cell.
    /// Half the segment is the part `half` of the path.
    #[inline(always)]
    pub(crate) fn reaches(&self, half: T) -> [T; 3] {
        three(self.shift, |shift| self.reach(shift.abs(), half, MARGIN))
    }

    /// The place of the centre when this part of the step has passed.
    #[inline(always)]
    pub(crate) fn at(&self, part: T) -> [T; 3] {
        let time = part * self.dt;
        each(self.center, self.velocity, |x, v| x + v * time)
    }
}

/// One of the 2^power segments that a sphere's path is cut into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The path is cut into 2^power segments.
    pub(crate) power: u32,
    /// The number of the segment, from 0.
    pub(crate) segment: u32,
}

impl Cut {
    /// The segment of a proxy's tag.
    pub(crate) fn of_tag(tag: u32) -> Self {
        Self {
            power: segment_power(tag),
            segment: segment_of(tag),
        }
    }

    /// The part of the step that half a segment takes.
    #[inline(always)]
    pub(crate) fn half(self) -> f32 {
        // 2^−(power + 1), exactly.
        f32::from_bits((126 - self.power) << 23)
    }

    /// The part of the step that has passed in the middle of the segment.
    #[inline(always)]
    pub(crate) fn middle(self) -> f32 {
        (2 * self.segment + 1) as f32 * self.half()
    }
}

/// A time segment after a sphere's first.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Segment {
    /// Its sphere.
    pub(crate) sphere: u32,
    /// Its number, from 1.
    pub(crate) number: u32,
}

/// How a sphere is cut into proxies, and how large each is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxySize {
    /// The sphere is cut into 2^power segments.
    pub(crate) power: u32,
    /// Half of the smallest cell that a proxy may lie in.
    pub(crate) half_cell: f32,
}

impl ProxySize {
    /// Cuts a sphere into as few segments as keep each within its diameter or
    /// `length`.
    pub(crate) fn new(path: &SpherePath, length: f32) -> Self {
        let longest = (2.0 * path.radius).max(length);
        let mut own = path.extent();
        let mut power = 0;
        while own > longest && power < SEGMENT_BITS {
            own *= 0.5;
            power += 1;
        }
        let cut = Cut { power, segment: 0 };
        Self {
            power,
            half_cell: path.reach(path.extent(), cut.half(), MARGIN),
        }
    }

    /// The half cells of several spheres, if none is cut: those of [`ProxySize::new`].
    #[inline(always)]
    pub(crate) fn of_uncut(path: &SpherePath<f32x4>, length: f32) -> Option<f32x4> {
        let longest = Real::max(f32x4::splat(2.0) * path.radius, f32x4::splat(length));
        let cut = path.extent().simd_gt(longest).to_bitmask() != 0;
        (!cut).then(|| path.reach(path.extent(), f32x4::splat(0.5), MARGIN))
    }

    /// The size class of proxies of this size, of a sphere of set 0 or 1.
    #[inline(always)]
    pub(crate) fn class(self, set: u32) -> u32 {
        size_class_of(self.half_cell, self.power, set)
    }
}
