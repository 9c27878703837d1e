//! Decimals as they stand in a file.

/// How much of a field that is wrong is shown.
const SHOWN: usize = 40;

/// The nearest float32 to a decimal, rounded once. The error says what stood
/// there, and completes a sentence that begins with the field's name.
pub(crate) fn parse(field: &[u8]) -> Result<f32, String> {
    let field = field.trim_ascii();
    if field.is_empty() {
        return Err("is empty, but must be a number".into());
    }
    let shown: String = String::from_utf8_lossy(field).chars().take(SHOWN).collect();
    match std::str::from_utf8(field).map(str::parse::<f32>) {
        Ok(Ok(x)) if x.is_finite() => Ok(x),
        // Rust takes `inf` and `nan` too; only what has digits overflowed.
        Ok(Ok(_)) if field.iter().any(u8::is_ascii_digit) => Err(format!(
            "is `{shown}`, but a float32 holds at most {:e}",
            f32::MAX
        )),
        _ => Err(format!("is `{shown}`, but must be a finite number")),
    }
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
