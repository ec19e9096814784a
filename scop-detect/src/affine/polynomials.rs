//! Expressions as polynomials of parameters and counters, and affine functions as such.

use crate::affine::remainders::is_remainder;
use crate::affine::wraps::never_wraps;
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::found::KnownSize;
use crate::base::ir::{self, Op};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set};
use pollyrs_delinearize::Polynomial;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

/// Places, and what is known there, for which the polynomial of a value is remembered.
const MAX_SIZES: usize = 8;

/// Longer polynomials are not spelled out in messages.
const MAX_TERMS_SHOWN: usize = 4;

impl Builder<'_> {
    /// A polynomial over the dimensions of `place`, the parameters (by index), and after the dimensions the
    /// functions pushed to `quasi` (integer divisions, minima ...), congruent modulo 2^bits.
    pub fn polynomial(
        &mut self,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        match &e.kind {
            ScevKind::Constant(c) => Ok(Polynomial::constant(*c)),
            _ if place.value_dim(e).is_some() || self.given.part(e).is_some() => {
                self.affine_polynomial(e, place, quasi)
            }
            ScevKind::UDiv(..) | ScevKind::ZeroExtend(_) if self.given.is_invariant(e) && self.is_part(e) => {
                self.affine_polynomial(e, place, quasi)
            }
            ScevKind::Add(ops) => {
                let mut found = self.polynomial_of_spans(ops)?;
                if found.is_none() {
                    found = self.polynomial_taken(e)?;
                }
                if found.is_none() && is_remainder(e) {
                    return self.affine_polynomial(e, place, quasi);
                }
                let (mut p, rest) = found.unwrap_or_else(|| (Polynomial::zero(), ops.clone()));
                for o in &rest {
                    p = &p + &self.polynomial(o, place, quasi)?;
                }
                Ok(p)
            }
            ScevKind::Mul(ops) => {
                if let Some(p) = self.chosen_polynomial(ops, place, quasi)? {
                    return Ok(p);
                }
                let numbers = ops.iter().filter(|o| matches!(o.kind, ScevKind::Constant(_))).count();
                let mut p = Polynomial::constant(1);
                for o in ops {
                    let factor = if ops.len() - numbers > 1 {
                        self.factor(o, place, quasi)?
                    } else {
                        self.polynomial(o, place, quasi)?
                    };
                    p = &p * &factor;
                }
                Ok(p)
            }
            ScevKind::AddRec { loop_id, operands } => {
                let [start, step] = &operands[..] else { return self.affine_polynomial(e, place, quasi) };
                let i = if let Some(d) = place.loops.iter().position(|x| x == loop_id) {
                    Polynomial::iter(d)
                } else if let (true, Some((p, offset))) =
                    (!self.given.inside(*loop_id), self.outer_counter(*loop_id))
                {
                    &Polynomial::param(p) - &Polynomial::constant(i128::from(offset))
                } else {
                    return self.affine_polynomial(e, place, quasi);
                };
                let start = self.polynomial(start, place, quasi)?;
                let step = self.factor(step, place, quasi)?;
                Ok(&start + &(&step * &i))
            }
            ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) => {
                let quasi_before = quasi.len();
                let p = self.polynomial(x, place, quasi)?;
                if p.is_affine() {
                    quasi.truncate(quasi_before);
                    return self.affine_polynomial(e, place, quasi);
                }
                let unsigned = matches!(e.kind, ScevKind::ZeroExtend(_));
                if x.bits < 64 && (unsigned || !never_wraps(x)) {
                    let bound = 1i64 << (x.bits - u32::from(!unsigned));
                    let range = if unsigned { (0, bound - 1) } else { (-bound, bound - 1) };
                    let mut note = format!("an index of {} bits does not wrap", x.bits);
                    if p.terms().count() <= MAX_TERMS_SHOWN {
                        note.push_str(&format!(": {}", self.polynomial_text(&p, place)));
                    }
                    self.assume_range(AssumptionKind::NoWrap, &p, range, place, quasi, &note)?;
                }
                Ok(p)
            }
            ScevKind::Truncate(x) if let Some(terms) = self.given.narrowed_terms(x, e) => {
                let mut sum = Polynomial::zero();
                for (times, o) in &terms {
                    sum = &sum + &self.polynomial(o, place, quasi)?.scale(*times);
                }
                Ok(sum)
            }
            ScevKind::Truncate(x) => self.polynomial(x, place, quasi),
            ScevKind::UDiv(x, by) => match by.kind {
                ScevKind::Constant(c) if c > 1 => self.polynomial_quotient(x, c, e, place, quasi),
                _ => self.affine_polynomial(e, place, quasi),
            },
            ScevKind::Unknown(v) if self.given.is_selection(*v) => {
                self.polynomial_selection(*v, place, quasi)
            }
            ScevKind::Unknown(v) if self.given.defined_inside(*v) && ir::opcode(*v) == Some(Op::LLVMAShr) => {
                self.polynomial_shift(*v, e, place, quasi)
            }
            _ => self.affine_polynomial(e, place, quasi),
        }
    }

    /// A product of a counter and of what conditions choose among constants, as a quasi-affine function.
    fn chosen_polynomial(
        &mut self,
        ops: &[ScevExpr],
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Option<Polynomial>, Stop> {
        let constant = |o: &ScevExpr| match o.kind {
            ScevKind::Constant(c) => Some(c),
            _ => None,
        };
        let rest: Vec<_> = ops.iter().filter(|o| constant(o).is_none()).collect();
        let [a, b] = rest[..] else { return Ok(None) };
        let other = if self.given.is_choice(a) { b } else { a };
        if !self.given.is_choice(a) && !self.given.is_choice(b) || self.given.is_invariant(other) {
            return Ok(None);
        }
        let before = quasi.len();
        let affine = self.polynomial(other, place, quasi)?.is_affine();
        quasi.truncate(before);
        if !affine {
            return Ok(None);
        }
        let Some(product) = self.times_chosen(&[a, b], place)? else { return Ok(None) };
        let factor = ops.iter().filter_map(constant).fold(1i128, i128::saturating_mul);
        Ok(Some(self.quasi_affine(product, place, quasi)?.scale(factor)))
    }

    pub fn affine_polynomial(
        &mut self,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        let plain = matches!(e.kind, ScevKind::Constant(_) | ScevKind::Unknown(_));
        if plain || !self.given.is_invariant(e) {
            return self.new_polynomial(e, place, quasi);
        }
        for known in self.memo.sizes.get(&e.handle).into_iter().flatten() {
            if known.domain.plain_is_equal(&place.domain)?
                && known.context.plain_is_equal(&self.context)?
                && known.assumed.plain_is_equal(&self.assumed.set)?
            {
                return Ok(known.polynomial.clone());
            }
        }
        let (context, assumed) = (self.context.clone(), self.assumed.set.clone());
        let before = (quasi.len(), self.assumed.products.len());
        let polynomial = self.new_polynomial(e, place, quasi)?;
        if before == (quasi.len(), self.assumed.products.len())
            && context.plain_is_equal(&self.context)?
            && assumed.plain_is_equal(&self.assumed.set)?
        {
            let (domain, polynomial) = (place.domain.clone(), polynomial.clone());
            let sizes = self.memo.sizes.entry(e.handle).or_default();
            sizes.truncate(MAX_SIZES - 1);
            sizes.insert(0, KnownSize { domain, context, assumed, polynomial });
        }
        Ok(polynomial)
    }

    fn new_polynomial(
        &mut self,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Polynomial, Stop> {
        let a = self.congruent(e, place)?.pwa;
        if let Some(p) = self.as_polynomial(&a)? {
            return Ok(p);
        }
        // A case distinction over parameters only, such as the extent `max(n, 0)` of a Fortran array: a size
        // with a name of its own, so that it can be multiplied by counters. It has to be the same in all
        // places, also in those where `n > 0` is known.
        let known = self.known()?;
        if self.given.is_invariant(e) {
            let everywhere = Set::universe(place.space()?)?.intersect_params(known.clone())?;
            let a = simplified(a.clone(), everywhere)?;
            if let Some(p) = self.as_polynomial(&a)? {
                return Ok(p);
            }
            if let Some(i) = self.named_extent(e)? {
                return Ok(Polynomial::param(i));
            }
        }
        let a = simplified(a, place.domain.clone().intersect_params(known)?)?;
        if let Some(p) = self.as_polynomial(&a)? {
            return Ok(p);
        }
        self.quasi_affine(a, place, quasi)
    }

    /// A function as a polynomial of a new quasi-affine one.
    fn quasi_affine(&self, a: PwAff, place: &Place, quasi: &mut Vec<PwAff>) -> Result<Polynomial, Stop> {
        let (factor, rest, constant) = crate::affine::remainders::without_factor(a)?;
        quasi.push(rest);
        let function = Polynomial::iter(place.dims() + quasi.len() - 1);
        Ok(&function.scale(i128::from(factor)) + &Polynomial::constant(i128::from(constant)))
    }

    /// `a` as a polynomial, if it is one piece without integer divisions.
    pub fn as_polynomial(&self, a: &PwAff) -> Result<Option<Polynomial>, Stop> {
        if !a.isa_aff()? {
            return Ok(None);
        }
        let aff = a.clone().as_aff()?;
        let whole = aff.dim(DimType::Div)? == 0 && aff.denominator()?.is_one()?;
        let mut p = match aff.constant()?.to_i64() {
            Some(c) if whole => Polynomial::constant(i128::from(c)),
            _ => return Ok(None),
        };
        for d in 0..aff.dim(DimType::In)? {
            let Some(c) = aff.coefficient(DimType::In, d as i32)?.to_i64() else { return Ok(None) };
            p = &p + &Polynomial::iter(d as usize).scale(i128::from(c));
        }
        let space = aff.space()?;
        for d in 0..aff.dim(DimType::Param)? {
            let Some(c) = aff.coefficient(DimType::Param, d as i32)?.to_i64() else { return Ok(None) };
            if c == 0 {
                continue;
            }
            let name = space.dim_name(DimType::Param, d)?.unwrap_or_default();
            let Some(i) = self.params.iter().position(|q| q.name == name) else { return Ok(None) };
            p = &p + &Polynomial::param(i).scale(i128::from(c));
        }
        Ok(Some(p))
    }
}

/// `a`, which is of interest on `known` only, without the pieces that have no point there. (isl's gist drops
/// a piece only if it is obviously empty, and it asks for all equalities that hold on a piece before: of
/// pieces that meet `known` nowhere, and of a function without divisions that is the only one left, that
/// would be for nothing.)
fn simplified(a: PwAff, known: Set) -> isl::Result<PwAff> {
    if a.n_piece()? < 2 {
        return a.gist(known)?.coalesce();
    }
    let mut kept: Option<PwAff> = None;
    let mut only = Vec::new();
    for (part, aff) in a.pieces()? {
        if part.is_disjoint(&known)? {
            continue;
        }
        only.push(aff.clone());
        let piece = PwAff::alloc(part, aff)?;
        kept = Some(match kept {
            None => piece,
            Some(k) => k.union_add(piece)?,
        });
    }
    match &only[..] {
        [] => a.gist(known)?.coalesce(),
        [aff] => {
            let whole = PwAff::from_aff(aff.clone())?;
            let plain = aff.dim(DimType::Div)? == 0 && !has_equalities(&known)?;
            if plain { Ok(whole) } else { whole.gist(known)?.coalesce() }
        }
        _ => kept.map_or(Ok(a), |k| k.gist(known)?.coalesce()),
    }
}

/// Whether one of the cases of a set says outright what something is equal to.
fn has_equalities(set: &Set) -> isl::Result<bool> {
    for case in set.basic_sets()? {
        for c in case.constraints()? {
            if c.is_equality()? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
