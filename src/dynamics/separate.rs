//! Moves overlapping spheres apart, before they are simulated.

use glam::DVec3;

use super::candidate::Candidate;
use super::candidates::Candidates;
use super::contact::ContactPair;
use super::path::Piece;
use super::rows::{SUBSTEP, push};
use super::start::Start;
use super::{HardSphere, Partner};
use crate::memory::collect;
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

/// Returns the `count` points of a cubic lattice, or of a square one in a plane, that are nearest to the origin.
fn sites(count: usize, is_flat: bool) -> Result<Vec<DVec3>, Error> {
    let mut half = 1_i32;
    let points = |half: i32| {
        let edge = 2 * u64::from(half.unsigned_abs()) + 1;
        edge.pow(if is_flat { 2 } else { 3 })
    };
    // The ball in a cube has about half of its points.
    while points(half) < 2 * count as u64 + 8 {
        half += 1;
    }
    let depth = if is_flat { 0..=0 } else { -half..=half };
    let mut sites = Vec::new();
    for x in -half..=half {
        for y in -half..=half {
            for z in depth.clone() {
                push(&mut sites, [x * x + y * y + z * z, x, y, z])?;
            }
        }
    }
    sites.sort_unstable();
    let vectors = sites.iter().take(count);
    let vectors = vectors.map(|site| DVec3::new(site[1].into(), site[2].into(), site[3].into()));
    collect(vectors, SUBSTEP)
}

/// Spreads spheres that are three or more at the same point over a heap that is like a ball, or like a disc in a plane, so
/// that they do not overlap. Returns the deepest overlap of the spheres that it moves. Spheres of infinite mass, and those that cannot meet another one there, stay.
fn spread(
    spheres: &mut [HardSphere],
    list: &[Candidate],
    is_flat: bool,
    ids: &[u32],
) -> Result<Option<(u32, Partner, f64)>, Error> {
    let key = |sphere: &HardSphere| sphere.center.map(|x| (x + 0.0).to_bits());
    let mut crowded: Vec<(_, u32, u32)> = Vec::new();
    for candidate in list {
        let Some(other) = candidate.other() else {
            continue;
        };
        let ends = [candidate.sphere, other];
        let [one, another] = ends.map(|place| key(&spheres[place as usize]));
        if one == another && candidate.image == [0; 3] {
            for place in ends {
                push(&mut crowded, (one, ids[place as usize], place))?;
            }
        }
    }
    crowded.sort_unstable();
    crowded.dedup();
    let mut deepest: Option<(u32, Partner, f64)> = None;
    for group in crowded.chunk_by(|one, other| one.0 == other.0) {
        if group.len() < 3 {
            continue;
        }
        let radii = group
            .iter()
            .map(|&(_, _, place)| spheres[place as usize].radius);
        let edge = 2.0 * radii.fold(0.0, f64::max) * (1.0 + 1e-9);
        for (&(_, id, place), site) in group.iter().zip(sites(group.len(), is_flat)?) {
            let sphere = &mut spheres[place as usize];
            if !sphere.is_fixed() {
                if deepest.is_none_or(|(_, _, most)| edge > most) {
                    deepest = Some((id, Partner::Sphere(group[0].1), edge));
                }
                sphere.center = (sphere.place() + site * edge).to_array();
            }
        }
    }
    Ok(deepest)
}

/// Moves overlapping spheres apart in one pass over all overlaps, in the order of sphere, partner and image.
/// Returns the deepest overlap that the pass has found, or `None` if there was none.
///
/// Two spheres move along their normal until they touch, each by a share in proportion to its inverse mass. A
/// sphere that overlaps a wall moves along the normal of the wall.
pub(crate) fn separate_once(
    spheres: &mut [HardSphere],
    is_first: bool,
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
    if is_first {
        deepest = spread(spheres, &list, is_flat, start.ids)?;
    }
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
