//! Constants that the shaders share with Rust, and the WGSL text that declares them.

use std::fmt::Write as _;

use crate::shared::{filter, grid, ownership, segments, size_class, tag, tuning, units};
use crate::{MAX_MAGNITUDE, lattice};

/// Quantities of the sample: three coordinates, three velocity components, and two distances.
pub(crate) const QUANTITIES: u32 = 8;
/// Spheres for which one workgroup of `measure_spacing` reads the sample once.
pub(crate) const MEASURED: u32 = 4;
pub(crate) const RANKED: u32 = 64;

/// Of most shaders.
pub(crate) const WORKGROUP: u32 = 64;
pub(crate) const SCAN_WORKGROUP: u32 = 256;
// Shaders with one invocation per octave compute prefix sums by `shaders/shared/scan_block.wgsl`.
const _: () = assert!(tuning::OCTAVES as u32 == SCAN_WORKGROUP);
pub(crate) const SCAN_BLOCK: u32 = 2048;

/// Each pair of a run is compared with all others.
pub(crate) const SORT_RUN: u32 = 32;
/// Each pair is sought in all other runs.
pub(crate) const MERGED_RUNS: u32 = 16;
/// Pairs that one invocation merges.
pub(crate) const MERGED_EACH: u32 = 16;

pub(crate) const INVALID_LISTED: usize = 32;

pub(crate) const IMAGE_BITS: u32 = 10;
pub(crate) const MAX_IMAGES_EACH: u32 = 1 << 20;
/// In units of ε = 2⁻²³ times the lengths in the computation (docs/exact.md, sections 6 and 7).
const WALL_ERROR: f32 = 32.0;
/// Covers underflow, which a relative bound does not.
const WALL_LEAST: f32 = 1.0 / (1_u64 << 40) as f32;
const TRIANGLE_PLANES: u32 = 16;
/// As a fraction of the edges. For large coordinates, the shader adds a bound of their rounding
/// errors.
const IMAGE_MARGIN: f32 = 1.0 / 1024.0;

pub(crate) const FLAG_TWO_SETS: u32 = 1;
/// The driver may end long loops early, so `pairs` counts the invocations that reach their end.
pub(crate) const FLAG_WATCH: u32 = 2;

pub(crate) const FLAG_DECIDE: u32 = 4;
/// Only with [`FLAG_DECIDE`].
pub(crate) const FLAG_TRUSTED: u32 = 8;
/// Records of pairs in rows lack the index of the row.
pub(crate) const FLAG_SHORT_RECORDS: u32 = 16;
/// Leaves out what touches at the start of the step and does not approach.
pub(crate) const FLAG_APPROACHING: u32 = 32;

pub(crate) const MOTION_NONE: u32 = 0;
pub(crate) const MOTION_VELOCITY: u32 = 1;
pub(crate) const MOTION_PREVIOUS: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Word(u32),
    Number(f32),
}

impl From<u32> for Value {
    fn from(word: u32) -> Self {
        Self::Word(word)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Number(number)
    }
}

macro_rules! constants {
    ($($name:ident: $kind:ident = $value:expr;)*) => {
        pub(super) fn constants() -> Vec<(&'static str, Value)> {
            vec![$((stringify!($name), Value::from($value as $kind))),*]
        }
    };
}

pub(crate) const MOST_IMPACTS: u32 = 8;

pub(crate) const SWEEPS: u32 = 64;

/// Spheres that get wider pads at once.
pub(crate) const MOST_LEFT: u32 = 4096;
/// Each sphere has a 32-bit mask.
pub(crate) const MOST_WALLS: u32 = 32;

