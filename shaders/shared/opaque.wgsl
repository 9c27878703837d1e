// A barrier for compilers: what stands on either side of it is neither fused nor
// reassociated across it.

#needs params

// The same value, in a way that no compiler sees through.
fn opaque(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

fn opaque3(x: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(params.zero));
}
