//! Remainders and quotients by parameters.
//!
//! **Problem.** `A[(i + 1) % n]` closes a border. `x % n` is affine only where it is known which multiple of
//! `n` is subtracted. For an `x` that stays within a few multiples of `n` on the domain, each is a case:
//! `i + 1` for `i + 1 < n`, and `i + 1 - n = 0` at the end.
//!
//! `ring[(head + i) % n]` begins anywhere. That `head` itself is a place in the ring, `0 <= head < n`, is
//! assumed where that bounds `x`. So is, of `signal[(i - k + n) % n]` with `k < taps`, that `taps <= n`.
//!
//! A place is what bounds no loop and is no product: of `k % w` in a loop from `n - 1` down, or from
//! `image * n` on, nothing is assumed.
//!
//! **Invariant.** The cases cover the domain whatever the parameters, but for such a first place or length,
//! or there are none: a remainder such as `i % n` for any `i` would need a condition that rarely holds.

use crate::affine::arithmetic::Affine;
use crate::base::builder::{Builder, Given};
use crate::base::fail::Stop;
use crate::base::found::Uncovered;
use crate::base::place::Place;
use isl::{DimType, PwAff, Set, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;
use std::collections::BTreeSet;

/// Multiples that are tried on either side of 0.
const MAX_MULTIPLE: i64 = 2;

impl Builder<'_> {
    /// Where `x / n`, rounded towards 0, is which number; `None` unless that covers the domain.
    fn multiples(&mut self, x: &PwAff, n: &PwAff, place: &Place) -> Result<Option<Vec<(Set, i64)>>, Stop> {
        let known = place.domain.clone().intersect_params(self.context.clone())?;
        let known = known.intersect_params(self.assumed.set.clone())?;
        let found = self.given.multiples_on(&known, x, n, place)?;
        // What no counter is part of is no place in a ring, but a size, such as `width / heads`: a parameter
        // of a smaller region.
        let counters = place.space()?.dim(DimType::Set)?;
        if found.is_some() || self.mode.strict || !x.clone().involves_dims(DimType::In, 0, counters)? {
            return Ok(found);
        }
        let in_n = self.params_of(n)?;
        // What bounds a loop is no place in a ring: nobody promises that `n` of `n - 1 - i`, or `first` of a
        // loop from there on, is less than a divisor.
        let mut bounds: BTreeSet<usize> = self.involved(&place.domain)?.into_iter().collect();
        bounds.extend((0..self.params.len()).filter(|p| is_product(&self.params[*p].scev)));
        for p in self.params_of(x)?.difference(&in_n).filter(|p| !bounds.contains(p)) {
            let first = self.param_aff(*p, place.space()?)?;
            let inside = first.clone().nonneg_set()?.intersect(first.lt_set(n.clone())?)?;
            if let Some(cases) =
                self.given.multiples_on(&known.clone().intersect(inside.clone())?, x, n, place)?
                && !cases.is_empty()
            {
                let note = format!("{} is less than what it is taken modulo", self.params[*p].display);
                self.assume(AssumptionKind::Delinearization, inside.complement()?, place, &note)?;
                return Ok(Some(cases));
            }
        }
        // A window that is no longer than the ring. (One case alone would be a remainder that never does
        // anything.)
        let in_x = self.params_of(x)?;
        for p in self.involved(&place.domain)?.into_iter().filter(|p| !in_x.contains(p) && !in_n.contains(p))
        {
            let inside = self.param_aff(p, place.space()?)?.le_set(n.clone())?;
            if let Some(cases) =
                self.given.multiples_on(&known.clone().intersect(inside.clone())?, x, n, place)?
                && cases.len() > 1
            {
                let note = format!("{} is at most the divisor of a remainder", self.params[p].display);
                self.assume(AssumptionKind::Delinearization, inside.complement()?, place, &note)?;
                return Ok(Some(cases));
            }
        }
        Ok(None)
    }

    /// The parameters that have a coefficient in `f`.
    fn params_of(&self, f: &PwAff) -> isl::Result<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        for (_, aff) in f.pieces()? {
            let space = aff.space()?;
            for d in 0..aff.dim(DimType::Param)? {
                if !aff.coefficient(DimType::Param, d as i32)?.is_zero()? {
                    let name = space.dim_name(DimType::Param, d)?.unwrap_or_default();
                    found.extend(self.params.iter().position(|p| p.name == name));
                }
            }
        }
        Ok(found)
    }

    /// `x / n` and `x % n` for signed numbers, `y * (x / n)` with a factor.
    fn by_cases(
        &mut self,
        x: &PwAff,
        n: &PwAff,
        place: &Place,
        value: impl Fn(i64) -> isl::Result<PwAff>,
    ) -> Result<Option<PwAff>, Stop> {
        // The same quotient is met again in each subscript that is made of it.
        let (strict, assumed) = (self.mode.strict, self.assumed.all.len());
        for tried in &self.memo.uncovered_quotients {
            if tried.is(x, n, &place.domain, strict, assumed)? {
                return Ok(None);
            }
        }
        let Some(cases) = self.multiples(x, n, place)? else {
            let (x, n, domain) = (x.clone(), n.clone(), place.domain.clone());
            self.memo.uncovered_quotients.push(Uncovered { x, n, domain, strict, assumed });
            return Ok(None);
        };
        let mut sum: Option<PwAff> = None;
        for (part, k) in cases {
            let piece = value(k)?.intersect_domain(part)?;
            sum = Some(match sum {
                Some(s) => s.union_add(piece)?,
                None => piece,
            });
        }
        Ok(sum.map(PwAff::coalesce).transpose()?)
    }

    /// `x % n` where `remainder`, else `x / n`; both truncate.
    pub fn divided(
        &mut self,
        x: &ScevExpr,
        n: &ScevExpr,
        remainder: bool,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        if !self.given.is_invariant(n) {
            return Ok(None);
        }
        let (x, n) = (self.exact(x, place)?, self.exact(n, place)?);
        let ctx = self.given.ctx.clone();
        let value = |k: i64| {
            if remainder {
                x.clone().sub(n.clone().scale(Val::int(&ctx, k)?)?)
            } else {
                PwAff::constant_on(x.domain_space()?, k)
            }
        };
        self.by_cases(&x, &n, place, value)
    }

    /// `y * (x /u n)`: scalar evolution writes `x %u n` as `x - n * (x /u n)`.
    pub fn times_quotient(&mut self, factors: &[&ScevExpr], place: &Place) -> Result<Option<Affine>, Stop> {
        let (quotients, others): (Vec<&ScevExpr>, Vec<&ScevExpr>) =
            factors.iter().copied().partition(|f| is_quotient(f));
        let ([quotient], [other]) = (&quotients[..], &others[..]) else { return Ok(None) };
        let ScevKind::UDiv(x, n) = &quotient.kind else { return Ok(None) };
        // A quotient that does not change, times something else than the divisor: a size, such as that of
        // each of `n` heads.
        if self.given.is_invariant(quotient) && !multiple_of(other, n) {
            return Ok(None);
        }
        let y = self.congruent(other, place)?.pwa;
        let (x, n) = (self.unsigned(x, place)?, self.unsigned(n, place)?);
        let ctx = self.given.ctx.clone();
        let value = |k: i64| y.clone().scale(Val::int(&ctx, k)?);
        let product = self.by_cases(&x, &n, place, value)?;
        Ok(product.map(|pwa| Affine { pwa, exact: false }))
    }
}

