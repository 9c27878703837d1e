// Tests the entries of a periodic domain against one another, and lists the pairs that
// touch, for `pair_images.wgsl`. Twin of `src/cpu/pairs` and `src/cpu/images/space.rs`.

#import carom::{CaromCollision, carom_image}
#import filter::{Filtered, filter_motion, sum}
#import found_pairs::{list_staged, report}
#import groups::{ignore_each_other}
#import invocation::{invocation}
#import lattice::{displacement, length_bound}
#import opaque::{opaque, opaque3}
#import search::{Searcher, search_all}
#import sorted::{proxy_of, tag_of_stored}
#import spheres::{sphere_at}
#import tag::{segment_of}
#import types::{Counters, Entry, Lattice, Params, Plan, Sphere, StoredProxy}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> lattice: Lattice;
@group(0) @binding(2) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read> plan: Plan;
@group(0) @binding(4) var<storage, read> slot_starts: array<u32>;
@group(0) @binding(5) var<storage, read> sorted_proxies: array<StoredProxy>;
@group(0) @binding(6) var<storage, read> sorted_cells: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read> entries: array<Entry>;
@group(0) @binding(8) var<storage, read_write> counters: Counters;
@group(0) @binding(9) var<storage, read_write> pairs: array<CaromCollision>;

fn sphere_of(entry: Entry) -> u32 {
    return entry.sphere_and_several & ~SEVERAL_IMAGES;
}

// Whether several images of the segment are entries. A later segment with one image may
// share the `Entry` of the first, whose bit SEVERAL_IMAGES does not describe it.
fn is_one_of_several(entry: Entry, index: u32, tag: u32) -> bool {
    let own = index >= params.spheres || segment_of(tag) == 0u;
    return own && (entry.sphere_and_several & SEVERAL_IMAGES) != 0u;
}

// Whether this copy of a pair reports it: the lower corner of the overlap of the two
// boxes is in the cell for only one copy.
fn is_in_cell(one: Entry, other: Entry) -> bool {
    let x = max(one.low[0], other.low[0]);
    let y = max(one.low[1], other.low[1]);
    let z = max(one.low[2], other.low[2]);
    return all((vec3<i32>(x, y, z) >> vec3<u32>(FRACTION_BITS)) == vec3<i32>(0));
}

fn filter_images(i: Sphere, j: Sphere, image: vec3<i32>) -> Filtered {
    let apart = opaque3(j.center - i.center);
    let p = opaque3(apart + displacement(image));
    let v = opaque3(j.velocity - i.velocity);
    let r = opaque(j.radius + i.radius);
    var distance = sum(abs(p));
    if any(image != vec3<i32>(0)) {
        // `distance` is a sum over three axes, length_bound() for one.
        distance = AWAY * (sum(abs(apart)) + 3.0 * length_bound(image));
    }
    return filter_motion(p, v, r, distance, params.dt);
}

fn filter_and_report(searcher: Searcher, place: u32) {
    let i = proxy_of(sorted_proxies[searcher.index ^ params.zero]).sphere;
    let j = proxy_of(sorted_proxies[place]).sphere;
    let tag_i = searcher.tag;
    let tag_j = tag_of_stored(sorted_cells[place]);
    let one = entries[i];
    let other = entries[j];
    let image = carom_image(other.image) - carom_image(one.image);
    let a = sphere_of(one);
    let b = sphere_of(other);
    if a == b && all(image == vec3<i32>(0)) {
        return;
    }
    if is_one_of_several(one, i, tag_i) && is_one_of_several(other, j, tag_j) && !is_in_cell(one, other) {
        return;
    }
    let s = filter_images(sphere_at(a), sphere_at(b), image);
    if s.margin < -s.bound || ignore_each_other(spheres[a].groups, spheres[b].groups) {
        return;
    }
    report(s, i, j, tag_i, tag_j);
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
