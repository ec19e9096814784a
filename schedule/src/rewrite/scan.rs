//! Running totals cut into parts that run side by side: scans (Blelloch, "Prefix sums and their
//! applications", CMU-CS-90-190, 1990, section 1).
//!
//! A statement that is an update of a regroupable operation ([`pollyrs_scop::Reduction`]), each of whose
//! results others look at before the next update, is no reduction. Its loop is cut into runs of consecutive
//! iterations. What all runs but the last ones add up to is found first:
//! 1. *parts*: each run is summed up by itself, starting with the identity;
//! 2. *starts*: a short loop over the runs notes the cell before each of them, and applies the run's sum to
//!    the cell;
//! 3. *again*: each run is executed as the program has it, in a cell of its own that begins with what was
//!    noted.
//!
//! The second loop is a running total of the same kind, and is cut again until what is left is short. Only
//! consecutive updates are combined, in their order, so that the operation need not commute. The grouping
//! depends on the sizes alone.
//!
//! Several totals of one loop are cut together. What else the loop runs is ahead where a total needs it, and
//! behind where it needs a total.
//!
//! # Example
//! `for k { s = s + a[k]; y[k] = s; }` becomes
//! ```text
//! for p { P[p] = 0; for t: P[p] += a[C p + t] }
//! for p { Q[p] = s; s += P[p] }
//! for p, t { Q[p] += a[C p + t]; y[C p + t] = Q[p] }
//! ```

mod cut;
mod graft;

use super::made::Made;
use super::parts::{all_of, counts};
use super::reduce::{Chain, next};
use crate::tree::{ScheduleTree, Tree};
use crate::{Dependences, Result, known};
use cut::cut_into;
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayId, Reduction, Scop, Statement, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// The running totals of a loop, all of which have the same iterators around it; [`Chain::statement`] is the
/// first one's.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    pub first: Chain,
    pub statements: Vec<usize>,
}

/// The loops with running totals.
pub(super) fn totals(scop: &Scop, deps: &Dependences) -> Result<Vec<Totals>> {
    let mut out: Vec<Totals> = Vec::new();
    let mut seen = BTreeSet::new();
    let tree = ScheduleTree::from_isl(&scop.schedule)?;
    for n in 0..scop.statements.len() {
        if seen.contains(&n) || !is_total(scop, deps, n)? {
            continue;
        }
        let outer = scop.statements[n].domain.dim(isl::DimType::Set)? - 1;
        let Some(inside) = members_of_loop(scop, &tree, n, outer)? else { continue };
        let mut statements = Vec::new();
        for m in inside {
            if m == n || is_total(scop, deps, m)? {
                statements.push(m);
            }
        }
        seen.extend(statements.iter().copied());
        out.push(Totals {
            first: Chain { statement: n, outer, level: 0, in_turn: 0, size: None },
            statements,
        });
    }
    Ok(out)
}

/// The totals of parts that a cut of `of` left.
pub(super) fn again(made: &Made, of: &Totals) -> Totals {
    let statements: Vec<usize> = made.scans.iter().map(|s| s.rest.0).collect();
    let first = Chain { statement: statements[0], level: of.first.level + 1, ..of.first };
    Totals { first, statements }
}

/// Whether each instance of the statement updates what the one before left, along its innermost loop, and
/// another statement looks at it on the way.
fn is_total(scop: &Scop, deps: &Dependences, n: usize) -> Result<bool> {
    let s = &scop.statements[n];
    let Some((r, _)) = total_of(s) else { return Ok(false) };
    let dims = s.domain.dim(isl::DimType::Set)?;
    let cell = s.accesses[r.write].array;
    // (What loads and stores the cell itself would do so in each part.)
    if s.reduction.is_none() && scop.array(cell).is_memory() {
        return Ok(false);
    }
    let others = |(n, a): (usize, &Access)| {
        let stores = s.running.is_none() && a.kind != AccessKind::Read;
        n != r.read && n != r.write && (a.array == cell || stores)
    };
    if dims == 0 || !s.is_plain() || s.accesses.iter().enumerate().any(others) {
        return Ok(false);
    }
    let (mut own, mut seen) = (isl::UnionMap::empty(&scop.ctx)?, isl::UnionMap::empty(&scop.ctx)?);
    for m in through(scop, deps, &scop.array(cell).name)?.maps()? {
        if m.tuple_name(isl::DimType::In)?.as_deref() != Some(&s.name) {
            continue;
        }
        match m.tuple_name(isl::DimType::Out)?.as_deref() == Some(&s.name) {
            true => own = own.add_map(m)?,
            false => seen = seen.add_map(m)?,
        }
    }
    let domain = s.domain.clone().intersect_params(known(scop)?)?;
    let next = isl::UnionMap::from_map(next(&domain, dims - 1)?)?;
    let own = !next.is_empty()? && own.is_equal(&next)?;
    Ok(own && (s.running.is_some() || !seen.intersect_domain(next.domain()?)?.is_empty()?))
}

