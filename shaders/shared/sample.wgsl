// Which spheres stand for all. Twin of `sampled` in `src/cpu/measure/spacing.rs`.

#needs params, spheres

// Spheres tried in a stretch, where some are set aside.
const SAMPLE_TRIES = 16u;

// Where the stretch of the input begins out of which the sphere number k of the
// sample is: floor(k * spheres / sample), with no overflow.
fn stretch_begin(k: u32) -> u32 {
    return k * (params.spheres / params.sample) + k * (params.spheres % params.sample) / params.sample;
}

// One of each stretch, which one by chance, so that no regular order shows; not
// one set aside, where there is another close by.
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
