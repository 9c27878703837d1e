//! The table in the corner of the picture: the number of spheres, the simulated time, the numbers of impacts, and the
//! frames per second.

use std::time::Instant;

use carom::gpu::SimulationState;

/// Height of the letters in the table, in pixels.
pub(crate) const HEIGHT: f32 = 17.0;
/// Width of the table, in pixels.
pub(crate) const WIDTH: f32 = 240.0;

pub(crate) struct Frames {
    since: Instant,
    count: u32,
    told: bool,
    pub(crate) per_second: Option<f64>,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            count: 0,
            told: false,
            per_second: None,
        }
    }

    /// Counts a drawn frame, and returns whether to update the table of numbers in the picture. Numbers that
    /// changed in every frame could not be read.
    pub(crate) fn tick(&mut self) -> bool {
        self.count += 1;
        let passed = self.since.elapsed().as_secs_f64();
        if passed > 0.4 {
            self.per_second = Some(f64::from(self.count) / passed);
            self.since = Instant::now();
            self.count = 0;
        } else if self.told {
            return false;
        }
        self.told = true;
        true
    }
}

pub(crate) fn rows(
    spheres: usize,
    report: &SimulationState,
    per_second: Option<f64>,
) -> Vec<[String; 2]> {
    let rate = per_second.map_or("–".to_owned(), |rate| format!("{rate:.1}"));
    vec![
        ["spheres".to_owned(), grouped(spheres as u64)],
        ["time".to_owned(), format!("{:.2} s", report.time)],
        ["impacts".to_owned(), grouped(report.sphere_impacts)],
        ["impacts at walls".to_owned(), grouped(report.wall_impacts)],
        ["frames a second".to_owned(), rate],
    ]
}

/// Formats a number with thin spaces between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}
