// Triangles of meshes in hard-sphere dynamics.

#import dynamics::{MeshTriangle, NEVER}
#import meeting::{MOST_STEPS, Motion, RESTING, advanced, is_contact, safe_time}

// Returns the vector from the nearest point of an edge to the point `place`. The edge leads from the
// origin to `end`.
fn beside_edge(end: vec3<f32>, place: vec3<f32>) -> vec3<f32> {
    let square = max(dot(end, end), MIN_POSITIVE);
    let share = dot(end, place) / square;
    var away = place - end * clamp(share, 0.0, 1.0);
    if share > 0.0 && share < 1.0 {
        // Rounding errors leave a part of the component along the edge, if the edge is long. This removes it.
        away -= end * (dot(end, away) / square);
    }
    return away;
}

// Returns the vector from the nearest point of a triangle to the point `place`, which is given relative
// to corner a.
fn beside_triangle(triangle: MeshTriangle, place: vec3<f32>) -> vec3<f32> {
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
        return normal * dot(normal, place);
    }
    var nearest = beside_edge(b, place);
    let on_c = beside_edge(c, place);
    if dot(on_c, on_c) < dot(nearest, nearest) {
        nearest = on_c;
    }
    let opposite = beside_edge(c - b, from_b);
    if dot(opposite, opposite) < dot(nearest, nearest) {
        nearest = opposite;
    }
    return nearest;
}

// Returns how long a sphere moves until it meets a triangle, or NEVER if this takes longer than `range`. A
// sphere of radius 0 meets no triangle.
//
// Consider the point of the triangle nearest to the sphere's centre, and the plane through this point perpendicular to
// the line to the centre. The whole triangle is on this plane or behind it. So at any later time, the gap to the
// triangle is at least the gap to this plane, which is a quadratic function of time.
fn triangle_meeting(triangle: MeshTriangle, motion: Motion, radius: f32, speeds: f32, range: f32) -> f32 {
    if radius <= 0.0 {
        return NEVER;
    }
    let strength = length(motion.acceleration);
    let slow = RESTING * (speeds + strength * range);
    var time = 0.0;
    for (var k = 0u; k < MOST_STEPS; k++) {
        let place = motion.place + (motion.velocity + motion.acceleration * (0.5 * time)) * time;
        let velocity = motion.velocity + motion.acceleration * time;
        let away = beside_triangle(triangle, place);
        let distance = length(away);
        let normal = away / max(distance, MIN_POSITIVE);
        let rate = dot(normal, velocity);
        if is_contact(distance - radius, rate, radius, slow) {
            return time;
        }
        let bend = -dot(normal, motion.acceleration);
        time = advanced(time, safe_time(distance - radius, rate, bend), range);
        if !(time < range) {
            return NEVER;
        }
    }
    return time;
}
