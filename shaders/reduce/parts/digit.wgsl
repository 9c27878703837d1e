// The digit by which one pass of the radix sort orders its items: four bits of one word of each item.

#import carom::{CAROM_GRAZING}
#needs digit, results

struct Digit {
    word: u32,
    shift: u32,
    // 0: from the found pairs, which may repeat. 1: from the sorted list.
    distinct: u32,
    unused: u32,
}

fn digit_of(item: vec4<u32>) -> u32 {
    // With a dynamic vector index instead of select(), compilers move the vector
    // from registers to memory.
    let word = select(select(item.x, item.y, digit.word == 1u), item.z, digit.word == 2u);
    return ((word & ~CAROM_GRAZING) >> digit.shift) % DIGITS;
}

fn item_count() -> u32 {
    return select(results.pairs, results.sorted, digit.distinct != 0u);
}
