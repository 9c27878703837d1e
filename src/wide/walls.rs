//! Spheres in float64 at walls: encloses both in float32, and decides which of the contacts that are found are real.

use glam::DVec3;
use rayon::prelude::*;

use super::WideSphere;
use super::enclose::{Cell64, Enclosed, LARGEST, Measured, Sample, Source, U, WideFrame};
use crate::cpu::WallHits;
use crate::limits::CHUNK;
use crate::memory::{LIST, allocate, collect, resized};
use crate::number::sealed::Numbers as _;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::step::UncheckedStep;
use crate::walls::{CylinderImages, Round, Solid, WideWall, is_parallel, unit, vector};
use crate::{Domain, Error, Hits, Mesh, Sphere, Wall, WallCollision64, WallShape, Walls, threads};

/// Bound of the error of a direction that is rounded to float32: 2⁻²³.
const DIRECTION: f64 = 1.0 / (1 << 23) as f64;
/// Factor between the numbers of edges along which an image is displaced, computed with the exact and with the rounded
/// edges.
const EDGES: f64 = 1.25;

/// What a step at walls leaves to the next one.
#[derive(Debug, Default)]
pub(crate) struct WallsMemory {
    spheres: ReusedVec<Sphere>,
    kept: KeptWalls,
}

impl WallsMemory {
    pub(crate) fn bytes(&self) -> usize {
        self.spheres.bytes()
    }
}

/// The enclosing meshes of a step. A step with the same meshes uses them again, because making them takes long.
#[derive(Debug, Default)]
struct KeptWalls {
    /// The origin, the drift and the largest length of the frame.
    frame: Option<(DVec3, DVec3, f64)>,
    meshes: Vec<KeptMesh>,
}

impl KeptWalls {
    /// Returns the meshes of a step, with those of the last step that have the same triangles.
    fn meshes(&mut self, walls: &Walls<f64>) -> Result<Vec<KeptMesh>, Error> {
        let mut last = std::mem::take(&mut self.meshes).into_iter();
        let meshes = walls.meshes().iter().map(|mesh| match last.next() {
            Some(kept) if kept.given.shares_shape(mesh) => kept,
            _ => KeptMesh::new(mesh),
        });
        collect(meshes, "the enclosing vertices")
    }
}

/// A mesh in float64, and the mesh in float32 that encloses it.
#[derive(Debug)]
struct KeptMesh {
    given: Mesh<f64>,
    /// Largest coordinate of a corner.
    largest: f64,
    /// The origin and the unit of length of the enclosing mesh, if there is one.
    frame: Option<(DVec3, f64)>,
    enclosing: Mesh,
    /// Bound of the sum of the rounding errors of the coordinates of a corner.
    off: f64,
    /// Largest sum of the coordinates of a corner.
    reach: f64,
}

impl KeptMesh {
    fn new(mesh: &Mesh<f64>) -> Self {
        let corners = mesh.corners().map(DVec3::from);
        Self {
            largest: corners.fold(0.0, |most, corner| corner.abs().max_element().max(most)),
            given: mesh.clone(),
            frame: None,
            enclosing: Mesh::default(),
            off: 0.0,
            reach: 0.0,
        }
    }

    /// Encloses the mesh in a frame, unless it was the last one, too.
    fn enclose(&mut self, frame: &WideFrame) -> Result<(), Error> {
        let of = Some((frame.origin, frame.scale.length));
        if self.frame == of {
            return Ok(());
        }
        let given = self.given.vertices();
        let mut vertices = allocate(given.len(), "the enclosing vertices")?;
        vertices.extend(given.iter().map(|&vertex| frame.place(vertex).0));
        (self.off, self.reach) = (0.0, 0.0);
        for corner in self.given.corners() {
            let (place, error) = frame.place(corner);
            self.off = self.off.max(error);
            self.reach = self.reach.max(vector(place).abs().element_sum());
        }
        self.enclosing = Mesh::unchecked(vertices, self.given.shared_triangles())?;
        self.frame = of;
        Ok(())
    }
}

/// A step in float64 with walls, enclosed in float32. The spheres are not the enclosing spheres of [`Enclosed`]: they are
/// larger, by the errors of the walls, and are not wrapped.
pub(crate) struct EnclosedWalls<'a> {
    pub(crate) walls: Walls,
    pub(crate) step: UncheckedStep<'a>,
    cell: Option<Cell64>,
    meshes: Vec<KeptMesh>,
    kept: &'a mut KeptWalls,
}

