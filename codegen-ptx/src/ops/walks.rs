//! Neighbouring elements that a thread accesses one after the other, as accesses of 16 bytes.
//!
//! **Problem.** A thread that walks along a part of an array, as those of running totals do, accesses elements that lie far from its neighbours'. Each of its accesses
//! costs a warp as many transactions as there are lanes. Unrolled iterations access neighbouring elements, and the device moves 16 bytes as fast as 4, but LLVM makes
//! no vector of them, since nobody knows where an array begins.
//!
//! **Solution.** Accesses of one block to consecutive elements become a call of a function, which asks at run time whether the first one is aligned to 16 bytes:
//! ```text
//! <16 x i32> @pollyrs.walk.load.16(ptr from)        aligned: vectors; else element by element
//! void @pollyrs.walk.store.16(<16 x i32>, ptr to)
//! ```
//! Loads move up to the first of them, stores down to the last one. The functions are inlined.
//!
//! # Invariants
//! - Nothing that is passed on the way may access the same memory: other arguments of a kernel that are `noalias`, other elements of the same address, or no memory at all.
//! - Only blocks that are loops by themselves are looked at: all their instructions run, or none.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ops::early::{base, is_noalias, kind, nature};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::collections::BTreeMap;

/// Bytes of an access of the device.
const WIDE: i64 = 16;
/// Bytes of fewer accesses are not worth a question.
const LEAST: i64 = 32;
/// Global memory, for code of the device.
const GLOBAL: u32 = 1;

/// What an address is computed from: a pointer, and what is added to it, each with the size that it is multiplied by.
type Place = (usize, Vec<(usize, u64)>);

/// An access to an element.
#[derive(Clone)]
struct Element {
    instruction: LLVMValueRef,
    /// In the block.
    at: usize,
    pointer: LLVMValueRef,
    ty: LLVMTypeRef,
    place: Place,
    offset: i64,
    bytes: i64,
}

/// Joins the accesses of kernels in an optimized module; whether there are functions to be inlined.
pub(crate) fn join(module: LLVMModuleRef) -> bool {
    let mut any = false;
    for function in functions(module) {
        for block in blocks(function) {
            // SAFETY: a live block of the function.
            let alone = unsafe {
                let end = LLVMGetBasicBlockTerminator(block);
                (0..LLVMGetNumSuccessors(end)).any(|i| LLVMGetSuccessor(end, i) == block)
            };
            if alone {
                // No two of them have an access in common, and what may move past what is known of all before any of them does.
                let runs = runs(module, function, block);
                any |= !runs.is_empty();
                runs.iter().for_each(|run| replace(module, run));
            }
        }
    }
    any
}

/// The accesses of a block that may be joined, each sorted by their elements.
fn runs(module: LLVMModuleRef, function: LLVMValueRef, block: LLVMBasicBlockRef) -> Vec<Vec<Element>> {
    let all: Vec<_> =
        instructions_of(block).into_iter().enumerate().map(|(at, i)| (i, element(module, i, at))).collect();
    let mut places: BTreeMap<(bool, Place, usize), Vec<Element>> = BTreeMap::new();
    for e in all.iter().filter_map(|(_, e)| e.as_ref()) {
        let loads = opcode(e.instruction) == LLVMOpcode::LLVMLoad;
        places.entry((loads, e.place.clone(), e.ty as usize)).or_default().push(e.clone());
    }
    let mut out = Vec::new();
    for mut found in places.into_values() {
        found.sort_by_key(|e| e.offset);
        for run in found.chunk_by(|a, b| a.offset + a.bytes == b.offset) {
            let whole = run.len() as i64 * run[0].bytes / WIDE * WIDE;
            let run = &run[..(whole / run[0].bytes) as usize];
            if whole >= LEAST && may_join(module, function, &all, run) {
                out.push(run.to_vec());
            }
        }
    }
    // By where they are: keys are addresses of this run of the compiler.
    out.sort_by_key(|run| run.iter().map(|e| e.at).min());
    out
}

