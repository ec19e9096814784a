//! Short vectors that front ends make of structures.
//!
//! The x86-64 calling convention passes `struct { float x, y, z; }` as `<2 x float>, float`; what is left of
//! it behind inlined calls are loads and stores of two fields at once, and instructions that put vectors
//! together and take them apart. A kernel works on scalars: all of it is done by element, bit for bit the
//! same. Vectors that programs write for wider units (`_mm256_add_pd`) stay.

use crate::ir::instructions;
use inkwell::llvm_sys::LLVMTypeKind::{
    LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMScalableVectorTypeKind,
    LLVMVectorTypeKind,
};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_llvm_shim::{Session, ShimError};

/// Splits all operations on vectors, and their loads and stores.
const SCALARISE: &str = "scalarizer<load-store;variable-insert-extract>";

/// Two eightbytes are passed in a vector register at most.
const MAX_BITS: u32 = 128;

/// Takes the short vectors of `f` apart.
pub fn scalarise(session: &Session, f: LLVMValueRef) -> Result<(), ShimError> {
    if !are_short(f) {
        return Ok(());
    }
    session.run_passes(f, "sroa")?;
    match session.land_vectors(f)? {
        true => session.run_passes(f, SCALARISE),
        false => Ok(()),
    }
}

/// Whether `f` works with vectors, and all of them are as short as those of structures that are passed by
/// value.
fn are_short(f: LLVMValueRef) -> bool {
    let mut some = false;
    // SAFETY: a live function, which is only read.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(f);
        while !block.is_null() {
            for i in instructions(block) {
                let operands = (0..LLVMGetNumOperands(i)).map(|n| LLVMGetOperand(i, n as u32));
                for value in operands.chain([i]).filter(|v| !v.is_null()) {
                    let t = LLVMTypeOf(value);
                    match bits(t) {
                        Some(bits) if bits <= MAX_BITS => some = true,
                        Some(_) => return false,
                        None => {}
                    }
                }
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    some
}

/// The size of a vector; the largest number for one without a fixed size or of other elements than numbers;
/// nothing for other types.
unsafe fn bits(t: LLVMTypeRef) -> Option<u32> {
    // SAFETY: the caller's promise of a live type; only vectors are asked for their elements.
    unsafe {
        match LLVMGetTypeKind(t) {
            LLVMVectorTypeKind => {
                let element = LLVMGetElementType(t);
                let own = match LLVMGetTypeKind(element) {
                    LLVMFloatTypeKind => 32,
                    LLVMDoubleTypeKind => 64,
                    LLVMIntegerTypeKind => LLVMGetIntTypeWidth(element),
                    _ => return Some(u32::MAX),
                };
                Some(own.saturating_mul(LLVMGetVectorSize(t)))
            }
            LLVMScalableVectorTypeKind => Some(u32::MAX),
            _ => None,
        }
    }
}
