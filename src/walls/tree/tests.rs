//! Tests that the search in the tree of a mesh returns every triangle that a sphere touches.

use fastrand::Rng;
use wide::f32x4;

use super::Path;
use crate::walls::Mesh;
use crate::{Error, Sphere};

/// Returns a random number whose order of magnitude is also random.
fn number(rng: &mut Rng, scale: f32) -> f32 {
    let size = [1.0, 0.1, 0.01, 0.0][rng.usize(..4)];
    scale * size * (2.0 * rng.f32() - 1.0)
}

/// Returns a mesh of small and large triangles. Triangles without area are left out.
fn mesh(rng: &mut Rng, count: usize, scale: f32, offset: f32) -> Mesh {
    let mut vertices = Vec::new();
    while vertices.len() < 3 * count {
        let size = [0.02, 0.2, 2.0][rng.usize(..3)] * scale;
        let flat = rng.bool();
        let middle = [0; 3].map(|_| offset + scale * (2.0 * rng.f32() - 1.0));
        let corners = [0; 3].map(|_| {
            let mut corner = middle.map(|x| x + number(rng, size));
            if flat {
                corner[2] = offset;
            }
            corner
        });
        if Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).is_ok() {
            vertices.extend(corners);
        }
    }
    let triangles = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    Mesh::new(vertices, triangles.collect()).expect("a valid mesh")
}

#[test]
fn every_touched_triangle_is_named() {
    let mut rng = Rng::with_seed(4);
    let (mut touched, mut named, mut pairs) = (0, 0, 0);
    for round in 0..48 {
        let scale = [1.0, 1e-12, 1e12, 1e-30][round % 4];
        let offset = [0.0, 1e4 * scale][round / 4 % 2];
        let count = [1, 3, 17, 300][rng.usize(..4)];
        let mesh = mesh(&mut rng, count, scale, offset);
        for _ in 0..40 {
            let mut sphere = Sphere {
                center: [0; 3].map(|_| offset + number(&mut rng, 2.0 * scale)),
                radius: number(&mut rng, scale).abs(),
                velocity: [0; 3].map(|_| number(&mut rng, 4.0 * scale)),
                groups: 0,
            };
            // Half of the spheres begin beside a corner of a triangle, which they touch or just miss.
            if rng.bool() {
                let corner = mesh.vertices()[rng.usize(..3 * count)];
                let axis = rng.usize(..3);
                let away = sphere.radius * [1.0, -1.0, 0.99, -0.99][rng.usize(..4)];
                sphere.center = corner;
                sphere.center[axis] += away;
            }
            let path = Path::new(sphere.center, sphere.radius, sphere.velocity);
            let lanes = |x: [f32; 3]| x.map(f32x4::splat);
            let radius = f32x4::splat(sphere.radius);
            let four = Path::new(lanes(sphere.center), radius, lanes(sphere.velocity));
            let near = mesh.tree().near(&four);
            assert!(near == 0 || near == 15, "{near}");
            let mut found = Vec::new();
            let each = mesh.tree().each(&[path], &mut |some| {
                found.extend(some.iter().map(|(_, triangle)| *triangle));
                Ok::<(), Error>(())
            });
            assert_eq!(each, Ok(()));
            found.sort_unstable();
            named += found.len();
            pairs += count;
            for triangle in 0..count {
                let touches = mesh.triangle(triangle).expect("a triangle");
                if touches.impact(&sphere, (), 1.0).is_none() {
                    continue;
                }
                touched += 1;
                let listed = found.binary_search(&(triangle as u32)).is_ok();
                assert!(listed && near != 0, "round {round}: {sphere:?} {triangle}");
            }
        }
    }
    assert!(touched > 2_000, "{touched}");
    // The search must discard most triangles, but may return some that are not touched.
    assert!(named < pairs / 2, "{named} of {pairs}, {touched} touched");
}

/// The tree of a mesh divides space into cells, and marks the cells that contain triangles. It must find a
/// sphere that touches a tiny triangle. The centre of the sphere is in the cell that contains the triangle,
/// or in one of the 26 cells around it.
#[test]
fn spheres_of_the_size_of_a_cell_are_found_in_the_cells_around_a_triangle() {
    let mut rng = Rng::with_seed(5);
    let size = super::CELLS as f32;
    let mut elsewhere = 0;
    for _ in 0..2_000 {
        let corner = [0; 3].map(|_| 2.0 + (size - 4.0) * rng.f32());
        // The grid of a mesh divides the box around its triangles into `size` cells along each
        // axis. One triangle at the origin and one at (`size`, `size`, `size`) make the edges of
        // this box `size` long, so the edges of each grid cell have length 1.
        let triangles = [[0.0; 3], corner, [size; 3]].map(|[x, y, z]| {
            let inside = if x < size { 0.01 } else { -0.01 };
            [[x, y, z], [x + inside, y, z], [x, y + inside, z]]
        });
        let indices = vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]];
        let mesh = Mesh::new(triangles.concat(), indices).expect("a valid mesh");
        let radius = 0.9 * rng.f32();
        let direction = [0; 3].map(|_| rng.f32() - 0.5);
        let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
        let center: [f32; 3] =
            std::array::from_fn(|k| corner[k] + 0.999 * radius * direction[k] / length);
        let lanes = |x: [f32; 3]| x.map(f32x4::splat);
        let path = Path::new(lanes(center), f32x4::splat(radius), lanes([0.0; 3]));
        assert_eq!(
            mesh.tree().near(&path),
            15,
            "{center:?} {radius} {corner:?}"
        );
        elsewhere += usize::from(center.map(f32::floor) != corner.map(f32::floor));
    }
    assert!(elsewhere > 500, "{elsewhere}");
}
