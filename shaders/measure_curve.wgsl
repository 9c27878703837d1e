// From what is known of the sample to how long segments should be, to how many
// others one has near it, and to the frame. One workgroup.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> octaves: array<u32, OCTAVES>;
@group(0) @binding(2) var<storage, read> ranked: array<vec4<f32>, QUANTITIES>;
@group(0) @binding(3) var<storage, read> samples: array<Sampled>;
@group(0) @binding(4) var<storage, read_write> space: Space;

var<workgroup> sh_within: array<u32, OCTAVES>;
var<workgroup> sh_cost: array<f32, LENGTHS>;
fn log_pairs(pairs: u32, all: u32) -> f32 {
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

// What it is expected to cost when spheres are cut so that each segment is
// within this length: that of some of the sample.
fn cost_of_cutting(frame: Frame, length: f32) -> f32 {
    let looks = (OWN_RANGES + COARSER_RANGES) * LOOK;
    let all = f32(params.spheres);
    let step = (params.sample + WEIGHED - 1u) / WEIGHED;
    var cost = 0.0;
    for (var k = 0u; k < params.sample; k += step) {
        let motion = motion_of(samples[k].middle, samples[k].radius, samples[k].velocity, frame);
        let size = segment_size(motion, segments_power(motion, length));
        let tests = 0.5 * others(all, 1.5 * cell_edge(all, size.half_cell));
        cost += f32(1u << size.power) * (looks + tests);
    }
    return cost;
}

@compute @workgroup_size(OCTAVES)
fn main(@builtin(local_invocation_index) local: u32) {
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

    // The lowest that counts, the median and the highest that counts, of each
    // quantity.
    let low = vec3<f32>(ranked[0].x, ranked[1].x, ranked[2].x);
    let center = vec3<f32>(ranked[0].y, ranked[1].y, ranked[2].y);
    let high = vec3<f32>(ranked[0].z, ranked[1].z, ranked[2].z);
    let drift = vec3<f32>(ranked[3].y, ranked[4].y, ranked[5].y);
    let medians = vec2<f32>(ranked[6].y, ranked[7].y);
    let wider = (high - low) * 0.25;
    // Where the middle was at the start of the step.
    let frame = Frame(center - drift * (0.5 * params.dt), drift);
    if local == 0u {
        space.frame = frame;
        space.trimmed_low = low - wider - center;
        space.trimmed_high = high + wider - center;
    }
    storageBarrier();
    workgroupBarrier();

    // Edge of the cube that a sphere has to itself.
    var spacing = GREATEST;
    if params.sample > 1u {
        let ranks = vec2<f32>(min(vec2<u32>(NEAREST, NEXT_NEAREST), vec2<u32>(params.sample - 1u)));
        // Whether they fill space, a sheet, or a line.
        var dimension = 3.0;
        if medians.y > medians.x {
            dimension = clamp(log2(ranks.y / ranks.x) / (medians.y - medians.x), 1.5, 3.0);
        }
        let others = ranks.x * (f32(params.spheres) / f32(params.sample));
        spacing = exp2(min(medians.x + 1.0 - log2(others) / dimension, 127.0));
    }
    // The length of segments that is expected to cost least: the spacing, or
    // where that would make more segments than they save tests, more. The last
    // does not cut at all.
    let extent = largest(high - low + 2.0 * wider);
    let shortest = max(max(spacing, extent * SHORTEST), SMALLEST_CELL);
    if local < LENGTHS {
        let length = select(shortest * exp2(f32(local)), GREATEST, local == LENGTHS - 1u);
        sh_cost[local] = cost_of_cutting(frame, length);
    }
    workgroupBarrier();
    if local == 0u {
        var best = 0u;
        for (var k = 1u; k < LENGTHS; k++) {
            if sh_cost[k] < sh_cost[best] {
                best = k;
            }
        }
        space.segment = select(shortest * exp2(f32(best)), GREATEST, best == LENGTHS - 1u);
    }
}
