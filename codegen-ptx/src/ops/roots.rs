//! Quotients by square roots, where the program's flags allow approximations (`x / sqrt(y)` with `arcp` on
//! the division and `afn` on the root).
//!
//! **Problem.** LLVM has an approximate root and an approximate division for them. Each is an instruction of
//! a slow unit between tests and scalings for numbers near the ends of the exponents' range: some twelve
//! instructions.
//!
//! **Solution.** `x * rsqrt(y)`. Where `y` can't be subnormal, the instruction that takes subnormal operands
//! for zero gives the same result and needs no scaling, for the result of a root is never subnormal. Sums of
//! squares and positive constants show that ([`least`]).

use crate::ir::builder::{Ir, module_context};
use crate::ir::error::Result;
use crate::ir::llvm::operand;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMFastMathAllowReciprocal, LLVMFastMathApproxFunc, LLVMTypeKind};
use std::collections::BTreeSet;

/// A float below this might be subnormal after the roundings of the operations that [`least`] looks through.
const NORMAL: f64 = 1e-30;
/// Operations that are looked through, one in the other.
const DEPTH: u32 = 16;

/// The name of the function that an instruction calls; empty if it is no call.
fn callee(i: LLVMValueRef) -> String {
    // SAFETY: a live value.
    unsafe { if LLVMIsACallInst(i).is_null() { String::new() } else { name_of(LLVMGetCalledValue(i)) } }
}

fn has_flags(i: LLVMValueRef, flags: u32) -> bool {
    // SAFETY: a live instruction; only those that may have flags are asked for them.
    unsafe { LLVMCanValueUseFastMathFlags(i) != 0 && LLVMGetFastMathFlags(i) & flags == flags }
}

/// A number that a float is not below, but for NaN: of a sum of such that are not negative, or products of a
/// value with itself. Rounding is monotone, so that the bound holds but for a relative error of 2^-23 an
/// operation.
fn least(v: LLVMValueRef, depth: u32) -> Option<f64> {
    if depth == 0 {
        return None;
    }
    let below = |v| least(v, depth - 1);
    // SAFETY: a live value.
    unsafe {
        if !LLVMIsAConstantFP(v).is_null() {
            let mut loses = 0;
            let value = LLVMConstRealGetDouble(v, &mut loses);
            return (value >= 0.0).then_some(value);
        }
        if LLVMIsAInstruction(v).is_null() {
            return None;
        }
        let product = |a, b| if a == b { Some(0.0) } else { Some(below(a)? * below(b)?) };
        match LLVMGetInstructionOpcode(v) {
            LLVMFMul => product(operand(v, 0), operand(v, 1)),
            LLVMFAdd => Some(below(operand(v, 0))? + below(operand(v, 1))?),
            LLVMSelect => Some(below(operand(v, 1))?.min(below(operand(v, 2))?)),
            LLVMCall => match callee(v).as_str() {
                "llvm.fma.f32" | "llvm.fmuladd.f32" => {
                    Some(product(operand(v, 0), operand(v, 1))? + below(operand(v, 2))?)
                }
                "llvm.fabs.f32" | "llvm.sqrt.f32" => Some(0.0),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The root that a division divides by, if both may be approximate.
pub(crate) fn divisor(i: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: a live value.
    let divides = unsafe {
        !LLVMIsAInstruction(i).is_null()
            && LLVMGetInstructionOpcode(i) == LLVMFDiv
            && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMTypeKind::LLVMFloatTypeKind
    };
    if !divides || !has_flags(i, LLVMFastMathAllowReciprocal) {
        return None;
    }
    let root = operand(i, 1);
    let is_root = ["llvm.sqrt.f32", "sqrtf"].contains(&callee(root).as_str());
    (is_root && has_flags(root, LLVMFastMathApproxFunc)).then_some(root)
}

/// As products with the reciprocal of the root.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    let ir = Ir::new(module_context(module));
    let all = functions(module).into_iter().flat_map(instructions);
    let found: Vec<_> = all.filter_map(|i| Some((i, divisor(i)?))).collect();
    for (i, root) in &found {
        let square = operand(*root, 0);
        let usual = least(square, DEPTH).is_some_and(|l| l >= NORMAL);
        let name = if usual { "llvm.nvvm.rsqrt.approx.ftz.f" } else { "llvm.nvvm.rsqrt.approx.f" };
        ir.before(*i);
        let ty = function_type(ir.float_type(), &[ir.float_type()]);
        let reciprocal = ir.call_function(declare(module, name, ty), &[square]);
        let product = ir.binary(LLVMFMul, operand(*i, 0), reciprocal);
        // SAFETY: live instructions.
        unsafe {
            if !LLVMIsAInstruction(product).is_null() {
                LLVMSetFastMathFlags(product, LLVMGetFastMathFlags(*i));
            }
            LLVMReplaceAllUsesWith(*i, product);
            LLVMInstructionEraseFromParent(*i);
        }
    }
    let roots: BTreeSet<_> = found.iter().map(|(_, root)| *root).collect();
    for root in roots {
        // SAFETY: a live instruction, which goes if nobody else wants it.
        unsafe {
            if LLVMGetFirstUse(root).is_null() {
                LLVMInstructionEraseFromParent(root);
            }
        }
    }
    Ok(())
}
