//! The legend of the picture.

use super::canvas::Canvas;
use super::classes::Classes;
use super::picture::{FAINT, Picture, Place, RIGHT, TOP, WIDTH};
use super::text::Align;
use super::view::View;
use super::{scene, walls};

const START: f32 = RIGHT + 34.0;
const END: f32 = WIDTH as f32 - 30.0;
const ROW: f32 = 36.0;
const SIZE: f32 = 22.0;

pub(crate) fn draw(canvas: &mut Canvas, picture: &Picture<'_>, view: &View, classes: &Classes) {
    let mut legend = Legend {
        canvas,
        y: TOP + 20.0 - 2.0 * ROW,
    };
    legend.heading("contacts at the start", "spheres");
    for (i, class) in classes.list().into_iter().enumerate() {
        if i == 0 || class.spheres > 0 {
            let (first, last) = class.contacts.into_inner();
            let label = if first == last {
                first.to_string()
            } else {
                format!("{first}–{last}")
            };
            let [x, y] = legend.row(&label, class.spheres);
            scene::disc(legend.canvas, [x + 22.0, y], 12.0, class.colour);
        }
    }

    legend.heading("first touch", "pairs");
    let later = picture.pairs.iter().filter(|pair| pair.toi > 0.0).count();
    let at_the_start = picture.pairs.len() - later;
    for (label, count, later) in [
        ("at the start", at_the_start, false),
        ("later", later, true),
    ] {
        let [x, y] = legend.row(label, count);
        scene::line(legend.canvas, [[x + 6.0, y], [x + 38.0, y]], 4.0, later);
    }

    if !picture.walls.is_empty() {
        legend.heading("walls", "number");
        let [x, y] = legend.row("drawn in blue", picture.walls.len());
        legend
            .canvas
            .line([[x + 6.0, y], [x + 38.0, y]], 3.0, walls::COLOUR);
    }

    let small = scene::too_small(picture.spheres, view);
    if small > 0 {
        legend.heading("too small to see", "spheres");
        legend.row("drawn as dots", small);
    }
}

struct Legend<'a> {
    canvas: &'a mut Canvas,
    /// Baseline of the last row of the legend, in pixels from the top of the picture.
    y: f32,
}

impl Legend<'_> {
    fn heading(&mut self, left: &str, right: &str) {
        self.y += 2.0 * ROW;
        self.write(START, left, right);
        let y = self.y + 9.0;
        self.canvas.line([[START, y], [END, y]], 1.0, FAINT);
    }

    /// Writes a row of the legend. Returns the position of the coloured symbol in front of the label.
    fn row(&mut self, label: &str, count: usize) -> Place {
        self.y += ROW;
        self.write(START + 54.0, label, &count.to_string());
        [START, self.y - 7.0]
    }

    fn write(&mut self, x: f32, left: &str, right: &str) {
        self.canvas.write(left, SIZE, [x, self.y], Align::Left);
        self.canvas.write(right, SIZE, [END, self.y], Align::Right);
    }
}
