//! Functions that all plots share: the title and the caption, the axes, and formatted numbers.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::combinators::WithKeyPoints;
use plotters::prelude::*;

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(crate) const GREY: RGBColor = RGBColor(102, 102, 102);
pub(crate) const FONT: (&str, u32) = ("sans-serif", 15);

pub(crate) fn picture(
    (width, height): (u32, u32),
    [title, about, caption]: [&str; 3],
    draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    const LEFT: i32 = 16;
    const HEAD: u32 = 62;
    const LINE: u32 = 16;
    let mut caption = textwrap::wrap(caption, width as usize / 7);
    caption.retain(|line| !line.is_empty());
    let lines = u32::try_from(caption.len())?;
    let mut svg = String::new();
    let size = (width, HEAD + height + LINE * (lines + 2));
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    // The background is white so that the plot is readable on a dark web page.
    area.fill(&WHITE)?;
    let grey = TextStyle::from(FONT).color(&GREY);
    area.draw_text(title, &("sans-serif", 20).into(), (LEFT, 12))?;
    area.draw_text(about, &grey, (LEFT, 37))?;
    let (above, below) = area.split_vertically(HEAD + height);
    for (line, y) in caption.iter().zip((16..).step_by(LINE as usize)) {
        below.draw_text(line, &grey, (LEFT, y))?;
    }
    draw(&above.margin(HEAD, 0, 0, 0))?;
    area.present()?;
    drop((area, above, below));
    Ok(svg)
}

pub(crate) fn linear(values: impl Iterator<Item = f64>) -> Range<f64> {
    let high = values.fold(0.0, f64::max);
    0.0..if high > 0.0 { 1.05 * high } else { 1.0 }
}

/// Returns a logarithmic chart axis between round numbers. The crate plotters sets ticks at powers of ten
/// only, so this function sets the ticks of short axes more densely.
pub(crate) fn logarithmic(values: impl Iterator<Item = f64>) -> WithKeyPoints<LogCoord<f64>> {
    let (low, high) = values
        .filter(|x| *x > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| {
            (low.min(x), high.max(x))
        });
    let heads: &[f64] = if high / low > 300.0 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let powers = (-15..=18).map(|power| 10_f64.powi(power));
    let round: Vec<f64> = powers
        .flat_map(|power| heads.iter().map(move |head| head * power))
        .collect();
    let end = round.len() - 1;
    let first = round.partition_point(|x| *x <= low).clamp(1, end) - 1;
    let last = round.partition_point(|x| *x < high).clamp(first + 1, end);
    let ticks = round[first..=last].to_vec();
    (round[first]..round[last])
        .log_scale()
        .with_key_points(ticks)
}

/// Formats a number with at most three decimals. Numbers below 0.001, and from 10⁹ on, are in scientific
/// notation.
pub(crate) fn number(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e9).contains(&x.abs()) {
        return format!("{x:e}");
    }
    let mut digits = ((x * 1000.0).round() / 1000.0).to_string();
    let whole = digits.find('.').unwrap_or(digits.len());
    if whole > 4 {
        for place in (1..whole).rev().filter(|k| (whole - k).is_multiple_of(3)) {
            // U+202F is a narrow no-break space.
            digits.insert(place, '\u{202f}');
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> Vec<String> {
        let axis = logarithmic(values.iter().copied());
        let Range { start, end } = axis.range();
        assert!(values.iter().all(|x| (start..=end).contains(x)));
        axis.bold_points().iter().copied().map(number).collect()
    }

    #[test]
    fn axes_end_at_round_numbers_and_contain_all_values() {
        assert_eq!(ticks(&[1000.0, 1e6]).len(), 4);
        assert_eq!(ticks(&[3.0, 90.0]), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(ticks(&[0.05, 0.1]), ["0.05", "0.1"]);
        assert_eq!(ticks(&[10.0]), ["10", "20"]);
        assert_eq!(logarithmic([0.0].into_iter()).bold_points().len(), 2);
        assert_eq!(linear([].into_iter()), 0.0..1.0);
        assert!(linear([0.01, 0.6].into_iter()).contains(&0.6));
    }

    #[test]
    fn numbers_have_up_to_three_decimals_and_separated_thousands() {
        let shown = [0.0, 0.05, 0.1 + 0.2, 1.0, 1000.0, 1e6, 1e-7, 123_456.5].map(number);
        let expected = [
            "0",
            "0.05",
            "0.3",
            "1",
            "1000",
            "1\u{202f}000\u{202f}000",
            "1e-7",
            "123\u{202f}456.5",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn captions_are_wrapped_and_escaped() {
        let words = ["a < b", "about", "one & two and many more words than fit"];
        let svg = picture((200, 100), words, |_| Ok(())).unwrap_or_default();
        assert!(svg.contains("a &lt; b") && svg.contains("one &amp; two"));
        assert_eq!(svg.matches("<text").count(), 4);
    }
}
