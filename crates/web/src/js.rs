//! Values of JavaScript: arguments with checked fields, and results.

use bytemuck::cast_slice;
use carom::{Column, Domain, ErrorKind, Mesh, Number, Spheres, Values, Wall, Walls};
use js_sys::{Array, Float32Array, Float64Array, Int32Array, Object, Reflect, Uint32Array};
use wasm_bindgen::{JsCast, JsValue};

pub(crate) type Js<T = ()> = Result<T, JsValue>;

/// Returns an `Error` of JavaScript that says what kind of error it is.
pub(crate) fn error(kind: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name("CaromError");
    // Setting a field of a new object cannot fail.
    let _ = Reflect::set(&error, &"kind".into(), &kind.into());
    error.into()
}

pub(crate) fn wrong(message: &str) -> JsValue {
    error("input", message)
}

pub(crate) fn failed(cause: carom::Error) -> JsValue {
    let kind = match cause.kind() {
        ErrorKind::Input => "input",
        ErrorKind::Limit => "limit",
        ErrorKind::Device => "device",
        _ => "misuse",
    };
    error(kind, &cause.to_string())
}

/// The error of an object that works on the promise of an earlier call.
pub(crate) fn busy(what: &str) -> JsValue {
    error(
        "misuse",
        &format!("the {what} is at work; await the promise of its last call first"),
    )
}

/// Returns an object with these fields.
pub(crate) fn object(fields: impl IntoIterator<Item = (&'static str, JsValue)>) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object
}

/// The fields of an argument.
pub(crate) struct Fields<'a> {
    of: JsValue,
    what: &'a str,
}

impl<'a> Fields<'a> {
    /// `known` has the names that the argument `what` may have.
    pub(crate) fn new(of: &JsValue, what: &'a str, known: &[&str]) -> Js<Self> {
        let object = of.dyn_ref::<Object>();
        let object = object.ok_or_else(|| wrong(&format!("{what} must be an object")))?;
        for name in Object::keys(object).iter() {
            let name = name.as_string().unwrap_or_default();
            if !known.contains(&&*name) {
                let known = known.join(", ");
                return Err(wrong(&format!(
                    "{what} has an unknown field {name}; it may have {known}"
                )));
            }
        }
        let of = of.clone();
        Ok(Self { of, what })
    }

