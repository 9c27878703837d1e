//! Lists of pairs that touch, and of neighbours.

use std::cell::Cell;

use carom::{
    Backend, Collisions, Hits, NeighborSearch, Options, Spheres, Statistics, Step, Touching,
};
use js_sys::{Object, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::js::{
    Columns, Fields, Js, Real, busy, domain, failed, images, is_float32, object, walls, wrong,
};

/// Finds the pairs of spheres that touch during a time step.
#[wasm_bindgen]
pub struct Detector {
    /// `None` while a promise works with it.
    inner: Cell<Option<carom::Detector>>,
    backend: Backend,
    reason: String,
    adapter: Option<String>,
}

#[wasm_bindgen]
impl Detector {
    /// Creates a detector. Its `device` is "auto" (a hardware GPU if there is one, otherwise the CPU), "gpu" or "cpu".
    pub async fn create(
        #[wasm_bindgen(unchecked_optional_param_type = "DetectorOptions")] options: JsValue,
    ) -> Js<Detector> {
        let known = ["device", "maxPairs", "maxCandidates"];
        let fields = Fields::optional(&options, "Detector.create", &known)?;
        let device = fields.text("device")?;
        let backend = match device.as_deref() {
            None | Some("auto") => Backend::Auto,
            Some("gpu") => Backend::Gpu,
            Some("cpu") => Backend::Cpu,
            Some(_) => return Err(fields.wrong("device", "auto, gpu or cpu")),
        };
        let mut options = Options::new().with_backend(backend);
        if let Some(most) = limit(&fields, "maxPairs")? {
            options = options.with_max_pairs(most);
        }
        if let Some(most) = limit(&fields, "maxCandidates")? {
            options = options.with_max_candidates(most);
        }
        let inner = carom::Detector::new_async(options).await.map_err(failed)?;
        Ok(Self {
            backend: inner.backend(),
            reason: inner.reason().to_owned(),
            adapter: inner.adapter().map(str::to_owned),
            inner: Cell::new(Some(inner)),
        })
    }

    /// "cpu" or "gpu".
    #[wasm_bindgen(getter, unchecked_return_type = "\"cpu\" | \"gpu\"")]
    pub fn backend(&self) -> String {
        name(self.backend).to_owned()
    }

    /// A sentence that says why the detector uses the CPU or a GPU.
    #[wasm_bindgen(getter)]
    pub fn reason(&self) -> String {
        self.reason.clone()
    }

    /// The name of the GPU.
    #[wasm_bindgen(getter)]
    pub fn adapter(&self) -> Option<String> {
        self.adapter.clone()
    }

    /// Finds every pair that touches during a step, sorted by the indices a and b.
    #[wasm_bindgen(unchecked_return_type = "Collisions")]
    pub async fn detect(
        &self,
        #[wasm_bindgen(unchecked_param_type = "StepInput")] step: JsValue,
    ) -> Js<Object> {
        let known = [
            "center",
            "radius",
            "velocity",
            "groups",
            "dt",
            "domain",
            "walls",
            "other",
            "approaching",
        ];
        let fields = Fields::new(&step, "detect", &known)?;
        let is_float32 = is_float32(&fields)?;
        let mut inner = self.inner.take().ok_or_else(|| busy("detector"))?;
        let found = if is_float32 {
            detect::<f32>(&mut inner, &fields).await
        } else {
            detect::<f64>(&mut inner, &fields).await
        };
        self.inner.set(Some(inner));
        found
    }

    /// Finds the neighbours of spheres or points.
    #[wasm_bindgen(js_name = findNeighbors)]
    pub async fn find_neighbors(
        &self,
        #[wasm_bindgen(unchecked_param_type = "NeighborInput")] search: JsValue,
    ) -> Js<NeighborList> {
        let fields = neighbor_fields(&search)?;
        let is_float32 = is_float32(&fields)?;
        let mut inner = self.inner.take().ok_or_else(|| busy("detector"))?;
        let found = if is_float32 {
            find::<f32>(&mut inner, &fields).await.map(List::Float32)
        } else {
            find::<f64>(&mut inner, &fields).await.map(List::Float64)
        };
        self.inner.set(Some(inner));
        Ok(NeighborList(found?))
    }
}

fn limit(fields: &Fields<'_>, name: &str) -> Js<Option<u64>> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    let whole = |x: f64| {
        let fits = x >= 0.0;
        fits.then_some(x as u64)
            .ok_or_else(|| fields.wrong(name, "a number of at least 0"))
    };
    fields.number(name)?.map(whole).transpose()
}