/// An access to a number of a size that divides 16 bytes.
fn element(module: LLVMModuleRef, i: LLVMValueRef, at: usize) -> Option<Element> {
    // SAFETY: a live instruction; loads and stores are asked for what they have.
    unsafe {
        let (pointer, ty) = match LLVMGetInstructionOpcode(i) {
            LLVMOpcode::LLVMLoad => (LLVMGetOperand(i, 0), LLVMTypeOf(i)),
            LLVMOpcode::LLVMStore => (LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0))),
            _ => return None,
        };
        let number = matches!(
            LLVMGetTypeKind(ty),
            LLVMTypeKind::LLVMIntegerTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind
        );
        let plain = LLVMGetVolatile(i) == 0
            && LLVMIsAtomic(i) == 0
            && LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == GLOBAL;
        if !number || !plain {
            return None;
        }
        let layout = LLVMGetModuleDataLayout(module);
        let bytes = LLVMStoreSizeOfType(layout, ty);
        let bits = inkwell::llvm_sys::target::LLVMSizeOfTypeInBits(layout, ty);
        let whole = bytes * 8 == bits && [1, 2, 4, 8].contains(&bytes);
        if !whole || u64::from(LLVMGetAlignment(i)) < bytes {
            return None;
        }
        let (place, offset) = place(module, pointer);
        Some(Element { instruction: i, at, pointer, ty, place, offset, bytes: bytes as i64 })
    }
}

/// What an address is computed from, and how many bytes it is ahead of that.
fn place(module: LLVMModuleRef, mut pointer: LLVMValueRef) -> (Place, i64) {
    let (mut offset, mut terms) = (0_i64, Vec::new());
    // SAFETY: live values; an address computation with one index has two operands.
    unsafe {
        while !LLVMIsAGetElementPtrInst(pointer).is_null() && LLVMGetNumIndices(pointer) == 1 {
            let layout = LLVMGetModuleDataLayout(module);
            let size = LLVMStoreSizeOfType(layout, LLVMGetGEPSourceElementType(pointer));
            let mut left = vec![LLVMGetOperand(pointer, 1)];
            while let Some(v) = left.pop() {
                match (constant_int(v), is_sum(v)) {
                    (Some(c), _) => offset = offset.wrapping_add(c.wrapping_mul(size as i64)),
                    (None, true) => left.extend([LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)]),
                    (None, false) => terms.push((v as usize, size)),
                }
            }
            pointer = LLVMGetOperand(pointer, 0);
        }
    }
    terms.sort_unstable();
    ((pointer as usize, terms), offset)
}

/// Whether a value is the sum of its operands; addresses are computed modulo 2^64, as it is.
fn is_sum(v: LLVMValueRef) -> bool {
    // SAFETY: a live value; only instructions are asked for their code.
    unsafe {
        if LLVMIsAInstruction(v).is_null() {
            return false;
        }
        let adds = match LLVMGetInstructionOpcode(v) {
            LLVMOpcode::LLVMAdd => true,
            LLVMOpcode::LLVMOr => LLVMGetIsDisjoint(v) != 0,
            _ => false,
        };
        let ty = LLVMTypeOf(v);
        adds && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 64
    }
}

/// Whether the accesses may move to the first of them, or, of stores, to the last one.
fn may_join(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    all: &[(LLVMValueRef, Option<Element>)],
    run: &[Element],
) -> bool {
    let (Some(first), Some(last)) = (run.iter().map(|e| e.at).min(), run.iter().map(|e| e.at).max()) else {
        return false;
    };
    let loads = opcode(run[0].instruction) == LLVMOpcode::LLVMLoad;
    // SAFETY: live instructions of a module.
    let invariant = unsafe { kind(LLVMGetModuleContext(module), "invariant.load") };
    // SAFETY: as above.
    let constant = |i: LLVMValueRef| unsafe { !LLVMGetMetadata(i, invariant).is_null() };
    if loads && run.iter().all(|e| constant(e.instruction)) {
        return true;
    }
    run.iter().all(|e| {
        let passed = if loads { first..e.at } else { e.at + 1..last };
        passed.into_iter().all(|at| {
            let (i, access) = &all[at];
            let i = *i;
            match opcode(i) {
                LLVMOpcode::LLVMLoad if loads || constant(i) => true,
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
                    access.as_ref().is_some_and(|other| are_apart(function, e, other))
                }
                // SAFETY: a live call.
                LLVMOpcode::LLVMCall => unsafe { nature(i).0 },
                LLVMOpcode::LLVMFence | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => false,
                _ => true,
            }
        })
    })
}

fn are_apart(function: LLVMValueRef, a: &Element, b: &Element) -> bool {
    if a.place == b.place {
        return a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
    }
    match (base(function, a.pointer), base(function, b.pointer)) {
        (Some(p), Some(q)) => p != q && (is_noalias(function, p) || is_noalias(function, q)),
        _ => false,
    }
}

