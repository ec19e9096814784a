//! Inspections: the host looks at integers, and at numbers that integers are rounded from
//! ([`super::numbers`]), in memory before a launch, for the least and the largest of them.
//!
//! ```text
//! check:    what can be known without: the sizes' ranges; assumptions, without what they say of inspected values
//! worth:    pollyrs_rt_worth(cache, work, kernels)                                         0 → refused
//! inspect:  for each inspection in order
//!             its box is small enough?                                                 no → refused
//!             pollyrs_rt_inspect(start, rows, bytes of an element, &least)             0 → refused
//!           all that is assumed
//! ranges:   ...
//! ```
//!
//! # Invariants
//! - The parameters of an inspection have no value before it; nothing emitted before depends on them.
//! - In a function with a hold, what only the device has of the memory comes back first, whichever
//!   activation's object it is.
//! - What is found is used only behind the check of all assumptions. Under these the elements that were
//!   looked at are all that the SCoP loads, as it does not write them.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::abi::{
    INSPECT_DISTINCT, INSPECT_FIRST, INSPECT_UNSIGNED, INSPECTED_WORDS, REASON_RUNTIME, ROW_DIMS,
};
use crate::host::checks::{Check, Gate};
use crate::host::emit::in_activation;
use crate::host::plan::{HostPlan, Slots};
use crate::host::ranges::{RANGE, offset_of, rows};
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::InspectedBox;
use pollyrs_scop::{ArrayId, ArrayKind};

/// What all looks of a SCoP have in common.
pub(super) struct Looks<'a> {
    pub plan: &'a HostPlan<'a>,
    slots: &'a Slots,
    cache: Value,
    /// Of the roundings that are left.
    pub boxes: std::slice::Iter<'a, InspectedBox>,
    /// Whether anything was looked at.
    any: bool,
}

/// A look.
pub(super) struct Asked<'a> {
    pub array: ArrayId,
    /// Beside the bytes of an element.
    pub flags: u32,
    pub display: &'a str,
    pub found: Option<&'a InspectedBox>,
}

/// Gives two parameters their values.
fn know(
    expr: &mut ExprEmitter<'_>,
    plan: &HostPlan<'_>,
    params: &mut [Value],
    (low, high): (usize, usize),
    (least, largest): (Value, Value),
) {
    for (at, value) in [(low, least), (high, largest)] {
        expr.names.insert(plan.scop.params[at].name.clone(), value);
        params[at] = value;
    }
}

