//! Colours of the spheres in the picture, which show the numbers of contacts at the start of the time step.

use std::iter::repeat_n;
use std::ops::RangeInclusive;

use carom::Collision;
use carom_formats::Result;
use carom_formats::memory::collect;

use super::picture::Colour;

/// Maximum number of colours for spheres with contacts. The eye could not distinguish more colours.
const MOST: u32 = 8;
const ALONE: Colour = [204, 204, 204];

/// Classes of spheres with similar numbers of contacts at the start of the time step. All spheres of a class
/// have the same colour.
pub(crate) struct Classes {
    contacts: Vec<u32>,
    /// Spheres with at least `bounds[k]` and fewer than `bounds[k + 1]` contacts have colour k.
    bounds: Vec<u32>,
}

pub(crate) struct Class {
    pub(crate) contacts: RangeInclusive<u32>,
    pub(crate) colour: Colour,
    pub(crate) spheres: usize,
}

impl Classes {
    pub(crate) fn of(spheres: usize, pairs: &[Collision]) -> Result<Self> {
        let contacts = contacts(spheres, pairs.iter().filter(|pair| pair.toi == 0.0))?;
        let end = contacts.iter().max().map_or(1, |most| most + 1);
        let mut bounds = vec![0];
        if end <= MOST + 1 {
            bounds.extend(1..=end);
        } else {
            // Each colour stands for a range of numbers of contacts. The ranges grow geometrically, because
            // few spheres have many contacts.
            let ratio = f64::from(end).powf(1.0 / f64::from(MOST));
            for i in 0..=MOST {
                #[allow(clippy::cast_possible_truncation, reason = "at most `end`")]
                let next = ratio.powf(f64::from(i)).round() as u32;
                bounds.push(next.max(bounds[bounds.len() - 1] + 1));
            }
        }
        Ok(Self { contacts, bounds })
    }

    pub(crate) fn colour_of(&self, sphere: u32) -> Colour {
        self.colour(self.class_of(self.contacts[sphere as usize]))
    }

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

    /// Returns the colour of the spheres in a class. The more contacts the spheres have, the darker is the
    /// colour.
    fn colour(&self, class: usize) -> Colour {
        if class == 0 {
            return ALONE;
        }
        let steps = (self.bounds.len() - 2).max(4) as f64;
        let t = 0.95 - 0.65 * (class - 1) as f64 / (steps - 1.0);
        colorous::VIRIDIS.eval_continuous(t).into_array()
    }
}

/// Returns, for each sphere, the number of pairs that contain the sphere.
pub(crate) fn contacts<'a>(
    spheres: usize,
    pairs: impl Iterator<Item = &'a Collision>,
) -> Result<Vec<u32>> {
    let mut contacts = collect(repeat_n(0, spheres), "the contacts of the picture")?;
    for pair in pairs {
        contacts[pair.a as usize] += 1;
        contacts[pair.b as usize] += 1;
    }
    Ok(contacts)
}
