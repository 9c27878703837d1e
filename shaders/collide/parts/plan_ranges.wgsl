// Divides the size classes in use into size ranges. Twin of `src/cpu/plan/size_ranges.rs`.

#needs counters, size_classes
#import sets::{are_two_sets}
#import size_class::{size_class_power, size_class_set}
#import sortable::{from_sortable}

const THREADS = MAX_LEVELS;
// Number of size classes that each thread handles: 128, the number of bits of a vec4<u32>.
const CLASSES_EACH = SIZE_CLASSES / THREADS;
const_assert CLASSES_EACH == 128u;

// A run of neighbouring size classes, all of the same set and power. Ranges that share a level are merged
// into one.
struct SizeRange {
    // Number of proxies, and of those in the trimmed box, which leaves out far outliers.
    proxies: f32,
    inside: f32,
    // Half the edge of the smallest cell that is large enough for each proxy.
    half_cell: f32,
    // Bounds of the centres of all proxies, relative to the frame, half-way through the step or through each
    // time segment.
    low: vec3<f32>,
    high: vec3<f32>,
    // Index of the last size class that the range covers, even if this class is empty.
    last_class: u32,
    // The power of the spheres. A merged range has the smallest power of its parts.
    power: u32,
    of_set: u32,
    // Size limit for the ranges that search this one. In a step with one set, these are the ranges whose
    // `half_cell` is less than `reference`; with two sets, those of the other set whose `half_cell` is at
    // most `reference`. At first, `reference` is the `half_cell` of this range. A merged range keeps the
    // smallest `reference` of its parts with one set, and the largest with two sets.
    reference: f32,
    // Number of proxies that search this range.
    finer: f32,
}

// All size ranges in use, ordered by set, then by power, then by size, smallest first.
var<workgroup> sh_range: array<SizeRange, MAX_LEVELS>;
// A histogram from which the length of the size ranges, 2^s size classes, is chosen. Entry s counts the
// nonempty classes that are the first of a range when ranges have 2^s classes, but not when they have 2^(s +
// 1). The last entry counts those that are first even at the greatest length. So the sum of the entries from
// s on is the number of nonempty ranges of 2^s classes.
var<workgroup> sh_parted: array<atomic<u32>, MAX_RANGE_SHIFT + 1>;
var<workgroup> sh_ranges_of: array<u32, THREADS>;

fn lowest_bit(used: vec4<u32>) -> u32 {
    // With a dynamic vector index instead of select(), compilers move the vector from registers to memory.
    let bits = firstTrailingBit(used) + vec4<u32>(0u, 32u, 64u, 96u);
    let found = select(bits, vec4<u32>(CLASSES_EACH), used == vec4<u32>(0u));
    return min(min(found.x, found.y), min(found.z, found.w));
}

fn without(used: vec4<u32>, bit: u32) -> vec4<u32> {
    let is_word = vec4<u32>(bit / 32u) == vec4<u32>(0u, 1u, 2u, 3u);
    return select(used, used & vec4<u32>(~(1u << (bit % 32u))), is_word);
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

// Adds this thread's nonempty size classes to sh_parted.
fn count_parted(used: vec4<u32>) {
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // No size range extends over the blocks of two threads, so the first nonempty class of a block is the
        // first of its range, however long the ranges are. The initial value of `previous` selects the last
        // entry.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), MAX_RANGE_SHIFT)], 1u);
        previous = bit;
    }
}

// Returns the smallest s with at most MAX_LEVELS ranges of 2^s size classes, and the number of ranges.
fn finest_ranges() -> vec2<u32> {
    var shift = MAX_RANGE_SHIFT;
    var most = atomicLoad(&sh_parted[MAX_RANGE_SHIFT]);
    while shift > 0u && most + atomicLoad(&sh_parted[shift - 1u]) <= MAX_LEVELS {
        shift--;
        most += atomicLoad(&sh_parted[shift]);
    }
    return vec2<u32>(shift, most);
}

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

fn with_class(range: SizeRange, size_class: u32) -> SizeRange {
    var more = range;
    // All loads come before the first sum, so that their latencies overlap.
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

// Returns a factor for the cost of searches in a proxy's own level: 1 with one set, and 0 with two, because a
// sphere is not tested against its own set.
fn one_set() -> f32 {
    return select(1.0, 0.0, are_two_sets());
}

// Returns whether size range number `range` searches another one, with the fields `of_set` and `reference`.
// Used for estimates of cost.
fn searches_for(range: u32, of_set: u32, reference: f32) -> bool {
    let half_cell = sh_range[range].half_cell;
    if are_two_sets() {
        return sh_range[range].of_set != of_set && half_cell <= reference;
    }
    return half_cell < reference;
}

fn count_finer(range: u32, ranges: u32) {
    var finer = 0.0;
    for (var k = 0u; k < ranges; k++) {
        finer += select(0.0, sh_range[k].proxies, searches_for(k, sh_range[range].of_set, sh_range[range].reference));
    }
    sh_range[range].finer = finer;
}

fn share_level(range: u32, other: u32) -> bool {
    return sh_range[range].of_set == sh_range[other].of_set
        && (sh_range[range].power > 0u) == (sh_range[other].power > 0u);
}

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
