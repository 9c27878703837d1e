//! A table with a row of entries for each sphere, such as the pairs with this sphere.

use crate::Error;
use crate::memory;

pub(crate) const SUBSTEP: &str = "a substep";

/// `entries[starts[k]..starts[k + 1]]` are the entries of row k.
#[derive(Debug, Default)]
pub(crate) struct Rows<T> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Fills `count` rows with entries. The function `entries_of` is called with each number below
    /// `items`, and returns some entries and the rows to which they belong. The entries of a row
    /// are sorted by the number with which `entries_of` was called.
    pub(crate) fn fill<I: Iterator<Item = (u32, T)>>(
        &mut self,
        count: usize,
        items: u32,
        entries_of: impl Fn(u32) -> I,
    ) -> Result<(), Error> {
        let Self { starts, entries } = self;
        starts.clear();
        reserve(starts, count + 1)?;
        starts.resize(count + 1, 0);
        for (row, _) in (0..items).flat_map(&entries_of) {
            starts[row as usize] += 1;
        }
        // At this point, entry k of `starts` is the length of row k. A prefix sum turns it into the
        // end of row k. Rows are then filled from the back. Each item lowers the entry of its row
        // by 1, so the entry becomes the start of the row.
        let mut sum = 0;
        for start in &mut *starts {
            sum += *start;
            *start = sum;
        }
        entries.clear();
        reserve(entries, sum as usize)?;
        entries.resize(sum as usize, T::default());
        for item in (0..items).rev() {
            for (row, entry) in entries_of(item) {
                let start = &mut starts[row as usize];
                *start -= 1;
                entries[*start as usize] = entry;
            }
        }
        Ok(())
    }

    pub(crate) fn row(&self, row: usize) -> &[T] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// Makes room for `count` more items, or returns [`Error::OutOfMemory`].
pub(crate) fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<(), Error> {
    memory::reserve(list, count, SUBSTEP)
}

/// Adds an item to a list, or returns [`Error::OutOfMemory`].
pub(crate) fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), Error> {
    memory::push(list, item, SUBSTEP)
}
