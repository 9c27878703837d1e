//! What all plots are made of: text, numbers, a frame with title and caption.

/// Ink for what is read, and for what only guides the eye.
pub(crate) const DARK: &str = "#222222";
pub(crate) const GREY: &str = "#666666";
pub(crate) const LIGHT: &str = "#dddddd";

/// What a character is wide at most, on average.
pub(crate) const WIDTH_OF_CHARACTER: f64 = 6.6;
/// Height of a line of the caption.
const LINE: f64 = 16.0;
/// Where all begins at the left.
const MARGIN: f64 = 16.0;

/// A picture around what is drawn in it; the height is without the caption. White, so that it can be
/// read on a dark page, too.
pub(crate) fn picture(
    [width, height]: [f64; 2],
    [title, about, caption]: [&str; 3],
    body: &str,
) -> String {
    let caption = wrapped(caption, (width - 2.0 * MARGIN) / WIDTH_OF_CHARACTER);
    let whole = height + LINE * caption.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" \
         width=\"{width}\" height=\"{whole}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{whole}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"26\" font-size=\"16\" fill=\"{DARK}\">{}</text>\n{body}",
        escaped(title),
        escaped(title)
    );
    svg += &text([MARGIN, 46.0], "start", GREY, about);
    for (line, k) in caption.iter().zip(0..) {
        let y = height + LINE * f64::from(k);
        svg += &text([MARGIN, y], "start", GREY, line);
    }
    svg + "</svg>\n"
}

/// A piece of text; `anchor` tells which end of it is there.
pub(crate) fn text([x, y]: [f64; 2], anchor: &str, fill: &str, text: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{}</text>\n",
        escaped(text)
    )
}

/// A straight line.
pub(crate) fn line([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: &str) -> String {
    format!(
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"/>\n"
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Lines of at most so many characters, broken at blanks.
fn wrapped(text: &str, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if ((line.chars().count() + 1 + word.chars().count()) as f64) <= most => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A number with the digits that count, thousands apart.
pub(crate) fn number(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e9).contains(&x.abs()) {
        return format!("{x:e}");
    }
    let digits = format!("{x:.3}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut grouped = String::new();
    for (k, digit) in whole.chars().enumerate() {
        let left = whole.len() - k;
        if whole.len() > 4 && k > 0 && left.is_multiple_of(3) {
            // As wide as it has to be, and no place to break a line.
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if part.is_empty() {
        grouped
    } else {
        format!("{grouped}.{part}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
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
        let svg = picture([200.0, 100.0], words, "");
        assert!(svg.contains("a &lt; b") && svg.contains("one &amp; two"));
        assert_eq!(svg.matches("<text").count(), 4);
        assert!(svg.contains("height=\"132\""));
    }
}
