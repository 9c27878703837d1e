//! The spheres of a simulation, sorted so that spheres that are close in space are mostly close in memory.

use rayon::prelude::*;

use super::HardSphere;
use super::SimulationOptions;
use super::boxes::EIGHT;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check};
use super::narrow::narrow;
use super::options::slow_speed;
use super::rows::reserve;
use crate::Error;
use crate::lattice::Lattice;
#[cfg(feature = "serde")]
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;

const MEMORY: &str = "a simulation";

/// The spheres are sorted again after this number of searches for candidates. They move little between two
/// searches, so the order stays good for a while.
const SEARCHES: u32 = 16;

/// Largest number of removed spheres that may be put back into the simulation before all spheres
/// are sorted again. A sphere that is put back may be far in space from its neighbours in memory,
/// which slows the search for candidates.
const RESTORED: u32 = 32;

/// How far a sphere may lie outside the cell of a periodic domain, as a fraction of the cell's
/// edges. A wrapped sphere is far in space from its neighbours in memory, so most spheres are
/// wrapped only when all spheres are sorted.
const BEYOND: f64 = 0.125;

/// The spheres are sorted along a Morton curve. Then each run of this number of successive spheres
/// is sorted again, so that the spheres of each leaf of the tree are close together.
const ARRANGED: usize = 64 * EIGHT;

/// The spheres of a simulation, sorted along a space-filling curve. Inside the simulation, the
/// index of a sphere is its place in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) spheres: Vec<HardSphere>,
    /// For each sphere in the order of the simulation, its index in the caller's order.
    pub(crate) ids: Vec<u32>,
    /// For each sphere in the caller's order, its index in the order of the simulation.
    places: Vec<u32>,
    /// For each sphere in a periodic domain, how many times wrapping has subtracted each edge of the domain
    /// from its centre. Adding the edges as many times gives the centre without wrapping. Empty in open
    /// space.
    pub(crate) cells: Vec<[i32; 3]>,
    /// Time of the last impact of each sphere, for the contact-time model of inelastic impacts.
    /// Empty if this model is not used.
    pub(crate) last: Vec<f64>,
    /// Whether each sphere has been removed.
    pub(crate) removed: Vec<bool>,
    /// Whether each sphere rests, so that gravity does not act on it: see `rest.rs`. Empty if no sphere can rest.
    pub(crate) resting: Vec<bool>,
    /// Number of searches for candidates since all spheres were last sorted.
    age: u32,
    /// Number of removed spheres that have been put back into the simulation since all spheres were
    /// last sorted.
    restored: u32,
    /// No sphere with a smaller index in the caller's order has been removed.
    hole: usize,
}

impl State {
    pub(crate) fn new(
        spheres: &[HardSphere],
        has_cells: bool,
        options: &SimulationOptions,
    ) -> Result<Self, Error> {
        let count = spheres.len();
        let has_last = options.contact_time > 0.0;
        let mut ids = allocate(count, MEMORY)?;
        ids.extend((0..u32::MAX).take(count));
        Ok(Self {
            spheres: copied(spheres)?,
            places: copied(&ids)?,
            ids,
            cells: filled([0; 3], if has_cells { count } else { 0 })?,
            last: filled(f64::NEG_INFINITY, if has_last { count } else { 0 })?,
            resting: filled(false, if slow_speed(options) > 0.0 { count } else { 0 })?,
            removed: filled(false, count)?,
            age: SEARCHES,
            restored: 0,
            hole: count,
        })
    }

    /// Gives the memory of contacts to all spheres if these options need it, or to none.
    pub(crate) fn remember(&mut self, options: &SimulationOptions) -> Result<(), Error> {
        let count = self.spheres.len();
        let has_last = options.contact_time > 0.0;
        let rests = slow_speed(options) > 0.0;
        // If memory runs out, nothing has changed.
        let mut last = None;
        if has_last != (self.last.len() == count) {
            last = Some(filled(f64::NEG_INFINITY, if has_last { count } else { 0 })?);
        }
        if rests != (self.resting.len() == count) {
            self.resting = filled(false, if rests { count } else { 0 })?;
        }
        if let Some(last) = last {
            self.last = last;
        }
        Ok(())
    }

