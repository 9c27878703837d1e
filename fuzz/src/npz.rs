//! Fuzz target: the `.npz` reader accepts or rejects arbitrary bytes without a panic, and accepted
//! files give valid spheres.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        let input = std::io::Cursor::new(data);
        if let Ok(world) = carom_formats::read::npz::read("input", input, &options) {
            // Deflate compresses an array by a factor of about 1000 at most.
            check(&world, 1100 * data.len() / 12);
        }
    }
});
