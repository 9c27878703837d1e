//! `carom-web-bindgen FILE.wasm FOLDER` writes the JavaScript module, the TypeScript declarations and the wasm file for
//! browsers.

use anyhow::{Context, bail};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder] = &arguments[..] else {
        bail!("usage: carom-web-bindgen FILE.wasm FOLDER");
    };
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(file)
        .web(true)?
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
        .with_context(|| format!("{file} cannot be used"))
}
