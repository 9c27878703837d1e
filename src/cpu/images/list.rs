//! In a periodic domain, lists every image (periodic copy) of a sphere or time segment that reaches
//! into the cell. The grids contain these images. Twin of `shaders/images.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres and images"
)]

use std::array::from_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::cell::{Cell, LatticeBox, LatticePoint};
use crate::limits::{CHUNK, most_images};
use crate::memory::out_of_memory;
use crate::reuse::{ScratchGuard, ScratchPool};
use crate::shared::segments::{Cut, Segment, SpherePath};
use crate::shared::sets::Sets;
use crate::shared::size_class::{OUTSIDE, class_power};
use crate::shared::units::Scale;
use crate::step::CheckedStep;
use crate::{Error, Sphere};

/// Flag in the 32-bit number that names an object in the grids. If it is set, the other bits are an
/// index into the list of periodic images. If not, they are the index of a sphere.
pub(super) const IMAGED: u32 = 1 << 31;
/// Number of images after which a task adds them to the count that all tasks share.
const MAX_UNCOUNTED: u64 = 1 << 12;
/// Flag in the field `sphere` of an image: the periodic cell contains several images of the same
/// time segment.
const SEVERAL: u32 = 1 << 31;

/// A periodic image of a sphere or time segment. It is displaced, or the periodic cell contains
/// several images of the same segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imaged {
    sphere: u32,
    /// Displacement of the image, as whole multiples of the shortest lattice edges.
    pub(super) image: [i32; 3],
    center: [f32; 3],
    slack: f32,
    low: LatticePoint,
}

impl Imaged {
    #[inline(always)]
    pub(super) fn sphere(&self) -> u32 {
        self.sphere & !SEVERAL
    }

    /// Returns the centre of the image and a bound of its rounding error.
    #[inline(always)]
    pub(super) fn place(&self) -> ([f32; 3], f32) {
        (self.center, self.slack)
    }

    #[inline(always)]
    pub(super) fn path(&self, path: SpherePath) -> SpherePath {
        path.displaced(self.center, self.slack)
    }

    /// Returns whether these two images report their pair. The grids may contain several periodic
    /// copies of a touching pair, and only one copy reports it.
    #[inline(always)]
    pub(super) fn reports_with(&self, other: &Self) -> bool {
        if !self.is_one_of_several() || !other.is_one_of_several() {
            return true;
        }
        let between = from_fn(|k| other.image[k] - self.image[k]);
        self.low.owner(&other.low, between) == self.image
    }

    #[inline(always)]
    fn is_one_of_several(&self) -> bool {
        self.sphere & SEVERAL != 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Further {
    segment: Segment,
    word: u32,
}

/// All objects in the grids of a periodic domain: the images of spheres or time segments. Object k
/// is the first image of sphere k, and the further images follow.
#[derive(Debug, Default)]
pub(crate) struct ImageList {
    /// For each sphere that may reach out of the periodic cell: the index of the sphere, or the
    /// flag [`IMAGED`] with an index into `imaged`. Not used for other spheres.
    first: Vec<u32>,
    further: Vec<Further>,
    imaged: Vec<Imaged>,
    parts: PartMemory,
}

#[derive(Debug, Default)]
struct PartMemory {
    outside: ScratchPool<u32>,
    further: ScratchPool<Further>,
    imaged: ScratchPool<Imaged>,
}

impl PartMemory {
    fn take(&self) -> Part<'_> {
        let mut part = Part {
            outside: self.outside.take(),
            further: self.further.take(),
            imaged: self.imaged.take(),
            uncounted: 0,
        };
        part.outside.empty();
        part.further.empty();
        part.imaged.empty();
        part
    }

    fn bytes(&self) -> usize {
        self.outside.bytes() + self.further.bytes() + self.imaged.bytes()
    }
}

/// The periodic images that one task has listed. Indices into `imaged` count from the task's first
/// image.
struct Part<'a> {
    /// Indices of the spheres that may reach out of the periodic cell, counted from the task's
    /// first sphere.
    outside: ScratchGuard<'a, u32>,
    further: ScratchGuard<'a, Further>,
    imaged: ScratchGuard<'a, Imaged>,
    /// Number of images not yet added to the count that all tasks share.
    uncounted: u64,
}

