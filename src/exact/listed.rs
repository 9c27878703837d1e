//! The Rust types that represent pairs of spheres, in open space and in a periodic domain. In a
//! periodic domain, a pair has an image: the displacement of the periodic copy of the second
//! sphere.

use bytemuck::{Pod, Zeroable};

use super::shift::{Shift, Translation};
use crate::{Collision, Domain};

/// Flag in [`ReportedPair::b`]: the pair is undecided, or may be reported more than once.
pub(crate) const GRAZING: u32 = 1 << 31;

/// A pair a < b to be tested exactly. A second set's indices follow those of the first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ReportedPair {
    pub(crate) a: u32,
    pub(crate) b: u32,
}

pub(crate) trait Listed: Pod + Default + Send + Sync {
    type Image: Copy + Default + Send + Sync;
    type Shift: Shift;
    type Report: Report<Listed = Self>;

    fn new(pair: Collision, image: Self::Image) -> Self;
    fn pair(&self) -> &Collision;
    #[cfg_attr(
        not(feature = "gpu"),
        allow(dead_code, reason = "only the GPU backend makes such lists")
    )]
    fn report(&self) -> Self::Report;
}

pub(crate) trait Report: Pod + Send + Sync {
    type Listed: Listed;
    /// Equal for the same pair and image. In open space, a single number, which makes
    /// sorting faster.
    type Key: Ord + Send;

    fn new(pair: ReportedPair, image: <Self::Listed as Listed>::Image) -> Self;
    fn pair(&self) -> ReportedPair;
    fn image(&self) -> <Self::Listed as Listed>::Image;
    fn shift(&self, domain: &Domain) -> <Self::Listed as Listed>::Shift;
    fn key(&self) -> Self::Key;
}

impl Listed for Collision {
    type Image = ();
    type Shift = ();
    type Report = ReportedPair;

    #[inline(always)]
    fn new(pair: Collision, (): ()) -> Self {
        pair
    }

    #[inline(always)]
    fn pair(&self) -> &Collision {
        self
    }

    #[inline(always)]
    fn report(&self) -> ReportedPair {
        ReportedPair {
            a: self.a,
            b: self.b,
        }
    }
}

impl Report for ReportedPair {
    type Listed = Collision;
    type Key = u64;

    fn new(pair: ReportedPair, (): ()) -> Self {
        pair
    }

    fn pair(&self) -> ReportedPair {
        *self
    }

    fn image(&self) {}

    fn shift(&self, _: &Domain) {}

    #[inline(always)]
    fn key(&self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b & !GRAZING)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct ImageCollision {
    pair: Collision,
    pub(crate) image: [i32; 3],
}

impl Listed for ImageCollision {
    type Image = [i32; 3];
    type Shift = Translation;
    type Report = ReportedImage;

    #[inline(always)]
    fn new(pair: Collision, image: [i32; 3]) -> Self {
        Self { pair, image }
    }

    #[inline(always)]
    fn pair(&self) -> &Collision {
        &self.pair
    }

    #[inline(always)]
    fn report(&self) -> ReportedImage {
        ReportedImage::new(self.pair.report(), self.image)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ReportedImage {
    pair: ReportedPair,
    image: [i32; 3],
}

impl Report for ReportedImage {
    type Listed = ImageCollision;
    type Key = (u64, [i32; 3]);

    fn new(pair: ReportedPair, image: [i32; 3]) -> Self {
        Self { pair, image }
    }

    fn pair(&self) -> ReportedPair {
        self.pair
    }

    fn image(&self) -> [i32; 3] {
        self.image
    }

    fn shift(&self, domain: &Domain) -> Translation {
        Translation::new(domain, self.image)
    }

    fn key(&self) -> (u64, [i32; 3]) {
        (self.pair.key(), self.image)
    }
}
