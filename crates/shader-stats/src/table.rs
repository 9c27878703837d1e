//! The table of compiler statistics of all GPU kernels.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use anyhow::{Context, bail, ensure};

/// The columns of the table: the column name, and the name of RADV's statistic.
const COLUMNS: [(&str, &str); 9] = [
    ("VGPRs", "VGPRs"),
    ("SGPRs", "SGPRs"),
    (WAVES, "Subgroups per SIMD"),
    ("LDS", "LDS size"),
    ("scratch", "Scratch size"),
    ("VGPR-spills", "Spilled VGPRs"),
    ("SGPR-spills", "Spilled SGPRs"),
    ("instructions", "Instructions"),
    ("bytes", "Code size"),
];

/// Name of the column of waves (groups of GPU threads) in flight, in which larger values are better.
const WAVES: &str = "waves";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kernel: String,
    values: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) driver: String,
    pub(crate) family: String,
    pub(crate) rows: Vec<Row>,
}

impl Row {
    pub(crate) fn new(kernel: &str, statistics: &[(String, u64)]) -> anyhow::Result<Self> {
        let value = |&(_, wanted): &(&str, &str)| {
            let found = statistics.iter().find(|(name, _)| name == wanted);
            let (_, value) = found.with_context(|| {
                let names: Vec<&str> = statistics.iter().map(|(name, _)| name.as_str()).collect();
                format!(
                    "RADV reports no statistic `{wanted}`, only {}",
                    names.join(", ")
                )
            })?;
            Ok(*value)
        };
        Ok(Self {
            kernel: kernel.to_owned(),
            values: COLUMNS.iter().map(value).collect::<anyhow::Result<_>>()?,
        })
    }
}

