// Reads spheres, and converts them from the caller's units to the units of the shaders.

#import types::{Sphere}
#import units::{times_power, vector_times_power}
#needs params, spheres

fn sphere_at(i: u32) -> Sphere {
    var sphere = spheres[i];
    // Both exponents are usually 0.
    if (params.length_power | params.velocity_power) != 0 {
        sphere.radius = times_power(sphere.radius, params.length_power);
        sphere.center = vector_times_power(sphere.center, params.length_power);
        sphere.velocity = vector_times_power(sphere.velocity, params.velocity_power);
    }
    return sphere;
}

fn is_invalid(sphere: Sphere) -> bool {
    return sphere.radius < 0.0;
}
