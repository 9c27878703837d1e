//! Random worlds of spheres, and the check of their lists by exact arithmetic.

use carom::{
    Collision64, Collisions, Detector, Domain, HardSphere, Hits, Sphere, Spheres, Step, verify,
};
use fastrand::Rng;
use glam::DVec3;

use crate::oracle::dyadic::{Motion, near};
use crate::{Test, detector, nudged, unit, vector};

/// A world of a few spheres. `first` is the number of spheres in the first of two sets.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) spheres: Vec<HardSphere>,
    pub(crate) groups: Vec<u32>,
    pub(crate) first: Option<usize>,
    pub(crate) dt: f64,
    pub(crate) domain: Domain,
}

/// Whole vectors whose lengths are whole.
const WHOLE: [([i32; 3], i32); 6] = [
    ([1, 2, 2], 3),
    ([2, 3, 6], 7),
    ([1, 4, 8], 9),
    ([4, 4, 7], 9),
    ([3, 4, 0], 5),
    ([1, 0, 0], 1),
];

impl World {
    /// Returns a random world. Lengths are about `size`, and the largest displacements about `size`, too.
    pub(crate) fn random(rng: &mut Rng, size: f64, slow: f64, periodic: bool) -> Self {
        let dt = if rng.u8(0..8) == 0 {
            0.0
        } else {
            slow * rng.f64()
        };
        let speed = match rng.u8(0..3) {
            0 => 0.0,
            1 => size / slow,
            _ => 10.0 * size / slow,
        };
        let far = match rng.u8(0..4) {
            0 => vector(rng, 2e5 * size),
            _ => [0.0; 3],
        };
        let wide = [0.1, 0.5, 2.0][rng.usize(0..3)];
        let mut spheres: Vec<HardSphere> = Vec::new();
        for _ in 0..rng.usize(2..10) {
            let radius = match rng.u8(0..5) {
                0 => 0.0,
                1 => 1e-9 * size * rng.f64(),
                _ => wide * size * rng.f64(),
            };
            let center = vector(rng, size);
            let center = [0, 1, 2].map(|k| center[k] + far[k]);
            let mut sphere = HardSphere::new(center, radius).with_velocity(vector(rng, speed));
            if let Some(&other) = spheres.last()
                && rng.bool()
            {
                sphere = Self::beside(rng, &other, sphere, size, slow);
            }
            spheres.push(sphere);
        }
        let count = spheres.len();
        Self {
            groups: (0..count)
                .map(|_| [0, 1, 1 << 16, 3][rng.usize(0..4)])
                .collect(),
            first: (rng.u8(0..3) == 0).then(|| rng.usize(0..=count)),
            dt,
            domain: if periodic {
                Self::cell(rng, size)
            } else {
                Domain::open()
            },
            spheres,
        }
    }

    /// Moves a sphere so that it touches another one, exactly or nearly so, at the start or at its closest approach.
    pub(crate) fn beside(
        rng: &mut Rng,
        other: &HardSphere,
        mut sphere: HardSphere,
        size: f64,
        slow: f64,
    ) -> HardSphere {
        let (direction, length) = WHOLE[rng.usize(0..WHOLE.len())];
        let step = size / 64.0 * f64::from(rng.u8(1..20));
        let away = direction.map(|x| f64::from(x) * step);
        let distance = f64::from(length) * step;
        sphere.center = [0, 1, 2].map(|k| other.center[k] + away[k]);
        sphere.radius = nudged(rng, (distance - other.radius).max(0.0));
        if rng.bool() {
            // It moves perpendicular to the line between the centres, from a place before the closest approach.
            let [x, y, z] = away;
            let across = [y - z, z - x, x - y];
            let before = f64::from(rng.u8(0..4)) / 4.0;
            let time = slow.log2().floor().exp2();
            sphere.velocity = [0, 1, 2].map(|k| other.velocity[k] + across[k] / time);
            for (x, across) in sphere.center.iter_mut().zip(across) {
                *x -= across * before;
            }
        }
        sphere
    }

    pub(crate) fn cell(rng: &mut Rng, size: f64) -> Domain {
        let mut edges = [[0.0; 3]; 3];
        for (k, edge) in edges.iter_mut().enumerate() {
            edge[k] = size * (0.7 + rng.f64());
        }
        if rng.bool() {
            edges[1][0] = size * unit(rng);
            edges[2][0] = size * unit(rng);
            edges[2][1] = size * unit(rng);
        }
        if rng.bool() {
            edges.swap(0, 1);
        }
        let periodic = [0; 3].map(|_| rng.u8(0..4) > 0);
        Domain::triclinic_f64(vector(rng, size), edges).with_periodic(periodic)
    }

    /// Detects the collisions of the sets, as columns, and verifies the list.
    pub(crate) fn detect(&self, detector: &mut Detector) -> Result<Collisions<f64>, carom::Error> {
        let centers: Vec<[f64; 3]> = self.spheres.iter().map(|sphere| sphere.center).collect();
        let radii: Vec<f64> = self.spheres.iter().map(|sphere| sphere.radius).collect();
        let velocities: Vec<[f64; 3]> = self.spheres.iter().map(|sphere| sphere.velocity).collect();
        let of = |range: std::ops::Range<usize>| {
            Spheres::new(&centers[range.clone()], &radii[range.clone()])
                .with_velocity(&velocities[range.clone()])
                .with_groups(&self.groups[range])
        };
        let count = self.spheres.len();
        let step = match self.first {
            None => Step::new(of(0..count), self.dt),
            Some(first) => Step::between(of(0..first), of(first..count), self.dt),
        };
        let step = step.in_domain(&self.domain);
        let found = detector.detect(&step)?;
        // Verification takes longer, so only some lists are verified.
        if !self.spheres[0].center[0].to_bits().is_multiple_of(16) {
            return Ok(found);
        }
        let truth = verify(&step, &found.pairs)?;
        let right = truth.passed() && truth.touching == found.pairs.len() as u64;
        assert!(right, "{truth} in {self:?}");
        if !found.pairs.is_empty() {
            let (items, images) = found.pairs.clone().into_parts();
            let images = images.get(1..).unwrap_or_default().to_vec();
            let fewer = Hits::with_images(items[1..].to_vec(), images)?;
            assert_eq!(verify(&step, &fewer)?.missing[..], items[..1]);
        }
        Ok(found)
    }