constants! {
    WORKGROUP: u32 = WORKGROUP;
    SCAN_WORKGROUP: u32 = SCAN_WORKGROUP;
    SCAN_BLOCK: u32 = SCAN_BLOCK;
    SORT_RUN: u32 = SORT_RUN;
    MERGED_RUNS: u32 = MERGED_RUNS;
    MEASURED: u32 = MEASURED;
    RANKED: u32 = RANKED;
    QUANTITIES: u32 = QUANTITIES;
    MOST_IMPACTS: u32 = MOST_IMPACTS;
    MOST_LEFT: u32 = MOST_LEFT;
    MOST_WALLS: u32 = MOST_WALLS;
    SWEEPS: u32 = SWEEPS;

    FLAG_TWO_SETS: u32 = FLAG_TWO_SETS;
    FLAG_WATCH: u32 = FLAG_WATCH;
    FLAG_DECIDE: u32 = FLAG_DECIDE;
    FLAG_TRUSTED: u32 = FLAG_TRUSTED;
    FLAG_SHORT_RECORDS: u32 = FLAG_SHORT_RECORDS;
    FLAG_APPROACHING: u32 = FLAG_APPROACHING;
    MOTION_NONE: u32 = MOTION_NONE;
    MOTION_PREVIOUS: u32 = MOTION_PREVIOUS;
    NO_SIZE_CLASS: u32 = u32::MAX;
    NO_SLOT: u32 = u32::MAX;
    INVALID_LISTED: u32 = INVALID_LISTED;

    IMAGE_BITS: u32 = IMAGE_BITS;
    MAX_IMAGES_EACH: u32 = MAX_IMAGES_EACH;
    SEVERAL_IMAGES: u32 = 1_u32 << 31;
    FRACTION_BITS: u32 = lattice::GPU_FRACTION_BITS;
    SLACK: f32 = lattice::GPU_SLACK;
    BOX_ERROR: f32 = lattice::GPU_BOX_ERROR;
    AWAY: f32 = lattice::GPU_AWAY;

    GREATEST: f32 = f32::MAX;
    MIN_POSITIVE: f32 = f32::MIN_POSITIVE;
    EPSILON: f32 = filter::EPSILON;
    MAX_MAGNITUDE: f32 = MAX_MAGNITUDE;
    LEAST_USUAL: f32 = units::LEAST_USUAL;

    SEGMENT_BITS: u32 = tag::SEGMENT_BITS;
    POWER_BITS: u32 = tag::POWER_BITS;
    LEVEL_BITS: u32 = tag::LEVEL_BITS;
    MAX_LEVELS: u32 = tag::MAX_LEVELS;
    SIZE_CLASSES: u32 = size_class::SIZE_CLASSES;
    SIZE_BITS: u32 = size_class::SIZE_BITS;
    SIZE_SHIFT: u32 = size_class::SIZE_SHIFT;
    FIRST_SIZE: u32 = size_class::FIRST_SIZE;
    SMALLEST_CELL: f32 = size_class::SMALLEST_CELL;
    MARGIN: f32 = segments::MARGIN;
    FAR: f32 = grid::FAR;
    SLAB_HASH: u32 = grid::SLAB_HASH;
    Y_HASH: u32 = grid::Y_HASH;
    Z_HASH: u32 = grid::Z_HASH;
    ROW_HASH: u32 = grid::ROW_HASH;

    SAMPLE_DIVISOR: u32 = tuning::SAMPLE_DIVISOR;
    SMALL_SAMPLE_DIVISOR: u32 = tuning::SMALL_SAMPLE_DIVISOR;
    MAX_SAMPLE: u32 = tuning::MAX_SAMPLE;
    MIN_SAMPLE: u32 = tuning::MIN_SAMPLE;
    MIN_SMALL_SAMPLE: u32 = tuning::MIN_SMALL_SAMPLE;
    SAMPLE_HASH: u32 = tuning::SAMPLE_HASH[0];
    SAMPLE_HASH_MIX: u32 = tuning::SAMPLE_HASH[1];
    OCTAVES: u32 = tuning::OCTAVES;
    MIN_COUNTED_PAIRS: u32 = tuning::MIN_COUNTED_PAIRS;
    NEAR_RANK: u32 = tuning::NEAR_RANK;
    FAR_RANK: u32 = tuning::FAR_RANK;
    TRIM_DIVISOR: u32 = tuning::TRIM_DIVISOR;
    TRIM_MARGIN: f32 = tuning::TRIM_MARGIN;
    MIN_DIMENSION: f32 = tuning::MIN_DIMENSION;
    MAX_DIMENSION: f32 = tuning::MAX_DIMENSION;
    MIN_SLOPE: f32 = tuning::MIN_SLOPE;
    LOG_OF_NONE: f32 = tuning::LOG_OF_NONE;

    MIN_CELL_PER_SPACING: f32 = tuning::MIN_CELL_PER_SPACING;
    SEGMENT_LENGTHS: u32 = tuning::SEGMENT_LENGTHS;
    MIN_SEGMENT_PER_EXTENT: f32 = tuning::MIN_SEGMENT_PER_EXTENT;
    MAX_WEIGHED: u32 = tuning::MAX_WEIGHED;

    SEARCH_COST: f32 = tuning::SEARCH_COST;
    HASHED_SEARCH_COST: f32 = tuning::HASHED_SEARCH_COST;
    OWN_RANGES: f32 = tuning::OWN_RANGES;
    HASHED_OWN_RANGES: f32 = tuning::HASHED_OWN_RANGES;
    COARSER_RANGES: f32 = tuning::COARSER_RANGES;
    HASHED_COARSER_RANGES: f32 = tuning::HASHED_COARSER_RANGES;
    MAX_OWN_CELLS: f32 = tuning::MAX_OWN_CELLS;
    MAX_COARSER_CELLS: f32 = tuning::MAX_COARSER_CELLS;
    MAX_FINER_ROWS: f32 = tuning::MAX_FINER_ROWS;
    MAX_FINER_MET: f32 = tuning::MAX_FINER_MET;

    MAX_RANGE_SHIFT: u32 = tuning::MAX_RANGE_SHIFT;
    MAX_SLABS_POWER: u32 = tuning::MAX_SLABS_POWER;
    USABLE_SLOTS: f32 = tuning::USABLE_SLOTS;
    MIN_HASHED_SHARE: f32 = tuning::MIN_HASHED_SHARE;
    MIN_HASHED_SLOTS: u32 = tuning::MIN_HASHED_SLOTS;
    CELL_GROWTH: f32 = tuning::CELL_GROWTH;
    CELL_GROWTH_STEPS: u32 = tuning::CELL_GROWTH_STEPS;

    ROUNDING: f32 = filter::ROUNDING;
    LINEAR: f32 = filter::LINEAR;
    SQUARES: f32 = filter::SQUARES;
    QUADRATIC: f32 = filter::QUADRATIC;
    ABSOLUTE: f32 = filter::ABSOLUTE;
    SLOW: f32 = filter::SLOW;
    SLOWLY: f32 = filter::SLOWLY;
    NEAR_MARGIN: f32 = filter::NEAR_MARGIN;
    NEAR_LEAST: f32 = filter::NEAR_LEAST;
    WALL_ERROR: f32 = WALL_ERROR;
    WALL_LEAST: f32 = WALL_LEAST;
    IMAGE_MARGIN: f32 = IMAGE_MARGIN;
    TRIANGLE_PLANES: u32 = TRIANGLE_PLANES;
    TIME: f32 = ownership::TIME;
    STILL: f32 = ownership::STILL;
}

pub(super) fn prelude() -> String {
    let mut text = String::new();
    for (name, value) in constants() {
        let _ = match value {
            Value::Word(word) => writeln!(text, "const {name}: u32 = {word}u;"),
            // All digits of the number: the fewest that distinguish it from other numbers may name
            // one above the largest float32, which Tint refuses.
            Value::Number(number) => {
                writeln!(text, "const {name}: f32 = {:e}f;", f64::from(number))
            }
        };
    }
    text
}
