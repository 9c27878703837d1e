//! Hard-sphere dynamics on the GPU.

pub(crate) mod simulation;
pub(crate) mod simulation_options;
pub(crate) mod simulation_state;
