// The spheres in the units of the stages.

#import types::{Sphere}
#import units::{times_power}
#needs params, spheres

// Returns sphere i in these units.
fn sphere_at(i: u32) -> Sphere {
    var sphere = spheres[i];
    sphere.radius = times_power(sphere.radius, params.length_power);
    for (var axis = 0u; axis < 3u; axis++) {
        sphere.center[axis] = times_power(sphere.center[axis], params.length_power);
        sphere.velocity[axis] = times_power(sphere.velocity[axis], params.velocity_power);
    }
    return sphere;
}

// Returns whether the sphere was set aside.
fn is_invalid(sphere: Sphere) -> bool {
    return sphere.radius < 0.0;
}
