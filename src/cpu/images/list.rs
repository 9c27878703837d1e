//! In a periodic domain, lists every image of a sphere or segment that reaches into the cell. These
//! are the entries. Twin of `shaders/periodic/images.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres and images"
)]

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;
use wide::u16x8;

use super::cell::{ALL_EDGES, Cell, LatticeBox};
use crate::lanes::Bits;
use crate::limits::{CHUNK, most_images};
use crate::memory::{allocate, collect_in_parallel, extend, out_of_memory, push, reserve};
use crate::reuse::{ScratchGuard, ScratchPool};
use crate::shared::segments::{Cut, Segment};
use crate::shared::sets::Sets;
use crate::shared::size_class::{OUTSIDE, SEVERAL, class_power};
use crate::shared::units::Scale;
use crate::step::CheckedStep;
use crate::{Error, Sphere};

const IMAGES: &str = "the images of the spheres";

/// Flag in the word of a proxy: the other bits are an index into the list of images.
pub(super) const IMAGED: u32 = 1 << 31;
/// A task adds its count to the common one whenever it exceeds this.
const MAX_UNCOUNTED: u64 = 1 << 12;

/// An image that is a proxy. The undisplaced one is stored only beside others of its segment.
#[derive(Clone, Copy, Debug)]
struct Imaged {
    sphere: u32,
    image: [i32; 3],
    /// Centre, and a bound of its error.
    place: ([f32; 3], f32),
    /// See [`LatticeBox::corner`].
    corner: u8,
}

/// One list for each field of [`Imaged`], because each stage reads one or two.
#[derive(Debug, Default)]
struct AllImaged {
    spheres: Vec<u32>,
    images: Vec<[i32; 3]>,
    places: Vec<([f32; 3], f32)>,
    codes: Vec<Code>,
}

/// [`Imaged::corner`] in the low three bits, and the index of the displacement in
/// [`DISPLACEMENTS`], or [`Code::FAR`].
#[derive(Clone, Copy, Debug)]
struct Code(u8);

impl Code {
    const FAR: u8 = DISPLACEMENTS.len() as u8;

    fn new(image: [i32; 3], corner: u8) -> Self {
        let displacement = place_of_displacement(image).map_or(Self::FAR, |place| place as u8);
        Self(displacement << 3 | corner)
    }

    fn corner(self) -> u8 {
        self.0 & ALL_EDGES
    }

    #[inline(always)]
    fn image(self) -> Option<[i32; 3]> {
        DISPLACEMENTS.get(usize::from(self.0 >> 3)).copied()
    }
}

pub(super) const DISPLACEMENTS: [[i32; 3]; 27] = {
    let mut all = [[0; 3]; 27];
    let mut k = 0;
    while k < 27 {
        all[k as usize] = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
        k += 1;
    }
    all
};

#[inline(always)]
pub(super) fn place_of_displacement(image: [i32; 3]) -> Option<usize> {
    let [x, y, z] = image.map(|n| n.wrapping_add(1) as u32);
    (x.max(y).max(z) < 3).then(|| (x + 3 * y + 9 * z) as usize)
}

impl AllImaged {
    fn clear(&mut self) {
        self.spheres.clear();
        self.images.clear();
        self.places.clear();
        self.codes.clear();
    }

    fn try_reserve(&mut self, more: usize) -> Result<(), TryReserveError> {
        self.spheres.try_reserve(more)?;
        self.images.try_reserve(more)?;
        self.places.try_reserve(more)?;
        self.codes.try_reserve(more)
    }

    fn extend(&mut self, imaged: &[Imaged]) {
        self.spheres
            .extend(imaged.iter().map(|imaged| imaged.sphere));
        self.images.extend(imaged.iter().map(|imaged| imaged.image));
        self.places.extend(imaged.iter().map(|imaged| imaged.place));
        let code = |imaged: &Imaged| Code::new(imaged.image, imaged.corner);
        self.codes.extend(imaged.iter().map(code));
    }

    fn bytes(&self) -> usize {
        self.spheres.capacity() * size_of::<Imaged>()
    }
}

/// A segment, and the word of its image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedImage {
    pub(crate) segment: Segment,
    pub(crate) word: u32,
}

