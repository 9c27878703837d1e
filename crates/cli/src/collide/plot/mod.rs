//! The option `--plot` of `carom collide`, which draws the spheres, the pairs that touch and the walls.

mod axes;
mod canvas;
mod classes;
mod legend;
mod scene;
mod text;
mod view;
mod walls;

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;
use carom::{Collision, Domain, Hits, Sphere, Walls};

use canvas::{Canvas, Colour};
use classes::Classes;
use text::Align;
use view::View;

/// Width and height of the picture in pixels.
const WIDTH: usize = 1600;
const HEIGHT: usize = 1200;
/// Edges of the plot area, in pixels from the top left corner of the picture. The edges go through the
/// centres of pixels, where lines are sharp.
const LEFT: f32 = 165.5;
const TOP: f32 = 110.5;
const RIGHT: f32 = 1225.5;
const BOTTOM: f32 = 1110.5;

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [34, 34, 34];
const FAINT: Colour = [176, 176, 176];
/// Colours of the lines that join the centres of pairs: black for pairs that touch at the start of
/// the step, and orange for pairs that meet later. Black and orange differ in brightness too, which
/// helps colour-blind readers.
const AT_THE_START: Colour = [0, 0, 0];
const LATER: Colour = [230, 85, 0];

pub(crate) struct Picture<'a> {
    pub(crate) source: &'a str,
    pub(crate) spheres: &'a [Sphere],
    pub(crate) dt: f32,
    pub(crate) pairs: &'a Hits<Collision>,
    pub(crate) domain: &'a Domain,
    pub(crate) walls: &'a Walls<f64>,
}

impl Picture<'_> {
    /// Returns the ends of the line drawn for a pair. In a periodic domain, a pair across a boundary has two
    /// lines: from sphere a to the image of b, and from sphere b to the image of a.
    fn ends(&self, index: usize) -> [Option<[Sphere; 2]>; 2] {
        let pair = &self.pairs[index];
        let [a, b] = [pair.a, pair.b].map(|sphere| self.spheres[sphere as usize]);
        let image = self.pairs.image(index);
        if image == [0; 3] {
            return [Some([a, b]), None];
        }
        let moved = |mut sphere: Sphere, image| {
            let displacement = self.domain.displacement(image);
            for (x, displacement) in sphere.center.iter_mut().zip(displacement) {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "float32 is precise enough for a picture"
                )]
                let moved = (f64::from(*x) + displacement) as f32;
                *x = moved;
            }
            sphere
        };
        let opposite = image.map(i32::wrapping_neg);
        [Some([a, moved(b, image)]), Some([b, moved(a, opposite)])]
    }
}

impl Picture<'_> {
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

    /// Returns red, green and blue of each pixel of the picture, row by row from the top.
    fn pixels(&self) -> anyhow::Result<Vec<u8>> {
        let mut canvas = Canvas::new().context("cannot read the built-in font")?;
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
            // A few walls are painted in front of the spheres. Many walls would cover the spheres,
            // so they are painted behind them.
            let many = self.walls.len() > walls::FEW;
            if !many {
                walls::draw(&mut canvas, self.walls, &view);
            }
            scene::draw(&mut canvas, self, &view, &classes);
            if many {
                walls::draw(&mut canvas, self.walls, &view);
            }
        } else {
            let middle = [f32::midpoint(LEFT, RIGHT), f32::midpoint(TOP, BOTTOM)];
            canvas.write("no spheres", 48.0, middle, Align::Middle);
            axes::frame(&mut canvas);
        }
        Ok(canvas.on(PAPER))
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
