// An item has a row and a place in its row, which is an index, as b of a pair, and then an image. The
// last word is a value.

#import carom::{CAROM_GRAZING}

const SIGN = 0x80000000u;

// One word suffices for the time and the depth, because one of them is 0.
fn value_of(toi: u32, depth: u32) -> u32 {
    return select(toi, depth | SIGN, depth != 0u);
}

// The time and the depth.
fn times_of(value: u32) -> vec2<u32> {
    return select(vec2<u32>(value, 0u), vec2<u32>(0u, value & ~SIGN), value >= SIGN);
}

// Of two items of a row. Equal ones are in the order of their places.
fn precedes(one: vec4<u32>, other: vec4<u32>, if_equal: bool) -> bool {
    let b = vec2<u32>(one.y, other.y) & vec2<u32>(~CAROM_GRAZING);
    if b.x != b.y {
        return b.x < b.y;
    }
    return one.z < other.z || (one.z == other.z && if_equal);
}
