//! Numbers, lists and parts of a simulation as the words of a snapshot (`snapshot.rs`).
//!
//! Each type describes its parts once, for both directions. Whatever a reader finds is checked, so that no snapshot leads to
//! a panic.

use glam::DVec3;

use super::candidate::TouchKey;
use super::report::Partner;
use super::{Combine, HardSphere};
use crate::{Domain, Mesh, Wall, WallShape, Walls};

/// Writes words, or reads them.
pub(crate) enum Coder {
    Writer(Vec<u64>),
    Reader(std::vec::IntoIter<u64>),
}

/// A part of a simulation, as words.
pub(crate) trait Coded: Sized {
    /// Returns a value that is to be replaced.
    fn blank() -> Self;

    /// Writes the value, or replaces it by what is read. Returns what is wrong with the words.
    fn code(&mut self, coder: &mut Coder) -> Result<(), String>;
}

/// Returns an error unless a condition holds for what has been read.
pub(crate) fn check(holds: bool, what: &str) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(format!("its {what} cannot be those of a simulation"))
}

impl Coder {
    /// Returns the number of words that are left to read.
    pub(crate) fn left(&self) -> usize {
        match self {
            Self::Writer(_) => usize::MAX,
            Self::Reader(words) => words.len(),
        }
    }
}

impl Coded for u64 {
    fn blank() -> Self {
        0
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        match coder {
            Coder::Writer(words) => words.push(*self),
            Coder::Reader(words) => *self = words.next().ok_or("it ends too early")?,
        }
        Ok(())
    }
}

/// Implements [`Coded`] for a type that is converted to a word and back.
macro_rules! word {
    ($type:ty, $to:expr, $from:expr) => {
        impl Coded for $type {
            fn blank() -> Self {
                Self::default()
            }

            fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
                let mut word: u64 = $to(*self);
                word.code(coder)?;
                let value: Option<Self> = $from(word);
                *self = value.ok_or("a number is too large")?;
                Ok(())
            }
        }
    };
}

word!(f64, f64::to_bits, |word| Some(f64::from_bits(word)));
word!(u32, u64::from, |word| u32::try_from(word).ok());
word!(bool, u64::from, |word| (word < 2).then_some(word == 1));
word!(usize, |x| x as u64, |word| usize::try_from(word).ok());
word!(f32, |x: f32| x.to_bits().into(), |word| u32::try_from(word)
    .ok()
    .map(f32::from_bits));
word!(i32, |x: i32| x.cast_unsigned().into(), |word| {
    u32::try_from(word).ok().map(u32::cast_signed)
});

impl<T: Coded, const N: usize> Coded for [T; N] {
    fn blank() -> Self {
        std::array::from_fn(|_| T::blank())
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.iter_mut().try_for_each(|x| x.code(coder))
    }
}

impl Coded for DVec3 {
    fn blank() -> Self {
        Self::ZERO
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let mut array = self.to_array();
        array.code(coder)?;
        *self = array.into();
        Ok(())
    }
}

