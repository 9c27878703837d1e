// How a sphere is cut into time segments, and how large each is. Twin of
// `src/shared/segments.rs`.

#import opaque::{opaque3}
#import types::{Frame}
#needs params

// The path of a sphere during the step, as seen from the frame.
struct Path {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    // Velocity times dt.
    shift: vec3<f32>,
}

fn path_of(center: vec3<f32>, radius: f32, velocity: vec3<f32>, frame: Frame) -> Path {
    let own = opaque3(velocity - frame.drift);
    return Path(opaque3(center - frame.origin), radius, own, own * params.dt);
}

fn largest(v: vec3<f32>) -> f32 {
    return max(max(v.x, v.y), v.z);
}

// 2^-power, exactly.
fn part_of(power: u32) -> f32 {
    return bitcast<f32>((127u - power) << 23u);
}

// The middle of segment k of 2^power.
fn middle(path: Path, power: u32, segment: u32) -> vec3<f32> {
    let part = f32(2u * segment + 1u) * part_of(power + 1u);
    return opaque3(path.center + path.velocity * (part * params.dt));
}

// The power of two of segments that a sphere is cut into.
fn segments_power(path: Path, length: f32) -> u32 {
    let longest = max(2.0 * path.radius, length);
    var power = 0u;
    var own = largest(abs(path.shift));
    while own > longest && power < SEGMENT_BITS {
        own *= 0.5;
        power += 1u;
    }
    return power;
}

// How far a segment of 2^power reaches from its middle along each axis, with the margin
// for rounding.
fn reaches(path: Path, power: u32) -> vec3<f32> {
    let shift = abs(path.shift);
    let far = largest(abs(path.center) + shift);
    let half = path.radius + shift * part_of(power + 1u);
    return opaque3(half + MARGIN * EPSILON * (far + half));
}

// Half of the smallest cell that a segment of 2^power may lie in.
fn half_cell_of(path: Path, power: u32) -> f32 {
    return max(largest(reaches(path, power)), 0.5 * SMALLEST_CELL);
}
