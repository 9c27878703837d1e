//! Finds the deepest overlap of spheres in a periodic cell, in float64.

use carom::{Backend, Detector, Domain, Error, HardSphere, Options, Sphere, Step};
use glam::DVec3;

pub(crate) struct Overlaps {
    detector: Detector,
    domain: Domain,
    edge: f64,
    /// Unit in the last place of the number 1: 2⁻²³ for float32 coordinates, 2⁻⁵² for float64.
    unit: f64,
    /// Deepest overlap of two spheres so far, as a fraction of the smaller radius. Of each overlap,
    /// 4 units in the last place of the largest coordinate are subtracted, because rounding may
    /// cause this much.
    pub(crate) deepest: f64,
}

impl Overlaps {
    pub(crate) fn new(domain: Domain, unit: f64) -> Result<Self, Error> {
        Ok(Self {
            detector: Detector::new(Options::new().with_backend(Backend::Cpu))?,
            domain,
            edge: domain.edges()[0][0],
            unit,
            deepest: 0.0,
        })
    }

    /// Searches for overlaps of the spheres, and keeps the deepest one in `deepest`. A detector
    /// first finds, in float32, all pairs that may overlap. Then the depths of their overlaps are
    /// computed in float64.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a margin covers the rounding to float32"
    )]
    pub(crate) fn check(&mut self, spheres: &[HardSphere]) -> Result<(), Error> {
        let rounding = 4.0 * f64::from(f32::EPSILON) * self.edge;
        let near: Vec<_> = spheres
            .iter()
            .map(|sphere| {
                Sphere::new(
                    sphere.center.map(|x| x as f32),
                    (sphere.radius + rounding) as f32,
                )
            })
            .collect();
        let found = self
            .detector
            .detect(&Step::new(&near, 0.0).in_domain(&self.domain))?;
        for (pair, image) in found.pairs.iter_with_images() {
            let [a, b] = [pair.a, pair.b].map(|index| &spheres[index as usize]);
            let [from, to] = [a, b].map(|sphere| DVec3::from(sphere.center));
            let away = to - from + DVec3::from(self.domain.displacement(image));
            let ulp = 4.0 * self.unit * self.edge;
            let depth = a.radius + b.radius - ulp - away.length();
            self.deepest = self.deepest.max(depth / a.radius.min(b.radius));
        }
        Ok(())
    }
}