fn header() -> Vec<String> {
    let names = COLUMNS.iter().map(|&(name, _)| name.to_owned());
    ["kernel".to_owned()].into_iter().chain(names).collect()
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter().map(|row| {
            let values = row.values.iter().map(u64::to_string);
            [row.kernel.clone()].into_iter().chain(values).collect()
        });
        let lines: Vec<Vec<String>> = [header()].into_iter().chain(rows).collect();
        let width = |k: usize| lines.iter().map(|line| line[k].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=COLUMNS.len()).map(width).collect();
        writeln!(f, "{}, {}", self.driver, self.family)?;
        for line in &lines {
            write!(f, "{:<width$}", line[0], width = widths[0])?;
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl FromStr for Table {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut lines = (1..).zip(text.lines());
        let head = lines.next().and_then(|(_, line)| line.rsplit_once(", "));
        let (driver, family) = head.context("line 1 is not `DRIVER, FAMILY`")?;
        let header = header().join(" ");
        let names = lines.next().map(|(_, line)| line.split_whitespace());
        let names: Vec<&str> = names.into_iter().flatten().collect();
        ensure!(names.join(" ") == header, "line 2 is not `{header}`");
        let row = |(number, line): (usize, &str)| {
            let mut words = line.split_whitespace();
            let kernel = words.next().unwrap_or_default().to_owned();
            let values: Result<Vec<u64>, _> = words.map(str::parse).collect();
            match values {
                Ok(values) if values.len() == COLUMNS.len() => Ok(Row { kernel, values }),
                _ => bail!(
                    "line {number} is not a kernel's name and {} counts",
                    COLUMNS.len()
                ),
            }
        };
        Ok(Self {
            driver: driver.to_owned(),
            family: family.to_owned(),
            rows: lines.map(row).collect::<anyhow::Result<_>>()?,
        })
    }
}

/// Returns one line for each difference between two tables of GPU kernels: a value that changed by more than
/// a tenth, or a kernel in only one table. Improved values are differences too, because an old, larger value
/// in the committed table would hide a later loss.
pub(crate) fn differences(committed: &Table, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for Row { kernel, values } in &committed.rows {
        let Some(now) = table.rows.iter().find(|row| row.kernel == *kernel) else {
            found.push(format!("{kernel}: this kernel no longer exists"));
            continue;
        };
        for ((&(name, _), &old), &new) in COLUMNS.iter().zip(values).zip(&now.values) {
            // A value is reported if it differs from the value in the committed table by more than
            // a tenth. If the committed value is 0, every other value is reported, such as a
            // kernel's first spilled register.
            if old.abs_diff(new).saturating_mul(10) > old {
                let is_dearer = (new > old) == (name != WAVES);
                let verdict = if is_dearer { "dearer" } else { "cheaper" };
                found.push(format!("{kernel}: {name} {old} -> {new}, {verdict}"));
            }
        }
    }
    for Row { kernel, .. } in &table.rows {
        if !committed.rows.iter().any(|row| row.kernel == *kernel) {
            found.push(format!("{kernel}: missing from the committed table"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: [u64; COLUMNS.len()]) -> Table {
        Table {
            driver: "Mesa 22.3.6, patched".to_owned(),
            family: "navi21".to_owned(),
            rows: vec![Row {
                kernel: "pairs".to_owned(),
                values: values.to_vec(),
            }],
        }
    }

    const VALUES: [u64; COLUMNS.len()] = [96, 128, 10, 2560, 0, 0, 0, 960, 6000];

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut table = table(VALUES);
        table.rows.push(Row {
            kernel: "bin".to_owned(),
            values: (0..9).map(|k| u64::MAX >> (7 * k)).collect(),
        });
        assert_eq!(table.to_string().parse::<Table>().unwrap(), table);
    }

    #[test]
    fn a_parse_error_names_the_line() {
        let text = table(VALUES).to_string();
        for (line, bad) in [
            (1, String::new()),
            (1, text.replace(", ", " ")),
            (2, text.replace("waves", "ways")),
            (2, text.lines().take(1).collect()),
            (3, text.replace("2560", "")),
            (3, text.replace("2560", "2560 1")),
            (3, text.replace("2560", "-2560")),
            (4, text.clone() + "\n"),
        ] {
            let error = bad.parse::<Table>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("line {line} ")),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn changes_of_up_to_a_tenth_are_accepted() {
        let old = table(VALUES);
        assert_eq!(differences(&old, &old), Vec::<String>::new());
        for within in [VALUES.map(|n| n + n / 10), VALUES.map(|n| n - n / 10)] {
            assert_eq!(differences(&old, &table(within)), Vec::<String>::new());
        }
    }

    #[test]
    fn changes_of_more_than_a_tenth_are_reported_in_every_column() {
        for (k, (name, _)) in COLUMNS.iter().enumerate() {
            let old = VALUES[k];
            let more = old + old / 10 + 1;
            let less = old.saturating_sub(old / 10 + 1);
            for (new, is_dearer) in [(more, *name != WAVES), (less, *name == WAVES)] {
                let mut values = VALUES;
                values[k] = new;
                let verdict = if is_dearer { "dearer" } else { "cheaper" };
                let expected = [format!("pairs: {name} {old} -> {new}, {verdict}")];
                let expected = if new == old { &[][..] } else { &expected };
                assert_eq!(differences(&table(VALUES), &table(values)), expected);
            }
        }
    }

    #[test]
    fn a_kernel_in_only_one_table_is_reported() {
        let with = table(VALUES);
        let mut without = with.clone();
        without.rows.clear();
        let told = differences(&with, &without);
        assert_eq!(told, ["pairs: this kernel no longer exists"]);
        assert_eq!(
            differences(&without, &with),
            ["pairs: missing from the committed table"]
        );
    }

    #[test]
    fn a_missing_statistic_is_reported() {
        let some = [("VGPRs".to_owned(), 96)];
        let error = Row::new("pairs", &some).unwrap_err().to_string();
        assert_eq!(error, "RADV reports no statistic `SGPRs`, only VGPRs");
    }
}
