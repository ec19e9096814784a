//! Fused launches that several devices share ([`crate::host::part`]): each takes a band of output rows.
//!
//! The blocks of a launch have the rows (of one-dimensional stencils: elements) between two scalars,
//! [`StencilScalar::First`] and [`StencilScalar::Last`] of the outermost dimension. What the proof of a plan
//! says of a block ([`pollyrs_schedule::stencil::check`]) holds for any rows of it; so a launch for a band of
//! the rows is right by itself, and the bands together have all rows, each once. By the proof's regions,
//! values come from rows within [`StencilPlan::reach`] of the band.
//!
//! ```text
//! n = pollyrs_rt_parts(run, kernel, rows / least)
//! for (j = 0; j < n; j++)
//!   pollyrs_rt_part(run, blocks and scalars for rows first + rows * j / n .. first + rows * (j + 1) / n - 1, ranges)
//! ```

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::part::{self, Entry};
use crate::host::ranges::Range;
use crate::host::stencil::{Launcher, Rows, store_scalars};
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::{Buffer, StencilPlan, StepAccess};
use pollyrs_scop::ArrayId;

/// One fused launch, of so many output rows: `back` says whether from the copy to the array.
pub(crate) struct Fused<'a> {
    pub plan: &'a StencilPlan,
    pub kernel: Value,
    pub back: Value,
    /// First and last row.
    pub rows: [Value; 2],
    /// What the scalars for all rows are but for those that are stored again.
    pub blocks: Value,
    /// Sets what a launch has beside the scalars of its shape.
    pub also: &'a dyn Fn(Value),
}

/// Launches it, on several devices if the run-time library says so.
pub(crate) fn emit(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    launch: &Fused<'_>,
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<(), CodegenError> {
    let whole = || {
        ir.call(ir.void_type(), l.launch, &[l.run, launch.kernel, launch.blocks, l.scalars]);
    };
    // Colours are statements of their own, which the model of the host does not have.
    let known = l.plan.scop.statements.len();
    if !l.plan.mapped.divides || launch.plan.stencil.steps.iter().any(|step| step.stmt.0 >= known) {
        whole();
        return Ok(());
    }
    let [first, last] = launch.rows;
    let calls = part::Calls::new(ir, l.function.module());
    let [up, down] = launch.plan.reach();
    let extent = ir.add(ir.sub(last, first), ir.int(1));
    // A band of fewer rows computes more of others than of its own.
    let units = ir.sdiv(ir.smax(extent, ir.int(0)), ir.int(up + down + 1));
    let n = ir.call(ir.i64_type(), calls.ask, &[l.run, launch.kernel, units]);
    let (undivided, body) = (ir.append_block(l.function, "undivided"), ir.append_block(l.function, "parts"));
    let (all, after) = (ir.append_block(l.function, "divided"), ir.append_block(l.function, "shared"));
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntNE, n, ir.int(0)), body, undivided);
    ir.at_end(undivided);
    whole();
    ir.br(after);

    ir.at_end(body);
    let index = ir.phi(ir.i64_type(), &[(ir.int(0), before)]);
    let next = ir.add(index, ir.int(1));
    let border = |at| ir.add(first, ir.sdiv(ir.mul(extent, at), n));
    let band = [border(index), ir.sub(border(next), ir.int(1))];
    let own = Launcher { scalars: l.part_scalars, ..*l };
    let blocks = store_scalars(ir, expr, &own, launch.plan, Rows::Band(band), range_of)?.blocks;
    (launch.also)(l.part_scalars);
    let entries = entries(ir, expr, l, launch, band, range_of)?;
    part::store(ir, l.parts, &entries);
    let n_entries = ir.int32(entries.len() as u32);
    ir.call(ir.void_type(), calls.part, &[l.run, blocks, l.part_scalars, n_entries, l.parts]);
    let end = ir.block();
    ir.add_incoming(index, next, end);
    ir.cond_br(ir.icmp(LLVMIntULT, next, n), body, all);
    ir.at_end(all);
    ir.call(ir.void_type(), calls.launch, &[l.run]);
    ir.br(after);
    ir.at_end(after);
    Ok(())
}

