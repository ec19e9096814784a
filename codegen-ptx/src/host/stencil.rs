//! The host's side of fused kernels: how many launches fuse steps, what they are given, where the ordinary
//! kernels take over.
//!
//! ```text
//! rest = runs and T >= 2 period ? (T / period - 1) period : 0;  done = 0; launched = 0
//! for each depth G, deepest first:
//!   count = rest / G (and one more if the depth is complete and rest was not 0);  rest %= G
//!   count times: launch forward or backward, by the parity of launched     time iterations done .. done + G
//! if launched is odd: launch copy_back
//! the mapping's launches from time done on
//! without a complete depth, rest = runs and T > period ? T - period : 0
//! ```

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::abi::SCRATCH;
use crate::host::launch::slot_value;
use crate::host::plan::HostPlan;
use crate::host::ranges::Range;
use crate::host::stencil_parts::{self, Fused};
use crate::host::stencil_rows;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::kernel::module::{FusedKernels, ScalarArg, StencilScalar};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::{StencilPlan, plan};
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

/// Coordinates of fused kernels are within ± this many.
const COORDINATES: i64 = 1 << 30;

/// Launches of each depth, and whether there is any.
pub(crate) struct Counts {
    each: Vec<Value>,
    any: Value,
}

/// How many launches fuse steps; none while these kernels are `late`.
pub(crate) fn count(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    plan: &HostPlan<'_>,
    f: &FusedKernels,
    late: Option<Value>,
) -> Result<Counts, CodegenError> {
    let s = &f.copy.stencil;
    let time = expr.emit_pw_aff(&s.time)?;
    let mut usable = expr.emit_set(&s.runs.clone().gist(plan.scop.context.clone())?)?;
    if let Some(late) = late {
        usable = ir.select(late, ir.bool(false), usable);
    }
    // Coordinates have 32 bits in kernels; the halo stays far below the rest.
    for b in &s.buffers {
        for corner in b.outer_lower.iter().chain(&b.outer_upper) {
            let shifted = ir.add(expr.emit_pw_aff(corner)?, ir.int(COORDINATES));
            usable = ir.and(usable, ir.icmp(LLVMIntULE, shifted, ir.int(2 * COORDINATES)));
        }
    }
    // The last period is a complete launch, or runs as the mapping has it.
    let period = ir.int(s.period);
    let rest = match f.depths.iter().any(|d| d.plan.config.complete) {
        true => ir.mul(ir.sub(ir.sdiv(time, period), ir.int(1)), period),
        false => ir.sub(time, period),
    };
    let mut rest = ir.select(usable, ir.smax(rest, ir.int(0)), ir.int(0));
    let fused = ir.icmp(LLVMIntSGT, rest, ir.int(0));
    let mut any = ir.bool(false);
    let mut each = Vec::new();
    for d in &f.depths {
        let mut count = ir.sdiv(rest, ir.int(d.plan.config.fuse));
        if d.plan.config.complete {
            count = ir.add(count, ir.select(fused, ir.int(1), ir.int(0)));
        }
        rest = ir.sub(rest, ir.mul(count, ir.int(d.plan.config.fuse)));
        any = ir.or(any, ir.icmp(LLVMIntSGT, count, ir.int(0)));
        each.push(count);
    }
    Ok(Counts { each, any })
}

/// The copies of the arrays; empty if there is no fused launch.
pub(crate) fn scratch_ranges(
    ir: &Ir,
    f: &FusedKernels,
    counts: &Counts,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<Vec<Range>, CodegenError> {
    let used = counts.any;
    let missing = || CodegenError::Internal("a stencil's array is not on the device".into());
    f.copied
        .iter()
        .map(|a| {
            let of = range_of(*a).ok_or_else(missing)?;
            Ok(Range {
                start: ir.null(),
                bytes: ir.select(used, of.bytes, ir.int(0)),
                nonempty: used,
                // So that kernels address the copy as they address the array.
                bias: of.bias,
                out_offset: ir.int(0),
                out_bytes: ir.int(0),
                flags: SCRATCH,
                element_bytes: of.element_bytes,
                unsure: None,
                rows: None,
            })
        })
        .collect()
}

/// What the launches of a plan need.
pub(crate) struct Launcher<'a> {
    pub function: Value,
    pub plan: &'a HostPlan<'a>,
    pub fused: &'a FusedKernels,
    /// By parameter index.
    pub params: &'a [Value],
    /// Stack slots for a launch's scalars.
    pub scalars: Value,
    pub launch: Value,
    pub run: Value,
    /// The arrays on the device, in the order of the descriptor.
    pub arrays: &'a [ArrayId],
    /// Stack slots for the scalars of a part, and for what it touches.
    pub part_scalars: Value,
    pub parts: Value,
}

