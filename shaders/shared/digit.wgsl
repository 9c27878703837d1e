// What one pass of the sort goes by: four bits of one word of each item.

#import carom::{CAROM_GRAZING}
#needs digit, results

struct Digit {
    word: u32,
    shift: u32,
    // Not 0 for items as many as sorted pairs, 0 for those as many as pairs.
    distinct: u32,
    unused: u32,
}

fn digit_of(item: vec4<u32>) -> u32 {
    return ((item[digit.word] & ~CAROM_GRAZING) >> digit.shift) % DIGITS;
}

// How many items there are to sort.
fn item_count() -> u32 {
    return select(results.pairs, results.sorted, digit.distinct != 0u);
}
