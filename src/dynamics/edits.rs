//! Edits of a simulation between its steps: spheres that come and go, walls, and numbers of its options.

use glam::DVec3;

use super::candidate::TouchKey;
use super::narrow::narrow;
use super::options::check_restitution;
use super::report::Partner;
use super::rest::Rest;
use super::rows::{push, reserve};
use super::walls::{MovingWalls, WallMotion};
use super::{HardSphere, Simulation, SimulationOptions};
use crate::limits::MAX_SPHERES;
use crate::walls::vector;
use crate::{Error, Walls};

impl Simulation {
    /// Adds a sphere, and returns its index: the smallest index of a removed sphere, which it replaces, or else the
    /// number of spheres. It belongs to no collision group and to no body, and has the restitution of
    /// [`SimulationOptions::with_restitution`].
    ///
    /// ```
    /// use carom::{HardSphere, Simulation, SimulationOptions};
    /// let mut simulation = Simulation::new(Vec::new(), SimulationOptions::new())?;
    /// let [a, b] = [0.0, 3.0].map(|x| HardSphere::new([x, 0.0, 0.0], 0.5));
    /// assert_eq!((simulation.add(a)?, simulation.add(b)?), (0, 1));
    /// simulation.remove(0)?;
    /// assert!(simulation.is_removed(0) && !simulation.is_removed(1));
    /// assert_eq!(simulation.add(a)?, 0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidHardSphere`] if a number in `sphere` is out of range.
    /// - [`Error::TooManySpheres`] for more than 2³⁰ spheres.
    /// - [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn add(&mut self, sphere: HardSphere) -> Result<u32, Error> {
        let count = self.spheres.len();
        let hole = self.state.first_hole();
        sphere.check(hole.unwrap_or(count))?;
        let id = match hole {
            Some(id) => id,
            None if count >= MAX_SPHERES => {
                return Err(Error::TooManySpheres {
                    count: count + 1,
                    limit: MAX_SPHERES,
                });
            }
            None => {
                if let Err(error) = self.append(sphere) {
                    self.spheres.truncate(count);
                    self.options.groups.truncate(count);
                    self.options.bodies.truncate(count);
                    self.options.restitutions.truncate(count);
                    return Err(error);
                }
                count
            }
        };
        if let Some(groups) = self.options.groups.get_mut(id) {
            *groups = 0;
        }
        if let Some(body) = self.options.bodies.get_mut(id) {
            *body = None;
        }
        if let Some(own) = self.options.restitutions.get_mut(id) {
            *own = self.options.restitution;
        }
        if let Some(place) = self.state.place(id) {
            if hole.is_some() {
                self.forget_contacts(id);
                self.rest.forces.appear(id);
                self.state.restore(place, sphere);
            }
            self.state.wrap_at(place, &self.lattice);
            self.spheres[id] = self.state.exported(place, &self.lattice);
        }
        self.outdate();
        Ok(narrow(id))
    }

    /// Makes all lists longer by a sphere. After an error, some of them are longer.
    fn append(&mut self, sphere: HardSphere) -> Result<(), Error> {
        let options = &mut self.options;
        if !options.groups.is_empty() {
            push(&mut options.groups, 0)?;
        }
        if !options.bodies.is_empty() {
            push(&mut options.bodies, None)?;
        }
        if !options.restitutions.is_empty() {
            push(&mut options.restitutions, 0.0)?;
        }
        push(&mut self.spheres, sphere)?;
        let has_cells = !self.lattice.is_open();
        self.state.add(sphere, has_cells, &self.options)
    }

    /// Removes a sphere, and returns the state that it had. Its index remains, so the indices of the other spheres do not
    /// change: see [`is_removed`](Self::is_removed). Only [`add`](Self::add) and [`restore`](Self::restore) use the index
    /// again.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no sphere with this index, or if it is removed already.
    pub fn remove(&mut self, sphere: usize) -> Result<HardSphere, Error> {
        let place = self.present(sphere, "removed")?;
        let before = self.state.exported(place, &self.lattice);
        let is_other = |key: &TouchKey| !concerns(key, sphere);
        self.passing.retain(is_other);
        self.rest.forces.retain(is_other);
        self.state.removed[place] = true;
        self.state.note_hole(sphere);
        self.state.spheres[place].velocity = [0.0; 3];
        self.spheres[sphere] = HardSphere {
            velocity: [0.0; 3],
            ..before
        };
        self.outdate();
        Ok(before)
    }

    /// Sets the collision groups of a sphere, as in [`Sphere::groups`](crate::Sphere::groups).
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no such sphere. [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn set_groups(&mut self, sphere: usize, groups: u32) -> Result<(), Error> {
        self.present(sphere, "given groups")?;
        if set(&mut self.options.groups, self.spheres.len(), sphere, groups)? {
            self.outdate();
        }
        Ok(())
    }

    /// Sets the compound body of a sphere, as in [`SimulationOptions::with_bodies`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no such sphere. [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn set_body(&mut self, sphere: usize, body: Option<u32>) -> Result<(), Error> {
        self.present(sphere, "made a part of a body")?;
        if set(&mut self.options.bodies, self.spheres.len(), sphere, body)? {
            self.outdate();
        }
        Ok(())
    }

    /// Sets the coefficient of restitution of one sphere, as in [`SimulationOptions::with_restitutions`]. If no sphere has had
    /// one of its own, all others get that of [`SimulationOptions::with_restitution`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1, or there is no such sphere. [`Error::OutOfMemory`] if the memory
    /// does not suffice.
    pub fn set_restitution_of(&mut self, sphere: usize, restitution: f64) -> Result<(), Error> {
        self.present(sphere, "given a restitution")?;
        check_restitution(format_args!("restitution of sphere {sphere}"), restitution)?;
        let options = &mut self.options;
        let is_first = options.restitutions.is_empty();
        if is_first {
            reserve(&mut options.restitutions, self.spheres.len())?;
            options
                .restitutions
                .resize(self.spheres.len(), options.restitution);
        }
        if set(
            &mut options.restitutions,
            self.spheres.len(),
            sphere,
            restitution,
        )? || is_first
        {
            self.outdate();
        }
        Ok(())
    }

    /// Sets the acceleration of all spheres of finite mass: see [`SimulationOptions::with_gravity`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if a number is out of range. [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn set_gravity(&mut self, gravity: impl Into<[f64; 3]>) -> Result<(), Error> {
        let gravity = DVec3::from(gravity.into());
        self.change(|options| options.gravity = gravity)
    }

    /// Sets the coefficient of restitution of two spheres: see [`SimulationOptions::with_restitution`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1.
    pub fn set_restitution(&mut self, restitution: f64) -> Result<(), Error> {
        self.change(|options| options.restitution = restitution)
    }

    /// Sets the coefficient of restitution of a sphere and a wall: see [`SimulationOptions::with_wall_restitution`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1.
    pub fn set_wall_restitution(&mut self, restitution: f64) -> Result<(), Error> {
        self.change(|options| options.wall_restitution = restitution)
    }

    /// Sets the contact time: see [`SimulationOptions::with_contact_time`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is out of range. [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn set_contact_time(&mut self, contact_time: f64) -> Result<(), Error> {
        self.change(|options| options.contact_time = contact_time)
    }

    /// Calls the function `change` with the walls, as [`walls`](Self::walls) returns them. A wall to which it gives
    /// another shape, or a mesh that it replaces by one with other vertices or triangles, is there from now on. All others
    /// go on from where they are, with the velocities and the collision groups that they have then. Walls and meshes are
    /// told apart by their places in the two lists of [`Walls`], and so is which of them are off.
    ///
    /// A wall that is moved this way jumps, and may pass over spheres. So give a paddle the velocity that takes it to its
    /// aim by the end of the next step, and spheres cannot pass through it:
    ///
    /// ```
    /// use carom::{HardSphere, Simulation, SimulationOptions, Wall, WallShape, Walls};
    /// let paddle = Wall::sphere([0.0; 3], 1.0);
    /// let options = SimulationOptions::new().with_walls(Walls::from_iter([paddle]));
    /// let ball = HardSphere::new([3.0, 0.0, 0.0], 0.5);
    /// let mut simulation = Simulation::new(vec![ball], options)?;
    /// for mouse in [0.5, 2.0, 2.0] {
    ///     let dt = 0.1;
    ///     simulation.edit_walls(|walls| {
    ///         let paddle = &mut walls.simple_mut()[0];
    ///         if let WallShape::Sphere { center, .. } = paddle.shape() {
    ///             *paddle = paddle.with_velocity([(mouse - center[0]) / dt, 0.0, 0.0]);
    ///         }
    ///     })?;
    ///     simulation.step(f64::from(dt))?;
    /// }
    /// // The paddle moved at a speed of 15 when it hit the ball.
    /// assert!((simulation.spheres()[0].velocity[0] - 30.0).abs() < 1e-5);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidWall`] if a wall is out of range, or does not fit the domain. Then the walls are as before.
    pub fn edit_walls(&mut self, change: impl FnOnce(&mut Walls)) -> Result<(), Error> {
        let given = self.walls();
        let mut walls = given.clone();
        change(&mut walls);
        let [before, after] = [&given, &walls].map(|walls| walls.simple().len());
        let motions = self.walls.motions();
        let mut new = Vec::new();
        for (k, wall) in walls.simple_mut().iter_mut().enumerate() {
            let stays = given.simple().get(k);
            let stays = stays.is_some_and(|given| given.shape() == wall.shape());
            if stays {
                *wall = wall.with_shape(self.options.walls.simple()[k].shape());
            }
            push(
                &mut new,
                self.moved(
                    motions.get(k).filter(|_| k < before),
                    stays,
                    vector(wall.velocity()),
                ),
            )?;
        }
        for (k, mesh) in walls.meshes().iter().enumerate() {
            let stays = given.meshes().get(k);
            let stays = stays.is_some_and(|given| given.shares_shape(mesh));
            let velocity = vector(mesh.velocity());
            push(
                &mut new,
                self.moved(motions.get(before + k), stays, velocity),
            )?;
        }
        // It does not matter since when a wall is still.
        let alike = |(a, b): (&WallMotion, &WallMotion)| a.bits() == b.bits();
        if walls.equals(&self.options.walls) && new.iter().zip(motions).all(alike) {
            return Ok(());
        }
        walls.check(0.0, &self.options.domain)?;
        let same_meshes = before == after
            && walls.meshes().len() == given.meshes().len()
            && walls.meshes().iter().zip(given.meshes()).all(|(a, b)| {
                let alike = a.velocity() == b.velocity() && a.groups() == b.groups();
                alike && a.shares_shape(b) && a.restitution() == b.restitution()
            });
        self.set_walls(walls, new, same_meshes)
    }

    /// Switches a wall on or off. Nothing touches a wall that is off, which moves on. The number of a triangle stands for
    /// its mesh.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no wall with this number.
    pub fn set_wall_enabled(&mut self, wall: usize, enabled: bool) -> Result<(), Error> {
        let walls = &self.options.walls;
        let place = walls.place(wall)?;
        let mut motions = self.walls.motions().to_vec();
        if motions[place].off == enabled {
            motions[place].off = !enabled;
            let is_mesh = wall >= walls.simple().len();
            return self.set_walls(walls.clone(), motions, !is_mesh);
        }
        Ok(())
    }

    /// Returns the walls, where they are now, rounded to float32. A mesh has the vertices with which it was given, and
    /// may have moved since.
    pub fn walls(&self) -> Walls {
        let mut walls = self.options.walls.clone();
        let simple = walls.simple_mut().iter_mut();
        for (wall, motion) in simple.zip(self.walls.motions()) {
            *wall = wall.displaced(motion.displacement(self.time));
        }
        walls
    }

    /// Returns the motion from now on of a wall that goes on from where it is, or that is where its shape is now.
    fn moved(&self, before: Option<&WallMotion>, stays: bool, velocity: DVec3) -> WallMotion {
        match before {
            Some(before) if stays && before.velocity == velocity => *before,
            _ => WallMotion {
                moved: match before {
                    Some(before) if stays => before.displacement(self.time),
                    _ => DVec3::ZERO,
                },
                since: self.time,
                velocity,
                off: before.is_some_and(|before| before.off),
            },
        }
    }

    fn set_walls(
        &mut self,
        walls: Walls,
        motions: Vec<WallMotion>,
        same_meshes: bool,
    ) -> Result<(), Error> {
        let SimulationOptions {
            domain,
            one_sided_meshes,
            ..
        } = &self.options;
        // If memory runs out, nothing has changed.
        let before = same_meshes.then_some(&mut self.walls);
        let new = MovingWalls::with_motions(&walls, motions, domain, *one_sided_meshes, before)?;
        self.walls = new;
        let given = &self.options.walls;
        // Numbers of walls from here on do not mean the same as before.
        let mut known = given.simple().len().min(walls.simple().len());
        if given.simple().len() == walls.simple().len() {
            let lengths =
                [given, &walls].map(|walls| walls.meshes().iter().map(|m| m.triangles().len()));
            let [old, new] = lengths;
            let alike = old.zip(new).take_while(|(old, new)| old == new);
            known += alike.map(|(length, _)| length).sum::<usize>();
        }
        let is_known =
            |key: &TouchKey| !matches!(key.1, Partner::Wall(wall) if wall as usize >= known);
        self.rest.forces.retain(is_known);
        self.passing.retain(is_known);
        let contacts = &mut self.contacts;
        contacts.retain(|&(sphere, partner)| is_known(&(sphere, partner, [0; 3])));
        self.options.walls = walls;
        self.outdate();
        Ok(())
    }

    /// Forgets what touched a sphere that was removed, because another one is there from now on.
    pub(super) fn forget_contacts(&mut self, sphere: usize) {
        self.contacts
            .retain(|&(id, partner)| !concerns(&(id, partner, [0; 3]), sphere));
    }

    /// Changes numbers of the options, if the new ones are in range.
    fn change(&mut self, change: impl FnOnce(&mut SimulationOptions)) -> Result<(), Error> {
        let options = &mut self.options;
        let before = options.numbers();
        change(options);
        let changed = options.check_numbers();
        let changed = changed.and_then(|()| self.state.remember(options));
        if changed.is_err() {
            let numbers;
            (options.gravity, numbers) = before;
            [
                options.restitution,
                options.wall_restitution,
                options.contact_time,
            ] = numbers;
        }
        let (gravity, [.., contact_time]) = before;
        if options.gravity != gravity || options.contact_time != contact_time {
            self.state.resting.fill(false);
            self.rest = Rest::default();
        }
        if options.numbers() != before {
            self.outdate();
        }
        changed
    }

    /// Returns the place of a sphere that has not been removed, or an error that says what cannot be done.
    fn present(&self, sphere: usize, done: &str) -> Result<usize, Error> {
        let count = self.spheres.len();
        let problem = match self.state.place(sphere) {
            Some(place) if !self.state.removed[place] => return Ok(place),
            Some(_) => {
                format!("sphere {sphere} is removed already, so it cannot be {done}")
            }
            None => {
                format!(
                    "there is no sphere {sphere} that could be {done}: there are {count} spheres"
                )
            }
        };
        Err(Error::InvalidSimulation { problem })
    }
}

/// Returns whether a sphere is one of a pair.
fn concerns(key: &TouchKey, sphere: usize) -> bool {
    let is_sphere = |id: u32| id as usize == sphere;
    is_sphere(key.0) || matches!(key.1, Partner::Sphere(other) if is_sphere(other))
}

/// Sets the entry of a sphere in a list that may be empty, for entries that are all the default. Returns whether it had
/// another value before.
fn set<T: Copy + Default + PartialEq>(
    list: &mut Vec<T>,
    spheres: usize,
    sphere: usize,
    value: T,
) -> Result<bool, Error> {
    if list.is_empty() && value != T::default() {
        reserve(list, spheres)?;
        list.resize(spheres, T::default());
    }
    match list.get_mut(sphere) {
        Some(entry) if *entry != value => *entry = value,
        _ => return Ok(false),
    }
    Ok(true)
}
