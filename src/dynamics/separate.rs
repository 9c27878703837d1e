//! Moves overlapping spheres apart, before they are simulated.

use glam::DVec3;

use super::candidates::Candidates;
use super::contact::ContactPair;
use super::path::Piece;
use super::substep::Start;
use super::{HardSphere, Partner};
use crate::{Detector, Error};

/// Depth up to which spheres do not count as overlapping, relative to the sum of their radii.
const DEPTH: f64 = 1e-9;

/// Spheres whose centres are nearer to each other than this number times the sum of their radii are at one point.
const AT_ONE_POINT: f64 = 1e-3;

/// Returns the direction in which a sphere leaves others at the same point, from its index: evenly distributed on a
/// sphere, or on a circle for discs in a plane.
fn outwards(index: u32, is_flat: bool) -> DVec3 {
    let turns = f64::from(index) * 0.618_033_988_749_894_9;
    let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
    if is_flat {
        return DVec3::new(cos, sin, 0.0);
    }
    let z = 2.0 * (f64::from(index) * 0.754_877_666_246_692_8).fract() - 1.0;
    let across = (1.0 - z * z).sqrt();
    DVec3::new(across * cos, across * sin, z)
}

/// Moves overlapping spheres apart in one pass over all overlaps, in the order of sphere, partner and image.
/// Returns the deepest overlap that the pass has found, or `None` if there was none.
///
/// Two spheres move along their normal until they touch, each by a share in proportion to its inverse mass. A
/// sphere that overlaps a wall moves along the normal of the wall.
pub(crate) fn separate_once(
    spheres: &mut [HardSphere],
    start: &Start<'_>,
    candidates: &mut Candidates,
    detector: &mut Detector,
) -> Result<Option<(u32, Partner, f64)>, Error> {
    candidates.search(detector, start, 0.0)?;
    let setting = start.setting(candidates);
    let mut list = candidates.list(start.ids)?;
    list.sort_unstable_by_key(|candidate| setting.key(candidate));
    let is_flat = spheres
        .iter()
        .all(|sphere| sphere.center[2] == 0.0 && sphere.velocity[2] == 0.0);
    let mut deepest: Option<(u32, Partner, f64)> = None;
    for candidate in &list {
        let index = candidate.sphere as usize;
        let other = candidate.other().map_or(index, |other| other as usize);
        let [a, b] = [index, other].map(|index| Piece::straight(&spheres[index], false));
        let contact = ContactPair::new(candidate, &setting);
        let depth = -contact.gap(&a, &b, 0.0);
        let size = contact.size();
        if depth <= DEPTH * size || !contact.faces(&a, &b, 0.0) {
            continue;
        }
        if deepest.is_none_or(|(_, _, most)| depth > most) {
            deepest = Some((setting.id(candidate.sphere), candidate.partner, depth));
        }
        let blow = contact.blow(&a, &b, 0.0);
        let at_one_point = candidate.other().is_some() && blow.distance <= AT_ONE_POINT * size;
        let normal = if at_one_point {
            let places = [candidate.sphere, candidate.other().unwrap_or_default()];
            let [one, other] = places.map(|place| outwards(setting.id(place), is_flat));
            (other - one).try_normalize().unwrap_or(DVec3::X)
        } else {
            blow.touch.normal
        };
        let shares = match candidate.other() {
            None => [1.0, 0.0],
            Some(_) => {
                let inverse = [index, other].map(|index| spheres[index].inverse_mass());
                inverse.map(|x| x / (inverse[0] + inverse[1]))
            }
        };
        // The displacement is a little more than the depth of the overlap, so that no overlap
        // remains after rounding.
        let by = normal * (depth + 1e-12 * size);
        let one = &mut spheres[index];
        one.center = (one.place() - by * shares[0]).to_array();
        let other = &mut spheres[other];
        other.center = (other.place() + by * shares[1]).to_array();
    }
    Ok(deepest)
}
