//! Reductions cut into parts that run side by side.
//!
//! A statement that is an update of a regroupable operation ([`pollyrs_scop::Reduction`]) and whose instances
//! form chains, one for each value of its outer iterators, gets partial results: an array with the identity
//! in each cell, which the statement updates instead, and a second statement that applies the update to the
//! original cell with each partial result, in order. The chains through the partial results are shorter, and
//! different ones are independent.
//! - A chain over several loops is cut at the iterations of the outermost one, then what is left in each part
//!   ([`inside`]).
//! - A chain over one loop `k` is cut into `k mod C` where the operation commutes: neighbouring threads then
//!   read neighbouring elements. Where it does not, each part is a run of consecutive iterations.
//! - Operands may be other cells of the array that is updated: in Nussinov's recurrence each interval is the
//!   best of all its splits. A partial result for each interval and part would take more memory than the
//!   program, so intervals of different lengths, which the best schedule so far runs one after the other,
//!   share theirs.
//!
//! The second statement is a shorter reduction of the same kind and is cut again, until what is left is
//! short. The grouping depends on the sizes alone, so results do not change from run to run.
//!
//! An update may have several cells, as the minimum and its place have: each gets partial results, with the
//! same subscripts.
//!
//! # Example
//! `for k: s = s + a[k]` becomes `for p < C { P[p] = 0; for t: P[p] += a[C t + p] }; for p: s += P[p]`.

mod cut;
mod graft;

use super::made::Made;
use super::parts::all_of;
use crate::strategy::volume;
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, known};
use cut::into_parts;
use pollyrs_isl as isl;
use pollyrs_scop::{Cell, Scop, Statement};

/// Parts of a chain that has the device to itself, then of the chains of parts: 262,144 threads with eight
/// loads each in flight keep the memory of an H200 busy, where ptxas has them wait for each other, too; the
/// last chain is a few microseconds (`bench/notes/010-reductions.md`).
const PARTS: [u32; 3] = [262144, 4096, 64];
/// The same where there is a chain for each value of outer iterators.
const PARTS_OF_MANY: [u32; 2] = [1024, 32];
/// So many chains side by side keep the device busy without parts of each.
const MANY: u32 = 65536;
/// The same where chains that run one after the other share the cells of their parts: those that run side by
/// side are many already.
const PARTS_IN_TURN: [u32; 1] = [32];
/// Innermost loops of fewer iterations are one part.
const SHORT: u32 = 64;
/// Consecutive iterations of a part where the order counts: of 67 million elements 256 are left for the last
/// chain (`bench/notes/010-reductions.md`).
const RUNS: [u32; 3] = [64, 64, 64];

/// The chains of a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub statement: usize,
    /// Iterators of the statement that tell chains apart: the first ones.
    pub outer: u32,
    /// How often the reduction was cut before.
    pub level: usize,
    /// Bit `d`: chains that differ in the outer iterator `d` are known to run one after the other. They share
    /// partial results where all run in turn, and where one for each chain would take too much memory.
    pub in_turn: u32,
    /// Parts, or iterations of a part where the order counts; `None`: by the level.
    pub size: Option<u32>,
}

impl Chain {
    /// Whether all chains run one after the other.
    pub fn is_alone(&self) -> bool {
        self.kept(true).is_empty()
    }

    /// Whether so many chains run side by side that parts of each gain nothing, as the model sees it.
    pub fn has_many_beside(&self, scop: &Scop) -> Result<bool> {
        let mut beside = scop.statements[self.statement].domain.clone().reset_tuple_id()?;
        let kept = self.kept(true);
        for d in (0..beside.dim(isl::DimType::Set)?).rev().filter(|d| !kept.contains(d)) {
            beside = beside.project_out(isl::DimType::Set, d, 1)?;
        }
        Ok(volume(scop, &beside)? >= f64::from(MANY))
    }

    /// The outer iterators that tell partial results apart; all of them unless `shared`.
    pub(super) fn kept(&self, shared: bool) -> Vec<u32> {
        (0..self.outer).filter(|d| !shared || self.in_turn >> d & 1 == 0).collect()
    }
}

