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
# compile ARGUMENTS: runs `cargo build` with this compiler, for this machine.
compile() {
    if has_target; then
        cargo build --release "$@"
    else
        RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 cargo build --release "$@"
    fi
}
# compile_for_browsers ARGUMENTS: the same for browsers. FEATURES are those of the processor; +simd128 unless set.
compile_for_browsers() (
    features=${FEATURES-+simd128}
    export RUSTFLAGS=${features:+-Ctarget-feature=$features}
    if ! has_target; then
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
        # The standard library, without the feature that prints backtraces.
        set -- -Zbuild-std=std,panic_abort -Zbuild-std-features= "$@"
    fi
    compile --target $triple "$@"
)
