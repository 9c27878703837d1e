//! Finds which images of a sphere reach into the cell of a periodic domain. Twin of
//! `shaders/periodic/place_cell.wgsl`.
//!
//! All positions are relative to the frame, and the cell moves with it. Every image of a sphere or
//! segment that reaches into the cell is a proxy. No touching pair is lost: its point of contact
//! has an image in the cell, and the two images that touch there both reach into the cell.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a box is at most 2²⁰ cells away, and margins cover the rounding to float32"
)]

use glam::{DVec3, Mat3, Vec3};
use wide::f32x4;

use crate::lanes::{LANES, Real, dot, each, three};
use crate::lattice::{ImageBlock, ReducedLattice};
use crate::shared::ownership::Displaced;
use crate::shared::scaled_sphere::ScaledSphere;
use crate::shared::segments::{Cut, Frame, ProxySize, SpherePath};
use crate::shared::units::Scale;

const FRACTION_BITS: u32 = 32;
/// In units of an edge.
const INSIDE_MARGIN: f32 = 1.0 / 4096.0;
/// Relative to the sum of the magnitudes of the terms that add up to a coordinate along an edge.
const TERMS_MARGIN: f32 = 8.0 * f32::EPSILON;

pub(super) const ALL_EDGES: u8 = 0b111;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) lattice: ReducedLattice,
    origin: DVec3,
    drift: DVec3,
    dt: f64,
    duals: [[f32; 3]; 3],
    bounds: [[f32; 3]; 3],
    lengths: [f32; 3],
    origins: [f32; 3],
    margins: [f32; 3],
    /// `None` unless each edge is parallel to a coordinate axis.
    aligned: Option<AlignedCell>,
    near: Option<NearCell>,
}

/// Along an open axis, the lengths are infinite.
#[derive(Clone, Copy, Debug)]
struct AlignedCell {
    middle: [f32; 3],
    inside: [f32; 3],
    near: [f32; 3],
}

/// Error bounds for the spheres inside the cell or less than half an edge outside.
#[derive(Clone, Copy, Debug)]
struct NearCell {
    slack: f32,
    /// Bound of the coordinates of images of spheres at rest. [`ProxySize::uncut_anywhere`]
    /// adds the motion.
    far: f32,
}

/// Which spheres of a block certainly stay inside or near the cell during the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stays {
    /// Spheres that stay inside the cell.
    pub(crate) inside: usize,
    pub(crate) near: usize,
}

impl Stays {
    pub(crate) const INSIDE: Self = Self {
        inside: (1 << LANES) - 1,
        near: (1 << LANES) - 1,
    };
}

/// A point in units of the edges, as fixed-point numbers with [`FRACTION_BITS`] bits after the
/// point.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatticePoint([i64; 3]);

#[derive(Clone, Copy, Debug)]
pub(super) struct LatticeBox {
    pub(super) low: LatticePoint,
    high: LatticePoint,
}

impl LatticeBox {
    #[inline(always)]
    pub(super) fn images(&self) -> ImageBlock {
        // An image displaced by n edges reaches into the cell if the path has a
        // coordinate from −n to 1 − n.
        let mut images = ImageBlock::default();
        for k in 0..3 {
            [images.first[k], images.last[k]] =
                [self.high.0[k], self.low.0[k]].map(|x| -(x >> FRACTION_BITS) as i32);
        }
        images
    }

    /// Returns a bit for each edge: set if the image's box begins inside the cell, not below it.
    pub(super) fn corner(&self, image: [i32; 3]) -> u8 {
        let is_in_cell = |k: usize| (self.low.0[k] >> FRACTION_BITS) as i32 + image[k] == 0;
        (0..3).map(|k| u8::from(is_in_cell(k)) << k).sum()
    }

