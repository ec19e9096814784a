//! Launches that several devices share (`pollyrs_rt_parts`).
//!
//! ```text
//! n = pollyrs_rt_parts(run, kernel, units)                         units: of neighbouring tiles along the grid's first dimension
//! if (n > 0) {
//!   for (j = 0, from = 0; j < n; j++, from = to) {
//!     to = min(count, unit * (units * (j + 1) / n))
//!     ranges = for each array the first and the behind-the-last byte that tiles from lower + from to lower + to touch, and of what they write
//!     pollyrs_rt_part(run, blocks, scalars with from * inner as the first block, ranges)
//!   }
//!   pollyrs_rt_launch_parts(run)
//! } else ... as a whole, or in slices
//! ```
//!
//! # Invariant
//! Each block is in one part: `to` of the last one is `count`, since `j + 1 = n` there. What a part touches
//! comes from [`pollyrs_schedule::Parts`], which the checker proved; where a computation overflows, it is
//! all.

use crate::affine::expr::ExprEmitter;
use crate::host::abi::PART_WORDS;
use crate::host::launch::Launcher;
use crate::host::ranges::{Range, linear_offset};
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::kernel::module::{KernelInfo, ScalarArg};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_isl as isl;
use pollyrs_schedule::Param::Border;
use pollyrs_schedule::{Ends, Parts};
use pollyrs_scop::{ArrayId, Scop};

/// What a part touches and writes of an array: `PollyrsPart`.
pub(crate) struct Entry {
    /// The array's number in the descriptor.
    pub array: usize,
    /// First byte of its range, and the one behind the last.
    pub touched: [Value; 2],
    pub written: [Value; 2],
}

/// Fills slots with entries.
pub(crate) fn store(ir: &Ir, slots: Value, entries: &[Entry]) {
    for (at, entry) in (0u64..).zip(entries) {
        let number = ir.int(entry.array as i64);
        let words = std::iter::once(number).chain(entry.touched).chain(entry.written);
        for (word, value) in (0u64..).zip(words) {
            ir.store(value, ir.byte_offset(slots, ir.int(8 * (at * PART_WORDS + word) as i64)));
        }
    }
}

/// The run-time library's functions.
pub(crate) struct Calls {
    pub ask: Value,
    pub part: Value,
    pub launch: Value,
}

impl Calls {
    pub(crate) fn new(ir: &Ir, module: Module) -> Calls {
        let (ptr, i32, i64) = (ir.ptr_type(), ir.i32_type(), ir.i64_type());
        Calls {
            ask: ir.declare(module, "pollyrs_rt_parts", i64, &[ptr, i32, i64]),
            part: ir.declare(module, "pollyrs_rt_part", ir.void_type(), &[ptr, i64, ptr, i32, ptr]),
            launch: ir.declare(module, "pollyrs_rt_launch_parts", ir.void_type(), &[ptr]),
        }
    }
}