/// What a band of rows touches and writes.
fn entries(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    launch: &Fused<'_>,
    [first, last]: [Value; 2],
    range_of: &dyn Fn(ArrayId) -> Option<Range>,
) -> Result<Vec<Entry>, CodegenError> {
    let missing = || CodegenError::Internal("a stencil's array is not on the device".into());
    let s = &launch.plan.stencil;
    let scop = l.plan.scop;
    // The order of the descriptor: arrays of the model, and behind them the copies.
    let place = |a: ArrayId| l.arrays.iter().position(|other| *other == a).ok_or_else(missing);
    let copy_of =
        |a: ArrayId| l.fused.copied.iter().position(|other| *other == a).map(|c| l.arrays.len() + c);
    let [up, down] = launch.plan.reach();
    let none = [ir.int(0), ir.int(0)];
    let mut out = Vec::new();
    for b in &s.buffers {
        let range = range_of(b.array).ok_or_else(missing)?;
        let own = rows_of(ir, expr, l, b, &range, [first, last])?;
        let (above, below) = (ir.sub(first, ir.int(up)), ir.add(last, ir.int(down)));
        let around = rows_of(ir, expr, l, b, &range, [above, below])?;
        let either = |when: Value, a: [Value; 2], b: [Value; 2]| {
            [ir.select(when, a[0], b[0]), ir.select(when, a[1], b[1])]
        };
        let (touched, written) = match (b.live, copy_of(b.array)) {
            (true, Some(copy)) => {
                out.push(Entry {
                    array: copy,
                    touched: either(launch.back, around, own),
                    written: either(launch.back, none, own),
                });
                // Elements outside of the box are always read from the array.
                let touched = if b.has_border { around } else { either(launch.back, own, around) };
                (touched, either(launch.back, own, none))
            }
            _ => (around, if launch.plan.config.complete { own } else { none }),
        };
        out.push(Entry { array: place(b.array)?, touched, written });
    }
    // What is no buffer is read only: from anywhere.
    let plain = |a: ArrayId| {
        let of = |k: &pollyrs_schedule::stencil::Step| {
            let accesses = &scop.statements[k.stmt.0].accesses;
            k.accesses
                .iter()
                .zip(accesses)
                .any(|(kind, access)| *kind == StepAccess::Plain && access.array == a)
        };
        s.steps.iter().any(of) || s.buffers.iter().all(|b| b.array != a)
    };
    for a in l.arrays.iter().copied().filter(|a| plain(*a)) {
        let Some(range) = range_of(a) else { continue };
        out.push(Entry { array: place(a)?, touched: [ir.int(0), range.bytes], written: none });
    }
    Ok(out)
}

/// The bytes of an array's range that rows of a buffer take.
fn rows_of(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    l: &Launcher<'_>,
    b: &Buffer,
    range: &Range,
    [first, last]: [Value; 2],
) -> Result<[Value; 2], CodegenError> {
    let array = l.plan.scop.array(b.array);
    let dims = array.dims();
    let lead = b.selectors.len();
    let linear = |row: Value| -> Result<Value, CodegenError> {
        let mut index = ir.int(0);
        for d in 0..dims {
            if d > 0 {
                let size = array.sizes[d].as_ref();
                let size = size.ok_or(CodegenError::Internal("a size is missing".into()))?;
                index = ir.mul(index, expr.emit_pw_aff(size)?);
            }
            match b.selectors.get(d) {
                Some(selector) => index = ir.add(index, ir.int(*selector)),
                None if d == lead => index = ir.add(index, row),
                None => {}
            }
        }
        let bytes = ir.add(ir.mul(index, ir.int(i64::from(range.element_bytes))), range.bias);
        Ok(ir.smin(ir.smax(bytes, ir.int(0)), range.bytes))
    };
    Ok([linear(first)?, linear(ir.add(last, ir.int(1)))?])
}
