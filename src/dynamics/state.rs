//! The state of a simulation, in an order in which neighbours are mostly near each other in memory.

use rayon::prelude::*;

use super::HardSphere;
use super::boxes::morton;
use crate::Error;
use crate::memory::allocate;

const MEMORY: &str = "a simulation";

/// Number of searches for candidates for which an order is kept. The spheres move little meanwhile.
const SEARCHES: u32 = 16;

/// The spheres in the order of a curve through space, in which the whole simulation numbers them.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) spheres: Vec<HardSphere>,
    /// The index that the caller knows each sphere by.
    pub(crate) ids: Vec<u32>,
    /// The place of each sphere that the caller knows by an index.
    places: Vec<u32>,
    /// Cell of each sphere in a periodic domain: its place without wrapping is its centre plus the displacement
    /// of this image. Empty in open space.
    pub(crate) cells: Vec<[i32; 3]>,
    /// Time of the last impact of each sphere. Empty if there is no contact time.
    pub(crate) last: Vec<f64>,
    /// Whether each sphere has been removed.
    pub(crate) removed: Vec<bool>,
    /// Number of searches since the spheres were sorted.
    age: u32,
}

impl State {
    pub(crate) fn new(
        spheres: &[HardSphere],
        has_cells: bool,
        has_last: bool,
    ) -> Result<Self, Error> {
        let count = spheres.len();
        let mut ids = allocate(count, MEMORY)?;
        ids.extend((0..u32::MAX).take(count));
        Ok(Self {
            spheres: copied(spheres)?,
            places: copied(&ids)?,
            ids,
            cells: filled([0; 3], if has_cells { count } else { 0 })?,
            last: filled(f64::NEG_INFINITY, if has_last { count } else { 0 })?,
            removed: filled(false, count)?,
            age: SEARCHES,
        })
    }

    /// Returns the place of a sphere that the caller knows by an index.
    pub(crate) fn place(&self, id: usize) -> Option<usize> {
        self.places.get(id).map(|&place| place as usize)
    }

    /// Takes the spheres in the caller's order.
    pub(crate) fn import(&mut self, spheres: &[HardSphere]) {
        let all = self.spheres.par_iter_mut().zip(&self.ids);
        all.for_each(|(sphere, &id)| *sphere = spheres[id as usize]);
    }

    /// Puts a removed sphere back, with a new state.
    pub(crate) fn restore(&mut self, place: usize, state: HardSphere) {
        self.spheres[place] = state;
        self.removed[place] = false;
        if let Some(cell) = self.cells.get_mut(place) {
            *cell = [0; 3];
        }
        if let Some(last) = self.last.get_mut(place) {
            *last = f64::NEG_INFINITY;
        }
    }

    /// Writes the spheres in the caller's order.
    pub(crate) fn export(&self, spheres: &mut [HardSphere]) {
        let all = spheres.par_iter_mut().zip(&self.places);
        all.for_each(|(sphere, &place)| *sphere = self.spheres[place as usize]);
    }

    /// Sorts the spheres if they have not been sorted for some searches.
    pub(crate) fn sort(&mut self) -> Result<(), Error> {
        self.age += 1;
        if self.age <= SEARCHES {
            return Ok(());
        }
        self.age = 0;
        let ends = self.spheres.par_iter().map(|sphere| [sphere.center; 2]);
        let ends = ends.reduce_with(|[a, b], [c, d]| [a.min(c), b.max(d)]);
        let [low, high] = ends.unwrap_or_default();
        let count = self.spheres.len();
        let mut keys: Vec<(u64, u32)> = allocate(count, MEMORY)?;
        let all = self.spheres.par_iter().zip(0..u32::MAX);
        keys.par_extend(all.map(|(sphere, place)| {
            let shares = (sphere.center - low) / (high - low);
            (morton(shares.to_array()), place)
        }));
        keys.par_sort_unstable();
        self.spheres = sorted(&self.spheres, &keys)?;
        self.ids = sorted(&self.ids, &keys)?;
        self.cells = sorted(&self.cells, &keys)?;
        self.last = sorted(&self.last, &keys)?;
        self.removed = sorted(&self.removed, &keys)?;
        for (&id, place) in self.ids.iter().zip(0..) {
            self.places[id as usize] = place;
        }
        Ok(())
    }
}

/// Returns the items in the order of the keys. An empty list stays empty.
fn sorted<T: Copy + Send + Sync>(items: &[T], keys: &[(u64, u32)]) -> Result<Vec<T>, Error> {
    let mut sorted = allocate(items.len(), MEMORY)?;
    let keys = keys[..items.len()].par_iter();
    sorted.par_extend(keys.map(|&(_, place)| items[place as usize]));
    Ok(sorted)
}

/// Returns a list of equal items.
fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>, Error> {
    let mut list = allocate(count, MEMORY)?;
    list.resize(count, item);
    Ok(list)
}

/// Returns a copy of a list.
pub(crate) fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>, Error> {
    let mut copy = allocate(items.len(), MEMORY)?;
    copy.extend_from_slice(items);
    Ok(copy)
}
