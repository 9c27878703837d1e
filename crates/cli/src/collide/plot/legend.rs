//! What the colours mean, how many there are of each, and the scale bar.

use super::axes::Round;
use super::canvas::{Canvas, Line};
use super::classes::Classes;
use super::text::{Align, Text};
use super::view::View;
use super::{FAINT, INK, PANEL, Picture, WIDTH, scene};

const LEFT: f64 = PANEL.right + 34.0;
const RIGHT: f64 = WIDTH as f64 - 30.0;
const ROW: f64 = 36.0;
const SIZE: f32 = 22.0;
const HEADING: f32 = 22.0;

/// Draws it.
pub(crate) fn draw(
    canvas: &mut Canvas,
    text: &Text,
    picture: &Picture<'_>,
    view: &View,
    classes: &Classes,
    contacts: &[u32],
) {
    let mut y = PANEL.top + 20.0;
    heading(canvas, text, y, "contacts at the start", "spheres");
    let mut counts = vec![0_usize; classes.len()];
    for &n in contacts {
        counts[classes.class(n)] += 1;
    }
    for (class, count) in counts.into_iter().enumerate() {
        if class > 0 && count == 0 {
            continue;
        }
        y += ROW;
        scene::disc(canvas, [LEFT + 22.0, y - 7.0], 12.0, classes.colour(class));
        let range = classes.range(class);
        let label = if range.start() == range.end() {
            range.start().to_string()
        } else {
            format!("{}–{}", range.start(), range.end())
        };
        row(canvas, text, y, &label, count);
    }

    y += 2.0 * ROW;
    heading(canvas, text, y, "first touch", "pairs");
    let later = picture.pairs.iter().filter(|pair| pair.toi > 0.0).count();
    let at_the_start = picture.pairs.len() - later;
    for (label, count, later) in [
        ("at the start", at_the_start, false),
        ("later", later, true),
    ] {
        y += ROW;
        let ends = [[LEFT + 6.0, y - 7.0], [LEFT + 38.0, y - 7.0]];
        scene::line(canvas, ends, 4.0, later);
        row(canvas, text, y, label, count);
    }

    let small = scene::too_small(picture.spheres, view);
    if small > 0 {
        y += 2.0 * ROW;
        heading(canvas, text, y, "too small to see", "spheres");
        y += ROW;
        row(canvas, text, y, "drawn as dots", small);
    }
    scale_bar(canvas, text, view);
}

fn heading(canvas: &mut Canvas, text: &Text, y: f64, left: &str, right: &str) {
    text.draw(canvas, left, HEADING, [LEFT, y], Align::Left);
    text.draw(canvas, right, SIZE, [RIGHT, y], Align::Right);
    let y = y + 9.0;
    let rule = Line {
        from: [LEFT, y],
        to: [RIGHT, y],
        width: 1.0,
    };
    canvas.paint(&rule, FAINT);
}

fn row(canvas: &mut Canvas, text: &Text, y: f64, label: &str, count: usize) {
    text.draw(canvas, label, SIZE, [LEFT + 54.0, y], Align::Left);
    text.draw(canvas, &count.to_string(), SIZE, [RIGHT, y], Align::Right);
}

/// At the bottom; its length is in the input's unit.
fn scale_bar(canvas: &mut Canvas, text: &Text, view: &View) {
    let y = PANEL.bottom - 4.0;
    let Some(length) =
        Round::at_most(0.9 * (RIGHT - LEFT) / view.scale).filter(|_| view.scale > 0.0)
    else {
        text.draw(
            canvas,
            "all in one point: no scale",
            SIZE,
            [LEFT, y],
            Align::Left,
        );
        return;
    };
    let end = LEFT + length.value * view.scale;
    for [from, to] in [
        [[LEFT, y], [end, y]],
        [[LEFT, y - 8.0], [LEFT, y + 8.0]],
        [[end, y - 8.0], [end, y + 8.0]],
    ] {
        canvas.paint(
            &Line {
                from,
                to,
                width: 3.0,
            },
            INK,
        );
    }
    let label = format!("length {}", length.text());
    text.draw(
        canvas,
        &label,
        SIZE,
        [f64::midpoint(LEFT, end), y - 18.0],
        Align::Middle,
    );
}
