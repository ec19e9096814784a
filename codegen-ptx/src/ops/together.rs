//! Exact divisions and roots that stand together in a block of an optimized kernel share one test
//! ([`fast_division`]): those of one iteration, of the points of a thread, of an unrolled loop.
//!
//! ```text
//! block:  ...; q0 = fdiv x0, y0; r1 = sqrt q0; ...; rest
//! ```
//! becomes
//! ```text
//! block:  ...; q0 = fast.divide(x0, y0); r1 = fast.root(q0); unusual ? exact : join
//! exact:  p0 = fdiv x0, y0; s1 = sqrt p0; ...; br join
//! join:   phi(q0, p0), phi(r1, s1), ...; rest
//! ```
//!
//! # Invariants
//! - What is computed twice has no effects: from the first to the last operation of a run there are no
//!   stores, no calls but pure ones, no ordered loads.
//! - Stores between the operations of an unrolled loop move behind the last one, in their order, where what
//!   they pass accesses other bytes ([`apart`]).
//! - Runs of a single operation stay: ptxas has a test of its own for it.
//! - The block for unusual operands is not looked at again.

use crate::Result;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ops::fast_division;
use crate::ops::walks::apart;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};
use std::collections::{BTreeMap, BTreeSet};

/// Operations that share a test, at least.
const LEAST: usize = 2;
/// Instructions from the first to the last one, and of all runs of a kernel, at most: code.
const MOST: usize = 512;
const MOST_OF_KERNEL: usize = 2048;

/// Lets the exact divisions and roots of all kernels share their tests.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let ir = Ir::new(module.context());
    let mut any = false;
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        let mut left = MOST_OF_KERNEL;
        let rare = rare_blocks(&ir, function);
        // (Blocks that are made on the way come behind these.)
        for mut block in function.blocks() {
            if rare.contains(&block.address()) {
                continue;
            }
            sink_stores(function, module, block);
            while let Some(run) = first_run(block).filter(|run| run.len() <= left) {
                left -= run.len();
                block = part(&ir, module, function, block, &run);
                any = true;
            }
        }
    }
    if any { fast_division::to_ptx(module) } else { Ok(()) }
}

/// The blocks for unusual operands, of stencils say: first successors of branches that tell how likely they
/// are ([`Ir::mark_rare`]).
fn rare_blocks(ir: &Ir, function: Value) -> BTreeSet<usize> {
    let kind = ir.ctx.kind("prof");
    let ends = function.blocks().into_iter().filter_map(Block::terminator);
    let first = |t: Value| {
        let marked = t.successor_count() == 2 && t.metadata(kind).is_some();
        marked.then(|| t.successor(0).address())
    };
    ends.filter_map(first).collect()
}

/// Moves stores between the operations of a block behind the last of them, as far as all of them may.
fn sink_stores(function: Value, module: Module, block: Block) {
    let all = block.instructions();
    let Some(from) = all.iter().position(|i| fast_division::is_exact(*i)) else { return };
    let part = &all[from..all.len().min(from + MOST)];
    let (mut stores, mut sunk, mut last) = (Vec::new(), 0, None);
    for (at, i) in part.iter().enumerate() {
        if fast_division::is_exact(*i) {
            (last, sunk) = (Some(at), stores.len());
        } else if i.is_store() && !i.is_volatile() && !i.is_atomic() {
            stores.push(*i);
        } else if !repeats(*i) || i.is_load() && stores.iter().any(|s| !apart(module, function, *s, *i)) {
            break;
        }
    }
    let Some(last) = last.filter(|_| sunk > 0) else { return };
    let ir = Ir::new(part[0].context());
    ir.before(part[last].behind());
    for store in &stores[..sunk] {
        store.remove();
        ir.put(*store);
    }
}

/// The instructions from the first to the last operation of the first run of a block that has enough of them.
fn first_run(block: Block) -> Option<Vec<Value>> {
    let all = block.instructions();
    let mut at = 0;
    while at < all.len() {
        let from = at + all[at..].iter().position(|i| fast_division::is_exact(*i))?;
        let effects = all[from..].iter().position(|i| !fast_division::is_exact(*i) && !repeats(*i));
        let end = from + effects.unwrap_or(all.len() - from).min(MOST);
        let run = &all[from..end];
        let last = run.iter().rposition(|i| fast_division::is_exact(*i)).unwrap_or(0);
        if run.iter().filter(|i| fast_division::is_exact(**i)).count() >= LEAST {
            return Some(run[..=last].to_vec());
        }
        at = end.max(from + 1);
    }
    None
}

/// Whether an instruction may be executed twice.
fn repeats(i: Value) -> bool {
    use LLVMOpcode::*;
    match i.opcode() {
        LLVMLoad => !i.is_volatile() && i.ordering() == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
        LLVMCall => is_pure(i.callee()),
        LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMAlloca | LLVMVAArg => false,
        _ => !i.is_terminator() && !i.is_phi(),
    }
}

/// Whether a function reads and writes no memory, returns, and may be called under another condition.
fn is_pure(callee: Value) -> bool {
    callee.attribute(FUNCTION, "memory") == Some(0) && callee.attribute(FUNCTION, "convergent").is_none()
}

/// Divides a block behind a run, which becomes fast and has an exact copy for unusual operands; the block
/// with the rest.
fn part(ir: &Ir, module: Module, function: Value, block: Block, run: &[Value]) -> Block {
    let (exact, join) = (ir.append_block(function, "unusual"), ir.append_block(function, "usual"));
    let all = block.instructions();
    let end = all.iter().position(|i| Some(i) == run.last()).map_or(all.len(), |at| at + 1);
    {
        ir.at_end(exact);
        let mut copies = BTreeMap::new();
        for i in run {
            let copy = i.copy();
            ir.put(copy);
            for at in 0..copy.operand_count() {
                if let Some(other) = copies.get(&copy.operand(at).address()) {
                    copy.set_operand(at, *other);
                }
            }
            copies.insert(i.address(), copy);
        }
        ir.br(join);
        ir.at_end(join);
        let inside: BTreeSet<usize> = run.iter().map(|i| i.address()).collect();
        for i in run {
            let mut users = i.users();
            users.retain(|u| !inside.contains(&u.address()));
            if users.is_empty() {
                continue;
            }
            let phi = ir.phi(i.ty(), &[(*i, block), (copies[&i.address()], exact)]);
            for user in users.into_iter().filter(|u| *u != phi) {
                for at in 0..user.operand_count() {
                    if user.operand(at) == *i {
                        user.set_operand(at, phi);
                    }
                }
            }
        }
        for i in &all[end..] {
            i.remove();
            ir.put(*i);
        }
    }
    comes_from(ir, block, join);
    ir.at_end(block);
    let test = fast_division::use_fast_paths_in(ir, module, run[0].previous());
    let test = test.unwrap_or_else(|| ir.bool(false));
    ir.mark_rare(ir.cond_br(test, exact, join));
    join
}

/// The successors of `to` have come from `from` so far.
fn comes_from(ir: &Ir, from: Block, to: Block) {
    let Some(end) = to.terminator() else { return };
    let successors: BTreeSet<Block> = end.successors().into_iter().collect();
    for phi in successors.into_iter().flat_map(|b| b.instructions().into_iter().take_while(|i| i.is_phi())) {
        ir.before(phi);
        let came = |(v, b)| (v, if b == from { to } else { b });
        let incoming: Vec<_> = phi.incoming().into_iter().map(came).collect();
        // SAFETY: the handle is not used any more.
        unsafe { phi.replace(ir.phi(phi.ty(), &incoming)) };
    }
}
