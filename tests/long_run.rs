//! Ten thousand steps of an application that embeds carom: counts that change, frames in flight,
//! buffers that overflow and grow, and tickets that nobody takes. Nothing piles up, nothing is lost,
//! and nothing is complained of.

#![allow(clippy::cast_possible_truncation, reason = "counts of some hundreds")]

mod backends;
mod device;

use std::collections::VecDeque;

use backends::detector;
use carom::gpu::{
    BufferOptions, CollisionBuffers, CollisionPipeline, ExactStep, PairList, Readback,
    RecordableSpheres, RequiredCapacity, SphereCount, Ticket,
};
use carom::{Backend, Collision, Detector, Error, Options, Sphere, Step};
use device::{Device, Interleaved};
use fastrand::Rng;

const STEPS: usize = 10_000;
const MOST: usize = 600;
/// Each so many, a list is compared with the CPU's.
const COMPARED: usize = 100;
/// Each so many, the spheres are so crowded that the buffers have to grow.
const CROWDED: usize = 900;
/// Each so many, the buffers are made anew, as small as at first.
const RENEWED: usize = 2500;

/// Bytes of memory in use, where the system tells.
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
    /// Tickets in the order of their steps, and what they should have.
    tickets: VecDeque<(Ticket<PairList<ExactStep>>, Vec<Collision>)>,
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
    /// A step that is submitted, and not waited for.
    fn step<S: RecordableSpheres + ?Sized>(
        &mut self,
        step: &Step<'_, S>,
        expected: Option<Vec<Collision>>,
    ) -> Result<(), Error> {
        let mut encoder = self.device.encoder();
        match self.buffers.record(&mut encoder, step) {
            Err(Error::TooManyInFlight { .. }) => {
                // The device is four frames behind.
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

    /// What has arrived; whether all of it was there.
    fn take(&mut self) -> Result<Option<RequiredCapacity>, Error> {
        let mut missing = None;
        while let Some((ticket, expected)) = self.tickets.pop_front() {
            match ticket.try_take()? {
                Readback::Pending(ticket) => {
                    self.tickets.push_front((ticket, expected));
                    break;
                }
                Readback::Ready(PairList::Complete(step)) => {
                    assert_eq!(step.collisions.pairs, expected);
                    self.compared += 1;
                }
                Readback::Ready(PairList::Truncated(required)) => missing = Some(required),
            }
        }
        Ok(missing)
    }

    /// A step that has to be as expected, or one whose tickets perhaps nobody ever takes.
    fn frame<S: RecordableSpheres + ?Sized>(
        &mut self,
        step: &Step<'_, S>,
        expected: Option<Vec<Collision>>,
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

    /// A step that has to be right, however much room it takes.
    fn whole<S: RecordableSpheres + ?Sized>(
        &mut self,
        step: &Step<'_, S>,
        expected: &[Collision],
    ) -> Result<(), Error> {
        for _ in 0..4 {
            self.device.wait();
            self.take()?;
            self.step(step, Some(expected.to_vec()))?;
            self.device.wait();
            match self.take()? {
                Some(required) => {
                    self.buffers.grow(&required)?;
                    self.grown += 1;
                }
                None => return Ok(()),
            }
        }
        panic!("does not grow enough")
    }
}

#[test]
fn ten_thousand_steps_of_changing_counts() -> Result<(), Error> {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
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
        cpu: detector(Backend::Cpu, Options::new().with_threads(1)),
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
        let mut on_device = buffer.spheres();
        on_device.count = SphereCount::InBuffer {
            buffer: word,
            offset: 0,
            at_most: MOST as u32,
        };
        let compared = step % COMPARED == COMPARED - 1 || crowded;
        let expected = compared.then(|| application.cpu.detect(&Step::new(&held, dt)));
        let expected = expected.transpose()?.map(|found| found.pairs);
        if from_host || crowded {
            application.frame(&Step::new(&held, dt), expected, &mut rng)?;
        } else {
            let words = [count as u32];
            let word_bytes = bytemuck::cast_slice(&words);
            application.device.queue.write_buffer(word, 0, word_bytes);
            application.frame(&Step::on_device(&on_device, dt), expected, &mut rng)?;
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
        "{} compared",
        application.compared
    );
    assert!(
        application.grown >= 2 * (STEPS / RENEWED),
        "{} times grown",
        application.grown
    );
    if let (Some(early), Some(late)) = (early, memory()) {
        println!(
            "{} MiB after a quarter, {} MiB at the end",
            early >> 20,
            late >> 20
        );
        assert!(late < early + (16 << 20), "memory grows: {early} to {late}");
    }
    Ok(())
}
