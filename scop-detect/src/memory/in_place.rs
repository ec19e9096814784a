//! Pairs of arrays that may be one array: calls in place.
//!
//! **Problem.** `void f(int n, double *out, const double *a) { for (i) out[i] = a[i] + 1; }` is called as
//! `f(n, b, b)`, too. Each array of a SCoP has device memory of its own, so a read of `a` sees what the array
//! held before the SCoP. In the program it sees the same, if no store to `out` at that element comes before
//! it. Where that holds of all reads, arrays that are equal are as good as disjoint ones.
//!
//! **Invariants.** Of a pair one is written by the SCoP and the other is not, so what comes back is the
//! one's; and since two that are written are never a pair, each pair is proved by itself however many of them
//! are equal. Elements are the same where subscripts are: that takes equal bases, element sizes and inner
//! sizes, which is checked before the launch where it is not known.
//!
//! In the model a load runs with the statement that uses it: never earlier than in the program, but perhaps
//! behind a store that it precedes. So what the original schedule says is no less than what happens, and
//! within an iteration of a block the instructions' own order counts.
//!
//! **Example.** `out[i] = a[i] + a[i + 1]` is fine with `out == a`: what is read was not yet stored.
//! `out[i] = a[i] + a[i - 1]` is not: `{ S0[i] -> S0[i + 1] }` would carry a value.

use crate::base::builder::Given;
use crate::base::ir::{self, Value};
use isl::{DimType, Set, UnionMap};
use pollyrs_isl as isl;
use pollyrs_scop::*;

/// isl operations for all pairs of a SCoP; those that are left stay apart. A tenth of a second.
const OPERATIONS: u64 = 500_000;

/// The accesses of one statement to the arrays of a pair.
struct Touching<'a> {
    statement: &'a Statement,
    writes: Vec<&'a Access>,
    reads: Vec<&'a Access>,
}

impl Given<'_> {
    /// Those of `pairs` that may be one array. `schedule` is the original one, `known` holds of the
    /// parameters.
    pub fn in_place(
        &self,
        pairs: &[(ArrayId, ArrayId)],
        arrays: &[Array],
        statements: &[Statement],
        schedule: &isl::Schedule,
        known: &Set,
    ) -> Vec<(ArrayId, ArrayId)> {
        let accesses = || statements.iter().flat_map(|s| &s.accesses);
        let written = |id: ArrayId| accesses().any(|a| a.array == id && a.kind != AccessKind::Read);
        let end = self.ctx.operations() + OPERATIONS;
        let mut found = Vec::new();
        for (a, b) in pairs.iter().copied() {
            let (written, read) = match (written(a), written(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => continue,
            };
            let (w, r) = (&arrays[written.0], &arrays[read.0]);
            if w.kind == r.kind || w.elem.bytes() != r.elem.bytes() || w.dims() != r.dims() {
                continue;
            }
            let left = end.saturating_sub(self.ctx.operations());
            if left == 0 {
                break;
            }
            // A failure, of the budget for instance, leaves the pair apart.
            let unseen =
                || self.stores_are_unseen((written, read), None, &w.name, statements, (schedule, known));
            if self.ctx.with_budget(left, unseen).unwrap_or(false) {
                found.push((a, b));
            }
        }
        found
    }

    /// Whether no read of `read`, or none by `loads`, comes behind a store to `written` with the same
    /// subscripts.
    pub fn stores_are_unseen(
        &self,
        (written, read): (ArrayId, ArrayId),
        loads: Option<&[Value]>,
        name: &str,
        statements: &[Statement],
        (schedule, known): (&isl::Schedule, &Set),
    ) -> isl::Result<bool> {
        let counts = |a: &&Access| match (loads, a.value) {
            (None, _) => true,
            (Some(all), AccessValue::Instruction(v)) => {
                a.kind == AccessKind::Read && all.contains(&ir::value(v))
            }
            (Some(_), _) => false,
        };
        let mut sinks = UnionMap::empty(&self.ctx)?;
        let mut sources = UnionMap::empty(&self.ctx)?;
        let mut all = Vec::new();
        for s in statements {
            let of = |id: ArrayId| s.accesses.iter().filter(move |a| a.array == id);
            let here = Touching {
                statement: s,
                writes: of(written).filter(|a| a.kind != AccessKind::Read).collect(),
                reads: of(read).filter(counts).collect(),
            };
            for a in &here.writes {
                sources = sources.add_map(a.relation.clone().intersect_domain(s.domain.clone())?)?;
            }
            for a in &here.reads {
                let renamed = a.relation.clone().set_tuple_name(DimType::Out, name)?;
                sinks = sinks.add_map(renamed.intersect_domain(s.domain.clone())?)?;
            }
            all.push(here);
        }
        let mut seen = isl::UnionAccessInfo::from_sink(sinks)?
            .set_may_source(sources)?
            .set_schedule(schedule.clone())?
            .compute_flow()?
            .may_dependence()?
            .intersect_params(known.clone())?;
        for early in all.iter().filter(|t| !t.writes.is_empty()) {
            for late in all.iter().filter(|t| !t.reads.is_empty()) {
                let before = self.reads_come_first(early, late);
                if early.statement.name == late.statement.name {
                    if !before && meet(early, name, known)? {
                        return Ok(false);
                    }
                } else if before && let Some(same) = same_iteration(early.statement, late.statement)? {
                    seen = seen.subtract(UnionMap::read(&self.ctx, &same)?)?;
                }
            }
        }
        seen.is_empty()
    }

    /// Whether, of the instances of one iteration, `late` loads before `early` stores. Of two statements that
    /// is said of one block only.
    fn reads_come_first(&self, early: &Touching<'_>, late: &Touching<'_>) -> bool {
        let position = |a: &&Access| match a.value {
            AccessValue::Instruction(v) => Some(self.cfg.position(ir::value(v))),
            _ => None,
        };
        let places = |of: &[&Access]| of.iter().map(position).collect::<Option<Vec<_>>>();
        let (Some(writes), Some(reads)) = (places(&early.writes), places(&late.reads)) else { return false };
        let one_block = writes.iter().chain(&reads).all(|(block, _)| *block == writes[0].0);
        let one = early.statement.name == late.statement.name;
        // Control flow inside a statement keeps the order of the blocks, unless it loops.
        let loops = |t: &Touching<'_>| t.statement.subregion.as_ref().is_some_and(|r| !r.loops.is_empty());
        (one_block || one) && !loops(early) && !loops(late) && reads.iter().max() < writes.iter().min()
    }
}

/// Whether an instance of a statement may both read and write an element.
fn meet(t: &Touching<'_>, name: &str, known: &Set) -> isl::Result<bool> {
    for w in &t.writes {
        for r in &t.reads {
            let both =
                r.relation.clone().set_tuple_name(DimType::Out, name)?.intersect(w.relation.clone())?;
            let both = both.intersect_domain(t.statement.domain.clone())?;
            if !both.intersect_params(known.clone())?.is_empty()? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// `{ S[i] -> T[i] }`; `None` for statements of different depths.
fn same_iteration(s: &Statement, t: &Statement) -> isl::Result<Option<String>> {
    let dims = s.domain.dim(DimType::Set)?;
    if t.domain.dim(DimType::Set)? != dims {
        return Ok(None);
    }
    let i = (0..dims).map(|d| format!("i{d}")).collect::<Vec<_>>().join(", ");
    Ok(Some(format!("{{ {}[{i}] -> {}[{i}] }}", s.name, t.name)))
}
