// Floats as words, for atomicMax().

// A word that sorts as the float it stands for, and is never 0 but for NaN.
fn sortable(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn from_sortable(word: u32) -> f32 {
    return bitcast<f32>(select(~word, word & 0x7fffffffu, (word >> 31u) == 1u));
}
