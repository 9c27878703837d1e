// What the targets for files share: the readers of `collide`, as they are there, and a limit on
// memory. Included, because the readers know one another from the root of their crate.

#[path = "../../examples/collide/cell.rs"]
mod cell;
#[path = "../../examples/collide/columns.rs"]
mod columns;
#[path = "../../examples/collide/csv.rs"]
mod csv;
#[path = "../../examples/collide/lammps.rs"]
mod lammps;
#[path = "../../examples/collide/lines.rs"]
mod lines;
#[path = "../../examples/collide/npy.rs"]
mod npy;
#[path = "../../examples/collide/npz.rs"]
mod npz;
#[path = "../../examples/collide/number.rs"]
mod number;
#[path = "../../examples/collide/text.rs"]
mod text;
#[path = "../../examples/collide/world.rs"]
mod world;

/// Ends the run when the readers hold more than small inputs can be worth, packed ones included.
#[global_allocator]
static MEMORY: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 128 << 20);

/// What every world that was read must have: numbers, and no more spheres than `most`.
fn check(world: &world::World, most: usize) {
    assert!(world.spheres.len() <= most, "{} spheres", world.spheres.len());
    for sphere in &world.spheres {
        let numbers = sphere.center.iter().chain(&sphere.velocity).chain([&sphere.radius]);
        assert!(numbers.into_iter().all(|x| x.is_finite()), "{sphere:?}");
    }
    if let Some(ids) = &world.ids {
        assert_eq!(ids.len(), world.spheres.len());
    }
}
