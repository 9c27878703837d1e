// Divides the size classes in use into size ranges. Twin of `src/cpu/plan/size_ranges.rs`.

#needs counters, size_classes
#import sets::{are_two_sets}
#import size_class::{size_class_power, size_class_set}
#import sortable::{from_sortable}

const THREADS = MAX_LEVELS;
// For each thread: 128, the bits of a vec4<u32>.
const CLASSES_EACH = SIZE_CLASSES / THREADS;
const_assert CLASSES_EACH == 128u;

// Neighbouring size classes of one set and power. Ranges that share a level are merged.
struct SizeRange {
    // And of those in the trimmed box.
    proxies: f32,
    inside: f32,
    // Half the edge of the smallest cell for each proxy.
    half_cell: f32,
    // Of the centres, relative to the frame, half-way through the step or through
    // each segment.
    low: vec3<f32>,
    high: vec3<f32>,
    // Even if this class is empty.
    last_class: u32,
    // A merged range has the smallest power of its parts.
    power: u32,
    of_set: u32,
    // With one set, ranges with a smaller `half_cell` search this one; with two,
    // those of the other set with one that is not larger. A merged range has the
    // smallest `reference` of its parts, with two sets the largest.
    reference: f32,
    finer: f32,
}

// Ordered by set, then by power, then by size.
var<workgroup> sh_range: array<SizeRange, MAX_LEVELS>;
// Entry s counts the nonempty classes that are first of a range of 2^s classes, but not
// of 2^(s + 1), the last entry those that are first even at the greatest length. So the
// sum from s on is the number of nonempty ranges of 2^s classes.
var<workgroup> sh_parted: array<atomic<u32>, MAX_RANGE_SHIFT + 1>;
var<workgroup> sh_ranges_of: array<u32, THREADS>;

fn lowest_bit(used: vec4<u32>) -> u32 {
    // With a dynamic vector index instead of select(), compilers move the vector
    // from registers to memory.
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

fn count_parted(used: vec4<u32>) {
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // No range extends over the blocks of two threads, so the first
        // nonempty class of a block is always the first of its range. The
        // initial `previous` selects the last entry.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), MAX_RANGE_SHIFT)], 1u);
        previous = bit;
    }
}

// And the number of ranges: at most MAX_LEVELS.
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
    // All loads come first, so that their latencies overlap.
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

// A factor for searches in a proxy's own level: 0 with two sets, because a sphere is
// not tested against its own.
fn one_set() -> f32 {
    return select(1.0, 0.0, are_two_sets());
}

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
