//! Whether a view is right for what sizes mostly are: alike, give or take a few.
//!
//! **Example.** `A[(i - lc) * n + j - lb]` for `i < m`, `j < n`, as of a Fortran array with lower bounds in a
//! descriptor: in rows of `n` it is right for `lb = 0` only, in rows of `n - 1` and three pieces for many
//! `lb` and `lc`. Sizes are alike, but `lb` is none: the former is what the program means.

use crate::Problem;
use crate::affine::Result;
use crate::poly::{Polynomial, Symbol};
use crate::view::{Executed, View};
use pollyrs_isl as isl;
use std::collections::BTreeSet;

/// A loop of fewer iterations than this is one for trivial sizes, unless it never has more.
pub(crate) const FEW: i64 = 3;
/// A loop along the width of a border has no more than this.
const FEWEST: i64 = 2;

/// What all sizes are taken to be, give or take a few, to tell what mostly holds.
const TYPICAL: i64 = 1024;
pub(crate) const UNLIKE: i64 = 8;

/// For which sizes that are alike a view is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Typical {
    No,
    /// For some that are nearly equal: an image has two rows more than what a filter of three makes of it.
    Near,
    Equal,
}

/// Which subscript that data has a parameter is: those of a row of a usual size are all that there are in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Least,
    Largest,
}

