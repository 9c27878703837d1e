//! The impulses that keep touching bodies from approaching each other, all at once.
//!
//! With an impulse λ ≥ 0 at each contact, its bodies part at a speed u ≥ 0, and λ or u is 0 (J. J. Moreau). These
//! impulses are the least of a quadratic function: half of the kinetic energy that they bring, and less the approach
//! that they take away. It is found by the conjugate gradients of Z. Dostál and J. Schöberl ("Minimizing quadratic
//! functions subject to bound constraints", Computational Optimization and Applications 30, 2005, 23–43). In a column of
//! n bodies, these need about n steps, where sweeps over the contacts (Gauss-Seidel) need n². Each impulse acts on both
//! bodies, so momentum is kept however early the search ends.

use glam::DVec3;

use super::contact::Blow;

/// Steps along the gradient are this number, divided by an upper bound of the largest eigenvalue.
const STRIDE: f64 = 1.9;

/// A direction in which the energy grows by less than this fraction of what its contacts bring alone takes nothing away:
/// the bodies are squeezed, or the search has ended by rounding.
const FLAT: f64 = 1e-13;

/// A body that touches others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) velocity: DVec3,
    pub(crate) inverse_mass: f64,
    /// The change of the velocity by a direction of the search.
    change: DVec3,
    contacts: u32,
}

/// A contact of two bodies that an impulse keeps apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pressed {
    /// Places of the two spheres in the list of bodies. A wall has the place of its sphere.
    pub(crate) ends: [u32; 2],
    /// Velocity of the wall, if the partner is one.
    pub(crate) wall: Option<DVec3>,
    pub(crate) normal: DVec3,
    /// Distance of the centres of two spheres.
    pub(crate) distance: f64,
    /// Speed at which the two have to part.
    pub(crate) parting: f64,
    /// The impulse that the first body passes to its partner.
    pub(crate) impulse: f64,
    /// The square root of the reciprocal of the sum of the inverse masses. The search measures each impulse as a multiple
    /// of it.
    unit: f64,
    /// Multiples of `unit`: the impulse, the gradient of the energy, a direction, and what it changes of the gradient.
    size: f64,
    gradient: f64,
    direction: f64,
    curvature: f64,
}

impl Body {
    pub(crate) fn new(velocity: DVec3, inverse_mass: f64) -> Self {
        Self {
            velocity,
            inverse_mass,
            change: DVec3::ZERO,
            contacts: 0,
        }
    }
}

impl Pressed {
    pub(crate) fn new(
        ends: [u32; 2],
        wall: Option<DVec3>,
        blow: &Blow,
        parting: f64,
        bodies: &[Body],
    ) -> Self {
        let inverse = ends.map(|place| bodies[place as usize].inverse_mass);
        let inverse = inverse[0] + if wall.is_some() { 0.0 } else { inverse[1] };
        Self {
            ends,
            wall,
            normal: blow.touch.normal,
            distance: blow.distance,
            parting,
            impulse: 0.0,
            unit: inverse.recip().sqrt(),
            size: 0.0,
            gradient: 0.0,
            direction: 0.0,
            curvature: 0.0,
        }
    }

    /// Returns the velocity of the first body relative to its partner.
    pub(crate) fn apart(&self, bodies: &[Body]) -> DVec3 {
        let other = self.wall;
        let other = other.unwrap_or_else(|| bodies[self.ends[1] as usize].velocity);
        bodies[self.ends[0] as usize].velocity - other
    }

    /// Lets the first body pass an impulse to its partner.
    pub(crate) fn pass(&self, impulse: f64, bodies: &mut [Body]) {
        for (body, sign) in self.both() {
            let body = &mut bodies[body as usize];
            body.velocity += self.normal * (sign * impulse * body.inverse_mass);
        }
    }

    /// Returns the bodies of the contact, each with the sign of its impulse.
    fn both(&self) -> impl Iterator<Item = (u32, f64)> + use<> {
        let bodies = self.ends.into_iter().zip([-1.0, 1.0]);
        bodies.take(1 + usize::from(self.wall.is_none()))
    }

    /// Returns the speed of approach that the impulse has to take away.
    pub(crate) fn lacking(&self, bodies: &[Body]) -> f64 {
        self.normal.dot(self.apart(bodies)) + self.parting
    }

    fn lack(&mut self, bodies: &[Body]) {
        self.gradient = -self.lacking(bodies) * self.unit;
    }

    /// Returns the part of the gradient along which the impulse may change, and the part that asks for an impulse where
    /// there is none.
    fn parts(&self) -> [f64; 2] {
        if self.size > 0.0 {
            [self.gradient, 0.0]
        } else {
            [0.0, self.gradient.min(0.0)]
        }
    }
}

