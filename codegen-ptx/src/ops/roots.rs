//! Square roots and quotients, where the program's flags allow approximations (`afn` on a root, `arcp` on a
//! division).
//!
//! **Problem.** LLVM has an approximate root and an approximate division for them. Each is an instruction of
//! a slow unit between tests and scalings for numbers near the ends of the exponents' range: some twelve
//! instructions for a quotient by a root.
//!
//! **Solution.** `x / sqrt(y)` is `x * rsqrt(y)`, and `x / (y * sqrt(y))`, as forces between bodies have it,
//! is `x * rsqrt(y)^3`. Where `y` can't be subnormal, the instruction that takes subnormal operands for zero
//! gives the same result and needs no scaling, for the result of a root is never subnormal; so do those for a
//! root and a reciprocal alone. Sums of squares and positive constants show that ([`least`]), and what is
//! added to an exponential.

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::{
    LLVMFastMathAllowReassoc, LLVMFastMathAllowReciprocal, LLVMFastMathApproxFunc, LLVMTypeKind,
};
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

/// Products below this, 64 times the least normal float, may be subnormal or zero as floats.
const UNDERFLOW: f64 = 64.0 * f32::MIN_POSITIVE as f64;

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
    // Floats underflow where these bounds do not.
    let normal = |bound: f64| if bound < UNDERFLOW { 0.0 } else { bound };
    let product = |a, b| if a == b { Some(0.0) } else { Some(normal(below(a)? * below(b)?)) };
    match v.opcode() {
        LLVMFMul => product(v.operand(0), v.operand(1)),
        LLVMFAdd => Some(below(v.operand(0))? + below(v.operand(1))?),
        LLVMSelect => Some(below(v.operand(1))?.min(below(v.operand(2))?)),
        LLVMCall => match callee(v).as_str() {
            "llvm.fma.f32" | "llvm.fmuladd.f32" => {
                Some(product(v.operand(0), v.operand(1))? + below(v.operand(2))?)
            }
            "llvm.fabs.f32" | "llvm.exp.f32" | "llvm.exp2.f32" | "expf" | "exp2f" => Some(0.0),
            "llvm.sqrt.f32" | "sqrtf" => Some(below(v.operand(0)).map_or(0.0, f64::sqrt)),
            _ => None,
        },
        _ => None,
    }
}

/// What a division divides by, if it may be approximate: `sqrt(square)^power`.
pub(crate) struct Divisor {
    square: Value,
    power: u32,
    /// What it is made of: roots, and the products of them and of `square`, the outer ones first.
    parts: Vec<Value>,
}

/// Factors of a divisor at most.
const FACTORS: usize = 3;

/// Whether a value is an approximate root of a float.
fn is_root(v: Value) -> bool {
    ["llvm.sqrt.f32", "sqrtf"].contains(&callee(v).as_str()) && has_flags(v, LLVMFastMathApproxFunc)
}

fn is_float_division(i: Value) -> bool {
    i.is_instruction() && i.opcode() == LLVMFDiv && i.ty().kind() == LLVMTypeKind::LLVMFloatTypeKind
}

/// The root that a division divides by, or the product of roots of one number and of that number itself.
pub(crate) fn divisor(i: Value) -> Option<Divisor> {
    if !is_float_division(i) || !has_flags(i, LLVMFastMathAllowReciprocal) {
        return None;
    }
    let (mut parts, mut factors) = (Vec::new(), vec![i.operand(1)]);
    // (Products of products may be regrouped.)
    while factors.len() < FACTORS {
        let below_root = |v: Value| factors.iter().any(|r| is_root(*r) && r.operand(0) == v);
        let Some(at) = factors.iter().position(|v| is_product(*v) && !below_root(*v)) else { break };
        let product = factors.swap_remove(at);
        factors.extend([product.operand(0), product.operand(1)]);
        parts.push(product);
    }
    let (roots, others): (Vec<_>, Vec<_>) = factors.into_iter().partition(|v| is_root(*v));
    let square = roots.first()?.operand(0);
    let of_one = roots.iter().all(|r| r.operand(0) == square) && others.iter().all(|v| *v == square);
    let may_regroup = parts.is_empty() || has_flags(i, LLVMFastMathAllowReassoc);
    if !of_one || !may_regroup {
        return None;
    }
    let power = (roots.len() + 2 * others.len()) as u32;
    parts.extend(roots);
    Some(Divisor { square, power, parts })
}

