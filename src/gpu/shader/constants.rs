//! Constants that the shaders share with Rust, and the WGSL text that declares them for the shaders.

use std::fmt::Write as _;

use crate::MAX_MAGNITUDE;
use crate::shared::{filter, grid, ownership, segments, size_class, tag, tuning, units};

/// Number of quantities that the shader `measure_ranks` measures over a sample of the spheres: three
/// coordinates, three velocity components, and the distances to two neighbours.
pub(crate) const QUANTITIES: u32 = 8;
/// Number of sampled spheres for which one workgroup of the shader `measure_spacing` counts neighbours. The
/// workgroup reads each other sampled sphere once for the whole group of spheres.
pub(crate) const MEASURED: u32 = 4;
/// Number of sampled spheres that one workgroup of the shader `measure_ranks` ranks, for example by velocity.
pub(crate) const RANKED: u32 = 64;

/// Number of invocations per workgroup in most shaders with one invocation per sphere, time segment or pair.
/// The shader `measure_sizes` has [`SCAN_WORKGROUP`] invocations instead.
pub(crate) const WORKGROUP: u32 = 64;
/// Number of invocations per workgroup in the shaders that compute prefix sums (scans).
pub(crate) const SCAN_WORKGROUP: u32 = 256;
// Shaders with one invocation per octave of distance use the prefix sum of `shaders/shared/scan_block.wgsl`,
// which works only in workgroups of `SCAN_WORKGROUP` invocations.
const _: () = assert!(tuning::OCTAVES as u32 == SCAN_WORKGROUP);
/// Number of counts that one workgroup of a prefix-sum (scan) shader processes.
pub(crate) const SCAN_BLOCK: u32 = 2048;

/// Number of items that one workgroup of the radix sort processes.
pub(crate) const SORT_BLOCK: u32 = 256;
/// Number of bits in one digit of a radix sort key. Each pass of the sort orders the items by one digit.
pub(crate) const DIGIT_BITS: u32 = 4;
/// Number of values that one digit of a radix sort key can have.
pub(crate) const DIGITS: u32 = 1 << DIGIT_BITS;

/// Largest number of invalid spheres whose indices the GPU reports for one time step.
pub(crate) const INVALID_LISTED: usize = 32;

/// Flag bit in `Params::flags`: the step has two sets of spheres, and only pairs with one sphere from each
/// set count.
pub(crate) const FLAG_TWO_SETS: u32 = 1;
/// Flag bit in `Params::flags`: the GPU driver may end long shader loops early. The shader `pairs` then
/// counts the invocations that reach their end, so that missing work is detected.
pub(crate) const FLAG_WATCH: u32 = 2;

/// Value of `SourceLayout::motion_kind` for spheres of the application that do not move.
pub(crate) const MOTION_NONE: u32 = 0;
/// Value of `SourceLayout::motion_kind` for an application's buffer that holds the velocities of spheres.
pub(crate) const MOTION_VELOCITY: u32 = 1;
/// Value of `SourceLayout::motion_kind` for an application's buffer that holds the previous centres of
/// spheres.
pub(crate) const MOTION_PREVIOUS: u32 = 2;

/// Value of a constant that is declared in WGSL.
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
        /// Returns the names and values of all constants that are declared in WGSL.
        pub(super) fn constants() -> Vec<(&'static str, Value)> {
            vec![$((stringify!($name), Value::from($value as $kind))),*]
        }
    };
}

