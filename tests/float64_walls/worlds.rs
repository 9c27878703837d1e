//! Random worlds of spheres and walls, and the check of their contacts by exact arithmetic.

use carom::{
    Collisions, Contact, Detector, Domain, HardSphere, Hits, Mesh, Sphere, Spheres, Step, Wall,
    WallCollision64, WallShape, Walls, verify_walls,
};
use fastrand::Rng;
use glam::DVec3;

use crate::oracle::dyadic::{Dyadic, near};
use crate::oracle::wide_walls::{AtObstacle, Obstacle};
use crate::{Test, detector, nudged, plus, unit, vector};

/// Vectors of a whole length, which is the last number, and vectors perpendicular to them.
const WHOLE: [([f64; 3], [f64; 3], f64); 5] = [
    ([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 3.0),
    ([2.0, -3.0, 6.0], [0.0, 2.0, 1.0], 7.0),
    ([4.0, 4.0, 7.0], [1.0, -1.0, 0.0], 9.0),
    ([-3.0, 4.0, 0.0], [4.0, 3.0, 5.0], 5.0),
    ([0.0, 0.0, 1.0], [1.0, 2.0, 0.0], 1.0),
];

/// A world of a few spheres and walls. `first` is the number of spheres in the first of two sets.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) spheres: Vec<HardSphere>,
    pub(crate) groups: Vec<u32>,
    pub(crate) first: Option<usize>,
    pub(crate) walls: Walls<f64>,
    pub(crate) dt: f64,
    pub(crate) domain: Domain,
    pub(crate) size: f64,
}

impl World {
    /// Returns a random world. Lengths are about `size`, and times about `slow`.
    pub(crate) fn random(rng: &mut Rng, size: f64, slow: f64, periodic: bool) -> Self {
        let far = match rng.u8(0..4) {
            0 if !periodic => vector(rng, 2e5 * size),
            _ => [0.0; 3],
        };
        let domain = if periodic {
            Self::cell(rng, size)
        } else {
            Domain::open()
        };
        let speed = |rng: &mut Rng| {
            let most = [0.0, 0.3, 1.0, 4.0][rng.usize(0..4)] * size / slow;
            vector(rng, most)
        };
        let mut walls = Walls::new();
        for _ in 0..rng.usize(1..4) {
            let velocity = if rng.bool() { speed(rng) } else { [0.0; 3] };
            let wall = Self::simple(rng, size, far, &domain).with_velocity(velocity);
            walls.push(wall.with_groups([0, 1, 1, 2][rng.usize(0..4)], 0));
        }
        for _ in 0..rng.usize(0..3) {
            walls.push_mesh(Self::mesh(rng, size, far).with_velocity(speed(rng)));
        }
        let mut spheres = Vec::new();
        for _ in 0..rng.usize(1..8) {
            let radius = match rng.u8(0..5) {
                0 => 0.0,
                1 => 1e-9 * size * rng.f64(),
                _ => 0.4 * size * rng.f64(),
            };
            let center = plus(far, vector(rng, 1.5 * size));
            let mut sphere = HardSphere::new(center, radius).with_velocity(speed(rng));
            if rng.u8(0..4) > 0 {
                sphere = Self::beside(rng, sphere, &walls, size, slow);
            }
            spheres.push(sphere);
        }
        let count = spheres.len();
        Self {
            groups: (0..count)
                .map(|_| [0, 0, 1 << 16][rng.usize(0..3)])
                .collect(),
            first: (rng.u8(0..4) == 0).then(|| rng.usize(0..=count)),
            spheres,
            walls,
            dt: if rng.u8(0..6) == 0 {
                0.0
            } else {
                slow * rng.f64()
            },
            domain,
            size,
        }
    }

    pub(crate) fn cell(rng: &mut Rng, size: f64) -> Domain {
        let mut edges = [[0.0; 3]; 3];
        for (k, edge) in edges.iter_mut().enumerate() {
            edge[k] = size * (1.5 + rng.f64());
        }
        if rng.bool() {
            edges[1][0] = size * unit(rng);
            edges[2][0] = size * unit(rng);
            edges[2][1] = size * unit(rng);
        }
        let periodic = loop {
            let periodic = [0; 3].map(|_| rng.bool());
            if periodic != [false; 3] {
                break periodic;
            }
        };
        Domain::triclinic_f64(vector(rng, size), edges).with_periodic(periodic)
    }

