//! Types of values, of the model's elements, and of kernel arguments.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMTypeKind;
use pollyrs_scop::{ElemType, ValueHandle};

/// The type of a host value.
pub(crate) fn host_type(value: ValueHandle) -> Type {
    host_value(value).ty()
}

/// The argument type for an invariant of type `ty`. Narrow and odd integers travel in a wider one: PTX has no
/// parameter type for them, and every slot has 8 bytes of which the upper ones may hold anything.
pub(crate) fn slot_type(ir: &Ir, ty: Type) -> Option<Type> {
    match ty.kind() {
        LLVMTypeKind::LLVMIntegerTypeKind => match ty.int_width()? {
            0..=32 => Some(ir.int_type(32)),
            33..=64 => Some(ir.i64_type()),
            _ => None,
        },
        LLVMTypeKind::LLVMHalfTypeKind
        | LLVMTypeKind::LLVMBFloatTypeKind
        | LLVMTypeKind::LLVMFloatTypeKind
        | LLVMTypeKind::LLVMDoubleTypeKind => Some(ty),
        _ => None,
    }
}

pub(crate) fn llvm_elem(ir: &Ir, elem: ElemType) -> Type {
    match elem {
        ElemType::F16 => ir.ctx.half_type(),
        ElemType::BF16 => ir.ctx.bfloat_type(),
        ElemType::F32 => ir.ctx.float_type(),
        ElemType::F64 => ir.ctx.double_type(),
        ElemType::Int(bits) => ir.int_type(bits),
    }
}

/// `name` with everything that PTX does not allow in an identifier replaced.
pub(crate) fn identifier(name: &str) -> String {
    let mut s: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' })
        .collect();
    if !s.starts_with(|c: char| c.is_ascii_alphabetic()) {
        s.insert_str(0, "k_");
    }
    s
}

/// Alignment that vector accesses of shared memory need.
pub(crate) const VECTOR_BYTES: u32 = 16;

pub(crate) const WARP: u32 = 32;
