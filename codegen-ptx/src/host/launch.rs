//! The launches of the host plan: the estimate of the work, the choice among kernels, grids and scalar
//! arguments.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::plan::{Entry, HostPlan, Slots};
use crate::host::ranges::Range;
use crate::host::{part, slice};
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::kernel::division;
use crate::kernel::module::ScalarArg;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_isl as isl;
use pollyrs_schedule::{Alternative, Choice, Cut, Nested, Time};
use pollyrs_scop::{ArrayId, Scop};

/// The number of statement instances by a sum of products ([`pollyrs_schedule::WorkEstimate`]), as a double.
pub(crate) fn emit_work(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    terms: &[Vec<isl::PwAff>],
) -> Result<Value, CodegenError> {
    let constant = |v: f64| ir.double_type().real(v);
    let mut sum = constant(0.0);
    for term in terms {
        let mut product = constant(1.0);
        for factor in term {
            let f = expr.emit_pw_aff(factor)?;
            let f = ir.smax(f, ir.int(0));
            let f = ir.cast(LLVMOpcode::LLVMSIToFP, f, ir.double_type());
            product = ir.binary(LLVMOpcode::LLVMFMul, product, f);
        }
        sum = ir.binary(LLVMOpcode::LLVMFAdd, sum, product);
    }
    Ok(sum)
}

/// [`Alternative::time`] of `blocks`. A product that wraps makes a bad choice, never a wrong one.
fn emit_time(ir: &Ir, a: &Alternative, blocks: Value, multiprocessors: u32) -> Value {
    let multiprocessors = ir.int(i64::from(multiprocessors.max(1)));
    let busy = ir.udiv(ir.sub(ir.add(blocks, multiprocessors), ir.int(1)), multiprocessors);
    let (weight, residents) = (i64::from(a.weight), i64::from(a.residents.max(1)));
    let (waves, left) = (ir.udiv(busy, ir.int(residents)), ir.urem(busy, ir.int(residents)));
    let part = ir.udiv(ir.mul(left, ir.int(2 * weight)), ir.int(3 * residents));
    let some = ir.icmp(LLVMIntNE, left, ir.int(0));
    let last = ir.select(some, ir.add(part, ir.int(weight / 3)), ir.int(0));
    ir.add(ir.mul(waves, ir.int(weight)), last)
}

/// The value of least time, the first of equals; of `(time, value)`.
fn emit_least(ir: &Ir, list: impl IntoIterator<Item = (Value, Value)>) -> Result<Value, CodegenError> {
    let least = list.into_iter().reduce(|(least, best), (time, value)| {
        let better = ir.icmp(LLVMIntULT, time, least);
        (ir.select(better, time, least), ir.select(better, value, best))
    });
    least.map(|b| b.1).ok_or_else(|| CodegenError::Internal("a choice among no kernels".into()))
}

/// The number of the alternative whose blocks, spread over the multiprocessors, take the least time, or where
/// to cut.
pub(crate) fn emit_choice(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    plan: &HostPlan<'_>,
    choice: &Choice,
) -> Result<Value, CodegenError> {
    if let Some(cut) = &choice.cut {
        return emit_cut(ir, expr, choice, cut);
    }
    let mut list = Vec::new();
    for (number, a) in choice.kernels.iter().enumerate() {
        let mut blocks = ir.int(1);
        for g in &plan.mapped.kernels[a.kernel].grid {
            let count = expr.emit_pw_aff(&g.count)?;
            blocks = ir.mul(blocks, ir.smax(count, ir.int(0)));
        }
        list.push((emit_time(ir, a, blocks, choice.multiprocessors), ir.int(number as i64)));
    }
    emit_least(ir, list)
}

