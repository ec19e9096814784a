//! A safe layer over a private static isl 0.27 (Verdoolaege, "isl: An Integer Set Library for the Polyhedral
//! Model", ICMS 2010).
//!
//! **Naming.** A method is named as isl's function without the type's prefix:
//! `isl_union_map_apply_range(a, b)` is `a.apply_range(b)`. isl's ownership is the signature: `__isl_take` is
//! by value, `__isl_keep` is `&`, `__isl_give` is `Result<T>`. `clone()` is isl's reference-counted copy.
//!
//! **Invariants.** No wrapper holds NULL. Every wrapper keeps its [`Context`] alive and is neither `Send` nor
//! `Sync`. isl never aborts: its errors come back as [`Error`], an exceeded operation budget as
//! [`Error::Quota`].
//!
//! The archive comes from the crate isl-rs; its own bindings are not used because several are unsound.
//!
//! ```
//! use pollyrs_isl::{Context, Set};
//! let ctx = Context::new();
//! let s = Set::read(&ctx, "[N] -> { S[i] : 0 <= i < N }")?;
//! assert!(s.intersect(Set::read(&ctx, "[N] -> { S[i] : i < 0 }")?)?.is_empty()?);
//! # Ok::<(), pollyrs_isl::Error>(())
//! ```

// The methods are named as isl names its functions: `add`, `neg` ... are no operators, because they can fail.
#![allow(clippy::should_implement_trait)]

// The archive libisl.a is linked through this crate.
extern crate isl_rs as _;

#[macro_use]
mod ffi;
mod ast;
mod callbacks;
mod context;
mod functions;
mod list;
mod relations;
mod schedule;
mod shadow;
mod spaces;

pub use ast::*;
pub use context::{Budget, Context, Error, Result};
pub use functions::*;
pub use list::*;
pub use relations::*;
pub use schedule::*;
pub use spaces::*;
