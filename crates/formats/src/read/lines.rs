//! Line number of each row of an input file, for error messages.

use crate::error::Result;
use crate::memory;

/// Line number of each row of an input file. Only the first row of each run of consecutive lines is stored.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: usize,
    next: u64,
    /// For each run of rows on consecutive lines: index and line number of the first row.
    runs: Vec<(usize, u64)>,
}

impl Lines {
    pub(crate) fn push(&mut self, line: u64) -> Result<()> {
        if self.rows == 0 || line != self.next {
            memory::push(
                &mut self.runs,
                (self.rows, line),
                "the numbers of the lines",
            )?;
        }
        self.rows += 1;
        self.next = line + 1;
        Ok(())
    }

    /// Returns the line number of a row of the input file, or `None` past the last row.
    pub(crate) fn of(&self, row: usize) -> Option<u64> {
        let run = self.runs.partition_point(|&(first, _)| first <= row);
        let &(first, line) = self.runs.get(run.checked_sub(1)?)?;
        (row < self.rows).then(|| line + (row - first) as u64)
    }
}
