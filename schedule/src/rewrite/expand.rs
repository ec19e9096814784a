//! A cell of an array for each iteration of the loops that reuse it.
//!
//! An array qualifies if every read of it sees a write of the SCoP and some loop around all its accesses
//! carries no value through it, only reuse. The array is then replaced, in all statements, by one on the
//! device with these loops' counters as leading subscripts, and a statement behind all others copies the last
//! value of each element that the program would have written. A loop that something else keeps in order, as
//! one over time, needs no cells of its own, if another one does not.
//!
//! # Example
//! `for r, q { for p { sum[p] = 0; for s: sum[p] += A[r][q][s] * C[s][p] } for p: A[r][q][p] = sum[p] }`
//! becomes parallel in `r` and `q` with `sum'[r, q, p]`; at the end `sum[p] = sum'[R-1, Q-1, p]`.

use super::parts::{at_the_end, copy, element_value, extent, fresh, largest_volume, push, renamed};
use crate::strategy::{coincident, extent_of, volume};
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Array, ArrayId, ArrayKind, Scop};

/// An expanded array may have this many times the elements of the largest array of the program, as the model
/// sees both: the nine neighbours of each pixel, sorted in place, are more than a filter's images and still
/// no burden, and neither are the 64 levels of an option's tree, beside options of one number each
/// (bench/notes/033-hot-loops.md).
const MAX_GROWTH: f64 = 64.0;

/// The SCoP with expanded arrays; `None` if there is nothing to expand.
pub fn expand(scop: &Scop, deps: &Dependences) -> Result<Option<Scop>> {
    let mut new = scop.clone();
    let mut any = false;
    let mut candidates = Vec::new();
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if scop.array(id).is_memory() && candidate(scop, deps, id)? {
            candidates.push(id);
        }
    }
    if candidates.is_empty() {
        return Ok(None);
    }
    let kept = kept(scop, deps, &candidates)?;
    for id in candidates {
        any |= expand_array(scop, deps, &kept, id, &mut new)?;
    }
    Ok(any.then_some(new))
}

