//! Spheres that are enlarged by their pads, and whether two of them can meet.

use glam::DVec3;

use super::HardSphere;
use super::start::Start;
use crate::lattice::{ImageBlock, Lattice, MAX_CELLS};
use crate::{Error, Sphere};

/// Spheres with their pads in float64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fine<'a> {
    pub(super) origins: &'a [DVec3],
    pub(super) pads: &'a [f64],
    pub(super) spheres: &'a [HardSphere],
}

impl Fine<'_> {
    /// Returns whether two spheres overlap with their pads.
    pub(crate) fn overlap(&self, pair: [u32; 2]) -> bool {
        let [a, b] = pair.map(|place| place as usize);
        let reach = [a, b].map(|k| self.spheres[k].radius + self.pads[k]);
        let away = self.origins[a].distance_squared(self.origins[b]);
        let reach = reach[0] + reach[1];
        away <= reach * reach * (1.0 + 1e-9)
    }
}

pub(crate) fn out_of_range(id: u32) -> Error {
    Error::ImageOutOfRange {
        index: id as usize,
        set: None,
        limit: MAX_CELLS,
    }
}

/// Returns a float32 sphere at rest that contains the sphere with the given centre and radius. The
/// radius includes the sphere's pad.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the radius covers the rounding to float32"
)]
pub(crate) fn enlarged(center: DVec3, radius: f64, lattice: &Lattice) -> Sphere {
    let rounded = center.as_vec3();
    let rounding = (rounded.as_dvec3() - center).length();
    // Wrapping a centre into the cell of a periodic domain rounds it, with an error in proportion
    // to the size of the cell.
    let wrapping = 8.0 * f64::EPSILON * lattice.size();
    // The centre is a difference of float64 numbers.
    let wrapping = wrapping + f64::EPSILON * center.length();
    let radius = (radius + rounding + wrapping) * (1.0 + 1e-12);
    Sphere::new(rounded, (radius as f32).next_up())
}

/// Returns a range of periodic images of the second sphere. It includes every image that overlaps
/// the first sphere. Returns `None` if an image is more than [`MAX_CELLS`] cells away.
pub(crate) fn images_of_pair(spheres: [&Sphere; 2], lattice: &Lattice) -> Option<ImageBlock> {
    let places = spheres.map(|sphere| DVec3::from(sphere.center.map(f64::from)));
    let reach = f64::from(spheres[0].radius) + f64::from(spheres[1].radius);
    lattice.images_between(places, reach)
}

/// Returns whether a sphere overlaps an image of another one.
pub(crate) fn overlap([sphere, other]: [&Sphere; 2], image: [i32; 3], lattice: &Lattice) -> bool {
    let [a, b] = [sphere, other].map(|sphere| DVec3::from(sphere.center.map(f64::from)));
    let reach = f64::from(sphere.radius) + f64::from(other.radius);
    // The radii of the spheres already cover the rounding of their centres to float32. The sum of
    // the radii is enlarged here, to cover the rounding errors of the overlap test itself.
    let reach = reach * (1.0 + 1e-9) + 8.0 * f64::EPSILON * (a.length() + b.length());
    a.distance_squared(b + lattice.shift(image)) <= reach * reach
}

/// Returns whether two spheres can collide. They cannot if one of them has been removed, if both
/// belong to one body, or if they ignore each other by their collision groups. Two spheres of
/// infinite mass cannot collide either, because they pass through each other. A sphere cannot
/// collide with its own periodic image, because the two do not move relative to each other.
pub(crate) fn can_meet([sphere, other]: [u32; 2], start: &Start<'_>) -> bool {
    let ids = [sphere, other].map(|place| start.ids[place as usize] as usize);
    let bodies = &start.options.bodies;
    let body = |id: usize| bodies.get(id).copied().flatten();
    let together = body(ids[0]).is_some() && body(ids[0]) == body(ids[1]);
    let groups = &start.options.groups;
    let grouped = |id: usize| Sphere {
        groups: groups.get(id).copied().unwrap_or_default(),
        ..Sphere::default()
    };
    let ignored = !groups.is_empty() && grouped(ids[0]).ignores(&grouped(ids[1]));
    let removed = |place: u32| start.removed[place as usize];
    let gone = removed(sphere) || removed(other);
    let fixed = |place: u32| start.spheres[place as usize].is_fixed();
    let both_fixed = fixed(sphere) && fixed(other);
    !(other == sphere || ignored || together || gone || both_fixed)
}
