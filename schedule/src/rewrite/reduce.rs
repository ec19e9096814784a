//! Reductions cut into parts that run side by side.
//!
//! A statement that is an update of a regroupable operation ([`pollyrs_scop::Reduction`]) and whose instances form chains, one for each value of
//! its outer iterators, gets partial results: an array with the identity in each cell, which the statement updates instead, and a second statement
//! that applies the update to the original cell with each partial result, in order. The chains through the partial results are shorter, and
//! different ones are independent.
//! - A chain over several loops is cut at the iterations of the outermost one, then what is left in each part ([`inside`]).
//! - A chain over one loop `k` is cut into `k mod C` where the operation commutes: neighbouring threads then read neighbouring
//!   elements. Where it does not, each part is a run of consecutive iterations.
//! - Operands may be other cells of the array that is updated: in Nussinov's recurrence each interval is the best of all its splits.
//!   A partial result for each interval and part would take more memory than the program, so intervals of different lengths, which the best
//!   schedule so far runs one after the other, share theirs.
//!
//! The second statement is a shorter reduction of the same kind and is cut again, until what is left is short. The grouping depends on
//! the sizes alone, so results do not change from run to run.
//!
//! An update may have several cells, as the minimum and its place have: each gets partial results, with the same subscripts.
//!
//! # Example
//! `for k: s = s + a[k]` becomes `for p < C { P[p] = 0; for t: P[p] += a[C t + p] }; for p: s += P[p]`.

use super::parts::{MAX_GROWTH, extent, fresh, largest_volume, push};
use super::{Made, parts};
use crate::planted::planted;
use crate::strategy::volume;
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, ScheduleError, known};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayKind, Cell, ElemType, Reduction, Scop, Statement, StmtId,
};

/// Parts of a chain that has the device to itself, then of the chains of parts: 65,536 threads with four loads each in flight keep the
/// memory of an H200 busy, and the last chain is a few microseconds.
const PARTS: [u32; 3] = [65536, 1024, 32];
/// The same where there is a chain for each value of outer iterators.
const PARTS_OF_MANY: [u32; 2] = [1024, 32];
/// The same where chains that run one after the other share the cells of their parts: those that run side by side are many already.
const PARTS_IN_TURN: [u32; 1] = [32];
/// Innermost loops of fewer iterations are one part.
const SHORT: u32 = 64;
/// Consecutive iterations of a part where the order counts.
const RUNS: [u32; 3] = [256, 64, 32];

/// The chains of a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub statement: usize,
    /// Iterators of the statement that tell chains apart: the first ones.
    pub outer: u32,
    /// How often the reduction was cut before.
    pub level: usize,
    /// Bit `d`: chains that differ in the outer iterator `d` are known to run one after the other. They share partial results
    /// where all run in turn, and where one for each chain would take too much memory.
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
        Ok(volume(scop, &beside)? >= f64::from(PARTS[0]))
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

