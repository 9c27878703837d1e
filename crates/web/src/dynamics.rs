//! Hard spheres that move and bounce, on the CPU.

use carom::{HardSphere, Partner, SimulationOptions, StepReport, Values};
use js_sys::{Float64Array, Object, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::js::{Fields, Js, domain, failed, object, walls, wrong};

/// The fields of a world.
pub(crate) const KNOWN: [&str; 13] = [
    "center",
    "radius",
    "velocity",
    "mass",
    "groups",
    "domain",
    "walls",
    "restitution",
    "wallRestitution",
    "gravity",
    "contactTime",
    "impacts",
    "maxStepImpacts",
];

/// Hard spheres that move and bounce: every impact happens at its time.
#[wasm_bindgen]
pub struct Simulation(carom::Simulation);

#[wasm_bindgen]
impl Simulation {
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "SimulationInput")] input: &JsValue,
    ) -> Js<Simulation> {
        let fields = Fields::new(input, "Simulation", &KNOWN)?;
        let (spheres, options) = world(&fields)?;
        let made = carom::Simulation::new(spheres, options).map_err(failed)?;
        Ok(Self(made))
    }

    /// Moves the spheres by a duration.
    #[wasm_bindgen(unchecked_return_type = "StepReport")]
    pub fn step(&mut self, duration: f64) -> Js<Object> {
        let report = self.0.step(duration).map_err(failed)?;
        Ok(self.reported(&report))
    }

    /// The number of spheres.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.0.spheres().len()
    }

    /// The simulated time.
    #[wasm_bindgen(getter)]
    pub fn time(&self) -> f64 {
        self.0.time()
    }

    /// The centres, three numbers for each sphere.
    #[wasm_bindgen(getter)]
    pub fn center(&self) -> Float64Array {
        flat(self.0.spheres().iter().flat_map(|sphere| sphere.center))
    }

    /// The velocities, three numbers for each sphere.
    #[wasm_bindgen(getter)]
    pub fn velocity(&self) -> Float64Array {
        flat(self.0.spheres().iter().flat_map(|sphere| sphere.velocity))
    }

    /// The radii.
    #[wasm_bindgen(getter)]
    pub fn radius(&self) -> Float64Array {
        flat(self.0.spheres().iter().map(|sphere| sphere.radius))
    }

    /// The kinetic energy of all spheres.
    #[wasm_bindgen(getter, js_name = kineticEnergy)]
    pub fn kinetic_energy(&self) -> f64 {
        self.0.kinetic_energy()
    }

    /// Sets the acceleration of all spheres.
    #[wasm_bindgen(js_name = setGravity)]
    pub fn set_gravity(&mut self, x: f64, y: f64, z: f64) -> Js {
        self.0.set_gravity([x, y, z]).map_err(failed)
    }

    /// Sets the coefficient of restitution of two spheres.
    #[wasm_bindgen(js_name = setRestitution)]
    pub fn set_restitution(&mut self, restitution: f64) -> Js {
        self.0.set_restitution(restitution).map_err(failed)
    }

    /// Sets the coefficient of restitution of a sphere and a wall.
    #[wasm_bindgen(js_name = setWallRestitution)]
    pub fn set_wall_restitution(&mut self, restitution: f64) -> Js {
        self.0.set_wall_restitution(restitution).map_err(failed)
    }

    #[allow(clippy::cast_precision_loss, reason = "counts below 2^53")]
    fn reported(&self, report: &StepReport) -> Object {
        let sides = report.impacts.iter().map(|impact| impact.sphere);
        let sides: Vec<u32> = sides.collect();
        // A wall is told from a sphere by its sign.
        let partners = report.impacts.iter().map(|impact| match impact.partner {
            Partner::Sphere(sphere) => f64::from(sphere),
            Partner::Wall(wall) => -1.0 - f64::from(wall),
        });
        object([
            ("completed", report.completed.into()),
            ("time", self.0.time().into()),
            ("sphereImpacts", (report.sphere_impacts as f64).into()),
            ("wallImpacts", (report.wall_impacts as f64).into()),
            ("kineticEnergy", report.kinetic_energy.into()),
            ("virial", report.virial.into()),
            ("impactSphere", Uint32Array::from(&*sides).into()),
            ("impactPartner", flat(partners).into()),
            (
                "impactTime",
                flat(report.impacts.iter().map(|impact| impact.time)).into(),
            ),
        ])
    }
}

/// Returns the spheres and options that the fields describe.
pub(crate) fn world(fields: &Fields<'_>) -> Js<(Vec<HardSphere>, SimulationOptions)> {
    let mut options = SimulationOptions::new()
        .with_domain(domain(fields)?)
        .with_walls(walls::<f32>(fields)?);
    if let Some(restitution) = fields.number("restitution")? {
        options = options.with_restitution(restitution);
    }
    if let Some(restitution) = fields.number("wallRestitution")? {
        options = options.with_wall_restitution(restitution);
    }
    if let Some(gravity) = fields.some_numbers::<3>("gravity")? {
        options = options.with_gravity(gravity);
    }
    if let Some(time) = fields.number("contactTime")? {
        options = options.with_contact_time(time);
    }
    if let Some(groups) = fields.integers("groups")? {
        options = options.with_groups(groups);
    }
    if fields.flag("impacts")? {
        options = options.with_impact_list();
    }
    if let Some(most) = fields.number("maxStepImpacts")? {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it saturates"
        )]
        let most = most as u64;
        options = options.with_max_step_impacts(most);
    }
    Ok((spheres(fields)?, options))
}

fn flat(numbers: impl Iterator<Item = f64>) -> Float64Array {
    Float64Array::from(&*numbers.collect::<Vec<_>>())
}

fn spheres(fields: &Fields<'_>) -> Js<Vec<HardSphere>> {
    let center = fields.numbers("center")?;
    let center = center.ok_or_else(|| wrong("Simulation lacks the field center"))?;
    let count = center.len() / 3;
    let per_sphere = |name: &str, width: usize| -> Js<Option<Values<f64, Vec<f64>>>> {
        let value = fields.get(name);
        if let Some(x) = value.as_ref().and_then(JsValue::as_f64) {
            return Ok(Some(Values::Constant(x)));
        }
        let numbers = fields.numbers(name)?;
        if numbers
            .as_ref()
            .is_some_and(|all| all.len() != width * count)
        {
            let what = format!("{} numbers, {width} for each sphere", width * count);
            return Err(fields.wrong(name, &what));
        }
        Ok(numbers.map(Values::PerSphere))
    };
    let radius = per_sphere("radius", 1)?;
    let radius = radius.ok_or_else(|| wrong("Simulation lacks the field radius"))?;
    let (velocity, mass) = (per_sphere("velocity", 3)?, per_sphere("mass", 1)?);
    if center.len() % 3 != 0 {
        return Err(fields.wrong("center", "three numbers for each sphere"));
    }
    let at = |values: &Values<f64, Vec<f64>>, k: usize| match values {
        Values::Constant(x) => *x,
        Values::PerSphere(all) => all.get(k).copied().unwrap_or_default(),
    };
    let made = (0..count).map(|i| {
        let place = [0, 1, 2].map(|k| center[3 * i + k]);
        let mut sphere = HardSphere::new(place, at(&radius, i));
        if let Some(velocity) = &velocity {
            sphere = sphere.with_velocity([0, 1, 2].map(|k| at(velocity, 3 * i + k)));
        }
        match &mass {
            Some(mass) => sphere.with_mass(at(mass, i)),
            None => sphere,
        }
    });
    Ok(made.collect())
}