impl EnclosedWalls<'_> {
    /// Leaves the enclosing meshes to the next step.
    pub(crate) fn keep(mut self) {
        let meshes = self.walls.meshes_mut().iter_mut();
        for (kept, mesh) in self.meshes.iter_mut().zip(meshes) {
            kept.enclosing = std::mem::take(mesh);
        }
        self.kept.meshes = self.meshes;
    }
}

impl Enclosed<'_> {
    /// Encloses the spheres and the walls of this step.
    pub(crate) fn at_walls<'a>(
        &self,
        walls: &Walls<f64>,
        memory: &'a mut WallsMemory,
    ) -> Result<EnclosedWalls<'a>, Error> {
        let given = self.given.map(|set| Source::Packed(set, false));
        // Infinite walls may repeat with the given edges only.
        let cell = Cell64::given(&self.domain)?;
        let mut sample = Sample::new(&given, None)?;
        let WallsMemory { spheres, kept } = memory;
        let mut meshes = kept.meshes(walls)?;
        let longest = cell.map_or(0.0, |cell| cell.longest());
        let size = |sample: &Sample| {
            let of_walls = EnclosingWalls::size(walls, &meshes, sample, self.dt);
            of_walls.max(longest).max(sample.size(self.dt))
        };
        let mut first = size(&sample);
        // The last frame serves again if lengths are about as large in it.
        if let Some((origin, drift, length)) = kept.frame {
            let own = [sample.origin, sample.drift];
            [sample.origin, sample.drift] = [origin, drift];
            let again = size(&sample);
            if again <= 2.0 * first {
                first = again;
            } else {
                [sample.origin, sample.drift] = own;
            }
            if (0.5 * length..=2.0 * length).contains(&first) {
                first = length;
            }
        }
        kept.frame = Some((sample.origin, sample.drift, first));
        let spheres = spheres.enough(self.step.spheres.len(), "the enclosing spheres at walls")?;
        threads::run(spheres.len(), || {
            let mut frame = WideFrame::new(&sample, first, 1.0, self.dt, cell);
            let mut enclosing = EnclosingWalls::new(walls, &frame, self, &mut meshes)?;
            let measured = self.enclose_again(&frame, &enclosing, spheres);
            let largest = measured.largest.max(enclosing.largest);
            if largest.is_nan() || largest > LARGEST[1] {
                let size = if largest.is_finite() {
                    largest / frame.scale.length
                } else {
                    let size_of_cell = cell.map_or(0.0, |cell| cell.size());
                    4.0 * (measured.extent + measured.speed * self.dt + first + size_of_cell)
                };
                frame = WideFrame::new(&sample, size, (1_u64 << 50) as f64, self.dt, cell);
                // The first enclosing walls have taken the meshes.
                meshes.iter_mut().for_each(|kept| kept.frame = None);
                enclosing = EnclosingWalls::new(walls, &frame, self, &mut meshes)?;
                self.enclose_again(&frame, &enclosing, spheres);
            }
            Ok(EnclosedWalls {
                walls: enclosing.walls,
                step: UncheckedStep {
                    spheres,
                    sets: Sets::One,
                    dt: self.step.dt,
                    domain: frame.domain(),
                    enclosing: true,
                },
                cell,
                meshes,
                kept,
            })
        })
    }

    /// Fills `spheres` with spheres that enclose the given ones at the enclosing walls.
    fn enclose_again(
        &self,
        frame: &WideFrame,
        walls: &EnclosingWalls,
        spheres: &mut [Sphere],
    ) -> Measured {
        let frame = WideFrame {
            share: frame.share.max(walls.share) + DIRECTION,
            margin: walls.margin,
            ..*frame
        };
        let mut all = Measured::default();
        let (mut rest, mut groups) = (spheres, self.step.spheres);
        for given in self.given {
            let (spheres, of_rest) = rest.split_at_mut(given.len());
            let (with_groups, others) = groups.split_at(given.len());
            (rest, groups) = (of_rest, others);
            let chunks = spheres.par_chunks_mut(CHUNK).zip(given.par_chunks(CHUNK));
            let chunks = chunks.zip(with_groups.par_chunks(CHUNK));
            let enclose =
                |((spheres, given), groups): ((&mut [Sphere], &[WideSphere]), &[Sphere])| {
                    let mut measured = Measured::default();
                    for ((sphere, given), of_pairs) in spheres.iter_mut().zip(given).zip(groups) {
                        let groups = of_pairs.groups;
                        *sphere = frame.sphere(given, given.center, 0.0, groups, &mut measured);
                    }
                    measured
                };
            all = all.merge(
                chunks
                    .map(enclose)
                    .reduce(Measured::default, Measured::merge),
            );
        }
        all
    }
}