    /// Returns the smallest index, in the caller's order, of a removed sphere.
    pub(crate) fn first_hole(&mut self) -> Option<usize> {
        let mut ids = self.hole..self.places.len();
        let hole = ids.find(|&id| self.removed[self.places[id] as usize]);
        self.hole = hole.unwrap_or(self.places.len());
        hole
    }

    /// Notes that a sphere has been removed.
    pub(crate) fn note_hole(&mut self, id: usize) {
        self.hole = self.hole.min(id);
    }

    /// Adds a sphere at the end of the caller's order.
    pub(crate) fn add(
        &mut self,
        sphere: HardSphere,
        has_cells: bool,
        options: &SimulationOptions,
    ) -> Result<(), Error> {
        let place = narrow(self.spheres.len());
        let Self {
            spheres,
            ids,
            places,
            cells,
            last,
            removed,
            resting,
            ..
        } = self;
        // If memory runs out, nothing has changed.
        reserve(spheres, 1)?;
        reserve(ids, 1)?;
        reserve(places, 1)?;
        reserve(cells, 1)?;
        reserve(last, 1)?;
        reserve(removed, 1)?;
        reserve(resting, 1)?;
        if has_cells {
            cells.push([0; 3]);
        }
        if options.contact_time > 0.0 {
            last.push(f64::NEG_INFINITY);
        }
        if slow_speed(options) > 0.0 {
            resting.push(false);
        }
        spheres.push(sphere);
        ids.push(place);
        places.push(place);
        removed.push(false);
        self.count_restored();
        Ok(())
    }

    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.spheres.code(coder)?;
        self.ids.code(coder)?;
        self.cells.code(coder)?;
        self.last.code(coder)?;
        self.removed.code(coder)?;
        self.resting.code(coder)?;
        self.age.code(coder)?;
        self.restored.code(coder)
    }

    /// Checks what has been read, and completes it.
    #[cfg(feature = "serde")]
    pub(crate) fn check(
        &mut self,
        options: &SimulationOptions,
        is_open: bool,
    ) -> Result<(), String> {
        let count = self.spheres.len();
        let or_none = |has: bool| if has { count } else { 0 };
        let lengths = [
            (self.ids.len(), count),
            (self.removed.len(), count),
            (self.cells.len(), or_none(!is_open)),
            (self.last.len(), or_none(options.contact_time > 0.0)),
            (self.resting.len(), or_none(slow_speed(options) > 0.0)),
        ];
        check(
            lengths.iter().all(|(length, right)| length == right),
            "lists",
        )?;
        check(count <= MAX_SPHERES, "spheres")?;
        self.places = filled(u32::MAX, count).map_err(|error| error.to_string())?;
        for (&id, place) in self.ids.iter().zip(0..) {
            let entry = self.places.get_mut(id as usize);
            check(entry.is_some_and(|entry| *entry == u32::MAX), "indices")?;
            self.places[id as usize] = place;
        }
        for (sphere, &id) in self.spheres.iter().zip(&self.ids) {
            sphere
                .check(id as usize)
                .map_err(|error| error.to_string())?;
        }
        check(!self.last.iter().any(|last| last.is_nan()), "impacts")?;
        check(
            self.age <= SEARCHES && self.restored <= u32::MAX / 2,
            "numbers",
        )?;
        self.hole = 0;
        Ok(())
    }

    fn count_restored(&mut self) {
        self.restored += 1;
        if self.restored > RESTORED {
            self.age = SEARCHES;
        }
    }

    /// Converts a sphere's index in the caller's order to its index in the order of the simulation.
    pub(crate) fn place(&self, id: usize) -> Option<usize> {
        self.places.get(id).map(|&place| place as usize)
    }

    /// Sets the state of every sphere to that in `spheres`, which is in the caller's order.
    pub(crate) fn import(&mut self, spheres: &[HardSphere]) {
        // The caller may have moved spheres far from their neighbours in memory, which would slow
        // the search for candidates. So all spheres are sorted before the next search.
        self.age = SEARCHES;
        for (rests, (sphere, &id)) in self
            .resting
            .iter_mut()
            .zip(self.spheres.iter().zip(&self.ids))
        {
            *rests &= *sphere == spheres[id as usize];
        }
        let all = self.spheres.par_iter_mut().zip(&self.ids);
        all.for_each(|(sphere, &id)| *sphere = spheres[id as usize]);
    }

    /// Puts a removed sphere back into the simulation, with a new state.
    pub(crate) fn restore(&mut self, place: usize, state: HardSphere) {
        self.spheres[place] = state;
        self.removed[place] = false;
        self.count_restored();
        if let Some(cell) = self.cells.get_mut(place) {
            *cell = [0; 3];
        }
        if let Some(last) = self.last.get_mut(place) {
            *last = f64::NEG_INFINITY;
        }
        if let Some(rests) = self.resting.get_mut(place) {
            *rests = false;
        }
    }

    /// Writes the spheres in the caller's order, with centres in the cell of a periodic domain.
    pub(crate) fn export(&self, spheres: &mut [HardSphere], lattice: &Lattice) {
        let all = spheres.par_iter_mut().zip(&self.places);
        all.for_each(|(sphere, &place)| *sphere = self.exported(place as usize, lattice));
    }

    /// Returns a sphere with its centre in the cell of a periodic domain.
    pub(crate) fn exported(&self, place: usize, lattice: &Lattice) -> HardSphere {
        let mut sphere = self.spheres[place];
        if !lattice.is_open() {
            wrap_one(&mut sphere, &mut [0; 3], lattice);
        }
        sphere
    }

    /// Displaces spheres outside the cell of a periodic domain back into the cell. A sphere stays where it is if it is
    /// outside by at most `most` cells along each edge.
    pub(crate) fn wrap(&mut self, most: f64, lattice: &Lattice) {
        let all = self.spheres.par_iter_mut().zip(&mut self.cells);
        all.for_each(|(sphere, cell)| {
            let beyond = lattice.beyond(sphere.place());
            if beyond.iter().all(|&beyond| beyond <= most) && most > 0.0 {
                return;
            }
            wrap_one(sphere, cell, lattice);
        });
    }

    /// Displaces a sphere back into the cell of a periodic domain.
    pub(crate) fn wrap_at(&mut self, place: usize, lattice: &Lattice) {
        if let Some(cell) = self.cells.get_mut(place) {
            wrap_one(&mut self.spheres[place], cell, lattice);
        }
    }

    /// Prepares the spheres for a search for candidates. After [`SEARCHES`] searches, the spheres have moved so
    /// far that their order in memory is renewed.
    pub(crate) fn sort(&mut self, lattice: &Lattice) -> Result<(), Error> {
        self.age += 1;
        if self.age <= SEARCHES {
            self.wrap(BEYOND, lattice);
            return Ok(());
        }
        self.wrap(0.0, lattice);
        let ends = self.spheres.par_iter().map(|sphere| [sphere.place(); 2]);
        let ends = ends.reduce_with(|[a, b], [c, d]| [a.min(c), b.max(d)]);
        let [low, high] = ends.unwrap_or_default();
        let mut keys = allocate(self.spheres.len(), MEMORY)?;
        let all = self.spheres.par_iter().zip(0..u32::MAX);
        let all = all.zip(&self.ids);
        keys.par_extend(all.map(|((sphere, place), &id)| Key {
            code: morton(((sphere.place() - low) / (high - low)).to_array()),
            center: sphere.place().as_vec3().to_array(),
            id,
            place,
        }));
        keys.par_sort_unstable_by_key(|key| (key.code, key.id));
        keys.par_chunks_mut(ARRANGED).for_each(arrange);
        // If memory runs out, nothing has changed.
        let spheres = sorted(&self.spheres, &keys)?;
        let ids = sorted(&self.ids, &keys)?;
        let cells = sorted(&self.cells, &keys)?;
        let last = sorted(&self.last, &keys)?;
        let removed = sorted(&self.removed, &keys)?;
        let resting = sorted(&self.resting, &keys)?;
        (self.spheres, self.ids, self.cells) = (spheres, ids, cells);
        (self.last, self.removed, self.resting) = (last, removed, resting);
        (self.age, self.restored) = (0, 0);
        for (&id, place) in self.ids.iter().zip(0..) {
            self.places[id as usize] = place;
        }
        Ok(())
    }
}

