// The sorted proxies and their cells, stored as vectors of four words. An NVIDIA H200
// stores such a vector at once, and with a vec3 in a struct, `scatter` takes twice as
// long.

#import types::{StoredProxy}

struct SortedProxy {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    sphere: u32,
}

fn stored_proxy(proxy: SortedProxy) -> StoredProxy {
    return StoredProxy(
        vec4<u32>(bitcast<vec3<u32>>(proxy.center), bitcast<u32>(proxy.radius)),
        vec4<u32>(bitcast<vec3<u32>>(proxy.velocity), proxy.sphere),
    );
}

fn proxy_of(stored: StoredProxy) -> SortedProxy {
    return SortedProxy(
        bitcast<vec3<f32>>(stored.place.xyz),
        bitcast<f32>(stored.place.w),
        bitcast<vec3<f32>>(stored.motion.xyz),
        stored.motion.w,
    );
}

fn stored_cell(cell: vec3<i32>, tag: u32) -> vec4<u32> {
    return vec4<u32>(bitcast<vec3<u32>>(cell), tag);
}

fn cell_of_stored(stored: vec4<u32>) -> vec3<i32> {
    return bitcast<vec3<i32>>(stored.xyz);
}

fn tag_of_stored(stored: vec4<u32>) -> u32 {
    return stored.w;
}