/// Walls in float32 that enclose those of a step. Walls of simple shapes are larger by the errors of their numbers, and
/// triangles are not.
struct EnclosingWalls {
    walls: Walls,
    /// Length by which each sphere must be larger.
    margin: f64,
    /// How much each sphere must be larger for each unit of its distance from the origin, because the edges of the domain
    /// are rounded.
    share: f64,
    largest: f64,
}

impl EnclosingWalls {
    /// Returns the largest length of the walls, seen from the origin of the spheres.
    fn size(walls: &Walls<f64>, meshes: &[KeptMesh], sample: &Sample, dt: f64) -> f64 {
        let largest = |x: DVec3| x.abs().max_element();
        let drift = largest(sample.drift) * dt;
        let solids = walls.simple().iter();
        let solids = solids.map(|wall| WideWall::Solid(wall.solid()).size(dt));
        let meshes = walls.meshes().iter().zip(meshes);
        let meshes =
            meshes.map(|(mesh, kept)| kept.largest.max(largest(mesh.velocity().into()) * dt));
        let size = solids.chain(meshes).fold(0.0, f64::max);
        size + largest(sample.origin) + drift
    }

    /// `meshes` are the meshes of `walls`. Their enclosing ones are moved to the result.
    fn new(
        walls: &Walls<f64>,
        frame: &WideFrame,
        step: &Enclosed<'_>,
        meshes: &mut [KeptMesh],
    ) -> Result<Self, Error> {
        let mut enclosing = Self {
            walls: Walls::new(),
            margin: 0.0,
            share: 0.0,
            largest: 0.0,
        };
        let domains = [&frame.domain(), &step.domain];
        for (number, wall) in walls.simple().iter().enumerate() {
            let wall = enclosing.simple(wall, frame, domains);
            enclosing
                .walls
                .push(wall.map_err(|problem| Error::InvalidWall {
                    wall: number,
                    problem,
                })?);
        }
        for (mesh, kept) in walls.meshes().iter().zip(meshes) {
            kept.enclose(frame)?;
            enclosing.mesh(mesh, kept, frame);
        }
        Ok(enclosing)
    }

    /// Returns the wall that encloses a wall of a simple shape, or what is wrong with it. `domains` are the enclosing and
    /// the given domain.
    fn simple(
        &mut self,
        wall: &Wall<f64>,
        frame: &WideFrame,
        domains: [&Domain; 2],
    ) -> Result<Wall, String> {
        let nearest = |x: DVec3| x.as_vec3().to_array();
        let length = frame.scale.length;
        let (velocity, slip) = frame.velocity(wall.velocity());
        let speed = vector(velocity).abs().element_sum();
        let shape = match wall.solid() {
            Solid::HalfSpace(plane) => {
                let (normal, distance) = (unit(plane.normal.into()), plane.distance());
                let along = normal * frame.origin;
                let offset = (distance - along.element_sum()) * length;
                let terms = (distance.abs() + along.abs().element_sum()) * length;
                let error = 16.0 * U * terms + slip + DIRECTION * speed;
                self.largest = self.largest.max(offset.abs()).max(speed);
                WallShape::HalfSpace {
                    normal: nearest(normal),
                    offset: f32::nearest(offset + error).next_up(),
                }
            }
            Solid::Round(round) => {
                let (point, off) = frame.place(round.point);
                let axis = round.axis.map(|axis| nearest(unit(axis.into())));
                let (radius, hollow) = (round.radius * length, round.inside);
                let reach = vector(point).abs().element_sum() + speed + radius;
                self.largest = self.largest.max(reach);
                let enclosed = Round {
                    point,
                    axis,
                    radius: 0.0,
                    inside: hollow,
                    velocity,
                };
                let share = self.images_at(&enclosed, &round, frame, domains)?;
                let tilt = if axis.is_some() { DIRECTION } else { 0.0 };
                let error = off + slip + (tilt + share) * reach;
                let radius = if hollow {
                    f32::nearest((radius - error).max(0.0)).next_down().max(0.0)
                } else {
                    f32::nearest(radius + error).next_up()
                };
                match axis {
                    None => WallShape::Sphere {
                        center: point,
                        radius,
                        hollow,
                    },
                    Some(axis) => WallShape::Cylinder {
                        point,
                        axis,
                        radius,
                        hollow,
                    },
                }
            }
        };
        let enclosing = Wall::from(shape).with_velocity(velocity);
        Ok(enclosing.with_all_groups(wall.groups()))
    }

