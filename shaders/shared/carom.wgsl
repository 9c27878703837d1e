// WGSL structs, constants and functions for shaders that read carom's results. Append
// this text to your shader. All names begin with `Carom`, `CAROM` or `carom`. Lengths and
// times are in your units.
//
// In a periodic domain, an image is a copy of a sphere, displaced by whole multiples of
// the edges. The path of a fast sphere is cut into time segments of equal duration. Two
// spheres or segments that are tested are a candidate.
//
// Counts of two words have the low word first. With two sets, sphere i of the second set
// has row (index across both sets) b_offset + i, where b_offset is a field of
// CaromResults.

// Two spheres that touch during the step, or may touch if they are marked as grazing. `toi`
// and `depth` are the float32 numbers nearest to the exact ones. Those of a grazing pair are
// estimates, and the Rust module `carom::gpu` states their error.
struct CaromCollision {
    // Index of the first sphere: the smaller index or, with two sets, the index in the
    // first set.
    a: u32,
    // The index of the second sphere (see carom_b()), and CAROM_GRAZING as the highest
    // bit.
    b_and_grazing: u32,
    // Time of impact, from the start of the step. 0 if the spheres touch at the start.
    toi: f32,
    // Penetration depth of the spheres at the start of the step. 0 if they meet later.
    depth: f32,
}

// Bit that marks a grazing pair: the GPU leaves open whether the spheres touch, or in which
// time segments they come closest. Treat grazing pairs as touching. The list may hold a
// grazing pair several times, but the sorted list holds it once.
const CAROM_GRAZING = 0x80000000u;

// Returns the index of the second sphere: the larger one or, with two sets, the index in
// the second set.
fn carom_b(collision: CaromCollision) -> u32 {
    return collision.b_and_grazing & ~CAROM_GRAZING;
}

// Returns how many times the second sphere of a pair is displaced by each edge of the
// periodic domain. `word` is the entry of the pair in the buffer of images.
fn carom_image(word: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(word >> 20u, word >> 10u, word) & vec3<u32>(1023u)) - 512;
}

fn carom_is_grazing(collision: CaromCollision) -> bool {
    return (collision.b_and_grazing & CAROM_GRAZING) != 0u;
}

// Results of one step, written by the GPU.
struct CaromResults {
    // Bits CAROM_TRUNCATED to CAROM_MESH_TRUNCATED.
    status: u32,
    // Length of the list of pairs.
    pairs: u32,
    // Number of pairs found in float32. It counts those that do not touch, repeated ones,
    // and those for which the list has no room.
    found: vec2<u32>,
    candidates: vec2<u32>,
    // Number of time segments, without the first of each sphere, and of `images`.
    segments: vec2<u32>,
    // Number of images that reach into the cell of the periodic domain.
    images: vec2<u32>,
    // Number of spheres, in both sets together. If one of two sets is empty, nothing is
    // searched, and `spheres` and `b_offset` are 0.
    spheres: u32,
    // Number of spheres in the first of two sets, or 0 with one set.
    b_offset: u32,
    // Number of spheres left out because of an invalid value.
    invalid: u32,
    // Number of spheres for which the step needs room. With CAROM_TOO_MANY_SPHERES, it is
    // the number in the input, and `spheres` is 0.
    spheres_needed: u32,
    // Number of entries in the grids: uncut spheres, and time segments of cut spheres.
    proxies: u32,
    // Number of uniform grids that the step uses.
    levels: u32,
    // Length limit of time segments: the path of a sphere is cut into 2^n segments, with
    // the smallest n, up to 15, for which the sphere moves in each segment no farther
    // along any axis than this limit or its diameter, whichever is greater. In your unit
    // of length, except if every coordinate, radius and displacement is below 1/256. Then
    // it is in a smaller unit: yours, divided by a power of two.
    segment: f32,
    // Length of the sorted list.
    sorted: u32,
    // Numbers of new, lasting and ended pairs in the list of changes.
    began: u32,
    lasted: u32,
    ended: u32,
    // To be passed to carom_index(), for the pairs and for the sorted pairs.
    columns: u32,
    sorted_columns: u32,
    // Serial number of the recorded step.
    serial: u32,
    // With CAROM_IMAGE_OUT_OF_RANGE: the row of a sphere that caused it, or CAROM_WALL +
    // i for triangle i of all meshes. Otherwise CAROM_NONE.
    out_of_range: u32,
    // Length of the neighbour list. This field and the next two are those of the last
    // search for neighbours.
    neighbors: u32,
    // To be passed to carom_index().
    neighbor_columns: u32,
    // 1 if the search kept the neighbour list of an earlier search. Then the other
    // results are those of that search.
    kept: u32,
    // Rows of at most 32 invalid spheres.
    invalid_index: array<u32, 32>,
    // Number of wall collisions, and the number to be passed to carom_index(). Both are
    // 0 in buffers without walls.
    walls: u32,
    wall_columns: u32,
    // Includes those for which the list has no room.
    walls_found: vec2<u32>,
    // Number of walls of simple shapes. Wall `first_triangle` + i is triangle i.
    first_triangle: u32,
    // Number of pairs with the bit CAROM_GRAZING.
    grazing: u32,
}

