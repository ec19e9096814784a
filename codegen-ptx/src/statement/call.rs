//! Calls in a statement's body.

use crate::ir::calls;
use crate::ir::error::{Result, unsupported};
use crate::ir::llvm::arguments_of;
use crate::ir::llvm::*;
use crate::ir::math::{Callee, classify, rounding};
use crate::ir::types::type_of;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::statement::cell::scalar_size;
use crate::statement::emit::{Instance, resolve};
use crate::statement::errno;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMRealPredicate};

/// Calls of intrinsics and of the C mathematical library are built anew, without the host's attributes.
pub(super) fn emit<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
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
    if calls::is_check(i) {
        let condition = resolve(k, n, operand(i, 0))?;
        errno::report_check(k, condition)?;
        return Ok(None);
    }
    match classify(&name) {
        Callee::Ignored => return Ok(None),
        Callee::Unknown => return unsupported(format!("a call of {name}")),
        Callee::Intrinsic | Callee::Math => {}
    }
    let count = arguments_of(i);
    let mut args = Vec::new();
    for a in 0..count {
        let v = resolve(k, n, operand(i, a))?;
        scalar_size(k, type_of(v))?;
        args.push(v);
    }
    if let Some(rounding) = rounding(&name) {
        let result = nearest(k, i, &rounding, args[0])?;
        if calls::may_be_set(i) {
            errno::report(k, i, &name, result, &args)?;
        }
        return Ok(Some(result));
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
        if calls::may_be_set(i) {
            errno::report(k, i, &name, call, &args)?;
        }
        Ok(Some(call))
    }
}

/// The call `i` of a function that rounds to an integer, which the back end has no code for:
/// `(long)round(x)`. Where no integer of 64 bits is near, C and LLVM leave the result open; it is what the
/// conversions of x86-64 give, as the original's is there.
fn nearest<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    i: LLVMValueRef,
    rounding: &str,
    x: LLVMValueRef,
) -> Result<LLVMValueRef> {
    let (real, whole, wide) = (type_of(x), type_of(i), k.ir.i64_type());
    let rounded = k.ir.call_function(declare(k.module, rounding, function_type(real, &[real])), &[x]);
    // SAFETY: the types of a number and an integer; the builder is in a block of the kernel.
    let (fits, bits) = unsafe {
        let (low, high) = (LLVMConstReal(real, -(2f64.powi(63))), LLVMConstReal(real, 2f64.powi(63)));
        let compare = |p, end| LLVMBuildFCmp(k.ir.raw(), p, rounded, end, c"".as_ptr());
        let (above, below) =
            (compare(LLVMRealPredicate::LLVMRealOGE, low), compare(LLVMRealPredicate::LLVMRealOLT, high));
        (k.ir.and(above, below), LLVMGetIntTypeWidth(whole))
    };
    let converted = k.ir.cast(LLVMOpcode::LLVMFPToSI, rounded, wide);
    let result = k.ir.select(fits, converted, k.ir.int(i64::MIN));
    match bits {
        64 => Ok(result),
        1..64 => Ok(k.ir.cast(LLVMOpcode::LLVMTrunc, result, whole)),
        _ => unsupported(format!("an integer of {bits} bits from {rounding}")),
    }
}
