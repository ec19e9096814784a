//! The checks before a launch, in two steps: comparisons of numbers, which cost next to nothing and are what
//! fails for small or odd sizes; then the touched ranges, which take products, and their comparisons with
//! each other.
//!
//! ```text
//! check:    holds = and of the comparisons                 br holds, ranges, refused
//! ranges:   ranges; holds = and of the comparisons         br holds, ..., refused
//! refused:  the number of the first condition that failed, and the values on its sides      br host_begin
//! ```
//!
//! # Invariants
//! - All checks of a step are evaluated, none traps, and each is right if those before it, in its step or an
//!   earlier one, hold.
//! - A path on which all hold has no more of them than comparisons and an `and` each: why one failed is found
//!   out on the way to the original loop.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::plan::{HostPlan, Slots};
use crate::host::product_range;
use crate::host::ranges::{
    Extent, RANGE, Range, base_address, disjoint, extent, extent_of_place, memory_range, scratch_range,
};
use crate::host::why::{self, Fails, LEFT, RIGHT, Why};
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntULE};
use pollyrs_isl as isl;
use pollyrs_schedule::planted::planted;
use pollyrs_scop::{ArrayId, ArrayKind, Scop, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// Checks of one step, at most. LLVM takes more than linear time for a chain of conjunctions in a block: half
/// a minute for the 1,335 pairs of 60 arrays, 30 of them written.
const MAX_STEP: usize = 64;

/// One conjunct of the run-time check, and what is said where it fails: the first of the list that does, the
/// last one in any case.
pub(crate) struct Check {
    holds: Value,
    why: Vec<Why>,
}

impl Check {
    pub(crate) fn plain(holds: Value, text: String) -> Check {
        Check { holds, why: vec![Why { text, fails: Fails::Always }] }
    }
}

/// Emits the steps, each behind the last.
pub(crate) struct Gate<'a> {
    pub ir: &'a Ir,
    pub function: Value,
    /// Where failed checks lead; it has to get its PHI of [`Gate::refused`].
    pub refuse: Block,
    /// By number of a check.
    pub reasons: Vec<String>,
    /// The number of the failed check, and the block that it comes from.
    pub refused: Vec<(Value, Block)>,
}

