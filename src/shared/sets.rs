//! Whether a step has one set of spheres or two, and how indices work in each case. Twin of
//! `shaders/shared/sets.wgsl`.

/// The sets of spheres in a step: one set, or two. With two sets, the spheres of both are in one
/// list, the second set after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// All pairs of the spheres are detected.
    One,
    /// Only pairs with one sphere from each set are detected.
    Two {
        /// Number of spheres in the first set, which is also the index of the first sphere of
        /// the second set.
        first: usize,
    },
}

impl Sets {
    /// Whether the step has two sets.
    pub(crate) fn are_two(self) -> bool {
        matches!(self, Self::Two { .. })
    }

    /// The offset to add to index b of a pair to obtain the index of its sphere in the list.
    /// With two sets, index b of a pair is counted from the start of the second set.
    pub(crate) fn b_offset(self) -> usize {
        match self {
            Self::One => 0,
            Self::Two { first } => first,
        }
    }

    /// Number of spheres in the first or only set. `spheres` is the number of all spheres.
    pub(crate) fn first_len(self, spheres: usize) -> usize {
        match self {
            Self::One => spheres,
            Self::Two { first } => first.min(spheres),
        }
    }
}
