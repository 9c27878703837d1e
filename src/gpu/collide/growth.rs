//! Replaces the GPU buffers of a world of spheres by larger ones.

use super::buffers::{BufferCapacity, Buffers};
use super::collision_buffers::{CollisionBuffers, Outgrown};
use super::sized_parts::SizedParts;
use crate::gpu::results::capacity::{Capacity, MeshCapacity};
use crate::limits::{MAX_SPHERES, most_images, most_proxies, most_proxies_in_cell};
use crate::{Error, MAX_MAGNITUDE};

/// One and a half times `needed`, within `needed` and `most`, so that a slowly growing world
/// does not need new buffers in each step.
fn with_room(needed: u64, most: u64) -> u64 {
    needed.max(needed.saturating_add(needed / 2).min(most))
}

fn of_mesh(required: &Capacity, mesh: &CollisionBuffers) -> Capacity {
    let MeshCapacity {
        segments,
        pairs,
        images,
        segment,
    } = required.mesh;
    Capacity {
        segments,
        pairs,
        images,
        segment,
        ..Capacity::for_spheres(mesh.buffers.capacity.spheres)
    }
}

type Larger = (SizedParts, Option<Box<CollisionBuffers>>);

struct Growth {
    capacity: BufferCapacity,
    /// Also in the search for spheres near triangles.
    shortest: f32,
    shortest_at_mesh: Option<f32>,
}

impl CollisionBuffers {
    /// Grows the buffers to the capacity that a step required, plus half of it as a reserve,
    /// without blocking the thread. No capacity shrinks.
    ///
    /// In a browser, if the device is out of memory, only a later call returns the error.
    /// [`grow_async`](Self::grow_async) waits for the error instead.
    ///
    /// Returns whether carom has replaced its buffers. If so, recreate the application's bind
    /// groups that contain them. Existing tickets remain valid, but nothing new can be read back
    /// before the next recording. An existing ticket may still report that its step required more
    /// capacity, although the new buffers already have this capacity. The
    /// [`changes`](Self::changes) continue from the last step with a complete list of pairs.
    ///
    /// A step without room for its time segments or images ends before it counts pairs. So a step
    /// after the first growth may require more pairs.
    ///
    /// In a world of N spheres, spheres and time segments together are limited. The limit is the
    /// least of `16 N + 2¹⁸`, `N + N²/32`, 2³¹ and the number that the device can bind. If a step
    /// required more, the following steps use longer segments instead.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::DeviceLimit`] or [`Error::Device`] if the device cannot hold buffers of the
    ///   required capacity.
    /// - [`Error::TooManyImages`] if the spheres have too many images in the cell of a periodic
    ///   domain.
    /// - [`Error::TooManySpheres`] if `required` has more spheres than carom supports.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, the buffers are unchanged.
    pub fn grow(&mut self, required: &Capacity) -> Result<bool, Error> {
        let growth = self.growth(required)?;
        let parts = match self.larger(&growth) {
            Some(make) => Some(self.kernels.context.scoped_for(&self.late, make)?),
            None => None,
        };
        Ok(self.apply(&growth, parts))
    }

    /// Grows the buffers as [`grow`](Self::grow) does, and waits until the device has created the new
    /// ones. If the future is dropped before it completes, the buffers are unchanged.
    ///
    /// # Errors
    /// Returns the same errors as [`grow`](Self::grow).
    pub async fn grow_async(&mut self, required: &Capacity) -> Result<bool, Error> {
        let growth = self.growth(required)?;
        let parts = match self.larger(&growth) {
            Some(make) => Some(self.kernels.context.scoped_async(make).await?),
            None => None,
        };
        Ok(self.apply(&growth, parts))
    }

    fn growth(&self, required: &Capacity) -> Result<Growth, Error> {
        let (mut capacity, shortest) = self.grown(required)?;
        let mesh = self.mesh.as_ref();
        let mesh = mesh.map(|mesh| mesh.grown(&of_mesh(required, mesh)));
        let shortest_at_mesh = mesh.transpose()?.map(|(grown, shortest)| {
            capacity.mesh_segments = grown.segments;
            capacity.mesh_pairs = grown.pairs;
            shortest
        });
        Ok(Growth {
            capacity,
            shortest,
            shortest_at_mesh,
        })
    }

