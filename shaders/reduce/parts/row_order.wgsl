// Orders the list of pairs by a, b and image, with a row for each a. `count_row` counts
// the pairs of each row, and prefix sums make their first places. `place_pair` puts
// each pair anywhere in its row, and `rank_pair` in its place there. Importing kernels
// declare `image_at(index)` and `put_image(place, image)`.

#import carom::{CAROM_GRAZING}
#needs params, records, results, row_ends, row_pairs

// In a longer row, pairs keep any order. The host sorts such a list.
const LONGEST_ROW = 128u;
const SIGN = 0x80000000u;

fn count_row(index: u32) {
    if index < results.pairs {
        atomicAdd(&row_ends[records[4u * index]], 1u);
    }
}

// One word suffices for the time and the depth, because one of them is 0.
fn value_of(toi: u32, depth: u32) -> u32 {
    return select(toi, depth | SIGN, depth != 0u);
}

// Afterwards, `row_ends` has the ends of the rows.
fn place_pair(index: u32) {
    if index >= results.pairs {
        return;
    }
    let at = 4u * index;
    let a = records[at];
    let value = value_of(records[at + 2u], records[at + 3u]);
    let place = atomicAdd(&row_ends[a], 1u);
    row_pairs[place] = vec4<u32>(a, records[at + 1u], image_at(index), value);
}

// Equal pairs are in the order of their places.
fn precedes(one: vec4<u32>, other: vec4<u32>, if_equal: bool) -> bool {
    let b = vec2<u32>(one.y, other.y) & vec2<u32>(~CAROM_GRAZING);
    if b.x != b.y {
        return b.x < b.y;
    }
    return one.z < other.z || (one.z == other.z && if_equal);
}

fn rank_pair(index: u32) {
    if index >= results.pairs {
        return;
    }
    let own = row_pairs[index];
    let begin = select(0u, atomicLoad(&row_ends[max(own.x, 1u) - 1u]), own.x > 0u);
    let end = atomicLoad(&row_ends[own.x]);
    var place = index;
    if end - begin <= LONGEST_ROW {
        place = begin;
        for (var k = begin; k < end; k++) {
            place += select(0u, 1u, precedes(row_pairs[k], own, k < index));
        }
    }
    put_image(place, own.z);
    if (params.flags & FLAG_SHORT_RECORDS) != 0u {
        records[2u * place] = own.y;
        records[2u * place + 1u] = own.w;
    } else {
        records[3u * place] = own.x;
        records[3u * place + 1u] = own.y;
        records[3u * place + 2u] = own.w;
    }
}
