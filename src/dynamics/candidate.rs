//! A pair of spheres, or a sphere and a wall, that can touch.

use super::report::Partner;
use crate::Error;

/// A pair that can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// The sphere. Of two spheres, it is the one with the smaller index in the caller's list.
    pub(crate) sphere: u32,
    pub(crate) partner: Partner,
    /// This is the periodic image of the second sphere, or of the only sphere if the partner is a
    /// wall. Three whole numbers name an image: how many times each edge of the domain displaces
    /// it.
    pub(crate) image: [i32; 3],
}

impl Candidate {
    #[cfg(feature = "serde")]
    pub(crate) fn parts(&self) -> TouchKey {
        (self.sphere, self.partner, self.image)
    }

    /// Returns the sphere that forms this candidate pair with `sphere`. If the candidate is a
    /// sphere and a wall, returns `sphere`.
    pub(super) fn other_than(&self, sphere: u32) -> u32 {
        let [a, b] = self.ends();
        if a == sphere { b } else { a }
    }

    /// Returns the two spheres of the candidate pair. For a sphere and a wall, returns the sphere twice.
    pub(crate) fn ends(&self) -> [u32; 2] {
        [self.sphere, self.other().unwrap_or(self.sphere)]
    }

    /// Returns the second sphere, or `None` if the candidate is a sphere and a wall.
    pub(crate) fn other(&self) -> Option<u32> {
        match self.partner {
            Partner::Sphere(other) => Some(other),
            Partner::Wall(_) => None,
        }
    }
}

/// A candidate in the list of one of its spheres, which names the other sphere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// The other sphere of the candidate. In a candidate of a sphere and a wall, the sphere itself.
    pub(crate) other: u32,
    /// The whole candidate, if it is stored. It is `None` for a pair in [`CandidateRows`](super::neighbors::CandidateRows), which stores
    /// only the index of the other sphere.
    pub(crate) special: Option<&'a Candidate>,
}

impl Near<'_> {
    /// Returns the candidate pair of a sphere and the sphere `other`, neither of them a periodic
    /// image.
    #[inline]
    pub(crate) fn plain(other: u32) -> Self {
        Self {
            other,
            special: None,
        }
    }

    /// Converts an entry in the candidate list of `sphere` to the whole candidate, which names both spheres.
    pub(crate) fn candidate(&self, sphere: u32, ids: &[u32]) -> Candidate {
        match self.special {
            Some(candidate) => *candidate,
            None => pair([sphere, self.other], [0; 3], ids),
        }
    }
}

/// Makes a [`Candidate`] of two spheres. `image` is the periodic image of the second sphere.
pub(super) fn pair([a, b]: [u32; 2], image: [i32; 3], ids: &[u32]) -> Candidate {
    let (sphere, other, image) = if ids[a as usize] <= ids[b as usize] {
        (a, b, image)
    } else {
        (b, a, image.map(|n| -n))
    };
    Candidate {
        sphere,
        partner: Partner::Sphere(other),
        image,
    }
}

/// Changes the sphere index in an error of the detector: from the index in the detector's step to
/// the index in the caller's list. An error about the second set of the step is not changed. The
/// second set has no spheres of the caller, because it consists of bounding spheres of walls.
pub(crate) fn known(error: Error, ids: &[u32]) -> Error {
    let id = |place: usize| ids.get(place).map_or(place, |&id| id as usize);
    match error {
        Error::InvalidSphere {
            index,
            set: None | Some(0),
            field,
            value,
            limit,
        } => Error::InvalidSphere {
            index: id(index),
            set: None,
            field,
            value,
            limit,
        },
        Error::ImageOutOfRange {
            index,
            set: None | Some(0),
            limit,
        } => Error::ImageOutOfRange {
            index: id(index),
            set: None,
            limit,
        },
        other => other,
    }
}

/// What a touching pair is known by: the caller's index of the sphere, its partner and the image.
pub(crate) type TouchKey = (u32, Partner, [i32; 3]);
