//! Colours for numbers of contacts at the start: each for one number, or for a range of them.

use std::ops::RangeInclusive;

use carom::Collision;

use super::canvas::Colour;

/// As many colours as an eye tells apart.
const MOST: u32 = 8;
/// Spheres without contacts.
const ALONE: Colour = [204, 204, 204];

pub(crate) struct Classes {
    /// How many contacts each sphere has.
    contacts: Vec<u32>,
    /// The least number of each class, from 0 on, and one more than the largest of all.
    bounds: Vec<u32>,
}

/// What the legend tells of a class.
pub(crate) struct Class {
    pub(crate) contacts: RangeInclusive<u32>,
    pub(crate) colour: Colour,
    pub(crate) spheres: usize,
}

impl Classes {
    pub(crate) fn of(spheres: usize, pairs: &[Collision]) -> Self {
        let contacts = contacts(spheres, pairs.iter().filter(|pair| pair.toi == 0.0));
        let end = contacts.iter().max().map_or(1, |most| most + 1);
        let mut bounds = vec![0];
        if end <= MOST + 1 {
            bounds.extend(1..=end);
        } else {
            // Each about as many times the one before, because few contacts are
            // common and many are rare.
            let ratio = f64::from(end).powf(1.0 / f64::from(MOST));
            for i in 0..=MOST {
                #[allow(clippy::cast_possible_truncation, reason = "at most `end`")]
                let next = ratio.powf(f64::from(i)).round() as u32;
                bounds.push(next.max(bounds[bounds.len() - 1] + 1));
            }
        }
        Self { contacts, bounds }
    }

    pub(crate) fn colour_of(&self, sphere: u32) -> Colour {
        self.colour(self.class_of(self.contacts[sphere as usize]))
    }

    /// All of them, those without contacts first.
    pub(crate) fn list(&self) -> Vec<Class> {
        let ranges = self
            .bounds
            .windows(2)
            .map(|bounds| bounds[0]..=bounds[1] - 1);
        let mut list: Vec<_> = ranges
            .enumerate()
            .map(|(class, contacts)| Class {
                contacts,
                colour: self.colour(class),
                spheres: 0,
            })
            .collect();
        for &contacts in &self.contacts {
            list[self.class_of(contacts)].spheres += 1;
        }
        list
    }

    fn class_of(&self, contacts: u32) -> usize {
        self.bounds.partition_point(|&first| first <= contacts) - 1
    }

    /// The more contacts, the darker.
    fn colour(&self, class: usize) -> Colour {
        if class == 0 {
            return ALONE;
        }
        let steps = (self.bounds.len() - 2).max(4) as f64;
        let t = 0.95 - 0.65 * (class - 1) as f64 / (steps - 1.0);
        colorous::VIRIDIS.eval_continuous(t).into_array()
    }
}

/// In how many of the pairs each sphere is.
pub(crate) fn contacts<'a>(spheres: usize, pairs: impl Iterator<Item = &'a Collision>) -> Vec<u32> {
    let mut contacts = vec![0; spheres];
    for pair in pairs {
        contacts[pair.a as usize] += 1;
        contacts[pair.b as usize] += 1;
    }
    contacts
}
