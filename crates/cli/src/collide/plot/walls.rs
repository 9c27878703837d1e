//! Draws the walls into the picture: outlines of round walls, traces of planes, and edges of triangles. Only
//! the parts within the plot area are drawn.

use std::f64::consts::TAU;

use carom::{Wall, WallShape, Walls};

use super::canvas::Canvas;
use super::picture::Colour;
use super::view::View;

/// Colour of walls.
pub(crate) const COLOUR: Colour = [40, 90, 180];
const WIDTH: f32 = 2.5;
/// Largest number of walls that are drawn in front of the spheres. More walls would hide the
/// spheres.
pub(crate) const FEW: usize = 2_000;
/// Number of straight lines that form a circle.
const SIDES: u32 = 180;

/// Draws all walls behind the shapes that were painted before.
pub(crate) fn draw(canvas: &mut Canvas, walls: &Walls<f64>, view: &View) {
    for wall in walls.simple() {
        outline(canvas, wall, view);
    }
    // Edges of large meshes are thin, or else they would fill the picture.
    let width = if walls.len() > FEW { 0.5 } else { 1.2 };
    for mesh in walls.meshes() {
        let places = |corner: u32| view.flat(mesh.vertices()[corner as usize]);
        for &triangle in mesh.triangles() {
            let [a, b, c] = triangle.map(places);
            for ends in [[a, b], [b, c], [c, a]] {
                line(canvas, view, ends, width);
            }
        }
    }
}

fn outline(canvas: &mut Canvas, wall: &Wall<f64>, view: &View) {
    match wall.shape() {
        WallShape::HalfSpace { normal, offset } => trace(canvas, view, normal, offset),
        WallShape::Sphere { center, radius, .. } => circle(canvas, view, center, radius),
        WallShape::Cylinder {
            point,
            axis,
            radius,
            ..
        } => {
            let [x, y] = view.flat(axis);
            let length = x.hypot(y);
            let size = axis.into_iter().fold(0.0, |size: f64, x| size.hypot(x));
            if length < 1e-6 * size {
                circle(canvas, view, point, radius);
                return;
            }
            let [px, py] = view.flat(point);
            let [x, y] = [x / length, y / length];
            for side in [-1.0, 1.0] {
                let by = side * radius;
                endless(canvas, view, [px - by * y, py + by * x], [x, y]);
            }
        }
        // The tool makes no walls of other shapes.
        _ => {}
    }
}

/// Draws the line in which a plane crosses the middle of the world. A plane perpendicular to the
/// line of sight has no such line.
fn trace(canvas: &mut Canvas, view: &View, normal: [f64; 3], offset: f64) {
    let [x, y] = view.flat(normal);
    let square = x * x + y * y;
    let away = normal[view.sight()];
    if square < 1e-6 * (square + away * away) {
        return;
    }
    let part = (offset - away * view.depth) / square;
    let length = square.sqrt();
    endless(
        canvas,
        view,
        [x * part, y * part],
        [-y / length, x / length],
    );
}

fn circle(canvas: &mut Canvas, view: &View, center: [f64; 3], radius: f64) {
    let [x, y] = view.flat(center);
    let at = |side: u32| {
        let (sin, cos) = (TAU * f64::from(side) / f64::from(SIDES)).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    for side in 0..SIDES {
        line(canvas, view, [at(side), at(side + 1)], WIDTH);
    }
}

/// Draws a line without ends, given by a point and a direction of length 1.
fn endless(canvas: &mut Canvas, view: &View, [x, y]: [f64; 2], [u, v]: [f64; 2]) {
    let along = (view.centre[0] - x) * u + (view.centre[1] - y) * v;
    let [x, y] = [x + along * u, y + along * v];
    let reach = view.reach();
    let ends = [-reach, reach].map(|way| [x + way * u, y + way * v]);
    line(canvas, view, ends, WIDTH);
}

/// Draws the part of a line within the plot area.
fn line(canvas: &mut Canvas, view: &View, [from, to]: [[f64; 2]; 2], width: f32) {
    let room = view.room();
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (start, step) = (from[axis] - view.centre[axis], to[axis] - from[axis]);
        for way in [-1.0, 1.0] {
            // The line consists of the points start + part · step, with `part` from 0 to 1. Along each axis,
            // the plot area reaches from −`room` to `room`. `way` is −1 for the lower edge of the area, and 1
            // for the upper edge. A point is inside this edge if way · (start + part · step) ≤ room.
            let (left, slope) = (room[axis] - start * way, step * way);
            if slope > 0.0 {
                last = last.min(left / slope);
            } else if slope < 0.0 {
                first = first.max(left / slope);
            } else if left < 0.0 {
                return;
            }
        }
    }
    if first > last {
        return;
    }
    let at = |part: f64| view.pixel([0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis])));
    canvas.line([at(first), at(last)], width, COLOUR);
}
