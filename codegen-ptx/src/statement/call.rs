//! Calls in a statement's body.

use super::{Instance, resolve};
use crate::cell::{scalar_size, type_of};
use crate::errno;
use crate::error::{Result, unsupported};
use crate::kernel::KernelBuilder;
use crate::llvm::*;
use crate::math::{Callee, classify};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// Calls of intrinsics and of the C mathematical library are built anew, without the host's attributes.
pub(super) fn emit(
    k: &mut KernelBuilder<'_>,
    n: &mut Instance<'_>,
    i: LLVMValueRef,
) -> Result<Option<LLVMValueRef>> {
    // SAFETY: a call of the host.
    let (callee, ty) = unsafe { (LLVMGetCalledValue(i), LLVMGetCalledFunctionType(i)) };
    // SAFETY: a live value.
    if unsafe { LLVMIsAFunction(callee).is_null() } {
        return unsupported(format!("the call {}", text_of(i)));
    }
    let name = name_of(callee);
    match classify(&name) {
        Callee::Ignored => return Ok(None),
        Callee::Unknown => return unsupported(format!("a call of {name}")),
        Callee::Intrinsic | Callee::Math => {}
    }
    // SAFETY: a call of the host.
    let count = unsafe { LLVMGetNumArgOperands(i) };
    let mut args = Vec::new();
    for a in 0..count {
        let v = resolve(k, n, operand(i, a))?;
        scalar_size(k, type_of(v))?;
        args.push(v);
    }
    let f = declare(k.module, &name, ty);
    if classify(&name) == Callee::Math {
        for a in ["nounwind", "willreturn", "memory"] {
            add_enum_attribute(k.ir.ctx, f, FUNCTION, a, 0);
        }
    }
    // SAFETY: both calls are of the same type, so flags that one may have the other may have, too.
    unsafe {
        if LLVMGlobalGetValueType(f) != ty {
            return unsupported(format!("{name} with two types"));
        }
        let call = k.ir.call_function(f, &args);
        if LLVMCanValueUseFastMathFlags(i) != 0 {
            LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(i));
        }
        if errno::may_be_set(i) {
            errno::report(k, i, &name, call, &args)?;
        }
        Ok(Some(call))
    }
}
