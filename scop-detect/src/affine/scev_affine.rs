//! Scalar-evolution expressions as affine functions and polynomials over mathematical integers.
//!
//! **Problem.** LLVM's integers are modulo 2^bits, isl's are not. A value is computed *congruent* first:
//! sums, products by constants, truncations and recurrences keep congruence modulo 2^bits whatever wraps on
//! the way. Where the program
//! *interprets* the bits (an extension, a comparison, a division, min and max, a number of iterations), the
//! value must equal the signed (or unsigned) reading: no-wrap flags prove it, or the range is checked over
//! the domain, and what is left becomes an assumption on the parameters. For 64 bits nothing is left: the
//! host bounds every 64-bit parameter by
//! 2^46 ([`crate::base::builder::WIDE_BOUND`]).
//!
//! **Example.** `zext i32 n to i64` in the domain `[n] -> { [i] : 0 <= i < n }` is `n` without an assumption:
//! the domain has no point where `n < 0`. Outside the loop the assumption `n >= 0` would be recorded.

use crate::affine::arithmetic::Affine;
use crate::base::addresses::is_address;
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::found::Multiple;
use crate::base::ir::{self, Op};
use crate::base::naming::power_of;
use crate::base::place::Place;
use isl::{DimType, PwAff, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

/// Functions with more pieces make every later step expensive; none of interest has them.
const MAX_PIECES: u32 = 24;

impl Builder<'_> {
    /// The value modulo 2^bits.
    pub fn congruent(&mut self, e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        let r = self.congruent_unchecked(e, place)?;
        if r.pwa.n_piece()? > MAX_PIECES { self.blocked(e) } else { Ok(r) }
    }

    fn congruent_unchecked(&mut self, e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        if e.bits > 64 || e.is_pointer {
            return self.blocked(e);
        }
        if let Some(d) = place.value_dim(e) {
            return Ok(Affine { pwa: self.dim(d, place)?, exact: true });
        }
        if let Some(sum) = self.sum_with_spans(e, place)? {
            return Ok(sum);
        }
        if self.given.is_invariant(e)
            && let Some(pwa) = self.quotient_of_span(e, place)?
        {
            return Ok(Affine { pwa, exact: true });
        }
        if self.given.is_invariant(e) && (holds_pointer(e) || self.given.is_span_quotient(e)) {
            return self.param_value(e, place);
        }
        if let Some(part) = self.given.part(e) {
            return self.param_value(&part, place);
        }
        if self.given.is_invariant(e) && self.is_part(e) {
            return self.param_value(e, place);
        }
        if let Some(sum) = self.sum_with_taken(e, place)? {
            return Ok(sum);
        }
        match &e.kind {
            ScevKind::Constant(c) => Ok(Affine { pwa: self.constant(*c, place)?, exact: true }),
            ScevKind::Unknown(v) if self.given.defined_inside(*v) => self.instruction(*v, e, place),
            ScevKind::Unknown(_) => match self.given.without_sign(e) {
                // The number of 8 or 16 bits itself is a signed one.
                Some(wide) => Ok(Affine { exact: false, ..self.param_value(&wide, place)? }),
                None => self.param_value(e, place),
            },
            ScevKind::Add(ops) => self.sum(ops, e, place),
            ScevKind::Mul(ops) => self.product(ops, e, place),
            ScevKind::AddRec { loop_id, operands } => self.recurrence(*loop_id, operands, e, place),
            ScevKind::SignExtend(x) if x.bits == 1 => {
                Ok(Affine { pwa: self.unsigned(x, place)?.neg()?, exact: true })
            }
            ScevKind::SignExtend(x) => Ok(Affine { pwa: self.exact(x, place)?, exact: true }),
            ScevKind::ZeroExtend(x) if let Some(wide) = self.given.without_sign(x) => {
                self.param_value(&wide, place)
            }
            ScevKind::ZeroExtend(x) if matches!(x.bits, 8 | 16) && self.given.part(x).is_some() => {
                self.param_value(e, place)
            }
            ScevKind::ZeroExtend(x) => {
                let x = self.given.with_sign(x).unwrap_or_else(|| (**x).clone());
                Ok(Affine { pwa: self.unsigned(&x, place)?, exact: true })
            }
            ScevKind::Truncate(x) if let Some(terms) = self.given.narrowed_terms(x, e) => {
                let mut sum = self.constant(0, place)?;
                for (times, o) in &terms {
                    let term = self.congruent(o, place)?.pwa;
                    sum = sum.add(self.given.scale(term, *times)?)?;
                }
                Ok(Affine { pwa: sum, exact: false })
            }
            ScevKind::Truncate(x) => Ok(Affine { pwa: self.congruent(x, place)?.pwa, exact: false }),
            ScevKind::UDiv(a, b) => match b.kind {
                ScevKind::Constant(c) if c > 0 => {
                    let a = self.unsigned(a, place)?;
                    let c = Val::int(
                        &self.given.ctx,
                        i64::try_from(c).map_err(|_| Stop::Blocker("a huge divisor".into()))?,
                    )?;
                    Ok(Affine { pwa: a.scale_down(c)?.floor()?, exact: true })
                }
                _ if self.given.is_invariant(e) => self.param_value(e, place),
                _ => match self.divided(a, b, false, place)? {
                    Some(pwa) => Ok(Affine { pwa, exact: true }),
                    None => self.blocked(e),
                },
            },
            ScevKind::SMax(ops) => self.fold(ops, place, false, PwAff::max),
            ScevKind::SMin(ops) => self.fold(ops, place, false, PwAff::min),
            ScevKind::UMax(ops) => self.fold(ops, place, true, PwAff::max),
            ScevKind::UMin(ops) | ScevKind::SequentialUMin(ops) => self.fold(ops, place, true, PwAff::min),
            ScevKind::PtrToInt(_) | ScevKind::VScale | ScevKind::CouldNotCompute => self.blocked(e),
        }
    }

    fn sum(&mut self, ops: &[ScevExpr], e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        let mut sum = self.constant(0, place)?;
        let chosen = !place.values.is_empty() && e.bits <= 32;
        let mut exact = e.nsw || ops.len() == 1 || chosen && self.never_wraps_here(e);
        for o in ops {
            let x = self.congruent(o, place)?;
            sum = sum.add(x.pwa)?;
            exact &= x.exact;
        }
        Ok(Affine { pwa: sum, exact })
    }

    /// A sum with distances of addresses, modulo 2^64.
    fn sum_with_spans(&mut self, e: &ScevExpr, place: &Place) -> Result<Option<Affine>, Stop> {
        let ScevKind::Add(ops) = &e.kind else { return Ok(None) };
        let Some(spanned) = self.given.spanned(ops) else { return Ok(None) };
        let mut sum = self.constant(0, place)?;
        for (times, distance) in &spanned.distances {
            let Multiple { param, times: by, constant } = self.span(distance)?;
            let size = self.given.scale(self.param_aff(param, place.space()?)?, times * i128::from(by))?;
            sum = sum.add(size)?.add(self.constant(times * i128::from(constant), place)?)?;
        }
        for o in &spanned.rest {
            sum = sum.add(self.congruent(o, place)?.pwa)?;
        }
        Ok(Some(Affine { pwa: sum, exact: false }))
    }

    /// A sum with the remainder of a number that may be any ([`crate::affine::any_numbers`]).
    fn sum_with_taken(&mut self, e: &ScevExpr, place: &Place) -> Result<Option<Affine>, Stop> {
        let Some(found) = self.taken_terms(e) else { return Ok(None) };
        let zero = |o: &ScevExpr| matches!(o.kind, ScevKind::Constant(0));
        let fits = || found.below.is_some_and(|n| n <= 1 << (e.bits - 1));
        let exact = found.by == 1
            && found.rest.iter().all(zero)
            && (found.remainder.bits == e.bits || e.bits > 1 && fits());
        let parameter = self.taken_param(&found)?;
        let parameter = self.param_aff(parameter, place.space()?)?;
        let mut sum = self.given.scale(parameter, i128::from(found.by))?;
        for o in &found.rest {
            sum = sum.add(self.congruent(o, place)?.pwa)?;
        }
        Ok(Some(Affine { pwa: sum, exact }))
    }

    fn product(&mut self, ops: &[ScevExpr], e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        let mut factor: i128 = 1;
        let mut rest = Vec::new();
        for o in ops {
            match o.kind {
                ScevKind::Constant(c) => factor = factor.saturating_mul(c),
                _ => rest.push(o),
            }
        }
        if rest.len() == 2
            && let Some(x) = self.times_quotient(&rest, place)?
        {
            return Ok(Affine { pwa: self.given.scale(x.pwa, factor)?, exact: false });
        }
        if rest.len() == 2
            && !self.given.is_invariant(e)
            && let Some(x) = self.times_chosen(&rest, place)?
        {
            return Ok(Affine { pwa: self.given.scale(x, factor)?, exact: false });
        }
        let [one] = rest[..] else {
            return if self.given.is_invariant(e) {
                self.param_value(e, place)
            } else {
                self.blocked_product(e)
            };
        };
        let x = self.congruent(one, place)?;
        Ok(Affine { pwa: self.given.scale(x.pwa, factor)?, exact: e.nsw && x.exact })
    }

    fn fold(
        &mut self,
        ops: &[ScevExpr],
        place: &Place,
        unsigned: bool,
        f: fn(PwAff, PwAff) -> isl::Result<PwAff>,
    ) -> Result<Affine, Stop> {
        let mut all = Vec::new();
        for o in ops {
            all.push(if unsigned { self.unsigned(o, place)? } else { self.exact(o, place)? });
        }
        let mut it = all.into_iter();
        let mut acc = it.next().ok_or_else(|| Stop::Blocker("an empty minimum".into()))?;
        for o in it {
            acc = f(acc, o)?;
        }
        Ok(Affine { pwa: acc.coalesce()?, exact: true })
    }

    fn recurrence(
        &mut self,
        l: LoopId,
        ops: &[ScevExpr],
        e: &ScevExpr,
        place: &Place,
    ) -> Result<Affine, Stop> {
        let [start, step] = ops else {
            let counter = self.counter_name(l).unwrap_or_else(|| "a loop counter".to_string());
            return Err(Stop::Blocker(power_of(&counter)));
        };
        let exact = e.nsw;
        if let Some(d) = place.loops.iter().position(|x| *x == l) {
            let ScevKind::Constant(c) = step.kind else { return self.blocked_product(e) };
            let start = self.congruent(start, place)?;
            let i = self.dim(d, place)?;
            let pwa = start.pwa.add(self.given.scale(i, c)?)?;
            return Ok(Affine { pwa, exact: exact && start.exact });
        }
        if !self.given.is_invariant(e) {
            return self.blocked(e);
        }
        if let (Some((counter, offset)), ScevKind::Constant(c)) = (self.outer_counter(l), &step.kind) {
            let start = self.congruent(start, place)?;
            let i = self.param_aff(counter, place.space()?)?;
            let i = i.add_constant(Val::int(&self.given.ctx, -offset)?)?;
            let pwa = start.pwa.add(self.given.scale(i, *c)?)?;
            return Ok(Affine { pwa, exact: exact && start.exact });
        }
        self.param_value(e, place)
    }

    /// An instruction that scalar evolution does not see through: signed division, remainders and masks by
    /// constants, and selections under affine conditions.
    fn instruction(&mut self, v: ir::Value, e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        match ir::opcode(v) {
            // `c ? i + 1 : i` may have become `i + c`.
            _ if e.bits == 1 => {
                let known = place.domain.clone().intersect_params(self.context.clone())?;
                let holds = self.condition(v, place)?.intersect(place.domain.clone())?;
                let not = place.domain.clone().subtract(holds.clone())?;
                let one = self.constant(1, place)?.intersect_domain(holds)?;
                let pwa = one.union_add(self.constant(0, place)?.intersect_domain(not)?)?;
                return Ok(Affine { pwa: pwa.gist(known)?.coalesce()?, exact: false });
            }
            Some(Op::LLVMSelect) => return self.selection(v, place),
            Some(Op::LLVMShl) => return self.chosen_shift(v, e, place),
            Some(Op::LLVMFreeze) => {
                let x = self.given.an.scev(ir::operand(v, 0), self.given.scope(v, place));
                return self.congruent(&x, place);
            }
            _ => {}
        }
        if let Some(op @ (Op::LLVMSDiv | Op::LLVMSRem)) = ir::opcode(v)
            && !ir::is_constant(ir::operand(v, 1))
        {
            let scope = self.given.scope(v, place);
            let (x, n) =
                (self.given.an.scev(ir::operand(v, 0), scope), self.given.an.scev(ir::operand(v, 1), scope));
            return match self.divided(&x, &n, op == Op::LLVMSRem, place)? {
                Some(pwa) => Ok(Affine { pwa, exact: true }),
                None => self.blocked(e),
            };
        }
        let divisor = |i| ir::constant_int(ir::operand(v, i)).filter(|c| *c > 0);
        let (op, c) = match (ir::opcode(v), ir::operands(v).len()) {
            (Some(op @ (Op::LLVMSDiv | Op::LLVMSRem)), _) => (op, divisor(1)),
            (Some(op @ Op::LLVMAShr), _) => {
                (op, ir::constant_int(ir::operand(v, 1)).filter(|s| (0..62).contains(s)).map(|s| 1i64 << s))
            }
            _ => return self.blocked(e),
        };
        let Some(c) = c else { return self.blocked(e) };
        let x = self.given.an.scev(ir::operand(v, 0), self.given.scope(v, place));
        let text = format!("{} is not negative", self.describe(&x));
        let x = self.exact(&x, place)?;
        if op == Op::LLVMSRem {
            self.likely_not_negative(&x, place, &text)?;
        }
        let by = Val::int(&self.given.ctx, c)?;
        let pwa = match op {
            Op::LLVMSDiv => x.tdiv_q(PwAff::constant_on(place.space()?, c)?)?,
            Op::LLVMSRem => x.tdiv_r(PwAff::constant_on(place.space()?, c)?)?,
            _ => x.scale_down(by)?.floor()?,
        };
        // tdiv has a piece for either sign; the domain mostly rules one out.
        let mut known = place.domain.clone().intersect_params(self.context.clone())?;
        if op == Op::LLVMSRem {
            // The quotient of a pitch, assumed to be a multiple, would become a fraction.
            known = known.intersect_params(self.assumed.set.clone())?;
        }
        Ok(Affine { pwa: pwa.gist(known)?.coalesce()?, exact: true })
    }

    /// Assumes that a dividend is not negative if only negative parameters make it so: `(i + color) % 2`.
    /// Both signs would double the cases of all that depends on it.
    fn likely_not_negative(&mut self, x: &PwAff, place: &Place, note: &str) -> Result<(), Stop> {
        let known = place.domain.clone().intersect_params(self.context.clone())?;
        let negative = x.clone().lt_set(self.constant(0, place)?)?;
        let mut usual = known.intersect_params(self.assumed.set.clone())?.intersect(negative.clone())?;
        for p in 0..usual.dim(DimType::Param)? {
            usual = usual.lower_bound_val(DimType::Param, p, Val::int(&self.given.ctx, 0)?)?;
        }
        if !self.mode.strict && usual.is_empty()? {
            self.assume(AssumptionKind::NonNegative, negative, place, note)?;
        }
        Ok(())
    }

    /// The signed value.
    pub fn exact(&mut self, e: &ScevExpr, place: &Place) -> Result<PwAff, Stop> {
        let a = self.congruent(e, place)?;
        if a.exact {
            return Ok(a.pwa);
        }
        if e.bits >= 64 {
            return if self.is_small(&a.pwa)? { Ok(a.pwa) } else { self.blocked(e) };
        }
        let half = 1i64 << (e.bits - 1);
        if e.bits < 8 {
            // Narrow types occur as masks only; their signed value is piecewise and of no use.
            return self.blocked(e);
        }
        let low = a.pwa.clone().lt_set(PwAff::constant_on(place.space()?, -half)?)?;
        let high = a.pwa.clone().ge_set(PwAff::constant_on(place.space()?, half)?)?;
        let note = format!("{} does not overflow", self.describe(e));
        self.assume(AssumptionKind::NoWrap, low.union(high)?, place, &note)?;
        Ok(a.pwa)
    }

    /// The unsigned value, under the assumption that it is also the signed one; exactly the remainder for
    /// types that are no power of two wide (they come from masks).
    pub fn unsigned(&mut self, e: &ScevExpr, place: &Place) -> Result<PwAff, Stop> {
        if !matches!(e.bits, 8 | 16 | 32 | 64) && e.bits < 62 {
            let a = self.congruent(e, place)?;
            let known = place.domain.clone().intersect_params(self.context.clone())?;
            let m = a.pwa.modulo(Val::int(&self.given.ctx, 1i64 << e.bits)?)?;
            return Ok(m.gist(known)?);
        }
        let narrow = self.congruent(e, place)?;
        if matches!(e.bits, 8 | 16) && !narrow.exact {
            // In an unsigned number of few bits sizes fill all of these.
            let low = narrow.pwa.clone().lt_set(self.constant(0, place)?)?;
            let high = narrow.pwa.clone().ge_set(self.constant(1 << e.bits, place)?)?;
            let note = format!("{} does not wrap", self.describe(e));
            self.assume(AssumptionKind::NoWrap, low.union(high)?, place, &note)?;
            return Ok(narrow.pwa);
        }
        let a = self.exact(e, place)?;
        let negative = a.clone().lt_set(PwAff::constant_on(place.space()?, 0)?)?;
        let note = format!("{} is not negative", self.describe(e));
        self.assume(AssumptionKind::NonNegative, negative, place, &note)?;
        Ok(a)
    }
}

fn holds_pointer(e: &ScevExpr) -> bool {
    e.is_pointer
        || matches!(e.kind, ScevKind::PtrToInt(_))
        || is_address(e)
        || e.operands().into_iter().any(holds_pointer)
}
