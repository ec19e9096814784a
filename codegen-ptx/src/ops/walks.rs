//! Neighbouring elements that a thread accesses one after the other, as accesses of 16 bytes.
//!
//! **Problem.** A thread that walks along a part of an array, as those of running totals do, accesses
//! elements that lie far from its neighbours'. Each of its accesses costs a warp as many transactions as
//! there are lanes. Unrolled iterations access neighbouring elements, and the device moves 16 bytes as fast
//! as 4, but LLVM makes no vector of them, since nobody knows where an array begins.
//!
//! **Solution.** Accesses of one block to consecutive elements become a call of a function, which asks at run
//! time whether the first one is aligned to 16 bytes:
//! ```text
//! <16 x i32> @pollyrs.walk.load.16(ptr from)        aligned: vectors; else element by element
//! void @pollyrs.walk.store.16(<16 x i32>, ptr to)
//! ```
//! Loads move up to the first of them, stores down to the last one. The functions are inlined.
//!
//! # Invariants
//! - Nothing that is passed on the way may access the same memory: other arguments of a kernel that are
//!   `noalias`, other elements of the same address, or no memory at all.
//! - Only blocks that are loops by themselves are looked at: all their instructions run, or none.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ops::load_hoisting::{base, is_noalias, nature};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::collections::BTreeMap;

/// Bytes of an access of the device.
const WIDE: i64 = 16;
/// Bytes of fewer accesses are not worth a question.
const LEAST: i64 = 32;
/// Global memory, for code of the device.
pub(crate) const GLOBAL: u32 = 1;
/// Memory of a block.
pub(crate) const SHARED: u32 = 3;

/// What an address is computed from: a pointer, and what is added to it, each with the size that it is
/// multiplied by.
type Place = (usize, Vec<(usize, u64)>);

/// An access to an element.
#[derive(Clone)]
struct Element {
    instruction: Value,
    /// In the block.
    at: usize,
    pointer: Value,
    ty: Type,
    place: Place,
    offset: i64,
    bytes: i64,
}

impl Element {
    /// With all that its address is computed from.
    fn with(self, module: Module) -> Element {
        let (place, offset) = place(module, self.pointer, true);
        Element { place, offset, ..self }
    }
}

/// Joins the accesses of kernels in an optimized module; whether there are functions to be inlined.
pub(crate) fn join(module: Module) -> bool {
    let mut any = false;
    for function in module.functions() {
        for block in function.blocks() {
            if block.successors().contains(&block) {
                // No two of them have an access in common, and what may move past what is known of all before
                // any of them does.
                let runs = runs(module, function, block);
                any |= !runs.is_empty();
                runs.iter().for_each(|run| replace(module, run));
            }
        }
    }
    any
}

