//! Fuzz target: the CSV reader accepts or rejects arbitrary bytes without a panic, and accepted
//! files give valid spheres.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        if let Ok(world) = carom_formats::read::csv::read("input", data, &options) {
            // A CSV row of a sphere has at least 5 bytes: three digits and two commas.
            check(&world, data.len() / 5);
        }
    }
});
