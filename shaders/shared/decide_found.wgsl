// Decides the pairs that `pairs` has found, and lists those that touch or may touch.
// Nothing is read or written as a float.

#import carom::{CAROM_GRAZING}
#import exact_pair::{Displacement, MISS, OPEN, SphereWords, decide}
#import wide_words::{nearest_product}
#needs counters, params, sphere_words

// The bits of the float32 1.
const ONE_BITS = 0x3f800000u;

var<workgroup> sh_kept: atomic<u32>;
var<workgroup> sh_grazing: atomic<u32>;
var<workgroup> sh_kept_base: u32;

fn words_of(sphere: u32) -> SphereWords {
    return SphereWords(sphere_words[2u * sphere], sphere_words[2u * sphere + 1u]);
}

struct Kept {
    pair: vec4<u32>,
    kept: bool,
}

// The bit CAROM_GRAZING marks a pair that may have been found several times, and all
// pairs of a device that is not trusted.
fn decided_pair(found: vec4<u32>, by: Displacement) -> Kept {
    let i = words_of(found.x);
    let j = words_of((found.y & ~CAROM_GRAZING) + params.b_offset);
    let approaching = (params.flags & FLAG_APPROACHING) != 0u;
    let decided = decide(i, j, by, params.given_dt & 0x7fffffffu, approaching);
    var times = vec2<u32>(decided.toi, decided.depth);
    var open = decided.verdict == OPEN;
    // With previous centres, the length of the step has been 1 so far.
    let factor = params.given_times & 0x7fffffffu;
    if factor != ONE_BITS && times.x != 0u {
        let product = nearest_product(times.x, factor);
        open = open || (factor != 0u && (factor < 0x800000u || !product.normal));
        times.x = select(product.bits, 0u, factor == 0u);
    }
    let trusted = (params.flags & FLAG_TRUSTED) != 0u;
    let mark = vec4<u32>(0u, select(CAROM_GRAZING, 0u, trusted), 0u, 0u);
    if open || (!trusted && decided.verdict == MISS) {
        return Kept(found | vec4<u32>(0u, CAROM_GRAZING, 0u, 0u), true);
    }
    return Kept(vec4<u32>(found.xy, times) | mark, decided.verdict != MISS);
}

fn place_of_kept(kept: Kept, local: u32) -> u32 {
    var place = 0u;
    if kept.kept {
        place = atomicAdd(&sh_kept, 1u);
        if (kept.pair.y & CAROM_GRAZING) != 0u {
            atomicAdd(&sh_grazing, 1u);
        }
    }
    workgroupBarrier();
    // Most workgroups have no pairs, and additions to one word wait for one another.
    if local == 0u && atomicLoad(&sh_kept) > 0u {
        sh_kept_base = atomicAdd(&counters.decided, atomicLoad(&sh_kept));
        if atomicLoad(&sh_grazing) > 0u {
            atomicAdd(&counters.grazing, atomicLoad(&sh_grazing));
        }
    }
    return workgroupUniformLoad(&sh_kept_base) + place;
}
