//! Draws the border of the plot area, and the ticks and names of the axes. The crate `plotters` is not used,
//! because it draws no ticks if all coordinates span less than 1e-15.

#![allow(
    clippy::cast_possible_truncation,
    reason = "pixels and labels need few digits, and the origin of the ticks is a free choice"
)]

use super::canvas::Canvas;
use super::picture::{BOTTOM, FAINT, INK, LEFT, RIGHT, TOP};
use super::text::Align;
use super::view::View;

/// Minimum distance between two ticks of an axis in pixels, which leaves room for the longest number.
const APART: f64 = 140.0;
const TICK: f32 = 7.0;
const SIZE: f32 = 19.0;
const NAME: f32 = 24.0;

pub(crate) fn draw(canvas: &mut Canvas, view: &View) {
    let [right, up, _] = view.names();
    let middle = [f32::midpoint(LEFT, RIGHT), f32::midpoint(TOP, BOTTOM)];

    let ticks = Ticks::of(view.centre[0], f64::from(RIGHT - LEFT), view.scale);
    let place = [middle[0], BOTTOM + 66.0];
    canvas.write(&ticks.name(right), NAME, place, Align::Middle);
    for (offset, number) in ticks.marks {
        let x = middle[0] + offset;
        canvas.line([[x, BOTTOM], [x, BOTTOM + TICK]], 1.0, INK);
        canvas.write(&number, SIZE, [x, BOTTOM + 30.0], Align::Middle);
    }

    let ticks = Ticks::of(view.centre[1], f64::from(BOTTOM - TOP), view.scale);
    // The name of the vertical axis is above the axis, because a long name such as `x − 1e18` would not fit
    // beside it.
    let place = [LEFT - 7.0, TOP - 13.0];
    canvas.write(&ticks.name(up), NAME, place, Align::Left);
    for (offset, number) in ticks.marks {
        let y = middle[1] - offset;
        canvas.line([[LEFT - TICK, y], [LEFT, y]], 1.0, INK);
        canvas.write(&number, SIZE, [LEFT - 13.0, y + 6.0], Align::Right);
    }
    frame(canvas);
}

pub(crate) fn frame(canvas: &mut Canvas) {
    let corners = [[LEFT, TOP], [RIGHT, TOP], [RIGHT, BOTTOM], [LEFT, BOTTOM]];
    for i in 0..4 {
        canvas.line([corners[i], corners[(i + 1) % 4]], 1.0, FAINT);
    }
}

struct Ticks {
    /// Coordinate that is subtracted from the numbers at the ticks of an axis, so that the numbers have few
    /// digits.
    origin: f32,
    /// For each tick of an axis: offset from the middle of the axis in pixels, and the number written at the
    /// tick.
    marks: Vec<(f32, String)>,
}

impl Ticks {
    /// Returns the ticks of an axis. `middle` is the coordinate at the middle of the axis. `length`
    /// is its length in pixels, and `scale` is in pixels per unit of length.
    fn of(middle: f64, length: f64, scale: f64) -> Self {
        let [apart, reach] = [APART, length / 2.0].map(|pixels| pixels / scale);
        let mut exponent = apart.log10().floor() as i32;
        let decade = 10_f64.powi(exponent);
        let mut digits = [1.0, 2.0, 5.0].into_iter();
        let digit = digits.find(|digit| digit * decade >= apart);
        exponent += i32::from(digit.is_none());
        let step = digit.unwrap_or(10.0) * decade;

        let far = middle.abs() > 1e5 * step;
        let origin = if far { middle as f32 } else { 0.0 };
        let middle = middle - f64::from(origin);
        let largest = middle.abs() + reach;
        let first = ((middle - reach) / step).ceil();
        let marks = (0..20)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|&value| value <= middle + reach)
            .map(|value| {
                let offset = (value - middle) * scale;
                (offset as f32, number(value, exponent, largest))
            })
            .collect();
        Self { origin, marks }
    }

    /// Returns the name of an axis: `x`, or `x − 1e18` if 1e18 is subtracted from the numbers at the ticks.
    fn name(&self, coordinate: &str) -> String {
        let origin = self.origin.abs();
        let sign = if self.origin > 0.0 { '−' } else { '+' };
        if origin == 0.0 {
            coordinate.into()
        } else if (1e-4..1e9).contains(&origin) {
            format!("{coordinate} {sign} {origin}")
        } else {
            format!("{coordinate} {sign} {origin:e}").replace('-', "−")
        }
    }
}

/// Formats the number at a tick of an axis. The ticks are at multiples of 10 to the power of `exponent`, and
/// `largest` is the largest magnitude on the axis.
fn number(value: f64, exponent: i32, largest: f64) -> String {
    let text = if value == 0.0 {
        "0".into()
    } else if exponent >= -4 && largest < 1e9 {
        let digits = usize::try_from(-exponent).unwrap_or(0);
        format!("{value:.digits$}")
    } else {
        let digits = value.abs().log10().floor() - f64::from(exponent);
        let digits = digits.max(0.0) as usize;
        format!("{value:.digits$e}")
    };
    text.replace('-', "−")
}
