//! Where a function's arrays may stay on the device between its SCoPs.
//!
//! Problem: a host loop around SCoPs moves the same arrays back and forth, although nobody looks at them in between. The run-time
//! library keeps them where it may (`pollyrs_rt_begin_held`); this module finds the instructions before which it may not any more.
//!
//! ```text
//! do {                                   // err is read each time round, u and v are not
//!   S1: v = f(u), err = ...              begin_held(u: object 0, v: object 1)
//!   S2: u = v                            begin_held(u, v)
//!   if (step++ % 10 == 0) log(u[0]);     leave: a call that may do anything
//! } while (err > eps);
//! return u[n/2];                         release(read: object 0) before the load, leave before the return
//! ```
//!
//! # Invariants
//! - An array is held only if all objects that its base may point into are values that an activation of the function computes at most
//!   once; so what alias analysis says of an object and an instruction holds for all executions of the instruction.
//! - Every instruction outside of SCoPs that may touch an object, may order this thread's accesses with another's, or may leave the
//!   function, has a release before it, unless no SCoP can have run by then. The original loops have theirs in the host plan.
//! - A release in a loop without SCoPs stands before the loop: nothing becomes resident in between.
//! - Of calls this module knows what [`crate::effects`] says. One that publishes is a read of all objects that others may know: results come
//!   back, and the device's copies stay valid.

use crate::effects::{Effects, Summaries, pointers};
use crate::remarks::instructions;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use pollyrs_codegen_ptx::{ALL_OBJECTS, MAX_OBJECTS, Release};
use pollyrs_llvm_shim::{self as shim, Analyses, Touch};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};
use std::collections::{BTreeMap, BTreeSet};

/// See the module documentation.
pub struct Plan {
    /// For each SCoP, the objects that each held array may belong to, a bit each.
    pub masks: Vec<BTreeMap<ArrayId, u32>>,
    /// In block order.
    pub releases: Vec<Release>,
}

/// `None`: nothing could stay. `scops` are those of one function, which `analyses` describes.
pub fn plan(analyses: &Analyses<'_>, scops: &[&Scop], summaries: &Summaries<'_>) -> Option<Plan> {
    let cfg = Cfg::new(analyses, scops);
    // A first look that costs nothing: does a SCoP run after a SCoP?
    let after = cfg.after(scops, &BTreeSet::new());
    if !scops.iter().any(|s| after.contains(&s.region.entry.0)) || !analyses.leaves_plainly() {
        return None;
    }
    let mut objects = Vec::new();
    let masks: Vec<BTreeMap<ArrayId, u32>> =
        scops.iter().map(|scop| masks(analyses, scop, &mut objects)).collect();
    if objects.is_empty() {
        return None;
    }
    let found = releases(analyses, &cfg, &objects, &after, summaries);
    let leaves = found.values().filter(|r| r.leaves()).map(|r| block_of(r.before)).collect();
    let reached = cfg.after(scops, &leaves);
    if !scops.iter().any(|s| reached.contains(&s.region.entry.0)) {
        return None;
    }
    Some(Plan { masks, releases: found.into_values().collect() })
}

/// The arrays of a SCoP that may be held; new objects get the next numbers.
fn masks(analyses: &Analyses<'_>, scop: &Scop, objects: &mut Vec<LLVMValueRef>) -> BTreeMap<ArrayId, u32> {
    let mut masks = BTreeMap::new();
    for (i, array) in scop.arrays.iter().enumerate() {
        let ArrayKind::Memory { base } = array.kind else { continue };
        let own = analyses.underlying_objects(base.0 as LLVMValueRef);
        if own.is_empty() || !own.iter().all(|v| computed_once(analyses, *v)) {
            continue;
        }
        let mut mask = 0;
        for object in own {
            let number = objects.iter().position(|o| *o == object).unwrap_or_else(|| {
                objects.push(object);
                objects.len() - 1
            });
            mask |= bit(number);
        }
        masks.insert(ArrayId(i), mask);
    }
    masks
}

/// The last bit stands for all objects from its number on.
fn bit(number: usize) -> u32 {
    1 << number.min(MAX_OBJECTS - 1)
}

