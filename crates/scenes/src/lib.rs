//! The benchmark scenes, by name, from a seeded generator: the same name, size and seed give the
//! same world. Every scene is one step of dt = 1, in a cube around the origin.
//!
//! Densities are the sum of the spheres' volumes over the cube's volume.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod sample;

use carom::Sphere;
use fastrand::Rng;

use sample::{direction, in_cube, log_uniform, normal, single};

/// The radius of the scenes in which all spheres are of one size.
const RADIUS: f32 = 0.5;
/// The largest radius of the others.
const LARGEST: f32 = 5.0;

/// What a scene is made with: what is published, or something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The sum of the spheres' volumes over the cube's.
    pub density: f64,
    /// The largest radius there can be over the smallest.
    pub ratio: f32,
    /// How far one sphere in a hundred moves, in diameters; 0 where there is no such kind.
    pub bullets: f32,
}

/// A benchmark scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scene {
    /// One size, 5 % dense, short moves.
    Gas,
    /// One size, 30 % dense, very short moves.
    Dense,
    /// Radii over 100 : 1, moves in proportion to them.
    Polydisperse,
    /// One in a hundred moves 50 diameters.
    Fast,
    /// Nine in ten are in Gaussian clusters.
    Clustered,
    /// A cubic lattice in which 26 neighbours overlap, at rest.
    Lattice,
    /// A cubic lattice in which 6 neighbours touch exactly, at rest.
    Touching,
    /// Radii over 1000 : 1, all moving equally far.
    Thermal,
}

impl Scene {
    /// Every scene, in the order of the published table.
    pub const ALL: [Self; 8] = [
        Self::Gas,
        Self::Dense,
        Self::Polydisperse,
        Self::Fast,
        Self::Clustered,
        Self::Lattice,
        Self::Touching,
        Self::Thermal,
    ];

    /// The name on a command line and in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gas => "gas",
            Self::Dense => "dense",
            Self::Polydisperse => "polydisperse",
            Self::Fast => "fast",
            Self::Clustered => "clustered",
            Self::Lattice => "lattice",
            Self::Touching => "touching",
            Self::Thermal => "thermal",
        }
    }

    /// What the scene stands for.
    pub fn description(self) -> &'static str {
        match self {
            Self::Gas => "the classic particle box",
            Self::Dense => "packings, fluids",
            Self::Polydisperse => "grains and powders, radii 100 : 1",
            Self::Fast => "bullets, tunnelling",
            Self::Clustered => "swarms, galaxies",
            Self::Lattice => "26 overlapping neighbours each, as in published cell lists",
            Self::Touching => "every contact exactly tangent",
            Self::Thermal => "light grains fast, heavy ones slow, radii 1000 : 1",
        }
    }

    /// The scene of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scene| scene.name() == name)
    }

    /// What the published scene is made with.
    pub fn parameters(self) -> Parameters {
        let (density, ratio, bullets) = match self {
            Self::Gas => (0.05, 1.0, 0.0),
            Self::Dense => (0.30, 1.0, 0.0),
            Self::Polydisperse => (0.10, 100.0, 0.0),
            Self::Fast => (0.05, 1.0, 50.0),
            Self::Clustered => (0.01, 1.0, 0.0),
            Self::Lattice | Self::Touching => (density_of_lattice(self.spacing()), 1.0, 0.0),
            Self::Thermal => (0.10, 1000.0, 0.0),
        };
        Parameters {
            density,
            ratio,
            bullets,
        }
    }

    /// Whether the density is free.
    pub fn has_density(self) -> bool {
        !matches!(self, Self::Lattice | Self::Touching)
    }

    /// Whether the radii differ.
    pub fn has_ratio(self) -> bool {
        matches!(self, Self::Polydisperse | Self::Thermal)
    }

    /// Whether some spheres are bullets.
    pub fn has_bullets(self) -> bool {
        matches!(self, Self::Fast)
    }

    /// `n` spheres of this scene, moving for a step of dt = 1.
    pub fn generate(self, n: usize, seed: u64) -> Vec<Sphere> {
        self.generate_with(&self.parameters(), n, seed)
    }

    /// The same with other parameters. Those that the scene does not have do nothing.
    pub fn generate_with(self, with: &Parameters, n: usize, seed: u64) -> Vec<Sphere> {
        let rng = &mut Rng::with_seed(seed);
        let density = with.density;
        let radii = LARGEST / with.ratio..LARGEST;
        match self {
            Self::Gas => equal_in_box(n, density, rng, |rng| 0.5 * rng.f32()),
            Self::Dense => equal_in_box(n, density, rng, |rng| 0.1 * rng.f32()),
            Self::Polydisperse => grains(n, density, radii, rng, |radius, rng| {
                0.5 * radius * rng.f32()
            }),
            Self::Fast => fast(n, density, 2.0 * RADIUS * with.bullets, rng),
            Self::Clustered => clustered(n, density, rng),
            Self::Lattice | Self::Touching => lattice(n, self.spacing()),
            Self::Thermal => grains(n, density, radii, rng, |_, _| 5.0),
        }
    }

    /// From one site of a lattice to the next.
    fn spacing(self) -> f32 {
        match self {
            Self::Lattice => 0.57,
            // Whole numbers and halves, so that not even a square is rounded.
            _ => 1.0,
        }
    }
}