impl Executed<'_> {
    /// Parameters as programs have them: positive, and such that all loops have a few iterations, as far as
    /// the context allows that.
    ///
    /// `b[j * x + x - h + k]` for `k < d` is in column `k - h` of row `j + 1` for `h <= 0`, and in column
    /// `x - h + k` of row `j` for `h >= d`. The former is right for some parameters too, but not for any of
    /// these.
    pub fn usual(&self) -> Result<isl::Set> {
        if let Some(known) = self.usual.get() {
            return Ok(known.clone());
        }
        let usual = self.positive(FEW)?;
        Ok(self.usual.get_or_init(|| usual).clone())
    }

    /// The same with loops of two iterations and more: `a[k * w + j + h - d]` for `j < w + 2 * (d - h)` is
    /// the border of a grid that has rows of `w` with `h` elements on either side, of which `d` are wanted,
    /// and `h` is a small number.
    pub fn short(&self) -> Result<isl::Set> {
        if let Some(known) = self.short.get() {
            return Ok(known.clone());
        }
        let short = self.positive(FEWEST)?;
        Ok(self.short.get_or_init(|| short).clone())
    }

    /// Positive parameters for which all loops have `least` iterations, as far as the context allows that.
    fn positive(&self, least: i64) -> Result<isl::Set> {
        let mut usual = self.long(least)?;
        for p in 0..usual.dim(isl::DimType::Param)? {
            let positive = usual.clone().lower_bound_val(
                isl::DimType::Param,
                p,
                isl::Val::int(self.context.context(), 1)?,
            )?;
            if !positive.is_empty()? {
                usual = positive;
            }
        }
        Ok(usual)
    }

    /// The parameters for which all counters of executed accesses take `least` values, but for those that
    /// never do.
    fn long(&self, least: i64) -> Result<isl::Set> {
        let mut all = self.any.clone();
        // The deepest nests first: what runs only where an inner loop has no iterations has no say in those.
        let mut nests = Vec::new();
        for (n, domain) in self.domains.iter().enumerate().filter(|(n, _)| self.same_domain[*n] == *n) {
            nests.push((domain.dim(isl::DimType::Set)?, n));
        }
        nests.sort_by_key(|(dims, _)| std::cmp::Reverse(*dims));
        let mut seen: Vec<isl::Set> = Vec::new();
        for (dims, n) in nests {
            for d in 0..dims {
                let values = self.values(n, d)?;
                let mut known = false;
                for other in &seen {
                    known = known || other.plain_is_equal(&values)?;
                }
                if known {
                    continue;
                }
                seen.push(values.clone());
                if self.is_part_of_found(&values)? {
                    continue;
                }
                let far = self.spread(values, least - 1)?.intersect(all.clone())?;
                if !far.is_empty()? {
                    all = far;
                }
            }
        }
        Ok(all)
    }

    /// Whether subscripts that data has are some of those that were found, by a condition with sizes: the
    /// last column by `x0 + 1 >= w` is one column, not three.
    fn is_part_of_found(&self, values: &isl::Set) -> Result<bool> {
        let (mut found, mut others) = (false, false);
        for (p, end) in self.ends.iter().enumerate() {
            let involved = values.involves_dims(isl::DimType::Param, p as u32, 1)?;
            found |= involved && end.is_some();
            others |= involved && end.is_none();
        }
        Ok(found && others)
    }

    /// The values of counter `d` of an access, or a little more: what a branch leaves out does not matter.
    fn values(&self, access: usize, d: u32) -> Result<isl::Set> {
        let domain = isl::Set::from_basic_set(self.domains[access].clone().unshifted_simple_hull()?)?;
        let dims = domain.dim(isl::DimType::Set)?;
        let domain = domain.project_out(isl::DimType::Set, d + 1, dims - d - 1)?;
        Ok(domain.project_out(isl::DimType::Set, 0, d)?.reset_tuple_id()?)
    }

    /// The parameters for which two of these values are at least `by` apart.
    fn spread(&self, values: isl::Set, by: i64) -> Result<isl::Set> {
        let pair = values.clone().flat_product(values)?;
        let space = isl::LocalSpace::from_space(pair.space()?)?;
        let at = |d| isl::Aff::var_on_domain(space.clone(), isl::DimType::Set, d);
        let distance = at(1)?.sub(at(0)?)?.add_constant(isl::Val::int(self.context.context(), -by)?)?;
        Ok(pair.intersect(isl::PwAff::from_aff(distance)?.nonneg_set()?)?.params()?)
    }

    /// The parameters for which loops have many iterations and yet no row of the view has many elements more
    /// than what is accessed in it: what holds for none of these holds only where rows are far longer than
    /// need be. The first row is not in front of the array, if it need not be: of a Fortran array whose lower
    /// bounds, in other variables than the loops' bounds, may be any, all of it would be.
    pub fn tight(&self, view: &View) -> Result<isl::Set> {
        let mut all = self.long(2 * UNLIKE)?.subtract(view.violations.clone())?;
        let mut inside = all.clone();
        for (n, pieces) in view.pieces.iter().enumerate().filter(|(n, _)| self.first[*n] == *n) {
            for piece in pieces {
                let front = &Polynomial::constant(-1) - &piece.subscripts[0];
                let front = self.nonneg(&front, &self.domains[n].space()?)?;
                inside = inside.subtract(piece.domain.clone().intersect(front)?.params()?)?;
            }
        }
        if !inside.is_empty()? {
            all = inside;
        }
        for (k, size) in view.sizes.iter().enumerate().filter(|(_, size)| size.degree() > 0) {
            let mut reached = isl::Set::empty(self.params.clone())?;
            for (n, pieces) in view.pieces.iter().enumerate().filter(|(n, _)| self.first[*n] == *n) {
                for piece in pieces {
                    let least = size - &Polynomial::constant(i128::from(UNLIKE) + 1);
                    let far = self.nonneg(&(&piece.subscripts[k + 1] - &least), &self.domains[n].space()?)?;
                    reached = reached.union(piece.domain.clone().intersect(far)?.params()?)?;
                }
            }
            let narrow = all.clone().intersect(reached)?;
            if !narrow.is_empty()? {
                all = narrow;
            }
        }
        Ok(all)
    }

    /// Whether the view is right where all parameters are alike: the sizes of a matrix and the number of
    /// iterations over it mostly are. Where the context ties some to others (a pitch in bytes to one in
    /// elements), the later ones count.
    pub fn is_likely(&self, view: &View) -> Result<bool> {
        let violations = &view.violations;
        Ok(violations.is_empty()?
            || !self.is_tied(view)?
                && (self.alike(self.any.clone(), 0, false)?.is_disjoint(violations)?
                    || !self.alike(self.any.clone(), UNLIKE, false)?.is_subset(violations)?))
    }

    /// Whether the view is right only where usual parameters are tied by an equation that nothing else asks
    /// for: that an array begins exactly `n` elements in front of another one is a coincidence, even where
    /// both are alike.
    fn is_tied(&self, view: &View) -> Result<bool> {
        let usual = self.usual()?;
        let right = usual.clone().subtract(view.violations.clone())?;
        Ok(!usual.is_subset(&isl::Set::from_basic_set(right.affine_hull()?)?)?)
    }

    /// Whether the view is right only where an origin has one of a few values, whatever usual sizes are, that
    /// may otherwise be any; or where it says in which of several rows elements are, and is not too far; or
    /// where some are as large as sizes, and need not be: the lower bound of a Fortran array with a border,
    /// `a(-1:n + 2)`, is none of the numbers in a row's last elements.
    pub fn is_pinned(&self, view: &View) -> Result<bool> {
        if view.violations.is_empty()? || !self.origins.contains(&true) {
            return Ok(false);
        }
        let usual = self.with_origins(FEW, None)?;
        let right = usual.clone().subtract(view.violations.clone())?;
        for p in (0..right.dim(isl::DimType::Param)?).filter(|p| self.is_origin(*p)) {
            if view.max_pieces() > 1 && view.violations.involves_dims(isl::DimType::Param, p, 1)? {
                return Ok(true);
            }
            let far = |there: &isl::Set| -> Result<bool> {
                let values = there.clone().from_params()?;
                let values = values.move_dims(isl::DimType::Set, 0, isl::DimType::Param, p, 1)?;
                Ok(!self.spread(values, 2 * UNLIKE)?.is_empty()?)
            };
            if !far(&right)? && far(&usual)? {
                return Ok(true);
            }
        }
        // (A few more iterations than the largest small number.)
        let small = self.with_origins(4 * UNLIKE, Some(UNLIKE))?;
        Ok(!small.is_empty()? && small.is_subset(&view.violations)?)
    }

    /// Sizes as programs have them for loops of `least` iterations, and origins that are any numbers, or none
    /// that is more than `most` away from 0.
    fn with_origins(&self, least: i64, most: Option<i64>) -> Result<isl::Set> {
        let mut there = self.long(least)?;
        for p in 0..there.dim(isl::DimType::Param)? {
            let val = |n| isl::Val::int(self.context.context(), n);
            let own = match (self.is_origin(p), most) {
                (true, None) => continue,
                (true, Some(most)) => {
                    let own = there.clone().lower_bound_val(isl::DimType::Param, p, val(-most)?)?;
                    own.upper_bound_val(isl::DimType::Param, p, val(most)?)?
                }
                (false, _) => there.clone().lower_bound_val(isl::DimType::Param, p, val(1)?)?,
            };
            if !own.is_empty()? {
                there = own;
            }
        }
        Ok(there)
    }

    /// The same, more closely, of views to choose among. Origins are no sizes: they may be what fits.
    pub fn typical(&self, view: &View) -> Result<Typical> {
        if view.violations.is_empty()? {
            return Ok(Typical::Equal);
        }
        let right = |there: &isl::Set| -> Result<isl::Set> {
            self.without_origins(there.clone().subtract(view.violations.clone())?)
        };
        let equal = self.alike(self.any.clone(), 0, true)?;
        if self.without_origins(equal.clone())?.is_subset(&right(&equal)?)? {
            return Ok(Typical::Equal);
        }
        let near = self.alike(self.any.clone(), UNLIKE, true)?;
        Ok(if right(&near)?.is_empty()? { Typical::No } else { Typical::Near })
    }

    /// The sets' parameters but for origins, for some value of each of these.
    fn without_origins(&self, mut set: isl::Set) -> Result<isl::Set> {
        for p in (0..set.dim(isl::DimType::Param)?).rev() {
            if self.is_origin(p) {
                set = set.project_out(isl::DimType::Param, p, 1)?;
            }
        }
        Ok(set)
    }

    /// Whether a parameter only says where an array begins, as do the lower bounds of Fortran's descriptors,
    /// `lb` and `lc` in `A[(i - lc) * n + j - lb]`: it steps with no counter and bounds none.
    fn is_origin(&self, param: u32) -> bool {
        self.origins.get(param as usize).copied().unwrap_or(false)
    }

    /// The part of `there` where parameters are alike, give or take `by`, the later ones if not all can be;
    /// origins may be any if they are `free`.
    pub(crate) fn alike(&self, mut there: isl::Set, by: i64, free: bool) -> Result<isl::Set> {
        let val = |n| isl::Val::int(self.context.context(), n);
        for p in (0..there.dim(isl::DimType::Param)?).rev().filter(|p| !free || !self.is_origin(*p)) {
            let middle = match self.ends.get(p as usize).copied().flatten() {
                Some(End::Least) => 0,
                Some(End::Largest) => TYPICAL - 1,
                None => TYPICAL,
            };
            let near = there.clone().lower_bound_val(isl::DimType::Param, p, val(middle - by)?)?;
            let near = near.upper_bound_val(isl::DimType::Param, p, val(middle + by)?)?;
            if !near.is_empty()? {
                there = near;
            }
        }
        Ok(there)
    }
}