    pub(super) fn is_in_range(&self, cells: i32) -> bool {
        let limit = i64::from(cells) << FRACTION_BITS;
        let in_range = |x: &i64| (-limit..=limit).contains(x);
        self.low.0.iter().chain(&self.high.0).all(in_range)
    }
}

impl Cell {
    pub(crate) fn new(lattice: ReducedLattice, frame: &Frame, dt: f32) -> Self {
        let origin = frame.origin.as_dvec3();
        let drift = frame.drift.as_dvec3();
        // The cell moves with the frame, and is where the domain has it half way through the step.
        let dt = f64::from(dt);
        let mut cell = Self {
            lattice,
            origin,
            drift,
            dt,
            duals: lattice.duals.map(|dual| dual.as_vec3().to_array()),
            bounds: lattice.dual_bounds.map(|bound| bound.as_vec3().to_array()),
            lengths: lattice.dual_lengths.map(|length| length as f32),
            origins: [0.0; 3],
            margins: [INSIDE_MARGIN; 3],
            aligned: None,
            near: None,
        };
        cell.aligned = cell.aligned();
        cell.near = cell.near();
        let origin = cell.coordinates(cell.origin, 0.0);
        let from_corner = cell.origin + cell.drift * (0.5 * dt) - lattice.corner;
        for (k, origin) in origin.into_iter().enumerate().take(lattice.count) {
            cell.origins[k] = origin as f32;
            let terms = lattice.dual_bounds[k].dot(from_corner.abs());
            cell.margins[k] += terms as f32 * TERMS_MARGIN;
        }
        cell
    }

    #[inline(always)]
    fn coordinates(&self, point: DVec3, time: f64) -> [f64; 3] {
        self.lattice
            .coordinates(point - self.drift * (time - 0.5 * self.dt))
    }

    #[inline(always)]
    pub(crate) fn stays(&self, paths: &SpherePath<f32x4>) -> Stays {
        let middle = paths.at(f32x4::splat(0.5));
        let shift = paths.half_segment(f32x4::splat(0.5));
        if let Some(aligned) = &self.aligned {
            let own = three(aligned.middle, f32x4::splat);
            let away = each(middle, own, |x, own| Real::abs(x - own));
            let farthest = each(away, shift, |x, half| x + Real::abs(half) + paths.radius());
            let within = |limits: [f32; 3]| {
                let limits = three(limits, f32x4::splat);
                let within = each(farthest, limits, |x, limit| x.simd_le(limit));
                within[0] & within[1] & within[2]
            };
            let inside = within(aligned.inside);
            // Mostly, all four stay inside.
            if inside.to_bitmask() == Stays::INSIDE.inside as u32 {
                return Stays::INSIDE;
            }
            return self.masks([inside, within(aligned.near)]);
        }
        let all = f32x4::splat(1.0).simd_gt(f32x4::splat(0.0));
        let mut stays = [all; 2];
        for k in 0..self.lattice.count {
            let dual = three(self.duals[k], f32x4::splat);
            let away = dot(middle, dual) + f32x4::splat(self.origins[k] - 0.5);
            let terms = each(middle, shift, |x, half| Real::abs(x) + Real::abs(half));
            let terms = dot(terms, three(self.bounds[k], f32x4::splat));
            let half = paths.radius() * f32x4::splat(self.lengths[k] * (1.0 + INSIDE_MARGIN))
                + Real::abs(dot(shift, dual))
                + terms * f32x4::splat(TERMS_MARGIN)
                + f32x4::splat(self.margins[k]);
            let farthest = Real::abs(away) + half;
            stays[0] &= farthest.simd_le(f32x4::splat(0.5));
            stays[1] &= farthest.simd_le(f32x4::splat(1.0));
        }
        self.masks(stays)
    }

    #[inline(always)]
    fn masks(&self, stays: [f32x4; 2]) -> Stays {
        let [inside, near] = stays.map(|mask| mask.to_bitmask() as usize);
        Stays {
            inside,
            near: if self.near.is_some() { near } else { inside },
        }
    }

