//! Meshes of triangles.

use carom::Mesh;

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
