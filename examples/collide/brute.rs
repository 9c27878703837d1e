//! All pairs, one by one, straight from the definition: slow, and independent of
//! how the library goes about it.

use carom::{Collision, Sphere};

use crate::bounded::Bounded;
use crate::compare::{Comparison, values};

/// How far toi and depth may be from float64's, relatively.
const TOLERANCE: f64 = 1e-5;

/// When two spheres touch.
#[derive(Clone, Copy, Debug)]
struct Impact {
    toi: Bounded,
    depth: Bounded,
}

/// What float64 can say of two spheres.
enum Answer {
    Hit(Impact),
    Miss,
    /// Its error is larger than the distance from the other answer.
    Undecided,
}

/// Compares a sorted list with what brute force finds. Pairs that float64 cannot
/// decide are counted as such; they are not differences.
pub(crate) fn compare(spheres: &[Sphere], dt: f32, pairs: &[Collision]) -> Comparison {
    let mut comparison = Comparison::default();
    let mut pairs = pairs.iter().peekable();
    for (a, first) in (0_u32..).zip(spheres) {
        for (b, second) in (0_u32..).zip(spheres).skip(a as usize + 1) {
            // Out of order, or not a pair: no place for it was found.
            while let Some(stray) = pairs.next_if(|c| (c.a, c.b) < (a, b)) {
                comparison.differing.push(|| out_of_place(stray));
            }
            let found = pairs.next_if(|c| (c.a, c.b) == (a, b));
            comparison.checked += 1;
            let expected = match answer(first, second, dt) {
                Answer::Hit(impact) if found.is_some_and(|c| agrees(c, &impact)) => continue,
                Answer::Miss if found.is_none() => continue,
                Answer::Undecided => {
                    comparison
                        .undecided
                        .push(|| format!("{a},{b}: the list {}", values(found)));
                    continue;
                }
                Answer::Hit(Impact { toi, depth }) => {
                    format!("finds toi {:?} depth {:?}", toi.value, depth.value)
                }
                Answer::Miss => "finds that they miss".into(),
            };
            comparison.differing.push(|| {
                format!(
                    "{a},{b}: the list {}; brute force {expected}",
                    values(found)
                )
            });
        }
    }
    for stray in pairs {
        comparison.differing.push(|| out_of_place(stray));
    }
    comparison
}

fn out_of_place(c: &Collision) -> String {
    format!(
        "{},{}: the list has it out of order, twice, or where there is no such pair",
        c.a, c.b
    )
}

/// Whether a pair's values are those of an impact.
fn agrees(found: &Collision, impact: &Impact) -> bool {
    let close = |x: f32, y: Bounded| {
        // The last term is for values that float32 rounds to subnormals.
        let allowed = TOLERANCE * y.value.abs() + y.error + f64::from(f32::from_bits(1));
        (f64::from(x) - y.value).abs() <= allowed
    };
    close(found.toi, impact.toi) && close(found.depth, impact.depth)
}

fn answer(first: &Sphere, second: &Sphere, dt: f32) -> Answer {
    if are_far(first, second, dt) {
        return Answer::Miss;
    }
    decide(first, second, dt).unwrap_or(Answer::Undecided)
}

/// The definition in `docs/design.md`, case by case, in numbers that know their
/// error; `None` where that hides a sign.
fn decide(first: &Sphere, second: &Sphere, dt: f32) -> Option<Answer> {
    let difference =
        |j: [f32; 3], i: [f32; 3]| [0, 1, 2].map(|k| Bounded::from(j[k]) - i[k].into());
    let p = difference(second.center, first.center);
    let v = difference(second.velocity, first.velocity);
    let r = Bounded::from(first.radius) + second.radius.into();
    let dt = Bounded::from(dt);
    let zero = Bounded::from(0.0);

    let c = dot(p, p) - r * r;
    let b = dot(p, v);
    let a = dot(v, v);
    if !c.is_positive()? {
        return Some(Answer::Hit(Impact {
            toi: zero,
            depth: r - dot(p, p).sqrt(),
        }));
    }
    if !(-b).is_positive()? {
        return Some(Answer::Miss);
    }
    let discriminant = b * b - a * c;
    let at_end = || {
        (c + (b + b) * dt + a * dt * dt)
            .is_positive()
            .map(|apart| !apart)
    };
    let at_closest = || (-discriminant).is_positive().map(|apart| !apart);
    let hit = match (-b - a * dt).is_positive() {
        Some(true) => at_end()?,
        Some(false) => at_closest()?,
        // At the border of the two cases both conditions are the same.
        None => at_end().filter(|&hit| at_closest() == Some(hit))?,
    };
    let toi = c / (-b + discriminant.sqrt());
    Some(if hit {
        Answer::Hit(Impact { toi, depth: zero })
    } else {
        Answer::Miss
    })
}

fn dot(a: [Bounded; 3], b: [Bounded; 3]) -> Bounded {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Whether the two are farther apart than they can travel, by much more than
/// rounding: true of nearly all pairs, and quick to tell.
fn are_far(first: &Sphere, second: &Sphere, dt: f32) -> bool {
    let difference =
        |j: [f32; 3], i: [f32; 3]| [0, 1, 2].map(|k| f64::from(j[k]) - f64::from(i[k]));
    let p = difference(second.center, first.center);
    let v = difference(second.velocity, first.velocity);
    let path = v.map(f64::abs).iter().sum::<f64>() * f64::from(dt);
    let reach = path + f64::from(first.radius) + f64::from(second.radius);
    p.iter().map(|x| x * x).sum::<f64>() > reach * reach * (1.0 + 1e-9)
}
