//! What a process keeps and tells: settings, state of SCoPs, the profile, ranges for profilers.

pub mod nvtx;
pub mod original;
pub mod profile;
pub mod registry;

/// Nobody is to hear of each execution.
pub fn is_unwatched() -> bool {
    !registry::config().reports() && !nvtx::is_watched()
}
