//! The option `--check` of `carom bench`, which checks a list of colliding pairs in exact arithmetic.

use anyhow::{Context, bail, ensure};
use carom::{Collision, Hits, Sphere, Step, verify};
use fastrand::Rng;

/// Maximum number of tests of two spheres that the option `--check` makes. 200 million tests take
/// some seconds. They suffice to test every sphere against all spheres in a world of up to 14 142
/// spheres, because 14 142² is about 200 million.
const TRIED: usize = 200_000_000;

/// Checks a list of colliding pairs by testing randomly chosen spheres against all spheres in exact
/// arithmetic. Returns the number of tests, or an error if the list has a mistake.
pub(crate) fn check(spheres: &[Sphere], dt: f32, list: &[Collision]) -> anyhow::Result<u64> {
    let in_order = list
        .windows(2)
        .all(|pair| (pair[0].a, pair[0].b) < (pair[1].a, pair[1].b));
    ensure!(
        in_order,
        "the check failed: the list is not sorted, or has a pair twice"
    );
    let count = (TRIED / spheres.len().max(1)).clamp(1, spheres.len().max(1));
    // The number of spheres fits into `u32`, because the library accepts at most 2³⁰ spheres.
    let rows = 0..u32::try_from(spheres.len())?;
    let mut chosen = Rng::with_seed(0).choose_multiple(rows, count);
    chosen.sort_unstable();
    let sample: Vec<Sphere> = chosen.iter().map(|&row| spheres[row as usize]).collect();
    let found = verify(
        &Step::between(&sample, spheres, dt),
        &Hits::new(of_chosen(spheres, list, &chosen)),
    )
    .context("nothing was checked")?;
    let mistakes = [found.missing.first(), found.invented.first()];
    let wrong = found.wrong.first().map(|(listed, _)| listed);
    let first = mistakes.into_iter().flatten().chain(wrong).next();
    if let Some(&Collision { a, b, .. }) = first.or(found.repeated.first()) {
        bail!(
            "the check failed: of the pairs of {} chosen spheres, {} are missing, {} do not touch, \
             and {} have a wrong time or depth; the first mistake concerns spheres {} and {b}",
            chosen.len(),
            found.missing.len(),
            found.invented.len(),
            found.wrong.len(),
            chosen.get(a as usize).copied().unwrap_or_default(),
        );
    }
    Ok(found.tried)
}

/// Converts the list of colliding pairs of a world, so that `carom::verify` can check it for some
/// chosen spheres. The check uses a step of two sets: the chosen spheres, and all spheres of the
/// world. If both spheres of a pair are chosen, the new list has two entries for the pair, one with
/// each sphere as the first. A chosen sphere is in both sets, so it also collides with itself,
/// unless its collision groups exclude this.
fn of_chosen(spheres: &[Sphere], list: &[Collision], chosen: &[u32]) -> Vec<Collision> {
    let place = |row: u32| u32::try_from(chosen.binary_search(&row).ok()?).ok();
    let mut entries = Vec::new();
    for pair in list {
        let Collision { a, b, .. } = *pair;
        let from = |one, b| {
            Some(Collision {
                a: place(one)?,
                b,
                ..*pair
            })
        };
        entries.extend([from(a, b), from(b, a)].into_iter().flatten());
    }
    for (a, &row) in (0..).zip(chosen) {
        let sphere = &spheres[row as usize];
        if !sphere.ignores(sphere) {
            entries.push(Collision {
                a,
                b: row,
                toi: 0.0,
                depth: 2.0 * sphere.radius,
            });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use carom::{Backend, Detector, Options};

    use super::*;
    use carom_scenes::Scene;

    #[test]
    fn a_list_that_lacks_a_pair_or_has_one_too_many_fails() -> anyhow::Result<()> {
        let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
        let spheres = Scene::Gas.generate(300, 1);
        let found = detector.detect(&Step::new(&spheres, 1.0))?;
        let (mut list, _) = found.pairs.into_parts();
        assert_eq!(check(&spheres, 1.0, &list)?, 300 * 300);
        assert_eq!(check(&[], 1.0, &[])?, 0);

        let Some(pair) = list.pop() else {
            bail!("no pair touches");
        };
        assert!(check(&spheres, 1.0, &list).is_err());
        let late = Collision {
            toi: pair.toi + 0.5,
            ..pair
        };
        list.push(late);
        assert!(check(&spheres, 1.0, &list).is_err());
        list.pop();
        list.extend([pair, pair]);
        assert!(check(&spheres, 1.0, &list).is_err());
        list.pop();
        list.insert(0, Collision { a: 0, b: 0, ..pair });
        assert!(check(&spheres, 1.0, &list).is_err());
        Ok(())
    }
}