impl ImageList {
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.further.len()
    }

    /// Returns the periodic image with this 32-bit name, or `None` if the name stands for a sphere
    /// that is neither displaced nor repeated in the grids.
    #[inline(always)]
    pub(super) fn imaged(&self, word: u32) -> Option<&Imaged> {
        (word & IMAGED != 0).then(|| &self.imaged[(word & !IMAGED) as usize])
    }

    #[inline(always)]
    pub(super) fn get(&self, class_of: &[u16], proxy: usize) -> (Segment, u32) {
        match class_of.get(proxy) {
            Some(class) => {
                let sphere = proxy as u32;
                let word = if class & OUTSIDE == 0 {
                    sphere
                } else {
                    self.first[proxy]
                };
                (Segment { sphere, number: 0 }, word)
            }
            None => {
                let Further { segment, word } = self.further[proxy - self.first.len()];
                (segment, word)
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.first.capacity() * size_of::<u32>()
            + self.further.capacity() * size_of::<Further>()
            + self.imaged.capacity() * size_of::<Imaged>()
            + self.parts.bytes()
    }

    /// Lists all images of spheres and time segments that reach into the periodic cell. `class_of`
    /// has the size class of each sphere, which tells its number of time segments.
    pub(crate) fn fill(
        &mut self,
        step: &CheckedStep<'_>,
        scale: &Scale,
        cell: &Cell,
        class_of: &[u16],
    ) -> Result<(), Error> {
        let spheres = step.spheres;
        let Self {
            first,
            further,
            imaged,
            parts,
        } = self;
        further.clear();
        imaged.clear();
        let room = first.try_reserve(spheres.len().saturating_sub(first.len()));
        room.map_err(|_| out_of_memory::<u32>(spheres.len(), "the images of the spheres"))?;
        first.resize(spheres.len(), 0);
        let lister = Lister {
            scale,
            cell,
            limit: most_images(spheres.len()),
            count: AtomicU64::new(0),
            any_is_far: AtomicBool::new(false),
        };
        let words = first.par_chunks_mut(CHUNK);
        let inputs = spheres.par_chunks(CHUNK).zip(class_of.par_chunks(CHUNK));
        let parts: Vec<Part<'_>> = words
            .zip(inputs)
            .enumerate()
            .map(|(chunk, (words, (spheres, class_of)))| {
                lister.list(
                    (chunk * CHUNK) as u32,
                    spheres,
                    class_of,
                    words,
                    parts.take(),
                )
            })
            .collect();
        let Lister { limit, .. } = lister;
        if lister.any_is_far.into_inner() {
            return Err(out_of_range(step, scale, cell));
        }
        let needed = lister.count.into_inner();
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
        }
        join(first, further, imaged, &parts)
    }
}

fn join(
    first: &mut [u32],
    all_further: &mut Vec<Further>,
    all_imaged: &mut Vec<Imaged>,
    parts: &[Part<'_>],
) -> Result<(), Error> {
    let [further, imaged] = [
        |part: &Part| part.further.len(),
        |part: &Part| part.imaged.len(),
    ]
    .map(|len| parts.iter().map(len).sum::<usize>());
    let room = all_further.try_reserve(further);
    let room = room.and_then(|()| all_imaged.try_reserve(imaged));
    let bytes = further * size_of::<Further>() + imaged * size_of::<Imaged>();
    room.map_err(|_| out_of_memory::<u8>(bytes, "the images of the spheres"))?;
    for (part, first) in parts.iter().zip(first.chunks_mut(CHUNK)) {
        let before = all_imaged.len() as u32;
        let moved = |word: u32| {
            if word & IMAGED == 0 {
                word
            } else {
                word + before
            }
        };
        for &k in part.outside.iter() {
            let word = &mut first[k as usize];
            *word = moved(*word);
        }
        let further = part.further.iter().map(|further| Further {
            word: moved(further.word),
            ..*further
        });
        all_further.extend(further);
        all_imaged.extend_from_slice(&part.imaged);
    }
    Ok(())
}

struct Lister<'a> {
    scale: &'a Scale,
    cell: &'a Cell,
    limit: u64,
    count: AtomicU64,
    any_is_far: AtomicBool,
}