    pub(crate) fn ignore(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|k| Sphere {
            groups: self.groups[k],
            ..Sphere::default()
        });
        a.ignores(&b)
    }

    /// Fails unless the points of both spheres at the contact are apart by the depth, along the normal.
    pub(crate) fn check_contact(&self, [a, b]: [usize; 2], image: [i32; 3], pair: &Collision64) {
        let [one, other] = [&self.spheres[a], &self.spheres[b]];
        let contact = if self.domain.is_open() {
            pair.contact(one, other)
        } else {
            pair.contact_of_image(one, other, &self.domain, image)
        };
        let normal = DVec3::from(contact.normal);
        assert!(
            (normal.length() - 1.0).abs() < 1e-14,
            "{contact:?} in {self:?}"
        );
        let moved = DVec3::from(other.velocity) * pair.toi;
        let shift = DVec3::from(self.domain.displacement(image));
        let of_other = DVec3::from(other.center) + shift + moved - normal * other.radius;
        let off = DVec3::from(contact.point) - of_other - normal * pair.depth;
        let terms = [one.center, other.center, shift.to_array(), moved.to_array()];
        let size = terms.as_flattened().iter().map(|x| x.abs()).sum::<f64>();
        let size = size + one.radius + other.radius;
        assert!(
            off.abs().max_element() <= 1e-14 * size,
            "{off:?} {contact:?} in {self:?}"
        );
        let v = DVec3::from(one.velocity) - DVec3::from(other.velocity);
        let off = (contact.approach_speed - v.dot(normal)).abs();
        assert!(
            off <= 1e-13 * v.abs().element_sum(),
            "{off:e} {contact:?} in {self:?}"
        );
    }

    /// Fails unless the list has exactly the pairs that touch, in order, with the nearest times and depths.
    pub(crate) fn check(&self, found: &Collisions<f64>) -> usize {
        let mut listed = found.pairs.iter_with_images();
        let count = self.spheres.len();
        let (rows, offset) = match self.first {
            None => (0..count, 0),
            Some(first) => (0..first, first),
        };
        let mut touching = 0;
        for a in rows {
            let others = if self.first.is_some() {
                offset..count
            } else {
                a..count
            };
            for b in others {
                if self.ignore(a, b) {
                    continue;
                }
                let [one, other] = [&self.spheres[a], &self.spheres[b]];
                for image in near(one, other, self.dt, &self.domain, 0.0) {
                    if a == b && image <= [0; 3] {
                        continue;
                    }
                    let motion = Motion::new(one, other, &self.domain, image);
                    if !motion.collide(self.dt) {
                        continue;
                    }
                    touching += 1;
                    let (
                        &Collision64 {
                            a: i,
                            b: j,
                            toi,
                            depth,
                        },
                        of_pair,
                    ) = listed
                        .next()
                        .unwrap_or_else(|| panic!("({a}, {b}) {image:?} is missing in {self:?}"));
                    let pair = (i as usize, j as usize + offset, of_pair);
                    assert_eq!(pair, (a, b, image), "{self:?}");
                    self.check_contact(
                        [a, b],
                        image,
                        &Collision64 {
                            a: i,
                            b: j,
                            toi,
                            depth,
                        },
                    );
                    assert!((0.0..=self.dt).contains(&toi), "{toi:e} in {self:?}");
                    assert!(
                        motion.is_nearest(toi, depth),
                        "({a}, {b}) {toi:e} {depth:e} in {self:?}"
                    );
                }
            }
        }
        assert_eq!(listed.next(), None, "{self:?}");
        touching
    }
}

/// The unit of length and the unit of time of a world.
pub(crate) fn units(rng: &mut Rng) -> (f64, f64) {
    let power = |rng: &mut Rng| 10_f64.powi(rng.i32(-160..90));
    match rng.u8(0..4) {
        0 => (power(rng), 1.0),
        1 => {
            let size = power(rng);
            // Speeds are at most 10⁹⁸, too.
            (
                size,
                (size.max(1e-40) * 10_f64.powi(rng.i32(-8..40))).min(1e99),
            )
        }
        _ => (1.0, 1.0),
    }
}

pub(crate) fn worlds(count: usize, seed: u64, periodic: bool) -> Test {
    let mut rng = Rng::with_seed(seed);
    let mut detector = detector()?;
    let (mut touching, mut by_integers) = (0, 0);
    for _ in 0..count {
        let (size, slow) = units(&mut rng);
        let world = World::random(&mut rng, size, slow, periodic);
        let found = match world.detect(&mut detector) {
            Ok(found) => found,
            Err(error) => panic!("{error} in {world:?}"),
        };
        touching += world.check(&found);
        by_integers += found.statistics.grazing_by_integers;
        assert_eq!(found.statistics.pairs, found.pairs.len() as u64);
    }
    // Most worlds must have pairs, and some pairs must need integers.
    assert!(
        touching > count && by_integers > count as u64 / 50,
        "{touching} {by_integers}"
    );
    Ok(())
}
