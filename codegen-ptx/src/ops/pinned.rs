//! Values that stay in the block that computes them.
//!
//! Where a branch is between a value and its only use, LLVM's passes move what computes it behind the branch,
//! and what it is computed from waits in registers: all operands of the sums of a strip, in place of the
//! sums.

use crate::ir::builder::Ir;
use crate::ir::llvm::{EMPTY, function_type};
use crate::ir::types::type_kind;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// An integer through an assembly of no instruction, valid on every target; a `fixed` one is not moved.
pub(crate) fn same(
    ir: &Ir,
    ty: LLVMTypeRef,
    constraints: &str,
    fixed: bool,
    v: LLVMValueRef,
) -> LLVMValueRef {
    ir.assembly(function_type(ty, &[ty]), "", constraints, fixed, &[v])
}

/// The same value, computed here, if it is a float or a double.
pub(crate) fn pinned(ir: &Ir, v: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: live types and values; both casts are between types of the same size.
    unsafe {
        let ty = LLVMTypeOf(v);
        let (int, constraints) = match type_kind(ty) {
            LLVMTypeKind::LLVMFloatTypeKind => (ir.i32_type(), "=r,0"),
            LLVMTypeKind::LLVMDoubleTypeKind => (ir.i64_type(), "=l,0"),
            _ => return v,
        };
        let bits = LLVMBuildBitCast(ir.raw(), v, int, EMPTY);
        LLVMBuildBitCast(ir.raw(), same(ir, int, constraints, true, bits), ty, EMPTY)
    }
}
