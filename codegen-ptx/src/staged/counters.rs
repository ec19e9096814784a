//! Counters of a block ([`pollyrs_schedule::Counters`]): updates of few elements are made in shared memory
//! first.
//!
//! ```text
//! elements = last - first + 1, or 0 if there is no room for them        the same for all threads of the launch
//! for e in thread, thread + threads, ..: counter[e] = identity
//! barrier
//! S, that updates a[k]:     if elements > 0: counter[k - first] op= v, else a[k] op= v
//! barrier
//! for e in thread, thread + threads, ..: if counter[e] != identity: a[first + e] op= counter[e]
//! ```
//! All are atomic operations but for the loops around the barriers.

use crate::affine::expr::pw_aff_expr;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{BARRIER, SHARED};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::grid;
use crate::kernel::storage::Element;
use crate::ops::updates;
use crate::staged::boxes::{ALIGN, in_memory};
use crate::staged::counted::{AllCounters, Counted};
use crate::staged::state::KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE, LLVMIntSLT};
use pollyrs_schedule::Counters;
use pollyrs_schedule::planted::planted;

/// Sets the counters, ahead of all instances.
pub(crate) fn begin(k: &mut KernelBuilder<'_>) -> Result<()> {
    let kernel = k.kernel();
    if kernel.counters().is_empty() {
        return Ok(());
    }
    let thread = k.ir.zext(grid::linear_thread(k)?, k.ir.i64_type());
    let shared = k.abstract_call(SHARED, k.ir.ptr_type());
    let mut all = AllCounters { at: Some((shared, thread)), ..AllCounters::default() };
    for c in kernel.counters() {
        let counted = counted(k, c, all.shared_bytes)?;
        all.shared_bytes += (c.most * k.scop.array(c.array).elem.bytes()).next_multiple_of(ALIGN);
        all.list.push(counted);
    }
    k.storage.counters = all;
    for at in 0..kernel.counters().len() {
        strided(k, at, |k, e| {
            let c = &k.storage.counters.list[at];
            let (array, identity) = (k.scop.array(c.array), c.identity);
            let to = counter(k, at, e)?;
            k.ir.note("the start of a counter", &array.display);
            k.ir.store_aligned(identity, to, array.elem.bytes());
            Ok(())
        })?;
    }
    barrier(k);
    Ok(())
}

fn barrier(k: &mut KernelBuilder<'_>) {
    if planted("counter-barrier") {
        return;
    }
    k.has_barrier = true;
    k.abstract_call(BARRIER, k.ir.void_type());
}

fn counted(k: &mut KernelBuilder<'_>, c: &Counters, start: u32) -> Result<Counted> {
    let accesses = k.scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
    let Some(update) = accesses.filter(|(_, a)| a.array == c.array).find_map(|(s, a)| s.update_of(a)) else {
        return internal("counters of what is not updated");
    };
    let (op, identity) = (update.op, host_value(update.identity));
    let elem = llvm_elem(k.ir, k.scop.array(c.array).elem);
    if identity.ty() != elem {
        return internal("counters of another type than the elements");
    }
    let context = k.kernel().context.clone().params()?;
    let ir = k.ir;
    let most = ir.int(c.most.into());
    let (mut first, mut size) = (Vec::new(), Vec::new());
    let (mut fits, mut elements) = (ir.bool(true), ir.int(1));
    for (low, high) in &c.bounds {
        let low = k.emit.emit_int(&pw_aff_expr(low, Some(&context))?)?;
        let high = k.emit.emit_int(&pw_aff_expr(high, Some(&context))?)?;
        let along = ir.add(ir.sub(high, low), ir.int(1));
        // Not more than there is room for in each product, so that none wraps.
        fits = ir.and(fits, ir.icmp(LLVMIntSLE, along, most));
        elements = ir.mul(elements, ir.select(fits, along, ir.int(0)));
        fits = ir.and(fits, ir.icmp(LLVMIntSLE, elements, most));
        first.push(low);
        size.push(along);
    }
    let elements = ir.select(fits, elements, ir.int(0));
    Ok(Counted { array: c.array, start, first, size, fits, elements, op, identity })
}

