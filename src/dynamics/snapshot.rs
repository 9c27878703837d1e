//! Snapshots: a simulation as whole numbers, and back.
//!
//! A number in float64 is written as its bits, because a reader of decimal text may round. All that a step depends on is
//! written, also what only affects how it is divided into substeps, so that the continuation has the same bytes.
//! What follows from other parts, such as trees of boxes, is made anew. `coded.rs` has the parts.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::coded::{Coded, Coder, check, is_known};
use super::walls::{MovingWalls, WallMotion};
use super::{HardSphere, Simulation, SimulationOptions};
use crate::lattice::Lattice;
use crate::memory::filled;
use crate::walls::vector;
use crate::{Error, Mesh, Wall};

/// Changes whenever the words of a snapshot change.
const FORMAT: u32 = 1;

const WRITER: &str = env!("CARGO_PKG_VERSION");

/// What is written: the words of a simulation, and what tells whether they are complete.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Simulation")]
struct Snapshot {
    /// The version of carom that wrote the snapshot.
    carom: String,
    format: u32,
    checksum: u64,
    words: Vec<u64>,
}

/// Returns a number that differs for two lists of words that differ in one word, and almost surely for any others.
fn checksum(words: &[u64]) -> u64 {
    let start = words.len() as u64 ^ 0x243f_6a88_85a3_08d3;
    words.iter().fold(start, |sum, word| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 29
    })
}

impl Coded for WallMotion {
    fn blank() -> Self {
        Self::default()
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.moved.code(coder)?;
        self.since.code(coder)?;
        self.off.code(coder)?;
        check(self.moved.is_finite() && self.since.is_finite(), "walls")
    }
}

impl SimulationOptions {
    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let Self {
            restitution,
            wall_restitution,
            one_sided_meshes,
            walls,
            gravity,
            domain,
            contact_time,
            groups,
            bodies,
            restitutions,
            combine,
            impacts_per_substep,
            max_impacts,
            max_step_impacts,
            impact_list,
            contacts,
        } = self;
        restitution.code(coder)?;
        wall_restitution.code(coder)?;
        one_sided_meshes.code(coder)?;
        walls.code(coder)?;
        gravity.code(coder)?;
        domain.code(coder)?;
        contact_time.code(coder)?;
        groups.code(coder)?;
        bodies.code(coder)?;
        restitutions.code(coder)?;
        combine.code(coder)?;
        impacts_per_substep.code(coder)?;
        max_impacts.code(coder)?;
        max_step_impacts.code(coder)?;
        impact_list.code(coder)?;
        contacts.code(coder)
    }
}

impl Simulation {
    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let text = |error: Error| error.to_string();
        let Self {
            spheres,
            state,
            options,
            lattice,
            walls,
            time,
            pace,
            detector: _,
            substep,
            rest,
            passing,
            contacts,
        } = self;
        options.code(coder)?;
        state.code(coder)?;
        let count = state.spheres.len();
        let mut motions = walls.motions().to_vec();
        motions.code(coder)?;
        if matches!(coder, Coder::Reader(_)) {
            options.check(count).map_err(text)?;
            *lattice = Lattice::new(&options.domain).map_err(text)?;
            state.check(options, lattice.is_open())?;
            let (simple, meshes) = (options.walls.simple(), options.walls.meshes());
            check(motions.len() == simple.len() + meshes.len(), "walls")?;
            let velocities = simple.iter().map(Wall::velocity);
            let velocities = velocities.chain(meshes.iter().map(Mesh::velocity));
            for (motion, velocity) in motions.iter_mut().zip(velocities) {
                motion.velocity = vector(velocity);
            }
            let (of, domain) = (&options.walls, &options.domain);
            let one_sided = options.one_sided_meshes;
            *walls =
                MovingWalls::with_motions(of, motions, domain, one_sided, None).map_err(text)?;
            *spheres = filled(count, HardSphere::blank(), "a snapshot").map_err(text)?;
            state.export(spheres, lattice);
        }
        time.code(coder)?;
        check((0.0..=f64::MAX).contains(time), "clock")?;
        pace.code(coder)?;
        let counts = [count, walls.len()];
        passing.code(coder)?;
        let known = passing.iter().all(|key| is_known(key, counts));
        check(known && passing.is_sorted(), "pairs")?;
        contacts.code(coder)?;
        check(contacts.is_sorted(), "contacts")?;
        rest.code(coder, counts)?;
        let candidates = &mut substep.candidates;
        candidates.code(coder, state, options, lattice, counts)
    }
}

impl Serialize for Simulation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut coder = Coder::Writer(Vec::new());
        self.clone().code(&mut coder).map_err(ser::Error::custom)?;
        let words = match coder {
            Coder::Writer(words) => words,
            Coder::Reader(words) => words.collect(),
        };
        let snapshot = Snapshot {
            carom: WRITER.to_owned(),
            format: FORMAT,
            checksum: checksum(&words),
            words,
        };
        snapshot.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Simulation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let snapshot = Snapshot::deserialize(deserializer)?;
        let restored = Self::of_snapshot(snapshot);
        restored.map_err(|problem| de::Error::custom(Error::InvalidSnapshot { problem }))
    }
}

impl Simulation {
    fn of_snapshot(snapshot: Snapshot) -> Result<Self, String> {
        let Snapshot {
            carom,
            format,
            checksum: sum,
            words,
        } = snapshot;
        if (&*carom, format) != (WRITER, FORMAT) {
            return Err(format!(
                "carom {carom} wrote it in format {format}, but this is carom {WRITER} with format {FORMAT}; read it \
                 with the version that wrote it"
            ));
        }
        if checksum(&words) != sum {
            return Err("it has been changed or cut off; take another copy".to_owned());
        }
        let mut simulation =
            Self::new(Vec::new(), SimulationOptions::new()).map_err(|error| error.to_string())?;
        let mut coder = Coder::Reader(words.into_iter());
        simulation.code(&mut coder)?;
        if coder.left() > 0 {
            return Err("it has more words than a simulation".to_owned());
        }
        Ok(simulation)
    }
}
