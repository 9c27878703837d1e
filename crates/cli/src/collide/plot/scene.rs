//! Draws the spheres and the colliding pairs into the picture, from front to back.

use std::f32::consts::PI;

use carom::Sphere;
use carom_formats::Result;
use carom_formats::memory::collect;
use rayon::prelude::*;

use super::canvas::Canvas;
use super::classes::{Classes, contacts};
use super::picture::{AT_THE_START, Colour, LATER, PAPER, Picture, Place};
use super::view::View;

/// Radius in pixels below which a sphere is drawn as a dot.
const LEAST_RADIUS: f32 = 0.75;
/// Total area in square pixels of all dots, which stand for spheres that are too small to see. It
/// determines the radius of a dot, from 1 to 2.5 pixels.
const INK_FOR_DOTS: f32 = 40_000.0;
/// A line joins the centres of each colliding pair. Inside a large sphere, only the outer end of
/// this line is drawn. The length of this end is the diameter of the smaller sphere, but at least
/// this number of pixels.
const MOST_WITHIN: f32 = 12.0;
const RIMMED: f32 = 4.0;

pub(crate) fn too_small(spheres: &[Sphere], view: &View) -> usize {
    let small = |sphere: &&Sphere| view.pixels(f64::from(sphere.radius)) < LEAST_RADIUS;
    spheres.iter().filter(small).count()
}

/// Draws the spheres and the colliding pairs. The line of a pair is in front of its two spheres, and behind
/// every sphere that is nearer to the viewer than both.
pub(crate) fn draw(
    canvas: &mut Canvas,
    picture: &Picture<'_>,
    view: &View,
    classes: &Classes,
) -> Result<()> {
    let spheres = picture.spheres;
    let dots = too_small(spheres, view).max(1) as f32;
    let dot = (INK_FOR_DOTS / dots / PI).sqrt().clamp(1.0, 2.5);
    let crowds = contacts(spheres.len(), picture.pairs.iter())?;

    let nearness = |i: u32| view.nearness(&spheres[i as usize]);
    let order = from_front(spheres.iter().map(|sphere| view.nearness(sphere)))?;
    let pairs = picture.pairs.iter();
    let pairs = from_front(pairs.map(|pair| nearness(pair.a).max(nearness(pair.b))))?;
    let mut pairs = pairs.into_iter().peekable();

    // Shapes are painted from front to back: each is hidden by the shapes painted before it. The
    // line of a pair is painted before all spheres at the same depth. Otherwise, spheres would hide
    // it in a two-dimensional world, where all depths are equal.
    for level in order.chunk_by(|(near, _), (other, _)| near == other) {
        while let Some((_, i)) = pairs.next_if(|&(near, _)| near == level[0].0) {
            let pair = &picture.pairs[i as usize];
            let [a, b] = [pair.a, pair.b].map(|i| i as usize);
            // The lines of pairs are thin if a sphere has many pairs, so that the sphere remains visible.
            let crowd = crowds[a].max(crowds[b]);
            for [a, b] in picture.ends(i as usize).iter().flatten() {
                connect(canvas, view, [a, b], crowd, pair.toi > 0.0);
            }
        }
        for &(_, i) in level {
            let sphere = &spheres[i as usize];
            let radius = view.pixels(f64::from(sphere.radius));
            let radius = if radius < LEAST_RADIUS { dot } else { radius };
            let colour = classes.colour_of(i);
            disc(canvas, view.place(sphere), radius, colour);
        }
    }
    Ok(())
}

/// Sorts spheres or pairs, the nearest to the viewer first. Returns the nearness and the index of each.
fn from_front(nearness: impl Iterator<Item = f32>) -> Result<Vec<(f32, u32)>> {
    let mut order = collect(nearness.zip(0..), "the order of the picture")?;
    order.par_sort_unstable_by(|(near, i), (other, j)| other.total_cmp(near).then(i.cmp(j)));
    Ok(order)
}

/// Draws a disc with a radius in pixels. A large disc has a darker rim.
pub(crate) fn disc(canvas: &mut Canvas, centre: Place, radius: f32, colour: Colour) {
    if radius < RIMMED {
        canvas.disc(centre, radius, colour);
    } else {
        canvas.disc(centre, radius - 1.0, colour);
        canvas.disc(centre, radius, colour.map(|part| part / 2));
    }
}

/// Draws the line of a pair. Inside a sphere that is much larger than the other sphere, only the
/// part near the surface is drawn. Otherwise, lines would cover a large sphere with many contacts.
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

pub(crate) fn line(canvas: &mut Canvas, ends: [Place; 2], width: f32, later: bool) {
    canvas.line(ends, width, if later { LATER } else { AT_THE_START });
    // A light border separates a thick line from dark spheres.
    if width > 2.0 {
        canvas.line(ends, width + 2.0, PAPER);
    }
}
