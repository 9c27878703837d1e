//! The pairs as they are printed and listed: by the rows of the input, or by the ids it has.

use carom::Collision;

use crate::read::World;

/// Two spheres that touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// One sphere: its row, or its id.
    pub a: i64,
    /// The other one.
    pub b: i64,
    /// The types of both, 0 if the world has none.
    pub types: [i32; 2],
    /// The time of impact.
    pub toi: f32,
    /// How deep the two overlap at the start.
    pub depth: f32,
}

/// What comes first in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By `a`, then `b`.
    #[default]
    Pair,
    /// By the time of impact, then `a`, then `b`.
    Time,
}

/// Names the spheres of each pair, by ids if the world has them, and puts the pairs in order. Of ids
/// the smaller one stands first, so that lists compare although LAMMPS changes the order of its
/// atoms.
pub fn named<'a>(
    found: &'a [Collision],
    world: &'a World,
    order: Order,
) -> Box<dyn Iterator<Item = Pair> + 'a> {
    let pairs = found.iter().map(|collision| name(collision, world));
    // As the library has sorted them.
    if world.ids.is_none() && order == Order::Pair {
        return Box::new(pairs);
    }
    let mut pairs: Vec<Pair> = pairs.collect();
    let by_names = |p: &Pair, q: &Pair| (p.a, p.b).cmp(&(q.a, q.b));
    match order {
        Order::Pair => pairs.sort_unstable_by(by_names),
        Order::Time => {
            pairs.sort_unstable_by(|p, q| p.toi.total_cmp(&q.toi).then(by_names(p, q)));
        }
    }
    Box::new(pairs.into_iter())
}

fn name(&Collision { a, b, toi, depth }: &Collision, world: &World) -> Pair {
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
    }
    Pair {
        a: first.0,
        b: second.0,
        types: [first.1, second.1],
        toi,
        depth,
    }
}
