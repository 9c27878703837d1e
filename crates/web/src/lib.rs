//! What the page and the npm package call.
//!
//! The declarations for TypeScript are in `types.d.ts`; wasm-bindgen copies them.

#![cfg(target_family = "wasm")]
#![allow(
    unreachable_pub,
    reason = "JavaScript reaches what wasm-bindgen exports"
)]

mod detector;
mod dynamics;
mod js;
mod read;
mod shared;
mod stage;

use wasm_bindgen::prelude::*;

/// The parts of the example `embed` that are not about windows and files, as they are.
macro_rules! of_embed {
    ($($name:ident $path:literal)*) => {$(
        #[allow(dead_code, clippy::pedantic, reason = "the example uses all of it")]
        #[path = $path]
        mod $name;
    )*};
}
of_embed! {
    camera "../../../examples/embed/camera.rs"
    draw "../../../examples/embed/draw.rs"
    gpu "../../../examples/embed/gpu.rs"
    simulation "../../../examples/embed/simulation.rs"
    start "../../../examples/embed/start.rs"
}

/// The page writes its text in HTML.
mod text {
    pub(crate) struct Coverage {
        pub(crate) size: [u32; 2],
        pub(crate) pixels: Vec<u8>,
    }
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen(start)]
fn begin() {
    console_error_panic_hook::set_once();
}
