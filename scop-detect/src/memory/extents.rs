//! What accesses say of sizes with names of their own ([`crate::affine::named_sizes`]): which operand of a
//! maximum is the size, and between which multiples a quotient lies.

use crate::affine::named_sizes::{maximum_of, rounded};
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::found::WIDE_BOUND;
use crate::base::ir;
use crate::memory::raw::Raw;
use isl::{DimType, Set, Space};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use std::collections::BTreeSet;

const _: () = assert!(WIDE_BOUND as i128 * (LARGEST_DIVISOR as i128) < 1 << 63);

/// A quotient by more than this may be within [`WIDE_BOUND`] for a dividend with the top bit set.
const LARGEST_DIVISOR: i64 = 1 << 16;

impl Builder<'_> {
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
