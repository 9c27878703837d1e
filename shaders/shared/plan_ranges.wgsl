// Groups the size classes that have proxies into size ranges, from which the levels are made. A
// size range is a run of neighbouring size classes.
// Twin of `src/cpu/plan/size_ranges.rs`.

#needs counters, size_classes
#import sets::{are_two_sets}
#import size_class::{size_class_power, size_class_set}
#import sortable::{from_sortable}

// Number of invocations (threads) in the only workgroup that makes the plan.
const THREADS = MAX_LEVELS;
// Number of size classes that each thread handles: as many as a vec4<u32> has bits.
const CLASSES_EACH = SIZE_CLASSES / THREADS;
const_assert CLASSES_EACH == 128u;

// A run of neighbouring size classes of one set and one power, with at least one proxy; or all
// size ranges of a level, merged into one.
struct SizeRange {
    // Number of proxies in the range, and number of these proxies that are inside the trimmed box.
    proxies: f32,
    inside: f32,
    // The largest half cell of the proxies: half the edge of the smallest cells that may hold them
    // all.
    half_cell: f32,
    // Bounds of the middles of the proxies, relative to the frame.
    low: vec3<f32>,
    high: vec3<f32>,
    // Number of the last size class that may belong to the range.
    last_class: u32,
    // Power of the spheres: they are cut into 2^power time segments. For several merged ranges,
    // this is the least power.
    power: u32,
    // Set of the spheres, 0 or 1.
    of_set: u32,
    // Half cell with which the half cells of other ranges are compared. A range searches this one
    // if its half cell is smaller or, between two sets, equal. The value is the half cell of this
    // range. For several merged ranges, it is the smallest of their half cells in a step with one
    // set, and the largest in a step with two sets.
    reference: f32,
    // Number of proxies in all ranges that search this one.
    finer: f32,
}

// Size ranges with at least one proxy, ordered by set, then by power, then by size, finest
// first.
var<workgroup> sh_range: array<SizeRange, MAX_LEVELS>;
// Numbers from which the length of the size ranges is chosen. Entry s is the number of size classes
// in use that start a range if ranges consist of 2^s classes, but not if they consist of 2^(s + 1).
// The last entry is the number of size classes in use that start a range whatever its length.
var<workgroup> sh_parted: array<atomic<u32>, MAX_RANGE_SHIFT + 1>;
// For each thread: the number of size ranges that begin in its size classes.
var<workgroup> sh_ranges_of: array<u32, THREADS>;

// ---- Size classes in use. Each thread has a mask with a bit for each of its own classes.

// Returns the number of the lowest set bit of a mask. At least one bit must be set.
fn lowest_bit(used: vec4<u32>) -> u32 {
    var word = 0u;
    while word < 3u && used[word] == 0u {
        word++;
    }
    return word * 32u + firstTrailingBit(used[word]);
}

// Returns a mask without bit number `bit`.
fn without(used: vec4<u32>, bit: u32) -> vec4<u32> {
    var rest = used;
    rest[bit / 32u] &= ~(1u << (bit % 32u));
    return rest;
}

// Returns a mask with a bit for each of this thread's size classes. The bit is set if the class has
// proxies.
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

// Adds this thread's size classes in use to the counts in sh_parted. A class is counted under the
// greatest length of size ranges for which it starts a range.
fn count_parted(used: vec4<u32>) {
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // A size range has no more size classes than a thread, so the first class in use of a
        // thread always starts a range.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), MAX_RANGE_SHIFT)], 1u);
        previous = bit;
    }
}

// Finds the shortest size ranges of which there are at most MAX_LEVELS. A range consists of 2^shift
// size classes. Returns the shift and the number of ranges.
fn finest_ranges() -> vec2<u32> {
    var shift = MAX_RANGE_SHIFT;
    var most = atomicLoad(&sh_parted[MAX_RANGE_SHIFT]);
    while shift > 0u && most + atomicLoad(&sh_parted[shift - 1u]) <= MAX_LEVELS {
        shift--;
        most += atomicLoad(&sh_parted[shift]);
    }
    return vec2<u32>(shift, most);
}

// Returns the number of size ranges with proxies that this thread's size classes form, if a range
// consists of 2^shift size classes.
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

// Returns a size range without proxies. Its set and its power are those of `size_class`.
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

// Returns a size range with the proxies of one more size class added.
fn with_class(range: SizeRange, size_class: u32) -> SizeRange {
    var more = range;
    // All nine words of the size class are read before any of them is used.
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

// Writes the size ranges of this thread's size classes to sh_range, after the ranges of all threads
// with lower numbers.
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

// ---- Which ranges search which, and which may share a level.

// Returns a factor for the cost of searches of proxies in their own level: 0 in a step with two
// sets, where no proxy searches its own level, and otherwise 1.
fn one_set() -> f32 {
    return select(1.0, 0.0, are_two_sets());
}

// Returns whether the proxies of size range number `range` search another range, which is of set
// `of_set` and has this `reference`. Of two ranges, at most one searches the other, except that
// ranges of equal size in different sets search each other.
fn searches_for(range: u32, of_set: u32, reference: f32) -> bool {
    let half_cell = sh_range[range].half_cell;
    if are_two_sets() {
        return sh_range[range].of_set != of_set && half_cell <= reference;
    }
    return half_cell < reference;
}

// Stores in a size range the number of proxies that look for candidates among its proxies: the
// proxies of all ranges that search it. Call this when all ranges have been made.
fn count_finer(range: u32, ranges: u32) {
    var finer = 0.0;
    for (var k = 0u; k < ranges; k++) {
        finer += select(0.0, sh_range[k].proxies, searches_for(k, sh_range[range].of_set, sh_range[range].reference));
    }
    sh_range[range].finer = finer;
}

// Returns whether two size ranges may be in one level. They may if they are of the same set and the
// spheres of both are cut into time segments, or the spheres of neither.
fn share_level(range: u32, other: u32) -> bool {
    return sh_range[range].of_set == sh_range[other].of_set
        && (sh_range[range].power > 0u) == (sh_range[other].power > 0u);
}

// Returns the union of two size ranges of one level.
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
