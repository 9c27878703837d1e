//! Copies spheres into buckets, before each bucket is sorted. The spheres of a bucket may lie all
//! over the input. So the copy reads the input in chunks that fit in the cache.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::bin::Binned;
use super::buckets::{Buckets, MAX_BUCKETS};
use super::images::ProxySpace;
use super::parts::take;
use super::sorted_sphere::SortedSphere;
use crate::Sphere;
use crate::limits::CHUNK;

pub(super) fn bring_to_buckets(
    spheres: &[Sphere],
    space: impl ProxySpace,
    binned: &Buckets<Binned>,
    mut brought: &mut [SortedSphere],
) {
    let of_bucket = |bucket| take(&mut brought, binned.len(bucket..bucket + 1));
    let mut unfilled: ArrayVec<_, MAX_BUCKETS> = (0..binned.count).map(of_bucket).collect();
    let chunks = 0..binned.chunks();
    let piece = chunks.len().div_ceil(4 * rayon::current_num_threads());
    bring_chunks(spheres, space, binned, chunks, piece, &mut unfilled);
}

/// Copies the spheres of the input chunks `chunks` to the free space `unfilled` of each bucket.
/// A range of more than `piece` chunks is halved, for two parallel tasks.
fn bring_chunks(
    spheres: &[Sphere],
    space: impl ProxySpace,
    binned: &Buckets<Binned>,
    chunks: Range<usize>,
    piece: usize,
    unfilled: &mut [&mut [SortedSphere]],
) {
    if chunks.len() > piece {
        let middle = chunks.start.midpoint(chunks.end);
        let [before, after] = [chunks.start..middle, middle..chunks.end];
        // By reference, because a copy might overflow the small stacks of some thread pools.
        let mut first = ArrayVec::<_, MAX_BUCKETS>::new();
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let chunks = before.clone();
            let counts = chunks.map(|chunk| binned.items_of(chunk, bucket).len());
            first.push(take(part, counts.sum()));
        }
        rayon::join(
            || bring_chunks(spheres, space, binned, before, piece, &mut first),
            || bring_chunks(spheres, space, binned, after, piece, unfilled),
        );
        return;
    }
    for chunk in chunks {
        // A cache line holds two spheres, and the processor can predict the order of these reads.
        let [begin, end] = [chunk, chunk + 1].map(|chunk| spheres.len().min(chunk * CHUNK));
        let ahead = spheres[begin..end].iter().step_by(2);
        std::hint::black_box(ahead.fold(0, |all, sphere| all ^ sphere.groups));
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let items = binned.items_of(chunk, bucket);
            for (proxy, &Binned { word, .. }) in take(part, items.len()).iter_mut().zip(items) {
                let sphere = space.sphere(word) as usize;
                *proxy = SortedSphere::new(&spheres[sphere], word);
            }
        }
    }
}
