//! Tests the straight paths of spheres: which of them leave their pads, and which meet.

use std::slice::from_ref;

use glam::DVec3;

use super::HardSphere;
use super::candidate::Near;
use super::contact::ContactPair;
use super::flights::Four;
use super::predict::meeting;
use super::report::Partner;
use super::rows::push;
use super::setting::Setting;
use crate::Error;
use crate::lanes::Bits;

/// Results of moving spheres along straight paths for a substep: the spheres that leave their pads,
/// and the pairs that meet.
#[derive(Debug, Default)]
pub(super) struct Straight {
    pub(super) leavers: Vec<(u32, f64)>,
    pub(super) hits: Vec<[u32; 2]>,
    /// How many of the pairs in `hits` meet after the start of the substep, and not at the start itself.
    pub(super) ahead: usize,
}

impl Straight {
    pub(super) fn note(&mut self, is_ahead: bool, ends: [u32; 2]) -> Result<(), Error> {
        self.ahead += usize::from(is_ahead);
        push(&mut self.hits, ends)
    }
}

impl Setting<'_> {
    /// Returns whether a sphere without impacts certainly stays within its pad.
    #[inline]
    fn stays(&self, index: u32, sphere: &HardSphere) -> bool {
        let away = sphere.place() - self.candidates.origin(index);
        let travel = sphere.motion() * self.duration;
        let farthest = away.length_squared().max((away + travel).length_squared());
        let pad = self.candidates.pad(index) * (1.0 - 1e-9) - 2.0 * self.falls;
        pad >= 0.0 && farthest <= pad * pad
    }

    /// Tests the straight path of a sphere: whether the sphere leaves its pad, and
    /// which walls and which spheres of larger index it meets.
    #[inline]
    pub(super) fn test_straight(&self, index: u32, straight: &mut Straight) -> Result<(), Error> {
        let sphere = &self.spheres[index as usize];
        if !self.stays(index, sphere) {
            let piece = self.straight(index);
            let moved = self.distance_moved(index, from_ref(&piece), self.duration);
            // If the distance moved is NaN, the sphere counts as having left its pad. The search
            // that then widens the pad reports the sphere as invalid.
            if moved.is_nan() || moved > self.candidates.pad(index) {
                push(&mut straight.leavers, (index, moved))?;
            }
        }
        let (flights, units) = self.candidates.flights();
        let probe = units.probe_of(&flights[index as usize], self.duration);
        for (others, count) in self.candidates.neighbors().groups_of_larger(index) {
            let mut may_meet = probe.may_meet(&Four::new(flights, others));
            if self.mixed {
                may_meet |= self.unlike(self.falls(index), others);
            }
            may_meet &= (1 << count) - 1;
            for lane in Bits(may_meet) {
                let near = Near::plain(others[lane]);
                if let Some(time) = self.meets_straight(index, near) {
                    straight.note(self.is_ahead(index, near, time), [index, near.other])?;
                }
            }
        }
        let sleeps = self.sleeps(index);
        for near in self.candidates.special_of(index) {
            if near.other < index || (sleeps && self.is_still(near)) {
                continue;
            }
            if let Some(time) = self.meets_straight(index, near) {
                straight.note(self.is_ahead(index, near, time), [index, near.other])?;
            }
        }
        Ok(())
    }

    /// Returns whether the partner of a sphere that sleeps does not move.
    fn is_still(&self, near: Near<'_>) -> bool {
        match near.special.map(|candidate| candidate.partner) {
            Some(Partner::Wall(wall)) => self.walls.get(wall).motion.velocity == DVec3::ZERO,
            _ => self.sleeps(near.other),
        }
    }

    /// Returns whether a meeting at the given time counts for the duration of substeps. A shorter substep would have the
    /// same meetings at its very start, so these do not count, and nor do slow impacts.
    fn is_ahead(&self, index: u32, near: Near<'_>, time: f64) -> bool {
        if time <= 0.0 || self.slow == 0.0 || !(self.mixed || self.rest.is_some()) {
            return time > 0.0;
        }
        let candidate = near.candidate(index, self.ids);
        if self.lasts(&candidate) {
            return false;
        }
        let [a, b] = candidate.ends().map(|sphere| self.straight(sphere));
        ContactPair::new(&candidate, self)
            .blow(&a, &b, time)
            .approach
            >= self.slow
    }

    /// Returns the time at which a sphere and its partner in a candidate meet
    /// on straight paths, if they do.
    #[inline]
    fn meets_straight(&self, index: u32, near: Near<'_>) -> Option<f64> {
        if let Some(candidate) = near.special {
            return self.hit(candidate);
        }
        let [sphere, other] = [index, near.other].map(|index| &self.spheres[index as usize]);
        let [a, b] = [index, near.other].map(|index| self.straight(index));
        if a.falls != b.falls {
            return self.hit(&near.candidate(index, self.ids));
        }
        let reach = sphere.radius + other.radius;
        meeting(&a, &b, DVec3::ZERO, reach, [0.0, self.duration])
    }
}
