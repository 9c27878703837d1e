//! Tests of spheres in float64 at walls, against exact arithmetic on every sphere and wall.

mod oracle;
mod wall_worlds;

use std::error::Error;

use carom::{
    Backend, Collisions, Contact, Detector, Domain, ErrorKind, HardSphere, Hits, Mesh, Options,
    Sphere, Spheres, Step, Wall, WallCollision64, WallShape, Walls, verify_walls,
};
use fastrand::Rng;
use glam::DVec3;
use oracle::dyadic::{Dyadic, near};
use oracle::wide_walls::{AtObstacle, Obstacle};

type Test = Result<(), Box<dyn Error>>;

fn detector() -> Result<Detector, carom::Error> {
    Detector::new(Options::new().with_backend(Backend::Cpu))
}

/// A random number with all digits, from −1 to 1.
fn unit(rng: &mut Rng) -> f64 {
    2.0 * rng.f64() - 1.0
}

fn vector(rng: &mut Rng, size: f64) -> [f64; 3] {
    [0; 3].map(|_| size * unit(rng))
}

fn plus(x: [f64; 3], y: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| x[k] + y[k])
}

/// Returns the same number, or one of the next float64 below or above it.
fn nudged(rng: &mut Rng, x: f64) -> f64 {
    match rng.u8(0..4) {
        0 => x.next_up(),
        1 => x.next_down().max(0.0),
        _ => x,
    }
}

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
struct World {
    spheres: Vec<HardSphere>,
    groups: Vec<u32>,
    first: Option<usize>,
    walls: Walls<f64>,
    dt: f64,
    domain: Domain,
    size: f64,
}

