//! Types and alignments of values on the device and of the cells in memory that hold them.

use crate::ir::error::{Result, internal, unsupported};
use crate::ir::llvm::*;
use crate::ir::types::{int_width, type_kind};
use crate::kernel::builder;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use pollyrs_scop::Access;

/// Checks that a value of type `ty` can be computed with on the device, and gives its store size. (The NVPTX
/// back end aborts on conversions between floating point and integers of 128 bits.)
pub(crate) fn scalar_size<S>(k: &KernelBuilder<'_, S>, ty: LLVMTypeRef) -> Result<u32> {
    let ok = match type_kind(ty) {
        LLVMTypeKind::LLVMIntegerTypeKind => int_width(ty).is_some_and(|w| w <= 64),
        LLVMTypeKind::LLVMHalfTypeKind
        | LLVMTypeKind::LLVMBFloatTypeKind
        | LLVMTypeKind::LLVMFloatTypeKind
        | LLVMTypeKind::LLVMDoubleTypeKind => true,
        _ => false,
    };
    if !ok {
        return unsupported(format!("values of type {}", type_text(ty)));
    }
    // SAFETY: a sized type; the module has a data layout.
    Ok(unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(k.module), ty) } as u32)
}

fn type_text(ty: LLVMTypeRef) -> String {
    // SAFETY: a live type.
    take_message(unsafe { LLVMPrintTypeToString(ty) })
}

/// The type in which a value of type `ty` lies in a cell of `bytes` bytes: integers are widened.
pub(crate) fn cell_type<S>(k: &KernelBuilder<'_, S>, ty: LLVMTypeRef, bytes: u32) -> Result<LLVMTypeRef> {
    let size = scalar_size(k, ty)?;
    match int_width(ty) {
        Some(w) if w < 8 * bytes => Ok(k.ir.int_type(8 * bytes)),
        _ if size == bytes => Ok(ty),
        _ => internal(format!("a value of type {} in a cell of {bytes} bytes", type_text(ty))),
    }
}

/// The alignment of a cell. In the program's memory, which statements without a body copy, it is what the
/// host's load of the value claims; where a stored value is read back, what all accesses do.
pub(crate) fn cell_align<S>(k: &KernelBuilder<'_, S>, a: &Access, host: LLVMValueRef) -> u32 {
    let array = k.scop.array(a.array);
    if !array.is_memory() {
        return array.elem.bytes();
    }
    // SAFETY: a live value; asked for its alignment only if it is a load.
    unsafe {
        match LLVMIsALoadInst(host).is_null() {
            true => builder::alignment(k, a.array),
            false => LLVMGetAlignment(host).min(array.elem.bytes()),
        }
    }
}
