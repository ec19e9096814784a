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

use super::parts::{self, MAX_GROWTH, copy, extent, fresh, largest_volume, push};
use super::reduce::{Chain, next, restricted};
use super::{Made, Scanned};
use crate::planted::planted;
use crate::strategy::volume;
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, ScheduleError, known};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayId, ArrayKind, ElemType, Reduction, Scop, Statement, StmtId,
    ValueHandle,
};
use std::collections::{BTreeMap, BTreeSet};

/// Consecutive iterations of a part. Those of the first parts are unrolled, and neighbouring elements
/// accessed together (measured: `bench/notes/010-reductions.md`).
const RUNS: [u32; 4] = [16, 64, 64, 32];
/// The same of totals along rows, of which there may be many: fewer parts of each.
const RUNS_OF_MANY: [u32; 4] = [32, 64, 64, 32];

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

pub(super) fn all_of(s: &Statement) -> Result<isl::UnionSet> {
    Ok(isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?)
}

/// Whether a member of a band counts by the iterator at `at` of a statement.
pub(super) fn counts(scop: &Scop, m: &isl::UnionPwAff, s: &Statement, at: u32) -> Result<bool> {
    if s.domain.dim(isl::DimType::Set)? <= at {
        return Ok(false);
    }
    let own = isl::UnionSet::from_set(s.domain.clone().intersect_params(known(scop)?)?)?;
    let wanted = parts::members(&s.domain)?;
    let wanted = member_map(&wanted[at as usize])?.intersect_domain(own.clone())?;
    Ok(member_map(m)?.intersect_domain(own)?.is_equal(&wanted)?)
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

/// [`cut`], with parts for each iteration of the loops around, or for those that run side by side.
fn cut_into(scop: &Scop, deps: &Dependences, of: &Totals, shared: bool) -> Result<Option<Made>> {
    let at = of.first.outer;
    let runs = if at == 0 { RUNS } else { RUNS_OF_MANY };
    let Some(size) = runs.get(of.first.level) else { return Ok(None) };
    let old = ScheduleTree::from_isl(&scop.schedule)?;
    let Some(inside) = members_of_loop(scop, &old, of.first.statement, at)? else { return Ok(None) };
    let groups = groups(scop, deps, of, &inside)?;
    let plain = |n: &usize| {
        let s = &scop.statements[*n];
        s.is_plain() && s.updates.is_empty() && s.accesses.iter().all(|a| a.place.is_none())
    };
    if !groups.core.iter().all(plain) {
        return Ok(None);
    }
    let mut new = scop.clone();
    let mut views = BTreeMap::new();
    let ahead = ahead(scop, &groups.core, at, *size)?;
    for n in &groups.core {
        let view = view(&scop.statements[*n], at, (*size, ahead))?;
        under(&mut new.statements[*n], &view)?;
        views.insert(StmtId(*n), view);
    }
    let mut scans = Vec::new();
    for n in &of.statements {
        let kept = of.first.kept(shared);
        let Some(view) = views.get(&StmtId(*n)) else { return Ok(None) };
        let Some(scan) = add(scop, &mut new, (*n, &groups), view, (at, &kept))? else { return Ok(None) };
        scans.push(scan);
    }
    let graft = Graft { scop, new: &new, at, groups: &groups, views: &views, scans: &scans };
    let Some(root) = graft.tree(&old.root, &old.domain)? else { return Ok(None) };
    let mut all = isl::UnionSet::empty(&scop.ctx)?;
    for s in &new.statements {
        all = all.add_set(s.domain.clone())?;
    }
    new.long = scop.long || crate::strategy::single_loops(scop)?;
    new.schedule = ScheduleTree { domain: all, root }.to_isl()?;
    Ok(Some(Made { instances: views, scans, ..Made::from(new) }))
}

/// Iterations that the first part is shorter, so that parts begin where whole runs of elements do in most of
/// the arrays that the loop goes along.
fn ahead(scop: &Scop, statements: &BTreeSet<usize>, at: u32, size: u32) -> Result<i64> {
    let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
    for s in statements.iter().map(|n| &scop.statements[*n]) {
        for a in s.accesses.iter().filter(|a| scop.array(a.array).is_memory()) {
            if let Some(first) = first_element(a, at)? {
                *votes.entry(first.rem_euclid(i64::from(size))).or_default() += 1;
            }
        }
    }
    Ok(votes.into_iter().max_by_key(|(ahead, votes)| (*votes, -ahead)).map_or(0, |(ahead, _)| ahead))
}

/// The element of a row that an access has in the first iteration of the loop at `at`, if it has the next one
/// in the next iteration.
fn first_element(a: &Access, at: u32) -> Result<Option<i64>> {
    let Some(last) = a.relation.dim(isl::DimType::Out)?.checked_sub(1) else { return Ok(None) };
    if !a.relation.is_single_valued()? {
        return Ok(None);
    }
    let pieces = isl::PwMultiAff::from_map(a.relation.clone())?.at(last as i32)?.pieces()?;
    let [(_, f)] = pieces.as_slice() else { return Ok(None) };
    for kind in [isl::DimType::In, isl::DimType::Param] {
        for d in 0..a.relation.dim(kind)? {
            let wanted = i64::from(kind == isl::DimType::In && d == at);
            if f.coefficient(kind, d as i32)?.to_i64() != Some(wanted) {
                return Ok(None);
            }
        }
    }
    Ok(f.constant()?.to_i64())
}

/// `{ S[o, p, t, ...] -> S[o, size p + t - ahead, ...] : 0 <= t < size }`
fn view(s: &Statement, at: u32, (size, ahead): (u32, i64)) -> Result<isl::Map> {
    let (n, name) = (s.domain.dim(isl::DimType::Set)?, &s.name);
    let tuple = |middle: &str| {
        let mut all: Vec<_> = (0..n).map(|d| format!("i{d}")).collect();
        all[at as usize] = middle.into();
        all.join(",")
    };
    let text = format!(
        "{{ {name}[{}] -> {name}[{}] : 0 <= t < {size} }}",
        tuple("p,t"),
        tuple(&format!("({size} * p + t - {ahead})"))
    );
    Ok(isl::Map::read(s.domain.context(), &text)?)
}

/// The statement with the iterators of the view.
fn under(s: &mut Statement, view: &isl::Map) -> Result<()> {
    s.domain = s.domain.clone().apply(view.clone().reverse()?)?.coalesce()?;
    for a in &mut s.accesses {
        a.relation = view.clone().apply_range(a.relation.clone())?.coalesce()?;
    }
    for y in &mut s.synthesized {
        let f = view.clone().apply_range(isl::Map::from_pw_aff(y.function.clone())?)?;
        y.function = isl::PwMultiAff::from_map(f)?.at(0)?.coalesce()?;
    }
    Ok(())
}

/// The sizes of an array with a cell for each of `cells`, `{ [o, p] }`; `None` where it has no bound or would
/// be too large.
fn sizes(
    scop: &Scop,
    cells: &isl::Set,
    (at, kept): (u32, &[u32]),
) -> Result<Option<Vec<Option<isl::PwAff>>>> {
    let mut sizes = Vec::new();
    for d in kept.iter().copied().chain([at]) {
        let values = cells.clone().project_out(isl::DimType::Set, d + 1, at - d)?;
        let values = values.project_out(isl::DimType::Set, 0, d)?.reset_tuple_id()?;
        let Some(size) = extent(scop, values)? else { return Ok(None) };
        sizes.push(Some(size));
    }
    let mut plain = cells.clone().reset_tuple_id()?;
    for d in (0..at).rev().filter(|d| !kept.contains(d)) {
        plain = plain.project_out(isl::DimType::Set, d, 1)?;
    }
    let fits = at == 0 || volume(scop, &plain)? <= MAX_GROWTH * largest_volume(scop)?;
    Ok(fits.then_some(sizes))
}

/// Gives the total `n` cells of its own for each part, and what looks at it on the way as well; adds the
/// statements that find what they begin with.
fn add(
    scop: &Scop,
    new: &mut Scop,
    (n, groups): (usize, &Groups),
    view: &isl::Map,
    (at, kept): (u32, &[u32]),
) -> Result<Option<Scanned>> {
    let old = &scop.statements[n];
    let Some((r, needs)) = total_of(old) else { return Ok(None) };
    let (r, needs) = (r.clone(), needs.to_vec());
    let cell = old.accesses[r.write].array;
    let domain = new.statements[n].domain.clone();
    let cells = domain.clone().project_out(isl::DimType::Set, at + 1, 1)?.coalesce()?;
    let Some(sizes) = sizes(scop, &cells, (at, kept))? else { return Ok(None) };
    let target = scop.array(cell);
    let mut array = |what: &str| {
        let name = fresh(new, &format!("{}_{what}", target.name));
        let kind = ArrayKind::Scalar { value: r.value, live_out: false };
        let (display, elem) = (target.display.clone(), target.elem);
        let id =
            push(new, Array { name: name.clone(), display, elem, sizes: sizes.clone(), kind, shift: None });
        (id, name)
    };
    let (part, running) = (array("part"), array("start"));
    if r.numbers && !new.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. })) {
        let name = fresh(new, "nan");
        let (display, elem) = ("the NaN flag".to_string(), ElemType::Int(32));
        let kind = ArrayKind::Fault { leaves: false };
        push(new, Array { name, display, elem, sizes: Vec::new(), kind, shift: None });
    }
    // { X[o, p, ...] -> cell[kept o, p] }
    let to_cell = |space: isl::Space, array: &str| -> Result<isl::Map> {
        let mut map = isl::Set::universe(space)?.identity()?;
        let more = map.dim(isl::DimType::Out)? - at - 1;
        map = map.project_out(isl::DimType::Out, at + 1, more)?;
        for d in (0..at).rev().filter(|d| !kept.contains(d)) {
            map = map.project_out(isl::DimType::Out, d, 1)?;
        }
        Ok(map.set_tuple_name(isl::DimType::Out, array)?)
    };
    // The total itself, and what looks at it, in the cells that run.
    for m in &groups.core {
        let s = &mut new.statements[*m];
        let space = s.domain.space()?;
        for a in s.accesses.iter_mut().filter(|a| a.array == cell) {
            a.array = running.0;
            a.relation = to_cell(space.clone(), &running.1)?;
        }
    }
    let first = new.statements.len();
    let mut names: Vec<String> = Vec::new();
    for n in first..first + 4 {
        let name = fresh(new, &format!("S{n}"));
        let taken = names.contains(&name);
        names.push(if taken { fresh(new, &format!("{name}_")) } else { name });
    }
    let [start, sum, before, rest] = names.as_slice() else { return Ok(None) };
    let named = |name: &str| cells.clone().set_tuple_name(name);
    let cell_from = |name: &str, of: &str| -> Result<isl::Map> { to_cell(named(name)?.space()?, of) };
    let identity = AccessValue::ScalarWrite(r.identity);
    let begin = Access::new(AccessKind::MustWrite, part.0, cell_from(start, &part.1)?, identity);
    new.statements.push(plain(start, named(start)?, vec![begin], old));

    let Some(again) = update_alone(&new.statements[n], (&r, needs), sum, (part.0, &part.1))? else {
        return Ok(None);
    };
    new.statements.push(again);

    // { R[o, p] -> S[o, ...] }: all instances of the part. The cell depends on o only.
    let on_cell = |name: &str, i: usize| -> Result<Access> {
        let wide = isl::Set::universe(domain.space()?)?.identity()?;
        let wide = wide.project_out(isl::DimType::Out, at + 1, 1)?.reverse()?;
        let members = wide.apply_range(view.clone())?.set_tuple_name(isl::DimType::In, name)?;
        let relation = members.intersect_range(old.domain.clone())?;
        let relation = relation.apply_range(old.accesses[i].relation.clone())?.coalesce()?;
        Ok(Access { relation, ..old.accesses[i].clone() })
    };
    let from = (cell, on_cell(before, r.read)?.relation);
    let noted = copy(before, named(before)?, from, (running.0, cell_from(before, &running.1)?), r.value);
    new.statements.push(Statement { location: old.location.clone(), ..noted });

    let value = AccessValue::ScalarRead(r.value);
    let applied = vec![
        on_cell(rest, r.read)?,
        on_cell(rest, r.write)?,
        Access::new(AccessKind::Read, part.0, cell_from(rest, &part.1)?, value),
    ];
    let whole = plain(rest, named(rest)?, applied, old);
    let reduction = Some(Reduction { read: 0, write: 1, regrouped: true, ..r.clone() });
    new.statements.push(Statement { body: r.update.clone(), reduction, ..whole });
    let id = |n: usize| StmtId(first + n);
    Ok(Some(Scanned { total: StmtId(n), start: id(0), sum: id(1), before: id(2), rest: id(3) }))
}

