//! Products that are added to something else, taken apart where the sum may be regrouped.
//!
//! clang writes `s += a * b` as `llvm.fmuladd(a, b, s)`: fused or not, as the target likes. With
//! `-fassociative-math` the sum may be regrouped, but one intrinsic is no sum.
//! `fadd contract (fmul contract a, b), s` says the same, with the other flags of the call.

use crate::ir::instructions;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMFastMathAllowReassoc};

const NAME: &str = "llvm.fmuladd";

/// Takes the calls of `f`, a function of `module`, apart.
pub fn split(module: LLVMModuleRef, f: LLVMValueRef) {
    // SAFETY: a live function of a live module; a call is replaced before it is erased.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
        let mut block = LLVMGetFirstBasicBlock(f);
        while !block.is_null() {
            for call in instructions(block).into_iter().filter(|i| regroupable(*i)) {
                let [a, b, c] = [0, 1, 2].map(|i| LLVMGetOperand(call, i));
                LLVMPositionBuilderBefore(builder, call);
                LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
                let product = LLVMBuildFMul(builder, a, b, c"".as_ptr());
                let sum = LLVMBuildFAdd(builder, product, c, c"".as_ptr());
                for part in [product, sum] {
                    // Constants are folded.
                    if !LLVMIsAInstruction(part).is_null() {
                        LLVMSetFastMathFlags(part, LLVMGetFastMathFlags(call) | LLVMFastMathAllowContract);
                    }
                }
                LLVMReplaceAllUsesWith(call, sum);
                LLVMInstructionEraseFromParent(call);
            }
            block = LLVMGetNextBasicBlock(block);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Whether an instruction is a call of the intrinsic whose sum may be regrouped.
unsafe fn regroupable(i: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise of a live instruction; LLVM returns pointer and length of a name.
    unsafe {
        if LLVMIsACallInst(i).is_null() {
            return false;
        }
        let callee = LLVMGetCalledValue(i);
        let mut len = 0;
        let name = LLVMGetValueName2(callee, &mut len);
        len >= NAME.len()
            && std::slice::from_raw_parts(name.cast::<u8>(), NAME.len()) == NAME.as_bytes()
            && LLVMGetFastMathFlags(i) & LLVMFastMathAllowReassoc != 0
    }
}
