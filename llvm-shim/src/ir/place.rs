//! Where instructions come from in the source.

use inkwell::llvm_sys::LLVMOpaqueMetadata;
use std::ptr::NonNull;

/// An instruction's debug location, which outlives the instruction.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Place(pub(super) NonNull<LLVMOpaqueMetadata>);
