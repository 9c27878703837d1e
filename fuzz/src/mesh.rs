//! Fuzz target: the readers of triangle meshes, STL and OBJ, accept or reject arbitrary bytes without a panic,
//! and accepted files give valid meshes.

#![no_main]

use carom_formats::read::mesh::{Mesh, read_obj, read_stl};
use libfuzzer_sys::fuzz_target;

/// Memory allocator with a limit of 128 MiB, which stops the fuzzer if a reader allocates more than the small
/// inputs can require.
#[global_allocator]
static MEMORY: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 128 << 20);

/// Panics unless the mesh has at most `most` triangles, all numbers are finite, and each triangle has three
/// different vertices of the mesh.
fn check(mesh: &Mesh, most: usize) {
    assert!(mesh.triangles.len() <= most, "{} triangles", mesh.triangles.len());
    assert!(!mesh.triangles.is_empty());
    assert!(mesh.vertices.as_flattened().iter().all(|x| x.is_finite()));
    for [a, b, c] in &mesh.triangles {
        assert!([a, b, c].iter().all(|&&index| (index as usize) < mesh.vertices.len()));
        assert!(a != b && b != c && c != a);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(mesh) = read_stl("input", data) {
        check(&mesh, data.len() / 50);
    }
    if let Ok(mesh) = read_obj("input", data) {
        // An OBJ file has at least two bytes for each triangle: one more vertex of a polygon takes at least
        // two bytes, and adds one triangle.
        check(&mesh, data.len() / 2);
    }
});
