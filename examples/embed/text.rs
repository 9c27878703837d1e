//! Renders text as coverage: one byte per pixel, 0 outside the letters and 255 inside. The font is compiled
//! into the program.

use ab_glyph::{Font, FontRef, InvalidFont, Point, ScaleFont};

pub(crate) struct Text(FontRef<'static>);

pub(crate) struct Coverage {
    pub(crate) size: [u32; 2],
    pub(crate) pixels: Vec<u8>,
}

impl Text {
    pub(crate) fn new() -> Result<Self, InvalidFont> {
        FontRef::try_from_slice(dejavu::sans::regular()).map(Self)
    }

    /// Renders a table of two columns, the first flush left and the second flush right. `height` is the
    /// height of the letters and `width` the width of the table, both in pixels.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "pixels of a small picture"
    )]
    pub(crate) fn table(&self, rows: &[[String; 2]], height: f32, width: f32) -> Coverage {
        let line = (1.4 * height).ceil();
        let margin = (0.7 * height).ceil();
        let below = 2.0 * margin + line * rows.len() as f32;
        let size = [width, below].map(|side| side.ceil() as u32);
        let mut pixels = vec![0; size[0] as usize * size[1] as usize];
        let font = self.0.as_scaled(height);
        for (row, texts) in rows.iter().enumerate() {
            let baseline = (margin + line * row as f32 + height).round();
            for (text, right) in texts.iter().zip([false, true]) {
                let length: f32 = text.chars().map(|c| font.h_advance(font.glyph_id(c))).sum();
                let mut x = if right {
                    width - margin - length
                } else {
                    margin
                };
                for character in text.chars() {
                    let id = font.glyph_id(character);
                    let place = Point { x, y: baseline };
                    if let Some(outline) =
                        font.outline_glyph(id.with_scale_and_position(height, place))
                    {
                        let corner = outline.px_bounds().min;
                        outline.draw(|dx, dy, coverage| {
                            let [px, py] = [corner.x + dx as f32, corner.y + dy as f32];
                            if px < 0.0 || py < 0.0 || px >= width {
                                return;
                            }
                            let index = py as usize * size[0] as usize + px as usize;
                            if let Some(pixel) = pixels.get_mut(index) {
                                *pixel = (*pixel).max((255.0 * coverage) as u8);
                            }
                        });
                    }
                    x += font.h_advance(id);
                }
            }
        }
        Coverage { size, pixels }
    }
}
