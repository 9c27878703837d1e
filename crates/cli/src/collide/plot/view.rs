//! From where the world is seen, and where in the picture each point of it is.

use carom::Sphere;

use super::canvas::Rectangle;

/// Pixels left free between the spheres and the frame.
const MARGIN: f64 = 14.0;

/// An orthographic view along an axis.
pub(crate) struct View {
    axes: Axes,
    /// What is in the middle of the panel.
    centre: [f64; 2],
    /// Pixels in a unit of length; 0 if the world has no size.
    pub(crate) scale: f64,
    panel: Rectangle,
}

/// Which coordinate goes where; all are right-handed.
#[derive(Clone, Copy)]
struct Axes {
    right: usize,
    up: usize,
    /// The axis looked along, and the sign that makes larger nearer.
    depth: usize,
    nearer: f64,
}

/// From above, from the front, from the right.
const ALONG_Z: Axes = Axes {
    right: 0,
    up: 1,
    depth: 2,
    nearer: 1.0,
};
const ALONG_Y: Axes = Axes {
    right: 0,
    up: 2,
    depth: 1,
    nearer: -1.0,
};
const ALONG_X: Axes = Axes {
    right: 1,
    up: 2,
    depth: 0,
    nearer: 1.0,
};
const NAMES: [&str; 3] = ["x", "y", "z"];

impl View {
    /// The view in which all spheres just fit into the panel; `None` without spheres.
    pub(crate) fn of(spheres: &[Sphere], panel: &Rectangle) -> Option<Self> {
        if spheres.is_empty() {
            return None;
        }
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
        // z, unless the world is clearly thinner along another axis: a cube of
        // random spheres is not to be seen from a random side.
        let mut axes = ALONG_Z;
        for other in [ALONG_Y, ALONG_X] {
            let times = if axes.depth == 2 { 2.0 } else { 1.0 };
            if size[other.depth] * times < size[axes.depth] {
                axes = other;
            }
        }
        let room = [panel.right - panel.left, panel.bottom - panel.top];
        let scale = ((room[0] - 2.0 * MARGIN) / size[axes.right])
            .min((room[1] - 2.0 * MARGIN) / size[axes.up]);
        Some(Self {
            axes,
            centre: [axes.right, axes.up].map(|axis| f64::midpoint(low[axis], high[axis])),
            scale: if scale.is_finite() { scale } else { 0.0 },
            panel: *panel,
        })
    }

    /// The axis looked along.
    pub(crate) fn along(&self) -> &'static str {
        NAMES[self.axes.depth]
    }

    /// The names of the axes to the right and upwards.
    pub(crate) fn names(&self) -> [&'static str; 2] {
        [self.axes.right, self.axes.up].map(|axis| NAMES[axis])
    }

    pub(crate) fn panel(&self) -> Rectangle {
        self.panel
    }

    /// The larger, the nearer.
    pub(crate) fn nearness(&self, sphere: &Sphere) -> f64 {
        self.axes.nearer * f64::from(sphere.center[self.axes.depth])
    }

    /// Where a sphere's centre is in the picture.
    pub(crate) fn place(&self, sphere: &Sphere) -> [f64; 2] {
        [
            self.column(f64::from(sphere.center[self.axes.right])),
            self.row(f64::from(sphere.center[self.axes.up])),
        ]
    }

    pub(crate) fn column(&self, right: f64) -> f64 {
        f64::midpoint(self.panel.left, self.panel.right) + (right - self.centre[0]) * self.scale
    }

    pub(crate) fn row(&self, up: f64) -> f64 {
        f64::midpoint(self.panel.top, self.panel.bottom) - (up - self.centre[1]) * self.scale
    }

    /// The coordinates at the panel's middle.
    pub(crate) fn centre(&self) -> [f64; 2] {
        self.centre
    }

    /// The coordinates from edge to edge of the panel, to the right and upwards.
    pub(crate) fn ranges(&self) -> [(f64, f64); 2] {
        let half = [
            (self.panel.right - self.panel.left) / 2.0,
            (self.panel.bottom - self.panel.top) / 2.0,
        ];
        [0, 1].map(|axis| {
            let reach = half[axis] / self.scale;
            (self.centre[axis] - reach, self.centre[axis] + reach)
        })
    }
}
