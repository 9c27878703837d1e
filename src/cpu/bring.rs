//! Brings the spheres of the proxies to their buckets, before `scatter` sorts each bucket: a
//! chunk's spheres are in the cache together, and a bucket's are from all over memory.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::bin::Binned;
use super::buckets::{Buckets, MAX_BUCKETS};
use super::parts::take;
use super::sorted_sphere::SortedSphere;
use crate::Sphere;
use crate::limits::CHUNK;

/// Writes the spheres of all proxies, bucket after bucket, in the order in which they are
/// binned.
pub(super) fn bring_to_buckets(
    spheres: &[Sphere],
    binned: &Buckets<Binned>,
    mut brought: &mut [SortedSphere],
) {
    let of_bucket = |bucket| take(&mut brought, binned.len(bucket..bucket + 1));
    let mut unfilled: ArrayVec<_, MAX_BUCKETS> = (0..binned.count).map(of_bucket).collect();
    let chunks = 0..binned.chunks();
    let piece = chunks.len().div_ceil(4 * rayon::current_num_threads());
    bring_chunks(spheres, binned, chunks, piece, &mut unfilled);
}

/// Brings the proxies of some chunks to their buckets. `unfilled` is for each bucket the room
/// for them and maybe for later ones; at most `piece` chunks are for one thread to do.
fn bring_chunks(
    spheres: &[Sphere],
    binned: &Buckets<Binned>,
    chunks: Range<usize>,
    piece: usize,
    unfilled: &mut [&mut [SortedSphere]],
) {
    if chunks.len() > piece {
        let middle = chunks.start.midpoint(chunks.end);
        let [before, after] = [chunks.start..middle, middle..chunks.end];
        // Here and by reference, as there is not much of a stack in some pools.
        let mut first = ArrayVec::<_, MAX_BUCKETS>::new();
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let chunks = before.clone();
            let counts = chunks.map(|chunk| binned.items_of(chunk, bucket).len());
            first.push(take(part, counts.sum()));
        }
        rayon::join(
            || bring_chunks(spheres, binned, before, piece, &mut first),
            || bring_chunks(spheres, binned, after, piece, unfilled),
        );
        return;
    }
    for chunk in chunks {
        // Asked for in the order in which they lie, which the processor foresees.
        let [begin, end] = [chunk, chunk + 1].map(|chunk| spheres.len().min(chunk * CHUNK));
        let ahead = spheres[begin..end].iter().step_by(2);
        std::hint::black_box(ahead.fold(0, |all, sphere| all ^ sphere.groups));
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let items = binned.items_of(chunk, bucket);
            for (proxy, &Binned { sphere, .. }) in take(part, items.len()).iter_mut().zip(items) {
                *proxy = SortedSphere::new(&spheres[sphere as usize], sphere);
            }
        }
    }
}
