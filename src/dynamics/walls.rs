//! The walls of a simulation, and the search for the walls that each sphere can touch in the next
//! substeps.

use glam::DVec3;

use super::HardSphere;
use super::candidate::{Candidate, known};
use super::narrow::narrow;
use super::narrow::next_up;
use super::report::Partner;
use super::rows::SUBSTEP;
use super::surface::{Surface, adjoined, surroundings};
use super::work::Work;
use crate::lattice::{ImageBlock, Lattice, MAX_CELLS};
use crate::limits::most_images;
use crate::memory::{collect, push, reserve};
use crate::walls::{CylinderImages, Path, Round, Solid, vector};
use crate::{Detector, Domain, Error, Mesh, Sphere, Step, Walls};

/// The motion of a wall or of a mesh, with a constant velocity since it was last edited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WallMotion {
    /// How far the wall has moved at the time `since` from where its shape is.
    pub(crate) moved: DVec3,
    pub(crate) since: f64,
    pub(crate) velocity: DVec3,
    /// Whether the wall is switched off, so that nothing touches it.
    pub(crate) off: bool,
}

impl WallMotion {
    /// Returns how far the wall has moved at a time of the simulation from where its shape is.
    #[inline]
    pub(crate) fn displacement(&self, time: f64) -> DVec3 {
        self.moved + self.velocity * (time - self.since)
    }

    pub(crate) fn bits(&self) -> ([u64; 7], bool) {
        let [[a, b, c], [d, e, f]] = [self.moved, self.velocity].map(|v| v.to_array());
        // It does not matter since when a wall is still.
        let since = if self.velocity == DVec3::ZERO {
            0.0
        } else {
            self.since
        };
        ([a, b, c, d, e, f, since].map(f64::to_bits), self.off)
    }
}

/// A wall, with its surface where its shape is.
#[derive(Clone, Debug)]
pub(crate) struct MovingWall {
    pub(crate) surface: Surface,
    pub(crate) motion: WallMotion,
    /// The restitution of the wall, if it has one of its own.
    pub(crate) restitution: Option<f64>,
    groups: u32,
    /// For each edge of a periodic domain, whether displacing a sphere by this edge changes where
    /// the sphere touches the wall. If not, all images of the sphere along this edge count as one,
    /// with the number 0.
    tells_apart: [bool; 3],
}

/// All walls of a simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct MovingWalls {
    /// The motions of the simple shapes, and then those of the meshes.
    motions: Vec<WallMotion>,
    /// All walls: first the simple shapes, and then the triangles of meshes. The index of a wall in
    /// this list is the number of the wall.
    list: Vec<MovingWall>,
    /// Walls that every sphere is tested against.
    unbounded: Vec<Unbounded>,
    /// Walls with bounding spheres. A search tests only the spheres near such a wall. These walls
    /// are the triangles of meshes and, in a periodic domain, also the walls that are spheres. Each
    /// has its number and its bounding sphere where its shape is.
    bounded: Vec<(u32, Sphere)>,
    any_moves: bool,
}

#[derive(Clone, Debug)]
struct Unbounded {
    number: u32,
    /// Finds which periodic images of a sphere can touch the wall, if the wall is a solid cylinder
    /// in a periodic domain. `None` for other walls.
    images: Option<(Round, CylinderImages)>,
}

/// Input of a search for walls: some spheres, and the simulated time that the search covers. The
/// search finds all walls that each of these spheres can touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Searching<'a> {
    /// Indices of the spheres.
    pub(crate) who: &'a [u32],
    pub(crate) spheres: &'a [HardSphere],
    /// Centres of the spheres at the last search for candidates. The displacements of the spheres
    /// are measured from these points.
    pub(crate) origins: &'a [DVec3],
    pub(crate) pads: &'a [f64],
    pub(crate) padded: &'a [Sphere],
    /// The caller's index of each sphere.
    pub(crate) ids: &'a [u32],
    /// Start of the simulated time that the search covers.
    pub(crate) time: f64,
    /// Length of the simulated time that the search covers.
    pub(crate) duration: f64,
}

const WALLS: &str = "the walls of a simulation";

/// A search may find this number of candidates, and so many more for each sphere and each wall.
const FEW: u64 = 1 << 16;
const EACH: u64 = 64;

/// The candidates that a search for walls has found. A sphere that moves far between large meshes, or across many periodic
/// cells, has more of them than memory can hold.
#[derive(Debug)]
struct Found<'a> {
    list: Vec<Candidate>,
    images: u64,
    /// Largest numbers of candidates and of images.
    limit: u64,
    most_images: u64,
    work: &'a mut Work,
}