impl Gate<'_> {
    /// Comparisons of parameters: their ranges, the assumptions, products of sizes. What has fewest
    /// operations comes first.
    pub fn pass_numbers(&mut self, expr: &ExprEmitter<'_>, scop: &Scop) -> Result<(), CodegenError> {
        let mut checks = self.in_range(expr, scop, scop.is_inspected());
        let ir = self.ir;
        let assumed = scop.assumed()?;
        if !assumed.is_equal(&isl::Set::universe(assumed.space()?)?)? {
            checks.push(Check { holds: expr.emit_set(&assumed)?, why: why::of_assumptions(scop)? });
        }
        let mut ranges: Vec<_> = scop.ranges.iter().collect();
        ranges.sort_by_key(|r| r.terms.iter().map(|t| t.coefficient.len()).sum::<usize>());
        for r in ranges {
            let product_range::Emitted { holds, bad, least, most } = product_range::emit(ir, expr, scop, r)?;
            let text =
                format!("an assumption does not hold: {}, but it is between {LEFT} and {RIGHT}", r.note);
            let why = vec![
                Why { text, fails: Fails::Known(bad, least, most) },
                Why { text: format!("an assumption does not hold: {}", r.note), fails: Fails::Always },
            ];
            checks.push(Check { holds, why });
        }
        self.pass(expr, checks)
    }

    /// What is checked before anything is inspected: ranges of the other parameters, and what is assumed of
    /// those for any inspected values.
    pub fn pass_before_inspection(
        &mut self,
        expr: &ExprEmitter<'_>,
        scop: &Scop,
    ) -> Result<(), CodegenError> {
        let mut checks = self.in_range(expr, scop, false);
        let (mut assumed, mut context) = (scop.assumed()?, scop.context.clone());
        for p in scop.params.iter().filter(|p| p.inspected) {
            let id = isl::Id::new(&scop.ctx, &p.name)?;
            for set in [&mut assumed, &mut context] {
                let at = set.find_dim_by_id(isl::DimType::Param, &id)?;
                if at >= 0 {
                    *set = set.clone().project_out(isl::DimType::Param, at as u32, 1)?;
                }
            }
        }
        let assumed = assumed.coalesce()?.gist(context)?;
        if !assumed.is_equal(&isl::Set::universe(assumed.space()?)?)? {
            checks.push(Check { holds: expr.emit_set(&assumed)?, why: why::of_assumptions_before(scop)? });
        }
        self.pass(expr, checks)
    }

    /// That parameters of 64 bits lie in the range that the model takes them for.
    fn in_range(&self, expr: &ExprEmitter<'_>, scop: &Scop, inspected: bool) -> Vec<Check> {
        let ir = self.ir;
        let mut in_range = None;
        let mut why = Vec::new();
        for p in scop.params.iter().filter(|p| p.bits == 64 && p.inspected == inspected) {
            let v = expr.names[&p.name];
            let shifted = ir.add(v, ir.int(RANGE));
            let c = ir.icmp(LLVMIntULE, shifted, ir.int(2 * RANGE));
            in_range = Some(in_range.map_or(c, |r| ir.and(r, c)));
            let text = format!("a size or bound is out of range: {} = {LEFT}", p.display);
            why.push(Why { text, fails: Fails::Known(c, v, ir.int(RANGE)) });
        }
        let Some(holds) = in_range else { return Vec::new() };
        why.push(Why { text: "a size or bound is out of range".into(), fails: Fails::Always });
        vec![Check { holds, why }]
    }

    /// The touched ranges, one for each of `device_arrays`: each small enough, those that must not overlap
    /// apart.
    pub fn pass_memory(
        &mut self,
        expr: &mut ExprEmitter<'_>,
        plan: &HostPlan<'_>,
        device_arrays: &[ArrayId],
        slots: &Slots,
    ) -> Result<Vec<Range>, CodegenError> {
        let (ir, scop) = (self.ir, plan.scop);
        let mut checks = Vec::new();
        let mut ranges = Vec::new();
        let mut sized = None;
        for id in device_arrays {
            let (range, fits) = match &plan.footprints[id.0] {
                Some(f) => memory_range(ir, expr, scop, *id, f)?,
                None => scratch_range(ir, expr, scop, *id, slots)?,
            };
            if let Some(c) = fits {
                sized = Some(sized.map_or(c, |s| ir.and(s, c)));
            }
            ranges.push(range);
        }
        if let Some(holds) = sized {
            checks.push(Check::plain(holds, "an array is too large".into()));
        }
        let mut extents = BTreeMap::new();
        let mut of = |id: ArrayId| -> Option<Extent> {
            let at = device_arrays.iter().position(|d| *d == id)?;
            Some(*extents.entry(at).or_insert_with(|| extent(ir, &ranges[at])))
        };
        for u in &scop.invariant_loads {
            let place = extent_of_place(ir, host_value(u.address), u.bytes);
            for a in &u.arrays {
                let Some(written) = of(*a) else { continue };
                let reason = format!("stores to {} may change {}", scop.array(*a).display, u.display);
                checks.push(Check::plain(disjoint(ir, &place, &written), reason));
            }
        }
        for (a, b) in compared(scop) {
            let (Some(ea), Some(eb)) = (of(a), of(b)) else { continue };
            let reason = format!("{} and {} overlap", scop.array(a).display, scop.array(b).display);
            let mut holds = disjoint(ir, &ea, &eb);
            let place = |id: ArrayId| device_arrays.iter().position(|d| *d == id).map(|at| &ranges[at]);
            if let (Some(ra), Some(rb), true) = (place(a), place(b), scop.may_be_one(a, b)?) {
                holds = ir.or(holds, one_array(ir, expr, scop, (a, ra), (b, rb))?);
            }
            checks.push(Check::plain(holds, reason));
            if checks.len() == MAX_STEP {
                self.pass(expr, std::mem::take(&mut checks))?;
            }
        }
        self.pass(expr, checks)?;
        Ok(ranges)
    }

    /// Goes on in a new block where all hold.
    pub(crate) fn pass(&mut self, expr: &ExprEmitter<'_>, checks: Vec<Check>) -> Result<(), CodegenError> {
        let ir = self.ir;
        let Some(all) = checks.iter().map(|c| c.holds).reduce(|a, b| ir.and(a, b)) else { return Ok(()) };
        let next = ir.append_block(self.function, "pollyrs.pass");
        let refused = ir.append_block(self.function, "pollyrs.refused");
        ir.cond_br(all, next, refused);
        ir.at_end(refused);
        let mut found = Vec::new();
        for c in checks {
            for w in c.why {
                let (holds, left, right) = why::emit(ir, expr, &w.fails)?;
                let number = ir.int32(self.reasons.len() as u32);
                self.reasons.push(w.text);
                found.push((ir.or(c.holds, holds), number, left, right));
            }
        }
        let first = found.into_iter().rev().reduce(|(_, number, left, right), (holds, n, l, r)| {
            (holds, ir.select(holds, number, n), ir.select(holds, left, l), ir.select(holds, right, r))
        });
        let Some((_, reason, left, right)) = first else {
            return Err(CodegenError::Internal("a check without a reason".into()));
        };
        let module = self.function.module();
        let keep = ir.declare(module, "pollyrs_rt_sides", ir.void_type(), &[ir.i64_type(), ir.i64_type()]);
        ir.call(ir.void_type(), keep, &[left, right]);
        self.refused.push((reason, ir.block()));
        ir.br(self.refuse);
        ir.at_end(next);
        Ok(())
    }
}

