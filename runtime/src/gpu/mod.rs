//! The CUDA device: code, memory, copies and launches.

pub mod chain;
pub mod context;
pub mod crew;
pub mod cuda;
pub mod lanes;
pub mod pinned;
pub mod pool;
pub mod queue;
pub mod resident;
pub mod ring;
pub mod streaming;
