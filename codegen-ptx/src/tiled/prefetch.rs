//! Operands of a loop over a strip that wait in registers: those of the next iterations are loaded from
//! shared memory while these are computed.
//!
//! A sum in order takes as long as its additions wait for each other; that its operands come from shared
//! memory must not add to that. So the loop that runs some iterations of a strip side by side
//! ([`super::walk`]) is a pipeline of two steps.
//! ```text
//! v = loads of the first iterations
//! for c = 0, part, 2 part, …
//!   w = loads of the iterations behind these; of the first ones again behind the last, which nobody uses
//!   compute with v
//!   v = w
//! ```
//! Where there are registers for twice as many operands, the loop is unrolled twice, so that the halves have
//! registers of their own: with one set of them, ptxas loads behind the last use of a value, and what is
//! loaded last is waited for. (Two sums of 131072 numbers on an H200: 0.487 in place of 0.552 ms. Where a
//! block has no such registers: 4.45 in place of 3.67 ms of a product of two tall matrices.)
//!
//! **Argument.** Nothing in the loop writes to shared memory, so that a load may come as early as the strip
//! begins; what is loaded is inside the strip.

use crate::ir::builder::Ir;
use crate::ir::intrinsics::SHARED;
use crate::ir::llvm::*;
use crate::ops::pinned::pinned;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use inkwell::llvm_sys::LLVMOpcode::*;
use std::collections::{BTreeMap, BTreeSet};

/// A loop of one block, which the builder is at the end of; its counter goes from 0 to `end`.
pub(super) struct Loop {
    pub before: Block,
    pub body: Block,
    pub counter: Value,
    pub step: u32,
    pub end: u32,
    /// Whether it is to be unrolled twice.
    pub twice: bool,
}

/// Loads what the loop reads of shared memory an iteration ahead. The block in front of the loop has its
/// branch already.
pub(super) fn operands(ir: &Ir, l: &Loop) {
    let all = l.body.instructions();
    let position: BTreeMap<usize, usize> = all.iter().enumerate().map(|(n, i)| (i.address(), n)).collect();
    let mut chains = Vec::new();
    for i in &all {
        if i.opcode() == LLVMLoad
            && let Some(chain) = address(&position, &all, i.operand(0), l.counter)
        {
            chains.push((*i, chain));
        }
    }
    if l.twice {
        ir.before(l.counter.behind());
    }
    let next = ir.add(l.counter, ir.int(l.step.into()));
    // (A mask where it can be: LLVM does not see that loads from what is selected are next to each other.)
    let behind = match l.end {
        end if end.is_power_of_two() => ir.and(next, ir.int((end - 1).into())),
        end => ir.select(ir.icmp(LLVMIntEQ, next, ir.int(end.into())), ir.int(0), next),
    };
    let mut known = BTreeMap::from([(l.counter.address(), behind)]);
    let later: Vec<_> = chains.iter().map(|(load, chain)| again(ir, &mut known, chain, *load)).collect();
    ir.before(l.before.end());
    let mut known = BTreeMap::from([(l.counter.address(), ir.int(0))]);
    let first: Vec<_> = chains.iter().map(|(load, chain)| again(ir, &mut known, chain, *load)).collect();
    // LLVM makes one load in the loop of two that meet there.
    let first: Vec<_> = first.into_iter().map(|v| pinned(ir, v)).collect();
    ir.before(l.counter.behind());
    for (((load, _), first), later) in chains.iter().zip(first).zip(later) {
        let phi = ir.phi(load.ty(), &[(first, l.before), (later, l.body)]);
        // SAFETY: the handle is not used any more.
        unsafe { load.replace(phi) };
    }
    ir.at_end(l.body);
}

/// The instructions of the block that an address in shared memory is made of, in their order; `None` for
/// other addresses.
fn address(
    position: &BTreeMap<usize, usize>,
    all: &[Value],
    pointer: Value,
    counter: Value,
) -> Option<Vec<Value>> {
    let mut base = pointer;
    while position.contains_key(&base.address()) && base.opcode() == LLVMGetElementPtr {
        base = base.operand(0);
    }
    if !is_shared(base) {
        return None;
    }
    let mut needed = BTreeSet::new();
    let mut open = vec![pointer];
    while let Some(v) = open.pop() {
        let Some(at) = position.get(&v.address()).filter(|_| v != counter) else { continue };
        let pure = is_shared(v)
            || matches!(
                v.opcode(),
                LLVMGetElementPtr | LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMSExt | LLVMZExt | LLVMTrunc
            );
        if !pure {
            return None;
        }
        if needed.insert(*at) {
            open.extend(v.operands());
        }
    }
    Some(needed.into_iter().map(|at| all[at]).collect())
}

fn is_shared(v: Value) -> bool {
    v.opcode() == LLVMCall && v.callee().name() == SHARED
}

/// Copies of an address's instructions and of its load, with `known` values and copies in place of the
/// originals.
fn again(ir: &Ir, known: &mut BTreeMap<usize, Value>, chain: &[Value], load: Value) -> Value {
    for i in chain.iter().chain([&load]) {
        if known.contains_key(&i.address()) {
            continue;
        }
        let copy = ir.put_copy(*i, known);
        known.insert(i.address(), copy);
    }
    known[&load.address()]
}
