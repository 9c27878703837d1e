//! A textbook uniform grid as one of the benchmarked methods. The grid is dense, and its cells are as wide as
//! the widest bounding box of a moving sphere. This is the simplest method for spheres of similar sizes and
//! speeds.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cell indices fit 32 bits, and coordinates relative to the grid are not negative"
)]

use carom::{Collision, Sphere};

use super::contender::{Contender, MOST_CANDIDATES};
use crate::step::{Ball, Found, World, impact, index, pair, sorted};

/// Largest number of cells in the uniform grid, so that the array of cell starts takes at most one gibibyte.
const MOST_CELLS: f64 = (1_u64 << 28) as f64;

/// The uniform grid. Its arrays keep their memory, but not their contents, from one time step to
/// the next.
#[derive(Default)]
pub(crate) struct PlainGrid {
    cell_of: Vec<u32>,
    /// For each grid cell: the index of its first sphere in the arrays sorted by cell.
    starts: Vec<u32>,
    order: Vec<u32>,
    sorted: Vec<Sphere>,
    balls: Vec<Ball>,
    pairs: Vec<Collision>,
}

/// Position, cell size and cell counts of the uniform grid. A layer of empty cells surrounds the spheres, so
/// that every cell with a sphere has all 26 neighbours.
struct Layout {
    low: [f32; 3],
    cells_per_length: f32,
    size: [usize; 3],
}

impl Layout {
    fn new(World { spheres, dt }: World<'_>) -> Self {
        let mut low = [f32::INFINITY; 3];
        let mut high = [-f32::INFINITY; 3];
        let mut half = 0.0_f32;
        for sphere in spheres {
            for k in 0..3 {
                let move_half = 0.5 * dt * sphere.velocity[k];
                let middle = sphere.center[k] + move_half;
                low[k] = low[k].min(middle);
                high[k] = high[k].max(middle);
                half = half.max(sphere.radius + move_half.abs());
            }
        }
        let largest = low.iter().chain(&high).fold(half, |x, y| x.max(y.abs()));
        // The margin keeps two touching spheres in the same grid cell or in neighbouring cells in spite of
        // rounding.
        let cells_per_length = 1.0 / (2.0 * half + 16.0 * f32::EPSILON * largest);
        let size = [0, 1, 2].map(|k| ((high[k] - low[k]) * cells_per_length) as usize + 3);
        Self {
            low,
            cells_per_length,
            size,
        }
    }

    fn cells(&self) -> f64 {
        self.size.iter().map(|&n| n as f64).product()
    }

    fn cell_of(&self, sphere: &Sphere, dt: f32) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| {
            let middle = sphere.center[k] + 0.5 * dt * sphere.velocity[k];
            ((middle - self.low[k]) * self.cells_per_length) as usize + 1
        });
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// Half of the 26 neighbours of a grid cell have a larger index: the next cell along x, and four rows of
    /// three cells. Returns the index of the middle cell of each row, relative to the cell's own index.
    fn rows(&self) -> [usize; 4] {
        let row = self.size[0];
        let layer = row * self.size[1];
        [row, layer - row, layer, layer + row]
    }
}

impl PlainGrid {
    /// Returns a reason not to run the uniform grid if more than [`MOST_CANDIDATES`] pairs of spheres would
    /// be in the same cell or in neighbouring cells.
    pub(crate) fn crowded(world: World<'_>) -> Option<String> {
        let layout = Layout::new(world);
        if layout.cells() > MOST_CELLS {
            return None;
        }
        let mut grid = Self::default();
        grid.bin(world, &layout);
        // At this point, `starts[c + 1]` is the start of grid cell c in the arrays sorted by cell.
        let count = |from: usize, to: usize| u64::from(grid.starts[to + 1] - grid.starts[from + 1]);
        let of_cell = |&cell: &u32| {
            let cell = cell as usize;
            // A sphere is tested only against the later spheres of its own grid cell, on average half of the
            // cell's spheres.
            let own = count(cell, cell + 1) / 2 + count(cell + 1, cell + 2);
            let rows = layout
                .rows()
                .map(|row| count(cell + row - 1, cell + row + 2));
            own + rows.iter().sum::<u64>()
        };
        let candidates: u64 = grid.cell_of.iter().map(of_cell).sum();
        (candidates > MOST_CANDIDATES).then(|| {
            let candidates = candidates as f64;
            format!("about {candidates:.0e} candidates in cells as wide as the widest swept box")
        })
    }

