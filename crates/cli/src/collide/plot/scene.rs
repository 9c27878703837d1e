//! The spheres and pairs themselves, from front to back.

use carom::{Collision, Sphere};

use super::canvas::{Canvas, Colour, Disc, Line};
use super::classes::Classes;
use super::view::View;
use super::{AT_THE_START, LATER, PAPER, Picture};

/// Spheres of a smaller radius, in pixels, are drawn as dots, to be seen at all.
const LEAST_RADIUS: f64 = 0.75;
/// Pixels that the dots may cover in all, if that leaves them large enough.
const INK_FOR_DOTS: f64 = 40_000.0;
/// Pixels of a line within the larger sphere, if the smaller one is very small.
const MOST_WITHIN: f64 = 12.0;
/// Discs from this radius on have a darker rim.
const RIMMED: f64 = 4.0;

/// In how many of the pairs each sphere is.
pub(crate) fn contacts<'a>(spheres: usize, pairs: impl Iterator<Item = &'a Collision>) -> Vec<u32> {
    let mut contacts = vec![0; spheres];
    for pair in pairs {
        contacts[pair.a as usize] += 1;
        contacts[pair.b as usize] += 1;
    }
    contacts
}

/// How many spheres are drawn as dots.
pub(crate) fn too_small(spheres: &[Sphere], view: &View) -> usize {
    let seen = |sphere: &Sphere| f64::from(sphere.radius) * view.scale >= LEAST_RADIUS;
    spheres.iter().filter(|sphere| !seen(sphere)).count()
}

/// Draws them: a pair in front of its two spheres, and behind what is nearer.
pub(crate) fn draw(
    canvas: &mut Canvas,
    picture: &Picture<'_>,
    view: &View,
    classes: &Classes,
    contacts: &[u32],
) {
    let spheres = picture.spheres;
    let nearness: Vec<f64> = spheres.iter().map(|sphere| view.nearness(sphere)).collect();
    let mut order: Vec<usize> = (0..spheres.len()).collect();
    order.sort_by(|&i, &j| nearness[j].total_cmp(&nearness[i]));
    let dots = too_small(spheres, view).max(1) as f64;
    let dot = (INK_FOR_DOTS / dots / std::f64::consts::PI)
        .sqrt()
        .clamp(1.0, 2.5);
    let crowds = self::contacts(spheres.len(), picture.pairs.iter());
    let pairs = Nearer::of(picture.pairs, &nearness);

    // Those equally far lie side by side, as all do in two dimensions: none of
    // them is to hide the pairs of another.
    for level in order.chunk_by(|&i, &j| nearness[i] == nearness[j]) {
        for &i in level {
            for &pair in pairs.of_sphere(i) {
                connect(
                    canvas,
                    spheres,
                    view,
                    &crowds,
                    &picture.pairs[pair as usize],
                );
            }
        }
        for &i in level {
            let colour = classes.colour(classes.class(contacts[i]));
            let radius = f64::from(spheres[i].radius) * view.scale;
            let radius = if radius < LEAST_RADIUS { dot } else { radius };
            disc(canvas, view.place(&spheres[i]), radius, colour);
        }
    }
}

/// Draws a disc; radius in pixels.
pub(crate) fn disc(canvas: &mut Canvas, centre: [f64; 2], radius: f64, colour: Colour) {
    if radius < RIMMED {
        canvas.paint(&Disc { centre, radius }, colour);
    } else {
        let inner = radius - 1.0;
        canvas.paint(
            &Disc {
                centre,
                radius: inner,
            },
            colour,
        );
        canvas.paint(&Disc { centre, radius }, colour.map(|part| part / 2));
    }
}

/// Draws the line from centre to centre; within a sphere that is much larger than
/// the other, only the part near its surface, or a giant would be all lines.
fn connect(canvas: &mut Canvas, spheres: &[Sphere], view: &View, crowds: &[u32], pair: &Collision) {
    let [a, b] = [pair.a, pair.b].map(|i| &spheres[i as usize]);
    let [from, to] = [view.place(a), view.place(b)];
    let radii = [a, b].map(|sphere| f64::from(sphere.radius) * view.scale);
    let smaller = radii[0].min(radii[1]);
    let [x, y, z] = [0, 1, 2].map(|axis| f64::from(b.center[axis]) - f64::from(a.center[axis]));
    let apart = x.hypot(y).hypot(z) * view.scale;
    let skipped = radii.map(|radius| {
        let hidden = radius - (2.0 * smaller).max(MOST_WITHIN);
        if hidden > 0.0 {
            (hidden / apart).min(1.0)
        } else {
            0.0
        }
    });
    let at = |t: f64| [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis]));
    let ends = [at(skipped[0]), at(1.0 - skipped[1])];
    // Many in one place are thin, to leave something of the spheres to see.
    let crowd = f64::from(crowds[pair.a as usize].max(crowds[pair.b as usize]));
    let width = (0.3 * smaller).min(4.0) * (6.0 / crowd).min(1.0);
    line(canvas, ends, width.max(0.7), pair.toi > 0.0);
}

/// Draws the line of a pair that touches at the start, or later.
pub(crate) fn line(canvas: &mut Canvas, [from, to]: [[f64; 2]; 2], width: f64, later: bool) {
    let colour = if later { LATER } else { AT_THE_START };
    canvas.paint(&Line { from, to, width }, colour);
    // A thick line has a light border, to stand out from dark spheres.
    if width > 2.0 {
        canvas.paint(
            &Line {
                from,
                to,
                width: width + 2.0,
            },
            PAPER,
        );
    }
}

/// The pairs, by which of their two spheres is the nearer.
struct Nearer {
    /// Where the pairs of each sphere begin; one more for the end.
    start: Vec<usize>,
    pairs: Vec<u32>,
}

impl Nearer {
    fn of(pairs: &[Collision], nearness: &[f64]) -> Self {
        let nearer = |pair: &Collision| {
            let [a, b] = [pair.a as usize, pair.b as usize];
            if nearness[a] >= nearness[b] { a } else { b }
        };
        let mut start = vec![0; nearness.len() + 1];
        for pair in pairs {
            start[nearer(pair) + 1] += 1;
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut next = start.clone();
        let mut sorted = vec![0; pairs.len()];
        for (index, pair) in (0..).zip(pairs) {
            let place = &mut next[nearer(pair)];
            sorted[*place] = index;
            *place += 1;
        }
        Self {
            start,
            pairs: sorted,
        }
    }

    fn of_sphere(&self, i: usize) -> &[u32] {
        &self.pairs[self.start[i]..self.start[i + 1]]
    }
}
