// Sorts the proxies by slot, and copies their values in this order for the stage `pairs`. Twin of
// `src/cpu/scatter.rs`.

#import invocation::{invocation}
#import sorted::{SortedProxy, stored_proxy}
#import spheres::{sphere_at}
#import types::{Binned, Params, Plan, Segment, Sphere, StoredProxy}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> segments: array<Segment>;
@group(0) @binding(3) var<storage, read> plan: Plan;
@group(0) @binding(4) var<storage, read> proxy_cells: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> binned: array<Binned>;
@group(0) @binding(6) var<storage, read> slot_starts: array<u32>;
@group(0) @binding(7) var<storage, read_write> sorted_proxies: array<StoredProxy>;
@group(0) @binding(8) var<storage, read_write> sorted_cells: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let proxy = invocation(workgroup, workgroups, local, WORKGROUP);
    if proxy >= plan.proxies {
        return;
    }
    var i = proxy;
    if proxy >= params.spheres {
        i = segments[proxy - params.spheres].sphere;
    }
    if binned[proxy].slot == NO_SLOT {
        return;
    }
    let sphere = sphere_at(i);
    let to = slot_starts[binned[proxy].slot] + binned[proxy].place;
    sorted_proxies[to] = stored_proxy(SortedProxy(sphere.center, sphere.radius, sphere.velocity, i));
    sorted_cells[to] = proxy_cells[proxy];
}
