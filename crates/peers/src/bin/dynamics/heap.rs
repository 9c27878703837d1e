//! A serial event-driven simulation of equal hard spheres in a periodic cube, in float64.

use std::hint::black_box;

use crate::queue::{Entry, Queue};

type Vector = [f64; 3];

/// Marks the end of a list of spheres. Also the partner of a sphere that has no predicted impact.
const NONE: u32 = u32::MAX;
/// More than the number of spheres of diameter 1 that fit in a grid cell and its 26 neighbours
/// without overlap.
const AROUND: usize = 128;
/// Number of grid cells along an edge of a block. The cells of a block are next to each other in
/// memory.
const BLOCK: usize = 4;
/// Mean number of events in a narrow bucket of the queue.
const IN_BUCKET: f64 = 32.0;

/// The part of a sphere's data that is read to predict the impacts of neighbouring spheres. The
/// struct fills one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Motion {
    /// Where the centre would have been at time 0 if the sphere had always had its present velocity. From
    /// this point, the place at any later time follows without the time of the sphere's last impact.
    origin: Vector,
    velocity: Vector,
    /// Time of the impact that was predicted for the sphere.
    impact: f64,
    /// The next sphere in the same cell.
    next: u32,
    /// Number of impacts of the sphere so far.
    impacts: u32,
}

/// The part of a sphere's data that describes its next event. It is kept apart from [`Motion`],
/// because the prediction of impacts of neighbouring spheres does not read it.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Plan {
    /// Time of the next event of the sphere.
    next: f64,
    /// Time when the centre leaves the cell.
    exit: f64,
    /// The partner of the predicted impact.
    partner: u32,
    /// Number of impacts that the partner had when the impact was predicted.
    partner_impacts: u32,
    cell: [u16; 3],
    /// Axis along which the centre leaves the cell, plus 4 if it does so upwards.
    face: u8,
}

/// The cells of the periodic cube. A cell's index is the sum of three terms, one for each axis. The
/// terms are precomputed in `parts`.
struct Cells {
    count: u16,
    width: f64,
    /// The terms of a cell's index, in a list for each axis, in the order of the cell's coordinate
    /// along this axis. The cube is periodic, so each list has two further entries. It begins with
    /// a copy of the term of the last cell, and ends with a copy of the term of the first cell.
    parts: [Vec<u32>; 3],
    /// For each cell, the first sphere of a linked list of the spheres in this cell.
    first: Vec<u32>,
}

/// An impact of two spheres.
#[cfg_attr(not(test), expect(dead_code, reason = "only tests read it"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) time: f64,
    pub(crate) spheres: [u32; 2],
}

/// The simulation. Each sphere has one event in the queue: its next impact, or the time when its centre leaves
/// its cell. If the partner of a predicted impact has had another impact since, the impact is predicted anew at its
/// time.
pub(crate) struct Heap {
    edge: f64,
    pub(crate) time: f64,
    motions: Vec<Motion>,
    plans: Vec<Plan>,
    /// [`Heap::new`] sorts the spheres. For each sphere in the sorted order, this list has its
    /// index in the arguments `places` and `velocities` of [`Heap::new`].
    names: Vec<u32>,
    cells: Cells,
    queue: Queue,
    around: [u32; AROUND],
    /// For each event in the current bucket of the queue, the first sphere in each of the 27 cells
    /// around the sphere of the event.
    near: Vec<u32>,
    pub(crate) hits: u64,
    /// `exits` counts how often spheres leave their cells. `stale` counts predicted impacts that
    /// did not happen, because the partner of the sphere had another impact first.
    pub(crate) exits: u64,
    pub(crate) stale: u64,
    /// The list of all impacts so far. Only tests need the list, to compare it with carom's impacts.
    /// Without a test, it is `None`.
    pub(crate) list: Option<Vec<Hit>>,
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the difference of two coordinates in a periodic cube.
fn nearest(difference: f64, edge: f64, per_edge: f64) -> f64 {
    // Adding and subtracting 1.5·2⁵² rounds to a whole number. SSE2 has no instruction for that.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    difference - ((difference * per_edge + WHOLE) - WHOLE) * edge
}

impl Motion {
    fn at(&self, time: f64) -> Vector {
        [0, 1, 2].map(|axis| self.origin[axis] + self.velocity[axis] * time)
    }
}

impl Cells {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are fewer than 65536 cells along an axis, and fewer than 2³² in all"
    )]
    fn new(edge: f64) -> Self {
        // Spheres that touch are in neighbouring cells in spite of rounding.
        let count = (edge / (1.0 + 1e-7)).floor();
        assert!((4.0..1000.0).contains(&count), "the cube has a wrong size");
        let width = edge / count;
        let count = count as usize;
        let blocks = count.div_ceil(BLOCK);
        let mut inner = 1;
        let mut outer = BLOCK.pow(3);
        let parts = [0; 3].map(|_| {
            let part = |cell: usize| (cell / BLOCK * outer + cell % BLOCK * inner) as u32;
            let parts = (0..count + 2).map(|cell| part((cell + count - 1) % count));
            let parts = parts.collect();
            inner *= BLOCK;
            outer *= blocks;
            parts
        });
        Self {
            count: count as u16,
            width,
            parts,
            first: vec![NONE; outer],
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the result is limited to the cells"
    )]
    fn cell(&self, place: Vector) -> [u16; 3] {
        place.map(|x| ((x / self.width) as u16).min(self.count - 1))
    }

    fn index(&self, cell: [u16; 3]) -> usize {
        let part = |axis: usize| self.parts[axis][usize::from(cell[axis]) + 1];
        (part(0) + part(1) + part(2)) as usize
    }

    /// The index of a cell is a sum of three parts, one for each axis. For each axis, returns the
    /// part of the lower neighbour, of the cell itself and of the upper neighbour.
    fn around(&self, cell: [u16; 3]) -> [[u32; 3]; 3] {
        [0, 1, 2].map(|axis| {
            let before = usize::from(cell[axis]);
            let parts = &self.parts[axis][before..before + 3];
            [parts[0], parts[1], parts[2]]
        })
    }

    /// Returns whether a cell is at a face of the periodic cube, so that some of its neighbours are
    /// at the opposite face.
    fn is_outer(&self, cell: [u16; 3]) -> bool {
        cell.iter().any(|&k| k == 0 || k + 1 == self.count)
    }
}

