//! Hard test worlds, in which some simpler method to find colliding pairs fails or is slow.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

mod bullets;
mod places;
mod sample;
mod scales;

use carom::Sphere;

pub(crate) use bullets::{
    formation, formation_through_lattice, ragged_formation, rays_through_spheres,
};
pub(crate) use places::{
    all_equal, coinciding_points, flat, line_at_rest, line_moving, oblique_line, one_point,
    stopped_clock, to_the_center,
};
pub(crate) use scales::{
    far_off, far_off_in_flight, giant_in_dust, micrometers, stray, stray_inbound, wild_scales,
};

pub(crate) type World = (&'static str, Vec<Sphere>, f32);

/// Limit on the number of spheres in test worlds in which a large part of all pairs touch.
const CROWD: usize = 1000;

/// Returns all hard test worlds. Each world has `n` spheres, but at most [`CROWD`] if a large part
/// of all its pairs touch.
pub(crate) fn all(n: usize, seed: u64) -> Vec<World> {
    let crowd = n.min(CROWD);
    vec![
        line_moving(n, seed),
        line_at_rest(n, seed),
        oblique_line(n, seed),
        flat(n, seed),
        to_the_center(crowd, seed),
        one_point(crowd, seed),
        all_equal(crowd),
        coinciding_points(n),
        stopped_clock(n, seed),
        giant_in_dust(n, seed),
        stray(n, seed),
        stray_inbound(n, seed),
        far_off(n, seed),
        far_off_in_flight(n, seed),
        micrometers(n, seed),
        wild_scales(crowd, seed),
        rays_through_spheres(n, seed),
        formation(n, seed),
        ragged_formation(n, seed),
        formation_through_lattice(n, seed),
    ]
}
