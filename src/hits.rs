//! Defines [`Hits`], a list of things that touch, each with its periodic image.

use std::cmp::Ordering;
use std::ops::Deref;

use crate::Error;
use crate::memory::collect;

/// A list of things that touch, such as pairs of spheres, each with its image.
///
/// A `Hits` dereferences to the slice of its entries. The images are in a list beside them, which is empty in
/// open space. The methods of this type keep each entry together with its image.
///
/// The field or method that returns a `Hits` says whose image is meant. Each component of an image is the number of
/// times that the edge of the [`Domain`](crate::Domain) with this number displaces the copy.
///
/// ```
/// use carom::{Detector, Domain, Options, Sphere, Step};
/// let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
/// let spheres = [0.5, 2.0, 9.0].map(|x| Sphere::new([x, 5.0, 5.0], 1.0));
/// let step = Step::new(&spheres, 1.0).in_domain(&domain);
/// let mut found = Detector::new(Options::default())?.detect(&step)?;
/// let listed = found.pairs.iter_with_images().map(|(pair, image)| (pair.a, pair.b, image));
/// assert_eq!(listed.collect::<Vec<_>>(), [(0, 1, [0; 3]), (0, 2, [-1, 0, 0])]);
///
/// found.pairs.retain(|_, image| image != [0; 3]);
/// assert_eq!((found.pairs.len(), found.pairs[0].b, found.pairs.image(0)), (1, 2, [-1, 0, 0]));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hits<T> {
    pub(crate) items: Vec<T>,
    pub(crate) images: Vec<[i32; 3]>,
}

impl<T> Hits<T> {
    /// Creates a list for open space, which has no images.
    pub fn new(items: Vec<T>) -> Self {
        Self {
            items,
            images: Vec::new(),
        }
    }

    /// Creates a list for a periodic domain from its entries and the image of each of them, in the same order.
    /// Without images, the list is one for open space.
    ///
    /// # Errors
    /// Returns [`Error::ImageCount`] if there are images, but not one for each entry.
    pub fn with_images(items: Vec<T>, images: Vec<[i32; 3]>) -> Result<Self, Error> {
        if images.is_empty() || images.len() == items.len() {
            return Ok(Self { items, images });
        }
        Err(Error::ImageCount {
            pairs: items.len(),
            images: images.len(),
        })
    }

    /// Returns the image of the entry with index `k`. It is `[0, 0, 0]` in open space, and for an entry that does
    /// not exist.
    pub fn image(&self, k: usize) -> [i32; 3] {
        self.images.get(k).copied().unwrap_or_default()
    }

    /// Returns the image of each entry, in the order of the entries. The slice is empty in open space.
    pub fn images(&self) -> &[[i32; 3]] {
        &self.images
    }

    /// Returns an iterator over the entries and their images. In open space, each image is `[0, 0, 0]`.
    pub fn iter_with_images(&self) -> impl Iterator<Item = (&T, [i32; 3])> {
        let items = self.items.iter().enumerate();
        items.map(|(k, item)| (item, self.image(k)))
    }

    /// Removes the entries for which `keep` returns false, with their images. The others stay in their order.
    /// `keep` gets each entry with its image, which is `[0, 0, 0]` in open space.
    pub fn retain(&mut self, mut keep: impl FnMut(&T, [i32; 3]) -> bool) {
        let mut kept = 0;
        for k in 0..self.items.len() {
            if keep(&self.items[k], self.image(k)) {
                self.items.swap(kept, k);
                if !self.images.is_empty() {
                    self.images.swap(kept, k);
                }
                kept += 1;
            }
        }
        self.items.truncate(kept);
        self.images.truncate(kept);
    }

    /// Sorts the entries, with their images, by a key of each entry and its image, which is `[0, 0, 0]` in open
    /// space. Entries with equal keys stay in their order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&T, [i32; 3]) -> K) {
        let Self { items, images } = self;
        if images.is_empty() {
            // Needs no memory.
            let mut none = vec![(); items.len()];
            sort_both(items, &mut none, |(one, _), (other, _)| {
                key(one, [0; 3]).cmp(&key(other, [0; 3]))
            });
            return;
        }
        sort_both(items, images, |(one, image), (other, other_image)| {
            key(one, *image).cmp(&key(other, *other_image))
        });
    }

    /// Returns the entries, and the image of each of them. There are no images in open space.
    pub fn into_parts(self) -> (Vec<T>, Vec<[i32; 3]>) {
        (self.items, self.images)
    }
}

