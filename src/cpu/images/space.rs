//! What a proxy stands for: a sphere in open space, or an image of a sphere in a periodic domain.
//! Twin of `shaders/periodic/pairs_periodic.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres and images"
)]

use std::array::from_fn;

use wide::f32x4;

use super::cell::Cell;
use super::list::{DISPLACEMENTS, IMAGED, ImageList, ProxyChunk, place_of_displacement};
use crate::cpu::measure::Sizes;
use crate::exact::{ImageCollision, Listed, Swept, Translation, sweep};
use crate::lanes::{LANES, four, two};
use crate::lattice::ReducedLattice;
use crate::limits::CHUNK;
use crate::shared::moving_sphere::MovingSphere;
use crate::shared::ownership::Displaced;
use crate::shared::scaled_sphere::ScaledSphere;
use crate::shared::segments::{Frame, SpherePath};
use crate::shared::units::Scale;
use crate::{Collision, Domain};

pub(crate) type ReportIn<S> = <<S as ProxySpace>::Listed as Listed>::Report;

/// Tells which sphere and image each proxy is, from its *word*: in open space, the index of the
/// sphere.
pub(crate) trait ProxySpace: Copy + Sync {
    type Listed: Listed;

    fn count(&self, sizes: &Sizes<'_>) -> usize;

    fn chunks(&self, sizes: &Sizes<'_>) -> usize;

    fn chunk(&self, sizes: &Sizes<'_>, chunk: usize) -> ProxyChunk<'_>;

    fn sphere(&self, word: u32) -> u32;

    fn path<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        sphere: &S,
        word: u32,
    ) -> SpherePath;

    fn paths<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        spheres: [&S; LANES],
        words: [u32; LANES],
    ) -> SpherePath<f32x4>;

    fn image(&self, words: [u32; 2]) -> <Self::Listed as Listed>::Image;

    /// Returns the indices of the two spheres of a pair with an image, and the image of the second.
    fn named(&self, words: [u32; 2]) -> ([u32; 2], [i32; 3]);

    /// `plain` tells whether both pairs are listed without an image.
    fn sweep<S: MovingSphere>(
        &self,
        spheres: [[&S; 2]; 2],
        words: [[u32; 2]; 2],
        plain: bool,
        dt: f32,
    ) -> Swept;

    fn shift(&self, words: [u32; 2]) -> <Self::Listed as Listed>::Shift;

    /// Whether both have the same displacement.
    fn are_plain(&self, words: [u32; 2]) -> bool;

    /// Returns which proxy comes first in a pair, or `None` for the same image of one sphere.
    fn in_order(&self, words: [u32; 2]) -> Option<[usize; 2]>;

    /// Whether the proxies found, whose words give `words` by bitwise OR, may form several
    /// copies of a pair.
    fn may_repeat(&self, words: u32) -> bool;

    fn reports(&self, words: [u32; 2]) -> bool;

    /// Returns the relative position of two images, or `None` if no displacement adds to
    /// the difference of the centres.
    fn displaced(&self, spheres: [&ScaledSphere; 2], words: [u32; 2]) -> Option<Displaced>;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenSpace;

impl ProxySpace for OpenSpace {
    type Listed = Collision;

    #[inline(always)]
    fn are_plain(&self, _: [u32; 2]) -> bool {
        true
    }

    #[inline(always)]
    fn may_repeat(&self, _: u32) -> bool {
        false
    }

    fn count(&self, sizes: &Sizes<'_>) -> usize {
        sizes.class_of.len() + sizes.segments.len()
    }

    fn chunks(&self, sizes: &Sizes<'_>) -> usize {
        self.count(sizes).div_ceil(CHUNK)
    }

    fn chunk(&self, sizes: &Sizes<'_>, chunk: usize) -> ProxyChunk<'_> {
        let begin = chunk * CHUNK;
        ProxyChunk {
            plain: begin..self.count(sizes).min(begin + CHUNK),
            replaced: &[],
            further: &[],
        }
    }

    #[inline(always)]
    fn sphere(&self, word: u32) -> u32 {
        word
    }

    #[inline(always)]
    fn path<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        sphere: &S,
        _: u32,
    ) -> SpherePath {
        scale.path(sphere, frame)
    }

    #[inline(always)]
    fn paths<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        spheres: [&S; LANES],
        _: [u32; LANES],
    ) -> SpherePath<f32x4> {
        scale.paths(spheres, frame)
    }

    #[inline(always)]
    fn image(&self, _: [u32; 2]) {}

    fn named(&self, [a, b]: [u32; 2]) -> ([u32; 2], [i32; 3]) {
        ([a.min(b), a.max(b)], [0; 3])
    }

    #[inline(always)]
    fn sweep<S: MovingSphere>(
        &self,
        spheres: [[&S; 2]; 2],
        _: [[u32; 2]; 2],
        _: bool,
        dt: f32,
    ) -> Swept {
        sweep(spheres, [(); 2], dt)
    }

    #[inline(always)]
    fn shift(&self, _: [u32; 2]) {}

    #[inline(always)]
    fn in_order(&self, words: [u32; 2]) -> Option<[usize; 2]> {
        match words[0].cmp(&words[1]) {
            std::cmp::Ordering::Less => Some([0, 1]),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some([1, 0]),
        }
    }

    #[inline(always)]
    fn reports(&self, _: [u32; 2]) -> bool {
        true
    }

    #[inline(always)]
    fn displaced(&self, _: [&ScaledSphere; 2], _: [u32; 2]) -> Option<Displaced> {
        None
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PeriodicSpace<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) domain: &'a Domain,
    pub(crate) images: &'a ImageList,
    pub(crate) near: &'a NearImages,
}

/// Computed in advance, because nearly all touching pairs use one of them.
pub(crate) struct NearImages([NearImage; DISPLACEMENTS.len()]);

struct NearImage {
    /// The displacement in the domain's edges.
    image: [i32; 3],
    shift: Translation,
}

impl NearImages {
    pub(crate) fn new(domain: &Domain, lattice: &ReducedLattice) -> Self {
        Self(DISPLACEMENTS.map(|displacement| {
            let image = lattice.in_given_edges(displacement);
            NearImage {
                image,
                shift: Translation::new(domain, image),
            }
        }))
    }

