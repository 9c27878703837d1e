//! Archives made from raw bytes are read or refused.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        let input = std::io::Cursor::new(data);
        if let Ok(world) = carom_cli::read::npz::read("input", input, &options) {
            // A thousand times as much may be packed.
            check(&world, 1100 * data.len() / 12);
        }
    }
});
