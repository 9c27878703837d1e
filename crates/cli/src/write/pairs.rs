//! Colliding pairs in the form in which they are printed and written to files, with spheres identified by
//! rows or ids.

use carom::{Collision, Collisions};

use crate::read::World;

/// A pair of spheres that touch, in the form in which pairs are printed and written to files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// Row or id of one sphere of the pair, not larger than `b`.
    pub a: i64,
    /// Row or id of the other sphere of the pair.
    pub b: i64,
    /// Periodic image of sphere `b` that touches sphere `a`: how many times each edge of the domain displaces
    /// sphere `b`. 0, 0, 0 in open space.
    pub image: [i32; 3],
    /// Types of the spheres `a` and `b`, or 0 if the input has no types.
    pub types: [i32; 2],
    /// Time of impact, from 0 to the length of the time step. 0 for spheres that touch at the start of the
    /// step.
    pub toi: f32,
    /// Penetration depth at the start of the time step. 0 for spheres that meet later.
    pub depth: f32,
}

/// Order of the pairs in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Pairs are sorted by `a`, then by `b`, then by the periodic image of `b`.
    #[default]
    Pair,
    /// Pairs are sorted by the time of impact, then by `a`, by `b` and by the periodic image of `b`.
    Time,
}

/// Returns the colliding pairs of a step in the given order, with rows or, if the input has ids, ids for the
/// spheres. The smaller id of a pair is `a`, because LAMMPS changes the order of atoms between frames. If `a`
/// and `b` are exchanged for this, the periodic image is negated.
pub fn named<'a>(
    found: &'a Collisions,
    world: &'a World,
    order: Order,
) -> Box<dyn Iterator<Item = Pair> + 'a> {
    let image = |index: usize| found.images.get(index).copied().unwrap_or_default();
    let pairs = found.pairs.iter().enumerate();
    let pairs = pairs.map(move |(index, collision)| name(collision, image(index), world));
    // The library returns the pairs sorted by rows, so a list of rows in this order needs no sorting.
    if world.ids.is_none() && order == Order::Pair {
        return Box::new(pairs);
    }
    let mut pairs: Vec<Pair> = pairs.collect();
    let by_names = |p: &Pair, q: &Pair| (p.a, p.b, p.image).cmp(&(q.a, q.b, q.image));
    match order {
        Order::Pair => pairs.sort_unstable_by(by_names),
        Order::Time => {
            pairs.sort_unstable_by(|p, q| p.toi.total_cmp(&q.toi).then(by_names(p, q)));
        }
    }
    Box::new(pairs.into_iter())
}

fn name(collision: &Collision, mut image: [i32; 3], world: &World) -> Pair {
    let &Collision { a, b, toi, depth } = collision;
    let name = |row: u32| match &world.ids {
        None => row.into(),
        Some(ids) => ids.get(row as usize).copied().unwrap_or_default(),
    };
    let kind = |row: u32| {
        let types = world.types.as_ref();
        types.and_then(|types| types.get(row as usize).copied())
    };
    let [mut first, mut second] = [a, b].map(|row| (name(row), kind(row).unwrap_or_default()));
    if first.0 > second.0 {
        (first, second) = (second, first);
        image = image.map(i32::wrapping_neg);
    }
    Pair {
        a: first.0,
        b: second.0,
        image,
        types: [first.1, second.1],
        toi,
        depth,
    }
}
