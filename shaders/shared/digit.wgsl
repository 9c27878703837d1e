// The digit by which one pass of the radix sort orders the items: four bits of one word of each
// item.

#import carom::{CAROM_GRAZING}
#needs digit, results

struct Digit {
    // Index of the word that contains the digit, and position of the digit's lowest bit in this
    // word.
    word: u32,
    shift: u32,
    // 0 if all pairs in the list are items of this sort. 1 if there is one item for each pair of
    // the sorted list, in which no pair is repeated.
    distinct: u32,
    unused: u32,
}

// Returns the digit of an item that this pass of the sort uses.
fn digit_of(item: vec4<u32>) -> u32 {
    return ((item[digit.word] & ~CAROM_GRAZING) >> digit.shift) % DIGITS;
}

// Returns the number of items to be sorted.
fn item_count() -> u32 {
    return select(results.pairs, results.sorted, digit.distinct != 0u);
}
