//! The host's side of fused kernels: how many launches fuse steps, what they are given, where the ordinary kernels take over.
//!
//! ```text
//! fused = runs and T >= period + G ? (T - period) / G : 0
//! for f in 0 .. fused: launch forward or backward, by the parity of f      time iterations f*G .. f*G + G
//! if fused is odd: launch copy_back
//! the mapping's launches from time fused*G on
//! ```

use super::{FusedKernels, StencilScalar};
use crate::CodegenError;
use crate::ast_expr::ExprEmitter;
use crate::host::{HostPlan, Range, SCRATCH, slot_value};
use crate::ir::Ir;
use crate::kernel::ScalarArg;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_schedule::stencil::{StencilPlan, plan};
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

/// Blocks that fill the largest current device about once: 132 multiprocessors with three blocks each, which their registers allow.
/// Measured on an H200 for five points on 3072 x 3072: 733, 907 and 801 GStencil/s with 264, 396 and 528 (fp32, 10 steps), 382,
/// 495 and 443 (fp64, 8 steps).
const WANTED_BLOCKS: i64 = 396;
/// Coordinates of fused kernels are within ± this many.
const COORDINATES: i64 = 1 << 30;
/// Rows of a block at most: beyond it, the halo is small already, and later blocks even out the load.
const MAX_ROWS: i64 = 256;
/// Rows of a block at least, as a multiple of the rows that are computed for the halo only.
const ROWS_PER_HALO: i64 = 2;

/// The number of fused launches, an `i64`.
pub(crate) fn count(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    plan: &HostPlan<'_>,
    f: &FusedKernels,
) -> Result<LLVMValueRef, CodegenError> {
    let s = &f.plan.stencil;
    let time = expr.emit_pw_aff(&s.time)?;
    let runs = expr.emit_set(&s.runs.clone().gist(plan.scop.context.clone())?)?;
    let fused = ir.sdiv(ir.sub(time, ir.int(s.period)), ir.int(f.plan.config.fuse));
    let enough = ir.icmp(LLVMIntSGE, time, ir.int(s.period + f.plan.config.fuse));
    // Coordinates have 32 bits in kernels; the halo stays far below the rest.
    let mut narrow = ir.bool(true);
    for b in &s.buffers {
        for corner in b.outer_lower.iter().chain(&b.outer_upper) {
            let shifted = ir.add(expr.emit_pw_aff(corner)?, ir.int(COORDINATES));
            narrow = ir.and(narrow, ir.icmp(LLVMIntULE, shifted, ir.int(2 * COORDINATES)));
        }
    }
    Ok(ir.select(ir.and(ir.and(runs, enough), narrow), fused, ir.int(0)))
}

/// The copies of the arrays; empty if there is no fused launch.
pub(crate) fn scratch_ranges(
    ir: &Ir,
    f: &FusedKernels,
    fused: LLVMValueRef,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<Vec<Range>, CodegenError> {
    let used = ir.icmp(LLVMIntSGT, fused, ir.int(0));
    let missing = || CodegenError::Internal("a stencil's array is not on the device".into());
    f.copied
        .iter()
        .map(|a| {
            let of = range_of(*a).ok_or_else(missing)?;
            Ok(Range {
                start: ir.null(),
                bytes: ir.select(used, of.bytes, ir.int(0)),
                // So that kernels address the copy as they address the array.
                bias: of.bias,
                out_offset: ir.int(0),
                out_bytes: ir.int(0),
                flags: SCRATCH,
                element_bytes: of.element_bytes,
                rows: None,
            })
        })
        .collect()
}

/// What the launches of a plan need.
pub(crate) struct Launcher<'a> {
    pub function: LLVMValueRef,
    pub plan: &'a HostPlan<'a>,
    pub fused: &'a FusedKernels,
    /// By parameter index.
    pub params: &'a [LLVMValueRef],
    /// Stack slots for a launch's scalars.
    pub scalars: LLVMValueRef,
    pub launch: LLVMValueRef,
    pub run: LLVMValueRef,
}

/// Emits the fused launches and gives the first time iteration that the ordinary kernels run.
pub(crate) fn emit_fused(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    fused: LLVMValueRef,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<LLVMValueRef, CodegenError> {
    let f = l.fused;
    let (head, after, done) = (
        ir.append_block(l.function, "pollyrs.fused"),
        ir.append_block(l.function, "pollyrs.fused.end"),
        ir.append_block(l.function, "pollyrs.steps"),
    );
    let copy = ir.append_block(l.function, "pollyrs.copy");
    let blocks = store_scalars(ir, expr, l, &f.plan, range_of)?;
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntSGT, fused, ir.int(0)), head, done);

    ir.at_end(head);
    let i = ir.phi(ir.i64_type(), &[(ir.int(0), before)]);
    for at in positions(l, StencilScalar::Time) {
        ir.store(ir.mul(i, ir.int(f.plan.config.fuse)), at_slot(ir, l, at));
    }
    let odd = |v| ir.icmp(LLVMIntNE, ir.and(v, ir.int(1)), ir.int(0));
    let kernel = ir.select(odd(i), ir.int32(f.backward as u32), ir.int32(f.forward as u32));
    ir.call(ir.void_type(), l.launch, &[l.run, kernel, blocks, l.scalars]);
    let next = ir.add(i, ir.int(1));
    ir.add_incoming(i, next, head);
    ir.cond_br(ir.icmp(LLVMIntSLT, next, fused), head, after);

    ir.at_end(after);
    ir.cond_br(odd(fused), copy, done);
    ir.at_end(copy);
    let blocks = store_scalars(ir, expr, l, &f.copy, range_of)?;
    ir.call(ir.void_type(), l.launch, &[l.run, ir.int32(f.copy_back as u32), blocks, l.scalars]);
    ir.br(done);
    ir.at_end(done);
    Ok(ir.mul(fused, ir.int(f.plan.config.fuse)))
}

