#!/usr/bin/env bash
# Called by cargo in the place of rustc, with rustc as its first argument: counts coverage in carom
# and its readers alone, because a fuzzer looks at every counter after every run.
set -euo pipefail
if [[ " $* " == *' --crate-name carom '* || " $* " == *' --crate-name carom_cli '* ]]; then
    # What cargo-fuzz passes, but for flags that a stable compiler lacks.
    set -- "$@" --cfg carom_fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
fi
exec "$@"
