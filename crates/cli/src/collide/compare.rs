//! Comparison of two lists of colliding pairs, bit for bit.

use carom::{Collision64, Collisions, Number, Touching};

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

/// Compares the lists of colliding pairs of two backends. Both lists must be sorted by the spheres a and b, and by the
/// image.
pub(crate) fn lists<T: Number>(
    names: [&str; 2],
    first: &Collisions<T>,
    second: &Collisions<T>,
) -> Comparison {
    let mut comparison = Comparison::default();
    let [mut first, mut second] = [first, second].map(|found| {
        let pairs = found.pairs.iter_with_images();
        pairs
            .map(|(pair, image)| Found(pair.wide(), image))
            .peekable()
    });
    while let Some(place) = [first.peek(), second.peek()]
        .into_iter()
        .flatten()
        .map(Found::place)
        .min()
    {
        let one = first.next_if(|found| found.place() == place);
        let other = second.next_if(|found| found.place() == place);
        comparison.checked += 1;
        if one.as_ref().map(Found::bits) == other.as_ref().map(Found::bits) {
            continue;
        }
        comparison.differing += 1;
        if comparison.shown.len() < SHOWN {
            let (a, b, image) = place;
            let image = match image {
                [0, 0, 0] => String::new(),
                [n1, n2, n3] => format!(" of the image {n1},{n2},{n3}"),
            };
            comparison.shown.push(format!(
                "{a},{b}{image}: {} {}; {} {}",
                names[0],
                values(one),
                names[1],
                values(other)
            ));
        }
    }
    comparison
}

/// A pair, and the image of its second sphere.
struct Found(Collision64, [i32; 3]);

impl Found {
    fn place(&self) -> (u32, u32, [i32; 3]) {
        (self.0.a, self.0.b, self.1)
    }

    /// Compared as bits, 0.0 and −0.0 differ, and a NaN equals itself.
    fn bits(&self) -> [u64; 2] {
        [self.0.toi.to_bits(), self.0.depth.to_bits()]
    }
}

fn values(found: Option<Found>) -> String {
    found.map_or("has no such pair".into(), |Found(pair, _)| {
        format!("has toi {:?} depth {:?}", pair.toi, pair.depth)
    })
}
