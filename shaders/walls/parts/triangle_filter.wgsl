// Tests in float32, with an error bound, whether a sphere touches a triangle during the step. docs/exact.md
// (section 7) has the proof.

#import carom::{CaromTriangle, carom_nearest}
#import filter::{sum}
#import opaque::{opaque, opaque3}
#import types::{Sphere}
#import wall_filter::{AtWall, STAYS, growth_along, length_of, parting, without_parting}
#needs params

// Positions are relative to the corner a.
struct AtTriangle {
    p: vec3<f32>,
    v: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
    radius: f32,
    // Of any length that the filter computes.
    error: f32,
}

fn certainly_touches(at: AtTriangle, t: f32) -> bool {
    let p = opaque3(at.p + at.v * t);
    let nearest = opaque3(carom_nearest(p, at.b, at.c));
    return opaque(length_of(opaque3(p - nearest)) + at.error) < at.radius;
}

fn filter_triangle(triangle: CaromTriangle, sphere: Sphere, shift: vec3<f32>, shift_size: f32, dt: f32) -> AtWall {
    let at = at_triangle(triangle, sphere, shift, shift_size, dt);
    // Before the search, which then needs no more registers.
    var parts = STAYS;
    if (params.flags & FLAG_APPROACHING) != 0u {
        let away = opaque3(at.p - carom_nearest(at.p, at.b, at.c));
        let distance = length_of(away);
        // The computed nearest point is as near as the true one, except for the error. So it may be off by the square
        // root of twice this error times the distance, and of its square.
        let off = opaque(2.0 * sqrt(2.0 * at.error * (distance + at.error)) + at.error);
        let growth = growth_along(away, off, at.v, sum(abs(at.v)));
        parts = parting(opaque(distance - at.radius), at.error, growth, true);
    }
    return without_parting(found_at(at, dt), parts);
}

fn at_triangle(triangle: CaromTriangle, sphere: Sphere, shift: vec3<f32>, shift_size: f32, dt: f32) -> AtTriangle {
    let apart = opaque3(sphere.center - triangle.a);
    let p = opaque3(apart + shift);
    let v = opaque3(sphere.velocity - triangle.velocity);
    let b = opaque3(triangle.b - triangle.a);
    let c = opaque3(triangle.c - triangle.a);
    let size = sum(abs(apart)) + shift_size + sum(abs(v)) * dt + sum(abs(b)) + sum(abs(c)) + sphere.radius;
    let error = opaque(WALL_ERROR * EPSILON * size) + WALL_LEAST;
    return AtTriangle(p, v, b, c, sphere.radius, error);
}

fn found_at(at: AtTriangle, dt: f32) -> AtWall {
    let p = at.p;
    let v = at.v;
    let b = at.b;
    let c = at.c;
    let error = at.error;
    let depth = at.radius - length_of(p - carom_nearest(p, b, c));
    if depth > 0.0 {
        return AtWall(true, certainly_touches(at, 0.0), 0.0, depth);
    }
    // The plane through the nearest point, perpendicular to the line to the
    // sphere's centre, separates the two until the sphere reaches it. Then the next
    // plane is constructed.
    var t = 0.0;
    for (var k = 0u; k < TRIANGLE_PLANES; k++) {
        let q = opaque3(p + v * t);
        let away = opaque3(q - carom_nearest(q, b, c));
        let normal = opaque3(away / length_of(away));
        let corner = max(max(dot(normal, b), dot(normal, c)), 0.0);
        let slope = opaque(dot(normal, v));
        // At the time t, reduced by the bound of the rounding errors.
        let gap = opaque(dot(normal, q) - corner - at.radius - error);
        if !(gap > 0.0) {
            // Because of rounding, certain touch is tested slightly later.
            let later = min(t + 8.0 * error / max(-slope, MIN_POSITIVE), dt);
            return AtWall(true, certainly_touches(at, later), t, 0.0);
        }
        if slope >= 0.0 {
            return AtWall(false, false, 0.0, 0.0);
        }
        let next = opaque(t + gap / -slope);
        if next >= dt {
            return AtWall(false, false, 0.0, 0.0);
        }
        t = max(next, t);
    }
    return AtWall(true, false, t, 0.0);
}