/// [`Choice::best`] as a point.
fn emit_cut(ir: &Ir, expr: &mut ExprEmitter<'_>, choice: &Choice, cut: &Cut) -> Result<Value, CodegenError> {
    let [large, small] = choice.kernels.as_slice() else {
        return Err(CodegenError::Internal("a cut between other than two kernels".into()));
    };
    // Tiles along the cut dimension and along all others, by kernel.
    let mut tiles = Vec::new();
    let mut first = ir.int(0);
    for (number, grid) in cut.grids.iter().enumerate() {
        let (mut rows, mut columns) = (ir.int(0), ir.int(1));
        for (d, (lower, count)) in grid.iter().enumerate() {
            let count = expr.emit_pw_aff(count)?;
            let count = ir.smax(count, ir.int(0));
            match d == cut.dim {
                true => rows = count,
                false => columns = ir.mul(columns, count),
            }
            if d == cut.dim && number == 0 {
                first = expr.emit_pw_aff(lower)?;
            }
        }
        tiles.push((rows, columns));
    }
    let [(rows, columns), (parts, across)] = tiles[..] else {
        return Err(CodegenError::Internal("a cut without grids".into()));
    };
    let slots = ir.int(i64::from(choice.multiprocessors.max(1)) * i64::from(large.residents.max(1)));
    let waves = ir.udiv(ir.mul(rows, columns), slots);
    let full = ir.udiv(ir.mul(waves, slots), ir.smax(columns, ir.int(1)));
    let (none, all_but_one) = (ir.int(0), ir.smax(ir.sub(rows, ir.int(1)), ir.int(0)));
    let mut list = Vec::new();
    for candidate in [rows, none, all_but_one, ir.smin(full, rows)] {
        let left = ir.sub(parts, ir.mul(candidate, ir.int(i64::from(cut.ratio))));
        let left = ir.smax(left, ir.int(0));
        let times = [(large, ir.mul(candidate, columns)), (small, ir.mul(left, across))];
        let [large, small] = times.map(|(a, blocks)| emit_time(ir, a, blocks, choice.multiprocessors));
        let both = ir.add(large, small);
        let dear = ir.add(both, ir.udiv(both, ir.int(20)));
        let some = ir.and(ir.icmp(LLVMIntSGT, candidate, none), ir.icmp(LLVMIntSLT, candidate, rows));
        let some = ir.and(some, ir.icmp(LLVMIntSGT, left, none));
        let larger = ir.select(ir.icmp(LLVMIntULT, large, small), small, large);
        list.push((ir.select(some, dear, larger), candidate));
    }
    let at = ir.mul(ir.add(first, emit_least(ir, list)?), ir.int(i64::from(cut.tile)));
    let (start, end) = (expr.emit_pw_aff(&cut.first)?, expr.emit_pw_aff(&cut.end)?);
    Ok(ir.smax(start, ir.smin(at, end)))
}

/// 0 if the blocks of a nest are estimated to take no longer than the launches, else 1.
pub(crate) fn emit_nested(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    nested: &Nested,
) -> Result<Value, CodegenError> {
    let blocks = emit_estimate(ir, expr, &nested.times[0])?;
    let launches = emit_estimate(ir, expr, &nested.times[1])?;
    Ok(ir.select(ir.fcmp_greater(blocks, launches), ir.int(1), ir.int(0)))
}

/// An estimate as a double.
fn emit_estimate(ir: &Ir, expr: &mut ExprEmitter<'_>, time: &Time) -> Result<Value, CodegenError> {
    let constant = |v: f64| ir.double_type().real(v);
    let (terms, start) = match time {
        Time::Number(v) => return Ok(constant(*v)),
        Time::Extent(extent) => {
            let v = expr.emit_pw_aff(extent)?;
            return Ok(ir.cast(LLVMOpcode::LLVMSIToFP, v, ir.double_type()));
        }
        Time::Product(terms) => (terms, 1.0),
        Time::Sum(terms) | Time::Max(terms) => (terms, 0.0),
    };
    let mut all = constant(start);
    for term in terms {
        let v = emit_estimate(ir, expr, term)?;
        all = match time {
            Time::Product(_) => ir.binary(LLVMOpcode::LLVMFMul, all, v),
            Time::Max(_) => ir.select(ir.fcmp_greater(v, all), v, all),
            _ => ir.binary(LLVMOpcode::LLVMFAdd, all, v),
        };
    }
    Ok(all)
}

