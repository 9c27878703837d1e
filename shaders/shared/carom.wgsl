// WGSL structs, constants and functions for shaders that read carom's results. Append
// this text to your shader. All names begin with `Carom`, `CAROM` or `carom`. Lengths
// and times are in your units.

// Two spheres that touch or may touch (see CAROM_GRAZING) during the step. `toi` and
// `depth` are float32 estimates. The Rust module `carom::gpu` states their error.
struct CaromCollision {
    // Index of the pair's first sphere: the smaller index or, with two sets, the index
    // in the first set.
    a: u32,
    // Index of the pair's second sphere in the low 31 bits (see carom_b()), and
    // CAROM_GRAZING as the highest bit.
    b_and_grazing: u32,
    // Time of impact from the start of the step; 0 if the spheres touch at the start.
    toi: f32,
    // Penetration depth of the spheres at the start of the step; 0 if they meet later.
    depth: f32,
}

// Bit of `b_and_grazing` that marks a grazing pair: float32 rounding leaves open
// whether the spheres touch, or in which time segments (equal parts of a fast sphere's
// path) they come closest. Treat grazing pairs as touching. The list may hold a grazing
// pair several times, but the sorted list holds it once.
const CAROM_GRAZING = 0x80000000u;

// Returns the index of a pair's second sphere: the larger index or, with two sets, the
// index in the second set.
fn carom_b(collision: CaromCollision) -> u32 {
    return collision.b_and_grazing & ~CAROM_GRAZING;
}

// Returns how many times the second sphere of a pair is displaced by each edge of the
// periodic domain. `word` is the pair's element in the buffer of images (periodic
// copies).
fn carom_image(word: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(word >> 20u, word >> 10u, word) & vec3<u32>(1023u)) - 512;
}

// Returns whether float32 rounding leaves open whether the spheres of a pair touch. See
// CAROM_GRAZING.
fn carom_is_grazing(collision: CaromCollision) -> bool {
    return (collision.b_and_grazing & CAROM_GRAZING) != 0u;
}

// Results of one step, written by the GPU. Counts of two words have the low word first.
struct CaromResults {
    // Status of the step: 0, or a combination of the bits CAROM_TRUNCATED to
    // CAROM_MESH_TRUNCATED.
    status: u32,
    // Number of pairs in the list of pairs.
    pairs: u32,
    // Number of pairs found, which exceeds `pairs` if the list overflowed. Pairs that
    // are found repeatedly count repeatedly.
    found: vec2<u32>,
    // Number of candidates: pairs of spheres (or time segments) to be tested.
    candidates: vec2<u32>,
    // Number of time segments of fast spheres, not counting the first of each sphere,
    // plus the number `images`.
    segments: vec2<u32>,
    // In a periodic domain: number of images (periodic copies) of spheres or time
    // segments that are added to the grids because they reach into the domain's cell.
    images: vec2<u32>,
    // Number of spheres, of both sets if there are two. If one of two sets is empty,
    // nothing is searched, and `spheres` and `b_offset` are 0.
    spheres: u32,
    // Number of spheres in the first set, or 0 with one set. In results with one row
    // per sphere, this is the offset from carom_b() to the row of a pair's second
    // sphere.
    b_offset: u32,
    // Number of spheres set aside for invalid values, such as NaN or a negative radius.
    invalid: u32,
    // Number of spheres for which the step needs room. If the status has the bit
    // CAROM_TOO_MANY_SPHERES, this is the number of spheres in the input, and `spheres`
    // is 0.
    spheres_needed: u32,
    // Number of entries in the grids: uncut spheres, and time segments of cut spheres.
    proxies: u32,
    // Number of uniform grids that the step uses.
    levels: u32,
    // Length limit of time segments. A sphere is cut into the fewest segments, at most
    // 2^15, that along every axis are no longer than the greater of this limit and the
    // sphere's diameter. The unit is your unit of length or, if every coordinate,
    // radius and displacement is below 1/256, that unit divided by a power of two.
    segment: f32,
    // Number of pairs in the sorted list of pairs.
    sorted: u32,
    // Since the last complete step: number of new pairs, of pairs that were already in
    // the list of that step, and of pairs that are no longer in the list.
    began: u32,
    lasted: u32,
    ended: u32,
    // Number of workgroups along x in an indirect dispatch over the pairs (`columns`)
    // or over the sorted pairs (`sorted_columns`). To be passed to carom_index().
    columns: u32,
    sorted_columns: u32,
    // Serial number of the step, which tells recorded steps apart.
    serial: u32,
    // Index of a sphere that is out of range (see CAROM_IMAGE_OUT_OF_RANGE), or
    // CAROM_NONE. With two sets, index b_offset + i means sphere i of the second set. A
    // triangle is its index in the meshes plus CAROM_WALL.
    out_of_range: u32,
    unused: u32,
    // Indices of at most 32 spheres that were set aside for invalid values. With two
    // sets, index b_offset + i means sphere i of the second set.
    invalid_index: array<u32, 32>,
    // Number of spheres that touch walls in the list of wall collisions, and number of
    // workgroups along x in an indirect dispatch over this list. Both are 0 in buffers
    // without walls.
    walls: u32,
    wall_columns: u32,
    // Number of wall collisions found, which exceeds `walls` if their list overflowed.
    walls_found: vec2<u32>,
    // Number of walls of simple shapes. Wall `first_triangle` + i is triangle i.
    first_triangle: u32,
    unused_too: u32,
}

