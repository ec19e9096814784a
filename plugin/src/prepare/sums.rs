//! Products that are added to something else, taken apart where the sum may be regrouped.
//!
//! clang writes `s += a * b` as `llvm.fmuladd(a, b, s)`: fused or not, as the target likes. With
//! `-fassociative-math`, or a pragma of the loop ([`super::permitted`]), the sum may be regrouped, but one
//! intrinsic is no sum.
//! `fadd contract (fmul contract a, b), s` says the same, with the other flags of the call.

use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMFastMathAllowReassoc, LLVMOpcode};
use pollyrs_codegen_ptx::Ir;
use pollyrs_llvm_shim::ir::{Module, Value};

const NAME: &str = "llvm.fmuladd";

/// Takes the calls of `f`, a function of `module`, apart.
pub fn split(module: Module, f: Value) {
    let ir = Ir::new(module.context());
    for call in f.instructions().into_iter().filter(|i| regroupable(*i)) {
        let [a, b, c] = [0, 1, 2].map(|i| call.operand(i));
        ir.before(call);
        let product = ir.binary(LLVMOpcode::LLVMFMul, a, b);
        let sum = ir.binary(LLVMOpcode::LLVMFAdd, product, c);
        for part in [product, sum] {
            // Of a folded constant nothing happens.
            part.set_fast_math_flags(call.fast_math_flags() | LLVMFastMathAllowContract);
        }
        // SAFETY: the list is gone through once.
        unsafe { call.replace(sum) };
    }
}

/// Whether an instruction is a call of the intrinsic whose sum may be regrouped.
fn regroupable(i: Value) -> bool {
    i.is_call() && i.callee().name().starts_with(NAME) && i.fast_math_flags() & LLVMFastMathAllowReassoc != 0
}