    /// Does the same as [`Fields::new`] for an argument that may be left out.
    pub(crate) fn optional(of: &JsValue, what: &'a str, known: &[&str]) -> Js<Self> {
        if of.is_undefined() {
            Self::new(&Object::new(), what, known)
        } else {
            Self::new(of, what, known)
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<JsValue> {
        let value = Reflect::get(&self.of, &name.into()).ok()?;
        (!value.is_undefined() && !value.is_null()).then_some(value)
    }

    pub(crate) fn needed(&self, name: &str) -> Js<JsValue> {
        let lacks = || wrong(&format!("{} lacks the field {name}", self.what));
        self.get(name).ok_or_else(lacks)
    }

    pub(crate) fn wrong(&self, name: &str, what: &str) -> JsValue {
        wrong(&format!("{}: {name} must be {what}", self.what))
    }

    pub(crate) fn number(&self, name: &str) -> Js<Option<f64>> {
        let number = |value: JsValue| value.as_f64().ok_or_else(|| self.wrong(name, "a number"));
        self.get(name).map(number).transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> Js<bool> {
        let flag = |value: JsValue| {
            let flag = value.as_bool();
            flag.ok_or_else(|| self.wrong(name, "true or false"))
        };
        Ok(self.get(name).map(flag).transpose()?.unwrap_or_default())
    }

    pub(crate) fn text(&self, name: &str) -> Js<Option<String>> {
        let text = |value: JsValue| {
            value
                .as_string()
                .ok_or_else(|| self.wrong(name, "a string"))
        };
        self.get(name).map(text).transpose()
    }

    /// Returns numbers in an array of any kind.
    pub(crate) fn numbers(&self, name: &str) -> Js<Option<Vec<f64>>> {
        self.get(name)
            .map(|value| all_numbers(&value, || self.wrong(name, "an array of numbers")))
            .transpose()
    }

    pub(crate) fn some_numbers<const N: usize>(&self, name: &str) -> Js<Option<[f64; N]>> {
        let Some(numbers) = self.numbers(name)? else {
            return Ok(None);
        };
        let fits = <[f64; N]>::try_from(numbers);
        fits.map(Some)
            .map_err(|_| self.wrong(name, &format!("an array of {N} numbers")))
    }

    fn vector<T: Real>(&self, name: &str) -> Js<[T; 3]> {
        let lacks = || wrong(&format!("{} lacks the field {name}", self.what));
        let vector = self.some_numbers::<3>(name)?;
        Ok(vector.ok_or_else(lacks)?.map(T::rounded))
    }

    fn scalar<T: Real>(&self, name: &str) -> Js<T> {
        let lacks = || wrong(&format!("{} lacks the field {name}", self.what));
        Ok(T::rounded(self.number(name)?.ok_or_else(lacks)?))
    }

    /// Returns numbers of type `T`, of which a typed array must be.
    fn column<T: Real>(&self, name: &str) -> Js<Option<Vec<T>>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if let Some(own) = T::of_array(&value) {
            return Ok(Some(own));
        }
        if value.is_instance_of::<Float32Array>() || value.is_instance_of::<Float64Array>() {
            let what = format!("a {} as center is", T::ARRAY);
            return Err(self.wrong(name, &what));
        }
        let numbers = all_numbers(&value, || self.wrong(name, "an array of numbers"))?;
        Ok(Some(numbers.into_iter().map(T::rounded).collect()))
    }

    pub(crate) fn vectors<T: Real>(&self, name: &str) -> Js<Option<Vec<T>>> {
        let column = self.column(name)?;
        match &column {
            Some(numbers) if numbers.len() % 3 != 0 => {
                let count = numbers.len();
                let what = format!("three numbers for each sphere, but there are {count}");
                Err(self.wrong(name, &what))
            }
            _ => Ok(column),
        }
    }

    pub(crate) fn integers(&self, name: &str) -> Js<Option<Vec<u32>>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if let Some(own) = value.dyn_ref::<Uint32Array>() {
            return Ok(Some(own.to_vec()));
        }
        let what = "an Uint32Array, or an array of whole numbers from 0 to 4294967295";
        let numbers = all_numbers(&value, || self.wrong(name, what))?;
        let whole = numbers.into_iter().map(|x| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is whole"
            )]
            let whole = x as u32;
            (f64::from(whole) == x)
                .then_some(whole)
                .ok_or_else(|| self.wrong(name, what))
        });
        whole.collect::<Js<_>>().map(Some)
    }
}

fn all_numbers(value: &JsValue, wrong: impl Fn() -> JsValue) -> Js<Vec<f64>> {
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        return Ok(array.to_vec());
    }
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        return Ok(array.to_vec().into_iter().map(f64::from).collect());
    }
    let array = value.dyn_ref::<Array>().ok_or_else(&wrong)?;
    let numbers = array.iter().map(|item| item.as_f64().ok_or_else(&wrong));
    numbers.collect()
}

/// float32 or float64.
pub(crate) trait Real: Number {
    const ARRAY: &'static str;
    fn rounded(x: f64) -> Self;
    /// Returns the numbers of a typed array of this type.
    fn of_array(value: &JsValue) -> Option<Vec<Self>>;
    fn array(numbers: &[Self]) -> JsValue;
}

impl Real for f32 {
    const ARRAY: &'static str = "Float32Array";
    #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
    fn rounded(x: f64) -> Self {
        x as Self
    }
    fn of_array(value: &JsValue) -> Option<Vec<Self>> {
        Some(value.dyn_ref::<Float32Array>()?.to_vec())
    }
    fn array(numbers: &[Self]) -> JsValue {
        Float32Array::from(numbers).into()
    }
}

