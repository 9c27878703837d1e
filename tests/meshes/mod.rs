//! Meshes of triangles.

use carom::Mesh;
use fastrand::Rng;

/// Returns the mesh of a box.
pub(crate) fn box_mesh(low: [f32; 3], high: [f32; 3]) -> Mesh {
    let corner = |k: usize| [0, 1, 2].map(|axis| [low, high][k >> axis & 1][axis]);
    let vertices = (0..8).map(corner).collect();
    let faces: [[u32; 4]; 6] = [
        [0, 2, 6, 4],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 3, 7, 6],
        [0, 1, 3, 2],
        [4, 5, 7, 6],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Mesh::new(vertices, triangles.collect()).expect("a valid mesh")
}

/// Returns a flat square of triangles with the corner at the origin, at z = 0. Its vertices are at irregular places.
pub(crate) fn flat(across: u32, rng: &mut Rng) -> Mesh {
    let mut place = |k: u32| {
        let inner = |k: u32| k > 0 && k < across;
        let [x, y] = [k % (across + 1), k / (across + 1)];
        let mut moved = |k: u32| k as f32 + if inner(k) { 0.5 * rng.f32() } else { 0.0 };
        [moved(x), moved(y), 0.0]
    };
    let vertices = (0..(across + 1).pow(2)).map(&mut place).collect();
    let squares = (0..across.pow(2)).map(|k| k + k / across);
    let triangles = squares.flat_map(|k| {
        let [a, b, c, d] = [k, k + 1, k + across + 1, k + across + 2];
        if k % 3 == 0 {
            [[a, b, c], [b, d, c]]
        } else {
            [[a, b, d], [a, d, c]]
        }
    });
    let triangles = triangles.collect();
    Mesh::new(vertices, triangles).expect("a valid mesh")
}
