//! Strides that are parameters of their own, and products of parameters that are offsets.
//!
//! **Problem.** `A[b * batch + i * lda + j]` has strides that nothing ties to each other. It is an array of
//! three dimensions if `batch` is a multiple of `lda`, as it is where matrices are stored one after the
//! other: `batch = lda * q`, checked at run time, with the number of rows `q` a parameter that the host
//! computes.
//!
//! `A[(bi * bs + i) * ld + bj * bs + j]`, one block of a matrix, has products of parameters in its
//! subscripts. Neither is a size; each is a number that does not change, with a name of its own.
//!
//! `A[(c * h + y) * w + p]` with `p < h * w` walks through planes as if they were rows: the product in the
//! bound is the size of a plane. So are rows of `(n - 1) * e + 1` elements, as of a grid whose cells are
//! divided by `e`: `n * e` is `p + e` where `p = (n - 1) * e` bounds the loops.
//!
//! `A[off + i * ld + j]` is a part of a matrix that begins anywhere: at row `off / ld` and column `off % ld`,
//! each a parameter.
//!
//! **Invariant.** The polynomials with `lda * q` for `batch` are those of the program where the check holds.
//! A named product is the program's modulo 2^64, as its addresses are, and so is
//! `ld * (off / ld) + off % ld`.

