// What the targets for files share: what to read, a limit on memory, and a check.

use carom_cli::read::{Radii, ReadOptions, World};

/// All ways to read a file: with what is asked for, and where the radii come from.
fn ways() -> impl Iterator<Item = ReadOptions> {
    let radii = || [Radii::InFile, Radii::Constant(0.5), Radii::ByType([(1, 0.5), (2, 0.25)].into())];
    [false, true].into_iter().flat_map(move |named| {
        radii().map(|radii| ReadOptions {
            ids: named,
            types: named,
            radii,
        })
    })
}

/// Ends the run when the readers hold more than small inputs can be worth, packed ones included.
#[global_allocator]
static MEMORY: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 128 << 20);

/// What every world that was read must have: numbers, and no more spheres than `most`.
fn check(world: &World, most: usize) {
    assert!(world.spheres.len() <= most, "{} spheres", world.spheres.len());
    for sphere in &world.spheres {
        let numbers = sphere.center.iter().chain(&sphere.velocity).chain([&sphere.radius]);
        assert!(numbers.into_iter().all(|x| x.is_finite()), "{sphere:?}");
    }
    for count in [world.ids.as_ref().map(Vec::len), world.types.as_ref().map(Vec::len)] {
        assert!(count.is_none_or(|count| count == world.spheres.len()));
    }
}