// Bits of CaromResults.status. CAROM_TRUNCATED: the list of pairs has no room for all
// of them.
const CAROM_TRUNCATED = 1u;
// There are more time segments than the buffers can hold. Nothing was searched.
const CAROM_TOO_MANY_SEGMENTS = 2u;
// There are more candidates than allowed. Most were not tested.
const CAROM_TOO_CROWDED = 4u;
// There are more spheres than the buffers can hold, or than the input allows. Nothing
// was searched.
const CAROM_TOO_MANY_SPHERES = 8u;
// Spheres were left out because of invalid values. The pairs of the others are complete.
const CAROM_INVALID_SPHERES = 16u;
// The driver ended shader loops early. Pairs may be missing.
const CAROM_UNFINISHED = 32u;
// A sphere is too far from the cell of the periodic domain, or reaches into too many
// images of the cell. Pairs are missing.
const CAROM_IMAGE_OUT_OF_RANGE = 64u;
// The list of wall collisions has no room for all of them.
const CAROM_WALLS_TRUNCATED = 128u;
// More spheres are near triangles than the buffers can hold. Wall collisions with
// triangles are missing.
const CAROM_MESH_TRUNCATED = 256u;
// All status bits that mean that pairs or wall collisions may be missing.
const CAROM_INCOMPLETE = CAROM_TRUNCATED | CAROM_TOO_MANY_SEGMENTS | CAROM_TOO_CROWDED
    | CAROM_TOO_MANY_SPHERES | CAROM_UNFINISHED | CAROM_IMAGE_OUT_OF_RANGE | CAROM_WALLS_TRUNCATED
    | CAROM_MESH_TRUNCATED;

// Workgroup size of the indirect dispatches.
const CAROM_WORKGROUP = 64u;

// Returns the index of the entry that an invocation handles, in an indirect dispatch over
// a list with workgroups of (CAROM_WORKGROUP, 1, 1). An invocation has no entry if its
// index is at least the length of the list.
fn carom_index(columns: u32, workgroup_id: vec3<u32>, local_invocation_index: u32) -> u32 {
    return (workgroup_id.x + workgroup_id.y * columns) * CAROM_WORKGROUP + local_invocation_index;
}

// Reductions are computed from the list of pairs, without those that it has no room for.

// First impact of a sphere. Bind as array<CaromEarliest>, with one row per sphere.
// Grazing pairs count as touching.
struct CaromEarliest {
    // Time of the first impact, or the largest float32 if the sphere touches nothing.
    toi: f32,
    // Index of the sphere that is hit, in its own set, the smallest if several are hit.
    // CAROM_NONE if there is no impact, and CAROM_WALL plus the number of the wall if a
    // wall is hit earlier than any sphere.
    partner: u32,
}

const CAROM_WALL = 0x80000000u;

const CAROM_NONE = 0xffffffffu;

// The sorted list of pairs is an array<CaromCollision> in ascending order of (a, b), each
// pair once, with results.sorted entries.

