//! Fuzz target: the `.npy` reader accepts or rejects arbitrary bytes without a panic, and accepted
//! files give valid spheres.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        if let Ok(world) = carom_formats::read::npy::read("input", data, &options) {
            // A record may have two bytes, x and y.
            check(&world, data.len() / 2);
        }
    }
});
