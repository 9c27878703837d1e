// Whole numbers of two words, in two's complement, and the bits of float32 numbers as such numbers.

struct WideWord {
    low: u32,
    high: u32,
}

// A finite float32 is its significand times 2^exponent_of.
fn significand(bits: u32) -> u32 {
    return (bits & 0x7fffffu) | select(0u, 0x800000u, (bits & 0x7f800000u) != 0u);
}

fn exponent_of(bits: u32) -> i32 {
    return max(i32((bits >> 23u) & 255u), 1) - 150;
}

// A large number for 0.
fn lowest_bits(bits: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(lowest_of(bits.x), lowest_of(bits.y), lowest_of(bits.z), lowest_of(bits.w));
}

fn lowest_of(bits: u32) -> i32 {
    let digits = significand(bits);
    return select(exponent_of(bits) + i32(firstTrailingBit(digits)), 1000, digits == 0u);
}

fn is_below(bits: vec4<u32>, power: i32) -> bool {
    return is_one_below(bits.x, power) && is_one_below(bits.y, power) && is_one_below(bits.z, power)
        && is_one_below(bits.w, power);
}

fn is_one_below(bits: u32, power: i32) -> bool {
    return significand(bits) == 0u || exponent_of(bits) + 24 <= power;
}

// Returns x·2^bits, modulo 2^64.
fn raised_word(x: WideWord, bits: u32) -> WideWord {
    let by = bits & 31u;
    // A shift by 32 bits would be one by none.
    let high = (x.high << by) | ((x.low >> 1u) >> (31u - by));
    let low = x.low << by;
    return WideWord(select(low, 0u, bits >= 32u), select(high, low, bits >= 32u));
}

fn sum_of(x: WideWord, y: WideWord) -> WideWord {
    let low = x.low + y.low;
    return WideWord(low, x.high + y.high + select(0u, 1u, low < x.low));
}

fn negated(x: WideWord, negate: bool) -> WideWord {
    let low = ~x.low + 1u;
    let high = ~x.high + select(0u, 1u, low == 0u);
    return WideWord(select(x.low, low, negate), select(x.high, high, negate));
}

fn magnitude(x: WideWord) -> WideWord {
    return negated(x, (x.high >> 31u) != 0u);
}

fn bit_length(x: WideWord) -> u32 {
    let of_low = 32u - countLeadingZeros(x.low);
    return select(of_low, 64u - countLeadingZeros(x.high), x.high != 0u);
}

// `unit` is at most its lowest bit.
fn in_units(bits: u32, unit: i32) -> WideWord {
    let by = exponent_of(bits) - unit;
    let right = significand(bits) >> u32(clamp(-by, 0, 31));
    return raised_word(WideWord(right, 0u), u32(clamp(by, 0, 63)));
}

fn signed_in_units(bits: u32, unit: i32, negate: bool) -> WideWord {
    return negated(in_units(bits, unit), ((bits >> 31u) != 0u) != negate);
}

// n times a float32, in units of 2^unit, modulo 2^64.
fn multiple(bits: u32, n: i32, unit: i32) -> WideWord {
    let x = in_units(bits, unit);
    let count = u32(abs(n));
    let low = (x.low & 0xffffu) * count;
    let middle = (x.low >> 16u) * count;
    let sum = sum_of(WideWord(low, x.high * count), WideWord(middle << 16u, middle >> 16u));
    return negated(sum, ((bits >> 31u) != 0u) != (n < 0));
}

// b - a plus multiples of the edges, in units of 2^unit.
fn difference(a: u32, b: u32, edges: vec3<u32>, image: vec3<i32>, unit: i32) -> WideWord {
    let apart = sum_of(signed_in_units(b, unit, false), signed_in_units(a, unit, true));
    let one = multiple(edges.x, image.x, unit);
    let two = sum_of(multiple(edges.y, image.y, unit), multiple(edges.z, image.z, unit));
    return sum_of(apart, sum_of(one, two));
}

struct Rounded {
    bits: u32,
    // If not, `bits` has no meaning.
    normal: bool,
}

// Nearest to (x + rest·2^-32)·2^power, ties to even, where x has 24 bits.
fn nearest(x: u32, rest: u32, power: i32) -> Rounded {
    let exponent = power + 150;
    let up = rest > 0x80000000u || (rest == 0x80000000u && (x & 1u) != 0u);
    let bits = (u32(exponent) << 23u) + (x & 0x7fffffu) + select(0u, 1u, up);
    return Rounded(bits, exponent >= 1 && exponent <= 253);
}

// Of two positive float32 that are not subnormal.
fn nearest_product(x: u32, y: u32) -> Rounded {
    let a = vec2<u32>(significand(x) & 0xfffu, significand(x) >> 12u);
    let b = vec2<u32>(significand(y) & 0xfffu, significand(y) >> 12u);
    let middle = a.x * b.y + a.y * b.x;
    let sum = sum_of(WideWord(a.x * b.x, 0u), WideWord(middle << 12u, middle >> 20u));
    let all = sum_of(sum, WideWord((a.y * b.y) << 24u, (a.y * b.y) >> 8u));
    // From 47 or 48 to 56 bits.
    let raise = 56u - bit_length(all);
    let raised = raised_word(all, raise);
    return nearest(raised.high, raised.low, exponent_of(x) + exponent_of(y) + 32 - i32(raise));
}
