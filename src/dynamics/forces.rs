//! The forces between bodies at rest, and which spheres sleep.
//!
//! A group of touching spheres *sleeps* if all of them rest and lie still. Its forces stay as they are, so nothing has to be
//! computed for it. It wakes up when an impact changes one of its spheres, or when something else comes near.

use glam::DVec3;

use super::candidate::TouchKey;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check, is_known};
use super::report::Partner;
use super::rows::{push, reserve};
use crate::Error;

/// The entry of a sphere that does not sleep.
pub(crate) const AWAKE: u32 = u32::MAX;

/// A touching pair of a group that sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SleepingPair {
    pub(crate) key: TouchKey,
    pub(crate) force: f64,
    pub(crate) group: u32,
    pub(crate) normal: DVec3,
    /// Distance of the centres of two spheres.
    pub(crate) distance: f64,
}

/// The forces of touching pairs in the last substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestForces {
    /// The forces of the pairs that do not sleep, sorted.
    pub(crate) awake: Vec<(TouchKey, f64)>,
    /// The pairs that sleep, sorted.
    pub(crate) sleeping: Vec<SleepingPair>,
    /// For each of the caller's indices, whether the sphere has a force. Empty if none has.
    bearing: Vec<bool>,
    /// For each of the caller's indices, the group with which the sphere sleeps, or [`AWAKE`]. Empty if none sleeps.
    groups: Vec<u32>,
    /// For each of the caller's indices, for how long the sphere has rested and hardly moved.
    pub(crate) calm: Vec<f64>,
    /// The groups that wake up at the end of the substep.
    woken: Vec<u32>,
    /// The radius of the smallest sphere that has slept.
    smallest: f64,
}

impl RestForces {
    /// Returns whether no sphere rests.
    pub(crate) fn is_empty(&self) -> bool {
        self.awake.is_empty() && self.groups.is_empty()
    }

    /// Returns the force of a pair, if it touched, and otherwise `None`.
    pub(crate) fn of(&self, key: &TouchKey) -> Option<f64> {
        let awake = self.awake.binary_search_by_key(key, |(key, _)| *key);
        let asleep = || self.sleeping.binary_search_by_key(key, |pair| pair.key);
        match awake {
            Ok(place) => Some(self.awake[place].1),
            Err(_) => asleep().ok().map(|place| self.sleeping[place].force),
        }
    }

