// Moves every sphere by one time step. A sphere bounces off the sphere or the wall that it touches first. In the
// kernel `advance`, an invocation moves one sphere, and reads the state of the sphere that it bounces off. So
// the kernel writes the new states to buffers of their own.
//
// `simulation.rs` appends carom's WGSL to this shader. carom's WGSL declares all types, constants and functions whose
// names begin with `Carom`, `CAROM` or `carom`.

struct Params {
    dt: f32,
    count: u32,
    restitution: f32,
    // Factor by which the glow of a sphere decays in a time step.
    fade: f32,
}

// A sphere that meets a wall during the step.
struct Meeting {
    // Unit vector from the sphere into the wall.
    normal: vec3<f32>,
    // Speed of sphere and wall towards each other.
    approach: f32,
    toi: f32,
    wall: u32,
    // Each sphere has a linked list of its wall collisions. This is the index plus 1 of the next entry in the
    // list, or 0 at its end.
    next: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Position (xyz) and radius (w) of each sphere.
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// Velocity (xyz) and glow (w) of each sphere. A bounce raises the glow to at least the magnitude of the
// velocity change, and the glow decays with time.
@group(0) @binding(2) var<storage, read> velocities: array<vec4<f32>>;
// These five buffers are carom's: the counts and the status of the step, the earliest impact of each sphere,
// the wall collisions, the walls of simple shapes, and the triangles of the mesh.
@group(0) @binding(3) var<storage, read> results: CaromResults;
@group(0) @binding(4) var<storage, read> earliest: array<CaromEarliest>;
@group(0) @binding(5) var<storage, read> wall_collisions: array<CaromWallCollision>;
@group(0) @binding(6) var<storage, read> walls: array<CaromWall>;
@group(0) @binding(7) var<storage, read> triangles: array<CaromTriangle>;
// The meetings of each sphere are a linked list. `heads` has the index of its first meeting plus 1, or 0.
@group(0) @binding(8) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> meetings: array<Meeting>;
@group(0) @binding(10) var<storage, read_write> new_positions: array<vec4<f32>>;
@group(0) @binding(11) var<storage, read_write> new_velocities: array<vec4<f32>>;

// Adds carom's wall collisions to linked lists, one list for each sphere. An invocation handles one wall
// collision. It skips a sphere that slides along the wall or leaves it, because such a sphere need not bounce.
@compute @workgroup_size(CAROM_WORKGROUP)
fn meet_walls(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let k = carom_index(results.wall_columns, workgroup, local);
    if k >= results.walls {
        return;
    }
    let hit = wall_collisions[k];
    let wall = carom_wall(hit);
    let place = positions[hit.sphere];
    let velocity = velocities[hit.sphere].xyz;
    var contact: CaromWallContact;
    if wall < results.first_triangle {
        contact = carom_wall_contact(walls[wall], place.xyz, place.w, velocity, hit.toi);
    } else {
        let triangle = triangles[wall - results.first_triangle];
        contact = carom_triangle_contact(triangle, place.xyz, place.w, velocity, hit.toi);
    }
    if contact.approach_speed > 0.0 {
        let next = atomicExchange(&heads[hit.sphere], k + 1u);
        meetings[k] = Meeting(contact.normal, contact.approach_speed, hit.toi, wall, next);
    }
}

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

@compute @workgroup_size(256)
fn advance(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= params.count {
        return;
    }
    // If one of carom's buffers overflows, some impacts are missing, and spheres would pass through each other
    // or through a wall. Then nothing moves in this step. The host notices the overflow in the summary of the
    // step and grows the buffers.
    if (results.status & CAROM_INCOMPLETE) != 0u {
        new_positions[i] = positions[i];
        new_velocities[i] = velocities[i];
        return;
    }
    var time = params.dt;
    var change = vec3(0.0);

    // The partner of a sphere is the sphere or wall that it touches first, or CAROM_NONE if it touches nothing.
    // Two spheres bounce only if each is the partner of the other. If the partner of a sphere hits a third
    // sphere earlier, the sphere moves on without a bounce. The next step finds the impact if the two still
    // meet. CAROM_NONE and the numbers of walls have the bit CAROM_WALL.
    let partner = earliest[i].partner;
    if (partner & CAROM_WALL) == 0u && earliest[partner].partner == i {
        let a = min(i, partner);
        let b = max(i, partner);
        let toi = earliest[a].toi;
        let found = bounce(a, b, toi);
        change = found.axis * select(found.of_b, found.of_a, i == a);
        if any(change != vec3(0.0)) {
            time = toi;
        }
    }
    // The sphere may hit a wall before it hits another sphere. Of several walls that the sphere hits at the
    // same time, the wall with the smallest number counts, because the order in which the hits are listed
    // differs from run to run.
    var wall = 0u;
    for (var link = atomicLoad(&heads[i]); link != 0u; link = meetings[link - 1u].next) {
        let met = meetings[link - 1u];
        if met.toi < time || (met.toi == time && met.wall < wall) {
            time = met.toi;
            wall = met.wall;
            change = -(1.0 + params.restitution) * met.approach * met.normal;
        }
    }

    // A sphere that bounces stays at the place of its impact until the next step, because carom has not searched
    // its new way for walls.
    let place = positions[i].xyz + velocities[i].xyz * time;
    let velocity = velocities[i].xyz + change;
    let glow = max(velocities[i].w * params.fade, length(change));
    new_positions[i] = vec4(place, positions[i].w);
    new_velocities[i] = vec4(velocity, glow);
}
