//! Strides that are parameters of their own.
//!
//! **Problem.** `A[b * batch + i * lda + j]` has strides that nothing ties to each other. It is an array of three dimensions if `batch`
//! is a multiple of `lda`, as it is where matrices are stored one after the other: `batch = lda * q`, checked at run time, with the
//! number of rows `q` a parameter that the host computes.
//!
//! **Invariant.** The polynomials with `lda * q` for `batch` are those of the program where the check holds.

use crate::accesses::Raw;
use crate::builder::{Builder, Fail, Stop};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Replaces strides of outer loops by multiples of those of inner ones, where two single parameters are strides, neither of
    /// which occurs in another product.
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
                    [m] if m.degree() == 1 && d < r.place.loops.len() => {
                        let Some((Symbol::Param(p), _)) = m.factors().next() else { return Ok(()) };
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
        // Strides that no access has together are those of two views of the array, equal more often than multiples.
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
        let place = self.before_region(Some(inst))?;
        let mut whole = Polynomial::param(order[order.len() - 1].1);
        let mut replaced = Vec::new();
        for pair in order.windows(2).rev() {
            let (outer, inner) = (pair[0].1, pair[1].1);
            let quotient =
                self.an.quotient_by(self.params[outer].scev.handle, self.params[inner].scev.handle);
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
