// How a sphere is cut into time segments, and how large each is. Twin of `Size`
// and `segment_center` in `src/grid.rs`.

struct Size {
    // It is cut into 2^power segments.
    power: u32,
    // Half extent of each, with the margin for rounding.
    reach: f32,
    // Half of the smallest cell it may lie in.
    half_cell: f32,
}

fn largest(v: vec3<f32>) -> f32 {
    return max(max(v.x, v.y), v.z);
}

fn segments_power(radius: f32, velocity: vec3<f32>, dt: f32, spacing: f32) -> u32 {
    let target_length = max(2.0 * radius, spacing);
    var power = 0u;
    var length = largest(abs(velocity * dt));
    while length > target_length && power < SEGMENT_BITS {
        length *= 0.5;
        power += 1u;
    }
    return power;
}

fn segment_size(center: vec3<f32>, radius: f32, velocity: vec3<f32>, dt: f32, power: u32) -> Size {
    let shift = abs(velocity * dt);
    let far = largest(abs(center) + shift);
    let half = radius + largest(shift) * (0.5 / f32(1u << power));
    let reach = half + MARGIN * U * (far + half);
    let half_cell = max(max(reach, 0.5 * FINEST * far), 0.5 * SMALLEST_CELL);
    return Size(power, reach, half_cell);
}

// The middle of segment k of 2^power.
fn segment_center(center: vec3<f32>, velocity: vec3<f32>, dt: f32, power: u32, segment: u32) -> vec3<f32> {
    let middle = f32(2u * segment + 1u) / f32(2u << power);
    return center + velocity * (middle * dt);
}
