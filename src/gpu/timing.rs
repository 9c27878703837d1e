//! GPU timestamps at the start and the end of each stage of a step.

/// Upper bound on the number of stages of a step.
pub(super) const MOST_STAGES: u32 = 16;

pub(super) struct StageTiming {
    pub(super) queries: wgpu::QuerySet,
    pub(super) resolved: wgpu::Buffer,
    /// Period of the timestamps, in nanoseconds per tick.
    pub(super) period: f32,
}

impl StageTiming {
    /// Makes the timestamp queries. Returns `None` if `period` is not a positive finite number, or
    /// if the device has no timestamps.
    pub(super) fn new(device: &wgpu::Device, period: Option<f32>) -> Option<Self> {
        let period = period.filter(|&period| {
            let features = device.features();
            period > 0.0 && period.is_finite() && features.contains(wgpu::Features::TIMESTAMP_QUERY)
        })?;
        Some(Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("carom stages"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * MOST_STAGES,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom stages"),
                size: 16 * u64::from(MOST_STAGES),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period,
        })
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, stages: usize) {
        encoder.resolve_query_set(&self.queries, 0..2 * stages as u32, &self.resolved, 0);
    }
}