impl Heap {
    /// Starts a simulation of spheres of diameter 1 and mass 1 at time 0.
    pub(crate) fn new(places: &[Vector], velocities: &[Vector], edge: f64) -> anyhow::Result<Self> {
        let mut cells = Cells::new(edge);
        let wrapped = |place: Vector| place.map(|x| x.rem_euclid(edge));
        let mut order = Vec::with_capacity(places.len());
        for (name, &place) in (0..).zip(places) {
            let place = wrapped(place);
            let cell = cells.cell(place);
            order.push((cells.index(cell), name, cell, place));
        }
        order.sort_unstable_by_key(|&(index, name, ..)| (index, name));
        let mut motions = Vec::with_capacity(places.len());
        let mut plans = Vec::with_capacity(places.len());
        for (sphere, &(index, name, cell, origin)) in (0..).zip(&order) {
            motions.push(Motion {
                origin,
                velocity: velocities[name as usize],
                impact: f64::INFINITY,
                next: cells.first[index],
                impacts: 0,
            });
            plans.push(Plan {
                next: f64::INFINITY,
                exit: f64::INFINITY,
                partner: NONE,
                partner_impacts: 0,
                cell,
                face: 0,
            });
            cells.first[index] = sphere;
        }
        let mut heap = Self {
            edge,
            time: 0.0,
            motions,
            plans,
            names: order.iter().map(|&(_, name, ..)| name).collect(),
            cells,
            queue: Queue::new(1.0),
            around: [NONE; AROUND],
            near: Vec::new(),
            hits: 0,
            exits: 0,
            stale: 0,
            list: None,
        };
        let count = u32::try_from(places.len())?;
        for sphere in 0..count {
            heap.predict(sphere, 0.0);
            heap.find_exit(sphere);
            heap.set_next(sphere);
        }
        let total: f64 = heap.plans.iter().map(|plan| plan.next).sum();
        let n = f64::from(count);
        heap.queue = Queue::new(IN_BUCKET * total / n / n);
        for sphere in 0..count {
            heap.schedule(sphere);
        }
        Ok(heap)
    }

    /// Processes all events up to the time `end`.
    pub(crate) fn advance(&mut self, end: f64) {
        loop {
            while let Some(&Entry { time, sphere }) = self.queue.current.last() {
                if time > end {
                    self.time = end;
                    return;
                }
                self.queue.current.pop();
                let plan = self.plans[sphere as usize];
                if plan.next == time {
                    self.process(sphere, plan);
                }
            }
            self.turn();
        }
    }

    /// Goes to the next bucket of the queue.
    fn turn(&mut self) {
        self.queue.turn();
        let Self { queue, plans, .. } = self;
        queue
            .current
            .retain(|entry| plans[entry.sphere as usize].next == entry.time);
        queue
            .current
            .sort_unstable_by(|one, other| other.time.total_cmp(&one.time));
        self.warm();
    }