/// A chunk of the entries, of spheres with close indices, for the cache.
#[derive(Clone, Debug)]
pub(crate) struct ProxyChunk<'a> {
    /// Spheres and segments with an entry each, unless an image in `replaced` takes its place.
    pub(crate) plain: Range<usize>,
    pub(crate) replaced: &'a [NamedImage],
    /// The entries of spheres with several, except for one each.
    pub(crate) further: &'a [NamedImage],
}

/// The entries of a periodic domain.
#[derive(Debug, Default)]
pub(crate) struct ImageList {
    /// Number of spheres in the step.
    spheres: usize,
    /// For each sphere of which a displaced image (of its first segment) reaches into the
    /// cell: the first such image, which replaces it.
    first: Vec<NamedImage>,
    further: Vec<NamedImage>,
    imaged: AllImaged,
    chunks: Vec<ImageChunk>,
    parts: PartMemory,
}

/// A range of spheres with the ranges of their images in `first` and `further`. If its spheres
/// have too many images, chunks without spheres hold the rest.
#[derive(Clone, Debug)]
struct ImageChunk {
    spheres: Range<usize>,
    first: Range<usize>,
    further: Range<usize>,
}

#[derive(Debug, Default)]
struct PartMemory {
    first: ScratchPool<NamedImage>,
    further: ScratchPool<NamedImage>,
    imaged: ScratchPool<Imaged>,
}

impl PartMemory {
    fn take(&self) -> ImagePart<'_> {
        let mut part = ImagePart {
            first: self.first.take(),
            further: self.further.take(),
            imaged: self.imaged.take(),
            uncounted: 0,
        };
        part.first.empty();
        part.further.empty();
        part.imaged.empty();
        part
    }

    fn bytes(&self) -> usize {
        self.first.bytes() + self.further.bytes() + self.imaged.bytes()
    }
}

/// Indices into `imaged` are those of this task, until [`ImageList::join`].
struct ImagePart<'a> {
    first: ScratchGuard<'a, NamedImage>,
    further: ScratchGuard<'a, NamedImage>,
    imaged: ScratchGuard<'a, Imaged>,
    /// Not yet added to the total.
    uncounted: u64,
}

