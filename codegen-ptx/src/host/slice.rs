//! Launches in slices: blocks that need what has been copied so far begin, while the rest is on its way
//! (`pollyrs_rt_launch_slice`).
//!
//! ```text
//! n = pollyrs_rt_slices(run, kernel, units)                        units: of neighbouring tiles along the grid's first dimension
//! if (n <= 1) pollyrs_rt_launch(...)
//! else for (j = 0, from = 0; j < n; j++, from = to) {
//!   to = min(count, unit * (units * (j + 1) / n))
//!   needed[a] = bytes of array a's range that tiles below lower + to touch;  done[a] = those that no later block or launch touches
//!   pollyrs_rt_launch_slice(run, kernel, (to - from) * inner, scalars with from * inner as the first block, needed, done)
//! }
//! ```
//!
//! # Invariant
//! Each block is in one slice: `to` of the last one is `count`, since `j + 1 = n` there. What a slice needs
//! and what is done come from [`pollyrs_schedule::Slices`], which the checker proved; where a computation
//! overflows, all is needed and nothing is done.

use crate::affine::expr::ExprEmitter;
use crate::host::launch::Launcher;
use crate::host::ranges::{Range, linear_offset};
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::kernel::module::{KernelInfo, ScalarArg};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::Param::Border;
use pollyrs_schedule::{SlicedArray, Slices};
use pollyrs_scop::{ArrayId, Scop};

/// The launch of kernel number `k`; `grid` has lower bound and extent of each dimension, and `blocks` is the
/// product of the latter.
pub(crate) fn emit(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    launcher: &Launcher<'_>,
    (k, info): (usize, &KernelInfo),
    slices: &Slices,
    (grid, blocks): (&[(Value, Value)], Value),
) -> Result<()> {
    let Launcher { plan, slots, function, launch, run, ranges, .. } = *launcher;
    let number = ir.int32(k as u32);
    let scalar = info.scalars.iter().position(|s| *s == ScalarArg::FirstBlock);
    let (Some(scalar), Some(&(lower, count))) = (scalar, grid.first()) else {
        ir.call(ir.void_type(), launch, &[run, number, blocks, slots.scalars]);
        return Ok(());
    };
    let module = function.module();
    let (ptr, i32, i64) = (ir.ptr_type(), ir.i32_type(), ir.i64_type());
    let ask = ir.declare(module, "pollyrs_rt_slices", i64, &[ptr, i32, i64]);
    let part = "pollyrs_rt_launch_slice";
    let part = ir.declare(module, part, ir.void_type(), &[ptr, i32, i64, ptr, ptr, ptr]);
    let inner = grid[1..].iter().fold(ir.int(1), |all, (_, count)| ir.mul(all, *count));
    let unit = i64::from(info.slice_tiles);
    let units = ir.udiv(ir.add(count, ir.int(unit - 1)), ir.int(unit));
    let n = ir.call(i64, ask, &[run, number, units]);

    let (whole, body) = (ir.append_block(function, "whole"), ir.append_block(function, "slices"));
    let after = ir.append_block(function, "launched");
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntULT, ir.int(1), n), body, whole);
    ir.at_end(whole);
    ir.call(ir.void_type(), launch, &[run, number, blocks, slots.scalars]);
    ir.br(after);

    ir.at_end(body);
    let (index, from) = (ir.phi(i64, &[]), ir.phi(i64, &[]));
    let next = ir.add(index, ir.int(1));
    let to = ir.smin(ir.mul(ir.udiv(ir.mul(units, next), n), ir.int(unit)), count);
    ir.store(ir.mul(from, inner), ir.byte_offset(slots.scalars, ir.int(8 * scalar as i64)));
    let outer = expr.names.insert(Border.to_string(), ir.add(lower, to));
    let done_at = ir.byte_offset(slots.slices, ir.int(8 * ranges.len() as i64));
    for (at, (id, range)) in ranges.iter().enumerate() {
        let offset = ir.int(8 * at as i64);
        let (needed, done) = match &slices.arrays[id.0] {
            Some(array) => bounds(ir, expr, plan.scop, *id, array, range)?,
            None => (ir.int(-1), ir.int(0)),
        };
        ir.store(needed, ir.byte_offset(slots.slices, offset));
        ir.store(done, ir.byte_offset(done_at, offset));
    }
    match outer {
        Some(value) => expr.names.insert(Border.to_string(), value),
        None => expr.names.remove(&Border.to_string()),
    };
    let blocks = ir.mul(ir.sub(to, from), inner);
    ir.call(ir.void_type(), part, &[run, number, blocks, slots.scalars, slots.slices, done_at]);
    let end = ir.block();
    ir.add_incoming(index, ir.int(0), before);
    ir.add_incoming(index, next, end);
    ir.add_incoming(from, ir.int(0), before);
    ir.add_incoming(from, to, end);
    ir.cond_br(ir.icmp(LLVMIntULT, next, n), body, after);
    ir.at_end(after);
    Ok(())
}

/// How many bytes of an array's range the tiles below [`Border`] need, and how many nobody touches any more.
fn bounds(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    array: &SlicedArray,
    range: &Range,
) -> Result<(Value, Value)> {
    let (all, nothing) = (ir.int(-1), ir.int(0));
    let size = ir.int(scop.array(id).elem.bytes() as i64);
    let used = expr.emit_set(&array.used)?;
    let (last, overflow) = linear_offset(ir, expr, scop, id, &array.last)?;
    let bytes = ir.add(ir.mul(ir.add(last, ir.int(1)), size), range.bias);
    let needed = ir.select(used, ir.select(overflow, all, bytes), nothing);
    let Some(rest) = &array.rest else { return Ok((needed, nothing)) };
    let left = expr.emit_set(&rest.left)?;
    let (first, overflow) = linear_offset(ir, expr, scop, id, &rest.first)?;
    let bytes = ir.add(ir.mul(first, size), range.bias);
    let bytes = ir.select(ir.or(overflow, ir.icmp(LLVMIntSLT, bytes, nothing)), nothing, bytes);
    Ok((needed, ir.select(left, bytes, all)))
}
