//! The initial state of a fluid of hard spheres, and its equation of state.

use std::f64::consts::{PI, TAU};

use carom::{Domain, HardSphere};
use fastrand::Rng;
use glam::DVec3;

/// Spheres of diameter 1 and mass 1 in a periodic cube, with a temperature k·T of 1.
pub(crate) struct Fluid {
    pub(crate) spheres: Vec<HardSphere>,
    pub(crate) domain: Domain,
}

impl Fluid {
    /// Puts the spheres on the sites of a face-centred cubic lattice, with random velocities of the Maxwell
    /// distribution and without total momentum.
    pub(crate) fn new(count: u32, eta: f64, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the edge of a domain is a float32"
        )]
        let edge = (f64::from(count) * PI / 6.0 / eta).cbrt() as f32;
        let domain = Domain::rectangular([0.0; 3], [edge; 3]);
        let edge = f64::from(edge);
        let cells = (1..)
            .find(|cells| 4 * cells * cells * cells >= count)
            .unwrap_or(1);
        let step = edge / f64::from(cells);
        let mut spheres = Vec::with_capacity(count as usize);
        for site in 0..count {
            // If there are more lattice sites than spheres, the empty sites are spread evenly.
            let sites = 4 * u64::from(cells).pow(3);
            let site = (u64::from(site) * sites / u64::from(count)) as f64;
            let (corner, cell) = (site % 4.0, (site / 4.0).floor());
            let cells = f64::from(cells);
            let cell = DVec3::new(
                cell % cells,
                (cell / cells).floor() % cells,
                (cell / cells / cells).floor(),
            );
            let half = |axis: f64| {
                if corner == 0.0 || corner == axis {
                    0.0
                } else {
                    0.5
                }
            };
            let center = (cell + DVec3::new(half(1.0), half(2.0), half(3.0))) * step;
            let velocity = [0; 3].map(|_| normal(&mut rng));
            spheres.push(HardSphere::new(center, 0.5).with_velocity(velocity));
        }
        let velocities = spheres.iter().map(|sphere| DVec3::from(sphere.velocity));
        let mean = velocities.sum::<DVec3>() / f64::from(count);
        for sphere in &mut spheres {
            sphere.velocity = (DVec3::from(sphere.velocity) - mean).to_array();
        }
        Self { spheres, domain }
    }
}

fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
}

/// Returns the compressibility factor by Kolafa's equation, which is number 4.46 of T. Boublík and I. Nezbeda,
/// Collection of Czechoslovak Chemical Communications 51, 1986, 2301–2432.
pub(crate) fn kolafa(eta: f64) -> f64 {
    (1.0 + eta + eta * eta - 2.0 / 3.0 * eta.powi(3) * (1.0 + eta)) / (1.0 - eta).powi(3)
}

/// Returns the mean number of impacts of a sphere in a unit of time.
pub(crate) fn impact_rate(eta: f64) -> f64 {
    // Kinetic theory gives the collision rate 4·n·σ²·χ·√(π·k·T/m) of spheres of diameter σ and mass m. Here,
    // σ, m and k·T are 1, n = 6·η/π is the number of spheres per volume, and χ = (Z − 1)/(4·η) is the contact
    // value of the pair distribution.
    4.0 * 6.0 * eta / PI * (kolafa(eta) - 1.0) / (4.0 * eta) * PI.sqrt()
}
