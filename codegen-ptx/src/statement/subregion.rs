//! Control flow inside a statement: the blocks of a subregion, cloned.
//!
//! ```text
//! here:   straight-line part of the body, operands of the subregion      here:   ...
//! head:   br c, B0, exit                                              →          br c', B0', after
//! B0 ...: PHIs, instructions, branches among the blocks                  B0' ...
//! exit:   p = phi [x, B0], [y, head]                                     after:  p' = phi [x', B0'], [y', here]
//! ```
//!
//! # Invariants
//! - What the subregion uses from elsewhere (cells, invariants, synthesised integers) is computed in front of
//!   it: values computed where one way only leads past could be used on another.
//! - Each loop that subscripts need a counter of has one of 64 bits, from 0 by 1, beside the program's own.
//! - There is no barrier in a subregion: threads of a block may go different ways.

use crate::ir::builder::terminator;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::{arguments_of, end_of, function_of, is_true, opcode, operand, operands_of};
use crate::ir::types::type_of;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::statement::emit::{Instance, emit_instruction, resolve};
use crate::statement::spread;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_scop::{Access, AccessValue, Statement, Subregion, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// A host PHI with its copy, which gets its values when all blocks are there.
type Copied = (LLVMValueRef, LLVMValueRef);

/// Emits the subregion behind the straight-line part of the body; the builder is behind it afterwards.
pub(crate) fn emit<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    r: &Subregion,
) -> Result<()> {
    let ir = k.ir;
    let body = by_block(s, r);
    operands_in_front(k, n, s, r, &body)?;
    let function = function_of(ir.block());
    let mut blocks: BTreeMap<usize, LLVMBasicBlockRef> =
        r.blocks.iter().map(|b| (b.0, ir.append_block(function, "within"))).collect();
    let after = ir.append_block(function, "behind");
    blocks.insert(r.exit.0, after);
    let here = ir.block();
    branch(k, n, r.head.0, &blocks)?;
    let mut ends = BTreeMap::from([(r.head.0, here)]);
    let (mut phis, mut counters, mut entered) = (Vec::new(), Vec::new(), Vec::new());
    for b in &r.blocks {
        ir.at_end(blocks[&b.0]);
        let own = body.get(&b.0).map_or(&[][..], |v| v);
        if let Some(l) = shared_loop(k, r, *b, own, &blocks) {
            entered.push((b.0, spread::emit(k, n, s, &l)?));
            ends.insert(b.0, ir.block());
            continue;
        }
        for phi in own.iter().copied().filter(|i| is_phi(*i)) {
            let copy = ir.phi(type_of(phi), &[]);
            n.values.insert(phi as usize, copy);
            phis.push((phi, copy));
        }
        for (at, l) in r.loops.iter().enumerate().filter(|(_, l)| l.header == *b) {
            let counter = ir.phi(ir.i64_type(), &[]);
            n.counters.insert(at, counter);
            counters.push((l, counter));
        }
        for i in own.iter().filter(|i| !is_phi(**i)) {
            emit_instruction(k, n, s, *i)?;
        }
        ends.insert(b.0, ir.block());
        branch(k, n, b.0, &blocks)?;
    }
    for (phi, copy) in phis {
        join(k, n, (phi, copy), &ends)?;
    }
    for (header, phis) in entered {
        let outside: BTreeMap<usize, LLVMBasicBlockRef> =
            ends.iter().map(|(b, end)| (*b, *end)).filter(|(b, _)| *b != header).collect();
        for copied in phis {
            join(k, n, copied, &outside)?;
        }
    }
    for (l, counter) in counters {
        let inside: BTreeSet<usize> = l.blocks.iter().map(|b| b.0).collect();
        for from in predecessors(l.header.0) {
            let Some(end) = ends.get(&from).copied() else {
                return internal("a loop of a subregion is entered from outside");
            };
            let last = end_of(end);
            ir.before(last);
            let value = if inside.contains(&from) { ir.add(counter, ir.int(1)) } else { ir.int(0) };
            ir.add_incoming(counter, value, end);
        }
    }
    ir.at_end(after);
    for a in &s.accesses {
        let AccessValue::ScalarWrite(v) = a.value else { continue };
        let phi = v.0 as LLVMValueRef;
        // SAFETY: a live value; the parent is asked of an instruction.
        let leaves =
            unsafe { !LLVMIsAPHINode(phi).is_null() && LLVMGetInstructionParent(phi) as usize == r.exit.0 };
        if leaves && !n.values.contains_key(&v.0) {
            let copy = ir.phi(type_of(phi), &[]);
            n.values.insert(v.0, copy);
            join(k, n, (phi, copy), &ends)?;
        }
    }
    Ok(())
}

