//! The paths of spheres, the time segments into which they are cut, and the sizes of the segments.
//! Twin of `shaders/shared/segments.wgsl`.

use glam::Vec3;
use wide::f32x4;

use super::filter::EPSILON;
use super::scaled_sphere::ScaledSphere;
use super::size_class::{SMALLEST_CELL, size_class_of};
use super::tag::{SEGMENT_BITS, segment_of, segment_power};
use crate::lanes::{LANES, Real, dot, each, largest, three};

/// The margin of a segment is this factor times ε·(W + h), ε = 2⁻²³: h is half its width along
/// an axis, and W the largest coordinate that the sphere may reach. It covers pairs with hardly
/// any relative motion ([`STILL`](super::ownership::STILL)), and makes cells wider than 2⁻¹⁹ W,
/// so that their integers are exact in float32 (docs/exact.md, section 2).
pub(crate) const MARGIN: f32 = 10.0;

/// The moving origin from which cells are counted, in the middle of the spheres, so that
/// coordinates and velocities keep their digits in float32.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) origin: Vec3,
    pub(crate) drift: Vec3,
}

/// Relative to the frame. `T` may be four spheres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpherePath<T = f32> {
    center: [T; 3],
    radius: T,
    velocity: [T; 3],
    shift: [T; 3],
    dt: T,
}

impl SpherePath {
    #[inline(always)]
    pub(crate) fn new(sphere: &ScaledSphere, frame: &Frame, dt: f32) -> Self {
        Self::in_frame(sphere.center, sphere.radius, sphere.velocity, frame, dt)
    }
}

impl SpherePath {
    pub(crate) fn displaced(mut self, center: [f32; 3], slack: f32) -> Self {
        self.center = center;
        self.radius += slack;
        self
    }

    pub(crate) fn shift(&self) -> [f32; 3] {
        self.shift
    }
}

impl SpherePath<f32x4> {
    #[inline(always)]
    pub(crate) fn of_rows(
        [[x, y, z, radius], [u, v, w, _]]: [[f32x4; LANES]; 2],
        frame: &Frame,
        dt: f32,
    ) -> Self {
        Self::in_frame([x, y, z], radius, [u, v, w], frame, dt)
    }

    /// `images` has the centre of the image at the start of the step, and a margin for the
    /// radius, or `None`.
    #[inline(always)]
    pub(crate) fn displaced(mut self, images: [Option<([f32; 3], f32)>; LANES]) -> Self {
        let mut rows = f32x4::transpose([
            self.center[0],
            self.center[1],
            self.center[2],
            f32x4::splat(0.0),
        ]);
        for (row, image) in rows.iter_mut().zip(images) {
            if let Some(([x, y, z], slack)) = image {
                *row = f32x4::from([x, y, z, slack]);
            }
        }
        let [x, y, z, slack] = f32x4::transpose(rows);
        self.center = [x, y, z];
        self.radius += slack;
        self
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

    #[inline(always)]
    pub(crate) fn radius(&self) -> T {
        self.radius
    }

    #[inline(always)]
    pub(crate) fn extent(&self) -> T {
        largest(three(self.shift, T::abs))
    }

    /// 2⁻¹²⁶ keeps the result above 0 if the square underflows.
    #[inline(always)]
    pub(crate) fn length(&self) -> T {
        (dot(self.shift, self.shift) + T::of(f32::MIN_POSITIVE)).sqrt()
    }

    /// Returns how far the sphere reaches from the middle of a segment: h = radius +
    /// `length`·`half` plus `margin`·ε·(W + h). `length` is that of the path, or its
    /// displacement along an axis, `half` half the segment as a fraction of it.
    #[inline(always)]
    pub(crate) fn reach(&self, length: T, half: T, margin: f32) -> T {
        let far = largest(each(self.center, self.shift, |x, y| x.abs() + y.abs()));
        reach(far, self.radius, length, half, margin)
    }

    /// From the middle of a segment to its end. `half` is a fraction of the path.
    #[inline(always)]
    pub(crate) fn half_segment(&self, half: T) -> [T; 3] {
        three(self.shift, |shift| shift * half)
    }

    #[inline(always)]
    pub(crate) fn reaches(&self, half: T) -> [T; 3] {
        three(self.shift, |shift| self.reach(shift.abs(), half, MARGIN))
    }

    #[inline(always)]
    pub(crate) fn at(&self, part: T) -> [T; 3] {
        let time = part * self.dt;
        each(self.center, self.velocity, |x, v| x + v * time)
    }
}

#[inline(always)]
fn reach<T: Real>(far: T, radius: T, length: T, half: T, margin: f32) -> T {
    let half = radius + length * half;
    let reach = half + T::of(margin * EPSILON) * (far + half);
    reach.max(T::of(0.5 * SMALLEST_CELL))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) power: u32,
    pub(crate) segment: u32,
}

impl Cut {
    pub(crate) const WHOLE: Self = Self {
        power: 0,
        segment: 0,
    };

    pub(crate) fn of_tag(tag: u32) -> Self {
        Self {
            power: segment_power(tag),
            segment: segment_of(tag),
        }
    }

    #[inline(always)]
    pub(crate) fn half(self) -> f32 {
        f32::from_bits((126 - self.power) << 23)
    }

    #[inline(always)]
    pub(crate) fn middle(self) -> f32 {
        (2 * self.segment + 1) as f32 * self.half()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Segment {
    pub(crate) sphere: u32,
    /// Lists omit index 0, for which the sphere stands.
    pub(crate) number: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxySize {
    pub(crate) power: u32,
    pub(crate) half_cell: f32,
}

impl ProxySize {
    /// Into as few segments as possible. Along each axis, one is at most as long as the
    /// diameter or `length`, whichever is greater, or longer if 2¹⁵ are not enough.
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

    /// For all images of a sphere. `far` is the largest coordinate that one may reach, and
    /// `slack` the largest rounding error of its centre.
    pub(crate) fn anywhere(path: &SpherePath, length: f32, far: f32, slack: f32) -> Self {
        let power = Self::new(path, length).power;
        let half = Cut { power, segment: 0 }.half();
        Self {
            power,
            half_cell: reach(far, path.radius + slack, path.extent(), half, MARGIN),
        }
    }

    /// Half the cell edge for [`LANES`] uncut spheres and all their images. `far` bounds
    /// the coordinates without the motion, and `slack` the rounding errors of the centres.
    #[inline(always)]
    pub(crate) fn uncut_anywhere(path: &SpherePath<f32x4>, far: f32, slack: f32) -> f32x4 {
        let extent = path.extent();
        // The motion adds at most 2 times `extent`. 2.002 also covers rounding.
        let far = f32x4::splat(far) + extent * f32x4::splat(2.002);
        let radius = path.radius + f32x4::splat(slack);
        reach(far, radius, extent, f32x4::splat(0.5), MARGIN)
    }

    /// `None` if any path has to be cut.
    #[inline(always)]
    pub(crate) fn of_uncut(path: &SpherePath<f32x4>, length: f32) -> Option<f32x4> {
        let longest = Real::max(f32x4::splat(2.0) * path.radius, f32x4::splat(length));
        let cut = path.extent().simd_gt(longest).to_bitmask() != 0;
        (!cut).then(|| path.reach(path.extent(), f32x4::splat(0.5), MARGIN))
    }

    #[inline(always)]
    pub(crate) fn class(self, set: u32) -> u32 {
        size_class_of(self.half_cell, self.power, set)
    }
}
