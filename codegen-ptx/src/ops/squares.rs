//! Differences that are only squared: `(a - b)^2` is `(b - a)^2`.
//!
//! **Problem.** A point and its neighbour each subtract the other's value from their own. A thread that has
//! both subtracts twice.
//!
//! **Solution.** `b - a` is `-(a - b)` exactly, in any rounding that is symmetric, but for the sign of a zero
//! and of NaN; a square has neither. So a difference all of whose uses are squares, `d * d` or
//! `fma(d, d, c)`, is replaced by its counterpart in the same block.

use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use std::collections::BTreeMap;

/// Whether all that a value is used for is its square.
fn is_squared(d: Value) -> bool {
    d.users().into_iter().all(|user| {
        let squares = match user.opcode() {
            LLVMFMul => true,
            LLVMCall => user.callee().name().starts_with("llvm.fma"),
            _ => false,
        };
        // (The sum of an `fma` must be something else.)
        let times = user.operands().into_iter().filter(|v| *v == d).count();
        squares && times == 2 && user.operand(0) == user.operand(1)
    })
}

/// Replaces them in a module.
pub(crate) fn share(module: Module) -> Result<()> {
    for block in module.functions().into_iter().flat_map(Value::blocks) {
        let mut known: BTreeMap<(usize, usize), Value> = BTreeMap::new();
        for i in block.instructions() {
            if i.opcode() != LLVMFSub {
                continue;
            }
            let (a, b) = (i.operand(0).address(), i.operand(1).address());
            match known.get(&(b, a)).copied() {
                Some(other) if is_squared(i) && i.fast_math_flags() == other.fast_math_flags() => {
                    // SAFETY: the handle is not used any more.
                    unsafe { i.replace(other) };
                }
                _ => {
                    known.entry((a, b)).or_insert(i);
                }
            }
        }
    }
    Ok(())
}