/// Sorts two lists of the same length together, even if there is no memory. Entries that are equal stay in their order.
pub(crate) fn sort_both<A, B>(
    first: &mut [A],
    second: &mut [B],
    order: impl Fn((&A, &B), (&A, &B)) -> Ordering,
) {
    let count = first.len().min(second.len());
    // With memory, the places are sorted instead, which is faster.
    let Ok(mut places) = collect(0..count, "a sorted list") else {
        sort_part(first, second, &order);
        return;
    };
    places.sort_unstable_by(|&one, &other| {
        let order = order((&first[one], &second[one]), (&first[other], &second[other]));
        order.then(one.cmp(&other))
    });
    for begin in 0..count {
        let mut place = begin;
        loop {
            let source = std::mem::replace(&mut places[place], place);
            if source == begin || source == place {
                break;
            }
            first.swap(place, source);
            second.swap(place, source);
            place = source;
        }
    }
}

/// Sorts the two halves, and merges them by rotations.
fn sort_part<A, B>(
    first: &mut [A],
    second: &mut [B],
    order: &impl Fn((&A, &B), (&A, &B)) -> Ordering,
) {
    let count = first.len().min(second.len());
    if count < 2 {
        return;
    }
    let middle = count / 2;
    sort_part(&mut first[..middle], &mut second[..middle], order);
    sort_part(&mut first[middle..count], &mut second[middle..count], order);
    merge(&mut first[..count], &mut second[..count], middle, order);
}

/// Merges two sorted parts, of which the first has `middle` entries.
fn merge<A, B>(
    first: &mut [A],
    second: &mut [B],
    middle: usize,
    order: &impl Fn((&A, &B), (&A, &B)) -> Ordering,
) {
    let count = first.len();
    if middle == 0 || middle == count {
        return;
    }
    let is_less = |one: usize, other: usize, first: &[A], second: &[B]| {
        order((&first[one], &second[one]), (&first[other], &second[other])) == Ordering::Less
    };
    if !is_less(middle, middle - 1, first, second) {
        return;
    }
    if count == 2 {
        first.swap(0, 1);
        second.swap(0, 1);
        return;
    }
    // The longer part is cut in half, and the other where the entry in the middle belongs.
    let (left, right);
    if middle >= count - middle {
        left = middle / 2;
        right = middle + partition(count - middle, |k| is_less(middle + k, left, first, second));
    } else {
        right = middle + (count - middle) / 2;
        left = partition(middle, |k| !is_less(right, k, first, second));
    }
    first[left..right].rotate_left(middle - left);
    second[left..right].rotate_left(middle - left);
    let new = left + right - middle;
    let (begin, end) = first.split_at_mut(new);
    let (begin_second, end_second) = second.split_at_mut(new);
    merge(begin, begin_second, left, order);
    merge(end, end_second, middle - left, order);
}

