// Decides in integers, without error, whether two spheres touch, when and how deep
// (docs/exact.md, Lemma 4.5). Floats are only guesses, which the integers verify, and
// nothing is read or written as a float, because a GPU may flush subnormal numbers to
// 0. Twin of `src/exact/impact.rs`.

#import digits::{Digits16, Digits20, Digits8, balanced20, carried16, carried20, carried8, float16, float20, float4}
#import digits::{float8, is_zero8, minus20, negative8, plus20, product4, product8, raised20, select20, sign20, square4}
#import digits::{plus8, times20, up1, up2, up4}
#import wide_words::{WideWord, difference, magnitude, is_below, bit_length, lowest_bits, nearest, raised_word, significand}

// OPEN: the integers are too small, or the result is too close to the middle between
// two float32 numbers.
const MISS = 0u;
const HIT = 1u;
const OPEN = 2u;

// As bits, each the nearest to the true value.
struct Decided {
    verdict: u32,
    toi: u32,
    depth: u32,
}

// Multiples of the edges, with magnitudes up to 512. `x` has the x components of the
// three edges, as bits, and 0 for each edge whose multiple is 0.
struct Displacement {
    x: vec3<u32>,
    y: vec3<u32>,
    z: vec3<u32>,
    image: vec3<i32>,
}

// As bits: centre and radius, then velocity and groups.
struct SphereWords {
    place: vec4<u32>,
    motion: vec4<u32>,
}

// Four whole numbers of four digits, in units of 2^power. If not `exact`, they need
// more bits.
struct Whole {
    x: vec4<i32>,
    y: vec4<i32>,
    z: vec4<i32>,
    w: vec4<i32>,
    power: i32,
    exact: bool,
}

fn digits_of(word: WideWord, bits: u32, sign: i32) -> vec4<i32> {
    let raised = raised_word(word, bits);
    let digits = vec4<u32>(
        raised.low,
        raised.low >> 13u,
        (raised.low >> 26u) | (raised.high << 6u),
        raised.high >> 7u,
    );
    return vec4<i32>(digits & vec4<u32>(8191u)) * sign;
}

// Returns the exact differences from `i` to `j`, which is displaced. The fourth number
// must be negative in `i`. The unit is the lowest bit of all, then the numbers are
// raised until the largest has 51 bits.
fn whole(i: vec4<u32>, j: vec4<u32>, by: Displacement) -> Whole {
    let own = min(lowest_bits(i), lowest_bits(j));
    let shift = min(min(lowest_bits(vec4<u32>(by.x, 0u)), lowest_bits(vec4<u32>(by.y, 0u))), lowest_bits(vec4<u32>(by.z, 0u)));
    let all = min(own, shift);
    let unit = min(min(all.x, all.y), min(all.z, all.w));
    // A difference and the displacement have at most 62 bits, so no sum has more
    // than 63.
    var exact = is_below(i, unit + 61) && is_below(j, unit + 61);
    exact = exact && is_below(vec4<u32>(by.x, 0u), unit + 51);
    exact = exact && is_below(vec4<u32>(by.y, 0u), unit + 51) && is_below(vec4<u32>(by.z, 0u), unit + 51);
    let x = difference(i.x, j.x, by.x, by.image, unit);
    let y = difference(i.y, j.y, by.y, by.image, unit);
    let z = difference(i.z, j.z, by.z, by.image, unit);
    let w = difference(i.w, j.w, vec3<u32>(0u), vec3<i32>(0), unit);
    let of_x = magnitude(x);
    let of_y = magnitude(y);
    let of_z = magnitude(z);
    let of_w = magnitude(w);
    let low = of_x.low | of_y.low | of_z.low | of_w.low;
    let high = of_x.high | of_y.high | of_z.high | of_w.high;
    let bits = bit_length(WideWord(low, high));
    exact = exact && bits <= 51u;
    let raise = 51u - min(bits, 51u);
    return Whole(
        digits_of(of_x, raise, 1 - 2 * i32(x.high >> 31u)),
        digits_of(of_y, raise, 1 - 2 * i32(y.high >> 31u)),
        digits_of(of_z, raise, 1 - 2 * i32(z.high >> 31u)),
        digits_of(of_w, raise, 1 - 2 * i32(w.high >> 31u)),
        unit - i32(raise),
        exact,
    );
}