    #[inline(always)]
    fn get(&self, image: [i32; 3]) -> Option<&NearImage> {
        place_of_displacement(image).map(|place| &self.0[place])
    }
}

impl PeriodicSpace<'_> {
    #[inline(always)]
    fn image_of(&self, word: u32) -> [i32; 3] {
        self.images.image(word).unwrap_or([0; 3])
    }

    #[inline(always)]
    fn between(&self, words: [u32; 2]) -> [i32; 3] {
        let [first, second] = two(words, |word| self.image_of(word));
        from_fn(|k| second[k] - first[k])
    }
}

impl ProxySpace for PeriodicSpace<'_> {
    type Listed = ImageCollision;

    #[inline(always)]
    fn are_plain(&self, words: [u32; 2]) -> bool {
        (words[0] | words[1]) & IMAGED == 0 || self.between(words) == [0; 3]
    }

    #[inline(always)]
    fn may_repeat(&self, words: u32) -> bool {
        words & IMAGED != 0
    }

    fn count(&self, _: &Sizes<'_>) -> usize {
        self.images.len()
    }

    fn chunks(&self, _: &Sizes<'_>) -> usize {
        self.images.chunks()
    }

    fn chunk(&self, _: &Sizes<'_>, chunk: usize) -> ProxyChunk<'_> {
        self.images.chunk(chunk)
    }

    #[inline(always)]
    fn sphere(&self, word: u32) -> u32 {
        self.images.sphere(word).unwrap_or(word)
    }

    #[inline(always)]
    fn path<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        sphere: &S,
        word: u32,
    ) -> SpherePath {
        let path = scale.path(sphere, frame);
        match self.images.place(word) {
            None => path,
            Some((center, slack)) => path.displaced(center, slack),
        }
    }

    #[inline(always)]
    fn paths<S: MovingSphere>(
        &self,
        scale: &Scale,
        frame: &Frame,
        spheres: [&S; LANES],
        words: [u32; LANES],
    ) -> SpherePath<f32x4> {
        let paths = scale.paths(spheres, frame);
        if words.iter().fold(0, |all, word| all | word) & IMAGED == 0 {
            return paths;
        }
        paths.displaced(four(words, |word| self.images.place(word)))
    }

    #[inline(always)]
    fn image(&self, words: [u32; 2]) -> [i32; 3] {
        if self.are_plain(words) {
            return [0; 3];
        }
        let image = self.between(words);
        match self.near.get(image) {
            Some(near) => near.image,
            None => self.cell.lattice.in_given_edges(image),
        }
    }

    fn named(&self, [a, b]: [u32; 2]) -> ([u32; 2], [i32; 3]) {
        // The same image of one sphere is never reported, so either order will do.
        let words = match self.in_order([a, b]) {
            Some([1, 0]) => [b, a],
            _ => [a, b],
        };
        (two(words, |word| self.sphere(word)), self.image(words))
    }

    #[inline(always)]
    fn sweep<S: MovingSphere>(
        &self,
        spheres: [[&S; 2]; 2],
        words: [[u32; 2]; 2],
        plain: bool,
        dt: f32,
    ) -> Swept {
        if plain {
            return sweep(spheres, [(); 2], dt);
        }
        sweep(spheres, two(words, |words| self.shift(words)), dt)
    }

    fn shift(&self, words: [u32; 2]) -> Translation {
        let image = self.between(words);
        match self.near.get(image) {
            Some(near) => near.shift,
            None => Translation::new(self.domain, self.cell.lattice.in_given_edges(image)),
        }
    }

    #[inline(always)]
    fn in_order(&self, words: [u32; 2]) -> Option<[usize; 2]> {
        let [a, b] = two(words, |word| self.sphere(word));
        let first_is_first = if a == b {
            // Of two images of one sphere, the one with the greater displacement is the second.
            let image = self.image(words);
            if image == [0; 3] {
                return None;
            }
            image > [0; 3]
        } else {
            a < b
        };
        Some(if first_is_first { [0, 1] } else { [1, 0] })
    }

    #[inline(always)]
    fn reports(&self, words: [u32; 2]) -> bool {
        self.images.reports(words)
    }

    fn displaced(&self, spheres: [&ScaledSphere; 2], words: [u32; 2]) -> Option<Displaced> {
        let between = self.between(words);
        (between != [0; 3]).then(|| self.cell.displaced(spheres, between))
    }
}
