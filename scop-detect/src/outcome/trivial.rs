//! Conditions that hold for trivial sizes only, or for none that programs have.
//!
//! **Problem.** A loop that is on the device where `step >= n` is there for one iteration, and nowhere else;
//! a remark would call it offloaded all the same. So it would if a row had to hold all elements that an index
//! of 32 bits can name. Such a model is refused, for what it assumes. So is one of two versions of a loop,
//! `if (step == 1)`, where what is assumed leaves one of them no iterations: each may be a model by itself.
//!
//! **Approach.** There are parameters for which all loops of all statements have a few iterations, but for
//! those that never have, and none has more than memory has elements. If the assumptions leave none of these
//! parameters, nothing of interest would run. Parameters are what the program computes them from: rows of
//! `m / 9` elements hold none of `m`, and `n * m` is more than `m`.

use crate::base::builder::{Assumptions, Builder};
use crate::base::fail::{Fail, Stop};
use crate::base::found::Draft;
use isl::{DimType, Set, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::RejectReason;
use std::collections::BTreeSet;

/// A loop of fewer iterations is trivial.
const FEW: i64 = 3;
/// The border of a grid may be as wide as this, and is as long as that.
const FEWEST: i64 = 2;
const MANY: i64 = 16;
/// A loop has fewer iterations than this, whatever an index of 32 bits could name.
const LARGE: i64 = 1 << 28;
/// Statements of which each is looked at by itself.
const VERSIONS: usize = 8;
/// Parameters that are looked at.
const PARAMETERS: usize = 32;
/// isl operations; without an answer the model is taken. A tenth of a second.
const OPERATIONS: u64 = 500_000;

impl Builder<'_> {
    /// Refuses a model that is right for trivial sizes only.
    pub fn refuse_trivial(&mut self, drafts: &[Draft]) -> Result<(), Fail> {
        if self.assumed.all.is_empty() {
            return Ok(());
        }
        let ctx = self.given.ctx.clone();
        let found = ctx.with_budget(OPERATIONS, || {
            let computed = self.computed_from()?;
            self.trivial(drafts, &computed)
        });
        match found {
            Ok(Some(condition)) => {
                Err(Fail::new(RejectReason::TrivialSizes { condition }, self.given.region.entry))
            }
            Ok(None) | Err(isl::Error::Quota) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// How the parameters that assumptions name depend on what they are computed from, where sizes are
    /// ordinary ones.
    fn computed_from(&mut self) -> isl::Result<Vec<Set>> {
        let mut used = BTreeSet::new();
        for a in &self.assumed.all {
            used.extend(self.involved(&a.set)?);
        }
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(index) = used.pop_first() {
            if !seen.insert(index) || seen.len() > PARAMETERS {
                continue;
            }
            match self.made_of(index) {
                Ok(Some(own)) => {
                    // (Of a product of products.)
                    used.extend(self.involved(&own)?);
                    all.push(own.coalesce()?);
                }
                Ok(None) | Err(Stop::Blocker(_)) => {}
                Err(Stop::Isl(e)) => return Err(e),
            }
        }
        Ok(all)
    }

    /// The same of one parameter: a quotient, a minimum or a maximum, or a product of values, each of which
    /// is a few at least.
    fn made_of(&mut self, index: usize) -> Result<Option<Set>, Stop> {
        if let Some(quotient) = self.between_multiples(index)? {
            // (A size is no negative number.)
            return Ok(Some(quotient.between.union(quotient.small)?));
        }
        if self.params[index].inspected {
            return Ok(None);
        }
        let e = self.params[index].scev.clone();
        let place = self.given.before_region(None)?;
        let own = self.param_aff(index, place.space()?)?;
        match core(&e) {
            ScevExpr { kind: ScevKind::SMin(_) | ScevKind::SMax(_), .. } => {
                let value = self.strictly(|me| me.exact(&e, &place))?;
                Ok(Some(own.eq_set(value)?.params()?))
            }
            ScevExpr { kind: ScevKind::Mul(factors), .. } => {
                let few = self.constant(FEW.into(), &place)?;
                let mut more = Set::universe(place.space()?)?;
                let mut less = Set::empty(place.space()?)?;
                for factor in factors {
                    let factor = self.strictly(|me| me.exact(core(factor), &place))?;
                    let times = factor.clone().scale(Val::int(&self.given.ctx, FEW)?)?;
                    more = more.intersect(own.clone().ge_set(times)?)?;
                    less = less.union(factor.lt_set(few.clone())?)?;
                }
                Ok(Some(more.union(less)?.params()?))
            }
            _ => Ok(None),
        }
    }

    /// What an assumption says that leaves trivial sizes only.
    fn trivial(&self, drafts: &[Draft], computed: &[Set]) -> isl::Result<Option<String>> {
        // What is deepest tells: `sum = 0` for rows without elements is a statement that runs where the loop
        // over elements does not.
        let mut sorted = Vec::new();
        for draft in drafts {
            let domain = draft.statement.domain.clone().reset_tuple_id()?;
            sorted.push((domain.dim(DimType::Set)?, domain));
        }
        sorted.sort_by_key(|(dims, _)| std::cmp::Reverse(*dims));
        let mut domains: Vec<Set> = Vec::new();
        for (_, domain) in sorted {
            let seen = domains.iter().map(|s| s.plain_is_equal(&domain)).collect::<isl::Result<Vec<_>>>()?;
            if !seen.contains(&true) {
                domains.push(domain);
            }
        }
        let (free, left, others) = self.left(&domains, computed, FEW)?;
        if left.is_empty()? && !self.is_a_border(&domains, computed)? {
            return self.assumed.blame(&free);
        }
        // What runs where the others don't is looked at first, if it is as deep.
        let depth = domains.first().map_or(Ok(0), |d| d.dim(DimType::Set))?;
        for other in others.into_iter().take(VERSIONS) {
            let mut first = vec![domains[other].clone()];
            if first[0].dim(DimType::Set)? < depth {
                break;
            }
            first.extend(domains.iter().enumerate().filter(|(n, _)| *n != other).map(|(_, d)| d.clone()));
            let (free, left, never) = self.left(&first, computed, FEW)?;
            if !never.contains(&0) && left.is_empty()? && !self.is_a_border(&first[..1], computed)? {
                return self.assumed.blame(&free);
            }
        }
        Ok(None)
    }

    /// The parameters for which all loops have `least` iterations and none has too many, those of them that
    /// the assumptions leave, and the domains that have not as many where those before them have. (What
    /// parameters are computed from has cases, of which few are left then.)
    fn left(&self, domains: &[Set], computed: &[Set], least: i64) -> isl::Result<(Set, Set, Vec<usize>)> {
        let mut others = Vec::new();
        let mut free = self.context.clone();
        let mut assumed = free.clone();
        for a in &self.assumed.all {
            assumed = assumed.intersect(a.set.clone())?;
        }
        // (Most statements are in the same loops.)
        let mut loops: Vec<(usize, Set)> = Vec::new();
        for (i, domain) in domains.iter().enumerate() {
            for d in 0..domain.dim(DimType::Set)? {
                let own = values(domain, d)?;
                let seen = loops.iter().map(|(_, l)| l.plain_is_equal(&own));
                if !seen.collect::<isl::Result<Vec<_>>>()?.contains(&true) {
                    loops.push((i, own));
                }
            }
        }
        for (i, values) in &loops {
            let long = spread(values, least)?;
            let next = free.clone().intersect(long.clone())?;
            if next.is_empty()? {
                others.push(*i);
                continue;
            }
            free = next;
            assumed = assumed.intersect(long)?;
        }
        for (_, values) in &loops {
            let huge = spread(values, LARGE)?;
            let next = free.clone().subtract(huge.clone())?;
            if next.is_empty()? {
                continue;
            }
            free = next;
            assumed = assumed.subtract(huge)?;
        }
        for own in computed {
            let next = free.clone().intersect(own.clone())?.coalesce()?;
            if !next.is_empty()? {
                free = next;
                assumed = assumed.intersect(own.clone())?.coalesce()?;
            }
        }
        others.dedup();
        Ok((free, assumed, others))
    }

    /// Whether what is left are a few rows along the border of a grid: no loop is for one iteration only, and
    /// in each nest there is one with many.
    fn is_a_border(&self, domains: &[Set], computed: &[Set]) -> isl::Result<bool> {
        let (_, left, _) = self.left(domains, computed, FEWEST)?;
        let mut is = !left.is_empty()?;
        for domain in domains {
            let mut along = false;
            for d in 0..domain.dim(DimType::Set)? {
                along = along || !left.is_disjoint(&spread(&values(domain, d)?, MANY)?)?;
            }
            is &= along;
        }
        Ok(is)
    }
}

impl Assumptions {
    /// What an assumption says that leaves none of these parameters; the last one where it takes several.
    fn blame(&self, free: &Set) -> isl::Result<Option<String>> {
        for a in &self.all {
            if free.is_disjoint(&a.set)? {
                return Ok(Some(a.note.clone()));
            }
        }
        Ok(self.all.last().map(|a| a.note.clone()))
    }
}

/// What was extended, or cut off: an ordinary size is the same.
fn core(e: &ScevExpr) -> &ScevExpr {
    match &e.kind {
        ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) | ScevKind::Truncate(x) => core(x),
        _ => e,
    }
}

/// The values of dimension `d`.
fn values(domain: &Set, d: u32) -> isl::Result<Set> {
    let behind = domain.dim(DimType::Set)? - d - 1;
    domain.clone().project_out(DimType::Set, d + 1, behind)?.project_out(DimType::Set, 0, d)?.coalesce()
}

/// The parameters for which some of these values are `least` less one apart.
fn spread(values: &Set, least: i64) -> isl::Result<Set> {
    let pair = values.clone().flat_product(values.clone())?;
    let space = isl::LocalSpace::from_space(pair.space()?)?;
    let at = |d| isl::Aff::var_on_domain(space.clone(), DimType::Set, d);
    let far = at(1)?.sub(at(0)?)?.add_constant(Val::int(values.context(), 1 - least)?)?;
    pair.intersect(isl::PwAff::from_aff(far)?.nonneg_set()?)?.params()?.coalesce()
}