fn computed_once(analyses: &Analyses<'_>, v: LLVMValueRef) -> bool {
    // SAFETY: live values.
    unsafe {
        if LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMTypeKind::LLVMPointerTypeKind {
            return false;
        }
        if LLVMIsAInstruction(v).is_null() {
            return true;
        }
        analyses.innermost_loop(LLVMGetInstructionParent(v)).is_none()
    }
}

/// What is needed of the control flow graph. Blocks are keys by address; everything that leaves this module is in block order.
struct Cfg {
    blocks: Vec<LLVMBasicBlockRef>,
    successors: BTreeMap<usize, Vec<usize>>,
    /// Blocks of SCoPs.
    inside: BTreeSet<usize>,
    /// Error blocks that are connected again later, and what only they lead to.
    cut: BTreeSet<usize>,
    /// Where the releases of a block's loop without SCoPs go: the preheader.
    hoisted: BTreeMap<usize, LLVMBasicBlockRef>,
}

impl Cfg {
    fn new(analyses: &Analyses<'_>, scops: &[&Scop]) -> Cfg {
        let (mut blocks, mut successors) = (Vec::new(), BTreeMap::new());
        // SAFETY: a live function and its blocks.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(analyses.function());
            while !block.is_null() {
                blocks.push(block);
                let terminator = LLVMGetBasicBlockTerminator(block);
                let n = if terminator.is_null() { 0 } else { LLVMGetNumSuccessors(terminator) };
                let next = (0..n).map(|i| LLVMGetSuccessor(terminator, i) as usize).collect();
                successors.insert(block as usize, next);
                block = LLVMGetNextBasicBlock(block);
            }
        }
        let inside: BTreeSet<usize> =
            scops.iter().flat_map(|s| s.region.blocks.iter().map(|b| b.0)).collect();
        let reachable: BTreeSet<usize> = analyses.reverse_postorder().iter().map(|b| *b as usize).collect();
        let cut = blocks.iter().map(|b| *b as usize).filter(|b| !reachable.contains(b)).collect();
        let mut hoisted = BTreeMap::new();
        // Outer loops come first and win.
        for l in analyses.loops() {
            let free = l.blocks.iter().all(|b| !inside.contains(&(*b as usize)));
            let Some(preheader) = l.preheader.filter(|p| free && !inside.contains(&(*p as usize))) else {
                continue;
            };
            for b in &l.blocks {
                hoisted.entry(*b as usize).or_insert(preheader);
            }
        }
        Cfg { blocks, successors, inside, cut, hoisted }
    }

    /// Blocks that can run after a SCoP, with no block of `barriers` in between.
    fn after(&self, scops: &[&Scop], barriers: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut work: Vec<usize> = scops.iter().map(|s| s.region.exit.0).collect();
        while let Some(block) = work.pop() {
            if reached.insert(block) && !barriers.contains(&block) {
                work.extend(self.successors.get(&block).into_iter().flatten());
            }
        }
        reached
    }
}

/// By position: the number of the block, and whether it is the block's end (where hoisted releases are).
fn releases(
    analyses: &Analyses<'_>,
    cfg: &Cfg,
    objects: &[LLVMValueRef],
    after: &BTreeSet<usize>,
    summaries: &Summaries<'_>,
) -> BTreeMap<(usize, bool), Release> {
    let number: BTreeMap<usize, usize> =
        cfg.blocks.iter().enumerate().map(|(i, b)| (*b as usize, i)).collect();
    let mut found: BTreeMap<(usize, bool), Release> = BTreeMap::new();
    let mut add = |key: (usize, bool), release: Release| {
        let known = found.entry(key).or_insert(release);
        known.read |= release.read;
        known.write |= release.write;
    };
    for (i, block) in cfg.blocks.iter().enumerate() {
        let key = *block as usize;
        let cut = cfg.cut.contains(&key);
        if cfg.inside.contains(&key) || !(cut || after.contains(&key)) {
            continue;
        }
        for instruction in instructions(*block) {
            if exits(instruction) {
                add((i, true), Release { before: instruction, read: ALL_OBJECTS, write: ALL_OBJECTS });
                continue;
            }
            let (mut read, mut write) = effect(analyses, instruction, objects, summaries);
            if read | write == 0 {
                continue;
            }
            if cut {
                // Whatever it is, it is on the way out.
                (read, write) = (ALL_OBJECTS, ALL_OBJECTS);
            }
            let end = |b: LLVMBasicBlockRef| {
                // SAFETY: a live block, which ends in a branch.
                unsafe { LLVMGetBasicBlockTerminator(b) }
            };
            match cfg.hoisted.get(&key) {
                Some(to) => add((number[&(*to as usize)], true), Release { before: end(*to), read, write }),
                None => add((i, false), Release { before: instruction, read, write }),
            }
        }
    }
    found
}

