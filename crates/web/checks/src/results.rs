//! What WebGPU computes from its lists, and neighbour lists, beside their definitions.

use std::collections::BTreeSet;

use carom::gpu::BufferOptions;
use carom::{Backend, Detector, Domain, NeighborSearch, Options, Sphere, Step};
use fastrand::Rng;

use crate::device::{Device, interleaved};
use crate::{Checked, ensure, text};

fn gas(rng: &mut Rng, count: usize) -> Vec<Sphere> {
    let side = (2.0 * count as f32).cbrt();
    let mut vector = |size: f32| [0; 3].map(|_| rng.f32() * size);
    let sphere = |_| {
        let speed = vector(1.0);
        Sphere::new(vector(side), 0.5).with_velocity(speed)
    };
    (0..count).map(sphere).collect()
}

pub(crate) async fn all(tell: &impl Fn(String)) -> Checked<String> {
    let device = Device::open().await?;
    let reduced = reductions(&device).await?;
    tell(reduced.clone());
    let listed = neighbors(&device).await?;
    Ok(format!("{reduced}; {listed}"))
}

/// The earliest impact of each sphere, the sorted list, the contacts of each sphere, and the changes since the last step.
async fn reductions(device: &Device) -> Checked<String> {
    const COUNT: usize = 300;
    let mut rng = Rng::with_seed(2);
    let options = BufferOptions::new(COUNT as u32)
        .with_earliest()
        .with_sorted()
        .with_contacts()
        .with_changes();
    let mut buffers = device.buffers(&options).await?;
    let mut spheres = gas(&mut rng, COUNT);
    let mut before = BTreeSet::new();
    let mut all = 0;
    for number in 0..4 {
        let step = Step::new(&spheres, 1.0);
        let exact = device.exact(&mut buffers, &step).await.map_err(text)?;
        let mut encoder = device.encoder();
        let ticket = buffers.read_raw(&mut encoder).map_err(text)?;
        device.queue.submit([encoder.finish()]);
        let raw = ticket.take().await.map_err(text)?;
        let what = |what: &str| format!("step {number}: {what}");

        let words = device.read(buffers.sorted().map_err(text)?).await?;
        let sorted: Vec<&[u32]> = words.chunks_exact(4).take(raw.pairs().len()).collect();
        let mut expected: Vec<[u32; 4]> = raw
            .pairs()
            .iter()
            .enumerate()
            .map(|(k, hit)| {
                let grazing = u32::from(raw.is_grazing(k)) << 31;
                [
                    hit.a,
                    hit.b | grazing,
                    hit.toi.to_bits(),
                    hit.depth.to_bits(),
                ]
            })
            .collect();
        expected.sort_unstable_by_key(|&[a, b, ..]| (a, b << 1));
        ensure(
            sorted
                .iter()
                .zip(&expected)
                .all(|(one, other)| *one == other),
            || what("the sorted list"),
        )?;

        let words = device.read(buffers.earliest().map_err(text)?).await?;
        let mut first = vec![[f32::MAX.to_bits(), u32::MAX]; COUNT];
        for hit in raw.pairs().iter() {
            for (one, other) in [(hit.a, hit.b), (hit.b, hit.a)] {
                let first = &mut first[one as usize];
                *first = (*first).min([hit.toi.to_bits(), other]);
            }
        }
        ensure(
            words
                .chunks_exact(2)
                .zip(&first)
                .all(|(one, other)| one == other),
            || what("the earliest impacts"),
        )?;

        let offsets = device
            .read(buffers.contact_offsets().map_err(text)?)
            .await?;
        let indices = device
            .read(buffers.contact_indices().map_err(text)?)
            .await?;
        let mut of_spheres = 0;
        for sphere in 0..COUNT {
            let range = offsets[sphere] as usize..offsets[sphere + 1] as usize;
            let others = indices[range].iter().map(|&k| {
                let pair = expected[k as usize];
                match [pair[0], pair[1] & 0x7fff_ffff] {
                    [a, b] if b == sphere as u32 => a,
                    [a, b] if a == sphere as u32 => b,
                    _ => u32::MAX,
                }
            });
            let others: Vec<u32> = others.collect();
            of_spheres += others.len();
            let right = others.is_sorted_by(|a, b| a < b) && !others.contains(&u32::MAX);
            ensure(right, || what("the contacts"))?;
        }
        ensure(of_spheres == 2 * expected.len(), || {
            what("the number of contacts")
        })?;

        let words = device.read(buffers.changes().map_err(text)?).await?;
        let now: BTreeSet<[u32; 2]> = expected
            .iter()
            .map(|&[a, b, ..]| [a, b & 0x7fff_ffff])
            .collect();
        let changed = now
            .difference(&before)
            .chain(now.intersection(&before))
            .chain(before.difference(&now));
        ensure(
            words
                .chunks_exact(2)
                .zip(changed)
                .all(|(one, other)| one == other),
            || what("the changes"),
        )?;
        all += exact.collisions.pairs.len();
        before = now;
        for sphere in &mut spheres {
            for (x, v) in sphere.center.iter_mut().zip(sphere.velocity) {
                *x += 0.25 * v;
            }
        }
    }
    ensure(all > 400, || format!("only {all} pairs"))?;
    Ok(format!("results of 4 steps, {all} pairs"))
}

