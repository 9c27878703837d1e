//! That every variable of a kernel finds its buffer by name, on a device that computes
//! nothing.

use super::buffers::{Buffers, Capacity};
use super::dispatch::Binder;
use super::reductions::{Reductions, Wanted};
use super::scope::Scope;
use super::shader::kernels::{Gather, Reduce, Stages};
use super::shader::layout::{CaromResults, Gathered};
use super::stages::Recording;
use crate::Error;

const CAPACITY: Capacity = Capacity {
    spheres: 5000,
    segments: 5000,
    pairs: 5000,
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
    let buffers = Buffers::new(&device, &limits, CAPACITY)?;
    let recording = Recording::new(binder, &stages, &buffers)?;
    assert_eq!(recording.stages(None).count(), 7);
    let wanted = Wanted {
        earliest: true,
        sorted: true,
        contacts: true,
        changes: true,
    };
    let kernels = Reduce::new(&device)?;
    let mut all = Reductions::new(binder, &stages, &kernels, &buffers, &limits, wanted)?;
    let names: Vec<&str> = all.take_stages().iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["earliest", "sort", "contacts", "changes"]);
    Ok(())
}

#[test]
fn a_name_that_stands_for_no_buffer_or_two_or_a_wrong_one_is_an_error() -> Result<(), Error> {
    let (device, _) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let binder = Binder {
        device: &device,
        widest: 9,
    };
    let kernel = Gather::new(&device)?.gather;
    let buffers = Buffers::new(&device, &device.limits(), CAPACITY)?;
    let says = |scopes: &[&Scope], problem: &str| match binder.dispatch(&kernel, scopes, 1) {
        Ok(_) => panic!("{problem} is taken"),
        Err(error) => assert!(error.to_string().contains(problem), "{error}"),
    };
    let step = &buffers.scope;
    says(&[step], "no buffer `gathered`");
    let own = Scope::default().with::<Gathered>("gathered", &buffers.pairs);
    binder.dispatch(&kernel, &[step, &own], 1)?;
    says(&[step, &own, &own], "two buffers `gathered`");
    let mut single = Scope::default();
    single.one::<Gathered>("gathered", &buffers.pairs);
    says(&[step, &single], "`gathered` is");
    let other = Scope::default().with::<CaromResults>("gathered", &buffers.pairs);
    says(&[step, &other], "`gathered` is");
    Ok(())
}
