//! Numbers of iterations that scalar evolution leaves open.
//!
//! **Problem.** A loop need not end, for all that scalar evolution knows: `i += step` may step by 0, and an unsigned counter of 32 bits may
//! never reach a number of 64. Under conditions that are checked at run time the number of iterations is known.
//!
//! **Example.** `for (i = 0; i < n; i += step)` has `(n - 1) / step + 1` iterations where `step >= 1` and `n + step` is no more than the type
//! holds. No affine function, but it does not change: it is a parameter that the host computes.

use crate::builder::{Builder, Place, Stop};
use crate::ir::{self, Block, Op, Pred, Value};
use isl::PwAff;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

impl Builder<'_> {
    /// The backedge-taken count of a loop that is left from `exiting`, under assumptions; `None` if they would not do.
    pub fn count_left_open(
        &mut self,
        exiting: Block,
        l: LoopId,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        match self.until_equal(exiting, l, place)? {
            None => self.by_steps(exiting, l, place),
            count => Ok(count),
        }
    }

    /// The backedge-taken count that scalar evolution found. Of a loop that steps by a parameter that is a quotient with minima and maxima around it,
    /// which have a case for a single step: then the number of steps is named, as for a count that is left open.
    pub fn count_by_steps(
        &mut self,
        exiting: Block,
        l: LoopId,
        count: &ScevExpr,
        place: &Place,
    ) -> Result<PwAff, Stop> {
        if steps_by_unknown(count) {
            let before = (self.assumed.clone(), self.assumptions.clone());
            match self.by_steps(exiting, l, place) {
                Ok(Some(count)) => return Ok(count),
                Err(Stop::Isl(e)) => return Err(Stop::Isl(e)),
                Ok(None) | Err(Stop::Blocker(_)) => (self.assumed, self.assumptions) = before,
            }
        }
        self.unsigned(count, place)
    }

    /// The comparison at the end of `exiting`, and the predicate with which it keeps the loop going. It may be one that an inner loop
    /// makes as well, handed on by PHI nodes, which scalar evolution does not look through.
    fn goes_on(&self, exiting: Block, l: LoopId) -> Option<(Value, Pred)> {
        let (mut test, yes) = (ir::branch_condition(exiting)?, ir::successors(exiting).first().copied()?);
        while ir::opcode(test) == Some(Op::LLVMPHI)
            && let [(only, _)] = ir::incoming(test)[..]
        {
            test = only;
        }
        if ir::opcode(test) != Some(Op::LLVMICmp) {
            return None;
        }
        let predicate = ir::icmp_predicate(test);
        if self.an.loops()[l.0].blocks.contains(&yes) {
            return Some((test, predicate));
        }
        let inverse = match predicate {
            Pred::LLVMIntEQ => Pred::LLVMIntNE,
            Pred::LLVMIntSGE => Pred::LLVMIntSLT,
            Pred::LLVMIntSLE => Pred::LLVMIntSGT,
            Pred::LLVMIntUGE => Pred::LLVMIntULT,
            Pred::LLVMIntULE => Pred::LLVMIntUGT,
            _ => return None,
        };
        Some((test, inverse))
    }

    /// For a loop that goes on while its counter, which steps by a number or a parameter, is less than something else.
    fn by_steps(&mut self, exiting: Block, l: LoopId, place: &Place) -> Result<Option<PwAff>, Stop> {
        let Some((test, predicate)) = self.goes_on(exiting, l) else { return Ok(None) };
        let (left, unsigned) = match predicate {
            Pred::LLVMIntSLT => (true, false),
            Pred::LLVMIntULT => (true, true),
            Pred::LLVMIntSGT => (false, false),
            Pred::LLVMIntUGT => (false, true),
            _ => return Ok(None),
        };
        let side = |i| self.an.scev(ir::operand(test, i), Some(l));
        let (counter, end) = if left { (side(0), side(1)) } else { (side(1), side(0)) };
        let ScevKind::AddRec { loop_id, operands } = &counter.kind else { return Ok(None) };
        let [first, step] = &operands[..] else { return Ok(None) };
        if *loop_id != l {
            return Ok(None);
        }
        if let ScevKind::Constant(step) = step.kind {
            let fixed = self.an.is_loop_invariant(end.handle, l);
            return if step > 0 && fixed {
                self.by_number(first, step, &end, unsigned, place)
            } else {
                Ok(None)
            };
        }
        if ![first, step, &end].iter().all(|e| self.is_invariant(e)) {
            return Ok(None);
        }
        let before = self.before_region(place.inst)?;
        let mut values = Vec::new();
        for e in [first, step, &end] {
            let value = if unsigned { self.unsigned(e, &before)? } else { self.exact(e, &before)? };
            values.push(value);
        }
        let [first_value, step_value, end_value] = &values[..] else { return Ok(None) };
        let quotient = self.an.steps(end.handle, first.handle, step.handle);
        let Ok(count) = self.param(&quotient) else { return Ok(None) };
        let number = |n: i64| self.constant(i128::from(n), &before);
        let mut good = step_value.clone().ge_set(number(1)?)?;
        let next = end_value.clone().add(step_value.clone())?;
        if counter.bits < 64 {
            // The last value of the counter is less than this.
            good = good.intersect(next.clone().le_set(number(1i64 << (counter.bits - 1))?)?)?;
        }
        // What is divided, at least 0 where the loop is entered, and what the quotient is no more than.
        let dividend = next.sub(first_value.clone())?.sub(number(1)?)?;
        let named = self.param_aff(count, before.space()?)?;
        good = good.intersect(named.clone().nonneg_set()?)?.intersect(named.le_set(dividend)?)?;
        let note = format!("{} is positive and its multiples do not overflow", self.describe(step));
        self.assume_params(AssumptionKind::NoWrap, good.params()?, place.inst, &note)?;
        Ok(Some(self.param_aff(count, place.space()?)?))
    }

    /// How often a number can be added to `first` until `end` is reached.
    fn by_number(
        &mut self,
        first: &ScevExpr,
        step: i128,
        end: &ScevExpr,
        unsigned: bool,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        let Ok(by) = i32::try_from(step) else { return Ok(None) };
        let (first_value, end_value) = if unsigned {
            (self.unsigned(first, place)?, self.unsigned(end, place)?)
        } else {
            (self.exact(first, place)?, self.exact(end, place)?)
        };
        let next = end_value.add(self.constant(step, place)?)?;
        if end.bits < 64 {
            let top = self.constant(1i128 << (end.bits - 1), place)?;
            self.assume(
                AssumptionKind::NoWrap,
                next.clone().gt_set(top)?,
                place,
                "a loop counter does not overflow",
            )?;
        }
        let dividend = next.sub(first_value)?.sub(self.constant(1, place)?)?;
        let count = dividend.scale_down(isl::Val::int(&self.ctx, i64::from(by))?)?.floor()?;
        Ok(Some(count.max(self.constant(0, place)?)?.coalesce()?))
    }

    /// The backedge-taken count of a loop that ends where its counter, extended, is equal to a wider number: `zext(k + 1) != j`. Scalar
    /// evolution leaves it open, because an unsigned counter may wrap and never get there.
    fn until_equal(&mut self, exiting: Block, l: LoopId, place: &Place) -> Result<Option<PwAff>, Stop> {
        let Some((test, Pred::LLVMIntNE)) = self.goes_on(exiting, l) else { return Ok(None) };
        let counter = |e: &ScevExpr| {
            let ScevKind::ZeroExtend(x) = &e.kind else { return None };
            match &x.kind {
                ScevKind::AddRec { loop_id, operands } if *loop_id == l => match &operands[..] {
                    [start, step] if step.kind == ScevKind::Constant(1) && x.bits <= 32 => {
                        Some((start.clone(), x.bits))
                    }
                    _ => None,
                },
                _ => None,
            }
        };
        let side = |i| self.an.scev(ir::operand(test, i), Some(l));
        let (a, b) = (side(0), side(1));
        let ((start, bits), end) = match (counter(&a), counter(&b)) {
            (Some(c), None) => (c, b),
            (None, Some(c)) => (c, a),
            _ => return Ok(None),
        };
        if !self.an.is_loop_invariant(end.handle, l) {
            return Ok(None);
        }
        let (start, end) = (self.unsigned(&start, place)?, self.unsigned(&end, place)?);
        let beyond = end.clone().ge_set(self.constant(1 << bits, place)?)?;
        let never = end.clone().lt_set(start.clone())?.union(beyond)?;
        self.assume(AssumptionKind::NoWrap, never, place, "a loop counter does not overflow")?;
        Ok(Some(end.sub(start)?))
    }
}

/// Whether something is divided by what is no number.
fn steps_by_unknown(e: &ScevExpr) -> bool {
    let own = matches!(&e.kind, ScevKind::UDiv(_, by) if !matches!(by.kind, ScevKind::Constant(_)));
    own || e.operands().into_iter().any(steps_by_unknown)
}
