//! A note for the user about float32 coordinates that are coarse compared to the radii of the spheres.

use carom_formats::read::World;

use crate::world_args::single;

/// If neighbouring float32 coordinates are farther apart than this fraction of the smallest radius, the user
/// gets a note.
const TOLERATED: f32 = 0.01;

/// Returns a note for the user if float32 rounds coordinates to steps larger than a hundredth of the smallest
/// radius. The pairs are exact only for the rounded coordinates.
pub(crate) fn note(world: &World) -> Option<String> {
    let spheres = &world.spheres;
    let coordinates = spheres.iter().flat_map(|sphere| sphere.center.map(single));
    let largest = coordinates.map(f32::abs).fold(0.0, f32::max);
    let radii = spheres.iter().map(|sphere| single(sphere.radius));
    // The rounding of the coordinates is compared with the smallest radius. Points (spheres of
    // radius 0) are left out, because the rounding of a point's position matters only in comparison
    // with the radius of a sphere that the point may touch.
    let smallest = radii
        .filter(|&radius| radius > 0.0)
        .fold(f32::INFINITY, f32::min);
    let step = largest.next_up() - largest;
    (largest > 0.0 && step.is_finite() && step > TOLERATED * smallest).then(|| {
        format!(
            "coordinates up to {largest:?} are rounded to steps of {step:.1e} in float32, which is \
             coarse for the smallest radius, {smallest:?}: move the origin closer to the spheres"
        )
    })
}

#[cfg(test)]
mod tests {
    use carom_formats::read::{ReadOptions, csv};

    use super::*;

    fn note_of(rows: &str) -> Option<String> {
        let text = format!("x,y,z,radius\n{rows}");
        note(&csv::read("text", text.as_bytes(), &ReadOptions::default()).unwrap())
    }

    #[test]
    fn coarse_coordinates_yield_a_note() {
        let told = note_of("5,0,0,4e-9\n").unwrap();
        assert!(told.contains("4.8e-7") && told.contains("4e-9"), "{told}");
        assert!(note_of("1e6,0,0,0.1\n").is_some());
        // Coordinates of some metres in float32 are precise enough for a radius of one millimetre,
        // so the user gets no note about rounding.
        assert_eq!(note_of("5,-7,2,1e-3\n0,0,0,0\n"), None);
        assert_eq!(note_of("0,0,0,1e-45\n"), None);
        assert_eq!(note_of(""), None);
    }
}
