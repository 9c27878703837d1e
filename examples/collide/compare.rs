//! Two lists of pairs, pair by pair.

use carom::Collision;

/// How many pairs of each kind are shown.
const SHOWN: usize = 10;

/// What a comparison found.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Pairs that were looked at.
    pub(crate) checked: u64,
    /// Pairs that one has and the other has not, or not with the same values.
    pub(crate) differing: Listed,
    /// Pairs that the check could not decide.
    pub(crate) undecided: Listed,
}

/// A count, and the first few of what was counted.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) count: u64,
    pub(crate) shown: Vec<String>,
}

impl Listed {
    /// Counts one more; `text` is only made for the first few.
    pub(crate) fn push(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(text());
        }
    }
}

impl std::fmt::Display for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in &self.shown {
            write!(f, "\n  {line}")?;
        }
        let more = self.count - self.shown.len() as u64;
        if more > 0 {
            write!(f, "\n  ... and {more} more")
        } else {
            Ok(())
        }
    }
}

/// Compares the lists of two backends bit by bit. Both are sorted; if one is
/// not, that shows as a difference.
pub(crate) fn lists(names: [&str; 2], first: &[Collision], second: &[Collision]) -> Comparison {
    let mut comparison = Comparison::default();
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    while let Some(indices) = [first.peek(), second.peek()]
        .into_iter()
        .flatten()
        .map(|c| (c.a, c.b))
        .min()
    {
        let one = first.next_if(|c| (c.a, c.b) == indices);
        let other = second.next_if(|c| (c.a, c.b) == indices);
        comparison.checked += 1;
        if one.map(bits) != other.map(bits) {
            comparison.differing.push(|| {
                let (a, b) = indices;
                format!(
                    "{a},{b}: {} {}; {} {}",
                    names[0],
                    values(one),
                    names[1],
                    values(other)
                )
            });
        }
    }
    comparison
}

/// 0.0 and -0.0 differ here, and a NaN equals itself.
fn bits(c: &Collision) -> [u32; 4] {
    [c.a, c.b, c.toi.to_bits(), c.depth.to_bits()]
}

/// What a list has of a pair.
pub(crate) fn values(found: Option<&Collision>) -> String {
    found.map_or("has no such pair".into(), |c| {
        format!("has toi {:?} depth {:?}", c.toi, c.depth)
    })
}
