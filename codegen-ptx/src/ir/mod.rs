//! LLVM's IR as the rest of the crate writes it: a builder, the C API under short names, the functions that
//! stand for what targets differ in.
//!
//! Knows nothing of SCoPs but the types of their elements.

pub(crate) mod builder;
pub(crate) mod calls;
pub(crate) mod error;
pub(crate) mod intrinsics;
pub(crate) mod llvm;
pub(crate) mod marks;
pub(crate) mod math;
pub(crate) mod types;
