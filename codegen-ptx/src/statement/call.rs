//! Calls in a statement's body.

use crate::ir::calls;
use crate::ir::error::{Result, unsupported};
use crate::ir::llvm::*;
use crate::ir::math::{Callee, classify, rounding};
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::statement::cell::scalar_size;
use crate::statement::emit::{Instance, resolve};
use crate::statement::errno;
use inkwell::llvm_sys::{LLVMOpcode, LLVMRealPredicate};

/// Calls of intrinsics and of the C mathematical library are built anew, without the host's attributes.
pub(super) fn emit<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    i: Value,
) -> Result<Option<Value>> {
    let (callee, ty) = (i.callee(), i.called_type());
    if !callee.is_function() {
        return unsupported(format!("the call {}", i.text()));
    }
    let name = callee.name();
    if calls::is_check(i) {
        let condition = resolve(k, n, i.operand(0))?;
        errno::report_check(k, condition)?;
        return Ok(None);
    }
    match classify(&name) {
        Callee::Ignored => return Ok(None),
        Callee::Unknown => return unsupported(format!("a call of {name}")),
        Callee::Intrinsic | Callee::Math => {}
    }
    let count = i.argument_count();
    let mut args = Vec::new();
    for a in 0..count {
        let v = resolve(k, n, i.operand(a))?;
        scalar_size(k, v.ty())?;
        args.push(v);
    }
    if let Some(rounding) = rounding(&name) {
        let result = nearest(k, i, &rounding, args[0])?;
        if calls::may_be_set(i) {
            errno::report(k, i, &name, result, &args)?;
        }
        return Ok(Some(result));
    }
    let f = k.module.declare(&name, ty);
    if classify(&name) == Callee::Math {
        for a in ["nounwind", "willreturn", "memory"] {
            f.add_attribute(FUNCTION, a, 0);
        }
    }
    if f.value_type() != ty {
        return unsupported(format!("{name} with two types"));
    }
    let call = k.ir.call_function(f, &args);
    if i.may_have_fast_math_flags() {
        call.set_fast_math_flags(i.fast_math_flags());
    }
    if calls::may_be_set(i) {
        errno::report(k, i, &name, call, &args)?;
    }
    Ok(Some(call))
}

/// The call `i` of a function that rounds to an integer, which the back end has no code for:
/// `(long)round(x)`. Where no integer of 64 bits is near, C and LLVM leave the result open; it is what the
/// conversions of x86-64 give, as the original's is there.
fn nearest<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    i: Value,
    rounding: &str,
    x: Value,
) -> Result<Value> {
    let (real, whole, wide) = (x.ty(), i.ty(), k.ir.i64_type());
    let rounded = k.ir.call_function(k.module.declare(rounding, real.function(&[real])), &[x]);
    let (fits, bits) = {
        let (low, high) = (real.real(-(2f64.powi(63))), real.real(2f64.powi(63)));
        let compare = |p, end| k.ir.fcmp(p, rounded, end);
        let (above, below) =
            (compare(LLVMRealPredicate::LLVMRealOGE, low), compare(LLVMRealPredicate::LLVMRealOLT, high));
        (k.ir.and(above, below), whole.int_width().unwrap_or(0))
    };
    let converted = k.ir.cast(LLVMOpcode::LLVMFPToSI, rounded, wide);
    let result = k.ir.select(fits, converted, k.ir.int(i64::MIN));
    match bits {
        64 => Ok(result),
        1..64 => Ok(k.ir.cast(LLVMOpcode::LLVMTrunc, result, whole)),
        _ => unsupported(format!("an integer of {bits} bits from {rounding}")),
    }
}