fn wrap_one(sphere: &mut HardSphere, cell: &mut [i32; 3], lattice: &Lattice) {
    // If a centre is just below a face, rounding may put the wrapped centre on the opposite face, which is outside the
    // cell. It is then wrapped a second time.
    for _ in 0..2 {
        let moved = lattice.cell(sphere.place());
        if moved == [0; 3] {
            return;
        }
        sphere.center = (sphere.place() - lattice.shift(moved)).to_array();
        *cell = Lattice::sum(*cell, moved, 1);
    }
}

/// A sphere that is to be sorted.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// Place of the sphere's centre in Morton order, which keeps neighbours in space together.
    code: u64,
    center: [f32; 3],
    /// Index in the caller's order, so that the new order does not depend on the old one.
    id: u32,
    place: u32,
}

/// Sorts spheres so that the spheres of each leaf and of each node of a tree are close together. A
/// plane divides the spheres into two parts, at a boundary between leaves, and each part is then
/// sorted in the same way.
fn arrange(keys: &mut [Key]) {
    if keys.len() <= EIGHT {
        return;
    }
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for key in &*keys {
        for (k, &x) in key.center.iter().enumerate() {
            (low[k], high[k]) = (low[k].min(x), high[k].max(x));
        }
    }
    let length = |k: &usize| high[*k] - low[*k];
    let longest = (0..3).max_by(|one, other| length(one).total_cmp(&length(other)));
    let axis = longest.unwrap_or(0);
    let middle = EIGHT * keys.len().div_ceil(EIGHT).next_power_of_two() / 2;
    keys.select_nth_unstable_by(middle, |one, other| {
        let by_center = one.center[axis].total_cmp(&other.center[axis]);
        by_center.then_with(|| one.id.cmp(&other.id))
    });
    let (first, second) = keys.split_at_mut(middle);
    arrange(first);
    arrange(second);
}

