//! LLVM's analyses and transformations for Rust, as far as a polyhedral optimiser needs them and the C API
//! lacks them.
//!
//! **Problem.** Scalar evolution, regions, alias analysis, function cloning and CFG surgery exist in C++
//! only. The C++ side (`cpp/`) hands out plain data and takes no decision; this crate turns it into owned
//! snapshots.
//!
//! **Layers.** `sys` declares the C functions; [`ir`] has the handles of LLVM's objects. Handles are live:
//! who makes one of a raw pointer promises that, who makes a [`Session`] promises that none is used behind
//! the step that ends its life, and what ends a life beside a session is `unsafe`. All else is safe: where
//! LLVM would only assert that a value is of some kind, the kind is asked for.
//!
//! **Invariants.**
//! - A [`Session`] serves one module; it owns a pass builder and analysis managers of its own, so nothing of
//!   the host's pass manager is touched or invalidated.
//! - While an [`Analyses`] of a function lives, the session refuses to transform that function
//!   ([`ShimError::Busy`]).
//! - [`ScevExpr`] is a tree with its own kind numbers: LLVM renumbers `SCEVTypes` between versions.
//! - No mutable globals: rustc compiles code-generation units on several threads.
//!
//! **Example.** `for (i = 0; i < n; i++) A[2*i] = 0;` with `double *A`: [`Analyses::loops`] has one loop `l`,
//! `backedge_taken_count(l)` is `Add[-1, Unknown n]` under the loop's guard, and `scev(pointer of the store)`
//! is `AddRec { loop_id: l, operands: [Unknown A, Constant 16] }` with `is_pointer`.

mod analyses;
mod effects;
mod error;
pub mod ir;
mod loops;
pub mod module;
mod plugin;
mod prepare;
mod scev;
mod session;
mod source;
mod sys;
mod version;

pub use analyses::{Analyses, LoopData, LoopId, MemoryEffect, RegionData, Regions};
pub use effects::{
    CallFacts, Touch, argument_effect, call_facts, callee, does_not_throw, is_final, is_new_memory,
    may_be_captured, never_negative_zero, note_not_captured, underlying_objects,
};
pub use error::ShimError;
pub use ir::{Place, ScevHandle};
pub use loops::{PlainLoop, wants_remarks};
pub use plugin::{PassEntry, RegisteredPass, host_options, register_passes};
pub use prepare::{CHECK, CHECK_RETURN, CONDITIONAL, ERRNO, Hoisting, INVARIANT, KEPT, LASTING, ROW};
pub use scev::{ScevExpr, ScevKind};
pub use session::{Session, can_extend, link_needed, move_definitions, optimize};
pub use source::{
    RemarkKind, SourceLoc, block_location, emit_error, emit_warning, ends_whole_row, forbid_contraction,
    function_location, location, remark, remark_library, remark_place, source_name,
};
pub use version::{LiveOut, Versioned, version_region};
