// When the rounds of a substep end, finds the first impact for which the path of a sphere has no room. Also finds
// the spheres that have moved farther than their pads, and widens these pads. The kernels `widen` and
// `widen_triangles` then find the further candidates of these spheres. The substep is rolled back instead if more
// than MOST_LEFT spheres have left their pads or, in a periodic domain, if any sphere has.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{Body, NEXT_NONE, PathPiece, SimulationCounters, SimulationRequest, Track}
#import groups::{ignore_each_other}
#import invocation::{invocation}
#import left_cells::{mark_cells}
#import paths::{WIDER, farthest}
#import round_spheres::{add_to_round}
#import switches::{switched_on}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(5) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(6) var<storage, read_write> padded_spheres: array<Sphere>;
@group(0) @binding(7) var<storage, read_write> round_spheres: array<atomic<u32>>;
// A sphere has left its pad if it has moved farther than the assumed bound on its displacement. Element
// 0 is the number of such spheres. Element 1 is 1 if all spheres have to be tested against them, and 0
// if only the spheres in marked grid cells have to be tested. The other elements are the indices of the
// spheres that have left their pads.
@group(0) @binding(8) var<storage, read_write> left_spheres: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> simulation_counters: SimulationCounters;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= simulation.spheres || bodies[i].radius < 0.0 {
        return;
    }
    if tracks[i].next != NEXT_NONE {
        atomicMin(&simulation_counters.full, bitcast<u32>(tracks[i].time));
    }
    if simulation_request.periodic != 0u {
        return;
    }
    let moved = farthest(i, tracks[i].count, simulation.substep);
    let pad = tracks[i].pad;
    if moved <= pad {
        return;
    }
    let number = atomicAdd(&left_spheres[0], 1u);
    if number >= MOST_LEFT {
        return;
    }
    atomicStore(&left_spheres[2u + number], i);
    atomicAdd(&simulation_counters.widened, 1u);
    tracks[i].pad = WIDER * moved;
    tracks[i].wide = WIDER * moved / simulation.substep;
    padded_spheres[i].radius += (WIDER * moved - pad) * (1.0 + 1e-6);
    // A sphere with a wider pad may meet walls that it could not reach with its old pad. So it is tested
    // against all walls that it does not ignore.
    for (var rest = switched_on(0u, simulation_request.walls); rest != 0u; rest &= rest - 1u) {
        let k = firstTrailingBit(rest);
        if !ignore_each_other(padded_spheres[i].groups, simulation_walls[k].groups) {
            tracks[i].walls |= 1u << k;
        }
    }
    add_to_round(i);
    if !mark_cells(number, padded_spheres[i]) {
        atomicStore(&left_spheres[1u], 1u);
    }
}
