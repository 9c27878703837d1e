//! Finds the times at which a polynomial falls to 0. The polynomials here describe the gap between a surface
//! and a sphere that moves along a parabola.

use arrayvec::ArrayVec;

/// A polynomial of degree 4 or less: the coefficients of 1, t, t², t³ and t⁴.
pub(crate) type Polynomial = [f64; 5];

fn value(polynomial: &[f64], t: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// Returns the first time from 0 to `end` at which the polynomial is 0 or less and falls, and which `accept`
/// accepts.
///
/// Suppose that the polynomial is 0 or negative at time 0. It then counts as falling at time 0 in
/// two cases: its slope is below −`tolerance`, or its slope is within `tolerance` of 0 and its
/// second derivative is negative.
pub(crate) fn first_descent(
    polynomial: &Polynomial,
    end: f64,
    tolerance: f64,
    mut accept: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let length = polynomial.iter().rposition(|&c| c != 0.0)? + 1;
    let polynomial = &polynomial[..length];
    let [slope, bend] = [1, 2].map(|k| polynomial.get(k).copied().unwrap_or(0.0));
    let mut turns = turning_points(polynomial, end);
    turns.push(end);
    let mut from = 0.0;
    for to in turns {
        let [high, low] = [from, to].map(|t| value(polynomial, t));
        let slides = from == 0.0 && slope >= -tolerance && bend >= 0.0;
        if low < high && !(high <= 0.0 && slides) {
            let time = if high <= 0.0 {
                Some(from)
            } else {
                (low <= 0.0).then(|| crossing(polynomial, [from, to]))
            };
            if let Some(time) = time.filter(|&time| accept(time)) {
                return Some(time);
            }
        }
        from = to;
    }
    // If `end` is 0, the interval from 0 to `end` is a single point. Then the derivatives at 0
    // decide whether the polynomial falls there.
    let falls = slope < -tolerance || (slope <= tolerance && bend < 0.0);
    (end == 0.0 && polynomial[0] <= 0.0 && falls && accept(0.0)).then_some(0.0)
}

/// Returns the times between 0 and `end` at which the slope of the polynomial changes its sign, sorted.
fn turning_points(polynomial: &[f64], end: f64) -> ArrayVec<f64, 4> {
    let mut turns = ArrayVec::new();
    let slope: ArrayVec<f64, 4> = (1..polynomial.len())
        .map(|k| k as f64 * polynomial[k])
        .collect();
    if slope.len() < 2 {
        return turns;
    }
    // Between two successive sign changes of the second derivative, the slope is monotonic. So it
    // changes its sign at most once between them.
    let mut inner = turning_points(&slope, end);
    inner.push(end);
    let mut from = 0.0;
    for to in inner {
        let [one, other] = [from, to].map(|t| value(&slope, t));
        if (one < 0.0) != (other < 0.0) && turns.len() < 3 {
            turns.push(crossing(&slope, [from, to]));
        }
        from = to;
    }
    turns
}

/// Returns the roots of the terms of degree 2 or less of a polynomial. A root that does not exist is NaN or
/// infinite.
fn quadratic_roots(polynomial: &[f64]) -> [f64; 2] {
    let [c, b, a] = [0, 1, 2].map(|k| polynomial.get(k).copied().unwrap_or(0.0));
    let sum = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    [c / sum, sum / a]
}

/// Returns the time in a range at which the polynomial changes its sign. It must have different signs at the
/// ends of the range. Newton's method is used where it stays within the range, and bisection otherwise.
///
/// A sphere that lies on a wall meets it again very soon, and the slope of the gap is almost 0 at time 0. From the
/// middle of the range, each step of Newton's method would only halve the time. So the method starts at a root of the
/// terms of degree 2 or less, if the range contains one.
fn crossing(polynomial: &[f64], [mut low, mut high]: [f64; 2]) -> f64 {
    let rises = value(polynomial, low) < 0.0;
    let near = quadratic_roots(polynomial).into_iter();
    let mut t = near
        .filter(|t| (low..=high).contains(t))
        .reduce(f64::min)
        .unwrap_or(low.midpoint(high));
    for _ in 0..200 {
        let (mut x, mut slope) = (0.0, 0.0);
        for c in polynomial.iter().rev() {
            slope = slope * t + x;
            x = x * t + c;
        }
        if (x < 0.0) == rises {
            low = t;
        } else {
            high = t;
        }
        let newton = t - x / slope;
        // If a step of Newton's method is smaller than the rounding of the time, the time is found. This test
        // precedes the test of the range, because `t` is now an end of the range.
        if (newton - t).abs() <= f64::EPSILON * t.abs() {
            break;
        }
        let next = if newton > low && newton < high {
            newton
        } else {
            low.midpoint(high)
        };
        if next <= low || next >= high {
            break;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(roots: &[f64], scale: f64) -> Polynomial {
        let mut polynomial = [scale, 0.0, 0.0, 0.0, 0.0];
        for root in roots {
            for k in (0..5).rev() {
                let below = if k == 0 { 0.0 } else { polynomial[k - 1] };
                polynomial[k] = below - root * polynomial[k];
            }
        }
        polynomial
    }

    /// The gap of a sphere that gravity presses against a wall, and that has no speed towards the wall, falls from
    /// time 0 on.
    #[test]
    fn a_resting_sphere_descends_at_once() {
        for gap in [0.0, -1e-16, -1e-3] {
            for end in [1e-4, 0.2, 10.0] {
                let time = first_descent(&[gap, 0.0, -5.0, 0.0, 25.0], end, 0.0, |_| true);
                assert_eq!(time, Some(0.0));
            }
        }
    }

    /// Checks that `first_descent` finds every time at which a polynomial falls through 0. The test
    /// chooses the roots of each polynomial, and all of them are simple.
    #[test]
    fn every_descent_is_found() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let mut roots: Vec<_> = (0..1 + rng.usize(..4))
                .map(|_| 3.0 * rng.f64() - 1.0)
                .collect();
            roots.sort_by(f64::total_cmp);
            if roots.is_sorted_by(|a, b| b - a > 0.01) && roots.iter().all(|x| x.abs() > 0.01) {
                let scale = if rng.bool() { 1.0 } else { -1.0 };
                let polynomial = product(&roots, scale);
                let after = |k: usize| (roots.len() - k).is_multiple_of(2) == (scale < 0.0);
                // Selects the roots at which the polynomial changes from positive to negative.
                let falls =
                    (0..roots.len()).filter(|&k| !after(k) && (0.0..=1.5).contains(&roots[k]));
                let expected: Vec<_> = falls.map(|k| roots[k]).collect();
                let mut found = Vec::new();
                first_descent(&polynomial, 1.5, 0.0, |time| {
                    if time > 0.0 && value(&polynomial, time).abs() < 1e-9 {
                        found.push(time);
                    }
                    false
                });
                assert_eq!(found.len(), expected.len(), "{roots:?} {scale}");
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-9);
                }
            }
        }
    }
}
