//! GPU timestamps at the start and the end of each stage of a step, or of each dispatch.

/// Upper bound on the number of stages of a step.
pub(crate) const MOST_STAGES: u32 = 16;
/// Largest number of dispatches of a step that are timed. A step with more dispatches has the times
/// of its stages instead.
const MOST_DISPATCHES: u32 = 512;

pub(crate) struct StageTiming {
    pub(crate) queries: wgpu::QuerySet,
    pub(crate) resolved: wgpu::Buffer,
    /// Period of the timestamps, in nanoseconds per tick.
    pub(crate) period: f32,
    pub(crate) by: TimedBy,
    /// Largest number of stages or dispatches that can be timed.
    pub(crate) most: u32,
}

/// The parts of a step that are timed: its stages or its dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimedBy {
    Stage,
    Dispatch,
}

impl TimedBy {
    /// Returns what is timed in a step with this number of dispatches: `self`, or the stages if the
    /// step has more than `MOST_DISPATCHES` dispatches.
    pub(crate) fn of(self, dispatches: usize) -> Self {
        if dispatches <= MOST_DISPATCHES as usize {
            self
        } else {
            Self::Stage
        }
    }
}

impl StageTiming {
    /// Makes the timestamp queries. Returns `None` if `period` is not a positive finite number, or
    /// if the device has no timestamps.
    pub(crate) fn new(device: &wgpu::Device, period: Option<f32>, by: TimedBy) -> Option<Self> {
        let period = period.filter(|&period| {
            let features = device.features();
            period > 0.0 && period.is_finite() && features.contains(wgpu::Features::TIMESTAMP_QUERY)
        })?;
        let most = match by {
            TimedBy::Stage => MOST_STAGES,
            TimedBy::Dispatch => MOST_DISPATCHES,
        };
        Some(Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("carom stages"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * most,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom stages"),
                size: 16 * u64::from(most),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period,
            by,
            most,
        })
    }

    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, stages: usize) {
        encoder.resolve_query_set(&self.queries, 0..2 * stages as u32, &self.resolved, 0);
    }
}
