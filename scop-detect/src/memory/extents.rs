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
use crate::base::found::WIDE_BOUND;
use crate::base::ir::{self, Op};
use crate::base::place::Place;
use crate::memory::accesses::Raw;
use isl::{DimType, PwAff, Set, Space};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;
use std::collections::BTreeSet;

/// The operands of a maximum of signed numbers, which may be extended.
fn maximum_of(e: &ScevExpr) -> Option<&[ScevExpr]> {
    let inner = match &e.kind {
        // A flag or the range analysis made the extension one of a maximum.
        ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) => x,
        _ => e,
    };
    let ScevKind::SMax(ops) = &inner.kind else { return None };
    let nonneg = ops.iter().any(|o| matches!(o.kind, ScevKind::Constant(c) if c >= 0));
    (nonneg || !matches!(e.kind, ScevKind::ZeroExtend(_))).then_some(ops)
}

const _: () = assert!(WIDE_BOUND as i128 * (LARGEST_DIVISOR as i128) < 1 << 63);

/// A quotient by more than this may be within [`WIDE_BOUND`] for a dividend with the top bit set.
const LARGEST_DIVISOR: i64 = 1 << 16;

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

    /// Replaces maxima by the operand that is the largest wherever an access uses them: where a loop runs
    /// `w - 2` times, `max(w, 2)` is `w`. Whether there were any. The offsets stay what they are in all
    /// iterations that there are.
    pub fn settled_extents(&mut self, offsets: &mut [Polynomial], raws: &[Raw]) -> Result<bool, Stop> {
        let used: BTreeSet<Symbol> = offsets.iter().flat_map(Polynomial::symbols).collect();
        let mut any = false;
        for s in used {
            let Symbol::Param(p) = s else { continue };
            let scev = self.params[p].scev.clone();
            let Some(ops) = maximum_of(&scev) else { continue };
            let users: Vec<&Raw> = raws
                .iter()
                .zip(offsets.iter())
                .filter(|(_, o)| o.symbols().contains(&s))
                .map(|(r, _)| r)
                .collect();
            let Some(value) = self.largest(ops, &users)? else { continue };
            for o in offsets.iter_mut() {
                let mut sum = Polynomial::zero();
                for (power, c) in o.powers_of(s) {
                    sum = &sum + &(0..power).fold(c, |product, _| &product * &value);
                }
                *o = sum;
            }
            any = true;
        }
        Ok(any)
    }

    /// The first of `ops` that no other one exceeds in any iteration of `raws`.
    fn largest(&mut self, ops: &[ScevExpr], raws: &[&Raw]) -> Result<Option<Polynomial>, Stop> {
        let outside = self.given.before_region(None)?;
        let known = self.known()?;
        'candidates: for candidate in ops {
            let Ok(x) = self.strictly(|me| me.exact(candidate, &outside)) else { continue };
            let Some(value) = self.as_polynomial(&x)? else { continue };
            for r in raws {
                let domain = r.place.domain.clone().intersect_params(known.clone())?;
                let Ok(x) = self.strictly(|me| me.exact(candidate, &r.place)) else { continue 'candidates };
                for other in ops.iter().filter(|o| o.handle != candidate.handle) {
                    let Ok(y) = self.strictly(|me| me.exact(other, &r.place)) else { continue 'candidates };
                    if !domain.is_subset(&x.clone().ge_set(y)?)? {
                        continue 'candidates;
                    }
                }
            }
            return Ok(Some(value));
        }
        Ok(None)
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

    /// `domain`, with what is known of the parameters that are `x / c`, rounded to 0, and of which it says
    /// that they are positive: `c * p <= x < c * p + c`. A row of `n / 16` tiles of 16 fits into one of `n`.
    pub fn with_quotients(&mut self, mut domain: Set) -> Result<Set, Stop> {
        for index in 0..self.params.len() {
            let name = self.params[index].name.clone();
            let is_named = domain.space()?.find_dim_by_name(DimType::Param, &name)?;
            if !is_named.map_or(Ok(false), |at| domain.involves_dims(DimType::Param, at, 1))? {
                continue;
            }
            let space = Space::params_named(&self.given.ctx, [name.as_str()])?;
            let other = Set::universe(space)?.upper_bound_val(
                DimType::Param,
                0,
                isl::Val::int(&self.given.ctx, 0)?,
            )?;
            if !domain.clone().intersect_params(other)?.is_empty()? {
                continue;
            }
            if let Some(Multiples { between, extended: None, .. }) = self.between_multiples(index)? {
                domain = domain.intersect_params(between)?;
            }
        }
        Ok(domain)
    }

    /// The same of the parameters in `offset`, whatever `domain` says of them itself: `max(m, 0) / 4` is
    /// positive, or `m` is less than 4.
    pub fn with_quotients_of(&mut self, mut domain: Set, offset: &Polynomial) -> Result<Set, Stop> {
        for symbol in offset.symbols() {
            let Symbol::Param(index) = symbol else { continue };
            let Some(cases) = self.between_multiples(index)? else { continue };
            let known = domain.clone().intersect_params(self.context.clone())?;
            let mut possible: Option<Set> = None;
            for case in [Some(cases.between), Some(cases.small), cases.extended].into_iter().flatten() {
                if !known.clone().intersect_params(case.clone())?.is_empty()? {
                    possible = Some(match possible {
                        None => case,
                        Some(c) => c.union(case)?,
                    });
                }
            }
            if let Some(possible) = possible {
                domain = domain.intersect_params(possible)?.coalesce()?;
            }
        }
        Ok(domain)
    }

    /// What holds of parameter `index`, if it is `x / c`, rounded to 0.
    pub fn between_multiples(&mut self, index: usize) -> Result<Option<Multiples>, Stop> {
        let entry = &self.params[index];
        if entry.inspected {
            return Ok(None);
        }
        let e = entry.scev.clone();
        let place = self.given.before_region(None)?;
        let (dividend, by, unsigned) = match divided_by_number(&e) {
            Some((x, by)) => (x.clone(), by, true),
            None => match rounded(&e) {
                // Of the iteration that the region is in, where the division lies in a loop around it.
                Some((v, by)) => {
                    (self.given.an.scev(ir::operand(v, 0), self.given.scope(v, &place)), by, false)
                }
                None => return Ok(None),
            },
        };
        if !self.given.is_invariant(&dividend) {
            return Ok(None);
        }
        // A number of 64 bits whose quotient is within what is checked of parameters is not negative.
        let wide = dividend.bits == 64 && by <= LARGEST_DIVISOR;
        if unsigned && !wide && dividend.bits > 32 {
            return Ok(None);
        }
        let Ok(x) = self.strictly(|me| me.exact(&dividend, &place)) else { return Ok(None) };
        let p = self.param_aff(index, place.space()?)?;
        let zero = self.constant(0, &place)?;
        let least = self.given.scale(p.clone(), i128::from(by))?;
        let most = least.clone().add_constant(isl::Val::int(&self.given.ctx, by - 1)?)?;
        let mut between = least.le_set(x.clone())?.intersect(most.ge_set(x.clone())?)?;
        between = between.intersect(p.clone().ge_set(self.constant(1, &place)?)?)?;
        let small = x.clone().lt_set(self.constant(i128::from(by), &place)?)?;
        let mut small = p.clone().le_set(zero.clone())?.intersect(small)?;
        // From where on the parameter is the quotient of a negative number that was read without its sign, or
        // was extended without it.
        let mut from = None;
        if unsigned {
            small = small.intersect(p.clone().nonneg_set()?)?.intersect(x.clone().nonneg_set()?)?;
            if !wide {
                from = Some((1 << (dividend.bits.max(1) - 1)) / by);
            }
        } else if let ScevKind::ZeroExtend(inner) = &e.kind {
            from = Some(1 << (inner.bits.clamp(1, 62) - 1));
        }
        let extended = match from {
            Some(from) => {
                let large = p.ge_set(self.constant(i128::from(from), &place)?)?;
                Some(large.intersect(x.clone().lt_set(zero.clone())?)?.params()?)
            }
            None => None,
        };
        if unsigned {
            between = between.intersect(x.ge_set(zero)?)?;
        }
        Ok(Some(Multiples { between: between.params()?, small: small.params()?, extended }))
    }
}

/// What holds of a parameter `p` that is `x / c`, rounded to 0.
pub(crate) struct Multiples {
    /// Where it is positive, `c * p <= x < c * p + c`.
    pub between: Set,
    /// Where it is not.
    pub small: Set,
    /// Where `x` is negative and the parameter is positive all the same, if that may be.
    pub extended: Option<Set>,
}

/// The dividend and the divisor of a quotient of numbers that are not negative by a number.
fn divided_by_number(e: &ScevExpr) -> Option<(&ScevExpr, i64)> {
    let inner = match &e.kind {
        ScevKind::ZeroExtend(x) => x,
        _ => e,
    };
    let ScevKind::UDiv(x, n) = &inner.kind else { return None };
    let ScevKind::Constant(n) = n.kind else { return None };
    i64::try_from(n).ok().filter(|n| (1..1 << 40).contains(n)).map(|n| (&**x, n))
}

/// The division behind a number that is `x / c` for a positive number `c`, rounded to 0 or down, and `c`.
fn rounded(e: &ScevExpr) -> Option<(ir::Value, i64)> {
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
