// The digit by which one pass of the sort orders the items: four bits of one word.

#import carom::{CAROM_GRAZING}
#needs digit, results

struct Digit {
    // Index of the word in an item, and position of the digit's lowest bit.
    word: u32,
    shift: u32,
    // 0 if there are as many items as pairs, otherwise there are as many as sorted pairs.
    distinct: u32,
    unused: u32,
}

// Returns the digit of an item.
fn digit_of(item: vec4<u32>) -> u32 {
    return ((item[digit.word] & ~CAROM_GRAZING) >> digit.shift) % DIGITS;
}

// Returns the number of items to be sorted.
fn item_count() -> u32 {
    return select(results.pairs, results.sorted, digit.distinct != 0u);
}
