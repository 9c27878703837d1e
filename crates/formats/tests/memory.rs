//! Every allocation that grows with the input may fail, in the library and in the readers and writers: each time the call
//! returns an error that says so, or its result is right, and what it worked on can be used again.
//!
//! The allocations that fail are those of at least 2 KiB. Smaller ones are made by the standard library, by rayon and for
//! messages, and end the program if they fail. So do the buffers of constant size of `std::io`, and what the crates that
//! unpack files allocate, which are left out here. The bound for readers is higher: see there.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "../../../tests/faults/faults.rs"]
mod faults;

use std::error::Error as _;
use std::fs;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

use carom::{
    Backend, Collisions, Detector, Domain, HardSphere, Mesh, NeighborList, NeighborSearch, Number,
    Options, Simulation, SimulationOptions, Sphere, Spheres, Step, Wall, Walls, verify,
    verify_walls,
};
use carom_formats::read::{self, Frames, Input, ReadOptions, mesh};
use carom_formats::write::{self, Columns, List, ListFormat, Order, Target};
use faults::{Faults, Plan};

type Test = Result<(), Box<dyn std::error::Error>>;

const PLAN: Plan = Plan::GROWING;

/// A row of numbers from 0 to 1 without a pattern.
fn numbers() -> impl FnMut() -> f32 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    }
}

/// Returns spheres of radius about `radius` in a cube of 20.
fn cloud(count: usize, radius: f32, speed: f32) -> Vec<Sphere> {
    let mut next = numbers();
    let mut three = |scale: f32| [next(), next(), next()].map(|x| scale * x);
    (0..count)
        .map(|_| {
            let size = 0.5 * radius * (1.0 + three(1.0)[0]);
            let velocity = three(2.0 * speed).map(|x| x - speed);
            Sphere::new(three(20.0), size).with_velocity(velocity)
        })
        .collect()
}

fn wide(spheres: &[Sphere]) -> Vec<HardSphere> {
    let wide = spheres.iter().map(|sphere| {
        HardSphere::new(sphere.center.map(f64::from), f64::from(sphere.radius))
            .with_velocity(sphere.velocity.map(f64::from))
    });
    wide.collect()
}

fn cpu() -> Detector {
    let options = Options::new().with_backend(Backend::Cpu);
    Detector::new(options).expect("the CPU needs nothing")
}

/// A floor of triangles.
fn floor<T: Copy>(number: impl Fn(u16) -> T) -> (Vec<[T; 3]>, Vec<[u32; 3]>) {
    let vertices = (0..31_u16).flat_map(|x| (0..31_u16).map(move |y| [x, y, 1]));
    let corners = (0..30_u32).flat_map(|x| (0..30_u32).map(move |y| 31 * x + y));
    let triangles = corners.flat_map(|k| [[k, k + 31, k + 1], [k + 31, k + 32, k + 1]]);
    let vertices = vertices.map(|place| place.map(&number));
    (vertices.collect(), triangles.collect())
}

fn is_of_memory(error: &carom::Error) -> bool {
    matches!(error, carom::Error::OutOfMemory { .. })
}

/// Walks through a call on an object that `make` makes anew. Each error must be of memory, and after it the call must succeed
/// on the same object. `look` returns what must be the same each time. Only `call` runs under faults.
fn walk<S, R, L: PartialEq>(
    faults: &Faults,
    name: &str,
    make: impl Fn() -> S,
    call: impl Fn(&mut S) -> Result<R, carom::Error>,
    look: impl Fn(&S, R) -> L,
) {
    let mut object = make();
    let expected = call(&mut object).map(|found| look(&object, found));
    let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
    faults.walk(name, PLAN, &mut |arm| {
        let mut object = make();
        arm();
        let result = call(&mut object);
        faults.end();
        let found = match result {
            Ok(found) => {
                assert!(look(&object, found) == expected, "{name}: another result");
                return false;
            }
            Err(error) => {
                assert!(is_of_memory(&error), "{name}: {error}");
                call(&mut object)
            }
        };
        let found = found.unwrap_or_else(|error| panic!("{name}, again: {error}"));
        let found = look(&object, found);
        assert!(found == expected, "{name}: another result after an error");
        true
    });
}

