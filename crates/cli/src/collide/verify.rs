//! `--verify`: the same pairs found another way.

use anyhow::{Context, bail};
use carom::{ActiveBackend, Backend, Collisions, Detector, Error, Options, Sphere, Step};
use serde::Serialize;

use super::{compare, report};

/// The largest world of which all pairs are tried: two hundred million of them,
/// some seconds.
pub(crate) const MOST_BY_BRUTE_FORCE: usize = 20_000;

/// What the check found.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    passed: bool,
    /// What the pairs were checked with: `exact arithmetic`, `gpu` or `cpu`.
    against: &'static str,
    /// Pairs that were looked at.
    checked: u64,
    /// Pairs that should be otherwise.
    differing: u64,
    /// How it was done, in words.
    #[serde(skip)]
    method: String,
    /// What is wrong, a line each.
    #[serde(skip)]
    details: String,
}

/// Checks a list by trying all pairs, or in a large world with the other backend.
pub(crate) fn verify(
    spheres: &[Sphere],
    dt: f32,
    collisions: &Collisions,
) -> anyhow::Result<Verdict> {
    if spheres.len() > MOST_BY_BRUTE_FORCE {
        return cross_check(spheres, dt, collisions);
    }
    let found = carom::verify(&Step::new(spheres, dt), &collisions.pairs)?;
    Ok(Verdict {
        passed: found.passed(),
        against: "exact arithmetic",
        checked: found.tried,
        differing: found.mistakes(),
        method: "exact arithmetic on every pair of spheres".to_owned(),
        details: found.to_string(),
    })
}

fn cross_check(spheres: &[Sphere], dt: f32, collisions: &Collisions) -> anyhow::Result<Verdict> {
    let backend = collisions.statistics.backend;
    let (other, asked) = match backend {
        ActiveBackend::Gpu => (ActiveBackend::Cpu, Backend::Cpu),
        ActiveBackend::Cpu => (ActiveBackend::Gpu, Backend::Gpu),
    };
    let names = [backend, other].map(report::name);
    let options = Options::new().with_backend(asked);
    let checked = match Detector::new(options)
        .and_then(|mut detector| detector.detect(&Step::new(spheres, dt)))
    {
        Ok(checked) => checked,
        Err(Error::NoAdapter { reason, .. }) => bail!(
            "nothing was checked: no graphics adapter was found ({reason}) to compare the CPU with, and {} spheres \
             are too many to try all pairs, which is done up to {MOST_BY_BRUTE_FORCE}; on Debian and Ubuntu \
             `apt-get install libvulkan1 mesa-vulkan-drivers` gives a software adapter",
            spheres.len()
        ),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("nothing was checked: the {} cannot do it", names[1]));
        }
    };
    // Comparing a backend with itself would check nothing.
    if checked.statistics.backend != other {
        bail!(
            "nothing was checked: the {} was asked for, but it did not do the work",
            names[1]
        );
    }
    let adapter = checked
        .statistics
        .adapter
        .or_else(|| collisions.statistics.adapter.clone());
    let comparison = compare::lists(names, &collisions.pairs, &checked.pairs);
    Ok(Verdict {
        passed: comparison.differing == 0,
        against: names[1],
        checked: comparison.checked,
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
    /// What is wrong, if something is.
    pub(crate) fn failure(&self) -> Option<String> {
        (!self.passed).then(|| {
            format!(
                "the check failed; pairs that differ: {}\n{}",
                self.differing, self.details
            )
        })
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let outcome = if self.passed { "passed" } else { "failed" };
        write!(f, "{outcome}: {} pairs by {}", self.checked, self.method)
    }
}
