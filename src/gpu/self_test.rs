//! Tests on a device whether it decides pairs of spheres as the host does.
//!
//! Integer arithmetic is exact in WGSL, but a driver may have errors. If a device fails this test, the host decides the
//! pairs that it finds. A `Detector` runs it when it is created, other users of a device with their first recording.

use std::sync::Arc;

use bytemuck::Zeroable;
use wgpu::BufferUsages;

use super::device::allocator::filled;
use super::device::device_kernels::{DeviceKernels, Trust};
use super::device::dispatch::{Dispatch, workgroups};
use super::device::named_buffers::NamedBuffers;
use super::device::shader::constants::{FLAG_DECIDE, FLAG_TRUSTED};
use super::device::shader::layout::{Counters, Params};
use super::results::read_now::{ReadRange, staging, values};
use crate::exact::{GRAZING, impact};
use crate::shared::sets::Sets;
use crate::shared::units::Units;
use crate::{Collision, Error, Sphere};

/// Number of pairs. Each has two spheres of its own.
const PAIRS: usize = 2048;

/// Duration of the step.
const DT: f32 = 2.0;

/// The next number of a sequence that looks random.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns spheres of which each two in succession are a pair that is hard to decide: they pass each other at about the
/// sum of their radii, or touch at about the end of the step, or overlap. Numbers have few or many digits.
fn spheres() -> Vec<Sphere> {
    let mut state = 7;
    let mut number = |digits: u64| {
        let word = next(&mut state);
        // From -1 to 1, with up to 24 digits.
        let mask = u64::MAX << (64 - 1 - word % digits.max(1));
        ((word & mask) as i64) as f32 * 2_f32.powi(-63)
    };
    (0..PAIRS)
        .flat_map(|k| {
            let digits = [3, 8, 24][k % 3];
            let mut vector = || [number(digits), number(digits), number(digits)];
            let (place, apart, motion, drift) = (vector(), vector(), vector(), vector());
            let square = |x: [f32; 3]| x.iter().map(|x| x * x).sum::<f32>();
            // The distance of the centres at the closest approach, or at the end of the step.
            let dot: f32 = (0..3).map(|axis| apart[axis] * motion[axis]).sum();
            let time = match k % 4 {
                0 => 0.0,
                1 => DT,
                _ => (-dot / square(motion).max(f32::MIN_POSITIVE)).clamp(0.0, DT),
            };
            let then = [0, 1, 2].map(|axis| apart[axis] + motion[axis] * time);
            let reach =
                square(then).sqrt() * [1.0, 1.0 + f32::EPSILON, 1.0 - f32::EPSILON, 1.5][k / 4 % 4];
            let [one, other] = [reach / 4.0, reach - reach / 4.0];
            let plus = |x: [f32; 3], y: [f32; 3]| [0, 1, 2].map(|axis| x[axis] + y[axis]);
            [
                Sphere::new(place, one).with_velocity(drift),
                Sphere::new(plus(place, apart), other).with_velocity(plus(drift, motion)),
            ]
        })
        .collect()
}

/// The buffers of the test, and the dispatch that runs it.
pub(crate) struct SelfTest {
    spheres: Vec<Sphere>,
    dispatch: Dispatch,
    counters: wgpu::Buffer,
    decided: wgpu::Buffer,
}

