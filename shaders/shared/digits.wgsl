// Whole numbers as digits of radix 2^13, the lowest first. A product of two digits has
// 26 bits, so that a column, a sum of up to 31 of them, fits into a word. Columns are
// digits that have not been carried: any i32 numbers.

const RADIX_BITS = 13u;
const RADIX = 8192;

// Four digits to a vector.
struct Digits8 {
    a: vec4<i32>,
    b: vec4<i32>,
}

struct Digits16 {
    a: vec4<i32>,
    b: vec4<i32>,
    c: vec4<i32>,
    d: vec4<i32>,
}

struct Digits20 {
    a: vec4<i32>,
    b: vec4<i32>,
    c: vec4<i32>,
    d: vec4<i32>,
    e: vec4<i32>,
}

fn product4(x: vec4<i32>, y: vec4<i32>) -> Digits8 {
    return Digits8(
        x.x * y + x.y * vec4<i32>(0, y.xyz) + x.z * vec4<i32>(0, 0, y.xy) + x.w * vec4<i32>(0, 0, 0, y.x),
        x.y * vec4<i32>(y.w, 0, 0, 0) + x.z * vec4<i32>(y.zw, 0, 0) + x.w * vec4<i32>(y.yzw, 0),
    );
}

fn square4(x: vec4<i32>) -> Digits8 {
    return Digits8(
        vec4<i32>(x.x * x.x, 2 * x.x * x.y, 2 * x.x * x.z + x.y * x.y, 2 * (x.x * x.w + x.y * x.z)),
        vec4<i32>(2 * x.y * x.w + x.z * x.z, 2 * x.z * x.w, x.w * x.w, 0),
    );
}

fn product8(x: Digits8, y: Digits8) -> Digits16 {
    let low = product4(x.a, y.a);
    let one = product4(x.a, y.b);
    let other = product4(x.b, y.a);
    let high = product4(x.b, y.b);
    return Digits16(low.a, low.b + one.a + other.a, one.b + other.b + high.a, high.b);
}

struct Carried {
    digits: vec4<i32>,
    carry: i32,
}

// Digits from 0 to RADIX - 1. Shifts of signed numbers round down.
fn carried(columns: vec4<i32>, carry: i32) -> Carried {
    let x = columns.x + carry;
    let y = columns.y + (x >> RADIX_BITS);
    let z = columns.z + (y >> RADIX_BITS);
    let w = columns.w + (z >> RADIX_BITS);
    return Carried(vec4<i32>(x, y, z, w) & vec4<i32>(RADIX - 1), w >> RADIX_BITS);
}

// The last digit keeps its carry, and so has the sign.
fn carried8(columns: Digits8) -> Digits8 {
    let a = carried(columns.a, 0);
    let b = carried(columns.b, a.carry);
    return Digits8(a.digits, b.digits + vec4<i32>(0, 0, 0, b.carry * RADIX));
}

fn carried16(columns: Digits16) -> Digits16 {
    let a = carried(columns.a, 0);
    let b = carried(columns.b, a.carry);
    let c = carried(columns.c, b.carry);
    let d = carried(columns.d, c.carry);
    return Digits16(a.digits, b.digits, c.digits, d.digits + vec4<i32>(0, 0, 0, d.carry * RADIX));
}

fn carried20(columns: Digits20) -> Digits20 {
    let a = carried(columns.a, 0);
    let b = carried(columns.b, a.carry);
    let c = carried(columns.c, b.carry);
    let d = carried(columns.d, c.carry);
    let e = carried(columns.e, d.carry);
    return Digits20(a.digits, b.digits, c.digits, d.digits, e.digits + vec4<i32>(0, 0, 0, e.carry * RADIX));
}

