//! What the corner of the picture tells.

use std::time::{Duration, Instant};

use crate::simulation::Report;

/// Of the letters and of a row, in pixels.
pub(crate) const HEIGHT: f32 = 17.0;
pub(crate) const WIDTH: f32 = 210.0;

/// Counts frames, and knows when it is time to tell anew.
pub(crate) struct Frames {
    since: Instant,
    count: u32,
    each: Option<Duration>,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            count: 0,
            each: None,
        }
    }

    /// Counts one. True if there is something new to tell: numbers that change
    /// with every frame cannot be read.
    pub(crate) fn tick(&mut self) -> bool {
        self.count += 1;
        let passed = self.since.elapsed();
        let first = self.each.is_none();
        if !first && passed < Duration::from_millis(400) {
            return false;
        }
        self.each = Some(passed / self.count);
        *self = Self {
            each: self.each,
            ..Self::new()
        };
        true
    }
}

/// Rows of a name and a number.
pub(crate) fn rows(spheres: usize, report: &Report, frames: &Frames) -> Vec<[String; 2]> {
    let mut rows = vec![
        ["spheres".to_owned(), grouped(spheres as u64)],
        ["pairs".to_owned(), grouped(report.pairs)],
    ];
    if let Some(each) = frames.each {
        let seconds = each.as_secs_f64();
        rows.push([
            "frames a second".to_owned(),
            format!("{:.1}", 1.0 / seconds.max(1e-9)),
        ]);
    }
    for (stage, time) in &report.stages {
        rows.push([
            (*stage).to_owned(),
            format!("{:.2} ms", 1000.0 * time.as_secs_f64()),
        ]);
    }
    rows
}

/// Digits in groups of three, with thin spaces.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}