// Contacts of sphere i, as indices of the sorted list: indices[k] with offsets[i] <= k <
// offsets[i + 1]. Both are array<u32>. Pairs in which the sphere is b come first, by
// ascending a, then pairs in which it is a, by ascending b.

// Changes since the last complete step: an array<vec2<u32>> of pairs (a, b). First come
// results.began new pairs, then results.lasted pairs that were already there, then
// results.ended pairs that are gone, each part sorted. A step with a status bit of
// CAROM_INCOMPLETE has no changes, and the next step is compared with the last complete
// one.

// Entry of a neighbour list: particle j is a neighbour of particle i. Bind as
// array<CaromNeighbor>, with results.neighbors entries in ascending order of (i, j), and
// beside it an array<vec4<f32>> with the vector from i to j in xyz and its length in w.
// The entries of particle i are k with offsets[i] <= k < offsets[i + 1].
struct CaromNeighbor {
    i: u32,
    j: u32,
    // Image of particle j, to be read with carom_image().
    image: u32,
    // 1 if float32 rounding leaves open whether the particles were neighbours when the
    // list was made: within the cutoff (or the sum of their radii) plus the skin.
    // Otherwise 0.
    grazing: u32,
}

// Values of `CaromWall.kind`.
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
    // Radius. The plane of a half-space consists of the points x with dot(direction, x) =
    // size.
    size: f32,
    // Unit normal of a half-space, towards the free side, or unit vector along the axis
    // of a cylinder. 0 for a sphere.
    direction: vec3<f32>,
    // CAROM_HALF_SPACE to CAROM_HOLLOW_CYLINDER.
    kind: u32,
    velocity: vec3<f32>,
    groups: u32,
}

// A triangle of a mesh. Triangle i is wall number results.first_triangle + i.
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

// A sphere and a wall that touch or may touch during the step, in float32 like a grazing
// CaromCollision. Each sphere and wall is listed once or, in a periodic domain, once for
// each image of the sphere. A grazing triangle may be listed several times.
struct CaromWallCollision {
    // Row of the sphere.
    sphere: u32,
    // The number of the wall (see carom_wall()), and CAROM_GRAZING as the highest bit.
    wall_and_grazing: u32,
    // As in CaromCollision.
    toi: f32,
    depth: f32,
}

// Returns the number of the wall. Triangles are numbered after the other walls.
fn carom_wall(collision: CaromWallCollision) -> u32 {
    return collision.wall_and_grazing & ~CAROM_GRAZING;
}

fn carom_is_grazing_wall(collision: CaromWallCollision) -> bool {
    return (collision.wall_and_grazing & CAROM_GRAZING) != 0u;
}

// Geometry of the contact of a sphere with a wall at the time of impact, in float32.
struct CaromWallContact {
    // The point of the sphere's surface in the direction of `normal`.
    point: vec3<f32>,
    // Speed at which sphere and wall approach along the normal. Negative for a sphere
    // that leaves the wall.
    approach_speed: f32,
    // Unit vector from the centre of the sphere into the wall.
    normal: vec3<f32>,
    // The part of the wall that the sphere touches: CAROM_FACE, or CAROM_EDGE or
    // CAROM_CORNER plus the number of the edge or corner of a triangle.
    feature: u32,
}

const CAROM_FACE = 0u;
// Edge 0 joins a and b, edge 1 joins b and c, and edge 2 joins c and a.
const CAROM_EDGE = 1u;
// Corner 0 is a, corner 1 is b, and corner 2 is c.
const CAROM_CORNER = 4u;

// Returns the contact of a sphere with a wall at the time `toi`. `center`, `radius` and
// `velocity` are those at the start of the step. In a periodic domain, add the
// displacement of the image to `center`.
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
        // Divided by the largest component first, because the square of the length may
        // overflow or underflow.
        let largest = max(max(abs(away.x), abs(away.y)), abs(away.z));
        // A direction perpendicular to the axis of the wall. It is the normal if the
        // centre of the sphere lies on the axis.
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
    return CaromWallContact(point, dot(approach, normal), normal, CAROM_FACE);
}

