//! Colours for numbers of contacts: each for one number, or for a range of them.

use std::ops::RangeInclusive;

use super::canvas::Colour;

/// As many colours as an eye tells apart.
const MOST: u32 = 8;
/// Spheres without contacts.
const ALONE: Colour = [204, 204, 204];

pub(crate) struct Classes {
    /// The least number of each, from 0 on.
    first: Vec<u32>,
    /// The largest number of all.
    last: u32,
}

impl Classes {
    pub(crate) fn of(contacts: &[u32]) -> Self {
        let last = contacts.iter().copied().max().unwrap_or(0);
        let mut first = vec![0];
        if last <= MOST {
            first.extend(1..=last);
        } else {
            // Each about as many times the one before, because few contacts are
            // common and many are rare.
            let ratio = f64::from(last + 1).powf(1.0 / f64::from(MOST));
            let mut low = 1;
            for i in 1..=MOST {
                first.push(low);
                #[allow(clippy::cast_possible_truncation, reason = "at most `last`")]
                let next = ratio.powf(f64::from(i)).round() as u32;
                low = next.max(low + 1);
            }
        }
        Self { first, last }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// The class of a number of contacts.
    pub(crate) fn class(&self, contacts: u32) -> usize {
        self.first
            .partition_point(|&first| first <= contacts)
            .saturating_sub(1)
    }

    /// The numbers in a class.
    pub(crate) fn range(&self, class: usize) -> RangeInclusive<u32> {
        let next = self.first.get(class + 1).map_or(self.last, |next| next - 1);
        self.first[class]..=next
    }

    /// The colour of a class: the more contacts, the darker.
    pub(crate) fn colour(&self, class: usize) -> Colour {
        if class == 0 {
            return ALONE;
        }
        let steps = (self.len() - 1).max(4) as f64;
        let t = 0.95 - 0.65 * (class - 1) as f64 / (steps - 1.0);
        colorous::VIRIDIS.eval_continuous(t).into_array()
    }
}
