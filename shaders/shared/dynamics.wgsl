// Hard-sphere dynamics: its data, and the paths of spheres in a substep. Times count from the start of the
// substep. Twins of the structs are in `src/gpu/shader/layout.rs`.

// A simulation and a recording of it.
struct SimulationRequest {
    gravity: vec3<f32>,
    // Time by which the recording moves the spheres.
    duration: f32,
    // Edges of the periodic domain in xyz, 0 if an edge is not periodic, and the vectors with which they are
    // reciprocal.
    edges: array<vec4<f32>, 3>,
    duals: array<vec4<f32>, 3>,
    corner: vec3<f32>,
    periodic: u32,
    restitution: f32,
    wall_restitution: f32,
    contact_time: f32,
    // Mean number of impacts of a sphere in a substep that is aimed at.
    impacts: f32,
    walls: u32,
    spheres: u32,
    // Place of the first inverse mass in the application's buffer, and distance of one to the next, in words. With
    // a distance of 0, all masses are 1.
    mass_first: u32,
    mass_stride: u32,
    serial: u32,
    // Number of rounds in a substep.
    rounds: u32,
    unused: u32,
    unused_too: u32,
}

struct SimulationCounters {
    // 1 if a sphere has an impact or a cut ahead.
    pending: atomic<u32>,
    // Numbers of impacts of two spheres, and of a sphere and a wall.
    impacts: atomic<u32>,
    wall_impacts: atomic<u32>,
    // Number of spheres that left their pads.
    left: atomic<u32>,
    invalid: atomic<u32>,
    // Largest speed and largest radius, as the bits of float32 numbers.
    fastest: atomic<u32>,
    largest: atomic<u32>,
}

// Sum of the momenta that spheres passed to a wall. The sum is that of both vectors.
struct WallImpulse {
    high: vec4<f32>,
    low: vec4<f32>,
}

// A sphere at the start of the substep. A negative radius marks a sphere that takes no part.
struct Body {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    inverse_mass: f32,
}

// The progress of a sphere in the substep. `find` writes `time` and `next`, while other invocations read `count` and
// `stamp` of the same sphere. `strike` writes `count` and `stamp`, while others read `time` and `next`.
struct Track {
    // Number of impacts of the sphere.
    count: u32,
    // Round in which the path changed last.
    stamp: u32,
    // The next impact: its time, and the candidate, or NEXT_WALL plus a wall, or NEXT_NONE. With NEXT_CUT, all
    // impacts but the first `time` (as a whole number) are undone.
    time: f32,
    next: u32,
    // Largest distance that the sphere may move.
    pad: f32,
    // Time of its last impact before the substep, which is below 0, or 0 if it had none.
    since: f32,
    // Speed for which its pad was too small, or 0.
    wide: f32,
    // Bit k is set if it can touch wall k.
    walls: u32,
}

// Free motion from an impact on. Gravity is left out, because it displaces all spheres of finite mass alike.
struct PathPiece {
    // Displacement from the start of the substep until the impact.
    place: vec3<f32>,
    start: f32,
    velocity: vec3<f32>,
    // The impact: MOST_IMPACTS times the index of the candidate, plus the number that this impact has in the path of
    // the other sphere; or NEXT_WALL plus the number of a wall.
    link: u32,
}

// Two spheres a < b that may meet.
struct Candidate {
    // Centre of the image of sphere b minus the centre of sphere a.
    apart: vec3<f32>,
    a: u32,
    b: u32,
    image: u32,
    // Places of the candidate in the rows of spheres a and b.
    place_a: u32,
    place_b: u32,
}

const NEXT_NONE = 0xffffffffu;
const NEXT_CUT = 0xfffffffeu;
const NEXT_WALL = 0x80000000u;
// A time so long ago that it does not matter, and a time that never comes.
const LONG_AGO = -1e30;
const NEVER = GREATEST;
