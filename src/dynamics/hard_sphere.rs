//! Defines [`HardSphere`], the state of one sphere of a simulation.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use crate::{Error, MAX_MAGNITUDE, Sphere};

/// Limits of a finite mass. With all speeds that are allowed, momenta, energies, their sums and their squares have a
/// float64.
const LEAST_MASS: f64 = 1e-100;
const MOST_MASS: f64 = 1e100;

/// The state of one sphere of a [`Simulation`](crate::Simulation), in float64.
///
/// ```
/// use carom::HardSphere;
/// let ball = HardSphere::new([0.0, 1.0, 0.0], 0.5).with_velocity([2.0, 0.0, 0.0]).with_mass(3.0);
/// assert_eq!(ball.kinetic_energy(), 6.0);
/// ```
// A sphere is one cache line, so a sphere that is looked up costs one access to memory.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HardSphere {
    /// Centre, in the unit of length of the application.
    pub center: [f64; 3],
    /// Velocity, as length per unit of time.
    pub velocity: [f64; 3],
    /// Radius, 0 or more.
    pub radius: f64,
    /// Mass, from 10⁻¹⁰⁰ to 10¹⁰⁰ or infinite. A sphere of infinite mass keeps its velocity at every impact, unless a rule
    /// ([`Response`](crate::Response)) gives it another one, and gravity does not act on it. Text that serde writes has
    /// the word "infinite" for such a mass.
    #[cfg_attr(feature = "serde", serde(with = "written_mass"))]
    pub mass: f64,
}

/// Text formats such as JSON have no infinite numbers.
#[cfg(feature = "serde")]
mod written_mass {
    use serde::{Deserialize, Deserializer, Serializer, de};

    const INFINITE: &str = "infinite";

    pub(super) fn serialize<S: Serializer>(mass: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && *mass == f64::INFINITY {
            serializer.serialize_str(INFINITE)
        } else {
            serializer.serialize_f64(*mass)
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Mass {
        Number(f64),
        Word(String),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        if !deserializer.is_human_readable() {
            return f64::deserialize(deserializer);
        }
        match Mass::deserialize(deserializer) {
            Ok(Mass::Number(mass)) => Ok(mass),
            Ok(Mass::Word(word)) if word == INFINITE => Ok(f64::INFINITY),
            _ => Err(de::Error::custom(
                "the mass must be a number or \"infinite\"",
            )),
        }
    }
}

impl HardSphere {
    /// Creates a sphere at rest with a mass of 1.
    pub fn new(center: impl Into<[f64; 3]>, radius: f64) -> Self {
        Self {
            center: center.into(),
            velocity: [0.0; 3],
            radius,
            mass: 1.0,
        }
    }

    /// Returns the same sphere with this velocity.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<[f64; 3]>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Returns the same sphere with this mass.
    #[must_use]
    pub fn with_mass(mut self, mass: f64) -> Self {
        self.mass = mass;
        self
    }

    /// Returns the same sphere with the mass of a ball of this density: 4/3·π·radius³·`density`.
    ///
    /// For discs in a plane, whose masses are proportional to radius², use
    /// [`with_mass`](Self::with_mass) instead of this function.
    #[must_use]
    pub fn with_density(self, density: f64) -> Self {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3);
        self.with_mass(density * volume)
    }

    /// Returns the same sphere with infinite mass: no impact and no gravity changes its velocity.
    #[must_use]
    pub fn fixed(self) -> Self {
        self.with_mass(f64::INFINITY)
    }

    /// Returns whether the sphere's mass is infinite.
    pub fn is_fixed(&self) -> bool {
        self.mass == f64::INFINITY
    }

    /// Returns the kinetic energy ½·mass·velocity², or 0 for a sphere of infinite mass.
    pub fn kinetic_energy(&self) -> f64 {
        if self.is_fixed() {
            0.0
        } else {
            0.5 * self.mass * self.motion().length_squared()
        }
    }

    /// Returns the momentum mass·velocity, or 0 for a sphere of infinite mass.
    pub fn momentum(&self) -> [f64; 3] {
        if self.is_fixed() {
            [0.0; 3]
        } else {
            self.velocity.map(|v| self.mass * v)
        }
    }

    /// Returns the centre as a vector.
    pub(crate) fn place(&self) -> DVec3 {
        self.center.into()
    }

    /// Returns the velocity as a vector.
    pub(crate) fn motion(&self) -> DVec3 {
        self.velocity.into()
    }

    /// Returns an error if the centre, velocity, radius or mass of this sphere is out of range. The
    /// error names the sphere by `index`.
    pub(crate) fn check(&self, index: usize) -> Result<(), Error> {
        let most = f64::from(MAX_MAGNITUDE);
        let ([x, y, z], [u, v, w]) = (self.center, self.velocity);
        let numbers = [
            ("center.x", x),
            ("center.y", y),
            ("center.z", z),
            ("velocity.x", u),
            ("velocity.y", v),
            ("velocity.z", w),
        ];
        let invalid = |field, value, allowed: &str| Error::InvalidHardSphere {
            index,
            problem: format!("its {field} is {value:?}, but must be {allowed}"),
        };
        for (field, value) in numbers {
            if !(-most..=most).contains(&value) {
                let allowed = format!("a finite number of magnitude at most {most:e}");
                return Err(invalid(field, value, &allowed));
            }
        }
        if !(0.0..=most).contains(&self.radius) {
            let allowed = format!("a finite number from 0 to {most:e}");
            return Err(invalid("radius", self.radius, &allowed));
        }
        if (LEAST_MASS..=MOST_MASS).contains(&self.mass) || self.is_fixed() {
            return Ok(());
        }
        let allowed =
            format!("from {LEAST_MASS:e} to {MOST_MASS:e}, or infinite for a fixed sphere");
        Err(invalid("mass", self.mass, &allowed))
    }

    /// Returns 1/mass, which is 0 for a sphere of infinite mass.
    pub(crate) fn inverse_mass(&self) -> f64 {
        self.mass.recip()
    }
}

impl From<Sphere> for HardSphere {
    /// Creates a hard sphere with a mass of 1. The collision groups are not part of it: see
    /// [`SimulationOptions::with_groups`](crate::SimulationOptions::with_groups).
    fn from(sphere: Sphere) -> Self {
        Self::new(sphere.center.map(f64::from), sphere.radius.into())
            .with_velocity(sphere.velocity.map(f64::from))
    }
}

impl From<HardSphere> for Sphere {
    /// Rounds centre, velocity and radius to the nearest float32; a number beyond its range becomes infinite, which a step
    /// refuses. The mass is not part of a `Sphere`, and the collision groups are 0. Two spheres that just touch may
    /// overlap after the rounding, or have a gap: a step in float64 (`Step::new(&hard_spheres, dt)`) needs no rounding.
    #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
    fn from(sphere: HardSphere) -> Self {
        let vector = |x: [f64; 3]| DVec3::from(x).as_vec3().to_array();
        Self::new(vector(sphere.center), sphere.radius as f32)
            .with_velocity(vector(sphere.velocity))
    }
}
