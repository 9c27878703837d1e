//! Fuzz target: an input of any name, format and compression is recognised and read or rejected without a panic, and
//! accepted inputs give valid spheres. A series of two such inputs is read, too.

#![no_main]

include!("readers.rs");

use carom_formats::read::{self, Frames, Input};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways().take(2) {
        let input = Input::from_bytes("input", data, None);
        for input in [input.clone(), Input::series([input.clone(), input])] {
            let Ok(worlds) = read::open(&input, Frames::ALL, &options, &()) else {
                return;
            };
            // A compressed input expands to at most 64 MiB and 1100 times its size.
            for world in worlds.take(100).map_while(Result::ok) {
                check(&world, ((64 << 20) + 1100 * data.len()) / 5);
            }
        }
    }
});
