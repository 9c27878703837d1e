//! Creates the GPU stages of a step, each of which is a compute pass, and records them into a
//! command encoder.

use super::buffers::{Buffers, PeriodicBuffers};
use super::scan::scan;
use crate::Error;
use crate::gpu::device::dispatch::{Binder, Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::constants::{MEASURED, QUANTITIES, RANKED, SCAN_WORKGROUP};
use crate::gpu::device::shader::kernels::{
    Compiled, Decide, OrderKernels, Periodic, Stages, WallKernels,
};
use crate::gpu::device::shader::layout::{CaromCollision, CaromResults};
use crate::gpu::device::timing::TimedBy;
use crate::shared::tuning::sample_size;

/// One compute pass with one or more dispatches.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    label: String,
    pub(crate) dispatches: Vec<Dispatch>,
}

impl Stage {
    pub(crate) fn new(name: &'static str, dispatches: Vec<Dispatch>) -> Self {
        Self {
            name,
            label: format!("carom {name}"),
            dispatches,
        }
    }
}

/// All dispatches of a stage or, if dispatches are timed one by one, a single one.
pub(crate) struct Pass<'a> {
    /// Name of the stage, or of the kernel of a single dispatch.
    pub(crate) name: &'static str,
    stage: &'a Stage,
    dispatches: &'a [Dispatch],
}

/// All stages except `load`. Their bind groups are made once.
pub(crate) struct Recording {
    cleared: Vec<wgpu::Buffer>,
    stages: Vec<Stage>,
}

struct InCell<'a> {
    kernels: &'a Periodic,
    buffers: &'a PeriodicBuffers,
}

#[derive(Clone, Copy)]
pub(crate) struct AtWalls<'a> {
    pub(crate) kernels: &'a WallKernels,
    pub(crate) mesh: Option<&'a Buffers>,
}

/// Both are optional.
type Deciding<'a> = (Option<&'a Decide>, Option<&'a OrderKernels>);

/// The stage before which spheres near triangles are sought.
const TRIANGLES: &str = "triangles";

fn at_walls(
    binder: Binder<'_>,
    AtWalls { kernels, mesh }: AtWalls<'_>,
    b: &Buffers,
) -> Result<Vec<Stage>, Error> {
    let spheres = workgroups(b.capacity.spheres);
    let walls = binder.dispatch(&kernels.walls, &[&b.named], spheres)?;
    let results = binder.dispatch(&kernels.wall_results, &[&b.named], 1)?;
    let Some(mesh) = mesh else {
        return Ok(vec![Stage::new("walls", vec![walls, results])]);
    };
    let mut found = NamedBuffers::default();
    found.one::<CaromResults>("mesh_results", &mesh.results);
    // Bound in place of the images in open space, where no kernel reads them.
    let periodic = mesh.periodic.as_ref();
    let images = periodic.map_or(&mesh.pairs_dispatch, |periodic| &periodic.pair_images);
    let found = found
        .with::<CaromCollision>("mesh_pairs", &mesh.pairs)
        .with::<u32>("mesh_images", images);
    let pairs = workgroups(b.capacity.mesh_pairs);
    let triangles = vec![
        binder.dispatch(&kernels.triangles, &[&b.named, &found], pairs)?,
        results,
        binder.dispatch(&kernels.mesh_status, &[&b.named, &found], 1)?,
    ];
    Ok(vec![
        Stage::new("walls", vec![walls]),
        Stage::new(TRIANGLES, triangles),
    ])
}

fn stages(
    binder: Binder<'_>,
    kernels: &Stages,
    in_cell: Option<InCell<'_>>,
    (decide, rows): Deciding<'_>,
    walls: Option<AtWalls<'_>>,
    b: &Buffers,
) -> Result<Vec<Stage>, Error> {
    // For the largest sample. That of fewer spheres is never larger.
    let sample = sample_size(b.capacity.spheres as usize) as u64;
    let blocks = b.capacity.spheres.div_ceil(SCAN_WORKGROUP.into());
    let proxies = workgroups(b.capacity.spheres + b.capacity.segments);
    let given = |kernel: &Compiled, workgroups| binder.dispatch(kernel, &[&b.named], workgroups);
    // In a periodic domain, the grids are made from wrapped spheres.
    let named = in_cell
        .as_ref()
        .map_or(&b.named, |cell| &cell.buffers.named);
    let make = |kernel: &Compiled, workgroups| binder.dispatch(kernel, &[named], workgroups);
    let mut measure = vec![
        make(&kernels.measure_spacing, sample.div_ceil(MEASURED.into()))?,
        make(
            &kernels.measure_ranks,
            u64::from(QUANTITIES) * sample.div_ceil(RANKED.into()),
        )?,
        make(&kernels.measure_curve, 1)?,
    ];
    let mut images = None;
    if let Some(InCell { kernels, .. }) = &in_cell {
        let wrapping = [
            given(&kernels.lattice_units, 1)?,
            given(&kernels.wrap, workgroups(b.capacity.spheres))?,
        ];
        measure.splice(0..0, wrapping);
        measure.push(make(&kernels.place_cell, 1)?);
        let blocks = (b.capacity.spheres + b.capacity.segments).div_ceil(SCAN_WORKGROUP.into());
        let dispatches = vec![
            make(&kernels.images, blocks)?,
            make(&kernels.images_count, 1)?,
        ];
        images = Some(Stage::new("images", dispatches));
    }
    measure.push(make(&kernels.measure_sizes, blocks)?);
    let found = b.found.as_ref().unwrap_or(&b.named);
    let find = |kernel: &Compiled, workgroups| binder.dispatch(kernel, &[found], workgroups);
    let over_pairs = workgroups(b.capacity.pairs);
    let mut pairs = match &in_cell {
        None => vec![find(&kernels.pairs, proxies)?],
        Some(InCell { kernels, .. }) => vec![
            find(&kernels.pairs_periodic, proxies)?,
            find(&kernels.pair_images, over_pairs)?,
        ],
    };
    if let Some(decide) = decide.filter(|_| b.found.is_some()) {
        let kernel = match &in_cell {
            None => &decide.decide,
            Some(_) => &decide.decide_periodic,
        };
        pairs.push(given(kernel, over_pairs)?);
    }
    pairs.push(given(&kernels.results, 1)?);
    let mut stages = vec![Stage::new("measure", measure)];
    stages.extend(images);
    stages.extend([
        Stage::new("plan", vec![make(&kernels.plan, 1)?]),
        Stage::new("bin", vec![make(&kernels.bin, proxies)?]),
        Stage::new("scan", scan(binder, kernels, &b.slot_starts)?),
        Stage::new("scatter", vec![make(&kernels.scatter, proxies)?]),
        Stage::new("pairs", pairs),
    ]);
    if let (Some(rows), Some(table)) = (rows, &b.row_ends) {
        let [count, place, rank] = match &in_cell {
            None => [&rows.rows_count, &rows.rows_place, &rows.rows_rank],
            Some(_) => [
                &rows.rows_images_count,
                &rows.rows_images_place,
                &rows.rows_images_rank,
            ],
        };
        let mut order = vec![given(count, over_pairs)?];
        order.extend(scan(binder, kernels, table)?);
        order.extend([given(place, over_pairs)?, given(rank, over_pairs)?]);
        stages.push(Stage::new("order", order));
    }
    if let Some(walls) = walls {
        stages.extend(at_walls(binder, walls, b)?);
    }
    Ok(stages)
}