/// Finds the impulses of all contacts, from their present ones on, which the velocities contain. Ends when no speed
/// lacks more than `tolerance`, or after `most` steps. Returns the largest speed that is lacking.
pub(crate) fn find<T: AsMut<Pressed>>(
    bodies: &mut [Body],
    contacts: &mut [T],
    tolerance: f64,
    most: usize,
) -> f64 {
    // A sweep over the contacts finds the impulses of bodies that stand alone.
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        let lacking = contact.lacking(bodies);
        let impulse = (contact.impulse + lacking * contact.unit * contact.unit).max(0.0);
        contact.pass(impulse - contact.impulse, bodies);
        contact.impulse = impulse;
    }
    let stride = begin(bodies, contacts);
    let mut lacking = lack(bodies, contacts);
    let mut fresh = true;
    for _ in 0..most {
        if lacking <= tolerance {
            break;
        }
        let (mut wanted, mut free) = (0.0, 0.0);
        for contact in contacts.iter_mut() {
            let contact = contact.as_mut();
            let [along, asked] = contact.parts();
            wanted += asked * asked;
            free += along * along.min(contact.size / stride);
            if fresh {
                contact.direction = along;
            }
        }
        let is_asked = wanted > free;
        if is_asked {
            for contact in contacts.iter_mut() {
                let contact = contact.as_mut();
                contact.direction = contact.parts()[1];
            }
        }
        let [energy, slope, square, room] = look_along(bodies, contacts);
        if energy <= FLAT * square {
            break;
        }
        let length = slope / energy;
        let is_free = is_asked || length <= room;
        go(bodies, contacts, if is_free { length } else { room });
        fresh = is_asked || !is_free;
        if !is_free {
            // The first impulse that ends limits the step. So one along the gradient follows, which ends many.
            for contact in contacts.iter_mut() {
                let contact = contact.as_mut();
                let [along, _] = contact.parts();
                contact.direction = along.min(contact.size / stride);
            }
            let _ = look_along(bodies, contacts);
            go(bodies, contacts, stride);
        }
        lacking = lack(bodies, contacts);
        if !fresh {
            let along = |contact: &mut Pressed| contact.parts()[0] * contact.curvature;
            let common: f64 = contacts.iter_mut().map(|each| along(each.as_mut())).sum();
            for contact in contacts.iter_mut() {
                let contact = contact.as_mut();
                contact.direction = contact.parts()[0] - common / energy * contact.direction;
            }
        }
    }
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        contact.impulse = contact.size * contact.unit;
    }
    lacking
}

/// Prepares a search, and returns the length of its steps along the gradient.
fn begin<T: AsMut<Pressed>>(bodies: &mut [Body], contacts: &mut [T]) -> f64 {
    for body in bodies.iter_mut() {
        body.contacts = 0;
    }
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        contact.size = contact.impulse / contact.unit;
        for (body, _) in contact.both() {
            bodies[body as usize].contacts += 1;
        }
    }
    // No eigenvalue exceeds the largest sum of a row.
    let sum = |contact: &mut Pressed| {
        let share = |(body, _)| {
            let body: &Body = &bodies[body as usize];
            f64::from(body.contacts) * body.inverse_mass
        };
        let sum: f64 = contact.both().map(share).sum();
        sum * contact.unit * contact.unit
    };
    let sums = contacts.iter_mut().map(|contact| sum(contact.as_mut()));
    STRIDE / sums.fold(1.0, f64::max)
}

/// Computes the gradients from the velocities. Returns the largest speed that is lacking.
fn lack<T: AsMut<Pressed>>(bodies: &[Body], contacts: &mut [T]) -> f64 {
    let mut most = 0.0_f64;
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        contact.lack(bodies);
        let [along, asked] = contact.parts();
        most = most.max((along + asked).abs() / contact.unit);
    }
    most
}

/// Computes what the directions change. Returns the energy that they bring, the slope along them, the sum of their squares
/// and how far they lead until an impulse ends.
fn look_along<T: AsMut<Pressed>>(bodies: &mut [Body], contacts: &mut [T]) -> [f64; 4] {
    for body in bodies.iter_mut() {
        body.change = DVec3::ZERO;
    }
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        let impulse = contact.normal * (contact.direction * contact.unit);
        for (body, sign) in contact.both() {
            let body = &mut bodies[body as usize];
            body.change += impulse * (sign * body.inverse_mass);
        }
    }
    let (mut energy, mut slope, mut square, mut room) = (0.0, 0.0, 0.0, f64::INFINITY);
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        let [a, b] = contact.ends.map(|end| bodies[end as usize].change);
        let parts = if contact.wall.is_some() { -a } else { b - a };
        contact.curvature = contact.normal.dot(parts) * contact.unit;
        energy += contact.direction * contact.curvature;
        slope += contact.direction * contact.gradient;
        square += contact.direction * contact.direction;
        if contact.direction > 0.0 {
            room = room.min(contact.size / contact.direction);
        }
    }
    [energy, slope, square, room]
}

