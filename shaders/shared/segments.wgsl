// Cuts the paths of spheres into time segments, and computes the size of each segment.
// Twin of `src/shared/segments.rs`.

#import opaque::{opaque, opaque3}
#import types::{Frame}
#needs params

// The motion of a sphere during the step, relative to the moving origin from which grid cells are counted.
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

// The lengths that determine the sizes of the time segments of a sphere's path: the sphere's radius, its
// largest displacement along an axis, and the largest coordinate that its centre may reach.
struct Extent {
    radius: f32,
    shift: f32,
    far: f32,
}

fn extent_of(path: Path) -> Extent {
    let shift = abs(path.shift);
    return Extent(path.radius, largest(shift), largest(abs(path.center) + shift));
}

// Returns 2^-power without rounding.
fn part_of(power: u32) -> f32 {
    return bitcast<f32>((127u - power) << 23u);
}

// Returns the centre of a sphere at the middle of a time segment. The step is divided into 2^power time
// segments, and `segment` is the number of the segment.
fn middle(path: Path, power: u32, segment: u32) -> vec3<f32> {
    let part = f32(2u * segment + 1u) * part_of(power + 1u);
    return opaque3(path.center + path.velocity * (part * params.dt));
}

// Returns the exponent n of the number 2^n of time segments of a sphere: the smallest n for which the
// segments are short enough, but at most SEGMENT_BITS. In a segment that is short enough, the sphere moves
// along every axis no farther than its diameter or `length`, whichever is greater.
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

// Returns half the edge lengths of the box that contains a sphere throughout one of its 2^power time
// segments. The box has a margin for rounding errors.
fn reaches(path: Path, power: u32) -> vec3<f32> {
    let shift = abs(path.shift);
    let far = largest(abs(path.center) + shift);
    let half = path.radius + shift * part_of(power + 1u);
    return opaque3(half + MARGIN * EPSILON * (far + half));
}

// Returns half the edge length of the smallest grid cell that can hold a time segment of a sphere's
// path, if the path is cut into 2^power time segments.
fn half_cell_of(extent: Extent, power: u32) -> f32 {
    let half = extent.radius + extent.shift * part_of(power + 1u);
    return max(opaque(half + MARGIN * EPSILON * (extent.far + half)), 0.5 * SMALLEST_CELL);
}
