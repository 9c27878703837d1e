// Includes walls in the first impact of each sphere. `times` and `partners` run after the entry points of
// `earliest.wgsl` with the same names. If a sphere hits a sphere and a wall at the same time, the sphere is
// its first impact. Twin of `with_walls` in `src/reduce/earliest.rs`.

#import carom::{CAROM_GRAZING, CAROM_WALL, CaromResults}
#import invocation::{invocation}

struct Earliest {
    toi: atomic<u32>,
    partner: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> results: CaromResults;
// In the layout of CaromWallCollision.
@group(0) @binding(1) var<storage, read> wall_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> earliest: array<Earliest>;

// Returns the bits of a time of impact, without the sign bit, because the time may be -0.
fn time_of(hit: vec4<u32>) -> u32 {
    return hit.z & 0x7fffffffu;
}

@compute @workgroup_size(WORKGROUP)
fn times(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.walls {
        let hit = wall_bits[index];
        atomicMin(&earliest[hit.x].toi, time_of(hit));
    }
}

@compute @workgroup_size(WORKGROUP)
fn partners(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.walls {
        let hit = wall_bits[index];
        if atomicLoad(&earliest[hit.x].toi) == time_of(hit) {
            atomicMin(&earliest[hit.x].partner, (hit.y & ~CAROM_GRAZING) | CAROM_WALL);
        }
    }
}
