//! Calls that would set `errno` on the host.
//!
//! **Problem.** The C library's `sqrt` sets `errno` where the argument is below zero. A kernel has no `errno`. It reports such a call
//! instead, by a store to the SCoP's fault cell; the run-time library then drops what the device computed, and the original loop
//! sets `errno` as it would have.
//!
//! **Invariant.** Whatever sets `errno` is reported.
//!
//! **Example.** `y = sqrt(x)` becomes `y = sqrt.rn(x); if (x < 0) fault = 1`.

use crate::error::{Result, internal};
use crate::kernel::KernelBuilder;
use crate::llvm::FUNCTION;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMRealPredicate};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};

/// Whether the call is one that detection made pure although it may set `errno`.
pub(crate) fn may_be_set(call: LLVMValueRef) -> bool {
    const KEY: &str = pollyrs_llvm_shim::ERRNO;
    // SAFETY: a live value; attributes are asked of calls only.
    unsafe {
        !LLVMIsACallInst(call).is_null()
            && !LLVMGetCallSiteStringAttribute(call, FUNCTION, KEY.as_ptr().cast(), KEY.len() as u32)
                .is_null()
    }
}

/// The SCoP's fault cell.
pub(crate) fn cell(scop: &Scop) -> Result<ArrayId> {
    match scop.arrays.iter().position(|a| a.kind == ArrayKind::Fault) {
        Some(at) => Ok(ArrayId(at)),
        None => internal("a call may set errno, and there is no fault cell"),
    }
}

/// Reports the call `name(args)` of the kernel, if it is one that sets `errno`.
pub(crate) fn report(k: &mut KernelBuilder<'_>, name: &str, args: &[LLVMValueRef]) -> Result<()> {
    let Some(cell) = k.arrays.get(&cell(k.scop)?).copied() else {
        return internal("the fault cell is no argument of the kernel");
    };
    if !matches!(name, "sqrt" | "sqrtf") {
        return internal(format!("when {name} sets errno is not known"));
    }
    let ir = k.ir;
    // SAFETY: a floating-point value; the builder is in a block of the kernel.
    let (bad, function) = unsafe {
        let zero = LLVMConstReal(LLVMTypeOf(args[0]), 0.0);
        let bad = LLVMBuildFCmp(ir.raw(), LLVMRealPredicate::LLVMRealOLT, args[0], zero, c"".as_ptr());
        (bad, LLVMGetBasicBlockParent(ir.block()))
    };
    let (fault, next) = (ir.append_block(function, "fault"), ir.append_block(function, "fine"));
    ir.cond_br(bad, fault, next);
    ir.at_end(fault);
    // Several threads may do so at once.
    let store = ir.store(ir.int32(1), cell);
    // SAFETY: a store of an aligned word.
    unsafe {
        LLVMSetAlignment(store, 4);
        LLVMSetOrdering(store, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
    }
    ir.br(next);
    ir.at_end(next);
    Ok(())
}