type Listed<T> = (
    Vec<<T as Number>::Collision>,
    Vec<[i32; 3]>,
    Vec<<T as Number>::WallCollision>,
);

fn listed<T: Number>(_: &Detector, found: Collisions<T>) -> Listed<T> {
    let (pairs, images) = found.pairs.into_parts();
    (pairs, images, found.walls.into_parts().0)
}

fn walls<T: Number>(number: impl Fn(u16) -> T + Copy) -> Result<Walls<T>, carom::Error> {
    let low = Wall::half_space([0, 0, 1].map(number), number(1));
    let pin = Wall::sphere([10, 10, 10].map(number), number(4));
    let mut walls = Walls::from_iter([low, pin]);
    let (vertices, triangles) = floor(number);
    walls.push_mesh(Mesh::new(vertices, triangles)?);
    Ok(walls)
}

/// Runs a test under faults, on two threads.
fn under_faults(name: &str, test: impl FnOnce(&Faults) -> Test + Send) -> Test {
    if let Some(faults) = Faults::of_this_program(name)? {
        test(&faults)?;
    }
    Ok(())
}

#[test]
fn detect() -> Test {
    under_faults("detect", |faults| {
        let slow = cloud(1500, 0.5, 0.1);
        let mut fast = cloud(1500, 0.2, 0.1);
        for sphere in fast.iter_mut().step_by(50) {
            sphere.velocity = sphere.velocity.map(|v| 100.0 * v);
        }
        let cell = Domain::rectangular([0.0; 3], [20.0; 3]).with_periodic([true; 3]);
        let narrow = walls(f32::from)?;
        for (name, spheres) in [("slow", &slow), ("fast", &fast)] {
            let wide = wide(spheres);
            let centers: Vec<[f64; 3]> = wide.iter().map(|sphere| sphere.center).collect();
            let columns = Spheres::new(&centers, 0.5);
            walk(
                faults,
                &format!("{name}, float32"),
                cpu,
                |detector| detector.detect(&Step::new(spheres, 1.0)),
                listed,
            );
            walk(
                faults,
                &format!("{name}, float64"),
                cpu,
                |detector| detector.detect(&Step::new(&wide, 1.0)),
                listed,
            );
            walk(
                faults,
                &format!("{name}, columns"),
                cpu,
                |detector| detector.detect(&Step::new(columns, 1.0)),
                listed,
            );
            walk(
                faults,
                &format!("{name}, periodic"),
                cpu,
                |detector| {
                    let step = Step::new(spheres, 1.0).in_domain(&cell);
                    detector.detect(&step)
                },
                listed,
            );
            walk(
                faults,
                &format!("{name}, periodic, float64"),
                cpu,
                |detector| {
                    let step = Step::new(&wide, 1.0).in_domain(&cell);
                    detector.detect(&step)
                },
                listed,
            );
            walk(
                faults,
                &format!("{name}, two sets"),
                cpu,
                |detector| detector.detect(&Step::between(spheres, &slow, 1.0)),
                listed,
            );
            walk(
                faults,
                &format!("{name}, walls"),
                cpu,
                |detector| {
                    let step = Step::new(spheres, 1.0).with_walls(&narrow);
                    detector.detect(&step)
                },
                listed,
            );
            walk(
                faults,
                &format!("{name}, walls, periodic"),
                cpu,
                |detector| {
                    let domain = cell.with_periodic([true, true, false]);
                    let step = Step::new(spheres, 1.0).in_domain(&domain);
                    detector.detect(&step.with_walls(&narrow))
                },
                listed,
            );
        }
        let wide_walls = walls(f64::from)?;
        let wide = wide(&slow);
        walk(
            faults,
            "walls, float64",
            cpu,
            |detector| {
                let step = Step::new(&wide, 1.0).with_walls(&wide_walls);
                detector.detect(&step)
            },
            listed,
        );
        walk(
            faults,
            "a mesh",
            || Some(floor(f32::from)),
            |given| {
                let (vertices, triangles) = given.take().unwrap_or_else(|| floor(f32::from));
                Mesh::cleaned(vertices, triangles)
            },
            |_, (mesh, left_out)| (mesh.triangles().to_vec(), left_out),
        );
        Ok(())
    })
}

