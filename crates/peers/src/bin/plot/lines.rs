//! Line charts of benchmark results.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::picture::{FONT, number, picture};

pub(crate) struct Series {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Colours that colour-blind readers can distinguish on white: the palette of Okabe and Ito, with grey
/// instead of yellow.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(136, 136, 136),
];

/// Draws a line chart. `words` contains the title, the properties that all lines share, and the caption.
pub(crate) fn draw<X, Y>(
    series: &[Series],
    words: [&str; 3],
    label: &str,
    (x, y): (X, Y),
) -> anyhow::Result<String>
where
    X: AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
    Y: AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
{
    let mut order: Vec<(usize, &Series)> = series.iter().enumerate().collect();
    let end = |one: &Series| one.points.last().map_or(0.0, |point| point.1);
    order.sort_by(|(_, a), (_, b)| end(b).total_cmp(&end(a)));
    let letters = |one: &Series| one.label.chars().count();
    let longest = u32::try_from(series.iter().map(letters).max().unwrap_or(0))?;
    let height = (20 * u32::try_from(series.len())?).max(400);
    picture((710 + 7 * longest, height), words, |area| {
        let (left, labels) = area.split_horizontally(620);
        let mut chart = ChartBuilder::on(&left)
            .margin_left(16)
            .y_label_area_size(64)
            .x_label_area_size(40)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .label_style(FONT)
            .light_line_style(TRANSPARENT)
            .set_all_tick_mark_size(4)
            .x_desc(label)
            .x_label_formatter(&|x| number(*x))
            .y_desc("nanoseconds per sphere")
            .y_label_formatter(&|y| number(*y))
            .draw()?;
        let centred = Pos::new(HPos::Left, VPos::Center);
        for ((number, one), row) in order.into_iter().zip((8..).step_by(20)) {
            let style = COLOURS[number % COLOURS.len()].stroke_width(2);
            let points = || one.points.iter().copied();
            chart.draw_series(LineSeries::new(points(), style))?;
            chart.draw_series(points().map(|point| mark(number, point)))?;
            // The line labels are drawn by hand, because the built-in legend of the crate plotters would
            // cover a part of the chart.
            labels.draw(
                &(EmptyElement::at((30, row))
                    + PathElement::new([(0, 0), (40, 0)], style)
                    + mark(number, (20, 0))
                    + Text::new(
                        one.label.clone(),
                        (48, 0),
                        TextStyle::from(FONT).pos(centred),
                    )),
            )?;
        }
        Ok(())
    })
}

/// Markers have three shapes, so that lines differ in more than colour. With eight colours, up to 24 lines
/// have different combinations of shape and colour.
fn mark<'a, C: Clone + 'static>(number: usize, place: C) -> DynElement<'static, SVGBackend<'a>, C> {
    let colour = COLOURS[number % COLOURS.len()];
    match number % 3 {
        0 => Circle::new(place, 4, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(place, 6, colour).into_dyn(),
        _ => Cross::new(place, 4, colour.stroke_width(2)).into_dyn(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{linear, logarithmic};

    #[test]
    fn each_line_is_in_the_chart_and_labelled() {
        let of = |label: &str, points: &[(f64, f64)]| Series {
            label: label.to_owned(),
            points: points.to_vec(),
        };
        let series = [
            of("low", &[(10.0, 1.0), (1e6, 2.0)]),
            of("high", &[(10.0, 700.0), (1e6, 300.0)]),
        ];
        let [x, y] = [[10.0, 1e6], [1.0, 700.0]].map(|ends| ends.into_iter());
        let plot = draw(&series, ["", "", ""], "x", (logarithmic(x), linear(y)));
        let plot = plot.unwrap_or_else(|error| panic!("{error}"));
        let place = |word| plot.find(word).unwrap_or_else(|| panic!("{word}"));
        assert!(place("\nhigh\n") < place("\nlow\n"));
        let places = plot.split("stroke-width=\"2\" points=\"").skip(1);
        let places = places.filter_map(|rest| rest.split('"').next());
        let places: Vec<&str> = places.flat_map(str::split_whitespace).collect();
        assert_eq!(places.len(), 8);
        for place in places {
            let (x, y) = place.split_once(',').unwrap_or_default();
            let [x, y] = [x, y].map(|x| x.parse::<u32>().unwrap_or(u32::MAX));
            assert!((80..720).contains(&x) && (62..424).contains(&y), "{place}");
        }
    }
}