    /// Returns how much a round wall and the spheres must grow with their distances from the origin, because the edges of
    /// the domain are rounded. Fails if rounding changes whether an edge counts as parallel to the axis.
    fn images_at(
        &mut self,
        enclosed: &Round,
        given: &Round<f64>,
        frame: &WideFrame,
        [domain, given_domain]: [&Domain; 2],
    ) -> Result<f64, String> {
        if let (Some(axis), Some(exact), false) = (enclosed.axis, given.axis, given.inside) {
            let periodic = (0..3).filter(|&k| given_domain.periodic()[k]);
            for (slot, k) in periodic.enumerate() {
                let edges = [domain.periodic_edge(slot), given_domain.periodic_edge(k)];
                let rounded = edges[0] == DVec3::ZERO || is_parallel(vector(axis), edges[0]);
                if rounded != is_parallel(exact.into(), edges[1]) {
                    return Err(
                        "its axis is nearly parallel to a periodic edge; make it parallel"
                            .to_owned(),
                    );
                }
            }
        }
        let share = CylinderImages::new(enclosed, domain).map_or(0.0, |images| {
            EDGES * images.edges_for_length() * frame.rounded_edges
        });
        self.share = self.share.max(share);
        Ok(share.max(frame.share))
    }

    fn mesh(&mut self, mesh: &Mesh<f64>, kept: &mut KeptMesh, frame: &WideFrame) {
        let (velocity, slip) = frame.velocity(mesh.velocity());
        let reach = kept.reach + vector(velocity).abs().element_sum();
        self.largest = self.largest.max(reach);
        let margin = kept.off + slip + frame.share * reach;
        self.margin = self.margin.max(margin);
        let enclosing = std::mem::take(&mut kept.enclosing).with_velocity(velocity);
        self.walls
            .push_mesh(enclosing.with_all_groups(mesh.groups()));
    }
}

/// Decides exactly which of the contacts `found` of an enclosing step are real, and fills `hits` with these, in their
/// order.
pub(crate) fn decide_at_walls(
    enclosed: &Enclosed<'_>,
    walls: &Walls<f64>,
    enclosing: &EnclosedWalls<'_>,
    found: &WallHits,
    hits: &mut Hits<WallCollision64>,
) -> Result<(), Error> {
    let all = enclosed.pairs();
    let [first, second] = enclosed.given;
    let decide = |index: usize| {
        let hit = &found.hits[index];
        let image = found.images.get(index).copied().unwrap_or_default();
        let image = enclosing
            .cell
            .map_or(image, |cell| cell.in_given_edges(image));
        let sphere = hit.sphere as usize;
        let after = || second.get(sphere - first.len());
        let sphere = first.get(sphere).or_else(after)?;
        let numbers = (sphere.center, sphere.radius, sphere.velocity);
        let wall = walls.wide(hit.wall as usize)?;
        let [toi, depth] = wall.impact(&numbers, &all.products(image), enclosed.dt)?;
        let hit = WallCollision64 {
            sphere: hit.sphere,
            wall: hit.wall,
            toi,
            depth,
        };
        Some((hit, image))
    };
    let mut decided = allocate(found.hits.len(), LIST)?;
    threads::run(found.hits.len(), || {
        let contacts = (0..found.hits.len()).into_par_iter();
        contacts.map(decide).collect_into_vec(&mut decided);
        Ok(())
    })?;
    let real = || decided.iter().flatten();
    let count = real().count();
    let of_images = if enclosing.cell.is_some() { count } else { 0 };
    let items = resized(&mut hits.items, count, LIST)?;
    let images = resized(&mut hits.images, of_images, LIST)?;
    for (to, (hit, _)) in items.iter_mut().zip(real()) {
        *to = *hit;
    }
    for (to, (_, image)) in images.iter_mut().zip(real()) {
        *to = *image;
    }
    Ok(())
}
