//! Numbers as they stand in a file.

use std::str::FromStr;

/// How much of a field that is wrong is shown.
const SHOWN: usize = 40;

/// The nearest float32 to a decimal, rounded once. The error says what stood
/// there, and completes a sentence that begins with the field's name.
pub(crate) fn parse(field: &[u8]) -> Result<f32, String> {
    decimal(field, f32::is_finite, "a float32 holds at most 3.4e38")
}

/// The same in float64, for what is worked with before it is rounded.
pub(crate) fn parse_wide(field: &[u8]) -> Result<f64, String> {
    decimal(field, f64::is_finite, "a float64 holds at most 1.8e308")
}

fn decimal<T>(field: &[u8], finite: fn(T) -> bool, most: &str) -> Result<T, String>
where
    T: FromStr + Copy,
{
    let field = field.trim_ascii();
    if field.is_empty() {
        return Err("is empty, but must be a number".into());
    }
    match std::str::from_utf8(field).map(str::parse::<T>) {
        Ok(Ok(x)) if finite(x) => Ok(x),
        // Rust takes `inf` and `nan` too; only what has digits overflowed.
        Ok(Ok(_)) if field.iter().any(u8::is_ascii_digit) => {
            Err(format!("is `{}`, but {most}", shown(field)))
        }
        _ => Err(format!(
            "is `{}`, but must be a finite number",
            shown(field)
        )),
    }
}

/// The nearest float32.
pub(crate) fn narrow(x: f64) -> Result<f32, String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounds, and infinity is told apart"
    )]
    let narrow = x as f32;
    if narrow.is_finite() {
        Ok(narrow)
    } else if x.is_finite() {
        Err(format!(
            "is {x:e}, but a float32 holds at most {:e}",
            f32::MAX
        ))
    } else {
        Err(format!("is {x}, but must be a finite number"))
    }
}

/// A number that tells spheres apart. NumPy's `savetxt` writes 7 as `7.0e+00`, so that counts as 7.
pub(crate) fn id(field: &[u8]) -> Result<i64, String> {
    let field = field.trim_ascii();
    let text = std::str::from_utf8(field).unwrap_or_default();
    let whole = text.parse::<i64>().ok().or_else(|| {
        let x: f64 = text.parse().ok()?;
        // Up to 2^53 a float64 holds every whole number.
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
        (x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0).then_some(x as i64)
    });
    whole.filter(|&id| id >= 0).ok_or_else(|| {
        format!(
            "is `{}`, but must be a whole number from 0 to 2^63 - 1",
            shown(field)
        )
    })
}

/// A type of sphere.
pub(crate) fn kind(field: &[u8]) -> Result<i32, String> {
    let kind = id(field)?;
    i32::try_from(kind).map_err(|_| format!("is {kind}, but must be at most {}", i32::MAX))
}

/// Half of a diameter, exactly: only the smallest subnormals have no half.
pub(crate) fn halve(diameter: f32) -> Result<f32, String> {
    let radius = diameter / 2.0;
    if (radius * 2.0).to_bits() == diameter.to_bits() {
        Ok(radius)
    } else {
        Err(format!("is {diameter:e}, but half of that is no float32"))
    }
}

/// The beginning of what stood in a file, fit for a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let begin = &bytes[..bytes.len().min(4 * SHOWN)];
    printable(&String::from_utf8_lossy(begin), SHOWN)
}

/// The beginning of a text, without what a terminal might obey.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(most).map(printable).collect()
}