fn name(backend: Backend) -> &'static str {
    match backend {
        Backend::Cpu => "cpu",
        _ => "gpu",
    }
}

async fn detect<T: Real>(inner: &mut carom::Detector, fields: &Fields<'_>) -> Js<Object> {
    let columns = Columns::<T>::new(fields)?;
    if !columns.has_radius() {
        return Err(wrong("detect lacks the field radius"));
    }
    let other = match fields.get("other") {
        None => None,
        Some(value) => {
            let known = ["center", "radius", "velocity", "groups"];
            Some(Columns::<T>::new(&Fields::new(&value, "other", &known)?)?)
        }
    };
    let (domain, walls) = (domain(fields)?, walls::<T>(fields)?);
    let dt = T::rounded(fields.number("dt")?.unwrap_or_default());
    let mut step = match &other {
        None => Step::new(columns.spheres(), dt),
        Some(other) => Step::between(columns.spheres(), other.spheres(), dt),
    };
    step = step.in_domain(&domain);
    if !walls.is_empty() {
        step = step.with_walls(&walls);
    }
    if fields.flag("approaching")? {
        step = step.without_separating();
    }
    let found = inner.detect_async(&step).await.map_err(failed)?;
    Ok(listed(&found))
}

fn listed<T: Real>(found: &Collisions<T>) -> Object {
    object([
        ("pairs", hits(&found.pairs, ["a", "b"])),
        ("walls", hits(&found.walls, ["sphere", "wall"])),
        ("statistics", statistics(&found.statistics)),
    ])
}

fn hits<T: Real, H: Touching<T>>(hits: &Hits<H>, names: [&'static str; 2]) -> JsValue {
    let side = |k: usize| -> JsValue {
        let sides: Vec<u32> = hits.iter().map(|hit| hit.sides()[k]).collect();
        Uint32Array::from(&*sides).into()
    };
    let [toi, depth] = [true, false].map(|is_toi| {
        let numbers = hits.iter().map(|hit| {
            let wide = hit.wide();
            T::rounded(if is_toi { wide.toi } else { wide.depth })
        });
        T::array(&numbers.collect::<Vec<_>>())
    });
    #[allow(
        clippy::cast_precision_loss,
        reason = "a list has fewer than 2^32 entries on 32 bits"
    )]
    let count = hits.len() as f64;
    object([
        ("count", count.into()),
        (names[0], side(0)),
        (names[1], side(1)),
        ("toi", toi),
        ("depth", depth),
        ("images", images(hits.images())),
    ])
    .into()
}

#[allow(clippy::cast_precision_loss, reason = "numbers for people")]
fn statistics(of: &Statistics) -> JsValue {
    let seconds: f64 = of.stages.iter().map(|(_, time)| time.as_secs_f64()).sum();
    object([
        ("backend", name(of.backend).into()),
        ("reason", of.reason.as_str().into()),
        ("candidates", (of.candidates as f64).into()),
        ("grazing", (of.grazing as f64).into()),
        ("memory", (of.memory as f64).into()),
        ("seconds", seconds.into()),
    ])
    .into()
}

