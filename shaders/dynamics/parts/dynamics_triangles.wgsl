// Triangles of meshes in hard-sphere dynamics.

#import dynamics::{MeshTriangle, NEVER}
#import meeting::{CONTACT, MOST_STEPS, Motion, RESTING, advanced, is_contact, safe_time}
#needs simulation_request, simulation_triangles

// The parts of a triangle: the edges from corner a to b, from b to c and from c to a, the three corners, and the face.
const CORNERS = 3u;
const FACE = 6u;

// The vector from the nearest point of a triangle to a point, and the part of the triangle that has this nearest point.
struct Beside {
    away: vec3<f32>,
    part: u32,
}

// Returns the vector from the nearest point of an edge to the point `place`. The edge leads from the
// origin to `end`. `parts` are the edge and the two corners at its ends.
fn beside_edge(end: vec3<f32>, place: vec3<f32>, parts: vec3<u32>) -> Beside {
    let square = max(dot(end, end), MIN_POSITIVE);
    let share = dot(end, place) / square;
    var away = place - end * clamp(share, 0.0, 1.0);
    if share > 0.0 && share < 1.0 {
        // Rounding errors leave a part of the component along the edge, if the edge is long. This removes it.
        away -= end * (dot(end, away) / square);
        return Beside(away, parts.x);
    }
    return Beside(away, select(parts.z, parts.y, share <= 0.0));
}

// Returns the vector from the nearest point of a triangle to the point `place`, which is given relative
// to corner a.
fn beside_triangle(triangle: MeshTriangle, place: vec3<f32>) -> Beside {
    let b = triangle.b;
    let c = triangle.c;
    let normal = triangle.normal;
    let from_b = place - b;
    let inside = vec3<f32>(
        dot(cross(b, place), normal),
        dot(cross(c - b, from_b), normal),
        dot(cross(place, c), normal),
    );
    if all(inside >= vec3<f32>(0.0)) {
        return Beside(normal * dot(normal, place), FACE);
    }
    var nearest = beside_edge(b, place, vec3<u32>(0u, CORNERS, CORNERS + 1u));
    let on_c = beside_edge(c, place, vec3<u32>(2u, CORNERS, CORNERS + 2u));
    if dot(on_c.away, on_c.away) < dot(nearest.away, nearest.away) {
        nearest = on_c;
    }
    let opposite = beside_edge(c - b, from_b, vec3<u32>(1u, CORNERS + 1u, CORNERS + 2u));
    if dot(opposite.away, opposite.away) < dot(nearest.away, nearest.away) {
        nearest = opposite;
    }
    return nearest;
}

// Returns one of the vectors that follow the triangles in their array, four in the place of a triangle. They begin with
// three for each triangle, one for each edge: the direction away from the edge into the triangle that adjoins it there,
// or 0. The lists of the corners follow: the directions along the edges that end at a corner, and a 0.
fn vector_around(number: u32) -> vec3<f32> {
    let four = simulation_triangles[simulation_request.triangles + number / 4u];
    let upper = select(four.c, four.normal, number % 2u == 1u);
    return select(select(four.a, four.b, number % 2u == 1u), upper, number % 4u > 1u);
}

// Where a sphere is relative to a triangle: the vector from the nearest point to its centre, and whether it touches the
// triangle there. It touches only the front of a one-sided triangle, and no edge and no corner if an adjoining triangle
// is nearer, as inside a flat surface. `Surface::faces` does the same in float64.
struct Facing {
    away: vec3<f32>,
    touches: bool,
}

fn facing(number: u32, place: vec3<f32>) -> Facing {
    let triangle = simulation_triangles[number];
    let beside = beside_triangle(triangle, place);
    var facing = Facing(beside.away, true);
    if (simulation_request.one_sided != 0u) & (dot(beside.away, triangle.normal) <= 0.0) {
        facing.touches = false;
    }
    if beside.part == FACE {
        return facing;
    }
    // Rounding errors may point into an adjoining triangle. They are taken out of the vector, so that edges inside a
    // flat surface have the direction of its faces.
    let tolerance = CONTACT * (length(place) + length(beside.away));
    var k = 3u * number + beside.part;
    if beside.part >= CORNERS {
        k = vec3<u32>(triangle.corner_a, triangle.corner_b, triangle.corner_c)[beside.part - CORNERS];
    }
    var into = vector_around(k);
    while any(into != vec3<f32>(0.0)) {
        let ahead = dot(into, facing.away);
        if ahead > tolerance {
            return Facing(beside.away, false);
        }
        facing.away -= into * max(ahead, 0.0);
        if beside.part < CORNERS {
            break;
        }
        k++;
        into = vector_around(k);
    }
    return facing;
}

// Returns how long a sphere moves until it meets a triangle, or NEVER if this takes longer than `range`. A
// sphere of radius 0 meets no triangle.
//
// Consider the point of the triangle nearest to the sphere's centre, and the plane through this point perpendicular to
// the line to the centre. The whole triangle is on this plane or behind it. So at any later time, the gap to the
// triangle is at least the gap to this plane, which is a quadratic function of time.
//
// A sphere that has reached the triangle, but does not touch it because an adjoining triangle is nearer, is in contact
// with that one. For this sphere, the search goes on in steps of a fixed length.
fn triangle_meeting(number: u32, motion: Motion, radius: f32, speeds: f32, range: f32) -> f32 {
    if radius <= 0.0 {
        return NEVER;
    }
    let strength = length(motion.acceleration);
    let slow = RESTING * (speeds + strength * range);
    var time = 0.0;
    var touches = true;
    for (var k = 0u; k < MOST_STEPS; k++) {
        let place = motion.place + (motion.velocity + motion.acceleration * (0.5 * time)) * time;
        let velocity = motion.velocity + motion.acceleration * time;
        let beside = facing(number, place);
        touches = beside.touches;
        let distance = length(beside.away);
        let normal = beside.away / max(distance, MIN_POSITIVE);
        let rate = dot(normal, velocity);
        if touches && is_contact(distance - radius, rate, radius, slow) {
            return time;
        }
        let bend = -dot(normal, motion.acceleration);
        var step = safe_time(distance - radius, rate, bend);
        if !touches && distance - radius <= CONTACT * radius {
            step = max(step, range / 16.0);
        }
        time = advanced(time, step, range);
        if !(time < range) {
            return NEVER;
        }
    }
    return select(NEVER, time, touches);
}