impl Real for f64 {
    const ARRAY: &'static str = "Float64Array";
    fn rounded(x: f64) -> Self {
        x
    }
    fn of_array(value: &JsValue) -> Option<Vec<Self>> {
        Some(value.dyn_ref::<Float64Array>()?.to_vec())
    }
    fn array(numbers: &[Self]) -> JsValue {
        Float64Array::from(numbers).into()
    }
}

/// The columns of a set of spheres.
pub(crate) struct Columns<T> {
    center: Vec<T>,
    radius: Option<Values<T, Vec<T>>>,
    velocity: Option<Vec<T>>,
    groups: Option<Vec<u32>>,
}

impl<T: Real> Columns<T> {
    pub(crate) fn new(fields: &Fields<'_>) -> Js<Self> {
        fields.needed("center")?;
        let radius = match fields.get("radius") {
            None => None,
            Some(value) => Some(match value.as_f64() {
                Some(x) => Values::Constant(T::rounded(x)),
                None => Values::PerSphere(fields.column("radius")?.unwrap_or_default()),
            }),
        };
        Ok(Self {
            center: fields.vectors("center")?.unwrap_or_default(),
            radius,
            velocity: fields.vectors("velocity")?,
            groups: fields.integers("groups")?,
        })
    }

    /// Returns the spheres, with radius 0 if they have none.
    pub(crate) fn spheres(&self) -> Spheres<'_, T> {
        let radius = match &self.radius {
            None => Values::Constant(T::default()),
            Some(Values::Constant(radius)) => Values::Constant(*radius),
            Some(Values::PerSphere(radii)) => Values::PerSphere(Column::from(radii)),
        };
        let mut spheres = Spheres::new(cast_slice::<T, [T; 3]>(&self.center), radius);
        if let Some(velocity) = &self.velocity {
            spheres = spheres.with_velocity(cast_slice::<T, [T; 3]>(velocity));
        }
        if let Some(groups) = &self.groups {
            spheres = spheres.with_groups(groups);
        }
        spheres
    }

    pub(crate) fn has_radius(&self) -> bool {
        self.radius.is_some()
    }
}

/// Returns whether the centres, and so all numbers, are float32.
pub(crate) fn is_float32(fields: &Fields<'_>) -> Js<bool> {
    Ok(fields.needed("center")?.is_instance_of::<Float32Array>())
}

pub(crate) fn domain(fields: &Fields<'_>) -> Js<Domain> {
    let Some(value) = fields.get("domain") else {
        return Ok(Domain::open());
    };
    let known = ["origin", "lengths", "edges", "periodic"];
    let fields = Fields::new(&value, "domain", &known)?;
    let origin = fields.some_numbers("origin")?.unwrap_or_default();
    let lengths = fields.some_numbers::<3>("lengths")?;
    let edges = fields.some_numbers::<9>("edges")?;
    let domain = match (lengths, edges) {
        (Some(lengths), None) => Domain::rectangular_f64(origin, lengths),
        (None, Some([a, b, c, d, e, f, g, h, i])) => {
            Domain::triclinic_f64(origin, [[a, b, c], [d, e, f], [g, h, i]])
        }
        _ => return Err(wrong("domain needs either lengths or edges")),
    };
    let Some(periodic) = fields.get("periodic") else {
        return Ok(domain);
    };
    let is_wrong = || fields.wrong("periodic", "an array of three times true or false");
    let array = periodic.dyn_ref::<Array>().ok_or_else(is_wrong)?;
    let flags: Option<Vec<bool>> = array.iter().map(|flag| flag.as_bool()).collect();
    let flags = flags.and_then(|flags| <[bool; 3]>::try_from(flags).ok());
    Ok(domain.with_periodic(flags.ok_or_else(is_wrong)?))
}

