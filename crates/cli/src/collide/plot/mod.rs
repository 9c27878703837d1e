//! `--plot`: a picture of the spheres and of the pairs that touch.

mod axes;
mod canvas;
mod classes;
mod legend;
mod scene;
mod text;
mod view;

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;
use carom::{Collision, Sphere};

use canvas::{Canvas, Colour, Rectangle};
use classes::Classes;
use text::{Align, Text};
use view::View;

/// Pixels of the picture, whatever the world: a long one leaves room at its sides.
const WIDTH: usize = 1600;
const HEIGHT: usize = 1200;
/// Where the spheres are, within the picture.
const PANEL: Rectangle = Rectangle {
    left: 165.0,
    top: 110.0,
    right: 1225.0,
    bottom: 1110.0,
};

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [34, 34, 34];
const FAINT: Colour = [176, 176, 176];
/// Black and orange differ in brightness too, so everybody can tell them apart.
const AT_THE_START: Colour = [0, 0, 0];
const LATER: Colour = [230, 85, 0];

/// What is to be shown.
pub(crate) struct Picture<'a> {
    /// The name of the input.
    pub(crate) source: &'a str,
    pub(crate) spheres: &'a [Sphere],
    pub(crate) dt: f32,
    pub(crate) pairs: &'a [Collision],
}

impl Picture<'_> {
    /// Draws it, and writes it as a PNG.
    pub(crate) fn write(&self, file: &File) -> anyhow::Result<()> {
        let pixels = self.pixels()?;
        let mut out = BufWriter::new(file);
        let mut encoder =
            png::Encoder::new(&mut out, u32::try_from(WIDTH)?, u32::try_from(HEIGHT)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        out.flush()?;
        Ok(())
    }

    /// Red, green and blue of each pixel, row by row from the top.
    fn pixels(&self) -> anyhow::Result<Vec<u8>> {
        let text = Text::new().context("the font cannot be read")?;
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        text.draw_within(
            &mut canvas,
            self.source,
            30.0,
            [PANEL.left, 48.0],
            WIDTH as f64 - PANEL.left - 30.0,
        );
        if let Some(view) = View::of(self.spheres, &PANEL) {
            let touching = self.pairs.iter().filter(|pair| pair.toi == 0.0);
            let contacts = scene::contacts(self.spheres.len(), touching);
            let classes = Classes::of(&contacts);
            let subtitle = format!(
                "{} at the start of a step of {:?}, seen along {}",
                counted(self.spheres.len(), "sphere"),
                self.dt,
                view.along()
            );
            text.draw(
                &mut canvas,
                &subtitle,
                24.0,
                [PANEL.left, 84.0],
                Align::Left,
            );
            legend::draw(&mut canvas, &text, self, &view, &classes, &contacts);
            axes::draw(&mut canvas, &text, &view);
            scene::draw(&mut canvas, self, &view, &classes, &contacts);
        } else {
            let middle = [
                f64::midpoint(PANEL.left, PANEL.right),
                f64::midpoint(PANEL.top, PANEL.bottom),
            ];
            text.draw(&mut canvas, "no spheres", 48.0, middle, Align::Middle);
            canvas.frame(&PANEL, FAINT);
        }
        Ok(canvas.on(PAPER))
    }
}

/// `1 sphere`, `2 spheres`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
