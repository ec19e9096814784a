//! Exact divisions and roots that stand together in a block of an optimized kernel share one test
//! ([`quick`]): those of one iteration, of the points of a thread, of an unrolled loop.
//!
//! ```text
//! block:  ...; q0 = fdiv x0, y0; r1 = sqrt q0; ...; rest
//! ```
//! becomes
//! ```text
//! block:  ...; q0 = quick.divide(x0, y0); r1 = quick.root(q0); unusual ? exact : join
//! exact:  p0 = fdiv x0, y0; s1 = sqrt p0; ...; br join
//! join:   phi(q0, p0), phi(r1, s1), ...; rest
//! ```
//!
//! # Invariants
//! - What is computed twice has no effects: from the first to the last operation of a run there are no
//!   stores, no calls but pure ones, no ordered loads.
//! - Runs of a single operation stay: ptxas has a test of its own for it.
//! - The block for unusual operands is not looked at again.

use crate::Result;
use crate::ir::builder::{Ir, erase, module_context, terminator};
use crate::ir::llvm::*;
use crate::ops::quick;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};
use std::collections::{BTreeMap, BTreeSet};

/// Operations that share a test, at least.
const LEAST: usize = 2;
/// Instructions from the first to the last one, and of all runs of a kernel, at most: code.
const MOST: usize = 512;
const MOST_OF_KERNEL: usize = 2048;

/// Lets the exact divisions and roots of all kernels share their tests.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    let ir = Ir::new(module_context(module));
    let mut any = false;
    for function in functions(module) {
        // SAFETY: a live function.
        if unsafe { LLVMIsDeclaration(function) } != 0 {
            continue;
        }
        let mut left = MOST_OF_KERNEL;
        let rare = rare_blocks(&ir, function);
        // (Blocks that are made on the way come behind these.)
        for mut block in blocks(function) {
            if rare.contains(&(block as usize)) {
                continue;
            }
            while let Some(run) = first_run(block).filter(|run| run.len() <= left) {
                left -= run.len();
                block = part(&ir, module, function, block, &run);
                any = true;
            }
        }
    }
    if any { quick::to_ptx(module) } else { Ok(()) }
}

/// The blocks for unusual operands, of stencils say: first successors of branches that tell how likely they
/// are ([`Ir::mark_rare`]).
fn rare_blocks(ir: &Ir, function: LLVMValueRef) -> BTreeSet<usize> {
    const PROFILE: &str = "prof";
    // SAFETY: live context; the name is passed with its length.
    let kind = unsafe { LLVMGetMDKindIDInContext(ir.ctx, PROFILE.as_ptr().cast(), PROFILE.len() as u32) };
    let ends = blocks(function).into_iter().filter_map(terminator);
    let first = |t: LLVMValueRef| {
        // SAFETY: a live terminator; only one with two successors is asked for its first.
        unsafe {
            let marked = LLVMGetNumSuccessors(t) == 2 && !LLVMGetMetadata(t, kind).is_null();
            marked.then(|| LLVMGetSuccessor(t, 0) as usize)
        }
    };
    ends.filter_map(first).collect()
}

/// The instructions from the first to the last operation of the first run of a block that has enough of them.
fn first_run(block: LLVMBasicBlockRef) -> Option<Vec<LLVMValueRef>> {
    let all = instructions_of(block);
    let mut at = 0;
    while at < all.len() {
        let from = at + all[at..].iter().position(|i| quick::is_exact(*i))?;
        let effects = all[from..].iter().position(|i| !quick::is_exact(*i) && !repeats(*i));
        let end = from + effects.unwrap_or(all.len() - from).min(MOST);
        let run = &all[from..end];
        let last = run.iter().rposition(|i| quick::is_exact(*i)).unwrap_or(0);
        if run.iter().filter(|i| quick::is_exact(**i)).count() >= LEAST {
            return Some(run[..=last].to_vec());
        }
        at = end.max(from + 1);
    }
    None
}

/// Whether an instruction may be executed twice.
fn repeats(i: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    // SAFETY: a live instruction; loads are asked for their order, calls for what is called.
    unsafe {
        match LLVMGetInstructionOpcode(i) {
            LLVMLoad => {
                LLVMGetVolatile(i) == 0
                    && LLVMGetOrdering(i) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            }
            LLVMCall => is_pure(LLVMGetCalledValue(i)),
            LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMAlloca | LLVMVAArg => false,
            _ => LLVMIsATerminatorInst(i).is_null() && LLVMIsAPHINode(i).is_null(),
        }
    }
}

