// Parameters of a step that follow from its spheres.

// Twin of `sample_size` in `src/shared/tuning.rs`.
fn sample_size(spheres: u32) -> u32 {
    let few = clamp(spheres / SMALL_SAMPLE_DIVISOR, MIN_SMALL_SAMPLE, MIN_SAMPLE);
    return min(clamp(spheres / SAMPLE_DIVISOR, few, MAX_SAMPLE), spheres);
}

// The exponent of the shaders' unit of length. In this unit, the square of a length
// underflows only if it is far below the rounding errors of the tests. `extent` is the
// largest length in the input, as bits. Twin of `Units` in `src/shared/units.rs`.
fn unit_power(extent: u32) -> i32 {
    if extent == 0u || extent >= bitcast<u32>(LEAST_USUAL) {
        return 0;
    }
    // Of the largest power of two that is at most the extent. If the extent is
    // subnormal, it follows from the highest set bit.
    let power = i32(extent >> 23u) - 127;
    return select(power, i32(firstLeadingBit(extent)) - 149, power == -127);
}