/// Goes against the directions by the given length.
fn go<T: AsMut<Pressed>>(bodies: &mut [Body], contacts: &mut [T], length: f64) {
    for body in bodies.iter_mut() {
        body.velocity -= body.change * length;
    }
    for contact in contacts.iter_mut() {
        let contact = contact.as_mut();
        contact.size = (contact.size - length * contact.direction).max(0.0);
        contact.gradient -= length * contact.curvature;
    }
}

impl AsMut<Self> for Pressed {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::super::surface::ContactGeometry;
    use super::*;

    fn touching(ends: [u32; 2], wall: Option<DVec3>, normal: DVec3, bodies: &[Body]) -> Pressed {
        let touch = ContactGeometry {
            normal,
            pressing: 0.0,
            sliding: DVec3::ZERO,
            curvature: 0.0,
        };
        let blow = Blow {
            touch,
            approach: 0.0,
            distance: 0.0,
        };
        Pressed::new(ends, wall, &blow, 0.0, bodies)
    }

    /// Each contact of a column carries all that lies above it. The search takes some steps for each body, and not
    /// the square of their number.
    #[test]
    fn a_column_is_found_in_few_steps() {
        let count = 300;
        let mut bodies = vec![Body::new(DVec3::NEG_Y, 0.5); count];
        let contact = |k: u32| {
            let wall = (k == 0).then_some(DVec3::ZERO);
            touching([k, k.saturating_sub(1)], wall, DVec3::NEG_Y, &bodies)
        };
        let mut contacts: Vec<_> = (0..300).map(contact).collect();
        let left = find(&mut bodies, &mut contacts, 1e-9, 5 * count);
        assert!(left <= 1e-9, "{left}");
        for (k, contact) in contacts.iter().enumerate() {
            let above = 2.0 * (count - k) as f64;
            assert!((contact.impulse - above).abs() < 1e-6, "{k}: {contact:?}");
        }
    }

    /// Between any bodies, each contact that parts has no impulse, none approaches, and the impulses explain all changes of
    /// the velocities. The velocities are the only ones for which this holds.
    #[test]
    fn contacts_part_or_pass_an_impulse() {
        let mut rng = Rng::with_seed(1);
        for run in 0..300 {
            let count = rng.u32(2..30);
            let vector = |rng: &mut Rng| DVec3::from([(); 3].map(|()| 2.0 * rng.f64() - 1.0));
            let masses = if run % 2 == 0 { 0.0 } else { 2.0 };
            let mut bodies: Vec<_> = (0..count)
                .map(|_| {
                    let inverse = 10_f64.powf(masses * (rng.f64() - 0.5));
                    Body::new(vector(&mut rng), inverse)
                })
                .collect();
            let before = bodies.clone();
            let mut contacts = Vec::new();
            for _ in 0..rng.u32(1..4 * count) {
                let [a, b] = [rng.u32(0..count), rng.u32(0..count)];
                // Normals from body to body of lower number, and to walls below, leave room above.
                let normal = (vector(&mut rng) + 1.5 * DVec3::NEG_Y).normalize();
                let wall = (a == b).then_some(DVec3::ZERO);
                contacts.push(touching([a.max(b), a.min(b)], wall, normal, &bodies));
            }
            let left = find(&mut bodies, &mut contacts, 1e-10, 100_000);
            assert!(left <= 1e-10, "{run}: {left}");
            let mut changed = before;
            for contact in &contacts {
                let approach = contact.normal.dot(contact.apart(&bodies));
                assert!(
                    contact.impulse >= 0.0 && approach <= 1e-9,
                    "{run}: {contact:?}"
                );
                assert!(
                    contact.impulse * approach.abs() <= 1e-7,
                    "{run}: {contact:?}"
                );
                contact.pass(contact.impulse, &mut changed);
            }
            for (body, changed) in bodies.iter().zip(&changed) {
                let error = body.velocity.distance(changed.velocity);
                assert!(error < 1e-9, "{run}: {error}");
            }
        }
    }

    /// There are no impulses for a body between two walls that close. The search ends, and the body is no faster
    /// than the walls.
    #[test]
    fn a_squeezed_body_has_no_room() {
        let mut bodies = vec![Body::new(DVec3::new(0.3, 1.0, 0.0), 1.0)];
        let walls = [DVec3::X, DVec3::new(-2.0, 0.0, 0.0)];
        let mut contacts: Vec<_> = walls
            .map(|wall| touching([0; 2], Some(wall), -wall.normalize(), &bodies))
            .into();
        let left = find(&mut bodies, &mut contacts, 1e-9, 1000);
        assert!(left > 1.0, "{left}");
        let [x, y, _] = bodies[0].velocity.to_array();
        assert!((-2.0..=1.0).contains(&x) && y == 1.0, "{bodies:?}");
    }
}
