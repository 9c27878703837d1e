//! Fuzz target: the reader of LAMMPS data files accepts or rejects arbitrary bytes without a panic, and accepted
//! files give valid spheres.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        if let Ok(world) = carom_formats::read::data::read("input", data, &options) {
            check(&world, data.len() / 5);
        }
    }
});
