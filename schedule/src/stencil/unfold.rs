//! A SCoP's instances under other names, in which more SCoPs are stencils: a loop with few iterations
//! whatever the sizes are (over colours, over the components of a field) becomes a statement for each of
//! them, and instances whose loops count something else than elements are named by the element that they
//! write.
//!
//! Nothing is reordered here: names are replaced one for one, which is checked, in domains, accesses and
//! dependences alike. That the steps in their order compute what the program does is proved of the result as
//! of any SCoP.
//!
//! **Example.** `for t, for c < 2, for i, for (j = 1 + (i + c) % 2; j < n - 1; j += 2) x[i][j] = ...` has one
//! statement `S[t, c, i, k]`; it becomes `S_0[t, i, j]` and `S_1[t, i, j]`, where `x[i][j]` is written.

use super::functions::{domain_box, equal};
use super::recognise::MAX_STATEMENTS;
use crate::tree::{ScheduleTree, Tree};
use crate::{Dependences, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop, Statement};
use std::collections::BTreeSet;

/// Iterations of a loop that become statements.
const MAX_ITERATIONS: i64 = 4;

/// Boxes of a domain that become statements: the sides of a grid of three dimensions, and two more.
const MAX_BOXES: usize = 8;

/// A statement of the result, and `{ S[i] -> S_c[j] }`.
type Renamed = (Statement, isl::Map);

/// By the values of the unfolded loops.
type Parts = Vec<(Vec<i64>, Renamed)>;

/// The SCoP and its dependences under other names; `None` if all statements would keep theirs, or there are
/// none that serve. A statement may be there several times. Their order is one that the dependences within a
/// time iteration allow, if there is one.
pub fn unfold(scop: &Scop, deps: &Dependences) -> Result<Option<(Scop, Dependences)>> {
    budgeted(&scop.ctx, "stencil recognition", crate::DEFAULT_BUDGET, || {
        let known = known(scop)?;
        let mut parts = Vec::new();
        for (number, s) in scop.statements.iter().enumerate() {
            let Some(renamed) = parts_of(scop, s, &known)? else { return Ok(None) };
            parts.extend(renamed.into_iter().map(|(at, r)| ((at, number), r)));
        }
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        let parts: Vec<Renamed> = parts.into_iter().map(|(_, r)| r).collect();
        if parts.iter().all(|(s, _)| scop.statements.iter().any(|old| old.name == s.name)) {
            return Ok(None);
        }
        let mut names = isl::UnionMap::empty(&scop.ctx)?;
        for (_, map) in &parts {
            names = names.add_map(map.clone())?;
        }
        let deps = renamed(deps, scop, &names)?;
        let statements = ordered(parts.into_iter().map(|(s, _)| s).collect(), &deps)?;
        let schedule = in_order(scop, &statements)?;
        Ok(Some((Scop { statements, schedule, ..scop.clone() }, deps)))
    })
}

/// The values of the unfolded loops, and the statement that they leave, for each of their values; `None`
/// where there is no name for an instance.
fn parts_of(scop: &Scop, s: &Statement, known: &isl::Set) -> Result<Option<Parts>> {
    let set = isl::DimType::Set;
    let domain = s.domain.clone().intersect_params(known.clone())?;
    let n = domain.dim(set)?;
    if n < 2 || !s.is_plain() || domain.is_empty()? {
        return Ok(None);
    }
    let whole = domain.clone().project_out_all_params()?;
    let mut few = Vec::new();
    for d in 1..n {
        if !whole.dim_has_lower_bound(set, d)? || !whole.dim_has_upper_bound(set, d)? {
            continue;
        }
        let ends =
            (whole.clone().dim_min_val(d as i32)?.to_i64(), whole.clone().dim_max_val(d as i32)?.to_i64());
        if let (Some(low), Some(high)) = ends
            && high - low < MAX_ITERATIONS
        {
            few.push((d, low, high));
        }
    }
    let mut values = vec![Vec::new()];
    for (_, low, high) in &few {
        values = values
            .iter()
            .flat_map(|v: &Vec<i64>| (*low..=*high).map(|x| [v.as_slice(), &[x]].concat()))
            .collect();
    }
    if values.len() > MAX_STATEMENTS {
        return Ok(None);
    }
    let mut out = Vec::new();
    for at in values {
        let mut own = s.domain.clone();
        for ((d, ..), v) in few.iter().zip(&at) {
            own = own.fix_val(set, *d, isl::Val::int(&scop.ctx, *v)?)?;
        }
        let there = own.clone().intersect_params(known.clone())?;
        if there.is_empty()? {
            continue;
        }
        if at.is_empty()
            && let Some(boxes) = boxes_of(scop, s, known)?
        {
            return Ok(Some(boxes));
        }
        let name =
            at.iter().zip(&few).fold(s.name.clone(), |name, (v, (_, low, _))| format!("{name}_{}", v - low));
        let kept: Vec<u32> = (0..n).filter(|d| few.iter().all(|f| f.0 != *d)).collect();
        let counters = onto(scop, s, &kept, &name)?.intersect_domain(own.clone())?;
        let is_box = |map: &isl::Map| -> Result<Option<bool>> {
            let found = domain_box(&map.clone().range()?, known)?;
            Ok(found.map(|d| d.lattices.is_empty()))
        };
        let map = match by_element(scop, s, &own, kept.len(), &format!("{name}_e"))? {
            // Loops of steps count turns: then elements are on a lattice where turns are not.
            Some(map) if is_box(&map)?.is_some_and(|whole| !whole) || is_box(&counters)?.is_none() => map,
            _ if at.is_empty() => onto(scop, s, &kept, &s.name)?.intersect_domain(own)?,
            _ => counters,
        };
        out.push((at, (statement(s, &map)?, map)));
    }
    Ok(Some(out))
}