// Status bit: the list of pairs overflowed. It holds only results.pairs of the pairs
// found.
const CAROM_TRUNCATED = 1u;
// Status bit: there are more time segments than the buffers can hold. Nothing was
// searched.
const CAROM_TOO_MANY_SEGMENTS = 2u;
// Status bit: there are more candidates (pairs to be tested) than allowed. Most were
// not tested, so the list of pairs is incomplete.
const CAROM_TOO_CROWDED = 4u;
// Status bit: there are more spheres than the buffers can hold or the description of
// the input allows. Nothing was searched.
const CAROM_TOO_MANY_SPHERES = 8u;
// Status bit: spheres were set aside for invalid values. This does not affect the pairs
// of the other spheres.
const CAROM_INVALID_SPHERES = 16u;
// Status bit: the driver ended shader loops early. Pairs may be missing.
const CAROM_UNFINISHED = 32u;
// Status bit: a sphere is too far from the cell of the periodic domain, or reaches into
// too many images of the cell. Pairs are missing.
const CAROM_IMAGE_OUT_OF_RANGE = 64u;
// Status bit: the list of wall collisions overflowed. It holds only results.walls of
// the wall collisions found.
const CAROM_WALLS_TRUNCATED = 128u;
// Status bit: more spheres are near triangles than the buffers can hold. Wall collisions
// with triangles are missing.
const CAROM_MESH_TRUNCATED = 256u;
// All status bits that mean that pairs or wall collisions may be missing.
const CAROM_INCOMPLETE = CAROM_TRUNCATED | CAROM_TOO_MANY_SEGMENTS | CAROM_TOO_CROWDED
    | CAROM_TOO_MANY_SPHERES | CAROM_UNFINISHED | CAROM_IMAGE_OUT_OF_RANGE | CAROM_WALLS_TRUNCATED
    | CAROM_MESH_TRUNCATED;

// Workgroup size of the indirect dispatches over pairs.
const CAROM_WORKGROUP = 64u;

// Returns the index of the pair that an invocation handles, in an indirect dispatch
// with workgroups of (CAROM_WORKGROUP, 1, 1). Pass results.columns or
// results.sorted_columns. An invocation has no pair if the index is at least
// results.pairs or results.sorted, respectively.
fn carom_index(columns: u32, workgroup_id: vec3<u32>, local_invocation_index: u32) -> u32 {
    return (workgroup_id.x + workgroup_id.y * columns) * CAROM_WORKGROUP + local_invocation_index;
}

// Reductions are results that are computed on request from the list of pairs, even if
// it is truncated. In a reduction with one row per sphere, sphere i of the second of
// two sets has row results.b_offset + i.

// First impact of a sphere: its time, and the index of the sphere that is hit (the
// smallest if several are hit at this time; with two sets, an index in the set of that
// sphere). Grazing pairs count as touching. Bind as array<CaromEarliest>, with one row
// per sphere.
struct CaromEarliest {
    // Time of the first impact, or the largest float32 if the sphere touches nothing.
    toi: f32,
    // Index of the sphere that is hit, or CAROM_NONE if there is no impact. If a wall is
    // hit earlier than any sphere, it is the number of the wall plus CAROM_WALL.
    partner: u32,
}