#[test]
fn verification() -> Test {
    under_faults("verification", |faults| {
        let spheres = cloud(400, 0.8, 0.1);
        let wide = wide(&spheres);
        let cell = Domain::rectangular([0.0; 3], [20.0; 3]).with_periodic([true, true, false]);
        let (narrow_walls, wide_walls) = (walls(f32::from)?, walls(f64::from)?);
        for domain in [Domain::default(), cell] {
            let step = Step::new(&spheres, 1.0).in_domain(&domain);
            let step = step.with_walls(&narrow_walls);
            let found = cpu().detect(&step)?;
            let pairs = |(): &mut ()| verify(&step, &found.pairs);
            walk(faults, "verify", || (), pairs, |(), truth| truth);
            let at_walls = |(): &mut ()| verify_walls(&step, &found.walls);
            walk(faults, "verify_walls", || (), at_walls, |(), truth| truth);
            let step = Step::new(&wide, 1.0).in_domain(&domain);
            let step = step.with_walls(&wide_walls);
            let found = cpu().detect(&step)?;
            let pairs = |(): &mut ()| verify(&step, &found.pairs);
            walk(faults, "verify, float64", || (), pairs, |(), truth| truth);
        }
        Ok(())
    })
}

#[test]
fn neighbors() -> Test {
    under_faults("neighbors", |faults| {
        let spheres = cloud(1500, 0.5, 0.1);
        let moved: Vec<Sphere> = spheres
            .iter()
            .map(|sphere| Sphere::new(sphere.center.map(|x| x + 0.3), 0.5))
            .collect();
        let cell = Domain::rectangular([0.0; 3], [20.0; 3]).with_periodic([true; 3]);
        let wide = wide(&spheres);
        let parts = |(_, list): &(Detector, NeighborList), (): ()| {
            let images = list.pairs().images().to_vec();
            (list.pairs().to_vec(), images, list.vectors().to_vec())
        };
        let start = || (cpu(), NeighborList::default());
        for full in [false, true] {
            let name = format!("neighbours, full: {full}");
            let call = |(detector, list): &mut (Detector, NeighborList)| {
                let search = NeighborSearch::within(&spheres, 1.0).in_domain(&cell);
                let search = if full { search.full() } else { search };
                detector.find_neighbors_into(&search, list)
            };
            walk(faults, &name, start, call, parts);
        }
        let call = |(detector, list): &mut (Detector, NeighborList)| {
            for spheres in [&spheres, &moved, &spheres] {
                let search = NeighborSearch::within(spheres, 1.0).in_domain(&cell);
                let search = search.with_skin(0.5);
                if !list.update(&search) {
                    detector.find_neighbors_into(&search, list)?;
                }
            }
            Ok(())
        };
        walk(faults, "neighbours, skin", start, call, parts);
        let call = |detector: &mut Detector| {
            detector.find_neighbors(&NeighborSearch::within(&wide, 1.0).full())
        };
        walk(faults, "neighbours, float64", cpu, call, |_, list| {
            (list.pairs().to_vec(), list.distances().to_vec())
        });
        Ok(())
    })
}

#[test]
fn reductions() -> Test {
    under_faults("reductions", |faults| {
        let [before, spheres] = [0.4, 0.5].map(|radius| cloud(1500, radius, 0.1));
        let cell = Domain::rectangular([0.0; 3], [20.0; 3]).with_periodic([true; 3]);
        for domain in [Domain::default(), cell] {
            let found = cpu().detect(&Step::new(&spheres, 1.0).in_domain(&domain))?;
            let before = cpu().detect(&Step::new(&before, 1.0).in_domain(&domain))?;
            walk(
                faults,
                "earliest",
                || (),
                |()| found.earliest(),
                |(), all| all,
            );
            walk(
                faults,
                "contacts",
                || (),
                |()| found.contacts(),
                |(), all| all,
            );
            let changes = |(): &mut ()| found.changes_since(&before);
            walk(faults, "changes", || (), changes, |(), all| all);
            // These need no memory, but are faster with it.
            let sort = |found: &mut Collisions| {
                found.sort_by_time();
                Ok(())
            };
            let sorted =
                |found: &Collisions, ()| (found.pairs.to_vec(), found.pairs.images().to_vec());
            walk(faults, "sort by time", || found.clone(), sort, sorted);
            let sort = |found: &mut Collisions| {
                found.pairs.sort_by_key(|pair, image| (pair.b % 100, image));
                Ok(())
            };
            walk(faults, "sort by key", || found.clone(), sort, sorted);
        }
        Ok(())
    })
}

