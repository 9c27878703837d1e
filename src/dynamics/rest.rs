//! Rest: spheres that gravity presses against one another, or against a wall, and that hardly move, lie still. They
//! touch without impacts.
//!
//! In the model of rest, which needs gravity and a contact time, an impact is *slow* if the approach speed is below
//! the product of both. It takes the approach away. If gravity presses a sphere against its partner, and the sphere
//! hardly moves along it, the sphere *rests* from then on: it moves straight, and gravity does not act on it, but is
//! owed to it. At the end of each substep, [`Rest::settle`] adds what is owed to the velocities, and finds the impulses
//! that keep the touching bodies apart. A sphere with an impulse that supports it rests on, and the others fall. A
//! faster impact ends the rest of a sphere.
//!
//! So a pile at rest has no impacts, and its velocities are exactly 0. `docs/design.md`, "Rest", explains why.

use glam::DVec3;
use rayon::prelude::*;

use super::HardSphere;
use super::candidate::TouchKey;
use super::candidates::Candidates;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check, is_known};
use super::contact::ContactPair;
use super::impulses::{Body, Pressed, find};
use super::narrow::narrow;
use super::options::slow_speed;
use super::path::Piece;
use super::report::Partner;
use super::rows::{push, reserve};
use super::setting::CURVED;
use super::start::Start;
use crate::Error;

/// A sphere that rests on a body other than a plane may slip along it by about this number of radii before the end of a
/// substep, or for one contact time.
const SLIP: f64 = 1e-3;

/// Impulses keep bodies apart if the gap between them is at most this number times the sum of their radii.
const TOUCH: f64 = 1e-2;

/// An overlap of more than this number times the sum of the radii is pushed out: by this share in a substep, and at
/// this fraction of the slow speed at most.
const DEPTH: f64 = 1e-9;
const SHARE: f64 = 0.2;
const PUSHED: f64 = 0.1;

/// The impulses separate touching bodies at this fraction of the slow speed, so that rounding does not let them
/// approach.
const APART: f64 = 1e-9;

/// A sphere that rests lies still if it is slower than this fraction of the slow speed, or than this fraction of the speed
/// that gravity gives in the substep.
const STILL: f64 = 1e-5;
const CREEP: f64 = 1e-6;

/// The impulses are found when no speed lacks more than this fraction of the speed that gravity gives in the substep.
const FOUND: f64 = 1e-8;

/// Number of impulses that are computed in a substep, if that is more than the number of steps of the search.
const MOST: usize = 1 << 22;
const STEPS: usize = 500;

/// A force with which a search for impulses begins is at most this multiple of the weight of all bodies.
const MOST_WEIGHTS: f64 = 10.0;

/// What is known of a body: a sphere that rests, or touches one that does.
#[derive(Clone, Copy, Debug)]
struct RestLoad {
    sphere: u32,
    /// For how long gravity has not acted on the sphere, or 0 if it falls.
    owed: f64,
    /// The impulse against gravity that keeps it at rest.
    support: f64,
    /// Whether the sphere touches a body that moves at a given velocity.
    carried: bool,
}

/// A pair that touches.
#[derive(Clone, Copy, Debug)]
struct TouchingPair {
    key: TouchKey,
    contact: Pressed,
    /// Whether one can rest on the other.
    rests: bool,
    /// Whether the two touch wherever the sphere slips.
    flat: bool,
    radius: f64,
}

/// The impulses between spheres at rest, and working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    /// The force of each touching pair in the last substep, sorted.
    forces: Vec<(TouchKey, f64)>,
    bodies: Vec<Body>,
    /// The load of each body.
    loads: Vec<RestLoad>,
    touching: Vec<TouchingPair>,
    /// The place of each sphere in `bodies`, or [`NONE`].
    places: Vec<u32>,
    /// Longest duration of the next substep, so that no sphere at rest slips far in it.
    pub(crate) longest: Option<f64>,
}

const NONE: u32 = u32::MAX;

