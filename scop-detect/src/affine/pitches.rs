//! Pitches: parameters that count bytes, by parameters that count elements.
//!
//! **Problem.** The strides in a Fortran descriptor and the pitch of an image are in bytes:
//! `A + pitch * i + 8 * j` is no access to an array of `double` unless `pitch` is a multiple of 8. That it is
//! one is checked at run time: `pitch = 8 * q`, with a parameter `q` for the quotient. flang writes the same
//! as `(pitch * i >> 3) + j`, which rounds down, but to what it is anyway under that condition.
//!
//! **Unit strides.** `A + s0 * i + s1 * j` with both strides in bytes, from a descriptor, is the element
//! `a(i, j)` of an assumed-shape array or of one behind a pointer. It is one of two dimensions where elements
//! lie side by side, `s0 = 8`, which is assumed: nearly all arrays are like that, sections of them with a
//! step are not. Which stride is that of the first dimension the order in the descriptor tells. An element
//! that has members, or two parts as a complex number, is as long as what is touched of one element.

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use pollyrs_delinearize::{Monomial, Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevHandle, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::{BTreeMap, BTreeSet};

/// The size of an element of which words of `bytes` are touched, at constants in `offsets`.
fn size_of_element(offsets: &[Polynomial], bytes: u64) -> u64 {
    let constants = offsets.iter().map(Polynomial::constant_term);
    let (least, most) = constants.fold((i128::MAX, i128::MIN), |(l, m), c| (l.min(c), m.max(c)));
    u64::try_from(most - least).map_or(bytes, |span| span + bytes)
}

impl Builder<'_> {
    /// Replaces parameters of `offsets`, in bytes, that keep one from being a multiple of the size of an
    /// element.
    pub fn pitches_in_elements(
        &mut self,
        offsets: &mut [Polynomial],
        bytes: u64,
        first: Value,
    ) -> Result<(), Fail> {
        self.make_multiples(offsets, i128::from(bytes), Some(first)).map_err(|s| {
            s.fail(first, |blocker| RejectReason::Subscript { array: "an array".into(), blocker })
        })
    }

    /// Replaces strides that are known to be one number, such as those of versions for elements that lie side
    /// by side: other accesses have them as what they are.
    pub fn known_numbers(&self, offsets: &mut [Polynomial]) -> isl::Result<()> {
        let products = offsets.iter().flat_map(Polynomial::terms).filter(|(m, _)| m.degree() > 1);
        let strides: BTreeSet<usize> =
            products.flat_map(|(m, _)| m.factors()).filter_map(|(s, _)| param_of(s)).collect();
        if strides.is_empty() {
            return Ok(());
        }
        let known = self.known()?;
        for p in strides {
            let value = self.fixed(&known, p)?;
            if let Some(value) = value {
                let number = Polynomial::constant(i128::from(value));
                offsets.iter_mut().for_each(|o| *o = replaced(o, p, &number));
            }
        }
        Ok(())
    }

    /// Writes a number by which an access steps as the stride of other accesses, where it is executed only if
    /// that is this number: of the versions of a loop for elements that lie side by side and for others, both
    /// in one region, all accesses have one shape.
    pub fn strides_of_versions(&self, offsets: &mut [Polynomial], domains: &[isl::Set]) -> isl::Result<()> {
        let counted = |m: &Monomial| m.factors().any(|(s, n)| matches!(s, Symbol::Iter(_)) && n == 1);
        let products =
            offsets.iter().flat_map(Polynomial::terms).filter(|(m, _)| m.degree() == 2 && counted(m));
        let strides: BTreeSet<usize> =
            products.flat_map(|(m, _)| m.factors()).filter_map(|(s, _)| param_of(s)).collect();
        for p in strides {
            let stride = Polynomial::param(p);
            for (o, domain) in offsets.iter_mut().zip(domains) {
                if o.symbols().contains(&Symbol::Param(p)) {
                    continue;
                }
                let Some(number) = self.fixed(domain, p)?.filter(|n| *n > 1) else { continue };
                let steps = |m: &Monomial, c: i128| m.degree() == 1 && counted(m) && c == i128::from(number);
                let term = |(m, c): (&Monomial, i128)| match steps(m, c) {
                    true => &Polynomial::term(m.clone(), 1) * &stride,
                    false => Polynomial::term(m.clone(), c),
                };
                *o = o.terms().map(term).fold(Polynomial::zero(), |sum, t| &sum + &t);
            }
        }
        Ok(())
    }

    /// The number that a parameter is in all points of a set.
    fn fixed(&self, set: &isl::Set, p: usize) -> isl::Result<Option<i64>> {
        let at =
            set.find_dim_by_id(isl::DimType::Param, &isl::Id::new(&self.given.ctx, &self.params[p].name)?)?;
        match u32::try_from(at) {
            Ok(at) => Ok(set.plain_get_val_if_fixed(isl::DimType::Param, at)?.to_i64()),
            Err(_) => Ok(None),
        }
    }

    /// Replaces the stride of the first dimension by the size of an element, where a descriptor has all the
    /// strides.
    pub fn unit_strides(&mut self, offsets: &mut [Polynomial], bytes: u64, first: Value) -> Result<(), Fail> {
        let mut strides = BTreeSet::new();
        for (m, c) in offsets.iter().flat_map(Polynomial::terms) {
            let counters = m.factors().filter(|(s, _)| matches!(s, Symbol::Iter(_))).count();
            let params: Vec<usize> = m.factors().filter_map(|(s, _)| param_of(s)).collect();
            match (counters, &params[..]) {
                (0, _) => {}
                // One that counts bytes, and nothing else does.
                (1, [p]) if m.degree() == 2 && c % i128::from(bytes) != 0 => _ = strides.insert(*p),
                _ => return Ok(()),
            }
        }
        let mut at = Vec::new();
        for p in strides {
            let Some((descriptor, offset)) = self.given.loaded_from(&self.params[p].scev) else {
                return Ok(());
            };
            at.push((offset, descriptor, p));
        }
        at.sort_unstable();
        let Some((_, descriptor, p)) = at.first().copied() else { return Ok(()) };
        let bytes = size_of_element(offsets, bytes);
        if at.iter().any(|(_, other, _)| *other != descriptor) {
            return Ok(());
        }
        let display = self.params[p].display.clone();
        let note = format!("elements lie side by side: the stride in {display} is their size");
        let place = self.given.before_region(None)?;
        let equal = self
            .param_aff(p, place.space()?)?
            .eq_set(isl::PwAff::constant_on(place.space()?, bytes as i64)?)?;
        match self.assume_params(AssumptionKind::Delinearization, equal.params()?, Some(first), &note) {
            Ok(()) => {}
            // It is known to be something else.
            Err(Stop::Blocker(_)) => return Ok(()),
            Err(Stop::Isl(e)) => return Err(e.into()),
        }
        let size = Polynomial::constant(i128::from(bytes));
        for o in offsets.iter_mut() {
            *o = replaced(o, p, &size);
        }
        Ok(())
    }

    /// `x >> s` of a sum of products, where the condition above makes the rounding exact.
    pub fn polynomial_shift(
        &mut self,
        v: Value,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<isl::PwAff>,
    ) -> Result<Polynomial, Stop> {
        let affine = self.strictly(|me| me.congruent(e, place).map(|_| ()));
        let shift = ir::constant_int(ir::operand(v, 1)).filter(|s| (1..16).contains(s));
        let (Err(Stop::Blocker(_)), Some(shift)) = (&affine, shift) else {
            return self.affine_polynomial(e, place, quasi);
        };
        let x = self.given.an.scev(ir::operand(v, 0), self.given.scope(v, place));
        let before = quasi.len();
        let p = self.polynomial(&x, place, quasi)?;
        if quasi.len() > before {
            return Err(Stop::Blocker(self.describe(&x)));
        }
        // The shift takes the value for what it is, so nothing may have wrapped.
        self.bound_products(&p, &x, false, place, quasi)?;
        let mut whole = [p];
        self.make_multiples(&mut whole, 1 << shift, None)?;
        whole[0].div_exact_constant(1 << shift).ok_or_else(|| Stop::Blocker(self.describe(&x)))
    }

    /// Replaces parameters such that the coefficients become multiples of `unit`, as far as possible.
    fn make_multiples(
        &mut self,
        offsets: &mut [Polynomial],
        unit: i128,
        at: Option<Value>,
    ) -> Result<(), Stop> {
        let mut pitches: BTreeMap<usize, i128> = BTreeMap::new();
        for (m, c) in offsets.iter().flat_map(Polynomial::terms).filter(|(_, c)| c % unit != 0) {
            let params: Vec<usize> = m
                .factors()
                .filter_map(|(s, n)| match s {
                    Symbol::Param(i) if n == 1 => Some(i),
                    _ => None,
                })
                .collect();
            // With two of them it is not known which one counts bytes.
            let [p] = params[..] else { continue };
            let factor = pitches.entry(p).or_insert(1);
            *factor = (*factor).max(unit / gcd(c.abs(), unit));
        }
        for (p, factor) in pitches {
            let (entry, divisor) = (self.params[p].clone(), factor as u64);
            let quotient = self.given.an.quotient(entry.scev.handle, divisor);
            let Ok(q) = self.param(&quotient) else { continue };
            let note = format!("{} is a multiple of {factor} bytes", entry.display);
            let place = self.given.before_region(None)?;
            let elements =
                self.param_aff(q, place.space()?)?.scale(isl::Val::int(&self.given.ctx, factor as i64)?)?;
            let same = self.param_aff(p, place.space()?)?.eq_set(elements)?.params()?;
            self.assume_params(AssumptionKind::Delinearization, same, at, &note)?;
            let pitch = Polynomial::param(q).scale(factor);
            for o in offsets.iter_mut() {
                *o = replaced(o, p, &pitch);
            }
        }
        Ok(())
    }
}

