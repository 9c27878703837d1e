//! The plot of measured compressibility factors beside Kolafa's equation.

use glam::DVec2;

use crate::drawing::Drawing;
use crate::fluid::kolafa;

/// A packing fraction, and the compressibility factor measured at it.
pub(crate) type Point = [f64; 2];

const CURVE: &str = "#2f6fc4";
const MEASURED: &str = "#d1343f";
const GRID: &str = "#d8dbe0";
/// Packing fraction at the right end of the horizontal axes.
const LAST: f64 = 0.5;

/// A diagram in the picture: its lower left and upper right corners, and the lowest and highest
/// value of its vertical axis.
struct Axes {
    low: DVec2,
    high: DVec2,
    range: [f64; 2],
}

impl Axes {
    fn place(&self, [eta, y]: Point) -> DVec2 {
        let [from, to] = self.range;
        let share = DVec2::new(eta / LAST, (y - from) / (to - from));
        self.low + share * (self.high - self.low)
    }

    /// Draws the grid lines of the chart: a horizontal line with a label at each of the given
    /// heights, and six vertical lines without labels.
    fn draw(&self, drawing: &mut Drawing, heights: &[f64], label: &str) {
        for &y in heights {
            drawing.line([self.place([0.0, y]), self.place([LAST, y])], GRID, 1.0);
            let at = self.place([0.0, y]) - DVec2::new(8.0, 4.5);
            drawing.text(at, &y.to_string(), 13.0, "end");
        }
        for tenth in 0..=5 {
            let eta = f64::from(tenth) / 10.0;
            let ends = self.range.map(|y| self.place([eta, y]));
            drawing.line(ends, GRID, 1.0);
        }
        drawing.text(
            DVec2::new(self.low.x, self.high.y + 8.0),
            label,
            13.0,
            "start",
        );
    }
}

/// Draws the points and the curve, and below them the relative deviations in percent.
pub(crate) fn plot(points: &[Point]) -> Drawing {
    let mut drawing = Drawing::new(DVec2::ZERO, DVec2::new(720.0, 600.0), 720.0);
    drawing.rectangle(DVec2::ZERO, DVec2::new(720.0, 600.0), "#ffffff");
    let upper = Axes {
        low: DVec2::new(60.0, 240.0),
        high: DVec2::new(700.0, 560.0),
        range: [0.0, 14.0],
    };
    upper.draw(
        &mut drawing,
        &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0],
        "Compressibility factor Z = P·V / (N·k·T)",
    );
    let curve = (0..=100).map(|k| LAST * f64::from(k) / 100.0);
    let curve = curve.map(|eta| upper.place([eta, kolafa(eta)]));
    drawing.line(curve, CURVE, 2.0);
    let deviations: Vec<_> = points
        .iter()
        .map(|&[eta, z]| [eta, 100.0 * (z / kolafa(eta) - 1.0)])
        .collect();
    let largest = deviations.iter().map(|point| point[1].abs());
    let largest = largest.fold(0.0, f64::max);
    // The vertical axis of the deviations ends at a round number: the smallest number in `limits`
    // that is not below the largest deviation.
    let limits = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
    let limit = limits.into_iter().find(|&limit| limit >= largest);
    let limit = limit.unwrap_or(100.0);
    let lower = Axes {
        low: DVec2::new(60.0, 60.0),
        high: DVec2::new(700.0, 190.0),
        range: [-limit, limit],
    };
    lower.draw(
        &mut drawing,
        &[-limit, 0.0, limit],
        "Deviation from the curve, in percent",
    );
    let zero = [0.0, LAST].map(|eta| lower.place([eta, 0.0]));
    drawing.line(zero, CURVE, 2.0);
    for (axes, points) in [(&upper, points), (&lower, &deviations[..])] {
        for &point in points {
            drawing.disc(axes.place(point), 4.0, MEASURED);
        }
    }
    for tenth in 0..=5 {
        let eta = f64::from(tenth) / 10.0;
        let at = lower.place([eta, -limit]) - DVec2::new(0.0, 20.0);
        drawing.text(at, &eta.to_string(), 13.0, "middle");
    }
    drawing.text(
        DVec2::new(380.0, 14.0),
        "Packing fraction η",
        13.0,
        "middle",
    );
    drawing.line(
        [DVec2::new(90.0, 535.0), DVec2::new(120.0, 535.0)],
        CURVE,
        2.0,
    );
    drawing.text(DVec2::new(130.0, 530.5), "Kolafa's equation", 13.0, "start");
    drawing.disc(DVec2::new(105.0, 512.0), 4.0, MEASURED);
    drawing.text(DVec2::new(130.0, 507.5), "this simulation", 13.0, "start");
    drawing
}