/// The iterators of a statement, as bits, that loops on the host tell apart in a placed schedule: one for each loop, since instances that differ in
/// nothing else that the loop counts by are in different iterations of it.
pub(super) fn on_host(tree: &ScheduleTree, statement: &Statement) -> Result<u32> {
    let own = isl::UnionSet::from_set(isl::Set::universe(statement.domain.space()?)?)?;
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

/// The number of leading iterators that tell the chains of a reduction apart: its updates follow each other directly, and what it computes on the
/// way is seen by nothing else. `None` if it has no such chains.
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
    // What passes from update to update through the cell, and what else sees an update, be it another operand of one.
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

/// The chains that a cut of `chain` in `scop` at its outermost loop leaves in the parts, one for each iteration of that loop. These alone may be few, and if neighbouring threads have
/// neighbouring parts they read elements that are far apart: of what is left of several loops, each iteration of the outermost one becomes a part as well, and of a
/// single loop of a commutative operation `k mod 32`. `None` if there is nothing to cut.
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
fn is_short(scop: &Scop, domain: &isl::Set) -> Result<bool> {
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
    match cut_into(scop, chain, chain.is_alone())? {
        None if chain.in_turn != 0 && !chain.is_alone() => cut_into(scop, chain, true),
        made => Ok(made),
    }
}

/// [`cut`], with a partial result for each chain or for those that run side by side.
fn cut_into(scop: &Scop, chain: Chain, shared: bool) -> Result<Option<Made>> {
    let s = &scop.statements[chain.statement];
    let Some(r) = s.reduction.clone() else { return Ok(None) };
    let (n, outer) = (s.domain.dim(isl::DimType::Set)?, chain.outer);
    let single = n == outer + 1;
    let kept = chain.kept(shared);
    let parts = match () {
        () if chain.is_alone() => PARTS.as_slice(),
        () if shared => PARTS_IN_TURN.as_slice(),
        () => PARTS_OF_MANY.as_slice(),
    };
    let commutes = r.commutative || planted("pair-order");
    let sizes = if commutes { parts } else { RUNS.as_slice() };
    let Some(size) = chain.size.or_else(|| sizes.get(chain.level).copied()) else { return Ok(None) };

    let mut new = scop.clone();
    // { S'[o, p, ...] -> S[o, ...] }: p numbers the part.
    let o: Vec<_> = (0..outer).map(|d| format!("o{d}")).collect();
    let tuple = |more: &[&str]| {
        o.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>().join(",")
    };
    let name = &s.name;
    let old_of_new = if single {
        let k = if commutes { format!("{size} * t + p") } else { format!("{size} * p + t") };
        let short = if commutes { "p" } else { "t" };
        let text = format!(
            "{{ {name}[{}] -> {name}[{}] : 0 <= {short} < {size} }}",
            tuple(&["p", "t"]),
            tuple(&[&format!("({k})")])
        );
        isl::Map::read(&scop.ctx, &text)?
    } else {
        isl::Set::universe(s.domain.space()?)?.identity()?
    };
    let back = old_of_new.clone().reverse()?;
    let domain = s.domain.clone().apply(back.clone())?.coalesce()?;
    let inner = domain.dim(isl::DimType::Set)? - outer - 1;
    let cells = domain.clone().project_out(isl::DimType::Set, outer + 1, inner)?.coalesce()?;
    // { S'[o, p, ...] -> [o, p] }
    let mut wide = isl::Set::universe(domain.space()?)?.identity()?;
    wide = wide.project_out(isl::DimType::Out, outer + 1, inner)?;
    // { [o, p] -> [kept o, p] }
    let dropped: Vec<u32> = (0..outer).rev().filter(|d| !kept.contains(d)).collect();
    let cell_of = |array: &str| -> Result<isl::Map> {
        let mut cell = wide.clone();
        for d in &dropped {
            cell = cell.project_out(isl::DimType::Out, *d, 1)?;
        }
        Ok(cell.set_tuple_name(isl::DimType::Out, array)?)
    };

    let mut sizes = Vec::new();
    for d in kept.iter().copied().chain([outer]) {
        let values = cells.clone().project_out(isl::DimType::Set, d + 1, outer - d)?;
        let values = values.project_out(isl::DimType::Set, 0, d)?.reset_tuple_id()?;
        let Some(size) = extent(scop, values)? else { return Ok(None) };
        sizes.push(Some(size));
    }
    // Chains of many cells, each with parts in memory, could need far more of it than the program has.
    let mut plain = cells.clone().reset_tuple_id()?;
    for d in &dropped {
        plain = plain.project_out(isl::DimType::Set, *d, 1)?;
    }
    if outer > 0 && volume(scop, &plain)? > MAX_GROWTH * largest_volume(scop)? {
        return Ok(None);
    }
    let mut partials = Vec::new();
    for c in r.cells() {
        let target = scop.array(s.accesses[c.write].array);
        let name = fresh(&new, &format!("{}_part", target.name));
        let array = Array {
            name: name.clone(),
            display: target.display.clone(),
            elem: target.elem,
            sizes: sizes.clone(),
            kind: ArrayKind::Scalar { value: c.value, live_out: false },
            shift: None,
        };
        partials.push((c, push(&mut new, array), name));
    }
    if r.numbers && !new.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. })) {
        let name = fresh(&new, "nan");
        let (display, elem) = ("the NaN flag".to_string(), ElemType::Int(32));
        let kind = ArrayKind::Fault { leaves: false };
        push(&mut new, Array { name, display, elem, sizes: Vec::new(), kind, shift: None });
    }
    let start = fresh(&new, &format!("S{}", new.statements.len()));
    let rest = fresh(&new, &format!("S{}", new.statements.len() + 1));
    let named = |name: &str| cells.clone().set_tuple_name(name);
    let cell_from = |name: &str, part: &str| -> Result<isl::Map> {
        let mut cell = named(name)?.space().and_then(isl::Set::universe)?.identity()?;
        for d in &dropped {
            cell = cell.project_out(isl::DimType::Out, *d, 1)?;
        }
        Ok(cell.set_tuple_name(isl::DimType::Out, part)?)
    };
    // The statement itself, on the parts.
    {
        let s = &mut new.statements[chain.statement];
        s.domain = domain.clone();
        for a in &mut s.accesses {
            a.relation = old_of_new.clone().apply_range(a.relation.clone())?.coalesce()?;
        }
        for y in &mut s.synthesized {
            let f = old_of_new.clone().apply_range(isl::Map::from_pw_aff(y.function.clone())?)?;
            y.function = isl::PwMultiAff::from_map(f)?.at(0)?.coalesce()?;
        }
        for (c, partial, part) in &partials {
            for i in [c.read, c.write] {
                s.accesses[i].array = *partial;
                s.accesses[i].relation = cell_of(part)?;
            }
        }
        if let Some(r) = &mut s.reduction {
            r.regrouped = true;
        }
    }
    let mut first = Vec::new();
    for (c, partial, part) in &partials {
        let value = AccessValue::ScalarWrite(c.identity);
        first.push(Access::new(AccessKind::MustWrite, *partial, cell_from(&start, part)?, value));
    }
    new.statements.push(Statement {
        name: start.clone(),
        domain: named(&start)?,
        accesses: first,
        body: vec![],
        synthesized: vec![],
        reduction: None,
        updates: Vec::new(),
        running: None,
        subregion: None,
        location: s.location.clone(),
    });
    // { R[o, p] -> S[o, ...] }: all instances of the part. The cell depends on o only.
    let members = wide.clone().reverse()?.apply_range(old_of_new.clone())?;
    let members = members.set_tuple_name(isl::DimType::In, &rest)?;
    let on_cell = |i: usize| -> Result<Access> {
        let relation =
            members.clone().intersect_range(s.domain.clone())?.apply_range(s.accesses[i].relation.clone())?;
        Ok(Access { relation: relation.coalesce()?, ..s.accesses[i].clone() })
    };
    let (mut applied, mut companions) = (Vec::new(), Vec::new());
    for (c, partial, part) in &partials {
        let value = AccessValue::ScalarRead(c.value);
        let (read, write) = (applied.len(), applied.len() + 1);
        applied.extend([on_cell(c.read)?, on_cell(c.write)?]);
        applied.push(Access::new(AccessKind::Read, *partial, cell_from(&rest, part)?, value));
        if read > 0 {
            companions.push(Cell { read, write, ..*c });
        }
    }
    new.statements.push(Statement {
        name: rest.clone(),
        domain: named(&rest)?,
        accesses: applied,
        body: r.update.clone(),
        synthesized: vec![],
        reduction: Some(Reduction { read: 0, write: 1, companions, regrouped: true, ..r.clone() }),
        updates: Vec::new(),
        running: None,
        subregion: None,
        location: s.location.clone(),
    });

    // The tree: start and parts under one loop over the parts, the rest behind it.
    let kept = wide.clone().reverse()?;
    let to_old = |name: &str| -> Result<isl::Map> {
        let all = kept.clone().apply_range(old_of_new.clone())?;
        Ok(all.set_tuple_name(isl::DimType::In, name)?)
    };
    let cells: Vec<_> = r.cells().into_iter().map(|c| s.accesses[c.write].array).collect();
    let users = scop.accesses(|t, a| cells.contains(&a.array) && t.name != s.name)?.domain()?;
    let graft = Graft {
        users,
        at: outer,
        all: isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?,
        views: vec![
            (start.clone(), to_old(&start)?),
            (name.clone(), old_of_new.clone()),
            (rest.clone(), to_old(&rest)?),
        ],
        statements: new.statements[scop.statements.len()..].to_vec(),
        new: new.statements[chain.statement].clone(),
        single,
    };
    let old = ScheduleTree::from_isl(&scop.schedule)?;
    let Some(root) = graft.tree(&old.root, &old.domain)? else { return Ok(None) };
    let mut all = isl::UnionSet::empty(&scop.ctx)?;
    for s in &new.statements {
        all = all.add_set(s.domain.clone())?;
    }
    new.schedule = ScheduleTree { domain: all, root }.to_isl()?;
    let instances = [(StmtId(chain.statement), old_of_new)].into_iter().collect();
    Ok(Some(Made { instances, ..Made::from(new) }))
}

