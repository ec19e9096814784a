//! The CUDA device: code, memory, copies and launches.

pub mod chain;
pub mod context;
pub mod crew;
pub mod cuda;
mod landings;
pub mod lanes;
mod marks;
pub mod pinned;
pub mod pool;
pub mod queue;
pub mod resident;
pub mod ring;
pub mod streaming;