// If `found`: the float32 nearest to the first root, as bits, and whether the root is
// at most the end of the step.
struct Root {
    found: bool,
    bits: u32,
    in_step: bool,
}

fn wide8(x: Digits8) -> Digits20 {
    return Digits20(x.a, x.b, vec4<i32>(0), vec4<i32>(0), vec4<i32>(0));
}

// The first root of C - 2·B·t + A·t², where A, B and C are positive and C has at most
// eight digits. `guess` estimates it, in units of 2^power. `end` is the end of the
// step, as bits.
fn first_root(c: Digits8, b: Digits8, a: Digits20, guess: f32, power: i32, end: u32) -> Root {
    let none = Root(false, 0u, false);
    let word = bitcast<u32>(guess);
    // T·2^-down, where T has 24 bits.
    let down = 150 - i32(word >> 23u);
    let exponent = i32(word >> 23u) + power;
    if down < 22 || down > 65 || exponent < 1 || exponent > 254 {
        return none;
    }
    let steps = u32(down + 12) / 13u - 2u;
    let rest = u32(down) - 13u * (steps + 1u);
    let t = significand(word);
    let t_low = i32(t & 8191u);
    let t_high = i32(t >> 13u);
    // f = C·2^(2·down) - 2·B·2^down·T + A·T², and half its derivative u = A·T - B·2^down.
    let a_times_t = carried20(plus20(times20(a, t_low), up1(times20(a, t_high))));
    var b_up = up1(raised20(wide8(b), rest));
    b_up = select20(b_up, up1(b_up), (steps & 1u) != 0u);
    b_up = select20(b_up, up2(b_up), (steps & 2u) != 0u);
    var c_up = up2(raised20(raised20(wide8(c), rest), rest));
    c_up = select20(c_up, up2(c_up), (steps & 1u) != 0u);
    c_up = select20(c_up, up4(c_up), (steps & 2u) != 0u);
    let u = minus20(a_times_t, b_up);
    let v = minus20(u, b_up);
    let f = balanced20(plus20(plus20(times20(v, t_low), up1(times20(v, t_high))), c_up));
    // A step of Newton's method.
    let k = i32(clamp(floor(0.5 - 0.5 * float20(f) / float20(u)), -100.0, 100.0));
    let now = i32(t) + k;
    if k < -60 || k > 60 || now < 0x800000 || now > 0xffffff {
        return none;
    }
    // The polynomial is positive before its first root, then negative until its
    // second one. So the first root is between the numbers halfway to the
    // neighbours of T + k if their signs differ so. Below a power of two, the
    // neighbours are nearer.
    let before = sign_at(f, u, a, 4 * k - select(2, 1, now == 0x800000));
    let after = sign_at(f, u, a, 4 * k + 2);
    if before <= 0 || after >= 0 {
        return none;
    }
    // The nearest float32, if it is not the end, is on the root's side of it.
    // Otherwise the sign at the end tells.
    let bits = (u32(exponent) << 23u) + u32(now - 0x800000);
    var in_step = bits < end;
    if bits == end {
        in_step = sign_at(f, u, a, 4 * k) <= 0;
    }
    return Root(true, bits, in_step);
}

// At T + s/4: of 16 times f + 2·u·s/4 + A·(s/4)².
fn sign_at(f: Digits20, u: Digits20, a: Digits20, s: i32) -> i32 {
    return sign20(plus20(plus20(times20(f, 16), times20(u, 8 * s)), times20(a, s * s)));
}

