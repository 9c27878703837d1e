//! Computes the cell and the slot of each proxy. Twin of `shaders/collide/bin.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use bytemuck::Zeroable;

use super::buckets::Buckets;
use super::images::{NamedImage, ProxyChunk, ProxySpace};
use super::measure::Sizes;
use super::plan::Plan;
use crate::memory::reserve;
use crate::shared::segments::{Cut, Segment};
use crate::shared::size_class::class_power;
use crate::shared::space::Space;
use crate::shared::tag::{INSIDE, make_tag, slab_of};
use crate::shared::units::Scale;
use crate::{Error, Sphere};

#[derive(Clone, Copy, Debug, Zeroable)]
pub(crate) struct Binned {
    pub(crate) slot: u32,
    /// The word of the proxy: see [`ProxySpace`].
    pub(crate) word: u32,
    /// Has the flag [`INSIDE`] if each neighbouring cell has a slot of its own.
    pub(crate) tag: u32,
}

struct Binner<'a, S> {
    spheres: &'a [Sphere],
    scale: &'a Scale,
    space: &'a Space,
    proxy_space: S,
    sizes: &'a Sizes<'a>,
    plan: &'a Plan<'a>,
}

impl<S: ProxySpace> Binner<'_, S> {
    #[inline(always)]
    fn bin(&self, of: Segment, word: u32) -> Binned {
        let Segment {
            sphere,
            number: segment,
        } = of;
        let class = self.sizes.class(sphere);
        let power = class_power(class);
        let number = self.plan.level_of_class[class];
        let level = &self.plan.levels[usize::from(number)];
        let sphere = &self.spheres[sphere as usize];
        let frame = &self.space.frame;
        let path = self.proxy_space.path(self.scale, frame, sphere, word);
        let cell = level.cell_of(path.at(Cut { power, segment }.middle()));
        let tag = make_tag(number.into(), power, segment);
        let slot = level.slot_of(cell, slab_of(tag, level.time_power));
        let inside = if level.is_around_in_box(cell) {
            INSIDE
        } else {
            0
        };
        Binned {
            slot,
            word,
            tag: tag | inside,
        }
    }
}

pub(crate) fn bin(
    spheres: &[Sphere],
    scale: &Scale,
    space: &Space,
    proxy_space: impl ProxySpace,
    sizes: &Sizes<'_>,
    plan: &Plan,
    binned: &mut Buckets<Binned>,
) -> Result<(), Error> {
    let binner = Binner {
        spheres,
        scale,
        space,
        proxy_space,
        sizes,
        plan,
    };
    let make = |chunk: usize, binned: &mut Vec<Binned>| {
        let ProxyChunk {
            plain,
            replaced,
            further,
        } = proxy_space.chunk(sizes, chunk);
        let begin = plain.start;
        reserve(binned, plain.len() + further.len(), "the sorted spheres")?;
        binned.extend(plain.map(|proxy| {
            let segment = sizes.segment(proxy);
            binner.bin(segment, segment.sphere)
        }));
        for image in replaced {
            binned[image.segment.sphere as usize - begin] = binner.bin(image.segment, image.word);
        }
        let bin = |image: &NamedImage| binner.bin(image.segment, image.word);
        binned.extend(further.iter().map(bin));
        Ok(())
    };
    let (proxies, chunks) = (proxy_space.count(sizes), proxy_space.chunks(sizes));
    binned.fill(chunks, plan.slots as usize, proxies, make, |binned| {
        binned.slot
    })
}
