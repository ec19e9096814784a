//! From a [`Scop`](pollyrs_scop::Scop) to kernels: dependences, schedule trees, the mapping to grid and
//! block, and the proof that the result is legal. No LLVM, no I/O.
//!
//! ```text
//! Scop ─dependences→ Dependences ─strategy→ ScheduleTree with kernel marks ─map→ MappedScop ─check→ violations
//!   └─rewrite→ Scop with renamed storage, where that lets more run in parallel
//! ```
//!
//! # Invariants
//! - Every stage takes values and returns a new one; each has a printer (`Display`) with stable text.
//! - Every stage runs under the operation budget of its options; past it, it returns
//!   [`ScheduleError::Budget`].
//! - [`legality::check`] uses only the SCoP, its dependences and the mapped SCoP: nothing of the scheduler or
//!   the mapping.
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

mod apart;
mod appends;
mod base;
pub mod dependences;
mod domains;
pub mod estimate;
pub mod legality;
pub mod mapped;
pub mod mapping;
pub mod names;
#[doc(hidden)]
pub mod planted;
mod print;
mod reordered;
pub mod rewrite;
mod sharing;
pub mod stencil;
pub mod strategy;
pub mod task;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time_tiling;
pub mod tree;

pub use apart::apart;
pub use base::{DEFAULT_BUDGET, MapError, Refusal, Result, ScheduleError};
pub(crate) use base::{budgeted, budgeted_form, independent, is_quota, known};
pub use dependences::{Dependences, dependences, memory_flow};
pub use estimate::inspected::{InspectedBox, inspected};
pub use estimate::parts::{Ends, PartArray, Parts, parts, parts_of_boxes};
pub use estimate::slices::{SlicedArray, Slices, slices, slices_of_boxes};
pub use estimate::{Corner, Footprint, Returned, WorkEstimate, constant_work, footprint, work};
pub use legality::{Violation, check};
pub use mapped::*;
pub use mapping::{MapOptions, Nests, TilingOptions, UNROLLED, map};
pub use names::{Mark, Param, Tuple};
pub use reordered::keeps_order;
pub use sharing::LEAST_LOADS;
pub use strategy::{ScheduleOptions, schedule};
pub use task::{Carried, Home, MOST_TIMES, Operand, Stage, TaskMemory, TileBox, Update};
pub use tree::{Band, ScheduleTree, Tree};
