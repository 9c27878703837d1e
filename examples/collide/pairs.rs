//! The pairs as they are printed and listed: by the rows of the input, or by the ids it has.

use carom::Collision;

use crate::world::World;

/// Two spheres that touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) toi: f32,
    pub(crate) depth: f32,
}

/// Names the spheres of each pair. Of ids the smaller one stands first, and they are sorted, so that
/// lists compare although LAMMPS changes the order of its atoms.
pub(crate) fn named<'a>(
    found: &'a [Collision],
    world: &World,
) -> Box<dyn Iterator<Item = Pair> + 'a> {
    let rows = found.iter().map(|&Collision { a, b, toi, depth }| Pair {
        a: a.into(),
        b: b.into(),
        toi,
        depth,
    });
    let Some(ids) = &world.ids else {
        return Box::new(rows);
    };
    let id = |row: u64| {
        usize::try_from(row)
            .ok()
            .and_then(|row| ids.get(row))
            .copied()
    };
    let mut pairs: Vec<Pair> = rows
        .map(|pair| {
            let [a, b] = [pair.a, pair.b].map(|row| id(row).unwrap_or_default());
            Pair {
                a: a.min(b),
                b: a.max(b),
                ..pair
            }
        })
        .collect();
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    Box::new(pairs.into_iter())
}