impl std::str::FromStr for Scene {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no scene `{name}`; the scenes are {names}")
        })
    }
}

impl std::fmt::Display for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The same spheres, none of them moving.
pub fn at_rest(mut spheres: Vec<Sphere>) -> Vec<Sphere> {
    for sphere in &mut spheres {
        sphere.velocity = [0.0; 3];
    }
    spheres
}

/// `polydisperse` with radii of any range instead of 0.05 to 5.
pub fn polydisperse_of(n: usize, radii: std::ops::Range<f32>, seed: u64) -> Vec<Sphere> {
    let rng = &mut Rng::with_seed(seed);
    grains(n, 0.10, radii, rng, |radius, rng| 0.5 * radius * rng.f32())
}

/// The sphere's part of a cell, which is above 1 where they overlap.
fn density_of_lattice(spacing: f32) -> f64 {
    volume(RADIUS) / f64::from(spacing).powi(3)
}

fn volume(radius: f32) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3)
}

/// The side of the cube that spheres of these radii fill to `density`.
fn side(radii: impl Iterator<Item = f32>, density: f64) -> f64 {
    (radii.map(volume).sum::<f64>() / density).cbrt()
}

/// Spheres of one size, uniform in a cube, that move `length` in a random direction.
fn equal_in_box(
    n: usize,
    density: f64,
    rng: &mut Rng,
    length: impl Fn(&mut Rng) -> f32,
) -> Vec<Sphere> {
    let side = single(side(std::iter::repeat_n(RADIUS, n), density));
    let sphere = |_| {
        let sphere = Sphere::new(in_cube(side, rng), RADIUS);
        sphere.with_velocity(direction(rng) * length(rng))
    };
    (0..n).map(sphere).collect()
}

/// Spheres of log-uniform radii, uniform in a cube, that move `length` in a random direction.
fn grains(
    n: usize,
    density: f64,
    radii: std::ops::Range<f32>,
    rng: &mut Rng,
    length: impl Fn(f32, &mut Rng) -> f32,
) -> Vec<Sphere> {
    let radii: Vec<f32> = (0..n).map(|_| log_uniform(&radii, rng)).collect();
    let side = single(side(radii.iter().copied(), density));
    let sphere = |radius| {
        let sphere = Sphere::new(in_cube(side, rng), radius);
        sphere.with_velocity(direction(rng) * length(radius, rng))
    };
    radii.into_iter().map(sphere).collect()
}

/// A gas in which exactly one sphere in a hundred, but never the same neighbours in memory, moves
/// `far` and the others 0.1.
fn fast(n: usize, density: f64, far: f32, rng: &mut Rng) -> Vec<Sphere> {
    let mut lengths = vec![0.1; n];
    lengths
        .iter_mut()
        .take(n / 100)
        .for_each(|length| *length = far);
    rng.shuffle(&mut lengths);
    let mut spheres = equal_in_box(n, density, rng, |_| 1.0);
    for (sphere, length) in spheres.iter_mut().zip(lengths) {
        sphere.velocity = sphere.velocity.map(|v| v * length);
    }
    spheres
}

/// Nine in ten in Gaussian clusters, which are not cut off at the faces of the cube.
fn clustered(n: usize, density: f64, rng: &mut Rng) -> Vec<Sphere> {
    let side = side(std::iter::repeat_n(RADIUS, n), density);
    let count = (n / 5000).max(2);
    // count · 4/3 π (2σ)³ is 1 % of the cube.
    let balls = 4.0 / 3.0 * std::f64::consts::PI * count as f64;
    let sigma = single((0.01 * side.powi(3) / balls).cbrt() / 2.0);
    let side = single(side);
    let centers: Vec<_> = (0..count).map(|_| in_cube(side, rng)).collect();
    let sphere = |_| {
        let center = match rng.choice(&centers) {
            Some(&center) if rng.u32(0..10) < 9 => center + sigma * normal(rng),
            _ => in_cube(side, rng),
        };
        Sphere::new(center, RADIUS).with_velocity(direction(rng) * (0.5 * rng.f32()))
    };
    (0..n).map(sphere).collect()
}

/// The first `n` sites of the smallest cubic lattice that has as many, x running fastest.
fn lattice(n: usize, spacing: f32) -> Vec<Sphere> {
    let side = (1..).find(|side: &usize| side.pow(3) >= n).unwrap_or(1);
    let at = |k: usize| (k as f32 - (side / 2) as f32) * spacing;
    let center = |site: usize| [site % side, site / side % side, site / (side * side)].map(at);
    (0..n)
        .map(|site| Sphere::new(center(site), RADIUS))
        .collect()
}
