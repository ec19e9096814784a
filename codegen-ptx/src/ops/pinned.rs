//! Values that stay in the block that computes them.
//!
//! Where a branch is between a value and its only use, LLVM's passes move what computes it behind the branch,
//! and what it is computed from waits in registers: all operands of the sums of a strip, in place of the
//! sums.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMTypeKind;

/// An integer through an assembly of no instruction, valid on every target; a `fixed` one is not moved.
pub(crate) fn same(ir: &Ir, ty: Type, constraints: &str, fixed: bool, v: Value) -> Value {
    ir.assembly(ty.function(&[ty]), "", constraints, fixed, &[v])
}

/// The same value, computed here, if it is a float or a double.
pub(crate) fn pinned(ir: &Ir, v: Value) -> Value {
    let ty = v.ty();
    let (int, constraints) = match ty.kind() {
        LLVMTypeKind::LLVMFloatTypeKind => (ir.i32_type(), "=r,0"),
        LLVMTypeKind::LLVMDoubleTypeKind => (ir.i64_type(), "=l,0"),
        _ => return v,
    };
    let bits = ir.bit_cast(v, int);
    ir.bit_cast(same(ir, int, constraints, true, bits), ty)
}
