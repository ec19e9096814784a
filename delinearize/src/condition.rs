//! The condition of a view, and the one that is checked in its place at run time.

use crate::affine::Result;
use crate::poly::Polynomial;
use crate::typical::UNLIKE;
use crate::view::{Executed, View};
use pollyrs_isl as isl;

/// A condition of more cases than this is replaced by a stronger one without cases, where there is one. Each
/// check at run time, and each set that it is intersected with before, has them all.
const MAX_CASES: u32 = 3;

/// Conditions of a part that are looked at one by one.
const MAX_WIDENED: usize = 12;

/// A condition of more parts than this is left as isl gives it.
const MAX_TIDY: usize = 12;

impl Executed<'_> {
    /// The condition of a view, gisted against the context.
    pub fn assumption(&self, view: &View) -> Result<isl::Set> {
        if view.is_unconditional()? {
            return Ok(isl::Set::universe(self.params.clone())?);
        }
        // Where nothing is executed the view is right, and elsewhere that need not be said again: a union of
        // `nothing is executed` with the condition simplified for the rest is shorter than what the
        // subtraction gives.
        let right = self.context.clone().subtract(view.violations.clone())?.coalesce()?;
        let right = right.gist(self.any.clone())?.union(self.any.clone().complement()?)?;
        let right = right.gist(self.context.clone())?.coalesce()?;
        tidy(right)
    }

    /// What to check in place of `assumption`: that, or if it has many cases what makes the view right if all
    /// accesses are executed, and also otherwise; no union, and it holds for sizes that are alike. (For each
    /// loop `it does not run, or its accesses fit`: of several loops with sizes of their own that is a case
    /// for each set of loops.)
    pub fn check(&self, view: &View, assumption: &isl::Set) -> Result<isl::Set> {
        let simpler = if assumption.n_basic_set()? > MAX_CASES { self.all_fit(view)? } else { None };
        Ok(simpler.unwrap_or_else(|| assumption.clone()))
    }

    /// [`crate::Shape::overlapping`]: rows have elements, or nothing is executed.
    pub fn overlapping(&self, view: &View, assumption: &isl::Set) -> Result<Option<isl::Set>> {
        if view.max_pieces() != 1 || view.is_unconditional()? {
            return Ok(None);
        }
        let mut rows = isl::Set::universe(self.params.clone())?;
        for size in &view.sizes {
            let above = size - &Polynomial::constant(1);
            rows = rows.intersect(self.nonneg(&above, &self.params)?.params()?)?;
        }
        let rows = rows.gist(self.any.clone())?.union(self.any.clone().complement()?)?;
        let rows = tidy(rows.gist(self.context.clone())?.coalesce()?)?;
        let known = rows.clone().intersect(self.context.clone())?;
        Ok(if known.is_subset(assumption)? { None } else { Some(rows) })
    }

    fn all_fit(&self, view: &View) -> Result<Option<isl::Set>> {
        let mut all = self.context.clone();
        for d in &self.domains {
            all = all.intersect(d.clone().params()?)?;
        }
        let typical = self.alike(all.clone(), UNLIKE, false)?;
        let fits = all.clone().subtract(view.violations.clone())?;
        // Without saying that all are executed if that is not needed.
        for simple in [fits.clone().gist(all)?, fits.gist(self.context.clone())?] {
            let (mut usual, mut others) = (None, Vec::new());
            for part in simple.coalesce()?.basic_sets()? {
                let part = isl::Set::from_basic_set(part)?;
                if !part.clone().intersect(self.context.clone())?.is_disjoint(&view.violations)? {
                    continue;
                }
                match &usual {
                    None if !part.is_disjoint(&typical)? => usual = Some(part),
                    _ => others.push(part),
                }
            }
            let Some(usual) = usual else { continue };
            let usual = self.widened(usual, view)?;
            // A row of `min(m, 40)` is 40 or `m` long: of two cases both are checked for.
            return match &others[..] {
                [other] => Ok(Some(usual.union(self.widened(other.clone(), view)?)?.coalesce()?)),
                _ => Ok(Some(usual)),
            };
        }
        Ok(None)
    }

    /// `part` without the constraints that the view is right without: of what is known to be unequal
    /// (`x < y or x > y`) a part has one side.
    fn widened(&self, part: isl::Set, view: &View) -> Result<isl::Set> {
        let mut kept = part.basic_set_list()?.to_vec()?.iter().try_fold(Vec::new(), |mut all, b| {
            all.extend(b.constraints()?);
            Ok::<_, isl::Error>(all)
        })?;
        let joined = |constraints: &[isl::Constraint]| -> Result<isl::Set> {
            let mut set = isl::Set::universe(part.space()?)?;
            for c in constraints {
                set = set.intersect(isl::Set::from_basic_set(isl::BasicSet::from_constraint(c.clone())?)?)?;
            }
            Ok(set)
        };
        if kept.len() > MAX_WIDENED {
            return Ok(part);
        }
        let (mut at, mut widest) = (0, part.clone());
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            let wider = joined(&fewer)?;
            if wider.clone().intersect(self.context.clone())?.is_disjoint(&view.violations)? {
                (kept, widest) = (fewer, wider);
            } else {
                at += 1;
            }
        }
        Ok(widest)
    }
}

/// The same set with each part cut to what the others do not say: subtraction makes parts disjoint
/// (`n <= 0 or (n > 0 and m <= s)`), which a run-time check need not be. For a part `B` and the rest `R`,
/// `gist(B, complement of R)` is `B` outside `R`, and inside `R` nothing matters.
fn tidy(set: isl::Set) -> Result<isl::Set> {
    let mut parts =
        set.basic_sets()?.into_iter().map(isl::Set::from_basic_set).collect::<isl::Result<Vec<_>>>()?;
    if parts.len() < 2 || parts.len() > MAX_TIDY {
        return Ok(set);
    }
    parts.sort_by_cached_key(|s| s.to_string());
    for n in 0..parts.len() {
        let mut rest = isl::Set::empty(set.space()?)?;
        for (_, p) in parts.iter().enumerate().filter(|(m, _)| *m != n) {
            rest = rest.union(p.clone())?;
        }
        parts[n] = parts[n].clone().gist(rest.complement()?)?;
    }
    let mut tidied = isl::Set::empty(set.space()?)?;
    for p in parts {
        tidied = tidied.union(p)?;
    }
    Ok(tidied.coalesce()?)
}
