// From what is known of each of the sample to the spacing of the spheres, to
// how many others one has near it, and to the frame. One workgroup.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> octaves: array<u32, OCTAVES>;
@group(0) @binding(2) var<storage, read> samples: array<Sampled>;
@group(0) @binding(3) var<storage, read_write> space: Space;

var<workgroup> sh_within: array<u32, OCTAVES>;
// The values to be ranked, and those of the ranks asked for.
var<workgroup> sh_value: array<f32, MOST_SAMPLED>;
var<workgroup> sh_ranked: array<f32, 3>;

// The quantity number `which` of a sphere of the sample.
fn value_of(k: u32, which: u32) -> f32 {
    if which < 3u {
        return samples[k].middle[which];
    }
    if which < 6u {
        return samples[k].velocity[which - 3u];
    }
    return samples[k].log_distance[which - 6u];
}

// Of one quantity of the sample, the values of these ranks. For all invocations
// at once.
fn ranked(which: u32, ranks: vec3<u32>, local: u32) -> vec3<f32> {
    workgroupBarrier();
    for (var k = local; k < params.sample; k += OCTAVES) {
        sh_value[k] = value_of(k, which);
    }
    workgroupBarrier();
    for (var k = local; k < params.sample; k += OCTAVES) {
        var rank = 0u;
        for (var other = 0u; other < params.sample; other++) {
            let before = sh_value[other] < sh_value[k] || (sh_value[other] == sh_value[k] && other < k);
            rank += select(0u, 1u, before);
        }
        for (var asked = 0u; asked < 3u; asked++) {
            if rank == ranks[asked] {
                sh_ranked[asked] = sh_value[k];
            }
        }
    }
    workgroupBarrier();
    return vec3<f32>(sh_ranked[0], sh_ranked[1], sh_ranked[2]);
}

fn log_pairs(pairs: u32, all: u32) -> f32 {
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

@compute @workgroup_size(OCTAVES)
fn main(@builtin(local_invocation_index) local: u32) {
    let middle = params.sample / 2u;
    let out = params.sample / TRIM;
    var low: vec3<f32>;
    var center: vec3<f32>;
    var high: vec3<f32>;
    var drift: vec3<f32>;
    for (var axis = 0u; axis < 3u; axis++) {
        let place = ranked(axis, vec3<u32>(out, middle, params.sample - 1u - out), local);
        low[axis] = place.x;
        center[axis] = place.y;
        high[axis] = place.z;
        drift[axis] = ranked(3u + axis, vec3<u32>(middle), local).x;
    }
    let medians = vec2<f32>(ranked(6u, vec3<u32>(middle), local).x, ranked(7u, vec3<u32>(middle), local).x);

    // All ordered pairs nearer than the upper end of each octave.
    var within = 0u;
    for (var octave = 0u; octave <= local; octave++) {
        within += octaves[octave];
    }
    sh_within[local] = within;
    workgroupBarrier();
    let all = sh_within[OCTAVES - 1u];
    var log_others = -64.0;
    if all > 0u {
        let enough = min(ENOUGH, all);
        var first = 0u;
        while first < OCTAVES - 1u && sh_within[first] < enough {
            first++;
        }
        let at_first = log_pairs(sh_within[first], all);
        if first == 0u {
            // What lies in one place does so at every scale.
            log_others = log_pairs(sh_within[max(local, 1u) - 1u], all);
        } else if local > first {
            log_others = log_pairs(sh_within[local - 1u], all);
        } else {
            let next = log_pairs(sh_within[min(first + 1u, OCTAVES - 1u)], all);
            let slope = clamp(next - at_first, 1.0, 3.0);
            log_others = at_first - slope * f32(first + 1u - local);
        }
    }
    space.log_others[local] = log_others;

    if local == 0u {
        let wider = (high - low) * 0.25;
        // Where the middle was at the start of the step.
        space.frame = Frame(center - drift * (0.5 * params.dt), drift);
        space.trimmed_low = low - wider - center;
        space.trimmed_high = high + wider - center;
        space.spacing = GREATEST;
        if params.sample > 1u {
            let ranks = vec2<f32>(min(vec2<u32>(NEAREST, NEXT_NEAREST), vec2<u32>(params.sample - 1u)));
            // Whether they fill space, a sheet, or a line.
            var dimension = 3.0;
            if medians.y > medians.x {
                dimension = clamp(log2(ranks.y / ranks.x) / (medians.y - medians.x), 1.5, 3.0);
            }
            let others = ranks.x * (f32(params.spheres) / f32(params.sample));
            space.spacing = exp2(min(medians.x + 1.0 - log2(others) / dimension, 127.0));
        }
    }
}
