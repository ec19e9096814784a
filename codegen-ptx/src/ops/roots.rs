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

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::{LLVMFastMathAllowReciprocal, LLVMFastMathApproxFunc, LLVMTypeKind};
use std::collections::BTreeSet;

/// A float below this might be subnormal after the roundings of the operations that [`least`] looks through.
const NORMAL: f64 = 1e-30;
/// Operations that are looked through, one in the other.
const DEPTH: u32 = 16;

/// The name of the function that an instruction calls; empty if it is no call.
fn callee(i: Value) -> String {
    if i.is_call() { i.callee().name() } else { String::new() }
}

fn has_flags(i: Value, flags: u32) -> bool {
    i.may_have_fast_math_flags() && i.fast_math_flags() & flags == flags
}

/// A number that a float is not below, but for NaN: of a sum of such that are not negative, or products of a
/// value with itself. Rounding is monotone, so that the bound holds but for a relative error of 2^-23 an
/// operation.
fn least(v: Value, depth: u32) -> Option<f64> {
    if depth == 0 {
        return None;
    }
    let below = |v| least(v, depth - 1);
    if let Some((value, _)) = v.constant_real() {
        return (value >= 0.0).then_some(value);
    }
    if !v.is_instruction() {
        return None;
    }
    let product = |a, b| if a == b { Some(0.0) } else { Some(below(a)? * below(b)?) };
    match v.opcode() {
        LLVMFMul => product(v.operand(0), v.operand(1)),
        LLVMFAdd => Some(below(v.operand(0))? + below(v.operand(1))?),
        LLVMSelect => Some(below(v.operand(1))?.min(below(v.operand(2))?)),
        LLVMCall => match callee(v).as_str() {
            "llvm.fma.f32" | "llvm.fmuladd.f32" => {
                Some(product(v.operand(0), v.operand(1))? + below(v.operand(2))?)
            }
            "llvm.fabs.f32" | "llvm.sqrt.f32" => Some(0.0),
            _ => None,
        },
        _ => None,
    }
}

/// The root that a division divides by, if both may be approximate.
pub(crate) fn divisor(i: Value) -> Option<Value> {
    let divides =
        i.is_instruction() && i.opcode() == LLVMFDiv && i.ty().kind() == LLVMTypeKind::LLVMFloatTypeKind;
    if !divides || !has_flags(i, LLVMFastMathAllowReciprocal) {
        return None;
    }
    let root = i.operand(1);
    let is_root = ["llvm.sqrt.f32", "sqrtf"].contains(&callee(root).as_str());
    (is_root && has_flags(root, LLVMFastMathApproxFunc)).then_some(root)
}

/// As products with the reciprocal of the root.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let ir = Ir::new(module.context());
    let all = module.functions().into_iter().flat_map(Value::instructions);
    let found: Vec<_> = all.filter_map(|i| Some((i, divisor(i)?))).collect();
    for (i, root) in &found {
        let square = root.operand(0);
        let usual = least(square, DEPTH).is_some_and(|l| l >= NORMAL);
        let name = if usual { "llvm.nvvm.rsqrt.approx.ftz.f" } else { "llvm.nvvm.rsqrt.approx.f" };
        ir.before(*i);
        let ty = ir.float_type().function(&[ir.float_type()]);
        let reciprocal = ir.call_function(module.declare(name, ty), &[square]);
        let product = ir.binary(LLVMFMul, i.operand(0), reciprocal);
        product.set_fast_math_flags(i.fast_math_flags());
        // SAFETY: each division is there once.
        unsafe { i.replace(product) };
    }
    let roots: BTreeSet<_> = found.iter().map(|(_, root)| *root).collect();
    for root in roots.into_iter().filter(|root| !root.is_used()) {
        // SAFETY: nobody else wants it.
        unsafe { root.erase() };
    }
    Ok(())
}