fn is_product(v: Value) -> bool {
    v.is_instruction() && v.opcode() == LLVMFMul && has_flags(v, LLVMFastMathAllowReassoc)
}

/// Whether a number can't be subnormal.
fn is_usual(v: Value) -> bool {
    least(v, DEPTH).is_some_and(|l| l >= NORMAL)
}

/// Approximations by the instructions of the device that need no scaling, where operands allow that.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let ir = Ir::new(module.context());
    let all = || module.functions().into_iter().flat_map(Value::instructions);
    let found: Vec<_> = all().filter_map(|i| Some((i, divisor(i)?))).collect();
    for (i, divisor) in &found {
        ir.before(*i);
        let name = if is_usual(divisor.square) { "rsqrt.approx.ftz.f" } else { "rsqrt.approx.f" };
        let reciprocal = call(&ir, module, name, divisor.square);
        let flags = i.fast_math_flags();
        let times = |a, b| {
            let product = ir.binary(LLVMFMul, a, b);
            product.set_fast_math_flags(flags);
            product
        };
        let mut quotient = times(i.operand(0), reciprocal);
        let mut left = divisor.power - 1;
        if left >= 2 {
            let square = times(reciprocal, reciprocal);
            while left >= 2 {
                (quotient, left) = (times(quotient, square), left - 2);
            }
        }
        if left == 1 {
            quotient = times(quotient, reciprocal);
        }
        put(*i, quotient);
    }
    drop_unused(found.iter().flat_map(|(_, d)| &d.parts));
    let approximate: Vec<_> = all().filter(|i| unscaled(*i).is_some()).collect();
    for i in approximate {
        let Some(name) = unscaled(i) else { continue };
        ir.before(i);
        let v = match is_root(i) {
            true => call(&ir, module, name, i.operand(0)),
            false => {
                let product = ir.binary(LLVMFMul, i.operand(0), call(&ir, module, name, i.operand(1)));
                product.set_fast_math_flags(i.fast_math_flags());
                product
            }
        };
        put(i, v);
    }
    Ok(())
}

/// For an approximate root or quotient whose operand or divisor can't be subnormal, the instruction that
/// takes subnormal numbers for zero: of the root, or of the divisor's reciprocal. (That of a divisor beyond
/// 2^126 is subnormal, so that the quotient is zero, as that of the back end's `div.approx` is.)
fn unscaled(i: Value) -> Option<&'static str> {
    let flags = LLVMFastMathAllowReciprocal | LLVMFastMathApproxFunc;
    if is_root(i) {
        return is_usual(i.operand(0)).then_some("sqrt.approx.ftz.f");
    }
    let divides = is_float_division(i) && has_flags(i, flags) && i.operand(1).constant_real().is_none();
    (divides && is_usual(i.operand(1))).then_some("rcp.approx.ftz.f")
}

/// Puts a value in the place of a division or function, which is there once in what the caller goes through.
pub(crate) fn put(i: Value, v: Value) {
    // SAFETY: the handle is not used any more.
    unsafe { i.replace(v) };
}

/// An instruction of the device of one float.
fn call(ir: &Ir, module: Module, name: &str, of: Value) -> Value {
    let ty = ir.float_type().function(&[ir.float_type()]);
    ir.call_function(module.declare(&format!("llvm.nvvm.{name}"), ty), &[of])
}

/// Drops values that nobody uses any more, of which those behind may be operands of those before.
fn drop_unused<'a>(values: impl Iterator<Item = &'a Value>) {
    let mut known = BTreeSet::new();
    let mut left: Vec<_> = values.copied().filter(|v| known.insert(*v)).collect();
    while let Some(at) = left.iter().position(|v| !v.is_used()) {
        // SAFETY: nobody else wants it.
        unsafe { left.swap_remove(at).erase() };
    }
}
