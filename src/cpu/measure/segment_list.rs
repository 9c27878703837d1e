//! Lists the time segments of all spheres, except the first segment of each sphere.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres"
)]

use std::ops::Range;

use crate::Error;
use crate::cpu::parts::{for_each_part, take};
use crate::limits::CHUNK;
use crate::shared::segments::Segment;
use crate::shared::size_class::class_power;

pub(super) fn list_segments(class_of: &[u16], segments: &mut [Segment]) -> Result<(), Error> {
    let after_first = |class: &u16| (1_usize << class_power(usize::from(*class))) - 1;
    let classes = |chunks: Range<usize>| {
        let [begin, end] =
            [chunks.start, chunks.end].map(|chunk| class_of.len().min(chunk * CHUNK));
        &class_of[begin..end]
    };
    let take_all = |segments: &mut _, chunks| {
        let count = classes(chunks).iter().map(after_first).sum();
        take(segments, count)
    };
    let chunks = 0..class_of.len().div_ceil(CHUNK);
    for_each_part(chunks, segments, take_all, |chunk, mut part| {
        for (sphere, class) in (chunk * CHUNK..).zip(classes(chunk..chunk + 1)) {
            let sphere = sphere as u32;
            for (segment, number) in take(&mut part, after_first(class)).iter_mut().zip(1..) {
                *segment = Segment { sphere, number };
            }
        }
        Ok(())
    })
}
