//! Short vectors that front ends make of structures.
//!
//! The x86-64 calling convention passes `struct { float x, y, z; }` as `<2 x float>, float`; what is left of
//! it behind inlined calls are loads and stores of two fields at once, and instructions that put vectors
//! together and take them apart. A kernel works on scalars: all of it is done by element, bit for bit the
//! same. Vectors that programs write for wider units (`_mm256_add_pd`) stay.

use inkwell::llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMScalableVectorTypeKind};
use pollyrs_llvm_shim::ir::{Type, Value};
use pollyrs_llvm_shim::{Session, ShimError};

/// Splits all operations on vectors, and their loads and stores.
const SCALARISE: &str = "scalarizer<load-store;variable-insert-extract>";

/// Two eightbytes are passed in a vector register at most.
const MAX_BITS: u32 = 128;

/// Takes the short vectors of `f` apart.
pub fn scalarise(session: &Session, f: Value) -> Result<(), ShimError> {
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
fn are_short(f: Value) -> bool {
    let mut some = false;
    for i in f.instructions() {
        for value in i.operands().into_iter().chain([i]) {
            match bits(value.ty()) {
                Some(bits) if bits <= MAX_BITS => some = true,
                Some(_) => return false,
                None => {}
            }
        }
    }
    some
}

/// The size of a vector; the largest number for one without a fixed size or of other elements than numbers;
/// nothing for other types.
fn bits(t: Type) -> Option<u32> {
    let Some((element, count)) = t.vector() else {
        return (t.kind() == LLVMScalableVectorTypeKind).then_some(u32::MAX);
    };
    let own = match element.kind() {
        LLVMFloatTypeKind => 32,
        LLVMDoubleTypeKind => 64,
        _ => match element.int_width() {
            Some(bits) => bits,
            None => return Some(u32::MAX),
        },
    };
    Some(own.saturating_mul(count))
}