    /// Returns the cell if its edges are parallel to the axes. The margins of `inside` and
    /// `near` need only hold within one edge of the middle, because spheres farther away
    /// exceed both limits.
    fn aligned(&self) -> Option<AlignedCell> {
        let lattice = &self.lattice;
        let along = lattice.along?;
        let mut aligned = AlignedCell {
            middle: [0.0; 3],
            inside: [f32::INFINITY; 3],
            near: [f32::INFINITY; 3],
        };
        let origin = self.origin + self.drift * (0.5 * self.dt);
        for axis in 0..3 {
            let Some(k) = along[axis] else { continue };
            let edge = lattice.edges[k][axis];
            let from_corner = lattice.corner[axis] - origin[axis];
            let middle = from_corner + 0.5 * edge;
            let edge = edge.abs();
            let terms = from_corner.abs() + middle.abs() + 2.0 * edge;
            let margin =
                edge * f64::from(2.0 * INSIDE_MARGIN) + terms * f64::from(16.0 * TERMS_MARGIN);
            aligned.middle[axis] = middle as f32;
            aligned.inside[axis] = (0.5 * edge - margin) as f32;
            aligned.near[axis] = (edge - margin) as f32;
        }
        Some(aligned)
    }

    /// Returns `None` if space repeats along fewer than three edges, or if rounding errors
    /// in float64 are not small compared with the cell.
    fn near(&self) -> Option<NearCell> {
        let lattice = &self.lattice;
        if lattice.count < 3 {
            return None;
        }
        let edges = lattice.edges.map(DVec3::abs).iter().sum::<DVec3>();
        let drift = self.drift.abs() * self.dt;
        // From −0.5 to 1.5, along each edge.
        let center = lattice.corner.abs() + drift + 2.0 * edges;
        let far = center + lattice.corner.abs() + 2.0 * (drift + edges);
        let of_lattice = self.lattice_error([2.0; 3]);
        let is_small = |k: usize| self.box_error(k, of_lattice, far) <= 0.125;
        if !(0..3).all(is_small) {
            return None;
        }
        // Rounding enlarges the extent of a sphere near the cell by at most a quarter of an edge on
        // each side. So the extent is at most 2.5 edges long, and the images are displaced by −1, 0
        // or 1 edges.
        let slack = self.slack_of(center, |_| 1.0);
        let far = (self.origin - lattice.corner).abs()
            + DVec3::splat(self.drift.length() * self.dt)
            + edges * 3.5;
        Some(NearCell {
            slack,
            far: far.max_element() as f32 * 1.001 + slack,
        })
    }

    /// Returns half the cell edge that each of [`LANES`] uncut spheres near the cell needs.
    #[inline(always)]
    pub(crate) fn near_sizes(&self, paths: &SpherePath<f32x4>) -> f32x4 {
        let NearCell { slack, far } = self.near.unwrap_or(NearCell {
            slack: 0.0,
            far: f32::MAX,
        });
        ProxySize::uncut_anywhere(paths, far, slack)
    }

