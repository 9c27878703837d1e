//! GPU timestamps at the start and the end of each stage of a step, or of each dispatch.

pub(crate) const MOST_STAGES: u32 = 16;
/// A step with more has the times of its stages instead.
const MOST_DISPATCHES: u32 = 512;

pub(crate) struct StageTiming {
    pub(crate) queries: wgpu::QuerySet,
    pub(crate) resolved: wgpu::Buffer,
    /// In nanoseconds per tick.
    pub(crate) period: f32,
    pub(crate) by: TimedBy,
    pub(crate) most: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimedBy {
    Stage,
    Dispatch,
}

impl TimedBy {
    /// The stages if there are more than `MOST_DISPATCHES` dispatches.
    pub(crate) fn of(self, dispatches: usize) -> Self {
        if dispatches <= MOST_DISPATCHES as usize {
            self
        } else {
            Self::Stage
        }
    }
}

impl StageTiming {
    /// `None` if `period` is not positive and finite, or if the device has no timestamps.
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
