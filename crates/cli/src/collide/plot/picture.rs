//! What a picture shows, its size and its colours.

use carom::{Collision, Domain, Hits, Sphere, Walls};

/// A colour: red, green and blue, each from 0 to 255.
pub(crate) type Colour = [u8; 3];
/// A position in the picture, in pixels from the top left corner.
pub(crate) type Place = [f32; 2];

/// Width and height of the picture in pixels.
pub(super) const WIDTH: usize = 1600;
pub(super) const HEIGHT: usize = 1200;
/// Edges of the plot area, in pixels from the top left corner of the picture. The edges go through the
/// centres of pixels, where lines are sharp.
pub(super) const LEFT: f32 = 165.5;
pub(super) const TOP: f32 = 110.5;
pub(super) const RIGHT: f32 = 1225.5;
pub(super) const BOTTOM: f32 = 1110.5;

pub(super) const PAPER: Colour = [255, 255, 255];
pub(super) const INK: Colour = [34, 34, 34];
pub(super) const FAINT: Colour = [176, 176, 176];
/// Colours of the lines that join the centres of pairs: black for pairs that touch at the start of
/// the step, and orange for pairs that meet later. Black and orange differ in brightness too, which
/// helps colour-blind readers.
pub(super) const AT_THE_START: Colour = [0, 0, 0];
pub(super) const LATER: Colour = [230, 85, 0];

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
    pub(super) fn ends(&self, index: usize) -> [Option<[Sphere; 2]>; 2] {
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
