// Moves the items of each block to their positions in the order of their digits,
// stably. Twin of `src/reduce/sort.rs`, which sorts with a library function.

#import carom::{CaromResults}
#import digit::{Digit, digit_of, item_count}

// 16-bit counts, two to a word.
const WORDS = DIGITS / 2u;
const EACH = SORT_BLOCK / WORKGROUP;
// For each word, ADDERS invocations add up COUNTS values each.
const ADDERS = WORKGROUP / WORDS;
const COUNTS = WORKGROUP / ADDERS;

@group(0) @binding(0) var<uniform> digit: Digit;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> items_before: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> sort_counts: array<u32>;
@group(0) @binding(4) var<storage, read_write> items_after: array<vec4<u32>>;

// Word 0 of every invocation, then word 1, and so on.
var<workgroup> sh_counts: array<u32, WORDS * WORKGROUP>;
var<workgroup> sh_sums: array<u32, WORKGROUP>;

alias Counts = array<u32, WORDS>;

fn count_digits(begin: u32, end: u32) -> Counts {
    var counts = Counts();
    for (var i = begin; i < end; i++) {
        let d = digit_of(items_before[i]);
        counts[d / 2u] += 1u << (d % 2u * 16u);
    }
    return counts;
}

fn sum_counts(local: u32) {
    let first = local * COUNTS;
    var sum = 0u;
    for (var k = first; k < first + COUNTS; k++) {
        sum += sh_counts[k];
    }
    sh_sums[local] = sum;
    workgroupBarrier();
    sum = 0u;
    for (var k = local - local % ADDERS; k < local; k++) {
        sum += sh_sums[k];
    }
    for (var k = first; k < first + COUNTS; k++) {
        let count = sh_counts[k];
        sh_counts[k] = sum;
        sum += count;
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    let begin = block * SORT_BLOCK + local * EACH;
    let end = min(begin + EACH, item_count());
    var counts = count_digits(begin, end);
    for (var word = 0u; word < WORDS; word++) {
        sh_counts[word * WORKGROUP + local] = counts[word];
    }
    workgroupBarrier();
    sum_counts(local);
    workgroupBarrier();
    for (var word = 0u; word < WORDS; word++) {
        counts[word] = sh_counts[word * WORKGROUP + local];
    }
    let blocks = arrayLength(&sort_counts) / DIGITS;
    for (var i = begin; i < end; i++) {
        let item = items_before[i];
        let d = digit_of(item);
        let half = d % 2u * 16u;
        let rank = (counts[d / 2u] >> half) & 0xffffu;
        counts[d / 2u] += 1u << half;
        items_after[sort_counts[d * blocks + block] + rank] = item;
    }
}
