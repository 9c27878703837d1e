// Data of hard-sphere dynamics. A step of the simulation is divided into substeps, and times count from the
// start of the substep. The Rust twins of the structs are in `src/gpu/device/shader/layout.rs`.

// The settings of a simulation, and the simulated time requested with one recording.
struct SimulationRequest {
    gravity: vec3<f32>,
    // Without the time that earlier recordings left over.
    duration: f32,
    // The edges of the periodic domain in xyz (0 for an edge that is not periodic), and their reciprocal
    // vectors.
    edges: array<vec4<f32>, 3>,
    duals: array<vec4<f32>, 3>,
    corner: vec3<f32>,
    periodic: u32,
    restitution: f32,
    // The least of all restitutions.
    least_restitution: f32,
    contact_time: f32,
    // Target for the mean number of impacts of a sphere in a substep.
    impacts: f32,
    // Number of walls of simple shapes. `surfaces` is this number plus the number of meshes.
    walls: u32,
    surfaces: u32,
    spheres: u32,
    // Place of the inverse masses of the spheres in the application's buffer, in words: the index of the first one,
    // and the distance from one to the next. With a distance of 0, all masses are 1.
    mass_first: u32,
    mass_stride: u32,
    serial: u32,
    // Of a substep.
    rounds: u32,
    // Capacity for pairs of spheres, and for as many pairs of a sphere and a triangle.
    near_capacity: u32,
    // Capacity of the list of impacts, or 0 without a list.
    impact_capacity: u32,
    // Largest magnitude of any coordinate of the periodic domain's origin and edges, or 0 in open space.
    domain_extent: f32,
    // Number of triangles of all meshes.
    triangles: u32,
    // 1 if spheres touch only the fronts of triangles, and 0 otherwise.
    one_sided: u32,
    // Most of the time that earlier recordings left over, and that a recording simulates. The rest is dropped.
    most_remaining: f32,
    // Bits of walls and meshes: those that are switched off, those that the host has changed since the last recording,
    // and those among them that have got another shape.
    off: u32,
    changed: u32,
    jumped: u32,
    // How the restitutions of two bodies give that of their impact (the constants COMBINE of `rests.wgsl`). The spheres below
    // `own_restitutions` have one of their own: these are in the list of bodies, from this entry on.
    combine: u32,
    own_restitutions: u32,
    // Number of impacts for which each path has room, at most MOST_IMPACTS.
    path_room: u32,
    // 1 if the host has changed anything since the last recording that may have supported a sphere, and 0 otherwise.
    edited: u32,
    // The restitution of each wall and mesh, four in a vector.
    wall_restitutions: array<vec4<f32>, MOST_WALLS / 4u>,
}

// The motion of a wall or mesh: how far it had moved at the time `since`, with rounding errors, and its velocity in the
// recording with the number `serial`.
struct WallMotion {
    moved: vec3<f32>,
    serial: u32,
    errors: vec3<f32>,
    unused: u32,
    velocity: vec3<f32>,
    unused_too: u32,
    since: vec2<f32>,
    unused_as_well: vec2<u32>,
}

struct SimulationCounters {
    // 1 if, after the last round, any sphere still has an impact to add to its path before the end of the substep.
    // Otherwise 0.
    pending: atomic<u32>,
    // Number of impacts between two spheres, and number of impacts between a sphere and a wall.
    impacts: atomic<u32>,
    wall_impacts: atomic<u32>,
    // Number of spheres that have left their pads.
    left: atomic<u32>,
    // Number of times that a sphere got a wider pad during the substep.
    widened: atomic<u32>,
    invalid: atomic<u32>,
    // Largest speed and largest radius, as the bits of float32 numbers.
    fastest: atomic<u32>,
    largest: atomic<u32>,
    // Number of pairs found whose two spheres belong to one compound body, or overlap. A shorter substep has as many.
    together: atomic<u32>,
    // Number of impacts in the list of impacts.
    listed: atomic<u32>,
    // Time of the first impact for which the path of a sphere has no room, as the bits of a float32 number. NEVER if
    // there is none.
    full: atomic<u32>,
    // Longest durations of the next substep on account of spheres that rest, as the bits of float32 numbers: in any case,
    // and if any sphere moves.
    longest: atomic<u32>,
    longest_moving: atomic<u32>,
    // 1 if any moving sphere is so far from the origin that float32 numbers are too coarse for it. Otherwise 0.
    far_away: atomic<u32>,
    // 1 if what supports a sphere may have changed since the last substep, and 0 otherwise.
    edited: atomic<u32>,
}

// Total momentum that spheres have passed to a wall, with more digits than a float32: `high` is the rounded total, and
// `low` its rounding error.
struct WallImpulse {
    high: vec4<f32>,
    low: vec4<f32>,
}