/// Emits the launch in parts; `grid` has lower bound and extent of each dimension. The builder is then where
/// the launch goes as a whole; the result is where both go on. `None`: nothing was emitted.
pub(crate) fn emit(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    launcher: &Launcher<'_>,
    (k, info): (usize, &KernelInfo),
    parts: &Parts,
    grid: &[(Value, Value)],
) -> Result<Option<Block>> {
    let Launcher { plan, slots, function, run, ranges, .. } = *launcher;
    let scalar = info.scalars.iter().position(|s| *s == ScalarArg::FirstBlock);
    let (Some(scalar), Some(&(lower, count))) = (scalar, grid.first()) else { return Ok(None) };
    let calls = Calls::new(ir, function.module());
    let i64 = ir.i64_type();
    let inner = grid[1..].iter().fold(ir.int(1), |all, (_, count)| ir.mul(all, *count));
    let unit = i64::from(info.slice_tiles);
    let units = ir.udiv(ir.add(count, ir.int(unit - 1)), ir.int(unit));
    let n = ir.call(i64, calls.ask, &[run, ir.int32(k as u32), units]);

    let (whole, body) = (ir.append_block(function, "undivided"), ir.append_block(function, "parts"));
    let (all, after) = (ir.append_block(function, "divided"), ir.append_block(function, "shared"));
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntNE, n, ir.int(0)), body, whole);

    ir.at_end(body);
    let (index, from) = (ir.phi(i64, &[]), ir.phi(i64, &[]));
    let next = ir.add(index, ir.int(1));
    let to = ir.smin(ir.mul(ir.udiv(ir.mul(units, next), n), ir.int(unit)), count);
    ir.store(ir.mul(from, inner), ir.byte_offset(slots.scalars, ir.int(8 * scalar as i64)));
    let borders = [ir.add(lower, from), ir.add(lower, to)];
    let mut entries = Vec::new();
    for (number, (id, range)) in ranges.iter().enumerate().filter(|(_, (id, _))| info.arrays.contains(id)) {
        let none = [ir.int(0), ir.int(0)];
        let mut of = |ends: &Ends| bounds(ir, expr, plan.scop, (*id, range), ends, borders);
        let (touched, written) = match &parts.arrays[id.0] {
            Some(array) => (of(&array.touched)?, array.written.as_ref().map(of).transpose()?.unwrap_or(none)),
            None => ([ir.int(0), range.bytes], none),
        };
        entries.push(Entry { array: number, touched, written });
    }
    store(ir, slots.parts, &entries);
    let blocks = ir.mul(ir.sub(to, from), inner);
    let n_entries = ir.int32(entries.len() as u32);
    ir.call(ir.void_type(), calls.part, &[run, blocks, slots.scalars, n_entries, slots.parts]);
    let end = ir.block();
    ir.add_incoming(index, ir.int(0), before);
    ir.add_incoming(index, next, end);
    ir.add_incoming(from, ir.int(0), before);
    ir.add_incoming(from, to, end);
    ir.cond_br(ir.icmp(LLVMIntULT, next, n), body, all);

    ir.at_end(all);
    ir.call(ir.void_type(), calls.launch, &[run]);
    ir.br(after);
    ir.at_end(whole);
    Ok(Some(after))
}

/// The bytes of an array's range between the first and the last element of the tiles between two borders;
/// none: `[0, 0)`.
fn bounds(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    (id, range): (ArrayId, &Range),
    ends: &Ends,
    [from, to]: [Value; 2],
) -> Result<[Value; 2]> {
    let size = ir.int(scop.array(id).elem.bytes() as i64);
    let mut end = |at: Value, element: &isl::PwMultiAff, when: &isl::Set| -> Result<_> {
        let outer = expr.names.insert(Border.to_string(), at);
        let some = expr.emit_set(when)?;
        let (offset, overflow) = linear_offset(ir, expr, scop, id, element)?;
        match outer {
            Some(value) => expr.names.insert(Border.to_string(), value),
            None => expr.names.remove(&Border.to_string()),
        };
        Ok((some, offset, overflow))
    };
    let (some, first, lost) = end(from, &ends.first, &ends.from)?;
    let (also, last, missed) = end(to, &ends.last, &ends.below)?;
    let overflow = ir.or(lost, missed);
    let first = ir.add(ir.mul(first, size), range.bias);
    let behind = ir.add(ir.mul(ir.add(last, ir.int(1)), size), range.bias);
    // All that is touched lies in the range; corners of boxes may not.
    let (none, all) = (ir.int(0), range.bytes);
    let clamp = |v: Value| ir.smin(ir.smax(v, none), all);
    let (first, behind) = (clamp(first), clamp(behind));
    let some = ir.and(ir.and(some, also), ir.icmp(LLVMIntSLT, first, behind));
    let first = ir.select(overflow, none, first);
    let behind = ir.select(overflow, all, behind);
    let some = ir.or(some, overflow);
    Ok([ir.select(some, first, none), ir.select(some, behind, none)])
}
