#!/usr/bin/env bash
# Breaks carom in one place after another, and checks that a test fails each time. A mutant that
# survives means a gap in the tests, or a bound or comparison that nothing needs.
#
#   mutants.sh          the first mutant of each file, and all of rounding, underflow, bounds and margins
#   mutants.sh --all    all mutants
#   mutants.sh PATTERN  those of all whose description, file or tests match PATTERN, an extended regular expression
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=${1:-}
# Builds of the mutants need a target folder of their own. In the usual one, Cargo would take them
# for builds of the real sources.
usual=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$usual/mutants RUST_BACKTRACE=0
# The builds differ in few lines, so incremental ones recompile little.
export CARGO_INCREMENTAL=1
# The dependencies are copied from the usual folder, if they have been built there. The packages below
# are the ones that tests/run.sh tests, because other packages would select other features of the
# dependencies.
if [[ ! -e $CARGO_TARGET_DIR && -d $usual/release/deps ]]; then
    mkdir -p "$CARGO_TARGET_DIR/release"
    cp -a "$usual"/release/{.fingerprint,build,deps} "$CARGO_TARGET_DIR/release"
fi
test=(cargo test --config tests/quick.toml --release --quiet
    --package carom --package carom-cli --package carom-formats --package carom-scenes)
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export NODEVICE_SELECT=1
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/carom"
# The copy includes files and changes that are not committed yet.
git ls-files --cached --others --exclude-standard -z |
    { xargs -0 ls -d 2>/dev/null || true; } | tar -cf - -T - | tar -xf - -C "$copy/carom"
# Another copy stays as it is, so that changes of the originals do not matter from now on.
cp -r "$copy/carom" "$copy/given"
root=$copy/given
cd "$copy/carom"
# The tool is replaced by an empty program, and its readers by an empty library, because no mutant needs
# them.
: >crates/formats/src/lib.rs
echo 'fn main() {}' >crates/cli/src/main.rs

# The wanted mutants, by their number, which counts from 1: the description, the file, the text that is replaced,
# the text that replaces it, and the arguments that select the tests.
whats=('') files=('') froms=('') tos=('') tests=('')

# mutant WHAT FILE FROM TO TEST...: a mutant replaces FROM, which must occur exactly once, by TO in FILE, so
# that the tests selected by TEST... fail. The check of FROM is for all mutants, also those that are not wanted.
declare -A seen=()
bounds='bound|margin|term|rounded|rounding|error of|flow|digits|bend|differences'
mutant() {
    if [[ $(FROM=$3 perl -0ne 'print scalar(() = /\Q$ENV{FROM}\E/g)' "$root/$2") != 1 ]]; then
        echo "mutants.sh: $2 must contain this text exactly once: $3" >&2
        return 1
    fi
    case $wanted in
        '') [[ -z ${seen[$2]:-} || $1 =~ $bounds ]] || return 0 ;;
        --all) ;;
        *) [[ "$1 $2 ${*:5}" =~ $wanted ]] || return 0 ;;
    esac
    seen[$2]=yes
    whats+=("$1 (${*:5})") files+=("$2") froms+=("$3") tos+=("$4") tests+=("${*:5}")
}

