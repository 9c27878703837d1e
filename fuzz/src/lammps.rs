//! Fuzz target: the reader of LAMMPS dumps accepts or rejects arbitrary bytes without a panic, and accepted
//! files give valid spheres. The last frame can also be read alone.

#![no_main]

include!("readers.rs");
include!("frames.rs");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        every_frame(Layout::Lammps, data, &options);
    }
});