/// The objects that an instruction may read and write; all of them where it may do anything.
fn effect(
    analyses: &Analyses<'_>,
    instruction: LLVMValueRef,
    objects: &[LLVMValueRef],
    summaries: &Summaries<'_>,
) -> (u32, u32) {
    let (mut read, mut write) = (0, 0);
    // SAFETY: a live instruction.
    let opcode = unsafe { LLVMGetInstructionOpcode(instruction) };
    let is_call = matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke);
    if let Some(effects) = is_call.then(|| summaries.of_call(instruction)).flatten() {
        let caught = opcode == LLVMOpcode::LLVMInvoke
            || shim::call_facts(instruction).no_throw
            || shim::does_not_throw(analyses.function());
        if effects.anything || (effects.throws && !caught) {
            return (ALL_OBJECTS, ALL_OBJECTS);
        }
        for (number, object) in objects.iter().enumerate() {
            let touch = call_effect(analyses, instruction, &effects, *object);
            read |= if touch.read { bit(number) } else { 0 };
            write |= if touch.write { bit(number) } else { 0 };
        }
        return (read, write);
    }
    for (number, object) in objects.iter().enumerate() {
        let effect = analyses.memory_effect(instruction, *object);
        if effect.anything {
            return (ALL_OBJECTS, ALL_OBJECTS);
        }
        read |= if effect.reads { bit(number) } else { 0 };
        write |= if effect.writes { bit(number) } else { 0 };
    }
    (read, write)
}

/// What a call with a summary does to an object.
fn call_effect(
    analyses: &Analyses<'_>,
    call: LLVMValueRef,
    effects: &Effects,
    object: LLVMValueRef,
) -> Touch {
    // A `restrict` argument is known to others: to those that called this function.
    // SAFETY: a live value.
    let private = unsafe { !LLVMIsAAllocaInst(object).is_null() } || shim::is_new_memory(object);
    let possible = analyses.touches(call, object);
    let published = effects.publishes && (possible.any() || !private);
    // Without what alias analysis says a summary would have to know what escaped.
    let mut touch = effects.other;
    for (global, by) in &effects.globals {
        if analyses.may_alias(*global as LLVMValueRef, object) {
            touch |= *by;
        }
    }
    // SAFETY: a live call.
    let count = unsafe { LLVMGetNumArgOperands(call) };
    for (index, pointer) in pointers(call, count) {
        let by = effects.arguments.get(index as usize).copied().unwrap_or_default();
        if by.any() && analyses.may_alias(pointer, object) {
            touch |= by;
        }
    }
    touch = touch.and(possible);
    touch.read |= published;
    touch
}

/// Ends the activation.
fn exits(instruction: LLVMValueRef) -> bool {
    // SAFETY: a live instruction.
    match unsafe { LLVMGetInstructionOpcode(instruction) } {
        LLVMOpcode::LLVMRet | LLVMOpcode::LLVMResume => true,
        // SAFETY: as above; without a successor it unwinds to the caller.
        LLVMOpcode::LLVMCleanupRet | LLVMOpcode::LLVMCatchSwitch => unsafe {
            LLVMGetNumSuccessors(instruction) == 0
        },
        _ => false,
    }
}

fn block_of(instruction: LLVMValueRef) -> usize {
    // SAFETY: a live instruction.
    unsafe { LLVMGetInstructionParent(instruction) as usize }
}
