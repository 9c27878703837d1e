//! Rules: functions that decide what an impact does.

use std::fmt;

use super::Partner;

/// Two spheres that meet, or a sphere that meets a wall, before it is decided what happens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Encounter {
    /// Time on the clock of [`Simulation::time`](crate::Simulation::time).
    pub time: f64,
    /// Index of the sphere, or the smaller of the two indices for two spheres.
    pub sphere: u32,
    /// The object that the sphere meets.
    pub partner: Partner,
    /// Image of the partner, or of the sphere at a wall: see [`Impact::image`](crate::Impact::image).
    pub image: [i32; 3],
    /// The contact point: see [`Impact::point`](crate::Impact::point).
    pub point: [f64; 3],
    /// Unit vector from the centre of the sphere to the contact point.
    pub normal: [f64; 3],
    /// Masses of the sphere and of the object that it meets. The mass of a wall is infinite.
    pub masses: [f64; 2],
    /// Velocities of the sphere and of the object that it meets, just before the impact.
    pub velocities: [[f64; 3]; 2],
    /// Speed of approach along the normal.
    pub approach_speed: f64,
}

/// What an encounter does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Response {
    /// The sphere and its partner bounce off each other. Their masses and the restitution determine the new
    /// velocities.
    #[default]
    Bounce,
    /// The sphere and its partner pass through each other, until they are separate.
    Ignore,
    /// The impact has these outcomes for the sphere and for the object that it meets. The second
    /// outcome is ignored if this object is a wall. The impact counts like any other, and is in the
    /// list of impacts.
    Each([Outcome; 2]),
}

/// What an impact does to one of its two spheres: see [`Response::Each`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The sphere gets this velocity. If the sphere and the object that it meets both stay, and the
    /// new velocities do not separate them, the two pass through each other.
    Velocity([f64; 3]),
    /// The sphere is removed. It hits nothing afterwards.
    /// [`Simulation::is_removed`](crate::Simulation::is_removed) describes the state of a removed
    /// sphere.
    Remove,
}

/// The caller's function that decides what an impact does, or `None` if every impact is a bounce.
#[derive(Clone, Copy, Default)]
pub(crate) struct ResponseRule<'a>(pub(crate) Option<&'a (dyn Fn(&Encounter) -> Response + Sync)>);

impl ResponseRule<'_> {
    pub(crate) fn response(&self, encounter: &Encounter) -> Response {
        self.0.map_or(Response::Bounce, |rule| rule(encounter))
    }

    pub(crate) fn is_default(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for ResponseRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_default() {
            "bounce"
        } else {
            "a function"
        };
        f.debug_tuple("ResponseRule").field(&name).finish()
    }
}