fn neighbor_fields(search: &JsValue) -> Js<Fields<'static>> {
    let known = [
        "center", "radius", "groups", "cutoff", "skin", "full", "domain",
    ];
    Fields::new(search, "findNeighbors", &known)
}

fn search<'a, T: Real>(
    fields: &Fields<'_>,
    columns: &'a Columns<T>,
) -> Js<NeighborSearch<'a, Spheres<'a, T>>> {
    let mut search = match fields.number("cutoff")? {
        Some(cutoff) => NeighborSearch::within(columns.spheres(), T::rounded(cutoff)),
        None if columns.has_radius() => NeighborSearch::touching(columns.spheres()),
        None => return Err(wrong("findNeighbors needs a cutoff or a radius")),
    };
    search = search.in_domain(&domain(fields)?);
    if let Some(skin) = fields.number("skin")? {
        search = search.with_skin(T::rounded(skin));
    }
    Ok(if fields.flag("full")? {
        search.full()
    } else {
        search
    })
}

async fn find<T: Real>(
    inner: &mut carom::Detector,
    fields: &Fields<'_>,
) -> Js<carom::NeighborList<T>> {
    let columns = Columns::<T>::new(fields)?;
    let search = search(fields, &columns)?;
    inner.find_neighbors_async(&search).await.map_err(failed)
}

fn flattened<T: Real>(vectors: &[[T; 3]]) -> JsValue {
    T::array(vectors.as_flattened())
}

enum List {
    Float32(carom::NeighborList),
    Float64(carom::NeighborList<f64>),
}

/// The neighbours of spheres or points, sorted by a and b.
#[wasm_bindgen]
pub struct NeighborList(List);

/// Evaluates an expression with the list, whichever numbers it has.
macro_rules! either {
    ($of:expr, $list:ident => $value:expr) => {
        match $of {
            List::Float32($list) => $value,
            List::Float64($list) => $value,
        }
    };
}

#[wasm_bindgen]
impl NeighborList {
    /// The number of entries.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        either!(&self.0, list => list.len())
    }

    /// The first particle of each entry.
    #[wasm_bindgen(getter)]
    pub fn a(&self) -> Uint32Array {
        self.side(0)
    }

    /// The second particle of each entry.
    #[wasm_bindgen(getter)]
    pub fn b(&self) -> Uint32Array {
        self.side(1)
    }

    /// The vector from `a` to the image of `b`, three numbers for each entry.
    #[wasm_bindgen(getter, unchecked_return_type = "Float32Array | Float64Array")]
    pub fn vectors(&self) -> JsValue {
        either!(&self.0, list => flattened(list.vectors()))
    }

    /// The length of each vector.
    #[wasm_bindgen(getter, unchecked_return_type = "Float32Array | Float64Array")]
    pub fn distances(&self) -> JsValue {
        either!(&self.0, list => Real::array(list.distances()))
    }

    /// The periodic image of `b`, three numbers for each entry, or null if all are 0.
    #[wasm_bindgen(getter, unchecked_return_type = "Int32Array | null")]
    pub fn images(&self) -> JsValue {
        either!(&self.0, list => images(list.pairs().images()))
    }

    /// Computes the vectors and distances anew and returns true, if the list is still valid for the search; returns false
    /// otherwise, and then `findNeighbors` is needed.
    pub fn update(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "NeighborInput")] search: &JsValue,
    ) -> Js<bool> {
        let fields = neighbor_fields(search)?;
        if is_float32(&fields)? != matches!(self.0, List::Float32(_)) {
            return Ok(false);
        }
        either!(&mut self.0, list => {
            let columns = Columns::new(&fields)?;
            Ok(list.update(&self::search(&fields, &columns)?))
        })
    }

    fn side(&self, k: usize) -> Uint32Array {
        let side = |pair: &[u32; 2]| pair[k];
        let all: Vec<u32> = either!(&self.0, list => list.pairs().iter().map(side).collect());
        Uint32Array::from(&*all)
    }
}