    /// Returns a wall of a simple shape that repeats with the domain.
    pub(crate) fn simple(rng: &mut Rng, size: f64, far: [f64; 3], domain: &Domain) -> Wall<f64> {
        let point = plus(far, vector(rng, size));
        let (whole, _, _) = WHOLE[rng.usize(0..WHOLE.len())];
        let stretch = (rng.f64() * 40.0 - 20.0).exp2();
        let direction = match rng.bool() {
            true => whole.map(|x| x * stretch.log2().floor().exp2()),
            false => vector(rng, stretch),
        };
        let radius = size * [0.3, 1.0, 2.5][rng.usize(0..3)] * rng.f64();
        let along: Vec<[f64; 3]> = (0..3)
            .filter(|&k| domain.periodic()[k])
            .map(|k| domain.edges()[k])
            .collect();
        let dot = |x: [f64; 3], y: [f64; 3]| DVec3::from(x).dot(y.into());
        let plane = |normal: [f64; 3]| WallShape::HalfSpace {
            normal,
            offset: dot(normal, point),
        };
        let cylinder = |axis: [f64; 3], hollow: bool| WallShape::Cylinder {
            point,
            axis,
            radius: if hollow { radius + 2.0 * size } else { radius },
            hollow,
        };
        let ball = |hollow: bool| WallShape::Sphere {
            center: point,
            radius: if hollow { radius + 2.0 * size } else { radius },
            hollow,
        };
        let shape = match (rng.u8(0..5), &along[..]) {
            (0, []) => plane(direction),
            (0, [edge]) => {
                let across = DVec3::from(*edge).cross(DVec3::from(whole) + 0.1);
                plane((across / size).to_array())
            }
            (0, [edge, other]) => {
                let across = (DVec3::from(*edge) / size).cross(DVec3::from(*other) / size);
                plane(across.to_array())
            }
            (1, []) => cylinder(direction, false),
            (1, [_]) => cylinder(whole, false),
            (1, edges) => cylinder(edges[rng.usize(0..edges.len())], false),
            (2, []) => cylinder(direction, true),
            (2, [edge]) => cylinder(*edge, true),
            (3, []) => ball(true),
            _ => ball(false),
        };
        shape.into()
    }

    /// Returns a flat square of two triangles, or a few other triangles.
    pub(crate) fn mesh(rng: &mut Rng, size: f64, far: [f64; 3]) -> Mesh<f64> {
        let base = plus(far, vector(rng, size));
        let step = size / 8.0;
        let vertices: Vec<[f64; 3]> = if rng.bool() {
            let (one, other) = match rng.bool() {
                true => ([8.0, 0.0, 0.0], [0.0, 8.0, 0.0]),
                false => ([3.0, 4.0, 0.0], [0.0, 0.0, 5.0]),
            };
            let places = [[0.0; 3], one, plus(one, other), other];
            places
                .map(|place| plus(base, place.map(|x| x * step)))
                .into()
        } else {
            (0..4).map(|_| plus(base, vector(rng, size))).collect()
        };
        let triangles = [[0, 1, 2], [0, 2, 3], [1, 2, 3], [0, 1, 3]];
        let triangles = triangles[..[2, 4][rng.usize(0..2)]].to_vec();
        Mesh::new(vertices, triangles).expect("triangles with an area")
    }

    pub(crate) fn obstacles(&self) -> Vec<(Obstacle, u32)> {
        let simple = self.walls.simple().iter();
        let simple = simple.map(|wall| (Obstacle::Simple(*wall), wall.groups()));
        let triangles = self.walls.meshes().iter().flat_map(|mesh| {
            mesh.triangles().iter().map(|corners| {
                let corners = corners.map(|k| mesh.vertices()[k as usize]);
                (Obstacle::Triangle(corners, mesh.velocity()), 0)
            })
        });
        simple.chain(triangles).collect()
    }

