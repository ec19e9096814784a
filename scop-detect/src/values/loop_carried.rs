//! Values that are carried through several loops in one cell.
//!
//! **Problem.** `for (i) for (j) s += a[i][j];` is in SSA form a PHI of each loop: the inner one starts as
//! the outer one in each `i`, and the outer one goes on as the inner one. Modelled as it is, with a cell for
//! each PHI, the rows follow each other, and a reduction of the inner cell is one of a row only.
//!
//! ```text
//! for i { C0: y[i] = x;  for j { S: y[i] = y[i] + a[i][j]; }  C1: x = y[i]; }        becomes
//! for i { for j { S: x = x + a[i][j]; } }
//! ```
//!
//! **Invariant.** Two cells become one only if each read gets the value from the same instance as before, by
//! isl's dataflow; or, if that instance is a copy between the two, from where the copy would get its own now.
//! By induction over the order of execution all values are the same.

use crate::base::builder::Given;
use crate::base::found::Draft;
use crate::values::schedule::original_schedule;
use isl::{DimType, Set, UnionMap, UnionSet};
use pollyrs_isl as isl;
use pollyrs_scop::*;

/// isl operations for all cells of a SCoP.
const OPERATIONS: u64 = 1_000_000;

impl Given<'_> {
    /// Makes one cell of two where one is copied to the other, as often as there are such: a cell of an inner
    /// loop that is started from an outer one and copied back to it, or a value that each iteration of an
    /// outer loop leaves behind and of which the last one is used.
    pub fn join_cells(&self, drafts: &mut Vec<Draft>, arrays: &mut Vec<Array>, known: &Set) {
        let end = self.ctx.operations() + OPERATIONS;
        loop {
            let left = end.saturating_sub(self.ctx.operations());
            // A failure, of the budget for instance, leaves the cells as they are.
            let joined = self.ctx.with_budget(left.max(1), || self.joined(drafts, arrays, known));
            let Ok(Some((kept, gone, new))) = joined else { return };
            let copies: Vec<bool> =
                drafts.iter().map(|d| is_copy_between(&d.statement, kept, gone)).collect();
            for (d, accesses) in drafts.iter_mut().zip(new) {
                d.statement.accesses = accesses;
            }
            let mut copies = copies.iter();
            drafts.retain(|_| copies.next() != Some(&true));
            arrays.remove(gone.0);
            for a in drafts.iter_mut().flat_map(|d| &mut d.statement.accesses) {
                if a.array > gone {
                    a.array.0 -= 1;
                }
            }
        }
    }

    /// Two cells that can be one: the one that is kept, the other, and the accesses of all statements
    /// afterwards.
    #[allow(clippy::type_complexity)]
    fn joined(
        &self,
        drafts: &[Draft],
        arrays: &[Array],
        known: &Set,
    ) -> isl::Result<Option<(ArrayId, ArrayId, Vec<Vec<Access>>)>> {
        let carried = |id: ArrayId| matches!(arrays[id.0].kind, ArrayKind::Phi { live_out: false, .. });
        let copies: Vec<_> = drafts.iter().filter_map(|d| copied(&d.statement)).collect();
        for (kept, gone) in copies.iter().copied() {
            let (x, y) = (&arrays[kept.0], &arrays[gone.0]);
            // The outer cell is kept, if it comes back.
            if !carried(kept)
                || !carried(gone)
                || x.dims() >= y.dims()
                || x.elem != y.elem
                || !(copies.contains(&(gone, kept)) && !is_stored(drafts, arrays, gone)
                    || is_left_behind(drafts, kept, gone))
            {
                continue;
            }
            if let Some(new) = self.proved(drafts, arrays, known, (kept, gone))? {
                return Ok(Some((kept, gone, new)));
            }
        }
        Ok(None)
    }

    /// The accesses with `kept` in place of `gone`, if every read still sees the instance that it saw.
    fn proved(
        &self,
        drafts: &[Draft],
        arrays: &[Array],
        known: &Set,
        (kept, gone): (ArrayId, ArrayId),
    ) -> isl::Result<Option<Vec<Vec<Access>>>> {
        let (x, y) = (&arrays[kept.0], &arrays[gone.0]);
        let (fewer, more) = (x.dims() as u32, y.dims() as u32);
        let mut all = Vec::new();
        let (mut old, mut new) = (Flow::new(&self.ctx)?, Flow::new(&self.ctx)?);
        let mut copies = UnionSet::empty(&self.ctx)?;
        for s in drafts.iter().map(|d| &d.statement) {
            let between = is_copy_between(s, kept, gone);
            if between {
                copies = copies.add_set(s.domain.clone())?;
            }
            let (mut accesses, mut read) = (Vec::new(), 0);
            for a in &s.accesses {
                let mut b = a.clone();
                if a.array == gone {
                    let cell = a.relation.clone().project_out(DimType::Out, fewer, more - fewer)?;
                    b.relation = cell.set_tuple_name(DimType::Out, &x.name)?;
                    b.array = kept;
                }
                if b.array == kept {
                    // Which of two reads sees what would not be told apart.
                    read += usize::from(a.kind == AccessKind::Read);
                    if a.kind == AccessKind::MayWrite || a.within.is_some() || read > 1 {
                        return Ok(None);
                    }
                    old.add(s, a)?;
                    if !between || a.kind == AccessKind::Read {
                        new.add(s, &b)?;
                    }
                }
                accesses.push(b);
            }
            all.push(accesses);
        }
        let schedule = original_schedule(&self.ctx, drafts)?;
        let (old, new) = (old.compute(&schedule)?, new.compute(&schedule)?);
        // What a copy gave is what it read.
        let given = old.clone().intersect_domain(copies.clone())?;
        let read = new.clone().intersect_range(copies.clone())?;
        let expected = old.subtract_domain(copies)?.union(read.apply_range(given)?)?;
        let same =
            expected.intersect_params(known.clone())?.is_equal(&new.intersect_params(known.clone())?)?;
        Ok(same.then_some(all))
    }
}

