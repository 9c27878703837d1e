// Replaces the counts of each block of SCAN_BLOCK by their exclusive prefix sums over all
// blocks. One workgroup per block.
// Twin of `src/cpu/scan.rs`.

#import scan_block::{sum_before}

@group(0) @binding(0) var<storage, read_write> counts: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> sums: array<u32>;

// Whether `sums` has been replaced by its prefix sums before this dispatch. If not, each
// workgroup adds up the sums of the blocks before its own, at most SCAN_BLOCK of them,
// which takes less time than a dispatch for that alone.
override SUMS_ARE_SCANNED: bool = false;

// vec4s of one invocation, which are adjacent.
const OWN_VECTORS = SCAN_BLOCK / SCAN_WORKGROUP / 4u;
const_assert OWN_VECTORS == 2u;

// Sum of all blocks before this one, if `sums` is not scanned.
var<workgroup> sh_before: atomic<u32>;

fn total(counts_of_four: vec4<u32>) -> u32 {
    return counts_of_four.x + counts_of_four.y + counts_of_four.z + counts_of_four.w;
}

// The exclusive prefix sums of four counts that follow `before`.
fn prefixes(before: u32, counts_of_four: vec4<u32>) -> vec4<u32> {
    let second = before + counts_of_four.x;
    let third = second + counts_of_four.y;
    return vec4<u32>(before, second, third, third + counts_of_four.z);
}

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    // A dispatch that is folded into rows may have more workgroups than there are blocks.
    let length = select(0u, arrayLength(&counts), block < arrayLength(&sums));
    let i = (block * SCAN_WORKGROUP + local) * OWN_VECTORS;
    var low = vec4<u32>(0u);
    var high = vec4<u32>(0u);
    if i < length {
        low = counts[i];
    }
    if i + 1u < length {
        high = counts[i + 1u];
    }
    if !SUMS_ARE_SCANNED {
        var part = 0u;
        for (var k = local; k < min(block, arrayLength(&sums)); k += SCAN_WORKGROUP) {
            part += sums[k];
        }
        atomicAdd(&sh_before, part);
    }
    // Its barriers also complete sh_before.
    var before = sum_before(total(low) + total(high), local);
    if SUMS_ARE_SCANNED {
        before += sums[min(block, arrayLength(&sums) - 1u)];
    } else {
        before += atomicLoad(&sh_before);
    }
    if i < length {
        counts[i] = prefixes(before, low);
    }
    if i + 1u < length {
        counts[i + 1u] = prefixes(before + total(low), high);
    }
}