    /// Moves a sphere so that it touches a wall, exactly or nearly so, at the start or at its closest approach.
    pub(crate) fn beside(
        rng: &mut Rng,
        mut sphere: HardSphere,
        walls: &Walls<f64>,
        size: f64,
        slow: f64,
    ) -> HardSphere {
        let (whole, across, length) = WHOLE[rng.usize(0..WHOLE.len())];
        let step = size / 64.0 * f64::from(rng.u8(0..16));
        let wall = rng.usize(0..walls.len());
        let (velocity, contact, away, distance, side);
        if let Some(wall) = walls.simple().get(wall) {
            velocity = wall.velocity();
            let reached = |radius: f64, distance: f64, hollow: bool| {
                if hollow {
                    radius - distance
                } else {
                    distance - radius
                }
            };
            match wall.shape() {
                WallShape::HalfSpace { normal, offset } => {
                    let normal = DVec3::from(normal);
                    let point = normal * (offset / normal.length_squared());
                    let tangent =
                        normal.any_orthogonal_vector() * (size * unit(rng) / normal.length());
                    contact = (point + tangent).to_array();
                    away = (normal * (step / normal.length())).to_array();
                    distance = step;
                    side = normal.any_orthogonal_vector().to_array();
                }
                WallShape::Sphere {
                    center,
                    radius,
                    hollow,
                } => {
                    (contact, away, side) = (center, whole.map(|x| x * step), across);
                    distance = reached(radius, length * step, hollow);
                }
                WallShape::Cylinder {
                    point,
                    axis,
                    radius,
                    hollow,
                } => {
                    let axis = DVec3::from(axis);
                    let far = axis * (size * unit(rng) / axis.length());
                    contact = (DVec3::from(point) + far).to_array();
                    let out = axis.any_orthogonal_vector() / axis.length();
                    away = (out * (step * 3.0 / out.length())).to_array();
                    distance = reached(radius, 3.0 * step, hollow);
                    side = axis.cross(out).to_array();
                }
                shape => panic!("an unknown shape: {shape:?}"),
            }
        } else {
            let meshes = walls.meshes();
            let mesh = &meshes[rng.usize(0..meshes.len())];
            velocity = mesh.velocity();
            let corners = mesh.triangles()[rng.usize(0..mesh.triangles().len())];
            let [a, b, c] = corners.map(|k| DVec3::from(mesh.vertices()[k as usize]));
            let out = ((b - a) / size).cross((c - a) / size).normalize();
            let (place, apart) = match rng.u8(0..4) {
                0 => (a, DVec3::from(whole) * step),
                1 => (
                    a.midpoint(b),
                    ((b - a) / size).cross(out).normalize() * step,
                ),
                2 => (a.midpoint(c), out * step),
                _ => ((a + b + c) / 3.0, out * step),
            };
            (contact, away) = (place.to_array(), apart.to_array());
            distance = (DVec3::from(away) / size).length() * size;
            side = (DVec3::from(away) / size)
                .any_orthogonal_vector()
                .to_array();
        }
        sphere.center = plus(contact, away);
        sphere.radius = nudged(rng, distance.max(0.0));
        match rng.u8(0..3) {
            0 => sphere.velocity = velocity,
            1 => {
                // It moves along the wall, from a place before the closest approach.
                let side = DVec3::from(side).normalize_or(DVec3::X) * size;
                let before = f64::from(rng.u8(0..4)) / 8.0;
                let time = slow.log2().floor().exp2();
                sphere.velocity = plus(velocity, (side / time).to_array());
                sphere.center = plus(sphere.center, (-side * before).to_array());
            }
            _ => {}
        }
        sphere
    }

