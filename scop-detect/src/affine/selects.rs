//! Selections under affine conditions: `c ? a : b` as a piecewise function, or as a polynomial with piecewise
//! factors.
//!
//! **Problem.** Boundary handling reads `A[(i > 0 ? i - 1 : 0) * n + j]`. LLVM multiplies into the arms,
//! `i > 0 ? (i - 1) * n : 0`, so neither the arms nor the whole are affine. The difference of the arms is
//! `n * (i - 1)`: a product of parameters times an affine function. With the quasi-affine function
//! `s = (i > 0 ? i - 1 : 0)` the whole is the polynomial `0 + n * s`, which delinearizes as if the source had
//! said so.
//!
//! **Invariant.** An arm may overflow or be poison where the other one is selected: each is looked at on its
//! own part of the domain only.

use crate::affine::arithmetic::Affine;
use crate::base::builder::{Builder, Given};
use crate::base::fail::Stop;
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use isl::{Aff, DimType, PwAff, Val};
use pollyrs_delinearize::{Monomial, Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// `c ? a : b` as a piecewise function.
    pub fn selection(&mut self, v: Value, place: &Place) -> Result<Affine, Stop> {
        let (then, other) = self.sides(v, place)?;
        let scope = self.given.scope(v, place);
        let mut pwa: Option<PwAff> = None;
        for (arm, side) in [(1, &then), (2, &other)] {
            if side.domain.is_empty()? {
                continue;
            }
            let x = self.given.an.scev(ir::operand(v, arm), scope);
            let x = self.exact(&x, side)?.intersect_domain(side.domain.clone())?;
            pwa = Some(match pwa {
                Some(first) => first.union_add(x)?,
                None => x,
            });
        }
        let pwa = match pwa {
            Some(pwa) => pwa,
            None => self.constant(0, place)?,
        };
        let known = place.domain.clone().intersect_params(self.context.clone())?;
        Ok(Affine { pwa: pwa.gist(known)?.coalesce()?, exact: true })
    }

    /// The part of `place` where the selection `v` takes its first arm, and where its second.
    fn sides(&mut self, v: Value, place: &Place) -> Result<(Place, Place), Stop> {
        let chosen = self.condition(ir::operand(v, 0), place)?;
        let domain = place.domain.clone();
        Ok((
            Place { domain: domain.clone().intersect(chosen.clone())?, ..place.clone() },
            Place { domain: domain.subtract(chosen)?, ..place.clone() },
        ))
    }

    /// `c ? a : b`, where the arms are polynomials: `b` plus, for each product of parameters in `a - b`, that
    /// product times a new quasi-affine function.
    pub fn polynomial_selection(
        &mut self,
        v: Value,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        let (then, other) = self.sides(v, place)?;
        let scope = self.given.scope(v, place);
        let (a, b) =
            (self.given.an.scev(ir::operand(v, 1), scope), self.given.an.scev(ir::operand(v, 2), scope));
        if then.domain.is_empty()? {
            return self.polynomial(&b, place, quasi);
        }
        if other.domain.is_empty()? {
            return self.polynomial(&a, place, quasi);
        }
        let before = quasi.len();
        let a = self.polynomial(&a, &then, quasi)?;
        let between = quasi.len();
        let b = self.polynomial(&b, &other, quasi)?;
        if a.is_affine() && b.is_affine() {
            // Nothing was multiplied into the arms.
            quasi.truncate(before);
            let e = self.given.an.scev(v, scope);
            return self.affine_polynomial(&e, place, quasi);
        }
        let known = place.domain.clone().intersect_params(self.context.clone())?;
        // What an arm is made of need not be defined where the other one is taken.
        for (at, function) in quasi.iter_mut().enumerate().skip(before) {
            let side = if at < between { &then } else { &other };
            let elsewhere = place.domain.clone().subtract(side.domain.clone())?;
            let zero = self.constant(0, place)?.intersect_domain(elsewhere)?;
            let whole = function.clone().intersect_domain(side.domain.clone())?.union_add(zero)?;
            *function = whole.gist(known.clone())?.coalesce()?;
        }
        let blocked = |me: &Self| Stop::Blocker(me.name_of(v));
        let mut whole = b.clone();
        for (product, factor) in affine_factors(&(&a - &b)).ok_or_else(|| blocked(self))? {
            let x = self.affine_function(&factor, place, quasi)?.ok_or_else(|| blocked(self))?;
            let zero = self.constant(0, place)?.intersect_domain(other.domain.clone())?;
            let x = x.intersect_domain(then.domain.clone())?.union_add(zero)?;
            let x = x.gist(known.clone())?.coalesce()?;
            quasi.push(x);
            let symbol = Polynomial::iter(place.dims() + quasi.len() - 1);
            whole = &whole + &(&Polynomial::term(product, 1) * &symbol);
        }
        Ok(whole)
    }

    /// `x << s`, where conditions choose `s` among constants: `i * (i < 5 ? 2 : 1)` is `i << (i < 5)`.
    pub fn chosen_shift(&mut self, v: Value, e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        let scope = self.given.scope(v, place);
        let by = self.given.an.scev(ir::operand(v, 1), scope);
        let by = self.unsigned(&by, place)?;
        let mut factor: Option<PwAff> = None;
        for (on, aff) in by.pieces()? {
            // A longer shift is poison.
            let Some(s @ 0..MOST_SHIFT) = constant_of(&aff)? else { return self.blocked(e) };
            let piece = self.constant(1 << s, place)?.intersect_domain(on)?;
            factor = Some(match factor {
                Some(f) => f.union_add(piece)?,
                None => piece,
            });
        }
        let x = self.given.an.scev(ir::operand(v, 0), scope);
        let x = self.congruent(&x, place)?.pwa;
        match factor.map(|f| self.times_pieces(&x, &f, place)).transpose()?.flatten() {
            Some(pwa) => Ok(Affine { pwa, exact: false }),
            None => self.blocked(e),
        }
    }

    /// A product one factor of which conditions choose among constants, modulo a power of two.
    pub fn times_chosen(&mut self, factors: &[&ScevExpr], place: &Place) -> Result<Option<PwAff>, Stop> {
        for (chosen, other) in [(factors[0], factors[1]), (factors[1], factors[0])] {
            if !self.given.is_choice(chosen) {
                continue;
            }
            let factor = self.congruent(chosen, place)?.pwa;
            let x = self.congruent(other, place)?.pwa;
            if let Some(product) = self.times_pieces(&x, &factor, place)? {
                return Ok(Some(product));
            }
        }
        Ok(None)
    }

    /// `x * factor`, if `factor` is constant on each of its pieces.
    fn times_pieces(&self, x: &PwAff, factor: &PwAff, place: &Place) -> Result<Option<PwAff>, Stop> {
        let known = place.domain.clone().intersect_params(self.context.clone())?;
        let mut whole: Option<PwAff> = None;
        for (on, aff) in factor.pieces()? {
            let Some(c) = constant_of(&aff)? else { return Ok(None) };
            let piece = self.given.scale(x.clone(), i128::from(c))?.intersect_domain(on)?;
            whole = Some(match whole {
                Some(w) => w.union_add(piece)?,
                None => piece,
            });
        }
        Ok(whole.map(|w| w.gist(known)?.coalesce()).transpose()?)
    }

    /// A polynomial of degree one at most as a function. `None` if a coefficient is out of range.
    pub fn affine_function(
        &self,
        p: &Polynomial,
        place: &Place,
        quasi: &[PwAff],
    ) -> Result<Option<PwAff>, Stop> {
        let mut sum = self.constant(p.constant_term(), place)?;
        for (m, c) in p.terms() {
            let Ok(c) = i64::try_from(c) else { return Ok(None) };
            for (s, _) in m.factors() {
                let x = match s {
                    Symbol::Iter(d) if d < place.dims() => self.dim(d, place)?,
                    Symbol::Iter(d) => quasi[d - place.dims()].clone(),
                    Symbol::Param(i) => self.param_aff(i, place.space()?)?,
                };
                sum = sum.add(x.scale(Val::int(&self.given.ctx, c)?)?)?;
            }
        }
        Ok(Some(sum))
    }
}

