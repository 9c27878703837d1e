// From what is known of the sample to how long segments should be, to how many
// others one has near it, and to the frame. One workgroup.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> octaves: array<u32, OCTAVES>;
@group(0) @binding(2) var<storage, read> ranked: array<array<f32, 4>, QUANTITIES>;
@group(0) @binding(3) var<storage, read> samples: array<Sampled>;
@group(0) @binding(4) var<storage, read_write> space: Space;

// So many invocations share the cost of one length.
const PARTS = 8u;
const_assert LENGTHS * PARTS <= OCTAVES;

var<workgroup> sh_first: u32;
var<workgroup> sh_motion: array<Motion, WEIGHED>;
var<workgroup> sh_cost: array<f32, LENGTHS * PARTS>;
var<workgroup> sh_cost_of: array<f32, LENGTHS>;

fn log_pairs(pairs: u32, all: u32) -> f32 {
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

// The length number k: an octave above the one before, and the last is one that
// does not cut at all.
fn length_of(k: u32, shortest: f32) -> f32 {
    return select(shortest * exp2(f32(k)), GREATEST, k == LENGTHS - 1u);
}

fn sampled_motion(k: u32, frame: Frame) -> Motion {
    let sampled = samples[k];
    return motion_of(sampled.middle, sampled.radius, sampled.velocity, frame);
}

// What it is expected to cost when each segment is within this length: that of a part
// of some spheres that stand for all that would be cut. Unlike on the CPU, no segment
// looks for what is not cut, be they few.
fn cost_of_cutting(some: u32, part: u32, length: f32) -> f32 {
    let looks = (OWN_RANGES + COARSER_RANGES) * LOOK;
    let all = f32(params.spheres);
    let least = cell_edge(all, 0.0);
    var cost = 0.0;
    for (var k = part; k < some; k += PARTS) {
        let power = segments_power(sh_motion[k], length);
        // As cell_edge(), without searching the same curve each time.
        let cell = edge_at_least(least, half_cell_of(sh_motion[k], power));
        cost += f32(1u << power) * (looks + 0.5 * others(all, 1.5 * cell));
    }
    return cost;
}

@compute @workgroup_size(OCTAVES)
fn main(@builtin(local_invocation_index) local: u32) {
    // All ordered pairs nearer than the upper end of each octave: from here on in
    // sh_sums.
    let own = octaves[local];
    let before = sum_before(own, local);
    workgroupBarrier();
    let all = sh_sums[OCTAVES - 1u];
    let enough = min(ENOUGH, all);
    if before < enough && before + own >= enough {
        sh_first = local;
    }
    workgroupBarrier();
    var log_others = -64.0;
    if all > 0u {
        let first = sh_first;
        let at_first = log_pairs(sh_sums[first], all);
        if first == 0u {
            // What lies in one place does so at every scale.
            log_others = log_pairs(sh_sums[max(local, 1u) - 1u], all);
        } else if local > first {
            log_others = log_pairs(sh_sums[local - 1u], all);
        } else {
            let next = log_pairs(sh_sums[min(first + 1u, OCTAVES - 1u)], all);
            let slope = clamp(next - at_first, 1.0, 3.0);
            log_others = at_first - slope * f32(first + 1u - local);
        }
    }
    sh_log_others[local] = log_others;
    space.log_others[local] = log_others;

    // The lowest that counts, the median and the highest that counts, of each
    // quantity.
    let low = vec3<f32>(ranked[0][0], ranked[1][0], ranked[2][0]);
    let center = vec3<f32>(ranked[0][1], ranked[1][1], ranked[2][1]);
    let high = vec3<f32>(ranked[0][2], ranked[1][2], ranked[2][2]);
    let drift = vec3<f32>(ranked[3][1], ranked[4][1], ranked[5][1]);
    let medians = vec2<f32>(ranked[6][1], ranked[7][1]);
    let wider = (high - low) * 0.25;
    // Where the middle was at the start of the step.
    let frame = Frame(center - drift * (0.5 * params.dt), drift);
    if local == 0u {
        space.frame = frame;
        space.trimmed_low = low - wider - center;
        space.trimmed_high = high + wider - center;
    }
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
    // where that would make more segments than they save tests, more.
    let extent = largest(high - low + 2.0 * wider);
    let shortest = max(max(spacing, extent * SHORTEST), SMALLEST_CELL);
    // Those that would be cut: the others cost the same, whatever the length.
    let each_sampled = (params.sample + OCTAVES - 1u) / OCTAVES;
    let first_sampled = min(local * each_sampled, params.sample);
    let end_sampled = min(first_sampled + each_sampled, params.sample);
    var own_cut = 0u;
    for (var k = first_sampled; k < end_sampled; k++) {
        own_cut += select(0u, 1u, segments_power(sampled_motion(k, frame), shortest) > 0u);
    }
    workgroupBarrier();
    var place = sum_before(own_cut, local);
    workgroupBarrier();
    let cut = sh_sums[OCTAVES - 1u];
    // Some of them, if they are many.
    let each = max((cut + WEIGHED - 1u) / WEIGHED, 1u);
    let some = (cut + each - 1u) / each;
    for (var k = first_sampled; k < end_sampled; k++) {
        let motion = sampled_motion(k, frame);
        if segments_power(motion, shortest) > 0u {
            if place % each == 0u {
                sh_motion[place / each] = motion;
            }
            place++;
        }
    }
    workgroupBarrier();
    if local < LENGTHS * PARTS {
        sh_cost[local] = cost_of_cutting(some, local % PARTS, length_of(local / PARTS, shortest));
    }
    workgroupBarrier();
    if local < LENGTHS {
        var cost = 0.0;
        for (var part = 0u; part < PARTS; part++) {
            cost += sh_cost[local * PARTS + part];
        }
        sh_cost_of[local] = cost;
    }
    workgroupBarrier();
    if local == 0u {
        var best = 0u;
        for (var k = 1u; k < LENGTHS; k++) {
            if sh_cost_of[k] < sh_cost_of[best] {
                best = k;
            }
        }
        // What is cut though none of the sample is, is rare: this is what costs it least.
        space.segment = select(length_of(best, shortest), 2.0 * min(shortest, 0.5 * GREATEST), cut == 0u);
    }
}
