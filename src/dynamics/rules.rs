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
    /// The sphere and its partner bounce off each other with this coefficient of restitution, from 0 to 1. The contact
    /// time holds as for [`Bounce`](Self::Bounce), except that frequent impacts count as elastic if their materials are.
    BounceWith(f64),
    /// The sphere and its partner pass through each other, until they are separate.
    Ignore,
    /// The impact has these outcomes for the sphere and for the object that it meets. The second
    /// outcome is ignored if this object is a wall. The impact counts like any other, and is in the
    /// list of impacts.
    Each([Outcome; 2]),
}

impl Response {
    /// Returns whether both bounce, as their masses and a restitution say.
    pub(crate) fn bounces(&self) -> bool {
        matches!(self, Self::Bounce | Self::BounceWith(_))
    }

    /// Returns whether the answer to an encounter keeps the two apart.
    pub(crate) fn separates(&self, encounter: &Encounter) -> bool {
        let Self::Each(outcomes) = *self else {
            return self.bounces();
        };
        let velocity = |k: usize| match outcomes[k] {
            _ if k == 1 && matches!(encounter.partner, Partner::Wall(_)) => {
                Some(encounter.velocities[1])
            }
            Outcome::Velocity(velocity) => Some(velocity),
            Outcome::Keep => Some(encounter.velocities[k]),
            Outcome::Bounce | Outcome::Remove => None,
        };
        match [velocity(0), velocity(1)] {
            [Some(v), Some(w)] => {
                let approach = (0..3).map(|k| (v[k] - w[k]) * encounter.normal[k]);
                approach.sum::<f64>() <= 0.0
            }
            _ => !outcomes.contains(&Outcome::Remove),
        }
    }
}

/// What an impact does to one of its two spheres: see [`Response::Each`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The sphere gets this velocity. If the sphere and the object that it meets both stay, and the
    /// new velocities do not separate them, the two pass through each other.
    ///
    /// With gravity and a contact time, a slow velocity after a slow impact lets the sphere rest: see
    /// [`SimulationOptions::with_contact_time`](crate::SimulationOptions::with_contact_time).
    Velocity([f64; 3]),
    /// The sphere keeps its velocity.
    Keep,
    /// The sphere gets the velocity that it has if both bounce.
    Bounce,
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