    /// Returns the bounding box of a segment along the edges, enlarged by more than all
    /// rounding errors.
    #[inline(always)]
    pub(super) fn lattice_box(&self, sphere: &ScaledSphere, cut: Cut) -> LatticeBox {
        let [center, velocity] =
            [sphere.center, sphere.velocity].map(|x| DVec3::from(x.map(f64::from)));
        let middle = f64::from(cut.middle()) * self.dt;
        let at = self.coordinates(center + velocity * middle, middle);
        let half_shift = (velocity - self.drift) * (f64::from(cut.half()) * self.dt);
        let ReducedLattice {
            count,
            duals,
            dual_lengths,
            corner,
            ..
        } = &self.lattice;
        let far = center.abs() + corner.abs() + (velocity.abs() + self.drift.abs()) * self.dt;
        let of_lattice = self.lattice_error(at.map(f64::abs));
        let mut lattice_box = LatticeBox {
            low: LatticePoint([0; 3]),
            high: LatticePoint([0; 3]),
        };
        for k in 0..*count {
            let length = dual_lengths[k];
            let half = length * f64::from(sphere.radius) + duals[k].dot(half_shift).abs();
            let error = self.box_error(k, of_lattice, far);
            // The first segments of two spheres that hardly move relative to each
            // other (`STILL`) must report the pair, so their boxes must overlap.
            let half = half * (1.0 + f64::from(f32::EPSILON) * 32.0) + error;
            let fixed = |x: f64| x * (1_u64 << FRACTION_BITS) as f64;
            lattice_box.low.0[k] = floor(fixed(at[k] - half));
            lattice_box.high.0[k] = floor(-fixed(at[k] + half)).saturating_neg();
        }
        lattice_box
    }

    /// Bounds the error of a position, as a length, that the rounding of the edges causes.
    /// `at` has the magnitudes of its coordinates in units of the edges.
    #[inline(always)]
    fn lattice_error(&self, at: [f64; 3]) -> f64 {
        let ReducedLattice {
            edge_lengths,
            edge_error,
            ..
        } = &self.lattice;
        let of_edge = |k: usize| {
            (at[k] + 2.0) * (2.0 * edge_error[k] + 64.0 * f64::EPSILON * edge_lengths[k])
        };
        (0..self.lattice.count).map(of_edge).sum()
    }

    /// Bounds the error of a coordinate along edge `k`: `of_lattice` from the rounded
    /// edges, and the rounding of the position, whose terms add up to at most `far`.
    #[inline(always)]
    fn box_error(&self, k: usize, of_lattice: f64, far: DVec3) -> f64 {
        let ReducedLattice {
            dual_lengths,
            dual_bounds,
            ..
        } = &self.lattice;
        dual_lengths[k] * of_lattice + 64.0 * f64::EPSILON * dual_bounds[k].dot(far)
    }

    #[inline(always)]
    pub(super) fn center(&self, sphere: &ScaledSphere, image: [i32; 3]) -> [f32; 3] {
        let center = DVec3::from(sphere.center.map(f64::from)) - self.origin;
        (center + self.lattice.displacement(image))
            .as_vec3()
            .to_array()
    }

    /// Bounds the errors of the centres of all images of a sphere in float64. `all` is the
    /// box of its whole path.
    #[inline(always)]
    pub(super) fn slack(&self, sphere: &ScaledSphere, all: &LatticeBox) -> f32 {
        let center = DVec3::from(sphere.center.map(f64::from));
        let images = all.images();
        let most = |k: usize| f64::from(images.first[k].abs().max(images.last[k].abs()));
        self.slack_of(center.abs(), most)
    }

    /// As [`Cell::slack`], for many spheres with coordinates up to `center`. `most(k)` is
    /// the largest multiple of edge k.
    #[inline(always)]
    fn slack_of(&self, center: DVec3, most: impl Fn(usize) -> f64) -> f32 {
        let far = (center + self.origin.abs()).element_sum();
        let of_images = (0..self.lattice.count).map(|k| {
            (most(k) + 2.0)
                * (self.lattice.edge_error[k]
                    + 16.0 * f64::EPSILON * self.lattice.edges[k].abs().element_sum())
        });
        let slack = 16.0 * f64::EPSILON * far + of_images.sum::<f64>();
        (slack as f32 * 1.001).max(f32::MIN_POSITIVE)
    }

