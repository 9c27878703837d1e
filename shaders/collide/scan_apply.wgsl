// Replaces each count in a block of SCAN_BLOCK by the sum of all before it, with all
// earlier blocks. One workgroup per block. Twin of `src/cpu/scan.rs`.

#import scan_block::{sum_before}

@group(0) @binding(0) var<storage, read_write> counts: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> sums: array<u32>;

// If false, there are at most SCAN_BLOCK blocks, and each workgroup adds up the sums
// before its own, which costs less than another dispatch.
override SUMS_ARE_SCANNED: bool = false;

const OWN_VECTORS = SCAN_BLOCK / SCAN_WORKGROUP / 4u;
const_assert OWN_VECTORS == 2u;

var<workgroup> sh_before: atomic<u32>;

fn total(v: vec4<u32>) -> u32 {
    return v.x + v.y + v.z + v.w;
}

fn prefixes(before: u32, v: vec4<u32>) -> vec4<u32> {
    let second = before + v.x;
    let third = second + v.y;
    return vec4<u32>(before, second, third, third + v.z);
}

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    // Surplus workgroups of a dispatch with several rows write nothing.
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
    // The barriers also complete sh_before.
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
