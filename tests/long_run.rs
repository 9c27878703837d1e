//! Runs two thousand time steps of an application that embeds carom, with a varying number of spheres,
//! several steps in flight, overflowing buffers and dropped readbacks. Memory must not grow, no pair may be
//! lost, and wgpu must report no error.

#![allow(clippy::cast_possible_truncation, reason = "counts of some hundreds")]

mod backends;
mod device;

use std::collections::VecDeque;

use backends::detector;
use carom::gpu::{
    BufferOptions, Capacity, CollisionBuffers, CollisionPipeline, ExactCollisions,
    RecordableSpheres, Ticket,
};
use carom::{Backend, Collision, Detector, Error, Hits, Options, Sphere, Step};
use device::{Device, Interleaved};
use fastrand::Rng;

const STEPS: usize = 2000;
const MOST: usize = 600;
/// Every `COMPARED` steps, the collisions found by the GPU are compared with those found by the
/// CPU.
const COMPARED: usize = 20;
/// Every `CROWDED` steps, the spheres are so crowded that carom's buffers have to grow.
const CROWDED: usize = 180;
/// Every `RENEWED` steps, carom's buffers are replaced by buffers of the initial capacity.
const RENEWED: usize = 500;

/// Returns the resident memory of this process in bytes, if the system reports it.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = status.split_whitespace().nth(1)?.parse().ok()?;
    Some(4096 * pages)
}

fn spheres(rng: &mut Rng, count: usize, side: f32) -> Vec<Sphere> {
    let mut place = |scale: f32| [0; 3].map(|_| rng.f32() * scale);
    (0..count)
        .map(|i| {
            let speed = if i % 40 == 0 { side } else { 0.5 };
            Sphere::new(place(side), 0.5).with_velocity(place(speed))
        })
        .collect()
}

struct Application {
    device: Device,
    pipeline: CollisionPipeline,
    buffers: CollisionBuffers,
    cpu: Detector,
    /// Readbacks in flight, oldest first, each with the expected list of collisions.
    tickets: VecDeque<(Ticket<ExactCollisions>, Hits<Collision>)>,
    compared: usize,
    grown: usize,
}

fn small() -> BufferOptions {
    BufferOptions::new(MOST as u32)
        .with_pairs(200)
        .with_segments(100)
        .with_recordings(4)
}

impl Application {
    /// Records and submits a time step without waiting for it. If `expected` is given, the collisions are
    /// compared with it when they have arrived.
    fn step<S: RecordableSpheres>(
        &mut self,
        step: &Step<'_, S>,
        expected: Option<Hits<Collision>>,
    ) -> Result<(), Error> {
        let mut encoder = self.device.encoder();
        match self.buffers.record(&mut encoder, step) {
            Err(Error::TooManyInFlight { .. }) => {
                // The recording failed because all of carom's upload buffers are in flight. It succeeds after
                // the device has finished them.
                self.device.wait();
                self.buffers.record(&mut encoder, step)?;
            }
            recorded => recorded?,
        }
        if let Some(expected) = expected {
            let ticket = match self.buffers.read_exact(&mut encoder) {
                Err(Error::TooManyInFlight { .. }) => {
                    self.device.wait();
                    self.take()?;
                    self.buffers.read_exact(&mut encoder)?
                }
                ticket => ticket?,
            };
            self.tickets.push_back((ticket, expected));
        }
        self.device.queue.submit([encoder.finish()]);
        self.take()?;
        Ok(())
    }

    /// Takes the lists of collisions whose readbacks are complete, and compares them with the expected lists.
    /// Returns the required buffer capacity if a list was truncated.
    fn take(&mut self) -> Result<Option<Capacity>, Error> {
        let mut missing = None;
        while let Some((mut ticket, expected)) = self.tickets.pop_front() {
            match ticket.try_take() {
                Ok(None) => {
                    self.tickets.push_front((ticket, expected));
                    break;
                }
                Ok(Some(step)) => {
                    assert_eq!(step.collisions.pairs, expected);
                    self.compared += 1;
                }
                Err(Error::Truncated { required, .. }) => missing = Some(required),
                Err(error) => return Err(error),
            }
        }
        Ok(missing)
    }