    /// Returns the number and size of a sphere's segments, for all its images.
    pub(crate) fn proxy_size(
        &self,
        sphere: &ScaledSphere,
        path: &SpherePath,
        length: f32,
    ) -> ProxySize {
        let all = self.lattice_box(sphere, Cut::WHOLE);
        let ReducedLattice {
            count,
            edges,
            duals,
            corner,
            ..
        } = &self.lattice;
        let center = DVec3::from(sphere.center.map(f64::from));
        let shift = Vec3::from(path.shift()).as_dvec3();
        // Images are displaced only along the periodic edges, so this part is the same for all.
        let across = |point: DVec3| {
            if *count == 3 {
                return DVec3::ZERO;
            }
            let away = point - corner;
            let along = (0..*count).map(|k| edges[k] * duals[k].dot(away));
            (away - along.sum::<DVec3>()).abs()
        };
        let mut far = across(center).max(across(center + shift))
            + (self.origin - corner).abs()
            + DVec3::splat(self.drift.length() * self.dt)
            + 2.0 * shift.abs();
        for (k, edge) in edges.iter().enumerate().take(*count) {
            // An image reaches into the cell, so its middle is at most half its extent outside.
            #[allow(clippy::cast_precision_loss, reason = "the margin below covers it")]
            let extent = (all.high.0[k] - all.low.0[k]) as f64 / (1_u64 << FRACTION_BITS) as f64;
            far += edge.abs() * (1.0 + extent);
        }
        let slack = self.slack(sphere, &all);
        let far = far.max_element() as f32 * 1.001 + slack;
        ProxySize::anywhere(path, length, far, slack)
    }

    /// Returns whether a sphere leaves the range of cells, up to rounding, without regard to the frame.
    pub(super) fn is_far(&self, sphere: &ScaledSphere) -> bool {
        let center = DVec3::from(sphere.center.map(f64::from)) - self.lattice.corner;
        let moved = DVec3::from(sphere.velocity.map(f64::from)) * self.dt;
        let most = f64::from(self.lattice.max_cells) * (1.0 - 1e-6);
        (0..self.lattice.count).any(|k| {
            let [from, by] = [center, moved].map(|v| self.lattice.duals[k].dot(v));
            let radius = f64::from(sphere.radius) * self.lattice.dual_lengths[k];
            from.abs().max((from + by).abs()) + radius >= most
        })
    }

    /// Returns how far a sphere reaches from the domain during the step.
    pub(super) fn way(&self, sphere: &ScaledSphere) -> f64 {
        let center = DVec3::from(sphere.center.map(f64::from)) - self.lattice.corner;
        let moved = DVec3::from(sphere.velocity.map(f64::from)) * self.dt;
        center.length() + moved.length() + f64::from(sphere.radius)
    }

    /// Used for estimates only.
    pub(crate) fn wrapped(&self, sphere: &ScaledSphere, path: &SpherePath) -> SpherePath {
        let half = 0.5 * self.dt;
        let middle = DVec3::from(sphere.center.map(f64::from))
            + DVec3::from(sphere.velocity.map(f64::from)) * half;
        let image = self
            .coordinates(middle, half)
            .map(|x| -floor(x.clamp(-1e6, 1e6)) as i32);
        path.displaced(self.center(sphere, image), 0.0)
    }

    /// Returns the position of the second sphere, displaced by `image` in reduced edges, relative
    /// to the first.
    pub(super) fn displaced(&self, spheres: [&ScaledSphere; 2], image: [i32; 3]) -> Displaced {
        let [from, to] = spheres.map(|sphere| DVec3::from(sphere.center.map(f64::from)));
        let p = to - from + self.lattice.displacement(image);
        let of_lattice = (0..self.lattice.count).map(|k| {
            f64::from(image[k]).abs()
                * (self.lattice.edge_error[k]
                    + 16.0 * f64::EPSILON * self.lattice.edges[k].abs().element_sum())
        });
        let far = (from.abs() + to.abs()).element_sum();
        let error = 16.0 * f64::EPSILON * far + of_lattice.sum::<f64>();
        Displaced {
            p: p.as_vec3(),
            certain: image == [0; 3]
                || error <= p.abs().max_element() * f64::from(f32::EPSILON) * 0.125,
        }
    }

