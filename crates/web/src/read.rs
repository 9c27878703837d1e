//! The readers of files.

use std::error::Error as _;

use bytemuck::cast_slice;
use carom::Domain;
use carom_formats::Error;
use carom_formats::read::{self, Frames, Input, Radii, ReadOptions, World, mesh};
use js_sys::{Array, Float64Array, Object, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::js::{Fields, Js, Real, error, object, wrong};

fn failed(cause: &Error) -> JsValue {
    let mut text = cause.to_string();
    let mut source = cause.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    error("input", &text)
}

/// Reads spheres from the bytes of a CSV file, a LAMMPS dump or data file, an XYZ file or a NumPy array, which may be
/// compressed.
#[wasm_bindgen(unchecked_return_type = "World")]
pub fn read(
    name: &str,
    bytes: Vec<u8>,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadInput")] options: &JsValue,
) -> Js<Object> {
    let known = ["frame", "radius", "open", "ids"];
    let fields = Fields::optional(options, "read", &known)?;
    let frame = match fields.number("frame")? {
        None => Frames::LAST,
        #[allow(clippy::cast_possible_truncation, reason = "it is whole")]
        Some(x) if x.fract() == 0.0 => Frames::One(x as i64),
        Some(_) => return Err(fields.wrong("frame", "a whole number")),
    };
    let options = ReadOptions {
        ids: fields.flag("ids")?,
        radii: fields
            .number("radius")?
            .map_or(Radii::InFile, Radii::Constant),
        open: fields.flag("open")?,
        ..ReadOptions::default()
    };
    let input = Input::from_bytes(name, bytes, None);
    let worlds = read::open(&input, frame, &options, &());
    let mut worlds = worlds.map_err(|error| failed(&error))?;
    let world = worlds.next();
    let world = world.ok_or_else(|| wrong(&format!("{name} has no spheres")))?;
    let world = world.map_err(|error| failed(&error))?;
    Ok(if world.float32 {
        columns::<f32>(&world)
    } else {
        columns::<f64>(&world)
    })
}

fn columns<T: Real>(world: &World) -> Object {
    let flat = |numbers: &mut dyn Iterator<Item = f64>| {
        T::array(&numbers.map(T::rounded).collect::<Vec<_>>())
    };
    let spheres = || world.spheres.iter();
    let ids = world.ids.as_ref().map_or(JsValue::NULL, |ids| {
        #[allow(
            clippy::cast_precision_loss,
            reason = "ids above 2^53 are for 64-bit programs"
        )]
        let ids: Vec<f64> = ids.iter().map(|&id| id as f64).collect();
        Float64Array::from(&*ids).into()
    });
    #[allow(clippy::cast_precision_loss, reason = "numbers for people")]
    let number = |x: Option<i64>| x.map_or(JsValue::NULL, |x| (x as f64).into());
    let frame = world.frame;
    let notes: Array = world
        .notes
        .iter()
        .map(|note| JsValue::from(note.as_str()))
        .collect();
    object([
        ("source", world.source.as_str().into()),
        (
            "center",
            flat(&mut spheres().flat_map(|sphere| sphere.center)),
        ),
        ("radius", flat(&mut spheres().map(|sphere| sphere.radius))),
        (
            "velocity",
            flat(&mut spheres().flat_map(|sphere| sphere.velocity)),
        ),
        ("ids", ids),
        (
            "domain",
            world.domain.as_ref().map_or(JsValue::NULL, described),
        ),
        (
            "frame",
            number(frame.and_then(|frame| i64::try_from(frame.number).ok())),
        ),
        ("timestep", number(frame.and_then(|frame| frame.step))),
        ("notes", notes.into()),
    ])
}

/// Returns the domain in the form that `detect` takes.
fn described(domain: &Domain) -> JsValue {
    let numbers = |of: &[f64]| of.iter().map(|&x| JsValue::from(x)).collect::<Array>();
    let periodic = domain.periodic().into_iter().map(JsValue::from);
    object([
        ("origin", numbers(&domain.origin()).into()),
        ("edges", numbers(domain.edges().as_flattened()).into()),
        ("periodic", periodic.collect::<Array>().into()),
    ])
    .into()
}

/// Reads a mesh of triangles from the bytes of an STL or OBJ file.
#[wasm_bindgen(js_name = readMesh, unchecked_return_type = "MeshInput")]
pub fn read_mesh(name: &str, bytes: &[u8]) -> Js<Object> {
    let mesh = mesh::read_from(name, bytes).map_err(|error| failed(&error))?;
    Ok(object([
        (
            "vertices",
            Float64Array::from(mesh.vertices.as_flattened()).into(),
        ),
        (
            "triangles",
            Uint32Array::from(cast_slice::<[u32; 3], u32>(&mesh.triangles)).into(),
        ),
    ]))
}
