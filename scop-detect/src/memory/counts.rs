//! Numbers of iterations that scalar evolution leaves open.
//!
//! **Problem.** A loop need not end, for all that scalar evolution knows: `i += step` may step by 0, and an
//! unsigned counter of 32 bits may never reach a number of 64. Under conditions that are checked at run time
//! the number of iterations is known.
//!
//! **Example.** `for (i = 0; i < n; i += step)` has `(n - 1) / step + 1` iterations where `step >= 1` and
//! `n + step` is no more than the type holds. No affine function, but it does not change: it is a parameter
//! that the host computes.
//!
//! A loop with two ends, `for (; a != end && b != stop; ++a, ++b)`, may step over one of them for all that is
//! known: each end is assumed to be a whole number of steps away, at least none, and the loop ends at the
//! nearer one. So it is with one end in a loop that a check may leave before: `for (; p != end; ++p)` with
//! `if (*p < 0) return -1;`.

use crate::affine::loop_ends::{Below, inverse};
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::instructions::is_check;
use crate::base::ir::{self, Block, Op, Pred, Value};
use crate::base::place::Place;
use isl::PwAff;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

/// Comparisons that end one loop.
const MAX_ENDS: usize = 4;

/// Steps of counters and pointers with an end of their own.
const MAX_STEP: i128 = 1 << 12;