/// Whether a function reads and writes no memory, returns, and may be called under another condition.
fn is_pure(callee: LLVMValueRef) -> bool {
    let kind = |name: &str| {
        // SAFETY: the name is passed with its length.
        unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
    };
    // SAFETY: a live value; only functions are asked for attributes, and an attribute for its value.
    unsafe {
        if LLVMIsAFunction(callee).is_null() {
            return false;
        }
        let attribute = |name| LLVMGetEnumAttributeAtIndex(callee, FUNCTION, kind(name));
        let memory = attribute("memory");
        !memory.is_null() && LLVMGetEnumAttributeValue(memory) == 0 && attribute("convergent").is_null()
    }
}

/// Divides a block behind a run, which becomes quick and has an exact copy for unusual operands; the block
/// with the rest.
fn part(
    ir: &Ir,
    module: LLVMModuleRef,
    function: LLVMValueRef,
    block: LLVMBasicBlockRef,
    run: &[LLVMValueRef],
) -> LLVMBasicBlockRef {
    let (exact, join) = (ir.append_block(function, "unusual"), ir.append_block(function, "usual"));
    let all = instructions_of(block);
    let end = all.iter().position(|i| Some(i) == run.last()).map_or(all.len(), |at| at + 1);
    // SAFETY: live instructions of the block and copies of them; each is in one block at a time, and operands
    // are set within their number.
    unsafe {
        ir.at_end(exact);
        let mut copies = BTreeMap::new();
        for i in run {
            let copy = LLVMInstructionClone(*i);
            LLVMInsertIntoBuilder(ir.raw(), copy);
            for at in 0..LLVMGetNumOperands(copy) as u32 {
                if let Some(other) = copies.get(&(LLVMGetOperand(copy, at) as usize)) {
                    LLVMSetOperand(copy, at, *other);
                }
            }
            copies.insert(*i as usize, copy);
        }
        ir.br(join);
        ir.at_end(join);
        let inside: BTreeSet<usize> = run.iter().map(|i| *i as usize).collect();
        for i in run {
            let users: Vec<_> = list(LLVMGetFirstUse(*i), |u| LLVMGetNextUse(u))
                .into_iter()
                .map(|u| LLVMGetUser(u))
                .collect();
            if users.iter().all(|u| inside.contains(&(*u as usize))) {
                continue;
            }
            let phi = ir.phi(LLVMTypeOf(*i), &[(*i, block), (copies[&(*i as usize)], exact)]);
            for user in users.into_iter().filter(|u| !inside.contains(&(*u as usize)) && *u != phi) {
                for at in 0..LLVMGetNumOperands(user) as u32 {
                    if LLVMGetOperand(user, at) == *i {
                        LLVMSetOperand(user, at, phi);
                    }
                }
            }
        }
        for i in &all[end..] {
            LLVMInstructionRemoveFromParent(*i);
            LLVMInsertIntoBuilder(ir.raw(), *i);
        }
    }
    comes_from(ir, block, join);
    ir.at_end(block);
    // SAFETY: the first instruction of the run is where it was.
    let before = unsafe { LLVMGetPreviousInstruction(run[0]) };
    let test = quick::quicken_in(ir, module, (!before.is_null()).then_some(before));
    let test = test.unwrap_or_else(|| ir.bool(false));
    ir.mark_rare(ir.cond_br(test, exact, join));
    join
}

/// The successors of `to` have come from `from` so far.
fn comes_from(ir: &Ir, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) {
    let Some(end) = terminator(to) else { return };
    // SAFETY: a live terminator and its successors; a PHI is asked for its incoming values.
    unsafe {
        let successors: BTreeSet<usize> =
            (0..LLVMGetNumSuccessors(end)).map(|s| LLVMGetSuccessor(end, s) as usize).collect();
        for block in successors {
            for phi in instructions_of(block as LLVMBasicBlockRef) {
                if LLVMIsAPHINode(phi).is_null() {
                    break;
                }
                ir.before(phi);
                let incoming: Vec<_> = (0..LLVMCountIncoming(phi))
                    .map(|n| (LLVMGetIncomingValue(phi, n), LLVMGetIncomingBlock(phi, n)))
                    .map(|(v, b)| (v, if b == from { to } else { b }))
                    .collect();
                let new = ir.phi(LLVMTypeOf(phi), &incoming);
                LLVMReplaceAllUsesWith(phi, new);
                erase(phi);
            }
        }
    }
}