/// The update of a total alone, under another name, in the cells of sums; `s` is the total in the cells that
/// run.
fn update_alone(
    s: &Statement,
    (r, needs): (&Reduction, Vec<ValueHandle>),
    name: &str,
    (part, part_name): (ArrayId, &str),
) -> Result<Option<Statement>> {
    let mut again = s.clone();
    again.name = name.to_string();
    again.domain = s.domain.clone().set_tuple_name(name)?;
    let needed = |(i, a): &(usize, &Access)| match a.value {
        AccessValue::Instruction(v) => needs.contains(&v),
        AccessValue::ScalarRead(_) => true,
        AccessValue::ScalarWrite(_) => *i == r.write,
    };
    let kept: Vec<usize> = s.accesses.iter().enumerate().filter(needed).map(|(i, _)| i).collect();
    let place = |i: usize| kept.iter().position(|k| *k == i);
    let (Some(read), Some(write)) = (place(r.read), place(r.write)) else { return Ok(None) };
    again.accesses = kept.iter().map(|i| s.accesses[*i].clone()).collect();
    for (i, a) in again.accesses.iter_mut().enumerate() {
        if i == read || i == write {
            a.array = part;
            a.relation = a.relation.clone().set_tuple_name(isl::DimType::Out, part_name)?;
        }
        a.relation = a.relation.clone().set_tuple_name(isl::DimType::In, name)?;
    }
    for y in &mut again.synthesized {
        let f = isl::Map::from_pw_aff(y.function.clone())?.set_tuple_name(isl::DimType::In, name)?;
        y.function = isl::PwMultiAff::from_map(f)?.at(0)?;
    }
    (again.body, again.running) = (needs, None);
    again.reduction = Some(Reduction { read, write, regrouped: true, ..r.clone() });
    Ok(Some(again))
}