/// Shifts that are taken for products are shorter: indices have no factors beyond that.
const MOST_SHIFT: i64 = 32;

/// The integer that a function always is.
fn constant_of(aff: &Aff) -> Result<Option<i64>, Stop> {
    if aff.dim(DimType::Div)? > 0 {
        return Ok(None);
    }
    for ty in [DimType::In, DimType::Param] {
        for d in 0..aff.dim(ty)? {
            if aff.coefficient(ty, d as i32)?.to_i64() != Some(0) {
                return Ok(None);
            }
        }
    }
    Ok(aff.constant()?.to_i64())
}

impl Given<'_> {
    /// Whether an expression is a selection made in each iteration, or one that has been extended or cut.
    pub fn is_choice(&self, e: &ScevExpr) -> bool {
        match &e.kind {
            ScevKind::Unknown(v) => {
                self.is_selection(*v) || ir::int_bits(*v) == Some(1) && self.defined_inside(*v)
            }
            ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) | ScevKind::Truncate(x) => self.is_choice(x),
            ScevKind::Add(o) | ScevKind::Mul(o) => o.iter().any(|x| self.is_choice(x)),
            _ => false,
        }
    }

    /// Whether `v` is a selection made in each iteration.
    pub fn is_selection(&self, v: Value) -> bool {
        ir::opcode(v) == Some(Op::LLVMSelect) && self.defined_inside(v)
    }
}

