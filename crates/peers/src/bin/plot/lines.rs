//! A chart of lines, each with its label at the side.

use crate::axis::Axis;
use crate::svg::{DARK, GREY, LIGHT, WIDTH_OF_CHARACTER, line, number, picture, text};

/// A line.
pub(crate) struct Series {
    pub(crate) label: String,
    /// From left to right.
    pub(crate) points: Vec<[f64; 2]>,
}

/// A chart.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    /// What holds of all lines.
    pub(crate) about: &'a str,
    pub(crate) caption: &'a str,
    pub(crate) x: Axis<'a>,
    pub(crate) y: Axis<'a>,
    pub(crate) series: &'a [Series],
}

/// Left, right, top and bottom of the field.
const FIELD: [f64; 4] = [80.0, 620.0, 66.0, 416.0];
const HEIGHT: f64 = 486.0;
/// From the field to the words of a label.
const BESIDE: f64 = 78.0;
/// How much of its line stands before a label: all that a pattern has.
const SAMPLE: f64 = 40.0;
/// Height of a label.
const ROW: f64 = 20.0;

/// Colours that the colour-blind can tell apart on white, after Okabe and Ito; theirs are without
/// grey, and have a yellow that would not be seen.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888",
];

impl Chart<'_> {
    /// The whole picture.
    pub(crate) fn draw(&self) -> String {
        let [left, right, top, bottom] = FIELD;
        let mut body = String::new();
        for &tick in &self.x.ticks {
            let x = self.across(tick);
            body += &line([x, top], [x, bottom + 5.0], LIGHT);
            body += &text([x, bottom + 20.0], "middle", DARK, &number(tick));
        }
        for &tick in &self.y.ticks {
            let y = self.up(tick);
            body += &line([left - 5.0, y], [right, y], LIGHT);
            body += &text([left - 9.0, y + 4.0], "end", DARK, &number(tick));
        }
        body += &line([left, top], [left, bottom], GREY);
        body += &line([left, bottom], [right, bottom], GREY);
        let middle = f64::midpoint(left, right);
        body += &text([middle, bottom + 42.0], "middle", DARK, self.x.label);
        body += &format!(
            "<g transform=\"translate(22 {}) rotate(-90)\">{}</g>\n",
            f64::midpoint(top, bottom),
            text([0.0, 0.0], "middle", DARK, self.y.label)
        );
        for (number, series) in self.series.iter().enumerate() {
            body += &self.line_of(number, series);
        }
        let height = HEIGHT.max(top + ROW * (self.series.len() + 1) as f64);
        body += &self.labels();
        let letters = |one: &Series| one.label.chars().count();
        let longest = self.series.iter().map(letters).max().unwrap_or(0);
        let width = right + BESIDE + WIDTH_OF_CHARACTER * longest as f64 + 20.0;
        let words = [self.title, self.about, self.caption];
        picture([width.ceil(), height], words, &body)
    }

    fn across(&self, x: f64) -> f64 {
        FIELD[0] + (FIELD[1] - FIELD[0]) * self.x.place(x)
    }

    fn up(&self, y: f64) -> f64 {
        FIELD[3] - (FIELD[3] - FIELD[2]) * self.y.place(y)
    }

    fn line_of(&self, number: usize, series: &Series) -> String {
        let places = series
            .points
            .iter()
            .map(|&[x, y]| [self.across(x), self.up(y)]);
        let places: Vec<[f64; 2]> = places.collect();
        let path: Vec<String> = places
            .iter()
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        let marks = places.iter().map(|&place| mark(number, place));
        format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
            path.join(" "),
            colour(number),
            dashes(number)
        ) + &marks.collect::<String>()
    }

    /// In the order in which the lines end, the highest first.
    fn labels(&self) -> String {
        let mut order: Vec<usize> = (0..self.series.len()).collect();
        let end = |k: &usize| self.series[*k].points.last().map_or(0.0, |point| point[1]);
        order.sort_by(|a, b| end(b).total_cmp(&end(a)));
        let left = FIELD[1] + 30.0;
        let mut labels = String::new();
        for (row, number) in (0..).zip(order) {
            let y = FIELD[2] + 8.0 + ROW * f64::from(row);
            labels += &format!(
                "<line x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{}\" \
                 stroke-width=\"2\"{}/>\n",
                left + SAMPLE,
                colour(number),
                dashes(number)
            );
            labels += &mark(number, [left + 0.5 * SAMPLE, y]);
            let label = &self.series[number].label;
            labels += &text([FIELD[1] + BESIDE, y + 4.0], "start", DARK, label);
        }
        labels
    }
}

fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Lines of one colour differ in this.
fn dashes(number: usize) -> &'static str {
    const DASHES: [&str; 4] = [
        "",
        " stroke-dasharray=\"7 3\"",
        " stroke-dasharray=\"2 3\"",
        " stroke-dasharray=\"10 3 2 3\"",
    ];
    DASHES[number / COLOURS.len() % DASHES.len()]
}

/// One of four shapes, so that colour alone does not tell.
fn mark(number: usize, [x, y]: [f64; 2]) -> String {
    let corners: &[[f64; 2]] = match number % 4 {
        0 => {
            let fill = colour(number);
            return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\"/>\n");
        }
        1 => &[[-4.0, -4.0], [4.0, -4.0], [4.0, 4.0], [-4.0, 4.0]],
        2 => &[[0.0, -5.0], [5.0, 4.0], [-5.0, 4.0]],
        _ => &[[0.0, -5.5], [5.5, 0.0], [0.0, 5.5], [-5.5, 0.0]],
    };
    let corners = corners
        .iter()
        .map(|[dx, dy]| format!("{:.1},{:.1}", x + dx, y + dy));
    let corners: Vec<String> = corners.collect();
    format!(
        "<polygon points=\"{}\" fill=\"{}\"/>\n",
        corners.join(" "),
        colour(number)
    )
}
