//! Medians of measured times.

use carom::Statistics;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) median_seconds: f64,
}

/// Returns the median time of a stage in seconds. If a stage ran more than once in a call, its times in this
/// call are added up.
pub(super) fn median_of_stage(name: &str, calls: &[Statistics]) -> f64 {
    let of_call = |call: &Statistics| {
        let runs = call.stages.iter().filter(|(stage, _)| *stage == name);
        runs.map(|(_, time)| time.as_secs_f64()).sum()
    };
    median(calls.iter().map(of_call).collect())
}

/// Returns the median of a list of values: the middle value, or the mean of the two middle values.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let of_index = |index: usize| values.get(index).copied().unwrap_or(0.0);
    if values.len() % 2 == 1 {
        of_index(middle)
    } else {
        (of_index(middle.saturating_sub(1)) + of_index(middle)) / 2.0
    }
}
