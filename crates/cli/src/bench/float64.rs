//! Times the spheres of a benchmark in float64.

use std::time::Instant;

use carom::{
    Backend, Collisions, Detector, HardSphere, Options, Sphere, Spheres, Statistics, Step,
};
use serde::Serialize;

use super::median::{Stage, median, median_of_stage};
use crate::say::say;

/// Result of timing the spheres of a benchmark in float64.
#[derive(Serialize)]
pub(super) struct Float64 {
    form: &'static str,
    median_seconds: f64,
    /// Median of the ratios of consecutive times in float64 and in float32.
    over_float32: f64,
    pairs: u64,
    memory: u64,
    stages: Vec<Stage>,
}

/// The spheres of a benchmark in float64, as records or as columns.
enum Form {
    Records(Vec<HardSphere>),
    Columns {
        centers: Vec<[f64; 3]>,
        radii: Vec<f64>,
        velocities: Vec<[f64; 3]>,
    },
}

struct OneForm {
    form: Form,
    detector: Detector,
    found: Collisions<f64>,
    seconds: Vec<f64>,
    calls: Vec<Statistics>,
}

impl OneForm {
    fn time(&mut self, dt: f64) -> Result<(), carom::Error> {
        let start = Instant::now();
        let spheres: Spheres<'_, f64> = match &self.form {
            Form::Records(records) => records.into(),
            Form::Columns {
                centers,
                radii,
                velocities,
            } => Spheres::new(centers, radii).with_velocity(velocities),
        };
        self.detector
            .detect_into(&Step::new(spheres, dt), &mut self.found)?;
        self.seconds.push(start.elapsed().as_secs_f64());
        self.calls.push(self.found.statistics.clone());
        Ok(())
    }
}

pub(super) struct Float64Run {
    dt: f64,
    forms: [OneForm; 2],
}

impl Float64Run {
    /// Copies the spheres, and runs each form once to warm up.
    pub(super) fn new(spheres: &[Sphere], dt: f32, backend: Backend) -> anyhow::Result<Self> {
        let wide = |x: [f32; 3]| x.map(f64::from);
        let records = spheres.iter().map(|sphere| {
            HardSphere::new(wide(sphere.center), sphere.radius.into())
                .with_velocity(wide(sphere.velocity))
        });
        let columns = Form::Columns {
            centers: spheres.iter().map(|sphere| wide(sphere.center)).collect(),
            radii: spheres.iter().map(|sphere| sphere.radius.into()).collect(),
            velocities: spheres.iter().map(|sphere| wide(sphere.velocity)).collect(),
        };
        let dt = f64::from(dt);
        let warm = |form| -> anyhow::Result<OneForm> {
            let mut one = OneForm {
                form,
                detector: Detector::new(Options::new().with_backend(backend))?,
                found: Collisions::default(),
                seconds: Vec::new(),
                calls: Vec::new(),
            };
            one.time(dt)?;
            one.seconds.clear();
            one.calls.clear();
            Ok(one)
        };
        let forms = [warm(Form::Records(records.collect()))?, warm(columns)?];
        Ok(Self { dt, forms })
    }

    pub(super) fn time(&mut self) -> Result<(), carom::Error> {
        let dt = self.dt;
        self.forms.iter_mut().try_for_each(|form| form.time(dt))
    }

    /// `float32` has the times in float32, each of the step before one in float64.
    pub(super) fn results(self, float32: &[f64]) -> Vec<Float64> {
        let results = self.forms.into_iter().map(|form| {
            let facts = &form.found.statistics;
            let stages = facts.stages.iter().map(|&(name, _)| Stage {
                name,
                median_seconds: median_of_stage(name, &form.calls),
            });
            let ratios = form.seconds.iter().zip(float32).map(|(own, one)| own / one);
            Float64 {
                form: match form.form {
                    Form::Records(_) => "records",
                    Form::Columns { .. } => "columns",
                },
                over_float32: median(ratios.collect()),
                pairs: facts.pairs,
                memory: facts.memory,
                stages: stages.collect(),
                median_seconds: median(form.seconds),
            }
        });
        results.collect()
    }
}

impl Float64 {
    pub(super) fn print_row(&self, n: usize, backend: &str) {
        let each = n.max(1) as f64;
        say(&format!(
            "{:<28} {:>9} {:>4} {:>10.2} {:>10} {:>10} {:>8.1} {:>30.2} {:>8} {:>8.1} {:>8.2} x float32",
            format!("  float64, {}", self.form),
            n,
            backend,
            self.median_seconds * 1e3,
            "",
            "",
            self.median_seconds / each * 1e9,
            self.pairs as f64 / each,
            "",
            self.memory as f64 / f64::from(1 << 20),
            self.over_float32,
        ));
    }
}
