//! The model of a static control part (SCoP): what detection finds, what the scheduler transforms, what code
//! is generated from. It knows isl and nothing of LLVM; host values are opaque handles.
//!
//! # Invariants
//! - Every set and map of one [`Scop`] lives in its `ctx` and uses the parameters of `Scop::params` by name.
//! - A statement's tuple is named `Statement::name`, an array's `Array::name`; both are unique within the
//!   SCoP.
//! - All integers are mathematical. Wherever the program computes modulo 2^n, detection has either proved
//!   that nothing wraps or added an [`Assumption`]; the original loop runs when an assumption does not hold.
//! - `schedule` orders every statement instance exactly as the original program does.
//! - Names that begin with an underscore (`_h0`, `_b0`, `_t0`) belong to the mapping; no parameter is named
//!   so.
//!
//! # Example
//! ```c
//! for (int i = 0; i < n; i++)
//!   for (int j = 0; j < m; j++)
//! S0:  C[i][j] *= beta;
//! ```
//! ```text
//! params     [n, m]
//! domain     { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < m }
//! read       { S0[i0, i1] -> C[i0, i1] }
//! must-write { S0[i0, i1] -> C[i0, i1] }
//! ```

mod code;
mod content;
mod model;
mod print;
mod reject;
mod verify;

pub use code::Code;
pub use model::*;
pub use reject::{CALLS_ITSELF, Order, RejectReason, Rejection};
pub use verify::{VerifyError, outermost_counter, verify};