// Returns the point nearest to p of a triangle with the corners 0, b and c. The triangle
// must have an area.
fn carom_nearest(p: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec3<f32> {
    return carom_nearest_part(p, b, c).point;
}

struct CaromNearest {
    point: vec3<f32>,
    // See CaromWallContact.
    feature: u32,
}

// Returns the code of the part of a triangle on which a point of an edge lies: a corner
// at an end of the edge, otherwise the edge. `share` is the position on the edge, from 0
// at the first corner to 1 at the second.
fn carom_part_of_edge(share: f32, edge: u32, corners: vec2<u32>) -> u32 {
    let inside_or_end = select(CAROM_EDGE + edge, CAROM_CORNER + corners.y, share >= 1.0);
    return select(inside_or_end, CAROM_CORNER + corners.x, share <= 0.0);
}

// As carom_nearest(), and also tells in which part of the triangle the point is.
fn carom_nearest_part(p: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> CaromNearest {
    // Dividing all lengths by the largest one avoids overflow.
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
    // In units of `scale`, the triangle has the corners 0, x and y, and q is the given
    // point. The point nearest to q in the triangle's plane is a·x + b·y, with a = of_x /
    // all and b = of_y / all.
    let of_x = yy * xq - xy * yq;
    let of_y = xx * yq - xy * xq;
    let rest = xx * yy - xy * xy - of_x - of_y;
    let all = of_x + of_y + rest;
    if of_x > 0.0 && of_y > 0.0 && rest > 0.0 && all > 1e-30 {
        return CaromNearest(b * (of_x / all) + c * (of_y / all), CAROM_FACE);
    }
    // If the nearest point is not inside the face, it is on one of the edges x, y and z.
    // `on_x` is the position of the nearest point on edge x, from 0 at its start to 1 at
    // its end.
    let z = y - x;
    let on_x = clamp(xq / max(xx, 1e-30), 0.0, 1.0);
    let on_y = clamp(yq / max(yy, 1e-30), 0.0, 1.0);
    let on_z = clamp(dot(z, q - x) / max(dot(z, z), 1e-30), 0.0, 1.0);
    let from_x = distance(q, x * on_x);
    let from_y = distance(q, y * on_y);
    let from_z = distance(q, x + z * on_z);
    if from_z < min(from_x, from_y) {
        return CaromNearest(b + (c - b) * on_z, carom_part_of_edge(on_z, 1u, vec2(1u, 2u)));
    }
    if from_y < from_x {
        return CaromNearest(c * on_y, carom_part_of_edge(on_y, 2u, vec2(0u, 2u)));
    }
    return CaromNearest(b * on_x, carom_part_of_edge(on_x, 0u, vec2(0u, 1u)));
}

// As carom_wall_contact(), for a triangle of a mesh.
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
    let nearest = carom_nearest_part(p, b, c);
    let away = nearest.point - p;
    let largest = max(max(abs(away.x), abs(away.y)), abs(away.z));
    // If the centre is on the triangle, this is one of the two normals of the face.
    var normal = cross(b, c);
    if largest > 0.0 {
        normal = away / largest;
    }
    normal = normalize(normal);
    let point = center + velocity * toi + normal * radius;
    return CaromWallContact(point, dot(approach, normal), normal, nearest.feature);
}

// Bits of `CaromSimulation.status`: why substeps of the last recording were rolled back,
// or that spheres were left out. The search for candidates was incomplete: see
// `search_status`.
const CAROM_SEARCH_INCOMPLETE = 1u;
// A substep needed more rounds than the option `rounds` allows.
const CAROM_TOO_FEW_ROUNDS = 2u;
// A sphere moved farther than the search for candidates assumed.
const CAROM_LEFT_PAD = 4u;
// Some spheres have invalid values and were left out.
const CAROM_SPHERES_LEFT_OUT = 8u;
// The list of impacts had no room for the impacts of a substep.
const CAROM_IMPACTS_FULL = 16u;
// A substep took hardly any time, because a sphere had more impacts than its path has
// room for.
const CAROM_COLLAPSE = 32u;
const CAROM_FAR_AWAY = 64u;
// The recording has not reached the requested time: `remaining` is above 0.
const CAROM_BEHIND = 128u;

// State of a hard-sphere simulation, written by the GPU. A recording is a call of
// `SimulationBuffers::record` in Rust, whose commands move the spheres by a number of
// substeps. In the rounds of a substep, impacts are added to the paths of spheres and
// removed from them, until no path changes. The pad of a sphere is the assumed bound on
// its displacement in a substep. A field of type vec2<f32> is one number, split into two
// float32 that have to be added up.
struct CaromSimulation {
    // Simulated time so far.
    time: vec2<f32>,
    // Time that recordings have requested and that has not been simulated yet, rounded to
    // float32. If it is not 0, the exact value is `remaining + carried`.
    remaining: f32,
    // Bits CAROM_SEARCH_INCOMPLETE to CAROM_BEHIND, of the last recording.
    status: u32,
    // Numbers of impacts of two spheres, and of a sphere and a wall, so far.
    impacts: vec2<u32>,
    wall_impacts: vec2<u32>,
    // Virial: the sum of centre distance times impulse, over all impacts of two spheres
    // so far.
    virial: vec2<f32>,
    // Kinetic energy of the spheres of finite mass, after the last complete substep.
    kinetic_energy: f32,
    // Numbers of complete substeps and of substeps that were rolled back, so far.
    substeps: u32,
    rollbacks: u32,
    // Largest number of rounds in any complete substep of the last recording.
    rounds: u32,
    // `CaromResults.status` of the last search for candidates that was incomplete.
    search_status: u32,
    // Number of candidates of two spheres in the last substep, or of a sphere and a
    // triangle if it is larger.
    candidates: u32,
    // Number of spheres in the current substep, or 0 if the requested time is reached.
    spheres: u32,
    // Duration of the current substep, and intended duration of the next one. 0 before
    // the first.
    substep: f32,
    pace: f32,
    // A pad is at least this speed times the duration of the substep.
    pad_speed: f32,
    // Edge of the cells of the coarse grid that marks spheres outside their pads.
    cell: f32,
    // Number of the current round. `settled` is 0 in the rounds, 1 if no path has changed
    // in the last round, 2 if also no sphere has left its pad, and 3 if too many spheres
    // have, or if the list of their further candidates is full.
    round: u32,
    settled: u32,
    // Number of spheres whose next impact the current round has to find.
    in_round: u32,
    // 1 if the substep is complete.
    accepted: u32,
    // Number of complete substeps of the last recording.
    committed: u32,
    // Number of substeps in a row that were rolled back.
    failures: u32,
    // Serial number of the last recording, from 1.
    serial: u32,
    // Number of impacts of the last recording, which are in the list of impacts.
    listed: u32,
    // Planned duration of the current substep. It ends earlier if the path of a sphere
    // has no room for a further impact.
    planned: f32,
    // The rounding error of `remaining`, positive or negative. If `remaining` is 0, the
    // requested time counts as reached, and the next recording with a duration above 0
    // adds this error to its own time.
    carried: f32,
    // The contact time, or the shortest one with which float32 numbers let spheres rest.
    contact_time: f32,
    // Time that recordings have requested and that was dropped, so far.
    dropped: vec2<f32>,
}

// An impact of two spheres, or of a sphere and a wall, in a hard-sphere simulation.
struct CaromImpact {
    // Simulated time of the impact, like `CaromSimulation.time`.
    time: vec2<f32>,
    // Index of the sphere, or the smaller of two indices.
    a: u32,
    // Index of the other sphere, or the number of the wall plus CAROM_WALL.
    b: u32,
    // The contact point on the surface of sphere a or, at a wall, of the image of sphere
    // a that hits it.
    point: vec3<f32>,
    // In a periodic domain, the image of sphere b, or the image of sphere a that hits a
    // wall. Pass it to carom_image().
    image: u32,
    // Unit vector from the centre of sphere a to the contact point.
    normal: vec3<f32>,
    unused: u32,
    // Momentum that sphere a passes to sphere b or to the wall.
    impulse: vec3<f32>,
    unused_too: u32,
}
