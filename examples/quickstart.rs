//! The shortest useful program: a handful of spheres in, every pair that
//! touches during the step out.
//!
//! `cargo run --release --example quickstart`

use carom::{Detector, Options, Sphere, Step};

fn main() -> Result<(), carom::Error> {
    // A row of pins two units apart, and a bullet that crosses them all in one
    // step. Units are yours, as long as they agree.
    let mut spheres: Vec<Sphere> = (1..=1000_u16)
        .map(|i| Sphere::new([2.0 * f32::from(i), 0.0, 0.0], 0.5))
        .collect();
    spheres.push(Sphere::new([0.0, 0.2, 0.0], 0.1).with_velocity([2002.0, 0.0, 0.0]));

    // By default a hardware GPU where there is one, else the CPU. Make one
    // detector and keep it: it holds on to its device and buffers.
    let mut detector = Detector::new(Options::default())?;
    let dt = 1.0;
    let collisions = detector.detect(&Step::new(&spheres, dt))?;

    let statistics = &collisions.statistics;
    println!("backend: {:?} ({})", statistics.backend, statistics.reason);
    println!("pairs:   {}", collisions.pairs.len());

    // Sorted by index, not by time: `a` and `b` are positions in `spheres`.
    for hit in collisions.pairs.iter().take(5) {
        println!("spheres {} and {} touch at t = {}", hit.a, hit.b, hit.toi);
    }
    Ok(())
}
