//! From where the world is seen, and where in the picture each point of it is.

use carom::Sphere;

use super::canvas::Place;
use super::{BOTTOM, LEFT, RIGHT, TOP};

/// Pixels left free between the spheres and the frame.
const MARGIN: f32 = 14.0;

/// An orthographic view along an axis.
pub(crate) struct View {
    /// The axes to the right, upwards, and the one looked along.
    axes: [usize; 3],
    /// The coordinates in the middle of the frame.
    pub(crate) centre: [f64; 2],
    /// Pixels in a unit of length.
    pub(crate) scale: f64,
}

impl View {
    /// The view in which all spheres just fit into the frame; `None` without spheres.
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
        // From above, unless the world is clearly thinner when seen from the front or the right:
        // a cube of random spheres is not to be seen from a random side.
        let thinner = if size[0] < size[1] { 0 } else { 1 };
        let above = size[2] <= 2.0 * size[thinner];
        let axes = [[1, 2, 0], [0, 2, 1], [0, 1, 2]][if above { 2 } else { thinner }];
        let room = [RIGHT - LEFT, BOTTOM - TOP].map(|room| f64::from(room - 2.0 * MARGIN));
        let mut scale = (room[0] / size[axes[0]]).min(room[1] / size[axes[1]]);
        // All in one point: seen from about as far as the origin.
        if scale.is_infinite() {
            let away = first.center.into_iter().map(f32::abs).fold(0.0, f32::max);
            scale = room[1] / f64::from(if away > 0.0 { away } else { 1.0 });
        }
        Some(Self {
            axes,
            centre: [axes[0], axes[1]].map(|axis| f64::midpoint(low[axis], high[axis])),
            scale,
        })
    }

    /// The names of the axes to the right, upwards, and of the one looked along.
    pub(crate) fn names(&self) -> [&'static str; 3] {
        self.axes.map(|axis| ["x", "y", "z"][axis])
    }

    /// The larger, the nearer.
    pub(crate) fn nearness(&self, sphere: &Sphere) -> f32 {
        let depth = sphere.center[self.axes[2]];
        // Seen along z and x from where they are large, along y from where it is small: so the
        // other two are right-handed.
        if self.axes[2] == 1 { -depth } else { depth }
    }

    /// Where a sphere's centre is in the picture.
    pub(crate) fn place(&self, sphere: &Sphere) -> Place {
        let coordinate = |i: usize| f64::from(sphere.center[self.axes[i]]);
        let [right, up] = [0, 1].map(|i| self.pixels(coordinate(i) - self.centre[i]));
        [
            f32::midpoint(LEFT, RIGHT) + right,
            f32::midpoint(TOP, BOTTOM) - up,
        ]
    }

    /// A length in pixels.
    #[allow(clippy::cast_possible_truncation, reason = "a pixel needs few digits")]
    pub(crate) fn pixels(&self, length: f64) -> f32 {
        (length * self.scale) as f32
    }
}