/// Tells the checked emulated device the arrays' sizes, in the order of the descriptor, so that reports name
/// subscripts.
pub(crate) fn emit_shapes<'i>(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    module: Module,
    scop: &Scop,
    run: Value,
    arrays: impl Iterator<Item = &'i ArrayId>,
) -> Result<(), CodegenError> {
    let params = [ir.ptr_type(), ir.i32_type(), ir.i32_type(), ir.i64_type(), ir.i64_type(), ir.i64_type()];
    let shape = ir.declare(module, "pollyrs_rt_emu_shape", ir.void_type(), &params);
    for (i, id) in arrays.enumerate() {
        let array = scop.array(*id);
        // Rows of more than three inner dimensions are named by their offset.
        let mut sizes = [ir.int(0); 3];
        let dims = if array.dims() > sizes.len() + 1 { 0 } else { array.dims() };
        for (d, to) in (1..dims).zip(&mut sizes) {
            let size = array.sizes[d].as_ref().ok_or(CodegenError::Internal("a size is missing".into()))?;
            *to = expr.emit_pw_aff(size)?;
        }
        let (index, dims) = (ir.int32(i as u32), ir.int32(dims as u32));
        ir.call(ir.void_type(), shape, &[run, index, dims, sizes[0], sizes[1], sizes[2]]);
    }
    Ok(())
}

/// What all launches of a SCoP share.
pub(crate) struct Launcher<'a> {
    pub plan: &'a HostPlan<'a>,
    pub entry: &'a Entry,
    pub slots: &'a Slots,
    pub function: Value,
    /// `pollyrs_rt_launch`.
    pub launch: Value,
    pub run: Value,
    /// Of the arrays in the order of the descriptor.
    pub ranges: &'a [(ArrayId, Range)],
}

/// One launch, or one in slices: evaluates the grid and stores the scalar arguments.
pub(crate) fn emit_launch(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    launcher: &Launcher<'_>,
    name: &str,
    args: &[Value],
) -> Result<(), CodegenError> {
    let Launcher { plan, entry, slots, launch, run, .. } = *launcher;
    let unknown = || CodegenError::Internal(format!("unknown kernel {name}"));
    let k = plan.mapped.kernels.iter().position(|k| k.name == name).ok_or_else(unknown)?;
    let (kernel, info) = (&plan.mapped.kernels[k], &plan.kernels[k]);
    for (p, v) in kernel.host_params.iter().zip(args) {
        expr.names.insert(p.clone(), *v);
    }
    let mut blocks = ir.int(1);
    let mut grid = Vec::new();
    for g in &kernel.grid {
        let lower = expr.emit_pw_aff(&g.lower)?;
        let count = expr.emit_pw_aff(&g.count)?;
        let count = ir.smax(count, ir.int(0));
        blocks = ir.mul(blocks, count);
        grid.push((lower, count));
    }
    for (i, s) in info.scalars.iter().enumerate() {
        let value = match s {
            ScalarArg::Param(p) => entry.params[*p],
            ScalarArg::Invariant(v) => slot_value(ir, host_value(plan.scop.invariants[*v].value)),
            ScalarArg::HostParam(d) => args[*d],
            ScalarArg::TileLower(d) => grid[*d].0,
            ScalarArg::TileCount(d) => grid[*d].1,
            ScalarArg::TileFactor(d) => division::factor(ir, grid[*d].1),
            ScalarArg::FirstBlock => ir.int(0),
            ScalarArg::Stencil(_) => {
                return Err(CodegenError::Internal("a fused kernel in the mapping".into()));
            }
        };
        ir.store(value, ir.byte_offset(slots.scalars, ir.int(8 * i as i64)));
    }
    let after = match plan.parts.get(k).and_then(Option::as_ref) {
        Some(parts) if info.slice_tiles > 0 => part::emit(ir, expr, launcher, (k, info), parts, &grid)?,
        _ => None,
    };
    match plan.slices.get(k).and_then(Option::as_ref) {
        Some(slices) if info.slice_tiles > 0 => {
            slice::emit(ir, expr, launcher, (k, info), slices, (&grid, blocks))?;
        }
        _ => {
            ir.call(ir.void_type(), launch, &[run, ir.int32(k as u32), blocks, slots.scalars]);
        }
    }
    if let Some(after) = after {
        ir.br(after);
        ir.at_end(after);
    }
    for p in &kernel.host_params {
        expr.names.remove(p);
    }
    Ok(())
}

/// An invariant as it is stored in its 8-byte slot: an `i1` becomes a byte.
pub(crate) fn slot_value(ir: &Ir, v: Value) -> Value {
    if v.ty().int_width() == Some(1) { ir.zext(v, ir.i8_type()) } else { v }
}
