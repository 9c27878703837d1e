//! The state of a hard-sphere simulation on the GPU, as the host reads it.

use crate::Impact;
use crate::gpu::device::shader::layout::GpuSimulation;
use crate::gpu::results::status::Status;

bitflags::bitflags! {
    /// Flags that tell why substeps of the last recording of a simulation were rolled back, and
    /// whether spheres with invalid values were left out of the simulation. For each flag,
    /// [`WGSL`](crate::gpu::WGSL) has a constant with the same name and the prefix `CAROM_`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(transparent))]
    pub struct SimulationStatus: u32 {
        /// The search for candidate pairs was incomplete, because there were more than
        /// [`SimulationBufferOptions::candidates`](crate::gpu::SimulationBufferOptions::with_candidates), or for the
        /// reasons in [`SimulationState::search_status`].
        const SEARCH_INCOMPLETE = 1;
        /// A substep needed more rounds than were recorded. If this happens in every recording and the time does
        /// not advance, increase [`rounds`](crate::gpu::SimulationBufferOptions::with_rounds).
        const TOO_FEW_ROUNDS = 2;
        /// A substep was rolled back because a sphere moved farther than the search for candidate
        /// pairs had assumed. In a periodic domain, this happens in about one of twenty substeps.
        /// In open space, it is rare: carom searches for further candidates of such spheres in the
        /// same substep. The substep is rolled back only if there are too many such spheres or
        /// candidates.
        const LEFT_PAD = 4;
        /// Some spheres have invalid values, such as NaN or a mass above 2⁶⁰, and take no part.
        const SPHERES_LEFT_OUT = 8;
        /// The list of impacts had no room for the impacts of a substep, so the substep was rolled back. The next
        /// recording goes on from there, with an empty list. If this happens in every recording and the time does
        /// not advance, more impacts happen at the same time than
        /// [`SimulationBufferOptions::impacts`](crate::gpu::SimulationBufferOptions::with_impacts) allows.
        const IMPACTS_FULL = 16;
        /// A sphere had more impacts at one time than its path has room for, so a substep took no time, or hardly any. If
        /// this happens in every recording and the time does not advance, the impacts never end: inelastic spheres
        /// collapse, or an elastic sphere lies on a floor. Set a
        /// [contact time](crate::SimulationOptions::with_contact_time) then, and gravity if spheres are to rest.
        const COLLAPSE = 32;
        /// A sphere that moves is so far from the origin that float32 numbers there are farther apart than its radius. Its
        /// centre in the application's buffer stands still and jumps, and even farther away it does not move at all. Keep
        /// spheres and walls nearer to the origin.
        const FAR_AWAY = 64;
        /// The recording has not reached the requested time: [`SimulationState::remaining`] is above 0. If this happens in
        /// every recording, the simulation falls behind: see [`SimulationState::substeps_for`].
        const BEHIND = 128;
    }
}