/// Returns how many of the first numbers below `count` satisfy a condition, which holds up to some number.
fn partition(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl<T> Default for Hits<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T> From<Vec<T>> for Hits<T> {
    fn from(items: Vec<T>) -> Self {
        Self::new(items)
    }
}

impl<T> Deref for Hits<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<'a, T> IntoIterator for &'a Hits<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<T> IntoIterator for Hits<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

#[cfg(feature = "serde")]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Hits<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename = "Hits")]
        struct ItemsAndImages<T> {
            items: Vec<T>,
            images: Vec<[i32; 3]>,
        }
        let ItemsAndImages { items, images } = ItemsAndImages::deserialize(deserializer)?;
        Self::with_images(items, images).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Hits;
    use crate::Error;

    /// Returns a list whose images name its items: item k has the image [k, 0, −k].
    fn periodic(items: impl IntoIterator<Item = i32>) -> Hits<i32> {
        let items: Vec<i32> = items.into_iter().collect();
        let images = items.iter().map(|&k| [k, 0, -k]).collect();
        Hits::with_images(items, images).expect("one image for each item")
    }

    fn is_together(hits: &Hits<i32>) -> bool {
        hits.len() == hits.images().len()
            && hits
                .iter_with_images()
                .all(|(&k, image)| image == [k, 0, -k])
    }

    #[test]
    fn retain_keeps_each_entry_with_its_image() {
        let mut hits = periodic(0..9);
        hits.retain(|&k, image| {
            assert_eq!(image, [k, 0, -k]);
            k % 3 != 0
        });
        assert_eq!(*hits, [1, 2, 4, 5, 7, 8]);
        assert!(is_together(&hits));
        hits.retain(|_, _| false);
        assert_eq!(hits, Hits::default());

        let mut open = Hits::new(vec![3, 1, 2]);
        open.retain(|&k, image| k != 1 && image == [0; 3]);
        assert_eq!(open, Hits::new(vec![3, 2]));
    }

    #[test]
    fn sorting_keeps_each_entry_with_its_image_and_equal_entries_in_their_order() {
        let mut hits = periodic([4, 1, 3, 2, 0]);
        hits.sort_by_key(|_, image| image[0]);
        assert_eq!(*hits, [0, 1, 2, 3, 4]);
        assert!(is_together(&hits));
        hits.sort_by_key(|&k, _| -(k % 2));
        assert_eq!(*hits, [1, 3, 0, 2, 4]);
        assert!(is_together(&hits));

        let mut open = Hits::new(vec![(1, 'a'), (0, 'b'), (1, 'c'), (0, 'd')]);
        open.sort_by_key(|item, image| (item.0, image));
        assert_eq!(*open, [(0, 'b'), (0, 'd'), (1, 'a'), (1, 'c')]);
        assert!(open.images().is_empty());
    }

    #[test]
    fn a_list_needs_one_image_for_each_entry_or_none() {
        let counts = |items: usize, images: usize| {
            Hits::with_images(vec!['x'; items], vec![[1, 0, 0]; images]).err()
        };
        for (pairs, images) in [(2, 1), (2, 3), (0, 1)] {
            assert_eq!(
                counts(pairs, images),
                Some(Error::ImageCount { pairs, images })
            );
        }
        for (pairs, images) in [(2, 2), (2, 0), (0, 0)] {
            assert_eq!(counts(pairs, images), None);
        }
    }

    #[test]
    fn a_list_comes_apart_and_together() {
        for hits in [periodic(3..7), Hits::new(vec![5, 6]), Hits::default()] {
            let (items, images) = hits.clone().into_parts();
            assert_eq!(Hits::with_images(items, images), Ok(hits));
        }
    }

    #[test]
    fn a_list_in_open_space_has_no_images() {
        let hits = Hits::from(vec!["one", "two"]);
        assert_eq!((hits.len(), hits[1]), (2, "two"));
        assert!(hits.images().is_empty());
        assert_eq!([hits.image(0), hits.image(9)], [[0; 3]; 2]);
        assert!(hits.iter_with_images().all(|(_, image)| image == [0; 3]));
        assert_eq!(
            (&hits).into_iter().copied().collect::<Vec<_>>(),
            ["one", "two"]
        );
        assert_eq!(hits.into_iter().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(periodic(0..3).image(3), [0; 3]);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_list_survives_a_round_trip_through_json() -> Result<(), serde_json::Error> {
        for hits in [periodic(0..3), Hits::new(vec![5, 6])] {
            let text = serde_json::to_string(&hits)?;
            assert_eq!(serde_json::from_str::<Hits<i32>>(&text)?, hits);
        }
        assert_eq!(
            serde_json::to_string(&periodic(1..2))?,
            r#"{"items":[1],"images":[[1,0,-1]]}"#
        );
        let wrong = serde_json::from_str::<Hits<i32>>(r#"{"items":[1,2],"images":[[1,0,-1]]}"#);
        let error = wrong.expect_err("one image for two entries").to_string();
        assert!(error.contains("2 pairs, but 1 images"), "{error}");
        Ok(())
    }
}
