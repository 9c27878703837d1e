//! The line number of each row of a file.

/// The line number of each row of a file. Most rows are on consecutive lines, so only the first row
/// of each run of consecutive lines is stored.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: usize,
    /// Number of the line after the line of the last row.
    next: u64,
    /// For each run of rows on consecutive lines: its first row, and the line of this row.
    runs: Vec<(usize, u64)>,
}

impl Lines {
    /// Appends a row, which is on the line with the number `line`.
    pub(crate) fn push(&mut self, line: u64) {
        if self.rows == 0 || line != self.next {
            self.runs.push((self.rows, line));
        }
        self.rows += 1;
        self.next = line + 1;
    }

    /// Returns the line number of a row, as given to [`Lines::push`], or `None` past the last row.
    pub(crate) fn of(&self, row: usize) -> Option<u64> {
        let run = self.runs.partition_point(|&(first, _)| first <= row);
        let &(first, line) = self.runs.get(run.checked_sub(1)?)?;
        (row < self.rows).then(|| line + (row - first) as u64)
    }
}
