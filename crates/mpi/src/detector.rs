//! The detector of all ranks.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use carom::{
    Collisions, Detector, Domain, NeighborSearch, Options, Spheres, Statistics, Step, Touching as _,
};
use mpi::traits::Communicator;
use rayon::prelude::*;

use crate::division::{Division, Routes, Sample, routes};
use crate::link::Link;
use crate::space::{Cutting, Space};
use crate::step::{DistributedSearch, DistributedStep, Part};
use crate::{Entry, Error, Neighbor, Pair, Real};

/// Spheres in a sample for each rank, and in all.
const SAMPLED: [f64; 2] = [2048.0, (1 << 20) as f64];

/// A piece of a path is at least so much of the edge of a region.
const PIECE: f64 = 0.25;

/// Finds the collisions of the spheres of all ranks of a communicator.
///
/// Every method that is called *collective* must be called by all ranks, in the same order. It returns the same error on
/// all ranks if any of them has a fault.
pub struct DistributedDetector {
    link: Link,
    detector: Detector,
    division: Option<Division>,
    /// Work of this rank for each sphere that it had in the last step.
    cost: f64,
    is_stale: bool,
    most_imbalance: f64,
    /// The division before the last one, and the imbalance in it.
    before: Option<(Division, f64)>,
    last_imbalance: f64,
    /// A division with a greater imbalance than this could not be improved.
    tolerated: f64,
}

impl std::fmt::Debug for DistributedDetector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedDetector")
            .field("rank", &self.link.rank)
            .field("ranks", &self.link.size)
            .field("detector", &self.detector)
            .finish_non_exhaustive()
    }
}

/// The pairs, and the contacts at walls, for which a rank is responsible. Each is on one rank.
#[derive(Clone, Debug, Default)]
pub struct DistributedCollisions {
    /// Pairs of spheres, sorted by a, by b and by the image.
    pub pairs: Vec<Pair>,
    /// Spheres that touch walls, sorted by sphere, by wall and by the image. A contact is on the rank in whose region the
    /// sphere starts.
    pub walls: Vec<Pair>,
    /// What the step took.
    pub statistics: DistributedStatistics,
}

/// The entries of a neighbour list for which a rank is responsible. Each is on one rank.
#[derive(Clone, Debug, Default)]
pub struct DistributedNeighbors {
    /// Sorted by i, by j and by the image. In a full list, all entries of a particle i are on one rank.
    pub entries: Vec<Neighbor>,
    /// What the search took.
    pub statistics: DistributedStatistics,
}

/// What a step takes on one rank and on all.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DistributedStatistics {
    /// Spheres of all ranks, of both sets if there are two.
    pub spheres: u64,
    /// Pairs of all ranks, without contacts at walls.
    pub pairs: u64,
    /// Contacts at walls of all ranks.
    pub walls: u64,
    /// Spheres that this rank has searched, some of which other ranks have, too.
    pub held: u64,
    /// Bytes that this rank has sent.
    pub bytes: u64,
    /// Messages that this rank has sent, without those of collective operations on a few numbers.
    pub messages: u64,
    /// The greatest work of a rank over the mean, where work is the number of spheres plus 4 times that of candidates.
    pub imbalance: f64,
    /// Whether space was divided anew.
    pub divided: bool,
    /// Seconds that this rank took to check, divide and send, and to search and select.
    pub seconds: [f64; 2],
    /// The statistics of the search on this rank.
    pub search: Statistics,
}

/// Spheres that a rank searches, sorted by index.
struct Held<T: Real> {
    spheres: Vec<T::Sphere>,
    indices: Vec<u64>,
}

impl<T: Real> Default for Held<T> {
    fn default() -> Self {
        Self {
            spheres: Vec::new(),
            indices: Vec::new(),
        }
    }
}

impl DistributedDetector {
    /// Creates a detector on all ranks of a communicator. Collective.
    ///
    /// `options` are those of each rank: the limits are limits of one rank, and each rank has a GPU of its own, or runs
    /// on the CPU.
    ///
    /// # Errors
    /// Returns an error of [`Detector::new`].
    pub fn new(comm: &impl Communicator, options: Options) -> Result<Self, Error> {
        let link = Link::new(comm);
        let detector = Detector::new(options).map_err(|error| Error::of(error, |k| k as u64));
        Ok(Self {
            detector: link.agree(detector)?,
            link,
            division: None,
            cost: 1.0,
            is_stale: false,
            most_imbalance: 1.2,
            before: None,
            last_imbalance: f64::INFINITY,
            tolerated: 0.0,
        })
    }