#[test]
fn simulations() -> Test {
    under_faults("simulations", |faults| {
        let mut next = numbers();
        let mut spheres = Vec::new();
        for k in 0..1000_u16 {
            let place = [k % 10, k / 10 % 10, k / 100].map(|n| f64::from(n) * 1.2 + 1.6);
            let velocity = [next(), next(), next()].map(|v| 8.0 * f64::from(v) - 4.0);
            spheres.push(HardSphere::new(place, 0.5).with_velocity(velocity));
        }
        let cell = Domain::rectangular([0.0; 3], [20.0; 3]).with_periodic([true; 3]);
        let free = SimulationOptions::new()
            .with_domain(cell)
            .with_impact_list();
        let (vertices, triangles) = floor(f32::from);
        let mut inside = Walls::inside_box([0.0; 3], [20.0; 3]);
        inside.push_mesh(Mesh::new(vertices, triangles)?);
        let heavy = SimulationOptions::new()
            .with_walls(inside)
            .with_gravity([0.0, 0.0, -9.8])
            .with_restitution(0.6)
            .with_contact_time(1e-3)
            .with_contact_changes();
        let all = |simulation: &Simulation, ()| simulation.spheres().to_vec();
        for (name, options) in [("free", free), ("with walls", heavy)] {
            let given = || Some((spheres.clone(), options.clone()));
            walk(
                faults,
                &format!("{name}: new"),
                given,
                |start| {
                    let (spheres, options) = start.take().or_else(given).unwrap_or_default();
                    Simulation::new(spheres, options)
                },
                |_, simulation| simulation.spheres().to_vec(),
            );
            let made = Simulation::new(spheres.clone(), options.clone())?;
            let mut begun = made.clone();
            begun.step(0.05)?;
            for (when, start) in [("first", &made), ("later", &begun)] {
                let end = start.time() + 0.1;
                let step = |simulation: &mut Simulation| {
                    simulation.step(end - simulation.time()).map(|_| ())
                };
                // A step that is done in two calls may divide the time otherwise, so the numbers differ a little.
                let near = |simulation: &Simulation, ()| {
                    let energy = simulation.kinetic_energy() / start.kinetic_energy();
                    (
                        (simulation.time() - end).abs() < 1e-12,
                        energy > 0.1 && energy < 10.0,
                    )
                };
                walk(
                    faults,
                    &format!("{name}: {when} step"),
                    || start.clone(),
                    step,
                    near,
                );
            }
            let edit = |simulation: &mut Simulation| {
                simulation.edit(|spheres| spheres[7].velocity = [1.0, 2.0, 3.0])
            };
            walk(
                faults,
                &format!("{name}: edit"),
                || begun.clone(),
                edit,
                all,
            );
            let add = |simulation: &mut Simulation| {
                simulation.add(HardSphere::new([19.8; 3], 0.01)).map(|_| ())
            };
            walk(faults, &format!("{name}: add"), || begun.clone(), add, all);
            let set = |simulation: &mut Simulation| {
                simulation.set_groups(3, 1)?;
                simulation.set_body(4, Some(2))?;
                simulation.set_restitution_of(5, 0.5)
            };
            walk(
                faults,
                &format!("{name}: groups"),
                || begun.clone(),
                set,
                all,
            );
            let mut close = begun.clone();
            close.edit(|spheres| {
                for place in (0..spheres.len()).step_by(100) {
                    spheres[place].radius = 0.51;
                }
            })?;
            let separate = |simulation: &mut Simulation| simulation.separate(100).map(|_| ());
            let count = |simulation: &Simulation, ()| simulation.spheres().len();
            walk(
                faults,
                &format!("{name}: separate"),
                || close.clone(),
                separate,
                count,
            );
            // A new velocity copies a mesh, in code of the program.
            let mut slow = made.walls().meshes().to_vec();
            for mesh in &mut slow {
                *mesh = mesh.clone().with_velocity([0.0, 0.0, -0.1]);
            }
            let change = |simulation: &mut Simulation| {
                simulation.edit_walls(|walls| {
                    for (mesh, slow) in walls.meshes_mut().iter_mut().zip(&slow) {
                        *mesh = slow.clone();
                    }
                })
            };
            walk(
                faults,
                &format!("{name}: walls"),
                || begun.clone(),
                change,
                all,
            );
        }
        Ok(())
    })
}

