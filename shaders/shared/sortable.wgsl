// Converts floats to unsigned integers with the same order, for atomicMax(), and back.

// Never 0, except perhaps for a NaN.
fn sortable(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn from_sortable(word: u32) -> f32 {
    return bitcast<f32>(select(~word, word & 0x7fffffffu, (word >> 31u) == 1u));
}
