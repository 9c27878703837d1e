# Finds the compiler for browsers: rustup's, which has a compiled standard library for the target, or Debian's, which has its
# source. For scripts to source, in the root of the repository.
# shellcheck shell=bash disable=SC2034
triple=wasm32-unknown-unknown
has_target() {
    [[ -d $(rustc --print target-libdir --target $triple 2>/dev/null) ]]
}
has_debian_compiler() {
    [[ -x /usr/bin/rustc && -e /usr/lib/rustlib/src/rust/library/Cargo.toml ]] && command -v wasm-ld >/dev/null
}
# compile_for_browsers ARGUMENTS: runs `cargo build` for browsers. FEATURES are those of the processor; +simd128 unless set.
compile_for_browsers() {
    local debian=() build=(cargo build --target $triple "$@")
    if ! has_target; then
        debian=(RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld)
        build+=(-Zbuild-std=std,panic_abort)
    fi
    local features=${FEATURES-+simd128}
    env "${debian[@]}" RUSTFLAGS="${features:+-Ctarget-feature=$features}" "${build[@]}"
}