/// Returns whether an error, or one of its causes, says that memory is missing.
fn lacks_memory(error: &carom_formats::Error) -> bool {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &error.to_string();
        cause = error.source();
    }
    text.contains("memory")
}

/// Walks through a call of the readers or writers. `check` sees what is left of it.
fn walk_files<R: PartialEq>(
    faults: &Faults,
    (name, plan): (&str, Plan),
    call: impl Fn() -> Result<R, carom_formats::Error>,
    check: impl Fn(bool),
) {
    let expected = call().unwrap_or_else(|error| panic!("{name}: {error:?}"));
    check(true);
    faults.walk(name, plan, &mut |arm| {
        arm();
        let result = call();
        faults.end();
        check(result.is_ok());
        match result {
            Ok(found) => {
                assert!(found == expected, "{name}: another result");
                false
            }
            Err(error) => {
                assert!(lacks_memory(&error), "{name}: {error:?}");
                true
            }
        }
    });
}

#[test]
fn readers() -> Test {
    under_faults("readers", |faults| {
        // The format is told from the first 16 KiB of a file, with allocations that are bounded by this, and not fallible.
        let plan = Plan {
            least: 1 << 18,
            ..PLAN
        };
        let spheres = wide(&cloud(6000, 0.5, 0.1));
        let rows = |separator: &str| {
            let mut text = String::new();
            for (k, sphere) in spheres.iter().enumerate() {
                let [x, y, z] = sphere.center;
                let fields = [(k + 1).to_string(), "1".to_owned()].into_iter();
                let fields = fields.chain([x, y, z, sphere.radius].map(|x| x.to_string()));
                text += &fields.collect::<Vec<_>>().join(separator);
                // Lines that do not follow one another.
                text += if k % 2 == 0 { "\n" } else { "\n\n" };
            }
            text
        };
        let dump = format!(
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS pp pp pp\n0 20\n0 20\n0 20\nITEM: ATOMS id type x y z radius\n{}",
            spheres.len(),
            rows(" ").replace("\n\n", "\n")
        );
        let small = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 20\n0 20\n0 20\nITEM: ATOMS id type x y z radius\n1 1 1 1 1 1\n";
        let xyz = format!(
            "{}\nProperties=id:I:1:species:S:1:pos:R:3:radius:R:1\n{}",
            spheres.len(),
            rows(" ").replace("\n\n", "\n")
        );
        let mut npy = io::Cursor::new(Vec::new());
        let numbers: Vec<f64> = spheres
            .iter()
            .flat_map(|sphere| sphere.center.into_iter().chain([sphere.radius]))
            .collect();
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 4), }}",
            spheres.len()
        );
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        npy.write_all(b"\x93NUMPY\x01\x00")?;
        npy.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
        npy.write_all(header.as_bytes())?;
        npy.write_all(
            &numbers
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<_>>(),
        )?;
        let options = ReadOptions {
            ids: true,
            types: true,
            ..ReadOptions::default()
        };
        let plain = ReadOptions::default();
        let csv = format!("id,type,x,y,z,radius\n{}", rows(","));
        let frames: Frames = "-9000".parse()?;
        let inputs = [
            ("spheres.csv", csv.into_bytes(), Frames::LAST, &options),
            ("spheres.dump", dump.into_bytes(), Frames::LAST, &options),
            (
                "many.dump",
                small.repeat(9000).into_bytes(),
                frames,
                &options,
            ),
            ("spheres.xyz", xyz.into_bytes(), Frames::LAST, &options),
            ("spheres.npy", npy.into_inner(), Frames::LAST, &plain),
        ];
        for (name, bytes, frames, options) in inputs {
            let input = Input::from_bytes(name, bytes, None);
            walk_files(
                faults,
                (name, plan),
                || {
                    let mut all = (0, None, None);
                    for world in read::open(&input, frames, options, &())? {
                        let world = world?;
                        let narrow = world.in_float32()?;
                        all = (all.0 + world.spheres.len(), world.ids, Some(narrow));
                    }
                    Ok(all)
                },
                |_| (),
            );
        }
        let (vertices, triangles) = floor(f32::from);
        let mut obj = String::new();
        let mut stl = vec![0_u8; 80];
        for [x, y, z] in &vertices {
            obj += &format!("v {x} {y} {z}\n");
        }
        stl.extend(u32::try_from(triangles.len())?.to_le_bytes());
        for corners in &triangles {
            let [a, b, c] = corners.map(|k| k + 1);
            obj += &format!("f {a} {b} {c}\n");
            stl.extend([0; 12]);
            for corner in corners {
                let place = vertices[*corner as usize];
                stl.extend(place.iter().flat_map(|x| x.to_le_bytes()));
            }
            stl.extend([0; 2]);
        }
        for (name, bytes) in [("floor.obj", obj.into_bytes()), ("floor.stl", stl)] {
            walk_files(
                faults,
                (name, PLAN),
                || {
                    let mesh = mesh::read_from(name, &bytes[..])?;
                    Ok((mesh.vertices, mesh.triangles))
                },
                |_| (),
            );
        }
        Ok(())
    })
}

