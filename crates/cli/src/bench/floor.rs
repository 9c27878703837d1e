//! Memory traffic of a time step: the bytes that any method must move, a model of the bytes that carom's CPU
//! backend moves, and a measurement of the memory bandwidth.

use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde::Serialize;

/// Size of a sphere in the input, in bytes.
const SPHERE: u64 = 32;
/// Size of a colliding pair, in bytes.
const PAIR: u64 = 16;

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

/// Memory traffic of a stage of the CPU backend, in bytes read and written. There is one number for
/// each kind of item: sphere, time segment of a moving sphere (`proxy`), entry of the table of grid
/// cells (`slot`), pair of segments to test (`candidate`), and colliding pair.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    name: &'static str,
    sphere: u64,
    proxy: u64,
    slot: u64,
    candidate: u64,
    pair: u64,
}

/// Size in bytes of the full record of a time segment of a moving sphere (its bounding sphere and tag are
/// stored separately).
const RECORD: u64 = 32;
/// Size in bytes of the bounding sphere of a time segment of a moving sphere.
const BALL: u64 = 16;
/// Size in bytes of the tag of a time segment of a moving sphere. The tag has the number of the
/// segment, and the number of the grid that stores it.
const TAG: u64 = 4;
/// Size in bytes of a time segment of a moving sphere before sorting: a grid cell, a sphere index
/// and a tag (the numbers of the segment and of its grid).
const ENTRY: u64 = 12;
/// Size in bytes of a time segment of a moving sphere after sorting: the sphere's index in memory,
/// its index in the input, and a tag (the numbers of the segment and of its grid).
const ORDER: u64 = 12;
/// Size in bytes of the number that `measure` stores for each sphere to name its size class (a range of
/// sizes).
const SIZE_CLASS: u64 = 2;
/// Size of an entry of the table of grid cells, in bytes.
const SLOT: u64 = 4;

/// Bytes that each stage of the CPU backend reads and writes. Incrementing a number in memory
/// counts as one read and one write. A repeated read counts again, even if the data is in the
/// cache. Choosing the grids and sampling the spheres move few bytes, and are left out.
const STAGES: [Stage; 5] = [
    // The stage `measure` reads each sphere twice: to check its values, and to measure its size. The stage
    // writes a size class (a range of sizes) for each sphere.
    Stage {
        name: "measure",
        sphere: 2 * SPHERE + SIZE_CLASS,
        ..NOTHING
    },
    // The stage `bin` finds the grid cell of each time segment of a moving sphere. For each segment, the
    // stage reads the sphere and its size class (a range of sizes), and writes an entry for the segment.
    // Sorting the entries reads and writes each entry once more.
    Stage {
        name: "bin",
        proxy: SPHERE + SIZE_CLASS + 3 * ENTRY,
        ..NOTHING
    },
    // The stage `scatter` sorts the time segments of moving spheres by grid cell. The number of
    // bytes that it moves is estimated for a large world whose spheres lie in memory in random
    // order. In other worlds, the stage moves fewer bytes.
    Stage {
        name: "scatter",
        proxy: 3 * ENTRY + 5 * SLOT + 2 * ORDER + SPHERE + 4 * RECORD + 2 * (RECORD + TAG) + BALL,
        slot: 3 * SLOT,
        ..NOTHING
    },
    // For each time segment of a moving sphere, the stage `pairs` reads its bounding sphere, its
    // grid and segment number, its cell, and the ends of five rows of cells. For each pair of
    // segments to test, it reads another bounding sphere. For each pair that touches, it reads the
    // complete data of both segments, and writes and sorts the pair.
    Stage {
        name: "pairs",
        proxy: BALL + TAG + 11 * SLOT,
        candidate: BALL,
        pair: 2 * RECORD + 3 * PAIR,
        ..NOTHING
    },
    // The stage `decide` reads the list of colliding pairs once to count the pairs of each sphere.
    // To sort the list, the stage reads it a second time and writes it once.
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

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
}

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

/// Number of 8-byte words in each of the two buffers of the bandwidth measurement. A buffer of 512 MiB is
/// larger than the caches of a processor.
const WORDS: usize = 1 << 26;
const TASK: usize = 1 << 16;
/// Number of copies in the bandwidth measurement. Only the fastest copy counts.
const COPIES: usize = 5;

/// Measures the memory bandwidth with a large copy, in bytes read and written per second by all threads
/// of the current rayon pool together.
pub(crate) fn bandwidth() -> anyhow::Result<f64> {
    let [from, mut to] = [buffer(1)?, buffer(2)?];
    let mut least = f64::INFINITY;
    for _ in 0..COPIES {
        let start = Instant::now();
        to.par_chunks_mut(TASK)
            .zip(from.par_chunks(TASK))
            .for_each(|(to, from)| to.copy_from_slice(from));
        least = least.min(start.elapsed().as_secs_f64());
    }
    // `black_box` keeps the compiler from removing the copies as unused.
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
