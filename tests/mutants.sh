#!/usr/bin/env bash
# Breaks carom in one place after another, and makes sure that a test fails each time: a bound or a
# comparison that nothing needs would be a mistake too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# Not the usual folder: the builds of a copy of carom would have the names of the real ones there, and
# Cargo would take them for those.
usual=${CARGO_TARGET_DIR:-$root/target}
export CARGO_TARGET_DIR=$usual/mutants RUST_BACKTRACE=0
# A mutant differs in one line, so little has to be compiled again.
export CARGO_INCREMENTAL=1
# The dependencies, however, may come from there: these are the packages that tests/run.sh tests, so
# that dependencies have the same features.
if [[ ! -e $CARGO_TARGET_DIR && -d $usual/release/deps ]]; then
    mkdir -p "$CARGO_TARGET_DIR/release"
    cp -a "$usual"/release/{.fingerprint,build,deps} "$CARGO_TARGET_DIR/release"
fi
# Little optimization: these tests are short.
test=(cargo test --config profile.release.package.carom.opt-level=1 --release --quiet
    --package carom --package carom-cli --package carom-scenes)
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
survived=0 killed=0

# mutant WHAT FILE FROM TO TEST...: with FROM made TO in FILE, which has it once, the test fails.
mutant() {
    local what=$1 file=$2 from=$3 to=$4
    shift 4
    rm -rf "$copy/carom"
    mkdir "$copy/carom"
    # What is not committed yet, too.
    git ls-files --cached --others --exclude-standard -z |
        { xargs -0 ls -d 2>/dev/null || true; } | tar -cf - -T - | tar -xf - -C "$copy/carom"
    cd "$copy/carom"
    # No mutant needs the tool.
    : >crates/cli/src/lib.rs
    echo 'fn main() {}' >crates/cli/src/main.rs
    if [[ $(FROM=$from perl -0ne 'print scalar(() = /\Q$ENV{FROM}\E/g)' "$file") != 1 ]]; then
        echo "mutants.sh: $file does not have once: $from" >&2
        exit 1
    fi
    FROM=$from TO=$to perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
    if ! "${test[@]}" --no-run "$@" >"$copy/log" 2>&1; then
        cat "$copy/log" >&2
        echo "mutants.sh: this mutant does not even build: $what" >&2
        exit 1
    fi
    if "${test[@]}" "$@" >"$copy/log" 2>&1; then
        echo "SURVIVED  $what  ($*)"
        survived=$((survived + 1))
    elif grep -q 'test result: FAILED' "$copy/log"; then
        echo "killed    $what  ($*)"
        killed=$((killed + 1))
    else
        cat "$copy/log" >&2
        echo "mutants.sh: no test ran for this mutant: $what" >&2
        exit 1
    fi
    cd "$root"
}

tangency=(--lib no_certain_verdict_on_pairs_near_tangency_is_wrong)
told=(--lib what_is_told_side_by_side_is_right)
spans=(--test nothing_lost closest_approach_at_span_boundaries_on_the_)
balls=(--lib balls_of_two_that_touch_meet)
cells=(--test nothing_lost pairs_that_fly_apart_are_not_two_cells_apart)

mutant 'a bound below the worst error seen' src/shared/filter.rs \
    'ROUNDING: f32 = 1.001 * EPSILON' 'ROUNDING: f32 = 0.25 * EPSILON' "${tangency[@]}"
mutant 'no linear term' src/shared/filter.rs \
    'LINEAR: f32 = 2.0' 'LINEAR: f32 = 0.0' "${tangency[@]}"
mutant 'no term for the squares' src/shared/filter.rs \
    'SQUARES: f32 = 5.0' 'SQUARES: f32 = 0.0' "${tangency[@]}"
mutant 'no quadratic term' src/shared/filter.rs \
    'QUADRATIC: f32 = 25.0' 'QUADRATIC: f32 = 0.0' "${tangency[@]}"
mutant 'no absolute term' src/shared/filter.rs \
    'ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32' 'ABSOLUTE: f32 = 0.0' "${tangency[@]}"
mutant 'no margin for what comes near' src/shared/filter.rs \
    'NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32' 'NEAR_MARGIN: f32 = 0.0' "${tangency[@]}"
mutant 'half of the time of a segment is not searched' shaders/shared/near.wgsl \
    '(half + NEAR_MARGIN) * dt' '(0.5 * half + NEAR_MARGIN) * dt' "${tangency[@]}"