impl Found<'_> {
    fn push(&mut self, candidate: Candidate) -> Result<(), Error> {
        self.work.add(Work::PAIR, 1);
        let (needed, limit) = (self.list.len() as u64 + 1, self.limit);
        if needed > limit {
            return Err(Error::TooManyCandidates { needed, limit });
        }
        push(&mut self.list, candidate, WALLS)
    }

    fn allow_images(&mut self, count: u64) -> Result<(), Error> {
        self.images = self.images.saturating_add(count);
        let (needed, limit) = (self.images, self.most_images);
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
        }
        self.work.add(Work::IMAGE, count);
        Ok(())
    }
}

impl MovingWalls {
    /// Returns walls that have been where their shapes are at time 0.
    pub(crate) fn new(walls: &Walls, domain: &Domain, one_sided: bool) -> Result<Self, Error> {
        let simple = walls.simple().iter().map(|wall| wall.velocity());
        let velocities = simple.chain(walls.meshes().iter().map(Mesh::velocity));
        let motions = velocities.map(|velocity| WallMotion {
            velocity: vector(velocity),
            ..WallMotion::default()
        });
        Self::with_motions(walls, collect(motions, WALLS)?, domain, one_sided, None)
    }

    /// Returns walls with these motions. The triangles are those of `before`, if it is given.
    pub(crate) fn with_motions(
        walls: &Walls,
        motions: Vec<WallMotion>,
        domain: &Domain,
        one_sided: bool,
        before: Option<&mut Self>,
    ) -> Result<Self, Error> {
        let mut moving = Self {
            motions,
            ..Self::default()
        };
        let simple = walls.simple().iter().zip(&moving.motions);
        for ((wall, motion), number) in simple.zip(0..) {
            let listed = MovingWall {
                surface: Surface::of_wall(wall),
                motion: *motion,
                restitution: wall.restitution(),
                groups: wall.groups(),
                tells_apart: [true; 3],
            };
            push(&mut moving.list, listed, WALLS)?;
            let round = match wall.solid() {
                Solid::HalfSpace(_) => None,
                Solid::Round(round) => Some(round),
            };
            match round.and_then(|round| round.ball()) {
                Some(bound) if !domain.is_open() => {
                    push(&mut moving.bounded, (number, bound), WALLS)?;
                }
                _ => {
                    let images =
                        round.and_then(|round| Some((round, CylinderImages::new(&round, domain)?)));
                    if let Some(wall) = moving.list.last_mut() {
                        let images = images.as_ref().map(|(_, images)| images);
                        wall.tells_apart = images.map_or([false; 3], CylinderImages::edges);
                    }
                    push(&mut moving.unbounded, Unbounded { number, images }, WALLS)?;
                }
            }
        }
        match before {
            Some(before) => {
                let first = narrow(walls.simple().len());
                // If memory runs out, `before` is as it was.
                let kept = before.list.len() - first as usize;
                reserve(&mut moving.list, kept, WALLS)?;
                reserve(&mut moving.bounded, before.bounded.len(), WALLS)?;
                moving.list.extend(before.list.drain(first as usize..));
                let bounded = before.bounded.iter();
                let bounded = bounded.filter(|(number, _)| *number >= first);
                moving.bounded.extend(bounded.copied());
            }
            None => moving.add_triangles(walls, one_sided)?,
        }
        let mut all = moving.motions.iter();
        moving.any_moves = all.any(|motion| motion.velocity != DVec3::ZERO && !motion.off);
        Ok(moving)
    }

    fn add_triangles(&mut self, walls: &Walls, one_sided: bool) -> Result<(), Error> {
        let Self {
            motions,
            list,
            bounded,
            ..
        } = self;
        let motions = &motions[walls.simple().len()..];
        let lengths = walls.meshes().iter().map(|mesh| mesh.triangles().len());
        let each = lengths.zip(motions);
        let motion_of_each = each.flat_map(|(length, motion)| (0..length).map(move |_| motion));
        let triangles = adjoined(walls)?.into_iter().zip(motion_of_each);
        // Meshes adjoin if they have moved alike.
        let triangles = triangles.map(|((corners, key), motion)| (corners, (key, motion.bits())));
        let triangles = collect(triangles, WALLS)?;
        let mut around = surroundings(&triangles, one_sided)?.into_iter();
        let mut triangles = triangles.into_iter();
        let mut number = walls.simple().len();
        for (mesh, motion) in walls.meshes().iter().zip(motions) {
            for bound in mesh.bounds() {
                let (Some((corners, _)), Some(around)) = (triangles.next(), around.next()) else {
                    break;
                };
                let listed = MovingWall {
                    surface: Surface::triangle(corners, around),
                    motion: *motion,
                    restitution: mesh.restitution(),
                    groups: bound.groups,
                    tells_apart: [true; 3],
                };
                push(list, listed, WALLS)?;
                push(bounded, (narrow(number), *bound), WALLS)?;
                number += 1;
            }
        }
        Ok(())
    }

