//! How an impact changes the motion of its spheres.

use glam::DVec3;

use super::candidate::Candidate;
use super::contact::Blow;
use super::path::Piece;
use super::rules::Encounter;
use super::setting::Setting;
use super::surface::ContactGeometry;

/// Upper limit of half the distance that a sphere in a hollow wall flies within a contact time, divided by the radius
/// of the path along which its centre slides. Beyond this limit, the sphere is turned as if it flew only so far. This
/// avoids overflow and hardly changes the angle.
const MOST_TURNED: f64 = 1e3;

impl Setting<'_> {
    /// Returns the speed at which a sphere and its partner separate along the normal
    /// after an impact with the given restitution, and the change of the sphere's velocity along the surface of its partner. `last` is the time
    /// of the last earlier impact of either. Walls and spheres of infinite mass do not count for `last`. The impact is
    /// elastic if the time since `last` is less than the contact time.
    pub(crate) fn separation(
        &self,
        restitution: f64,
        blow: &Blow,
        last: f64,
        time: f64,
        is_plastic: bool,
    ) -> (f64, DVec3) {
        let contact_time = self.options.contact_time;
        let restitution = if is_plastic {
            0.0
        } else if self.slow == 0.0 && time - last < contact_time {
            1.0
        } else {
            restitution
        };
        let ContactGeometry {
            pressing,
            sliding,
            curvature,
            ..
        } = blow.touch;
        // Gravity may press a sphere back against the object that it has hit. A sphere that leaves with at least
        // the speed `least` hits the object again only after `contact_time`.
        let least = if self.slow > 0.0 && self.is_bearing(&blow.touch) {
            0.0
        } else {
            0.5 * pressing * contact_time
        };
        let speed = (restitution * blow.approach).max(least);
        let slide = sliding.length_squared();
        if slide == 0.0 {
            return (speed, DVec3::ZERO);
        }
        // A hollow wall turns a sphere that slides along it, but does not change its kinetic energy. The sphere
        // leaves with the speed `turned`, and its squared speed along the wall becomes
        // `slide + speed² - turned²`. Unless it is turned by a large angle, it hits the wall again after about
        // `contact_time` if `turned = least + bend * (slide + speed² - turned²)`. The code solves this equation.
        let squared = slide + speed * speed;
        let bend = (0.5 * curvature * contact_time).min(MOST_TURNED / squared.sqrt());
        let known = least + bend * squared;
        let turned = 2.0 * known / (1.0 + (1.0 + 4.0 * bend * known).max(0.0).sqrt());
        // If the sphere approaches no faster than `turned`, it slides along the wall, and the impact is elastic. If it
        // approaches faster, it leaves the wall at least with the speed `turned`.
        let speed = speed.max(blow.approach.min(turned));
        if turned <= speed {
            return (speed, DVec3::ZERO);
        }
        // However long the contact time is, the sphere keeps at least half of its speed along the wall.
        let lost = ((turned * turned - speed * speed) / slide).min(0.75);
        let change = -lost / (1.0 + (1.0 - lost).sqrt());
        ((speed * speed + lost * slide).sqrt(), sliding * change)
    }

    /// Describes the meeting of a candidate to a rule.
    #[inline(always)]
    pub(crate) fn encounter(
        &self,
        candidate: &Candidate,
        pieces: [&Piece; 2],
        blow: &Blow,
        time: f64,
    ) -> Encounter {
        let image = self.image_in_cell(candidate);
        let own = &self.spheres[candidate.sphere as usize];
        let center = self.center_in_cell(candidate, image, pieces[0], time);
        let point = center + blow.touch.normal * own.radius;
        let other = candidate.other();
        Encounter {
            time: self.time + time,
            sphere: self.id(candidate.sphere),
            partner: self.known(candidate.partner),
            image,
            point: point.to_array(),
            normal: blow.touch.normal.to_array(),
            masses: [
                own.mass,
                other.map_or(f64::INFINITY, |other| self.spheres[other as usize].mass),
            ],
            velocities: self
                .velocities(candidate, pieces, time)
                .map(|velocity| velocity.to_array()),
            approach_speed: blow.approach,
        }
    }
}
