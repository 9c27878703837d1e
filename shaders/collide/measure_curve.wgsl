// Estimates from the sample the correlation curve, the frame, the trimmed box, and the
// length limit of time segments. Dispatched as one workgroup. Twin of
// `src/cpu/measure/curve.rs` and `src/cpu/measure/segment_length.rs`.

#import scan_block::{sh_sums, sum_before}
#import segments::{Extent, extent_of, half_cell_of, largest, path_of, segments_power}
#import space::{cell_edge, edge_at_least, others, sh_log_others}
#import types::{Frame, Params, Ranks, Sampled, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> octaves: array<u32, OCTAVES>;
@group(0) @binding(2) var<storage, read> ranks: array<Ranks, QUANTITIES>;
@group(0) @binding(3) var<storage, read> samples: array<Sampled>;
@group(0) @binding(4) var<storage, read_write> space: Space;

const PARTS = 8u;
const_assert SEGMENT_LENGTHS * PARTS <= OCTAVES;

struct Cost {
    // Number of time segments.
    segments: f32,
    // If segments and uncut spheres share a level, with cells as wide as the segments.
    in_cells: f32,
    // Change of this cost if all spheres are uncut and have a level of their own,
    // with small cells. total_cost() multiplies it by the fraction of uncut
    // spheres.
    reached: f32,
}

// The lowest octave up to which there are at least MIN_COUNTED_PAIRS pairs. At shorter
// distances, the number of neighbours is extrapolated.
var<workgroup> sh_first: u32;
var<workgroup> sh_cut: array<Extent, MAX_WEIGHED>;
// For each candidate length, in PARTS parts, which are then added.
var<workgroup> sh_cost: array<Cost, SEGMENT_LENGTHS * PARTS>;
var<workgroup> sh_cost_of: array<f32, SEGMENT_LENGTHS>;