use crate::base::builder::{Builder, has_division};
use crate::base::fail::{Fail, Stop};
use crate::memory::raw::Raw;
use isl::PwAff;
use pollyrs_delinearize::{Monomial, Polynomial, Shape, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::{BTreeMap, BTreeSet};

/// An array begins as many elements behind a row, or before one, as this.
const NEAR: [i64; 5] = [0, 1, -1, 2, -2];

impl Builder<'_> {
    /// Writes what is rounded or clamped and no function of the iteration as the parameter that is the same
    /// as a stride: `A[i * (n / 2 + 1) + j]` from `i = 1` on begins at `n / 2 + 1`, and of rows of
    /// `w = min(n, 33)` the last one at `m * w - w`.
    pub fn named_quotients(&mut self, offsets: &mut [Polynomial], raws: &[Raw]) -> isl::Result<()> {
        let mut strides = BTreeSet::new();
        for (m, _) in offsets.iter().flat_map(Polynomial::terms) {
            if m.factors().any(|(s, _)| matches!(s, Symbol::Iter(_))) {
                strides.extend(m.factors().filter_map(|(s, _)| match s {
                    Symbol::Param(p) if is_rounded_or_clamped(&self.params[p].scev) => Some(p),
                    _ => None,
                }));
            }
        }
        if strides.is_empty() {
            return Ok(());
        }
        let known = self.known()?;
        for (o, r) in offsets.iter_mut().zip(raws) {
            for (k, quasi) in r.quasi.iter().enumerate() {
                let own = Symbol::Iter(r.place.dims() + k);
                if !o.symbols().contains(&own) {
                    continue;
                }
                let domain = r.place.domain.clone().intersect_params(known.clone())?;
                let near = |p: &usize| {
                    let p = *p;
                    NEAR.into_iter().flat_map(move |more| [(p, more, 1), (p, more, -1)])
                };
                for (p, more, times) in strides.iter().flat_map(near) {
                    // What is assumed for it was assumed for the quotient already.
                    let scev = self.params[p].scev.clone();
                    let Ok(value) = self.exact(&scev, &r.place) else { continue };
                    let value = value.scale(isl::Val::int(&self.given.ctx, times)?)?;
                    let value = value.add(PwAff::constant_on(r.place.space()?, more)?)?;
                    if domain.is_subset(&quasi.clone().eq_set(value)?)? {
                        let value = Polynomial::param(p).scale(i128::from(times));
                        let value = &value + &Polynomial::constant(i128::from(more));
                        let mut whole = Polynomial::zero();
                        for (n, coefficient) in o.powers_of(own) {
                            let power = (0..n).fold(coefficient, |f, _| &f * &value);
                            whole = &whole + &power;
                        }
                        *o = whole;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives names to products of parameters that are in no stride, as they are or as factors of one. Whether
    /// there were any.
    pub fn named_products(&mut self, offsets: &mut [Polynomial]) -> Result<bool, Stop> {
        let constant = |m: &Monomial| m.factors().all(|(s, _)| matches!(s, Symbol::Param(_)));
        let mut strides = BTreeSet::new();
        for o in offsets.iter() {
            for s in o.symbols().into_iter().filter(|s| matches!(s, Symbol::Iter(_))) {
                let stride = o.powers_of(s).remove(&1).unwrap_or_default();
                let products = stride.terms().map(|(m, _)| m.clone());
                strides.extend(products.filter(|m| m.degree() > 0 && constant(m)));
            }
        }
        let mut strides: Vec<Monomial> = strides.into_iter().collect();
        strides.sort_by_key(|m| std::cmp::Reverse(m.degree()));
        let mut any = false;
        for o in offsets.iter_mut() {
            let mut whole = Polynomial::zero();
            for (m, c) in o.terms().filter(|(m, _)| constant(m)) {
                let divided = strides.iter().find_map(|s| Some((s.clone(), m.div(s)?)));
                let (stride, rest) = divided.unwrap_or_else(|| (Monomial::one(), m.clone()));
                let mut term = Polynomial::term(m.clone(), c);
                if rest.degree() > 1 {
                    let factors = rest.factors().flat_map(|(s, n)| match s {
                        Symbol::Param(p) => vec![self.params[p].scev.handle; n as usize],
                        Symbol::Iter(_) => vec![],
                    });
                    let product = self.given.an.product(&factors.collect::<Vec<_>>());
                    term = &Polynomial::term(stride, c) * &Polynomial::param(self.param(&product)?);
                    any = true;
                }
                whole = &whole + &term;
            }
            for (m, c) in o.terms().filter(|(m, _)| !constant(m)) {
                whole = &whole + &Polynomial::term(m.clone(), c);
            }
            *o = whole;
        }
        Ok(any)
    }

    /// Replaces products of parameters by a parameter that is the product, or by one that is a sum with it
    /// (`(n - 1) * e` for `n * e`, as rows of `(n - 1) * e + 1` elements have it), where that bounds loops.
    /// Whether there were any.
    pub fn flat_products(&mut self, offsets: &mut [Polynomial], raws: &[Raw]) -> Result<bool, Stop> {
        let mut bounds = BTreeSet::new();
        for r in raws {
            bounds.extend(self.involved(&r.place.domain)?);
        }
        let mut any = false;
        for p in bounds {
            let Some((value, narrow)) = self.expanded(p) else { continue };
            let Some((product, sign)) = value.leading().filter(|(m, c)| m.degree() > 1 && c.abs() == 1)
            else {
                continue;
            };
            if !offsets.iter().any(|o| o.terms().any(|(m, _)| m.div(&product).is_some())) {
                continue;
            }
            if let Some(bits) = narrow {
                let (place, half) = (self.given.before_region(None)?, 1i64 << (bits - 1));
                let note = format!("{} does not overflow", self.params[p].display);
                self.assume_range(AssumptionKind::NoWrap, &value, (-half, half - 1), &place, &[], &note)?;
            }
            // What stands for the product.
            let rest = &value - &Polynomial::term(product.clone(), sign);
            let instead = (&Polynomial::param(p) - &rest).scale(sign);
            let rounds = offsets.iter().map(Polynomial::degree).max().unwrap_or(0);
            for o in offsets.iter_mut() {
                // (Powers of the product, one after the other.)
                for _ in 0..rounds {
                    let mut whole = Polynomial::zero();
                    for (m, c) in o.terms() {
                        whole = match m.div(&product) {
                            Some(rest) => &whole + &(&Polynomial::term(rest, c) * &instead),
                            None => &whole + &Polynomial::term(m.clone(), c),
                        };
                    }
                    *o = whole;
                }
            }
            any = true;
        }
        Ok(any)
    }

    /// Parameter `p`, which is a product of sums of others, in these; and its bits if it may have wrapped
    /// and is extended then.
    fn expanded(&self, p: usize) -> Option<(Polynomial, Option<u32>)> {
        let e = match &self.params[p].scev.kind {
            ScevKind::SignExtend(x) => x,
            _ => &self.params[p].scev,
        };
        let ScevKind::Mul(operands) = &e.kind else { return None };
        let (mut product, mut wraps) = (Polynomial::constant(1), !e.nsw);
        for o in operands {
            let terms = match &o.kind {
                ScevKind::Add(terms) => &terms[..],
                _ => std::slice::from_ref(o),
            };
            wraps |= terms.len() > 1 && !o.nsw;
            let mut sum = Polynomial::zero();
            for t in terms {
                sum = &sum
                    + &match t.kind {
                        ScevKind::Constant(c) => Polynomial::constant(c),
                        _ => Polynomial::param(self.params.iter().position(|q| q.scev.handle == t.handle)?),
                    };
            }
            product = &product * &sum;
        }
        Some((product, (wraps && e.bits < 64).then_some(e.bits)))
    }

    /// Replaces parameters that all subscripts of `shape` are shifted by, and which nothing bounds, by a row
    /// and a column. Whether there were any.
    pub fn split_offsets(
        &mut self,
        offsets: &mut [Polynomial],
        raws: &[Raw],
        shape: &Shape,
        bytes: u32,
    ) -> Result<bool, Stop> {
        // Rows first, then planes of rows; only sizes that are one parameter.
        let mut sizes = Vec::new();
        for size in shape.sizes.iter().rev().flatten() {
            match &size.terms().map(|(m, c)| (m.clone(), c)).collect::<Vec<_>>()[..] {
                [(m, 1)] if m.degree() == 1 => sizes.extend(m.factors().map(|(s, _)| s)),
                _ => break,
            }
        }
        let mut bounded: BTreeSet<Symbol> = sizes.iter().copied().collect();
        for r in raws {
            bounded.extend(self.involved(&r.place.domain)?.into_iter().map(Symbol::Param));
        }
        let conditional = self.involved(&shape.assumption)?;
        let mut any = false;
        for p in conditional.into_iter().filter(|p| !bounded.contains(&Symbol::Param(*p))) {
            // Of accesses without it, it is known how far in a row they are apart.
            let alone = |o: &Polynomial| {
                let powers = o.powers_of(Symbol::Param(p));
                let one = powers.get(&1).is_some_and(|c| c.as_constant() == Some(i128::from(bytes)));
                one && powers.keys().all(|n| *n <= 1)
            };
            if !offsets.iter().all(alone) || offsets.iter().all(|o| begins_elsewhere(o, p, bytes, &bounded)) {
                continue;
            }
            let (mut place, mut stride) = (Polynomial::zero(), Polynomial::constant(1));
            let mut left = p;
            for size in &sizes {
                let Symbol::Param(s) = *size else { continue };
                let by = self.params[s].scev.handle;
                let column = self.given.an.remainder_by(self.params[left].scev.handle, by);
                let row = self.given.an.quotient_by(self.params[left].scev.handle, by);
                place = &place + &(&Polynomial::param(self.param(&column)?) * &stride);
                left = self.param(&row)?;
                stride = &stride * &Polynomial::symbol(*size);
            }
            place = &place + &(&Polynomial::param(left) * &stride);
            for o in offsets.iter_mut() {
                if let Some(c) = o.powers_of(Symbol::Param(p)).get(&1) {
                    *o = &(&*o - &(c * &Polynomial::param(p))) + &(c * &place);
                    any = true;
                }
            }
        }
        Ok(any && !sizes.is_empty())
    }

    /// Replaces strides of outer loops by multiples of those of inner ones, where two single parameters are
    /// strides, neither of which occurs in another product.
    pub fn nested_strides(&mut self, offsets: &mut [Polynomial], raws: &[Raw]) -> Result<(), Fail> {
        // For each parameter that is a stride by itself, up to a number, the outermost loop it goes with.
        let mut strides: BTreeMap<usize, usize> = BTreeMap::new();
        for (offset, r) in offsets.iter().zip(raws) {
            for s in offset.symbols() {
                let Symbol::Iter(d) = s else { continue };
                let powers = offset.powers_of(s);
                let Some(c) = powers.get(&1) else { continue };
                match &c.terms().map(|(m, _)| m.clone()).collect::<Vec<_>>()[..] {
                    [m] if m.degree() == 0 => {}
                    [m] if m.degree() == 1 => {
                        let Some((Symbol::Param(p), _)) = m.factors().next() else { return Ok(()) };
                        let Some(d) = r.outermost_loop(d) else { return Ok(()) };
                        let depth = strides.entry(p).or_insert(d);
                        *depth = (*depth).min(d);
                    }
                    // Products say what the strides have in common.
                    _ => return Ok(()),
                }
            }
        }
        let mut order: Vec<(usize, usize)> = strides.into_iter().map(|(p, d)| (d, p)).collect();
        order.sort_unstable();
        // Two strides of one loop are those of two arrays that look alike.
        if order.len() < 2 || order.windows(2).any(|w| w[0].0 == w[1].0) {
            return Ok(());
        }
        // Strides that no access has together are those of two views of the array, equal more often than
        // multiples.
        let together = |p: usize, q: usize| {
            let has = |o: &Polynomial, p: usize| o.symbols().into_iter().any(|s| s == Symbol::Param(p));
            offsets.iter().any(|o| has(o, p) && has(o, q))
        };
        if !order.windows(2).all(|w| together(w[0].1, w[1].1)) {
            return Ok(());
        }
        let Some(inst) = raws.first().map(|r| r.inst) else { return Ok(()) };
        let stop =
            |s: Stop| s.fail(inst, |blocker| RejectReason::Subscript { array: "an array".into(), blocker });
        let place = self.given.before_region(Some(inst))?;
        let mut whole = Polynomial::param(order[order.len() - 1].1);
        let mut replaced = Vec::new();
        for pair in order.windows(2).rev() {
            let (outer, inner) = (pair[0].1, pair[1].1);
            let quotient =
                self.given.an.quotient_by(self.params[outer].scev.handle, self.params[inner].scev.handle);
            let Ok(q) = self.param(&quotient) else { return Ok(()) };
            let product = &Polynomial::param(inner) * &Polynomial::param(q);
            let rest = &Polynomial::param(outer) - &product;
            let note =
                format!("{} is a multiple of {}", self.params[outer].display, self.params[inner].display);
            self.assume_range(AssumptionKind::Delinearization, &rest, (0, 0), &place, &[], &note)
                .map_err(stop)?;
            whole = &whole * &Polynomial::param(q);
            replaced.push((Symbol::Param(outer), whole.clone()));
        }
        for (outer, whole) in replaced {
            for o in offsets.iter_mut() {
                let mut sum = Polynomial::zero();
                for (power, c) in o.powers_of(outer) {
                    sum = &sum + &(0..power).fold(c, |product, _| &product * &whole);
                }
                *o = sum;
            }
        }
        Ok(())
    }
}

/// Whether an offset is made of the distance of `p` from a number that bounds nothing, the lower bound of an
/// array: that is where in a row the first element is, whatever both are.
fn begins_elsewhere(offset: &Polynomial, p: usize, bytes: u32, bounded: &BTreeSet<Symbol>) -> bool {
    let own = offset.terms().filter(|(m, c)| m.degree() == 1 && *c == -i128::from(bytes));
    own.flat_map(|(m, _)| m.factors().map(|(s, _)| s).collect::<Vec<_>>())
        .any(|s| matches!(s, Symbol::Param(q) if q != p) && !bounded.contains(&s))
}

/// Whether a quotient, a minimum or a maximum is part of a size.
fn is_rounded_or_clamped(e: &ScevExpr) -> bool {
    has_division(e)
        || matches!(e.kind, ScevKind::SMin(_) | ScevKind::SMax(_))
        || e.operands().into_iter().any(is_rounded_or_clamped)
}