/// Progress of the simulation in a [`SimulationBuffers`](crate::gpu::SimulationBuffers): the time reached, the number of
/// impacts, and why substeps were rolled back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SimulationState {
    /// Simulated time so far. If it does not advance, `status` says why.
    pub time: f64,
    /// Time that recordings have requested and that has not been simulated yet. It is 0 if less than a rounding error
    /// remains.
    pub remaining: f64,
    /// Time that recordings have requested and that was dropped, so far: see
    /// [`SimulationBufferOptions::with_most_remaining`](crate::gpu::SimulationBufferOptions::with_most_remaining). The
    /// durations of all recordings add up to `time`, `remaining` and `dropped`.
    pub dropped: f64,
    /// Duration that the GPU intends for the next substep, or 0 before the first one.
    pub pace: f64,
    /// Flags that tell why substeps of the last recording were rolled back, and whether it has reached its time.
    pub status: SimulationStatus,
    /// Status of the latest incomplete search for candidate pairs. Its bits tell why that search
    /// did not find all of them.
    pub search_status: Status,
    /// The greater of two numbers of candidates (pairs that may meet) in the last substep: pairs of spheres,
    /// and pairs of a sphere and a triangle of a mesh.
    pub candidates: u32,
    /// Number of impacts of two spheres so far.
    pub sphere_impacts: u64,
    /// Number of impacts of a sphere and a wall so far.
    pub wall_impacts: u64,
    /// Virial: the sum over all impacts of two spheres so far of their centre distance times their impulse. Like
    /// `kinetic_energy`, it is infinite or NaN if it exceeds float32.
    pub virial: f64,
    /// Kinetic energy of the spheres of finite mass, after the last complete substep.
    pub kinetic_energy: f64,
    /// Number of complete substeps so far.
    pub substeps: u32,
    /// Number of substeps that were rolled back, so far.
    pub rollbacks: u32,
    /// Largest number of [rounds](crate::gpu::SimulationBufferOptions::with_rounds) in any complete substep
    /// of the last recording.
    pub rounds: u32,
    /// Number of the last recording that has run, from 1.
    pub serial: u32,
    /// Number of impacts in the list of impacts of the last recording. If the options request no
    /// list, it is 0.
    pub listed: u32,
}

/// The state of a simulation and the impacts of its last recording, returned by
/// [`SimulationBuffers::read_impacts`](crate::gpu::SimulationBuffers::read_impacts).
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SimulationImpacts {
    /// The state after the recording.
    pub state: SimulationState,
    /// The impacts of the recording in the order of time. Impacts at exactly the same time are in the order of sphere,
    /// partner and image.
    pub impacts: Vec<Impact>,
}

impl SimulationState {
    /// Returns the number of substeps that the next recording needs for a time `duration` and for all that
    /// [`remaining`](Self::remaining) has, at the present [`pace`](Self::pace), and a quarter more for those that are rolled
    /// back. It is 1 before the first substep.
    ///
    /// So a simulation adapts if it reads its state now and then:
    ///
    /// ```no_run
    /// # use carom::gpu::{SimulationBuffers, SimulationState};
    /// # fn run(simulation: &mut SimulationBuffers, state: &SimulationState) -> Result<(), carom::Error> {
    /// // At most 64 substeps in a frame, whatever happens.
    /// simulation.set_substeps(state.substeps_for(1.0 / 60.0).clamp(4, 64))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn substeps_for(&self, duration: f64) -> u32 {
        let count = 1.25 * (duration + self.remaining) / self.pace;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates"
        )]
        let count = count.ceil() as u32;
        if self.pace > 0.0 { count.max(1) } else { 1 }
    }

    /// Reads the state from the bytes of [`SimulationBuffers::state`](crate::gpu::SimulationBuffers::state), or
    /// returns `None` if they are too few.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..size_of::<GpuSimulation>())?;
        let raw: GpuSimulation = bytemuck::pod_read_unaligned(bytes);
        let count = |[low, high]: [u32; 2]| u64::from(low) | u64::from(high) << 32;
        let sum = |[high, low]: [f32; 2]| f64::from(high) + f64::from(low);
        Some(Self {
            time: sum(raw.time),
            remaining: if raw.remaining == 0.0 {
                0.0
            } else {
                sum([raw.remaining, raw.carried])
            },
            dropped: sum(raw.dropped),
            pace: raw.pace.into(),
            status: SimulationStatus::from_bits_truncate(raw.status),
            search_status: Status::from_bits_truncate(raw.search_status),
            candidates: raw.candidates,
            sphere_impacts: count(raw.impacts),
            wall_impacts: count(raw.wall_impacts),
            virial: sum(raw.virial),
            kinetic_energy: raw.kinetic_energy.into(),
            substeps: raw.substeps,
            rollbacks: raw.rollbacks,
            rounds: raw.rounds,
            serial: raw.serial,
            listed: raw.listed,
        })
    }
}