/// A statement without instructions.
fn plain(name: &str, domain: isl::Set, accesses: Vec<Access>, like: &Statement) -> Statement {
    Statement {
        name: name.into(),
        domain,
        accesses,
        body: vec![],
        synthesized: vec![],
        reduction: None,
        updates: Vec::new(),
        running: None,
        subregion: None,
        location: like.location.clone(),
    }
}

/// Puts the new statements into the schedule.
struct Graft<'a> {
    scop: &'a Scop,
    new: &'a Scop,
    /// The position of the iterator at which the loop is cut.
    at: u32,
    groups: &'a Groups,
    views: &'a BTreeMap<StmtId, isl::Map>,
    scans: &'a [Scanned],
}

impl Graft<'_> {
    /// New statements with the old instances that each one stands for: `{ X[...] -> S[...] }`.
    fn stand_ins(&self, all: bool) -> Result<Vec<isl::Map>> {
        let mut out: Vec<_> = self.views.values().cloned().collect();
        for scan in self.scans.iter().filter(|_| all) {
            let view = &self.views[&scan.total];
            for s in [scan.start, scan.sum, scan.before, scan.rest].map(|s| &self.new.statements[s.0]) {
                let mut wide =
                    isl::Set::universe(self.new.statements[scan.total.0].domain.space()?)?.identity()?;
                if s.domain.dim(isl::DimType::Set)? == self.at + 1 {
                    wide = wide.project_out(isl::DimType::In, self.at + 1, 1)?;
                }
                let map = wide.apply_range(view.clone())?.set_tuple_name(isl::DimType::In, &s.name)?;
                out.push(map.intersect_domain(s.domain.clone())?);
            }
        }
        Ok(out)
    }

    fn of(&self, group: &BTreeSet<usize>) -> Result<isl::UnionSet> {
        let mut all = isl::UnionSet::empty(&self.scop.ctx)?;
        for n in group {
            all = all.union(all_of(&self.scop.statements[*n])?)?;
        }
        Ok(all)
    }

    /// The tree with the new statements; `None` if the loop to be cut is not found.
    fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
        let total = &self.scop.statements[self.scans[0].total.0];
        let own = all_of(total)?;
        Ok(match tree {
            Tree::Leaf => None,
            Tree::Mark(_, c) => self.tree(c, domain)?,
            Tree::Sequence(children) => {
                let (mut out, mut any) = (Vec::new(), false);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    if any || inside.is_disjoint(&own)? {
                        out.push((filter.clone(), child.clone()));
                        continue;
                    }
                    let Some(t) = self.tree(child, &inside)? else { return Ok(None) };
                    out.push((self.filter(filter, true)?, t));
                    any = true;
                }
                any.then_some(Tree::Sequence(out))
            }
            Tree::Band(b) => {
                for (i, m) in b.members.iter().enumerate() {
                    if counts(self.scop, m, total, self.at)? {
                        let above = b.members[..i].iter().map(|m| self.member(m, true));
                        let above = above.collect::<Result<Vec<_>>>()?;
                        return Ok(Some(self.cut(b, i)?.under(above)));
                    }
                }
                let Some(child) = self.tree(&b.child, domain)? else { return Ok(None) };
                let members = b.members.iter().map(|m| self.member(m, true)).collect::<Result<Vec<_>>>()?;
                Some(Tree::Band(Band { members, child: Box::new(child), ..b.clone() }))
            }
        })
    }

    /// What replaces the loop that is member `i` of a band.
    fn cut(&self, b: &Band, i: usize) -> Result<Tree> {
        let member = |s: &Statement, d: u32| -> Result<isl::UnionPwAff> {
            Ok(parts::members(&s.domain)?[d as usize].clone())
        };
        let mut out: Vec<(isl::UnionSet, Tree)> = Vec::new();
        let alone = |group: &BTreeSet<usize>| -> Result<(isl::UnionSet, Tree)> {
            let filter = self.of(group)?;
            let tree = b.child.as_ref().clone().under(b.members[i..].to_vec());
            Ok((filter.clone(), restricted(&tree, &filter)?))
        };
        if !self.groups.ahead.is_empty() {
            out.push(alone(&self.groups.ahead)?);
        }
        // All sums are of one loop, and so is what is noted and applied, which is cut again.
        let (mut sums, mut rests) = (Vec::new(), Vec::new());
        for scan in self.scans {
            let [start, sum, before, rest] =
                [scan.start, scan.sum, scan.before, scan.rest].map(|s| &self.new.statements[s.0]);
            sums.push((start, Tree::Leaf));
            sums.push((sum, Tree::Leaf.under(vec![member(sum, self.at + 1)?])));
            let order = if planted("scan-start") { [rest, before] } else { [before, rest] };
            rests.extend(order.map(|s| (s, Tree::Leaf)));
        }
        for group in [sums, rests] {
            let (mut all, mut at) = (isl::UnionSet::empty(&self.scop.ctx)?, None::<isl::UnionPwAff>);
            let mut children = Vec::new();
            for (s, tree) in group {
                let m = member(s, self.at)?;
                at = Some(match at {
                    Some(at) => at.union_add(m)?,
                    None => m,
                });
                all = all.union(all_of(s)?)?;
                children.push((all_of(s)?, tree));
            }
            out.push((all, Tree::Sequence(children).under(at.into_iter().collect())));
        }
        // The runs, as the program has them.
        let core = self.of(&self.groups.core)?;
        let inner = restricted(&b.child, &core)?.under(b.members[i + 1..].to_vec());
        let inner = self.viewed(&restricted(&inner, &core)?)?;
        let mut loops: Vec<Option<isl::UnionPwAff>> = vec![None, None];
        for n in &self.groups.core {
            for (d, l) in loops.iter_mut().enumerate() {
                let m = member(&self.new.statements[*n], self.at + d as u32)?;
                *l = Some(match l.take() {
                    Some(l) => l.union_add(m)?,
                    None => m,
                });
            }
        }
        let mut filter = isl::UnionSet::empty(&self.scop.ctx)?;
        for n in &self.groups.core {
            filter = filter.union(all_of(&self.new.statements[*n])?)?;
        }
        out.push((filter, inner.under(loops.into_iter().flatten().collect())));
        if !self.groups.behind.is_empty() {
            out.push(alone(&self.groups.behind)?);
        }
        Ok(Tree::Sequence(out))
    }

    /// The tree of the loop's body, for the new iterators.
    fn viewed(&self, tree: &Tree) -> Result<Tree> {
        Ok(match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child) => Tree::Mark(name.clone(), Box::new(self.viewed(child)?)),
            Tree::Band(b) => {
                let members = b.members.iter().map(|m| self.member(m, false)).collect::<Result<Vec<_>>>()?;
                Tree::Band(Band { members, child: Box::new(self.viewed(&b.child)?), ..b.clone() })
            }
            Tree::Sequence(children) => {
                let viewed = |(f, c): &(isl::UnionSet, Tree)| Ok((self.filter(f, false)?, self.viewed(c)?));
                Tree::Sequence(children.iter().map(viewed).collect::<Result<Vec<_>>>()?)
            }
        })
    }

    /// A filter of old instances as one of new ones, with the new statements where `all`.
    fn filter(&self, filter: &isl::UnionSet, all: bool) -> Result<isl::UnionSet> {
        let mut out = filter.clone().subtract(self.of(&self.groups.core)?)?;
        for view in self.stand_ins(all)? {
            out = out.union(filter.clone().apply(isl::UnionMap::from_map(view.reverse()?)?)?)?;
        }
        Ok(out.coalesce()?)
    }

    /// A member on old instances as one on new ones, with the new statements where `all`.
    fn member(&self, m: &isl::UnionPwAff, all: bool) -> Result<isl::UnionPwAff> {
        let maps = member_map(m)?;
        let others = maps.clone().domain()?.subtract(self.of(&self.groups.core)?)?;
        let mut out = m.clone().intersect_domain(others)?;
        for view in self.stand_ins(all)? {
            let seen = isl::UnionMap::from_map(view)?.apply_range(maps.clone())?;
            if seen.is_empty()? {
                continue;
            }
            let seen = isl::Map::from_union_map(seen)?.coalesce()?;
            if !seen.is_single_valued()? {
                return Err(ScheduleError::Unsupported("a loop around a running total that depends on it"));
            }
            let f = isl::PwMultiAff::from_map(seen)?.at(0)?;
            out = out.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
        }
        Ok(out)
    }
}