    /// Returns the pairs that touched, each with its force.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&TouchKey, f64)> {
        let asleep = self.sleeping.iter().map(|pair| (&pair.key, pair.force));
        let awake = self.awake.iter().map(|(key, force)| (key, *force));
        awake.chain(asleep)
    }

    /// Wakes all spheres, and forgets the forces of some pairs.
    pub(crate) fn retain(&mut self, keep: impl Fn(&TouchKey) -> bool) {
        self.wake();
        self.awake.retain(|(key, _)| keep(key));
        self.bearing.fill(false);
        for (key, force) in &self.awake {
            bear(&mut self.bearing, key, *force);
        }
    }

    /// Notes that a sphere has just come to its place.
    pub(crate) fn appear(&mut self, id: usize) {
        if let Some(calm) = self.calm.get_mut(id) {
            *calm = 0.0;
        }
    }

    /// Writes the forces, or reads them. There are `counts` spheres and walls.
    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder, counts: [usize; 2]) -> Result<(), String> {
        let Self {
            awake,
            sleeping,
            bearing,
            groups,
            calm,
            woken,
            smallest,
        } = self;
        awake.code(coder)?;
        sleeping.code(coder)?;
        bearing.code(coder)?;
        groups.code(coder)?;
        calm.code(coder)?;
        woken.code(coder)?;
        smallest.code(coder)?;
        let fits = |key: &TouchKey, force: f64| is_known(key, counts) && force.is_finite();
        let valid = awake.iter().all(|(key, force)| fits(key, *force))
            && awake.is_sorted_by_key(|(key, _)| *key);
        let sound = |pair: &SleepingPair| {
            fits(&pair.key, pair.force) && pair.normal.is_finite() && pair.distance.is_finite()
        };
        let asleep = sleeping.iter().all(sound)
            && sleeping.is_sorted_by_key(|pair| pair.key)
            && groups.len() == if sleeping.is_empty() { 0 } else { counts[0] }
            && (woken.is_empty() || !sleeping.is_empty())
            && *smallest >= 0.0;
        let lengths = [bearing.len(), calm.len()];
        let lengths = lengths.iter().all(|&length| length <= counts[0]);
        check(valid && asleep && lengths, "forces")
    }

    /// Returns whether a sphere has a force.
    pub(crate) fn bears(&self, id: u32) -> bool {
        self.sleeps(id) || self.bearing.get(id as usize).is_some_and(|&bears| bears)
    }

    /// Returns whether a sphere sleeps.
    #[inline]
    pub(crate) fn sleeps(&self, id: u32) -> bool {
        self.groups
            .get(id as usize)
            .is_some_and(|&group| group != AWAKE)
    }

    /// Returns the radius of the smallest sphere that has slept, or infinity if none sleeps.
    pub(crate) fn smallest(&self) -> f64 {
        if self.sleeping.is_empty() {
            f64::INFINITY
        } else {
            self.smallest
        }
    }

    /// Forgets the forces of all pairs that do not sleep.
    pub(crate) fn forget(&mut self) {
        self.awake.clear();
        self.bearing.clear();
    }

    /// Prepares for the forces of `spheres` spheres, which [`add`](Self::add) then adds in the order of keys.
    pub(crate) fn begin(&mut self, spheres: usize) -> Result<(), Error> {
        self.forget();
        reserve(&mut self.bearing, spheres)?;
        self.bearing.resize(spheres, false);
        Ok(())
    }

    pub(crate) fn add(&mut self, key: TouchKey, force: f64) -> Result<(), Error> {
        bear(&mut self.bearing, &key, force);
        push(&mut self.awake, (key, force))
    }

    /// Wakes all spheres.
    pub(crate) fn wake(&mut self) {
        self.groups.clear();
        self.woken.clear();
        if reserve(&mut self.awake, self.sleeping.len()).is_err() {
            // The next search for impulses begins without these forces.
            self.sleeping.clear();
        }
        for pair in self.sleeping.drain(..) {
            self.awake.push((pair.key, pair.force));
            bear(&mut self.bearing, &pair.key, pair.force);
        }
        self.awake.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Lets the group of a sphere, if it sleeps, wake up with the next call of [`wake_woken`](Self::wake_woken).
    pub(crate) fn disturb(&mut self, id: u32) -> Result<(), Error> {
        if self.sleeps(id) {
            push(&mut self.woken, self.groups[id as usize])?;
        }
        Ok(())
    }

    /// Wakes the groups that something has disturbed. Adds the places of their spheres to `owed`, which is sorted by place,
    /// with the given time. `ids` has the caller's index of each place.
    pub(crate) fn wake_woken(
        &mut self,
        ids: &[u32],
        owed: &mut Vec<(u32, f64)>,
        time: f64,
    ) -> Result<(), Error> {
        if self.woken.is_empty() {
            return Ok(());
        }
        self.woken.sort_unstable();
        let woken = |group: u32| self.woken.binary_search(&group).is_ok();
        for (place, &id) in (0..).zip(ids) {
            let group = &mut self.groups[id as usize];
            if *group != AWAKE && woken(*group) {
                *group = AWAKE;
                push(owed, (place, time))?;
            }
        }
        for pair in self.sleeping.iter().filter(|pair| woken(pair.group)) {
            push(&mut self.awake, (pair.key, pair.force))?;
            bear(&mut self.bearing, &pair.key, pair.force);
        }
        owed.sort_unstable_by_key(|(place, _)| *place);
        self.awake.sort_unstable_by_key(|(key, _)| *key);
        self.sleeping.retain(|pair| !woken(pair.group));
        self.woken.clear();
        if self.sleeping.is_empty() {
            self.groups.clear();
        }
        Ok(())
    }

    /// Puts spheres to sleep: each has the caller's index, the number of its group and its radius. `pairs` are all
    /// pairs of these groups.
    pub(crate) fn sleep(
        &mut self,
        ids: usize,
        spheres: &[(u32, u32, f64)],
        pairs: &[SleepingPair],
    ) -> Result<(), Error> {
        if pairs.is_empty() {
            return Ok(());
        }
        if self.groups.is_empty() {
            reserve(&mut self.groups, ids)?;
            self.groups.resize(ids, AWAKE);
            self.smallest = f64::INFINITY;
        }
        for &(id, group, radius) in spheres {
            self.groups[id as usize] = group;
            self.smallest = self.smallest.min(radius);
        }
        for &pair in pairs {
            push(&mut self.sleeping, pair)?;
        }
        self.sleeping.sort_unstable_by_key(|pair| pair.key);
        let groups = &self.groups;
        let sleeps = |key: &TouchKey| ends(key).iter().any(|&id| groups[id as usize] != AWAKE);
        self.awake.retain(|(key, _)| !sleeps(key));
        Ok(())
    }
}

/// Returns the caller's indices of the two spheres of a pair, or twice that of the sphere at a wall.
fn ends(&(sphere, partner, _): &TouchKey) -> [u32; 2] {
    match partner {
        Partner::Sphere(other) => [sphere, other],
        Partner::Wall(_) => [sphere; 2],
    }
}

#[cfg(feature = "serde")]
impl Coded for SleepingPair {
    fn blank() -> Self {
        Self {
            key: TouchKey::blank(),
            force: 0.0,
            group: 0,
            normal: DVec3::ZERO,
            distance: 0.0,
        }
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.key.code(coder)?;
        self.force.code(coder)?;
        self.group.code(coder)?;
        self.normal.code(coder)?;
        self.distance.code(coder)
    }
}

fn bear(bearing: &mut [bool], key: &TouchKey, force: f64) {
    for id in ends(key) {
        if let Some(bears) = bearing.get_mut(id as usize) {
            *bears |= force > 0.0;
        }
    }
}