impl SelfTest {
    /// Makes the buffers. Must be called inside a wgpu error scope.
    pub(crate) fn new(kernels: &DeviceKernels) -> Result<Self, Error> {
        let device = &kernels.context.device;
        let spheres = spheres();
        let found: Vec<[u32; 4]> = (0..PAIRS as u32)
            .map(|k| [2 * k, 2 * k + 1, 0, 0])
            .collect();
        let params = Params {
            pair_capacity: PAIRS as u32,
            flags: FLAG_DECIDE | FLAG_TRUSTED,
            ..Params::new(spheres.len(), Sets::One, DT, Units::default())
        };
        let counters = Counters {
            pairs: [PAIRS as u32, 0],
            ..Counters::zeroed()
        };
        let storage = BufferUsages::STORAGE;
        let make = |what, bytes: &[u8], usage| filled(device, what, bytes, usage);
        let params = make(
            "self-test params",
            bytemuck::bytes_of(&params),
            BufferUsages::UNIFORM,
        )?;
        let words = make("self-test spheres", bytemuck::cast_slice(&spheres), storage)?;
        let bits = make("self-test pairs", bytemuck::cast_slice(&found), storage)?;
        let source = storage | BufferUsages::COPY_SRC;
        let counters = make("self-test counters", bytemuck::bytes_of(&counters), source)?;
        let decided = make("self-test results", bytemuck::cast_slice(&found), source)?;
        let mut named = NamedBuffers::default()
            .with::<[u32; 4]>("sphere_words", &words)
            .with::<[u32; 4]>("found_bits", &bits)
            .with::<[u32; 4]>("decided_bits", &decided);
        named.one::<Params>("params", &params);
        named.one::<Counters>("counters", &counters);
        let kernel = &kernels.decide()?.decide;
        let over = workgroups(PAIRS as u64);
        Ok(Self {
            dispatch: kernels.binder().dispatch(kernel, &[&named], over)?,
            spheres,
            counters,
            decided,
        })
    }

    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("carom self-test"),
            timestamp_writes: None,
        });
        self.dispatch.record(&mut pass);
    }

    /// Returns the parts whose bytes [`passes`](Self::passes) takes, one after the other.
    pub(crate) fn parts(&self) -> [ReadRange<'_>; 2] {
        [&self.counters, &self.decided].map(|buffer| (buffer, 0, buffer.size()))
    }

    /// Returns whether the device has decided every pair as the host does, and has left few open.
    pub(crate) fn passes(&self, bytes: &[u8]) -> bool {
        let (counters, listed) = bytes.split_at(size_of::<Counters>().min(bytes.len()));
        let counters = values::<Counters>(counters).next();
        let count = counters.map_or(usize::MAX, |counters| counters.decided as usize);
        let mut open = vec![false; PAIRS];
        let mut found = vec![None; PAIRS];
        for pair in values::<Collision>(listed).take(count) {
            let k = pair.a as usize / 2;
            if k >= PAIRS || pair.b & !GRAZING != pair.a + 1 || found[k].is_some() || open[k] {
                return false;
            }
            open[k] = pair.b & GRAZING != 0;
            found[k] = Some([pair.toi, pair.depth].map(f32::to_bits));
        }
        let right = |k: usize| {
            let truth = impact(&self.spheres[2 * k], &self.spheres[2 * k + 1], (), DT).0;
            let truth = truth.map(|hit| [hit.toi, hit.depth].map(f32::to_bits));
            open[k] || found[k] == truth
        };
        let left = open.iter().filter(|&&open| open).count();
        count <= PAIRS && left < PAIRS / 2 && (0..PAIRS).all(right)
    }
}

/// A test that an application's submission runs, unless its encoder is dropped.
pub(crate) struct RecordedTest {
    test: SelfTest,
    staging: wgpu::Buffer,
    adapter: String,
    judging: Judging,
}

/// Ends the test when it is dropped.
struct Judging {
    trust: Arc<Trust>,
    passed: Option<bool>,
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.trust.end(self.passed);
    }
}

impl RecordedTest {
    /// Returns `None` if the device has been tested, or is being tested.
    pub(crate) fn new(kernels: &DeviceKernels) -> Result<Option<Self>, Error> {
        if !kernels.trust.begin() {
            return Ok(None);
        }
        let judging = Judging {
            trust: kernels.trust.clone(),
            passed: None,
        };
        let context = &kernels.context;
        context.scoped(|| {
            context.probe()?;
            let test = SelfTest::new(kernels)?;
            let size = test.parts().iter().map(|&(_, _, size)| size).sum();
            Ok(Some(Self {
                staging: staging(&context.device, size),
                adapter: context.device.adapter_info().name,
                test,
                judging,
            }))
        })
    }