/// One call in place of the accesses, which are sorted by their elements.
fn replace(module: LLVMModuleRef, run: &[Element]) {
    let loads = opcode(run[0].instruction) == LLVMOpcode::LLVMLoad;
    let place = |e: &&Element| e.at;
    let found = if loads { run.iter().min_by_key(place) } else { run.iter().max_by_key(place) };
    let Some(here) = found else { return };
    // SAFETY: live instructions; what is erased has no users any more.
    unsafe {
        let ir = Ir::new(LLVMGetModuleContext(module));
        ir.before(here.instruction);
        let from = ir.byte_offset(here.pointer, ir.int(run[0].offset - here.offset));
        let f = function_of_run(&ir, module, run, loads);
        if loads {
            let v = ir.call_function(f, &[from]);
            for (n, e) in (0..).zip(run) {
                LLVMReplaceAllUsesWith(e.instruction, ir.extract(v, n));
            }
        } else {
            let values: Vec<_> = run.iter().map(|e| LLVMGetOperand(e.instruction, 0)).collect();
            ir.call_function(f, &[ir.vector(run[0].ty, &values), from]);
        }
        for e in run {
            LLVMInstructionEraseFromParent(e.instruction);
        }
    }
}

/// The function that accesses as many elements.
fn function_of_run(ir: &Ir, module: LLVMModuleRef, run: &[Element], loads: bool) -> LLVMValueRef {
    let (ty, length) = (run[0].ty, run.len() as u32);
    let all = ir.vector_type(ty, length);
    let pointer = ir.pointer_in(GLOBAL);
    // SAFETY: a live load or store.
    let constant = unsafe {
        loads && {
            let invariant = kind(ir.ctx, "invariant.load");
            run.iter().all(|e| !LLVMGetMetadata(e.instruction, invariant).is_null())
        }
    };
    // SAFETY: a live type.
    let kind_of = unsafe { LLVMGetTypeKind(ty) } as u32;
    let what = if loads { "load" } else { "store" };
    let name = format!("pollyrs.walk.{what}.{length}.{kind_of}.{}.{constant}", run[0].bytes);
    let signature = match loads {
        true => function_type(all, &[pointer]),
        false => function_type(ir.void_type(), &[all, pointer]),
    };
    let f = declare(module, &name, signature);
    // SAFETY: a live function, which gets a body once.
    unsafe {
        if !LLVMGetFirstBasicBlock(f).is_null() {
            return f;
        }
        LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage);
    }
    add_enum_attribute(ir.ctx, f, FUNCTION, "alwaysinline", 0);
    let body = Ir::new(ir.ctx);
    let at = param(f, u32::from(!loads));
    let [entry, wide, narrow] = ["entry", "wide", "narrow"].map(|name| body.append_block(f, name));
    body.at_end(entry);
    let low = body.and(body.ptr_to_int(at), body.int(WIDE - 1));
    body.cond_br(body.icmp(LLVMIntPredicate::LLVMIntEQ, low, body.int(0)), wide, narrow);
    for (block, step) in [(wide, (WIDE / run[0].bytes) as u32), (narrow, 1)] {
        body.at_end(block);
        let align = step * run[0].bytes as u32;
        let piece = if step == 1 { ty } else { body.vector_type(ty, step) };
        let mut result = poison_of(all);
        for n in (0..length).step_by(step as usize) {
            let from = body.element(ty, at, body.int(n.into()));
            if loads {
                let v = body.load_aligned(piece, from, align);
                if constant {
                    invariant_load(ir.ctx, v);
                }
                for m in 0..step {
                    let e = if step == 1 { v } else { body.extract(v, m) };
                    result = body.insert(result, e, n + m);
                }
            } else {
                let values: Vec<_> = (0..step).map(|m| body.extract(param(f, 0), n + m)).collect();
                let v = if step == 1 { values[0] } else { body.vector(ty, &values) };
                body.store_aligned(v, from, align);
            }
        }
        // SAFETY: the builder is at the end of a block; the value is the function's result.
        unsafe {
            match loads {
                true => LLVMBuildRet(body.raw(), result),
                false => LLVMBuildRetVoid(body.raw()),
            };
        }
    }
    f
}

fn invariant_load(context: LLVMContextRef, load: LLVMValueRef) {
    // SAFETY: a live load and context.
    unsafe {
        let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
        LLVMSetMetadata(load, kind(context, "invariant.load"), LLVMMetadataAsValue(context, node));
    }
}