    /// Counts the spheres in each grid cell, and sets `starts[c + 1]` to the start of cell c in the
    /// arrays that are later sorted by cell. The sort then advances this number to the end of cell
    /// c, where cell c + 1 starts.
    fn bin(&mut self, world: World<'_>, layout: &Layout) {
        let World { spheres, dt } = world;
        self.starts.clear();
        // Element c + 2 counts the spheres of grid cell c. After the prefix sum, element c + 1 is the start of
        // cell c.
        self.starts
            .resize(layout.size.iter().product::<usize>() + 2, 0);
        self.cell_of.clear();
        self.cell_of.extend(spheres.iter().map(|sphere| {
            let cell = layout.cell_of(sphere, dt);
            self.starts[cell + 2] += 1;
            cell as u32
        }));
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
    }
}

impl Contender for PlainGrid {
    fn name(&self) -> &'static str {
        "plain-grid"
    }

    fn refusal(&self, world: World<'_>) -> Option<String> {
        let cells = Layout::new(world).cells();
        if cells > MOST_CELLS {
            return Some(format!("the grid would need {cells:.0e} cells"));
        }
        Self::crowded(world)
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let World { spheres, dt } = world;
        let layout = Layout::new(world);
        self.bin(world, &layout);
        self.order.resize(spheres.len(), 0);
        for (i, &cell) in self.cell_of.iter().enumerate() {
            let place = &mut self.starts[cell as usize + 1];
            self.order[*place as usize] = index(i);
            *place += 1;
        }
        let in_order = self.order.iter().map(|&i| spheres[i as usize]);
        self.sorted.clear();
        self.sorted.extend(in_order);
        self.balls.clear();
        self.balls
            .extend(self.sorted.iter().map(|s| Ball::new(s, dt)));
        let (starts, balls) = (&self.starts, &self.balls);
        let (in_cells, order) = (&self.sorted, &self.order);
        let pairs = &mut self.pairs;
        pairs.clear();
        let mut candidates = 0;
        // Overlapping balls are collected without a branch, because the processor would often mispredict the
        // branch.
        let mut near: Vec<u32> = Vec::new();
        let mut test_against = |i: usize, ranges: &[(usize, usize)]| {
            let ball = balls[i];
            let all: usize = ranges.iter().map(|(from, to)| to - from).sum();
            candidates += all as u64;
            if near.len() < all {
                near.resize(all, 0);
            }
            let mut count = 0;
            for &(from, to) in ranges {
                for (j, other) in (from..to).zip(&balls[from..to]) {
                    near[count] = j as u32;
                    count += usize::from(ball.meets(other));
                }
            }
            for &j in &near[..count] {
                let j = j as usize;
                if let Some(toi) = impact(&in_cells[i], &in_cells[j], dt) {
                    pairs.push(pair(order[i], order[j], toi));
                }
            }
        };
        let rows = layout.rows();
        let mut i = 0;
        while i < balls.len() {
            let cell = layout.cell_of(&in_cells[i], dt);
            let start = |cell: usize| starts[cell] as usize;
            let (end, next) = (start(cell + 1), start(cell + 2));
            let ranges = rows.map(|row| (start(cell + row - 1), start(cell + row + 2)));
            for i in i..end {
                let [r0, r1, r2, r3] = ranges;
                test_against(i, &[(i + 1, next), r0, r1, r2, r3]);
            }
            i = end;
        }
        Ok(Found {
            pairs: sorted(&self.pairs, spheres.len()),
            candidates,
        })
    }
}
