// The choice of the sampled spheres. Twin of `sampled` in `src/cpu/measure/spacing.rs`.

#needs params, spheres

// Number of further spheres tried in a stretch of the input if spheres are set aside.
const SAMPLE_TRIES = 16u;

// Returns where stretch k of the input begins: floor(k * spheres / sample), computed without
// overflow. Sampled sphere k is chosen from this stretch.
fn stretch_begin(k: u32) -> u32 {
    return k * (params.spheres / params.sample) + k * (params.spheres % params.sample) / params.sample;
}

// Returns the index of sampled sphere k. It is chosen pseudorandomly from its stretch, so that
// no regular order of the input affects the sample. Spheres that are set aside are avoided if
// there is another one within SAMPLE_TRIES.
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
