// Tests every proxy against the proxies near it, and lists the pairs that touch. `pairs_periodic.wgsl` does
// the same in a periodic domain. Twin of `src/cpu/pairs`.

#import carom::{CaromCollision}
#import filter::{filter_pair}
#import found_pairs::{list_staged, report}
#import groups::{ignore_each_other}
#import invocation::{invocation}
#import search::{Searcher, search_all}
#import sorted::{proxy_of, tag_of_stored}
#import types::{Counters, Params, Plan, Sphere, StoredProxy}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> plan: Plan;
@group(0) @binding(3) var<storage, read> slot_starts: array<u32>;
@group(0) @binding(4) var<storage, read> sorted_proxies: array<StoredProxy>;
@group(0) @binding(5) var<storage, read> sorted_cells: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;
@group(0) @binding(7) var<storage, read_write> pairs: array<CaromCollision>;

// Adds a candidate to the list unless it is a certain miss, is left out by groups, or
// is two segments of one sphere.
fn filter_and_report(searcher: Searcher, place: u32) {
    // The XOR with 0, which the compiler does not know, makes it load the sphere
    // again, which costs less than to keep it in registers.
    let proxy = proxy_of(sorted_proxies[searcher.index ^ params.zero]);
    let candidate = proxy_of(sorted_proxies[place]);
    let s = filter_pair(proxy, candidate, params.dt);
    if s.margin < -s.bound {
        return;
    }
    let a = min(proxy.sphere, candidate.sphere);
    let b = max(proxy.sphere, candidate.sphere);
    if a == b || ignore_each_other(spheres[a].groups, spheres[b].groups) {
        return;
    }
    report(s, a, b - params.b_offset, searcher.tag, tag_of_stored(sorted_cells[place]));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    search_all(invocation(workgroup, workgroups, local, WORKGROUP), local);
    // At most one pair for each call. Not in a loop, because some drivers end long
    // loops early.
    list_staged(local);
    list_staged(local + WORKGROUP);
}
