//! Statements that become two, by sizes.
//!
//! A reduction along rows is cut into parts where a block has the rows in shared memory: all of its threads
//! add, and not one a row. For other sizes the parts would only be work. So the statement keeps the instances
//! for these, and a second one with the same instructions has the rest: for any sizes, only one of both has
//! instances.
//!
//! # Example
//! With rows of 128 to 1024 elements, `S[i, j] : 0 <= j < m` becomes `S[i, j] : 0 <= j < m < 128 or m > 1024
//! ..` and `S7[i, j] : 0 <= j < m and 128 <= m <= 1024`.

use super::made::Made;
use super::parts::fresh;
use super::reduce::{self, Chain};
use crate::planted::planted;
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, ArrayKind, Scop, Statement, StmtId};

/// Parts of a row, one for each thread of a warp: neighbours read neighbouring elements.
const PARTS: u32 = 32;
/// Consecutive iterations of a part where the order counts: an odd number, so that threads read from
/// different banks of shared memory, of which a warp has enough for the longest rows.
const RUN: u32 = 33;

/// The reductions among `rows` that may be in parts: updates of a cell a row that may be regrouped, in a
/// single loop along it.
pub(super) fn chains(scop: &Scop, deps: &Dependences, rows: &isl::UnionSet) -> Result<Vec<Chain>> {
    let mut out = Vec::new();
    for chain in reduce::chains(scop, deps)? {
        let s = &scop.statements[chain.statement];
        let Some(r) = &s.reduction else { continue };
        let inside = isl::UnionSet::from_set(s.domain.clone())?.intersect(rows.clone())?;
        if chain.outer != 1
            || s.domain.dim(isl::DimType::Set)? != 2
            || r.regrouped
            || !may_be_two(s)
            || r.numbers && !may_report(scop, deps)?
            || inside.is_empty()?
        {
            continue;
        }
        let size = if r.commutative { PARTS } else { RUN };
        out.push(Chain { size: Some(size), ..chain });
    }
    Ok(out)
}

/// How many statements of parts `rows` have.
pub(super) fn parts(scop: &Scop, rows: &isl::UnionSet) -> Result<usize> {
    let mut count = 0;
    for s in &scop.statements {
        let inside = isl::UnionSet::from_set(s.domain.clone())?.intersect(rows.clone())?;
        count += usize::from(is_parts(s)? && !inside.is_empty()?);
    }
    Ok(count)
}

/// Whether a statement is a reduction along rows in parts: row, part, iteration.
fn is_parts(s: &Statement) -> Result<bool> {
    Ok(s.reduction.as_ref().is_some_and(|r| r.regrouped) && s.domain.dim(isl::DimType::Set)? == 3)
}

/// Whether nothing of a statement is known by its number.
fn may_be_two(s: &Statement) -> bool {
    s.is_plain() && s.updates.is_empty() && s.accesses.iter().all(|a| a.place.is_none())
}

/// Whether a report of the device, after which the original runs, needs no copy of what was there before:
/// there are such reports anyway, or nothing that the program has is read and written.
fn may_report(scop: &Scop, deps: &Dependences) -> Result<bool> {
    if scop.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. })) {
        return Ok(true);
    }
    let before = deps.no_source.clone().intersect_params(known(scop)?)?.range()?;
    for id in (0..scop.arrays.len()).map(ArrayId).filter(|id| scop.array(*id).is_memory()) {
        let written = scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?.range()?;
        if !written.is_disjoint(&before)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The SCoP with the instances of a statement for `sizes` as another one, the last; `None` if it has no
/// others.
pub(super) fn divided(scop: &Scop, statement: usize, sizes: &isl::Set) -> Result<Option<Made>> {
    let old = &scop.statements[statement];
    let inside = old.domain.clone().intersect_params(sizes.clone())?.coalesce()?;
    let outside = old.domain.clone().subtract(inside.clone())?.coalesce()?;
    if outside.clone().intersect_params(known(scop)?)?.is_empty()? {
        return Ok(None);
    }
    let mut new = scop.clone();
    let name = fresh(scop, &format!("S{}", scop.statements.len()));
    let mut other = old.clone();
    other.name = name.clone();
    other.domain = inside.clone().set_tuple_name(&name)?;
    for a in &mut other.accesses {
        a.relation = a.relation.clone().set_tuple_name(isl::DimType::In, &name)?;
    }
    for y in &mut other.synthesized {
        let f = isl::Map::from_pw_aff(y.function.clone())?.set_tuple_name(isl::DimType::In, &name)?;
        y.function = isl::PwMultiAff::from_map(f)?.at(0)?;
    }
    // { S7[i] -> S[i] }
    let view =
        isl::Set::universe(old.domain.space()?)?.identity()?.set_tuple_name(isl::DimType::In, &name)?;
    let outside = if planted("both-versions") { old.domain.clone() } else { outside };
    new.statements[statement].domain = outside.clone();
    new.statements.push(other);
    let tree = ScheduleTree::from_isl(&scop.schedule)?;
    let both = Both {
        old: isl::UnionSet::from_set(isl::Set::universe(old.domain.space()?)?)?,
        new: isl::UnionSet::from_set(view.clone().domain()?)?,
        to_new: isl::UnionMap::from_map(view.clone().reverse()?)?,
        view,
    };
    let root = both.tree(&tree.root, &tree.domain)?;
    let own = isl::UnionSet::from_set(outside)?.union(both.of(isl::UnionSet::from_set(inside)?)?)?;
    let domain = tree.domain.subtract(both.old.clone())?.union(own)?;
    new.schedule = ScheduleTree { domain, root }.to_isl()?;
    let versions = vec![(StmtId(statement), StmtId(scop.statements.len()))];
    Ok(Some(Made { versions, ..Made::from(new) }))
}

/// A statement and the other one beside it in a schedule.
struct Both {
    /// All tuples of either.
    old: isl::UnionSet,
    new: isl::UnionSet,
    /// `{ S[i] -> S7[i] }`, and back.
    to_new: isl::UnionMap,
    view: isl::Map,
}

impl Both {
    /// The other statement's instances for those of the first in a set.
    fn of(&self, set: isl::UnionSet) -> Result<isl::UnionSet> {
        Ok(set.apply(self.to_new.clone())?)
    }

    fn with(&self, filter: &isl::UnionSet) -> Result<isl::UnionSet> {
        Ok(filter.clone().union(self.of(filter.clone())?)?)
    }

    /// A tree whose instances are `domain` with the other statement in each place of the first; where both
    /// would be alike, one after the other.
    fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Tree> {
        if domain.is_disjoint(&self.old)? {
            return Ok(tree.clone());
        }
        Ok(match tree {
            Tree::Leaf => {
                let first = domain.clone().universe()?;
                Tree::Sequence(vec![(first, Tree::Leaf), (self.new.clone(), Tree::Leaf)])
            }
            Tree::Mark(name, child) => self.tree(child, domain)?.marked(name),
            Tree::Band(b) => {
                let mut members = Vec::new();
                for m in &b.members {
                    let mut all = m.clone();
                    for own in member_map(m)?.intersect_domain(self.old.clone())?.maps()? {
                        let f = isl::PwMultiAff::from_map(self.view.clone().apply_range(own)?)?.at(0)?;
                        all = all.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
                    }
                    members.push(all);
                }
                Tree::Band(Band { members, child: Box::new(self.tree(&b.child, domain)?), ..b.clone() })
            }
            Tree::Sequence(children) => {
                let mut out = Vec::new();
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    out.push((self.with(filter)?, self.tree(child, &inside)?));
                }
                Tree::Sequence(out)
            }
        })
    }
}
