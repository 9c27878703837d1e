//! What ranks pass to the detector: their spheres, and a step or a search.

use std::borrow::Cow;

use carom::{Domain, Walls};

use crate::Real;

/// The spheres that one rank passes, with their indices among the spheres of all ranks.
///
/// Ranks may pass spheres in any distribution: by place, by index, or all on one rank. Each sphere must be passed by one
/// rank only, and each must have another index.
///
/// Spheres that are passed as vectors are dropped as soon as they have been sent, which saves their memory.
#[derive(Clone, Debug)]
pub struct Part<'a, T: Real> {
    pub(crate) spheres: Cow<'a, [T::Sphere]>,
    pub(crate) indices: Indices<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Indices<'a> {
    From(u64),
    Each(Cow<'a, [u64]>),
}

impl Indices<'_> {
    pub(crate) fn of(&self, k: usize) -> u64 {
        match self {
            Self::From(first) => first.saturating_add(k as u64),
            Self::Each(indices) => indices.get(k).copied().unwrap_or(u64::MAX),
        }
    }
}

impl<'a, T: Real> Part<'a, T> {
    /// Returns spheres with these indices, which may be in any order: slices, or vectors.
    pub fn new(
        spheres: impl Into<Cow<'a, [T::Sphere]>>,
        indices: impl Into<Cow<'a, [u64]>>,
    ) -> Self {
        Self {
            spheres: spheres.into(),
            indices: Indices::Each(indices.into()),
        }
    }

    /// Returns spheres with the indices `first`, `first + 1` and so on.
    pub fn starting_at(first: u64, spheres: impl Into<Cow<'a, [T::Sphere]>>) -> Self {
        Self {
            spheres: spheres.into(),
            indices: Indices::From(first),
        }
    }
}

/// A time step of the spheres of all ranks, as [`carom::Step`] is one of the spheres of one machine.
///
/// Each rank passes its own spheres. `dt`, the domain and the walls must be the same on all ranks.
#[derive(Clone, Debug)]
pub struct DistributedStep<'a, T: Real> {
    pub(crate) first: Part<'a, T>,
    pub(crate) second: Option<Part<'a, T>>,
    pub(crate) dt: T,
    pub(crate) domain: Domain,
    pub(crate) walls: Option<&'a Walls<T>>,
}

impl<'a, T: Real> DistributedStep<'a, T> {
    /// Requests the pairs within one set of spheres, as [`carom::Step::new`].
    pub fn new(spheres: Part<'a, T>, dt: T) -> Self {
        Self {
            first: spheres,
            second: None,
            dt,
            domain: Domain::open(),
            walls: None,
        }
    }

    /// Requests the pairs with one sphere from each of two sets, as [`carom::Step::between`]. Each set has indices of
    /// its own.
    pub fn between(first: Part<'a, T>, second: Part<'a, T>, dt: T) -> Self {
        Self {
            second: Some(second),
            ..Self::new(first, dt)
        }
    }

    /// Returns the same step in a domain instead of open space.
    #[must_use]
    pub fn in_domain(mut self, domain: &Domain) -> Self {
        self.domain = *domain;
        self
    }

    /// Returns the same step with walls.
    #[must_use]
    pub fn with_walls(mut self, walls: &'a Walls<T>) -> Self {
        self.walls = Some(walls);
        self
    }
}

/// A search for the neighbours of the particles of all ranks, as [`carom::NeighborSearch`] is one on one machine.
#[derive(Clone, Debug)]
pub struct DistributedSearch<'a, T: Real> {
    pub(crate) particles: Part<'a, T>,
    /// `None` for spheres that touch.
    pub(crate) cutoff: Option<T>,
    pub(crate) skin: Option<T>,
    pub(crate) full: bool,
    pub(crate) domain: Domain,
}

impl<'a, T: Real> DistributedSearch<'a, T> {
    /// Requests all pairs of particles whose distance is at most `cutoff`.
    pub fn within(particles: Part<'a, T>, cutoff: T) -> Self {
        Self {
            particles,
            cutoff: Some(cutoff),
            skin: None,
            full: false,
            domain: Domain::open(),
        }
    }

    /// Requests all pairs of spheres that touch.
    pub fn touching(particles: Part<'a, T>) -> Self {
        Self {
            particles,
            cutoff: None,
            skin: None,
            full: false,
            domain: Domain::open(),
        }
    }

    /// Returns the same request in a domain instead of open space.
    #[must_use]
    pub fn in_domain(mut self, domain: &Domain) -> Self {
        self.domain = *domain;
        self
    }

    /// Returns the same request, but for a list that has each pair of particles twice.
    #[must_use]
    pub fn full(mut self) -> Self {
        self.full = true;
        self
    }

    /// Returns the same request with a skin: see [`carom::NeighborSearch::with_skin`].
    #[must_use]
    pub fn with_skin(mut self, skin: T) -> Self {
        self.skin = Some(skin);
        self
    }
}
