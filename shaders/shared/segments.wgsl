// Cuts the paths of spheres into time segments, and computes their sizes. Twin of `src/shared/segments.rs`.

#import opaque::{opaque, opaque3}
#import types::{Frame}
#needs params

// Relative to the frame.
struct Path {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    shift: vec3<f32>,
}

fn path_of(center: vec3<f32>, radius: f32, velocity: vec3<f32>, frame: Frame) -> Path {
    let own = opaque3(velocity - frame.drift);
    return Path(opaque3(center - frame.origin), radius, own, own * params.dt);
}

fn largest(v: vec3<f32>) -> f32 {
    return max(max(v.x, v.y), v.z);
}

// What determines the sizes of segments: the radius, the largest displacement along an
// axis, and the largest coordinate.
struct Extent {
    radius: f32,
    shift: f32,
    far: f32,
}

fn extent_of(path: Path) -> Extent {
    let shift = abs(path.shift);
    return Extent(path.radius, largest(shift), largest(abs(path.center) + shift));
}

fn part_of(power: u32) -> f32 {
    return bitcast<f32>((127u - power) << 23u);
}

fn middle(path: Path, power: u32, segment: u32) -> vec3<f32> {
    let part = f32(2u * segment + 1u) * part_of(power + 1u);
    return opaque3(path.center + path.velocity * (part * params.dt));
}

// The smallest n, at most SEGMENT_BITS, for which the sphere moves in a segment along
// every axis at most its diameter or `length`.
fn segments_power(extent: Extent, length: f32) -> u32 {
    let longest = max(2.0 * extent.radius, length);
    var power = 0u;
    var own = extent.shift;
    while own > longest && power < SEGMENT_BITS {
        own *= 0.5;
        power += 1u;
    }
    return power;
}

// Half extents during a segment, with a margin for rounding errors.
fn reaches(path: Path, power: u32) -> vec3<f32> {
    let shift = abs(path.shift);
    let far = largest(abs(path.center) + shift);
    let half = path.radius + shift * part_of(power + 1u);
    return opaque3(half + MARGIN * EPSILON * (far + half));
}

// For one of the 2^power segments.
fn half_cell_of(extent: Extent, power: u32) -> f32 {
    let half = extent.radius + extent.shift * part_of(power + 1u);
    return max(opaque(half + MARGIN * EPSILON * (extent.far + half)), 0.5 * SMALLEST_CELL);
}