impl Given<'_> {
    /// [`Builder::multiples`] of the points of `known`.
    fn multiples_on(
        &self,
        known: &Set,
        x: &PwAff,
        n: &PwAff,
        place: &Place,
    ) -> isl::Result<Option<Vec<(Set, i64)>>> {
        let zero = PwAff::constant_on(place.space()?, 0)?;
        let mut left = known.clone();
        let mut cases = Vec::new();
        let positive = n.clone().gt_set(zero)?;
        let times = |k: i64| n.clone().scale(Val::int(&self.ctx, k)?);
        for k in [0].into_iter().chain((1..=MAX_MULTIPLE).flat_map(|k| [k, -k])) {
            if left.is_empty()? {
                break;
            }
            let above = if k > 0 { x.clone().ge_set(times(k)?)? } else { x.clone().gt_set(times(k - 1)?)? };
            let below = if k < 0 { x.clone().le_set(times(k)?)? } else { x.clone().lt_set(times(k + 1)?)? };
            let part = positive.clone().intersect(above)?.intersect(below)?;
            if !part.is_disjoint(known)? {
                left = left.subtract(part.clone())?;
                cases.push((part.gist(known.clone())?, k));
            }
        }
        Ok(left.is_empty()?.then_some(cases))
    }
}

/// Whether `e` is a size times a number of iterations, or grows by a size in each iteration of a loop around:
/// the place of an image, or of a row.
fn is_product(e: &ScevExpr) -> bool {
    match &e.kind {
        ScevKind::AddRec { operands, .. } => {
            !operands[1..].iter().all(|o| matches!(o.kind, ScevKind::Constant(_)))
        }
        ScevKind::Mul(ops) => ops.iter().all(|o| !matches!(o.kind, ScevKind::Constant(_))),
        ScevKind::SignExtend(inner) | ScevKind::ZeroExtend(inner) => is_product(inner),
        _ => false,
    }
}

