//! Finds the next impact of two spheres, each on one piece of its path.

use glam::DVec3;

use super::path::Piece;

/// Two spheres count as in contact if |p|² − r² is at most this number times r², where p is the
/// vector between their centres, and r the sum of their radii.
const CONTACT: f64 = 1e-12;

/// Two spheres in contact count as approaching only if their approach speed, relative to their own speeds, is
/// above this limit. It is some hundred times the rounding error of an approach speed, so an impact that has
/// just been processed is not found again.
pub(crate) const RESTING: f64 = 1e-13;

/// Returns the first time from `from` to `until` at which sphere b, displaced by `shift`, meets sphere a.
///
/// `a` and `b` are straight pieces of the paths of the two spheres, and `reach` is the sum of their
/// radii. If the spheres overlap at the time `from` and approach each other, they meet at this
/// time. If they overlap and do not approach each other, they do not meet.
#[inline]
pub(crate) fn meeting(
    a: &Piece,
    b: &Piece,
    shift: DVec3,
    reach: f64,
    [from, until]: [f64; 2],
) -> Option<f64> {
    let v = b.velocity - a.velocity;
    let p = (b.center - a.center) + shift + v * from;
    let b_half = p.dot(v);
    if b_half >= 0.0 {
        return None;
    }
    let square = reach * reach;
    let c = p.length_squared() - square;
    if c <= CONTACT * square {
        let speeds = a.velocity.length() + b.velocity.length();
        if b_half >= -RESTING * reach * speeds {
            return None;
        }
        if c <= 0.0 {
            return Some(from);
        }
    }
    let discriminant = b_half * b_half - v.length_squared() * c;
    if discriminant < 0.0 {
        return None;
    }
    let time = from + c / (discriminant.sqrt() - b_half);
    (time <= until).then_some(time)
}

/// Returns false only if [`meeting`] certainly finds no meeting of the two spheres. This test is
/// faster than `meeting`, because it has no branches.
#[inline(always)]
pub(crate) fn may_meet(
    a: &Piece,
    b: &Piece,
    shift: DVec3,
    reach: f64,
    [from, until]: [f64; 2],
) -> bool {
    let v = b.velocity - a.velocity;
    let p = (b.center - a.center) + shift + v * from;
    let b_half = p.dot(v);
    let c = p.length_squared() - reach * reach;
    // c is the squared distance of the centres minus the square of the sum of the radii, so the
    // spheres meet when c is 0. At first, c changes at the rate 2·b_half, and it never falls
    // faster. So the spheres need at least the time c / (−2·b_half) to meet.
    let early = c <= -2.0 * b_half * (until - from) * (1.0 + 1e-9);
    (b_half < 0.0) & early & (b_half * b_half - v.length_squared() * c >= 0.0)
}

/// Returns whether two paths meet between time 0 and `until`. A path is a list of pieces without
/// impacts, in the order of time. The caller's function `meet` tests a piece of one path against a
/// piece of the other, in the time range that both pieces cover. The first pieces of the two paths
/// are not tested against each other, because the search for the first impacts has already done so.
#[inline]
pub(crate) fn paths_meet(
    a: &[Piece],
    b: &[Piece],
    until: f64,
    meet: impl Fn(&Piece, &Piece, [f64; 2]) -> bool,
) -> bool {
    let end = |path: &[Piece], k: usize| path.get(k + 1).map_or(until, |next| next.start);
    let (mut i, mut j) = (0, 0);
    while let (Some(one), Some(other)) = (a.get(i), b.get(j)) {
        let [end_a, end_b] = [end(a, i), end(b, j)];
        let from = one.start.max(other.start);
        if from > until {
            break;
        }
        if i + j > 0 && meet(one, other, [from, end_a.min(end_b).min(until)]) {
            return true;
        }
        i += usize::from(end_a <= end_b);
        j += usize::from(end_b <= end_a);
    }
    false
}