/// Lists of neighbours, from the host's memory and the device's.
async fn neighbors(device: &Device) -> Checked<String> {
    let mut rng = Rng::with_seed(3);
    let mut cpu = Detector::new(Options::new().with_backend(Backend::Cpu)).map_err(text)?;
    let options = BufferOptions::new(200)
        .with_periodic()
        .with_contacts()
        .with_neighbors();
    let mut buffers = device.buffers(&options).await?;
    let mut all = 0;
    for number in 0..8 {
        let spheres = gas(&mut rng, 200);
        let domain = match number % 4 {
            0 | 1 => Domain::open(),
            2 => Domain::rectangular([0.0; 3], [7.0, 7.5, 8.0]),
            _ => Domain::triclinic(
                [0.5; 3],
                [[7.0, 0.0, 0.0], [2.0, 7.0, 0.0], [-1.0, 1.0, 8.0]],
            ),
        };
        let (full, skin) = (number % 2 == 1, if number < 4 { 0.0 } else { 0.2 });
        let search = NeighborSearch::within(&spheres, 1.25)
            .in_domain(&domain)
            .with_skin(skin);
        let search = if full { search.full() } else { search };
        let buffer = device.filled(bytemuck::cast_slice(&spheres));
        let on_device = interleaved(&buffer, spheres.len());
        let on_device = NeighborSearch::within_on_device(on_device, 1.25)
            .in_domain(&domain)
            .with_skin(skin);
        let on_device = if full { on_device.full() } else { on_device };
        let expected = cpu.find_neighbors(&search).map_err(text)?;
        for host in [true, false] {
            let mut attempts = 0;
            let summary = loop {
                let mut encoder = device.encoder();
                let recorded = match host {
                    true => buffers.record_neighbors(&mut encoder, &search),
                    false => buffers.record_neighbors(&mut encoder, &on_device),
                };
                recorded.map_err(text)?;
                let ticket = buffers.read_summary(&mut encoder).map_err(text)?;
                device.queue.submit([encoder.finish()]);
                let summary = ticket.take().await.map_err(text)?;
                attempts += 1;
                match summary.required_capacity().filter(|_| attempts < 6) {
                    Some(required) => buffers.grow_async(&required).await.map_err(text)?,
                    None => break summary,
                };
            };
            let name = || format!("neighbours {number}, from the host: {host}, {summary:?}");
            ensure(summary.is_complete(), name)?;
            let words = device.read(buffers.neighbors().map_err(text)?).await?;
            let vectors = device
                .read(buffers.neighbor_vectors().map_err(text)?)
                .await?;
            let entries = words.chunks_exact(4).zip(vectors.chunks_exact(4));
            let mut next = (0..expected.len()).peekable();
            for (entry, vector) in entries.take(summary.neighbors as usize) {
                let image = [20, 10, 0].map(|shift| (entry[2] >> shift & 1023).cast_signed() - 512);
                let same = |&k: &usize| {
                    expected.pairs()[k] == entry[..2] && expected.pairs().image(k) == image
                };
                let Some(k) = next.next_if(same) else {
                    ensure(entry[3] == 1, || {
                        format!("{}: {entry:?} is too much", name())
                    })?;
                    continue;
                };
                let [x, y, z] = expected.vectors()[k];
                let right = [x, y, z, expected.distances()[k]];
                let near = vector
                    .iter()
                    .zip(right)
                    .all(|(&bits, right)| (f32::from_bits(bits) - right).abs() <= 4e-6);
                ensure(near, || format!("{}: {right:?}", name()))?;
                all += 1;
            }
            ensure(next.next().is_none(), || {
                format!("{}: an entry is missing", name())
            })?;
        }
    }
    ensure(all > 4000, || format!("only {all} neighbours"))?;
    Ok(format!("{all} neighbours"))
}