    /// Returns a box around all images of the centres in a box that are proxies. `reach` is
    /// half the width of a segment. Used for estimates only.
    pub(crate) fn wrap_box(&self, [low, high]: [Vec3; 2], reach: f32) -> [Vec3; 2] {
        let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (mut middle, mut spread) = (center, Vec3::ZERO);
        // Along an edge at which the box may reach out of the cell, the result spans the
        // cell. The matrix `across` removes that component from the size.
        let is_point = low == high;
        let mut across = Mat3::IDENTITY;
        for k in 0..self.lattice.count {
            let dual = Vec3::from(self.duals[k]);
            let at = dual.dot(center) + self.origins[k];
            if (at - 0.5).abs() + dual.abs().dot(half + reach) <= 0.5 {
                continue;
            }
            let edge = self.lattice.edges[k].as_vec3();
            middle += edge * (0.5 - at);
            spread += edge.abs() * 0.5;
            if !is_point {
                across -= Mat3::from_cols(edge * dual.x, edge * dual.y, edge * dual.z);
            }
        }
        if !is_point {
            let [x, y, z] = [across.x_axis, across.y_axis, across.z_axis].map(Vec3::abs);
            spread += x * half.x + y * half.y + z * half.z;
        }
        [middle - spread, middle + spread]
    }

    pub(crate) fn width(&self) -> f32 {
        let lengths = self.lattice.dual_lengths[..self.lattice.count].iter();
        lengths.fold(f32::MAX, |width, length| width.min((1.0 / length) as f32))
    }
}

/// Rounds down, clamped to 2²⁹, so that sums of two fit into `i32`; a later check rejects
/// clamped numbers. `f64::floor` would be a function call.
#[inline(always)]
fn floor(x: f64) -> i64 {
    const MOST: f64 = (1_u64 << (29 + FRACTION_BITS)) as f64;
    let x = x.clamp(-MOST, MOST);
    let towards_zero = x as i64;
    #[allow(
        clippy::cast_precision_loss,
        reason = "a number with a fraction is below 2⁵³"
    )]
    let is_above = towards_zero as f64 > x;
    towards_zero.saturating_sub(i64::from(is_above))
}