/// The address of a counter.
fn counter(k: &KernelBuilder<'_>, at: usize, number: Value) -> Result<Value> {
    let all = &k.storage.counters;
    let (Some((shared, _)), Some(c)) = (all.at, all.list.get(at)) else { return internal("no counters") };
    let bytes = k.ir.int(k.scop.array(c.array).elem.bytes().into());
    let offset = k.ir.add(k.ir.mul(number, bytes), k.ir.int(c.start.into()));
    Ok(k.ir.byte_offset(shared, offset))
}

/// Emits a loop in which a thread gets its part of an array's counters.
fn strided(
    k: &mut KernelBuilder<'_>,
    at: usize,
    body: impl FnOnce(&mut KernelBuilder<'_>, Value) -> Result<()>,
) -> Result<()> {
    let ir = k.ir;
    let Some((_, thread)) = k.storage.counters.at else { return internal("no counters") };
    let elements = k.storage.counters.list[at].elements;
    let threads: i64 = k.kernel().block.iter().map(|b| i64::from(b.size)).product();
    let function = ir.block().function();
    let [head, inside, after] =
        ["counters", "counter", "counted"].map(|name| ir.append_block(function, name));
    let before = ir.block();
    ir.br(head);
    ir.at_end(head);
    let number = ir.phi(ir.i64_type(), &[(thread, before)]);
    ir.cond_br(ir.icmp(LLVMIntSLT, number, elements), inside, after);
    ir.at_end(inside);
    body(k, number)?;
    let next = ir.add(number, ir.int(threads));
    ir.add_incoming(number, next, ir.block());
    ir.br(head);
    ir.at_end(after);
    Ok(())
}

/// Adds the counters to the arrays, behind all instances.
pub(crate) fn end(k: &mut KernelBuilder<'_>) -> Result<()> {
    if k.storage.counters.list.is_empty() {
        return Ok(());
    }
    barrier(k);
    for at in 0..k.storage.counters.list.len() {
        strided(k, at, |k, e| {
            let c = &k.storage.counters.list[at];
            let (id, op, identity) = (c.array, c.op, c.identity);
            let (first, size) = (c.first.clone(), c.size.clone());
            let array = k.scop.array(id);
            let from = counter(k, at, e)?;
            k.ir.note("a counter", &array.display);
            let counted = k.ir.load_aligned(llvm_elem(k.ir, array.elem), from, array.elem.bytes());
            let (mut rest, mut subscripts) = (e, first);
            for d in (0..size.len()).rev() {
                let own = if d == 0 { rest } else { k.ir.urem(rest, size[d]) };
                rest = if d == 0 { rest } else { k.ir.udiv(rest, size[d]) };
                subscripts[d] = k.ir.add(subscripts[d], own);
            }
            let to = in_memory(k, id, &subscripts)?;
            let after = k.unless(k.ir.icmp(LLVMIntEQ, counted, identity));
            k.ir.note("the sum of a counter", &array.display);
            updates::emit(k.ir, op, to, counted);
            k.ir.br(after);
            k.ir.at_end(after);
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether there are counters for an array, and the address of the one of an element.
pub(crate) fn of_element(k: &mut KernelBuilder<'_>, e: &Element<'_>) -> Result<Option<(Value, Value)>> {
    let Some(at) = k.storage.counters.list.iter().position(|c| c.array == e.array) else { return Ok(None) };
    let subscripts = e.subscripts()?;
    let ir = k.ir;
    let c = &k.storage.counters.list[at];
    let mut number = ir.int(0);
    for ((s, first), size) in subscripts.iter().zip(&c.first).zip(&c.size) {
        number = ir.add(ir.mul(number, *size), ir.sub(*s, *first));
    }
    let fits = c.fits;
    Ok(Some((fits, counter(k, at, number)?)))
}
