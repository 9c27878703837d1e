//! Pixels of the picture. Shapes are painted from front to back, so hidden shapes cost little: a million
//! spheres take one second. The crate `tiny-skia` takes eight seconds for the same spheres.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the cast clamps to the range of pixels or colours"
)]

use std::iter::repeat_n;
use std::ops::Range;

use ab_glyph::FontRef;
use anyhow::Context;
use carom_formats::memory::{collect, reserve};

use super::picture::{Colour, HEIGHT, Place, WIDTH};

/// A pixel counts as completely covered if less than this fraction of it is uncovered.
const NOTHING: f32 = 0.002;

const PICTURE: &str = "the picture";

pub(crate) struct Canvas {
    /// For each pixel of the picture: red, green and blue of the shapes painted so far, and the fraction that
    /// no shape covers yet.
    pixels: Vec<[f32; 4]>,
    pub(super) font: FontRef<'static>,
}

impl Canvas {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            pixels: collect(repeat_n([0.0, 0.0, 0.0, 1.0], WIDTH * HEIGHT), PICTURE)?,
            // The font is built into the program, because a machine may have no fonts.
            font: FontRef::try_from_slice(dejavu::sans::regular())
                .context("cannot read the built-in font")?,
        })
    }

    /// Paints a line with round ends, `width` pixels wide, behind all shapes painted before.
    pub(crate) fn line(&mut self, [from, to]: [Place; 2], width: f32, colour: Colour) {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        // A disc is painted as a line whose two ends coincide. The code below divides by the
        // squared length of the line, so a tiny positive number replaces a length of 0.
        let squared = (dx * dx + dy * dy).max(f32::MIN_POSITIVE);
        let reach = width / 2.0 + 0.5;
        for row in pixels_between([from[1], to[1]], reach, HEIGHT) {
            let y = row as f32 + 0.5 - from[1];
            let part = [y - reach, y + reach].map(|y| from[0] + (y / dy).clamp(0.0, 1.0) * dx);
            for column in pixels_between(part, reach, WIDTH) {
                let pixel = &mut self.pixels[row * WIDTH + column];
                if pixel[3] > 0.0 {
                    let x = column as f32 + 0.5 - from[0];
                    let along = ((x * dx + y * dy) / squared).clamp(0.0, 1.0);
                    let [x, y] = [x - along * dx, y - along * dy];
                    let coverage = reach - (x * x + y * y).sqrt();
                    // A line thinner than a pixel is painted paler instead of narrower.
                    cover(pixel, colour, coverage.min(width));
                }
            }
        }
    }

    /// Paints a disc with a radius in pixels, behind all shapes painted before.
    pub(crate) fn disc(&mut self, centre: Place, radius: f32, colour: Colour) {
        self.line([centre, centre], 2.0 * radius, colour);
    }

    /// Paints the fraction `coverage` of one pixel, if the position is inside the picture.
    pub(crate) fn dot(&mut self, [x, y]: Place, colour: Colour, coverage: f32) {
        if (0.0..WIDTH as f32).contains(&x) && (0.0..HEIGHT as f32).contains(&y) {
            let pixel = &mut self.pixels[y as usize * WIDTH + x as usize];
            cover(pixel, colour, coverage);
        }
    }

    /// Returns red, green and blue of each pixel, on paper of the colour `paper`.
    pub(crate) fn on(&self, paper: Colour) -> carom_formats::Result<Vec<u8>> {
        let on_paper = |&[red, green, blue, left]: &[f32; 4]| {
            let painted = [red, green, blue];
            [0, 1, 2].map(|part| (painted[part] + left * f32::from(paper[part])).round() as u8)
        };
        let mut pixels = Vec::new();
        reserve(&mut pixels, 3 * self.pixels.len(), PICTURE)?;
        pixels.extend(self.pixels.iter().flat_map(on_paper));
        Ok(pixels)
    }
}

/// Adds a shape to a pixel, behind the shapes painted before. The shape covers the fraction `coverage` of the
/// uncovered part of the pixel.
fn cover(pixel: &mut [f32; 4], colour: Colour, coverage: f32) {
    let left = pixel[3] * (1.0 - coverage.clamp(0.0, 1.0));
    let left = if left < NOTHING { 0.0 } else { left };
    let share = pixel[3] - left;
    for (sum, part) in pixel.iter_mut().zip(colour) {
        *sum += share * f32::from(part);
    }
    pixel[3] = left;
}

/// Returns the pixels between two coordinates, extended by `reach` at both ends, and clipped to the range
/// from 0 to `end`.
fn pixels_between([a, b]: [f32; 2], reach: f32, end: usize) -> Range<usize> {
    (a.min(b) - reach) as usize..((a.max(b) + reach).ceil() as usize).min(end)
}
