//! Arrays made from raw bytes are read or refused.

#![no_main]
#![allow(dead_code, reason = "a target reads one format of all")]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(world) = npy::read("input", data) {
        check(&world, data.len() / 16);
    }
});
