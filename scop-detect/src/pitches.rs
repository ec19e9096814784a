//! Pitches: parameters that count bytes, by parameters that count elements.
//!
//! **Problem.** The strides in a Fortran descriptor and the pitch of an image are in bytes: `A + pitch * i + 8 * j` is no access to an array of
//! `double` unless `pitch` is a multiple of 8. That it is one is checked at run time: `pitch = 8 * q`, with a parameter `q` for the quotient.
//! flang writes the same as `(pitch * i >> 3) + j`, which rounds down, but to what it is anyway under that condition.

use crate::builder::{Builder, Fail, Place, Stop};
use crate::ir::{self, Value};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::ScevExpr;
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Replaces parameters of `offsets`, in bytes, that keep one from being a multiple of the size of an element.
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
        let x = self.an.scev(ir::operand(v, 0), self.scope(v, place));
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
            let quotient = self.an.quotient(entry.scev.handle, divisor);
            let Ok(q) = self.param(&quotient) else { continue };
            let note = format!("{} is a multiple of {factor} bytes", entry.display);
            let place = self.before_region(None)?;
            let elements =
                self.param_aff(q, place.space()?)?.scale(isl::Val::int(&self.ctx, factor as i64)?)?;
            let same = self.param_aff(p, place.space()?)?.eq_set(elements)?.params()?;
            self.assume_params(AssumptionKind::Delinearization, same, at, &note)?;
            for o in offsets.iter_mut() {
                let mut whole = Polynomial::zero();
                for (n, coefficient) in o.powers_of(Symbol::Param(p)) {
                    let pitch = Polynomial::param(q).scale(factor);
                    let power = (0..n).fold(coefficient, |product, _| &product * &pitch);
                    whole = &whole + &power;
                }
                *o = whole;
            }
        }
        Ok(())
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