/// The new places and velocities of some spheres, with whether each of them rests from now on, and what they pass on.
type Settled = (Vec<(u32, [DVec3; 2], bool)>, Passed);

/// What resting spheres pass to others in a substep.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The momenta that pass to walls, each with the number of the wall.
    pub(crate) to_walls: Vec<(u32, DVec3)>,
    pub(crate) virial: f64,
}

impl Rest {
    /// Returns what the pairs are known by that press on each other.
    pub(crate) fn pressed(&self) -> impl Iterator<Item = &TouchKey> {
        self.forces.iter().map(|(key, _)| key)
    }

    /// Returns what the pairs are known by between which there is a force.
    pub(crate) fn pressing(&self) -> impl Iterator<Item = &TouchKey> {
        let pressing = self.forces.iter().filter(|(_, force)| *force > 0.0);
        pressing.map(|(key, _)| key)
    }

    /// Forgets the forces of some pairs.
    pub(crate) fn retain(&mut self, keep: impl Fn(&TouchKey) -> bool) {
        self.forces.retain(|(key, _)| keep(key));
    }

    /// Writes what the next substep depends on, or reads it. There are `counts` spheres and walls.
    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder, counts: [usize; 2]) -> Result<(), String> {
        self.forces.code(coder)?;
        self.longest.code(coder)?;
        let known = |(key, force): &(TouchKey, f64)| is_known(key, counts) && force.is_finite();
        let valid = self.forces.iter().all(known) && self.forces.is_sorted_by_key(|force| force.0);
        check(
            valid && self.longest.is_none_or(|longest| longest > 0.0),
            "forces",
        )
    }

    /// Forgets all forces.
    pub(crate) fn forget(&mut self) {
        self.forces.clear();
        self.longest = None;
    }

    /// Finds the impulses between touching bodies at the end of a substep of the given duration. `owed` has the spheres
    /// that rest, each with the time for which gravity has not acted on it. `start` is the state at the end of the
    /// substep. Returns the new places and velocities of some spheres, with whether each of them rests from now on.
    pub(crate) fn settle(
        &mut self,
        owed: &[(u32, f64)],
        duration: f64,
        candidates: &Candidates,
        start: &Start<'_>,
    ) -> Result<Settled, Error> {
        self.longest = None;
        if owed.is_empty() {
            self.forget();
            return Ok(<_>::default());
        }
        let slow = slow_speed(start.options);
        self.list(owed, duration, candidates, start)?;
        let steps = STEPS.max(MOST / self.touching.len().max(1));
        let tolerance = FOUND * duration * start.options.gravity.length();
        let residue = find(&mut self.bodies, &mut self.touching, tolerance, steps);
        let new = self.results(duration, start)?;
        if residue > PUSHED * slow {
            // The impulses are not found yet, or there are none. What is left must be slow in the next substep.
            self.limit(start.options.contact_time);
        }
        Ok(new)
    }

    /// Lists the spheres that rest and all that touches them, with the velocities that gravity owes.
    fn list(
        &mut self,
        owed: &[(u32, f64)],
        duration: f64,
        candidates: &Candidates,
        start: &Start<'_>,
    ) -> Result<(), Error> {
        let setting = start.setting(candidates);
        let (options, slow) = (start.options, slow_speed(start.options));
        let strength = options.gravity.length();
        let Self {
            forces,
            bodies,
            loads,
            touching,
            places,
            ..
        } = self;
        places.clear();
        reserve(places, start.spheres.len())?;
        places.resize(start.spheres.len(), NONE);
        bodies.clear();
        loads.clear();
        touching.clear();
        let mut add =
            |sphere: u32, owed: f64, bodies: &mut Vec<Body>, loads: &mut Vec<RestLoad>| {
                let place = &mut places[sphere as usize];
                if *place == NONE {
                    *place = narrow(bodies.len());
                    let state = &start.spheres[sphere as usize];
                    push(bodies, Body::new(state.motion(), state.inverse_mass()))?;
                    let load = RestLoad {
                        sphere,
                        owed,
                        support: 0.0,
                        carried: false,
                    };
                    push(loads, load)?;
                }
                Ok::<_, Error>(*place)
            };
        for &(sphere, owed) in owed {
            add(sphere, owed, bodies, loads)?;
        }
        for &(sphere, _) in owed {
            for near in candidates.of(sphere) {
                let other = near.other;
                // The spheres that rest are in order, so a search finds the place of each.
                let place_of = |end: u32| owed.binary_search_by_key(&end, |(sphere, _)| *sphere);
                let twice = other < sphere && place_of(other).is_ok();
                let near_itself = near
                    .special
                    .is_none_or(|candidate| matches!(candidate.partner, Partner::Sphere(_)))
                    && other == sphere;
                if near_itself || start.removed[other as usize] || twice {
                    continue;
                }
                let candidate = near.candidate(sphere, start.ids);
                let contact = ContactPair::new(&candidate, &setting);
                let ends = candidate.ends();
                let [a, b] = ends.map(|end| Piece::straight(&start.spheres[end as usize], false));
                let (gap, size) = (contact.gap(&a, &b, 0.0), contact.size());
                if gap > TOUCH * size
                    || !contact.faces(&a, &b, 0.0)
                    || setting.is_passing(&candidate)
                {
                    continue;
                }
                let blow = contact.blow(&a, &b, 0.0);
                // A rule has decided for a pair that was at rest before.
                let key = setting.key(&candidate);
                let force = forces.binary_search_by_key(&key, |(key, _)| *key);
                let holds = || {
                    // Gravity has moved the spheres towards what they rest on.
                    let pressed = |end: u32, piece: &Piece| {
                        let owed = place_of(end).map_or(0.0, |place| owed[place].1);
                        Piece {
                            velocity: piece.velocity + options.gravity * owed,
                            ..*piece
                        }
                    };
                    let pieces = [pressed(ends[0], &a), pressed(ends[1], &b)];
                    let pieces = [&pieces[0], &pieces[1]];
                    let encounter = setting.encounter(&candidate, pieces, &blow, 0.0);
                    start.rule.response(&encounter).separates(&encounter)
                };
                if blow.approach >= slow || !(start.rule.is_default() || force.is_ok() || holds()) {
                    continue;
                }
                let wall = match candidate.partner {
                    Partner::Wall(wall) => Some(start.walls.get(wall).motion.velocity),
                    Partner::Sphere(_) => None,
                };
                let flat = contact.is_flat();
                let radius = start.spheres[ends[0] as usize].radius;
                let radius = radius.min(start.spheres[ends[1] as usize].radius);
                let curved = blow.touch.sliding.length_squared() * blow.touch.curvature;
                let depth = -gap;
                // Bodies with a gap may approach so fast that they touch at the end of the next substep.
                let pushed = if depth > DEPTH * size {
                    (SHARE * depth / duration).min(PUSHED * slow)
                } else {
                    depth.min(0.0) / duration
                };
                let mut pair = [0; 2];
                for (place, end) in pair.iter_mut().zip(ends) {
                    *place = add(end, 0.0, bodies, loads)?;
                }
                if wall.is_some_and(|velocity| velocity != DVec3::ZERO) {
                    loads[pair[0] as usize].carried = true;
                }
                let force = force.map_or(0.0, |place| forces[place].1);
                let mut contact = Pressed::new(pair, wall, &blow, APART * slow + pushed, bodies);
                contact.impulse = force * duration;
                push(
                    touching,
                    TouchingPair {
                        key,
                        contact,
                        rests: curved <= CURVED * strength,
                        flat,
                        radius,
                    },
                )?;
            }
        }
        touching.sort_unstable_by_key(|pair| pair.key);
        touching.dedup_by_key(|pair| pair.key);
        for (body, load) in bodies.iter_mut().zip(loads.iter()) {
            body.velocity += options.gravity * load.owed;
        }
        for pair in touching.iter() {
            pair.contact.pass(pair.contact.impulse, bodies);
        }
        Ok(())
    }

    fn limit(&mut self, duration: f64) {
        let longest = self.longest.unwrap_or(f64::INFINITY);
        self.longest = Some(longest.min(duration));
    }

    fn results(&mut self, duration: f64, start: &Start<'_>) -> Result<Settled, Error> {
        let (options, slow) = (start.options, slow_speed(start.options));
        let Self {
            forces,
            bodies,
            loads,
            touching,
            ..
        } = self;
        let down = options.gravity.normalize_or_zero();
        let mut passed = Passed::default();
        forces.clear();
        // Bodies that are squeezed have no impulses that keep them apart, and the computed ones grow from sweep to sweep.
        let masses = bodies.iter().map(|body| body.inverse_mass.recip());
        let mass: f64 = masses.filter(|mass| mass.is_finite()).sum();
        let most = MOST_WEIGHTS * mass * options.gravity.length();
        for pair in touching.iter() {
            let contact = &pair.contact;
            push(forces, (pair.key, (contact.impulse / duration).min(most)))?;
            match pair.key.1 {
                Partner::Wall(wall) if contact.impulse > 0.0 => {
                    let momentum = contact.normal * contact.impulse;
                    push(&mut passed.to_walls, (wall, momentum))?;
                }
                Partner::Wall(_) => {}
                Partner::Sphere(_) => passed.virial += contact.distance * contact.impulse,
            }
            if pair.rests {
                let support = contact.impulse * contact.normal.dot(down);
                loads[contact.ends[0] as usize].support += support;
                if contact.wall.is_none() {
                    loads[contact.ends[1] as usize].support -= support;
                }
            }
        }
        let mut new = Vec::new();
        reserve(&mut new, bodies.len())?;
        let still = (STILL * slow).max(CREEP * duration * options.gravity.length());
        for (body, load) in bodies.iter_mut().zip(loads.iter_mut()) {
            if body.inverse_mass == 0.0 {
                continue;
            }
            let owed = load.owed;
            let weight = options.gravity.length() * owed / body.inverse_mass;
            let rests = load.owed > 0.0 && load.support >= 0.01 * weight;
            if rests && !load.carried && body.velocity.length() < still {
                body.velocity = DVec3::ZERO;
            }
            if !rests {
                load.owed = 0.0;
            }
            let state = &start.spheres[load.sphere as usize];
            let mut place = state.place();
            if !rests {
                // What supported it is gone, so it has fallen on a parabola. Otherwise energy would arise.
                place += (body.velocity - state.motion()) * (0.5 * owed);
            }
            new.push((load.sphere, [place, body.velocity], rests));
        }
        let mut longest = f64::INFINITY;
        for pair in touching.iter() {
            let ends = &pair.contact.ends;
            let rests = ends.iter().any(|&end| loads[end as usize].owed > 0.0);
            let slip = pair.contact.apart(bodies).length();
            if rests && !pair.flat && slip > STILL * slow {
                longest = longest.min((SLIP * pair.radius / slip).max(options.contact_time));
            }
        }
        // Whatever moves may take away what supports a sphere, which then falls only in the next substep.
        let moves = |sphere: &HardSphere| sphere.velocity != [0.0; 3];
        if new.iter().any(|&(_, _, rests)| rests)
            && (start.spheres.par_iter().any(moves) || start.walls.any_moves())
        {
            let radii = touching.iter().map(|pair| pair.radius);
            let fallen = 2.0 * SLIP * radii.fold(f64::INFINITY, f64::min);
            let most = (fallen / options.gravity.length()).sqrt();
            longest = longest.min(most.max(options.contact_time));
        }
        if longest < f64::INFINITY {
            self.limit(longest);
        }
        Ok((new, passed))
    }
}

impl AsMut<Pressed> for TouchingPair {
    fn as_mut(&mut self) -> &mut Pressed {
        &mut self.contact
    }
}