    /// Returns the motions of the simple shapes, and then those of the meshes.
    pub(crate) fn motions(&self) -> &[WallMotion] {
        &self.motions
    }

    pub(crate) fn get(&self, number: u32) -> &MovingWall {
        &self.list[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether any wall moves.
    pub(crate) fn any_moves(&self) -> bool {
        self.any_moves
    }

    /// Converts the image of a sphere to the form that is reported for an impact of the sphere with
    /// `partner`. An image is three numbers: how many times each periodic edge displaces the sphere. If
    /// displacing the sphere by an edge does not change where it touches the wall `partner`, the number for
    /// this edge becomes 0. All other numbers stay the same.
    pub(crate) fn told_apart(&self, partner: Partner, image: [i32; 3]) -> [i32; 3] {
        let Partner::Wall(number) = partner else {
            return image;
        };
        let tells_apart = self.get(number).tells_apart;
        std::array::from_fn(|k| if tells_apart[k] { image[k] } else { 0 })
    }

    /// Finds the walls that spheres can touch while they stay within their pads. The result may
    /// repeat candidates of an earlier search. What it takes is added to `work`.
    pub(crate) fn find(
        &self,
        detector: &mut Detector,
        lattice: &Lattice,
        meshes: &[Mesh],
        searching: &Searching<'_>,
        work: &mut Work,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found = Found {
            list: Vec::new(),
            images: 0,
            limit: FEW + EACH * (searching.who.len() + self.list.len()) as u64,
            most_images: most_images(searching.who.len()),
            work,
        };
        for wall in &self.unbounded {
            self.find_unbounded(wall, lattice, searching, &mut found)?;
        }
        if lattice.is_open() {
            self.find_in_trees(meshes, searching, &mut found)?;
        } else if !self.bounded.is_empty() && !searching.who.is_empty() {
            self.find_bounded(detector, lattice, searching, &mut found)?;
        }
        Ok(found.list)
    }

    fn find_unbounded(
        &self,
        wall: &Unbounded,
        lattice: &Lattice,
        searching: &Searching<'_>,
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let &Searching {
            spheres,
            origins,
            pads,
            time,
            duration,
            ..
        } = searching;
        let number = wall.number;
        let MovingWall {
            surface,
            motion,
            groups,
            ..
        } = self.get(number);
        if motion.off {
            return Ok(());
        }
        let displaced = motion.displacement(time);
        let travel = motion.velocity.length() * duration * (1.0 + 1e-9);
        found.work.add(Work::PAIR, searching.who.len() as u64);
        let as_sphere = Sphere {
            groups: *groups,
            ..Sphere::default()
        };
        for &index in searching.who {
            let (sphere, own) = (&spheres[index as usize], &searching.padded[index as usize]);
            if sphere.is_fixed() || own.ignores(&as_sphere) {
                continue;
            }
            let images = match &wall.images {
                None => ImageBlock::default(),
                Some((round, images)) => {
                    let (round, rounding) = moved_round(round, displaced);
                    let radius = f64::from(own.radius) + rounding + travel;
                    let grown = Sphere::new(own.center, next_up(radius));
                    let reaching = images.reaching(&round, &grown, 0.0);
                    reaching.ok_or(Error::ImageOutOfRange {
                        index: searching.ids[index as usize] as usize,
                        set: None,
                        limit: MAX_CELLS,
                    })?
                }
            };
            if wall.images.is_some() {
                found.allow_images(images.count())?;
            }
            let mut result = Ok(());
            images.each(|image| {
                let center = origins[index as usize] + lattice.shift(image) - displaced;
                let rounding = 8.0 * f64::EPSILON * (center.length() + displaced.length());
                let reach = pads[index as usize] + travel + rounding;
                if result.is_ok() && surface.gap(center, sphere.radius) <= reach {
                    result = found.push(Candidate {
                        sphere: index,
                        partner: Partner::Wall(number),
                        image,
                    });
                }
            });
            result?;
        }
        Ok(())
    }

    /// Finds the triangles of meshes in open space, in the trees of the meshes. So triangles that are far from all
    /// spheres cost nothing.
    fn find_in_trees(
        &self,
        meshes: &[Mesh],
        searching: &Searching<'_>,
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let &Searching {
            spheres,
            origins,
            pads,
            padded,
            time,
            duration,
            ..
        } = searching;
        let triangles = meshes.iter().map(|mesh| mesh.triangles().len());
        let mut first = self.list.len() - triangles.sum::<usize>();
        let (mut who, mut paths) = (Vec::new(), Vec::new());
        for mesh in meshes {
            let number = narrow(first);
            first += mesh.triangles().len();
            who.clear();
            paths.clear();
            let Some(MovingWall { motion, .. }) = self.list.get(number as usize) else {
                continue;
            };
            if motion.off {
                continue;
            }
            let (displaced, travel) = (
                motion.displacement(time),
                motion.velocity.length() * duration,
            );
            for &index in searching.who {
                let (own, center) = (&padded[index as usize], origins[index as usize]);
                let fixed = spheres[index as usize].is_fixed();
                if mesh.triangles().is_empty() || fixed || mesh.is_ignored_by(own) {
                    continue;
                }
                let relative = center - displaced;
                let rounded = relative.as_vec3();
                let rounding = (rounded.as_dvec3() - relative).length();
                let reach = spheres[index as usize].radius + pads[index as usize] + travel;
                let reach = (reach + rounding) * (1.0 + 1e-9)
                    + 8.0 * f64::EPSILON * (center.length() + displaced.length());
                let path = Path::new(rounded.to_array(), next_up(reach), [0.0; 3]);
                push(&mut who, (index, reach), WALLS)?;
                push(&mut paths, path, WALLS)?;
            }
            if who.is_empty() {
                continue;
            }
            mesh.tree().each(&paths, &mut |near| {
                for &(place, triangle) in near {
                    let (index, reach) = who[place as usize];
                    let number = number + triangle;
                    let center = origins[index as usize] - displaced;
                    if self.get(number).surface.gap(center, reach) <= 0.0 {
                        found.push(Candidate {
                            sphere: index,
                            partner: Partner::Wall(number),
                            image: [0; 3],
                        })?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn find_bounded(
        &self,
        detector: &mut Detector,
        lattice: &Lattice,
        searching: &Searching<'_>,
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let who = searching.who.iter();
        let own = collect(who.map(|&index| searching.padded[index as usize]), SUBSTEP)?;
        let bounded = self.bounded.iter();
        let bounded = bounded.map(|(number, bound)| (*number, bound, &self.get(*number).motion));
        let bounded = collect(bounded.filter(|(.., motion)| !motion.off), SUBSTEP)?;
        let bounds = bounded.iter().map(|(_, bound, motion)| {
            let center = vector(bound.center) + motion.displacement(searching.time);
            let rounded = center.as_vec3();
            let rounding = (rounded.as_dvec3() - center).length();
            let travel = motion.velocity.length() * searching.duration;
            let radius = (f64::from(bound.radius) + rounding + travel) * (1.0 + 1e-9);
            Sphere {
                groups: bound.groups,
                ..Sphere::new(rounded, next_up(radius))
            }
        });
        let bounds = collect(bounds, SUBSTEP)?;
        let step = Step::between(&own, &bounds, 0.0).in_domain(lattice.domain());
        detector.limit_pairs(found.limit);
        let near = detector.detect(&step).map_err(|error| {
            let ids = searching.who.iter();
            let ids: Vec<_> = ids.map(|&who| searching.ids[who as usize]).collect();
            known(error, &ids)
        })?;
        found.work.add(Work::PAIR, near.statistics.candidates);
        found.work.add(Work::IMAGE, near.statistics.proxies);
        for (pair, image) in near.pairs.iter_with_images() {
            let sphere = searching.who[pair.a as usize];
            if searching.spheres[sphere as usize].is_fixed() {
                continue;
            }
            let partner = Partner::Wall(bounded[pair.b as usize].0);
            let image = image.map(|n| -n);
            found.push(Candidate {
                sphere,
                partner,
                image,
            })?;
        }
        Ok(())
    }
}

/// Returns a cylinder displaced by a vector. Its point on the axis is rounded to float32, and the
/// distance by which rounding moved it is returned too.
fn moved_round(round: &Round, displaced: DVec3) -> (Round, f64) {
    let point = vector(round.point) + displaced;
    let rounded = point.as_vec3();
    let moved = Round {
        point: rounded.to_array(),
        ..*round
    };
    (moved, (rounded.as_dvec3() - point).length())
}
