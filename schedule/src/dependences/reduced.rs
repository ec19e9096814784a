//! The last writer of each cell, array by array.
//!
//! **Problem.** Which write is the last one before a read is a question with as many cases as the borders of
//! all writes can lie to each other. `f[1]`, `f[2]`, `f[3..n-3]`, `f[n-3]`, `f[n-2]`, and `f[a..b]` for
//! arguments a and b, each read and written by a statement of its own, take isl's dataflow analysis 100 times
//! as much as all else of the nest.
//!
//! **Invariant.** What is found for an array is all pairs of a write and a later access of one cell, or those
//! of them that do not follow from others by transitivity.
//!
//! **Way.** Where all arrays together are too much, each has its part of the budget. Where that is not enough
//! no write hides another, and any cell may hold what it held before: a superset, which takes intersections
//! alone ([`pairs`]).

use crate::{Result, is_quota};
use isl::DimType;
use pollyrs_isl as isl;
use pollyrs_scop::Scop;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the budget in which the exact analysis of all arrays is tried first.
const WHOLE: u64 = 2;
/// The part of what is left that the exact analysis of one array may take. Those that look cheap come first.
const SHARE: u64 = 4;

/// All writes, and isl operations for one call of [`Sources::reach`].
pub(super) struct Sources<'a> {
    pub scop: &'a Scop,
    pub must: &'a isl::UnionMap,
    pub may: &'a isl::UnionMap,
    pub budget: u64,
}

/// What reaches the sinks.
pub(super) struct Flow {
    /// `{ writer -> [sink -> A[a]] }`
    pub tagged: isl::UnionMap,
    /// `{ sink -> A[a] }` that may see what was there before.
    pub no_source: isl::UnionMap,
    /// The arrays of which `tagged` has all pairs.
    pub unreduced: BTreeSet<String>,
}

impl Sources<'_> {
    /// The writes that reach `sinks`, which are accesses of any kind. Of `unreduced` arrays it is known that
    /// the exact analysis is too much.
    pub fn reach(&self, sinks: &isl::UnionMap, unreduced: &BTreeSet<String>) -> Result<Flow> {
        let ctx = &self.scop.ctx;
        if unreduced.is_empty() {
            // All arrays at once share what is found of the schedule.
            let (must, may) = (self.must.clone(), self.may.clone());
            match ctx.with_budget((self.budget / WHOLE).max(1), || self.flow(sinks, must, may)) {
                Err(e) if is_quota(&e) => {}
                found => {
                    let (tagged, no_source) = found?;
                    return Ok(Flow { tagged, no_source, unreduced: BTreeSet::new() });
                }
            }
        }
        let start = ctx.operations();
        let (must, may) = (by_array(ctx, self.must)?, by_array(ctx, self.may)?);
        let none = || isl::UnionMap::empty(ctx);
        let mut all = Flow { tagged: none()?, no_source: none()?, unreduced: unreduced.clone() };
        let mut arrays = Vec::new();
        for (array, sinks) in by_array(ctx, sinks)? {
            let of =
                |writes: &BTreeMap<String, isl::UnionMap>| writes.get(&array).cloned().map_or_else(none, Ok);
            let (must, may) = (of(&must)?, of(&may)?);
            let work = pieces(&sinks)? * (pieces(&must)? + pieces(&may)?);
            arrays.push((work, array, sinks, must, may));
        }
        arrays.sort_by_key(|(work, ..)| *work);
        for (_, array, sinks, must, may) in arrays {
            let left = self.budget.saturating_sub(self.budget / WHOLE + ctx.operations() - start);
            let exact = if all.unreduced.contains(&array) {
                None
            } else {
                let share = (left / SHARE).max(1);
                let found = ctx.with_budget(share, || self.flow(&sinks, must.clone(), may.clone()));
                Some(found).filter(|f| !f.as_ref().is_err_and(is_quota)).transpose()?
            };
            let found = match exact {
                Some(found) => found,
                None => {
                    all.unreduced.insert(array);
                    (pairs(self.scop, &must.union(may)?, &sinks)?, sinks)
                }
            };
            all.tagged = all.tagged.union(found.0)?;
            all.no_source = all.no_source.union(found.1)?;
        }
        Ok(all)
    }

    /// What isl finds: the fields of [`Flow`].
    fn flow(
        &self,
        sinks: &isl::UnionMap,
        must: isl::UnionMap,
        may: isl::UnionMap,
    ) -> Result<(isl::UnionMap, isl::UnionMap)> {
        let flow = isl::UnionAccessInfo::from_sink(sinks.clone())?
            .set_must_source(must)?
            .set_may_source(may)?
            .set_schedule(self.scop.schedule.clone())?
            .compute_flow()?;
        Ok((flow.full_must_dependence()?.union(flow.full_may_dependence()?)?, flow.may_no_source()?))
    }
}

/// All pairs of a source and a sink that comes after it and touches the same cell:
/// `{ source -> [sink -> A[a]] }`.
pub(super) fn pairs(scop: &Scop, sources: &isl::UnionMap, sinks: &isl::UnionMap) -> Result<isl::UnionMap> {
    let order = |accesses: &isl::UnionMap| -> Result<isl::UnionMap> {
        Ok(scop.schedule.map()?.intersect_domain(accesses.clone().domain()?)?)
    };
    let touched = sources.clone().apply_range(sinks.clone().range_map()?.reverse()?)?;
    let later = order(sources)?.lex_lt(order(sinks)?)?.coalesce()?;
    Ok(touched.intersect(later.apply_range(sinks.clone().domain_map()?.reverse()?)?)?)
}

/// The accesses that are of one of `arrays`, and the others.
pub(super) fn divided(
    ctx: &isl::Context,
    accesses: &isl::UnionMap,
    arrays: &BTreeSet<String>,
) -> Result<(isl::UnionMap, isl::UnionMap)> {
    let (mut those, mut others) = (isl::UnionMap::empty(ctx)?, isl::UnionMap::empty(ctx)?);
    for (array, of) in by_array(ctx, accesses)? {
        let into = if arrays.contains(&array) { &mut those } else { &mut others };
        *into = into.clone().union(of)?;
    }
    Ok((those, others))
}

fn pieces(accesses: &isl::UnionMap) -> Result<u64> {
    let mut sum = 0;
    for m in accesses.maps()? {
        sum += u64::from(m.n_basic_map()?);
    }
    Ok(sum)
}

/// Accesses by the array that they are of.
fn by_array(ctx: &isl::Context, accesses: &isl::UnionMap) -> Result<BTreeMap<String, isl::UnionMap>> {
    let mut all: BTreeMap<String, isl::UnionMap> = BTreeMap::new();
    for m in accesses.maps()? {
        let array = m.tuple_name(DimType::Out)?.unwrap_or_default();
        let before = all.remove(&array).map_or_else(|| isl::UnionMap::empty(ctx), Ok)?;
        all.insert(array, before.add_map(m)?);
    }
    Ok(all)
}