/// The accesses of a block that may be joined, each sorted by their elements.
fn runs(module: Module, function: Value, block: Block) -> Vec<Vec<Element>> {
    let all: Vec<_> =
        block.instructions().into_iter().enumerate().map(|(at, i)| (i, element(module, i, at))).collect();
    let mut places: BTreeMap<(bool, Place, usize), Vec<Element>> = BTreeMap::new();
    for e in all.iter().filter_map(|(_, e)| e.as_ref()) {
        let loads = e.instruction.opcode() == LLVMOpcode::LLVMLoad;
        places.entry((loads, e.place.clone(), e.ty.address())).or_default().push(e.clone());
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

/// An access to a number in global memory of a size that divides 16 bytes.
fn element(module: Module, i: Value, at: usize) -> Option<Element> {
    access(module, i, at).filter(|e| e.pointer.ty().address_space() == Some(GLOBAL))
}

/// Whether two loads or stores access different bytes.
pub(crate) fn apart(module: Module, function: Value, a: Value, b: Value) -> bool {
    let of = |i| access(module, i, 0).map(|e| e.with(module));
    let (Some(a), Some(b)) = (of(a), of(b)) else { return false };
    let spaces = [&a, &b].map(|e| e.pointer.ty().address_space());
    // (A pointer to neither of them may point to both.)
    let known = spaces.iter().all(|s| [Some(GLOBAL), Some(SHARED)].contains(s));
    known && spaces[0] != spaces[1] || are_apart(function, &a, &b)
}

/// An access to a number of a size that divides 16 bytes.
fn access(module: Module, i: Value, at: usize) -> Option<Element> {
    let (pointer, ty) = match i.opcode() {
        LLVMOpcode::LLVMLoad => (i.operand(0), i.ty()),
        LLVMOpcode::LLVMStore => (i.operand(1), i.operand(0).ty()),
        _ => return None,
    };
    let number = matches!(
        ty.kind(),
        LLVMTypeKind::LLVMIntegerTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
    );
    if !number || i.is_volatile() || i.is_atomic() {
        return None;
    }
    let bytes = module.store_size(ty);
    let whole = bytes * 8 == module.size_in_bits(ty) && [1, 2, 4, 8].contains(&bytes);
    if !whole || u64::from(i.alignment()) < bytes {
        return None;
    }
    let (place, offset) = place(module, pointer, false);
    Some(Element { instruction: i, at, pointer, ty, place, offset, bytes: bytes as i64 })
}

/// What an address is computed from, and how many bytes it is ahead of that. `deep`: through products by
/// constants as well. (Accesses are joined without: what it finds in addition, as in loops of plain
/// convolutions, is not measured.)
fn place(module: Module, mut pointer: Value, deep: bool) -> (Place, i64) {
    let (mut offset, mut terms) = (0_i64, Vec::new());
    while pointer.is_gep() && pointer.index_count() == 1 {
        let mut left = vec![(pointer.operand(1), module.store_size(pointer.source_type()))];
        while let Some((v, size)) = left.pop() {
            match (v.constant_int(), is_sum(v), multiple(v).filter(|_| deep)) {
                (Some(c), ..) => offset = offset.wrapping_add(c.wrapping_mul(size as i64)),
                (None, true, _) => left.extend([v.operand(0), v.operand(1)].map(|v| (v, size))),
                (None, false, Some((v, times))) => left.push((v, size.wrapping_mul(times))),
                (None, false, None) => terms.push((v.address(), size)),
            }
        }
        pointer = pointer.operand(0);
    }
    terms.sort_unstable();
    ((pointer.address(), terms), offset)
}

/// A value and the constant that another one is its product with, modulo 2^64.
fn multiple(v: Value) -> Option<(Value, u64)> {
    let by =
        (v.ty().int_width() == Some(64) && v.is_binary()).then(|| v.operand(1).constant_unsigned())??;
    match v.opcode() {
        LLVMOpcode::LLVMShl if by < 64 => Some((v.operand(0), 1 << by)),
        LLVMOpcode::LLVMMul => Some((v.operand(0), by)),
        _ => None,
    }
}

/// Whether a value is the sum of its operands; addresses are computed modulo 2^64, as it is.
fn is_sum(v: Value) -> bool {
    let adds = match v.opcode() {
        LLVMOpcode::LLVMAdd => true,
        LLVMOpcode::LLVMOr => v.is_disjoint(),
        _ => false,
    };
    adds && v.ty().int_width() == Some(64)
}

/// Whether the accesses may move to the first of them, or, of stores, to the last one.
fn may_join(module: Module, function: Value, all: &[(Value, Option<Element>)], run: &[Element]) -> bool {
    let (Some(first), Some(last)) = (run.iter().map(|e| e.at).min(), run.iter().map(|e| e.at).max()) else {
        return false;
    };
    let loads = run[0].instruction.opcode() == LLVMOpcode::LLVMLoad;
    let invariant = module.context().kind("invariant.load");
    let constant = |i: Value| i.metadata(invariant).is_some();
    if loads && run.iter().all(|e| constant(e.instruction)) {
        return true;
    }
    run.iter().all(|e| {
        let passed = if loads { first..e.at } else { e.at + 1..last };
        passed.into_iter().all(|at| {
            let (i, access) = &all[at];
            let i = *i;
            match i.opcode() {
                LLVMOpcode::LLVMLoad if loads || constant(i) => true,
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
                    access.as_ref().is_some_and(|other| are_apart(function, e, other))
                }
                LLVMOpcode::LLVMCall => nature(i).0,
                LLVMOpcode::LLVMFence | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => false,
                _ => true,
            }
        })
    })
}

fn are_apart(function: Value, a: &Element, b: &Element) -> bool {
    if a.place == b.place {
        return a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
    }
    match (base(function, a.pointer), base(function, b.pointer)) {
        (Some(p), Some(q)) => p != q && (is_noalias(function, p) || is_noalias(function, q)),
        _ => false,
    }
}

/// One call in place of the accesses, which are sorted by their elements.
fn replace(module: Module, run: &[Element]) {
    let loads = run[0].instruction.opcode() == LLVMOpcode::LLVMLoad;
    let place = |e: &&Element| e.at;
    let found = if loads { run.iter().min_by_key(place) } else { run.iter().max_by_key(place) };
    let Some(here) = found else { return };
    let ir = Ir::new(module.context());
    ir.before(here.instruction);
    let from = ir.byte_offset(here.pointer, ir.int(run[0].offset - here.offset));
    let f = function_of_run(&ir, module, run, loads);
    if loads {
        let v = ir.call_function(f, &[from]);
        for (n, e) in (0..).zip(run) {
            e.instruction.replace_uses(ir.extract(v, n));
        }
    } else {
        let values: Vec<_> = run.iter().map(|e| e.instruction.operand(0)).collect();
        ir.call_function(f, &[ir.vector(run[0].ty, &values), from]);
    }
    for e in run {
        // SAFETY: nothing uses it any more.
        unsafe { e.instruction.erase() };
    }
}

/// The function that accesses as many elements.
fn function_of_run(ir: &Ir, module: Module, run: &[Element], loads: bool) -> Value {
    let (ty, length) = (run[0].ty, run.len() as u32);
    let all = ir.vector_type(ty, length);
    let pointer = ir.pointer_in(GLOBAL);
    let constant = loads && {
        let invariant = ir.ctx.kind("invariant.load");
        run.iter().all(|e| e.instruction.metadata(invariant).is_some())
    };
    let kind_of = ty.kind() as u32;
    let what = if loads { "load" } else { "store" };
    let name = format!("pollyrs.walk.{what}.{length}.{kind_of}.{}.{constant}", run[0].bytes);
    let signature = match loads {
        true => all.function(&[pointer]),
        false => ir.void_type().function(&[all, pointer]),
    };
    let f = module.declare(&name, signature);
    if f.first_block().is_some() {
        return f;
    }
    f.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    f.add_attribute(FUNCTION, "alwaysinline", 0);
    let body = Ir::new(ir.ctx);
    let at = f.param(u32::from(!loads));
    let [entry, wide, narrow] = ["entry", "wide", "narrow"].map(|name| body.append_block(f, name));
    body.at_end(entry);
    let low = body.and(body.ptr_to_int(at), body.int(WIDE - 1));
    body.cond_br(body.icmp(LLVMIntPredicate::LLVMIntEQ, low, body.int(0)), wide, narrow);
    for (block, step) in [(wide, (WIDE / run[0].bytes) as u32), (narrow, 1)] {
        body.at_end(block);
        let align = step * run[0].bytes as u32;
        let piece = if step == 1 { ty } else { body.vector_type(ty, step) };
        let mut result = all.poison();
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
                let values: Vec<_> = (0..step).map(|m| body.extract(f.param(0), n + m)).collect();
                let v = if step == 1 { values[0] } else { body.vector(ty, &values) };
                body.store_aligned(v, from, align);
            }
        }
        match loads {
            true => body.ret(result),
            false => body.ret_void(),
        };
    }
    f
}

fn invariant_load(context: Context, load: Value) {
    load.set_metadata(context.kind("invariant.load"), Some(context.node(&[])));
}
