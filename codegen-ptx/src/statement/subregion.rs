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

use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::statement::emit::{Instance, emit_instruction, resolve};
use crate::statement::spread;
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_scop::{Access, AccessValue, Statement, Subregion, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// A host PHI with its copy, which gets its values when all blocks are there.
type Copied = (Value, Value);

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
    let function = ir.block().function();
    let mut blocks: BTreeMap<usize, Block> =
        r.blocks.iter().map(|b| (b.address(), ir.append_block(function, "within"))).collect();
    let after = ir.append_block(function, "behind");
    blocks.insert(r.exit.address(), after);
    let here = ir.block();
    branch(k, n, r.head, &blocks)?;
    let mut ends = BTreeMap::from([(r.head.address(), here)]);
    let (mut phis, mut counters, mut entered) = (Vec::new(), Vec::new(), Vec::new());
    for b in &r.blocks {
        ir.at_end(blocks[&b.address()]);
        let own = body.get(&b.address()).map_or(&[][..], |v| v);
        if let Some(l) = shared_loop(k, r, *b, own, &blocks) {
            entered.push((b.address(), spread::emit(k, n, s, &l)?));
            ends.insert(b.address(), ir.block());
            continue;
        }
        for phi in own.iter().copied().filter(|i| i.is_phi()) {
            let copy = ir.phi(phi.ty(), &[]);
            n.values.insert(phi.address(), copy);
            phis.push((phi, copy));
        }
        for (at, l) in r.loops.iter().enumerate().filter(|(_, l)| l.header == *b) {
            let counter = ir.phi(ir.i64_type(), &[]);
            n.counters.insert(at, counter);
            counters.push((l, counter));
        }
        for i in own.iter().filter(|i| !i.is_phi()) {
            emit_instruction(k, n, s, *i)?;
        }
        ends.insert(b.address(), ir.block());
        branch(k, n, *b, &blocks)?;
    }
    for (phi, copy) in phis {
        join(k, n, (phi, copy), &ends)?;
    }
    for (header, phis) in entered {
        let outside: BTreeMap<usize, Block> =
            ends.iter().map(|(b, end)| (*b, *end)).filter(|(b, _)| *b != header).collect();
        for copied in phis {
            join(k, n, copied, &outside)?;
        }
    }
    for (l, counter) in counters {
        let inside: BTreeSet<usize> = l.blocks.iter().map(|b| b.address()).collect();
        for from in predecessors(l.header) {
            let Some(end) = ends.get(&from).copied() else {
                return internal("a loop of a subregion is entered from outside");
            };
            let last = end.end();
            ir.before(last);
            let value = if inside.contains(&from) { ir.add(counter, ir.int(1)) } else { ir.int(0) };
            ir.add_incoming(counter, value, end);
        }
    }
    ir.at_end(after);
    for a in &s.accesses {
        let AccessValue::ScalarWrite(v) = a.value else { continue };
        let phi = host_value(v);
        let leaves = phi.is_phi() && phi.block().address() == r.exit.address();
        if leaves && !n.values.contains_key(&v.address()) {
            let copy = ir.phi(phi.ty(), &[]);
            n.values.insert(v.address(), copy);
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
    own: &[Value],
    blocks: &BTreeMap<usize, Block>,
) -> Option<spread::Loop<'r>> {
    let (at, l) = r.loops.iter().enumerate().find(|(_, l)| l.header == b)?;
    let spread = l.spread.as_ref().filter(|_| k.launch.team > 1)?;
    let successors: Vec<usize> = host_block(b)?.successors().into_iter().map(Block::address).collect();
    let exit = blocks.get(successors.iter().find(|s| **s != b.address())?).copied()?;
    let body = own.iter().copied().filter(|i| !i.is_phi()).collect();
    Some(spread::Loop { at, spread, body, exit })
}

/// The body's instructions in the subregion.
fn by_block(s: &Statement, r: &Subregion) -> BTreeMap<usize, Vec<Value>> {
    let blocks: BTreeSet<usize> = r.blocks.iter().map(|b| b.address()).collect();
    let mut out: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for i in &s.body {
        let at = block_of(*i);
        if blocks.contains(&at) {
            out.entry(at).or_default().push(host_value(*i));
        }
    }
    out
}

/// The block of a body instruction.
pub(crate) fn block_of(i: ValueHandle) -> usize {
    host_value(i).block().address()
}

/// The blocks with an edge to `block`, once for each edge.
fn predecessors(block: ValueHandle) -> Vec<usize> {
    // Its users are terminators and constants.
    let users = host_block(block).map(|b| b.as_value().users()).unwrap_or_default();
    users.into_iter().filter(|u| u.is_terminator()).map(|u| u.block().address()).collect()
}

/// Resolves everything that the subregion uses and does not compute.
fn operands_in_front<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    r: &Subregion,
    body: &BTreeMap<usize, Vec<Value>>,
) -> Result<()> {
    let own: BTreeSet<usize> = body.values().flatten().map(|i| i.address()).collect();
    let mut used: Vec<Value> = Vec::new();
    for i in body.values().flatten().copied() {
        let opcode = i.opcode();
        match opcode {
            LLVMOpcode::LLVMGetElementPtr => {}
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
                if opcode == LLVMOpcode::LLVMStore {
                    used.push(i.operand(0));
                }
                let of = |a: &&Access| a.value == AccessValue::Instruction(handle_of(i));
                let within = s.accesses.iter().filter(of).filter_map(|a| a.within.as_ref());
                used.extend(within.flat_map(|w| &w.values).map(|c| host_value(c.value)));
            }
            LLVMOpcode::LLVMSelect if is_true(i.operand(0)) => used.push(i.operand(1)),
            // The callee is an operand, too.
            LLVMOpcode::LLVMCall => {
                let arguments = i.argument_count();
                used.extend((0..arguments).map(|a| i.operand(a)))
            }
            _ => used.extend(i.operands()),
        }
    }
    for b in r.blocks.iter().chain([&r.head]) {
        used.extend(condition(*b));
    }
    for a in &s.accesses {
        if let AccessValue::ScalarWrite(v) = a.value
            && host_value(v).is_phi()
            && block_of(v) == r.exit.address()
        {
            let inside = |b: usize| b == r.head.address() || r.blocks.iter().any(|o| o.address() == b);
            used.extend(incoming(host_value(v)).into_iter().filter(|(_, b)| inside(*b)).map(|(v, _)| v));
        }
    }
    for v in used {
        // SAFETY: a live value. Blocks are operands of no instruction here.
        if !own.contains(&v.address()) && !v.is_block() {
            resolve(k, n, v)?;
        }
    }
    Ok(())
}

/// Incoming values and blocks of a PHI.
fn incoming(phi: Value) -> Vec<(Value, usize)> {
    phi.incoming().into_iter().map(|(v, b)| (v, b.address())).collect()
}

/// The condition of a block's branch.
fn condition(block: ValueHandle) -> Option<Value> {
    let t = host_block(block)?.terminator()?;
    t.is_conditional().then(|| t.condition())
}

/// Copies the branch that ends `block`.
fn branch<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    block: ValueHandle,
    blocks: &BTreeMap<usize, Block>,
) -> Result<()> {
    let Some(t) = host_block(block).and_then(Block::terminator) else {
        return internal("a block without a terminator");
    };
    let to = t.successors().into_iter().map(|s| blocks.get(&s.address()).copied());
    let to = to.collect::<Option<Vec<_>>>();
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
    ends: &BTreeMap<usize, Block>,
) -> Result<()> {
    for (value, from) in incoming(phi) {
        if let Some(end) = ends.get(&from) {
            let value = resolve(k, n, value)?;
            k.ir.add_incoming(copy, value, *end);
        }
    }
    Ok(())
}
