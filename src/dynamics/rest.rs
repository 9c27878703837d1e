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
//! So a pile at rest has no impacts, its velocities are exactly 0, and it sleeps (`forces.rs`). `docs/design.md`, "Rest",
//! explains why.

use glam::DVec3;
use rayon::prelude::*;

use super::candidate::TouchKey;
use super::candidates::Candidates;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check};
use super::contact::{APART as TOUCHED, ContactPair, OVERLAP};
use super::forces::{RestForces, SleepingPair};
use super::impulses::{Body, Pressed, find};
use super::islands::root;
use super::narrow::narrow;
use super::options::slow_speed;
use super::path::Piece;
use super::report::{Partner, Passed};
use super::rows::{push, reserve};
use super::start::Start;
use super::{HardSphere, SimulationOptions};
use crate::Error;

/// A sphere that rests on a body other than a plane may slip along it by about this number of radii before the end of a
/// substep, or for one contact time.
const SLIP: f64 = 1e-3;

/// Impulses keep bodies apart if the gap between them is at most this number times the sum of their radii.
const TOUCH: f64 = 1e-2;

/// An overlap of more than twice this number times the sum of the radii is pushed out, down to this number: by this share
/// in each of some sweeps over all contacts in a substep. The centres move, and the velocities do not.
const DEPTH: f64 = 4e-10;
const SHARE: f64 = 0.5;
const SWEEPS: usize = 4;

/// The impulses separate touching bodies at this fraction of the slow speed, so that rounding does not let them
/// approach.
const APART: f64 = 1e-9;

/// A sphere that rests lies still if it is slower than this fraction of the slow speed, or than this fraction of the speed
/// that gravity gives in the substep.
const STILL: f64 = 1e-5;
const CREEP: f64 = 1e-6;

/// A group of inelastic spheres falls asleep if each of them has been slower than `CALM`·√(gravity · radius) for the time
/// `CALM_TIME`·√(radius / gravity).
const CALM: f64 = 1e-3;
const CALM_TIME: f64 = 4.0;

/// The impulses are found when no speed lacks more than this fraction of the speed that gravity gives in the substep.
const FOUND: f64 = 1e-8;

/// If bodies approach faster, this fraction of what exceeds that speed suffices.
const FOUND_FAST: f64 = 1e-6;

/// Number of impulses that are computed in a substep, if that is more than the number of steps of the search.
const MOST: usize = 1 << 24;
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
    /// Whether it rests from now on.
    rests: bool,
    /// How far overlaps push it.
    push: DVec3,
    /// Whether it rests, and neither moves nor has moved in the substep.
    lies: bool,
    /// Whether it has rested and hardly moved for a while.
    is_calm: bool,
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
    is_elastic: bool,
    radius: f64,
    /// How far the two overlap, or 0.
    depth: f64,
}

/// The impulses between spheres at rest, and working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) forces: RestForces,
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

