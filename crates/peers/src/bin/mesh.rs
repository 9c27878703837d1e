//! Times carom's step with a mesh of triangles, and the crate parry3d with the same spheres and triangles.
//!
//! ```sh
//! cargo run --release -p carom-peers --bin mesh
//! ```

use std::time::{Duration, Instant};

use anyhow::Context;
use carom::{Backend, Collisions, Detector, Mesh, Options, Sphere, Step, Walls};
use carom_scenes::Scene;
use clap::Parser;
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::{Pose, Vector};
use parry3d::query::{PointQuery, ShapeCastOptions, cast_shapes};
use parry3d::shape::{Ball, TriMesh};

/// Times a step on one thread, in which the moving spheres of the benchmark scene `gas` touch a spherical
/// mesh of 131072 triangles.
///
/// carom finds all pairs of a sphere and a triangle that touch, and all pairs of spheres. parry3d
/// ignores pairs of spheres, and is timed in two ways. In the first, it finds all pairs of a sphere
/// and a triangle that touch: its tree of boxes lists triangles, and the sphere is cast against
/// each of them that may be near enough. In the second, it finds only the first touch of each
/// sphere, by a cast against the whole mesh. carom with the mesh, carom without it and the two ways
/// of parry3d run in turns, and the fastest time of each is printed. The times do not include
/// making the trees of the mesh.
#[derive(Parser)]
struct Arguments {
    /// Number of spheres.
    #[arg(long, default_value_t = 1_000_000)]
    n: usize,
    /// Number of timed runs of each method.
    #[arg(long, default_value_t = 7)]
    repeats: u32,
}

/// Returns the corners of the triangles of a sphere around the origin: an octahedron, divided 7 times.
fn ball_of_triangles(radius: f32) -> Vec<[Vec3; 3]> {
    let mut triangles: Vec<[Vec3; 3]> = Vec::new();
    for x in [Vec3::X, Vec3::NEG_X] {
        for y in [Vec3::Y, Vec3::NEG_Y] {
            triangles.extend([Vec3::Z, Vec3::NEG_Z].map(|z| [x, y, z]));
        }
    }
    for _ in 0..7 {
        let parts = triangles.iter().flat_map(|&[a, b, c]| {
            let [d, e, f] = [a + b, b + c, c + a].map(Vec3::normalize);
            [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        });
        triangles = parts.collect();
    }
    let scaled = |corners: &[Vec3; 3]| corners.map(|corner| corner * radius);
    triangles.iter().map(scaled).collect()
}

/// Returns the time and the result of a call.
fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Duration, T)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

fn pose(sphere: &Sphere) -> Pose {
    Pose::from_translation(Vector::from_array(sphere.center))
}

/// Returns the number of pairs of a sphere and a triangle that touch within a time of 1.
fn pairs_by_parry(mesh: &TriMesh, spheres: &[Sphere]) -> anyhow::Result<usize> {
    let options = ShapeCastOptions::with_max_time_of_impact(1.0);
    let mut hits = 0;
    for sphere in spheres {
        let [start, motion] = [sphere.center, sphere.velocity].map(Vector::from_array);
        let end = start + motion;
        let reach = Vector::splat(sphere.radius);
        let around = Aabb::new(start.min(end) - reach, start.max(end) + reach);
        let middle = start + motion * 0.5;
        let farthest = (sphere.radius + 0.5 * motion.length()) * 1.001;
        for index in mesh.bvh().intersect_aabb(&around) {
            let triangle = mesh.triangle(index);
            if triangle.distance_to_local_point(middle, true) > farthest {
                continue;
            }
            let ball = Ball::new(sphere.radius);
            let hit = cast_shapes(
                &pose(sphere),
                motion,
                &ball,
                &Pose::IDENTITY,
                Vector::ZERO,
                &triangle,
                options,
            )?;
            hits += usize::from(hit.is_some());
        }
    }
    Ok(hits)
}

/// Returns how many spheres touch the mesh in a step of length 1, as computed by parry3d.
fn first_touches_by_parry(mesh: &TriMesh, spheres: &[Sphere]) -> anyhow::Result<usize> {
    let options = ShapeCastOptions::with_max_time_of_impact(1.0);
    let mut hits = 0;
    for sphere in spheres {
        let motion = Vector::from_array(sphere.velocity);
        let ball = Ball::new(sphere.radius);
        let hit = cast_shapes(
            &pose(sphere),
            motion,
            &ball,
            &Pose::IDENTITY,
            Vector::ZERO,
            mesh,
            options,
        )?;
        hits += usize::from(hit.is_some());
    }
    Ok(hits)
}

fn main() -> anyhow::Result<()> {
    let Arguments { n, repeats } = Arguments::parse();
    let spheres = Scene::Gas.generate(n, 1);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for sphere in &spheres {
        let center = Vec3::from(sphere.center);
        (low, high) = (low.min(center), high.max(center));
    }
    let triangles = ball_of_triangles(0.4 * (high - low).min_element());
    let corners: Vec<Vec3> = triangles.into_iter().flatten().collect();
    let count = u32::try_from(corners.len() / 3)?;
    let indices: Vec<[u32; 3]> = (0..count).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let vertices = corners.iter().map(|corner| corner.to_array()).collect();
    let mut walls = Walls::new();
    walls.push_mesh(Mesh::new(vertices, indices.clone())?);
    let vertices = corners
        .iter()
        .map(|corner| Vector::from_array(corner.to_array()));
    let mesh = TriMesh::new(vertices.collect(), indices).context("parry3d rejects the mesh")?;

    // carom works on this thread alone.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()?;
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let without = Step::new(&spheres, 1.0);
    let with = without.with_walls(&walls);
    let mut found = Collisions::default();
    let mut fastest = [Duration::MAX; 4];
    let mut hits = [0; 4];
    for _ in 0..repeats {
        let turns = [
            timed(|| Ok(detector.detect_into(&without, &mut found).map(|()| 0)?))?,
            timed(|| {
                detector.detect_into(&with, &mut found)?;
                Ok(found.walls.len())
            })?,
            timed(|| pairs_by_parry(&mesh, &spheres))?,
            timed(|| first_touches_by_parry(&mesh, &spheres))?,
        ];
        for (kind, (time, count)) in turns.into_iter().enumerate() {
            fastest[kind] = fastest[kind].min(time);
            hits[kind] = count;
        }
    }
    detector.detect_into(&with, &mut found)?;
    let mut last = None;
    found
        .walls
        .retain(|hit, _| last.replace(hit.sphere) != Some(hit.sphere));
    let touching = found.walls.len();
    let [without, with, pairs, first] = fastest.map(|time| time.as_secs_f64());
    let added = with - without;
    println!("{n} spheres, {count} triangles, seconds:");
    println!("carom: {without:.4} without the mesh, {with:.4} with it, {added:.4} more");
    println!("  {} pairs, {touching} spheres touch", hits[1]);
    println!(
        "parry3d, pairs of a sphere and a triangle: {pairs:.4}, {} pairs",
        hits[2]
    );
    println!("parry3d, first touches: {first:.4}, {} spheres", hits[3]);
    let ratios = |time: f64| [time / with, time / added].map(|ratio| format!("{ratio:.2}"));
    println!("ratio to carom's step, and to the time that the mesh adds:");
    println!(
        "  pairs {:?}, first touches {:?}",
        ratios(pairs),
        ratios(first)
    );
    Ok(())
}
