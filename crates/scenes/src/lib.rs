//! The benchmark scenes of carom: moving spheres from a seeded random generator. Equal scenes, numbers of
//! spheres and seeds give equal spheres. Every scene is one time step of length 1. The sphere centres are in
//! a cube around the origin, except that clusters may extend beyond the cube.
//!
//! The density of a scene is the sum of the spheres' volumes divided by the volume of the cube.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod sample;

use carom::Sphere;
use fastrand::Rng;

use sample::{direction, in_cube, log_uniform, normal, single};

const RADIUS: f32 = 0.5;
const LARGEST: f32 = 5.0;

/// Parameters of a benchmark scene. [`Scene::parameters`] returns the parameters of carom's published
/// measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Sum of the spheres' volumes divided by the volume of the cube that contains the centres.
    pub density: f64,
    /// Upper limit of the radii divided by the lower limit.
    pub ratio: f32,
    /// Distance that a bullet (a fast sphere) moves during the time step, in sphere diameters, or 0 in scenes
    /// without bullets. One sphere in a hundred is a bullet.
    pub bullets: f32,
}

/// A benchmark scene of moving spheres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scene {
    /// Spheres of one size at a density of 5 %. Each sphere moves by up to one radius during the time step.
    Gas,
    /// Spheres of one size at a density of 30 %. Each sphere moves by up to a fifth of its radius during the
    /// time step.
    Dense,
    /// Spheres with radii that vary by a factor of up to 100. Each sphere moves by up to half its radius
    /// during the time step.
    Polydisperse,
    /// Spheres of one size. During the time step, one sphere in a hundred moves by 50 diameters, and all
    /// others move by 0.1 diameters.
    Fast,
    /// Spheres of one size. Nine in ten spheres are in Gaussian clusters, and the others are spread
    /// uniformly.
    Clustered,
    /// Spheres at rest on a cubic lattice. Each inner sphere overlaps its 26 neighbours.
    Lattice,
    /// Spheres at rest on a cubic lattice. Each inner sphere touches 6 neighbours exactly.
    Touching,
    /// Spheres with radii that vary by a factor of up to 1000. During the time step, all spheres move the
    /// same distance, which is the largest radius.
    Thermal,
}

impl Scene {
    /// All benchmark scenes, in the order of carom's published tables.
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

    /// Returns the name of the benchmark scene, as on the command line of `carom bench`.
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

    /// Returns a short description of the data that the benchmark scene represents.
    pub fn description(self) -> &'static str {
        match self {
            Self::Gas => "the classic particle box",
            Self::Dense => "packings, fluids",
            Self::Polydisperse => "grains and powders, radii 100 : 1",
            Self::Fast => "bullets, tunnelling",
            Self::Clustered => "swarms, galaxies",
            Self::Lattice => "26 overlapping neighbours each, as in published work on cell lists",
            Self::Touching => "every contact exactly tangent",
            Self::Thermal => "grains of all sizes at one speed, radii 1000 : 1",
        }
    }

    /// Returns the benchmark scene of the given name, or `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scene| scene.name() == name)
    }

    /// Returns the parameters with which [`Self::generate`] makes this benchmark scene.
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

    /// Returns whether [`Parameters::density`] has an effect in this scene. The density of a lattice follows
    /// from the distance between its sites.
    pub fn has_density(self) -> bool {
        !matches!(self, Self::Lattice | Self::Touching)
    }

    /// Returns whether the radii of this scene differ, so that [`Parameters::ratio`] has an effect.
    pub fn has_ratio(self) -> bool {
        matches!(self, Self::Polydisperse | Self::Thermal)
    }

    /// Returns whether this scene has bullets (a few fast spheres), so that [`Parameters::bullets`] has an
    /// effect.
    pub fn has_bullets(self) -> bool {
        matches!(self, Self::Fast)
    }

    /// Returns `n` spheres of this benchmark scene. Their velocities are made for a time step of
    /// length 1.
    pub fn generate(self, n: usize, seed: u64) -> Vec<Sphere> {
        self.generate_with(&self.parameters(), n, seed)
    }

    /// Returns `n` spheres of this benchmark scene, made with the given parameters. A parameter that does not
    /// apply to the scene has no effect. Equal arguments give equal spheres.
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

    fn spacing(self) -> f32 {
        match self {
            Self::Lattice => 0.57,
            // With a lattice spacing of 1, coordinates are integers and radii are halves. The squares of
            // these numbers are exact in float32.
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

/// Returns the spheres with all velocities set to 0.
pub fn at_rest(mut spheres: Vec<Sphere>) -> Vec<Sphere> {
    for sphere in &mut spheres {
        sphere.velocity = [0.0; 3];
    }
    spheres
}

/// Returns `n` spheres like [`Scene::Polydisperse`], but with radii in the given range instead of 0.05 to 5.
pub fn polydisperse_of(n: usize, radii: std::ops::Range<f32>, seed: u64) -> Vec<Sphere> {
    let rng = &mut Rng::with_seed(seed);
    grains(n, 0.10, radii, rng, |radius, rng| 0.5 * radius * rng.f32())
}

/// Returns the density of a cubic lattice of spheres: the volume of a sphere divided by the volume of a
/// lattice cell.
fn density_of_lattice(spacing: f32) -> f64 {
    volume(RADIUS) / f64::from(spacing).powi(3)
}

fn volume(radius: f32) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3)
}

fn side(radii: impl Iterator<Item = f32>, density: f64) -> f64 {
    (radii.map(volume).sum::<f64>() / density).cbrt()
}

/// Returns `n` spheres of one size, uniformly distributed in a cube. The function `length` draws the distance
/// that a sphere moves in the step.
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

/// Returns `n` spheres with log-uniformly distributed radii, uniformly distributed in a cube. The function
/// `length` computes from the radius of a sphere how far the sphere moves in the step.
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

/// Returns `n` spheres of one size in a cube. During the time step, `n / 100` of the spheres move by the
/// distance `far`, and all others by 0.1.
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

fn clustered(n: usize, density: f64, rng: &mut Rng) -> Vec<Sphere> {
    let side = side(std::iter::repeat_n(RADIUS, n), density);
    let count = (n / 5000).max(2);
    // The scene is a cube with the edge `side`, and has `count` Gaussian clusters with the standard
    // deviation `sigma`. `sigma` is chosen so that balls of radius 2 sigma around all cluster
    // centres together have 1 % of the volume of the cube: count · 4/3 π (2 sigma)³ = 0.01 · side³.
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

/// Returns `n` spheres at rest, on the first `n` sites of the smallest cubic lattice with at least `n` sites.
/// From site to site, x varies fastest.
fn lattice(n: usize, spacing: f32) -> Vec<Sphere> {
    let side = (1..).find(|side: &usize| side.pow(3) >= n).unwrap_or(1);
    let at = |k: usize| (k as f32 - (side / 2) as f32) * spacing;
    let center = |site: usize| [site % side, site / side % side, site / (side * side)].map(at);
    (0..n)
        .map(|site| Sphere::new(center(site), RADIUS))
        .collect()
}
