//! Parses numbers in the text of an input file.

use std::path::Path;
use std::str::FromStr;

const SHOWN: usize = 40;

/// Parses a decimal number and rounds it once, to the nearest float64. The error message is written to follow the name of
/// the field: "is `abc`, but must be a finite number".
pub(crate) fn parse(field: &[u8]) -> Result<f64, String> {
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
    let text = std::str::from_utf8(field);
    match text.map(|text| text.parse::<T>().or_else(|_| exponent_of_fortran(text))) {
        Ok(Ok(x)) if finite(x) => Ok(x),
        // Rust parses three kinds of text as a number that is not finite: `inf`, `nan`, and digits
        // of a number that is too large. Only the last kind has digits.
        Ok(Ok(_)) if field.iter().any(u8::is_ascii_digit) => {
            Err(format!("is `{}`, but {most}", shown(field)))
        }
        _ => Err(format!(
            "is `{}`, but must be a finite number{}",
            shown(field),
            if field.contains(&b',') {
                ", with a decimal point and without commas"
            } else {
                ""
            }
        )),
    }
}

/// Parses a number whose exponent begins with `d` or `D`, as Fortran writes it: `1.0D-01` is 0.1.
fn exponent_of_fortran<T: FromStr>(text: &str) -> Result<T, T::Err> {
    text.replacen(['d', 'D'], "e", 1).parse()
}

/// Returns a number, or an error if it is not finite.
pub(crate) fn finite(x: f64) -> Result<f64, String> {
    if x.is_finite() {
        Ok(x)
    } else {
        Err(format!("is {x}, but must be a finite number"))
    }
}

/// Returns a number of things, such as `1 field`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Returns whether two numbers say the same, each rounded to a text of a few digits.
pub(crate) fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * a.abs().max(b.abs())
}

/// Parses an id from 0 to 2^63 - 1. `7.0e+00` is accepted as 7, because NumPy's `savetxt` writes integers in
/// this form, but only below 2^53: a larger number may have been rounded when it was written.
pub(crate) fn id(field: &[u8]) -> Result<i64, String> {
    let field = field.trim_ascii();
    let text = std::str::from_utf8(field).unwrap_or_default();
    let whole = text.parse::<i64>().ok();
    let whole = whole.or_else(|| whole_decimal(text).filter(|&id| id < LEAST_ROUNDED));
    whole.filter(|&id| id >= 0).ok_or_else(|| {
        format!(
            "is `{}`, but must be a whole number from 0 to 2^63 - 1, or below 2^53 with a point or an exponent",
            shown(field)
        )
    })
}

/// Not every integer from here on has a float64.
const LEAST_ROUNDED: i64 = 1 << 53;

/// Parses a whole number with a point or an exponent, such as `7.0e+00`, without rounding.
fn whole_decimal(text: &str) -> Option<i64> {
    let (number, exponent) = match text.split_once(['e', 'E', 'd', 'D']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    let sign = if before.starts_with('-') { -1 } else { 1 };
    let before = before.strip_prefix(['+', '-']).unwrap_or(before);
    let digits = [before, after].concat();
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let zeros = i64::from(exponent) - i64::try_from(after.len()).ok()?;
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let zeros = u32::try_from(zeros + i64::try_from(trailing).ok()?).ok()?;
    let factor = 10_i64.checked_pow(zeros)?;
    significant.parse::<i64>().ok()?.checked_mul(factor * sign)
}

pub(crate) fn kind(field: &[u8]) -> Result<i32, String> {
    let kind = id(field)?;
    i32::try_from(kind).map_err(|_| format!("is {kind}, but must be at most {}", i32::MAX))
}

/// Returns exactly half of a diameter. Half of a subnormal diameter may have no exact float64, which is an
/// error.
pub(crate) fn halve(diameter: f64) -> Result<f64, String> {
    let radius = diameter / 2.0;
    if (radius * 2.0).to_bits() == diameter.to_bits() {
        Ok(radius)
    } else {
        Err(format!(
            "is {diameter:e}, but half of it cannot be represented in float64"
        ))
    }
}

/// Returns the first characters of a field, to be quoted in an error message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let begin = &bytes[..bytes.len().min(4 * SHOWN)];
    printable(&String::from_utf8_lossy(begin), SHOWN)
}

/// Returns a path for messages.
pub(crate) fn shown_path(path: &Path) -> String {
    printable(&path.display().to_string(), 4096)
}

/// Returns the first `most` characters of a text. Control characters, which could change the state of a
/// terminal, are replaced by U+FFFD.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(most).map(printable).collect()
}