    pub(crate) fn step<'a>(&'a self, columns: &'a ColumnsOfWorld) -> Step<'a, Spheres<'a, f64>> {
        let of = |range: std::ops::Range<usize>| {
            Spheres::new(
                &columns.centers[range.clone()],
                &columns.radii[range.clone()],
            )
            .with_velocity(&columns.velocities[range.clone()])
            .with_groups(&self.groups[range])
        };
        let count = self.spheres.len();
        let step = match self.first {
            None => Step::new(of(0..count), self.dt),
            Some(first) => Step::between(of(0..first), of(first..count), self.dt),
        };
        step.in_domain(&self.domain).with_walls(&self.walls)
    }

    /// Detects the contacts, and verifies some of the lists.
    pub(crate) fn detect(
        &self,
        detector: &mut Detector,
        verify: bool,
    ) -> Result<Collisions<f64>, carom::Error> {
        let columns = ColumnsOfWorld {
            centers: self.spheres.iter().map(|sphere| sphere.center).collect(),
            radii: self.spheres.iter().map(|sphere| sphere.radius).collect(),
            velocities: self.spheres.iter().map(|sphere| sphere.velocity).collect(),
        };
        let step = self.step(&columns);
        let found = detector.detect(&step)?;
        if verify {
            let truth = verify_walls(&step, &found.walls)?;
            let right = truth.passed() && truth.touching == found.walls.len() as u64;
            assert!(right, "{truth} in {self:?}");
            if !found.walls.is_empty() {
                let (items, images) = found.walls.clone().into_parts();
                let images = images.get(1..).unwrap_or_default().to_vec();
                let fewer = Hits::with_images(items[1..].to_vec(), images)?;
                assert_eq!(verify_walls(&step, &fewer)?.missing[..], items[..1]);
            }
        }
        Ok(found)
    }

    /// Returns the images of a sphere that may touch a wall.
    pub(crate) fn images(&self, sphere: &HardSphere, wall: &Obstacle) -> Vec<[i32; 3]> {
        let ball = |center: [f64; 3], radius: f64, velocity: [f64; 3]| {
            let wall = HardSphere::new(center, radius).with_velocity(velocity);
            near(&wall, sphere, self.dt, &self.domain, 0.0)
        };
        if self.domain.is_open() {
            return vec![[0; 3]];
        }
        match *wall {
            Obstacle::Triangle(corners, velocity) => {
                let [a, b, c] = corners.map(DVec3::from);
                let middle = (a + b + c) / 3.0;
                let reach = [a, b, c].map(|x| (x - middle).length());
                let reach = reach.into_iter().fold(0.0, f64::max) * (1.0 + 1e-9);
                ball(middle.to_array(), reach + 1e-9 * self.size, velocity)
            }
            Obstacle::Simple(wall) => match wall.shape() {
                WallShape::Sphere {
                    center,
                    radius,
                    hollow: false,
                } => ball(center, radius, wall.velocity()),
                WallShape::Cylinder {
                    point,
                    axis,
                    radius,
                    hollow: false,
                } => {
                    // All combinations of a few edges that are not parallel to the axis. Float64 leaves out those that are far
                    // away.
                    let unit = DVec3::from(axis).normalize();
                    let across = |x: DVec3| unit.cross(x / self.size);
                    let edge =
                        |k: usize, n: i32| DVec3::from(self.domain.edges()[k]) * f64::from(n);
                    let away = DVec3::from(sphere.center) - DVec3::from(point);
                    let path = DVec3::from(sphere.velocity) - DVec3::from(wall.velocity());
                    let path = across(path * self.dt);
                    let is_near = |image: &[i32; 3]| {
                        let shift = edge(0, image[0]) + edge(1, image[1]) + edge(2, image[2]);
                        let start = across(away + shift);
                        let part = -start.dot(path) / path.length_squared();
                        let part = if part > 0.0 { part.min(1.0) } else { 0.0 };
                        let reach = (radius + sphere.radius) / self.size;
                        (start + path * part).length() <= reach + 1e-6 * (1.0 + reach)
                    };
                    let ranges = [0, 1, 2].map(|k| {
                        let edge = DVec3::from(self.domain.edges()[k]);
                        let sine = edge.normalize().cross(DVec3::from(axis).normalize());
                        let apart = self.domain.periodic()[k] && sine.length() > 1e-6;
                        if apart { -20..=20 } else { 0..=0 }
                    });
                    let [x, y, z] = ranges;
                    let all = x.flat_map(|i| {
                        let z = z.clone();
                        y.clone()
                            .flat_map(move |j| z.clone().map(move |k| [i, j, k]))
                    });
                    all.filter(is_near).collect()
                }
                _ => vec![[0; 3]],
            },
        }
    }

    pub(crate) fn contact(
        &self,
        sphere: u32,
        wall: u32,
        [toi, depth]: [f64; 2],
        image: [i32; 3],
    ) -> Contact<f64> {
        let hit = WallCollision64 {
            sphere,
            wall,
            toi,
            depth,
        };
        let ball = &self.spheres[sphere as usize];
        let contact = if self.domain.is_open() {
            hit.contact(ball, &self.walls)
        } else {
            hit.contact_of_image(ball, &self.walls, &self.domain, image)
        };
        contact.expect("the wall exists")
    }

    /// Fails unless the point of a contact, moved back by the depth, is on the surface of the wall at the time of impact.
    pub(crate) fn check_contact(
        &self,
        sphere: &HardSphere,
        wall: &Obstacle,
        [toi, depth]: [f64; 2],
        contact: Contact<f64>,
    ) {
        let normal = DVec3::from(contact.normal);
        assert!((normal.length() - 1.0).abs() < 1e-14, "{contact:?}");
        let velocity = DVec3::from(match wall {
            Obstacle::Simple(wall) => wall.velocity(),
            Obstacle::Triangle(_, velocity) => *velocity,
        });
        let speed = (DVec3::from(sphere.velocity) - velocity).dot(normal);
        let most = sphere
            .velocity
            .iter()
            .chain(velocity.as_ref())
            .map(|v| v.abs())
            .sum::<f64>();
        let off = (contact.approach_speed - speed).abs();
        assert!(off <= 1e-9 * most, "{contact:?} {speed:e}");
        let place = DVec3::from(contact.point) - normal * depth - velocity * toi;
        let apart = match *wall {
            Obstacle::Triangle(corners, _) => {
                let [a, b, c] = corners.map(|x| DVec3::from(x) / self.size);
                let place = place / self.size;
                let n = (b - a).cross(c - a).normalize();
                let height = (place - a).dot(n).abs();
                let beside = [(a, b), (b, c), (c, a)]
                    .map(|(from, to)| n.cross((to - from).normalize()).dot(place - from));
                height.max(-beside.into_iter().fold(0.0, f64::min)) * self.size
            }
            Obstacle::Simple(wall) => match wall.shape() {
                WallShape::HalfSpace { normal, offset } => {
                    (DVec3::from(normal).dot(place) - offset) / DVec3::from(normal).length()
                }
                WallShape::Sphere { center, radius, .. } => {
                    ((place - DVec3::from(center)) / self.size).length() * self.size - radius
                }
                WallShape::Cylinder {
                    point,
                    axis,
                    radius,
                    ..
                } => {
                    let axis = DVec3::from(axis).normalize();
                    let away = (place - DVec3::from(point)) / self.size;
                    axis.cross(away).length() * self.size - radius
                }
                shape => panic!("an unknown shape: {shape:?}"),
            },
        };
        let extent = DVec3::from(sphere.center).abs().element_sum() + most * toi;
        let tolerance = 1e-10 * (extent + 10.0 * self.size + sphere.radius);
        assert!(
            apart.abs() <= tolerance,
            "{apart:e} {contact:?} {wall:?} {sphere:?} {toi:e} {depth:e}"
        );
    }

    /// Fails unless the list has exactly the spheres and walls that touch, in order, with the nearest times and depths.
    pub(crate) fn check(&self, found: &Collisions<f64>) -> usize {
        let mut listed = found.walls.iter_with_images();
        let (dt, mut touching) = (Dyadic::from(self.dt), 0);
        let obstacles = self.obstacles();
        for (index, sphere) in self.spheres.iter().enumerate() {
            for (number, (wall, groups)) in obstacles.iter().enumerate() {
                let of = |groups| Sphere {
                    groups,
                    ..Sphere::default()
                };
                if of(self.groups[index]).ignores(&of(*groups)) {
                    continue;
                }
                for image in self.images(sphere, wall) {
                    let at = AtObstacle::new(sphere, wall, &self.domain, image);
                    if !at.touches(&dt) {
                        continue;
                    }
                    assert!(
                        image.iter().all(|n| n.abs() < 20),
                        "a larger range of images"
                    );
                    touching += 1;
                    let (
                        &WallCollision64 {
                            sphere: i,
                            wall: j,
                            toi,
                            depth,
                        },
                        of_hit,
                    ) = listed.next().unwrap_or_else(|| {
                        panic!("({index}, {number}) {image:?} is missing in {self:?}")
                    });
                    self.check_contact(
                        sphere,
                        wall,
                        [toi, depth],
                        self.contact(i, j, [toi, depth], of_hit),
                    );
                    let hit = (i as usize, j as usize, of_hit);
                    assert_eq!(hit, (index, number, image), "{self:?}");
                    assert!((0.0..=self.dt).contains(&toi), "{toi:e} in {self:?}");
                    assert!(
                        at.is_nearest(toi, depth),
                        "({index}, {number}) {toi:e} {depth:e} in {self:?}"
                    );
                }
            }
        }
        assert_eq!(listed.next(), None, "{self:?}");
        touching
    }
}

pub(crate) struct ColumnsOfWorld {
    centers: Vec<[f64; 3]>,
    radii: Vec<f64>,
    velocities: Vec<[f64; 3]>,
}

/// The unit of length and the unit of time of a world.
pub(crate) fn units(rng: &mut Rng) -> (f64, f64) {
    let power = |rng: &mut Rng, most: i32| 10_f64.powi(rng.i32(-most..most));
    match rng.u8(0..4) {
        0 => (power(rng, 90), 1.0),
        1 => {
            let size = power(rng, 90);
            (size, (size.max(1e-40) * power(rng, 8)).min(1e90))
        }
        _ => (1.0, 1.0),
    }
}

pub(crate) fn worlds(count: usize, seed: u64, periodic: bool) -> Test {
    let mut rng = Rng::with_seed(seed);
    let mut detector = detector()?;
    let mut touching = 0;
    for number in 0..count {
        let (size, slow) = units(&mut rng);
        let world = World::random(&mut rng, size, slow, periodic);
        let found = match world.detect(&mut detector, number % 8 == 0) {
            Ok(found) => found,
            Err(error) => panic!("{error} in {world:?}"),
        };
        touching += world.check(&found);
    }
    assert!(touching > 2 * count, "{touching}");
    Ok(())
}