/// Whether all writes are certain and every read sees one, in straight-line code.
fn candidate(scop: &Scop, deps: &Dependences, id: ArrayId) -> Result<bool> {
    let of = |kind| {
        let all = scop.statements.iter().flat_map(|s| &s.accesses);
        all.filter(|a| a.array == id && a.kind == kind).count()
    };
    let within =
        scop.statements.iter().flat_map(|s| &s.accesses).any(|a| a.array == id && a.within.is_some());
    if within || of(AccessKind::MayWrite) > 0 || of(AccessKind::MustWrite) == 0 || of(AccessKind::Read) == 0 {
        return Ok(false);
    }
    let name = &scop.array(id).name;
    for m in deps.no_source.maps()? {
        if m.tuple_name(isl::DimType::Out)?.as_deref() == Some(name) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The dependences that remain whatever is expanded: those that carry values, and those through other arrays.
fn kept(scop: &Scop, deps: &Dependences, candidates: &[ArrayId]) -> Result<isl::UnionMap> {
    let others = scop.accesses(|_, a| !candidates.contains(&a.array))?;
    let same = others.clone().apply_range(others.reverse()?)?;
    let reuse = same.intersect(deps.anti.clone().union(deps.output.clone())?)?;
    Ok(deps.flow.clone().union(reuse)?.intersect_params(known(scop)?)?)
}

/// The members of the bands around all instances of `users`, outermost first.
fn around(tree: &Tree, users: &isl::UnionSet, out: &mut Vec<isl::UnionPwAff>) -> Result<()> {
    match tree {
        Tree::Leaf => Ok(()),
        Tree::Mark(_, c) => around(c, users, out),
        Tree::Band(b) => {
            out.extend(b.members.iter().cloned());
            around(&b.child, users, out)
        }
        Tree::Sequence(children) => {
            for (filter, child) in children {
                if users.is_subset(&users.clone().intersect(filter.clone())?)? {
                    return around(child, users, out);
                }
            }
            Ok(())
        }
    }
}

/// The places of the members of `bands` that carry no value through an array, only reuse; of them those that
/// nothing else keeps in order, if there are any.
fn freed(
    scop: &Scop,
    deps: &Dependences,
    kept: &isl::UnionMap,
    id: ArrayId,
    bands: &[isl::UnionPwAff],
) -> Result<Vec<usize>> {
    let known = known(scop)?;
    let array = scop.array(id);
    let all = scop.accesses(|_, a| a.array == id)?;
    let users = all.clone().domain()?;
    // Dependences through this array.
    let mut flow = isl::UnionMap::empty(&scop.ctx)?;
    for m in deps.tagged_flow.maps()? {
        let through = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
        if through.as_deref() == Some(&array.name) {
            flow = flow.add_map(m.range_factor_domain()?)?;
        }
    }
    let flow = flow.intersect_params(known.clone())?;
    let reuse = all
        .clone()
        .apply_range(all.clone().reverse()?)?
        .intersect(deps.anti.clone().union(deps.output.clone())?)?;
    let reuse = reuse.intersect_params(known)?;
    let (mut chosen, mut free) = (Vec::new(), Vec::new());
    for (n, m) in bands.iter().enumerate() {
        let own = m.clone().intersect_domain(users.clone())?;
        if coincident(&flow, &own)? && !coincident(&reuse, &own)? {
            chosen.push(n);
            if coincident(kept, m)? {
                free.push(n);
            }
        }
    }
    Ok(if free.is_empty() { chosen } else { free })
}

fn expand_array(
    scop: &Scop,
    deps: &Dependences,
    kept: &isl::UnionMap,
    id: ArrayId,
    new: &mut Scop,
) -> Result<bool> {
    let known = known(scop)?;
    let array = scop.array(id);
    let all = scop.accesses(|_, a| a.array == id)?;
    let users = all.clone().domain()?;
    let mut bands = Vec::new();
    around(&ScheduleTree::from_isl(&scop.schedule)?.root, &users, &mut bands)?;
    let chosen = freed(scop, deps, kept, id, &bands)?;
    let Some(value) = element_value(scop, id) else { return Ok(false) };
    if chosen.is_empty() {
        return Ok(false);
    }
    let members: Vec<_> = chosen.iter().map(|n| bands[*n].clone()).collect();

    // { S[i] -> [counters] }, and the sizes.
    let prefix = members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
    let mut sizes = Vec::new();
    for p in &prefix {
        let Some(size) = extent(scop, values(p, &users)?)? else { return Ok(false) };
        sizes.push(Some(size));
    }
    let range = isl::Set::from_union_set(all.range()?)?;
    for d in 0..array.dims() {
        let rest = array.dims() - d - 1;
        let own = range.clone().project_out(isl::DimType::Set, d as u32 + 1, rest as u32)?;
        let own = own.project_out(isl::DimType::Set, 0, d as u32)?;
        let Some(size) = extent(scop, own)? else { return Ok(false) };
        sizes.push(Some(size));
    }
    let mut cells = volume(scop, &range)?;
    for m in &members {
        cells *= extent_of(scop, m, &users)?;
    }
    if cells > MAX_GROWTH * largest_volume(scop)? {
        return Ok(false);
    }

    let name = fresh(new, &format!("{}_each", array.name));
    let expanded = Array {
        name: name.clone(),
        display: array.display.clone(),
        elem: array.elem,
        sizes,
        kind: ArrayKind::Scalar { value, live_out: false },
        shift: None,
        apart: None,
    };
    let expanded = push(new, expanded);
    for s in &mut new.statements {
        let space = s.domain.space()?;
        for a in s.accesses.iter_mut().filter(|a| a.array == id) {
            a.relation = renamed(&a.relation, Some(on_statement(&prefix, &space)?), &name)?;
            a.array = expanded;
        }
    }
    // The last iteration that writes each element.
    let writes = scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?;
    let mut when: Option<isl::UnionMap> = None;
    for member in &bands {
        let own = member_map(member)?;
        when = Some(match when {
            Some(outer) => outer.flat_range_product(own)?,
            None => own,
        });
    }
    let Some(when) = when else { return Ok(false) };
    let last = isl::Map::from_union_map(writes.clone().reverse()?.apply_range(when)?)?;
    // Total on the statement below, whose domain does not repeat what is known either.
    let mut last = last.intersect_params(known.clone())?.lexmax()?;
    for n in (0..bands.len()).rev().filter(|n| !chosen.contains(n)) {
        last = last.project_out(isl::DimType::Out, n as u32, 1)?;
    }
    let last = last.coalesce()?.gist_params(known.clone())?;
    let written = isl::Set::from_union_set(writes.range()?)?.intersect_params(known.clone())?.coalesce()?;
    let statement = fresh(new, &format!("S{}", new.statements.len()));
    let domain = written.gist_params(known)?.set_tuple_name(&statement)?;
    let cell = domain.clone().identity()?.set_tuple_name(isl::DimType::Out, &array.name)?;
    let from = last.set_tuple_name(isl::DimType::In, &statement)?;
    let plain = cell.clone().intersect_domain(from.clone().domain()?)?;
    let from = renamed(&plain, Some(from), &name)?;
    new.statements.push(copy(&statement, domain, (expanded, from), (id, cell), value));
    new.schedule = at_the_end(new)?;
    Ok(true)
}

/// The values of a member on some instances: `{ [v] }`.
fn values(member: &isl::UnionMap, on: &isl::UnionSet) -> Result<isl::Set> {
    Ok(isl::Set::from_union_set(member.clone().intersect_domain(on.clone())?.range()?)?)
}

/// The tuple of the members' values on one statement.
fn on_statement(prefix: &[isl::UnionMap], space: &isl::Space) -> Result<isl::Map> {
    let mut out: Option<isl::Map> = None;
    let universe = isl::UnionSet::from_set(isl::Set::universe(space.clone())?)?;
    for p in prefix {
        let m = isl::Map::from_union_map(p.clone().intersect_domain(universe.clone())?)?;
        out = Some(match out {
            None => m,
            Some(o) => o.flat_range_product(m)?,
        });
    }
    out.ok_or(crate::ScheduleError::Unsupported("an expansion without counters"))
}
