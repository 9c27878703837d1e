//! Axes: where a value stands, and which values are told.

/// How an axis grows.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// From 0 on.
    Linear,
    /// By factors.
    Log,
}

/// An axis.
pub(crate) struct Axis<'a> {
    pub(crate) label: &'a str,
    scale: Scale,
    /// The values that are told, from one end to the other: two at least.
    pub(crate) ticks: Vec<f64>,
}

/// From this ratio of its ends on, an axis tells of powers of ten only.
const LONG: f64 = 300.0;

impl<'a> Axis<'a> {
    /// An axis that these values are on.
    pub(crate) fn new(label: &'a str, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let usable = |x: &f64| x.is_finite() && (scale == Scale::Linear || *x > 0.0);
        let of = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), of);
        let ticks = match scale {
            _ if low > high => vec![1.0, 10.0],
            Scale::Linear => linear(high),
            Scale::Log => logarithmic(low, high),
        };
        Self {
            label,
            scale,
            ticks,
        }
    }

    /// Where a value stands, from 0 to 1 if it is on the axis.
    pub(crate) fn place(&self, x: f64) -> f64 {
        let of = |x: f64| match self.scale {
            Scale::Linear => x,
            Scale::Log => x.ln(),
        };
        let [first, last] =
            [self.ticks.first(), self.ticks.last()].map(|x| x.map_or(1.0, |&x| of(x)));
        (of(x) - first) / (last - first)
    }
}

/// At most ten even steps from 0 to the highest or past it.
fn linear(high: f64) -> Vec<f64> {
    let step = round_numbers(&[1.0, 2.0, 5.0])
        .find(|step| high > 0.0 && high <= 10.0 * step)
        .unwrap_or(high.max(1.0));
    let mut ticks = vec![0.0, step];
    while ticks.len() < 12 && ticks.last().is_some_and(|&last| last < high) {
        ticks.push(ticks.len() as f64 * step);
    }
    ticks
}

/// Round numbers from one that is not above the lowest to one that is not below the highest.
fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let heads: &[f64] = if high / low > LONG {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    // A little beyond, for a power of ten may be off by its last bit.
    let before = |x: &f64| *x <= low * 1.000_001;
    let first = round_numbers(heads).take_while(before).count().max(1) - 1;
    let last = round_numbers(heads)
        .position(|x| x >= high * 0.999_999)
        .unwrap_or(first);
    let count = last.saturating_sub(first).max(1) + 1;
    round_numbers(heads).skip(first).take(count).collect()
}

/// These heads times all powers of ten that matter.
fn round_numbers(heads: &[f64]) -> impl Iterator<Item = f64> {
    (-15..=18).flat_map(move |power| heads.iter().map(move |head| head * 10_f64.powi(power)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::number;

    fn ticks(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new("", scale, values.iter().copied());
        let place = |x| axis.place(x);
        assert!(
            values
                .iter()
                .all(|&x| (-1e-6..=1.000_001).contains(&place(x)))
        );
        axis.ticks.iter().copied().map(number).collect()
    }

    #[test]
    fn ends_are_round_and_hold_all_values() {
        assert_eq!(ticks(Scale::Log, &[1000.0, 1e6]).len(), 4);
        assert_eq!(
            ticks(Scale::Log, &[3.0, 90.0]),
            ["2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(ticks(Scale::Log, &[10.0]), ["10", "20"]);
        assert_eq!(
            ticks(Scale::Linear, &[0.01, 0.6]),
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]
        );
        assert_eq!(ticks(Scale::Linear, &[0.0]), ["0", "1"]);
        assert_eq!(ticks(Scale::Linear, &[]), ["1", "10"]);
    }
}