/// Whether `e` is `n`, or a number times `n`.
fn multiple_of(e: &ScevExpr, n: &ScevExpr) -> bool {
    match &e.kind {
        _ if e.handle == n.handle => true,
        ScevKind::Mul(ops) => {
            ops.iter().all(|o| o.handle == n.handle || matches!(o.kind, ScevKind::Constant(_)))
        }
        _ => false,
    }
}

/// A quotient by something else than a number.
pub(crate) fn is_quotient(e: &ScevExpr) -> bool {
    matches!(&e.kind, ScevKind::UDiv(_, n) if !matches!(n.kind, ScevKind::Constant(_)))
}

/// A sum with a term of the kind `n * (x /u n)`, to be taken as a whole.
pub(crate) fn is_remainder(e: &ScevExpr) -> bool {
    let product = |o: &ScevExpr| matches!(&o.kind, ScevKind::Mul(f) if f.iter().any(is_quotient));
    matches!(&e.kind, ScevKind::Add(ops) if ops.iter().any(product))
}

/// `(f, r, c)` with `a = f r + c`: what all coefficients of a function have in common, on all of its pieces.
/// LLVM multiplies by the size of an element inside of `i mod 2`, as in `8 - 4 * (i mod 2)`, and of
/// `c ? 12 : 4`, of which each value is a number of elements.
pub(crate) fn without_factor(a: PwAff) -> isl::Result<(i64, PwAff, i64)> {
    let Some((factor, constant)) = common_factor(&a)? else { return Ok((1, a, 0)) };
    let ctx = a.space()?.context().clone();
    let rest = a.add_constant(Val::int(&ctx, -constant)?)?.scale_down(Val::int(&ctx, factor)?)?;
    Ok((factor, rest, constant))
}

/// The factor, greater than 1, and the constant.
fn common_factor(a: &PwAff) -> isl::Result<Option<(i64, i64)>> {
    let mut common: Option<(i64, i64)> = None;
    for (_, aff) in a.pieces()? {
        if !aff.denominator()?.is_one()? {
            return Ok(None);
        }
        let Some(constant) = aff.constant()?.to_i64() else { return Ok(None) };
        let (mut factor, first) = common.unwrap_or((0, constant));
        let Some(apart) = constant.checked_sub(first) else { return Ok(None) };
        factor = gcd(factor, apart);
        for ty in [DimType::In, DimType::Param, DimType::Div] {
            for d in 0..aff.dim(ty)? {
                let Some(c) = aff.coefficient(ty, d as i32)?.to_i64() else { return Ok(None) };
                factor = gcd(factor, c);
            }
        }
        common = Some((factor, first));
    }
    Ok(common.filter(|(factor, _)| *factor > 1))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.saturating_abs() } else { gcd(b, a % b) }
}
