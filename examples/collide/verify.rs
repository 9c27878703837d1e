//! `--verify`: the same pairs found another way.

use anyhow::{Context, bail};
use carom::{Backend, Collisions, Detector, Error, Options, Sphere};
use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::compare::{self, Comparison};
use crate::{brute, report};

/// The largest world for brute force: two hundred million pairs, seconds.
const MOST_BY_BRUTE_FORCE: usize = 20_000;

/// What the check found.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// What the pairs were checked with: `gpu`, `cpu` or `brute force`.
    against: &'static str,
    /// The same in words.
    method: String,
    comparison: Comparison,
}

/// Checks a list with the other backend, or where there is no adapter, by brute
/// force.
pub(crate) fn verify(
    spheres: &[Sphere],
    dt: f32,
    collisions: &Collisions,
) -> anyhow::Result<Verdict> {
    let backend = collisions.statistics.backend;
    let other = if backend == Backend::Gpu {
        Backend::Cpu
    } else {
        Backend::Gpu
    };
    let names = [backend, other].map(report::name);
    let options = Options {
        backend: other,
        ..Options::default()
    };
    let checked = match Detector::new(options).and_then(|mut detector| detector.detect(spheres, dt))
    {
        Ok(checked) => checked,
        Err(Error::NoAdapter(why)) => return by_brute_force(spheres, dt, collisions, &why),
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
    Ok(Verdict {
        against: names[1],
        method: format!(
            "{} against {} on {}, bit for bit",
            names[0],
            names[1],
            adapter.unwrap_or_default()
        ),
        comparison: compare::lists(names, &collisions.pairs, &checked.pairs),
    })
}

fn by_brute_force(
    spheres: &[Sphere],
    dt: f32,
    collisions: &Collisions,
    why: &str,
) -> anyhow::Result<Verdict> {
    if spheres.len() > MOST_BY_BRUTE_FORCE {
        bail!(
            "nothing was checked: no graphics adapter was found ({why}), and {} spheres are too many for brute \
             force, which takes at most {MOST_BY_BRUTE_FORCE}; on Debian and Ubuntu `apt-get install libvulkan1 \
             mesa-vulkan-drivers` gives a software adapter",
            spheres.len()
        );
    }
    Ok(Verdict {
        against: "brute force",
        method: format!("brute force in float64, for want of a graphics adapter ({why})"),
        comparison: brute::compare(spheres, dt, &collisions.pairs),
    })
}

impl Verdict {
    /// What is wrong, if something is.
    pub(crate) fn failure(&self) -> Option<String> {
        let differing = &self.comparison.differing;
        (differing.count > 0).then(|| {
            format!(
                "the check failed; pairs that differ: {}{differing}",
                differing.count
            )
        })
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Comparison {
            checked,
            differing,
            undecided,
        } = &self.comparison;
        let outcome = if differing.count == 0 {
            "passed"
        } else {
            "failed"
        };
        write!(f, "{outcome}: {checked} pairs by {}", self.method)?;
        if undecided.count > 0 {
            write!(
                f,
                "; float64's rounding leaves {} undecided:{undecided}",
                undecided.count
            )?;
        }
        Ok(())
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Comparison {
            checked,
            differing,
            undecided,
        } = &self.comparison;
        let mut object = serializer.serialize_struct("Verdict", 5)?;
        object.serialize_field("passed", &(differing.count == 0))?;
        object.serialize_field("against", self.against)?;
        object.serialize_field("checked", checked)?;
        object.serialize_field("differing", &differing.count)?;
        object.serialize_field("undecided", &undecided.count)?;
        object.end()
    }
}
