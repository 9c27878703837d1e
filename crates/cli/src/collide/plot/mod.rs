//! The option `--plot` of `carom collide`, which draws the spheres, the pairs that touch and the walls.

mod axes;
mod canvas;
mod classes;
mod legend;
mod picture;
mod scene;
mod text;
mod view;
mod walls;

use std::fs::File;
use std::io::{BufWriter, Write};

use canvas::Canvas;
use classes::Classes;
pub(crate) use picture::Picture;
use picture::{BOTTOM, HEIGHT, LEFT, PAPER, RIGHT, TOP, WIDTH};
use text::Align;
use view::View;

impl Picture<'_> {
    pub(crate) fn write(&self, file: &File) -> anyhow::Result<()> {
        let pixels = self.pixels()?;
        let mut out = BufWriter::new(file);
        let mut encoder =
            png::Encoder::new(&mut out, u32::try_from(WIDTH)?, u32::try_from(HEIGHT)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        // In pieces, because the encoder would otherwise hold the whole file in memory.
        let mut writer = encoder.write_header()?;
        let mut pieces = writer.stream_writer_with_size(1 << 15)?;
        pieces.write_all(&pixels)?;
        pieces.finish()?;
        writer.finish()?;
        out.flush()?;
        Ok(())
    }

    /// Returns red, green and blue of each pixel of the picture, row by row from the top.
    fn pixels(&self) -> anyhow::Result<Vec<u8>> {
        let mut canvas = Canvas::new()?;
        let room = WIDTH as f32 - LEFT - 30.0;
        canvas.write_within(self.source, 30.0, [LEFT, 34.0], room);
        if let Some(view) = View::of(self.spheres) {
            let classes = Classes::of(self.spheres.len(), self.pairs)?;
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
            scene::draw(&mut canvas, self, &view, &classes)?;
            if many {
                walls::draw(&mut canvas, self.walls, &view);
            }
        } else {
            let middle = [f32::midpoint(LEFT, RIGHT), f32::midpoint(TOP, BOTTOM)];
            canvas.write("no spheres", 48.0, middle, Align::Middle);
            axes::frame(&mut canvas);
        }
        Ok(canvas.on(PAPER)?)
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
