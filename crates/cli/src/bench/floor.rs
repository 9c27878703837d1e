//! The bytes that any method must move in a step, the bytes that carom's stages move, and the
//! bandwidth of the memory.

use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde::Serialize;

/// Bytes of an input sphere.
const SPHERE: u64 = 32;
/// Bytes of a pair in the returned list.
const PAIR: u64 = 16;

/// Counts that determine the cost of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) spheres: u64,
    pub(crate) proxies: u64,
    pub(crate) slots: u64,
    pub(crate) candidates: u64,
    pub(crate) pairs: u64,
}

/// Returns the bytes that any method must move: it reads each sphere, writes a copy of it in sorted
/// order, reads this copy, and writes each pair.
pub(crate) fn least_bytes(spheres: u64, pairs: u64) -> u64 {
    spheres * (SPHERE + 2 * SPHERE) + pairs * PAIR
}

/// Bytes that a stage reads and writes for each item of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    name: &'static str,
    sphere: u64,
    proxy: u64,
    slot: u64,
    candidate: u64,
    pair: u64,
}

/// Bytes of a sorted proxy's record. It is read only for candidates that pass the ball test.
const RECORD: u64 = 32;
/// Bytes of a sorted proxy's bounding sphere, for the ball test.
const BALL: u64 = 16;
/// Bytes of a proxy's tag.
const TAG: u64 = 4;
/// Bytes of a proxy before it is sorted: its slot, sphere and tag.
const ENTRY: u64 = 12;
/// Bytes of a proxy's entry in the sorted order: the place to read it from, its sphere and its tag.
const ORDER: u64 = 12;
/// Bytes of a sphere's size class.
const SIZE_CLASS: u64 = 2;
/// Bytes of a word of the slot table, or of a proxy's slot.
const SLOT: u64 = 4;

/// The stages of the CPU backend. Incrementing a word counts as one read and one write. Of a cache
/// line, only the bytes that are used count. A repeated read counts again, even if the cache holds
/// the data. The sample of `measure` and the stage `plan` are small, and left out.
const STAGES: [Stage; 5] = [
    // Each sphere is read to validate it, and again to measure its size. Its size class is written.
    Stage {
        name: "measure",
        sphere: 2 * SPHERE + SIZE_CLASS,
        ..NOTHING
    },
    // For each proxy, its sphere and size class are read and its entry is written. Sorting the
    // entries by bucket reads and writes each of them once more.
    Stage {
        name: "bin",
        proxy: SPHERE + SIZE_CLASS + 3 * ENTRY,
        ..NOTHING
    },
    // The slot table is cleared and summed. Each proxy is read, counted and placed. Its record, tag
    // and slot are written, and its bounding sphere is computed from record and tag and written.
    // These are the bytes of large worlds whose spheres lie in random order in memory: there each
    // record is first written to the bucket of its proxy, and copied before it is sorted. In other
    // worlds an entry and four records less are moved for each proxy.
    Stage {
        name: "scatter",
        proxy: 3 * ENTRY + 5 * SLOT + 2 * ORDER + SPHERE + 4 * RECORD + 2 * (RECORD + TAG) + BALL,
        slot: 3 * SLOT,
        ..NOTHING
    },
    // For each proxy, its bounding sphere, tag and slot are read, and the begin and end of five
    // rows of cells; for each candidate, its bounding sphere. A candidate that passes the first
    // test reads two records. The model approximates the number of such candidates by the number of
    // pairs. Each pair is written, and sorted by bucket.
    Stage {
        name: "pairs",
        proxy: BALL + TAG + 11 * SLOT,
        candidate: BALL,
        pair: 2 * RECORD + 3 * PAIR,
        ..NOTHING
    },
    // Each pair is read once to count it, and read and written once to place it.
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

/// Bytes that a stage moves in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
}

/// Returns the bytes that each stage of the CPU backend moves in a step, according to [`STAGES`].
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

/// Number of words in each of the two buffers of a copy: 512 MiB, more than caches hold.
const WORDS: usize = 1 << 26;
/// Number of words that a task copies.
const TASK: usize = 1 << 16;
/// Number of copies. The fastest copy counts.
const COPIES: usize = 5;

/// Measures the bandwidth of the memory: the bytes that a large copy on this many threads reads and
/// writes per second, in sum.
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
    // Keeps the compiler from removing the copies as unused.
    std::hint::black_box(&to);
    Ok((2 * WORDS * size_of::<u64>()) as f64 / least.max(f64::MIN_POSITIVE))
}

fn buffer(word: u64) -> anyhow::Result<Vec<u64>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(WORDS).with_context(|| {
        format!(
            "there is not enough memory for a buffer of {} MiB to measure the bandwidth of the \
             memory with; give the bandwidth with --bandwidth",
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
    fn each_count_costs_bytes_in_the_stages_that_process_it() {
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
    fn every_world_moves_at_least_the_floor() {
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