pub(crate) fn cell(lattice: Option<&ReducedLattice>, frame: &Frame, scale: &Scale) -> Option<Cell> {
    lattice.map(|lattice| Cell::new(*lattice, frame, scale.dt))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use num_bigint::BigInt;

    use super::*;
    use crate::shared::units::Units;
    use crate::{Domain, Sphere};

    fn whole(x: DVec3) -> [BigInt; 3] {
        x.to_array().map(|x| {
            let scaled = x * f64::from(1 << 20) * f64::from(1 << 20);
            assert_eq!(scaled.fract(), 0.0);
            BigInt::from(scaled as i128)
        })
    }

    fn product(x: &[BigInt; 3], y: &[BigInt; 3]) -> BigInt {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    }

    /// In a domain with two periodic edges, space is open along a third direction. The box that is
    /// computed for a point must contain the point, however far it is along this direction.
    #[test]
    fn a_point_is_in_its_box_far_along_an_open_direction() {
        let mut rng = Rng::with_seed(1);
        let mut tested = 0;
        while tested < 20_000 {
            let number = |rng: &mut Rng, most: i32| rng.i32(-most..=most) as f32 / 1024.0;
            let mut edges = [0, 1].map(|_| [0, 1, 2].map(|_| number(&mut rng, 2048)));
            if rng.bool() {
                // In about half of the random domains, the reciprocal vector of the first edge is
                // parallel to z. Its x and y components are sums of terms that cancel. These terms
                // differ so much in size that float64 rounds the sums.
                let number = |_| rng.i32(-1 << 20..1 << 20) as f32 / (1 << 15) as f32;
                let [p, q, height] = [0, 1, 2].map(number);
                let q = q / 2_f32.powi(rng.i32(0..16));
                let part = rng.i32(-3..=3) as f32 / 8.0;
                edges = [[p * part, q * part, height], [p, q, 0.0]];
            }
            let [a, b] = edges.map(Vec3::from);
            let normal = a.cross(b);
            if normal.length() < 0.1 {
                continue;
            }
            let far = 2_f32.powi(rng.i32(0..30));
            let center = (normal * far).to_array().map(|x| {
                if x.abs() > 1.0 {
                    x.round()
                } else {
                    (x * 1024.0).round() / 1024.0
                }
            });
            let domain = Domain::triclinic([0.0; 3], [edges[0], edges[1], [0.0; 3]])
                .with_periodic([true, true, false]);
            let sphere = Sphere::new(center, 0.0);
            let scale = Units::default().scale(1.0);
            let lattice = ReducedLattice::new(&domain, &scale).ok().flatten().unwrap();
            let cell = Cell::new(lattice, &Frame::default(), 1.0);
            let found = cell.lattice_box(&scale.sphere(&sphere), Cut::WHOLE);
            let edges = [0, 1].map(|k| whole(lattice.edges[k]));
            let point = whole(DVec3::from(center.map(f64::from)));
            let [aa, ab, bb] = [(0, 0), (0, 1), (1, 1)].map(|(i, j)| product(&edges[i], &edges[j]));
            let [pa, pb] = [0, 1].map(|k| product(&edges[k], &point));
            let square = &aa * &bb - &ab * &ab;
            for (k, times) in [(0, &pa * &bb - &pb * &ab), (1, &pb * &aa - &pa * &ab)] {
                let exact = times << FRACTION_BITS;
                let [low, high] = [found.low.0[k], found.high.0[k]].map(|x| x * &square);
                assert!(low <= exact && exact <= high, "{domain:?} {center:?}");
            }
            tested += 1;
        }
    }

    /// The box that [`Cell::wrap_box`] returns for a sphere, enlarged by the margin of the grids,
    /// contains the centre of every image that reaches into the cell, in random domains with one,
    /// two or three periodic edges.
    #[test]
    fn all_images_of_a_sphere_are_in_the_box_around_them() {
        let mut rng = Rng::with_seed(3);
        let mut several = 0;
        for case in 0..20_000 {
            let mut number = |most: f32| (rng.f32() * 2.0 - 1.0) * most;
            let off = [0.0, 0.1, 2.0][case % 3];
            let edges = [0, 1, 2].map(|k| {
                let mut edge = [0, 1, 2].map(|_| number(off));
                edge[k] = 3.0 + number(2.0);
                edge
            });
            let origin = [0, 1, 2].map(|_| number(100.0));
            let periodic = [1, 2, 4].map(|bit| (case / 3 % 7 + 1) & bit != 0);
            let domain = Domain::triclinic(origin, edges).with_periodic(periodic);
            let scale = Units::default().scale(1.0);
            let Ok(Some(lattice)) = ReducedLattice::new(&domain, &scale) else {
                continue;
            };
            let frame = Frame {
                origin: Vec3::from(origin) + Vec3::new(number(3.0), number(3.0), number(3.0)),
                drift: Vec3::new(number(9.0), number(9.0), number(9.0)),
            };
            let cell = Cell::new(lattice, &frame, 1.0);
            let center = [0, 1, 2].map(|k| origin[k] + number(9.0));
            let velocity = frame.drift.to_array().map(|x| x + number(0.5));
            let radius = number([0.0, 0.01, 3.0][case % 4 % 3]).abs();
            let sphere = Sphere::new(center, radius).with_velocity(velocity);
            let scaled = scale.sphere(&sphere);
            let path = scale.path(&sphere, &frame);
            let half_cell = cell.proxy_size(&scaled, &path, f32::MAX).half_cell;
            let wrapped = Vec3::from(cell.wrapped(&scaled, &path).at(0.5));
            let [low, high] = cell.wrap_box([wrapped; 2], half_cell);
            // The grids enlarge the box by at least 3·`half_cell` on each side: `measure_sizes`
            // adds `half_cell`, and the grid adds one cell, whose edge is at least 2·`half_cell`.
            let room = 3.0 * half_cell;
            let images = cell.lattice_box(&scaled, Cut::WHOLE).images();
            several += u32::from(images.count() > 1);
            images.each(|image| {
                let image = path.displaced(cell.center(&scaled, image), 0.0);
                let at = Vec3::from(image.at(0.5));
                let outside = (at - high).max(low - at).max_element();
                assert!(outside <= room, "{outside} {domain:?} {sphere:?}");
            });
        }
        assert!(several > 1000, "{several}");
    }

    /// [`Cell::stays`] and [`Cell::near_sizes`], which handle four spheres at once, agree with the
    /// slower computations for single spheres. The spheres lie in and around rectangular and skewed
    /// cells.
    #[test]
    fn spheres_inside_the_cell_or_near_it_have_the_images_and_sizes_of_their_extents() {
        let mut rng = Rng::with_seed(2);
        let (mut inside, mut near) = (0, 0);
        for case in 0..20_000 {
            let mut number = |most: f32| (rng.f32() * 2.0 - 1.0) * most;
            let aligned = case % 2 == 0;
            let edges = [0, 1, 2].map(|k| {
                let off = if aligned { 0.0 } else { 1.0 };
                let mut edge = [0, 1, 2].map(|_| number(off));
                edge[k] = 3.0 + number(2.0);
                edge
            });
            let origin = [0, 1, 2].map(|_| number(1e4));
            let domain = Domain::triclinic(origin, edges);
            let scale = Units::default().scale(1.0);
            let Ok(Some(lattice)) = ReducedLattice::new(&domain, &scale) else {
                continue;
            };
            let frame = Frame {
                origin: Vec3::from(origin) + Vec3::new(number(3.0), number(3.0), number(3.0)),
                drift: Vec3::new(number(9.0), number(9.0), number(9.0)),
            };
            let cell = Cell::new(lattice, &frame, 1.0);
            let spheres = [(); LANES].map(|()| {
                let (mut center, mut velocity) = (origin, frame.drift.to_array());
                for edge in edges {
                    let part = number(1.0) + 0.5;
                    (0..3).for_each(|axis| center[axis] += edge[axis] * part);
                }
                for axis in 0..3 {
                    velocity[axis] += number(0.5);
                    center[axis] -= 0.5 * velocity[axis];
                }
                Sphere::new(center, number(0.5).abs()).with_velocity(velocity)
            });
            let paths = scale.paths(spheres.each_ref(), &frame);
            let stays = cell.stays(&paths);
            let sizes = cell.near_sizes(&paths).to_array();
            for (lane, sphere) in spheres.iter().enumerate() {
                let scaled = scale.sphere(sphere);
                let images = cell.lattice_box(&scaled, Cut::WHOLE).images();
                if stays.inside >> lane & 1 == 1 {
                    assert_eq!(images, ImageBlock::default(), "{domain:?} {sphere:?}");
                    inside += 1;
                } else if stays.near >> lane & 1 == 1 {
                    let ends = [images.first, images.last];
                    let most = ends.as_flattened().iter().map(|n| n.abs()).max();
                    assert!(most <= Some(1), "{domain:?} {sphere:?}");
                    let path = scale.path(sphere, &frame);
                    let own = cell.proxy_size(&scaled, &path, f32::MAX).half_cell;
                    let bound = sizes[lane];
                    assert!(
                        own <= bound && bound <= own * 1.5,
                        "{own} {bound} {domain:?}"
                    );
                    near += 1;
                }
            }
        }
        assert!(inside > 1000 && near > 1000, "{inside} {near}");
    }
}
