//! What the arithmetic of a statement costs, for the model of fused steps.

use crate::ir::llvm::*;
use crate::ir::math;
use crate::ir::math::Callee;
use crate::ops::{fast_division, roots};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind;
use pollyrs_scop::Scop;

/// Instructions of an exact division or square root: an approximation, two or three refinements, the test for
/// special cases and the branch around their code (ptxas 12.9, sm_90; counted), and the latency that this
/// chain exposes.
const DIVISION: [f64; 2] = [14.0, 20.0];
/// Of one by a constant: two operations, and two for its part of the test.
const BY_CONSTANT: [f64; 2] = [4.0, 6.0];
/// Of one of floats that may be approximate: an instruction of another unit, and a factor.
const APPROXIMATE: f64 = 3.0;
/// Instructions of a function of the math library, about.
const FUNCTION: f64 = 24.0;

/// By statement: instructions that one instance issues, those of 64-bit operands in units that take twice as
/// long.
pub fn work(scop: &Scop) -> Vec<f64> {
    let cost = |i: Value| {
        let (opcode, wide) = {
            let kind = i.ty().kind();
            (i.opcode(), kind == LLVMTypeKind::LLVMDoubleTypeKind)
        };
        match opcode {
            // A product, and an instruction of another unit.
            LLVMFDiv if roots::divisor(i).is_some() => 1.0,
            LLVMFDiv if !wide && fast_division::is_approximate(i) => APPROXIMATE,
            LLVMFDiv if fast_division::is_by_constant(i) => BY_CONSTANT[usize::from(wide)],
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFNeg | LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr
            | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr | LLVMICmp | LLVMFCmp | LLVMSelect | LLVMSIToFP
            | LLVMUIToFP | LLVMFPToSI | LLVMFPToUI | LLVMFPExt | LLVMFPTrunc => 1.0,
            LLVMFDiv | LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => DIVISION[usize::from(wide)],
            LLVMFRem => FUNCTION,
            LLVMCall => match i.callee().name().as_str() {
                "llvm.sqrt.f32" | "sqrtf" if fast_division::is_approximate(i) => APPROXIMATE,
                name => call(name),
            },
            _ => 0.0,
        }
    };
    let body = |s: &pollyrs_scop::Statement| s.body.iter().map(|i| cost(host_value(*i))).sum::<f64>();
    scop.statements.iter().map(body).collect()
}

/// What a call costs. What C contracts by default, `llvm.fmuladd`, is one instruction.
fn call(name: &str) -> f64 {
    match math::classify(name) {
        Callee::Ignored => 0.0,
        Callee::Intrinsic | Callee::Math if math::is_instruction(name) => 1.0,
        _ => FUNCTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls() {
        for (name, want) in [
            ("llvm.fmuladd.f32", 1.0),
            ("llvm.fma.f64", 1.0),
            ("llvm.fabs.f64", 1.0),
            ("llvm.smax.i32", 1.0),
            ("llvm.sqrt.f32", FUNCTION),
            ("llvm.exp.f64", FUNCTION),
            ("sqrtf", FUNCTION),
            ("exp", FUNCTION),
            ("llvm.lifetime.start.p0", 0.0),
            ("llvm.assume", 0.0),
        ] {
            assert_eq!(call(name), want, "{name}");
        }
    }
}
