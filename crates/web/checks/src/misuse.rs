//! Misuse is an error that names what is wrong, and which sticks to what caused it.

use std::sync::Arc;

use carom::gpu::{BufferOptions, CollisionPipeline};
use carom::{Backend, Detector, Error, Options, Sphere, Step};

use crate::device::{Device, interleaved, pause};
use crate::{Checked, ensure, text};

fn spheres() -> Vec<Sphere> {
    (0..100)
        .map(|i| Sphere::new([i as f32 * 0.9, 0.0, 0.0], 0.5))
        .collect()
}

pub(crate) async fn all(_tell: &impl Fn(String)) -> Checked<String> {
    let device = Device::open().await?;
    another_device(&device).await?;
    dropped(&device).await?;
    blocking().await?;
    lost(device).await?;
    Ok("as named errors".to_owned())
}

/// A buffer of another device: the error arrives late, and is that of the step with this buffer only.
async fn another_device(device: &Device) -> Checked {
    let spheres = spheres();
    let bytes = bytemuck::cast_slice(&spheres);
    let other = Device::open().await?;
    let [own, foreign] = [device.filled(bytes), other.filled(bytes)];
    let mut buffers = device.buffers(&BufferOptions::new(100)).await?;
    let mut neighbour = device.buffers(&BufferOptions::new(100)).await?;
    // The submission is invalid.
    device.device.on_uncaptured_error(Arc::new(|_| ()));
    let step = Step::on_device(interleaved(&foreign, 100), 1.0);
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &step).map_err(text)?;
    let ticket = buffers.read_exact(&mut encoder).map_err(text)?;
    device.queue.submit([encoder.finish()]);
    let taken = ticket.take().await;
    ensure(matches!(taken, Err(Error::SourceBuffer { .. })), || {
        format!(
            "the ticket of a foreign buffer: {:?}",
            taken.map(|found| found.collisions.pairs.len())
        )
    })?;
    let step = Step::new(&spheres, 1.0);
    device.exact(&mut neighbour, &step).await.map_err(text)?;
    for _ in 0..2 {
        let step = Step::on_device(interleaved(&foreign, 100), 1.0);
        let again = buffers.record(&mut device.encoder(), &step);
        ensure(matches!(again, Err(Error::SourceBuffer { .. })), || {
            format!("a foreign buffer again: {again:?}")
        })?;
        let step = Step::on_device(interleaved(&own, 100), 1.0);
        let found = device.exact(&mut buffers, &step).await.map_err(text)?;
        ensure(found.collisions.pairs.len() == 99, || {
            "an own buffer afterwards".to_owned()
        })?;
    }
    Ok(())
}

async fn dropped(device: &Device) -> Checked {
    let spheres = spheres();
    let mut buffers = device.buffers(&BufferOptions::new(100)).await?;
    let mut encoder = device.encoder();
    buffers
        .record(&mut encoder, &Step::new(&spheres, 1.0))
        .map_err(text)?;
    let ticket = buffers.read_exact(&mut encoder).map_err(text)?;
    drop(encoder);
    let taken = ticket.take().await.err();
    ensure(taken == Some(Error::NotSubmitted), || {
        format!("a dropped encoder: {taken:?}")
    })?;
    let huge = device
        .pipeline
        .create_buffers(&BufferOptions::new(1 << 28))
        .err();
    ensure(matches!(huge, Some(Error::DeviceLimit { .. })), || {
        format!("too many spheres: {huge:?}")
    })
}

/// A page must not block, and its adapter is one in software here.
async fn blocking() -> Checked {
    let made = Detector::new(Options::new().with_backend(Backend::Gpu)).err();
    let says = made.map(text).unwrap_or_default();
    ensure(says.contains("new_async"), || {
        format!("a blocking constructor: {says}")
    })?;
    let auto = Detector::new_async(Options::default())
        .await
        .map_err(text)?;
    ensure(
        auto.backend() == Backend::Cpu && auto.reason().contains("software"),
        || format!("Auto: {:?}, {}", auto.backend(), auto.reason()),
    )?;
    let on_gpu = Options::new().with_backend(Backend::Gpu);
    let mut detector = Detector::new_async(on_gpu).await.map_err(text)?;
    let spheres = spheres();
    let says = detector.detect(&Step::new(&spheres, 1.0)).err();
    let says = says.map(text).unwrap_or_default();
    ensure(says.contains("detect_async"), || {
        format!("a blocking step: {says}")
    })?;
    let found = detector.detect_async(&Step::new(&spheres, 1.0)).await;
    let found = found.map_err(text)?;
    ensure(found.pairs.len() == 99, || {
        "a step after a blocking one".to_owned()
    })
}

async fn lost(device: Device) -> Checked {
    let spheres = spheres();
    let step = Step::new(&spheres, 1.0);
    let mut buffers = device.buffers(&BufferOptions::new(100)).await?;
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &step).map_err(text)?;
    let ticket = buffers.read_exact(&mut encoder).map_err(text)?;
    device.queue.submit([encoder.finish()]);
    device.device.destroy();
    let taken = ticket.take().await.err();
    ensure(taken == Some(Error::DeviceLost), || {
        format!("the ticket of a lost device: {taken:?}")
    })?;
    for _ in 0..20 {
        pause().await?;
    }
    let recorded = buffers.record(&mut device.encoder(), &step);
    ensure(recorded == Err(Error::DeviceLost), || {
        format!("a step on a lost device: {recorded:?}")
    })?;
    let made = device
        .pipeline
        .create_buffers(&BufferOptions::new(100))
        .err();
    ensure(made == Some(Error::DeviceLost), || {
        format!("buffers of a lost device: {made:?}")
    })?;
    let made = device
        .pipeline
        .create_buffers_async(&BufferOptions::new(100))
        .await
        .err();
    ensure(made == Some(Error::DeviceLost), || {
        format!("buffers of a lost device: {made:?}")
    })?;
    let made = CollisionPipeline::new_async(&device.device).await.err();
    ensure(made == Some(Error::DeviceLost), || {
        format!("a pipeline of a lost device: {made:?}")
    })
}
