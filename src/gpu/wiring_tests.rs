//! Tests that each variable of each compute kernel finds exactly one buffer of its name, on wgpu's
//! no-op device.

use crate::Error;
use crate::gpu::collide::buffers::{BufferCapacity, Buffers};
use crate::gpu::collide::reductions::{ReduceKernels, Reductions, Wanted};
use crate::gpu::collide::stages::{AtWalls, Recording};
use crate::gpu::device::dispatch::Binder;
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::{
    Decide, Gather, OrderKernels, Periodic, Reduce, Stages, WallKernels,
};
use crate::gpu::device::shader::layout::{CaromResults, Gathered};
use crate::gpu::device::timing::MOST_STAGES;

const CAPACITY: BufferCapacity = BufferCapacity {
    spheres: 5000,
    segments: 5000,
    pairs: 5000,
    walls: 0,
    triangles: 0,
    mesh_segments: 0,
    mesh_pairs: 0,
    wall_collisions: 0,
};

#[test]
fn every_name_stands_for_one_buffer() -> Result<(), Error> {
    let (device, _) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let limits = device.limits();
    let binder = Binder {
        device: &device,
        widest: limits.max_compute_workgroups_per_dimension,
    };
    let stages = Stages::new(&device)?;
    let periodic = Periodic::new(&device)?;
    let decide = Decide::new(&device)?;
    let rows = OrderKernels::new(&device)?;
    let kernels = Reduce::new(&device)?;
    let wall_kernels = WallKernels::new(&device)?;
    let cases = [
        (false, 0, 0, 7),
        (true, 0, 0, 8),
        (false, 9, 0, 8),
        (true, 9, 5, 10),
        (false, 0, 5, 9),
    ];
    for (in_cell, walls, triangles, count) in cases {
        let capacity = BufferCapacity {
            walls,
            triangles,
            wall_collisions: 99,
            ..CAPACITY
        };
        let buffers = Buffers::new(&device, &limits, capacity, in_cell, true, true)?;
        let mesh = Buffers::new(&device, &limits, CAPACITY, in_cell, false, false)?;
        let (periodic, walls) = (Some(&periodic), Some(&wall_kernels));
        let at_walls = AtWalls {
            kernels: &wall_kernels,
            mesh: (triangles > 0).then_some(&mesh),
        };
        let (decide, walls_too) = ((Some(&decide), Some(&rows)), Some(at_walls));
        let recording = Recording::new(binder, &stages, periodic, decide, walls_too, &buffers)?;
        assert_eq!(recording.stages(None).count(), count);
        let made = |wanted| {
            let kernels = ReduceKernels {
                stages: &stages,
                reduce: &kernels,
                walls,
            };
            let mut made = Reductions::new(binder, kernels, &buffers, &limits, wanted)?;
            let names = made.take_stages().iter().map(|stage| stage.name).collect();
            Ok::<Vec<&str>, Error>(names)
        };
        check_reductions(made, count)?;
    }
    Ok(())
}

/// Checks for several requests of reductions that exactly the required stages run. `made(request)`
/// returns the names of the stages that a request adds. `stages` is the number of stages that run
/// in every step.
fn check_reductions(
    made: impl Fn(Wanted) -> Result<Vec<&'static str>, Error>,
    stages: usize,
) -> Result<(), Error> {
    let all = made(Wanted::ALL)?;
    assert_eq!(all, ["earliest", "sort", "contacts", "changes"]);
    // `stages` does not include the stage `load`, which reads spheres from the application's
    // buffers.
    let stages_at_most = 1 + stages + all.len();
    assert!(stages_at_most <= MOST_STAGES as usize, "{stages_at_most}");

    let none = Wanted::default();
    let earliest = Wanted {
        earliest: true,
        ..none
    };
    let sorted = Wanted {
        sorted: true,
        ..none
    };
    let contacts = Wanted {
        contacts: true,
        ..none
    };
    let changes = Wanted {
        changes: true,
        ..none
    };
    assert_eq!(made(earliest)?, ["earliest"]);
    assert_eq!(made(sorted)?, ["sort"]);
    assert_eq!(made(contacts)?, ["sort", "contacts"]);
    assert_eq!(made(changes)?, ["sort", "changes"]);
    Ok(())
}

#[test]
fn a_buffer_name_that_is_missing_ambiguous_or_of_a_wrong_type_is_an_error() -> Result<(), Error> {
    let (device, _) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let binder = Binder {
        device: &device,
        widest: 9,
    };
    let kernel = Gather::new(&device)?.gather;
    let buffers = Buffers::new(&device, &device.limits(), CAPACITY, false, true, false)?;
    let says = |sources: &[&NamedBuffers], problem: &str| match binder.dispatch(&kernel, sources, 1)
    {
        Ok(_) => panic!("accepted despite: {problem}"),
        Err(error) => assert!(error.to_string().contains(problem), "{error}"),
    };
    let step = &buffers.named;
    let mut counted = NamedBuffers::default();
    counted.one::<u32>("gathered_count", &buffers.results);
    says(&[step, &counted], "no `gathered` buffer");
    let own = counted.clone().with::<Gathered>("gathered", &buffers.pairs);
    binder.dispatch(&kernel, &[step, &own], 1)?;
    let again = NamedBuffers::default().with::<Gathered>("gathered", &buffers.pairs);
    says(&[step, &own, &again], "two `gathered` buffers");
    let mut single = counted.clone();
    single.one::<Gathered>("gathered", &buffers.pairs);
    says(&[step, &single], "`gathered` has the type");
    let other = counted.with::<CaromResults>("gathered", &buffers.pairs);
    says(&[step, &other], "`gathered` has the type");
    Ok(())
}
