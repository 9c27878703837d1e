//! Larger buffers for a world that outgrew its own.

use super::buffers::{Buffers, Capacity};
use super::collision_buffers::{CollisionBuffers, Outgrown};
use super::sized_parts::SizedParts;
use super::summary::RequiredCapacity;
use crate::limits::{MAX_SPHERES, most_proxies};
use crate::{Error, MAX_MAGNITUDE};

/// A capacity for `needed`, and half as much again as far as the device has it: a
/// world that grows a little with each step does not get new buffers each time.
fn with_room(needed: u64, most: u64) -> u64 {
    needed.max(needed.saturating_add(needed / 2).min(most))
}

impl CollisionBuffers {
    /// Makes room for what a step required, and half as much again; nothing is made
    /// smaller. Returns whether the buffers are new ones: then bind groups of the
    /// application that hold one of them have to be made anew, and nothing can be read
    /// before the next recording. Tickets stay good (those of frames that were in
    /// flight may tell of the same requirement again, which is then met), and
    /// [`changes`](Self::changes) continue from the last step whose list was whole.
    ///
    /// Where segments would take more memory than 16 times the spheres, or more than
    /// the device has, they become longer instead.
    ///
    /// # Errors
    /// [`Error::DeviceLimit`], [`Error::Device`] if the device cannot hold as much;
    /// [`Error::TooManySpheres`]. The buffers are then what they were.
    pub fn grow(&mut self, required: &RequiredCapacity) -> Result<bool, Error> {
        let (capacity, shortest_segment) = self.grown(required)?;
        let grows = capacity != self.buffers.capacity;
        if grows {
            self.resize(capacity)?;
        }
        self.shortest_segment = shortest_segment;
        Ok(grows)
    }

    /// The capacity that meets a requirement, and how short segments may be then.
    pub(super) fn grown(&self, required: &RequiredCapacity) -> Result<(Capacity, f32), Error> {
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
            let all = required.spheres.saturating_add(required.segments);
            if all > most_proxies(required.spheres as usize).min(most)
                && shortest_segment < MAX_MAGNITUDE
            {
                // Longer segments, as on the CPU; once for all steps that were in
                // flight together.
                shortest_segment = shortest_segment.max(2.0 * required.segment);
            } else {
                capacity.segments = with_room(required.segments, room);
            }
        }
        capacity.segments = capacity.segments.min(room);
        if required.pairs > had.pairs {
            capacity.pairs = with_room(required.pairs, Buffers::most_pairs(limits));
        }
        Ok((capacity, shortest_segment))
    }

    fn resize(&mut self, capacity: Capacity) -> Result<(), Error> {
        let context = &self.kernels.context;
        let SizedParts {
            buffers,
            recording,
            reductions,
        } = context.scoped(|| {
            context.probe()?;
            SizedParts::new(&self.kernels, capacity, self.options.wanted())
        })?;
        self.buffers = buffers;
        self.recording = recording;
        let old = std::mem::replace(&mut self.reductions, reductions);
        // If no step came between two growths, the oldest reductions have the pairs.
        self.outgrown.get_or_insert(Outgrown {
            reductions: old,
            copied_by: None,
        });
        self.loads.clear();
        self.gathering = None;
        self.recorded = None;
        self.options.set(capacity);
        Ok(())
    }
}