/// A tree for some of its instances.
pub(super) fn restricted(tree: &Tree, kept: &isl::UnionSet) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(name, child) => Tree::Mark(name.clone(), Box::new(restricted(child, kept)?)),
        Tree::Band(b) => {
            let members = b.members.iter().map(|m| m.clone().intersect_domain(kept.clone()));
            let members = members.collect::<isl::Result<Vec<_>>>()?;
            Tree::Band(Band { members, child: Box::new(restricted(&b.child, kept)?), ..b.clone() })
        }
        Tree::Sequence(children) => {
            let mut some = Vec::new();
            for (filter, child) in children {
                let filter = filter.clone().intersect(kept.clone())?;
                if !filter.is_empty()? {
                    some.push((filter, restricted(child, kept)?));
                }
            }
            match some.len() {
                1 => some.remove(0).1,
                _ => Tree::Sequence(some),
            }
        }
    })
}

/// Puts the new statements into the schedule.
struct Graft {
    /// The position of the iterator at which the reduction is cut, and its instances.
    at: u32,
    all: isl::UnionSet,
    /// Instances of other statements that access the cell.
    users: isl::UnionSet,
    /// Start, parts and rest: `{ X[...] -> S[...] }`, the old instances that each new one stands for.
    views: Vec<(String, isl::Map)>,
    /// Start and rest.
    statements: Vec<Statement>,
    new: Statement,
    single: bool,
}

