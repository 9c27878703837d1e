// Moves every sphere by a step, and bounces it off the one that carom says it
// touches first. One invocation a sphere; neighbours read the old state, so the
// new one is written elsewhere.

struct Params {
    // The box reaches from -half to half.
    half: vec3<f32>,
    dt: f32,
    count: u32,
    restitution: f32,
    walls: u32,
    // What a step leaves of the glow.
    fade: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// xyz, and the radius
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// xyz, and the glow: by how much a bounce changed the velocity, fading
@group(0) @binding(2) var<storage, read> velocities: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> earliest: array<CaromEarliest>;
@group(0) @binding(4) var<storage, read_write> new_positions: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> new_velocities: array<vec4<f32>>;

// What the bounce of a and b is along: `axis` points from a to b, and a change of
// velocity is a multiple of it. (No square root, no unit vector to be off by a
// rounding: energy and momentum are kept better.)
struct Bounce {
    axis: vec3<f32>,
    of_a: f32,
    of_b: f32,
}

// Both spheres' invocations call this with the same arguments, the smaller index
// first, so both get the same bits, and what one gains the other loses.
fn bounce(a: u32, b: u32, toi: f32) -> Bounce {
    let apart = positions[b].xyz - positions[a].xyz;
    let motion = velocities[b].xyz - velocities[a].xyz;
    let axis = apart + motion * toi;
    let approach = dot(motion, axis);
    let square = dot(axis, axis);
    // Those that overlap but already part are left alone.
    if !(approach < 0.0 && square > 0.0) {
        return Bounce(axis, 0.0, 0.0);
    }
    let size_a = positions[a].w;
    let size_b = positions[b].w;
    let mass_a = size_a * size_a * size_a;
    let mass_b = size_b * size_b * size_b;
    let change = (1.0 + params.restitution) * approach / (square * (mass_a + mass_b));
    return Bounce(axis, change * mass_b, -change * mass_a);
}

// Folds a way that leads out of [-room, room] back into it, as between two
// mirrors, however far it leads. The second number is -1 if it now runs backwards.
fn fold(way: f32, room: f32) -> vec2<f32> {
    if abs(way) <= room {
        return vec2(way, 1.0);
    }
    if room <= 0.0 {
        return vec2(0.0, 1.0);
    }
    let trips = (way + room) / (4.0 * room);
    let part = trips - floor(trips);
    let back = part > 0.5;
    let there = select(4.0 * part - 1.0, 3.0 - 4.0 * part, back);
    return vec2(clamp(room * there, -room, room), select(1.0, -1.0, back));
}

@compute @workgroup_size(256)
fn advance(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= params.count {
        return;
    }
    var place = positions[i].xyz;
    var velocity = velocities[i].xyz;
    let radius = positions[i].w;
    var glow = velocities[i].w * params.fade;

    // (A step that had no room for all of its pairs missed some of these. The host
    // learns of it and grows; results.status could tell it here, too.)
    // Only if each is the other's first: whoever is hit by a third one before
    // moves on, and meets its partner in the next step.
    let first = earliest[i];
    var rest = params.dt;
    if first.partner != CAROM_NONE && earliest[first.partner].partner == i {
        let a = min(i, first.partner);
        let b = max(i, first.partner);
        let toi = earliest[a].toi;
        let found = bounce(a, b, toi);
        let change = found.axis * select(found.of_b, found.of_a, i == a);
        place += velocity * toi;
        velocity += change;
        rest -= toi;
        glow = max(glow, length(change));
    }
    place += velocity * rest;

    if params.walls != 0u {
        for (var axis = 0; axis < 3; axis++) {
            let folded = fold(place[axis], params.half[axis] - radius);
            place[axis] = folded.x;
            if folded.y < 0.0 {
                velocity[axis] *= -params.restitution;
            }
        }
    }
    new_positions[i] = vec4(place, radius);
    new_velocities[i] = vec4(velocity, glow);
}
