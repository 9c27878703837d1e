// Finds the cell and the slot of each proxy, and counts the proxies in every slot. Twin of `src/cpu/bin.rs`.

#import grid::{cell_of, slot_of}
#import invocation::{invocation}
#import segments::{middle, path_of}
#import size_class::{size_class_power}
#import sorted::{stored_cell}
#import spheres::{sphere_at}
#import tag::{make_tag, slab_of}
#import types::{Binned, Counters, Params, Plan, Segment, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> size_class_of_sphere: array<u32>;
@group(0) @binding(3) var<storage, read> segments: array<Segment>;
@group(0) @binding(4) var<storage, read> plan: Plan;
@group(0) @binding(5) var<storage, read_write> proxy_cells: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> binned: array<Binned>;
// The counts of the slots. After the stage `scan`, the first proxy of each.
@group(0) @binding(7) var<storage, read_write> slot_starts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> counters: Counters;

var<workgroup> sh_fullest: atomic<u32>;

fn put(proxy: u32) {
    var part = Segment(proxy, 0u);
    if proxy >= params.spheres {
        part = segments[proxy - params.spheres];
    }
    let size_class = size_class_of_sphere[part.sphere];
    if size_class == NO_SIZE_CLASS {
        binned[proxy].slot = NO_SLOT;
        return;
    }
    let sphere = sphere_at(part.sphere);
    let power = size_class_power(size_class);
    let number = plan.level_of_size_class[size_class];
    let level = plan.level[number];
    let path = path_of(sphere.center, sphere.radius, sphere.velocity, plan.frame);
    let cell = cell_of(level, middle(path, power, part.number));
    let tag = make_tag(number, power, part.number);
    let slot = slot_of(level, cell, slab_of(tag, level.time_power));
    proxy_cells[proxy] = stored_cell(cell, tag);
    let place = atomicAdd(&slot_starts[slot], 1u);
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
    // Only if it changes, because atomic writes to one word of global memory are
    // serialized.
    if local == 0u && atomicLoad(&counters.fullest) < atomicLoad(&sh_fullest) {
        atomicMax(&counters.fullest, atomicLoad(&sh_fullest));
    }
}