fn whole_motions(i: SphereWords, j: SphereWords) -> Whole {
    return whole(vec4<u32>(i.motion.xyz, 0u), vec4<u32>(j.motion.xyz, 0u), Displacement());
}

// p·v, whose sign is that of the rate at which the distance of the centres changes.
fn growth(p: Whole, v: Whole) -> Digits8 {
    return plus8(plus8(product4(p.x, v.x), product4(p.y, v.y)), product4(p.z, v.z));
}

// `dt` is the bits of a float32 that is not negative. If `approaching`, two that touch at
// the start and do not approach each other then are a miss. Twin of `src/exact/parting.rs`.
fn decide(i: SphereWords, j: SphereWords, by: Displacement, dt: u32, approaching: bool) -> Decided {
    let miss = Decided(MISS, 0u, 0u);
    let open = Decided(OPEN, 0u, 0u);
    // The difference is then the sum of the radii.
    let p = whole(i.place ^ vec4<u32>(0u, 0u, 0u, 0x80000000u), j.place, by);
    if !p.exact {
        return open;
    }
    let pp = plus8(plus8(square4(p.x), square4(p.y)), square4(p.z));
    let columns = plus8(pp, negative8(square4(p.w)));
    let c = carried8(columns);
    let touches = is_zero8(c);
    if approaching && (touches || c.b.w < 0) {
        let v = whole_motions(i, j);
        if !v.exact {
            return open;
        }
        if carried8(growth(p, v)).b.w >= 0 {
            return miss;
        }
    }
    if touches {
        return Decided(HIT, 0u, 0u);
    }
    if c.b.w < 0 {
        if all((p.x | p.y | p.z) == vec4<i32>(0)) {
            // The depth is r, which has 51 bits: the polynomial below has a
            // double root.
            let rest = u32((p.w.z << 26u) | (p.w.y << 13u) | p.w.x);
            let depth = nearest(u32((p.w.w << 12u) | (p.w.z >> 1u)), rest << 5u, p.power + 27);
            return Decided(select(OPEN, HIT, depth.normal), 0u, depth.bits);
        }
        // The depth d is the first root of r² - p² - 2·r·d + d² = 0. In units of 2^52, it is less than 1.
        let overlap = carried8(negative8(columns));
        let x = float4(p.x);
        let y = float4(p.y);
        let z = float4(p.z);
        let guess = float8(overlap) / (float4(p.w) + sqrt(x * x + y * y + z * z)) * 0x1p-52f;
        let one = Digits20(vec4<i32>(0), vec4<i32>(0), vec4<i32>(1, 0, 0, 0), vec4<i32>(0), vec4<i32>(0));
        let depth = first_root(overlap, Digits8(vec4<i32>(0), p.w), one, guess, p.power + 52, 0u);
        if !depth.found {
            return open;
        }
        return Decided(HIT, 0u, depth.bits);
    }
    if dt == 0u {
        return miss;
    }
    let v = whole_motions(i, j);
    if !v.exact {
        return open;
    }
    let b = carried8(negative8(growth(p, v)));
    if b.b.w < 0 || is_zero8(b) {
        return miss;
    }
    let a = carried8(plus8(plus8(square4(v.x), square4(v.y)), square4(v.z)));
    let bb = product8(b, b);
    let ca = product8(c, a);
    let discriminant = carried16(Digits16(bb.a - ca.a, bb.b - ca.b, bb.c - ca.c, bb.d - ca.d));
    if discriminant.d.w < 0 {
        return miss;
    }
    let guess = float8(c) / (float8(b) + sqrt(float16(discriminant)) * 0x1p52f);
    let time = first_root(c, b, wide8(a), guess, p.power - v.power, dt);
    if !time.found {
        return open;
    }
    if !time.in_step {
        return miss;
    }
    return Decided(HIT, time.bits, 0u);
}
