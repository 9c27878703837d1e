// Estimates from a sample how the spheres are distributed: the number of neighbours of a sphere within each
// distance (the correlation curve), the origin of the grids, which moves as most spheres do (the frame), and
// the box that holds most spheres (the trimmed box). Also chooses the length limit of the time segments of
// fast spheres. Dispatched as one workgroup. Twin of `src/cpu/measure/curve.rs` and
// `src/cpu/measure/segment_length.rs`.

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

// Expected cost of the searches in a step, if time segments have a certain length.
struct Cost {
    // Number of time segments.
    segments: f32,
    // Cost of all searches, if time segments and uncut spheres are in one grid, with cells as wide as
    // the segments.
    in_cells: f32,
    // Change of the cost of all searches if uncut spheres (too slow to be cut into time segments) get a
    // separate grid with small cells. The value here is for a step in which all spheres are uncut.
    // total_cost() multiplies it by the fraction of spheres that are uncut.
    reached: f32,
}

// Number of an octave: a range of distances whose ends differ by a factor of 2. It is the lowest octave such
// that at least MIN_COUNTED_PAIRS pairs of sampled spheres are no farther apart than its upper end. At
// shorter distances, the number of neighbours is extrapolated.
var<workgroup> sh_first: u32;
var<workgroup> sh_cut: array<Extent, MAX_WEIGHED>;
// Expected cost of each possible length of time segments. For each length, PARTS invocations first compute
// parts of the cost, which are then added.
var<workgroup> sh_cost: array<Cost, SEGMENT_LENGTHS * PARTS>;
var<workgroup> sh_cost_of: array<f32, SEGMENT_LENGTHS>;

// Returns log2 of the mean number of other spheres within a certain distance of a sphere. It is estimated from
// the sampled spheres: `all` is the number of their ordered pairs, and `pairs` the number of those that are at
// most this distance apart.
fn log_pairs(pairs: u32, all: u32) -> f32 {
    return log2(f32(pairs) / f32(all) * f32(params.spheres));
}