    /// `None` if the present ones suffice. The function must be called inside a wgpu error scope.
    fn larger(&self, growth: &Growth) -> Option<impl FnOnce() -> Result<Larger, Error>> {
        let capacity = growth.capacity;
        (capacity != self.buffers.capacity).then_some(move || {
            self.kernels.context.probe()?;
            CollisionBuffers::sized(&self.kernels, capacity, &self.options)
        })
    }

    /// Returns whether there are any.
    fn apply(&mut self, growth: &Growth, larger: Option<Larger>) -> bool {
        let grows = larger.is_some();
        if let Some(parts) = larger {
            self.replace(parts);
        }
        self.shortest_segment = growth.shortest;
        if let (Some(mesh), Some(shortest)) = (&mut self.mesh, growth.shortest_at_mesh) {
            mesh.shortest_segment = shortest;
        }
        grows
    }

    pub(crate) fn grown(&self, required: &Capacity) -> Result<(BufferCapacity, f32), Error> {
        let had = self.buffers.capacity;
        let limits = &self.kernels.context.limits;
        let most = Buffers::most_proxies(limits);
        let mut capacity = had;
        if required.spheres > had.spheres {
            if required.spheres > MAX_SPHERES as u64 {
                return Err(Error::TooManySpheres {
                    count: required.spheres as usize,
                    limit: MAX_SPHERES,
                });
            }
            capacity.spheres = with_room(required.spheres, (most / 2).min(MAX_SPHERES as u64));
        }
        let room = most.saturating_sub(capacity.spheres);
        let mut shortest_segment = self.shortest_segment;
        if required.segments > had.segments {
            // Longer segments do not help against too many images, so these have a
            // limit of their own.
            let images = required.images.min(required.segments);
            let limit = most_images(required.spheres as usize);
            if images > limit {
                let needed = images;
                return Err(Error::TooManyImages { needed, limit });
            }
            let all = required.spheres.saturating_add(required.segments - images);
            let worth = if images > 0 {
                most_proxies_in_cell(required.spheres as usize)
            } else {
                most_proxies(required.spheres as usize)
            };
            if all > worth.min(most) && shortest_segment < MAX_MAGNITUDE {
                // Later steps use segments of at least twice the length. If
                // several steps in flight have too many, the length is doubled
                // only once.
                shortest_segment = shortest_segment.max(2.0 * required.segment);
            } else if images > 0 && required.segments > room {
                return Err(Error::DeviceLimit {
                    what: "the images of the spheres",
                    limit: "max_storage_buffer_binding_size",
                    needed: required.spheres.saturating_add(required.segments),
                    available: most,
                });
            } else {
                capacity.segments = with_room(required.segments, room);
            }
        }
        capacity.segments = capacity.segments.min(room);
        if required.pairs > had.pairs {
            capacity.pairs = with_room(required.pairs, Buffers::most_pairs(limits));
        }
        if had.has_walls() && required.wall_collisions > had.wall_collisions {
            let most = Buffers::most_pairs(limits);
            capacity.wall_collisions = with_room(required.wall_collisions, most);
        }
        Ok((capacity, shortest_segment))
    }

    fn replace(&mut self, (parts, mesh): Larger) {
        let SizedParts {
            buffers,
            recording,
            reductions,
            neighbors,
        } = parts;
        self.buffers = buffers;
        self.recording = recording;
        self.neighbors = neighbors;
        self.mesh = mesh;
        let old = std::mem::replace(&mut self.reductions, reductions);
        // Of two generations of old buffers, only the first holds the pairs of the last
        // complete step.
        self.outgrown.get_or_insert(Outgrown {
            reductions: old,
            copied_by: None,
        });
        self.loads.clear();
        self.gathering = None;
        self.recorded = None;
    }
}
