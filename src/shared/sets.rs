//! Whether a step has one or two sets of spheres, and how their spheres are numbered. Twin of
//! `shaders/collide/parts/sets.wgsl`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    One,
    /// Two sets: only pairs with one sphere from each set are wanted.
    Two {
        first: usize,
    },
}

impl Sets {
    pub(crate) fn are_two(self) -> bool {
        matches!(self, Self::Two { .. })
    }

    /// To be added to index b to get an index among all spheres.
    pub(crate) fn b_offset(self) -> usize {
        match self {
            Self::One => 0,
            Self::Two { first } => first,
        }
    }

    pub(crate) fn first_len(self, spheres: usize) -> usize {
        match self {
            Self::One => spheres,
            Self::Two { first } => first.min(spheres),
        }
    }
}
