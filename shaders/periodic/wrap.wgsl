// Replaces each sphere by its image with its centre in the cell half-way through the
// step.

#import invocation::{invocation}
#import image_word::{pack_image}
#import lattice::{along_edges, displacement, slack_of}
#import spheres::{is_invalid, sphere_at}
#import types::{Counters, Entry, Lattice, Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> lattice: Lattice;
@group(0) @binding(2) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read_write> wrapped_spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(5) var<storage, read_write> counters: Counters;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= params.spheres {
        return;
    }
    var sphere = sphere_at(i);
    var image = vec3<i32>(0);
    if !is_invalid(sphere) {
        let middle = sphere.center + sphere.velocity * (0.5 * params.dt);
        let at = along_edges(middle - lattice.corner);
        if lattice.most_cells >= 0.0 && all(abs(at) <= vec3<f32>(lattice.most_cells)) {
            image = -vec3<i32>(floor(at));
        } else {
            atomicMax(&counters.out_of_range, i + 1u);
        }
        if any(image != vec3<i32>(0)) {
            sphere.radius += slack_of(sphere.center, sphere.radius, image);
            sphere.center += displacement(image);
        }
    }
    wrapped_spheres[i] = sphere;
    entries[i] = Entry(i, pack_image(image), array<i32, 3>());
}
