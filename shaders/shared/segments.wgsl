// Cuts the paths of spheres into time segments, and computes their sizes. Twin of `src/shared/segments.rs`.

#import opaque::{opaque, opaque3}
#import types::{Frame}
#needs params

// The motion of a sphere during the step, relative to the frame.
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

// What determines the sizes of a path's segments: the radius, the largest displacement along an axis, and the
// largest coordinate that the centre may reach.
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

// Returns the centre at the middle of segment number `segment` of 2^power.
fn middle(path: Path, power: u32, segment: u32) -> vec3<f32> {
    let part = f32(2u * segment + 1u) * part_of(power + 1u);
    return opaque3(path.center + path.velocity * (part * params.dt));
}

// Returns the power n of a sphere: the smallest n, at most SEGMENT_BITS, for which the sphere moves in a
// segment along every axis no farther than its diameter or `length`, whichever is greater.
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

// Returns the half extents of the sphere during one of its 2^power segments, with a margin for rounding
// errors.
fn reaches(path: Path, power: u32) -> vec3<f32> {
    let shift = abs(path.shift);
    let far = largest(abs(path.center) + shift);
    let half = path.radius + shift * part_of(power + 1u);
    return opaque3(half + MARGIN * EPSILON * (far + half));
}

// Returns half the edge of the smallest cell that can hold one of the 2^power segments.
fn half_cell_of(extent: Extent, power: u32) -> f32 {
    let half = extent.radius + extent.shift * part_of(power + 1u);
    return max(opaque(half + MARGIN * EPSILON * (extent.far + half)), 0.5 * SMALLEST_CELL);
}