pub(crate) fn walls<T: Real>(fields: &Fields<'_>) -> Js<Walls<T>> {
    let mut walls = Walls::new();
    let Some(value) = fields.get("walls") else {
        return Ok(walls);
    };
    let array = value.dyn_ref::<Array>();
    for item in array
        .ok_or_else(|| fields.wrong("walls", "an array"))?
        .iter()
    {
        add(&item, &mut walls)?;
    }
    Ok(walls)
}

fn add<T: Real>(item: &JsValue, walls: &mut Walls<T>) -> Js {
    let kinds = ["halfSpace", "sphere", "cylinder", "mesh", "box"];
    let mut known = kinds.to_vec();
    known.extend(["velocity", "restitution"]);
    let outer = Fields::new(item, "a wall", &known)?;
    let of = |kind, known: &[&str]| {
        let value = outer.get(kind);
        value
            .map(|value| Fields::new(&value, kind, known))
            .transpose()
    };
    let velocity: Option<[T; 3]> = match outer.get("velocity") {
        None => None,
        Some(_) => Some(outer.vector("velocity")?),
    };
    let restitution = outer.number("restitution")?;
    let mut push = |mut wall: Wall<T>| {
        if let Some(velocity) = velocity {
            wall = wall.with_velocity(velocity);
        }
        if let Some(restitution) = restitution {
            wall = wall.with_restitution(restitution);
        }
        walls.push(wall);
    };
    if let Some(fields) = of("halfSpace", &["normal", "offset"])? {
        push(Wall::half_space(
            fields.vector("normal")?,
            fields.scalar("offset")?,
        ));
    } else if let Some(fields) = of("sphere", &["center", "radius", "inside"])? {
        let (center, radius) = (fields.vector("center")?, fields.scalar("radius")?);
        push(if fields.flag("inside")? {
            Wall::sphere_inside(center, radius)
        } else {
            Wall::sphere(center, radius)
        });
    } else if let Some(fields) = of("cylinder", &["point", "axis", "radius", "inside"])? {
        let [point, axis] = [fields.vector("point")?, fields.vector("axis")?];
        let radius = fields.scalar("radius")?;
        push(if fields.flag("inside")? {
            Wall::cylinder_inside(point, axis, radius)
        } else {
            Wall::cylinder(point, axis, radius)
        });
    } else if let Some(fields) = of("box", &["low", "high"])? {
        let inside: Walls<T> = Walls::inside_box(fields.vector("low")?, fields.vector("high")?);
        inside.simple().iter().for_each(|wall| push(*wall));
    } else if let Some(fields) = of("mesh", &["vertices", "triangles"])? {
        let in_threes = |name, count| fields.wrong(name, &format!("in threes, but has {count}"));
        fields.needed("vertices")?;
        fields.needed("triangles")?;
        let vertices = fields.numbers("vertices")?.unwrap_or_default();
        let triangles = fields.integers("triangles")?.unwrap_or_default();
        for (name, count) in [("vertices", vertices.len()), ("triangles", triangles.len())] {
            if count % 3 != 0 {
                return Err(in_threes(name, count));
            }
        }
        let vertices: Vec<T> = vertices.into_iter().map(T::rounded).collect();
        let vertices = cast_slice::<T, [T; 3]>(&vertices).to_vec();
        let triangles = cast_slice::<u32, [u32; 3]>(&triangles).to_vec();
        let mut mesh = Mesh::new(vertices, triangles).map_err(failed)?;
        if let Some(velocity) = velocity {
            mesh = mesh.with_velocity(velocity);
        }
        if let Some(restitution) = restitution {
            mesh = mesh.with_restitution(restitution);
        }
        walls.push_mesh(mesh);
    } else {
        return Err(wrong(&format!("a wall needs one of {}", kinds.join(", "))));
    }
    Ok(())
}

/// Returns the periodic images of a list, or null if there is none other than [0, 0, 0].
pub(crate) fn images(images: &[[i32; 3]]) -> JsValue {
    if images.is_empty() {
        JsValue::NULL
    } else {
        Int32Array::from(cast_slice::<[i32; 3], i32>(images)).into()
    }
}