// Digits from -RADIX / 2 to RADIX / 2 - 1, without the last carry. The high digits of a
// small number are 0, even if it is negative.
fn balanced20(columns: Digits20) -> Digits20 {
    let half = vec4<i32>(RADIX / 2);
    let a = carried(columns.a + half, 0);
    let b = carried(columns.b + half, a.carry);
    let c = carried(columns.c + half, b.carry);
    let d = carried(columns.d + half, c.carry);
    let e = carried(columns.e + half, d.carry);
    return Digits20(a.digits - half, b.digits - half, c.digits - half, d.digits - half, e.digits - half);
}

fn plus8(x: Digits8, y: Digits8) -> Digits8 {
    return Digits8(x.a + y.a, x.b + y.b);
}

fn negative8(x: Digits8) -> Digits8 {
    return Digits8(-x.a, -x.b);
}

fn is_zero8(digits: Digits8) -> bool {
    return all((digits.a | digits.b) == vec4<i32>(0));
}

fn sign20(columns: Digits20) -> i32 {
    let x = carried20(columns);
    let some = any((x.a | x.b | x.c | x.d | x.e) != vec4<i32>(0));
    return select(select(0, 1, some), -1, x.e.w < 0);
}

fn plus20(x: Digits20, y: Digits20) -> Digits20 {
    return Digits20(x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d, x.e + y.e);
}

fn minus20(x: Digits20, y: Digits20) -> Digits20 {
    return Digits20(x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d, x.e - y.e);
}

fn times20(x: Digits20, factor: i32) -> Digits20 {
    return Digits20(x.a * factor, x.b * factor, x.c * factor, x.d * factor, x.e * factor);
}

// The digits that do not fit must be 0.
fn up1(x: Digits20) -> Digits20 {
    return Digits20(
        vec4<i32>(0, x.a.xyz),
        vec4<i32>(x.a.w, x.b.xyz),
        vec4<i32>(x.b.w, x.c.xyz),
        vec4<i32>(x.c.w, x.d.xyz),
        vec4<i32>(x.d.w, x.e.xyz),
    );
}

fn up2(x: Digits20) -> Digits20 {
    return Digits20(
        vec4<i32>(0, 0, x.a.xy),
        vec4<i32>(x.a.zw, x.b.xy),
        vec4<i32>(x.b.zw, x.c.xy),
        vec4<i32>(x.c.zw, x.d.xy),
        vec4<i32>(x.d.zw, x.e.xy),
    );
}

fn up4(x: Digits20) -> Digits20 {
    return Digits20(vec4<i32>(0), x.a, x.b, x.c, x.d);
}

fn select20(x: Digits20, y: Digits20, second: bool) -> Digits20 {
    return Digits20(
        select(x.a, y.a, second),
        select(x.b, y.b, second),
        select(x.c, y.c, second),
        select(x.d, y.d, second),
        select(x.e, y.e, second),
    );
}

// For at most RADIX_BITS bits.
fn raised20(x: Digits20, bits: u32) -> Digits20 {
    let by = vec4<u32>(bits);
    return carried20(Digits20(x.a << by, x.b << by, x.c << by, x.d << by, x.e << by));
}

// In float32, with rounding errors. Those of 16 and 20 digits are divided by 2^104 and
// 2^117, because they may be too large.
const WEIGHTS = vec4<f32>(0x1p0f, 0x1p13f, 0x1p26f, 0x1p39f);

fn float4(x: vec4<i32>) -> f32 {
    return dot(vec4<f32>(x), WEIGHTS);
}

fn float8(x: Digits8) -> f32 {
    return float4(x.a) + float4(x.b) * 0x1p52f;
}

fn float16(x: Digits16) -> f32 {
    return float4(x.a) * 0x1p-104f + float4(x.b) * 0x1p-52f + float4(x.c) + float4(x.d) * 0x1p52f;
}

fn float20(x: Digits20) -> f32 {
    let low = float4(x.a) * 0x1p-117f + float4(x.b) * 0x1p-65f + float4(x.c) * 0x1p-13f;
    return low + float4(x.d) * 0x1p39f + float4(vec4<i32>(x.e.xyz, 0)) * 0x1p91f;
}
