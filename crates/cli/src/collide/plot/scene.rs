//! The spheres and pairs themselves, from front to back.

use std::f32::consts::PI;

use carom::Sphere;
use rayon::prelude::*;

use super::canvas::{Canvas, Colour, Place};
use super::classes::{Classes, contacts};
use super::view::View;
use super::{AT_THE_START, LATER, PAPER, Picture};

/// Spheres of a smaller radius, in pixels, are drawn as dots, to be seen at all.
const LEAST_RADIUS: f32 = 0.75;
/// Pixels that the dots may cover in all, if that leaves them large enough.
const INK_FOR_DOTS: f32 = 40_000.0;
/// Pixels of a line within the larger sphere, if the smaller one is very small.
const MOST_WITHIN: f32 = 12.0;
/// Discs from this radius on have a darker rim.
const RIMMED: f32 = 4.0;

/// How many spheres are drawn as dots.
pub(crate) fn too_small(spheres: &[Sphere], view: &View) -> usize {
    let small = |sphere: &&Sphere| view.pixels(f64::from(sphere.radius)) < LEAST_RADIUS;
    spheres.iter().filter(small).count()
}

/// Draws them: a pair in front of its two spheres, and behind what is nearer.
pub(crate) fn draw(canvas: &mut Canvas, picture: &Picture<'_>, view: &View, classes: &Classes) {
    let spheres = picture.spheres;
    let dots = too_small(spheres, view).max(1) as f32;
    let dot = (INK_FOR_DOTS / dots / PI).sqrt().clamp(1.0, 2.5);
    let crowds = contacts(spheres.len(), picture.pairs.iter());

    let nearness = |i: u32| view.nearness(&spheres[i as usize]);
    let order = from_front(spheres.iter().map(|sphere| view.nearness(sphere)));
    let pairs = picture.pairs.iter();
    let pairs = from_front(pairs.map(|pair| nearness(pair.a).max(nearness(pair.b))));
    let mut pairs = pairs.into_iter().peekable();

    // Those equally far lie side by side, as all do in two dimensions: none of
    // them is to hide the pairs of another.
    for level in order.chunk_by(|(near, _), (other, _)| near == other) {
        while let Some((_, i)) = pairs.next_if(|&(near, _)| near == level[0].0) {
            let pair = &picture.pairs[i as usize];
            let [a, b] = [pair.a, pair.b].map(|i| i as usize);
            // Many in one place are thin, to leave something of the spheres to see.
            let crowd = crowds[a].max(crowds[b]);
            connect(
                canvas,
                view,
                [&spheres[a], &spheres[b]],
                crowd,
                pair.toi > 0.0,
            );
        }
        for &(_, i) in level {
            let sphere = &spheres[i as usize];
            let radius = view.pixels(f64::from(sphere.radius));
            let radius = if radius < LEAST_RADIUS { dot } else { radius };
            let colour = classes.colour_of(i);
            disc(canvas, view.place(sphere), radius, colour);
        }
    }
}

/// The nearest first, each with its index.
fn from_front(nearness: impl Iterator<Item = f32>) -> Vec<(f32, u32)> {
    let mut order: Vec<_> = nearness.zip(0..).collect();
    order.par_sort_unstable_by(|(near, i), (other, j)| other.total_cmp(near).then(i.cmp(j)));
    order
}

/// Draws a sphere; radius in pixels.
pub(crate) fn disc(canvas: &mut Canvas, centre: Place, radius: f32, colour: Colour) {
    if radius < RIMMED {
        canvas.disc(centre, radius, colour);
    } else {
        canvas.disc(centre, radius - 1.0, colour);
        canvas.disc(centre, radius, colour.map(|part| part / 2));
    }
}

/// Draws the line from centre to centre; within a sphere that is much larger than
/// the other, only the part near its surface, or a giant would be all lines.
fn connect(canvas: &mut Canvas, view: &View, [a, b]: [&Sphere; 2], crowd: u32, later: bool) {
    let [from, to] = [view.place(a), view.place(b)];
    let radii = [a, b].map(|sphere| view.pixels(f64::from(sphere.radius)));
    let smaller = radii[0].min(radii[1]);
    let [x, y, z] = [0, 1, 2].map(|axis| f64::from(b.center[axis]) - f64::from(a.center[axis]));
    let apart = view.pixels(x.hypot(y).hypot(z)).max(f32::MIN_POSITIVE);
    let skipped = radii.map(|radius| {
        let hidden = radius - (2.0 * smaller).max(MOST_WITHIN);
        (hidden / apart).clamp(0.0, 1.0)
    });
    let at = |t: f32| [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis]));
    let ends = [at(skipped[0]), at(1.0 - skipped[1])];
    let width = (0.3 * smaller).min(4.0) * (6.0 / crowd as f32).min(1.0);
    line(canvas, ends, width.max(0.7), later);
}

/// Draws the line of a pair that touches at the start, or later.
pub(crate) fn line(canvas: &mut Canvas, ends: [Place; 2], width: f32, later: bool) {
    canvas.line(ends, width, if later { LATER } else { AT_THE_START });
    // A thick line has a light border, to stand out from dark spheres.
    if width > 2.0 {
        canvas.line(ends, width + 2.0, PAPER);
    }
}
