//! The shortest useful program with carom: it finds every pair of spheres that touch during a time
//! step.
//!
//! Run this example with `cargo run --release --example quickstart`.

use carom::{Detector, Options, Sphere, Step};

fn main() -> Result<(), carom::Error> {
    // A row of a thousand spheres at rest, two units apart, and a bullet that crosses all of them in one
    // step. A sphere has a centre, a radius, and a constant velocity during the step, in any consistent
    // units.
    let mut spheres: Vec<Sphere> = (1..=1000_u16)
        .map(|i| Sphere::new([2.0 * f32::from(i), 0.0, 0.0], 0.5))
        .collect();
    spheres.push(Sphere::new([0.0, 0.2, 0.0], 0.1).with_velocity([2002.0, 0.0, 0.0]));

    // By default a detector uses a hardware GPU if there is one, and the CPU otherwise. Reuse one detector
    // for all steps, because it keeps its device and its buffers.
    let mut detector = Detector::new(Options::default())?;
    let dt = 1.0;
    let collisions = detector.detect(&Step::new(&spheres, dt))?;

    let statistics = &collisions.statistics;
    println!("backend: {:?} ({})", statistics.backend, statistics.reason);
    println!("pairs:   {}", collisions.pairs.len());

    // The fields `a` and `b` of a collision are indices into `spheres`, and `a` is smaller. The
    // list is sorted by these indices, not by time. `toi` is the time of impact: the earliest time
    // in the step at which the two spheres touch.
    for hit in collisions.pairs.iter().take(5) {
        println!("spheres {} and {} touch at t = {}", hit.a, hit.b, hit.toi);
    }
    Ok(())
}