/// A statement for each of the boxes that the domain consists of, if it is no box itself: the sides of a
/// grid, `if (i == 0 || j == 0 || ...)`. A few that are apart.
fn boxes_of(scop: &Scop, s: &Statement, known: &isl::Set) -> Result<Option<Parts>> {
    if s.domain.n_basic_set()? < 2 || domain_box(&s.domain, known)?.is_some() {
        return Ok(None);
    }
    let apart = s.domain.clone().make_disjoint()?.coalesce()?.make_disjoint()?.basic_sets()?;
    if apart.len() > MAX_BOXES {
        return Ok(None);
    }
    let mut out = Vec::new();
    for (number, part) in apart.into_iter().enumerate() {
        let part = isl::Set::from_basic_set(part)?;
        if part.clone().intersect_params(known.clone())?.is_empty()? {
            continue;
        }
        let Some(found) = domain_box(&part, known)?.filter(|found| found.lattices.is_empty()) else {
            return Ok(None);
        };
        // Of a side, one coordinate is the same for all.
        let mut kept = vec![0];
        for (d, (lower, upper)) in found.bounds.iter().enumerate().skip(1) {
            if !equal(lower, upper, &found.runs)? {
                kept.push(d as u32);
            }
        }
        let map = onto(scop, s, &kept, &format!("{}_b{number}", s.name))?.intersect_domain(part)?;
        out.push((Vec::new(), (statement(s, &map)?, map)));
    }
    Ok(Some(out))
}

/// `{ S[i] -> name[kept dimensions of i] }`
fn onto(scop: &Scop, s: &Statement, kept: &[u32], name: &str) -> Result<isl::Map> {
    let all: Vec<String> = (0..s.domain.dim(isl::DimType::Set)?).map(|d| format!("i{d}")).collect();
    let some: Vec<&str> = kept.iter().map(|d| all[*d as usize].as_str()).collect();
    let text = format!("{{ {}[{}] -> {name}[{}] }}", s.name, all.join(", "), some.join(", "));
    Ok(isl::Map::read(&scop.ctx, &text)?)
}

/// `{ S[i] -> name[time, last subscripts of what it writes] }` for instances with so many dimensions left, if
/// no two of them have one name.
fn by_element(
    scop: &Scop,
    s: &Statement,
    own: &isl::Set,
    dims: usize,
    name: &str,
) -> Result<Option<isl::Map>> {
    let Some(write) = s.accesses.iter().find(|a| a.kind != AccessKind::Read && a.within.is_none()) else {
        return Ok(None);
    };
    let array = scop.array(write.array);
    let Some(lead) = array.dims().checked_sub(dims - 1) else { return Ok(None) };
    let all: Vec<String> = (0..array.dims()).map(|d| format!("x{d}")).collect();
    let text = format!("{{ {}[{}] -> [{}] }}", array.name, all.join(", "), all[lead..].join(", "));
    let element = write.relation.clone().apply_range(isl::Map::read(&scop.ctx, &text)?)?;
    let time = onto(scop, s, &[0], "")?;
    let map = time.flat_range_product(element)?.set_tuple_name(isl::DimType::Out, name)?;
    let map = map.intersect_domain(own.clone())?.coalesce()?;
    let whole = own.is_subset(&map.clone().domain()?)?;
    Ok((whole && map.is_single_valued()? && map.is_injective()?).then_some(map))
}

