// Numbers of twice the precision of float32, each stored as the unrounded sum of two float32.

#import opaque::{opaque}

fn add_float(sum: vec2<f32>, term: f32) -> vec2<f32> {
    let next = opaque(sum.x + term);
    let part = opaque(next - sum.x);
    let rest = opaque(next - part);
    let error = opaque(sum.x - rest) + opaque(term - part);
    let low = opaque(sum.y + error);
    let high = opaque(next + low);
    return vec2<f32>(high, opaque(low - opaque(high - next)));
}