/// The last iterator, but those in `found`, whose change always changes the member.
fn counted(member: &isl::UnionMap, found: u32) -> Result<Option<u32>> {
    let maps = member.maps()?;
    let [map] = maps.as_slice() else { return Ok(None) };
    let pieces = isl::PwMultiAff::from_map(map.clone())?.at(0)?.pieces()?;
    for d in (0..map.dim(isl::DimType::In)?.min(32)).rev().filter(|d| found >> d & 1 == 0) {
        let mut all = pieces.len() == 1;
        for (_, a) in &pieces {
            all &= !a.coefficient(isl::DimType::In, d as i32)?.is_zero()?;
        }
        if all {
            return Ok(Some(d));
        }
    }
    Ok(None)
}

/// The iterators of a statement, as bits, that loops on the host tell apart in a placed schedule: one for
/// each loop, since instances that differ in nothing else that the loop counts by are in different iterations
/// of it.
pub(super) fn on_host(tree: &ScheduleTree, statement: &Statement) -> Result<u32> {
    let own = all_of(statement)?;
    let mut found = 0;
    let mut tree = &tree.root;
    loop {
        tree = match tree {
            Tree::Leaf => return Ok(found),
            Tree::Mark(name, _) if name == crate::strategy::KERNEL => return Ok(found),
            Tree::Mark(name, child) => match &**child {
                // Of the form without a nest.
                Tree::Sequence(forms) if name == crate::strategy::EITHER => match forms.last() {
                    Some((_, plain)) => plain,
                    None => return Ok(found),
                },
                _ => child,
            },
            Tree::Sequence(children) => {
                let mut inside = None;
                for (filter, child) in children {
                    if !filter.is_disjoint(&own)? {
                        if inside.is_some() {
                            return Ok(found);
                        }
                        inside = Some(child);
                    }
                }
                let Some(child) = inside else { return Ok(found) };
                child
            }
            Tree::Band(b) => {
                for m in &b.members {
                    let m = member_map(m)?.intersect_domain(own.clone())?;
                    if let Some(d) = counted(&m, found)? {
                        found |= 1 << d;
                    }
                }
                &b.child
            }
        }
    }
}

/// The first cut of each reduction of the SCoP that has chains; cut them again with [`again`].
pub(super) fn chains(scop: &Scop, deps: &Dependences) -> Result<Vec<Chain>> {
    let mut out = Vec::new();
    for (n, s) in scop.statements.iter().enumerate() {
        if s.reduction.is_some()
            && let Some(outer) = outer(scop, deps, s)?
        {
            out.push(Chain { statement: n, outer, level: 0, in_turn: 0, size: None });
        }
    }
    Ok(out)
}

/// `{ S -> [reader -> cell] }` through the cells of one array, from the named statement.
fn tagged_flow_of(deps: &Dependences, array: &str, statement: &str) -> Result<isl::UnionMap> {
    let mut flow = isl::UnionMap::empty(deps.flow.context())?;
    for m in deps.tagged_flow.maps()? {
        let cell = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
        if cell.as_deref() == Some(array) && m.tuple_name(isl::DimType::In)?.as_deref() == Some(statement) {
            flow = flow.add_map(m)?;
        }
    }
    Ok(flow)
}

/// `{ S[o, d] -> S[o, d'] }` for consecutive `d`, with `outer` iterators in `o`.
pub(super) fn next(domain: &isl::Set, outer: u32) -> Result<isl::Map> {
    Ok(later(domain, outer)?.lexmin()?)
}

/// `{ S[o, d] -> S[o, d'] : d before d' }`
pub(super) fn later(domain: &isl::Set, outer: u32) -> Result<isl::Map> {
    let n = domain.dim(isl::DimType::Set)?;
    let name = domain.tuple_name()?.unwrap_or_default();
    let tuple = |v: &str| (0..n).map(|d| format!("{v}{d}")).collect::<Vec<_>>().join(",");
    let mut cases = Vec::new();
    for d in outer..n {
        let mut all: Vec<_> = (0..d).map(|e| format!("a{e} = b{e}")).collect();
        all.push(format!("a{d} < b{d}"));
        cases.push(all.join(" and "));
    }
    let text = format!("{{ {name}[{}] -> {name}[{}] : {} }}", tuple("a"), tuple("b"), cases.join(" or "));
    let pairs = isl::Map::read(domain.context(), &text)?;
    Ok(pairs.intersect_domain(domain.clone())?.intersect_range(domain.clone())?)
}

/// The number of leading iterators that tell the chains of a reduction apart: its updates follow each other
/// directly, and what it computes on the way is seen by nothing else. `None` if it has no such chains.
fn outer(scop: &Scop, deps: &Dependences, s: &Statement) -> Result<Option<u32>> {
    let Some(r) = &s.reduction else { return Ok(None) };
    let mut all = Vec::new();
    for c in r.cells() {
        all.push(outer_of(scop, deps, s, c)?);
    }
    // The cells of an update change together.
    Ok(all[0].filter(|_| all.iter().all(|o| *o == all[0])))
}

