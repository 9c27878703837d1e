//! Requests of neighbour lists on the GPU, and access to the lists.

use super::collision_buffers::CollisionBuffers;
use super::neighbors::Neighbors;
use super::record_step::{Extras, Ready};
use crate::gpu::device::shader::layout::NeighborRequest;
use crate::gpu::input::device_spheres::{DeviceSpheres, SphereMotion};
use crate::gpu::input::host_step::HostStep;
use crate::neighbors::Rule;
use crate::number::sealed::Numbers as _;
use crate::{Error, NeighborSearch, Step, Values};

/// Devices that flush subnormal numbers would round far smaller lengths to 0.
const MIN_REACH: f32 = 1.0 / (1_u128 << 100) as f32;

impl NeighborRequest {
    /// The kernels add `padding` to the radii of spheres in buffers of the application. It
    /// is 0 for those on the host, which has enlarged them already.
    fn new<S>(search: &NeighborSearch<'_, S>, padding: f32) -> Self {
        let domain = search.domain();
        let (by_radii, cutoff) = match search.rule {
            Rule::Cutoff(cutoff) => (0, f32::nearest(cutoff)),
            Rule::Radii => (1, 0.0),
        };
        let skin = f32::nearest(search.skin);
        let half = skin / 2.0;
        Self {
            corner: domain.origin_f32(),
            periodic: u32::from(!domain.is_open()),
            edges: [0, 1, 2].map(|k| {
                let [x, y, z] = domain.periodic_edge(k).as_vec3().to_array();
                [x, y, z, 0.0]
            }),
            cutoff,
            skin,
            by_radii,
            full: u32::from(search.full),
            padding,
            inverse_reach: if half >= MIN_REACH { 1.0 / half } else { 0.0 },
            made: 1,
            unused: 0,
        }
    }
}

impl<'a> NeighborSearch<'a, DeviceSpheres<'a>> {
    /// Requests all pairs of particles whose distance is at most `cutoff`, for
    /// [`CollisionBuffers::record_neighbors`].
    ///
    /// The particles are the centres of spheres in GPU buffers of the application. Radii and
    /// motions do not count and are not read.
    pub fn within_on_device(spheres: DeviceSpheres<'a>, cutoff: f32) -> Self {
        Self::new(spheres, Rule::Cutoff(cutoff.into()))
    }

    /// Requests all pairs of spheres whose centres are at most the sum of their radii apart, for
    /// [`CollisionBuffers::record_neighbors`].
    ///
    /// The spheres are in GPU buffers of the application. Their motions do not count and are not
    /// read.
    pub fn touching_on_device(spheres: DeviceSpheres<'a>) -> Self {
        Self::new(spheres, Rule::Radii)
    }
}

pub(crate) fn ready_host(
    search: &NeighborSearch<'_>,
    buffers: &mut CollisionBuffers,
) -> Result<Ready, Error> {
    let mut searched = std::mem::take(&mut buffers.asked_neighbors(search.full)?.searched);
    let request = NeighborRequest::new(search, 0.0);
    let ready = search.searched(&mut searched).and_then(|()| {
        let step = HostStep::checked(&searched, None, 0.0, *search.domain(), false)?;
        let extras = Extras {
            request: Some(request),
            ..Extras::default()
        };
        buffers.ready_host(&step, extras, None)
    });
    if let Some(neighbors) = &mut buffers.neighbors {
        neighbors.searched = searched;
    }
    ready
}

pub(crate) fn ready_device(
    search: &NeighborSearch<'_, DeviceSpheres<'_>>,
    buffers: &mut CollisionBuffers,
) -> Result<Ready, Error> {
    buffers.asked_neighbors(search.full)?;
    search.check_lengths::<f32>()?;
    search.domain().check::<f32>()?;
    let (radius, padding) = match search.rule {
        Rule::Cutoff(_) => (Values::Constant(search.reach(0.0)), 0.0),
        Rule::Radii => (search.spheres.radius, f32::nearest(search.skin) / 2.0),
    };
    let spheres = DeviceSpheres {
        radius,
        motion: SphereMotion::Still,
        ..search.spheres
    };
    let request = NeighborRequest::new(search, padding);
    let step = Step::on_device(spheres, 0.0).in_domain(search.domain());
    buffers.ready_device(&step, Some(request))
}

impl CollisionBuffers {
    fn asked_neighbors(&mut self, full: bool) -> Result<&mut Neighbors, Error> {
        if full && self.reductions.contacts.is_none() {
            return Err(Error::NotAskedFor { option: "contacts" });
        }
        let option = "neighbors";
        self.neighbors.as_mut().ok_or(Error::NotAskedFor { option })
    }

    fn made_neighbors(&self) -> Result<&Neighbors, Error> {
        let option = "neighbors";
        self.neighbors.as_ref().ok_or(Error::NotAskedFor { option })
    }

    /// Returns the GPU buffer of the neighbour list of the last search: an `array<CaromNeighbor>`
    /// of [`WGSL`](crate::gpu::WGSL), in the order of a [`NeighborList`](crate::NeighborList).
    ///
    /// The first `neighbors` elements are valid, where `neighbors` is a field of the
    /// [`results`](Self::results). The list also has the pairs for which float32 cannot decide
    /// whether they are neighbours. These pairs are marked as `grazing`.
    ///
    /// The buffer has room for as many entries as the list of pairs. With the option
    /// [`contacts`](crate::gpu::BufferOptions::with_contacts), which full lists need, it has room for twice
    /// as many. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_neighbors`](crate::gpu::BufferOptions::with_neighbors) was not
    /// set.
    pub fn neighbors(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.list)
    }

    /// Returns the GPU buffer with the vector from particle i to the image of particle j in `xyz`
    /// and its length in `w`, for each entry of [`neighbors`](Self::neighbors): an
    /// `array<vec4<f32>>`.
    ///
    /// The vectors to neighbours are computed from the positions at the latest search, even if that search
    /// reused the list of an earlier search. A vector is the difference of two positions. In a periodic
    /// domain, the displacement of the image is added: the three edges, each times a whole number. The shader
    /// adds all these terms in float32. It also computes the rounding errors of the additions, and adds them
    /// to the sum. It does not correct the rounding error of an edge times a whole number; this error is 0 if
    /// the number is −1, 0 or 1. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbor_vectors(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.vectors)
    }

    /// Returns the GPU buffer of the offsets at which the entries of each particle begin in
    /// [`neighbors`](Self::neighbors): an `array<u32>` with one element more than the capacity for
    /// spheres. The entries of particle i end before the offset in element i + 1. Usages: `STORAGE`
    /// and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbor_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.offsets)
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the entries of
    /// the neighbour list [`neighbors`](Self::neighbors). It has one invocation per entry, in
    /// workgroups of `CAROM_WORKGROUP` invocations.
    ///
    /// The dispatch may have two dimensions. To get the index of its entry, an invocation passes
    /// the number of workgroups along x to `carom_index()`: the field `neighbor_columns` of the
    /// [`results`](Self::results). Usages: `INDIRECT` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbors_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.dispatch)
    }
}