    /// Sets from which imbalance on space is divided anew in the next step: the greatest work of a rank over the mean. The
    /// default is 1.2. With infinity, the division never changes. It must be the same on all ranks.
    #[must_use]
    pub fn with_most_imbalance(mut self, most: f64) -> Self {
        self.most_imbalance = most;
        self
    }

    /// Sets the largest number of bytes in a message. The default is 2²⁸. More bytes are sent in several messages. It must
    /// be the same on all ranks.
    #[must_use]
    pub fn with_message_bytes(mut self, bytes: usize) -> Self {
        self.link.most = bytes.clamp(1, 1 << 30);
        self
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> usize {
        self.link.rank
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.link.size
    }

    /// Returns the rank in whose region a place is, or `None` before the first step.
    ///
    /// A step sends the fewest spheres if each is passed by the rank in whose region it starts: see
    /// [`migrate`](Self::migrate).
    pub fn home(&self, place: [f64; 3]) -> Option<usize> {
        Some(self.division.as_ref()?.home(place))
    }

    /// Ends all ranks, after a fault from which they cannot recover.
    pub fn abort(&self) -> ! {
        self.link.abort()
    }

    /// Turns a fault of one rank into the same error on all ranks. Collective.
    ///
    /// # Errors
    /// Returns the error of the first rank that has one.
    pub fn agree<V>(&self, result: Result<V, String>) -> Result<V, Error> {
        self.link.agree(result.map_err(Error::input))
    }

    /// Sends each sphere to the rank in whose region it starts, so that the next step sends the fewest spheres. Collective.
    /// Before the first step, nothing happens.
    ///
    /// # Errors
    /// Returns an error if memory lacks.
    pub fn migrate<T: Real>(
        &self,
        spheres: &mut Vec<T::Sphere>,
        indices: &mut Vec<u64>,
    ) -> Result<(), Error> {
        let Some(division) = &self.division else {
            return Ok(());
        };
        let checked = if spheres.len() == indices.len() && u32::try_from(spheres.len()).is_ok() {
            Ok(())
        } else {
            Err(unequal(spheres.len(), indices.len()))
        };
        self.link.agree(checked)?;
        let homes: Vec<u32> = spheres
            .par_iter()
            .map(|sphere| u32::try_from(division.home(T::body(sphere).center)).unwrap_or(0))
            .collect();
        let numbers = || (0_u32..).zip(&homes).map(|(k, &home)| (home as usize, k));
        let routes = routes(self.link.size, numbers);
        let held = self.send::<T>(&routes, |k| spheres[k], |k| indices[k])?;
        (*spheres, *indices) = (held.spheres, held.indices);
        Ok(())
    }

    /// Finds every pair of spheres that touch during a time step, and every sphere that touches a wall. Collective.
    ///
    /// The pairs of all ranks together are those that [`Detector::detect`] finds on one machine.
    ///
    /// # Errors
    /// Returns the same errors as [`Detector::detect`], with global indices of spheres, and an error if the ranks pass
    /// different steps.
    pub fn detect<T: Real>(
        &mut self,
        step: DistributedStep<'_, T>,
    ) -> Result<DistributedCollisions, Error> {
        let clock = std::time::Instant::now();
        let DistributedStep {
            first,
            second,
            dt,
            domain,
            walls,
        } = step;
        self.link.take_counts();
        let checked = self.check(&first, second.as_ref(), dt, &domain);
        let mut hasher = DefaultHasher::new();
        (1, T::WIDE, dt.into().to_bits(), second.is_some()).hash(&mut hasher);
        walls.map(carom::Walls::len).hash(&mut hasher);
        hash_domain(&domain, &mut hasher);
        (self.most_imbalance.to_bits(), self.link.most).hash(&mut hasher);
        let space = self.link.agree_on(checked, Some(hasher.finish()))?;
        let counts = [Some(&first), second.as_ref()]
            .map(|part| part.map_or(0, |part| part.spheres.len() as u64));
        let counts = self.link.sum(counts);
        let parts = [Some(&first), second.as_ref()];
        let divided = self.divide::<T>(space, parts, counts)?;
        let Some(division) = self.division.take() else {
            return Err(Error::input("space is not divided"));
        };
        let cutting = Cutting::new(dt.into(), T::LEAST, division.edge * PIECE);
        let has_second = second.is_some();
        let sent = self.bring(&division, first, cutting).and_then(|first| {
            let second = second.map(|second| self.bring(&division, second, cutting));
            Ok((first, second.transpose()?.unwrap_or_default()))
        });
        let (first, second) = match sent {
            Ok(held) => held,
            Err(error) => {
                self.division = Some(division);
                return Err(error);
            }
        };
        let sending = clock.elapsed().as_secs_f64();
        let found = self.search(
            &division,
            [&first, &second],
            has_second,
            (cutting, dt, &domain, walls),
            counts[0],
        );
        self.division = Some(division);
        let (pairs, hits, search) = self.link.agree(found)?;
        let mut statistics = DistributedStatistics {
            spheres: counts[0] + counts[1],
            held: (first.spheres.len() + second.spheres.len()) as u64,
            divided,
            seconds: [sending, clock.elapsed().as_secs_f64() - sending],
            search,
            ..DistributedStatistics::default()
        };
        drop((first, second));
        self.finish(&mut statistics, [pairs.len() as u64, hits.len() as u64]);
        Ok(DistributedCollisions {
            pairs,
            walls: hits,
            statistics,
        })
    }

    /// Finds the neighbours of the particles of all ranks. Collective.
    ///
    /// The entries of all ranks together are those that [`Detector::find_neighbors`] finds on one machine. Of a half list,
    /// a pair is on the rank that would have it as two spheres that touch, and of a full list, on the rank in whose
    /// region particle i is.
    ///
    /// # Errors
    /// Returns the same errors as [`Detector::find_neighbors`], with global indices of spheres, and an error if the ranks
    /// pass different searches.
    pub fn find_neighbors<T: Real>(
        &mut self,
        search: DistributedSearch<'_, T>,
    ) -> Result<DistributedNeighbors, Error> {
        let clock = std::time::Instant::now();
        let DistributedSearch {
            particles,
            cutoff,
            skin,
            full,
            domain,
        } = search;
        self.link.take_counts();
        let rule = Neighborhood { cutoff, skin, full };
        let checked = self.check_search(&particles, rule, &domain);
        let mut hasher = DefaultHasher::new();
        let bits = |x: Option<T>| x.map(|x| x.into().to_bits());
        (2, T::WIDE, bits(cutoff), bits(skin), full).hash(&mut hasher);
        hash_domain(&domain, &mut hasher);
        (self.most_imbalance.to_bits(), self.link.most).hash(&mut hasher);
        let space = self.link.agree_on(checked, Some(hasher.finish()))?;
        let counts = self.link.sum([particles.spheres.len() as u64, 0]);
        let divided = self.divide::<T>(space, [Some(&particles), None], counts)?;
        let Some(division) = self.division.take() else {
            return Err(Error::input("space is not divided"));
        };
        let found = self.list(&division, particles, rule, &domain, clock);
        self.division = Some(division);
        let (entries, mut statistics) = found?;
        statistics.divided = divided;
        statistics.spheres = counts[0];
        self.finish(&mut statistics, [entries.len() as u64, 0]);
        Ok(DistributedNeighbors {
            entries,
            statistics,
        })
    }

    /// Returns the whole list on rank 0, sorted, and `None` on the other ranks. Collective.
    ///
    /// # Errors
    /// Returns an error if memory lacks.
    pub fn gather<E: Entry>(&self, own: &[E]) -> Result<Option<Vec<E>>, Error> {
        let mut starts = vec![own.len(); self.link.size + 1];
        starts[0] = 0;
        let mut all = self.send_entries(&starts, own)?;
        all.par_sort_by_key(Entry::key);
        Ok((self.link.rank == 0).then_some(all))
    }

    /// Sorts a list over all ranks: the entries of each rank come before those of the next one. Collective.
    ///
    /// # Errors
    /// Returns an error if memory lacks.
    pub fn in_order<E: Entry>(&self, mut own: Vec<E>) -> Result<Vec<E>, Error> {
        const SAMPLES: usize = 256;
        own.par_sort_by_key(Entry::key);
        if self.link.size == 1 {
            return Ok(own);
        }
        let count = own.len().min(SAMPLES);
        let sample = (0..count).map(|k| {
            let ([a, b], image) = own[(2 * k + 1) * own.len() / (2 * count)].key();
            let image = image.map(|n| u64::from(n.cast_unsigned()));
            let share = (own.len() as f64 / count as f64).to_bits();
            [a, b, image[0], image[1], image[2], share]
        });
        let sample: Vec<[u64; 6]> = sample.collect();
        let mut sample = self.link.gather_all(&sample)?;
        let key = |of: &[u64; 6]| {
            let [a, b, x, y, z, _] = *of;
            #[expect(clippy::cast_possible_truncation, reason = "they were 32 bits wide")]
            let image = [x, y, z].map(|n| (n as u32).cast_signed());
            ([a, b], image)
        };
        sample.sort_by_key(key);
        let total: f64 = sample.iter().map(|of| f64::from_bits(of[5])).sum();
        let mut starts = vec![0; self.link.size + 1];
        starts[self.link.size] = own.len();
        let (mut sum, mut rank) = (0.0, 1);
        for of in &sample {
            while rank < self.link.size && sum >= total * rank as f64 / self.link.size as f64 {
                let splitter = key(of);
                starts[rank] = own.partition_point(|entry| entry.key() < splitter);
                rank += 1;
            }
            sum += f64::from_bits(of[5]);
        }
        starts[rank..].fill(own.len());
        let mut all = self.send_entries(&starts, &own)?;
        drop(own);
        all.par_sort_by_key(Entry::key);
        Ok(all)
    }

    /// Calls `visit` on rank 0 with the items of all ranks, part by part in the order of ranks. Collective.
    pub fn to_first<E: bytemuck::Pod>(&self, own: &[E], visit: impl FnMut(&[E])) {
        self.link.to_first(own, visit);
    }

    /// Returns bytes of rank 0 on all ranks. Collective.
    pub fn tell(&self, own: &[u8]) -> Vec<u8> {
        self.link.tell(own)
    }

    /// Returns the sum of a number over the ranks before this one. Collective.
    pub fn sum_before(&self, own: u64) -> u64 {
        self.link.before(own)
    }

    /// Returns the sum of a number over all ranks. Collective.
    pub fn sum(&self, own: u64) -> u64 {
        self.link.sum([own])[0]
    }

    /// Returns the greatest of a number over all ranks. Collective.
    pub fn greatest(&self, own: u64) -> u64 {
        self.link.most([own])[0]
    }

    fn send_entries<E: Entry>(&self, starts: &[usize], own: &[E]) -> Result<Vec<E>, Error> {
        let arrivals = self.link.arrivals(starts);
        let mut all = self.link.agree(Link::room(arrivals.count()))?;
        self.link.exchange(starts, &arrivals, |k| own[k], &mut all);
        Ok(all)
    }

    fn check<T: Real>(
        &mut self,
        first: &Part<'_, T>,
        second: Option<&Part<'_, T>>,
        dt: T,
        domain: &Domain,
    ) -> Result<Space, Error> {
        let probe = |detector: &mut Detector, spheres: &[T::Sphere]| {
            let step = Step::new(T::spheres(spheres), dt).in_domain(domain);
            detector.detect(&step).map(drop)
        };
        let time: f64 = dt.into();
        let is_new = self.is_new(domain);
        if is_new || !(0.0..=T::LIMIT).contains(&time) {
            probe(&mut self.detector, &[]).map_err(|error| Error::of(error, |k| k as u64))?;
        }
        for (set, part) in [Some(first), second].into_iter().enumerate() {
            let Some(part) = part else { continue };
            check_lengths(part)?;
            let is_valid = |x: f64| x.abs() <= T::LIMIT;
            let is_suspect = |sphere: &T::Sphere| {
                let body = T::body(sphere);
                let moves = body
                    .velocity
                    .iter()
                    .all(|&v| is_valid(v) && is_valid(v * time));
                !(body.center.into_iter().all(is_valid)
                    && is_valid(body.radius)
                    && body.radius >= 0.0
                    && moves)
            };
            self.name_first(part, second.map(|_| set), is_suspect, probe)?;
        }
        self.space(domain)
    }

    /// Whether a domain is another one than that of the last step.
    fn is_new(&self, domain: &Domain) -> bool {
        let Ok(space) = Space::new(domain) else {
            return true;
        };
        let last = self.division.as_ref().map(|division| division.space);
        !domain.is_open() && last != Some(space)
    }

    fn space(&self, domain: &Domain) -> Result<Space, Error> {
        Space::new(domain)
    }

    /// Returns the error of the invalid sphere with the least index.
    fn name_first<T: Real>(
        &mut self,
        part: &Part<'_, T>,
        set: Option<usize>,
        is_suspect: impl Fn(&T::Sphere) -> bool + Sync,
        probe: impl Fn(&mut Detector, &[T::Sphere]) -> Result<(), carom::Error>,
    ) -> Result<(), Error> {
        let suspects = part.spheres.par_iter().enumerate();
        let suspects = suspects.filter(|(_, sphere)| is_suspect(sphere));
        let mut suspects: Vec<(u64, usize)> =
            suspects.map(|(k, _)| (part.indices.of(k), k)).collect();
        suspects.sort_unstable();
        for (index, k) in suspects {
            if let Err(mut error) = probe(&mut self.detector, &part.spheres[k..=k]) {
                if let carom::Error::InvalidSphere { set: own, .. } = &mut error {
                    *own = set;
                }
                return Err(Error::of(error, |_| index));
            }
        }
        Ok(())
    }

    fn check_search<T: Real>(
        &mut self,
        particles: &Part<'_, T>,
        rule: Neighborhood<T>,
        domain: &Domain,
    ) -> Result<Space, Error> {
        let probe = |detector: &mut Detector, spheres: &[T::Sphere]| {
            detector
                .find_neighbors(&rule.search(T::spheres(spheres), domain))
                .map(drop)
        };
        // Also checks the lengths.
        probe(&mut self.detector, &[]).map_err(|error| Error::of(error, |k| k as u64))?;
        check_lengths(particles)?;
        let is_suspect = |sphere: &T::Sphere| {
            let body = T::body(sphere);
            let reach = rule.reach(body.radius);
            !(body.center.iter().all(|x| x.abs() <= T::LIMIT) && (0.0..=T::LIMIT).contains(&reach))
        };
        self.name_first(particles, None, is_suspect, probe)?;
        self.space(domain)
    }

    /// Divides space anew if that is necessary, and returns whether it was.
    fn divide<T: Real>(
        &mut self,
        space: Space,
        parts: [Option<&Part<'_, T>>; 2],
        counts: [u64; 2],
    ) -> Result<bool, Error> {
        let is_kept = self
            .division
            .as_ref()
            .is_some_and(|division| division.space == space);
        if is_kept && !self.is_stale {
            return Ok(false);
        }
        let ranks = self.link.size;
        if ranks == 1 {
            self.division = Some(Division::new(space, 1, Vec::new()));
            return Ok(true);
        }
        let costs = self.link.gather_all(&[self.cost])?;
        let old = self.division.as_ref().filter(|_| is_kept);
        let total = (counts[0] + counts[1]) as f64;
        let share = (ranks as f64 * SAMPLED[0]).min(SAMPLED[1]) / total.max(1.0);
        let mut sample = Vec::new();
        for (set, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { continue };
            let chosen = part.spheres.par_iter().enumerate().filter(|(k, _)| {
                let number = scrambled(part.indices.of(*k) ^ (set as u64) << 63);
                (number >> 11) as f64 / (1_u64 << 53) as f64 <= share
            });
            let chosen = chosen.map(|(_, sphere)| {
                let place = T::body(sphere).center;
                let at = space.wrapped(place);
                let weight = old.map_or(1.0, |old| costs[old.region(at)]);
                Sample { at, weight }
            });
            sample.extend(chosen.collect::<Vec<_>>());
        }
        let mut all = Vec::new();
        self.link
            .to_first(&sample, |part| all.extend_from_slice(part));
        let first = (self.link.rank == 0).then(|| Division::new(space, ranks, all).to_bytes());
        let new = Division::from_bytes(space, &self.link.tell(&first.unwrap_or_default()));
        self.before = self
            .division
            .replace(new)
            .filter(|_| is_kept)
            .map(|old| (old, self.last_imbalance));
        self.is_stale = false;
        Ok(true)
    }

    /// Sends the spheres to the ranks that search them, and receives those that this rank searches.
    fn bring<T: Real>(
        &self,
        division: &Division,
        part: Part<'_, T>,
        cutting: Cutting,
    ) -> Result<Held<T>, Error> {
        self.bring_with(division, part, cutting, T::body)
    }

    fn bring_with<T: Real>(
        &self,
        division: &Division,
        part: Part<'_, T>,
        cutting: Cutting,
        body: impl Fn(&T::Sphere) -> crate::space::Body + Sync,
    ) -> Result<Held<T>, Error> {
        let Part { spheres, indices } = part;
        let routes = division.routes(&spheres, body, cutting, self.link.size);
        let held = self.send::<T>(&routes, |k| spheres[k], |k| indices.of(k))?;
        drop((spheres, indices, routes));
        let sorted = sort(held);
        self.link.agree(sorted)
    }

    fn send<T: Real>(
        &self,
        routes: &Routes,
        sphere: impl Fn(usize) -> T::Sphere,
        index: impl Fn(usize) -> u64,
    ) -> Result<Held<T>, Error> {
        let Routes { starts, items } = routes;
        let arrivals = self.link.arrivals(starts);
        let rooms = || Ok((Link::room(arrivals.count())?, Link::room(arrivals.count())?));
        let (mut spheres, mut indices) = self.link.agree(rooms())?;
        let item = |k: usize| items[k] as usize;
        self.link
            .exchange(starts, &arrivals, |k| sphere(item(k)), &mut spheres);
        self.link
            .exchange(starts, &arrivals, |k| index(item(k)), &mut indices);
        Ok(Held { spheres, indices })
    }

    #[allow(clippy::type_complexity, reason = "used once")]
    fn search<T: Real>(
        &mut self,
        division: &Division,
        [first, second]: [&Held<T>; 2],
        has_second: bool,
        (cutting, dt, domain, walls): (Cutting, T, &Domain, Option<&carom::Walls<T>>),
        second_set_start: u64,
    ) -> Result<(Vec<Pair>, Vec<Pair>, Statistics), Error> {
        let others = if has_second { second } else { first };
        let mut step = if has_second {
            Step::between(T::spheres(&first.spheres), T::spheres(&second.spheres), dt)
        } else {
            Step::new(T::spheres(&first.spheres), dt)
        };
        step = step.in_domain(domain);
        if let Some(walls) = walls {
            step = step.with_walls(walls);
        }
        let found = self.detector.detect(&step);
        let found: Collisions<T> = found.map_err(|error| {
            let set = match &error {
                carom::Error::ImageOutOfRange { set, .. }
                | carom::Error::InvalidSphere { set, .. } => *set,
                _ => None,
            };
            let held = if set == Some(1) { second } else { first };
            Error::of(error, |k| held.indices.get(k).copied().unwrap_or(u64::MAX))
        })?;
        let images = found.pairs.images();
        let image = |k: usize| images.get(k).copied().unwrap_or_default();
        let rank = self.link.rank;
        // In two passes, so that the list takes no more memory than it needs.
        let is_owned = |k: usize, pair: &T::Collision| {
            let wide = pair.wide();
            let [a, b] = [wide.a as usize, wide.b as usize];
            let bodies = [T::body(&first.spheres[a]), T::body(&others.spheres[b])];
            let bodies = [&bodies[0], &bodies[1]];
            let point = division.space.meeting(bodies, image(k), wide.toi, cutting);
            division.region(point) == rank
        };
        let listed = found.pairs.par_iter().enumerate();
        let owned: Vec<bool> = listed.map(|(k, pair)| is_owned(k, pair)).collect();
        let count = owned.iter().filter(|&&is_owned| is_owned).count();
        let mut pairs = Vec::new();
        pairs
            .try_reserve_exact(count)
            .map_err(|_| Error::memory(count.saturating_mul(size_of::<Pair>())))?;
        for (k, pair) in found.pairs.iter().enumerate().filter(|(k, _)| owned[*k]) {
            let wide = pair.wide();
            pairs.push(Pair {
                a: first.indices[wide.a as usize],
                b: others.indices[wide.b as usize],
                toi: wide.toi,
                depth: wide.depth,
                image: image(k),
                unused: 0,
            });
        }
        let hits = found.walls.iter_with_images().filter_map(|(hit, image)| {
            let wide = hit.wide();
            let k = wide.a as usize;
            let (sphere, index) = match k.checked_sub(first.spheres.len()) {
                None => (&first.spheres[k], first.indices[k]),
                Some(k) => (
                    &second.spheres[k],
                    second_set_start.saturating_add(second.indices[k]),
                ),
            };
            (division.home(T::body(sphere).center) == rank).then(|| Pair {
                a: index,
                b: wide.b.into(),
                toi: wide.toi,
                depth: wide.depth,
                image,
                unused: 0,
            })
        });
        let hits = hits.collect();
        Ok((pairs, hits, found.statistics))
    }

    fn list<T: Real>(
        &mut self,
        division: &Division,
        particles: Part<'_, T>,
        rule: Neighborhood<T>,
        domain: &Domain,
        clock: std::time::Instant,
    ) -> Result<(Vec<Neighbor>, DistributedStatistics), Error> {
        let cutting = Cutting::new(0.0, 0.0, f64::INFINITY);
        let at_rest = |sphere: &T::Sphere| {
            let mut body = T::body(sphere);
            body.radius = rule.reach(body.radius);
            body.velocity = [0.0; 3];
            body
        };
        let held = self.bring_with(division, particles, cutting, at_rest)?;
        let sending = clock.elapsed().as_secs_f64();
        let rank = self.link.rank;
        let search = rule.search(T::spheres(&held.spheres), domain);
        let found = self.detector.find_neighbors(&search).map_err(|error| {
            Error::of(error, |k| held.indices.get(k).copied().unwrap_or(u64::MAX))
        });
        let found = self.link.agree(found)?;
        let images = found.pairs().images();
        let entries = found
            .pairs()
            .par_iter()
            .enumerate()
            .filter_map(|(k, &[i, j])| {
                let image = images.get(k).copied().unwrap_or_default();
                let [x, y, z] = image;
                let is_first = i < j || (i == j && image >= [-x, -y, -z]);
                let [i, j] = [i as usize, j as usize];
                let bodies = [i, j].map(|k| at_rest(&held.spheres[k]));
                // Both entries of a pair are on the rank of the one that a half list has.
                let point = if is_first {
                    division
                        .space
                        .meeting([&bodies[0], &bodies[1]], image, 0.0, cutting)
                } else {
                    let image = image.map(i32::wrapping_neg);
                    division
                        .space
                        .meeting([&bodies[1], &bodies[0]], image, 0.0, cutting)
                };
                (division.region(point) == rank).then(|| {
                    let entry = Neighbor {
                        i: held.indices[i],
                        j: held.indices[j],
                        vector: found.vectors()[k].map(Into::into),
                        distance: found.distances()[k].into(),
                        image,
                        unused: 0,
                    };
                    let home = if rule.full {
                        division.home(bodies[0].center)
                    } else {
                        rank
                    };
                    (home, entry)
                })
            });
        let entries: Vec<(usize, Neighbor)> = entries.collect();
        let mut statistics = DistributedStatistics {
            held: held.spheres.len() as u64,
            search: found.statistics().clone(),
            ..DistributedStatistics::default()
        };
        drop((found, held));
        let entries = if rule.full {
            let numbers = || (0_u32..).zip(&entries).map(|(k, &(home, _))| (home, k));
            let checked = u32::try_from(entries.len())
                .map_err(|_| Error::input("a rank has more than 2^32 entries; use more ranks"));
            self.link.agree(checked)?;
            let Routes { starts, items } = routes(self.link.size, numbers);
            let arrivals = self.link.arrivals(&starts);
            let mut all = self.link.agree(Link::room(arrivals.count()))?;
            let item = |k: usize| entries[items[k] as usize].1;
            self.link.exchange(&starts, &arrivals, item, &mut all);
            all.par_sort_by_key(Entry::key);
            all
        } else {
            entries.into_iter().map(|(_, entry)| entry).collect()
        };
        statistics.seconds = [sending, clock.elapsed().as_secs_f64() - sending];
        Ok((entries, statistics))
    }

    fn finish(&mut self, statistics: &mut DistributedStatistics, [pairs, walls]: [u64; 2]) {
        let work = statistics.held + 4 * statistics.search.candidates;
        self.cost = work.max(1) as f64 / statistics.held.max(1) as f64;
        let [all, pairs, walls] = self.link.sum([work, pairs, walls]);
        let [most] = self.link.most([work]);
        (statistics.pairs, statistics.walls) = (pairs, walls);
        statistics.imbalance = most as f64 * self.link.size as f64 / all.max(1) as f64;
        let imbalance = statistics.imbalance;
        self.last_imbalance = imbalance;
        self.is_stale = imbalance > self.most_imbalance.max(self.tolerated);
        if statistics.divided
            && let Some((old, was)) = self.before.take()
            && was <= imbalance
        {
            self.division = Some(old);
            self.tolerated = was * 1.1;
            self.is_stale = false;
        }
        [statistics.bytes, statistics.messages] = self.link.take_counts();
    }
}

/// The rule of a neighbour search.
#[derive(Clone, Copy)]
struct Neighborhood<T> {
    cutoff: Option<T>,
    skin: Option<T>,
    full: bool,
}

impl<T: Real> Neighborhood<T> {
    fn search<'a>(
        &self,
        particles: Spheres<'a, T>,
        domain: &Domain,
    ) -> NeighborSearch<'a, Spheres<'a, T>> {
        let mut search = match self.cutoff {
            Some(cutoff) => NeighborSearch::within(particles, cutoff),
            None => NeighborSearch::touching(particles),
        };
        if let Some(skin) = self.skin {
            search = search.with_skin(skin);
        }
        if self.full {
            search = search.full();
        }
        search.in_domain(domain)
    }

    /// A little more than the radius of the sphere that stands for a particle.
    fn reach(&self, radius: f64) -> f64 {
        let own = self.cutoff.map_or(radius, |cutoff| cutoff.into() / 2.0);
        let skin = self.skin.map_or(0.0, |skin| skin.into() / 2.0);
        (own + skin) * (1.0 + 1e-6)
    }
}

fn hash_domain(domain: &Domain, hasher: &mut impl Hasher) {
    domain.periodic().hash(hasher);
    if !domain.is_open() {
        domain.origin().map(f64::to_bits).hash(hasher);
        domain
            .edges()
            .map(|edge| edge.map(f64::to_bits))
            .hash(hasher);
    }
}

/// A number in which all bits depend on all bits of `x`. It is the last step of splitmix64.
fn scrambled(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn unequal(spheres: usize, indices: usize) -> Error {
    Error::input(format!(
        "a rank has {spheres} spheres, but {indices} indices; pass one index for each sphere, and at most 2^32 - 2 \
         spheres on a rank"
    ))
}

fn check_lengths<T: Real>(part: &Part<'_, T>) -> Result<(), Error> {
    let spheres = part.spheres.len();
    let indices = match &part.indices {
        crate::step::Indices::From(_) => spheres,
        crate::step::Indices::Each(indices) => indices.len(),
    };
    if spheres == indices && spheres < u32::MAX as usize {
        Ok(())
    } else {
        Err(unequal(spheres, indices))
    }
}

/// Sorts the spheres by index. The list of pairs of sorted spheres is in the order of their indices.
fn sort<T: Real>(held: Held<T>) -> Result<Held<T>, Error> {
    let Held { spheres, indices } = held;
    let twice = |index: u64| {
        Error::input(format!(
            "two spheres have the index {index}; give every sphere an index of its own, and pass it on one rank"
        ))
    };
    if indices.is_sorted_by(|a, b| a < b) {
        return Ok(Held { spheres, indices });
    }
    let count = u32::try_from(spheres.len())
        .map_err(|_| Error::input("a rank has more than 2^32 spheres; use more ranks"))?;
    let mut order: Vec<u32> = (0..count).collect();
    order.par_sort_unstable_by_key(|&k| indices[k as usize]);
    let same = order
        .windows(2)
        .find(|k| indices[k[0] as usize] == indices[k[1] as usize]);
    if let Some(k) = same {
        return Err(twice(indices[k[0] as usize]));
    }
    let pick = |k: &u32| *k as usize;
    let sorted = Held {
        spheres: order.par_iter().map(|k| spheres[pick(k)]).collect(),
        indices: order.par_iter().map(|k| indices[pick(k)]).collect(),
    };
    Ok(sorted)
}
