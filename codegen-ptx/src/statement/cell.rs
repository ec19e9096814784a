//! Types and alignments of values on the device and of the cells in memory that hold them.

use crate::ir::error::{Result, internal, unsupported};
use crate::ir::llvm::*;
use crate::kernel::builder;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMTypeKind;
use pollyrs_scop::Access;

/// Checks that a value of type `ty` can be computed with on the device, and gives its store size. (The NVPTX
/// back end aborts on conversions between floating point and integers of 128 bits.)
pub(crate) fn scalar_size<S>(k: &KernelBuilder<'_, S>, ty: Type) -> Result<u32> {
    let ok = match ty.kind() {
        LLVMTypeKind::LLVMIntegerTypeKind => ty.int_width().is_some_and(|w| w <= 64),
        LLVMTypeKind::LLVMHalfTypeKind
        | LLVMTypeKind::LLVMBFloatTypeKind
        | LLVMTypeKind::LLVMFloatTypeKind
        | LLVMTypeKind::LLVMDoubleTypeKind => true,
        _ => false,
    };
    if !ok {
        return unsupported(format!("values of type {}", ty.text()));
    }
    Ok(k.module.store_size(ty) as u32)
}

/// The type in which a value of type `ty` lies in a cell of `bytes` bytes: integers are widened.
pub(crate) fn cell_type<S>(k: &KernelBuilder<'_, S>, ty: Type, bytes: u32) -> Result<Type> {
    let size = scalar_size(k, ty)?;
    match ty.int_width() {
        Some(w) if w < 8 * bytes => Ok(k.ir.int_type(8 * bytes)),
        _ if size == bytes => Ok(ty),
        _ => internal(format!("a value of type {} in a cell of {bytes} bytes", ty.text())),
    }
}

/// The alignment of a cell. In the program's memory, which statements without a body copy, it is what the
/// host's load of the value claims; where a stored value is read back, what all accesses do.
pub(crate) fn cell_align<S>(k: &KernelBuilder<'_, S>, a: &Access, host: Value) -> u32 {
    let array = k.scop.array(a.array);
    if !array.is_memory() {
        return array.elem.bytes();
    }
    match !host.is_load() {
        true => builder::alignment(k, a.array),
        false => host.alignment().min(array.elem.bytes()),
    }
}
