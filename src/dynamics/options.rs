//! Options of a simulation.

use std::fmt::Arguments;
use std::ops::RangeInclusive;

use glam::DVec3;

use crate::{Domain, Error, MAX_MAGNITUDE, Walls};

/// Options of a [`Simulation`](crate::Simulation).
///
/// ```
/// use carom::{Domain, SimulationOptions};
/// let options = SimulationOptions::new()
///     .with_restitution(0.9)
///     .with_domain(Domain::rectangular([0.0; 3], [10.0; 3]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationOptions {
    pub(crate) restitution: f64,
    pub(crate) wall_restitution: f64,
    pub(crate) one_sided_meshes: bool,
    pub(crate) walls: Walls,
    pub(crate) gravity: DVec3,
    pub(crate) domain: Domain,
    pub(crate) contact_time: f64,
    pub(crate) groups: Vec<u32>,
    pub(crate) bodies: Vec<Option<u32>>,
    /// Empty, or the restitution of each sphere.
    pub(crate) restitutions: Vec<f64>,
    pub(crate) combine: Combine,
    /// `None` is the default of the backend, as it is for `max_impacts`.
    pub(crate) impacts_per_substep: Option<f64>,
    pub(crate) max_impacts: Option<u32>,
    pub(crate) max_step_impacts: u64,
    pub(crate) impact_list: bool,
    pub(crate) contacts: bool,
}

/// How the coefficients of restitution of two spheres, or of a sphere and a wall, give that of their impact. The names are
/// those of physics engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Combine {
    /// The mean of the two.
    #[default]
    Average,
    /// The smaller of the two.
    Min,
    /// The product of the two.
    Multiply,
    /// The greater of the two.
    Max,
}

impl Combine {
    pub(crate) fn of(self, [a, b]: [f64; 2]) -> f64 {
        match self {
            Self::Average => 0.5 * (a + b),
            Self::Min => a.min(b),
            Self::Multiply => a * b,
            Self::Max => a.max(b),
        }
    }
}

/// The default of the largest number of impacts in a step: this number, and one for each sphere.
const STEP_IMPACTS: u64 = 10_000_000;
const STEP_IMPACTS_EACH: u64 = 10_000;

impl SimulationOptions {
    /// Returns the default options: elastic spheres in open space.
    pub fn new() -> Self {
        Self {
            restitution: 1.0,
            wall_restitution: 1.0,
            one_sided_meshes: false,
            walls: Walls::new(),
            gravity: DVec3::ZERO,
            domain: Domain::open(),
            contact_time: 0.0,
            groups: Vec::new(),
            bodies: Vec::new(),
            restitutions: Vec::new(),
            combine: Combine::Average,
            impacts_per_substep: None,
            max_impacts: None,
            max_step_impacts: u64::MAX,
            impact_list: false,
            contacts: false,
        }
    }

    /// Sets the coefficient of restitution of two spheres, from 0 to 1: the ratio of the speed at which they separate
    /// along the normal to the speed at which they approach. The default is 1, elastic impacts.
    #[must_use]
    pub fn with_restitution(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }

    /// Sets the coefficient of restitution of each sphere, from 0 to 1, and how two of them give that of an impact. The
    /// restitution of a sphere and that of a wall ([`Wall::with_restitution`](crate::Wall::with_restitution), or else
    /// [`with_wall_restitution`](Self::with_wall_restitution)) are combined likewise. With an empty vector, the default,
    /// all spheres have the restitution of [`with_restitution`](Self::with_restitution), and that of an impact at a wall is
    /// that of the wall.
    ///
    /// ```
    /// use carom::{Combine, HardSphere, Simulation, SimulationOptions};
    /// let rubber = HardSphere::new([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
    /// let clay = HardSphere::new([2.0, 0.0, 0.0], 0.5).fixed();
    /// let options = SimulationOptions::new().with_restitutions(vec![0.8, 0.25], Combine::Multiply);
    /// let mut simulation = Simulation::new(vec![rubber, clay], options)?;
    /// simulation.step(2.0)?;
    /// assert!((simulation.spheres()[0].velocity[0] + 0.2).abs() < 1e-12);
    /// # Ok::<(), carom::Error>(())
    /// ```
    #[must_use]
    pub fn with_restitutions(mut self, restitutions: Vec<f64>, combine: Combine) -> Self {
        (self.restitutions, self.combine) = (restitutions, combine);
        self
    }

