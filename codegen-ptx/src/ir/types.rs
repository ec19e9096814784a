//! Types of values, of the model's elements, and of kernel arguments.

use crate::ir::builder::Ir;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_scop::ElemType;

pub(crate) fn type_of(v: LLVMValueRef) -> LLVMTypeRef {
    // SAFETY: a live value.
    unsafe { LLVMTypeOf(v) }
}

/// The type of a host value.
pub(crate) fn host_type(value: usize) -> LLVMTypeRef {
    // SAFETY: a handle of the scop is a live value (promise of `build_kernels`' caller).
    unsafe { LLVMTypeOf(value as LLVMValueRef) }
}

pub(crate) fn type_kind(ty: LLVMTypeRef) -> LLVMTypeKind {
    // SAFETY: live type.
    unsafe { LLVMGetTypeKind(ty) }
}

/// The width of an integer type.
pub(crate) fn int_width(ty: LLVMTypeRef) -> Option<u32> {
    // SAFETY: live type.
    (type_kind(ty) == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(ty) })
}

/// The argument type for an invariant of type `ty`. Narrow and odd integers travel in a wider one: PTX has no
/// parameter type for them, and every slot has 8 bytes of which the upper ones may hold anything.
pub(crate) fn slot_type(ir: &Ir, ty: LLVMTypeRef) -> Option<LLVMTypeRef> {
    match type_kind(ty) {
        LLVMTypeKind::LLVMIntegerTypeKind => match int_width(ty)? {
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

pub(crate) fn llvm_elem(ir: &Ir, elem: ElemType) -> LLVMTypeRef {
    // SAFETY: live context.
    unsafe {
        match elem {
            ElemType::F16 => LLVMHalfTypeInContext(ir.ctx),
            ElemType::BF16 => LLVMBFloatTypeInContext(ir.ctx),
            ElemType::F32 => LLVMFloatTypeInContext(ir.ctx),
            ElemType::F64 => LLVMDoubleTypeInContext(ir.ctx),
            ElemType::Int(bits) => ir.int_type(bits),
        }
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
