//! Draws text into the picture. The crate `plotters` spaces letters unevenly, because it places letters on
//! whole pixels and leaves out the side bearings.

use ab_glyph::{Font, ScaleFont, point};

use super::canvas::Canvas;
use super::picture::{INK, Place};

#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Middle,
    Right,
}

impl Canvas {
    /// Writes a text, `size` pixels high, with its baseline through `place`.
    pub(crate) fn write(&mut self, text: &str, size: f32, place: Place, align: Align) {
        let font = self.font.clone().into_scaled(size);
        let mut x = match align {
            Align::Left => place[0],
            Align::Middle => place[0] - self.width(text, size) / 2.0,
            Align::Right => place[0] - self.width(text, size),
        };
        for character in text.chars() {
            let mut glyph = font.scaled_glyph(character);
            glyph.position = point(x, place[1].round());
            x += font.h_advance(glyph.id);
            if let Some(outline) = font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|x, y, coverage| {
                    let pixel = [corner.x + x as f32, corner.y + y as f32];
                    self.dot(pixel, INK, coverage);
                });
            }
        }
    }

    /// Writes a text to the right of `place`. If the text is wider than `width` pixels, an ellipsis replaces
    /// the beginning of the text.
    pub(crate) fn write_within(&mut self, text: &str, size: f32, place: Place, width: f32) {
        let mut shown = text.to_owned();
        let mut rest = text.chars();
        while self.width(&shown, size) > width && rest.next().is_some() {
            shown = format!("…{}", rest.as_str());
        }
        self.write(&shown, size, place, Align::Left);
    }

    fn width(&self, text: &str, size: f32) -> f32 {
        let font = self.font.as_scaled(size);
        let advance = |character| font.h_advance(font.glyph_id(character));
        text.chars().map(advance).sum()
    }
}