/// The loop whose only block is `b`, if a team shares it.
fn shared_loop<'r, S>(
    k: &KernelBuilder<'_, S>,
    r: &'r Subregion,
    b: ValueHandle,
    own: &[LLVMValueRef],
    blocks: &BTreeMap<usize, LLVMBasicBlockRef>,
) -> Option<spread::Loop<'r>> {
    let (at, l) = r.loops.iter().enumerate().find(|(_, l)| l.header == b)?;
    let spread = l.spread.as_ref().filter(|_| k.kernel.team > 1)?;
    let terminator = terminator(b.0 as LLVMBasicBlockRef)?;
    // SAFETY: a live terminator; index in range.
    let successors: Vec<usize> = unsafe {
        (0..LLVMGetNumSuccessors(terminator)).map(|i| LLVMGetSuccessor(terminator, i) as usize).collect()
    };
    let exit = blocks.get(successors.iter().find(|s| **s != b.0)?).copied()?;
    let body = own.iter().copied().filter(|i| !is_phi(*i)).collect();
    Some(spread::Loop { at, spread, body, exit })
}

fn is_phi(i: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { !LLVMIsAPHINode(i).is_null() }
}

/// The body's instructions in the subregion.
fn by_block(s: &Statement, r: &Subregion) -> BTreeMap<usize, Vec<LLVMValueRef>> {
    let blocks: BTreeSet<usize> = r.blocks.iter().map(|b| b.0).collect();
    let mut out: BTreeMap<usize, Vec<LLVMValueRef>> = BTreeMap::new();
    for i in &s.body {
        let at = block_of(i.0);
        if blocks.contains(&at) {
            out.entry(at).or_default().push(i.0 as LLVMValueRef);
        }
    }
    out
}

/// The block of a body instruction.
pub(crate) fn block_of(i: usize) -> usize {
    // SAFETY: bodies hold live instructions.
    unsafe { LLVMGetInstructionParent(i as LLVMValueRef) as usize }
}

/// The blocks with an edge to `block`, once for each edge.
fn predecessors(block: usize) -> Vec<usize> {
    let mut out = Vec::new();
    // SAFETY: a live block; its uses are terminators and constants, of which only the former are asked for
    // their block.
    unsafe {
        let mut u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block as LLVMBasicBlockRef));
        while !u.is_null() {
            let user = LLVMGetUser(u);
            if !LLVMIsATerminatorInst(user).is_null() {
                out.push(LLVMGetInstructionParent(user) as usize);
            }
            u = LLVMGetNextUse(u);
        }
    }
    out
}

