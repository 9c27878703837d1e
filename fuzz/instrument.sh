#!/usr/bin/env bash
# A wrapper around rustc. Cargo calls it with the path of rustc as its first argument. It adds coverage
# counters to carom and its readers only, because the fuzzer reads every counter after every run.
set -euo pipefail
if [[ " $* " == *' --crate-name carom '* || " $* " == *' --crate-name carom_formats '* ]]; then
    # The flags of cargo-fuzz, without those that a stable compiler lacks.
    set -- "$@" --cfg carom_fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
fi
exec "$@"
