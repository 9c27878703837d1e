//! What it took to find the collisions of a step.

use std::time::Duration;

use crate::Backend;

/// What it took to find the collisions of a step.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Spheres in the world, of both sets if there are two.
    pub spheres: u64,
    /// How many of them are of the first of two sets; 0 for one set.
    pub first_set: u64,
    /// Entries in the grids: one for each sphere, and one more for each further
    /// time segment of a sphere that moves far.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Slots of the grids' table: one for each cell within a grid's box, and some
    /// that the cells outside share.
    pub slots: u64,
    /// Pairs of proxies that were tested.
    pub candidates: u64,
    /// Pairs that touch.
    pub pairs: u64,
    /// Pairs, touching or not, that were too close to tangency, or to the end of a
    /// time segment, for the first test to tell, and so were decided with more digits:
    /// a GPU's test is in float32, and the CPU's in float64. Pairs of which just the
    /// time takes more digits do not count.
    pub grazing: u64,
    /// How many of the grazing pairs float64 could not tell either, so that exact
    /// integers decided.
    pub grazing_by_integers: u64,
    /// Bytes of working memory that are kept for the next step, beyond the spheres
    /// given, a copy of two sets in one, and the list returned. On a GPU, of the buffers
    /// of the stages.
    pub memory: u64,
    /// Where the work was done: [`Backend::Gpu`] or [`Backend::Cpu`].
    pub backend: Backend,
    /// Why there, in a sentence.
    pub reason: String,
    /// The GPU's name as its driver gives it; `None` on the CPU.
    pub adapter: Option<String>,
    /// Time of each stage, in the order in which they ran. Empty for the stages
    /// of a GPU that cannot tell.
    pub stages: Vec<(&'static str, Duration)>,
}