fn at_slot(ir: &Ir, l: &Launcher<'_>, i: usize) -> LLVMValueRef {
    ir.byte_offset(l.scalars, ir.int(8 * i as i64))
}

/// Where a stencil scalar is among the arguments.
fn positions(l: &Launcher<'_>, s: StencilScalar) -> Vec<usize> {
    let args = &l.plan.kernels[l.fused.forward].scalars;
    let is = |a: &ScalarArg| matches!(a, ScalarArg::Stencil(i) if l.fused.scalars[*i] == s);
    (0..args.len()).filter(|i| is(&args[*i])).collect()
}

/// Fills the slots for a launch and gives the number of blocks.
fn store_scalars(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    p: &StencilPlan,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<LLVMValueRef, CodegenError> {
    let s = &p.stencil;
    let smin = |a, b| ir.select(ir.icmp(LLVMIntSLT, a, b), a, b);
    // The box around all live buffers.
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for d in 0..s.dims {
        let (mut lower, mut upper) = (None, None);
        for b in s.buffers.iter().filter(|b| b.live) {
            let (x, y) = (expr.emit_pw_aff(&b.lower[d])?, expr.emit_pw_aff(&b.upper[d])?);
            lower = Some(lower.map_or(x, |l| smin(l, x)));
            upper = Some(upper.map_or(y, |u| ir.smax(u, y)));
        }
        let none = || CodegenError::Internal("a stencil without live buffers".into());
        first.push(lower.ok_or_else(none)?);
        last.push(upper.ok_or_else(none)?);
    }
    let extent = |d: usize| ir.add(ir.sub(last[d], first[d]), ir.int(1));
    let ceil = |a: LLVMValueRef, b: LLVMValueRef| ir.sdiv(ir.add(a, ir.sub(b, ir.int(1))), b);
    let mut counts = BTreeMap::new();
    let mut blocks = ir.int(1);
    let mut height = None;
    for d in 0..s.dims {
        match plan::axis(s.dims, d) {
            0 => height = Some(extent(d)),
            axis => {
                let count = ceil(extent(d), ir.int(p.tile[axis]));
                counts.insert(axis, count);
                blocks = ir.mul(blocks, count);
            }
        }
    }
    let mut rows = ir.int(1);
    if let Some(height) = height {
        let fit = ir.smax(ir.sdiv(ir.int(WANTED_BLOCKS), ir.smax(blocks, ir.int(1))), ir.int(1));
        let even = ceil(height, fit);
        let least = ROWS_PER_HALO * (p.warm_up() + p.drain()).max(2);
        rows = ir.smax(smin(even, ir.int(MAX_ROWS.max(least))), ir.int(least));
        blocks = ir.mul(blocks, ceil(height, rows));
    }
    let linear = |array: ArrayId, end: bool| -> Result<LLVMValueRef, CodegenError> {
        let r =
            range_of(array).ok_or(CodegenError::Internal("a stencil's array is not on the device".into()))?;
        let bytes = ir.int(i64::from(r.element_bytes));
        Ok(if end {
            ir.sub(ir.sdiv(ir.sub(r.bytes, r.bias), bytes), ir.int(1))
        } else {
            ir.sdiv(ir.sub(ir.int(0), r.bias), bytes)
        })
    };
    for (i, arg) in l.plan.kernels[l.fused.forward].scalars.iter().enumerate() {
        let value = match arg {
            ScalarArg::Param(p) => l.params[*p],
            ScalarArg::Invariant(v) => slot_value(ir, l.plan.scop.invariants[*v].value.0 as LLVMValueRef),
            ScalarArg::Stencil(at) => match l.fused.scalars[*at] {
                StencilScalar::Time => ir.int(0),
                StencilScalar::Rows => rows,
                StencilScalar::First(d) => first[d],
                StencilScalar::Last(d) => last[d],
                StencilScalar::Count(axis) => counts.get(&axis).copied().unwrap_or(ir.int(1)),
                StencilScalar::Lower(b, d) => expr.emit_pw_aff(&s.buffers[b].lower[d])?,
                StencilScalar::Upper(b, d) => expr.emit_pw_aff(&s.buffers[b].upper[d])?,
                StencilScalar::OuterLower(b, d) => expr.emit_pw_aff(&s.buffers[b].outer_lower[d])?,
                StencilScalar::OuterUpper(b, d) => expr.emit_pw_aff(&s.buffers[b].outer_upper[d])?,
                StencilScalar::Begin(a) => linear(a, false)?,
                StencilScalar::End(a) => linear(a, true)?,
            },
            _ => return Err(CodegenError::Internal("a fused kernel with an argument of the mapping".into())),
        };
        ir.store(value, at_slot(ir, l, i));
    }
    Ok(blocks)
}
