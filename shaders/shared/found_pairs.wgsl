// Lists the pairs that may touch. Each workgroup collects its pairs in workgroup
// memory, and appends them in one block.

#import carom::{CAROM_GRAZING, CaromCollision}
#import filter::{Filtered}
#import impact::{rough_impact}
#import ownership::{OTHER, SHARED, ownership}
#import units::{times_power}
#needs counters, pairs, params

const STAGED = 2u * WORKGROUP;
var<workgroup> sh_found: array<CaromCollision, STAGED>;
// The first STAGED are collected, then copied to the list from entry sh_base on.
var<workgroup> sh_pairs: atomic<u32>;
var<workgroup> sh_base: u32;

// Returns the first of `count` entries. Counting goes on when the list is full.
fn reserve(count: u32) -> u32 {
    let first = atomicAdd(&counters.pairs[0], count);
    if first + count < first {
        atomicAdd(&counters.pairs[1], 1u);
    }
    return first;
}

// After 2^32 pairs, `place` wraps around. Such a list is reported as truncated.
fn list(place: u32, found: CaromCollision) {
    if place < params.pair_capacity {
        pairs[place] = found;
    }
}

fn list_staged(staged: u32) {
    if staged < min(atomicLoad(&sh_pairs), STAGED) {
        list(sh_base + staged, sh_found[staged]);
    }
}

// Unless other time segments own the pair.
fn report(s: Filtered, a: u32, b: u32, tag_i: u32, tag_j: u32) {
    let owned = ownership(s, tag_i, tag_j, params.dt);
    if owned == OTHER {
        return;
    }
    // `decide` cannot tell which of several reports of a pair is the first.
    let undecided = s.margin <= s.bound && (params.flags & FLAG_DECIDE) == 0u;
    let grazing = owned == SHARED || undecided;
    let times = rough_impact(s, params.dt);
    let found = CaromCollision(
        a,
        b | select(0u, CAROM_GRAZING, grazing),
        times.x * params.time_unit,
        times_power(times.y, -params.length_power),
    );
    let staged = atomicAdd(&sh_pairs, 1u);
    if staged < STAGED {
        sh_found[staged] = found;
    } else {
        list(reserve(1u), found);
    }
}
