//! Sizes with names of their own.
//!
//! **Problem.** A row may be `max(n, 0)` long (a Fortran array), `(w + 15) & ~15` (a pitch) or `w / 2` (half
//! an image). Multiplied by a counter that is no affine function of `n` or `w`, but it is one of the value
//! itself: a parameter, with what bounds it.
//!
//! **Invariant.** What enters the context about such a parameter holds whatever assumptions fail, since the
//! context decides which of them are needed. What rests on others is an assumption, checked like them.

use crate::affine::remainders::is_remainder;
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::ir::{self, Op};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set, Space};
use pollyrs_delinearize::Polynomial;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

/// The operands of a maximum of signed numbers, which may be extended.
pub(crate) fn maximum_of(e: &ScevExpr) -> Option<&[ScevExpr]> {
    let inner = match &e.kind {
        // A flag or the range analysis made the extension one of a maximum.
        ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) => x,
        _ => e,
    };
    let ScevKind::SMax(ops) = &inner.kind else { return None };
    let nonneg = ops.iter().any(|o| matches!(o.kind, ScevKind::Constant(c) if c >= 0));
    (nonneg || !matches!(e.kind, ScevKind::ZeroExtend(_))).then_some(ops)
}

impl Builder<'_> {
    /// The parameter for an invariant minimum or maximum, with what bounds it. `None` for other expressions.
    ///
    /// Only the plain inequalities enter the context (`p >= n` and `p >= 0` for `p = max(n, 0)`): they are
    /// what keeps subscripts inside, and a union would multiply the cases everywhere.
    pub fn named_extent(&mut self, e: &ScevExpr) -> Result<Option<usize>, Stop> {
        let Some(ops) = maximum_of(e) else { return Ok(None) };
        let place = self.given.before_region(None)?;
        let known = self.params.len();
        let index = self.param(e)?;
        if index < known {
            return Ok(Some(index));
        }
        let mut bounds = Set::universe(Space::unit(&self.given.ctx)?)?;
        // What enters the context must not rest on assumptions: the context decides which of them are needed.
        let assumed = std::mem::replace(&mut self.assumed.set, bounds.clone());
        for o in ops {
            if let Ok(x) = self.strictly(|me| me.exact(o, &place)) {
                let p = self.param_aff(index, place.space()?)?;
                bounds = bounds.intersect(p.ge_set(x)?.params()?)?;
            }
        }
        self.assumed.set = assumed;
        self.context = self.context.clone().intersect(bounds)?;
        self.assume_extent(index, ops, &place)?;
        Ok(Some(index))
    }

    /// Assumes that a size which is computed from a lower and an upper bound is their distance: that there
    /// are elements between them. Otherwise views are possible in which rows are as long as nothing in the
    /// program is, for bounds that leave arrays without elements.
    fn assume_extent(&mut self, index: usize, ops: &[ScevExpr], place: &Place) -> Result<(), Stop> {
        let mut distances = ops.iter().filter(|o| !matches!(o.kind, ScevKind::Constant(_)));
        let (Some(distance), None) = (distances.next(), distances.next()) else { return Ok(()) };
        let before = (self.assumed.set.clone(), self.assumed.all.clone());
        let Ok(x) = self.exact(distance, place) else {
            (self.assumed.set, self.assumed.all) = before;
            return Ok(());
        };
        let involved = (0..x.dim(DimType::Param)?)
            .map(|d| x.involves_dims(DimType::Param, d, 1))
            .collect::<isl::Result<Vec<bool>>>()?;
        if involved.iter().filter(|i| **i).count() < 2 {
            (self.assumed.set, self.assumed.all) = before;
            return Ok(());
        }
        let same = self.param_aff(index, place.space()?)?.eq_set(x)?.params()?;
        let note = format!("{} is not negative", self.describe(distance));
        self.assume_params(AssumptionKind::NonNegative, same, None, &note)
    }

    /// The polynomial of something that is multiplied by counters or parameters: rounded quotients of
    /// parameters get names.
    pub fn factor(
        &mut self,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        match &e.kind {
            ScevKind::Add(ops) if let Some((mut sum, rest)) = self.polynomial_of_spans(ops)? => {
                for o in &rest {
                    sum = &sum + &self.factor(o, place, quasi)?;
                }
                return Ok(sum);
            }
            ScevKind::Add(_) if let Some((mut sum, rest)) = self.polynomial_taken(e)? => {
                for o in &rest {
                    sum = &sum + &self.factor(o, place, quasi)?;
                }
                return Ok(sum);
            }
            ScevKind::Add(ops) if !is_remainder(e) => {
                let mut sum = Polynomial::zero();
                for o in ops {
                    sum = &sum + &self.factor(o, place, quasi)?;
                }
                return Ok(sum);
            }
            ScevKind::Mul(ops) => {
                let mut product = Polynomial::constant(1);
                for o in ops {
                    product = &product * &self.factor(o, place, quasi)?;
                }
                return Ok(product);
            }
            _ => {}
        }
        let before = quasi.len();
        let p = self.polynomial(e, place, quasi)?;
        let [only] = &quasi[before..] else { return Ok(p) };
        let counted = only.clone().gist(self.known_at(place)?)?;
        let own = Polynomial::iter(place.dims() + before);
        if p != own || self.mode.strict || counted.involves_dims(DimType::In, 0, place.dims() as u32)? {
            return Ok(p);
        }
        match self.named_quotient(e, place)? {
            Some(index) => {
                quasi.truncate(before);
                Ok(Polynomial::param(index))
            }
            None => Ok(p),
        }
    }

    /// `x / c` of a sum of products: what `c` divides leaves the quotient,
    /// `(16 * m * (i / 4) + 4 * j) / 16 = m * (i / 4) + j / 4`.
    pub fn polynomial_quotient(
        &mut self,
        x: &ScevExpr,
        c: i128,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        let before = quasi.len();
        let p = match self.polynomial(x, place, quasi) {
            Ok(p) if !p.is_affine() => p,
            _ => {
                quasi.truncate(before);
                return self.affine_polynomial(e, place, quasi);
            }
        };
        // The division takes the value for what it is.
        let top = if x.bits < 64 { (1i64 << x.bits) - 1 } else { i64::MAX };
        let note = format!("{} is not negative and does not wrap", self.polynomial_text(&p, place));
        self.assume_range(AssumptionKind::NoWrap, &p, (0, top), place, quasi, &note)?;
        let (mut whole, mut rest) = (Polynomial::zero(), Polynomial::zero());
        for (m, k) in p.terms() {
            if k % c == 0 {
                whole = &whole + &Polynomial::term(m.clone(), k / c);
            } else {
                rest = &rest + &Polynomial::term(m.clone(), k);
            }
        }
        if rest.is_zero() {
            return Ok(whole);
        }
        let blocked =
            || Stop::Blocker(format!("the quotient of {} and {c}", self.polynomial_text(&p, place)));
        if !rest.is_affine() {
            return Err(blocked());
        }
        let function = self.affine_function(&rest, place, quasi)?.ok_or_else(blocked)?;
        let by = i64::try_from(c).map_err(|_| blocked())?;
        quasi.push(function.scale_down(isl::Val::int(&self.given.ctx, by)?)?.floor()?);
        Ok(&whole + &Polynomial::iter(place.dims() + quasi.len() - 1))
    }

    fn known_at(&self, place: &Place) -> isl::Result<Set> {
        place.domain.clone().intersect_params(self.context.clone())
    }

    /// The parameter for a quotient, or something else rounded, that does not change in the region; `None`
    /// for other expressions.
    fn named_quotient(&mut self, e: &ScevExpr, place: &Place) -> Result<Option<usize>, Stop> {
        let value = if self.given.is_invariant(e) {
            e.clone()
        } else {
            // A signed division that scalar evolution takes for a black box is one of unsigned numbers where
            // nothing is negative.
            let Some((v, by)) = rounded(e) else { return Ok(None) };
            let dividend = self.given.an.scev(ir::operand(v, 0), self.given.scope(v, place));
            match self.given.is_invariant(&dividend) {
                true => {
                    let x = self.exact(&dividend, place)?;
                    let negative = x.lt_set(self.constant(0, place)?)?;
                    let note = format!("{} is not negative", self.describe(&dividend));
                    self.assume(AssumptionKind::NonNegative, negative, place, &note)?;
                    self.given.an.quotient(dividend.handle, by as u64)
                }
                false => return Ok(None),
            }
        };
        if value.kind == ScevKind::CouldNotCompute {
            return Ok(None);
        }
        let known = self.params.len();
        let Ok(index) = self.param(&value) else { return Ok(None) };
        if index == known {
            let place = self.given.before_region(None)?;
            if let Ok(x) = self.exact(&value, &place) {
                let same = self.param_aff(index, place.space()?)?.eq_set(x)?.params()?;
                // Bounds from both sides, without the remainder.
                let bounds = Set::from_basic_set(same.simple_hull()?.remove_divs()?)?;
                let note =
                    format!("{} is what it is computed from, rounded", self.params[index].display.clone());
                self.assume_params(AssumptionKind::Delinearization, bounds, None, &note)?;
            }
        }
        Ok(Some(index))
    }
}

/// The division behind a number that is `x / c` for a positive number `c`, rounded to 0 or down, and `c`.
pub(crate) fn rounded(e: &ScevExpr) -> Option<(ir::Value, i64)> {
    let inner = match &e.kind {
        ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) => x,
        _ => e,
    };
    let ScevKind::Unknown(v) = inner.kind else { return None };
    let by = match ir::opcode(v) {
        Some(Op::LLVMSDiv) => ir::constant_int(ir::operand(v, 1)).filter(|c| *c > 0),
        Some(Op::LLVMAShr) => {
            let shift = ir::constant_int(ir::operand(v, 1)).filter(|s| (0..62).contains(s));
            shift.map(|s| 1i64 << s)
        }
        _ => None,
    };
    Some((v, by?))
}
