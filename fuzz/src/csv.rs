//! CSV made from raw bytes is read or refused.

#![no_main]
#![allow(dead_code, reason = "a target reads one format of all")]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for with_ids in [false, true] {
        if let Ok(world) = csv::read("input", data, with_ids) {
            // Four numbers, each with something after it.
            check(&world, data.len() / 7);
        }
    }
});
