// From the pairs of the sample by distance to how many others a sphere has near
// it, and to the spacing of the spheres. One workgroup.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> octaves: array<u32, OCTAVES>;
@group(0) @binding(2) var<storage, read_write> space: Space;

var<workgroup> sh_within: array<u32, OCTAVES>;

fn log_pairs(pairs: u32) -> f32 {
    let all = params.sample * (params.sample - 1u);
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

@compute @workgroup_size(OCTAVES)
fn main(@builtin(local_invocation_index) local: u32) {
    // Pairs nearer than each octave's upper end.
    var within = 0u;
    for (var octave = 0u; octave <= local; octave++) {
        within += octaves[octave];
    }
    sh_within[local] = within;
    workgroupBarrier();
    let all = params.sample * (params.sample - 1u);
    var log_others = -64.0;
    if all > 0u {
        let enough = min(ENOUGH, all);
        var first = 0u;
        while first < OCTAVES - 1u && sh_within[first] < enough {
            first++;
        }
        let at_first = log_pairs(sh_within[first]);
        if first == 0u {
            // What lies in one place is so at every scale.
            log_others = log_pairs(sh_within[max(local, 1u) - 1u]);
        } else if local > first {
            log_others = log_pairs(sh_within[local - 1u]);
        } else {
            let slope = clamp(log_pairs(sh_within[min(first + 1u, OCTAVES - 1u)]) - at_first, 1.0, 3.0);
            log_others = at_first - slope * f32(first + 1u - local);
        }
    }
    space.log_others[local] = log_others;
    storageBarrier();
    if local == 0u {
        let wider = (space.trimmed_high - space.trimmed_low) * 0.25;
        space.trimmed_low -= wider;
        space.trimmed_high += wider;
        space.spacing = spacing_of(f32(params.spheres));
    }
}
