//! The reciprocal vectors of a lattice.

use glam::DVec3;

/// Returns the reciprocal vectors of up to three edges, in the space that they span: d·edge =
/// 1, and 0 for the other edges.
///
/// Those of open directions (edges of 0) are 0. The others are not finite if the edges are
/// linearly dependent.
pub(crate) fn duals(edges: [DVec3; 3]) -> [DVec3; 3] {
    [0, 1, 2].map(|k| {
        let edge = edges[k];
        if edge == DVec3::ZERO {
            return DVec3::ZERO;
        }
        let [m, n] = [edges[(k + 1) % 3], edges[(k + 2) % 3]];
        // The rounding errors of a cross product would not be 0 along an axis where both
        // edges have the component 0.
        let without = |other: DVec3| edge - other * (edge.dot(other) / other.length_squared());
        let across = match [m, n].map(|other| other == DVec3::ZERO) {
            [true, true] => edge,
            [false, true] => without(m),
            [true, false] => without(n),
            [false, false] => m.cross(n),
        };
        across / across.dot(edge)
    })
}
