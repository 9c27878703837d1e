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
use super::contact::ContactPair;
use super::narrow::narrow;
use super::options::slow_speed;
use super::path::Piece;
use super::report::Partner;
use super::rows::{push, reserve};
use super::rules::Response;
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

/// A sphere that rests and is slower than this fraction of the slow speed lies still.
const STILL: f64 = 1e-5;

/// The impulses are found when a sweep changes no speed by more than this fraction of the speed that gravity gives in the
/// substep.
const FOUND: f64 = 1e-7;

/// Number of impulses that are computed at most in a substep, and the least number of sweeps over all touching bodies.
const MOST: usize = 1 << 17;
const SWEEPS: usize = 50;

/// A force with which a search for impulses begins is at most this multiple of the weight of all bodies.
const MOST_WEIGHTS: f64 = 10.0;

/// A sphere that rests, or touches one that does.
#[derive(Clone, Copy, Debug)]
struct Body {
    sphere: u32,
    velocity: DVec3,
    inverse_mass: f64,
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
    /// Places of the two spheres in the list of bodies. A wall has the place of its sphere.
    ends: [u32; 2],
    at_wall: bool,
    /// Velocity of the wall.
    wall: DVec3,
    normal: DVec3,
    /// Distance of the centres of two spheres.
    distance: f64,
    /// Speed at which the two have to part.
    parting: f64,
    /// The reciprocal of the sum of the inverse masses.
    mass: f64,
    /// Whether one can rest on the other.
    rests: bool,
    /// Whether the two touch wherever the sphere slips.
    flat: bool,
    /// The impulse that the sphere passes to its partner, and how it changes from sweep to sweep.
    impulse: f64,
    trend: f64,
    change: f64,
    radius: f64,
}

/// The impulses between spheres at rest, and working memory.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// The force of each touching pair in the last substep, sorted.
    forces: Vec<(TouchKey, f64)>,
    bodies: Vec<Body>,
    touching: Vec<TouchingPair>,
    /// The place of each sphere in `bodies`, or [`NONE`].
    places: Vec<u32>,
    /// Longest duration of the next substep, so that no sphere at rest slips far in it.
    pub(crate) longest: Option<f64>,
}

const NONE: u32 = u32::MAX;

/// The new velocities of some spheres, with whether each of them rests from now on, and what they pass on.
type Settled = (Vec<(u32, DVec3, bool)>, Passed);

/// What resting spheres pass to others in a substep.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The momenta that pass to walls, each with the number of the wall.
    pub(crate) to_walls: Vec<(u32, DVec3)>,
    pub(crate) virial: f64,
}

impl Rest {
    /// Forgets all forces.
    pub(crate) fn forget(&mut self) {
        self.forces.clear();
        self.longest = None;
    }