impl Rest {
    /// Writes what the next substep depends on, or reads it. There are `counts` spheres and walls.
    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder, counts: [usize; 2]) -> Result<(), String> {
        self.forces.code(coder, counts)?;
        self.longest.code(coder)?;
        check(
            self.longest.is_none_or(|longest| longest > 0.0),
            "durations",
        )
    }

    /// Notes for how long each sphere has hardly moved.
    fn note_calm(&mut self, duration: f64, start: &Start<'_>) -> Result<(), Error> {
        let Self {
            forces,
            bodies,
            loads,
            ..
        } = self;
        let mut calm = Vec::new();
        reserve(&mut calm, start.ids.len())?;
        calm.resize(start.ids.len(), 0.0);
        let strength = start.options.gravity.length();
        for (body, load) in bodies.iter().zip(loads.iter_mut()) {
            let sphere = load.sphere as usize;
            let (radius, id) = (start.spheres[sphere].radius, start.ids[sphere] as usize);
            let most = CALM * (strength * radius).sqrt();
            if load.rests && !load.carried && body.velocity.length() < most {
                calm[id] = forces.calm.get(id).copied().unwrap_or(0.0) + duration;
                load.is_calm = calm[id] > CALM_TIME * (radius / strength).sqrt();
            }
        }
        forces.calm = calm;
        Ok(())
    }

    /// Puts to sleep the groups of touching bodies that all lie still.
    fn put_to_sleep(&mut self, duration: f64, start: &Start<'_>) -> Result<(), Error> {
        self.note_calm(duration, start)?;
        let Self {
            forces,
            bodies,
            loads,
            touching,
            ..
        } = self;
        if !loads.iter().any(|load| load.lies || load.is_calm) {
            return Ok(());
        }
        let mut roots: Vec<u32> = Vec::new();
        reserve(&mut roots, bodies.len())?;
        roots.extend((0_u32..).take(bodies.len()));
        let is_fixed = |body: u32| bodies[body as usize].inverse_mass == 0.0;
        for pair in touching.iter() {
            let [a, b] = pair.contact.ends;
            if !is_fixed(a) && !is_fixed(b) {
                let [a, b] = [root(&mut roots, a), root(&mut roots, b)];
                roots[a.max(b) as usize] = a.min(b);
            }
        }
        // What moves keeps awake what it touches.
        let mut is_awake = Vec::new();
        reserve(&mut is_awake, bodies.len())?;
        is_awake.resize(bodies.len(), false);
        for (body, load) in (0..).zip(loads.iter()) {
            let lies = load.lies || load.is_calm;
            is_awake[root(&mut roots, body) as usize] |= !is_fixed(body) && !lies;
        }
        for pair in touching.iter() {
            let ends = pair.contact.ends;
            let moves = |end: u32| is_fixed(end) && bodies[end as usize].velocity != DVec3::ZERO;
            // Elastic spheres sleep only if they do not move at all.
            let creeps = |end: u32| pair.is_elastic && !is_fixed(end) && !loads[end as usize].lies;
            let any_moves = ends.into_iter().any(|end| moves(end) || creeps(end));
            for end in ends {
                is_awake[root(&mut roots, end) as usize] |= any_moves;
            }
        }
        let mut group_of = |body: u32| {
            let root = root(&mut roots, body) as usize;
            let sleeps = !is_fixed(body) && !is_awake[root];
            sleeps.then(|| start.ids[loads[root].sphere as usize])
        };
        let (mut spheres, mut pairs) = (Vec::new(), Vec::new());
        for (body, load) in (0..).zip(loads.iter()) {
            if let Some(group) = group_of(body) {
                let sphere = load.sphere as usize;
                let entry = (start.ids[sphere], group, start.spheres[sphere].radius);
                push(&mut spheres, entry)?;
            }
        }
        for (pair, &(key, force)) in touching.iter().zip(&forces.awake) {
            let mut groups = pair.contact.ends.into_iter().filter_map(&mut group_of);
            if let Some(group) = groups.next() {
                let pair = SleepingPair {
                    key,
                    force,
                    group,
                    normal: pair.contact.normal,
                    distance: pair.contact.distance,
                };
                push(&mut pairs, pair)?;
            }
        }
        forces.sleep(start.ids.len(), &spheres, &pairs)
    }

    /// Returns what the spheres that sleep pass on in a time.
    pub(crate) fn forces_asleep(&self, duration: f64) -> Result<Passed, Error> {
        let mut asleep = Passed::default();
        for pair in &self.forces.sleeping {
            match pair.key.1 {
                Partner::Wall(wall) if pair.force > 0.0 => {
                    let momentum = pair.normal * (pair.force * duration);
                    push(&mut asleep.to_walls, (wall, momentum))?;
                }
                Partner::Wall(_) => {}
                Partner::Sphere(_) => asleep.virial += pair.distance * pair.force * duration,
            }
        }
        Ok(asleep)
    }

    /// Finds the impulses between touching bodies at the end of a substep of the given duration. `owed` has the spheres
    /// that rest, each with the time for which gravity has not acted on it. `start` is the state at the end of the
    /// substep. Returns the new places and velocities of some spheres, with whether each of them rests from now on.
    pub(crate) fn settle(
        &mut self,
        owed: &mut Vec<(u32, f64)>,
        duration: f64,
        candidates: &Candidates,
        start: &Start<'_>,
    ) -> Result<Settled, Error> {
        self.longest = None;
        if owed.is_empty() && self.forces.sleeping.is_empty() {
            self.forces.forget();
            return Ok(<_>::default());
        }
        let slow = slow_speed(start.options);
        loop {
            let before = self.forces.sleeping.len();
            self.list(owed, duration, candidates, start)?;
            // What comes near to a group that sleeps wakes it.
            self.forces.wake_woken(start.ids, owed, duration)?;
            if self.forces.sleeping.len() == before {
                break;
            }
        }
        let mut asleep = self.forces_asleep(duration)?;
        let contacts = self.touching.len().max(1);
        let steps = (100 + 4 * contacts).min(STEPS.max(MOST / contacts));
        let falls = duration * start.options.gravity.length();
        let lacking = self.touching.iter();
        let lacking = lacking.map(|pair| pair.contact.lacking(&self.bodies));
        let tolerance = (FOUND * falls).max(FOUND_FAST * (lacking.fold(0.0, f64::max) - falls));
        let residue = find(&mut self.bodies, &mut self.touching, tolerance, steps);
        self.push_apart();
        let (mut new, mut passed) = self.results(duration, start)?;
        self.put_to_sleep(duration, start)?;
        for (sphere, [_, velocity], rests) in &mut new {
            if self.forces.sleeps(start.ids[*sphere as usize]) {
                (*velocity, *rests) = (DVec3::ZERO, true);
            }
        }
        passed.virial += asleep.virial;
        passed.to_walls.append(&mut asleep.to_walls);
        if residue > 0.1 * slow {
            // The impulses are not found yet, or there are none. The bodies must hardly overlap in the next substep.
            let radii = self.touching.iter().map(|pair| pair.radius);
            let most = OVERLAP * radii.fold(f64::INFINITY, f64::min) / residue;
            self.limit(most.max(start.options.contact_time));
        }
        Ok((new, passed))
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
                        rests: false,
                        push: DVec3::ZERO,
                        lies: false,
                        is_calm: false,
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
                forces.disturb(start.ids[other as usize])?;
                let key = setting.key(&candidate);
                let force = forces.of(&key);
                let separates = || {
                    // Gravity moves the upper one towards the other, which something else may support.
                    let pressing = blow.touch.normal.dot(options.gravity);
                    let pressed = |end: u32, piece: &Piece, is_upper: bool| {
                        let place = place_of(end).ok().filter(|_| is_upper);
                        let owed = place.map_or(0.0, |place| owed[place].1);
                        Piece {
                            velocity: piece.velocity + options.gravity * owed,
                            ..*piece
                        }
                    };
                    let upper = pressed(ends[0], &a, pressing > 0.0);
                    let pieces = [&upper, &pressed(ends[1], &b, pressing < 0.0)];
                    let encounter = setting.encounter(&candidate, pieces, &blow, 0.0);
                    start.rule.response(&encounter).separates(&encounter)
                };
                let lasts = force.is_some_and(|force| force > 0.0) || gap < -TOUCHED * size;
                if (blow.approach >= slow && !lasts)
                    || !(start.rule.is_default() || force.is_some() || separates())
                {
                    continue;
                }
                let wall = match candidate.partner {
                    Partner::Wall(wall) => Some(start.walls.get(wall).motion.velocity),
                    Partner::Sphere(_) => None,
                };
                let flat = contact.is_flat();
                let radius = start.spheres[ends[0] as usize].radius;
                let radius = radius.min(start.spheres[ends[1] as usize].radius);
                let depth = -gap;
                // Bodies with a gap may approach so fast that they touch at the end of the next substep.
                let parting = if depth > 0.0 {
                    0.0
                } else {
                    APART * slow + depth / duration
                };
                let mut pair = [0; 2];
                for (place, end) in pair.iter_mut().zip(ends) {
                    *place = add(end, 0.0, bodies, loads)?;
                }
                if wall.is_some_and(|velocity| velocity != DVec3::ZERO) {
                    loads[pair[0] as usize].carried = true;
                }
                let mut contact = Pressed::new(pair, wall, &blow, parting, bodies);
                contact.impulse = force.unwrap_or(0.0) * duration;
                push(
                    touching,
                    TouchingPair {
                        key,
                        contact,
                        rests: setting.is_bearing(&blow.touch),
                        flat,
                        is_elastic: setting.restitution(&candidate) == 1.0,
                        radius,
                        depth: if depth > 2.0 * DEPTH * size {
                            depth - DEPTH * size
                        } else {
                            0.0
                        },
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

    /// Moves bodies apart that overlap.
    fn push_apart(&mut self) {
        let Self {
            bodies,
            loads,
            touching,
            ..
        } = self;
        if touching.iter().all(|pair| pair.depth == 0.0) {
            return;
        }
        for sweep in 0..SWEEPS {
            let mut push = |pair: &TouchingPair| {
                let contact = &pair.contact;
                let [a, b] = contact.ends.map(|end| end as usize);
                let mut inverse = [bodies[a].inverse_mass, bodies[b].inverse_mass];
                let mut along = loads[a].push;
                if contact.wall.is_some() {
                    inverse[1] = 0.0;
                } else {
                    along -= loads[b].push;
                }
                let depth = pair.depth + contact.normal.dot(along);
                if depth > 0.0 {
                    let push = contact.normal * (SHARE * depth / (inverse[0] + inverse[1]));
                    loads[a].push -= push * inverse[0];
                    loads[b].push += push * inverse[1];
                }
            };
            if sweep % 2 == 0 {
                touching.iter().for_each(&mut push);
            } else {
                touching.iter().rev().for_each(&mut push);
            }
        }
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
        forces.begin(start.ids.len())?;
        // Bodies that are squeezed have no impulses that keep them apart, and the computed ones grow from sweep to sweep.
        let masses = bodies.iter().map(|body| body.inverse_mass.recip());
        let mass: f64 = masses.filter(|mass| mass.is_finite()).sum();
        let most = MOST_WEIGHTS * mass * options.gravity.length();
        for pair in touching.iter() {
            let contact = &pair.contact;
            forces.add(pair.key, (contact.impulse / duration).min(most))?;
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
            let time = if owed > 0.0 { owed } else { duration };
            let weight = options.gravity.length() * time / body.inverse_mass;
            let rests = load.support >= 0.01 * weight;
            if rests && !load.carried && body.velocity.length() < still {
                body.velocity = DVec3::ZERO;
            }
            load.rests = rests;
            let state = &start.spheres[load.sphere as usize];
            // The sphere has moved straight, and its velocity has changed evenly meanwhile. Otherwise energy would arise.
            let bent = (body.velocity - state.motion()) * (0.5 * owed);
            let place = state.place() + load.push + bent;
            let motions = [body.velocity, state.motion(), load.push];
            // The forces of a body that has landed in the substep are those of a part of it.
            let lasts = !load.carried && owed >= duration;
            load.lies = rests && lasts && motions == [DVec3::ZERO; 3];
            new.push((load.sphere, [place, body.velocity], rests));
        }
        let mut longest = f64::INFINITY;
        for pair in touching.iter() {
            let ends = &pair.contact.ends;
            let rests = ends.iter().any(|&end| loads[end as usize].rests);
            let slip = pair.contact.apart(bodies).length();
            if rests && !pair.flat && slip > STILL * slow {
                longest = longest.min((SLIP * pair.radius / slip).max(options.contact_time));
            }
        }
        // Whatever moves may take away what supports a sphere, which then falls only in the next substep.
        let moves = |sphere: &HardSphere| sphere.velocity != [0.0; 3];
        if (new.iter().any(|&(_, _, rests)| rests) || !forces.sleeping.is_empty())
            && (start.spheres.par_iter().any(moves) || start.walls.any_moves())
        {
            let radii = touching.iter().map(|pair| pair.radius);
            let least = radii.fold(forces.smallest(), f64::min);
            self.limit_fall(least, options);
        }
        if longest < f64::INFINITY {
            self.limit(longest);
        }
        Ok((new, passed))
    }

    /// Limits the next substep to the time in which a sphere of this radius falls by a small part of it.
    pub(super) fn limit_fall(&mut self, radius: f64, options: &SimulationOptions) {
        let most = (2.0 * SLIP * radius / options.gravity.length()).sqrt();
        if most < f64::INFINITY {
            self.limit(most.max(options.contact_time));
        }
    }
}

impl AsMut<Pressed> for TouchingPair {
    fn as_mut(&mut self) -> &mut Pressed {
        &mut self.contact
    }
}
