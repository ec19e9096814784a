//! The run-time library of programs compiled with pollyrs: CUDA driver, emulated device, transfers, profile.
//!
//! The interface is `include/pollyrs_rt.h`; the environment variables are listed in [`base::config`]. The
//! flow of one execution:
//!
//! ```text
//! begin ── settings, estimate ([execution::choice], [cost], [cost::machine]) ── device ([process::registry], [gpu::cuda] or [emulated]) ── allocate ([gpu::pool], [gpu::resident]), copy in
//!          ([execution], [gpu::queue], [gpu::ring], [gpu::pinned], [gpu::crew])
//! launch ── argument slots ([execution]) ── one by one or many at a time ([gpu::chain]) ── driver ([driver]) or worker threads ([emulated::blocks])
//! end ── wait ── copy back ([device::results], [gpu::ring], [device::returned]) or keep ([activation]) ── learn ([cost]) ── report ([process::profile], [process::nvtx])
//! ```
//!
//! Invariants of the interface:
//!
//! * nothing unwinds into the program: a panic becomes a refused execution, or the end of the program once
//!   results have begun to come back;
//! * a refused or failed execution leaves host memory as it was, and its reason for the profile
//!   ([`base::error`]);
//! * the program's settings, signal handlers and current CUDA context stay as they are.

mod activation;
mod base;
mod cost;
mod device;
pub mod driver;
mod emulated;
mod execution;
mod gpu;
mod group;
mod hosts;
mod interface;
mod memory;
mod process;
mod residency;

pub use base::{abi, config, planted};
pub use cost::machine;
pub use process::lines;
