// Moves every sphere by one time step. A sphere bounces off the sphere that it touches first, according to
// carom's earliest impacts. An invocation, one per sphere, also reads the state of another sphere, so the new
// state is written to separate buffers.
//
// `simulation.rs` appends carom's WGSL to this shader, which declares CaromEarliest and CAROM_NONE.

struct Params {
    // Half the extent of the box, which reaches from -half to half.
    half: vec3<f32>,
    dt: f32,
    count: u32,
    restitution: f32,
    walls: u32,
    // Factor by which the glow of a sphere decays in a time step.
    fade: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Position (xyz) and radius (w) of each sphere.
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// Velocity (xyz) and glow (w) of each sphere. A bounce raises the glow to at least the magnitude of the
// velocity change, and the glow decays with time.
@group(0) @binding(2) var<storage, read> velocities: array<vec4<f32>>;
// Earliest impact of each sphere, computed by carom.
@group(0) @binding(3) var<storage, read> earliest: array<CaromEarliest>;
@group(0) @binding(4) var<storage, read_write> new_positions: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> new_velocities: array<vec4<f32>>;

// The bounce of two spheres a and b. `axis` points from the centre of a to the centre of b at the time of
// impact. The velocities of the spheres change by `axis * of_a` and `axis * of_b`. The axis is not
// normalized: without a square root, rounding errors change energy and momentum less.
struct Bounce {
    axis: vec3<f32>,
    of_a: f32,
    of_b: f32,
}

// Computes the bounce of two spheres a and b that touch at time `toi`. The invocations of both spheres call
// this function with the same arguments, the smaller index first, and so compute the same bits. This
// conserves the total momentum, except for rounding.
fn bounce(a: u32, b: u32, toi: f32) -> Bounce {
    let apart = positions[b].xyz - positions[a].xyz;
    let motion = velocities[b].xyz - velocities[a].xyz;
    let axis = apart + motion * toi;
    let approach = dot(motion, axis);
    let square = dot(axis, axis);
    // Overlapping spheres that already move apart do not bounce.
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

// Reflects a coordinate between mirrors at -room and room, as often as necessary. Returns the new coordinate,
// and whether the direction of motion is reversed (-1) or not (1).
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

    // The partner of a sphere is the sphere that it touches first, or CAROM_NONE if it touches nothing. Two
    // spheres bounce only if each is the partner of the other. If the partner of a sphere hits a third sphere
    // earlier, the sphere moves on without a bounce. The next step finds the impact if the two still meet.
    //
    // If carom's buffer of pairs overflows, some impacts are missing in this step. The host notices an
    // overflow in the summary of the step and grows the buffers. A shader can notice an overflow, too: it can
    // bind carom's results and test `(results.status & CAROM_INCOMPLETE) != 0u`.
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