impl ImageList {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.spheres + self.further.len()
    }

    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn chunk(&self, chunk: usize) -> ProxyChunk<'_> {
        let ImageChunk {
            spheres,
            first,
            further,
        } = self.chunks[chunk].clone();
        ProxyChunk {
            plain: spheres,
            replaced: &self.first[first],
            further: &self.further[further],
        }
    }

    #[inline(always)]
    fn index(word: u32) -> Option<usize> {
        (word & IMAGED != 0).then_some((word & !IMAGED) as usize)
    }

    #[inline(always)]
    pub(super) fn sphere(&self, word: u32) -> Option<u32> {
        Self::index(word).map(|index| self.imaged.spheres[index])
    }

    #[inline(always)]
    pub(super) fn image(&self, word: u32) -> Option<[i32; 3]> {
        let index = Self::index(word)?;
        let near = self.imaged.codes[index].image();
        Some(near.unwrap_or_else(|| self.imaged.images[index]))
    }

    /// Returns the centre of an image, and a bound of its error.
    #[inline(always)]
    pub(super) fn place(&self, word: u32) -> Option<([f32; 3], f32)> {
        Self::index(word).map(|index| self.imaged.places[index])
    }

    /// Whether these two entries are the copy of their pair that is reported: the lower
    /// corner of the overlap of their boxes is in the cell for only one copy.
    #[inline(always)]
    pub(super) fn reports(&self, words: [u32; 2]) -> bool {
        let [Some(first), Some(second)] = words.map(Self::index) else {
            return true;
        };
        // The overlap begins at the higher of two lower ends, each of which is inside
        // the cell or below it.
        let corner = |index: usize| self.imaged.codes[index].corner();
        corner(first) | corner(second) == ALL_EDGES
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.first.capacity() + self.further.capacity()) * size_of::<NamedImage>()
            + self.imaged.bytes()
            + self.parts.bytes()
    }

    /// Lists all images that reach into the cell.
    pub(crate) fn fill(
        &mut self,
        step: &CheckedStep<'_>,
        scale: &Scale,
        cell: &Cell,
        class_of: &[u16],
    ) -> Result<(), Error> {
        let spheres = step.spheres;
        self.spheres = spheres.len();
        self.first.clear();
        self.further.clear();
        self.imaged.clear();
        let lister = Lister {
            scale,
            cell,
            limit: most_images(spheres.len()),
            count: AtomicU64::new(0),
            any_is_far: AtomicBool::new(false),
        };
        let memory = std::mem::take(&mut self.parts);
        let inputs = spheres.par_chunks(CHUNK).zip(class_of.par_chunks(CHUNK));
        let parts = inputs.enumerate().map(|(chunk, (spheres, class_of))| {
            lister.list((chunk * CHUNK) as u32, spheres, class_of, memory.take())
        });
        let listed = collect_in_parallel(parts, IMAGES)?;
        let mut parts = allocate(listed.len(), IMAGES)?;
        for part in listed {
            parts.push(part?);
        }
        let Lister { limit, .. } = lister;
        if lister.any_is_far.into_inner() {
            return Err(out_of_range(step, scale, cell));
        }
        let needed = lister.count.into_inner();
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
        }
        self.join(&parts)?;
        drop(parts);
        self.parts = memory;
        Ok(())
    }

    fn join(&mut self, parts: &[ImagePart<'_>]) -> Result<(), Error> {
        let sum = |len: fn(&ImagePart<'_>) -> usize| parts.iter().map(len).sum::<usize>();
        let first = sum(|part| part.first.len());
        let further = sum(|part| part.further.len());
        let imaged = sum(|part| part.imaged.len());
        let room = (self.first.try_reserve(first))
            .and_then(|()| self.further.try_reserve(further))
            .and_then(|()| self.imaged.try_reserve(imaged));
        let bytes = (first + further) * size_of::<NamedImage>() + imaged * size_of::<Imaged>();
        room.map_err(|_| out_of_memory::<u8>(bytes, IMAGES))?;
        self.chunks.clear();
        let mut rest = Vec::new();
        for (part, begin) in parts.iter().zip((0..self.spheres).step_by(CHUNK)) {
            let before = self.imaged.spheres.len() as u32;
            let moved = |&NamedImage { segment, word }: &NamedImage| NamedImage {
                segment,
                word: if word & IMAGED == 0 {
                    word
                } else {
                    word + before
                },
            };
            let (first, further) = (self.first.len(), self.further.len());
            self.first.extend(part.first.iter().map(moved));
            self.further.extend(part.further.iter().map(moved));
            self.imaged.extend(&part.imaged);
            let end = self.further.len();
            let middle = end.min(further + CHUNK);
            let chunk = ImageChunk {
                spheres: begin..self.spheres.min(begin + CHUNK),
                first: first..self.first.len(),
                further: further..middle,
            };
            push(&mut self.chunks, chunk, IMAGES)?;
            let chunks = (middle..end).step_by(CHUNK).map(|begin| ImageChunk {
                spheres: 0..0,
                first: 0..0,
                further: begin..end.min(begin + CHUNK),
            });
            extend(&mut rest, chunks, IMAGES)?;
        }
        extend(&mut self.chunks, rest, IMAGES)?;
        Ok(())
    }
}

struct Lister<'a> {
    scale: &'a Scale,
    cell: &'a Cell,
    limit: u64,
    count: AtomicU64,
    any_is_far: AtomicBool,
}

impl Lister<'_> {
    fn list<'p>(
        &self,
        begin: u32,
        spheres: &[Sphere],
        class_of: &[u16],
        mut part: ImagePart<'p>,
    ) -> Result<ImagePart<'p>, Error> {
        let several = with_several(class_of)?;
        // Reads each sphere once in advance, so that the cache misses overlap. A sphere
        // may lie in two cache lines.
        let ends = |sphere: &Sphere| sphere.center[0].to_bits() ^ sphere.groups;
        let ahead = several.iter().map(|&k| ends(&spheres[k]));
        std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
        for k in several {
            let index = begin + k as u32;
            let (sphere, class) = (&spheres[k], class_of[k]);
            let power = class_power(usize::from(class));
            if class & OUTSIDE == 0 {
                let further = (1..1 << power).map(|number| NamedImage {
                    segment: Segment {
                        sphere: index,
                        number,
                    },
                    word: index,
                });
                extend(&mut part.further, further, IMAGES)?;
            } else {
                self.list_images(index, sphere, power, &mut part)?;
            }
        }
        self.count.fetch_add(part.uncounted, Relaxed);
        Ok(part)
    }

    fn list_images(
        &self,
        index: u32,
        sphere: &Sphere,
        power: u32,
        part: &mut ImagePart<'_>,
    ) -> Result<(), Error> {
        let scaled = self.scale.sphere(sphere);
        let all = self.cell.lattice_box(&scaled, Cut::WHOLE);
        if !all.is_in_range(self.cell.lattice.max_cells) {
            self.any_is_far.store(true, Relaxed);
            return Ok(());
        }
        let slack = self.cell.slack(&scaled, &all);
        let center = |image| (self.cell.center(&scaled, image), slack);
        for number in 0..1 << power {
            let lattice_box = if power == 0 {
                all
            } else {
                let cut = Cut {
                    power,
                    segment: number,
                };
                self.cell.lattice_box(&scaled, cut)
            };
            let images = lattice_box.images().count();
            part.uncounted = part.uncounted.saturating_add(images);
            if part.uncounted > MAX_UNCOUNTED {
                self.count.fetch_add(part.uncounted, Relaxed);
                part.uncounted = 0;
            }
            // The error message states their number.
            let all = self.count.load(Relaxed).saturating_add(part.uncounted);
            if all <= self.limit {
                let segment = Segment {
                    sphere: index,
                    number,
                };
                part.add(segment, &lattice_box, center)?;
            }
        }
        Ok(())
    }
}