// Bit of `CaromEarliest.partner` that marks a wall.
const CAROM_WALL = 0x80000000u;

const CAROM_NONE = 0xffffffffu;

// The sorted list of pairs is an array<CaromCollision> of results.sorted pairs in
// ascending order of (a, b), each pair once. In an indirect dispatch over it, pass
// results.sorted_columns to carom_index().

// Contacts: for each sphere, the indices of its pairs (a, b) in the sorted list. Bind
// two array<u32>, `offsets` and `indices`. Row i is indices[k] with offsets[i] <= k <
// offsets[i + 1]. A row lists first the pairs in which its sphere is b, by ascending a,
// then the pairs in which its sphere is a, by ascending b. Each pair is in two rows.

// Changes since the last complete step: an array<vec2<u32>> of results.began new pairs
// (a, b), then results.lasted pairs that were already in the list of that step, then
// results.ended pairs that are no longer in the list. Each part is sorted. In the first
// complete step all pairs are new. A step with a status bit of CAROM_INCOMPLETE has no
// changes, and the next step is compared with the last complete one.

// Walls of simple shapes (see `CaromWall.kind`).
const CAROM_HALF_SPACE = 0u;
const CAROM_SOLID_SPHERE = 1u;
const CAROM_HOLLOW_SPHERE = 2u;
const CAROM_SOLID_CYLINDER = 3u;
const CAROM_HOLLOW_CYLINDER = 4u;

// A wall of a simple shape: a half-space, or a sphere or an infinite cylinder, which
// spheres touch from outside (solid) or from inside (hollow).
struct CaromWall {
    // Centre of a sphere, or a point on the axis of a cylinder. 0 for a half-space.
    point: vec3<f32>,
    // Radius. For a half-space, its plane consists of the points x with
    // dot(direction, x) = size.
    size: f32,
    // Unit normal of a half-space, towards the free side, or unit vector along the axis
    // of a cylinder. 0 for a sphere.
    direction: vec3<f32>,
    // Kind of the wall, CAROM_HALF_SPACE to CAROM_HOLLOW_CYLINDER.
    kind: u32,
    velocity: vec3<f32>,
    groups: u32,
}

// A triangle of a mesh. Its number among the walls is the number of walls of simple
// shapes plus its index.
struct CaromTriangle {
    a: vec3<f32>,
    unused: f32,
    b: vec3<f32>,
    unused_too: f32,
    c: vec3<f32>,
    unused_as_well: f32,
    velocity: vec3<f32>,
    groups: u32,
}

// A sphere and a wall that touch or may touch (see CAROM_GRAZING) during the step. `toi`
// and `depth` are float32 estimates. Each sphere and wall is listed once or, in a
// periodic domain, once for each image (periodic copy) of the sphere. A grazing triangle
// may be listed several times.
struct CaromWallCollision {
    // Index of the sphere. With two sets, index b_offset + i means sphere i of the
    // second set.
    sphere: u32,
    // Number of the wall in the low 31 bits (see carom_wall()), and CAROM_GRAZING as the
    // highest bit.
    wall_and_grazing: u32,
    // Time of impact from the start of the step; 0 if they touch at the start.
    toi: f32,
    // Penetration depth at the start of the step; 0 if they meet later.
    depth: f32,
}

// Returns the number of the wall.
fn carom_wall(collision: CaromWallCollision) -> u32 {
    return collision.wall_and_grazing & ~CAROM_GRAZING;
}

// Returns whether float32 rounding leaves open whether the sphere touches the wall. See
// CAROM_GRAZING.
fn carom_is_grazing_wall(collision: CaromWallCollision) -> bool {
    return (collision.wall_and_grazing & CAROM_GRAZING) != 0u;
}

// Geometry of the contact of a sphere with a wall, in float32.
struct CaromWallContact {
    // Point on the surface of the sphere that faces the wall, at the time of impact.
    point: vec3<f32>,
    // Speed at which sphere and wall approach along the normal. Negative for a sphere
    // that leaves the wall.
    approach_speed: f32,
    // Unit vector from the centre of the sphere into the wall, at the time of impact.
    normal: vec3<f32>,
}

