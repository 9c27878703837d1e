//! Projection of the spheres onto the picture.

use carom::Sphere;

use super::picture::{BOTTOM, LEFT, Place, RIGHT, TOP};

/// Minimum distance between the spheres and the border of the plot area, in pixels.
const MARGIN: f32 = 14.0;

pub(crate) struct View {
    /// Numbers of the coordinate axes (0 is x, 1 is y, 2 is z) to the right, upwards, and along the line of
    /// sight.
    axes: [usize; 3],
    /// World coordinates of the point that is in the middle of the plot: first along the axis that
    /// points right in the picture, then along the axis that points up.
    pub(crate) centre: [f64; 2],
    /// Coordinate of the middle of the spheres along the line of sight.
    pub(crate) depth: f64,
    /// Pixels per unit of length in the picture.
    pub(crate) scale: f64,
}

impl View {
    /// Returns the view with the largest scale at which all spheres fit into the plot area.
    pub(crate) fn of(spheres: &[Sphere]) -> Option<Self> {
        let first = spheres.first()?;
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for sphere in spheres {
            let radius = f64::from(sphere.radius);
            for (axis, &center) in sphere.center.iter().enumerate() {
                low[axis] = low[axis].min(f64::from(center) - radius);
                high[axis] = high[axis].max(f64::from(center) + radius);
            }
        }
        let size = [0, 1, 2].map(|axis| high[axis] - low[axis]);
        // The picture is seen along z, unless the spheres extend less than half as far along x or y. If the
        // picture were always seen along the axis of least extent, chance would select this axis for a cube
        // of random spheres.
        let thinner = if size[0] < size[1] { 0 } else { 1 };
        let above = size[2] <= 2.0 * size[thinner];
        let axes = [[1, 2, 0], [0, 2, 1], [0, 1, 2]][if above { 2 } else { thinner }];
        let room = [RIGHT - LEFT, BOTTOM - TOP].map(|room| f64::from(room - 2.0 * MARGIN));
        let mut scale = (room[0] / size[axes[0]]).min(room[1] / size[axes[1]]);
        // If all spheres are one point, every scale fits. The chosen scale maps the largest coordinate of the
        // point to the height of the plot area.
        if scale.is_infinite() {
            let away = first.center.into_iter().map(f32::abs).fold(0.0, f32::max);
            scale = room[1] / f64::from(if away > 0.0 { away } else { 1.0 });
        }
        Some(Self {
            axes,
            centre: [axes[0], axes[1]].map(|axis| f64::midpoint(low[axis], high[axis])),
            depth: f64::midpoint(low[axes[2]], high[axes[2]]),
            scale,
        })
    }

    pub(crate) fn names(&self) -> [&'static str; 3] {
        self.axes.map(|axis| ["x", "y", "z"][axis])
    }

    pub(crate) fn nearness(&self, sphere: &Sphere) -> f32 {
        let depth = sphere.center[self.axes[2]];
        // In a view along x or z, spheres with larger coordinates along this axis are nearer to the
        // viewer. In a view along y, they are farther away: x points to the right and z upwards, so
        // y points away from the viewer.
        if self.axes[2] == 1 { -depth } else { depth }
    }

    pub(crate) fn place(&self, sphere: &Sphere) -> Place {
        self.pixel(self.flat(sphere.center))
    }

    /// Returns two components of a vector of the world: along the axis that points right in the
    /// picture, and along the axis that points up.
    pub(crate) fn flat<T: Copy + Into<f64>>(&self, vector: [T; 3]) -> [f64; 2] {
        [0, 1].map(|i| vector[self.axes[i]].into())
    }

    /// Returns the place of a point in the picture. `point` has its world coordinates along the
    /// axis that points right in the picture, and along the axis that points up.
    pub(crate) fn pixel(&self, point: [f64; 2]) -> Place {
        let [right, up] = [0, 1].map(|i| self.pixels(point[i] - self.centre[i]));
        [
            f32::midpoint(LEFT, RIGHT) + right,
            f32::midpoint(TOP, BOTTOM) - up,
        ]
    }

    pub(crate) fn sight(&self) -> usize {
        self.axes[2]
    }

    /// Returns half the width and half the height of the plot area, as lengths in the world of the spheres.
    pub(crate) fn room(&self) -> [f64; 2] {
        [RIGHT - LEFT, BOTTOM - TOP].map(|pixels| f64::from(pixels) / 2.0 / self.scale)
    }

    /// Returns a length that is larger than the distance of any two points of the plot area.
    pub(crate) fn reach(&self) -> f64 {
        2.0 * (self.room()[0] + self.room()[1])
    }

    #[allow(clippy::cast_possible_truncation, reason = "a pixel needs few digits")]
    pub(crate) fn pixels(&self, length: f64) -> f32 {
        (length * self.scale) as f32
    }
}
