// Reads the bytes that the fuzzer generates, and makes the detector (on the CPU) that is tested, which refuses a
// world with more than `MOST_CANDIDATES` candidate pairs.

use std::cell::RefCell;

use carom::{Backend, Detector, Options, Step};
use libfuzzer_sys::fuzz_target;

const MOST: usize = 8;

/// The input of the fuzzer. After its end, every number is 0.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let n = N.min(self.0.len());
        taken[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        taken
    }

    fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    fn signed(&mut self) -> i8 {
        i8::from_le_bytes(self.take())
    }
}

/// Triples of perpendicular vectors of equal length, in whole numbers. A path along one vector can be exactly
/// tangent to a sphere displaced along another vector.
const AXES: [[[f32; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[3.0, 4.0, 0.0], [-4.0, 3.0, 0.0], [0.0, 0.0, 5.0]],
    [[-1.0, 2.0, 2.0], [2.0, -1.0, 2.0], [2.0, 2.0, -1.0]],
];
const LENGTHS: [f32; 3] = [1.0, 5.0, 3.0];

thread_local! {
    static DETECTOR: RefCell<Detector> = {
        // The thread pool has only the fuzzer's thread. Waking other threads would take longer than
        // computing a small world.
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no other global pool exists");
        // In a thin periodic cell, eight spheres may have a million images. Testing all of their pairs would
        // take minutes.
        let options = Options::new().with_backend(Backend::Cpu).with_max_candidates(MOST_CANDIDATES);
        RefCell::new(Detector::new(options).expect("the CPU backend is always available"))
    };
}