/// Counts the bytes, and keeps none.
#[derive(Default)]
struct Count {
    place: u64,
    end: u64,
}

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.place += bytes.len() as u64;
        self.end = self.end.max(self.place);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Count {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let from = |start: u64, by: i64| {
            let place = start.checked_add_signed(by);
            place.ok_or(io::Error::from(ErrorKind::InvalidInput))
        };
        self.place = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(by) => from(self.place, by)?,
            SeekFrom::End(by) => from(self.end, by)?,
        };
        Ok(self.place)
    }
}

#[test]
fn writers() -> Test {
    under_faults("writers", |faults| {
        let folder = std::env::temp_dir().join(format!("carom-memory-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let mut rows = String::from("id,x,y,z,radius\n");
        for (k, sphere) in cloud(1500, 0.5, 0.1).iter().enumerate() {
            let [x, y, z] = sphere.center;
            rows += &format!("{},{x},{y},{z},{}\n", 9000 - k, sphere.radius);
        }
        let input = Input::from_bytes("spheres.csv", rows, None);
        let options = ReadOptions {
            ids: true,
            ..ReadOptions::default()
        };
        let world = read::open(&input, Frames::LAST, &options, &())?
            .next()
            .ok_or("a world")??;
        let step = Step::new(&world.spheres, 1.0);
        let walls = walls(f64::from)?;
        let found = cpu().detect(&step.with_walls(&walls))?;
        let list = cpu().find_neighbors(&NeighborSearch::within(&world.spheres, 1.0))?;
        let columns = Columns {
            ids: true,
            ..Columns::default()
        };
        for order in [Order::Pair, Order::Time] {
            for format in [ListFormat::Csv, ListFormat::Npy, ListFormat::Npz] {
                walk_files(
                    faults,
                    (&format!("{format:?}, {order:?}"), PLAN),
                    || {
                        let mut out = Count::default();
                        let mut list = List::to_writer(&mut out, format, columns)?;
                        list.append(0, write::named(&found, &world, order)?)?;
                        list.append(0, write::at_walls(&found, &world)?)?;
                        list.finish()?;
                        Ok(out.end)
                    },
                    |_| (),
                );
            }
        }
        walk_files(
            faults,
            ("neighbours", PLAN),
            || Ok(write::neighbors(&list, &world, false)?.count()),
            |_| (),
        );
        for name in ["list.csv", "list.npy", "list.npz"] {
            let path = folder.join(name);
            let target = Target::from_path(&path)?;
            let write = || {
                let mut list = List::create(&target, columns)?;
                list.append(0, write::named(&found, &world, Order::Time)?)?;
                list.finish()
            };
            walk_files(faults, (name, PLAN), write, |is_written| {
                let files = fs::read_dir(&folder).map_or(0, Iterator::count);
                assert_eq!(files, usize::from(is_written), "{name}");
                let _ = fs::remove_file(&path);
            });
        }
        fs::remove_dir_all(&folder)?;
        Ok(())
    })
}