// A sphere at the start of the substep. A negative radius marks a sphere that takes no part.
struct Body {
    // Rounded to float32. The centre is `center + residue`, with about twice as many digits. Without the residue,
    // rounding errors would add up from substep to substep, and a slow sphere might never move.
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    inverse_mass: f32,
    residue: vec3<f32>,
    // Used only if spheres can rest: 1 if gravity does not act on the sphere at the start of the substep, and otherwise 0.
    held: f32,
}

// The progress of a sphere in the substep. The kernel `find` writes only the fields `time`, `next` and
// `found`, and the kernel `strike` writes only `count`. So each of the two kernels can read what the
// other has written for any sphere, without a data race.
struct Track {
    // Number of impacts of the sphere in this substep so far.
    count: u32,
    // Number of the last round in which the kernel `find` determined the next impact of the sphere.
    found: u32,
    // The next impact of the sphere: its time, and what is hit. `next` is the index of a candidate pair,
    // or NEXT_WALL plus the code of a wall and an image, or NEXT_TRIANGLE plus the index of a pair of a
    // sphere and a triangle, or NEXT_NONE. If `next` is NEXT_CUT, impacts at the end of the sphere's
    // path have turned out to be wrong, and `time` is instead the number of impacts that stay on the
    // path.
    time: f32,
    next: u32,
    pad: f32,
    // Time of the sphere's last impact before this substep, relative to the start of the substep, so it
    // is negative. 0 if there was no such impact. If spheres can rest, instead the strain of the sphere: see `paths.wgsl`.
    since: f32,
    // If the pad was too small, in this substep or in one that was rolled back: a speed from which the next pad is
    // computed. Otherwise 0.
    wide: f32,
    // Bit k is set if the sphere may touch wall k in this substep. The bits of meshes are set for all spheres of finite
    // mass.
    walls: u32,
}

// A piece of a sphere's path, from one impact to the next. Gravity is left out, because it displaces all
// spheres of finite mass by the same vector. (A sphere that rests is an exception: see `rests.wgsl`.)
struct PathPiece {
    // Position at the impact with which this piece of the path begins, relative to `Body.center`, the rounded centre
    // at the start of the substep. The first piece begins without an impact, at `Body.residue`.
    place: vec3<f32>,
    start: f32,
    velocity: vec3<f32>,
    // The impact with which this piece of a path begins. For an impact at a wall or a triangle, `link`
    // is the same code as in the field `next` of the struct `Track`. For an impact with another sphere,
    // `link` is c * MOST_IMPACTS + n. Here c is the index of the candidate pair, and n is the number of
    // earlier impacts of the other sphere in this substep. The bit HELD of `rests.wgsl` is added if gravity does not act
    // on the sphere during this piece.
    link: u32,
}

// A candidate: two spheres a < b that may meet in the substep, or a sphere `a` and a triangle `b`. The
// list of candidates has pairs of spheres first. Pairs of a sphere and a triangle begin at the index
// `SimulationRequest.near_capacity`. In such a pair, `image` is the image of the triangle, `apart` is
// the centre of the sphere minus corner a of that image, and `place_b` is the number of the mesh in the
// list of walls.
struct Candidate {
    // Centre of the image of sphere b minus the centre of sphere a.
    apart: vec3<f32>,
    a: u32,
    b: u32,
    image: u32,
    // Positions of this pair in the rows of candidates of spheres a and b. Each sphere also has a linked
    // list of candidates found after a sphere moved farther than its pad. For a candidate in such lists,
    // these fields are the next entries in the lists of a and b.
    place_a: u32,
    place_b: u32,
}

// The box around a mesh, with its sides along the axes, at time 0 of the simulation.
struct MeshBox {
    center: vec3<f32>,
    unused: f32,
    half_sides: vec3<f32>,
    unused_too: f32,
}

// A triangle of a mesh. Corners b and c are relative to corner a, which is at its place at time 0 of the simulation. The
// array of triangles goes on after the last one, with what adjoins them (see `vector_around`).
struct MeshTriangle {
    a: vec3<f32>,
    // Number of the mesh in the list of walls.
    mesh: u32,
    b: vec3<f32>,
    // The numbers of the vectors with which the lists of the three corners begin.
    corner_a: u32,
    c: vec3<f32>,
    corner_b: u32,
    // A unit vector.
    normal: vec3<f32>,
    corner_c: u32,
}

const NEXT_NONE = 0xffffffffu;
const NEXT_CUT = 0xfffffffeu;
const NEXT_WALL = 0x80000000u;
const NEXT_TRIANGLE = 0xa0000000u;
// The times of the last impact of a sphere that has had none, and of an impact that does not happen.
const LONG_AGO = -1e30;
const NEVER = GREATEST;
