//! The option `--verify` of `carom collide`, which checks the list of colliding pairs by a second method, and the
//! list of spheres that touch walls.

use std::fmt::Display;

use anyhow::{Context, bail};
use carom::{Backend, Collisions, Detector, Error, Number, Options, Spheres, Step, Verification};
use serde::Serialize;

use super::compare;
use crate::summary::backend_name;

/// Maximum number of spheres for which the option `--verify` tests every pair of spheres, which takes some
/// seconds.
pub(crate) const MOST_BY_BRUTE_FORCE: usize = 20_000;

/// Maximum number of pairs of a sphere and a wall that the option `--verify` tests, which takes some seconds.
const MOST_AT_WALLS: u64 = 400_000_000;

#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    passed: bool,
    /// Method of the check: `exact arithmetic`, or the other backend, `gpu` or `cpu`.
    against: &'static str,
    /// Number of pairs that were checked. A check with exact arithmetic tests all pairs of spheres. A check
    /// against the other backend (CPU or GPU) compares the two lists, and counts the pairs that are in either
    /// list.
    checked: u64,
    /// Number of pairs of a sphere and a wall that were tested, each triangle being a wall. `None` for a step
    /// without walls.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at_walls: Option<u64>,
    /// Number of mistakes in the list of colliding pairs and in the list of spheres that touch walls, together:
    /// entries that are missing, superfluous or have wrong values.
    differing: u64,
    #[serde(skip)]
    method: String,
    /// Description of the mistakes: one line for each kind of mistake or, if two backends were compared, one
    /// line for each of the first pairs that differ.
    #[serde(skip)]
    details: String,
}

/// Checks both lists of a step: that of colliding pairs, and that of spheres that touch walls.
pub(crate) fn verify<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    collisions: &Collisions<T>,
) -> anyhow::Result<Verdict>
where
    Verification<T::Collision>: Display,
    Verification<T::WallCollision>: Display,
{
    let Some(walls) = step.walls() else {
        return verify_pairs(step, collisions);
    };
    let (spheres, walls) = (step.spheres().len(), walls.len());
    if spheres as u64 * walls as u64 > MOST_AT_WALLS {
        bail!(
            "nothing was checked: {spheres} spheres and {walls} walls (each triangle is a wall) are \
             too many to test every sphere at every wall (at most {MOST_AT_WALLS} pairs)"
        );
    }
    let mut verdict = verify_pairs(step, collisions)?;
    let found = carom::verify_walls(step, &collisions.walls)?;
    verdict.checked_at_walls = Some(found.tried);
    verdict.differing += found.mistakes();
    if !found.passed() {
        verdict.passed = false;
        verdict.details += &format!("\nwalls: {found}");
    }
    Ok(verdict)
}

/// Checks a list of colliding pairs by testing every pair of spheres. If there are too many spheres, the
/// other backend (GPU or CPU) makes a second list, and the two lists are compared.
fn verify_pairs<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    collisions: &Collisions<T>,
) -> anyhow::Result<Verdict>
where
    Verification<T::Collision>: Display,
{
    let spheres = step.spheres();
    if spheres.len() > MOST_BY_BRUTE_FORCE {
        return cross_check(step, collisions);
    }
    let found = carom::verify(step, &collisions.pairs)?;
    Ok(Verdict {
        passed: found.passed(),
        against: "exact arithmetic",
        checked: found.tried,
        checked_at_walls: None,
        differing: found.mistakes(),
        method: "exact arithmetic on every pair of spheres".to_owned(),
        details: found.to_string(),
    })
}

fn cross_check<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    collisions: &Collisions<T>,
) -> anyhow::Result<Verdict> {
    let spheres = step.spheres();
    // The pairs alone are compared, so the second list needs no walls.
    let step = Step::new(spheres, step.dt()).in_domain(step.domain());
    let backend = collisions.statistics.backend;
    let other = match backend {
        Backend::Gpu => Backend::Cpu,
        Backend::Cpu | Backend::Auto => Backend::Gpu,
    };
    let names = [backend, other].map(backend_name);
    let options = Options::new().with_backend(other);
    let checked = match Detector::new(options).and_then(|mut detector| detector.detect(&step)) {
        Ok(checked) => checked,
        Err(Error::NoAdapter { reason, .. }) => bail!(
            "nothing was checked: no graphics adapter was found to compare the CPU with \
             ({reason}), and {} spheres are too many to test every pair (at most \
             {MOST_BY_BRUTE_FORCE}). Install a driver: on Debian and Ubuntu, `apt-get install \
             libvulkan1 mesa-vulkan-drivers` installs a software adapter",
            spheres.len()
        ),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("nothing was checked: the {} backend failed", names[1]));
        }
    };
    // A second list from the same backend would have the same mistakes, so it could not check the first list.
    if checked.statistics.backend != other {
        bail!(
            "nothing was checked: the {} backend was requested, but another backend ran",
            names[1]
        );
    }
    let adapter =
        (checked.statistics.adapter.clone()).or_else(|| collisions.statistics.adapter.clone());
    let comparison = compare::lists(names, collisions, &checked);
    Ok(Verdict {
        passed: comparison.differing == 0,
        against: names[1],
        checked: comparison.checked,
        checked_at_walls: None,
        differing: comparison.differing,
        method: format!(
            "{} against {} on {}, bit for bit",
            names[0],
            names[1],
            adapter.unwrap_or_default()
        ),
        details: comparison.to_string(),
    })
}

impl Verdict {
    pub(crate) fn failure(&self) -> Option<String> {
        (!self.passed).then(|| {
            format!(
                "the check failed; entries that differ: {}\n{}",
                self.differing, self.details
            )
        })
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let outcome = if self.passed { "passed" } else { "failed" };
        write!(f, "{outcome}: {} pairs by {}", self.checked, self.method)?;
        match self.checked_at_walls {
            Some(count) => write!(
                f,
                "; {count} pairs of a sphere and a wall by exact arithmetic"
            ),
            None => Ok(()),
        }
    }
}
