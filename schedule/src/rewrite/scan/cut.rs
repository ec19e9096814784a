//! One cut of the running totals of a loop: cells for each part, the statements that find what a part begins
//! with, and the totals on parts.

use super::graft::Graft;
use super::{Groups, Totals, groups, members_of_loop, total_of};
use crate::rewrite::made::{Made, Scanned};
use crate::rewrite::parts::{self, copy, fresh, push};
use crate::tree::ScheduleTree;
use crate::{Dependences, Result};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayId, ArrayKind, Reduction, Scop, Statement, StmtId,
    ValueHandle,
};
use std::collections::{BTreeMap, BTreeSet};

/// Consecutive iterations of a part. Those of the first parts are unrolled, and neighbouring elements
/// accessed together (measured: `bench/notes/010-reductions.md`).
const RUNS: [u32; 4] = [16, 64, 64, 32];
/// The same of totals along rows, of which there may be many: fewer parts of each.
const RUNS_OF_MANY: [u32; 4] = [32, 64, 64, 32];

/// The SCoP with the totals cut once, with parts for each iteration of the loops around, or for those that
/// run side by side.
pub(super) fn cut_into(scop: &Scop, deps: &Dependences, of: &Totals, shared: bool) -> Result<Option<Made>> {
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
        parts::under(&mut new.statements[*n], &view)?;
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
    new.long = scop.long || crate::strategy::single_loops(scop)?;
    new.schedule = ScheduleTree { domain: parts::domain_of(&new)?, root }.to_isl()?;
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
    let Some(sizes) = parts::sizes(scop, &cells, (at, kept))? else { return Ok(None) };
    let target = scop.array(cell);
    let mut array = |what: &str| {
        let name = fresh(new, &format!("{}_{what}", target.name));
        let kind = ArrayKind::Scalar { value: r.value, live_out: false };
        let (display, elem) = (target.display.clone(), target.elem);
        let id = push(
            new,
            Array { name: name.clone(), display, elem, sizes: sizes.clone(), kind, shift: None, apart: None },
        );
        (id, name)
    };
    let (part, running) = (array("part"), array("start"));
    if r.numbers {
        parts::add_nan_flag(new);
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
    new.statements.push(parts::plain(start, named(start)?, vec![begin], old));

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
    let whole = parts::plain(rest, named(rest)?, applied, old);
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