// log2 of the mean number of others within a distance, if `pairs` of the `all` ordered
// pairs are.
fn log_pairs(pairs: u32, all: u32) -> f32 {
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

// As log_pairs(), at the lower end of an octave. sh_sums[k] pairs are below the upper
// end of octave k.
fn log_others_at(octave: u32, all: u32) -> f32 {
    if all == 0u {
        return LOG_OF_NONE;
    }
    let first = sh_first;
    let at_first = log_pairs(sh_sums[first], all);
    if first == 0u {
        // Spheres that coincide are neighbours at any distance, so their number
        // is not extrapolated to lower values.
        return log_pairs(sh_sums[max(octave, 1u) - 1u], all);
    }
    if octave > first {
        return log_pairs(sh_sums[octave - 1u], all);
    }
    let next = log_pairs(sh_sums[min(first + 1u, OCTAVES - 1u)], all);
    let slope = clamp(next - at_first, MIN_SLOPE, MAX_DIMENSION);
    return at_first - slope * f32(first + 1u - octave);
}

fn write_curve(octave: u32) {
    let own = octaves[octave];
    let before = sum_before(own, octave);
    workgroupBarrier();
    let all = sh_sums[OCTAVES - 1u];
    let enough = min(MIN_COUNTED_PAIRS, all);
    if before < enough && before + own >= enough {
        sh_first = octave;
    }
    workgroupBarrier();
    let log_others = log_others_at(octave, all);
    sh_log_others[octave] = log_others;
    space.log_others[octave] = log_others;
}

// `low` and `high`: corners of the trimmed box. `center`: the median of the sample.
// These are absolute positions half-way through the step. `frame` is at `center` then,
// and moves with the median velocity.
struct Trimmed {
    low: vec3<f32>,
    high: vec3<f32>,
    center: vec3<f32>,
    frame: Frame,
}

fn trimmed_box() -> Trimmed {
    let low = vec3<f32>(ranks[0].low, ranks[1].low, ranks[2].low);
    let center = vec3<f32>(ranks[0].median, ranks[1].median, ranks[2].median);
    let high = vec3<f32>(ranks[0].high, ranks[1].high, ranks[2].high);
    let drift = vec3<f32>(ranks[3].median, ranks[4].median, ranks[5].median);
    return Trimmed(low, high, center, Frame(center - drift * (0.5 * params.dt), drift));
}

fn wider(trimmed: Trimmed) -> vec3<f32> {
    return (trimmed.high - trimmed.low) * TRIM_MARGIN;
}

fn write_frame(trimmed: Trimmed) {
    space.frame = trimmed.frame;
    space.trimmed_low = trimmed.low - wider(trimmed) - trimmed.center;
    space.trimmed_high = trimmed.high + wider(trimmed) - trimmed.center;
}

// From the median distances to the NEAR_RANK-th and the FAR_RANK-th nearest neighbour.
fn spacing() -> f32 {
    if params.sample <= 1u {
        return GREATEST;
    }
    let medians = vec2<f32>(ranks[6].median, ranks[7].median);
    let nearest = vec2<f32>(min(vec2<u32>(NEAR_RANK, FAR_RANK), vec2<u32>(params.sample - 1u)));
    // Of the region that neighbours fill: about 3 for a volume, 2 for a sheet.
    var dimension = MAX_DIMENSION;
    if medians.y > medians.x {
        dimension = clamp(log2(nearest.y / nearest.x) / (medians.y - medians.x), MIN_DIMENSION, MAX_DIMENSION);
    }
    let nearer = nearest.x * (f32(params.spheres) / f32(params.sample));
    return exp2(min(medians.x + 1.0 - log2(nearer) / dimension, 127.0));
}

fn shortest_length(trimmed: Trimmed) -> f32 {
    let extent = largest(trimmed.high - trimmed.low + 2.0 * wider(trimmed));
    return max(max(spacing(), extent * MIN_SEGMENT_PER_EXTENT), SMALLEST_CELL);
}

// Twice the previous one, except the last, with which no sphere is cut.
fn length_of(k: u32, shortest: f32) -> f32 {
    return select(shortest * exp2(f32(k)), GREATEST, k == SEGMENT_LENGTHS - 1u);
}

// Takes the position half-way through the step as the start of the path, which changes
// only a margin for rounding errors.
fn sampled_extent(k: u32, frame: Frame) -> Extent {
    let sampled = samples[k];
    return extent_of(path_of(sampled.middle, sampled.radius, sampled.velocity, frame));
}

struct Cut {
    // Cut at the shortest allowed length.
    all: u32,
    // Every `each`-th of them is used.
    weighed: u32,
    each: u32,
}

// No other path is cut at a greater length.
fn gather_cut(frame: Frame, shortest: f32, local: u32) -> Cut {
    let each_sampled = (params.sample + OCTAVES - 1u) / OCTAVES;
    let first_sampled = min(local * each_sampled, params.sample);
    let end_sampled = min(first_sampled + each_sampled, params.sample);
    var own_cut = 0u;
    for (var k = first_sampled; k < end_sampled; k++) {
        own_cut += select(0u, 1u, segments_power(sampled_extent(k, frame), shortest) > 0u);
    }
    // Other invocations may still be reading sh_sums.
    workgroupBarrier();
    var place = sum_before(own_cut, local);
    workgroupBarrier();
    let all = sh_sums[OCTAVES - 1u];
    let each = max((all + MAX_WEIGHED - 1u) / MAX_WEIGHED, 1u);
    for (var k = first_sampled; k < end_sampled; k++) {
        let extent = sampled_extent(k, frame);
        if segments_power(extent, shortest) > 0u {
            if place % each == 0u {
                sh_cut[place / each] = extent;
            }
            place++;
        }
    }
    return Cut(all, (all + each - 1u) / each, each);
}

// Returns the expected cost for path number `part` and every PARTS-th after it.
fn cost_of_cutting(weighed: u32, part: u32, length: f32) -> Cost {
    let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
    let all = f32(params.spheres);
    let least = cell_edge(all, 0.0);
    var cost = Cost(0.0, 0.0, 0.0);
    for (var k = part; k < weighed; k += PARTS) {
        let power = segments_power(sh_cut[k], length);
        let half_cell = half_cell_of(sh_cut[k], power);
        // cell_edge() would compute it again for every path.
        let cell = edge_at_least(least, half_cell);
        let in_cells = 0.5 * others(all, 1.5 * cell);
        // A segment searches cells up to one edge beyond its own box. `reached`
        // is not halved, because every segment searches for all spheres near
        // it; `in_cells` is, because only one of two proxies in a level
        // searches for the other.
        let reached = others(all, half_cell + least);
        let segments = f32(1u << power);
        cost.segments += segments;
        cost.in_cells += segments * (searches + in_cells);
        cost.reached += segments * (reached - in_cells);
    }
    return cost;
}

// Returns the expected cost for candidate length `length`. If segments are fewer, uncut
// spheres are assumed to have a level of their own, with small cells. Otherwise, both
// share one with cells as wide as the segments.
fn total_cost(length: u32, cut: Cut) -> f32 {
    var sum = Cost(0.0, 0.0, 0.0);
    for (var part = 0u; part < PARTS; part++) {
        let cost = sh_cost[length * PARTS + part];
        sum.segments += cost.segments;
        sum.in_cells += cost.in_cells;
        sum.reached += cost.reached;
    }
    let uncut = f32(params.sample - cut.all);
    let are_few = sum.segments * f32(cut.each) < uncut;
    return sum.in_cells + select(0.0, uncut / f32(params.sample), are_few) * sum.reached;
}

// In invocation 0: the candidate with the least cost.
fn weigh_lengths(cut: Cut, shortest: f32, local: u32) -> u32 {
    if local < SEGMENT_LENGTHS * PARTS {
        sh_cost[local] = cost_of_cutting(cut.weighed, local % PARTS, length_of(local / PARTS, shortest));
    }
    workgroupBarrier();
    if local < SEGMENT_LENGTHS {
        sh_cost_of[local] = total_cost(local, cut);
    }
    workgroupBarrier();
    var best = 0u;
    if local == 0u {
        for (var k = 1u; k < SEGMENT_LENGTHS; k++) {
            if sh_cost_of[k] < sh_cost_of[best] {
                best = k;
            }
        }
    }
    return best;
}

@compute @workgroup_size(OCTAVES)
fn main(@builtin(local_invocation_index) local: u32) {
    write_curve(local);
    let trimmed = trimmed_box();
    if local == 0u {
        write_frame(trimmed);
    }
    // The spacing. A greater length gives fewer searches, but larger cells.
    let shortest = shortest_length(trimmed);
    let cut = gather_cut(trimmed.frame, shortest, local);
    workgroupBarrier();
    let best = weigh_lengths(cut, shortest, local);
    if local == 0u {
        // Twice the shortest length if it cuts no sampled path: few are cut,
        // and there are no costs to choose from.
        space.segment = select(length_of(best, shortest), 2.0 * min(shortest, 0.5 * GREATEST), cut.all == 0u);
    }
}
