//! What a process keeps and tells: settings, state of SCoPs, the profile, ranges for profilers.

pub mod compare;
pub mod lines;
pub mod nvtx;
pub mod original;
pub mod profile;
pub mod registry;

/// Nobody is to hear of each execution.
pub fn is_unwatched() -> bool {
    !registry::config().reports() && registry::config().compare.is_none() && !nvtx::is_watched()
}