// Returns the contact of a sphere with a wall at the time `toi`. `center`, `radius` and
// `velocity` are those of the sphere at the start of the step. In a periodic domain, add
// the displacement of the image (periodic copy) of the sphere to `center`.
fn carom_wall_contact(
    wall: CaromWall,
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    toi: f32,
) -> CaromWallContact {
    let approach = velocity - wall.velocity;
    var normal = -wall.direction;
    if wall.kind != CAROM_HALF_SPACE {
        var away = center - wall.point + approach * toi;
        away -= wall.direction * dot(wall.direction, away);
        // Dividing by the largest component first avoids overflow and underflow.
        let largest = max(max(abs(away.x), abs(away.y)), abs(away.z));
        // A direction perpendicular to the axis, for a sphere in the middle of the wall.
        let across = select(
            vec3<f32>(0.0, -wall.direction.z, wall.direction.y),
            vec3<f32>(wall.direction.z, 0.0, -wall.direction.x),
            abs(wall.direction.x) > abs(wall.direction.y),
        );
        normal = select(vec3<f32>(1.0, 0.0, 0.0), across, any(across != vec3<f32>(0.0)));
        if largest > 0.0 {
            normal = away / largest;
        }
        normal = normalize(normal);
        if wall.kind == CAROM_SOLID_SPHERE || wall.kind == CAROM_SOLID_CYLINDER {
            normal = -normal;
        }
    }
    let point = center + velocity * toi + normal * radius;
    return CaromWallContact(point, dot(approach, normal), normal);
}

// Returns the point nearest to p of a triangle with the corners 0, b and c.
fn carom_nearest(p: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec3<f32> {
    // Lengths relative to the largest one avoid overflow.
    let largest = max(max(abs(p), abs(b)), abs(c));
    let scale = max(max(max(largest.x, largest.y), largest.z), 1.1754944e-38);
    let q = p / scale;
    let x = b / scale;
    let y = c / scale;
    let xq = dot(x, q);
    let yq = dot(y, q);
    let xx = dot(x, x);
    let xy = dot(x, y);
    let yy = dot(y, y);
    // The nearest point of the plane is (of_x x + of_y y) / all.
    let of_x = yy * xq - xy * yq;
    let of_y = xx * yq - xy * xq;
    let rest = xx * yy - xy * xy - of_x - of_y;
    let all = of_x + of_y + rest;
    if of_x > 0.0 && of_y > 0.0 && rest > 0.0 && all > 1e-30 {
        return b * (of_x / all) + c * (of_y / all);
    }
    // The nearest point is on an edge, at a share of its length.
    let z = y - x;
    let on_x = clamp(xq / max(xx, 1e-30), 0.0, 1.0);
    let on_y = clamp(yq / max(yy, 1e-30), 0.0, 1.0);
    let on_z = clamp(dot(z, q - x) / max(dot(z, z), 1e-30), 0.0, 1.0);
    let from_x = distance(q, x * on_x);
    let from_y = distance(q, y * on_y);
    let from_z = distance(q, x + z * on_z);
    if from_z < min(from_x, from_y) {
        return b + (c - b) * on_z;
    }
    return select(b * on_x, c * on_y, from_y < from_x);
}

// Returns the contact of a sphere with a triangle of a mesh at the time `toi`, like
// carom_wall_contact().
fn carom_triangle_contact(
    triangle: CaromTriangle,
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    toi: f32,
) -> CaromWallContact {
    let b = triangle.b - triangle.a;
    let c = triangle.c - triangle.a;
    let approach = velocity - triangle.velocity;
    let p = center - triangle.a + approach * toi;
    let away = carom_nearest(p, b, c) - p;
    let largest = max(max(abs(away.x), abs(away.y)), abs(away.z));
    // For a centre on the triangle, the normal is one of the two of the face.
    var normal = cross(b, c);
    if largest > 0.0 {
        normal = away / largest;
    }
    normal = normalize(normal);
    let point = center + velocity * toi + normal * radius;
    return CaromWallContact(point, dot(approach, normal), normal);
}