impl<T: Coded> Coded for Option<T> {
    fn blank() -> Self {
        None
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let mut is_some = self.is_some();
        is_some.code(coder)?;
        if !is_some {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_with(T::blank).code(coder)
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let mut length = self.len();
        length.code(coder)?;
        // Each entry has at least one word.
        if length > coder.left() {
            return Err("a list is longer than the snapshot".to_owned());
        }
        self.resize_with(length, T::blank);
        self.iter_mut().try_for_each(|x| x.code(coder))
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn blank() -> Self {
        (A::blank(), B::blank())
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.0.code(coder)?;
        self.1.code(coder)
    }
}

impl Coded for TouchKey {
    fn blank() -> Self {
        (0, Partner::blank(), [0; 3])
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.0.code(coder)?;
        self.1.code(coder)?;
        self.2.code(coder)
    }
}

impl Coded for HardSphere {
    fn blank() -> Self {
        Self::new([0.0; 3], 0.0)
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.center.code(coder)?;
        self.velocity.code(coder)?;
        self.radius.code(coder)?;
        self.mass.code(coder)
    }
}

impl Coded for Partner {
    fn blank() -> Self {
        Self::Sphere(0)
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let (mut is_wall, mut number) = match *self {
            Self::Sphere(other) => (false, other),
            Self::Wall(wall) => (true, wall),
        };
        is_wall.code(coder)?;
        number.code(coder)?;
        *self = if is_wall {
            Self::Wall(number)
        } else {
            Self::Sphere(number)
        };
        Ok(())
    }
}

/// Returns whether there are the spheres and the wall of a pair.
pub(crate) fn is_known(key: &TouchKey, [spheres, walls]: [usize; 2]) -> bool {
    let is_sphere = |sphere: u32| (sphere as usize) < spheres;
    is_sphere(key.0)
        && match key.1 {
            Partner::Sphere(other) => is_sphere(other),
            Partner::Wall(wall) => (wall as usize) < walls,
        }
}

impl Coded for Combine {
    fn blank() -> Self {
        Self::Average
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let all = [Self::Average, Self::Min, Self::Multiply, Self::Max];
        let mut place = all.iter().position(|one| one == self).unwrap_or(0);
        place.code(coder)?;
        *self = *all.get(place).ok_or("its materials are unknown")?;
        Ok(())
    }
}

impl Coded for Domain {
    fn blank() -> Self {
        Self::open()
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let (mut origin, mut edges, mut periodic) = (self.origin(), self.edges(), self.periodic());
        origin.code(coder)?;
        edges.code(coder)?;
        periodic.code(coder)?;
        *self = Self::triclinic_f64(origin, edges).with_periodic(periodic);
        Ok(())
    }
}

impl Coded for Wall {
    fn blank() -> Self {
        Self::half_space([0.0; 3], 0.0)
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let (mut kind, mut place, mut axis, mut number, mut is_hollow) = match self.shape() {
            WallShape::HalfSpace { normal, offset } => (0_u32, normal, [0.0; 3], offset, false),
            WallShape::Sphere {
                center,
                radius,
                hollow,
            } => (1, center, [0.0; 3], radius, hollow),
            WallShape::Cylinder {
                point,
                axis,
                radius,
                hollow,
            } => (2, point, axis, radius, hollow),
        };
        kind.code(coder)?;
        place.code(coder)?;
        axis.code(coder)?;
        number.code(coder)?;
        is_hollow.code(coder)?;
        let (mut velocity, mut groups) = (self.velocity(), self.groups());
        let mut restitution = self.restitution();
        velocity.code(coder)?;
        groups.code(coder)?;
        restitution.code(coder)?;
        let shape = match kind {
            0 => WallShape::HalfSpace {
                normal: place,
                offset: number,
            },
            1 => WallShape::Sphere {
                center: place,
                radius: number,
                hollow: is_hollow,
            },
            _ => WallShape::Cylinder {
                point: place,
                axis,
                radius: number,
                hollow: is_hollow,
            },
        };
        *self = Self::from(shape)
            .with_velocity(velocity)
            .with_all_groups(groups)
            .with_any_restitution(restitution);
        check(kind < 3, "walls")
    }
}

impl Coded for Mesh {
    fn blank() -> Self {
        Self::default()
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let mut vertices = self.vertices().to_vec();
        let mut triangles = self.triangles().to_vec();
        let (mut velocity, mut groups) = (self.velocity(), self.groups());
        let mut restitution = self.restitution();
        vertices.code(coder)?;
        triangles.code(coder)?;
        velocity.code(coder)?;
        groups.code(coder)?;
        restitution.code(coder)?;
        if matches!(coder, Coder::Reader(_)) {
            let mesh = Self::new(vertices, triangles).map_err(|error| error.to_string())?;
            let mesh = mesh.with_velocity(velocity).with_all_groups(groups);
            *self = mesh.with_any_restitution(restitution);
        }
        Ok(())
    }
}

impl Coded for Walls {
    fn blank() -> Self {
        Self::new()
    }

    fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        let mut simple = self.simple().to_vec();
        let mut meshes = self.meshes().to_vec();
        simple.code(coder)?;
        meshes.code(coder)?;
        *self = simple.into_iter().collect();
        meshes.into_iter().for_each(|mesh| self.push_mesh(mesh));
        Ok(())
    }
}
