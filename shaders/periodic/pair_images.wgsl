// Replaces the entries in the pairs of `pairs_periodic` by their spheres, and writes
// the image of the second sphere.

#import carom::{CAROM_GRAZING, CaromCollision, carom_image}
#import found_count::{found_count}
#import invocation::{invocation}
#import image_word::{pack_image}
#import lattice::{in_given_edges}
#import types::{Counters, Entry, Lattice, Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> lattice: Lattice;
@group(0) @binding(2) var<storage, read_write> counters: Counters;
@group(0) @binding(3) var<storage, read> entries: array<Entry>;
@group(0) @binding(4) var<storage, read_write> pairs: array<CaromCollision>;
@group(0) @binding(5) var<storage, read_write> pair_images: array<u32>;

fn is_positive(image: vec3<i32>) -> bool {
    return pack_image(image) > pack_image(vec3<i32>(0));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = invocation(workgroup, workgroups, local, WORKGROUP);
    if place >= found_count() {
        return;
    }
    let pair = pairs[place];
    let one = entries[pair.a];
    let other = entries[pair.b_and_grazing & ~CAROM_GRAZING];
    let image = in_given_edges(carom_image(other.image) - carom_image(one.image));
    let spheres = vec2<u32>(one.sphere_and_several, other.sphere_and_several) & vec2<u32>(~SEVERAL_IMAGES);
    // An image of the sphere itself must have a positive first component, so that
    // it is listed once.
    let in_order = spheres.x < spheres.y || (spheres.x == spheres.y && is_positive(image));
    let a = select(spheres.y, spheres.x, in_order);
    let b = select(spheres.x, spheres.y, in_order) - params.b_offset;
    pairs[place].a = a;
    pairs[place].b_and_grazing = b | (pair.b_and_grazing & CAROM_GRAZING);
    pair_images[place] = pack_image(select(-image, image, in_order));
}
