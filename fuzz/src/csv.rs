//! CSV made from raw bytes is read or refused.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        if let Ok(world) = carom_cli::read::csv::read("input", data, &options) {
            // Three numbers, each with something after it.
            check(&world, data.len() / 5);
        }
    }
});