    pub(crate) fn record(self, encoder: &mut wgpu::CommandEncoder) {
        self.test.record(encoder);
        let mut offset = 0;
        for (buffer, from, size) in self.test.parts() {
            encoder.copy_buffer_to_buffer(buffer, from, &self.staging, offset, size);
            offset += size;
        }
        let staging = self.staging.clone();
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |mapped| {
            if mapped.is_ok() {
                self.judge();
            }
        });
    }

    fn judge(mut self) {
        let Ok(bytes) = self.staging.get_mapped_range(..) else {
            return;
        };
        let passed = self.test.passes(&bytes);
        if !passed {
            log_failure(&self.adapter);
        }
        self.judging.passed = Some(passed);
    }
}

pub(crate) fn log_failure(adapter: &str) {
    log::error!("{adapter} decides pairs wrongly, so the host decides them");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;
    use crate::gpu::collide::options::BufferOptions;
    use crate::gpu::detector_backend::encoder;
    use crate::gpu::filter_on_gpu::adapter;
    use crate::gpu::results::read_now;

    #[test]
    fn a_device_passes_unless_it_decides_a_pair_wrongly() -> Result<(), Error> {
        let gpu = adapter();
        let test = SelfTest::new(&gpu.pipeline.kernels)?;
        let mut encoder = encoder(&gpu.device);
        test.record(&mut encoder);
        let mut bytes: Vec<u8> = Vec::new();
        read_now::read(&gpu.device, &gpu.queue, encoder, &test.parts(), &mut bytes)?;
        assert!(test.passes(&bytes));
        let begin = size_of::<Counters>();
        let listed: Vec<Collision> = values(&bytes[begin..]).collect();
        let counters: Vec<Counters> = values(&bytes[..begin]).collect();
        let count = counters[0].decided as usize;
        let decided = &listed[..count];
        let later = decided.iter().filter(|pair| pair.toi > 0.0).count();
        let deep = decided.iter().filter(|pair| pair.depth > 0.0).count();
        println!(
            "{count} of {PAIRS} listed, {} open, {later} later, {deep} deep",
            counters[0].grazing
        );
        assert!(later > 200 && deep > 200 && count < PAIRS - 200);
        // A wrong bit of a time or a depth, a missing pair and an invented one are found.
        for k in [0, count / 2, count - 1] {
            let marked = decided[k].b & GRAZING != 0;
            for word in [2, 3] {
                let mut wrong = bytes.clone();
                wrong[begin + 16 * k + 4 * word] ^= 1;
                assert!(marked || !test.passes(&wrong), "{:?}", decided[k]);
            }
        }
        let counted = std::mem::offset_of!(Counters, decided);
        for other in [count as u32 - 1, count as u32 + 1] {
            if other < count as u32 && decided[count - 1].b & GRAZING != 0 {
                continue;
            }
            let mut wrong = bytes.clone();
            wrong[counted..counted + 4].copy_from_slice(bytemuck::bytes_of(&other));
            assert!(!test.passes(&wrong));
        }
        Ok(())
    }

    #[test]
    fn a_device_that_fails_leaves_all_pairs_to_the_host() -> Result<(), Error> {
        let gpu = adapter();
        gpu.pipeline.kernels.trust.end(Some(false));
        let mut buffers = gpu.pipeline.create_buffers(&BufferOptions::new(100))?;
        let spheres = [0.0, 1.0, 2.0, 3.5].map(|x| Sphere::new([x, 0.0, 0.0], 0.5));
        // No later recording tests it again.
        for _ in 0..2 {
            let mut encoder = encoder(&gpu.device);
            buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
            let mut ticket = buffers.read_exact(&mut encoder)?;
            gpu.queue.submit([encoder.finish()]);
            let polled = gpu.device.poll(wgpu::PollType::wait_indefinitely());
            polled.map_err(Error::device_failed)?;
            let Some(found) = ticket.try_take()? else {
                panic!("the step has not ended");
            };
            let pairs: Vec<_> = (found.collisions.pairs.iter())
                .map(|pair| (pair.a, pair.b))
                .collect();
            assert_eq!(pairs, [(0, 1), (1, 2)]);
            assert!(found.summary.grazing >= 2);
            assert_eq!(found.summary.grazing, found.summary.pairs);
        }
        Ok(())
    }
}
