//! Fuzz target: the CSV reader accepts or rejects arbitrary bytes, and accepted worlds are valid.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        if let Ok(world) = carom_cli::read::csv::read("input", data, &options) {
            // A row of the file has at least 5 bytes: three numbers of one digit and two commas.
            check(&world, data.len() / 5);
        }
    }
});
