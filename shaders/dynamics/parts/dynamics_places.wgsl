// Converts a position of a sphere to a position relative to a wall, which may move.

#import carom::{CAROM_HALF_SPACE, CaromWall}
#import image_block::{ImageBlock, image_count}
#import types::{WallLattice}
#needs simulation, simulation_request

// A factor that covers the rounding of a sphere's pad, and of its positions along a path.
const ROUNDED_UP = 1.0 + 1.0 / 1048576.0;

// The code of a wall and an image of a sphere packs two values into one word. The number
// of the wall starts at bit WALL_SHIFT. The lower bits hold the three components of the image, with
// WALL_IMAGE_BITS bits for each.
const WALL_SHIFT = 24u;
const WALL_IMAGE_BITS = 8u;
const FARTHEST_IMAGE = 127;
// Largest number of images of a sphere that are tested against a wall.
const MOST_WALL_IMAGES = 4096u;

// Returns the position of a point relative to a wall at the start of the substep: relative to the centre
// of a sphere, to a point on the axis of a cylinder, or to a point in the plane of a half-space.
fn place_at_wall(wall: CaromWall, place: vec3<f32>) -> vec3<f32> {
    var point = wall.point;
    if wall.kind == CAROM_HALF_SPACE {
        point = wall.direction * wall.size;
    }
    return place - point;
}

// Returns the largest gap between a sphere and a wall that their motion in the substep may close. `pad`
// is the assumed bound on the displacement of the sphere.
fn reach_at_wall(wall: CaromWall, center: vec3<f32>, pad: f32) -> f32 {
    let duration = simulation.substep;
    let fallen = 0.5 * length(simulation_request.gravity) * duration * duration;
    let size = length(center) + length(wall.point) + abs(wall.size);
    return (pad + fallen + length(wall.velocity) * duration + 1e-6 * size) * ROUNDED_UP;
}

// Returns the block of images of a sphere whose centres may come within `distance` of
// the centre or axis of a wall. `place` is the position of the sphere relative to the wall. In open
// space, the block consists of the sphere itself (image 0).
fn images_at_wall(lattice: WallLattice, place: vec3<f32>, distance: f32) -> ImageBlock {
    var block = ImageBlock(vec3<i32>(0), vec3<u32>(1u), false);
    for (var k = 0u; k < 3u; k++) {
        let dual = lattice.duals[k];
        if dual.w == 0.0 {
            continue;
        }
        let begin = dot(dual.xyz, place);
        let around = dual.w * distance + 1e-6 * dual.w * length(place) + IMAGE_MARGIN;
        let first = ceil(-begin - around);
        let last = floor(-begin + around);
        if !(max(abs(first), abs(last)) <= f32(FARTHEST_IMAGE)) {
            block.too_many = true;
            return block;
        }
        block.first[k] = i32(first);
        block.dims[k] = u32(max(i32(last) - i32(first) + 1, 0));
    }
    block.too_many = image_count(block) > MOST_WALL_IMAGES;
    return block;
}

fn shift_of(image: vec3<i32>) -> vec3<f32> {
    if all(image == vec3<i32>(0)) {
        return vec3<f32>(0.0);
    }
    let n = vec3<f32>(image);
    let edges = simulation_request.edges;
    return edges[0].xyz * n.x + edges[1].xyz * n.y + edges[2].xyz * n.z;
}

// Returns the code of a wall and the image of a sphere that touches it. Codes compare like the numbers of the walls,
// then like the images.
fn code_at_wall(wall: u32, image: vec3<i32>) -> u32 {
    let n = vec3<u32>(image + FARTHEST_IMAGE);
    return (wall << WALL_SHIFT) | (n.x << (2u * WALL_IMAGE_BITS)) | (n.y << WALL_IMAGE_BITS) | n.z;
}

fn wall_of_code(code: u32) -> u32 {
    return code >> WALL_SHIFT;
}

fn image_of_code(code: u32) -> vec3<i32> {
    let mask = (1u << WALL_IMAGE_BITS) - 1u;
    let n = vec3<u32>(code >> (2u * WALL_IMAGE_BITS), code >> WALL_IMAGE_BITS, code) & vec3<u32>(mask);
    return vec3<i32>(n) - FARTHEST_IMAGE;
}
