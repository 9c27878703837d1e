//! Binary hierarchies of bounding spheres, and the search for the spheres of two bodies that touch.

use std::collections::HashSet;

use carom::{Collision, Detector, Error, Sphere, Step};
use glam::{DVec3, Vec3};

/// A body: the spheres that it consists of, and bounding spheres around two, four, … of them.
pub(crate) struct Tree {
    /// Spheres of each level of the hierarchy. The first level has one sphere around the whole body, and the
    /// last has the spheres of the body. Node k of a level has the children 2·k and 2·k + 1 in the next level.
    levels: Vec<Vec<Sphere>>,
}

impl Tree {
    /// Makes a hierarchy of bounding spheres for a body whose spheres all move with the same velocity. Spheres
    /// that follow each other in the list `leaves` get a common bounding sphere, so they should be close to
    /// each other. The number of spheres must be a power of two.
    pub(crate) fn new(leaves: Vec<Sphere>) -> Self {
        assert!(leaves.len().is_power_of_two());
        let mut levels = vec![leaves];
        while levels[0].len() > 1 {
            let pairs = levels[0].chunks(2);
            let parents = pairs.map(|pair| enclosing(&pair[0], &pair[1])).collect();
            levels.insert(0, parents);
        }
        Self { levels }
    }

    pub(crate) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Returns the spheres of a level of this body's hierarchy. For a number beyond the last level, returns the
    /// last level: the spheres that the body consists of.
    pub(crate) fn level(&self, level: usize) -> &[Sphere] {
        &self.levels[level.min(self.depth())]
    }

    pub(crate) fn leaves(&self) -> &[Sphere] {
        self.level(self.depth())
    }

    /// Returns the indices of the children of a node in the next level, or its own index if its level is the
    /// last.
    fn below(&self, level: usize, node: u32) -> std::ops::Range<u32> {
        if level < self.depth() {
            2 * node..2 * node + 2
        } else {
            node..node + 1
        }
    }
}

/// Result of the search in one level of the hierarchies of bounding spheres of two bodies.
pub(crate) struct Level {
    /// For each of the two bodies, the number of bounding spheres that were searched in this level
    /// of the body's hierarchy.
    pub(crate) spheres: [usize; 2],
    /// Pairs of bounding spheres, one of each body, that are tested in this level of the
    /// hierarchies because their parents touch.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// The tested pairs of bounding spheres that touch. One sphere of each pair is in the hierarchy
    /// of the first of the two bodies (`a`), and one in the hierarchy of the second (`b`).
    pub(crate) touching: Vec<Collision>,
}

/// Descends the hierarchies of two bodies together. Each level searches the children of the nodes that touch in
/// the level above. The descent ends with the spheres of the bodies, or earlier if no nodes touch.
pub(crate) fn descend(
    detector: &mut Detector,
    [first, second]: [&Tree; 2],
    dt: f32,
) -> Result<Vec<Level>, Error> {
    let mut levels = Vec::new();
    let mut pairs = vec![[0, 0]];
    for level in 0..=first.depth().max(second.depth()) {
        let [a, b] = [0, 1].map(|k| {
            let mut nodes: Vec<_> = pairs.iter().map(|pair: &[u32; 2]| pair[k]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        });
        let spheres = |tree: &Tree, nodes: &[u32]| -> Vec<Sphere> {
            let level = tree.level(level);
            nodes.iter().map(|&node| level[node as usize]).collect()
        };
        let [some, others] = [spheres(first, &a), spheres(second, &b)];
        let found = detector.detect(&Step::between(&some, &others, dt))?;
        let wanted: HashSet<_> = pairs.iter().copied().collect();
        let found = found.pairs.into_iter().map(|hit| Collision {
            a: a[hit.a as usize],
            b: b[hit.b as usize],
            ..hit
        });
        let touching: Vec<_> = found
            .filter(|hit| wanted.contains(&[hit.a, hit.b]))
            .collect();
        let mut next = Vec::new();
        for hit in &touching {
            for a in first.below(level, hit.a) {
                next.extend(second.below(level, hit.b).map(|b| [a, b]));
            }
        }
        levels.push(Level {
            spheres: [a.len(), b.len()],
            pairs: std::mem::replace(&mut pairs, next),
            touching,
        });
        if pairs.is_empty() {
            break;
        }
    }
    Ok(levels)
}

/// Returns the smallest sphere around two spheres with the same velocity, rounded up to float32.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the radius covers the rounding to float32"
)]
fn enclosing(a: &Sphere, b: &Sphere) -> Sphere {
    let [p, q] = [a, b].map(|sphere| Vec3::from(sphere.center).as_dvec3());
    let [r, s] = [a, b].map(|sphere| f64::from(sphere.radius));
    let distance = p.distance(q);
    if distance + s <= r {
        return *a;
    }
    if distance + r <= s {
        return *b;
    }
    let radius = 0.5 * (distance + r + s);
    let center: DVec3 = p + (q - p) * ((radius - r) / distance);
    let rounded = center.as_vec3();
    let radius = (radius + rounded.as_dvec3().distance(center)) * (1.0 + 1e-12);
    Sphere::new(rounded, (radius as f32).next_up()).with_velocity(a.velocity)
}

/// Returns a chain of 16 spheres in the shape of a C, whose opening is on the right.
pub(crate) fn chain() -> Vec<Sphere> {
    let sphere = |k: u16| {
        let angle = (40.0 + 280.0 * f32::from(k) / 15.0).to_radians();
        Sphere::new([angle.cos(), angle.sin(), 0.0], 0.17)
    };
    (0..16).map(sphere).collect()
}

/// Returns a rod of 8 spheres that flies to the left, through the opening of the C-shaped body that [`chain`]
/// returns. `shift` is the distance of the rod's path from the middle of the opening. If it is small, the rod
/// passes through the opening within a time of 1.
pub(crate) fn rod(shift: f32) -> Vec<Sphere> {
    let sphere = |k: u16| {
        let x = 1.6 + 0.18 * f32::from(k);
        Sphere::new([x, shift, 0.0], 0.1).with_velocity([-2.1, 0.0, 0.0])
    };
    (0..8).map(sphere).collect()
}