    /// Finds the impulses between touching bodies at the end of a substep of the given duration. `owed` has the spheres
    /// that rest, each with the time for which gravity has not acted on it. `start` is the state at the end of the
    /// substep. Returns the new velocities of some spheres, with whether each of them rests from now on.
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
        let residue = self.sweep(FOUND * duration * start.options.gravity.length());
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
            touching,
            places,
            ..
        } = self;
        places.clear();
        reserve(places, start.spheres.len())?;
        places.resize(start.spheres.len(), NONE);
        bodies.clear();
        touching.clear();
        for &(sphere, owed) in owed {
            add(bodies, places, sphere, owed, start.spheres)?;
        }
        for &(sphere, _) in owed {
            for near in candidates.of(sphere) {
                let other = near.other;
                let twice = other < sphere && places[other as usize] < narrow(owed.len());
                if start.removed[other as usize] || twice {
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
                let response = || {
                    // Gravity has moved the spheres towards what they rest on.
                    let pressed = |end: u32, piece: &Piece| {
                        let place = places[end as usize] as usize;
                        let owed = bodies.get(place).map_or(0.0, |body| body.owed);
                        Piece {
                            velocity: piece.velocity + options.gravity * owed,
                            ..*piece
                        }
                    };
                    let pieces = [pressed(ends[0], &a), pressed(ends[1], &b)];
                    let pieces = [&pieces[0], &pieces[1]];
                    let encounter = setting.encounter(&candidate, pieces, &blow, 0.0);
                    start.rule.response(&encounter)
                };
                if blow.approach >= slow
                    || !(start.rule.is_default() || force.is_ok() || response() == Response::Bounce)
                {
                    continue;
                }
                let wall = match candidate.partner {
                    Partner::Wall(wall) => Some(start.walls.get(wall).velocity),
                    Partner::Sphere(_) => None,
                };
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
                let (mut pair, known) = ([0; 2], &mut *places);
                for (place, end) in pair.iter_mut().zip(ends) {
                    *place = add(bodies, known, end, 0.0, start.spheres)?;
                }
                if wall.is_some_and(|velocity| velocity != DVec3::ZERO) {
                    bodies[pair[0] as usize].carried = true;
                }
                let inverse = pair.map(|place| bodies[place as usize].inverse_mass);
                let inverse = inverse[0] + if wall.is_some() { 0.0 } else { inverse[1] };
                let force = force.map_or(0.0, |place| forces[place].1);
                push(
                    touching,
                    TouchingPair {
                        key,
                        ends: pair,
                        at_wall: wall.is_some(),
                        wall: wall.unwrap_or_default(),
                        normal: blow.touch.normal,
                        distance: blow.distance,
                        parting: APART * slow + pushed,
                        mass: inverse.recip(),
                        rests: curved <= CURVED * strength,
                        flat: contact.is_flat(),
                        impulse: force * duration,
                        trend: 0.0,
                        change: 0.0,
                        radius,
                    },
                )?;
            }
        }
        touching.sort_unstable_by_key(|pair| pair.key);
        touching.dedup_by_key(|pair| pair.key);
        for body in bodies.iter_mut() {
            body.velocity += options.gravity * body.owed;
        }
        for pair in touching.iter() {
            pair.pass(pair.impulse, bodies);
        }
        Ok(())
    }

    fn limit(&mut self, duration: f64) {
        let longest = self.longest.unwrap_or(f64::INFINITY);
        self.longest = Some(longest.min(duration));
    }

    /// Finds the impulses: sweeps over all touching pairs until no speed changes by more than `tolerance`. Returns the
    /// largest change of a speed in the last sweep.
    ///
    /// Between two sweeps, the impulses go on as they have changed so far, in the manner of conjugate gradients (M.
    /// Silcowitz-Hansen, S. Niebe and K. Erleben, The Visual Computer 26, 2010, 893–901).
    fn sweep(&mut self, tolerance: f64) -> f64 {
        let Self {
            bodies, touching, ..
        } = self;
        let sweeps = SWEEPS.max(MOST / touching.len().max(1));
        let (mut most, mut before) = (0.0_f64, 0.0_f64);
        for sweep in 0..sweeps {
            let mut changed = 0.0;
            most = 0.0;
            for k in 0..touching.len() {
                let place = if sweep % 2 == 0 {
                    k
                } else {
                    touching.len() - 1 - k
                };
                let pair = &mut touching[place];
                let lacking = pair.approach(bodies) + pair.parting;
                let impulse = (pair.impulse + lacking * pair.mass).max(0.0);
                let change = impulse - pair.impulse;
                pair.impulse = impulse;
                pair.change = change;
                pair.pass(change, bodies);
                most = most.max((change / pair.mass).abs());
                changed += change * change;
            }
            if most <= tolerance {
                break;
            }
            let share = if changed < before {
                changed / before
            } else {
                0.0
            };
            before = changed;
            for pair in touching.iter_mut() {
                pair.trend *= share;
                let ahead = pair.trend.max(-pair.impulse);
                pair.impulse += ahead;
                pair.pass(ahead, bodies);
                pair.trend += pair.change;
            }
        }
        most
    }

    fn results(&mut self, duration: f64, start: &Start<'_>) -> Result<Settled, Error> {
        let (options, slow) = (start.options, slow_speed(start.options));
        let Self {
            forces,
            bodies,
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
            push(forces, (pair.key, (pair.impulse / duration).min(most)))?;
            match pair.key.1 {
                Partner::Wall(wall) if pair.impulse > 0.0 => {
                    push(&mut passed.to_walls, (wall, pair.normal * pair.impulse))?;
                }
                Partner::Wall(_) => {}
                Partner::Sphere(_) => passed.virial += pair.distance * pair.impulse,
            }
            if pair.rests {
                let support = pair.impulse * pair.normal.dot(down);
                bodies[pair.ends[0] as usize].support += support;
                if !pair.at_wall {
                    bodies[pair.ends[1] as usize].support -= support;
                }
            }
        }
        let mut new = Vec::new();
        reserve(&mut new, bodies.len())?;
        for body in bodies.iter_mut().filter(|body| body.inverse_mass > 0.0) {
            let weight = options.gravity.length() * body.owed / body.inverse_mass;
            let rests = body.owed > 0.0 && body.support >= 0.01 * weight;
            if rests && !body.carried && body.velocity.length() < STILL * slow {
                body.velocity = DVec3::ZERO;
            }
            if !rests {
                body.owed = 0.0;
            }
            new.push((body.sphere, body.velocity, rests));
        }
        let mut longest = f64::INFINITY;
        for pair in touching.iter() {
            let rests = pair.ends.iter().any(|&end| bodies[end as usize].owed > 0.0);
            let slip = pair.apart(bodies).length();
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

impl TouchingPair {
    /// Returns the velocity of the sphere relative to its partner.
    fn apart(&self, bodies: &[Body]) -> DVec3 {
        let other = if self.at_wall {
            self.wall
        } else {
            bodies[self.ends[1] as usize].velocity
        };
        bodies[self.ends[0] as usize].velocity - other
    }

    fn approach(&self, bodies: &[Body]) -> f64 {
        self.normal.dot(self.apart(bodies))
    }

    /// Lets the sphere pass an impulse to its partner.
    fn pass(&self, impulse: f64, bodies: &mut [Body]) {
        let one = &mut bodies[self.ends[0] as usize];
        one.velocity -= self.normal * (impulse * one.inverse_mass);
        if !self.at_wall {
            let other = &mut bodies[self.ends[1] as usize];
            other.velocity += self.normal * (impulse * other.inverse_mass);
        }
    }
}

/// Returns the place of a sphere in the list of bodies, and adds it if it is not there.
fn add(
    bodies: &mut Vec<Body>,
    places: &mut [u32],
    sphere: u32,
    owed: f64,
    spheres: &[HardSphere],
) -> Result<u32, Error> {
    let place = &mut places[sphere as usize];
    if *place == NONE {
        *place = narrow(bodies.len());
        let state = &spheres[sphere as usize];
        let body = Body {
            sphere,
            velocity: state.motion(),
            inverse_mass: state.inverse_mass(),
            owed,
            support: 0.0,
            carried: false,
        };
        push(bodies, body)?;
    }
    Ok(*place)
}
