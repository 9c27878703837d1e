//! Comparison of two lists of colliding pairs, bit for bit.

use carom::Collision64;

const SHOWN: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) checked: u64,
    /// Number of pairs that are in only one of the two lists, or differ in their values.
    pub(crate) differing: u64,
    shown: Vec<String>,
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown.join("\n"))?;
        match self.differing - self.shown.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\n... and {more} more"),
        }
    }
}

/// Compares the lists of colliding pairs of two backends. Both lists must be sorted by the spheres a and b.
pub(crate) fn lists(names: [&str; 2], first: &[Collision64], second: &[Collision64]) -> Comparison {
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
        if one.map(bits) == other.map(bits) {
            continue;
        }
        comparison.differing += 1;
        if comparison.shown.len() < SHOWN {
            let (a, b) = indices;
            comparison.shown.push(format!(
                "{a},{b}: {} {}; {} {}",
                names[0],
                values(one),
                names[1],
                values(other)
            ));
        }
    }
    comparison
}

/// Returns the values of a pair as bits. Compared as bits, 0.0 and −0.0 differ, and a NaN equals itself.
fn bits(c: &Collision64) -> ([u32; 2], [u64; 2]) {
    ([c.a, c.b], [c.toi.to_bits(), c.depth.to_bits()])
}

fn values(found: Option<&Collision64>) -> String {
    found.map_or("has no such pair".into(), |c| {
        format!("has toi {:?} depth {:?}", c.toi, c.depth)
    })
}
