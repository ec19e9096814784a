//! Operands of a loop over a strip that wait in registers: those of the next iterations are loaded from shared memory while these are computed.
//!
//! A sum in order takes as long as its additions wait for each other; that its operands come from shared memory must not add to that. So the loop that
//! runs some iterations of a strip side by side ([`super::walk`]) is a pipeline of two steps.
//! ```text
//! v = loads of the first iterations
//! for c = 0, part, 2 part, …
//!   compute with v
//!   v = loads of the iterations behind these; of the first ones again behind the last, which nobody uses
//! ```
//! **Argument.** Nothing in the loop writes to shared memory, so that a load may come as early as the strip begins; what is loaded is inside the strip.

use crate::ir::builder::Ir;
use crate::ir::intrinsics::SHARED;
use crate::ir::llvm::{callee, instructions_of, name_of, opcode, operand, operands_of};
use crate::ir::types::type_of;
use crate::ops::pinned::pinned;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A loop of one block, which the builder is at the end of; its counter goes from 0 to `end`.
pub(super) struct Loop {
    pub before: LLVMBasicBlockRef,
    pub body: LLVMBasicBlockRef,
    pub counter: LLVMValueRef,
    pub next: LLVMValueRef,
    pub end: LLVMValueRef,
}

/// Loads what the loop reads of shared memory an iteration ahead. The block in front of the loop has its branch already.
pub(super) fn load_ahead(ir: &Ir, l: &Loop) {
    let all = instructions_of(l.body);
    let position: BTreeMap<usize, usize> = all.iter().enumerate().map(|(n, i)| (*i as usize, n)).collect();
    let mut chains = Vec::new();
    for i in &all {
        if opcode(*i) == LLVMLoad
            && let Some(chain) = address(&position, &all, operand(*i, 0), l.counter)
        {
            chains.push((*i, chain));
        }
    }
    let behind = ir.select(ir.icmp(LLVMIntEQ, l.next, l.end), ir.int(0), l.next);
    let mut known = BTreeMap::from([(l.counter as usize, behind)]);
    let later: Vec<_> = chains.iter().map(|(load, chain)| again(ir, &mut known, chain, *load)).collect();
    // SAFETY: the block in front of the loop is complete.
    ir.before(unsafe { LLVMGetBasicBlockTerminator(l.before) });
    let mut known = BTreeMap::from([(l.counter as usize, ir.int(0))]);
    let first: Vec<_> = chains.iter().map(|(load, chain)| again(ir, &mut known, chain, *load)).collect();
    // LLVM makes one load in the loop of two that meet there.
    let first: Vec<_> = first.into_iter().map(|v| pinned(ir, v)).collect();
    // SAFETY: a loop's block begins with its counter.
    ir.before(unsafe { LLVMGetNextInstruction(l.counter) });
    for (((load, _), first), later) in chains.iter().zip(first).zip(later) {
        let phi = ir.phi(type_of(*load), &[(first, l.before), (later, l.body)]);
        // SAFETY: a live load, whose users are behind it and so behind the phi; it has none afterwards.
        unsafe {
            LLVMReplaceAllUsesWith(*load, phi);
            LLVMInstructionEraseFromParent(*load);
        }
    }
    ir.at_end(l.body);
}

/// The instructions of the block that an address in shared memory is made of, in their order; `None` for other addresses.
fn address(
    position: &BTreeMap<usize, usize>,
    all: &[LLVMValueRef],
    pointer: LLVMValueRef,
    counter: LLVMValueRef,
) -> Option<Vec<LLVMValueRef>> {
    let mut base = pointer;
    while position.contains_key(&(base as usize)) && opcode(base) == LLVMGetElementPtr {
        base = operand(base, 0);
    }
    if !is_shared(base) {
        return None;
    }
    let mut needed = BTreeSet::new();
    let mut open = vec![pointer];
    while let Some(v) = open.pop() {
        let Some(at) = position.get(&(v as usize)).filter(|_| v != counter) else { continue };
        let pure = is_shared(v)
            || matches!(
                opcode(v),
                LLVMGetElementPtr | LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMSExt | LLVMZExt | LLVMTrunc
            );
        if !pure {
            return None;
        }
        if needed.insert(*at) {
            open.extend((0..operands_of(v)).map(|n| operand(v, n)));
        }
    }
    Some(needed.into_iter().map(|at| all[at]).collect())
}

fn is_shared(v: LLVMValueRef) -> bool {
    opcode(v) == LLVMCall && name_of(callee(v)) == SHARED
}

/// Copies of an address's instructions and of its load, with `known` values and copies in place of the originals.
fn again(
    ir: &Ir,
    known: &mut BTreeMap<usize, LLVMValueRef>,
    chain: &[LLVMValueRef],
    load: LLVMValueRef,
) -> LLVMValueRef {
    for i in chain.iter().chain([&load]) {
        if known.contains_key(&(*i as usize)) {
            continue;
        }
        // SAFETY: a live instruction; operands are set within their number, to values that come before the copy.
        let copy = unsafe {
            let copy = LLVMInstructionClone(*i);
            LLVMInsertIntoBuilder(ir.raw(), copy);
            for at in 0..LLVMGetNumOperands(copy) as u32 {
                if let Some(other) = known.get(&(LLVMGetOperand(copy, at) as usize)) {
                    LLVMSetOperand(copy, at, *other);
                }
            }
            copy
        };
        known.insert(*i as usize, copy);
    }
    known[&(load as usize)]
}
