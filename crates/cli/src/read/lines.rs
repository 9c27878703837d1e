//! Which line of the file a row stood on.

/// The line of each row. Rows mostly follow each other line by line, so only
/// those that do not are kept.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: usize,
    next: u64,
    /// First row and line of each run of consecutive lines.
    runs: Vec<(usize, u64)>,
}

impl Lines {
    /// Notes the line of the next row.
    pub(crate) fn push(&mut self, line: u64) {
        if self.rows == 0 || line != self.next {
            self.runs.push((self.rows, line));
        }
        self.rows += 1;
        self.next = line + 1;
    }

    /// The line of a row, counted from 1; `None` past the last row.
    pub(crate) fn of(&self, row: usize) -> Option<u64> {
        let run = self.runs.partition_point(|&(first, _)| first <= row);
        let &(first, line) = self.runs.get(run.checked_sub(1)?)?;
        (row < self.rows).then(|| line + (row - first) as u64)
    }
}
