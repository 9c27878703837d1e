// Orders the list of pairs by a, b and image, with a row for each a. `count_row` counts
// the pairs of each row, and prefix sums make their first places. `place_pair` puts
// each pair anywhere in its row, and `rank_pair` in its place there. Importing kernels
// declare `image_at(index)` and `put_image(place, image)`.

#import row_items::{precedes, value_of}
#needs params, records, results, row_ends, row_pairs

// In a longer row, pairs keep any order. The host sorts such a list.
const LONGEST_ROW = 128u;

fn count_row(index: u32) {
    if index < results.pairs {
        atomicAdd(&row_ends[records[4u * index]], 1u);
    }
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
