//! Colliding or neighbouring pairs as they are printed and written to files.

use carom::{Collision64, Collisions, NeighborList, Number, Touching as _};

use crate::error::Result;
use crate::memory::collect;
use crate::read::{Type, World};

const SORTED: &str = "a sorted list of the pairs";

/// An entry of a list of pairs: two spheres that touch, a sphere and a wall that touch, or two neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// Row or id of one sphere of the pair. `a` is not larger than `b`, except in a list that has each pair
    /// of neighbours twice.
    pub a: i64,
    /// Row or id of the other sphere of the pair.
    pub b: i64,
    /// Periodic image of sphere `b` that touches sphere `a`: how many times the image is displaced along each
    /// edge of the domain.
    pub image: [i32; 3],
    /// Types of the spheres `a` and `b`, or 0 if the input has no types.
    pub types: [Type; 2],
    /// For spheres that touch: the time of impact, the penetration depth, and two zeros. For neighbours: the
    /// vector from `a` to the image of `b`, and its length.
    pub numbers: [f64; 4],
}

/// Order in which pairs are written: by the spheres or by the time of impact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Order by `a`, then by `b`, then by the periodic image of `b`.
    #[default]
    Pair,
    /// Order by the time of impact, then by `a`, by `b` and by the periodic image of `b`.
    Time,
}

/// Returns the colliding pairs of a step in the given order. Spheres are named by ids if the input
/// has ids, otherwise by rows. LAMMPS may change the order of atoms between frames. So of two ids,
/// the smaller is always `a`, and a pair has the same name in all frames. If this exchanges `a` and
/// `b`, the periodic image is negated.
///
/// # Errors
/// Returns an error if the memory does not suffice for a sorted copy.
pub fn named<'a, T: Number>(
    found: &'a Collisions<T>,
    world: &'a World,
    order: Order,
) -> Result<Box<dyn Iterator<Item = Pair> + 'a>> {
    let pairs = found.pairs.iter_with_images();
    let pairs = pairs.map(move |(collision, image)| {
        let Collision64 { a, b, toi, depth } = collision.wide();
        name([a, b], image, [toi, depth, 0.0, 0.0], world).in_order()
    });
    if world.ids.is_none() && order == Order::Pair {
        return Ok(Box::new(pairs));
    }
    let mut pairs = collect(pairs, SORTED)?;
    let by_names = |p: &Pair, q: &Pair| (p.a, p.b, p.image).cmp(&(q.a, q.b, q.image));
    match order {
        Order::Pair => pairs.sort_unstable_by(by_names),
        Order::Time => {
            pairs.sort_unstable_by(|p, q| {
                let [p_toi, q_toi] = [p, q].map(|pair| pair.numbers[0]);
                p_toi.total_cmp(&q_toi).then(by_names(p, q))
            });
        }
    }
    Ok(Box::new(pairs.into_iter()))
}

/// Returns the spheres that touch walls in a step, as pairs of a sphere `a` and the number `b` of a wall, sorted by
/// sphere, by wall and by the periodic image. Spheres are named by ids if the input has ids, otherwise by rows.
///
/// # Errors
/// Returns an error if the memory does not suffice for a sorted copy.
pub fn at_walls<'a, T: Number>(
    found: &'a Collisions<T>,
    world: &'a World,
) -> Result<Box<dyn Iterator<Item = Pair> + 'a>> {
    let hits = found.walls.iter_with_images();
    let hits = hits.map(move |(hit, image)| {
        let Collision64 { a, b, toi, depth } = hit.wide();
        Pair {
            b: b.into(),
            ..name([a; 2], image, [toi, depth, 0.0, 0.0], world)
        }
    });
    if world.ids.is_none() {
        return Ok(Box::new(hits));
    }
    let mut hits = collect(hits, SORTED)?;
    hits.sort_unstable_by_key(|hit| (hit.a, hit.b, hit.image));
    Ok(Box::new(hits.into_iter()))
}

/// Returns the entries of a neighbour list, sorted by `a`, by `b` and by the periodic image. Particles are
/// named by ids if the world has ids, otherwise by rows. If the list has each pair once, `a` is the smaller
/// id. If this exchanges the two particles, the image and the vector of the pair are negated.
///
/// # Errors
/// Returns an error if the memory does not suffice for a sorted copy.
pub fn neighbors<'a, T: Number>(
    found: &'a NeighborList<T>,
    world: &'a World,
    full: bool,
) -> Result<Box<dyn Iterator<Item = Pair> + 'a>> {
    let measured = found.vectors().iter().zip(found.distances());
    let pairs = found.pairs().iter_with_images().zip(measured);
    let pairs = pairs.map(move |((&rows, image), (&[x, y, z], &d))| {
        name(rows, image, [x, y, z, d].map(Into::into), world)
    });
    if world.ids.is_none() {
        return Ok(Box::new(pairs));
    }
    let mut pairs = collect(pairs, SORTED)?;
    if !full {
        for pair in &mut pairs {
            let [x, y, z, d] = pair.numbers;
            if pair.a > pair.b {
                // Adding 0 avoids −0.
                pair.numbers = [0.0 - x, 0.0 - y, 0.0 - z, d];
            }
            *pair = pair.in_order();
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b, pair.image));
    Ok(Box::new(pairs.into_iter()))
}

fn name(rows: [u32; 2], image: [i32; 3], numbers: [f64; 4], world: &World) -> Pair {
    let name = |row: u32| match &world.ids {
        None => row.into(),
        Some(ids) => ids.get(row as usize).copied().unwrap_or_default(),
    };
    let kind = |row: u32| {
        let types = world.types.as_ref();
        types.and_then(|types| types.get(row as usize).copied())
    };
    let [a, b] = rows.map(name);
    Pair {
        a,
        b,
        image,
        types: rows.map(|row| kind(row).unwrap_or_default()),
        numbers,
    }
}

impl Pair {
    /// Orders the two spheres of the pair, so that `a` is the smaller of their ids or rows. If this exchanges
    /// the spheres, the periodic image is negated.
    fn in_order(self) -> Self {
        if self.a <= self.b {
            return self;
        }
        let [first, second] = self.types;
        Self {
            a: self.b,
            b: self.a,
            image: self.image.map(i32::wrapping_neg),
            types: [second, first],
            ..self
        }
    }
}
