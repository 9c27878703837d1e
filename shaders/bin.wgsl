// Each proxy's cell and slot, and how many proxies a slot holds.
// Twin of `src/cpu/bin.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> bin_of: array<u32>;
@group(0) @binding(3) var<storage, read> segments: array<Segment>;
@group(0) @binding(4) var<storage, read> plan: Plan;
@group(0) @binding(5) var<storage, read_write> cells: array<SortedCell>;
@group(0) @binding(6) var<storage, read_write> binned: array<Binned>;
@group(0) @binding(7) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> counters: Counters;

var<workgroup> sh_fullest: atomic<u32>;

// Gives a proxy its place.
fn put(proxy: u32) {
    var part = Segment(proxy, 0u);
    if proxy >= params.spheres {
        part = segments[proxy - params.spheres];
    }
    let bin = bin_of[part.sphere];
    if bin == NO_BIN {
        binned[proxy].slot = NO_BIN;
        return;
    }
    let sphere = sphere_at(part.sphere);
    let power = (bin >> BIN_BITS) & ((1u << POWER_BITS) - 1u);
    let number = plan.level_of_bin[bin];
    let level = plan.level[number];
    let motion = motion_of(sphere.center, sphere.radius, sphere.velocity, plan.frame);
    let cell = cell_of(level, middle(motion, power, part.number));
    let tag = make_tag(number, power, part.number);
    let slot = slot_of(level, cell, slab_of(tag, level.time_power));
    cells[proxy] = SortedCell(cell, tag);
    let place = atomicAdd(&counts[slot], 1u);
    binned[proxy] = Binned(slot, place);
    if atomicLoad(&sh_fullest) <= place {
        atomicMax(&sh_fullest, place + 1u);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let proxy = invocation(workgroup, workgroups, local, WORKGROUP);
    if proxy < plan.proxies {
        put(proxy);
    }
    workgroupBarrier();
    // A word that would not change is left alone.
    if local == 0u && atomicLoad(&counters.fullest) < atomicLoad(&sh_fullest) {
        atomicMax(&counters.fullest, atomicLoad(&sh_fullest));
    }
}
