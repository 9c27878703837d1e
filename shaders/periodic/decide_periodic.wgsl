// As `decide.wgsl`, for a periodic domain: the second sphere of each pair is displaced.

#import carom::{carom_image}
#import decide_found::{Kept, decided_pair, place_of_kept}
#import exact_pair::{Displacement}
#import found_count::{found_count}
#import invocation::{invocation}
#import types::{Counters, Lattice, Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> given_lattice: Lattice;
@group(0) @binding(2) var<storage, read> sphere_words: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> found_bits: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> found_images: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: Counters;
@group(0) @binding(6) var<storage, read_write> decided_bits: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> pair_images: array<u32>;

fn displacement_of(word: u32) -> Displacement {
    let image = carom_image(word);
    let used = image != vec3<i32>(0);
    let none = vec3<u32>(0u);
    let x = given_lattice.given_edges[0].xyz;
    let y = given_lattice.given_edges[1].xyz;
    let z = given_lattice.given_edges[2].xyz;
    return Displacement(select(none, x, used), select(none, y, used), select(none, z, used), image);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    var kept = Kept(vec4<u32>(0u), false);
    var image = 0u;
    if index < found_count() {
        image = found_images[index];
        kept = decided_pair(found_bits[index], displacement_of(image));
    }
    let place = place_of_kept(kept, local);
    if kept.kept {
        decided_bits[place] = kept.pair;
        pair_images[place] = image;
    }
}
