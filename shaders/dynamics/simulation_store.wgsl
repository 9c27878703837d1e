// Writes the spheres of a hard-sphere simulation to the application's buffers, if a substep is complete.

#import carom::{CaromSimulation}
#import dynamics::{Body}
#import invocation::{invocation}
#import sources::{SourceLayout}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
@group(0) @binding(1) var<uniform> source: SourceLayout;
@group(0) @binding(2) var<storage, read> bodies: array<Body>;
// The application's buffer for centres or for velocities.
@group(0) @binding(3) var<storage, read_write> stored: array<u32>;

fn store(first: u32, vector: vec3<f32>) {
    let words = bitcast<vec3<u32>>(vector);
    stored[first] = words.x;
    stored[first + 1u] = words.y;
    stored[first + 2u] = words.z;
}

fn is_stored(sphere: u32) -> bool {
    return sphere < source.at_most && simulation.committed > 0u && bodies[sphere].radius >= 0.0;
}

@compute @workgroup_size(WORKGROUP)
fn positions(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if is_stored(i) {
        store(source.center.x + i * source.center.y, bodies[i].center);
    }
}

@compute @workgroup_size(WORKGROUP)
fn velocities(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if is_stored(i) {
        store(source.motion.x + i * source.motion.y, bodies[i].velocity);
    }
}