impl Gate<'_> {
    /// Makes the inspections and gives `expr` and `params`, by parameter, what they find. `cache`: the SCoP's
    /// slot of the run-time library; `work`: a double.
    pub fn inspect(
        &mut self,
        expr: &mut ExprEmitter<'_>,
        plan: &HostPlan<'_>,
        slots: &Slots,
        params: &mut [Value],
        (cache, work): (Value, Value),
    ) -> Result<(), CodegenError> {
        self.ask_worth(plan, (cache, work));
        let mut looks = Looks { plan, slots, cache, boxes: plan.inspected.iter(), any: false };
        // The boxes of roundings are behind those of inspections.
        let mut lists = looks.boxes.clone();
        let count = plan.scop.inspections.len();
        if count > 0 {
            looks.boxes.nth(count - 1);
        }
        for n in 0..=count {
            for r in plan.scop.roundings.iter().filter(|r| r.behind == n) {
                let ends = self.round(expr, &mut looks, r)?;
                know(expr, plan, params, (r.low, r.high), ends);
            }
            let Some(i) = plan.scop.inspections.get(n) else { continue };
            let asked = Asked {
                array: i.array,
                flags: if i.distinct { INSPECT_DISTINCT } else { 0 }
                    | if i.unsigned { INSPECT_UNSIGNED } else { 0 },
                display: &i.display,
                found: lists.next(),
            };
            let ends = self.look(expr, &mut looks, &asked)?;
            know(expr, plan, params, (i.low, i.high), ends);
        }
        Ok(())
    }

    /// Whether the execution is worth its inspections, as far as the run-time library can tell before them.
    fn ask_worth(&mut self, plan: &HostPlan<'_>, (cache, work): (Value, Value)) {
        let ir = self.ir;
        let (ptr, i32) = (ir.ptr_type(), ir.i32_type());
        let kernels = ir.int32(plan.kernels.len() as u32);
        let (mut types, mut args) = (vec![ptr, ir.double_type(), i32], vec![cache, work, kernels]);
        let name = in_activation(plan, "pollyrs_rt_worth", ptr, &mut types, &mut args);
        let ask = ir.declare(self.function.module(), &name, i32, &types);
        let worth = ir.icmp(LLVMIntNE, ir.call(i32, ask, &args), ir.int32(0));
        let next = ir.append_block(self.function, "pollyrs.worth");
        self.refused.push((ir.int32(REASON_RUNTIME), ir.block()));
        ir.cond_br(worth, next, self.refuse);
        ir.at_end(next);
    }

    /// Two words: the least and the largest element.
    pub(super) fn look(
        &mut self,
        expr: &mut ExprEmitter<'_>,
        looks: &mut Looks<'_>,
        i: &Asked<'_>,
    ) -> Result<(Value, Value), CodegenError> {
        let (ir, plan, slots) = (self.ir, looks.plan, looks.slots);
        let scop = plan.scop;
        let array = scop.array(i.array);
        let (Some(found), ArrayKind::Memory { base }) = (i.found, &array.kind) else {
            return Err(CodegenError::Internal("an inspection without a box in memory".into()));
        };
        if array.dims() > ROW_DIMS + 1 {
            return Err(CodegenError::Internal("an inspected array has too many dimensions".into()));
        }
        let element = i64::from(array.elem.bytes());
        let any = expr.emit_set(&found.nonempty)?;
        let (first, o1) = offset_of(ir, expr, scop, i.array, &found.corner.min)?;
        let (last, o2) = offset_of(ir, expr, scop, i.array, &found.corner.max)?;
        let mut bad = ir.or(o1, o2);
        let limit = RANGE / element;
        for v in [first, last] {
            bad = ir.or(bad, ir.icmp(LLVMIntUGT, ir.add(v, ir.int(limit)), ir.int(2 * limit)));
        }
        bad = ir.or(bad, ir.icmp(LLVMIntSLT, last, first));
        let mut start = ir.freeze(host_value(*base));
        if let Some(shift) = &array.shift {
            let shift = expr.emit_pw_aff(shift)?;
            bad = ir.or(bad, ir.icmp(LLVMIntUGT, ir.add(shift, ir.int(RANGE)), ir.int(2 * RANGE)));
            start = ir.byte_offset(start, shift);
        }
        let start = ir.byte_offset(start, ir.mul(first, ir.int(element)));
        let rows = rows(ir, expr, scop, i.array, &found.corner)?;
        let fits = ir.or(ir.not(any), ir.not(bad));
        let text = format!("the part of {} that has to be inspected is too large", i.display);
        self.pass(expr, vec![Check::plain(fits, text)])?;

        let module = self.function.module();
        let (ptr, i32) = (ir.ptr_type(), ir.i32_type());
        let word = |k: u64| ir.byte_offset(slots.inspected, ir.int(k as i64 * 8));
        ir.store(ir.select(any, rows.bytes, ir.int(0)), word(0));
        for (k, (count, stride)) in rows.dims.into_iter().enumerate() {
            ir.store(count, word(1 + k as u64));
            ir.store(stride, word(1 + (ROW_DIMS + k) as u64));
        }
        let results = word(INSPECTED_WORDS - 2);
        let asked = array.elem.bytes() | i.flags;
        let (mut types, mut args) =
            (vec![ptr, ptr, i32, ptr], vec![start, slots.inspected, ir.int32(asked), results]);
        if let Some(held) = plan.held {
            // What is found is remembered as long as nobody writes to the objects that it is of.
            let mask = held.masks.get(&i.array).copied().unwrap_or_default();
            let what = mask | if looks.any { 0 } else { INSPECT_FIRST };
            types.splice(0..0, [ptr, i32]);
            args.splice(0..0, [looks.cache, ir.int32(what)]);
        }
        let name = in_activation(plan, "pollyrs_rt_inspect", ptr, &mut types, &mut args);
        let inspect = ir.declare(module, &name, i32, &types);
        let status = ir.call(i32, inspect, &args);
        let seen = ir.icmp(LLVMIntNE, status, ir.int32(0));
        looks.any = true;
        let equal = if i.flags == INSPECT_DISTINCT { "two of them are equal, " } else { "" };
        let text = format!(
            "the values of {} were not inspected: {equal}its memory is not readable, or the host was faster before",
            i.display
        );
        self.pass(expr, vec![Check::plain(seen, text)])?;
        Ok((ir.load(ir.i64_type(), results), ir.load(ir.i64_type(), word(INSPECTED_WORDS - 1))))
    }
}