impl Recording {
    /// Optional kernels are used only if the buffers were made for them.
    pub(crate) fn new(
        binder: Binder<'_>,
        kernels: &Stages,
        periodic: Option<&Periodic>,
        deciding: Deciding<'_>,
        walls: Option<AtWalls<'_>>,
        b: &Buffers,
    ) -> Result<Self, Error> {
        let walls = walls.filter(|_| b.walls.is_some());
        let cleared = ["octaves", "size_classes", "counters", "slot_starts"];
        let of_walls = walls.map(|_| "wall_counters");
        let of_rows = b.row_ends.as_ref().map(|_| "row_ends");
        let cleared = cleared
            .into_iter()
            .chain(of_walls)
            .chain(of_rows)
            .map(|name| b.named.buffer(name).cloned());
        let in_cell = (periodic.zip(b.periodic.as_ref()))
            .map(|(kernels, buffers)| InCell { kernels, buffers });
        Ok(Self {
            cleared: cleared.collect::<Result<_, _>>()?,
            stages: stages(binder, kernels, in_cell, deciding, walls, b)?,
        })
    }

    pub(crate) fn with_stages(&self, stages: Vec<Stage>) -> Self {
        Self {
            cleared: self.cleared.clone(),
            stages,
        }
    }

    /// The buffers in `cleared` must be zero when a step begins.
    pub(crate) fn append(&mut self, stages: Vec<Stage>, cleared: Vec<wgpu::Buffer>) {
        self.stages.extend(stages);
        self.cleared.extend(cleared);
    }

    pub(crate) fn stages<'a>(&'a self, load: Option<&'a Stage>) -> impl Iterator<Item = &'a Stage> {
        load.into_iter().chain(&self.stages)
    }

    /// One for each stage or, if dispatches are timed one by one, for each dispatch.
    pub(crate) fn passes<'a>(&'a self, load: Option<&'a Stage>, by: TimedBy) -> Vec<Pass<'a>> {
        let dispatches = self.stages(load).map(|stage| stage.dispatches.len()).sum();
        let by = by.of(dispatches);
        let passes = self.stages(load).flat_map(|stage| {
            let all = &stage.dispatches[..];
            let length = match by {
                TimedBy::Stage => all.len().max(1),
                TimedBy::Dispatch => 1,
            };
            all.chunks(length).map(move |dispatches| Pass {
                name: match (by, dispatches) {
                    (TimedBy::Dispatch, [dispatch, ..]) => dispatch.name,
                    _ => stage.name,
                },
                stage,
                dispatches,
            })
        });
        passes.collect()
    }

    pub(crate) fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        for cleared in &self.cleared {
            encoder.clear_buffer(cleared, 0, None);
        }
    }

    /// Each pass has a timestamp at its start and its end. `search` records the search for
    /// spheres near triangles, before the stage [`TRIANGLES`].
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        load: Option<&Stage>,
        (by, timestamps): (TimedBy, Option<&wgpu::QuerySet>),
        search: impl FnOnce(&mut wgpu::CommandEncoder),
    ) {
        let mut search = Some(search);
        for (query, pass) in (0..).step_by(2).zip(self.passes(load, by)) {
            if let Some(search) = search.take_if(|_| pass.stage.name == TRIANGLES) {
                search(encoder);
            }
            let mut recorded = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(&pass.stage.label),
                timestamp_writes: timestamps.map(|query_set| wgpu::ComputePassTimestampWrites {
                    query_set,
                    beginning_of_pass_write_index: Some(query),
                    end_of_pass_write_index: Some(query + 1),
                }),
            });
            for dispatch in pass.dispatches {
                dispatch.record(&mut recorded);
            }
        }
    }
}
