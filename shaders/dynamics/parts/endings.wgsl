// How the paths of spheres end at the end of a substep of hard-sphere dynamics in which spheres rest, and the list of
// what touches.
//
// The buffer `touches` has, in this order:
// - for each sphere two elements: its velocity in the next substep and whether it is held then, and the number of its
//   contacts, the place of the first of them, whether it collapses, and whether it touches a wall that moves,
// - for each sphere FORCES elements, each with two contacts of the last substep: a partner and a force,
// - the contacts of each sphere, two elements for each: the normal towards the partner and the impulse, and the partner
//   (see `PARTNER_MASK`), the speed at which the two have to part, the impulse of the next sweep, and the depth of the
//   overlap with the number of the wall (see `WALL_MASK`).
// The contact of two spheres is listed for both. Both have the same numbers, with the opposite normal.

#import paths::{is_crowded, path_piece, place_at, strain_of}
#import rests::{is_held}
#needs bodies, simulation, simulation_request, tracks

const FORCES = 6u;
// The partner of a contact is the index of a sphere, NEXT_WALL plus the number of a wall, or NEXT_TRIANGLE plus the
// index of a triangle. The bit BEARS is set if the sphere can rest on it.
const BEARS = 0x40000000u;
// The bit SPREADS is set if the two touch only as long as a collapse spreads to them: see `simulation_sweep.wgsl`.
const SPREADS = 0x10000000u;
const PARTNER_MASK = ~(BEARS | SPREADS);
// The depth of an overlap is a float32. Its last five bits are replaced by the number of the wall.
const WALL_MASK = 31u;

fn forces_of(sphere: u32) -> u32 {
    return 2u * simulation.spheres + FORCES * sphere;
}

fn contacts_from(row: u32, sphere: u32) -> u32 {
    return (2u + FORCES) * simulation.spheres + 2u * (row + sphere * simulation_request.walls);
}

// The state of a sphere at the end of the substep.
struct Ending {
    // Relative to its rounded centre at the start of the substep.
    place: vec3<f32>,
    velocity: vec3<f32>,
    // For how long gravity has not acted on the sphere, although it has a finite mass.
    owed: f32,
    // Whether the impulses that keep bodies apart are to be found for the sphere and all that touches it: it rests, is
    // crowded, or has strain.
    joins: bool,
    // Whether the sphere has become crowded within the last contact time. All bodies that touch it then part at once,
    // however fast they approach.
    crowded: bool,
    strain: f32,
}

// Returns the number of impacts on the path of a sphere until the end of the substep.
fn count_until_end(sphere: u32) -> u32 {
    var count = tracks[sphere].count;
    while count > 0u && path_piece(sphere, count).start > simulation.substep {
        count--;
    }
    return count;
}

fn ending(sphere: u32) -> Ending {
    let duration = simulation.substep;
    let count = count_until_end(sphere);
    let last = path_piece(sphere, count);
    let held = is_held(sphere, last);
    var end = Ending(place_at(last, duration), last.velocity, 0.0, false, false, 0.0);
    if bodies[sphere].inverse_mass == 0.0 {
        return end;
    }
    if held {
        var first = count;
        while first > 0u && is_held(sphere, path_piece(sphere, first - 1u)) {
            first--;
        }
        end.owed = duration - path_piece(sphere, first).start;
    } else {
        end.place += simulation_request.gravity * (0.5 * duration * duration);
        end.velocity += simulation_request.gravity * duration;
    }
    end.strain = strain_of(sphere);
    end.joins = held || end.strain > 0.0;
    if is_crowded(sphere, count) {
        end.joins = true;
        end.crowded = duration - path_piece(sphere, count - 3u).start < simulation.contact_time;
    }
    return end;
}
