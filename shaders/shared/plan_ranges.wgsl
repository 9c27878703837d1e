// Runs of size classes: what levels are made of. Twin of `src/cpu/plan/size_ranges.rs`.

#needs counters, size_classes
#import sets::{are_two_sets}
#import size_class::{size_class_power, size_class_set}
#import sortable::{from_sortable}

// Invocations of the one workgroup.
const THREADS = MAX_LEVELS;
// Size classes of one thread: as many as a vec4<u32> has bits.
const CLASSES_EACH = SIZE_CLASSES / THREADS;
const_assert CLASSES_EACH == 128u;

// Neighbouring size classes of one set and one power of segments that are not all empty;
// or the size ranges of a level together.
struct SizeRange {
    proxies: f32,
    inside: f32,
    half_cell: f32,
    low: vec3<f32>,
    high: vec3<f32>,
    last_class: u32,
    // The least, of several ranges.
    power: u32,
    // The set its spheres are of.
    of_set: u32,
    // Half the edge of the smallest cells from which these are searched: in one set that
    // of the smallest range, between two sets that of the largest.
    reference: f32,
    // Proxies of all smaller ranges that search for these.
    finer: f32,
}

// Size ranges that are not empty, in the order of these: by set, by power of segments,
// and then finest first.
var<workgroup> sh_range: array<SizeRange, MAX_LEVELS>;
// Size classes in use that come to lie in one range with the class in use before them
// when ranges of 1, 2, 4 … classes become twice as large; the last, never.
var<workgroup> sh_parted: array<atomic<u32>, MAX_RANGE_SHIFT + 1>;
// How many ranges begin in the size classes of each thread.
var<workgroup> sh_ranges_of: array<u32, THREADS>;

// ---- Size classes in use: bits of a thread's own ones.

// The number of the lowest bit, which there has to be.
fn lowest_bit(used: vec4<u32>) -> u32 {
    var word = 0u;
    while word < 3u && used[word] == 0u {
        word++;
    }
    return word * 32u + firstTrailingBit(used[word]);
}

// The others when one is taken away.
fn without(used: vec4<u32>, bit: u32) -> vec4<u32> {
    var rest = used;
    rest[bit / 32u] &= ~(1u << (bit % 32u));
    return rest;
}

fn used_classes(thread: u32) -> vec4<u32> {
    let first_word = thread * (CLASSES_EACH / 32u);
    return vec4<u32>(
        atomicLoad(&counters.used[first_word]),
        atomicLoad(&counters.used[first_word + 1u]),
        atomicLoad(&counters.used[first_word + 2u]),
        atomicLoad(&counters.used[first_word + 3u]),
    );
}

// ---- Size ranges.

// Counts in sh_parted.
fn count_parted(used: vec4<u32>) {
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // No range is of more size classes than a thread has.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), MAX_RANGE_SHIFT)], 1u);
        previous = bit;
    }
}

// The finest ranges that are no more than there can be levels: their shift, when each is
// of 2^shift size classes, and how many they are.
fn finest_ranges() -> vec2<u32> {
    var shift = MAX_RANGE_SHIFT;
    var most = atomicLoad(&sh_parted[MAX_RANGE_SHIFT]);
    while shift > 0u && most + atomicLoad(&sh_parted[shift - 1u]) <= MAX_LEVELS {
        shift--;
        most += atomicLoad(&sh_parted[shift]);
    }
    return vec2<u32>(shift, most);
}

// Ranges of 2^shift size classes that are not all empty, of a thread's own.
fn count_ranges(used: vec4<u32>, shift: u32) -> u32 {
    var ranges = 0u;
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        ranges += select(0u, 1u, (bit >> shift) != (previous >> shift));
        previous = bit;
    }
    return ranges;
}