# Prints each mutant of the sources as four texts that end with a NUL: its number, FILE, FROM, TO.
sources() {
    local k
    for ((k = 1; k < ${#whats[@]}; k++)); do
        if [[ ${files[k]} != shaders/* ]]; then
            printf '%s\0' "$k" "${files[k]}" "${froms[k]}" "${tos[k]}"
        fi
    done
}

# Writes all mutants inside bodies of functions into the copy: such a body becomes
# `if mutated(NUMBER) { the body with TO } else { the body }`. Prints the numbers of the other mutants, which
# need a build each: those of constants, of constant functions and of functions that return `impl ...`.
# The sources have the form of rustfmt, by which the lines of a function and of its body are found.
# shellcheck disable=SC2016
switches='
    local $/ = "\0";
    my (%of_file, %bodies);
    my @all = map { s/\0$//r } <STDIN>;
    while (my ($number, $file, $from, $to) = splice @all, 0, 4) {
        push @{$of_file{$file}}, [$number, $from, $to];
    }
    for my $file (sort keys %of_file) {
        local $/;
        open my $source, "<", $file or die "$file: $!";
        my $text = <$source>;
        my @functions;
        while ($text =~ /^( *)(?:pub(?:\([^)]*\))? )?((?:const |async )*)fn /mg) {
            my ($first, $indent, $kind) = ($-[0], $1, $2);
            my $rest = substr $text, $first;
            $rest =~ /\A(.*?^$indent(?:\S[^\n]*)?\{\n)(.*?)^$indent\}\n/ms or next;
            my ($head, $body) = ($1, $2);
            next if $kind =~ /const/ || $head =~ /-> \(?impl /;
            push @functions, [$first + length $head, length $body];
        }
        my %changes;
        for my $mutant (@{$of_file{$file}}) {
            my ($number, $from, $to) = @$mutant;
            my $place = index $text, $from;
            my @around = grep {
                $_->[0] <= $place && $place + length $from <= $_->[0] + $_->[1]
            } @functions;
            my ($inner) = sort { $a->[1] <=> $b->[1] } @around;
            my $nests = grep {
                my ($begin, $end) = ($_->[0], $_->[0] + $_->[1]);
                $inner && $begin != $inner->[0] && $begin < $inner->[0] + $inner->[1] && $inner->[0] < $end
            } map { $_->[0] } values %changes;
            if (!$inner || $nests) {
                print "$number\n";
                next;
            }
            my $body = substr $text, $inner->[0], $inner->[1];
            substr $body, $place - $inner->[0], length $from, $to;
            my $change = $changes{$inner->[0]} //= [$inner, ""];
            $change->[1] .= "if crate::mutated($number) {\n$body} else ";
        }
        for my $change (sort { $b->[0][0] <=> $a->[0][0] } values %changes) {
            my ($begin, $size) = @{$change->[0]};
            my $body = substr $text, $begin, $size;
            substr $text, $begin, $size, "$change->[1]\{\n$body}\n";
        }
        open my $out, ">", $file or die "$file: $!";
        print $out $text;
        close $out;
    }
'

# In the programs of the copy, the file $SHADER_NOW takes the place of the shader $SHADER_BEFORE, and the
# mutant of number $MUTANT is chosen, if these variables are set.
perl -0pi -e 's/fn add\(&mut self, text: .*? \{\n/$&let text = replaced(text);\n/ or die "mutants.sh: no function add\n"' \
    src/gpu/device/shader/import.rs
cat >>src/gpu/device/shader/import.rs <<'END'
fn replaced(text: &'static str) -> &'static str {
    let read = |name| std::env::var(name).ok().and_then(|file| std::fs::read_to_string(file).ok());
    match [read("SHADER_BEFORE"), read("SHADER_NOW")] {
        [Some(before), Some(now)] if before == text => now.leak(),
        _ => text,
    }
}
END
cat >>src/lib.rs <<'END'
pub(crate) fn mutated(number: u32) -> bool {
    static MUTANT: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("MUTANT").map_or(0, |number| number.parse().expect("$MUTANT is a number"))
    });
    *MUTANT == number
}
END

# build FOLDER ARGUMENT...: builds tests of the copy, and copies the test programs to FOLDER, because the
# next build replaces them.
build() {
    local folder=$1
    shift
    if ! "${test[@]}" --no-run --message-format json-render-diagnostics "$@" >"$copy/built" 2>"$copy/log"; then
        cat "$copy/log" >&2
        return 1
    fi
    mkdir "$folder"
    sed -n '/"kind":\["\(lib\|test\)"\].*"test":true/ s/.*"executable":"\([^"]*\)".*/\1/p' "$copy/built" |
        xargs cp -t "$folder"
}

# run K FOLDER: runs the tests of mutant K with the programs in FOLDER, and writes a line to the file $copy/lines
# that says whether one of them failed.
run() {
    local number=$1 folder=$2 program filter=() programs=() log=$copy/tests.$1 word=SURVIVED start=$SECONDS
    # shellcheck disable=SC2086
    set -- ${tests[number]}
    while (($#)); do
        case $1 in
            --lib) programs+=(carom) && shift ;;
            --test) programs+=("$2") && shift 2 ;;
            *) filter+=("$1") && shift ;;
        esac
    done
    for program in "${programs[@]}"; do
        if ! "$folder"/"$program"-* "${filter[@]}"; then
            word='killed   '
            break
        fi
    done >"$log" 2>&1
    if [[ $word != SURVIVED ]] && ! grep -q 'test result: FAILED' "$log"; then
        cat "$log" >&2
        word='no test  '
    fi
    rm "$log"
    echo "$word ${whats[number]}, $((SECONDS - start)) s" | tee -a "$copy/lines"
}

tangency=(--lib no_certain_verdict_on_pairs_near_tangency_is_wrong)
told=(--lib certain_results_of_the_paired_test_are_correct)
spans=(--test nothing_lost closest_approaches_at_segment_boundaries_are_found_on_the_)
balls=(--lib balls_of_touching_spheres_meet)
worlds=(--test periodic small_worlds)
on_gpu=(--test periodic_gpu small_worlds)
far=(--test periodic_gpu pairs_that_just_touch)
gpu_walls=(--test walls_gpu)
walls=(--test walls agree_with_exact_arithmetic)
cells=(--test nothing_lost pairs_that_fly_apart_are_not_two_cells_apart)

mutant 'an error bound below the worst error seen' src/shared/filter/any_gpu.rs \
    'let mut bound = self.mul_add' 'let mut bound = 0.25 * self.mul_add' "${tangency[@]}"
mutant 'no linear term in the error bound' src/shared/filter/any_gpu.rs \
    'self.mul(LINEAR, across)' 'self.mul(0.0, across)' "${tangency[@]}"
mutant 'no term for the squares in the error bound' src/shared/filter/any_gpu.rs \
    'ROUNDING * SQUARES, squares' '0.0, squares' "${tangency[@]}"
mutant 'no quadratic term in the error bound' src/shared/filter/any_gpu.rs \
    'self.mul_add(QUADRATIC, rounding' 'self.mul_add(0.0, rounding' "${tangency[@]}"
mutant 'no absolute term in the error bound' src/shared/filter/any_gpu.rs \
    'squares, ABSOLUTE)' 'squares, 0.0)' "${tangency[@]}"
mutant 'no margin in the near test' shaders/shared/near.wgsl \
    '(half + NEAR_MARGIN) * dt' 'half * dt' "${tangency[@]}"
mutant 'the near test covers only half of the time of a segment' shaders/shared/near.wgsl \
    '(half + NEAR_MARGIN) * dt' '(0.5 * half + NEAR_MARGIN) * dt' "${tangency[@]}"
mutant 'no barrier against a compiler that reassociates' shaders/shared/filter.wgsl \
    'return filter_motion(p, v, r, sum(abs(p)), dt);' \
    'var s = filter_motion(p, v, r, sum(abs(p)), dt);
    let q = (j.center + j.velocity * s.t) - (i.center + i.velocity * s.t);
    s.margin = r * r - dot(q, q);
    return s;' "${tangency[@]}"
mutant 'no error bound in float64' src/exact/float64.rs \
    'error: moved + 16.0 * U * (cross + rrvv)' 'error: 0.0' "${tangency[@]}"
mutant 'the paired test returns signs that rounding may have changed' src/exact/two_pairs.rs \
    'leaves(SIGN, terms.outside, terms.sum);
    let certain_later = leaves(SIGN,' 'leaves(0.0, terms.outside, terms.sum);
    let certain_later = leaves(0.0,' "${told[@]}"
mutant 'the paired test returns values of differences that are too small' src/exact/two_pairs.rs \
    'leaves(VALUE, self.discriminant, self.sum * self.vv);
        let told = leaves(VALUE,' 'leaves(VALUE / (1 << 18) as f64, self.discriminant, self.sum * self.vv);
        let told = leaves(VALUE / (1 << 18) as f64,' "${told[@]}"
mutant 'the paired test returns values without an error bound' src/exact/two_pairs.rs \
    'f64x2::splat(1.0 - OFF);
        let most = value * f64x2::splat(1.0 + OFF);' 'f64x2::splat(1.0);
        let most = value * f64x2::splat(1.0);' "${told[@]}"
mutant 'the edges of a periodic domain do not count for the unit of a pair' shaders/shared/exact_pair.wgsl \
    'let all = min(own, shift);' 'let all = own;' --lib images_are_decided
mutant 'numbers of more than 61 bits wrap around' shaders/shared/exact_pair.wgsl \
    'is_below(i, unit + 61) && is_below(j, unit + 61)' 'is_below(i, unit + 99) && is_below(j, unit + 99)' --lib pairs_of_any_numbers
mutant 'multiples of edges wrap around' shaders/shared/exact_pair.wgsl \
    'exact = exact && is_below(vec4<u32>(by.x, 0u), unit + 51);' '' --lib displacements_of_too_many_bits
mutant 'numbers of more than 51 bits lose digits' shaders/shared/exact_pair.wgsl \
    'exact = exact && bits <= 51u;' 'exact = exact && bits <= 53u;' --lib pairs_of_any_numbers
mutant 'a root may be before its bracket' shaders/shared/exact_pair.wgsl \
    'if before <= 0 || after >= 0' 'if after >= 0' --lib pairs_near_tangency_are_decided
mutant 'a root may be after its bracket' shaders/shared/exact_pair.wgsl \
    'if before <= 0 || after >= 0' 'if before <= 0' --lib pairs_near_tangency_are_decided
mutant 'brackets do not become narrower below a power of two' shaders/shared/exact_pair.wgsl \
    'select(2, 1, now == 0x800000)' '2' --lib times_next_to_a_power_of_two
mutant 'contact at the very end of the step is a miss' shaders/shared/exact_pair.wgsl \
    'in_step = sign_at(f, u, a, 4 * k) <= 0;' 'in_step = sign_at(f, u, a, 4 * k) < 0;' --lib pairs_near_tangency_are_decided
mutant 'contact just after the end of the step is a hit' shaders/shared/exact_pair.wgsl \
    'in_step = sign_at(f, u, a, 4 * k) <= 0;' 'in_step = true;' --lib pairs_near_tangency_are_decided
mutant 'a device rounds ties up' shaders/shared/wide_words.wgsl \
    'rest == 0x80000000u && (x & 1u) != 0u' 'rest == 0x80000000u' --lib pairs_near_tangency_are_decided
mutant 'open pairs are not marked' shaders/shared/decide_found.wgsl \
    'Kept(found | vec4<u32>(0u, CAROM_GRAZING, 0u, 0u), true)' 'Kept(found, true)' --test embedding lists_on_the_device
mutant 'times of a step with previous centers are those of a step of length 1' shaders/shared/decide_found.wgsl \
    'factor != ONE_BITS && times.x != 0u' 'false' --test embedding previous_centers
mutant 'a device is trusted before its self-test' src/gpu/collide/record_step.rs \
    '(true, false) => FLAG_DECIDE,' '(true, false) => FLAG_DECIDE | FLAG_TRUSTED,' --test embedding until_the_device_has_passed
mutant 'neighbours of an untested device are kept' shaders/neighbors/neighbors_finish.wgsl \
    ' && (params.flags & FLAG_TRUSTED) != 0u' '' --test neighbors_gpu a_list_of_an_untested_device
mutant 'a dropped self-test is not repeated' src/gpu/device/device_kernels.rs \
    'passed.map_or(UNTESTED,' 'passed.map_or(WRONG,' --test embedding until_the_device_has_passed
mutant 'a device that has failed is tested again' src/gpu/device/device_kernels.rs \
    '{ WRONG });' '{ UNTESTED });' --lib a_device_that_fails_leaves
mutant 'a device that is not trusted drops pairs' shaders/shared/decide_found.wgsl \
    'open || (!trusted && decided.verdict == MISS)' 'open' --test embedding until_the_device_has_passed
mutant 'pairs keep any order in their rows' shaders/reduce/parts/row_order.wgsl \
    'end - begin <= LONGEST_ROW' 'false' --lib in_order_and_in_few_bytes
mutant 'images of a pair keep any order' shaders/reduce/parts/row_items.wgsl \
    'one.z < other.z ||' '' --lib in_order_and_in_few_bytes
mutant 'depths arrive as times' shaders/reduce/parts/row_items.wgsl \
    'select(toi, depth | SIGN, depth != 0u)' 'toi' --lib in_order_and_in_few_bytes
mutant 'long rows stay in runs' shaders/reduce/sort_runs.wgsl \
    'atomicMax(&longest_row, row.y - row.x)' 'atomicMax(&longest_row, 0u)' --lib touches_all_others_is_reduced
mutant 'runs are merged once' src/gpu/collide/reductions/sort.rs \
    'run(merged, length)' 'run(merged, merged)' --lib touches_all_others_is_reduced
mutant 'rows of more than 8192 pairs stay in runs' src/gpu/collide/reductions/sort.rs \
    'while length < most {' 'while length < most.min(1000) {' --lib touches_all_others_is_reduced
mutant 'rows begin with the pairs of the last step' src/gpu/collide/reductions/maker.rs \
    'table.levels.first()' 'table.levels.get(9)' --lib reductions_of_two_sets
mutant 'contacts begin as if pairs were repeated' shaders/reduce/contact_rows.wgsl \
    'first_flags[select(0u, sort_rows[max(index, 1u) - 1u], index > 0u)]' \
    'select(0u, sort_rows[max(index, 1u) - 1u], index > 0u)' --lib reported_several_times
mutant 'the sorted list has depths as times' shaders/reduce/parts/row_items.wgsl \
    'value >= SIGN' 'false' --lib reductions_of_two_sets
mutant 'all spheres have the radius of the first' src/gpu/input/upload.rs \
    'alike &= sphere.radius.to_bits() == first.radius.to_bits();' '' --lib what_all_spheres_share
mutant 'all spheres have the groups of the first' src/gpu/input/upload.rs \
    'alike &= sphere.groups == first.groups;' '' --lib what_all_spheres_share
mutant 'both sets are uploaded from the first sphere on' src/gpu/collide/record_step.rs \
    'set(first, count - first)' 'set(0, count - first)' --lib what_all_spheres_share
mutant 'the host does not sort long rows' src/reduce/sort.rs \
    '<= key(&two[1])' '< key(&two[1]) || true' --lib rows_of_any_length
mutant 'each part of a long list begins at its first pair' src/gpu/detector_backend.rs \
    '(size * pairs.start) as u64' '0' --lib whatever_part
mutant 'each task of short records begins with the first row' src/gpu/detector_backend.rs \
    'end.saturating_sub(first)' 'end' --lib whatever_part
mutant 'repeats at the borders of tasks stay' src/exact/decide.rs \
    'push(&mut self.repeats, at, PLACES)?;' '' --lib parts_of_a_list
mutant 'disorder at the borders of tasks stays' src/exact/decide.rs \
    'other.unordered || last > next' 'other.unordered' --lib parts_of_a_list
mutant 'what is wrong with some of the spheres is forgotten' src/support/validate.rs \
    'self.valid && other.valid' 'self.valid' --test walls many_spheres_keep
mutant '< instead of <= at the closest approach' src/exact/integers.rs \
    '&closing * &closing >= ' '&closing * &closing > ' --test reference a_tangent_pass
mutant '< instead of <= at the end of the step' src/exact/integers.rs \
    '[Less | Equal, _] => true' '[Less, _] => true, [Equal, _] => false' --test reference touching_at_the_very_end
mutant '< instead of <= at the start' src/exact/integers.rs \
    'Equal => return Some([zero; 2]),' 'Equal => return None,' --test reference touching_at_the_start
mutant 'rounded squares count as exact' src/exact/two_pairs.rs \
    'off | (x | y | z | r) & past' 'off' "${tangency[@]}"
mutant 'rounded sums count as exact' src/exact/two_pairs.rs \
    'off |= (x - (sum - of_y)) + (y - of_y)' 'off |= zero & of_y' "${tangency[@]}"
mutant 'no margin in the half extent of a proxy' src/shared/segments.rs \
    'path.reach(path.extent(), f32x4::splat(0.5), MARGIN)' 'path.reach(path.extent(), f32x4::splat(0.5), 0.0)' "${cells[@]}"
mutant 'no margin in the bounding spheres of proxies' src/cpu/balls.rs \
    'paths.reach(paths.length(), half, BALL_MARGIN)' 'paths.reach(paths.length(), half, 0.0)' "${balls[@]}"
mutant 'no margin around a path' src/cpu/balls.rs \
    'path.reach(length, half, PATH_MARGIN)' 'path.reach(length, half, 0.0)' "${balls[@]}"
mutant 'motions are lost when their squares underflow' src/shared/segments.rs \
    ' + T::of(f32::MIN_POSITIVE)' '' "${balls[@]}"
mutant 'pairs that several segments may report are lost' src/cpu/pairs/sweeper.rs \
    '.push(Report::new(pair, space.image(words)))' '.retain(|_| true)' "${spans[@]}cpu"
mutant 'intervals of owners lack their lower end, on the CPU' src/shared/ownership.rs \
    'k < low >> shift || k > high >> shift' 'k <= low >> shift || k > high >> shift' "${spans[@]}cpu"
mutant 'intervals of owners lack their lower end, on the GPU' shaders/shared/ownership.wgsl \
    'k < (first >> shift) || k > (last >> shift)' 'k <= (first >> shift) || k > (last >> shift)' "${spans[@]}gpu"
mutant 'ties are rounded down' src/exact/integers.rs \
    'Equal => below + below % 2' 'Equal => below' --lib ties_go_to_the_even_number
mutant 'a coarse level does not search a fine one that it should search' src/cpu/plan/searches.rs \
    'searched[coarse] |= 1 << fine' 'let _ = fine' --test same_pairs giants
mutant 'the bound of candidates does not count the searching spheres' src/cpu/plan/searches.rs \
    'own.spheres(starts).len() as f64 * entries' 'entries' --test limits candidates_of_copies
mutant 'the images of a sphere extend along no edge of the periodic cell' src/cpu/images/cell.rs \
    'spread += edge.abs() * 0.5' 'let _ = edge' --lib all_images_of_a_sphere
mutant 'on a GPU, the spheres of no grid search one that does not search theirs' \
    shaders/collide/parts/plan_searches.wgsl '!has_bit(sh_finer[other], number)' 'has_bit(sh_finer[other], number)' \
    --test same_pairs benchmark_scenes
mutant 'the numbers of far-away cells are not clamped and overflow' src/shared/grid.rs \
    '.fast_max(f32x4::splat(-FAR))' '' --test same_pairs giants
mutant 'spheres that are set aside are tested all the same' shaders/collide/plan.wgsl \
    'plan.proxies - atomicLoad(&counters.invalid)' 'plan.proxies' --test embedding set_aside
mutant 'subnormal numbers get an exponent that is one too small' shaders/shared/units.wgsl \
    'exponent = 1 - i32(shift)' 'exponent = -i32(shift)' --test embedding any_unit
mutant 'a ticket accepts the results of another step' src/gpu/results/decode.rs \
    'results.serial != recorded.serial' 'false' --test misuse a_submit_that_fails
mutant 'a ticket accepts the state after another recording' src/gpu/simulate/simulation.rs \
    'state.serial == serial' 'state.serial <= serial' --test dynamics_gpu the_state

mutant 'every copy of a pair in a periodic domain is reported' src/cpu/images/list.rs \
    'corner(first) | corner(second) == ALL_EDGES' 'corner(first) | corner(second) <= ALL_EDGES' \
    "${worlds[@]}"
mutant 'an image is counted along the wrong edge' src/lattice/reduced.rs \
    '* self.combined[i][k]' '* self.combined[k][i]' "${worlds[@]}"
mutant 'the image on one side of a small cell is lost' src/cpu/images/cell.rs \
    '[self.high.0[k], self.low.0[k]].map(' '[self.low.0[k], self.low.0[k]].map(' "${worlds[@]}"
mutant 'a sphere near a face counts as inside' src/cpu/images/cell.rs \
    'let farthest = Real::abs(away) + half;' 'let farthest = Real::abs(away);' "${worlds[@]}"
mutant 'a sphere near a face of a rectangular cell counts as inside' src/cpu/images/cell.rs \
    'x + Real::abs(half) + paths.radius()' 'x + Real::abs(half) * f32x4::splat(0.0)' "${worlds[@]}"
mutant 'every copy of a pair is tested and kept' src/cpu/pairs/sweeper.rs \
    'usize::from(space.reports(words))' 'usize::from(space.reports(words) || true)' "${worlds[@]}"
mutant 'a box ignores the motion of its sphere' src/cpu/images/cell.rs \
    ' + duals[k].dot(half_shift).abs()' '' "${worlds[@]}"
mutant 'every copy of a pair in a periodic domain is reported, on the GPU' shaders/periodic/pairs_periodic.wgsl \
    '&& !is_in_cell(one, other)' '&& false' --test periodic_gpu a_raw_readback
mutant 'a segment with one image takes the extent of the first segment' shaders/periodic/pairs_periodic.wgsl \
    'return own && ' 'return ' "${on_gpu[@]}"
mutant 'the images of a segment begin one too late, on the GPU' shaders/periodic/images.wgsl \
    'let first = -(high >> vec3<u32>(FRACTION_BITS));' \
    'let first = min(1 - (high >> vec3<u32>(FRACTION_BITS)), -(low >> vec3<u32>(FRACTION_BITS)));' "${on_gpu[@]}"
mutant 'the filter of walls has too small an error bound' shaders/walls/parts/wall_filter.wgsl \
    'WALL_ERROR * EPSILON * at.size' '0.25 * EPSILON * at.size' "${gpu_walls[@]}" random_worlds
mutant 'the images of a sphere at a wall end too early' shaders/walls/walls.wgsl \
    'floor(-min(begin, end) + around)' 'floor(-max(begin, end) + around)' "${gpu_walls[@]}" periodic_worlds
mutant 'a hollow wall is only touched at the end of the step' shaders/walls/parts/wall_filter.wgsl \
    'let least = min(first, last);' 'let least = last;' "${gpu_walls[@]}" random_worlds
mutant 'planes beside a triangle ignore half of it' shaders/walls/parts/triangle_filter.wgsl \
    'let corner = max(max(dot(normal, b), dot(normal, c)), 0.0);' \
    'let corner = 0.5 * max(max(dot(normal, b), dot(normal, c)), 0.0);' "${gpu_walls[@]}" random_meshes
mutant 'spheres that miss a triangle by rounding errors certainly touch it' shaders/walls/parts/triangle_filter.wgsl \
    '+ at.error) < at.radius' '- at.error) < at.radius' "${gpu_walls[@]}" spheres_that_nearly
mutant 'spheres that touch a triangle but for rounding errors certainly miss it' \
    shaders/walls/parts/triangle_filter.wgsl '- at.radius - error)' '- at.radius)' "${gpu_walls[@]}" \
    spheres_that_nearly
mutant 'a displaced sphere is as large as the sphere itself' src/lattice/reduced.rs \
    'GPU_SLACK: f32 = 8.0' 'GPU_SLACK: f32 = 0.0' "${far[@]}"
mutant 'the filter ignores the rounding of displacements' shaders/periodic/pairs_periodic.wgsl \
    'distance = AWAY * (' 'distance = 0.01 * (' "${far[@]}"
mutant 'the components of duals have no bound' src/lattice/reduced.rs \
    '16.0 * dual_lengths[k] * spread' 'duals[k].abs()' --lib a_point_is_in_its_box
mutant 'rounded displacements count as exact' src/exact/shift.rs \
    '(x - (sum - of_y)) + (y - of_y) == 0.0' 'x.is_finite() && of_y.is_finite()' \
    --test periodic a_displacement_that_float64_rounds
mutant 'an image of a sphere touches the sphere in two entries of the list' src/cpu/images/space.rs \
    'image > [0; 3]' 'image != [0; 3]' "${worlds[@]}"
mutant 'rows of pairs with images are sorted without their images' src/cpu/list.rs \
    'for row in with_images {' 'for row in with_images.into_iter().take(0) {' "${worlds[@]}"
mutant 'images of an earlier step stay in a reused list' src/cpu/list.rs \
    'list_images[..kept].as_flattened_mut().fill(0);' 'let _ = kept;' --test periodic a_reused_list
mutant 'float64: the enclosing spheres do not cover the rounding of centres and velocities' src/wide/enclose.rs \
    'let error = rounded + off * length' 'let error = off * length' --test float64 lists_in_open
mutant 'float64: the enclosing spheres do not cover the rounding of wrapped centres' src/wide/enclose.rs \
    'rounded + off * length + 4.0' 'rounded + 4.0' --test float64 far_centres
mutant 'float64: the enclosing spheres do not cover the rounding of the edges' src/wide/enclose.rs \
    'error + self.share * (reach + radius)' 'error' --test float64 single_extreme
mutant 'float64: the spheres at triangles do not cover the rounding of their corners' src/wide/walls.rs \
    'let margin = kept.off + slip + frame.share * reach;' \
    'let margin = 0.0 * (kept.off + slip + frame.share * reach);' --test float64_walls far_from_the_corners
mutant 'float64: the spheres at walls do not cover the rounding of directions' src/wide/walls.rs \
    'const DIRECTION: f64 = 1.0 / (1 << 23) as f64;' 'const DIRECTION: f64 = 0.0;' --test float64_walls points
mutant 'float64: the quick test rounds a time although its error leaves it open' src/wide/quick.rs \
    'low.simd_eq(high)' 'low.simd_le(high)' --test float64 lists_in_open
mutant 'float64: a time is rounded although its error leaves it open' src/wide/pair.rs \
    'low.simd_eq(high)' 'low.simd_le(high)' --test float64 hard_pairs
mutant 'float64: the quick test multiplies all digits of an estimate' src/wide/quick.rs \
    '(toi * splat(self.dt)) & splat(DIGITS)' '(toi * splat(self.dt))' --test float64 hard_pairs
mutant 'float64: the quick test multiplies all digits of a speed' src/wide/quick.rs \
    'let long = vh[k] & splat(DIGITS);' 'let long = vh[k];' --test float64 hard_pairs
mutant 'float64: the grid of the quick test is too fine for exact squares' src/wide/quick.rs \
    '* splat(GRID);' '* splat(GRID / 64.0);' --test float64 hard_pairs
mutant 'float64: the grid of the quick test is so coarse that lower parts are large' src/wide/quick.rs \
    '* splat(GRID);' '* splat(GRID * 1e9);' --lib estimates_of_grazing
mutant 'float64: the quick test does not count the error of the residual' src/wide/quick.rs \
    'splat(RESIDUAL) * all * inverse' 'splat(0.0 * RESIDUAL) * all * inverse' --test float64 lists_in_open
mutant 'float64: the quick test does not count the error of a step' src/wide/quick.rs \
    'step.abs() * splat(STEP_OFF)' 'step.abs() * splat(0.0 * STEP_OFF)' --test float64 hard_pairs
mutant 'float64: the quick test takes slopes whose squares underflow' src/wide/quick.rs \
    'splat(LEAST[1])' 'splat(0.0 * LEAST[1])' --test float64 hard_pairs
mutant 'float64: the quick test takes numbers whose products overflow' src/wide/enclose.rs \
    '<= MODERATE' '<= f64::MAX * MODERATE' --test float64 lists_in_open
mutant 'float64: the sign of a difference counts although rounding may have changed it' src/wide/pair.rs \
    'told & outside.abs().simd_ge(splat(SIGN) * all)' 'told & outside.abs().simd_ge(splat(0.0 * SIGN) * all)' --test float64 hard_pairs
mutant 'float64: squares that underflow decide' src/wide/pair.rs \
    '& all.simd_ge(splat(SHORT))' '' --test float64 hard_pairs
mutant 'float64: squares that underflow are equal' src/wide/pair.rs \
    '|| square >= SHORT' '|| square >= 0.0 * SHORT' --test float64 hard_pairs
mutant 'float64: rounded squares that are equal count as exact' src/wide/pair.rs \
    'exact && pp == rr' 'pp == rr' --test float64 hard_pairs
mutant 'float64: the sign of a discriminant counts although rounding may have changed it' src/wide/pair.rs \
    'splat(SIGN) * around' 'splat(0.0 * SIGN) * around' --test float64 hard_pairs
mutant 'float64: the error of the residual does not count' src/wide/pair.rs \
    'splat(RESIDUAL) * terms' 'splat(0.0 * RESIDUAL) * terms' --test float64 hard_pairs
mutant 'float64: the error of a displaced position does not count' src/wide/pair.rs \
    ' + dot(size, off)' '' --test float64 far_images
mutant 'float64: the bend of the residual does not count' src/wide/pair.rs \
    'splat(4.0) * bend * step * step' 'splat(0.0) * bend * step * step' --test float64 hard_pairs
mutant 'float64: a subnormal result is rounded twice' src/wide/pair.rs \
    'splat(f64::MIN_POSITIVE)' 'splat(0.0 * f64::MIN_POSITIVE)' --test float64 hard_pairs
mutant 'float64: vectors to far images keep what cancels' src/wide/pair.rs \
    '(1_u64 << 40) as f64 >= terms' '(1_u128 << 100) as f64 >= terms' --test float64 far_images
mutant 'float64: distances decide although rounding may have changed them' src/neighbors.rs \
    'reach * (1.0 / (1_u64 << 44) as f64)' '0.0 * reach' --test float64 neighbours
mutant 'float64: the reach of a list is rounded down' src/number.rs \
    '(1_u64 << 46) as f64)).next_up()' '(1_u64 << 46) as f64))' --test float64 valid_lists
mutant 'float64: the squares of short distances underflow' src/number.rs \
    'square < f64::MIN_POSITIVE * 1e40' 'square < 0.0 * 1e40' --test float64 neighbours
mutant 'float64: the quick test takes pairs that graze' src/wide/quick.rs \
    'splat(STEEP) * rr' 'splat(0.0 * STEEP) * rr' --lib estimates_of_grazing
mutant 'float64: the quick test takes estimates that are far off' src/wide/quick.rs \
    'splat(NEAR) * rr' 'splat(1e6 * NEAR) * rr' --lib estimates_of_grazing
mutant 'float64: the quick test takes positions that have lost their digits' src/wide/quick.rs \
    'splat(FAR_TERMS) * rh' 'splat(f64::MAX) + splat(0.0 * FAR_TERMS) * rh' --lib estimates_of_far
mutant 'float64: the quick test takes radii whose squares underflow' src/wide/quick.rs \
    'splat(LEAST[0])' 'splat(0.0 * LEAST[0])' --test float64 hard_pairs
mutant 'float64: the quick test takes times that round to the end of the step' src/wide/quick.rs \
    'high.simd_lt(splat(self.dt))' 'high.simd_le(splat(self.dt))' --test float64 hard_pairs
mutant 'float64: all times that round to the end of the step are hits' src/wide/pair.rs \
    'high.simd_lt(either' 'high.simd_le(either' --test float64 hard_pairs
mutant 'float64: all times that round to the end of the step are misses' src/wide/pair.rs \
    'low.simd_gt(end)' 'low.simd_ge(end)' --test float64 hard_pairs
mutant 'float64: signs count although a displaced position has lost its digits' src/wide/pair.rs \
    'told & outside.abs()' '(told | !told) & outside.abs()' --test float64 far_images_that
mutant 'float64: the error of a displaced place does not count in a depth' src/wide/pair.rs \
    'terms * PLACE_OFF' '0.0 * terms * PLACE_OFF' --test float64 far_images_that
mutant 'float64: images just touch although a displacement is rounded' src/wide/pair.rs \
    'keep(product(edge, times, split(edge), split(times)))' 'product(edge, times, split(edge), split(times))[0]' \
    --test float64 almost_just
mutant 'float64: images just touch although a sum is rounded' src/wide/pair.rs \
    'keep(sum(away, term))' 'sum(away, term)[0]' --test float64 almost_just
mutant 'float64: a sum of three is rounded twice' src/wide/double.rs \
    'let is_even = rest.to_bits() & 1 == 0;' 'let is_even = false;' --test float64 coincident
mutant 'float64: the reach of a list does not cover the rounding of moves' src/number.rs \
    'y * (1.0 + 1.0 / (1_u64 << 46) as f64)' 'y' --test float64 valid_lists
mutant 'float64: an enclosing half-space does not grow' src/wide/walls.rs \
    'nearest(offset + error)' 'nearest(offset + 0.0 * error)' --test float64_walls narrow
mutant 'float64: an enclosing hollow wall does not shrink' src/wide/walls.rs \
    '(radius - error)' '(radius - 0.0 * error)' --test float64_walls narrow
mutant 'float64: an enclosing solid wall does not grow' src/wide/walls.rs \
    'nearest(radius + error)' 'nearest(radius + 0.0 * error)' --test float64_walls narrow
mutant 'float64: an enclosing cylinder does not cover the rounding of its axis' src/wide/walls.rs \
    '{ DIRECTION } else' '{ 0.0 } else' --test float64_walls narrow
mutant 'float64: spheres at walls do not cover the rounding of normals' src/wide/walls.rs \
    '+ DIRECTION,' '+ 0.0 * DIRECTION,' --test float64_walls narrow
mutant 'float64: an enclosing round wall does not cover the rounding of its velocity' src/wide/walls.rs \
    'off + slip + (tilt' 'off + (tilt' --test float64_walls narrow
mutant 'float64: spheres do not cover the rounding of the velocity of a mesh' src/wide/walls.rs \
    'kept.off + slip + frame' 'kept.off + frame' --test float64_walls narrow
mutant 'float64: an enclosing round wall does not cover the rounding of the edges' src/wide/walls.rs \
    '(tilt + share) * reach' 'tilt * reach' --test float64_walls narrow
mutant 'float64: spheres at triangles do not cover the rounding of the edges' src/wide/walls.rs \
    'slip + frame.share * reach' 'slip' --test float64_walls narrow
mutant 'float64: an enclosing cylinder counts images in space only' src/wide/walls.rs \
    'Ok(share.max(frame.share))' 'Ok(frame.share)' --test float64_walls narrow
mutant 'float64: spheres at walls do not cover the rounding of the edges' src/wide/walls.rs \
    'frame.share.max(walls.share) + DIRECTION' 'walls.share + DIRECTION' --test float64_walls narrow
mutant 'float64: the rounding of edges counts as if no cell were oblique' src/wide/enclose.rs \
    '(dual / scale.length).length()' '(dual / scale.length).length().min(1.0)' --test float64_walls narrow
mutant 'float64: the test before the integers has no margin where squares underflow' src/walls/wide.rs \
    '* dt) + LEAST' '* dt) + 0.0 * LEAST' --test float64_walls tiny_hollow
mutant 'float64: the test before the integers has no margin at walls' src/walls/wide.rs \
    'MARGIN * (of_sphere' '0.0 * MARGIN * (of_sphere' --test float64_walls contacts_in_open
mutant 'the reach of a neighbour list is rounded to nearest' src/number.rs \
    '(x + y).next_up()' 'x + y' --test neighbors a_skin_that_float32
mutant 'a list is valid until a particle has moved by the whole skin' src/neighbors/skin.rs \
    'let half = self.skin / 2.0;' 'let half = self.skin;' --test neighbors a_list_is_valid
mutant 'a list survives a cell that shrinks' src/neighbors/skin.rs \
    'self.stretch * (reach + moved)' '(reach + moved)' --test neighbors a_list_is_valid
mutant 'images follow the wrong particle' src/neighbors.rs \
    'image[k] + i[k] - j[k]' 'image[k] + j[k] - i[k]' --test neighbors no_pair_is_lost
mutant 'the move relative to the cell is not counted' src/neighbors/skin.rs \
    'let moved = rest.length() +' 'let moved = 0.0 * rest.length() +' --test neighbors a_list_is_valid
mutant 'the images of one particle are not sorted' src/neighbors.rs \
    '.enumerate().rev()' '.enumerate()' --test neighbors lists_have_all_pairs
mutant 'spheres at rest have the velocities of an earlier step' src/spheres.rs \
    'None => velocities.for_each(|to| *to = [T::default(); 3]),' 'None => {}' --test spheres constants_are
mutant 'a block of columns begins too early' src/spheres.rs \
    'number * CHUNK + block * BLOCK' 'number * CHUNK' --test spheres every_form_has_the_same_collisions

mutant 'the GPU keeps a list until a particle has moved by the whole skin' shaders/neighbors/neighbors_check.wgsl \
    'dot(moved, moved) <= MOST_MOVED' 'dot(moved, moved) <= 4.0 * MOST_MOVED' --test neighbors_gpu a_list_is_kept
mutant 'the GPU keeps an incomplete list' shaders/neighbors/neighbors_finish.wgsl \
    'if (results.status & CAROM_INCOMPLETE) == 0u && ' 'if ' --test neighbors_gpu only_a_complete
mutant 'the images of one particle are not sorted, on the GPU' shaders/neighbors/neighbors_full.wgsl \
    'let pair = mirrored(by_b.y);' 'let pair = by_b.y;' --test neighbors_gpu lists_are

mutant 'no error bound for half-spaces' src/walls/half_space.rs \
    'const ERROR: f64 = 8.0 * f64::EPSILON;' 'const ERROR: f64 = 0.0;' "${walls[@]}"
mutant 'no error bound for triangles' src/walls/triangle/float64.rs \
    'ERRORS * scale' '0.0' --lib walls::triangle
mutant 'the bounding spheres of a mesh do not move with it' src/walls/mesh.rs \
    'bound.velocity = velocity;' 'bound.velocity = [0.0; 3];' --test walls_gpu random_meshes
mutant 'spheres larger than a cell are sought only in the cells beside it' src/walls/tree.rs \
    'f32x4::splat(MOST_CELLS)' 'f32x4::splat(2.99)' --lib walls::tree
mutant 'the cells beside those with a triangle are not marked along x' src/walls/tree.rs \
    'bits | bits << 1 | bits >> 1' 'bits' --lib walls::tree
mutant 'no margin for rounding in the tree of a mesh' src/walls/tree.rs \
    'radius + size * T::of(ERROR) + T::of(LEAST)' 'radius + T::of(LEAST)' --lib walls::tree

mutant 'islands that meet are not merged' src/dynamics/merge.rs \
    'first = islands.join(meetings.iter())?;' 'first = islands.list().len() + 0 * meetings.len();' \
    --test dynamics spheres_
mutant 'a sphere that leaves its pad is not sought anew' src/dynamics/merge.rs \
    'if moved > setting.candidates.pad(sphere)' 'if moved > 1e9 * setting.candidates.pad(sphere)' \
    --test dynamics a_long_row
mutant 'the image of an impact ignores that the sphere is outside the cell' src/dynamics/setting.rs \
    'Lattice::sum(image, own, -1)' 'Lattice::sum(image, own, 0)' --test dynamics the_image
mutant 'pairs across a face are sought too near the face' src/dynamics/neighbors.rs \
    'let reach = reach + f64::from(self.boxes.most_radius());' 'let reach = 0.2 * reach;' \
    --test dynamics spheres_of_a
mutant 'spheres that ignore each other are sought' src/dynamics/neighbors.rs \
    'own.ignores(&other) || ' '' --test dynamics little_at_one_point
mutant 'spheres of one body are sought' src/dynamics/neighbors.rs \
    '(self.body.is_some() && self.body == others.body)' 'false' --test dynamics little_at_one_point
mutant 'spheres are left out if some near them ignore each other' src/dynamics/neighbors.rs \
    'groups: self.groups & other.groups' 'groups: self.groups | other.groups' --test dynamics groups_and_bodies
mutant 'leaves that are left out are still searched' src/dynamics/boxes.rs \
    'self.copy_box(None, place);' 'let _ = place;' --lib left_out
mutant 'a wide sphere is sought only among spheres of larger index' src/dynamics/neighbors.rs \
    '(is_wide || place < other)' '(place < other || is_wide && place > usize::MAX as u32)' \
    --test dynamics fast_spheres
mutant 'wide spheres do not meet across a face' src/dynamics/neighbors.rs \
    'let counts = image != [0; 3] && result.is_ok();' 'let counts = image == [9; 3] && result.is_ok();' \
    --test dynamics fast_spheres
mutant 'a substep with too many images is not shortened' src/dynamics/simulation.rs \
    'if duration <= shortest || !is_limit(&error) {' 'if duration <= shortest || is_limit(&error) {' \
    --test dynamics fast_spheres
mutant 'images of spheres that cannot meet are sought' src/dynamics/candidates.rs \
    'self.any_images = !lattice.is_open() && !none_meet(start);' \
    'self.any_images = !lattice.is_open() && (true || !none_meet(start));' \
    --test dynamics cannot_meet
mutant 'a flight ends too early' src/dynamics/flights.rs \
    'until: f32x4::splat((until / self.time) as f32),' \
    'until: f32x4::splat((0.9 * until / self.time) as f32),' --test dynamics spheres_of_a
mutant 'the images of impacts at planes tell apart what is not' src/dynamics/walls.rs \
    'if tells_apart[k] { image[k] } else { 0 }' 'image[k]' \
    --test dynamics_walls have_no_image
mutant 'removed spheres hit others until the end of the substep' src/dynamics/replay.rs \
    'if a.removed || b.removed {' 'if a.removed && b.removed && from < 0.0 {' --test dynamics remove
mutant 'removed spheres come back in the next substep' src/dynamics/padded.rs \
    '|| together || gone' '|| together || gone && sphere > other' --test dynamics remove
mutant 'a sphere that leaves a triangle hits its farther edges' src/dynamics/surface.rs \
    'away.place_at(time))) && is_approached(time)' 'away.place_at(time)))' --test dynamics_walls overlaps_a_triangle
mutant 'a sphere that leaves a triangle hits its farther corners' src/dynamics/surface.rs \
    'seek(&away, &is_approached)' 'seek(&away, &|_| true)' --test dynamics_walls overlaps_a_triangle
mutant 'a hollow wall adds energy to the spheres that it turns' src/dynamics/response.rs \
    'sliding * change' 'sliding * 0.0' --test dynamics_walls hollow
mutant 'impacts of a fixed sphere count for the contact time' src/dynamics/replay.rs \
    '.filter(|end| end.inverse_mass > 0.0)' '.filter(|end| end.inverse_mass >= 0.0)' \
    --test dynamics of_others_elastic
mutant 'a rounding error after an impact lets bodies pass through each other' src/dynamics/contact.rs \
    'approach > RESTING * speeds' 'approach > 0.0 * speeds' --test dynamics a_rule_that_bounces
mutant 'gravity acts on a sphere at rest' src/dynamics/replay.rs \
    'let mut falls = if rests {
            [false; 2]' 'let mut falls = if rests {
            [true; 2]' --test dynamics_rest rows_without_room
mutant 'slow impacts have restitution at a floor' src/dynamics/replay.rs \
    'blow.touch.pressing > 0.0 || pile' 'pile' --test dynamics_rest the_floor_bears
mutant 'the contact time makes impacts elastic beside a floor' src/dynamics/response.rs \
    'else if self.slow == 0.0 && time' 'else if time' --test dynamics_rest falls_on_a_ball
mutant 'elastic balls come to rest' src/dynamics/replay.rs \
    'blow.approach >= ELASTIC * setting.slow' 'false' --test dynamics_rest elastic_ball
mutant 'spheres hover when their support is gone' src/dynamics/rest.rs \
    'self.limit(most.max(options.contact_time));' '' --test dynamics_rest knocked_away
mutant 'what slides along a slope gains energy' src/dynamics/rest.rs \
    '(0.5 * owed);' '(0.5 * owed) * f64::from(u8::from(!rests));' --test dynamics_rest on_a_slope
mutant 'what rests slips along a sphere as far as it likes' src/dynamics/rest.rs \
    'longest.min((SLIP * pair.radius / slip).max(options.contact_time));' 'longest;' --test dynamics_rest slides_down
mutant 'bodies without room collide by pairs' src/dynamics/replay.rs \
    'link.impacts > 0 && scratch.is_crowded(index, time, setting)' 'false' --test dynamics_rest piles_come
mutant 'walls do not bear what rests on them' src/dynamics/rest.rs \
    'let momentum = contact.normal * contact.impulse;' 'let momentum = contact.normal * 0.0;' --test dynamics_rest slides_slowly
mutant 'walls do not bear what sleeps on them' src/dynamics/rest.rs \
    'pair.normal * (pair.force * duration)' 'pair.normal * 0.0' --test dynamics_rest bears_the_weight
mutant 'contacts that last have impacts' src/dynamics/replay.rs \
    '(link.impacts > 0 || link.lasts)' '(link.impacts > 0)' --test dynamics_rest that_slides
mutant 'overlaps are not pushed out' src/dynamics/rest.rs \
    'const SWEEPS: usize = 4;' 'const SWEEPS: usize = 0;' --test dynamics_rest pushed_out
mutant 'overlaps are pushed out at a speed' src/dynamics/rest.rs \
    'let parting = if depth > 0.0 {' 'let parting = if depth > 0.0 { 0.2 * depth / duration } else if depth > 9.0 {' \
    --test dynamics_rest pushed_out
mutant 'what comes near wakes nothing' src/dynamics/rest.rs \
    'forces.disturb(start.ids[other as usize])?;' '' --test dynamics_rest wakes_up
mutant 'an impact wakes nothing' src/dynamics/simulation.rs \
    'self.rest.forces.disturb(id)?;' 'let _ = id;' --test dynamics_rest wakes_up
mutant 'an edit wakes nothing' src/dynamics/simulation.rs \
    'self.rest.forces.wake();' '' --test dynamics_rest wakes_up
mutant 'what hardly moves does not sleep' src/dynamics/rest.rs \
    'const CALM: f64 = 1e-3;' 'const CALM: f64 = 1e-12;' --test dynamics_rest slides_slowly
mutant 'a ball that lands in a substep keeps the force of a part of it' src/dynamics/rest.rs \
    '&& owed >= duration' '' --test dynamics_rest press_with_their_weight
mutant 'what lies still does not sleep' src/dynamics/rest.rs \
    'let lies = load.lies || load.is_calm;' 'let lies = false;' --test dynamics_rest costs_little
mutant 'a world that sleeps is searched' src/dynamics/simulation.rs \
    '!forces.sleeping.is_empty()' 'forces.sleeping.len() > usize::MAX / 2' --test dynamics_rest costs_little
mutant 'spheres at one point make substeps short' src/dynamics/pace.rs \
    'candidates > CROWDED && ' 'candidates > 1e9 * CROWDED && ' --test dynamics fly_apart
mutant 'the impulses of a pile are sought along the gradient' src/dynamics/impulses.rs \
    'contact.parts()[0] - common / energy * contact.direction' 'contact.parts()[0]' --lib a_column_is_found
mutant 'edges inside a flat surface lift spheres' src/dynamics/surface.rs \
    'Part::Edge(k) => &around.edges[k],' 'Part::Edge(_) => return true,' --test dynamics_walls inside_a_flat
mutant 'corners inside a flat surface lift spheres' src/dynamics/surface.rs \
    'Part::Corner(k) => &around.corners[k],' 'Part::Corner(_) => return true,' --test dynamics_walls inside_a_flat
mutant 'one-sided triangles are met from behind' src/dynamics/surface.rs \
    'around.one_sided && away' 'false && away' --test dynamics_walls one_sided
mutant 'a step has no limit' src/dynamics/simulation.rs \
    ' && is_left(self, &report)' '' --test dynamics_rest step_with_a_limit
mutant 'searches do not count for the limit of a step' src/dynamics/work.rs \
    'self.0.saturating_sub(before.0) / Self::IMPACT' '0' --test dynamics across_many_periodic_cells
mutant 'images of spheres do not count for the limit of a step' src/dynamics/neighbors.rs \
    'work.add(Work::IMAGE, search.check_images()?);' 'search.check_images()?;' --test dynamics across_many_periodic_cells
mutant 'masses whose momenta overflow are taken' src/dynamics/hard_sphere.rs \
    '(LEAST_MASS..=MOST_MASS).contains' '(f64::MIN_POSITIVE..=f64::MAX).contains' --test dynamics overflow
mutant 'a step that the time cannot hold is taken' src/dynamics/simulation.rs \
    'self.check_time(duration)?;' '' --test dynamics time_cannot_hold
mutant 'the sphere at rest is named instead of the fast one' src/cpu/images/list.rs \
    'is_far(sphere) && cell.is_far(' 'is_far(sphere) || cell.is_far(' --test verify too_many_images
mutant 'verify names the second sphere' src/verify.rs \
    'let own = way(&first[a]) > way(flight);' 'let own = false;' --test verify too_many_images
mutant 'a step never ends early' src/dynamics/simulation.rs \
    ' && go_on()' '' --test dynamics_rest told_to
mutant 'a substep beyond the limit of the step is an error' src/dynamics/simulation.rs \
    'if of_step && matches' 'if false && matches' --test dynamics_rest stops_the_clock
mutant 'what a rule stops sinks' src/dynamics/rules.rs \
    'approach.sum::<f64>() <= 0.0' 'approach.sum::<f64>() < 0.0' --test dynamics_materials rule_stops
mutant 'three spheres share a restitution' shaders/dynamics/parts/rests.wgsl \
    '.center[sphere % 3u]' '.center[0]' --test dynamics_gpu restitution_of_its_own
mutant 'the restitution of a sphere does not matter at walls' shaders/dynamics/parts/rests.wgsl \
    'return combined(own_restitution(sphere), given);' 'return given;' --test dynamics_gpu restitution_of_its_own
mutant 'restitutions are lost with a dropped recording' src/gpu/simulate/simulation.rs \
    'self.pending |= edit.others;' '' --test dynamics_gpu restitution_of_its_own
mutant 'a body that changes is not told to the device' src/gpu/simulate/simulation.rs \
    'self.pending |= OtherEdits::BODIES | OtherEdits::SUPPORTS;' 'self.pending |= OtherEdits::SUPPORTS;' \
    --test dynamics_gpu bodies_and_groups
mutant 'a body that changes leaves a ball in the air' src/gpu/simulate/simulation.rs \
    'self.pending |= OtherEdits::BODIES | OtherEdits::SUPPORTS;' 'self.pending |= OtherEdits::BODIES;' \
    --test dynamics_gpu loses_its_support
mutant 'the device does not see that a support has gone' shaders/dynamics/simulation_load.wgsl \
    'atomicMax(&simulation_counters.edited, atomicLoad(&sh_edited));' '' --test dynamics_gpu loses_its_support
mutant 'a rule is asked as if nothing supported the lower sphere' src/dynamics/rest.rs \
    '.filter(|_| is_upper)' '.filter(|_| true || is_upper)' --test dynamics_materials falls_through_one
mutant 'a ball whose support an edit takes away falls through the floor' src/dynamics/simulation.rs \
    'self.rest.limit_fall(least, &self.options);' 'let _ = least;' --test dynamics_edits loses_its_support
mutant 'candidates do not fit into the buffers' src/gpu/simulate/simulation.rs \
    'options.limit_candidates(candidates);' '' --test dynamics_gpu on_a_small_device --include-ignored
mutant 'equal walls wake what sleeps' src/dynamics/edits.rs \
    'if walls.equals(&self.options.walls) && ' 'if walls.is_empty() && ' --test dynamics_edits change_nothing
mutant 'a wall is not put back' src/dynamics/edits.rs \
    ' && new.iter().zip(motions).all(alike)' ' && (new.iter().zip(motions).all(alike) || true)' \
    --test dynamics_edits put_back
mutant 'equal numbers wake what sleeps' src/dynamics/edits.rs \
    'if options.numbers() != before {' '{' --test dynamics_edits change_nothing
mutant 'equal spheres wake what sleeps' src/dynamics/simulation.rs \
    'if spheres == self.spheres {' 'if false {' --test dynamics_edits change_nothing
mutant 'overlaps that are not there are separated' src/dynamics/simulation.rs \
    'if pass > 0 {' '{' --test dynamics_edits change_nothing
mutant 'equal groups wake what sleeps' src/dynamics/edits.rs \
    'Some(entry) if *entry != value =>' 'Some(entry) =>' --test dynamics_edits change_nothing
mutant 'equal numbers shorten a substep on the GPU' src/gpu/simulate/simulation.rs \
    'options.simulation.numbers() == self.options.simulation.numbers()' 'false' --test dynamics_gpu change_nothing
mutant 'equal walls shorten a substep on the GPU' src/gpu/simulate/simulation.rs \
    'if walls.equals(before) {' 'if false {' --test dynamics_gpu change_nothing
mutant 'a wall that stops jumps back' src/dynamics/edits.rs \
    'Some(before) if stays => before.displacement(self.time),' 'Some(_) if stays => DVec3::ZERO,' \
    --test dynamics_edits a_wall_moves
mutant 'a sphere that is added has the groups of a removed one' src/dynamics/edits.rs \
    '*groups = 0;' 'let _ = groups;' --test dynamics_edits holes_are
mutant 'a sphere that a rule removes leaves no hole' src/dynamics/simulation.rs \
    'self.state.note_hole(removal.sphere as usize);' 'let _ = removal;' --test dynamics_edits holes_are
mutant 'the candidates of before an edit serve after it' src/dynamics/edits.rs \
    'self.outdate();
        Ok(narrow(id))' 'Ok(narrow(id))' --test dynamics_edits holes_are
mutant 'a snapshot forgets how many substeps a search serves' src/dynamics/pace.rs \
    'self.substeps.code(coder)?;' '' --test dynamics_edits saved_simulation
mutant 'a snapshot forgets when the spheres were sorted' src/dynamics/state.rs \
    'self.age.code(coder)?;' '' --test dynamics_edits saved_simulation
mutant 'a snapshot forgets the forces of rest' src/dynamics/forces.rs \
    'awake.code(coder)?;' '' --test dynamics_edits saved_asleep
mutant 'a snapshot forgets what sleeps' src/dynamics/forces.rs \
    'groups.code(coder)?;' '' --test dynamics_edits saved_asleep
mutant 'a snapshot forgets for how long spheres have rested' src/dynamics/forces.rs \
    'calm.code(coder)?;' '' --test dynamics_edits saved_asleep
mutant 'what sleeps does not feel an edit' src/dynamics/simulation.rs \
    'self.rest.forces.wake();' '' --test dynamics_edits wakes_what_sleeps
mutant 'a snapshot that was changed is read' src/dynamics/snapshot.rs \
    'if checksum(&words) != sum {' 'if false {' --test dynamics_edits not_whole
mutant 'a forged snapshot names spheres that do not exist' src/dynamics/coded.rs \
    '(sphere as usize) < spheres' '(sphere as usize) < usize::MAX' --test dynamics_edits not_whole
mutant 'a pair that neither approaches nor parts is kept' src/exact/parting.rs \
    '!= Ordering::Less' '== Ordering::Greater' --test approaching that_part
mutant 'rounding decides which pairs part' src/exact/parting.rs \
    'ERROR * size + f64::MIN_POSITIVE' '-1.0' --test approaching last_bit
mutant 'the device keeps pairs that part' shaders/shared/decide_found.wgsl \
    '(params.flags & FLAG_APPROACHING) != 0u' 'false' --test walls_gpu what_parts
mutant 'the device keeps a pair that neither approaches nor parts' shaders/shared/exact_pair.wgsl \
    'if carried8(growth(p, v)).b.w >= 0 {' 'let rate = carried8(growth(p, v)); if rate.b.w >= 0 && !is_zero8(rate) {' \
    --test walls_gpu what_parts
mutant 'the device keeps what leaves a hollow wall' shaders/walls/parts/wall_filter.wgsl \
    'outwards = -1.0;' '' --test walls_gpu what_parts
mutant 'rounding decides on the device what approaches a wall' shaders/walls/parts/wall_filter.wgsl \
    'growth.rate < -growth.error' 'growth.rate <= 0.0' --test walls_gpu what_parts
mutant 'the host keeps what leaves a wall' src/gpu/collide/walls.rs \
    'step.approaching && toi' 'false && toi' --test walls_gpu what_parts
mutant 'spheres that leave a hollow wall are kept' src/walls/round.rs \
    'outwards.reverse()' 'outwards' --test approaching that_part
mutant 'a wall has the restitution of all walls' src/dynamics/walls.rs \
    'restitution: wall.restitution(),' 'restitution: None,' --test dynamics_materials each_wall
mutant 'a mesh has the restitution of all walls' src/dynamics/walls.rs \
    'restitution: mesh.restitution(),' 'restitution: None,' --test dynamics_materials each_wall
mutant 'a slow answer to a slow impact lifts the sphere' src/dynamics/replay.rs \
    'is_slow = rests && (0.0..setting.slow)' 'is_slow = false && (0.0..setting.slow)' \
    --test dynamics_materials comes_to_rest
mutant 'contacts at rest end' src/dynamics/simulation.rs \
    'pairs.filter(|(_, force)| *force > 0.0)' 'pairs.filter(|_| false)' \
    --test dynamics_materials at_rest_lasts
mutant 'the contacts of a step are forgotten' src/dynamics/simulation.rs \
    'self.contacts = contacts;' 'let _ = contacts;' --test dynamics_materials begin_last
mutant 'one radius that is not a number is accepted' src/gpu/input/bound_spheres.rs \
    '&& !(0.0..=MAX_MAGNITUDE)' '&& false && !(0.0..=MAX_MAGNITUDE)' --test misuse
mutant 'a simulation that falls behind does not say so' shaders/dynamics/simulation_begin.wgsl \
    'simulation.remaining > 0.0);' 'false);' --test dynamics_gpu falls_behind
mutant 'a simulation that has caught up seems to be behind' shaders/dynamics/simulation_judge.wgsl \
    'simulation.status &= ~CAROM_BEHIND;' '' --test dynamics_gpu falls_behind
mutant 'no bound of the time that is left over' shaders/dynamics/simulation_begin.wgsl \
    'simulation.remaining > most {' 'false {' --test dynamics_gpu falls_behind
mutant 'a wall that gets another velocity jumps back' shaders/dynamics/simulation_walls.wgsl \
    'motion.moved = moved.rounded;' '' --test dynamics_gpu each_recording_is_told
mutant 'a wall that gets another place has moved before' shaders/dynamics/simulation_walls.wgsl \
    '((simulation_request.jumped >> wall) & 1u) != 0u' 'false' --test dynamics_gpu each_recording_is_told
mutant 'a wall that is switched off is solid' shaders/dynamics/simulation_pad.wgsl \
    'switched_on(0u, walls)' 'lowest(walls)' --test dynamics_gpu wall_moves_as_each
mutant 'a mesh that is switched off is solid' shaders/dynamics/parts/near_triangles.wgsl \
    'if is_off(triangle.mesh) {' 'if false {' --test dynamics_gpu mesh_moves_and_goes
mutant 'all walls have the restitution of the first' shaders/dynamics/parts/rests.wgsl \
    'wall_restitutions[wall / 4u][wall % 4u]' 'wall_restitutions[0][0]' --test dynamics_gpu mesh_moves_and_goes
mutant 'a repeated triangle is kept' src/walls/mesh.rs \
    '!no_area && seen.insert(places)' '!no_area && (seen.insert(places) || true)' --test misuse faults_of_a_mesh
mutant 'only the first triangle with a fault is named' src/walls/mesh.rs \
    'if others.is_empty() {' 'if true {' --test misuse faults_of_a_mesh
mutant 'squeezed discs have impacts for ever' src/dynamics/replay.rs \
    'link.impacts >= SQUEEZED && self' 'false && self' --test dynamics_rest squeezed
mutant 'spheres at one point move along a line' src/dynamics/separate.rs \
    'if group.len() < 3 {' 'if group.len() < usize::MAX {' --test dynamics many_spheres_at_one
mutant 'the search is coarse far from the origin' src/dynamics/candidates.rs \
    'self.middle = if lattice.is_open() {' 'self.middle = if false {' --test dynamics far_from_the_origin
mutant 'the search is coarse between far clouds' src/dynamics/flights.rs \
    'self.most > 1e5' 'false' --test dynamics far_from_the_origin
mutant 'a motion that float64 cannot represent is no error' src/dynamics/simulation.rs \
    'steps > RESOLUTION * sphere.radius' 'steps > 1e9 * sphere.radius' --test dynamics far_from_the_origin
mutant 'what a rule ignores meets again in the next substep' src/dynamics/setting.rs \
    '!self.passing.is_empty() && self.passing.binary_search' 'false && self.passing.binary_search' \
    --test dynamics one_way_platform
mutant 'a point hits triangles' src/dynamics/surface.rs \
    'if radius == 0.0 => None' 'if radius < 0.0 => None' --test dynamics_walls a_point
mutant 'rounding errors press a sliding ball against a triangle' src/dynamics/surface.rs \
    'RESTING * distance * speed' 'RESTING * distance * v.length()' --test dynamics_walls oblique_walls
mutant 'impacts shorten substeps without limit' src/dynamics/pace.rs \
    '.max(least / duration)' '' --test dynamics_walls run_out_of_room
mutant 'the sum of the impacts of a task has no limit' src/dynamics/replay.rs \
    ' || impacts > most' '' --test dynamics_walls run_out_of_room
mutant 'all tasks collapse before the error' src/dynamics/merge.rs \
    'if task.number > failed.load(Ordering::Relaxed) {' 'if false {' --test dynamics_walls many_balls_that_collapse
mutant 'a substep with too many impacts is an error at once' src/dynamics/simulation.rs \
    'duration <= shortest || !is_limit(&error)' 'matches!(error, Error::TooManyImpacts { .. }) || !is_limit(&error)' \
    --test dynamics_walls with_too_many_impacts

mutant 'impacts of a fixed sphere count for the contact time on the GPU' shaders/dynamics/simulation_strike.wgsl \
    'if bodies[sphere].inverse_mass == 0.0 {' 'if bodies[sphere].inverse_mass < 0.0 {' \
    --test dynamics_gpu of_others_elastic
mutant 'gravity acts on a sphere at rest on the GPU' shaders/dynamics/simulation_strike.wgsl \
    'is_slow && pressing > 0.0 && bears' 'false' --test dynamics_gpu inelastic_ball
mutant 'elastic balls come to rest on the GPU' shaders/dynamics/parts/rests.wgsl \
    'slow * ELASTIC' 'slow' --test dynamics_gpu elastic_balls
mutant 'walls do not bear what rests on them on the GPU' shaders/dynamics/simulation_settle.wgsl \
    'sum += contact.xyz * contact.w;' '' --test dynamics_gpu bears_the_weight
mutant 'contact times are shorter than float32 permits' shaders/dynamics/simulation_plan.wgsl \
    'max(simulation.contact_time, LEAST_CONTACT * sqrt(2.0 * largest / strength))' 'simulation.contact_time' \
    --test dynamics_gpu collapses_at_once
mutant 'a collapse does not spread' shaders/dynamics/simulation_sweep.wgsl \
    'collapses |= impulse > 0.0 && other.w < 0.0;' '' --test dynamics_gpu collapses_at_once
mutant 'collapses leave no strain' shaders/dynamics/simulation_commit.wgsl \
    'rest + f32(touches[2u * i + 1u].z)' 'rest' --test dynamics_gpu squeezed_disc
mutant 'the last third of the rounds adds impacts' shaders/dynamics/simulation_strike.wgsl \
    'RESTS && 3u * simulation.round >= 2u * simulation_request.rounds' 'false' --test dynamics_gpu chain_of_impacts
mutant 'rounds are too few for rest' src/gpu/simulate/simulation.rs \
    'options.rounds.max(LEAST_ROUNDS)' 'options.rounds' --test dynamics_gpu chain_of_impacts
mutant 'what rests slips along a sphere as far as it likes on the GPU' shaders/dynamics/simulation_settle.wgsl \
    'at_most(SLIP * body.radius / speed, true);' '' --test dynamics_gpu slides_down
mutant 'crowded spheres do not collapse' shaders/dynamics/parts/paths.wgsl \
    'number).start - since < simulation.contact_time;' 'number).start < since;' --test dynamics_gpu collapses_at_once
mutant 'a path of four impacts gets eight' shaders/dynamics/parts/paths.wgsl \
    'count < simulation_request.path_room' 'count < MOST_IMPACTS' --test dynamics_gpu on_a_small_device --include-ignored
mutant 'spheres hover when their support is gone on the GPU' shaders/dynamics/simulation_settle.wgsl \
    'at_most(fall, header.w != 0u);' '' --test dynamics_gpu knocked_away
mutant 'a sphere that begins to fall gains energy' shaders/dynamics/simulation_commit.wgsl \
    'moved += (velocity - end.velocity) * (0.5 * end.owed);' '' --test dynamics_gpu knocked_away
mutant 'overlaps are not pushed out on the GPU' shaders/dynamics/simulation_commit.wgsl \
    'moved += pushed_out(i);' '' --test dynamics_gpu overlap_is_pushed_out
mutant 'overlapping spheres shorten the substeps' shaders/dynamics/simulation_candidates.wgsl \
    'length(candidate.apart) < bodies[a].radius + bodies[b].radius' 'false' --test dynamics_gpu from_one_point
mutant 'spheres too far from the origin are not told' shaders/dynamics/simulation_load.wgsl \
    'apart > bitcast<f32>(radius)' 'false' --test dynamics_gpu too_far_from
mutant 'a collapse is not told' shaders/dynamics/simulation_judge.wgsl \
    'duration < COLLAPSED * simulation.planned' 'false' --test dynamics_gpu tiny_distances
mutant 'paths that are crossed in the past are not undone' shaders/dynamics/simulation_find.wgsl \
    'consider(next, Next(NEVER, NEXT_NONE, met));' 'consider(next, Next(NEVER, NEXT_NONE, NEVER));' \
    --test dynamics_gpu long_substeps
mutant 'only the first invocation of a sphere is considered' shaders/dynamics/simulation_find.wgsl \
    'consider(&next, sh_next[local + k]);' '' --test dynamics_gpu long_substeps
mutant 'an impact that its partner has undone is kept' shaders/dynamics/simulation_find.wgsl \
    'if place > tracks[other].count || link_of(path_piece(other, place)) != back {' 'if place > MOST_IMPACTS {' \
    --test dynamics_gpu long_substeps
mutant 'a sphere may leave its pad' shaders/dynamics/simulation_settle.wgsl \
    'if moved > track.pad {' 'if moved > 1e9 * track.pad {' --test dynamics_gpu a_bullet
mutant 'a sphere that leaves its pad meets no further sphere' shaders/dynamics/simulation_widen.wgsl \
    'if ignore_each_other(sphere.groups, padded.groups) || is_one_body(a, b) || is_known(left, i) {' 'if i != left {' \
    --test dynamics_gpu bullets_among_balls
mutant 'a sphere that leaves its pad meets spheres of its own body' shaders/dynamics/simulation_widen.wgsl \
    ' || is_one_body(a, b)' '' --test dynamics_gpu bullets_among_compound
mutant 'the place of a moving wall has the rounding errors of its displacement' shaders/dynamics/simulation_walls.wgsl \
    'Sum(next.rounded, next.errors + error)' 'Sum(next.rounded, next.errors)' --test dynamics_gpu moved_far_in
mutant 'a sphere that leaves its pad meets no further triangle' shaders/dynamics/simulation_widen_triangles.wgsl \
    'if may_meet(triangle, mesh, padded, place)' 'if padded.radius < 0.0' --test dynamics_gpu bullets_among_balls
mutant 'a sphere that leaves its pad meets no further wall' shaders/dynamics/simulation_left.wgsl \
    'tracks[i].walls |= 1u << k;' 'tracks[i].walls |= 0u;' --test dynamics_gpu bullets_among_balls
mutant 'earlier parts of a path are not tested against walls found later' shaders/dynamics/simulation_find.wgsl \
    'tracks[sphere].wide > 0.0)' 'tracks[sphere].wide > NEVER)' --test dynamics_gpu leaves_its_pad_hits
mutant 'pads are widened before all paths are known' shaders/dynamics/simulation_plan.wgsl \
    'pad_dispatch = dispatch_over(0u);' '' --test dynamics_gpu with_five_rounds
mutant 'no cell is marked near spheres that leave their pads' shaders/dynamics/parts/left_cells.wgsl \
    'atomicOr(&round_spheres[entry], 1u << (number % 32u));' 'atomicOr(&round_spheres[entry], 0u);' \
    --test dynamics_gpu bullets_among_balls

mutant 'a round leaves out the candidates of spheres whose paths have changed' shaders/dynamics/simulation_strike.wgsl \
    'gather_for_round(candidates[index].a + candidates[index].b - sphere);' 'gather_for_round(sphere);' \
    --test dynamics_gpu long_substeps

mutant 'spheres that find no room among the gathered ones are left out of the next round' shaders/dynamics/simulation_strike.wgsl \
    'append_to_round(sphere);' '' --test dynamics_gpu crowded_round
mutant 'the rounding of a normal changes the energy in impacts' shaders/dynamics/simulation_strike.wgsl \
    'let square = max(dot(axis, axis), 0.5);' 'let square = digits * digits;' --test dynamics_gpu oblique_walls
mutant 'a rounded sum of inverse masses changes the energy in impacts' shaders/dynamics/simulation_strike.wgsl \
    'vec2<f32>(opaque(inverse_masses.x * square), opaque(inverse_masses.y * square))' \
    'vec2<f32>((inverse_masses.x + inverse_masses.y) * square, 0.0)' \
    --test dynamics_gpu energy_of_light_spheres
mutant 'the rounding of a square changes the energy alike in all impacts' shaders/dynamics/simulation_strike.wgsl \
    'normal * digits;' 'normal;' --test dynamics_gpu oblique_walls
mutant 'a wall pushes a sphere along the axis of a cylinder' shaders/dynamics/simulation_strike.wgsl \
    'at_wall(wall, at_wall(wall, motion))' 'at_wall(wall, motion)' --test dynamics_gpu oblique_walls
mutant 'a hollow wall adds energy to the spheres that it turns on the GPU' shaders/dynamics/simulation_strike.wgsl \
    'sliding * leaving.change' 'sliding * 0.0' --test dynamics_gpu oblique_walls
mutant 'rounding errors press bodies in contact together' shaders/dynamics/simulation_strike.wgsl \
    'RESTING * speeds' '0.0 * speeds' --test dynamics_gpu stay_in_contact
mutant 'a substep does not end before an impact without room' shaders/dynamics/simulation_continue.wgsl \
    'if full < simulation.substep {' 'if false {' --test dynamics_gpu ends_substeps_early
mutant 'impacts after the early end of a substep stay' shaders/dynamics/simulation_settle.wgsl \
    'end_path(sphere);' '' --test dynamics_gpu ends_substeps_early
mutant 'a position loses what is rounded off it' shaders/dynamics/simulation_commit.wgsl \
    'body.inverse_mass, residue, held)' 'body.inverse_mass, vec3<f32>(0.0), held)' \
    --test dynamics_gpu rounding_errors_of_positions
mutant 'a sphere that the application has moved keeps what was rounded off its old position' \
    shaders/dynamics/simulation_load.wgsl 'before.residue, stays)' 'before.residue, true)' \
    --test dynamics_gpu rounding_errors_of_positions
mutant 'a pad leaves out what is rounded off the position' shaders/dynamics/simulation_pad.wgsl \
    '(speed * duration + length(body.residue))' 'speed * duration' --test dynamics_gpu rounding_errors_of_positions
mutant 'rounding errors along a long edge remain' shaders/dynamics/parts/dynamics_triangles.wgsl \
    'if share > 0.0 && share < 1.0 {' 'if false {' --test dynamics_gpu hits_a_long_edge
mutant 'gravity along a triangle counts like gravity towards it' shaders/dynamics/parts/dynamics_triangles.wgsl \
    '-dot(normal, motion.acceleration)' 'strength' --test dynamics_gpu falls_close_to
mutant 'the rounding error of the remaining time is lost' shaders/dynamics/simulation_judge.wgsl \
    'simulation.carried = left.y;' 'simulation.carried = 0.0;' --test dynamics_gpu no_simulated_time
mutant 'a vector whose square underflows has no direction' shaders/dynamics/parts/encounter.wgsl \
    'normalize(v / largest)' 'v / max(length(v), MIN_POSITIVE)' --test dynamics_gpu tiny_distances
mutant 'an impact at the end of a substep is forgotten' shaders/dynamics/simulation_commit.wgsl \
    'LONG_AGO, -MIN_POSITIVE)' 'LONG_AGO, 0.0)' --test dynamics_gpu has_314_impacts
mutant 'few spheres have short substeps' shaders/dynamics/simulation_judge.wgsl \
    '+ FEW_IMPACTS;' '+ min(spheres, FEW_IMPACTS);' --test dynamics_gpu slides_along
mutant 'few spheres have too many candidates in a substep' shaders/dynamics/simulation_judge.wgsl \
    'pow(room / f32(max(pairs, 1u)), 0.333), 1.0)' 'pow(room / f32(max(pairs, 1u)), 0.333), LONGER)' \
    --test dynamics_gpu few_spheres

mutant 'further candidates without room count as rounds' shaders/dynamics/simulation_judge.wgsl \
    'if left || simulation.settled == 3u {' 'if left {' --test dynamics_gpu too_many_further
mutant 'further candidates without room are left out' shaders/dynamics/simulation_continue.wgsl \
    ' || most > simulation_request.near_capacity' '' --test dynamics_gpu too_many_further

mutant 'spheres meet the planes of triangles outside them' shaders/dynamics/parts/dynamics_triangles.wgsl \
    'if all(inside >= vec3<f32>(0.0)) {' 'if all(inside >= vec3<f32>(-1e9)) {' --test dynamics_gpu face
mutant 'edges inside a flat surface lift spheres on the GPU' shaders/dynamics/parts/dynamics_triangles.wgsl \
    'if beside.part == FACE {' 'if beside.part < CORNERS || beside.part == FACE {' --test dynamics_gpu inside_a_flat
mutant 'corners inside a flat surface lift spheres on the GPU' shaders/dynamics/parts/dynamics_triangles.wgsl \
    'if beside.part == FACE {' 'if beside.part >= CORNERS {' --test dynamics_gpu inside_a_flat
mutant 'one-sided triangles are met from behind on the GPU' shaders/dynamics/parts/dynamics_triangles.wgsl \
    'simulation_request.one_sided != 0u' 'false' --test dynamics_gpu one_sided
mutant 'spheres of one body hit one another' shaders/dynamics/simulation_candidates.wgsl \
    'let one_body = is_one_body(a, b);' 'let one_body = a > 8u && is_one_body(a, b);' --test dynamics_gpu one_body_pass
mutant 'pairs of one body shorten the substeps' shaders/dynamics/simulation_judge.wgsl \
    'atomicLoad(&simulation_counters.together)' '0u' --test dynamics_gpu do_not_shorten
mutant 'a sphere meets one image of a round wall' shaders/dynamics/parts/dynamics_places.wgsl \
    'u32(max(i32(last) - i32(first) + 1, 0))' 'u32(clamp(i32(last) - i32(first) + 1, 0, 1))' \
    --test dynamics_gpu periodic_domains_move
mutant 'an image of a triangle is displaced to the wrong side' shaders/dynamics/parts/near_triangles.wgsl \
    'vec3<f32>(-carom_image(word))' 'vec3<f32>(carom_image(word))' --test dynamics_gpu periodic_domains_move
mutant 'a mesh is near no image of a sphere' shaders/dynamics/simulation_pad.wgsl \
    'let image = place + shift_of(image_of_block(block, k));' 'let image = place;' \
    --test dynamics_gpu periodic_domains_move
mutant 'a wall leaves the periodic cell' shaders/dynamics/simulation_walls.wgsl \
    'let cells = floor(dot(simulation_lattices[local].duals[k].xyz, far));' 'let cells = 0.0;' \
    --test dynamics_gpu crossed_many_cells
mutant 'a sphere with too many images at a wall passes through it' shaders/dynamics/simulation_pad.wgsl \
    'sphere.radius = GREATEST;' '' --test dynamics_gpu crosses_the_periodic
mutant 'spheres hit meshes that ignore them' shaders/dynamics/simulation_bounds.wgsl \
    'vec3<f32>(0.0), bound.groups);' 'vec3<f32>(0.0), 0u);' --test dynamics_gpu groups_it_ignores
mutant 'impacts that do not fit into their list are lost' shaders/dynamics/simulation_judge.wgsl \
    'return capacity == 0u || all_impacts() <= capacity - simulation.listed;' 'return true;' \
    --test dynamics_gpu full_list
mutant 'impacts are listed at the end of the substep' shaders/dynamics/simulation_list.wgsl \
    'piece.start - simulation.substep' '0.0' --test dynamics_gpu full_list
mutant 'the list has the images of triangles' shaders/dynamics/simulation_list.wgsl \
    '-carom_image(near.image)' 'carom_image(near.image)' --test dynamics_gpu have_images
mutant 'a moving mesh is sought where it was at time 0' shaders/dynamics/simulation_bounds.wgsl \
    'let moved = mesh.point;' 'let moved = bound.velocity * 0.0;' \
    --test dynamics_gpu has_moved_far
mutant 'a mesh is sought as if it moved as at first' shaders/dynamics/simulation_bounds.wgsl \
    'length(mesh.velocity) * simulation.substep' 'length(bound.velocity) * simulation.substep' \
    --test dynamics_gpu begins_to_move
mutant 'an edit of a wall is lost with a dropped recording' src/gpu/simulate/simulation.rs \
    'if submitted.never() {' 'if false {' --test dynamics_gpu begins_to_move

((${#whats[@]} > 1)) || {
    echo "mutants.sh: no mutant matches $wanted" >&2
    exit 1
}
sources >"$copy/sources"
mapfile -t alone < <(perl -e "$switches" <"$copy/sources")
mapfile -t selected < <(printf '%s\n' "${tests[@]}" | grep -o -- '--test [a-z_0-9]\+' | tr ' ' '=' | sort -u)
build "$copy/programs" --lib "${selected[@]}"
for ((k = 1; k < ${#whats[@]}; k++)); do
    if [[ " ${alone[*]} " == *" $k "* ]]; then
        continue
    fi
    # Two at the same time, because most tests have one thread.
    while (($(jobs -rp | wc -l) >= 2)); do
        wait -n
    done
    if [[ ${files[k]} == shaders/* ]]; then
        FROM=${froms[k]} TO=${tos[k]} perl -0pe 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$root/${files[k]}" >"$copy/shader.$k"
        SHADER_BEFORE=$root/${files[k]} SHADER_NOW=$copy/shader.$k run "$k" "$copy/programs" &
    else
        MUTANT=$k run "$k" "$copy/programs" &
    fi
done
# The tests of a mutant run while the next one is built.
for k in "${alone[@]}"; do
    cp "${files[k]}" "$copy/before"
    FROM=${froms[k]} TO=${tos[k]} perl -0pe 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$root/${files[k]}" >"${files[k]}"
    # shellcheck disable=SC2086
    build "$copy/programs.$k" ${tests[k]}
    cp "$copy/before" "${files[k]}"
    wait
    run "$k" "$copy/programs.$k" &
done
wait
killed=$(grep -c '^killed' "$copy/lines")
echo "$killed of $((${#whats[@]} - 1)) mutants killed"
((killed == ${#whats[@]} - 1))
