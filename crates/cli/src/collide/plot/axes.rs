//! The frame around the spheres, with ticks and names, and the scale bar.

use super::canvas::{Canvas, Line};
use super::text::{Align, Text};
use super::view::View;
use super::{FAINT, INK};

/// Least pixels between two ticks.
const APART: f64 = 150.0;
const TICK: f64 = 7.0;
const SIZE: f32 = 19.0;

/// A round number: 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy)]
pub(crate) struct Round {
    pub(crate) value: f64,
    exponent: i32,
}

impl Round {
    /// The largest that is at most `limit`, which is above 0.
    pub(crate) fn at_most(limit: f64) -> Option<Self> {
        let decade = limit.log10().floor();
        // One more and one less, because the logarithm is rounded.
        let mut best = None;
        for exponent in [decade - 1.0, decade, decade + 1.0] {
            for digit in ["1", "2", "5"] {
                // Read, not multiplied, so that it is the float64 next to it.
                let value: f64 = format!("{digit}e{exponent}").parse().ok()?;
                if value <= limit {
                    #[allow(clippy::cast_possible_truncation, reason = "a small whole number")]
                    let exponent = exponent as i32;
                    best = Some(Self { value, exponent });
                }
            }
        }
        best
    }

    /// The same as text.
    pub(crate) fn text(self) -> String {
        if (-4..6).contains(&self.exponent) {
            format!("{}", self.value)
        } else {
            format!("{:e}", self.value)
        }
    }

    /// A multiple of it, in digits enough to tell it from the next.
    fn multiple(self, times: f64, largest: f64) -> String {
        let value = times * self.value;
        let leading = largest.abs().log10().floor();
        if value == 0.0 {
            "0".into()
        } else if self.exponent >= -4 && leading < 9.0 {
            let digits = usize::try_from(-self.exponent).unwrap_or(0);
            format!("{value:.digits$}")
        } else {
            let own = value.abs().log10().floor() - f64::from(self.exponent);
            #[allow(clippy::cast_possible_truncation, reason = "a few digits")]
            let digits = own.clamp(0.0, 12.0) as usize;
            format!("{value:.digits$e}")
        }
    }
}

/// Draws frame, ticks and names.
pub(crate) fn draw(canvas: &mut Canvas, text: &Text, view: &View) {
    let panel = view.panel();
    let [right, up] = view.names();
    let name = [f64::midpoint(panel.left, panel.right), panel.bottom + 66.0];
    text.draw(canvas, right, 26.0, name, Align::Middle);
    let name = [36.0, f64::midpoint(panel.top, panel.bottom) - 30.0];
    text.draw(canvas, up, 26.0, name, Align::Left);

    let [columns, rows] = ticks(view);
    for (value, label) in columns {
        let x = view.column(value);
        let tick = Line {
            from: [x, panel.bottom],
            to: [x, panel.bottom + TICK],
            width: 1.0,
        };
        canvas.paint(&tick, INK);
        let place = [x, panel.bottom + 30.0];
        text.draw(canvas, &label, SIZE, place, Align::Middle);
    }
    for (value, label) in rows {
        let y = view.row(value);
        let tick = Line {
            from: [panel.left - TICK, y],
            to: [panel.left, y],
            width: 1.0,
        };
        canvas.paint(&tick, INK);
        let place = [panel.left - 13.0, y + 6.0];
        text.draw(canvas, &label, SIZE, place, Align::Right);
    }
    canvas.frame(&panel, FAINT);
}

/// The coordinates with ticks and what is written there, to the right and upwards.
fn ticks(view: &View) -> [Vec<(f64, String)>; 2] {
    // Round numbers are at most a factor of 2.5 apart, so this one is at least `APART`.
    let Some(step) = Round::at_most(2.5 * APART / view.scale).filter(|_| view.scale > 0.0) else {
        return view.centre().map(|centre| {
            #[allow(clippy::cast_possible_truncation, reason = "it comes from a float32")]
            let shortest = centre as f32;
            vec![(centre, format!("{shortest:?}"))]
        });
    };
    view.ranges().map(|(low, high)| {
        let largest = low.abs().max(high.abs());
        let mut times = (low / step.value).ceil();
        let mut ticks = Vec::new();
        while times * step.value <= high && ticks.len() < 20 {
            ticks.push((times * step.value, step.multiple(times, largest)));
            times += 1.0;
        }
        ticks
    })
}
