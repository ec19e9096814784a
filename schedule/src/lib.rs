//! From a [`Scop`](pollyrs_scop::Scop) to kernels: dependences, schedule trees, the mapping to grid and block, and the proof
//! that the result is legal. No LLVM, no I/O.
//!
//! ```text
//! Scop ─dependences→ Dependences ─strategy→ ScheduleTree with kernel marks ─map→ MappedScop ─check→ violations
//!   └─rewrite→ Scop with renamed storage, where that lets more run in parallel
//! ```
//!
//! # Invariants
//! - Every stage takes values and returns a new one; each has a printer (`Display`) with stable text.
//! - Every stage runs under the operation budget of its options; past it, it returns [`ScheduleError::Budget`].
//! - [`legality::check`] uses only the SCoP, its dependences and the mapped SCoP: nothing of the scheduler or the mapping.
//!
//! # Example
//! ```c
//! for (int t = 0; t < T; t++) {
//!   for (int i = 1; i < n - 1; i++) B[i] = f(A[i-1], A[i], A[i+1]);   // S0
//!   for (int i = 1; i < n - 1; i++) A[i] = B[i];                      // S1
//! }
//! ```
//! The time loop carries dependences and stays on the host, each inner loop is a kernel:
//! ```text
//! host      for _h0 in 0 .. T { K0[_h0]; K1[_h0] }
//! K0        grid _b0 in 0 .. floor((n-3)/256)+1, block _t0 in 0 .. 256
//!           [_h0, _b0, _t0] -> { S0[t, i] : t = _h0 and i - 1 = 256 _b0 + _t0 and ... }
//! ```

pub mod dependences;
pub mod estimate;
pub mod legality;
pub mod mapped;
pub mod mapping;
#[doc(hidden)]
pub mod planted;
mod print;
pub mod rewrite;
pub mod stencil;
pub mod strategy;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time_tiling;
pub mod tree;

pub use dependences::{Dependences, dependences, memory_flow};
pub use estimate::inspected::{InspectedBox, inspected};
pub use estimate::slices::{SLICE, SlicedArray, Slices, slices, slices_of_boxes};
pub use estimate::{Corner, Footprint, Returned, WorkEstimate, constant_work, footprint, work};
pub use legality::{Violation, check};
pub use mapped::*;
pub use mapping::{MapOptions, Nests, TilingOptions, map};
pub use strategy::{ScheduleOptions, schedule};
pub use tree::{Band, ScheduleTree, Tree};

use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// Operations of isl a stage may use unless its options say otherwise.
pub const DEFAULT_BUDGET: u64 = 5_000_000;

/// Why a stage of this crate gives no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The operation budget of the named stage is spent.
    #[error("the operation budget of {0} is spent")]
    Budget(&'static str),
    /// No loop of the SCoP can run in parallel.
    #[error("no loop can run in parallel")]
    NoParallelism,
    /// A schedule tree uses something the stage does not handle.
    #[error("unsupported schedule tree: {0}")]
    Unsupported(&'static str),
    #[error(transparent)]
    Isl(isl::Error),
}

/// The mapping's errors are the crate's.
pub type MapError = ScheduleError;

pub type Result<T> = std::result::Result<T, ScheduleError>;

impl From<isl::Error> for ScheduleError {
    /// What a budget around all stages ends is none of their errors.
    fn from(e: isl::Error) -> Self {
        match e {
            isl::Error::Quota => ScheduleError::Budget("scheduling"),
            e => ScheduleError::Isl(e),
        }
    }
}

/// Runs a stage under a budget and names it in the error.
pub(crate) fn budgeted<T>(
    ctx: &isl::Context,
    stage: &'static str,
    operations: u64,
    f: impl FnOnce() -> Result<T>,
) -> Result<T> {
    ctx.with_budget(operations, f).map_err(|e| if is_quota(&e) { ScheduleError::Budget(stage) } else { e })
}

/// Whether an error means a spent budget. isl's message is looked at too, since some of its callers turn the error's kind
/// into another one on the way up.
pub(crate) fn is_quota(e: &ScheduleError) -> bool {
    match e {
        ScheduleError::Budget(_) => true,
        ScheduleError::Isl(isl::Error::Failed(text)) => {
            text.contains("maximal number of operations exceeded")
        }
        _ => false,
    }
}

/// What is known of the parameters while the mapped SCoP runs: the facts of its context and those assumptions that are one polyhedron
/// (a disjunction would only make every later set larger; leaving a condition out is sound).
/// `[params] -> { : ... }`
pub(crate) fn known(scop: &Scop) -> Result<isl::Set> {
    let mut known = scop.facts()?;
    for a in &scop.assumptions {
        if a.set.n_basic_set()? <= 1 {
            known = known.intersect(a.set.clone())?;
        }
    }
    Ok(known.coalesce()?)
}
