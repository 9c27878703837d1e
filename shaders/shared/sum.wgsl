// Sums of float32 vectors whose rounding errors are kept.

#import opaque::{opaque3}

// A sum, and the rounding errors of its additions.
struct Sum {
    rounded: vec3<f32>,
    errors: vec3<f32>,
}

// Knuth's "TwoSum".
fn add(sum: Sum, term: vec3<f32>) -> Sum {
    let next = opaque3(sum.rounded + term);
    let part = opaque3(next - sum.rounded);
    let rest = opaque3(next - part);
    let error = opaque3(sum.rounded - rest) + opaque3(term - part);
    return Sum(next, opaque3(sum.errors + error));
}