impl ImagePart<'_> {
    fn add(
        &mut self,
        segment: Segment,
        lattice_box: &LatticeBox,
        center: impl Fn([i32; 3]) -> ([f32; 3], f32),
    ) -> Result<(), Error> {
        let Segment { sphere, number } = segment;
        let images = lattice_box.images();
        // At most as many as all spheres may have.
        let count = images.count() as usize;
        let several = count > 1;
        reserve(&mut self.imaged, count, IMAGES)?;
        reserve(&mut self.further, count, IMAGES)?;
        reserve(&mut self.first, 1, IMAGES)?;
        let mut is_first = number == 0;
        images.each(|image| {
            let mut word = sphere;
            if several || image != [0; 3] {
                word = self.imaged.len() as u32 | IMAGED;
                self.imaged.push(Imaged {
                    sphere,
                    image,
                    place: center(image),
                    corner: lattice_box.corner(image),
                });
            }
            let image = NamedImage { segment, word };
            if !is_first {
                self.further.push(image);
            } else if word != sphere {
                self.first.push(image);
            }
            is_first = false;
        });
        Ok(())
    }
}

fn with_several(class_of: &[u16]) -> Result<Vec<usize>, Error> {
    const BLOCK: usize = 8;
    let [none, flags] = [0, SEVERAL].map(u16x8::splat);
    let (blocks, rest) = class_of.as_chunks::<BLOCK>();
    let mut several = Vec::new();
    for (classes, begin) in blocks.iter().zip((0..).step_by(BLOCK)) {
        let mask = (u16x8::from(*classes) & flags).simd_ne(none).to_bitmask();
        extend(&mut several, Bits(mask).map(|place| begin + place), IMAGES)?;
    }
    let rest = (class_of.len() - rest.len()..).zip(rest);
    let rest = rest.filter(|(_, class)| *class & SEVERAL != 0);
    extend(&mut several, rest.map(|(k, _)| k), IMAGES)?;
    Ok(several)
}

/// Returns the first sphere for which `way` returns the largest number.
fn farthest(spheres: &[Sphere], way: impl Fn(&Sphere) -> f64) -> Option<usize> {
    let ways = spheres.iter().map(way).enumerate();
    let farthest = ways.reduce(|one, other| if other.1 > one.1 { other } else { one });
    farthest.map(|(index, _)| index)
}

fn out_of_range(step: &CheckedStep<'_>, scale: &Scale, cell: &Cell) -> Error {
    let is_far = |sphere: &Sphere| {
        !cell
            .lattice_box(&scale.sphere(sphere), Cut::WHOLE)
            .is_in_range(cell.lattice.max_cells)
    };
    // The frame moves with most spheres. So a fast one may make the places of others too coarse, and is named then.
    let index = step
        .spheres
        .iter()
        .position(|sphere| is_far(sphere) && cell.is_far(&scale.sphere(sphere)))
        .or_else(|| farthest(step.spheres, |sphere| cell.way(&scale.sphere(sphere))))
        .unwrap_or(0);
    let (set, index) = match step.sets {
        Sets::One => (None, index),
        Sets::Two { first } if index < first => (Some(0), index),
        Sets::Two { first } => (Some(1), index - first),
    };
    Error::ImageOutOfRange {
        index,
        set,
        limit: cell.lattice.max_cells,
    }
}