// Returns log2 of the mean number of other spheres within a certain distance of a sphere. An octave is a
// range of distances in which the distance doubles. The certain distance is the lower end of octave number
// `octave`. The estimate uses the ordered pairs of sampled spheres. There are `all` such pairs. In sh_sums[k]
// of these pairs, the two spheres are nearer to each other than the upper end of octave k.
fn log_others_at(octave: u32, all: u32) -> f32 {
    if all == 0u {
        return LOG_OF_NONE;
    }
    let first = sh_first;
    let at_first = log_pairs(sh_sums[first], all);
    if first == 0u {
        // If the lowest octave, with the shortest distances, contains many pairs of sampled spheres,
        // many spheres coincide. Coinciding spheres are neighbours at any distance. So in this case, the
        // mean number of neighbours is not extrapolated to lower values at shorter distances.
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

// The box from `low` to `high` holds most sampled spheres but no far outliers. `center` is the median of
// the sample in each coordinate. These three points are absolute positions half-way through the step.
// `frame` is the moving origin from which grid cells are counted. It is at `center` half-way through the
// step, and moves with the median velocity of the sample.
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

// Returns the spacing of the spheres: the edge of a cube that contains about one sphere. It is computed
// from the sample: from the median distances of a sphere to its NEAR_RANK-th and its FAR_RANK-th nearest
// sampled neighbour.
fn spacing() -> f32 {
    if params.sample <= 1u {
        return GREATEST;
    }
    let medians = vec2<f32>(ranks[6].median, ranks[7].median);
    let nearest = vec2<f32>(min(vec2<u32>(NEAR_RANK, FAR_RANK), vec2<u32>(params.sample - 1u)));
    // Dimension of the region that the neighbours of a sphere fill: about 3 for a volume, 2 for a sheet.
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

// Returns candidate k for the length of time segments. Each candidate is twice the previous one, except the
// last, which is so great that no sphere is cut.
fn length_of(k: u32, shortest: f32) -> f32 {
    return select(shortest * exp2(f32(k)), GREATEST, k == SEGMENT_LENGTHS - 1u);
}

// Returns the extent of the path of sampled sphere k: the lengths that determine how the path is cut into
// time segments. The function takes the sphere's position half-way through the step as the start of the path,
// instead of the true start. This changes only a margin for rounding errors.
fn sampled_extent(k: u32, frame: Frame) -> Extent {
    let sampled = samples[k];
    return extent_of(path_of(sampled.middle, sampled.radius, sampled.velocity, frame));
}

// The choice of the sampled spheres that are used to compare the costs of different lengths of time segments.
struct Cut {
    // Number of sampled spheres whose paths are cut if time segments have the shortest allowed length.
    all: u32,
    // Number of these spheres that are used.
    weighed: u32,
    // Every `each`-th of these spheres is used.
    each: u32,
}

// Fills the array sh_cut with the extents of those sampled paths that are cut at the shortest allowed length
// of time segments. A path that is not cut at this length is not cut at a greater length either. The extent
// of a path consists of the lengths that determine how the path is cut.
fn gather_cut(frame: Frame, shortest: f32, local: u32) -> Cut {
    let each_sampled = (params.sample + OCTAVES - 1u) / OCTAVES;
    let first_sampled = min(local * each_sampled, params.sample);
    let end_sampled = min(first_sampled + each_sampled, params.sample);
    var own_cut = 0u;
    for (var k = first_sampled; k < end_sampled; k++) {
        own_cut += select(0u, 1u, segments_power(sampled_extent(k, frame), shortest) > 0u);
    }
    // This barrier is necessary because sum_before() overwrites sh_sums, which other invocations may still be
    // reading.
    workgroupBarrier();
    var place = sum_before(own_cut, local);
    workgroupBarrier();
    let all = sh_sums[OCTAVES - 1u];
    // `all` is the number of sampled paths that are cut if time segments have the shortest allowed length.
    // The array sh_cut has room for the extents of MAX_WEIGHED paths. If `all` is greater, only the extent of
    // every `each`-th path is stored.
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

// Returns the expected cost of the searches for some of the paths in the array sh_cut: path number
// `part` and every PARTS-th path after it. The array holds the sampled paths that may be cut into time
// segments. Each path is cut so that no segment is longer than `length` or the diameter of its sphere,
// whichever is greater.
fn cost_of_cutting(weighed: u32, part: u32, length: f32) -> Cost {
    let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
    let all = f32(params.spheres);
    let least = cell_edge(all, 0.0);
    var cost = Cost(0.0, 0.0, 0.0);
    for (var k = part; k < weighed; k += PARTS) {
        let power = segments_power(sh_cut[k], length);
        let half_cell = half_cell_of(sh_cut[k], power);
        // The smallest possible cell edge, `least`, is computed once, before the loop. cell_edge()
        // would compute it again for every path.
        let cell = edge_at_least(least, half_cell);
        let in_cells = 0.5 * others(all, 1.5 * cell);
        // Expected number of spheres that a time segment finds in a separate grid with small cells, if this
        // grid holds all spheres. The segment searches cells up to one cell edge beyond its own box.
        // `reached` is not halved, because every segment searches for all spheres near it. `in_cells` is
        // halved, because only one of two objects in the same grid searches for the other.
        let reached = others(all, half_cell + least);
        let segments = f32(1u << power);
        cost.segments += segments;
        cost.in_cells += segments * (searches + in_cells);
        cost.reached += segments * (reached - in_cells);
    }
    return cost;
}

// Returns the expected cost of all searches for the sampled paths if time segments have the candidate length
// number `length`. If there are fewer segments than uncut spheres (too slow to be cut), this function assumes
// a separate grid with small cells for the uncut spheres. A segment then finds only the uncut spheres near
// it. Otherwise, this function assumes that segments and uncut spheres share one grid, with cells as wide as
// the segments.
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

// Returns in invocation 0 which of the possible lengths of time segments has the least expected cost.
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
    // Chooses the length of time segments. The shortest allowed length is the spacing of the spheres. A
    // greater length gives fewer segments and so fewer searches, but larger cells, so the length with the
    // least cost is chosen.
    let shortest = shortest_length(trimmed);
    let cut = gather_cut(trimmed.frame, shortest, local);
    workgroupBarrier();
    let best = weigh_lengths(cut, shortest, local);
    if local == 0u {
        // If no sampled path is cut even with the shortest allowed length of time segments, few paths of the
        // step are cut. Then there are no costs from which to choose a length, and twice the shortest length
        // is taken.
        space.segment = select(length_of(best, shortest), 2.0 * min(shortest, 0.5 * GREATEST), cut.all == 0u);
    }
}
