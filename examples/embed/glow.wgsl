// Updates the glow of each sphere once in a frame. If the sphere has bounced, its glow rises to at least
// the magnitude of the change of its velocity. Otherwise, the glow decays with time.

struct Params {
    count: u32,
    // Factor by which the glow of a sphere decays in a frame.
    fade: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> velocities: array<vec4<f32>>;
// Velocity (xyz) at the end of the last frame, and glow (w).
@group(0) @binding(2) var<storage, read_write> glowing: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.count {
        let velocity = velocities[id.x].xyz;
        let before = glowing[id.x];
        glowing[id.x] = vec4(velocity, max(before.w * params.fade, distance(velocity, before.xyz)));
    }
}
