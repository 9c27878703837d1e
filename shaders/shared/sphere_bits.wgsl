// The input values of a sphere, as words, for the host.

#import types::{Sphere}

fn sphere_bits(sphere: Sphere) -> array<u32, 7> {
    let center = bitcast<vec3<u32>>(sphere.center);
    let velocity = bitcast<vec3<u32>>(sphere.velocity);
    return array<u32, 7>(
        center.x,
        center.y,
        center.z,
        bitcast<u32>(sphere.radius),
        velocity.x,
        velocity.y,
        velocity.z,
    );
}
