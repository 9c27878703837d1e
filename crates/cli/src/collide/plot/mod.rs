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

use canvas::{Canvas, Colour};
use classes::Classes;
use text::Align;
use view::View;

/// Pixels of the picture, whatever the world: a long one leaves room at its sides.
const WIDTH: usize = 1600;
const HEIGHT: usize = 1200;
/// The frame around the spheres, on the middles of pixels, to be sharp.
const LEFT: f32 = 165.5;
const TOP: f32 = 110.5;
const RIGHT: f32 = 1225.5;
const BOTTOM: f32 = 1110.5;

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
        let mut canvas = Canvas::new().context("the font cannot be read")?;
        let room = WIDTH as f32 - LEFT - 30.0;
        canvas.write_within(self.source, 30.0, [LEFT, 34.0], room);
        if let Some(view) = View::of(self.spheres) {
            let classes = Classes::of(self.spheres.len(), self.pairs);
            let subtitle = format!(
                "{} at the start of a step of {:?}, seen along {}",
                counted(self.spheres.len(), "sphere"),
                self.dt,
                view.names()[2]
            );
            canvas.write(&subtitle, 24.0, [LEFT, 66.0], Align::Left);
            legend::draw(&mut canvas, self, &view, &classes);
            axes::draw(&mut canvas, &view);
            scene::draw(&mut canvas, self, &view, &classes);
        } else {
            let middle = [f32::midpoint(LEFT, RIGHT), f32::midpoint(TOP, BOTTOM)];
            canvas.write("no spheres", 48.0, middle, Align::Middle);
            axes::frame(&mut canvas);
        }
        Ok(canvas.on(PAPER))
    }
}

/// `1 sphere`, `2 spheres`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
