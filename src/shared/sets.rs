//! Whether pairs are sought within one set of spheres or between two. Twin of
//! `shaders/shared/sets.wgsl`.

/// One set of spheres, or two that stand one after the other in one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// Every pair of the spheres counts.
    One,
    /// Pairs of one sphere of each set count.
    Two {
        /// Spheres in the first set: where the second begins.
        first: usize,
    },
}

impl Sets {
    /// Whether only pairs between two sets count.
    pub(crate) fn are_two(self) -> bool {
        matches!(self, Self::Two { .. })
    }

    /// The number added to index b of a pair to find its sphere in the list: pairs between two
    /// sets count b from the start of the second set.
    pub(crate) fn b_offset(self) -> usize {
        match self {
            Self::One => 0,
            Self::Two { first } => first,
        }
    }

    /// Number of spheres in the first set, or in the only one, of `spheres` in all.
    pub(crate) fn first_len(self, spheres: usize) -> usize {
        match self {
            Self::One => spheres,
            Self::Two { first } => first.min(spheres),
        }
    }
}