/// Reads and writes of some cells.
struct Flow {
    reads: UnionMap,
    writes: UnionMap,
}

impl Flow {
    fn new(ctx: &isl::Context) -> isl::Result<Flow> {
        Ok(Flow { reads: UnionMap::empty(ctx)?, writes: UnionMap::empty(ctx)? })
    }

    fn add(&mut self, s: &Statement, a: &Access) -> isl::Result<()> {
        let to = if a.kind == AccessKind::Read { &mut self.reads } else { &mut self.writes };
        *to = to.clone().add_map(a.relation.clone().intersect_domain(s.domain.clone())?)?;
        Ok(())
    }

    /// `{ writer -> reader }` by value.
    fn compute(self, schedule: &isl::Schedule) -> isl::Result<UnionMap> {
        isl::UnionAccessInfo::from_sink(self.reads)?
            .set_must_source(self.writes)?
            .set_schedule(schedule.clone())?
            .compute_flow()?
            .must_dependence()
    }
}

/// Whether nothing happens to `gone` but that it is copied from `kept`, and on. What else reads it may run
/// later, in parallel, where each iteration has a cell of its own.
fn is_left_behind(drafts: &[Draft], kept: ArrayId, gone: ArrayId) -> bool {
    drafts.iter().map(|d| &d.statement).filter(|s| s.accesses.iter().any(|a| a.array == gone)).all(|s| {
        copied(s).is_some_and(|(from, to)| (from, to) == (kept, gone) || (from == gone && to != kept))
    })
}

/// Whether the value of a cell is stored to memory: what does that need not wait for the loop that carries
/// the value.
fn is_stored(drafts: &[Draft], arrays: &[Array], cell: ArrayId) -> bool {
    drafts
        .iter()
        .map(|d| &d.statement)
        .filter(|s| s.accesses.iter().any(|a| a.array == cell))
        .any(|s| s.accesses.iter().any(|a| a.kind != AccessKind::Read && arrays[a.array.0].is_memory()))
}

/// The cells that a statement copies from and to, if it does nothing else.
fn copied(s: &Statement) -> Option<(ArrayId, ArrayId)> {
    let [a, b] = s.accesses.as_slice() else { return None };
    let (r, w) = if a.kind == AccessKind::Read { (a, b) } else { (b, a) };
    let plain = s.body.is_empty() && s.synthesized.is_empty() && s.subregion.is_none();
    match (r.kind, r.value, w.kind, w.value) {
        (
            AccessKind::Read,
            AccessValue::ScalarRead(u),
            AccessKind::MustWrite,
            AccessValue::ScalarWrite(v),
        ) if plain && u == v => Some((r.array, w.array)),
        _ => None,
    }
}

fn is_copy_between(s: &Statement, a: ArrayId, b: ArrayId) -> bool {
    copied(s).is_some_and(|c| c == (a, b) || c == (b, a))
}