impl Given<'_> {
    /// The place in memory that a parameter was loaded from before the region: an address and a distance in
    /// bytes.
    fn loaded_from(&self, e: &ScevExpr) -> Option<(ScevHandle, i64)> {
        let ScevKind::Unknown(mut v) = e.kind else { return None };
        // A load under a condition.
        if ir::opcode(v) == Some(Op::LLVMPHI) {
            let mut values =
                ir::incoming(v).into_iter().map(|(x, _)| x).filter(|x| !ir::is_null_or_undef(*x));
            v = values.next()?;
            if values.next().is_some() {
                return None;
            }
        }
        if ir::opcode(v) != Some(Op::LLVMLoad) {
            return None;
        }
        let address = self.an.scev(ir::address(v)?, None);
        match &address.kind {
            ScevKind::Add(terms) => match &terms[..] {
                [ScevExpr { kind: ScevKind::Constant(c), .. }, base] => {
                    Some((base.handle, i64::try_from(*c).ok()?))
                }
                _ => None,
            },
            _ => Some((address.handle, 0)),
        }
    }
}

fn param_of(s: Symbol) -> Option<usize> {
    match s {
        Symbol::Param(i) => Some(i),
        Symbol::Iter(_) => None,
    }
}

/// `o` with `by` for a parameter.
fn replaced(o: &Polynomial, param: usize, by: &Polynomial) -> Polynomial {
    let mut whole = Polynomial::zero();
    for (n, coefficient) in o.powers_of(Symbol::Param(param)) {
        whole = &whole + &(0..n).fold(coefficient, |product, _| &product * by);
    }
    whole
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
