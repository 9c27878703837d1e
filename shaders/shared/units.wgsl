// Converts values between units that differ by a power of two, exactly except for subnormal numbers. Twin of
// `src/shared/units.rs`.

// Returns x times 2^power exactly, or 0 if this product is subnormal. In integer arithmetic, because float
// arithmetic may flush a subnormal x to 0.
fn times_power(x: f32, power: i32) -> f32 {
    let bits = bitcast<u32>(x);
    var digits = bits & 0x7fffffu;
    var exponent = i32((bits >> 23u) & 0xffu);
    if power == 0 || (bits << 1u) == 0u {
        return x;
    }
    if exponent == 0 {
        let shift = 23u - firstLeadingBit(digits);
        digits = (digits << shift) & 0x7fffffu;
        exponent = 1 - i32(shift);
    }
    exponent += power;
    let sign = bits & 0x80000000u;
    return bitcast<f32>(select(sign, sign | (u32(exponent) << 23u) | digits, exponent > 0));
}

fn vector_times_power(v: vec3<f32>, power: i32) -> vec3<f32> {
    return vec3<f32>(times_power(v.x, power), times_power(v.y, power), times_power(v.z, power));
}