impl Builder<'_> {
    /// The backedge-taken count of a loop that is left from `exiting`, under assumptions; `None` if they
    /// would not do.
    pub fn count_left_open(
        &mut self,
        exiting: Block,
        l: LoopId,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        for found in [Self::until_equal, Self::by_steps, Self::by_ends] {
            if let Some(count) = found(self, exiting, l, place)? {
                return Ok(Some(count));
            }
        }
        Ok(None)
    }

    /// For a loop that goes on as long as several comparisons hold, each of a counter or pointer that steps
    /// by a number with what does not change; or as long as one does, and nothing ends it before.
    pub fn by_ends(&mut self, exiting: Block, l: LoopId, place: &Place) -> Result<Option<PwAff>, Stop> {
        let (Some(test), Some(yes)) =
            (ir::branch_condition(exiting), ir::successors(exiting).first().copied())
        else {
            return Ok(None);
        };
        // Otherwise the loop is left where one of them holds.
        let stays = self.given.an.loops()[l.0].blocks.contains(&yes);
        let mut ends = Vec::new();
        // Of a loop that a check may end before, nothing says that it ever meets its end.
        let checked =
            self.given.an.loops()[l.0].blocks.iter().flat_map(|b| ir::instructions(*b)).any(is_check);
        if !joined(test, stays, MAX_ENDS, &mut ends) || ends.len() < 2 && !checked {
            return Ok(None);
        }
        let mut nearest: Option<PwAff> = None;
        for test in ends {
            let predicate = ir::icmp_predicate(test);
            let going = if stays { predicate } else { inverse(predicate).unwrap_or(predicate) };
            if !stays && inverse(predicate).is_none() {
                return Ok(None);
            }
            let Some(count) = self.until_end(test, going, l, place)? else { return Ok(None) };
            nearest = Some(match nearest {
                None => count,
                Some(other) => other.min(count)?.coalesce()?,
            });
        }
        Ok(nearest)
    }

    /// How often the loop could go on if it were for one comparison alone.
    fn until_end(
        &mut self,
        test: Value,
        going: Pred,
        l: LoopId,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        let side = |i| self.given.an.scev(ir::operand(test, i), Some(l));
        let counts = |e: &ScevExpr| matches!(&e.kind, ScevKind::AddRec { loop_id, .. } if *loop_id == l);
        let (a, b) = (side(0), side(1));
        let (counter, end, left) = match (counts(&a), counts(&b)) {
            (true, false) => (a, b, true),
            (false, true) => (b, a, false),
            _ => return Ok(None),
        };
        let ScevKind::AddRec { operands, .. } = &counter.kind else { return Ok(None) };
        let [first, step] = &operands[..] else { return Ok(None) };
        let ScevKind::Constant(by @ 1..=MAX_STEP) = step.kind else { return Ok(None) };
        if !self.given.an.is_loop_invariant(end.handle, l) {
            return Ok(None);
        }
        match (going, left) {
            (Pred::LLVMIntNE, _) => {}
            // It is met where it is a whole number of steps away.
            (Pred::LLVMIntULT, true) | (Pred::LLVMIntUGT, false) if end.is_pointer => {}
            (Pred::LLVMIntSLT, true) | (Pred::LLVMIntSGT, false) if !end.is_pointer => {
                return self.by_number(first, by, &end, false, place);
            }
            (Pred::LLVMIntULT, true) | (Pred::LLVMIntUGT, false) if !end.is_pointer => {
                return self.by_number(first, by, &end, true, place);
            }
            _ => return Ok(None),
        }
        let distance = self.given.an.difference(end.handle, first.handle);
        if distance.kind == ScevKind::CouldNotCompute || distance.bits != 64 {
            return Ok(None);
        }
        let bytes = self.exact(&distance, place)?;
        let value = isl::Val::int(&self.given.ctx, by as i64)?;
        // The quotient is a parameter where it can be one, so that domains have no division.
        let quotient = self.given.an.quotient(distance.handle, by as u64);
        let count = match self.given.is_invariant(&distance).then(|| self.param(&quotient)) {
            Some(Ok(index)) => self.param_aff(index, place.space()?)?,
            Some(Err(Stop::Isl(e))) => return Err(e.into()),
            _ => bytes.clone().scale_down(value.clone())?.floor()?,
        };
        let never = bytes.ne_set(count.clone().scale(value)?)?;
        let never = never.union(count.clone().lt_set(self.constant(0, place)?)?)?;
        let note = "each end of a loop is a whole number of steps away";
        self.assume(AssumptionKind::NoWrap, never, place, note)?;
        Ok(Some(count))
    }

    /// The backedge-taken count that scalar evolution found. Of a loop that steps by a parameter that is a
    /// quotient with minima and maxima around it, which have a case for a single step: then the number of
    /// steps is named, as for a count that is left open.
    pub fn count_by_steps(
        &mut self,
        exiting: Block,
        l: LoopId,
        count: &ScevExpr,
        place: &Place,
    ) -> Result<PwAff, Stop> {
        if steps_by_unknown(count) {
            let before = (self.assumed.set.clone(), self.assumed.all.clone());
            match self.by_steps(exiting, l, place) {
                Ok(Some(count)) => return Ok(count),
                Err(Stop::Isl(e)) => return Err(Stop::Isl(e)),
                Ok(None) | Err(Stop::Blocker(_)) => (self.assumed.set, self.assumed.all) = before,
            }
        }
        self.unsigned(count, place)
    }

    /// For a loop that goes on while its counter, which steps by a number or a parameter, is less than
    /// something else.
    fn by_steps(&mut self, exiting: Block, l: LoopId, place: &Place) -> Result<Option<PwAff>, Stop> {
        let Some(Below { first, step, end, bits, unsigned }) = self.given.below(exiting, l) else {
            return Ok(None);
        };
        if let ScevKind::Constant(step) = step.kind {
            let fixed = self.given.an.is_loop_invariant(end.handle, l);
            return if step > 0 && fixed {
                self.by_number(&first, step, &end, unsigned, place)
            } else {
                Ok(None)
            };
        }
        if ![&first, &step, &end].iter().all(|e| self.given.is_invariant(e)) {
            return Ok(None);
        }
        let before = self.given.before_region(place.inst)?;
        let mut values = Vec::new();
        for e in [&first, &step, &end] {
            let value = if unsigned { self.unsigned(e, &before)? } else { self.exact(e, &before)? };
            values.push(value);
        }
        let [first_value, step_value, end_value] = &values[..] else { return Ok(None) };
        let quotient = self.given.an.steps(end.handle, first.handle, step.handle);
        let Ok(count) = self.param(&quotient) else { return Ok(None) };
        let number = |n: i64| self.constant(i128::from(n), &before);
        let mut good = step_value.clone().ge_set(number(1)?)?;
        let next = end_value.clone().add(step_value.clone())?;
        if bits < 64 {
            // The last value of the counter is less than this.
            good = good.intersect(next.clone().le_set(number(1i64 << (bits - 1))?)?)?;
        }
        // What is divided, at least 0 where the loop is entered, and what the quotient is no more than.
        let dividend = next.sub(first_value.clone())?.sub(number(1)?)?;
        let named = self.param_aff(count, before.space()?)?;
        good = good.intersect(named.clone().nonneg_set()?)?.intersect(named.le_set(dividend)?)?;
        let note = format!("{} is positive and its multiples do not overflow", self.describe(&step));
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
        let count = dividend.scale_down(isl::Val::int(&self.given.ctx, i64::from(by))?)?.floor()?;
        Ok(Some(count.max(self.constant(0, place)?)?.coalesce()?))
    }

    /// The backedge-taken count of a loop that ends where its counter, extended, is equal to a wider number:
    /// `zext(k + 1) != j`. Scalar evolution leaves it open, because an unsigned counter may wrap and never
    /// get there.
    fn until_equal(&mut self, exiting: Block, l: LoopId, place: &Place) -> Result<Option<PwAff>, Stop> {
        let Some((test, Pred::LLVMIntNE)) = self.given.goes_on(exiting, l) else { return Ok(None) };
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
        let side = |i| self.given.an.scev(ir::operand(test, i), Some(l));
        let (a, b) = (side(0), side(1));
        let ((start, bits), end) = match (counter(&a), counter(&b)) {
            (Some(c), None) => (c, b),
            (None, Some(c)) => (c, a),
            _ => return Ok(None),
        };
        if !self.given.an.is_loop_invariant(end.handle, l) {
            return Ok(None);
        }
        let (start, end) = (self.unsigned(&start, place)?, self.unsigned(&end, place)?);
        let beyond = end.clone().ge_set(self.constant(1 << bits, place)?)?;
        let never = end.clone().lt_set(start.clone())?.union(beyond)?;
        self.assume(AssumptionKind::NoWrap, never, place, "a loop counter does not overflow")?;
        Ok(Some(end.sub(start)?))
    }
}

