//! Metadata of branches that may become predicates ([`crate::ops::predicate`]).

use crate::ir::builder::Ir;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// The kind of metadata of a branch that may become a predicate.
pub(crate) const KIND: &str = "pollyrs.predicate";

/// Says that a conditional branch goes around one access.
pub(crate) fn mark(ir: &Ir, branch: LLVMValueRef) {
    // SAFETY: live context and instruction.
    unsafe {
        let node = LLVMMDNodeInContext2(ir.ctx, std::ptr::null_mut(), 0);
        LLVMSetMetadata(branch, kind(ir.ctx), LLVMMetadataAsValue(ir.ctx, node));
    }
}

pub(crate) fn kind(ctx: LLVMContextRef) -> u32 {
    // SAFETY: live context; the name is passed with its length.
    unsafe { LLVMGetMDKindIDInContext(ctx, KIND.as_ptr().cast(), KIND.len() as u32) }
}