/// Whether two arrays begin at one address and have the same inner sizes, and no rows that overlap, so that
/// equal subscripts are equal elements, and others are not.
fn one_array(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    scop: &Scop,
    (a, place_of_a): (ArrayId, &Range),
    (b, place_of_b): (ArrayId, &Range),
) -> Result<Value, CodegenError> {
    let (a, b) = (scop.array(a), scop.array(b));
    if a.elem.bytes() != b.elem.bytes() || a.dims() != b.dims() {
        return Err(CodegenError::Internal("arrays of different shapes can't be one".into()));
    }
    let mut same = ir.icmp(LLVMIntEQ, base_address(ir, place_of_a), base_address(ir, place_of_b));
    for (s, t) in a.sizes.iter().zip(&b.sizes).skip(1) {
        let (Some(s), Some(t)) = (s, t) else {
            return Err(CodegenError::Internal("a size is missing".into()));
        };
        if !s.is_equal(t)? {
            let equal = ir.icmp(LLVMIntEQ, expr.emit_pw_aff(s)?, expr.emit_pw_aff(t)?);
            same = ir.and(same, equal);
        }
    }
    for apart in [&a.apart, &b.apart].into_iter().flatten() {
        same = ir.and(same, expr.emit_set(apart)?);
    }
    Ok(same)
}

/// The pairs to compare: each once, and none with an array that is the device's own.
fn compared(scop: &Scop) -> BTreeSet<(ArrayId, ArrayId)> {
    let memory = |a: &ArrayId| scop.array(*a).is_memory();
    let told_apart =
        |a: &ArrayId, b: &ArrayId| planted("retyped") && scop.array(*a).elem != scop.array(*b).elem;
    let pairs = scop.alias_checks.iter().filter(|(a, b)| memory(a) && memory(b) && !told_apart(a, b));
    pairs.map(|(a, b)| (*a.min(b), *a.max(b))).collect()
}

/// Whether no array of an execution lies in the range of another one that is written, for all that is known:
/// neither one that may be the same, nor members of the same structures. Then the run-time library may refuse
/// what overlaps, whatever was thought of the accesses' types here.
pub(crate) fn are_apart(scop: &Scop) -> Result<bool, CodegenError> {
    let compared = compared(scop);
    let memory: Vec<(ArrayId, ValueHandle)> = (0..scop.arrays.len())
        .filter_map(|at| match scop.arrays[at].kind {
            ArrayKind::Memory { base } => Some((ArrayId(at), base)),
            _ => None,
        })
        .collect();
    for (n, (a, base)) in memory.iter().enumerate() {
        for (b, other) in &memory[n + 1..] {
            let compared = compared.contains(&(*a.min(b), *a.max(b)));
            if !compared && base == other || compared && scop.may_be_one(*a, *b)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