impl Graft {
    /// The tree with the new statements; `None` if the loop to be cut is not found.
    fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
        Ok(match tree {
            Tree::Leaf => None,
            Tree::Mark(_, c) => self.tree(c, domain)?,
            Tree::Sequence(children) => {
                let (mut out, mut any) = (Vec::new(), false);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    let own = !inside.is_disjoint(&self.all)?;
                    match (own && !any).then(|| self.tree(child, &inside)).transpose()? {
                        Some(None) => return Ok(None),
                        Some(Some(t)) => {
                            out.push((self.filter(filter)?, t));
                            any = true;
                        }
                        // Two subtrees with instances of the reduction.
                        None if own => return Ok(None),
                        None => out.push((filter.clone(), child.clone())),
                    }
                }
                any.then_some(Tree::Sequence(out))
            }
            Tree::Band(b) => {
                for (i, m) in b.members.iter().enumerate() {
                    if !self.cuts(m, domain)? {
                        continue;
                    }
                    let others = domain.clone().subtract(self.all.clone())?;
                    let more: Vec<_> = b.members[i + 1..].to_vec();
                    let inner = restricted(&b.child, &self.all)?.under(more);
                    let mut cut = self.parts(m, inner)?;
                    if !others.is_empty()? {
                        // What else the loop runs gets a loop of its own, ahead, or behind where it looks at the cell.
                        let alone = b.child.as_ref().clone().under(b.members[i..].to_vec());
                        let own = self.filter(&domain.clone().intersect(self.all.clone())?)?;
                        let behind = others.clone().intersect(self.users.clone())?;
                        let ahead = others.subtract(behind.clone())?;
                        let mut parts = Vec::new();
                        for (filter, tree) in [(ahead, None), (own, Some(cut)), (behind, None)] {
                            let tree = tree.map_or_else(|| restricted(&alone, &filter), Ok)?;
                            if !filter.is_empty()? {
                                parts.push((filter, tree));
                            }
                        }
                        cut = Tree::Sequence(parts);
                    }
                    let mut above = Vec::new();
                    for m in &b.members[..i] {
                        above.push(self.member(m)?);
                    }
                    return Ok(Some(cut.under(above)));
                }
                let Some(child) = self.tree(&b.child, domain)? else { return Ok(None) };
                let members = b.members.iter().map(|m| self.member(m)).collect::<Result<Vec<_>>>()?;
                Some(Tree::Band(Band { members, child: Box::new(child), ..b.clone() }))
            }
        })
    }

    /// Whether the member is the iterator at which the reduction is cut, for the instances of `domain`.
    fn cuts(&self, m: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<bool> {
        let own = self.all.clone().intersect(domain.clone())?;
        let wanted = parts::members(&isl::Set::from_union_set(self.all.clone())?)?;
        let wanted = member_map(&wanted[self.at as usize])?.intersect_domain(own.clone())?;
        Ok(member_map(m)?.intersect_domain(own)?.is_equal(&wanted)?)
    }

    fn filter(&self, filter: &isl::UnionSet) -> Result<isl::UnionSet> {
        let own = filter.clone().intersect(self.all.clone())?;
        let mut out = filter.clone().subtract(self.all.clone())?;
        for (_, view) in &self.views {
            let seen = own.clone().apply(isl::UnionMap::from_map(view.clone().reverse()?)?)?;
            out = out.union(seen)?;
        }
        Ok(out.coalesce()?)
    }

    /// A member above the cut, which depends on outer iterators only, on the new statements.
    fn member(&self, m: &isl::UnionPwAff) -> Result<isl::UnionPwAff> {
        let maps = member_map(m)?;
        let own = maps.clone().intersect_domain(self.all.clone())?;
        let others = maps.clone().domain()?.subtract(self.all.clone())?;
        let mut out = m.clone().intersect_domain(others)?;
        for (_, view) in &self.views {
            let seen = isl::UnionMap::from_map(view.clone())?.apply_range(own.clone())?;
            let seen = isl::Map::from_union_map(seen)?.coalesce()?;
            if !seen.is_single_valued()? {
                return Err(ScheduleError::Unsupported(
                    "a loop around a reduction that depends on the reduction",
                ));
            }
            let f = isl::PwMultiAff::from_map(seen)?.at(0)?;
            out = out.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
        }
        Ok(out)
    }

    /// What replaces the loop that is cut; `inner` is what it ran.
    fn parts(&self, cut: &isl::UnionPwAff, inner: Tree) -> Result<Tree> {
        let [start, rest] = self.statements.as_slice() else {
            return Err(ScheduleError::Unsupported("a reduction without parts"));
        };
        let at = self.at as usize;
        let part = |s: &Statement| -> Result<isl::UnionPwAff> { Ok(parts::members(&s.domain)?[at].clone()) };
        let tuple = |s: &Statement| -> Result<isl::UnionSet> {
            Ok(isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?)
        };
        let own =
            if self.single { part(&self.new)? } else { cut.clone().intersect_domain(self.all.clone())? };
        let inner = if self.single {
            Tree::Leaf.under(vec![parts::members(&self.new.domain)?[at + 1].clone()])
        } else {
            inner
        };
        let side = Tree::Sequence(vec![(tuple(start)?, Tree::Leaf), (tuple(&self.new)?, inner)]);
        let side = side.under(vec![own.union_add(part(start)?)?]);
        let both = tuple(start)?.union(tuple(&self.new)?)?;
        Ok(Tree::Sequence(vec![(both, side), (tuple(rest)?, Tree::Leaf.under(vec![part(rest)?]))]))
    }
}