impl Lister<'_> {
    /// Lists the periodic images of a run of spheres that starts at index `begin`. Writes the
    /// 32-bit name of each sphere's first image to `words`.
    fn list<'p>(
        &self,
        begin: u32,
        spheres: &[Sphere],
        class_of: &[u16],
        words: &mut [u32],
        mut part: Part<'p>,
    ) -> Part<'p> {
        let several = with_several(class_of);
        // Reads each sphere before the loop that uses it, so that the cache misses overlap.
        let ahead = several.iter().map(|&k| spheres[k].center[0].to_bits());
        std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
        for k in several {
            let (index, word) = (begin + k as u32, &mut words[k]);
            let (sphere, class) = (&spheres[k], class_of[k]);
            let power = class_power(usize::from(class));
            if class & OUTSIDE == 0 {
                part.further.extend((1..1 << power).map(|number| Further {
                    segment: Segment {
                        sphere: index,
                        number,
                    },
                    word: index,
                }));
            } else {
                *word = index;
                part.outside.push(k as u32);
                self.list_images(index, sphere, power, &mut part, word);
            }
        }
        self.count.fetch_add(part.uncounted, Relaxed);
        part
    }

    /// Adds all periodic images of a sphere's 2^`power` time segments to `part`. `word` becomes the
    /// 32-bit name of the sphere's first image.
    fn list_images(
        &self,
        index: u32,
        sphere: &Sphere,
        power: u32,
        part: &mut Part<'_>,
        word: &mut u32,
    ) {
        let scaled = self.scale.sphere(sphere);
        let all = self.cell.lattice_box(&scaled, Cut::WHOLE);
        if !all.is_in_range(self.cell.lattice.max_cells) {
            self.any_is_far.store(true, Relaxed);
            return;
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
            part.uncounted = part.uncounted.saturating_add(lattice_box.count());
            if part.uncounted > MAX_UNCOUNTED {
                self.count.fetch_add(part.uncounted, Relaxed);
                part.uncounted = 0;
            }
            // Images beyond the limit are counted but not stored, because the error message states
            // their number.
            let all = self.count.load(Relaxed).saturating_add(part.uncounted);
            if all <= self.limit {
                let segment = Segment {
                    sphere: index,
                    number,
                };
                part.add(segment, &lattice_box, center, word);
            }
        }
    }
}

impl Part<'_> {
    /// Adds all images of a time segment that reach into the periodic cell. If it is the first
    /// segment of its sphere, `first` becomes the 32-bit name of its first image. `center` returns
    /// the centre of an image and a bound of its error.
    fn add(
        &mut self,
        segment: Segment,
        lattice_box: &LatticeBox,
        center: impl Fn([i32; 3]) -> ([f32; 3], f32),
        first: &mut u32,
    ) {
        let Segment { sphere, number } = segment;
        let several = lattice_box.count() > 1;
        let mut is_first = number == 0;
        let [x, y, z] = [0, 1, 2].map(|k| {
            let [from, to] = lattice_box.images(k);
            from..=to
        });
        for n3 in z {
            for n2 in y.clone() {
                for n1 in x.clone() {
                    let image = [n1, n2, n3];
                    let mut word = sphere;
                    if several || image != [0; 3] {
                        word = self.imaged.len() as u32 | IMAGED;
                        let flag = if several { SEVERAL } else { 0 };
                        let (center, slack) = center(image);
                        self.imaged.push(Imaged {
                            sphere: sphere | flag,
                            image,
                            center,
                            slack,
                            low: lattice_box.low,
                        });
                    }
                    if is_first {
                        *first = word;
                    } else {
                        self.further.push(Further { segment, word });
                    }
                    is_first = false;
                }
            }
        }
    }
}

/// Returns the indices of the spheres that may have several images in the grids: those cut into
/// time segments, and those that may reach out of the periodic cell.
fn with_several(class_of: &[u16]) -> Vec<usize> {
    const BLOCK: usize = 32;
    let has_several = |class: u16| class & OUTSIDE != 0 || class_power(usize::from(class)) > 0;
    let mut several = Vec::new();
    for (block, classes) in class_of.chunks(BLOCK).enumerate() {
        // Most blocks have no such sphere. The bitwise OR of all size classes in a block shows this
        // with one branch.
        if has_several(classes.iter().fold(0, |all, class| all | class)) {
            let indices = block * BLOCK..;
            let found = indices
                .zip(classes)
                .filter(|&(_, &class)| has_several(class));
            several.extend(found.map(|(k, _)| k));
        }
    }
    several
}

fn out_of_range(step: &CheckedStep<'_>, scale: &Scale, cell: &Cell) -> Error {
    let is_far = |sphere: &Sphere| {
        !cell
            .lattice_box(&scale.sphere(sphere), Cut::WHOLE)
            .is_in_range(cell.lattice.max_cells)
    };
    let index = step.spheres.iter().position(is_far).unwrap_or(0);
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