// A range that is still empty, which begins with this size class.
fn empty_range(size_class: u32, last_class: u32) -> SizeRange {
    return SizeRange(
        0.0,
        0.0,
        0.0,
        vec3<f32>(GREATEST),
        vec3<f32>(-GREATEST),
        last_class,
        size_class_power(size_class),
        size_class_set(size_class),
        0.0,
        0.0,
    );
}

// A range with one more size class.
fn with_class(range: SizeRange, size_class: u32) -> SizeRange {
    var more = range;
    // All nine words are read before any of them is used.
    let count = atomicLoad(&size_classes[size_class].count);
    let inside = atomicLoad(&size_classes[size_class].inside);
    let half_cell = bitcast<f32>(atomicLoad(&size_classes[size_class].half_cell));
    let low = vec3<f32>(
        from_sortable(atomicLoad(&size_classes[size_class].low[0])),
        from_sortable(atomicLoad(&size_classes[size_class].low[1])),
        from_sortable(atomicLoad(&size_classes[size_class].low[2])),
    );
    let high = vec3<f32>(
        from_sortable(atomicLoad(&size_classes[size_class].high[0])),
        from_sortable(atomicLoad(&size_classes[size_class].high[1])),
        from_sortable(atomicLoad(&size_classes[size_class].high[2])),
    );
    more.proxies += f32(count);
    more.inside += f32(inside);
    more.half_cell = max(more.half_cell, half_cell);
    more.reference = more.half_cell;
    more.low = min(more.low, -low);
    more.high = max(more.high, high);
    return more;
}

// Makes the ranges of a thread's own size classes.
fn make_ranges(used: vec4<u32>, shift: u32, thread: u32) {
    var at = 0u;
    for (var before = 0u; before < thread; before++) {
        at += sh_ranges_of[before];
    }
    var range: SizeRange;
    range.last_class = SIZE_CLASSES;
    var rest = used;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        let size_class = thread * CLASSES_EACH + bit;
        let last_class = size_class | ((1u << shift) - 1u);
        if last_class != range.last_class {
            range = empty_range(size_class, last_class);
            at++;
        }
        range = with_class(range, size_class);
        sh_range[at - 1u] = range;
    }
}

// ---- Who searches for whom, and who shares a level.

// 0 when only pairs between two sets count, so that no level is searched for its
// own; else 1.
fn one_set() -> f32 {
    return select(1.0, 0.0, are_two_sets());
}

// Whether the proxies of one range search for those of another, and not these for
// them; between two sets, those of one size may do either.
fn searches_for(range: u32, of_set: u32, reference: f32) -> bool {
    let half_cell = sh_range[range].half_cell;
    if are_two_sets() {
        return sh_range[range].of_set != of_set && half_cell <= reference;
    }
    return half_cell < reference;
}

// Sets what is known of a range only when there are all.
fn count_finer(range: u32, ranges: u32) {
    var finer = 0.0;
    for (var k = 0u; k < ranges; k++) {
        finer += select(0.0, sh_range[k].proxies, searches_for(k, sh_range[range].of_set, sh_range[range].reference));
    }
    sh_range[range].finer = finer;
}

// Whether both ranges may be in one level: of one set, and none that are not cut with such
// as are.
fn share_level(range: u32, other: u32) -> bool {
    return sh_range[range].of_set == sh_range[other].of_set
        && (sh_range[range].power > 0u) == (sh_range[other].power > 0u);
}

// Two ranges in one level.
fn merged(range: SizeRange, other: SizeRange) -> SizeRange {
    var both = range;
    both.proxies += other.proxies;
    both.inside += other.inside;
    both.half_cell = max(both.half_cell, other.half_cell);
    both.low = min(both.low, other.low);
    both.high = max(both.high, other.high);
    both.power = min(both.power, other.power);
    let one = !are_two_sets();
    if select(both.reference, other.reference, one) < select(other.reference, both.reference, one) {
        both.reference = other.reference;
        both.finer = other.finer;
    }
    return both;
}