mutant 'no barrier, and a compiler that reassociates' shaders/shared/filter.wgsl \
    'opaque3(p + v * t)' '(j.center + j.velocity * t) - (i.center + i.velocity * t)' "${tangency[@]}"
mutant 'no bound in float64' src/exact/float64.rs \
    'error: moved + 16.0 * U * (cross + rrvv)' 'error: 0.0' "${tangency[@]}"
mutant 'signs told that rounding may have turned' src/exact/two_pairs.rs \
    'SIGN: f64 = 1.0 / (1_u64 << 40) as f64' 'SIGN: f64 = 0.0' "${told[@]}"
mutant 'values told of small differences' src/exact/two_pairs.rs \
    'VALUE: f64 = 1.0 / (1_u64 << 16) as f64' 'VALUE: f64 = 1.0 / (1_u64 << 34) as f64' "${told[@]}"
mutant 'values told that rounding may have moved' src/exact/two_pairs.rs \
    'OFF: f64 = 1.0 / (1_u64 << 32) as f64' 'OFF: f64 = 0.0' "${told[@]}"
mutant '< for <=, at the closest approach' src/exact/integers.rs \
    '&closing * &closing >= ' '&closing * &closing > ' --test reference a_tangent_pass
mutant '< for <=, at the end of the step' src/exact/integers.rs \
    '[Less | Equal, _] => true' '[Less, _] => true, [Equal, _] => false' --test reference touching_at_the_very_end
mutant '< for <=, at the start' src/exact/integers.rs \
    "            Equal => {
                return Some(Impact {
                    toi: 0.0,
                    depth: 0.0,
                });
            }" '            Equal => return None,' --test reference touching_at_the_start
mutant 'squares taken for exact that are rounded' src/exact/two_pairs.rs \
    'off | (x | y | z | r) & past' 'off' "${tangency[@]}"
mutant 'sums taken for exact that are rounded' src/exact/two_pairs.rs \
    'off |= (x - (sum - of_y)) + (y - of_y)' 'off |= zero & of_y' "${tangency[@]}"
mutant 'no margin in the size of a proxy' src/shared/segments.rs \
    'MARGIN: f32 = 10.0' 'MARGIN: f32 = 0.0' "${cells[@]}"
mutant 'no margin in the balls' src/cpu/balls.rs \
    'BALL_MARGIN: f32 = 2.0 * MARGIN' 'BALL_MARGIN: f32 = 0.0 * MARGIN' "${balls[@]}"
mutant 'no margin around a path' src/cpu/balls.rs \
    'PATH_MARGIN: f32 = 2.0 * BALL_MARGIN' 'PATH_MARGIN: f32 = 0.0 * BALL_MARGIN' "${balls[@]}"
mutant 'motions lost when their squares underflow' src/shared/segments.rs \
    ' + T::of(f32::MIN_POSITIVE)' '' "${balls[@]}"
mutant 'pairs that several segments report get lost' src/cpu/pairs/sweeper.rs \
    'self.shared.push(ReportedPair' 'let _ = std::convert::identity(ReportedPair' "${spans[@]}cpu"
mutant 'spans compared as open ones, on the CPU' src/shared/ownership.rs \
    'k < low >> shift || k > high >> shift' 'k <= low >> shift || k > high >> shift' "${spans[@]}cpu"
mutant 'spans compared as open ones, on the GPU' shaders/shared/ownership.wgsl \
    'k < (first >> shift) || k > (last >> shift)' 'k <= (first >> shift) || k > (last >> shift)' "${spans[@]}gpu"
mutant 'ties rounded down' src/exact/integers.rs \
    'Equal => below + below % 2' 'Equal => below' --lib ties_go_to_the_even_number
mutant 'coarse proxies that should look for fine ones do not' src/cpu/plan/searches.rs \
    'searched[coarse] |= 1 << fine' 'let _ = fine' --test same_pairs giants
mutant 'cells so far away that their number overflows' src/shared/grid.rs \
    '.fast_max(f32x4::splat(-FAR))' '' --test same_pairs giants
mutant 'spheres set aside are tested all the same' shaders/plan.wgsl \
    'plan.proxies - atomicLoad(&counters.invalid)' 'plan.proxies' --test embedding set_aside
mutant 'subnormal numbers scaled by a power too few' shaders/shared/units.wgsl \
    'exponent = 1 - i32(shift)' 'exponent = -i32(shift)' --test embedding any_unit
mutant 'a ticket that takes whatever stands there' src/gpu/ticket.rs \
    'read.serial != self.recorded.serial' 'false' --test misuse a_submit_that_fails

echo "$killed mutants killed, $survived survived"
((survived == 0))
