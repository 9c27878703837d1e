// Checks the spheres of a search that kernels of carom itself make. Spheres of an application are checked in
// `load_spheres.wgsl`.

#import types::{Sphere}
#needs counters

// Largest magnitude of all coordinates and radii, as the bits of a float32.
var<workgroup> sh_extent: atomic<u32>;
// Number of the workgroup's spheres with invalid values.
var<workgroup> sh_left_out: atomic<u32>;

// Returns a sphere at rest as the search is to read it: with a negative radius if it has an invalid value.
fn searched(sphere: Sphere) -> Sphere {
    // As integers, the bits of magnitudes have the order of the magnitudes, and those of infinity, NaN and
    // negative radii are above those of every valid magnitude.
    let words = bitcast<vec3<u32>>(sphere.center) & vec3<u32>(0x7fffffffu);
    let most = max(max(max(words.x, words.y), words.z), bitcast<u32>(sphere.radius));
    if most > bitcast<u32>(MAX_MAGNITUDE) {
        atomicAdd(&sh_left_out, 1u);
        return Sphere(vec3<f32>(0.0), -1.0, vec3<f32>(0.0), sphere.groups);
    }
    atomicMax(&sh_extent, most);
    return sphere;
}

// Adds the counts of the workgroup to the counters. Every invocation calls this function, after `searched`.
fn count_searched(local: u32) {
    workgroupBarrier();
    if local == 0u {
        if atomicLoad(&sh_extent) > 0u {
            atomicMax(&counters.extent, atomicLoad(&sh_extent));
        }
        if atomicLoad(&sh_left_out) > 0u {
            atomicAdd(&counters.invalid, atomicLoad(&sh_left_out));
        }
    }
}