/// A statement whose instances have other names.
fn statement(s: &Statement, map: &isl::Map) -> Result<Statement> {
    let mut out = s.clone();
    out.name = map.tuple_name(isl::DimType::Out)?.unwrap_or_default();
    out.domain = map.clone().range()?.coalesce()?;
    for a in &mut out.accesses {
        a.relation =
            a.relation.clone().apply_domain(map.clone())?.gist_domain(out.domain.clone())?.coalesce()?;
    }
    let back = isl::PwMultiAff::from_map(map.clone().reverse()?)?;
    for v in &mut out.synthesized {
        v.function = v.function.clone().pullback_pw_multi_aff(back.clone())?.gist(out.domain.clone())?;
    }
    Ok(out)
}

/// Dependences under other names.
fn renamed(deps: &Dependences, scop: &Scop, names: &isl::UnionMap) -> Result<Dependences> {
    let between = |m: &isl::UnionMap| -> Result<isl::UnionMap> {
        Ok(m.clone().apply_domain(names.clone())?.apply_range(names.clone())?.coalesce()?)
    };
    let mut cells = isl::UnionMap::empty(&scop.ctx)?;
    for a in &scop.arrays {
        let all: Vec<String> = (0..a.dims()).map(|d| format!("x{d}")).collect();
        let tuple = format!("{}[{}]", a.name, all.join(", "));
        cells = cells.add_map(isl::Map::read(&scop.ctx, &format!("{{ {tuple} -> {tuple} }}"))?)?;
    }
    let readers = names.clone().product(cells)?;
    Ok(Dependences {
        flow: between(&deps.flow)?,
        anti: between(&deps.anti)?,
        output: between(&deps.output)?,
        tagged_flow: deps.tagged_flow.clone().apply_domain(names.clone())?.apply_range(readers)?,
        no_source: deps.no_source.clone().apply_domain(names.clone())?,
    })
}

/// Each statement behind those that it depends on at its time; else in the order given, as all are if there
/// is a circle.
fn ordered(statements: Vec<Statement>, deps: &Dependences) -> Result<Vec<Statement>> {
    let mut edges = BTreeSet::new();
    for m in deps.flow.clone().union(deps.anti.clone())?.union(deps.output.clone())?.maps()? {
        let side = |ty: isl::DimType| -> Result<Option<usize>> {
            let name = m.tuple_name(ty)?.unwrap_or_default();
            Ok(statements.iter().position(|s| s.name == name))
        };
        if let (Some(from), Some(to)) = (side(isl::DimType::In)?, side(isl::DimType::Out)?)
            && from != to
            && !m.clone().equate(isl::DimType::In, 0, isl::DimType::Out, 0)?.is_empty()?
        {
            edges.insert((from, to));
        }
    }
    let mut order: Vec<usize> = Vec::new();
    let ready = |order: &[usize], n: &usize| {
        !order.contains(n) && edges.iter().all(|(from, to)| to != n || order.contains(from))
    };
    while let Some(next) = (0..statements.len()).find(|n| ready(&order, n)) {
        order.push(next);
    }
    if order.len() < statements.len() {
        return Ok(statements);
    }
    Ok(order.into_iter().map(|n| statements[n].clone()).collect())
}

/// Time outermost, then the statements one after the other.
fn in_order(scop: &Scop, statements: &[Statement]) -> Result<isl::Schedule> {
    let mut domain = isl::UnionSet::empty(&scop.ctx)?;
    let (mut filters, mut times) = (Vec::new(), Vec::new());
    for s in statements {
        domain = domain.add_set(s.domain.clone())?;
        let all: Vec<String> = (0..s.domain.dim(isl::DimType::Set)?).map(|d| format!("i{d}")).collect();
        let tuple = format!("{}[{}]", s.name, all.join(", "));
        filters.push((isl::UnionSet::read(&scop.ctx, &format!("{{ {tuple} }}"))?, Tree::Leaf));
        times.push(format!("{tuple} -> [(i0)]"));
    }
    let time = isl::UnionPwAff::read(&scop.ctx, &format!("{{ {} }}", times.join("; ")))?;
    let body = if filters.len() == 1 { Tree::Leaf } else { Tree::Sequence(filters) };
    ScheduleTree { domain, root: body.under(vec![time]) }.to_isl()
}
