//! Rows of indices: for each sphere, the pairs that it belongs to.

use crate::Error;
use crate::memory::out_of_memory;

/// `entries[starts[k]..starts[k + 1]]` are the entries of row k.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Rows {
    /// Makes `count` rows of the numbers from 0 to `items`. `rows_of` returns the rows that a number belongs to.
    /// Each row is sorted.
    pub(crate) fn fill<I: Iterator<Item = u32>>(
        &mut self,
        count: usize,
        items: u32,
        rows_of: impl Fn(u32) -> I,
    ) -> Result<(), Error> {
        let Self { starts, entries } = self;
        starts.clear();
        reserve(starts, count + 1)?;
        starts.resize(count + 1, 0);
        for row in (0..items).flat_map(&rows_of) {
            starts[row as usize] += 1;
        }
        // Each number becomes the end of its row, and then, entry by entry from the last to the first, its start.
        let mut sum = 0;
        for start in &mut *starts {
            sum += *start;
            *start = sum;
        }
        entries.clear();
        reserve(entries, sum as usize)?;
        entries.resize(sum as usize, 0);
        for item in (0..items).rev() {
            for row in rows_of(item) {
                let start = &mut starts[row as usize];
                *start -= 1;
                entries[*start as usize] = item;
            }
        }
        Ok(())
    }

    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// Makes room for `count` more items, or returns [`Error::OutOfMemory`].
pub(crate) fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<(), Error> {
    let reserved = list.try_reserve(count);
    reserved.map_err(|_| out_of_memory::<T>(count, "the candidates of a substep"))
}