impl World {
    /// Returns a random world. Lengths are about `size`, and times about `slow`.
    fn random(rng: &mut Rng, size: f64, slow: f64, periodic: bool) -> Self {
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

    fn cell(rng: &mut Rng, size: f64) -> Domain {
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
    fn simple(rng: &mut Rng, size: f64, far: [f64; 3], domain: &Domain) -> Wall<f64> {
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
    fn mesh(rng: &mut Rng, size: f64, far: [f64; 3]) -> Mesh<f64> {
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

    fn obstacles(&self) -> Vec<(Obstacle, u32)> {
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
    fn beside(
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

    fn step<'a>(&'a self, columns: &'a ColumnsOfWorld) -> Step<'a, Spheres<'a, f64>> {
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
    fn detect(
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
    fn images(&self, sphere: &HardSphere, wall: &Obstacle) -> Vec<[i32; 3]> {
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

    fn contact(
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
    fn check_contact(
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
    fn check(&self, found: &Collisions<f64>) -> usize {
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

struct ColumnsOfWorld {
    centers: Vec<[f64; 3]>,
    radii: Vec<f64>,
    velocities: Vec<[f64; 3]>,
}

/// The unit of length and the unit of time of a world.
fn units(rng: &mut Rng) -> (f64, f64) {
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

fn worlds(count: usize, seed: u64, periodic: bool) -> Test {
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

#[test]
fn contacts_in_open_space_are_exact() -> Test {
    worlds(3_000, 1, false)
}

#[test]
fn contacts_in_periodic_domains_are_exact() -> Test {
    worlds(1_000, 2, true)
}

#[test]
#[ignore = "takes minutes"]
fn many_contacts_are_exact() -> Test {
    for seed in 0..10 {
        worlds(20_000, 100 + seed, false)?;
        worlds(10_000, 200 + seed, true)?;
    }
    Ok(())
}

/// Spheres and walls in float32 have the same contacts in float64.
#[test]
fn float32_worlds_have_the_same_contacts() -> Test {
    let mut rng = Rng::with_seed(3);
    let mut detector = detector()?;
    let mut touching = 0;
    for round in 0..2_000 {
        let (mut world, domain) = match round % 2 {
            0 => (wall_worlds::World::new(&mut rng), Domain::open()),
            _ => wall_worlds::periodic_world(&mut rng),
        };
        let vertices = [
            [0.0, 0.0, 1.0],
            [3.0, 0.0, 1.0],
            [0.0, 4.0, 1.0],
            [3.0, 4.0, 2.0],
        ];
        let mesh = Mesh::new(vertices.to_vec(), vec![[0, 1, 2], [1, 2, 3]])?;
        world.walls.push_mesh(mesh.with_velocity([0.5, 0.0, -1.0]));
        let step = Step::new(&world.spheres, world.dt).in_domain(&domain);
        let narrow = detector.detect(&step.with_walls(&world.walls))?;
        let wide: Vec<HardSphere> = world
            .spheres
            .iter()
            .copied()
            .map(HardSphere::from)
            .collect();
        let walls = Walls::from(&world.walls);
        let step = Step::new(&wide, world.dt.into()).in_domain(&domain);
        let found = detector.detect(&step.with_walls(&walls))?;
        let named = |sphere: u32, wall: u32, image: [i32; 3]| (sphere, wall, image);
        let expected = narrow.walls.iter_with_images();
        let expected: Vec<_> = expected
            .map(|(hit, n)| named(hit.sphere, hit.wall, n))
            .collect();
        let contacts = found.walls.iter_with_images();
        let contacts: Vec<_> = contacts
            .map(|(hit, n)| named(hit.sphere, hit.wall, n))
            .collect();
        assert_eq!(contacts, expected, "{:?} {:?}", world.spheres, world.walls);
        for (one, other) in narrow.walls.iter().zip(&found.walls) {
            let [toi, depth] = [one.toi, one.depth].map(f64::from);
            let near = |x: f64, y: f64| (x - y).abs() <= f64::from(f32::EPSILON) * y.abs() + 1e-44;
            assert!(
                near(toi, other.toi) && near(depth, other.depth),
                "{one:?} {other:?}"
            );
        }
        touching += contacts.len();
    }
    assert!(touching > 4_000, "{touching}");
    Ok(())
}

/// The last digit of a coordinate or a radius decides whether a sphere touches a wall, in the coordinates of a survey.
#[test]
fn the_last_digit_decides() -> Test {
    let mut detector = detector()?;
    for far in [0.0, 448_200.5, 4_582_300.25] {
        let corners = [
            [far - 8.0, far, far],
            [far + 8.0, far, far],
            [far, far + 8.0, far],
        ];
        let mut walls = Walls::from_iter([
            Wall::half_space([0.0, 0.0, 2.0], 2.0 * far),
            Wall::sphere([far, far, far - 3.0], 3.0),
            Wall::sphere_inside([far, far, far + 6.0], 6.0),
            Wall::cylinder([far, far - 70.0, far - 2.0], [0.0, 3.0, 0.0], 2.0),
            Wall::cylinder_inside([far + 50.0, far, far + 5.0], [7.0, 0.0, 0.0], 5.0),
        ]);
        walls.push_mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?);
        for (radius, contacts) in [
            (0.125, 6),
            (0.125_f64.next_down(), 0),
            (0.125_f64.next_up(), 6),
        ] {
            let ball = [HardSphere::new([far, far, far + 0.125], radius)];
            for dt in [0.0, 1.0] {
                let found = detector.detect(&Step::new(&ball, dt).with_walls(&walls))?;
                assert_eq!(found.walls.len(), contacts, "{far} {radius:e}");
            }
            // It falls, and is at the walls at the end of the step.
            let falling = ball[0].with_velocity([0.0, 0.0, -1.0]);
            let falling = [HardSphere {
                center: [far, far, far + 1.125],
                ..falling
            }];
            let found = detector.detect(&Step::new(&falling, 1.0).with_walls(&walls))?;
            assert_eq!(found.walls.len(), contacts, "{far} {radius:e}");
            let late = 1.0_f64.next_down();
            let found = detector.detect(&Step::new(&falling, late).with_walls(&walls))?;
            assert!(found.walls.is_empty(), "{far} {radius:e}");
        }
    }
    Ok(())
}

/// Points that are exactly on a wall at the end of the step are listed. No radius covers rounding errors.
#[test]
fn points_on_walls_are_found() -> Test {
    let mut rng = Rng::with_seed(5);
    let mut detector = detector()?;
    // A number with few enough digits for exact sums, but too many for float32.
    let number = |rng: &mut Rng, most: f64| (unit(rng) * most * 1048576.0).round() / 1048576.0;
    for round in 0..400 {
        let speed = [0.0, 1.0, 500.0][rng.usize(0..3)];
        let extent = [1.0, 1000.0][rng.usize(0..2)];
        let (mut walls, mut points) = (Walls::new(), Vec::new());
        let few = |rng: &mut Rng| (unit(rng) * 64.0 * extent).round() / 64.0;
        let scaled = |x: [f64; 3], k: f64| x.map(|x| x * k);
        for kind in 0..6 {
            let q = [0; 3].map(|_| {
                if round % 2 == 0 {
                    few(&mut rng)
                } else {
                    number(&mut rng, extent)
                }
            });
            let w = [0; 3].map(|_| number(&mut rng, speed));
            let (j, k) = (few(&mut rng), few(&mut rng));
            let (wall, point): (WallShape<f64>, _) = match kind {
                0 => {
                    let shift = plus(scaled([0.0, 1.0, -1.0], j), scaled([2.0, -1.0, 0.0], k));
                    let offset = q[0] + 2.0 * q[1] + 2.0 * q[2];
                    let normal = [1.0, 2.0, 2.0];
                    (WallShape::HalfSpace { normal, offset }, plus(q, shift))
                }
                1 | 2 => {
                    let (center, radius, hollow) = (q, 3.0 * k.abs(), kind == 2);
                    let shape = WallShape::Sphere {
                        center,
                        radius,
                        hollow,
                    };
                    (shape, plus(q, scaled([2.0, -1.0, 2.0], k)))
                }
                3 | 4 => {
                    let (point, axis, radius) = (q, [0.0, 3.0, 4.0], 5.0 * k.abs());
                    let hollow = kind == 4;
                    let shape = WallShape::Cylinder {
                        point,
                        axis,
                        radius,
                        hollow,
                    };
                    let along = plus(q, scaled(axis, j));
                    (shape, plus(along, scaled([0.0, 4.0, -3.0], k)))
                }
                _ => {
                    let corners = [0; 3].map(|_| plus(q, [0; 3].map(|_| number(&mut rng, extent))));
                    let [a, b, c] = corners.map(DVec3::from);
                    let point = a + (b - a) * 0.25 + (c - a) * 0.375;
                    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?;
                    walls.push_mesh(mesh.with_velocity(w));
                    points.push(HardSphere::new(plus(point.to_array(), w), 0.0));
                    continue;
                }
            };
            walls.push(Wall::from(wall).with_velocity(w));
            points.push(HardSphere::new(plus(point, w), 0.0));
        }
        // Alone, a point is the origin of the enclosing step.
        let alone = rng.usize(0..6);
        let expected: Vec<[u32; 2]> = (0..6).map(|k| [k, k]).collect();
        let found = detector.detect(&Step::new(&points, 1.0).with_walls(&walls))?;
        for pair in expected {
            let listed = found.walls.iter().any(|hit| [hit.sphere, hit.wall] == pair);
            assert!(listed, "{pair:?} is missing: {points:?} {walls:?}");
        }
        let found = detector.detect(&Step::new(&points[alone..=alone], 1.0).with_walls(&walls))?;
        let listed = found.walls.iter().any(|hit| hit.wall as usize == alone);
        assert!(listed, "{alone} is missing: {points:?} {walls:?}");
    }
    Ok(())
}

/// Small spheres in the middle of a large triangle, whose corners are rounded by more than the spheres' depths, are listed.
#[test]
fn spheres_far_from_the_corners_are_found() -> Test {
    let mut rng = Rng::with_seed(8);
    for _ in 0..400 {
        let corner = |rng: &mut Rng, angle: f64| {
            let angle = angle + 0.5 * rng.f64();
            [1000.0 * angle.cos(), 1000.0 * angle.sin(), 3.0 * unit(rng)]
        };
        let corners = [0.0, 2.0, 4.0].map(|angle| corner(&mut rng, angle));
        let [a, b, c] = corners.map(DVec3::from);
        let center = vector(&mut rng, 1e-3);
        let normal = (b - a).cross(c - a).normalize();
        // float64 rounds this distance by less than 1e-10.
        let radius = normal.dot(DVec3::from(center) - a).abs() + 1e-9;
        let mut walls = Walls::new();
        walls.push_mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?);
        let sphere = [HardSphere::new(center, radius)];
        // A new detector, in whose enclosing step the sphere is the origin.
        let found = detector()?.detect(&Step::new(&sphere, 0.0).with_walls(&walls))?;
        assert_eq!(found.walls.len(), 1, "{sphere:?} {corners:?}");
    }
    Ok(())
}

/// Numbers that are large beside what is left of them: a wall that moves along its surface, a cylinder far along its axis, a
/// sphere with a far image at a small wall. The spheres touch the walls by less than float32 tells, and are in the middle of the
/// enclosing step, where only the growth of the walls finds them, or are far from it.
#[test]
fn narrow_contacts_are_found() -> Test {
    let mut rng = Rng::with_seed(9);
    let number =
        |x: DVec3, digits: i32| (x * f64::from(1 << digits)).round() / f64::from(1 << digits);
    let across = |x: f64| {
        let corners = [[x, -1.0, -1.0], [x, 2.0, -1.0], [x, -1.0, 2.0]];
        Mesh::new(corners.to_vec(), vec![[0, 1, 2]])
    };
    let mut touching = 0;
    for round in 0..3_200 {
        let direction = DVec3::from(vector(&mut rng, 1.0)).normalize_or(DVec3::X);
        let tangent = direction.cross(vector(&mut rng, 1.0).into());
        let hollow = rng.bool();
        let solid = |touch: f64| touch * if hollow { 1.0 - 1e-13 } else { 1.0 + 1e-13 };
        let ball = |at: DVec3, radius: f64| match hollow {
            true => Wall::sphere_inside(at.to_array(), radius),
            false => Wall::sphere(at.to_array(), radius),
        };
        // In an oblique cell, or in one that an axis nearly lies in, a far image may be displaced little.
        let n = rng.i32(200..900);
        let edge = 1.0 + rng.f64();
        let along_x =
            Domain::rectangular_f64([0.0; 3], [edge, 1.0, 1.0]).with_periodic([true, false, false]);
        let image = [n, 0, 0];
        let displaced = number(DVec3::new(f64::from(n) * edge, 0.0, 0.0), 10);
        let gap = (f64::from(n) * edge - displaced.x).abs() * (1.0 + 1e-9);
        let (mut walls, mut domain, mut of_touch) = (Walls::new(), Domain::open(), [0; 3]);
        let (mut far, mut radius, mut dt, mut velocity) = (None, 0.0, 0.0, [0.0; 3]);
        match round % 16 {
            0 => {
                dt = 1.0;
                let moves = tangent + direction * 1e-9;
                let offset = (1e-13 - direction.dot(moves)) * 2.0;
                let wall = Wall::half_space((direction * 2.0).to_array(), offset);
                walls.push(wall.with_velocity(moves.to_array()));
            }
            1 => {
                walls.push(ball(tangent, solid(tangent.length())));
            }
            2 => {
                let (along, axis) = (number(direction * 1000.0, 4), direction * 3.0);
                let radius = solid(direction.cross(along).length());
                walls.push(match hollow {
                    true => Wall::cylinder_inside(along.to_array(), axis.to_array(), radius),
                    false => Wall::cylinder(along.to_array(), axis.to_array(), radius),
                });
            }
            3 => {
                let along = number(tangent * 1000.0, 4);
                far = Some(along);
                let height = direction.dot(along);
                let offset = height + height.abs() * 1e-9;
                walls.push(Wall::half_space(direction.to_array(), offset));
            }
            // They stop just before the sphere.
            kind @ (4 | 5) => {
                dt = 1.0;
                let x = (1.0 + rng.f64()) * 1000.0;
                let at = number(if kind == 4 { tangent } else { DVec3::X * x }, 10);
                let moves = at * -(1.0 - 0.5_f64.powi(13) * rng.f64());
                let gap = (at + moves).length() * (1.0 + 1e-12);
                if kind == 4 {
                    walls.push(Wall::sphere(at.to_array(), gap).with_velocity(moves.to_array()));
                } else {
                    (radius, velocity) = (gap, moves.to_array());
                    walls.push_mesh(across(at.x)?.with_velocity(velocity));
                }
            }
            kind @ (6 | 7) => {
                (domain, of_touch) = (along_x, image);
                let at = if kind == 6 { displaced } else { DVec3::ZERO };
                walls.push(Wall::sphere(at.to_array(), gap));
                far = (kind == 7).then_some(-displaced);
            }
            8 => {
                (domain, of_touch, radius) = (along_x, image, gap);
                walls.push_mesh(across(displaced.x)?);
            }
            kind @ 9..=12 => {
                let off = |rng: &mut Rng| 0.003 * unit(rng);
                let edges = [
                    [edge, off(&mut rng), off(&mut rng)],
                    [off(&mut rng), edge, off(&mut rng)],
                    [0.0, 0.0, 1.0],
                ];
                domain = Domain::triclinic_f64([0.0; 3], edges).with_periodic([true, true, false]);
                of_touch = [n, n, 0];
                let by = (DVec3::from(edges[0]) + DVec3::from(edges[1])) * f64::from(n);
                let axis = DVec3::new(1.0, 1.0, 0.003 + 0.006 * rng.f64());
                let beside = number(by - axis * (by.dot(axis) / axis.length_squared()), 8);
                let radius = axis.cross(by - beside).length() / axis.length() * (1.0 + 1e-8);
                let at = if kind < 11 { beside } else { DVec3::ZERO };
                walls.push(Wall::cylinder(at.to_array(), axis.to_array(), radius));
                far = (kind >= 11).then_some(-beside);
            }
            kind => {
                let oblique = 30.0 + 20.0 * rng.f64();
                let edges = [[edge, 0.0, 0.0], [oblique, 1.0, 0.0], [0.0, 0.0, 1.0]];
                domain = Domain::triclinic_f64([0.0; 3], edges).with_periodic([true, true, false]);
                let m = rng.i32(10..20);
                let n = -(f64::from(m) * oblique / edge).round();
                #[allow(clippy::cast_possible_truncation, reason = "a whole number in range")]
                let image = [n as i32, m, 0];
                of_touch = image;
                let by = DVec3::new(n * edge + f64::from(m) * oblique, f64::from(m), 0.0);
                let beside = number(by, 10);
                let radius = (by - beside).length() * (1.0 + 1e-9);
                let at = if kind < 15 { beside } else { DVec3::ZERO };
                walls.push(Wall::sphere(at.to_array(), radius));
                far = (kind == 15).then_some(-beside);
            }
        }
        // The middle of three spheres is the origin of the enclosing step.
        let centers = match far {
            Some(far) => vec![far, DVec3::ZERO, -far],
            None => vec![DVec3::ZERO],
        };
        let spheres: Vec<_> = centers
            .iter()
            .map(|center| HardSphere::new(center.to_array(), radius))
            .collect();
        let obstacle = match walls.simple().first() {
            Some(wall) => Obstacle::Simple(*wall),
            None => {
                let mesh = &walls.meshes()[0];
                let corners = mesh.triangles()[0].map(|k| mesh.vertices()[k as usize]);
                Obstacle::Triangle(corners, velocity)
            }
        };
        let at = AtObstacle::new(&spheres[0], &obstacle, &domain, of_touch);
        if !at.touches(&Dyadic::from(dt)) {
            continue;
        }
        touching += 1;
        let step = Step::new(&spheres, dt)
            .in_domain(&domain)
            .with_walls(&walls);
        let found = detector()?.detect(&step)?.walls;
        let listed = found
            .iter_with_images()
            .any(|(hit, image)| hit.sphere == 0 && image == of_touch);
        assert!(
            listed,
            "{round} {spheres:?} {walls:?} {domain:?} {of_touch:?}"
        );
    }
    assert!(touching > 2_000, "{touching}");
    Ok(())
}

/// A hollow wall that moves fast together with a tiny sphere: the squares of their lengths, in units of the way, are 0.
#[test]
fn tiny_hollow_walls_that_move_fast_are_touched() -> Test {
    let power = |exponent: i32| 2_f64.powi(exponent);
    for [unit, speed] in [
        [power(-332), power(332)],
        [power(-300), power(66)],
        [power(-300), 1.0],
    ] {
        let center = [3.0 * unit, 4.0 * unit, 0.0];
        let sphere =
            |radius: f64| HardSphere::new(center, radius * unit).with_velocity([speed, 0.0, 0.0]);
        for wall in [
            Wall::sphere_inside([0.0; 3], 7.0 * unit),
            Wall::cylinder_inside([0.0; 3], [0.0, 0.0, 1.0], 7.0 * unit),
        ] {
            let walls = Walls::from_iter([wall.with_velocity([speed, 0.0, 0.0])]);
            for (radius, contacts) in [(2.0, 1), (2.0_f64.next_down(), 0), (3.0, 1)] {
                let spheres = [sphere(radius)];
                let found = detector()?.detect(&Step::new(&spheres, 1.0).with_walls(&walls))?;
                assert_eq!(found.walls.len(), contacts, "{spheres:?} {walls:?}");
            }
        }
    }
    Ok(())
}

/// A detector that keeps the meshes of its last step finds what a new one finds, also if spheres and meshes move far away, meshes
/// are replaced, or their order changes.
#[test]
fn steps_with_kept_meshes_are_exact() -> Test {
    let mut rng = Rng::with_seed(6);
    let mut kept = detector()?;
    let mut touching = 0;
    for round in 0..60 {
        let mut world = World::random(&mut rng, 1.0, 1.0, round % 2 == 1);
        world.walls.push_mesh(World::mesh(&mut rng, 1.0, [0.0; 3]));
        world.walls.push_mesh(World::mesh(&mut rng, 1.0, [0.0; 3]));
        for step in 0..12 {
            let found = world.detect(&mut kept, false)?;
            touching += world.check(&found);
            // Meshes that spheres ignore.
            let mut others = world.clone();
            for mesh in others.walls.meshes_mut() {
                *mesh = mesh.clone().with_groups([0, 1][rng.usize(0..2)], 0);
            }
            let listed = others.detect(&mut kept, false)?.walls;
            assert_eq!(listed, others.detect(&mut detector()?, false)?.walls);
            let meshes = world.walls.meshes_mut();
            match rng.u8(0..6) {
                0 => meshes.reverse(),
                1 => meshes[0] = World::mesh(&mut rng, 1.0, [0.0; 3]),
                2 => meshes[0] = meshes[0].clone().with_velocity(vector(&mut rng, 1.0)),
                3 => meshes[0] = meshes[1].clone(),
                _ => {}
            }
            let far = if step == 6 { 1e4 } else { 0.1 };
            for sphere in &mut world.spheres {
                let moved = vector(&mut rng, far);
                sphere.center = plus(sphere.center, moved);
                sphere.velocity = plus(sphere.velocity, vector(&mut rng, far));
            }
            if rng.u8(0..4) == 0 {
                world.dt = rng.f64();
            }
            if far > 1.0 && !world.domain.is_open() {
                break;
            }
        }
    }
    assert!(touching > 2_000, "{touching}");
    Ok(())
}

/// The list of walls does not depend on the backend.
#[test]
fn backends_agree() -> Test {
    let mut rng = Rng::with_seed(4);
    let mut cpu = detector()?;
    let mut gpu = Detector::new(Options::new().with_backend(Backend::Gpu))?;
    let mut contacts = 0;
    for round in 0..40 {
        let (size, slow) = units(&mut rng);
        let world = World::random(&mut rng, size, slow, round % 2 == 1);
        let expected = world.detect(&mut cpu, false)?;
        let found = match world.detect(&mut gpu, false) {
            Ok(found) => found,
            // A cell may be too small or too skewed for a GPU.
            Err(error) if error.kind() == ErrorKind::Device => continue,
            Err(error) => return Err(error.into()),
        };
        contacts += found.walls.len();
        assert_eq!(found.walls.images(), expected.walls.images());
        let bytes = |found: &Collisions<f64>| bytemuck::cast_slice::<_, u8>(&found.walls).to_vec();
        assert_eq!(bytes(&found), bytes(&expected));
    }
    assert!(contacts > 40, "{contacts}");
    Ok(())
}

/// Walls out of range, and walls that do not repeat with the domain, are named.
#[test]
fn invalid_walls_are_named() -> Test {
    let mut detector = detector()?;
    let ball = [HardSphere::new([0.0; 3], 1.0)];
    let mut message = |wall: Wall<f64>, dt: f64, domain: Domain| {
        let walls = Walls::from_iter([Wall::sphere([9.0; 3], 1.0), wall]);
        let step = Step::new(&ball, dt).with_walls(&walls).in_domain(&domain);
        let found = detector.detect(&step);
        let listed = verify_walls(&step, &Hits::default());
        let error = found.expect_err("an invalid wall").to_string();
        if domain.is_open() {
            assert_eq!(listed.expect_err("an invalid wall").to_string(), error);
        }
        error
    };
    let open = Domain::open();
    let far = message(Wall::sphere([0.0, 2e100, 0.0], 1.0), 1.0, open);
    assert!(
        far.contains("wall 1") && far.contains("center.y is 2e100"),
        "{far}"
    );
    assert!(far.contains("at most 1e100"), "{far}");
    let thin = message(Wall::half_space([1e-200, 0.0, 0.0], 1.0), 1.0, open);
    assert!(thin.contains("its plane is 1e200 away"), "{thin}");
    let fast = Wall::sphere([0.0; 3], 1.0).with_velocity([1e60, 0.0, 0.0]);
    let fast = message(fast, 1e50, open);
    assert!(fast.contains("velocity * dt.x is 1e110"), "{fast}");
    let negative = message(Wall::sphere([0.0; 3], -0.1), 1.0, open);
    assert!(negative.contains("its radius is -0.1"), "{negative}");
    let cell = Domain::rectangular([0.0; 3], [5.0; 3]);
    let floor = message(Wall::half_space([0.1, 0.0, 1.0], 0.0), 1.0, cell);
    assert!(
        floor.contains("does not repeat with the periodic domain"),
        "{floor}"
    );
    // Float32 tells this axis from the edge, or does not, depending on its rounding.
    let pipe = Wall::cylinder([0.0; 3], [1.000_000_05e-6, 0.0, 1.0], 1.0);
    let cell = cell.with_periodic([false, false, true]);
    let pipe = message(pipe, 1.0, cell);
    assert!(
        pipe.contains("its axis is nearly parallel to a periodic edge"),
        "{pipe}"
    );
    let flat = Mesh::new(
        vec![[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.4, 0.4, 0.4]],
        vec![[0, 1, 2]],
    );
    let flat: Result<Mesh<f64>, _> = flat;
    assert!(
        flat.expect_err("no area")
            .to_string()
            .contains("lie on one line")
    );
    Ok(())
}
