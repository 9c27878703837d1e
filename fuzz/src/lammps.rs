//! Fuzz target: the reader of LAMMPS dumps accepts or rejects arbitrary bytes, and accepted worlds
//! are valid. Reading the last frame alone must give the same world as reading all frames.

#![no_main]

include!("readers.rs");
include!("frames.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        every_frame(Layout::Lammps, data, &options);
    }
});