/// The parameters that are subscripts which data has.
pub(crate) fn ends(problem: &Problem, params: &isl::Space) -> Result<Vec<Option<End>>> {
    let mut ends = vec![None; params.dim(isl::DimType::Param)? as usize];
    for (least, largest) in problem.found {
        for (name, end) in [(least, End::Least), (largest, End::Largest)] {
            if let Some(at) = params.find_dim_by_name(isl::DimType::Param, name)? {
                ends[at as usize] = Some(end);
            }
        }
    }
    Ok(ends)
}

/// The parameters of offsets that are in no product with a counter and in no bound.
pub(crate) fn origins(problem: &Problem, params: &isl::Space) -> Result<Vec<bool>> {
    let (mut shifts, mut steps) = (BTreeSet::new(), BTreeSet::new());
    for access in problem.accesses {
        for (m, _) in access.offset.terms() {
            let counted = m.factors().any(|(s, _)| matches!(s, Symbol::Iter(_)));
            let found = m.factors().filter_map(|(s, _)| match s {
                Symbol::Param(p) => Some(p),
                Symbol::Iter(_) => None,
            });
            if counted { steps.extend(found) } else { shifts.extend(found) }
        }
    }
    let mut origins = vec![false; params.dim(isl::DimType::Param)? as usize];
    for p in shifts.difference(&steps) {
        let Some(name) = problem.params.get(*p) else { continue };
        let Some(at) = params.find_dim_by_name(isl::DimType::Param, name)? else { continue };
        let mut bounds = false;
        for a in problem.accesses {
            let Some(at) = a.domain.space()?.find_dim_by_name(isl::DimType::Param, name)? else { continue };
            bounds |= a.domain.involves_dims(isl::DimType::Param, at, 1)?;
        }
        origins[at as usize] = !bounds;
    }
    Ok(origins)
}
