//! Memory traffic of a time step: the bytes that any method must move, the bytes that the stages of carom's
//! CPU backend move according to a model, and a measurement of the memory bandwidth.

use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde::Serialize;

/// Size of a sphere in the input, in bytes.
const SPHERE: u64 = 32;
/// Size of a pair of spheres in the returned list, in bytes.
const PAIR: u64 = 16;

/// Counts that determine how many bytes a time step moves in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) spheres: u64,
    pub(crate) proxies: u64,
    pub(crate) slots: u64,
    pub(crate) candidates: u64,
    pub(crate) pairs: u64,
}

/// Returns the number of bytes that any method must move in a time step. Any method reads each sphere, writes
/// and reads a copy of each sphere in sorted order, and writes each pair.
pub(crate) fn least_bytes(spheres: u64, pairs: u64) -> u64 {
    spheres * (SPHERE + 2 * SPHERE) + pairs * PAIR
}

/// Bytes that a stage of the CPU backend reads and writes for each sphere, proxy (time segment of a moving
/// sphere), slot (entry in the table of grid cells), candidate (pair of proxies to test) and pair.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    name: &'static str,
    sphere: u64,
    proxy: u64,
    slot: u64,
    candidate: u64,
    pair: u64,
}

/// Size of the record of a sorted proxy (a time segment of a moving sphere), in bytes. The record describes
/// the sphere. Only candidates with touching bounding spheres need the record.
const RECORD: u64 = 32;
/// Size of the bounding sphere of a sorted proxy (a time segment of a moving sphere), in bytes. The first
/// test of a candidate pair reads only bounding spheres.
const BALL: u64 = 16;
/// Size of the tag of a proxy, in bytes. The tag says in which grid a proxy (a time segment of a moving
/// sphere) is, and which time segment it is.
const TAG: u64 = 4;
/// Size of a proxy (a time segment of a moving sphere) before sorting, in bytes: the number of its slot (the
/// entry of its grid cell in a table), the index of its sphere, and its tag.
const ENTRY: u64 = 12;
/// Size of the entry of a proxy (a time segment of a moving sphere) in the sorted order, in bytes: the index
/// at which to read its sphere, the index of the sphere in the input, and its tag.
const ORDER: u64 = 12;
/// Size of the number of a size class (a range of sphere sizes), in bytes.
const SIZE_CLASS: u64 = 2;
/// Size of an entry of the slot table (the table of grid cells), and of the number of such an entry, in
/// bytes.
const SLOT: u64 = 4;

/// Bytes that each stage of the CPU backend reads and writes. Incrementing a word counts as one read and one
/// write. Of a cache line, only the bytes that are used count. A repeated read counts again, even if the
/// cache holds the data. The sampling in `measure` and the stage `plan` move few bytes, and are left out.
const STAGES: [Stage; 5] = [
    // The stage `measure` reads each sphere twice, once to validate it and once to measure its size, and
    // writes the number of its size class.
    Stage {
        name: "measure",
        sphere: 2 * SPHERE + SIZE_CLASS,
        ..NOTHING
    },
    // The stage `bin` reads the sphere and the size class of each proxy (a time segment of a moving sphere),
    // and writes an entry. Sorting the entries by bucket reads and writes each entry once more.
    Stage {
        name: "bin",
        proxy: SPHERE + SIZE_CLASS + 3 * ENTRY,
        ..NOTHING
    },
    // The stage `scatter` sorts the proxies (time segments of moving spheres) by grid cell. The number of
    // bytes is for large worlds with spheres in random order in memory: each record is first written to a
    // bucket, and copied before the bucket is sorted. In other worlds, the stage moves one entry and four
    // records less for each proxy.
    Stage {
        name: "scatter",
        proxy: 3 * ENTRY + 5 * SLOT + 2 * ORDER + SPHERE + 4 * RECORD + 2 * (RECORD + TAG) + BALL,
        slot: 3 * SLOT,
        ..NOTHING
    },
    // For each proxy (a time segment of a moving sphere), the stage `pairs` reads its bounding sphere, tag
    // and slot, and the bounds of five rows of grid cells. For each candidate pair, the stage reads another
    // bounding sphere. For each pair that is found, the stage reads two records, writes the pair, and sorts
    // the pair by bucket.
    Stage {
        name: "pairs",
        proxy: BALL + TAG + 11 * SLOT,
        candidate: BALL,
        pair: 2 * RECORD + 3 * PAIR,
        ..NOTHING
    },
    // The stage `decide` reads each pair once to count the pairs of each sphere, and reads and writes each
    // pair once more to place it in the sorted list.
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

/// Number of bytes that a stage of the CPU backend reads and writes in a time step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
}

/// Returns the number of bytes that each stage of the CPU backend moves in a time step, according to the
/// model [`STAGES`].
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

/// Number of 8-byte words in each of the two buffers of the memory bandwidth measurement. One buffer is 512
/// MiB, more than the caches of a processor hold.
const WORDS: usize = 1 << 26;
/// Number of 8-byte words that one parallel task of the bandwidth measurement copies.
const TASK: usize = 1 << 16;
/// Number of copies that the memory bandwidth measurement makes. Only the time of the fastest copy counts.
const COPIES: usize = 5;

/// Measures the memory bandwidth with a large copy on `threads` threads. Returns the number of bytes that all
/// threads together read and write per second.
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
    // `black_box` keeps the compiler from removing the copies of the bandwidth measurement as unused.
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