    /// Reads the data of all spheres that the events of the current bucket need. These reads wait for the memory at the
    /// same time. In the events themselves, each read would wait for the one before it.
    fn warm(&mut self) {
        let mut sum = 0;
        self.near.clear();
        for entry in &self.queue.current {
            let plan = &self.plans[entry.sphere as usize];
            if let Some(partner) = self.plans.get(plan.partner as usize) {
                sum ^= partner.partner;
            }
            let rows = self.cells.around(plan.cell);
            for z in rows[2] {
                for y in rows[1] {
                    for x in rows[0] {
                        self.near.push(self.cells.first[(x + y + z) as usize]);
                    }
                }
            }
        }
        for &sphere in &self.near {
            if let Some(motion) = self.motions.get(sphere as usize) {
                sum ^= self
                    .motions
                    .get(motion.next as usize)
                    .map_or(0, |next| next.next);
            }
        }
        black_box(sum);
    }

    fn process(&mut self, sphere: u32, plan: Plan) {
        let now = plan.next;
        if self.motions[sphere as usize].impact > now {
            self.exits += 1;
            self.leave(sphere, plan);
            self.find_exit(sphere);
            self.schedule(sphere);
        } else if self.motions[plan.partner as usize].impacts == plan.partner_impacts {
            self.hits += 1;
            self.hit(sphere, plan.partner, now);
            for sphere in [sphere, plan.partner] {
                self.predict(sphere, now);
                self.find_exit(sphere);
                self.schedule(sphere);
            }
        } else {
            self.stale += 1;
            self.predict(sphere, now);
            self.schedule(sphere);
        }
    }

    /// Changes the velocities of two spheres that hit each other.
    fn hit(&mut self, one: u32, other: u32, now: f64) {
        if let Some(list) = &mut self.list {
            let spheres = [one, other].map(|sphere| self.names[sphere as usize]);
            list.push(Hit { time: now, spheres });
        }
        let mut pair = [one, other].map(|sphere| self.motions[sphere as usize]);
        let places = pair.map(|motion| motion.at(now));
        let per_edge = self.edge.recip();
        let between =
            [0, 1, 2].map(|axis| nearest(places[1][axis] - places[0][axis], self.edge, per_edge));
        let relative = [0, 1, 2].map(|axis| pair[1].velocity[axis] - pair[0].velocity[axis]);
        let change = dot(between, relative) / dot(between, between);
        for (axis, between) in between.into_iter().enumerate() {
            pair[0].velocity[axis] += change * between;
            pair[1].velocity[axis] -= change * between;
        }
        for ((sphere, place), mut motion) in [one, other].into_iter().zip(places).zip(pair) {
            motion.origin = [0, 1, 2].map(|axis| place[axis] - motion.velocity[axis] * now);
            motion.impacts += 1;
            motion.impact = f64::INFINITY;
            self.motions[sphere as usize] = motion;
        }
    }

    /// Predicts the next impact of a sphere with any other.
    fn predict(&mut self, sphere: u32, now: f64) {
        let cell = self.plans[sphere as usize].cell;
        let rows = self.cells.around(cell);
        let mut count = 0;
        for z in rows[2] {
            for y in rows[1] {
                for x in rows[0] {
                    let first = self.cells.first[(x + y + z) as usize];
                    self.around[count] = first;
                    count += usize::from(first != NONE);
                }
            }
        }
        self.motions[sphere as usize].impact = f64::INFINITY;
        self.search(sphere, now, count, cell);
    }

    /// Finds the earliest impact of `sphere` with the spheres of `count` linked lists, whose first
    /// spheres are in `self.around`. If it is earlier than the impact that is predicted for
    /// `sphere` so far, it replaces that impact.
    fn search(&mut self, sphere: u32, now: f64, count: usize, cell: [u16; 3]) {
        if self.cells.is_outer(cell) {
            self.search_in::<true>(sphere, now, count);
        } else {
            self.search_in::<false>(sphere, now, count);
        }
    }

