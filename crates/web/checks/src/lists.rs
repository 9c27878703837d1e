//! The exact lists of WebGPU beside those of the CPU.

use carom::gpu::BufferOptions;
use carom::{Backend, Collisions, Detector, Error, Options, Step};
use fastrand::Rng;

use crate::device::{Device, interleaved};
use crate::worlds::World;
use crate::{Checked, ensure, text};

/// Also the bytes of the numbers.
fn same(cpu: &Collisions, gpu: &Collisions) -> bool {
    let pair = |hit: &carom::Collision| (hit.a, hit.b, hit.toi.to_bits(), hit.depth.to_bits());
    let wall =
        |hit: &carom::WallCollision| (hit.sphere, hit.wall, hit.toi.to_bits(), hit.depth.to_bits());
    cpu.pairs.iter().map(pair).eq(gpu.pairs.iter().map(pair))
        && cpu.pairs.images() == gpu.pairs.images()
        && cpu.walls.iter().map(wall).eq(gpu.walls.iter().map(wall))
        && cpu.walls.images() == gpu.walls.images()
}

fn options(world: &World) -> BufferOptions {
    let mut options = BufferOptions::new(world.spheres.len().max(64) as u32);
    if !world.domain.is_open() {
        options = options.with_periodic();
    }
    if let Some(walls) = &world.walls {
        let triangles: usize = walls
            .meshes()
            .iter()
            .map(|mesh| mesh.triangles().len())
            .sum();
        options = options.with_walls(walls.simple().len().max(8) as u32);
        if triangles > 0 {
            options = options.with_triangles(triangles as u32);
        }
    }
    options
}

/// Lists of `CollisionBuffers`, from the host's memory and from the device's, and of a `Detector`.
pub(crate) async fn all(worlds: u32, tell: &impl Fn(String)) -> Checked<String> {
    let device = Device::open().await?;
    let mut cpu = Detector::new(Options::new().with_backend(Backend::Cpu)).map_err(text)?;
    let on_gpu = Options::new().with_backend(Backend::Gpu);
    let mut gpu = Detector::new_async(on_gpu).await.map_err(text)?;
    tell(format!("{:?}, {}", gpu.adapter(), gpu.reason()));
    let (mut pairs, mut grazing, mut contacts, mut refused) = (0, 0, 0, 0);
    // Small worlds share buffers, by their options.
    let mut kept = std::collections::HashMap::new();
    for number in 0..worlds {
        let world = World::nth(number);
        let name = format!("world {number}, {}", world.name);
        let step = world.step();
        let expected = cpu
            .detect(&step)
            .map_err(|error| format!("{name}: {error}"))?;
        let options = options(&world);
        let small = world.spheres.len() <= 64;
        let key = format!("{options:?}");
        let mut buffers = match kept.remove(&key) {
            Some(buffers) => buffers,
            None => device.buffers(&options).await?,
        };
        let found = match device.exact(&mut buffers, &step).await {
            Ok(found) => found.collisions,
            // A driver in software ends long loops early.
            Err(Error::Device { reason, .. }) if reason.contains("ends loops") => {
                refused += 1;
                continue;
            }
            Err(error) => return Err(format!("{name}: {error}")),
        };
        ensure(same(&expected, &found), || {
            let counts = [&expected, &found].map(|list| [list.pairs.len(), list.walls.len()]);
            format!("{name}: the lists differ; pairs and wall contacts on CPU and GPU: {counts:?}")
        })?;
        pairs += expected.pairs.len();
        grazing += expected.statistics.grazing;
        contacts += expected.walls.len();
        if number % 3 == 0 && !world.spheres.is_empty() && world.split.is_none() {
            let buffer = device.filled(bytemuck::cast_slice(&world.spheres));
            let spheres = interleaved(&buffer, world.spheres.len());
            let mut step = Step::on_device(spheres, world.dt).in_domain(&world.domain);
            if let Some(walls) = &world.walls {
                step = step.with_walls(walls);
            }
            let found = device.exact(&mut buffers, &step).await;
            let found = found.map_err(|error| format!("{name}, on the device: {error}"))?;
            ensure(same(&expected, &found.collisions), || {
                format!("{name}, on the device: the lists differ")
            })?;
        }
        if number % 5 == 0 {
            let found = gpu.detect_async(&step).await;
            let found = found.map_err(|error| format!("{name}, detector: {error}"))?;
            ensure(same(&expected, &found), || {
                format!("{name}, detector: the lists differ")
            })?;
        }
        if small {
            kept.insert(key, buffers);
        }
        if number % 25 == 24 {
            tell(format!("{} worlds", number + 1));
        }
    }
    ensure(refused * 16 <= worlds, || {
        format!("{refused} worlds were refused")
    })?;
    ensure(pairs > 0 && grazing > 0, || {
        "nothing was compared".to_owned()
    })?;
    Ok(format!(
        "{worlds} worlds, {pairs} pairs ({grazing} grazing) and {contacts} wall contacts are the same; {refused} refused"
    ))
}

/// Returns how many of the worlds of tangent pairs have the CPU's list, as an error unless it is all of them.
pub(crate) async fn grazing(_tell: &impl Fn(String)) -> Checked<String> {
    let device = Device::open().await?;
    let mut cpu = Detector::new(Options::new().with_backend(Backend::Cpu)).map_err(text)?;
    let mut buffers = device.buffers(&BufferOptions::new(200)).await?;
    let mut rng = Rng::with_seed(1);
    let mut right = 0;
    for kind in 0..12 {
        let world = World::tangent(kind, 100, &mut rng);
        let expected = cpu.detect(&world.step()).map_err(text)?;
        let found = device.exact(&mut buffers, &world.step()).await;
        right += u32::from(found.is_ok_and(|found| same(&expected, &found.collisions)));
    }
    let done = format!("{right} of 12 worlds of tangent pairs are the same");
    ensure(right == 12, || done.clone())?;
    Ok(done)
}
