//! LLVM remarks: every SCoP and every refusal, at its place in the source.

use crate::PluginError;
use crate::assembler::Code;
use crate::commit::Compiled;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_codegen_ptx::ImageKind;
use pollyrs_llvm_shim::{RemarkKind, location, remark};
use pollyrs_schedule::Placement;
use pollyrs_scop::{ArrayKind, Location, RejectReason, Rejection};
use pollyrs_tuning::Entry;

/// `-Rpass=pollyrs` for an offloaded SCoP, `-Rpass-analysis=pollyrs` for what it assumes.
pub fn offloaded(f: LLVMValueRef, c: &Compiled) {
    let scop = &c.scop;
    let at = scop.region.blocks.iter().find_map(|b| {
        instructions(b.0 as LLVMBasicBlockRef).into_iter().find(|i| matches(*i, scop.location.as_ref()))
    });
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let memory = scop.arrays.iter().filter(|a| matches!(a.kind, ArrayKind::Memory { .. })).count();
    let private = c.mapped.placement.iter().filter(|p| **p == Placement::Private).count();
    let mut message = format!(
        "offloaded {}: {}, {}, {}, {}",
        scop.name,
        count(scop.loops.len(), "loop"),
        count(scop.statements.len(), "statement"),
        count(memory, "array"),
        count(c.mapped.kernels.len(), "kernel")
    );
    if private > 0 {
        message.push_str(&format!(", {}", count(private, "private scalar")));
    }
    remark(f, RemarkKind::Passed, "Offloaded", at, &message);
    if let Some(code) = &c.code {
        device_code(f, at, code);
    }
    match &c.fused {
        Some(Ok(steps)) => {
            remark(f, RemarkKind::Passed, "FusedSteps", at, &format!("fuses steps: {}", steps.what))
        }
        Some(Err(why)) => {
            remark(f, RemarkKind::Analysis, "StepsNotFused", at, &format!("steps are not fused: {why}"))
        }
        None => {}
    }
    match &c.tuned {
        Some(Ok(what)) => {
            remark(f, RemarkKind::Passed, "Tuned", at, &format!("takes the tuned choice: {what}"))
        }
        Some(Err(why)) => {
            let text = format!("the tuned choice does not hold here, the model's is taken: {why}");
            remark(f, RemarkKind::Analysis, "TunedRefused", at, &text);
        }
        None => {}
    }
    let assumptions = scop.assumptions.iter().map(|a| (a.kind, &a.note));
    let assumptions: Vec<_> = assumptions.chain(scop.ranges.iter().map(|r| (r.kind, &r.note))).collect();
    for (n, (kind, note)) in assumptions.iter().enumerate() {
        // One text may stand for several conditions.
        if !assumptions[..n].contains(&(*kind, note)) {
            remark(f, RemarkKind::Analysis, "Assumption", at, &format!("assumes {kind}: {note}"));
        }
    }
    for (a, b) in &scop.alias_checks {
        let or_one = if scop.in_place.contains(&(*a, *b)) { ", or are one array" } else { "" };
        let (a, b) = (&scop.array(*a).display, &scop.array(*b).display);
        let text = format!("checks that {a} and {b} do not overlap{or_one}");
        remark(f, RemarkKind::Analysis, "AliasCheck", at, &text);
    }
    for u in &scop.unwritten {
        let arrays: Vec<&str> = u.arrays.iter().map(|a| scop.array(*a).display.as_str()).collect();
        let text = format!("checks that stores to {} do not change {}", arrays.join(" and "), u.display);
        remark(f, RemarkKind::Analysis, "UnwrittenCheck", at, &text);
    }
}

/// `-Rpass-analysis=pollyrs`: which devices have code of their own, and what the driver is left to compile.
fn device_code(f: LLVMValueRef, at: Option<LLVMValueRef>, code: &Code) {
    let list = |kind: ImageKind| {
        let archs = code.images.iter().filter(|i| i.kind == kind).map(|i| format!("sm_{}", i.arch));
        archs.rev().collect::<Vec<_>>().join(", ")
    };
    let texts = list(ImageKind::Ptx);
    if texts.contains(',') {
        let text = format!(
            "has PTX for {texts}: products of doubles take tensor cores and asynchronous copies from sm_80 on, in larger shared memory; \
             older devices compute them point by point"
        );
        remark(f, RemarkKind::Analysis, "Generations", at, &text);
    }
    if let Some(why) = &code.missing {
        let text = format!("has no machine code, the driver compiles the PTX at the first execution: {why}");
        remark(f, RemarkKind::Analysis, "NoMachineCode", at, &text);
    }
}

/// `-Rpass-missed=pollyrs` for a refusal. `clone` is where the instructions are.
pub fn rejected(f: LLVMValueRef, clone: LLVMValueRef, r: &Rejection) {
    let place = r.location.as_ref().or(r.loop_location.as_ref());
    let at = place.and_then(|_| find(clone, place));
    let mut message = format!("not offloaded: {r}");
    if let (Some(l), Some(at)) = (&r.loop_location, &r.location)
        && l != at
    {
        message.push_str(&format!(" (loop at {l})"));
    }
    remark(f, RemarkKind::Missed, r.reason.remark_name(), at, &message);
}

/// An entry of a tuned file for this function that no loop nest of it has the content of.
pub fn stale(f: LLVMValueRef, entry: &Entry) {
    let what = format!(
        "the tuned choice for {} (content {}) fits no loop nest of this function any more: the model's choice is taken",
        entry.scop, entry.content
    );
    remark(f, RemarkKind::Analysis, "TunedStale", None, &what);
}

/// A budget that ends the work on a whole function.
pub fn budget(f: LLVMValueRef, function: &str, stage: &str) {
    let reason = RejectReason::Budget { stage: stage.into() };
    let r = Rejection { reason, function: function.into(), location: None, loop_location: None };
    remark(f, RemarkKind::Missed, r.reason.remark_name(), None, &format!("not offloaded: {r}"));
}

/// A function with loops that jumps to addresses of its blocks.
pub fn computed_goto(f: LLVMValueRef, function: &str) {
    let reason = RejectReason::Terminator { opcode: "indirectbr".into() };
    let r = Rejection { reason, function: function.into(), location: None, loop_location: None };
    remark(f, RemarkKind::Missed, r.reason.remark_name(), None, &format!("not offloaded: {r}"));
}

/// A failure of our own; the function is as it was.
pub fn internal(f: LLVMValueRef, e: &PluginError) {
    remark(f, RemarkKind::Missed, "Internal", None, &format!("not offloaded: internal error: {e}"));
}

fn find(function: LLVMValueRef, place: Option<&Location>) -> Option<LLVMValueRef> {
    // SAFETY: a live function.
    let mut block = unsafe { LLVMGetFirstBasicBlock(function) };
    while !block.is_null() {
        if let Some(i) = instructions(block).into_iter().find(|i| matches(*i, place)) {
            return Some(i);
        }
        // SAFETY: a live block.
        block = unsafe { LLVMGetNextBasicBlock(block) };
    }
    None
}

/// The instructions of a block, in order.
pub(crate) fn instructions(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: a live block.
    unsafe {
        let mut i = LLVMGetFirstInstruction(block);
        while !i.is_null() {
            all.push(i);
            i = LLVMGetNextInstruction(i);
        }
    }
    all
}

fn matches(i: LLVMValueRef, place: Option<&Location>) -> bool {
    match (location(i), place) {
        (Some(l), Some(p)) => l.line == p.line && l.column == p.column && l.file == p.file,
        _ => false,
    }
}