    /// Sets the walls, at their places at time 0. Each moves with its constant velocity. Spheres of infinite mass pass
    /// through walls.
    #[must_use]
    pub fn with_walls(mut self, walls: Walls) -> Self {
        self.walls = walls;
        self
    }

    /// Lets spheres touch the triangles of meshes only from the side from which the corners run counterclockwise. They
    /// pass through the other side. Without this option, both sides count.
    #[must_use]
    pub fn with_one_sided_meshes(mut self) -> Self {
        self.one_sided_meshes = true;
        self
    }

    /// Sets the coefficient of restitution of a sphere and a wall, from 0 to 1. The default is 1.
    #[must_use]
    pub fn with_wall_restitution(mut self, restitution: f64) -> Self {
        self.wall_restitution = restitution;
        self
    }

    /// Sets the acceleration of all spheres of finite mass. The default is 0.
    #[must_use]
    pub fn with_gravity(mut self, gravity: impl Into<[f64; 3]>) -> Self {
        self.gravity = gravity.into().into();
        self
    }

    /// Sets the domain: open space, the default, or a periodic cell.
    #[must_use]
    pub fn with_domain(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    /// Sets the contact time, with which inelastic spheres come to rest, or collapse no more. The default is 0.
    ///
    /// *With gravity*, an impact is slow if the speed of approach is below gravity times the contact time. A sphere that
    /// gravity presses against its partner in a slow impact does not bounce, but rests on it, or slides along it. Spheres
    /// at rest have no impacts, and nothing else changes: faster impacts have their restitution. What spheres at rest
    /// pass to walls is in [`StepReport::wall_impulses`](crate::StepReport::wall_impulses), and not in the list of
    /// impacts. A pair that has four impacts within a contact time loses its restitution until the contact time is over.
    /// If it meets again, all that touches it collides at once, and each contact that passes an impulse is an impact.
    /// Elastic spheres (restitution 1) rest only if they do not approach at all, as one that lies on a floor from the start.
    /// Inelastic spheres that all touch one another or a wall at rest, and that have been slower than a thousandth of
    /// √(gravity · radius) for 4·√(radius / gravity), stop. Spheres that overlap a floor, also one that moves, are lifted
    /// out of it without a velocity. Inelastic contacts that gravity presses together, and those of a pile that hit each
    /// other again and again, lose their restitution at speeds at which they overlap by less than 10⁻⁴ of their size in a
    /// substep. While spheres move in contact, positions
    /// have errors of some 10⁻⁴ of the radii, and up to gravity times the square of the contact time. So the
    /// contact time is to be short: 10⁻³ of the time in which a sphere falls by its radius is very short, and 10⁻¹ is
    /// long.
    ///
    /// *Without gravity*, an impact is elastic if one of its spheres of finite mass has had another impact less than the
    /// contact time before (S. Luding and S. McNamara, Granular Matter 1, 1998, 113–128). So if many light spheres hit a
    /// heavy one, most of these impacts are elastic. Give the heavy sphere an infinite mass if it need not move.
    ///
    /// A sphere that slides fast along a hollow wall is turned away from the wall, and hits the wall again after about
    /// the contact time. This does not change its kinetic energy.
    ///
    /// Without a contact time, inelastic spheres may collapse: infinitely many impacts in a finite time. Gravity does the
    /// same to a sphere, elastic or not, that lies on a floor and does not bounce. The step then returns
    /// [`Error::TooManyImpacts`]. So set a contact time if spheres come to rest, or slide along a hollow wall.
    #[must_use]
    pub fn with_contact_time(mut self, contact_time: f64) -> Self {
        self.contact_time = contact_time;
        self
    }

    /// Sets the collision groups of the spheres, as in [`Sphere::groups`](crate::Sphere::groups), one number for each
    /// sphere. With an empty vector, the default, every sphere may hit every other.
    #[must_use]
    pub fn with_groups(mut self, groups: Vec<u32>) -> Self {
        self.groups = groups;
        self
    }

    /// Sets the compound body of each sphere. With an empty vector, the default, no sphere belongs to a body. Spheres
    /// of one body do not hit one another, and spheres with `None` belong to no body. carom does not hold the spheres
    /// of a body together: your program does.
    #[must_use]
    pub fn with_bodies(mut self, bodies: Vec<Option<u32>>) -> Self {
        self.bodies = bodies;
        self
    }

    /// Sets the target for the mean number of impacts of each sphere in a substep. The default is 0.4 on the CPU and
    /// 0.2 on a GPU. A target affects the speed, and results only through rounding. But with a contact time, some impacts
    /// wait for the end of a substep or are counted within it, so that results depend on the target a little more.
    #[must_use]
    pub fn with_impacts_per_substep(mut self, impacts: f64) -> Self {
        self.impacts_per_substep = Some(impacts);
        self
    }

    /// Sets the largest number of impacts of one sphere in a substep. The default is 100 000. carom processes groups
    /// of spheres in tasks. The impacts of one task are limited, too: to this number or, if that is more, to 100 for
    /// each of its spheres. Spheres that may hit far more images of others than usual, because they are larger than the
    /// cell of a periodic domain, have a lower limit, in proportion. A simulation on a GPU has no such limit.
    ///
    /// A substep with more impacts is begun again with a shorter duration. Impacts shorten substeps to a share
    /// of 10⁻² / n of the step, where n is the number of spheres, but at most 10⁻⁴. If a substep of this
    /// duration still has too many impacts, the step returns [`Error::TooManyImpacts`]. So a step ends with
    /// this error if infinitely many impacts happen in a finite time, as between walls that close on a sphere.
    ///
    /// A substep that can still be made shorter has the limit 10 000 if `max_impacts` is larger. If a sphere exceeds
    /// this limit, the substep is begun again, and the step does not end. So this lower limit only saves time. The
    /// larger `max_impacts` is, the longer it takes until the step returns the error. With the default, this takes
    /// less than a second if a sphere comes to rest on a plane, and about a second on a mesh.
    #[must_use]
    pub fn with_max_impacts(mut self, max_impacts: u32) -> Self {
        self.max_impacts = Some(max_impacts);
        self
    }

    /// Sets the largest number of impacts in a step on the CPU. The default, for which [`u64::MAX`] stands, is ten
    /// million and ten thousand for each sphere. A substep counts as one more impact, and so
    /// do about two periodic images, or 64 pairs, that are searched: a sphere that crosses millions of periodic cells may
    /// have no impact. The first substep that reaches the limit is the last one of the step, which then returns before its
    /// end: see
    /// [`StepReport::completed`](crate::StepReport::completed). So no step takes much longer than you allow. A
    /// simulation on a GPU has no such limit, because a recording has a fixed number of substeps.
    ///
    /// A substep that alone exceeds the limit is begun again with a shorter duration. If the limit is at most
    /// [`max_impacts`](Self::with_max_impacts), a step whose shortest substep still has too many impacts returns at the
    /// time reached, and without [`Error::TooManyImpacts`]. This is so for an elastic sphere between walls that close on
    /// it. If the time stands still from step to step, there is no room for a sphere: remove it, or stop the wall.
    #[must_use]
    pub fn with_max_step_impacts(mut self, impacts: u64) -> Self {
        self.max_step_impacts = impacts;
        self
    }

    /// Requests a list of the impacts of each step: see [`StepReport::impacts`](crate::StepReport::impacts). Without
    /// this option, there is no list.
    #[must_use]
    pub fn with_impact_list(mut self) -> Self {
        self.impact_list = true;
        self
    }

    /// Requests which contacts began, lasted and ended in each step on the CPU: see
    /// [`StepReport::began`](crate::StepReport::began).
    #[must_use]
    pub fn with_contact_changes(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// Returns the target for the mean number of impacts of each sphere in a substep on the CPU.
    pub(crate) fn impacts_per_substep(&self) -> f64 {
        self.impacts_per_substep.unwrap_or(0.4)
    }

    /// Returns the largest number of impacts of one sphere in a substep on the CPU.
    pub(crate) fn max_impacts(&self) -> u32 {
        self.max_impacts.unwrap_or(100_000)
    }

    /// Returns the largest number of impacts in a step on the CPU.
    pub(crate) fn max_step_impacts(&self, spheres: usize) -> u64 {
        if self.max_step_impacts < u64::MAX {
            self.max_step_impacts
        } else {
            STEP_IMPACTS + STEP_IMPACTS_EACH * spheres as u64
        }
    }

    /// Returns an error if an option is out of range, or if `groups` or `bodies` is neither empty
    /// nor one entry for each of `spheres` spheres.
    pub(crate) fn check(&self, spheres: usize) -> Result<(), Error> {
        self.check_numbers()?;
        for (what, length) in [
            ("groups", self.groups.len()),
            ("bodies", self.bodies.len()),
            ("restitutions", self.restitutions.len()),
        ] {
            if length != 0 && length != spheres {
                return Err(Error::InvalidSimulation {
                    problem: format!(
                        "the list `{what}` has length {length}, but there are {spheres} spheres; give one entry for \
                         each sphere, or an empty list"
                    ),
                });
            }
        }
        for (sphere, &e) in self.restitutions.iter().enumerate() {
            check_restitution(format_args!("restitution of sphere {sphere}"), e)?;
        }
        self.domain.check::<f32>()?;
        self.walls.check(0.0, &self.domain)
    }

    /// Returns the gravity, and the numbers of the model that [`Simulation`](crate::Simulation) can change.
    pub(crate) fn numbers(&self) -> (DVec3, [f64; 3]) {
        let numbers = [self.restitution, self.wall_restitution, self.contact_time];
        (self.gravity, numbers)
    }

    /// Returns an error if a number is out of range.
    pub(crate) fn check_numbers(&self) -> Result<(), Error> {
        check_restitution(format_args!("restitution"), self.restitution)?;
        check_restitution(format_args!("restitution of walls"), self.wall_restitution)?;
        let most = f64::from(MAX_MAGNITUDE);
        for (axis, value) in ["x", "y", "z"].into_iter().zip(self.gravity.to_array()) {
            check_number(format_args!("gravity along {axis}"), value, -most..=most)?;
        }
        check_number(format_args!("contact time"), self.contact_time, 0.0..=most)?;
        let impacts = self.impacts_per_substep();
        check_number(
            format_args!("number of impacts in a substep"),
            impacts,
            1e-6..=1e6,
        )?;
        if self.max_impacts == Some(0) || self.max_step_impacts == 0 {
            return Err(Error::InvalidSimulation {
                problem: "the largest number of impacts is 0, but must be at least 1".to_owned(),
            });
        }
        Ok(())
    }
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self::new()
    }
}

fn check_number(
    what: Arguments<'_>,
    value: f64,
    allowed: RangeInclusive<f64>,
) -> Result<(), Error> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let [least, most] = [allowed.start(), allowed.end()];
    Err(Error::InvalidSimulation {
        problem: format!("the {what} is {value:?}, but must be from {least:?} to {most:?}"),
    })
}

/// Returns an error for a coefficient of restitution that is not from 0 to 1.
pub(crate) fn check_restitution(what: Arguments<'_>, restitution: f64) -> Result<(), Error> {
    check_number(what, restitution, 0.0..=1.0)
}

/// Returns the speed of approach below which an impact is slow, or 0 if no sphere can rest.
pub(crate) fn slow_speed(options: &SimulationOptions) -> f64 {
    options.gravity.length() * options.contact_time
}
