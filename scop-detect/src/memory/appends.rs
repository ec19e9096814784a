//! Stores to elements that a count gives: `if (c) out[k++] = v;` (stream compaction; Blelloch, "Prefix sums
//! and their applications", CMU-CS-90-190, 1990, section 1.5).
//!
//! **Problem.** The subscript is a value that iterations hand on, which orders them all. Yet no two stores
//! have one element: wherever one is made, the count goes up.
//!
//! **Approach.** The count is a PHI at the head of a loop that takes `k + a`, where `a` is chosen among
//! numbers that are not negative. Its values are bounded by what it begins with and by the iterations before.
//! The conditions on the way to the store tell what `a` is at least: 1 or more. The access gets the iteration
//! of the count's update as its place ([`pollyrs_scop::Append`]), and the store has a copy of the count in a
//! cell of its own for each iteration, so that the update is a running total like others.
//!
//! **Invariants.** All accesses of the array are such stores, by one count and at one distance from it. Where
//! the count begins anew in each iteration of a loop around, the other subscripts tell those iterations
//! apart.
//!
//! **Example.** `for (i) if (a[i] > 0) out[k++] = a[i];` has the place `{ S0[i] -> [i] }` and may write
//! `{ out[o] : k0 <= o <= k0 + i }`.

use crate::base::builder::Builder;
use crate::base::fail::Fail;
use crate::base::found::{Appended, Draft};
use crate::base::ir::{self, Value};
use crate::memory::subscripts::Subscripts;
use isl::{DimType, Map, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_scop::{Append, Array, ArrayId, ArrayKind, RejectReason, StmtId};

impl Builder<'_> {
    /// Gives the accesses of an array that is appended to their places, the iterations of the count's loop.
    /// `None` if it is none.
    pub fn add_appended(
        &mut self,
        drafts: &mut [Draft],
        (id, array): (ArrayId, &Array),
        own: &[(usize, usize)],
        all: &[Subscripts],
    ) -> Result<Option<()>, Fail> {
        let mut key: Option<(Value, usize, PwAff)> = None;
        let (mut step, mut places) = (i64::MAX, Vec::new());
        for (d, a) in own {
            let Some(store) = crate::memory::subscripts::instruction(&drafts[*d].statement.accesses[*a])
            else {
                return Ok(None);
            };
            let subs = all.iter().find(|o| o.draft == *d && o.instruction == store);
            let (Some((count, least)), Some(subs)) = (self.appends(store), subs) else { return Ok(None) };
            let loops = &drafts[*d].loops;
            let dims = loops.len();
            let here = self.given.count_of(count).map(|c| c.owner);
            if subs.place.loops.len() != dims || subs.place.values.len() != 1 || loops.last().copied() != here
            {
                return Ok(None);
            }
            let Some((at, offset, others)) = divided(subs, dims)? else { return Ok(None) };
            match &key {
                None => key = Some((count, at, offset)),
                Some((c, k, o)) if *c == count && *k == at && o.is_equal(&offset)? => {}
                Some(_) => return Ok(None),
            }
            if !tells_apart(&others, &drafts[*d].statement.domain, dims)? {
                return Ok(None);
            }
            step = step.min(least);
            let name = format!("{}_place", array.name);
            let space = drafts[*d].statement.domain.space()?;
            places.push(Set::universe(space)?.identity()?.set_tuple_name(DimType::Out, &name)?);
        }
        let Some((count, ..)) = key else { return Ok(None) };
        for ((d, a), place) in own.iter().zip(places) {
            drafts[*d].statement.accesses[*a].place = Some(place);
        }
        let ArrayKind::Memory { base } = array.kind else { return Ok(None) };
        self.found.appended.push(Appended { array: id, base: ir::value(base), count, step });
        Ok(Some(()))
    }

    /// For the model, with what finds the statement that gives a count its next value.
    pub fn totals_of_appends(
        &self,
        total_of: impl Fn(Value, Value) -> Option<StmtId>,
    ) -> Result<Vec<Append>, Fail> {
        let mut found = Vec::new();
        for a in &self.found.appended {
            let total = self.given.count_of(a.count).and_then(|c| total_of(a.count, c.next));
            let Some(total) = total else {
                let (array, blocker) = (self.name_of(a.base), self.name_of(a.count));
                return Err(Fail::at(RejectReason::Subscript { array, blocker }, a.count));
            };
            found.push(Append { array: a.array, total, step: a.step });
        }
        Ok(found)
    }
}

/// The number of the subscript with the value, what is added to it, and all others.
fn divided(own: &Subscripts, dims: usize) -> isl::Result<Option<(usize, PwAff, Vec<PwAff>)>> {
    let (mut found, mut others) = (None, Vec::new());
    for (at, sub) in own.subs.iter().enumerate() {
        let whole = sub.clone().reset_tuple_id(DimType::In)?.gist(own.place.domain.clone())?;
        if !whole.involves_dims(DimType::In, dims as u32, 1)? {
            others.push(whole);
            continue;
        }
        let local = isl::LocalSpace::from_space(whole.domain_space()?)?;
        let value = PwAff::from_aff(isl::Aff::var_on_domain(local, DimType::Set, dims as u32)?)?;
        let offset = whole.sub(value)?.coalesce()?;
        if found.is_some() || offset.involves_dims(DimType::In, 0, dims as u32 + 1)? {
            return Ok(None);
        }
        found = Some((at, offset.project_domain_on_params()?));
    }
    Ok(found.map(|(at, offset)| (at, offset, others)))
}

/// Whether the subscripts differ between any two iterations of the loops around the innermost one.
fn tells_apart(others: &[PwAff], domain: &Set, dims: usize) -> isl::Result<bool> {
    if dims == 1 {
        return Ok(true);
    }
    let mut all: Option<Map> = None;
    for o in others {
        // (What depends on the innermost counter tells nothing.)
        if o.involves_dims(DimType::In, dims as u32 - 1, 1)? {
            continue;
        }
        let one = Map::from_pw_aff(o.clone())?.project_out(DimType::In, dims as u32 - 1, 2)?;
        all = Some(match all {
            None => one,
            Some(all) => all.flat_range_product(one)?,
        });
    }
    let outer = domain.clone().reset_tuple_id()?.project_out(DimType::Set, dims as u32 - 1, 1)?;
    match all {
        None => Ok(false),
        Some(all) => all.intersect_domain(outer)?.is_injective(),
    }
}