/// Resolves everything that the subregion uses and does not compute.
fn operands_in_front<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    r: &Subregion,
    body: &BTreeMap<usize, Vec<LLVMValueRef>>,
) -> Result<()> {
    let own: BTreeSet<usize> = body.values().flatten().map(|i| *i as usize).collect();
    let mut used: Vec<LLVMValueRef> = Vec::new();
    for i in body.values().flatten().copied() {
        let opcode = opcode(i);
        match opcode {
            LLVMOpcode::LLVMGetElementPtr => {}
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
                if opcode == LLVMOpcode::LLVMStore {
                    used.push(operand(i, 0));
                }
                let of = |a: &&Access| a.value == AccessValue::Instruction(ValueHandle(i as usize));
                let within = s.accesses.iter().filter(of).filter_map(|a| a.within.as_ref());
                used.extend(within.flat_map(|w| &w.values).map(|c| c.value.0 as LLVMValueRef));
            }
            LLVMOpcode::LLVMSelect if is_true(operand(i, 0)) => used.push(operand(i, 1)),
            // The callee is an operand, too.
            LLVMOpcode::LLVMCall => {
                let arguments = arguments_of(i);
                used.extend((0..arguments).map(|a| operand(i, a)))
            }
            _ => used.extend((0..operands_of(i)).map(|o| operand(i, o))),
        }
    }
    for b in r.blocks.iter().chain([&r.head]) {
        used.extend(condition(b.0));
    }
    for a in &s.accesses {
        if let AccessValue::ScalarWrite(v) = a.value
            && is_phi(v.0 as LLVMValueRef)
            && block_of(v.0) == r.exit.0
        {
            let inside = |b: usize| b == r.head.0 || r.blocks.iter().any(|o| o.0 == b);
            used.extend(
                incoming(v.0 as LLVMValueRef).into_iter().filter(|(_, b)| inside(*b)).map(|(v, _)| v),
            );
        }
    }
    for v in used {
        // SAFETY: a live value. Blocks are operands of no instruction here.
        if !own.contains(&(v as usize)) && unsafe { LLVMValueIsBasicBlock(v) == 0 } {
            resolve(k, n, v)?;
        }
    }
    Ok(())
}

/// Incoming values and blocks of a PHI.
fn incoming(phi: LLVMValueRef) -> Vec<(LLVMValueRef, usize)> {
    // SAFETY: a PHI; index in range.
    unsafe {
        (0..LLVMCountIncoming(phi))
            .map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i) as usize))
            .collect()
    }
}

/// The condition of a block's branch.
fn condition(block: usize) -> Option<LLVMValueRef> {
    let t = terminator(block as LLVMBasicBlockRef)?;
    // SAFETY: a branch (detection lets in nothing else).
    unsafe {
        (LLVMGetInstructionOpcode(t) == LLVMOpcode::LLVMBr && LLVMIsConditional(t) != 0)
            .then(|| LLVMGetCondition(t))
    }
}

/// Copies the branch that ends `block`.
fn branch<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    block: usize,
    blocks: &BTreeMap<usize, LLVMBasicBlockRef>,
) -> Result<()> {
    let Some(t) = terminator(block as LLVMBasicBlockRef) else {
        return internal("a block without a terminator");
    };
    // SAFETY: a live terminator; index in range.
    let successors: Vec<usize> =
        unsafe { (0..LLVMGetNumSuccessors(t)).map(|i| LLVMGetSuccessor(t, i) as usize).collect() };
    let to = successors.iter().map(|s| blocks.get(s).copied()).collect::<Option<Vec<_>>>();
    match (to.as_deref(), condition(block)) {
        (Some([only]), None) => {
            k.ir.br(*only);
        }
        (Some([yes, no]), Some(c)) => {
            let c = resolve(k, n, c)?;
            k.ir.cond_br(c, *yes, *no);
        }
        _ => return internal("a branch of a subregion leads out of it"),
    }
    Ok(())
}

/// Gives the copy of a PHI its values, those from blocks that were copied.
fn join<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    (phi, copy): Copied,
    ends: &BTreeMap<usize, LLVMBasicBlockRef>,
) -> Result<()> {
    for (value, from) in incoming(phi) {
        if let Some(end) = ends.get(&from) {
            let value = resolve(k, n, value)?;
            k.ir.add_incoming(copy, value, *end);
        }
    }
    Ok(())
}