constants! {
    // Numbers of invocations per workgroup, and numbers of items that a workgroup processes.
    WORKGROUP: u32 = WORKGROUP;
    SCAN_WORKGROUP: u32 = SCAN_WORKGROUP;
    SCAN_BLOCK: u32 = SCAN_BLOCK;
    SORT_BLOCK: u32 = SORT_BLOCK;
    DIGITS: u32 = DIGITS;
    MEASURED: u32 = MEASURED;
    RANKED: u32 = RANKED;
    QUANTITIES: u32 = QUANTITIES;

    // Flag bits, kinds of motion, special values, and the largest number of invalid spheres that are listed.
    FLAG_TWO_SETS: u32 = FLAG_TWO_SETS;
    FLAG_WATCH: u32 = FLAG_WATCH;
    MOTION_NONE: u32 = MOTION_NONE;
    MOTION_PREVIOUS: u32 = MOTION_PREVIOUS;
    NO_SIZE_CLASS: u32 = u32::MAX;
    NO_SLOT: u32 = u32::MAX;
    INVALID_LISTED: u32 = INVALID_LISTED;

    // Limits of float32, the largest valid input value, and the limit of lengths and times below which the
    // GPU changes units.
    GREATEST: f32 = f32::MAX;
    MIN_POSITIVE: f32 = f32::MIN_POSITIVE;
    EPSILON: f32 = filter::EPSILON;
    MAX_MAGNITUDE: f32 = MAX_MAGNITUDE;
    LEAST_USUAL: f32 = units::LEAST_USUAL;

    // Bit widths of packed words, sizes of grid cells, and multipliers of the hash from grid cells to table
    // entries.
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
    SLAB_HASH: u32 = grid::SLAB_HASH;
    Y_HASH: u32 = grid::Y_HASH;
    Z_HASH: u32 = grid::Z_HASH;
    ROW_HASH: u32 = grid::ROW_HASH;

    // Size of the sample of spheres, and limits of the distances and dimensions measured from the sample.
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

    // Bounds for the sizes of grid cells and for the lengths of the time segments that a path is cut into.
    MIN_CELL_PER_SPACING: f32 = tuning::MIN_CELL_PER_SPACING;
    SEGMENT_LENGTHS: u32 = tuning::SEGMENT_LENGTHS;
    MIN_SEGMENT_PER_EXTENT: f32 = tuning::MIN_SEGMENT_PER_EXTENT;
    MAX_WEIGHED: u32 = tuning::MAX_WEIGHED;

    // Costs of searching the grids, in units of one test of two spheres, and numbers of cells that a search
    // visits.
    SEARCH_COST: f32 = tuning::SEARCH_COST;
    HASHED_SEARCH_COST: f32 = tuning::HASHED_SEARCH_COST;
    OWN_RANGES: f32 = tuning::OWN_RANGES;
    HASHED_OWN_RANGES: f32 = tuning::HASHED_OWN_RANGES;
    COARSER_RANGES: f32 = tuning::COARSER_RANGES;
    HASHED_COARSER_RANGES: f32 = tuning::HASHED_COARSER_RANGES;
    MAX_OWN_CELLS: f32 = tuning::MAX_OWN_CELLS;
    MAX_COARSER_CELLS: f32 = tuning::MAX_COARSER_CELLS;

    // Bounds for the number of grids and time slabs, and for the division of the hash table among the grids.
    MAX_RANGE_SHIFT: u32 = tuning::MAX_RANGE_SHIFT;
    MAX_SLABS_POWER: u32 = tuning::MAX_SLABS_POWER;
    USABLE_SLOTS: f32 = tuning::USABLE_SLOTS;
    MIN_HASHED_SHARE: f32 = tuning::MIN_HASHED_SHARE;
    MIN_HASHED_SLOTS: u32 = tuning::MIN_HASHED_SLOTS;
    CELL_GROWTH: f32 = tuning::CELL_GROWTH;
    CELL_GROWTH_STEPS: u32 = tuning::CELL_GROWTH_STEPS;

    // Error bounds of the float32 tests that decide whether two spheres touch, and which of their time
    // segments report the pair.
    ROUNDING: f32 = filter::ROUNDING;
    LINEAR: f32 = filter::LINEAR;
    SQUARES: f32 = filter::SQUARES;
    QUADRATIC: f32 = filter::QUADRATIC;
    ABSOLUTE: f32 = filter::ABSOLUTE;
    SLOW: f32 = filter::SLOW;
    SLOWLY: f32 = filter::SLOWLY;
    NEAR_MARGIN: f32 = filter::NEAR_MARGIN;
    NEAR_LEAST: f32 = filter::NEAR_LEAST;
    TIME: f32 = ownership::TIME;
    STILL: f32 = ownership::STILL;
}

/// Returns the WGSL text that declares all constants that the shaders share with Rust.
pub(super) fn prelude() -> String {
    let mut text = String::new();
    for (name, value) in constants() {
        // Formatting into a string cannot fail, so the result is ignored.
        let _ = match value {
            Value::Word(word) => writeln!(text, "const {name}: u32 = {word}u;"),
            Value::Number(number) => writeln!(text, "const {name}: f32 = {number:e}f;"),
        };
    }
    text
}
