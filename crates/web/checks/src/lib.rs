//! Checks in a browser: WebGPU has the lists of the CPU, bit for bit, and reports every misuse. `crates/web/test.sh` runs
//! them.

#![cfg(target_family = "wasm")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod alone;
mod device;
mod dynamics;
mod lists;
mod misuse;
mod results;
mod worlds;

use wasm_bindgen::prelude::*;

/// What a check says if it fails.
type Checked<T = ()> = Result<T, String>;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns an error with the text of `what` unless it holds.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Runs the checks that need no GPU. Returns what they have done.
#[wasm_bindgen]
pub fn alone() -> Result<String, JsValue> {
    alone::all().map_err(JsValue::from)
}

/// Returns a line for each scene of `count` spheres: its name, and the time of a step on the CPU in ms, the median of `repeats`.
#[wasm_bindgen]
pub fn speed(count: u32, repeats: u32) -> Result<String, JsValue> {
    alone::speed(count, repeats).map_err(JsValue::from)
}

/// Runs a check by its name, or all of them, on `worlds` worlds. Returns what it has done. `tell` is called with each line
/// of progress.
#[wasm_bindgen]
pub async fn check(what: String, worlds: u32, tell: js_sys::Function) -> Result<String, JsValue> {
    let tell = |line: String| {
        let _ = tell.call1(&JsValue::NULL, &line.into());
    };
    let mut done = Vec::new();
    for (name, most) in [
        ("lists", worlds),
        ("grazing", 0),
        ("results", 0),
        ("dynamics", 0),
        ("misuse", 0),
    ] {
        if what != name && (what != "all" || name == "grazing") {
            continue;
        }
        let begin = js_sys::Date::now();
        let found = match name {
            "lists" => lists::all(most, &tell).await,
            "grazing" => lists::grazing(&tell).await,
            "results" => results::all(&tell).await,
            "dynamics" => dynamics::all(&tell).await,
            _ => misuse::all(&tell).await,
        };
        let seconds = (js_sys::Date::now() - begin) / 1000.0;
        let found = found.map_err(|why| format!("{name}: {why}"))?;
        done.push(format!("{name}: {found} ({seconds:.0} s)"));
        tell(done[done.len() - 1].clone());
    }
    ensure(!done.is_empty(), || format!("there is no check {what:?}"))?;
    Ok(done.join("\n"))
}