/// `p` as a sum of products of parameters times affine functions. One product that divides every term is
/// preferred; `None` if counters are multiplied with each other.
fn affine_factors(p: &Polynomial) -> Option<Vec<(Monomial, Polynomial)>> {
    if p.is_zero() {
        return Some(Vec::new());
    }
    let parameters = |m: &Monomial| {
        Monomial::product(
            m.factors()
                .filter(|(s, _)| matches!(s, Symbol::Param(_)))
                .flat_map(|(s, n)| (0..n).map(move |_| s)),
        )
    };
    let common = p.terms().map(|(m, _)| parameters(m)).reduce(|x, y| {
        Monomial::product(
            x.factors().flat_map(|(s, n)| (0..n.min(y.exponent(s))).map(move |_| s)).collect::<Vec<_>>(),
        )
    })?;
    let mut whole = Polynomial::zero();
    for (m, c) in p.terms() {
        whole = &whole + &Polynomial::term(m.div(&common)?, c);
    }
    if whole.is_affine() {
        return Some(vec![(common, whole)]);
    }
    let mut parts: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
    for (m, c) in p.terms() {
        let product = parameters(m);
        let term = Polynomial::term(m.div(&product)?, c);
        let part = parts.entry(product).or_insert_with(Polynomial::zero);
        *part = &*part + &term;
    }
    parts.values().all(Polynomial::is_affine).then(|| parts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i() -> Polynomial {
        Polynomial::iter(0)
    }
    fn n(k: usize) -> Polynomial {
        Polynomial::param(k)
    }

    #[test]
    fn products_of_parameters_come_before_affine_functions() {
        let one = Polynomial::constant(1);
        // (polynomial, its parts: product of parameters times an affine function)
        let table = [
            (&n(0) * &(&i() - &one), Some(vec![(n(0), &i() - &one)])),
            (&n(0) * &(&i() - &n(1)), Some(vec![(n(0), &i() - &n(1))])),
            (&(&n(0) * &n(1)) + &i(), Some(vec![(one.clone(), i()), (&n(0) * &n(1), one.clone())])),
            (&i() * &Polynomial::iter(1), None),
            (Polynomial::zero(), Some(Vec::new())),
        ];
        for (p, parts) in table {
            let found = affine_factors(&p);
            assert_eq!(found.is_some(), parts.is_some(), "{p}");
            let mut sum = Polynomial::zero();
            for ((m, f), (product, factor)) in found.unwrap_or_default().iter().zip(parts.unwrap_or_default())
            {
                assert_eq!(Polynomial::term(m.clone(), 1), product, "{p}");
                assert_eq!(*f, factor, "{p}");
                sum = &sum + &(&product * f);
            }
            if affine_factors(&p).is_some() {
                assert_eq!(sum, p);
            }
        }
    }
}
