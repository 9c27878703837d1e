//! What the searches of a step take, besides its impacts.

/// The work of searches, in units of which an impact takes [`IMPACT`](Self::IMPACT).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work(u64);

impl Work {
    /// A sphere in a substep, a pair that a search finds, and an image whose neighbours are sought.
    pub(crate) const SPHERE: u64 = 1;
    pub(crate) const PAIR: u64 = 1;
    pub(crate) const IMAGE: u64 = 32;
    const IMPACT: u64 = 64;

    pub(crate) fn add(&mut self, each: u64, count: u64) {
        self.0 = self.0.saturating_add(each.saturating_mul(count));
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.add(1, other.0);
    }

    /// Returns how many impacts take as long as the work since it was `before`.
    pub(crate) fn since(self, before: Self) -> u64 {
        self.0.saturating_sub(before.0) / Self::IMPACT
    }
}
