//! Random calls of the whole public API on small worlds, with extreme numbers and with faults: allocations that fail (on
//! Linux with glibc), few threads, rules that panic, writers and readers that fail, files that are cut off, and devices that are lost. A call returns what
//! an oracle or another way confirms, or an error; it never panics, and what it was called on stays usable.
//!
//! An hour of them: `cargo test --release --test pressure -- many_random --ignored --nocapture`, with the packages and
//! settings of the other tests. `CAROM_SEED` and `CAROM_SECONDS` choose other calls and another time.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

#[path = "../backends/mod.rs"]
mod backends;
#[path = "../device/mod.rs"]
mod device;
mod dynamics;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "../faults/faults.rs"]
mod faults;
mod files;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
#[path = "no_faults.rs"]
mod memory;
mod steps;
mod worlds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use backends::with_threads;
use fastrand::Rng;
use memory::with_failing_allocations;

/// Calls of the short test, which takes about half a minute.
const CALLS: u64 = 1_500;
/// No call may take longer than this.
const LONGEST: Duration = Duration::from_secs(60);

/// What happened to the calls: how many returned a result, and how many an error.
#[derive(Default)]
struct Tally {
    right: u64,
    refused: u64,
}

impl Tally {
    /// Counts a result, and returns what is not an error.
    fn note<T, E: std::fmt::Display>(&mut self, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => {
                self.right += 1;
                Some(value)
            }
            Err(error) => {
                self.refused += 1;
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }
}

/// One kind of calls on one random world.
type Call = fn(&mut Rng, &mut Tally);

/// A fault around all calls of one kind.
fn with_fault(rng: &mut Rng, work: impl FnOnce(&mut Rng) + Send) {
    match rng.u8(..4) {
        0 => with_threads(1, || work(rng)),
        1 => with_threads(3, || work(rng)),
        _ => work(rng),
    }
}

fn run(seed: u64, calls: u64, longest: Duration, kinds: &[(&str, Call)]) {
    let mut tally = Tally::default();
    let begin = Instant::now();
    let mut number = 0;
    while number < calls && begin.elapsed() < longest {
        // Each call has a seed of its own, so that one that fails can be repeated alone.
        let own = seed.wrapping_mul(1 << 40).wrapping_add(number);
        let mut rng = Rng::with_seed(own);
        let (name, call) = kinds[rng.usize(..kinds.len())];
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            with_fault(&mut rng, |rng| call(rng, &mut tally));
        }));
        let time = start.elapsed();
        assert!(
            result.is_ok() && time < LONGEST,
            "call {number} of seed {seed} ({name}) failed, or took {time:?}"
        );
        number += 1;
    }
    let calls = number;
    let Tally { right, refused } = tally;
    println!("{calls} calls: {right} results and {refused} errors");
    // Neither faults nor good worlds may be rare.
    assert!(
        right > calls / 4 && refused > calls / 20,
        "{right}, {refused}"
    );
}

const KINDS: [(&str, Call); 6] = [
    ("a step in float32", steps::detect),
    ("a step in float64", steps::detect_in_float64),
    ("neighbours", steps::neighbors),
    ("a simulation", dynamics::simulate),
    ("files", files::write_and_read),
    ("a lost device", steps::lose_a_device),
];

#[test]
fn random_calls_are_right_or_refused() {
    with_failing_allocations("random_calls_are_right_or_refused", || {
        run(1, CALLS, Duration::MAX, &KINDS);
    });
}

/// A software adapter is slow, so this takes few calls.
#[test]
fn both_backends_find_the_same_or_refuse() {
    let kinds = [("both backends", steps::detect_twice as Call)];
    run(2, 40, Duration::MAX, &kinds);
}

#[test]
#[ignore = "takes long; run it with `--ignored --nocapture`"]
fn many_random_calls() {
    let number = |name, default| {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().unwrap_or(default)
    };
    let (seed, seconds) = (number("CAROM_SEED", 3), number("CAROM_SECONDS", 3600));
    let mut all = KINDS.to_vec();
    all.push(("both backends", steps::detect_twice));
    with_failing_allocations("many_random_calls", || {
        run(seed, u64::MAX, Duration::from_secs(seconds), &all);
    });
}
