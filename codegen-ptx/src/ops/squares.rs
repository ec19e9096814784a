//! Differences that are only squared: `(a - b)^2` is `(b - a)^2`.
//!
//! **Problem.** A point and its neighbour each subtract the other's value from their own. A thread that has
//! both subtracts twice.
//!
//! **Solution.** `b - a` is `-(a - b)` exactly, in any rounding that is symmetric, but for the sign of a zero
//! and of NaN; a square has neither. So a difference all of whose uses are squares, `d * d` or
//! `fma(d, d, c)`, is replaced by its counterpart in the same block.

use crate::ir::error::Result;
use crate::ir::llvm::operand;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::BTreeMap;

/// Whether all that a value is used for is its square.
fn is_squared(d: LLVMValueRef) -> bool {
    // SAFETY: a live instruction and its users, instructions as well.
    unsafe {
        let mut next = LLVMGetFirstUse(d);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            let squares = match LLVMGetInstructionOpcode(user) {
                LLVMFMul => true,
                LLVMCall => name_of(LLVMGetCalledValue(user)).starts_with("llvm.fma"),
                _ => false,
            };
            // (The sum of an `fma` must be something else.)
            let times = (0..LLVMGetNumOperands(user) as u32).filter(|n| operand(user, *n) == d).count();
            if !squares || times != 2 || operand(user, 0) != operand(user, 1) {
                return false;
            }
            next = LLVMGetNextUse(next);
        }
        true
    }
}

/// Replaces them in a module.
pub(crate) fn share(module: LLVMModuleRef) -> Result<()> {
    for block in functions(module).into_iter().flat_map(blocks) {
        let mut known: BTreeMap<(usize, usize), LLVMValueRef> = BTreeMap::new();
        for i in instructions_of(block) {
            // SAFETY: a live instruction.
            unsafe {
                if LLVMGetInstructionOpcode(i) != LLVMFSub {
                    continue;
                }
                let (a, b) = (operand(i, 0) as usize, operand(i, 1) as usize);
                match known.get(&(b, a)).copied() {
                    Some(other)
                        if is_squared(i) && LLVMGetFastMathFlags(i) == LLVMGetFastMathFlags(other) =>
                    {
                        LLVMReplaceAllUsesWith(i, other);
                        LLVMInstructionEraseFromParent(i);
                    }
                    _ => {
                        known.entry((a, b)).or_insert(i);
                    }
                }
            }
        }
    }
    Ok(())
}
