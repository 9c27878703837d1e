//! Whether float32 tells apart where the spheres are.

use carom_cli::read::World;

/// A rounding of coordinates above this part of a radius is told.
const TOLERATED: f32 = 0.01;

/// What to tell of coordinates that float32 rounds to steps not much smaller than the spheres. The
/// pairs are exactly right for the rounded values, which may differ from the intended ones.
pub(crate) fn note(world: &World) -> Option<String> {
    let spheres = &world.spheres;
    let coordinates = spheres.iter().flat_map(|sphere| sphere.center);
    let largest = coordinates.map(f32::abs).fold(0.0, f32::max);
    let radii = spheres.iter().map(|sphere| sphere.radius);
    // A point touches where its partner's radius says.
    let smallest = radii
        .filter(|&radius| radius > 0.0)
        .fold(f32::INFINITY, f32::min);
    let step = largest.next_up() - largest;
    (largest > 0.0 && step.is_finite() && step > TOLERATED * smallest).then(|| {
        format!(
            "coordinates up to {largest:?} are rounded to steps of {step:.1e} in float32, but the \
             smallest radius is {smallest:?}: move the origin nearer to the spheres"
        )
    })
}

#[cfg(test)]
mod tests {
    use carom_cli::read::{ReadOptions, csv};

    use super::*;

    fn note_of(rows: &str) -> Option<String> {
        let text = format!("x,y,z,radius\n{rows}");
        note(&csv::read("text", text.as_bytes(), &ReadOptions::default()).unwrap())
    }

    #[test]
    fn coarse_coordinates_are_told() {
        let told = note_of("5,0,0,4e-9\n").unwrap();
        assert!(told.contains("4.8e-7") && told.contains("4e-9"), "{told}");
        assert!(note_of("1e6,0,0,0.1\n").is_some());
        // Metres from the origin, and grains of a millimetre.
        assert_eq!(note_of("5,-7,2,1e-3\n0,0,0,0\n"), None);
        assert_eq!(note_of("0,0,0,1e-45\n"), None);
        assert_eq!(note_of(""), None);
    }
}