    /// Runs a time step. If `expected` is given, waits for the list of collisions and compares it
    /// with `expected`. Otherwise, reads no list, but at random times requests a readback and drops
    /// its ticket without taking the result.
    fn frame<S: RecordableSpheres>(
        &mut self,
        step: &Step<'_, S>,
        expected: Option<Hits<Collision>>,
        rng: &mut Rng,
    ) -> Result<(), Error> {
        if let Some(expected) = expected {
            return self.whole(step, &expected);
        }
        self.step(step, None)?;
        if rng.u8(..) < 8 {
            let mut encoder = self.device.encoder();
            drop(self.buffers.read_exact(&mut encoder));
            self.device.queue.submit([encoder.finish()]);
        }
        Ok(())
    }

    /// Runs a time step and compares its list of collisions with the expected list. If the list is truncated,
    /// grows carom's buffers and repeats the step.
    fn whole<S: RecordableSpheres>(
        &mut self,
        step: &Step<'_, S>,
        expected: &Hits<Collision>,
    ) -> Result<(), Error> {
        for _ in 0..4 {
            self.device.wait();
            self.take()?;
            self.step(step, Some(expected.clone()))?;
            self.device.wait();
            match self.take()? {
                Some(required) => {
                    self.buffers.grow(&required)?;
                    self.grown += 1;
                }
                None => return Ok(()),
            }
        }
        panic!("the buffers are still too small after growing four times")
    }
}

#[test]
fn thousands_of_steps_of_changing_counts_lose_no_pair_and_leak_no_memory() -> Result<(), Error> {
    let device = Device::real();
    let pipeline = device.pipeline();
    let mut rng = Rng::with_seed(1);
    let mut own = Vec::new();
    for _ in 0..3 {
        let spheres = spheres(&mut rng, MOST, 12.0);
        own.push((
            Interleaved::new(&device, &spheres),
            device.words(&[0]),
            spheres,
        ));
    }
    let mut application = Application {
        buffers: pipeline.create_buffers(&small())?,
        device,
        pipeline,
        cpu: detector(Backend::Cpu, Options::new()),
        tickets: VecDeque::new(),
        compared: 0,
        grown: 0,
    };
    let mut early = None;
    for step in 0..STEPS {
        let count = rng.usize(..=MOST);
        let dt = 0.25 * rng.f32();
        let (buffer, word, all) = &own[step % own.len()];
        let from_host = rng.bool();
        let crowded = step % CROWDED == CROWDED - 1;
        let held: Vec<Sphere> = match (from_host, crowded) {
            (_, true) => spheres(&mut rng, count.max(300), 2.5),
            (true, _) => spheres(&mut rng, count, 12.0),
            (false, _) => all[..count].to_vec(),
        };
        let on_device = buffer.first(MOST as u32).with_count_in(word, 0);
        let compared = step % COMPARED == COMPARED - 1 || crowded;
        let expected = compared.then(|| application.cpu.detect(&Step::new(&held, dt)));
        let expected = expected.transpose()?.map(|found| found.pairs);
        if from_host || crowded {
            application.frame(&Step::new(&held, dt), expected, &mut rng)?;
        } else {
            let words = [count as u32];
            let word_bytes = bytemuck::cast_slice(&words);
            application.device.queue.write_buffer(word, 0, word_bytes);
            application.frame(&Step::on_device(on_device, dt), expected, &mut rng)?;
        }
        if step % RENEWED == RENEWED - 1 {
            application.buffers = application.pipeline.create_buffers(&small())?;
        }
        if step % 1000 == 999 {
            let now = memory().map(|bytes| bytes >> 10);
            println!("after {} steps: {now:?} KiB", step + 1);
        }
        if step == STEPS / 4 {
            early = memory();
        }
    }
    application.device.wait();
    application.device.assert_silent();
    let least = STEPS / COMPARED;
    assert!(
        application.compared >= least,
        "only {} lists were compared",
        application.compared
    );
    assert!(
        application.grown >= 2 * (STEPS / RENEWED),
        "the buffers grew only {} times",
        application.grown
    );
    if let (Some(early), Some(late)) = (early, memory()) {
        println!(
            "{} MiB after a quarter, {} MiB at the end",
            early >> 20,
            late >> 20
        );
        assert!(
            late < early + (8 << 20),
            "memory grew from {early} to {late} bytes"
        );
    }
    Ok(())
}