    fn search_in<const WRAP: bool>(&mut self, sphere: u32, now: f64, mut count: usize) {
        let (motions, around) = (&mut self.motions, &mut self.around);
        let (edge, per_edge) = (self.edge, self.edge.recip());
        let own = motions[sphere as usize];
        let place = own.at(now);
        let (mut impact, mut partner, mut partner_impacts) = (own.impact, NONE, 0);
        let mut k = 0;
        while k < count {
            let index = around[k];
            k += 1;
            let other = &motions[index as usize];
            around[count] = other.next;
            count += usize::from(other.next != NONE);
            let mut d = [0.0; 3];
            let mut v = [0.0; 3];
            for axis in 0..3 {
                d[axis] = other.origin[axis] + other.velocity[axis] * now - place[axis];
                if WRAP {
                    d[axis] = nearest(d[axis], edge, per_edge);
                }
                v[axis] = other.velocity[axis] - own.velocity[axis];
            }
            // The spheres in a cell include `sphere` itself. Its velocity relative to itself is 0.
            // So b, the product of the relative position and the relative velocity, is 0, and no
            // impact is found.
            let b = dot(d, v);
            let c = dot(d, d) - 1.0;
            let root = b * b - dot(v, v) * c;
            if (b < 0.0) & (root > 0.0) {
                let time = now + (c / (root.sqrt() - b)).max(0.0);
                // An impact is ignored if the other sphere is predicted to have an earlier one,
                // because the other sphere searches again when its earlier impact happens.
                if (time < impact) & (time < other.impact) {
                    impact = time;
                    partner = index;
                    partner_impacts = other.impacts;
                }
            }
        }
        if partner != NONE {
            motions[sphere as usize].impact = impact;
            let plan = &mut self.plans[sphere as usize];
            plan.partner = partner;
            plan.partner_impacts = partner_impacts;
        }
    }

    /// Moves a sphere to the cell that it enters, and searches the cells that become its neighbours.
    fn leave(&mut self, sphere: u32, plan: Plan) {
        let axis = usize::from(plan.face % 4);
        let is_up = plan.face >= 4;
        let mut cell = plan.cell;
        let old = self.cells.index(cell);
        let last = self.cells.count - 1;
        let motion = &mut self.motions[sphere as usize];
        let next = motion.next;
        cell[axis] = match (is_up, cell[axis]) {
            (true, k) if k == last => {
                motion.origin[axis] -= self.edge;
                0
            }
            (true, k) => k + 1,
            (false, 0) => {
                motion.origin[axis] += self.edge;
                last
            }
            (false, k) => k - 1,
        };
        if self.cells.first[old] == sphere {
            self.cells.first[old] = next;
        } else {
            let mut before = self.cells.first[old];
            while self.motions[before as usize].next != sphere {
                before = self.motions[before as usize].next;
            }
            self.motions[before as usize].next = next;
        }
        let new = self.cells.index(cell);
        self.motions[sphere as usize].next = self.cells.first[new];
        self.cells.first[new] = sphere;
        self.plans[sphere as usize].cell = cell;

        let rows = self.cells.around(cell);
        let ahead = rows[axis][if is_up { 2 } else { 0 }];
        let mut count = 0;
        for y in rows[(axis + 1) % 3] {
            for z in rows[(axis + 2) % 3] {
                let first = self.cells.first[(ahead + y + z) as usize];
                self.around[count] = first;
                count += usize::from(first != NONE);
            }
        }
        self.search(sphere, plan.next, count, cell);
    }

    /// Predicts when a sphere leaves its grid cell, and through which face of the cell.
    fn find_exit(&mut self, sphere: u32) {
        let motion = &self.motions[sphere as usize];
        let plan = &mut self.plans[sphere as usize];
        plan.exit = f64::INFINITY;
        for axis in 0..3u8 {
            let k = usize::from(axis);
            let velocity = motion.velocity[k];
            let is_up = velocity > 0.0;
            let wall = f64::from(plan.cell[k] + u16::from(is_up)) * self.cells.width;
            let time = (wall - motion.origin[k]) / velocity;
            if time < plan.exit {
                plan.exit = time;
                plan.face = axis + 4 * u8::from(is_up);
            }
        }
    }

    fn set_next(&mut self, sphere: u32) {
        let impact = self.motions[sphere as usize].impact;
        let plan = &mut self.plans[sphere as usize];
        plan.next = impact.min(plan.exit);
    }

    fn schedule(&mut self, sphere: u32) {
        self.set_next(sphere);
        let time = self.plans[sphere as usize].next;
        self.queue.push(Entry { time, sphere });
    }

    /// Returns the centres and the velocities, in the same order as in the arguments of [`Heap::new`].
    pub(crate) fn state(&self) -> (Vec<Vector>, Vec<Vector>) {
        let mut places = vec![[0.0; 3]; self.motions.len()];
        let mut velocities = places.clone();
        for (motion, &name) in self.motions.iter().zip(&self.names) {
            places[name as usize] = motion.at(self.time);
            velocities[name as usize] = motion.velocity;
        }
        (places, velocities)
    }
}
