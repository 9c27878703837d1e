//! Joint impacts: where bodies without room between them hit each other again and again within a contact time, all
//! that touch get their impulses at once.
//!
//! Impacts by pairs would find the same velocities, but slowly: in a row of n bodies, each contact needs some n² of
//! them. The impulses are without restitution, and found as those of bodies at rest (`rest.rs`).

use glam::DVec3;

use super::contact::{APART, OVERLAP};
use super::impulses::{Body, Pressed, find};
use super::islands::IslandPart;
use super::replay::{FLOOR, Joint, ReplayScratch, number};
use super::report::{Impact, Partner};
use super::rows::{push, reserve};
use super::setting::Setting;
use crate::Error;

/// The impulses are found when no speed lacks more than this fraction of the speed of approach.
const FOUND: f64 = 1e-9;

/// Number of steps of the search, at most. After these, some bodies may still approach: they are squeezed, or hit each
/// other again at once.
const STEPS: usize = 1000;

const NONE: u32 = u32::MAX;

impl ReplayScratch<'_> {
    /// Lets all bodies collide at `time` that touch each other and hang together with a link that meets. Writes the
    /// impacts to `part`, and returns their virial.
    pub(crate) fn collide_jointly(
        &mut self,
        link: usize,
        time: f64,
        setting: &Setting<'_>,
        part: &mut IslandPart,
    ) -> Result<f64, Error> {
        let mut joint = std::mem::take(&mut self.joint);
        let result = self.collide(&mut joint, link, time, setting, part);
        self.joint = joint;
        result
    }

    fn collide(
        &mut self,
        joint: &mut Joint,
        first: usize,
        time: f64,
        setting: &Setting<'_>,
        part: &mut IslandPart,
    ) -> Result<f64, Error> {
        let approach = self.blow(first, time).approach;
        self.connect(joint, first, approach, time, setting)?;
        // What is slower waits for the end of the substep.
        let tolerance = (FOUND * approach).max(0.5 * FLOOR * setting.slow);
        let Joint {
            bodies, contacts, ..
        } = joint;
        find(bodies, contacts, tolerance, STEPS);
        let mut virial = 0.0;
        for (contact, &place) in joint.contacts.iter().zip(&joint.links) {
            let link = &mut self.links[place as usize];
            link.count(time, setting.options.contact_time);
            if contact.impulse == 0.0 {
                continue;
            }
            let [a, b] = link.ends.map(|end| self.members[end as usize].piece);
            let candidate = link.candidate;
            let blow = link.contact.blow(&a, &b, time);
            let encounter = setting.encounter(&candidate, [&a, &b], &blow, time);
            let impact = Impact {
                time,
                sphere: encounter.sphere,
                partner: encounter.partner,
                image: encounter.image,
                point: encounter.point,
                normal: encounter.normal,
                impulse: (contact.normal * contact.impulse).to_array(),
            };
            virial += contact.distance * contact.impulse;
            push(&mut part.impacts, impact)?;
        }
        let gravity = setting.options.gravity;
        for (body, &place) in joint.bodies.iter().zip(&joint.members) {
            let member = &mut self.members[place as usize];
            let change = body.velocity - member.piece.velocity_at(time, gravity);
            if change == DVec3::ZERO || member.inverse_mass == 0.0 {
                continue;
            }
            member.piece = member.piece.turn(time, change);
            // A body at rest falls again only if it takes off.
            let rise = -body.velocity.dot(gravity);
            let released = gravity != DVec3::ZERO && rise >= setting.slow * gravity.length();
            if released && !member.piece.falls {
                member.piece = member.piece.falling(true, time, gravity);
            }
            member.impacts += 1;
            member.last = time;
            push(&mut self.turns, (place, member.piece))?;
        }
        for &place in &joint.members {
            self.predict_again([place as usize; 2], time, setting)?;
        }
        Ok(virial)
    }

    /// Lists the contacts that hang together with the link `first`.
    fn connect(
        &self,
        joint: &mut Joint,
        first: usize,
        approach: f64,
        time: f64,
        setting: &Setting<'_>,
    ) -> Result<(), Error> {
        let Joint {
            members,
            bodies,
            contacts,
            links,
            places,
            listed,
        } = joint;
        members.clear();
        bodies.clear();
        contacts.clear();
        links.clear();
        places.clear();
        reserve(places, self.members.len())?;
        places.resize(self.members.len(), NONE);
        listed.clear();
        reserve(listed, self.links.len())?;
        listed.resize(self.links.len(), false);
        let gravity = setting.options.gravity;
        let mut body = |place: u32, members: &mut Vec<u32>, bodies: &mut Vec<Body>| {
            let known = &mut places[place as usize];
            if *known == NONE {
                *known = number(bodies.len())?;
                let member = &self.members[place as usize];
                let velocity = member.piece.velocity_at(time, gravity);
                push(members, place)?;
                push(bodies, Body::new(velocity, member.inverse_mass))?;
            }
            Ok::<_, Error>(*known)
        };
        for end in self.links[first].places() {
            body(end, members, bodies)?;
        }
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            next += 1;
            // A body of infinite mass passes nothing on.
            if self.members[member as usize].inverse_mass == 0.0 {
                continue;
            }
            for place in self.links_of(member as usize) {
                let link = &self.links[place];
                let to_itself = link.places().count() == 2 && link.ends[0] == link.ends[1];
                if std::mem::replace(&mut listed[place], true)
                    || to_itself
                    || !self.is_joined(place, first, approach, time, setting)
                {
                    continue;
                }
                let mut ends = [0; 2];
                for (end, to) in link.ends.into_iter().zip(&mut ends) {
                    *to = body(end, members, bodies)?;
                }
                push(links, number(place)?)?;
            }
        }
        links.sort_unstable();
        for &place in &*links {
            let link = &self.links[place as usize];
            let ends = link.ends.map(|end| places[end as usize]);
            let wall = match link.candidate.partner {
                Partner::Wall(wall) => Some(setting.walls.get(wall).motion.velocity),
                Partner::Sphere(_) => None,
            };
            let blow = self.blow(place as usize, time);
            push(contacts, Pressed::new(ends, wall, &blow, 0.0, bodies))?;
        }
        Ok(())
    }

    /// Returns whether the two of a link touch, or would within the contact time, and bounce.
    fn is_joined(
        &self,
        place: usize,
        first: usize,
        approach: f64,
        time: f64,
        setting: &Setting<'_>,
    ) -> bool {
        if place == first {
            return true;
        }
        let link = &self.links[place];
        let [a, b] = link.ends.map(|end| &self.members[end as usize]);
        if link.passing || a.removed || b.removed {
            return false;
        }
        let size = link.contact.size();
        let near = (approach * setting.options.contact_time).min(OVERLAP * size);
        let gap = link.contact.gap(&a.piece, &b.piece, time);
        if gap > near.max(APART * size) || !link.contact.faces(&a.piece, &b.piece, time) {
            return false;
        }
        setting.rule.is_default() || {
            let blow = link.contact.blow(&a.piece, &b.piece, time);
            let pieces = [&a.piece, &b.piece];
            let encounter = setting.encounter(&link.candidate, pieces, &blow, time);
            setting.rule.response(&encounter).bounces()
        }
    }
}