/// Collects the comparisons that `test` joins: by `and` where the loop goes on while all hold, else by `or`.
/// Whether nothing else is in there.
fn joined(test: Value, all: bool, most: usize, found: &mut Vec<Value>) -> bool {
    let (arg, is) =
        (|i| ir::operand(test, i), |v: Value, c: bool| ir::constant_int(v).map(|x| x != 0) == Some(c));
    let parts = match ir::opcode(test) {
        Some(Op::LLVMICmp) => {
            found.push(test);
            return found.len() <= most;
        }
        Some(Op::LLVMAnd) if all => (arg(0), arg(1)),
        Some(Op::LLVMOr) if !all => (arg(0), arg(1)),
        Some(Op::LLVMSelect) if all && is(arg(2), false) => (arg(0), arg(1)),
        Some(Op::LLVMSelect) if !all && is(arg(1), true) => (arg(0), arg(2)),
        _ => return false,
    };
    joined(parts.0, all, most, found) && joined(parts.1, all, most, found)
}

/// Whether something is divided by what is no number.
fn steps_by_unknown(e: &ScevExpr) -> bool {
    let own = matches!(&e.kind, ScevKind::UDiv(_, by) if !matches!(by.kind, ScevKind::Constant(_)));
    own || e.operands().into_iter().any(steps_by_unknown)
}