/// [`outer`], as one cell of the update has it.
fn outer_of(scop: &Scop, deps: &Dependences, s: &Statement, r: Cell) -> Result<Option<u32>> {
    let known = known(scop)?;
    let array = &scop.array(s.accesses[r.write].array).name;
    // An operand that is the cell itself, in some instance, has to see the update before.
    for (n, a) in s.accesses.iter().enumerate() {
        if n != r.read && n != r.write && a.array == s.accesses[r.write].array {
            let same = a.relation.clone().intersect(s.accesses[r.read].relation.clone())?;
            let same = same.intersect_domain(s.domain.clone())?.intersect_params(known.clone())?;
            if a.within.is_some() || !same.is_empty()? {
                return Ok(None);
            }
        }
    }
    // What passes from update to update through the cell, and what else sees an update, be it another operand
    // of one.
    let cell = isl::UnionSet::from_set(s.accesses[r.read].relation.clone().wrap()?)?;
    let from = tagged_flow_of(deps, array, &s.name)?.intersect_params(known.clone())?;
    let own = from.clone().intersect_range(cell)?;
    let seen = from.subtract(own.clone())?.range_factor_domain()?;
    let own = own.range_factor_domain()?;
    let domain = s.domain.clone().intersect_params(known.clone())?;
    for outer in (0..domain.dim(isl::DimType::Set)?).rev() {
        let next = isl::UnionMap::from_map(next(&domain, outer)?)?;
        if !own.is_equal(&next)? {
            continue;
        }
        return Ok(seen.intersect_domain(next.domain()?)?.is_empty()?.then_some(outer));
    }
    Ok(None)
}

/// The chain that cutting `chain` left.
pub(super) fn again(made: &Made, chain: Chain) -> Chain {
    Chain { statement: made.scop.statements.len() - 1, level: chain.level + 1, size: None, ..chain }
}

/// The chains that a cut of `chain` in `scop` at its outermost loop leaves in the parts, one for each
/// iteration of that loop. These alone may be few, and if neighbouring threads have neighbouring parts they
/// read elements that are far apart: of what is left of several loops, each iteration of the outermost one
/// becomes a part as well, and of a single loop of a commutative operation `k mod 32`. `None` if there is
/// nothing to cut.
pub(super) fn inside(scop: &Scop, chain: Chain) -> Result<Option<Chain>> {
    let s = &scop.statements[chain.statement];
    let left = s.domain.dim(isl::DimType::Set)?.saturating_sub(chain.outer + 1);
    let commutes = s.reduction.as_ref().is_some_and(|r| r.commutative);
    // What is left of a single loop is short, and not cut again; what is left of several is cut once more.
    let level = match left {
        1 if commutes && !is_short(scop, &s.domain)? => PARTS_OF_MANY.len() - 1,
        0 | 1 => return Ok(None),
        _ if commutes => PARTS_OF_MANY.len() - 2,
        _ => RUNS.len() - 2,
    };
    Ok(Some(Chain { outer: chain.outer + 1, level, ..chain }))
}

/// Whether the innermost loop is known to have few iterations.
pub(super) fn is_short(scop: &Scop, domain: &isl::Set) -> Result<bool> {
    let known = known(scop)?;
    let n = domain.dim(isl::DimType::Set)?;
    let values = domain.clone().intersect_params(known)?.project_out(isl::DimType::Set, 0, n - 1)?;
    if !values.dim_has_lower_bound(isl::DimType::Set, 0)?
        || !values.dim_has_upper_bound(isl::DimType::Set, 0)?
    {
        return Ok(false);
    }
    let least = isl::Val::int(&scop.ctx, i64::from(SHORT))?;
    let (first, last) = (values.clone().dim_min(0)?, values.dim_max(0)?);
    Ok(first.add_constant(least)?.le_set(last)?.is_empty()?)
}

/// The SCoP with the chains cut once; `None` if that is not possible or has been done often enough.
pub(super) fn cut(scop: &Scop, chain: Chain) -> Result<Option<Made>> {
    match into_parts(scop, chain, chain.is_alone())? {
        None if chain.in_turn != 0 && !chain.is_alone() => into_parts(scop, chain, true),
        made => Ok(made),
    }
}
