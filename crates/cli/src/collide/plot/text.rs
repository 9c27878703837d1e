//! Words. The font comes with the program, for a machine need not have any.

use ab_glyph::{Font, FontRef, InvalidFont, Point, ScaleFont};

use super::INK;
use super::canvas::Canvas;

pub(crate) struct Text(FontRef<'static>);

/// Which part of the text stands at the given place.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Middle,
    Right,
}

impl Text {
    pub(crate) fn new() -> Result<Self, InvalidFont> {
        FontRef::try_from_slice(dejavu::sans::regular()).map(Self)
    }

    /// Writes on the baseline through `place`; `size` is the height of a line.
    pub(crate) fn draw(
        &self,
        canvas: &mut Canvas,
        text: &str,
        size: f32,
        place: [f64; 2],
        align: Align,
    ) {
        let font = self.0.as_scaled(size);
        let width = self.width(text, size);
        let mut x = match align {
            Align::Left => place[0],
            Align::Middle => place[0] - width / 2.0,
            Align::Right => place[0] - width,
        };
        for character in text.chars() {
            let id = font.glyph_id(character);
            let fraction = x - x.floor();
            let glyph = id.with_scale_and_position(
                size,
                Point {
                    x: narrow(fraction),
                    y: 0.0,
                },
            );
            if let Some(outline) = font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                let [left, top] = [
                    x.floor() + f64::from(corner.x),
                    place[1].round() + f64::from(corner.y),
                ];
                outline.draw(|dx, dy, coverage| {
                    canvas.dot(left + f64::from(dx), top + f64::from(dy), INK, coverage);
                });
            }
            x += f64::from(font.h_advance(id));
        }
    }

    /// Writes from `place` on; what is too long loses its beginning.
    pub(crate) fn draw_within(
        &self,
        canvas: &mut Canvas,
        text: &str,
        size: f32,
        place: [f64; 2],
        width: f64,
    ) {
        let mut shown = text.to_owned();
        let mut rest = text.chars();
        while self.width(&shown, size) > width && rest.next().is_some() {
            shown = format!("…{}", rest.as_str());
        }
        self.draw(canvas, &shown, size, place, Align::Left);
    }

    fn width(&self, text: &str, size: f32) -> f64 {
        let font = self.0.as_scaled(size);
        text.chars()
            .map(|character| f64::from(font.h_advance(font.glyph_id(character))))
            .sum()
    }
}

/// A fraction of a pixel, in the font's arithmetic.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a place between pixels needs no more digits"
)]
fn narrow(fraction: f64) -> f32 {
    fraction as f32
}
