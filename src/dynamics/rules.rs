//! Rules: functions that decide what an impact does.

use std::fmt;

use glam::DVec3;

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
    pub point: DVec3,
    /// Unit vector from the centre of the sphere to the contact point.
    pub normal: DVec3,
    /// Masses of the sphere and of the object that it meets. The mass of a wall is infinite.
    pub masses: [f64; 2],
    /// Velocities of the sphere and of the object that it meets, just before the impact.
    pub velocities: [DVec3; 2],
    /// Speed of approach along the normal.
    pub approach_speed: f64,
}

/// What an encounter does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Response {
    /// The sphere and its partner bounce off each other. Their masses and the restitution determine the new
    /// velocities.
    #[default]
    Bounce,
    /// The sphere and its partner pass through each other, until they are separate.
    Ignore,
    /// The impact gives these two velocities to the sphere and to its partner (the object that it
    /// meets). The second velocity is ignored if the partner is a wall. If the new velocities do
    /// not separate the sphere from its partner, the two pass through each other.
    Velocities([DVec3; 2]),
    /// The impact removes the sphere, its partner (the object that it meets) or both. The first
    /// entry of the array is for the sphere, and the second for its partner. The entry `None`
    /// removes the object. If the entry is a velocity, the object stays and gets this velocity, as
    /// with [`Velocities`](Self::Velocities). A removed sphere hits nothing afterwards. Walls are
    /// never removed. The impact counts like any other, and is in the list of impacts.
    ///
    /// See [`Simulation::is_removed`](crate::Simulation::is_removed) for the state of a removed
    /// sphere.
    Remove([Option<DVec3>; 2]),
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