/// Returns the place of a point along a curve that keeps neighbours together (Morton order). The coordinates are
/// shares of a box, from 0 to 1.
fn morton(shares: [f64; 3]) -> u64 {
    let spread = |share: f64| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates"
        )]
        let mut x = ((share * 2_f64.powi(21)) as u64).min((1 << 21) - 1);
        for (shift, mask) in [
            (32, 0x001f_0000_0000_ffff),
            (16, 0x001f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ] {
            x = (x | x << shift) & mask;
        }
        x
    };
    spread(shares[0]) | spread(shares[1]) << 1 | spread(shares[2]) << 2
}

/// Returns the items in the order of the keys. An empty list stays empty.
fn sorted<T: Copy + Send + Sync>(items: &[T], keys: &[Key]) -> Result<Vec<T>, Error> {
    let mut sorted = allocate(items.len(), MEMORY)?;
    let keys = keys[..items.len()].par_iter();
    sorted.par_extend(keys.map(|key| items[key.place as usize]));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Domain;

    /// Puts removed spheres back into the simulation, far in space from their neighbours in memory.
    /// One such sphere does not cause all spheres to be sorted again, but 100 of them do.
    #[test]
    fn many_spheres_that_are_put_back_are_sorted_again() {
        let lattice = Lattice::new(&Domain::open()).expect("open space");
        let options = SimulationOptions::new();
        for (restored, is_sorted) in [(1, false), (100, true)] {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut ball = || HardSphere::new([0; 3].map(|_| rng.f64()), 0.01);
            let spheres: Vec<_> = (0..1000).map(|_| ball()).collect();
            let mut state = State::new(&spheres, false, &options).expect("it fits in memory");
            state.sort(&lattice).expect("it fits in memory");
            for id in 0..restored {
                let place = state.place(id).expect("it exists");
                state.removed[place] = true;
                state.restore(place, ball());
            }
            let mut sorted =
                State::new(&state.spheres, false, &options).expect("it fits in memory");
            sorted.sort(&lattice).expect("it fits in memory");
            state.sort(&lattice).expect("it fits in memory");
            assert_eq!(state.spheres == sorted.spheres, is_sorted);
        }
    }
}
