// Finds which image of the other sphere is hit first, the smallest if there are
// several. Runs after `earliest.wgsl`.

#import carom::{CAROM_GRAZING, CAROM_NONE, CaromResults, carom_image}
#import image_word::{pack_image}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> pair_images: array<u32>;
@group(0) @binding(3) var<storage, read> earliest_bits: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> earliest_images: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn fill(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = invocation(workgroup, workgroups, local, WORKGROUP);
    if row < arrayLength(&earliest_images) {
        atomicStore(&earliest_images[row], CAROM_NONE);
    }
}

fn meet(row: u32, partner: u32, toi: u32, image: vec3<i32>) {
    if all(earliest_bits[row] == vec2<u32>(toi, partner)) {
        atomicMin(&earliest_images[row], pack_image(image));
    }
}

@compute @workgroup_size(WORKGROUP)
fn images(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.pairs {
        let pair = pair_bits[index];
        let b = pair.y & ~CAROM_GRAZING;
        // A time of impact may be -0.
        let toi = pair.z & 0x7fffffffu;
        let image = carom_image(pair_images[index]);
        meet(pair.x, b, toi, image);
        // Seen from b, the image changes sign.
        meet(b + results.b_offset, pair.x, toi, -image);
    }
}