/// The update of a statement that may be a total, and the instructions that it needs.
fn total_of(s: &Statement) -> Option<(&Reduction, &[ValueHandle])> {
    let found = match (&s.reduction, &s.running) {
        (Some(r), _) => (r, s.body.as_slice()),
        (None, Some(r)) => (&r.update, r.needs.as_slice()),
        (None, None) => return None,
    };
    found.0.companions.is_empty().then_some(found)
}

/// `{ writer -> reader }` through one array.
pub(super) fn through(scop: &Scop, deps: &Dependences, array: &str) -> Result<isl::UnionMap> {
    let mut flow = isl::UnionMap::empty(&scop.ctx)?;
    for m in deps.tagged_flow.maps()? {
        let cell = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
        if cell.as_deref() == Some(array) {
            flow = flow.add_map(m.range_factor_domain()?)?;
        }
    }
    Ok(flow.intersect_params(known(scop)?)?)
}

/// The statements of the loop that is the iterator at `at` of the statement `n`, if they all count by it.
fn members_of_loop(scop: &Scop, tree: &ScheduleTree, n: usize, at: u32) -> Result<Option<Vec<usize>>> {
    let own = all_of(&scop.statements[n])?;
    let (mut tree, mut domain) = (&tree.root, tree.domain.clone());
    loop {
        tree = match tree {
            Tree::Leaf => return Ok(None),
            Tree::Mark(_, child) => child,
            Tree::Sequence(children) => {
                let mut inside = None;
                for (filter, child) in children {
                    if !domain.clone().intersect(filter.clone())?.is_disjoint(&own)? {
                        if inside.is_some() {
                            return Ok(None);
                        }
                        inside = Some((filter, child));
                    }
                }
                let Some((filter, child)) = inside else { return Ok(None) };
                domain = domain.intersect(filter.clone())?;
                child
            }
            Tree::Band(b) => {
                for m in &b.members {
                    if counts(scop, m, &scop.statements[n], at)? {
                        return inside(scop, m, &domain, at);
                    }
                }
                &b.child
            }
        }
    }
}

/// The statements of `domain`, which all run beneath the member `m`; `None` if one does not count by it, or
/// runs elsewhere as well.
fn inside(scop: &Scop, m: &isl::UnionPwAff, domain: &isl::UnionSet, at: u32) -> Result<Option<Vec<usize>>> {
    let mut out = Vec::new();
    for (n, s) in scop.statements.iter().enumerate() {
        let all = isl::UnionSet::from_set(s.domain.clone())?;
        if all.is_disjoint(domain)? {
            continue;
        }
        if !all.is_subset(domain)? || !counts(scop, m, s, at)? {
            return Ok(None);
        }
        out.push(n);
    }
    Ok(Some(out))
}

/// What a loop with totals is taken apart to.
struct Groups {
    ahead: BTreeSet<usize>,
    core: BTreeSet<usize>,
    behind: BTreeSet<usize>,
}

/// The totals with what looks at them, and what they wait for or what waits for them.
fn groups(scop: &Scop, deps: &Dependences, of: &Totals, inside: &[usize]) -> Result<Groups> {
    let index: BTreeMap<&str, usize> =
        inside.iter().map(|n| (scop.statements[*n].name.as_str(), *n)).collect();
    let mut edges = BTreeSet::new();
    for m in deps.all(scop)?.maps()? {
        let (a, b) = (m.tuple_name(isl::DimType::In)?, m.tuple_name(isl::DimType::Out)?);
        if let (Some(a), Some(b)) = (a, b)
            && let (Some(a), Some(b)) = (index.get(a.as_str()), index.get(b.as_str()))
        {
            edges.insert((*a, *b));
        }
    }
    let cells: Vec<_> = of.statements.iter().filter_map(|n| total_cell(scop, *n)).collect();
    let mut core: BTreeSet<usize> = of.statements.iter().copied().collect();
    core.extend(
        inside.iter().filter(|n| scop.statements[**n].accesses.iter().any(|a| cells.contains(&a.array))),
    );
    let reached = |forward: bool| {
        let mut found = core.clone();
        loop {
            let more: Vec<usize> = edges
                .iter()
                .map(|(a, b)| if forward { (*a, *b) } else { (*b, *a) })
                .filter(|(a, b)| found.contains(a) && !found.contains(b))
                .map(|(_, b)| b)
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    };
    let (before, after) = (reached(false), reached(true));
    let mut out = Groups { ahead: BTreeSet::new(), core: BTreeSet::new(), behind: BTreeSet::new() };
    for n in inside {
        let group = match (before.contains(n), after.contains(n)) {
            (true, true) => &mut out.core,
            (true, false) => &mut out.ahead,
            _ => &mut out.behind,
        };
        group.insert(*n);
    }
    Ok(out)
}

fn total_cell(scop: &Scop, n: usize) -> Option<ArrayId> {
    let s = &scop.statements[n];
    total_of(s).map(|(r, _)| s.accesses[r.write].array)
}

/// The SCoP with the totals cut once; `None` if that is not possible or has been done often enough.
pub(super) fn cut(scop: &Scop, deps: &Dependences, of: &Totals) -> Result<Option<Made>> {
    match cut_into(scop, deps, of, of.first.is_alone())? {
        None if of.first.in_turn != 0 && !of.first.is_alone() => cut_into(scop, deps, of, true),
        made => Ok(made),
    }
}
