// Chooses the spheres of the sample. Twin of `sampled` in `src/cpu/measure/spacing.rs`.

#needs params, spheres

// If the chosen sphere has invalid values.
const SAMPLE_TRIES = 16u;

// floor(k * spheres / sample), computed without overflow.
fn stretch_begin(k: u32) -> u32 {
    return k * (params.spheres / params.sample) + k * (params.spheres % params.sample) / params.sample;
}

// Pseudorandom within part k of the input, so that a regular order of the spheres does
// not bias the sample.
fn sampled(k: u32) -> u32 {
    var chance = k * SAMPLE_HASH;
    chance = (chance ^ (chance >> 15u)) * SAMPLE_HASH_MIX;
    chance ^= chance >> 13u;
    let stretch = stretch_begin(k + 1u) - stretch_begin(k);
    var i = stretch_begin(k) + chance % stretch;
    for (var tries = 0u; tries < SAMPLE_TRIES && spheres[i].radius < 0.0; tries++) {
        chance++;
        i = stretch_begin(k) + chance % stretch;
    }
    return i;
}
