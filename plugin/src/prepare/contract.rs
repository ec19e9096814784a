//! Contraction as a decision of the IR: products and sums of one expression become `llvm.fmuladd`, and
//! nothing else may be contracted.
//!
//! Under `-ffp-contract=fast`, which is Fortran's default in flang, operations carry the flag `contract`, and
//! each back end fuses what it likes: an NVIDIA GPU's other pairs than the host's. With `contract=early` the
//! choice is made before any pass has changed the order of operands, by the rule that clang has for
//! `-ffp-contract=on`:
//! ```text
//! a * b + c * d    %x = fmul contract %a, %b         %y = fmul %c, %d
//!                  %y = fmul contract %c, %d    →    %s = call @llvm.fmuladd(%a, %b, %y)
//!                  %s = fadd contract %x, %y
//! ```
//! The product on the left is fused if there are two. A host with fused instructions (`-mfma`) and a device
//! then compute the same bits.

use crate::ir::functions;
use crate::ir::instructions;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMOpcode, LLVMTypeKind};
use pollyrs_llvm_shim::forbid_contraction;

/// Fuses in all functions of the module, and takes the flag `contract` from what is left.
pub fn expressions(module: LLVMModuleRef) {
    // SAFETY: a live module; an instruction is replaced before it is erased, and a product is looked at only
    // in its sum's block, so that no handle outlives its instruction.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
        for f in functions(module) {
            let mut block = LLVMGetFirstBasicBlock(f);
            while !block.is_null() {
                fuse_in(module, builder, block);
                block = LLVMGetNextBasicBlock(block);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

unsafe fn fuse_in(module: LLVMModuleRef, builder: LLVMBuilderRef, block: LLVMBasicBlockRef) {
    // SAFETY: the caller's promise of live values.
    unsafe {
        for sum in instructions(block) {
            let opcode = LLVMGetInstructionOpcode(sum);
            if !matches!(opcode, LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub) || !contracts(sum) {
                continue;
            }
            let [left, right] = [0, 1].map(|i| LLVMGetOperand(sum, i));
            let minus = opcode == LLVMOpcode::LLVMFSub;
            let (product, other) = match (is_product(left, block), is_product(right, block)) {
                (true, _) => (left, right),
                (false, true) => (right, left),
                (false, false) => continue,
            };
            LLVMPositionBuilderBefore(builder, sum);
            LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(sum));
            let [mut a, b] = [0, 1].map(|i| LLVMGetOperand(product, i));
            let mut other = other;
            // x - a * b = fma(-a, b, x), a * b - x = fma(a, b, -x): negation is exact.
            if minus && product == right {
                a = LLVMBuildFNeg(builder, a, c"".as_ptr());
            } else if minus {
                other = LLVMBuildFNeg(builder, other, c"".as_ptr());
            }
            let mut ty = LLVMTypeOf(sum);
            let id = LLVMLookupIntrinsicID(NAME.as_ptr().cast(), NAME.len());
            let callee = LLVMGetIntrinsicDeclaration(module, id, &mut ty, 1);
            let function = LLVMGlobalGetValueType(callee);
            let call = LLVMBuildCall2(builder, function, callee, [a, b, other].as_mut_ptr(), 3, c"".as_ptr());
            LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(sum) & LLVMGetFastMathFlags(product));
            LLVMReplaceAllUsesWith(sum, call);
            LLVMInstructionEraseFromParent(sum);
            LLVMInstructionEraseFromParent(product);
        }
        for i in instructions(block) {
            forbid_contraction(i);
        }
    }
}

const NAME: &str = "llvm.fmuladd";

unsafe fn contracts(i: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise of a live instruction with fast-math flags.
    unsafe { LLVMGetFastMathFlags(i) & LLVMFastMathAllowContract != 0 }
}

/// A product that only one instruction of the block uses, in a type that has fused instructions everywhere.
unsafe fn is_product(v: LLVMValueRef, block: LLVMBasicBlockRef) -> bool {
    // SAFETY: the caller's promise of a live value; a vector's element type is live with it.
    unsafe {
        if LLVMIsAInstruction(v).is_null() || LLVMGetInstructionOpcode(v) != LLVMOpcode::LLVMFMul {
            return false;
        }
        let mut ty = LLVMTypeOf(v);
        if LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind {
            ty = LLVMGetElementType(ty);
        }
        let plain =
            matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind);
        let first = LLVMGetFirstUse(v);
        plain
            && contracts(v)
            && LLVMGetInstructionParent(v) == block
            && !first.is_null()
            && LLVMGetNextUse(first).is_null()
    }
}
