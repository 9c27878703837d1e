//! What a step costs at least, and what carom's stages move: bytes, and how fast memory takes them.

use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde::Serialize;

/// A sphere as it is given.
const SPHERE: u64 = 32;
/// A pair as it is returned.
const PAIR: u64 = 16;

/// How large a step was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) spheres: u64,
    pub(crate) proxies: u64,
    pub(crate) slots: u64,
    pub(crate) candidates: u64,
    pub(crate) pairs: u64,
}

/// What any method has to move: it reads each sphere, writes a copy of it that is sorted somehow,
/// reads that, and writes each pair.
pub(crate) fn least_bytes(spheres: u64, pairs: u64) -> u64 {
    spheres * (SPHERE + 2 * SPHERE) + pairs * PAIR
}

/// Bytes that a stage reads and writes, for each of what it goes through.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    name: &'static str,
    sphere: u64,
    proxy: u64,
    slot: u64,
    candidate: u64,
    pair: u64,
}

/// A sorted proxy's record, which only those read that passed the first test.
const RECORD: u64 = 32;
/// A sorted proxy's ball, for the first test.
const BALL: u64 = 16;
/// Its level and segment.
const TAG: u64 = 4;
/// Slot, sphere and tag of a proxy before it is sorted; and where it is read from, sphere and tag.
const ENTRY: u64 = 12;
const ORDER: u64 = 12;
/// The size class of a sphere.
const SIZE_CLASS: u64 = 2;
/// A word of the slot table.
const SLOT: u64 = 4;

/// The stages of the CPU backend. A word that is counted up is read and written; of what lies
/// elsewhere, only what is used counts, not the rest of its cache line; and what is read again soon
/// is counted again, though the cache has it. The sample that `measure` takes, and `plan`, are of no
/// size that matters.
const STAGES: [Stage; 5] = [
    // Each sphere is read when it is checked, and when its size is measured.
    Stage {
        name: "measure",
        sphere: 2 * SPHERE + SIZE_CLASS,
        ..NOTHING
    },
    // Each proxy reads its sphere, and is written, and sorted by bucket.
    Stage {
        name: "bin",
        proxy: SPHERE + SIZE_CLASS + 3 * ENTRY,
        ..NOTHING
    },
    // The table is cleared, and summed up. Each proxy is read, counted and placed; its record, its
    // tag, its slot and, from the first two, its ball are written. That is for large worlds in no
    // order: there the record is written where the proxy's bucket is and copied before it is sorted.
    // In others the sphere is read in its place, and an entry and four records are not moved.
    Stage {
        name: "scatter",
        proxy: 3 * ENTRY + 5 * SLOT + 2 * ORDER + SPHERE + 4 * RECORD + 2 * (RECORD + TAG) + BALL,
        slot: 3 * SLOT,
        ..NOTHING
    },
    // Each proxy reads its ball, tag and slot, and where five rows begin and end; and the ball of each
    // candidate. Of those that pass, the pairs stand for all: both records, and the pair that is
    // written, and sorted by bucket.
    Stage {
        name: "pairs",
        proxy: BALL + TAG + 11 * SLOT,
        candidate: BALL,
        pair: 2 * RECORD + 3 * PAIR,
        ..NOTHING
    },
    // Each pair is read when it is counted, and read and written when it is placed.
    Stage {
        name: "decide",
        pair: 3 * PAIR,
        ..NOTHING
    },
];

const NOTHING: Stage = Stage {
    name: "",
    sphere: 0,
    proxy: 0,
    slot: 0,
    candidate: 0,
    pair: 0,
};

/// What a stage moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
}

/// What each stage of the CPU backend moves in a step, by this model.
pub(crate) fn moved(counts: Counts) -> Vec<Moved> {
    let of_stage = |stage: &Stage| Moved {
        name: stage.name,
        bytes: stage.sphere * counts.spheres
            + stage.proxy * counts.proxies
            + stage.slot * counts.slots
            + stage.candidate * counts.candidates
            + stage.pair * counts.pairs,
    };
    STAGES.iter().map(of_stage).collect()
}

/// Words of each of the two buffers of a copy: 512 MiB, more than caches hold.
const WORDS: usize = 1 << 26;
/// Words a task.
const TASK: usize = 1 << 16;
/// Copies, of which the fastest counts.
const COPIES: usize = 5;

/// Bytes a second that a large copy on so many threads reads and writes together.
pub(crate) fn bandwidth(threads: usize) -> anyhow::Result<f64> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .context("cannot start the threads that measure the memory's bandwidth")?;
    let [from, mut to] = [buffer(1)?, buffer(2)?];
    let mut least = f64::INFINITY;
    for _ in 0..COPIES {
        let start = Instant::now();
        pool.install(|| {
            to.par_chunks_mut(TASK)
                .zip(from.par_chunks(TASK))
                .for_each(|(to, from)| to.copy_from_slice(from));
        });
        least = least.min(start.elapsed().as_secs_f64());
    }
    // So that nothing is left out as unused.
    std::hint::black_box(&to);
    Ok((2 * WORDS * size_of::<u64>()) as f64 / least.max(f64::MIN_POSITIVE))
}

fn buffer(word: u64) -> anyhow::Result<Vec<u64>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(WORDS).with_context(|| {
        format!(
            "memory is short: {} MiB to measure its bandwidth by do not fit; give it with \
             --bandwidth",
            (WORDS * size_of::<u64>()) >> 20
        )
    })?;
    buffer.resize(WORDS, word);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_is_paid_for_where_it_is_gone_through() {
        let bytes = |counts| -> Vec<u64> { moved(counts).iter().map(|m| m.bytes).collect() };
        let none = Counts::default();
        assert_eq!(bytes(none), [0; 5]);
        let spheres = Counts {
            spheres: 10,
            ..none
        };
        assert_eq!(bytes(spheres), [660, 0, 0, 0, 0]);
        let proxies = Counts {
            proxies: 10,
            ..none
        };
        assert_eq!(bytes(proxies), [0, 700, 3280, 640, 0]);
        let slots = Counts { slots: 10, ..none };
        assert_eq!(bytes(slots), [0, 0, 120, 0, 0]);
        let candidates = Counts {
            candidates: 10,
            ..none
        };
        assert_eq!(bytes(candidates), [0, 0, 0, 160, 0]);
        let pairs = Counts { pairs: 10, ..none };
        assert_eq!(bytes(pairs), [0, 0, 0, 1120, 480]);
    }

    #[test]
    fn no_world_moves_less_than_the_least() {
        for pairs in [0, 1, 1_000_000] {
            let counts = Counts {
                spheres: 1000,
                proxies: 1000,
                pairs,
                ..Counts::default()
            };
            let total: u64 = moved(counts).iter().map(|m| m.bytes).sum();
            assert!(least_bytes(1000, pairs) <= total);
        }
        assert_eq!(least_bytes(10, 3), 1008);
    }
}
