// Helpers for the fuzzers of the file readers: different reading options, a limit on the memory of the
// fuzzer, and a check of the spheres that a reader returns.

use carom_formats::read::{Radii, ReadOptions, World};

fn ways() -> impl Iterator<Item = ReadOptions> {
    let radii = || [Radii::InFile, Radii::Constant(0.5), Radii::ByType([(1.into(), 0.5), (2.into(), 0.25)].into())];
    [false, true].into_iter().flat_map(move |named| {
        radii().map(|radii| ReadOptions {
            ids: named,
            types: named,
            radii,
            ..ReadOptions::default()
        })
        .into_iter()
        .chain([ReadOptions { ids: named, types: named, centers_only: true, ..ReadOptions::default() }])
    })
}

/// Memory allocator with a limit of 128 MiB, which stops the fuzzer if a reader allocates more than the small
/// inputs, even compressed ones, can require.
#[global_allocator]
static MEMORY: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 128 << 20);

/// Panics unless all numbers of the spheres are finite, there are at most `most` spheres, and there is an id
/// and a type for each sphere or for none.
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
