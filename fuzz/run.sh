#!/usr/bin/env bash
# Runs a fuzz target with coverage guidance: fuzz/run.sh TARGET [LIBFUZZER OPTION...]
#
# Needs only Rust and a C++ compiler. An input that fails is saved in fuzz/artifacts/TARGET.
# `fuzz/run.sh TARGET FILE` runs it again.
set -euo pipefail
target=${1:?'usage: fuzz/run.sh TARGET [LIBFUZZER OPTION...]'}
shift
if [[ ${1:-} == [!-]* ]]; then
    set -- "$(realpath "$1")" "${@:2}"
fi
cd "$(dirname "${BASH_SOURCE[0]}")"
export RUSTC_WRAPPER=$PWD/instrument.sh CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
# A separate target folder, because these builds contain coverage counters.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target}/fuzz
cargo build --release --quiet --bin "$target"
runner=$CARGO_TARGET_DIR/release/$target
mkdir -p "corpus/$target" "artifacts/$target"
if [[ ${1:-} == [!-]* ]]; then
    exec "$runner" "$@"
fi
seeds=()
# The targets for the readers start from the test files, most of which are valid inputs.
[[ $target == @(worlds|wide|periodic) ]] || seeds=(../crates/cli/tests/data)
exec "$runner" -artifact_prefix="artifacts/$target/" "$@" "corpus/$target" "${seeds[@]}"
