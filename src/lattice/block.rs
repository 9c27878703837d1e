//! A block of images. Twin of `shaders/shared/image_block.wgsl`.

use super::MAX_CELLS;

/// The images from `first[k]` to `last[k]` along each edge k. By default, only image 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImageBlock {
    pub(crate) first: [i32; 3],
    pub(crate) last: [i32; 3],
}

impl ImageBlock {
    /// Returns the images between the two ends `ends(k)` along each edge k, 0 without ends.
    /// `None` if a number exceeds [`MAX_CELLS`].
    #[inline(always)]
    pub(crate) fn between(ends: impl Fn(usize) -> Option<[f64; 2]>) -> Option<Self> {
        let most = f64::from(MAX_CELLS);
        let mut block = Self::default();
        for k in 0..3 {
            let Some([low, high]) = ends(k) else { continue };
            let first_in_range = -most - 1.0 < low && low <= most;
            let last_in_range = -most <= high && high < most + 1.0;
            if !(first_in_range && last_in_range) {
                return None;
            }
            // Rounds towards 0. `ceil` and `floor` are calls without SSE4.1, and
            // this is one of the innermost loops.
            #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
            let [first, last] = [low as i32, high as i32];
            block.first[k] = first + i32::from(f64::from(first) < low);
            block.last[k] = last - i32::from(f64::from(last) > high);
        }
        Some(block)
    }

    pub(crate) fn count(&self) -> u64 {
        let along = |k: usize| i64::from(self.last[k]) - i64::from(self.first[k]) + 1;
        let along = |k: usize| along(k).max(0).unsigned_abs();
        along(0) * along(1) * along(2)
    }

    pub(crate) fn each(&self, mut each: impl FnMut([i32; 3])) {
        let along = |k: usize| self.first[k]..=self.last[k];
        for x in along(0) {
            for y in along(1) {
                along(2).for_each(|z| each([x, y, z]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(block: &ImageBlock) -> Vec<[i32; 3]> {
        let mut images = Vec::new();
        block.each(|image| images.push(image));
        assert_eq!(block.count(), images.len() as u64);
        assert!(images.is_sorted());
        images
    }

    #[test]
    fn a_block_has_all_numbers_between_its_ends() {
        let block = |ends: [Option<[f64; 2]>; 3]| {
            ImageBlock::between(|k| ends[k]).map(|block| listed(&block))
        };
        let one = Some([-0.5, 1.0]);
        assert_eq!(block([None; 3]), Some(vec![[0; 3]]));
        let images = vec![[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]];
        assert_eq!(block([one, None, one]), Some(images));
        assert_eq!(block([one, Some([0.25, 0.75]), None]), Some(vec![]));
        let most = f64::from(MAX_CELLS);
        let far = |x: f64| block([None, None, Some([x, x])]);
        assert_eq!(far(-most), Some(vec![[0, 0, -MAX_CELLS]]));
        assert_eq!(
            [far(most + 1.0), far(-most - 1.0), far(f64::NAN)],
            [None, None, None]
        );
    }
}