/// The output rows of a launch.
#[derive(Clone, Copy)]
pub(crate) enum Rows {
    All,
    /// First and last.
    Band([Value; 2]),
}

/// A launch, but for its scalars.
pub(crate) struct Sized {
    pub blocks: Value,
    /// First and last output row: of the outermost dimension.
    pub rows: [Value; 2],
}

/// Emits the fused launches and gives the first time iteration that the ordinary kernels run.
pub(crate) fn emit_fused(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    counts: &Counts,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<Value, CodegenError> {
    let f = l.fused;
    let odd = |v| ir.icmp(LLVMIntNE, ir.and(v, ir.int(1)), ir.int(0));
    let (mut launched, mut done) = (ir.int(0), ir.int(0));
    for (depth, count) in f.depths.iter().zip(&counts.each) {
        let (prepare, head, after) = (
            ir.append_block(l.function, "pollyrs.fused.sizes"),
            ir.append_block(l.function, "pollyrs.fused"),
            ir.append_block(l.function, "pollyrs.fused.end"),
        );
        let fuse = ir.int(depth.plan.config.fuse);
        ir.cond_br(ir.icmp(LLVMIntSGT, *count, ir.int(0)), prepare, after);
        let before = ir.block();
        ir.at_end(prepare);
        let Sized { blocks, rows } = store_scalars(ir, expr, l, &depth.plan, Rows::All, range_of)?;
        let sized = ir.block();
        ir.br(head);

        ir.at_end(head);
        let i = ir.phi(ir.i64_type(), &[(ir.int(0), sized)]);
        let set_time = |scalars: Value| {
            for at in positions(l, StencilScalar::Time) {
                ir.store(ir.add(done, ir.mul(i, fuse)), ir.byte_offset(scalars, ir.int(8 * at as i64)));
            }
        };
        set_time(l.scalars);
        let back = odd(ir.add(launched, i));
        let kernel = ir.select(back, ir.int32(depth.backward as u32), ir.int32(depth.forward as u32));
        let launch = Fused { plan: &depth.plan, kernel, back, rows, blocks, also: &set_time };
        stencil_parts::emit(ir, expr, l, &launch, range_of)?;
        let next = ir.add(i, ir.int(1));
        let end = ir.block();
        ir.add_incoming(i, next, end);
        ir.cond_br(ir.icmp(LLVMIntSLT, next, *count), head, after);

        ir.at_end(after);
        let ran = ir.phi(ir.i64_type(), &[(ir.int(0), before), (*count, end)]);
        launched = ir.add(launched, ran);
        done = ir.add(done, ir.mul(ran, fuse));
    }
    let (copy, steps) =
        (ir.append_block(l.function, "pollyrs.copy"), ir.append_block(l.function, "pollyrs.steps"));
    ir.cond_br(odd(launched), copy, steps);
    ir.at_end(copy);
    let Sized { blocks, rows } = store_scalars(ir, expr, l, &f.copy, Rows::All, range_of)?;
    let (kernel, back) = (ir.int32(f.copy_back as u32), ir.bool(true));
    let launch = Fused { plan: &f.copy, kernel, back, rows, blocks, also: &|_| {} };
    stencil_parts::emit(ir, expr, l, &launch, range_of)?;
    ir.br(steps);
    ir.at_end(steps);
    Ok(done)
}

fn at_slot(ir: &Ir, l: &Launcher<'_>, i: usize) -> Value {
    ir.byte_offset(l.scalars, ir.int(8 * i as i64))
}

/// Where a stencil scalar is among the arguments.
fn positions(l: &Launcher<'_>, s: StencilScalar) -> Vec<usize> {
    let args = &l.plan.kernels[l.fused.copy_back].scalars;
    let is = |a: &ScalarArg| matches!(a, ScalarArg::Stencil(i) if l.fused.scalars[*i] == s);
    (0..args.len()).filter(|i| is(&args[*i])).collect()
}

/// Fills the slots for a launch of some rows, and gives the number of its blocks.
pub(crate) fn store_scalars(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    p: &StencilPlan,
    rows: Rows,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<Sized, CodegenError> {
    let s = &p.stencil;
    let smin = |a, b| ir.select(ir.icmp(LLVMIntSLT, a, b), a, b);
    // The box around all buffers that are written.
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for d in 0..s.dims {
        let (mut lower, mut upper) = (None, None);
        for b in s.buffers.iter().filter(|b| b.live || p.config.complete) {
            let (x, y) = (expr.emit_pw_aff(&b.lower[d])?, expr.emit_pw_aff(&b.upper[d])?);
            lower = Some(lower.map_or(x, |l| smin(l, x)));
            upper = Some(upper.map_or(y, |u| ir.smax(u, y)));
        }
        let none = || CodegenError::Internal("a stencil without live buffers".into());
        first.push(lower.ok_or_else(none)?);
        last.push(upper.ok_or_else(none)?);
    }
    if let Rows::Band([lower, upper]) = rows {
        (first[0], last[0]) = (lower, upper);
    }
    let extent = |d: usize| ir.add(ir.sub(last[d], first[d]), ir.int(1));
    let ceil = |a: Value, b: Value| ir.sdiv(ir.add(a, ir.sub(b, ir.int(1))), b);
    let (mut counts, mut widths) = (BTreeMap::new(), BTreeMap::new());
    let mut height = None;
    for d in 0..s.dims {
        match plan::axis(s.dims, d) {
            0 => height = Some(extent(d)),
            axis => {
                let count = ceil(extent(d), ir.int(p.tile[axis]));
                // As few blocks, but of one width: else the last has less to do than the others.
                let width = ceil(extent(d), ir.smax(count, ir.int(1)));
                widths.insert(axis, ir.smax(width, ir.int(1)));
                counts.insert(axis, count);
            }
        }
    }
    let shape = stencil_rows::shape(
        ir,
        l.function,
        p,
        height,
        [1, 2].map(|axis| counts.get(&axis).copied().unwrap_or(ir.int(1))),
    );
    let linear = |array: ArrayId, end: bool| -> Result<Value, CodegenError> {
        let r =
            range_of(array).ok_or(CodegenError::Internal("a stencil's array is not on the device".into()))?;
        let bytes = ir.int(i64::from(r.element_bytes));
        Ok(if end {
            ir.sub(ir.sdiv(ir.sub(r.bytes, r.bias), bytes), ir.int(1))
        } else {
            ir.sdiv(ir.sub(ir.int(0), r.bias), bytes)
        })
    };
    for (i, arg) in l.plan.kernels[l.fused.copy_back].scalars.iter().enumerate() {
        let value = match arg {
            ScalarArg::Param(p) => l.params[*p],
            ScalarArg::Invariant(v) => slot_value(ir, host_value(l.plan.scop.invariants[*v].value)),
            ScalarArg::Stencil(at) => match l.fused.scalars[*at] {
                StencilScalar::Time | StencilScalar::Zero => ir.int(0),
                StencilScalar::Rows(part) => shape.of(part).rows,
                StencilScalar::Less(part) => shape.of(part).less,
                StencilScalar::RowBlocks(part) => shape.of(part).above,
                StencilScalar::Columns(part) => shape.of(part).columns,
                StencilScalar::First(d) => first[d],
                StencilScalar::Last(d) => last[d],
                StencilScalar::Count(axis) => counts.get(&axis).copied().unwrap_or(ir.int(1)),
                StencilScalar::Width(axis) => widths.get(&axis).copied().unwrap_or(ir.int(1)),
                StencilScalar::Lower(b, d) => expr.emit_pw_aff(&s.buffers[b].lower[d])?,
                StencilScalar::Upper(b, d) => expr.emit_pw_aff(&s.buffers[b].upper[d])?,
                StencilScalar::OuterLower(b, d) => expr.emit_pw_aff(&s.buffers[b].outer_lower[d])?,
                StencilScalar::OuterUpper(b, d) => expr.emit_pw_aff(&s.buffers[b].outer_upper[d])?,
                StencilScalar::StepLower(k, d) => expr.emit_pw_aff(&s.steps[k].lower[d])?,
                StencilScalar::StepUpper(k, d) => expr.emit_pw_aff(&s.steps[k].upper[d])?,
                StencilScalar::CaseLower(k, c, d) => expr.emit_pw_aff(&s.steps[k].cases[c].lower[d])?,
                StencilScalar::CaseUpper(k, c, d) => expr.emit_pw_aff(&s.steps[k].cases[c].upper[d])?,
                StencilScalar::Begin(a) => linear(a, false)?,
                StencilScalar::End(a) => linear(a, true)?,
            },
            _ => return Err(CodegenError::Internal("a fused kernel with an argument of the mapping".into())),
        };
        ir.store(value, at_slot(ir, l, i));
    }
    Ok(Sized { blocks: shape.blocks(ir), rows: [first[0], last[0]] })
}
