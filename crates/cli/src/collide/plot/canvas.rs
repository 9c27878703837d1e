//! Pixels, painted from front to back: what is painted first covers what comes later.
//!
//! A pixel once covered is passed over from then on, so that what lies behind a
//! crowd costs little, however many spheres that is.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a float becomes the nearest pixel, colour or bound that there is"
)]

/// Red, green and blue.
pub(crate) type Colour = [u8; 3];

/// A covering of this much counts as whole; no eye sees the rest.
const COVERED: f32 = 0.998;

pub(crate) struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue so far, and how much of the pixel they cover.
    pixels: Vec<[f32; 4]>,
    /// For each column of each row, one from which to look for the next that is not
    /// covered: itself if it is not. A row has one more that never is.
    next: Vec<u32>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![[0.0; 4]; width * height],
            next: (0..height).flat_map(|_| 0..=width as u32).collect(),
        }
    }

    /// Paints a shape behind all that is there.
    pub(crate) fn paint(&mut self, shape: &impl Shape, colour: Colour) {
        let (top, bottom) = pixels_between(shape.rows(), self.height);
        for row in top..bottom {
            let y = row as f64 + 0.5;
            let (left, right) = pixels_between(shape.columns(y), self.width);
            let mut column = self.uncovered(row, left);
            while column < right {
                let coverage = shape.coverage(column as f64 + 0.5, y);
                self.add(row, column, colour, coverage as f32);
                column = self.uncovered(row, column + 1);
            }
        }
    }

    /// Paints one pixel, if there is such a one.
    pub(crate) fn dot(&mut self, x: f64, y: f64, colour: Colour, coverage: f32) {
        if (0.0..self.width as f64).contains(&x) && (0.0..self.height as f64).contains(&y) {
            self.add(y as usize, x as usize, colour, coverage);
        }
    }

    /// Paints the border of a rectangle.
    pub(crate) fn frame(&mut self, rectangle: &Rectangle, colour: Colour) {
        let Rectangle {
            left,
            top,
            right,
            bottom,
        } = *rectangle;
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        for (from, to) in corners.into_iter().zip(corners.into_iter().cycle().skip(1)) {
            self.paint(
                &Line {
                    from,
                    to,
                    width: 1.0,
                },
                colour,
            );
        }
    }

    /// The finished picture: red, green and blue of each pixel, on paper.
    pub(crate) fn on(&self, paper: Colour) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(3 * self.pixels.len());
        for &[red, green, blue, coverage] in &self.pixels {
            for (painted, paper) in [red, green, blue].into_iter().zip(paper) {
                bytes.push((painted + (1.0 - coverage) * f32::from(paper)).round() as u8);
            }
        }
        bytes
    }

    fn add(&mut self, row: usize, column: usize, colour: Colour, coverage: f32) {
        let pixel = &mut self.pixels[row * self.width + column];
        let mut share = coverage.clamp(0.0, 1.0) * (1.0 - pixel[3]);
        if pixel[3] + share > COVERED {
            share = 1.0 - pixel[3];
            self.next[row * (self.width + 1) + column] = column as u32 + 1;
        }
        for (sum, part) in pixel.iter_mut().zip(colour) {
            *sum += share * f32::from(part);
        }
        pixel[3] += share;
    }

    /// The first column from `column` on that is not covered; the width if there is none.
    fn uncovered(&mut self, row: usize, column: usize) -> usize {
        let row = &mut self.next[row * (self.width + 1)..][..=self.width];
        let mut column = column.min(self.width);
        while row[column] as usize != column {
            // Shortens the way for those who come later.
            row[column] = row[row[column] as usize];
            column = row[column] as usize;
        }
        column
    }
}

/// The pixels that an interval touches.
fn pixels_between((from, to): (f64, f64), end: usize) -> (usize, usize) {
    // `as` takes what is outside, and what is no number, to the nearest end.
    (from.floor() as usize, (to.ceil() as usize).min(end))
}

/// Something with an area; lengths are pixels, y is downwards.
pub(crate) trait Shape {
    /// From where to where it reaches in y.
    fn rows(&self) -> (f64, f64);
    /// From where to where it may reach in x at this y.
    fn columns(&self, y: f64) -> (f64, f64);
    /// How much of the pixel around this point it covers.
    fn coverage(&self, x: f64, y: f64) -> f64;
}

pub(crate) struct Disc {
    pub(crate) centre: [f64; 2],
    pub(crate) radius: f64,
}

impl Shape for Disc {
    fn rows(&self) -> (f64, f64) {
        let reach = self.radius + 0.5;
        (self.centre[1] - reach, self.centre[1] + reach)
    }

    fn columns(&self, y: f64) -> (f64, f64) {
        let (reach, dy) = (self.radius + 1.0, y - self.centre[1]);
        let half = (reach * reach - dy * dy).max(0.0).sqrt();
        (self.centre[0] - half, self.centre[0] + half)
    }

    fn coverage(&self, x: f64, y: f64) -> f64 {
        self.radius + 0.5 - (x - self.centre[0]).hypot(y - self.centre[1])
    }
}

/// A line with round ends.
pub(crate) struct Line {
    pub(crate) from: [f64; 2],
    pub(crate) to: [f64; 2],
    pub(crate) width: f64,
}

impl Line {
    fn reach(&self) -> f64 {
        self.width / 2.0 + 0.5
    }
}

impl Shape for Line {
    fn rows(&self) -> (f64, f64) {
        let (low, high) = (self.from[1].min(self.to[1]), self.from[1].max(self.to[1]));
        (low - self.reach(), high + self.reach())
    }

    fn columns(&self, y: f64) -> (f64, f64) {
        let [dx, dy] = [self.to[0] - self.from[0], self.to[1] - self.from[1]];
        // Which part of the line is within reach of this y: all of a level one.
        let ends = if dy.abs() < 1e-9 {
            [0.0, 1.0]
        } else {
            [-1.0, 1.0].map(|side| ((y + side * self.reach() - self.from[1]) / dy).clamp(0.0, 1.0))
        };
        let [a, b] = ends.map(|t| self.from[0] + t * dx);
        (a.min(b) - self.reach(), a.max(b) + self.reach())
    }

    fn coverage(&self, x: f64, y: f64) -> f64 {
        let [dx, dy] = [self.to[0] - self.from[0], self.to[1] - self.from[1]];
        let [px, py] = [x - self.from[0], y - self.from[1]];
        let squared = dx * dx + dy * dy;
        let along = if squared > 0.0 {
            ((px * dx + py * dy) / squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = (px - along * dx).hypot(py - along * dy);
        // A line thinner than a pixel is a pale one.
        (self.reach() - distance).min(self.width)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}
