//! Archives made from raw bytes are read or refused.

#![no_main]
#![allow(dead_code, reason = "a target reads one format of all")]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(world) = npz::read("input", std::io::Cursor::new(data)) {
        // A thousand times as much may be packed.
        check(&world, 1100 * data.len() / 16);
    }
});
