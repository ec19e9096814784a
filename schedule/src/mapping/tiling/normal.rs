//! Coordinates in which tiles see reuse, and loops that are the same for neighbouring points.
//!
//! Loops of a SCoP count from zero, so a triangle `j >= i` is `j = i + c` with `c >= 0`: the subscript `j`
//! mixes two members, and no read is free of the one or the other. Three changes undo this; none changes the
//! order of the instances at a point, and members are coincident, so instances of different points have no
//! order.
//! 1. *Skewed members*: `x' = x + c y + d`, if then every subscript of the reads in loops follows one member
//!    at most.
//! 2. *Split loops*: a loop whose children run one after the other at each point becomes a sequence of loops;
//!    one in which a child has a single iteration at each point goes.
//! 3. *Shifted loops*: `k' = k + c v + d`, if then no subscript mixes a loop with members.
//!
//! The checker proves the result like any other mapping.
//!
//! # Example
//! `for i, j { for k = i + 1 .. n: B[i,j] += A[k,i] * B0[k,j] }` has the loop `c = k - i - 1` and the
//! subscripts `[c + i + 1, i]`, `[c + i + 1, j]`; with `k = c + i + 1` they are `[k, i]` and `[k, j]`.

use super::super::site::Site;
use super::affine::{Row, functions, linear};
use super::region::leaves;
use crate::Result;
use crate::tree::{Band, Tree};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};
use std::collections::BTreeSet;

/// Loops with more children are not split: the pairs are compared.
const MAX_CHILDREN: usize = 12;

/// The site in such coordinates.
pub(super) fn normalised(scop: &Scop, site: &Site) -> Result<Site> {
    let mut site = site.clone();
    if let Some((from, to, c, d)) = member_skew(scop, &site)? {
        let shifted = shifted(&site.members[to], &[(c, &site.members[from])], d, &site.domain)?;
        site.members[to] = shifted;
    }
    site.inner = split_loops(&site, &site.inner, &site.domain, &mut vec![])?;
    site.inner = shift_loops(scop, &site, &site.inner, &site.domain, &mut vec![])?;
    total(site)
}

/// The subscripts of reads beneath a path of loops, over (v, t); `None` if some are not affine.
fn reads(
    scop: &Scop,
    site: &Site,
    domain: &isl::UnionSet,
    path: &[isl::UnionPwAff],
) -> Result<Option<Vec<Row>>> {
    let mut out = Vec::new();
    let members: Vec<_> = site.members.iter().chain(path).cloned().collect();
    for set in domain.sets()? {
        if set.is_empty()? {
            continue;
        }
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        let Some(time) = functions(&members, &set)? else { return Ok(None) };
        for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
            let array = scop.array(a.array);
            if !array.is_memory() || array.dims() == 0 {
                continue;
            }
            match linear(&time, &a.relation)? {
                Some(rows) => out.extend(rows),
                None => return Ok(None),
            }
        }
    }
    Ok(Some(out))
}

/// `(from, to, c, d)` for the member `to + c from + d` in place of `to`.
fn member_skew(scop: &Scop, site: &Site) -> Result<Option<(usize, usize, i64, i64)>> {
    let n = site.members.len();
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let mut rows = Vec::new();
    for leaf in found.iter().filter(|l| !l.path.is_empty()) {
        match reads(scop, site, &leaf.domain, &leaf.path)? {
            Some(r) => rows.extend(r),
            None => return Ok(None),
        }
    }
    let used = |inputs: &[i64]| (0..n).filter(|m| inputs[*m] != 0).collect::<Vec<_>>();
    let Some(mixed) = rows.iter().find(|r| used(&r.inputs).len() > 1) else { return Ok(None) };
    let [from, to] = used(&mixed.inputs)[..] else { return Ok(None) };
    let (a, b) = (mixed.inputs[from], mixed.inputs[to]);
    if a % b != 0 {
        return Ok(None);
    }
    let c = a / b;
    let plain = |r: &Row| {
        let mut inputs = r.inputs.clone();
        inputs[from] -= c * inputs[to];
        used(&inputs).len() <= 1
    };
    let d = if b == 1 && mixed.params.is_empty() { mixed.constant } else { 0 };
    Ok(rows.iter().all(plain).then_some((from, to, c, d)))
}

/// `member + sum of c term + d` on the instances `domain`.
pub(super) fn shifted(
    member: &isl::UnionPwAff,
    terms: &[(i64, &isl::UnionPwAff)],
    d: i64,
    domain: &isl::UnionSet,
) -> Result<isl::UnionPwAff> {
    let ctx = member.context().clone();
    let mut out = member.clone();
    for (c, term) in terms {
        out = out.add((*term).clone().scale(isl::Val::int(&ctx, *c)?)?)?;
    }
    let mut constant: Option<isl::UnionPwAff> = None;
    for set in domain.sets()? {
        let name = set.tuple_name()?.unwrap_or_default();
        let dims: Vec<_> = (0..set.dim(isl::DimType::Set)?).map(|i| format!("i{i}")).collect();
        let one = isl::UnionPwAff::read(&ctx, &format!("{{ {name}[{}] -> [({d})] }}", dims.join(",")))?;
        constant = Some(match constant {
            Some(all) => all.union_add(one)?,
            None => one,
        });
    }
    Ok(match constant {
        Some(constant) if d != 0 => out.add(constant)?,
        _ => out,
    })
}

/// `{ [v, outer loops] -> [t] }` of a loop over the instances `domain`.
fn iterations(
    site: &Site,
    domain: &isl::UnionSet,
    path: &[isl::UnionPwAff],
    member: &isl::UnionPwAff,
) -> Result<Option<isl::Map>> {
    let outer: Vec<_> = site.members.iter().chain(path).cloned().collect();
    let mut all: Option<isl::Map> = None;
    for set in domain.sets()? {
        if set.is_empty()? {
            continue;
        }
        let (Some(at), Some(t)) = (functions(&outer, &set)?, functions(std::slice::from_ref(member), &set)?)
        else {
            return Ok(None);
        };
        let map = at.reverse()?.apply_range(t)?;
        all = Some(match all {
            Some(a) => a.union(map)?,
            None => map,
        });
    }
    Ok(all)
}

/// The children of sequences in sequences.
fn flat(tree: &Tree, filter: Option<&isl::UnionSet>, out: &mut Vec<(isl::UnionSet, Tree)>) -> Result<()> {
    match (tree, filter) {
        (Tree::Mark(_, child), _) => flat(child, filter, out)?,
        (Tree::Sequence(children), _) => {
            for (f, child) in children {
                let f = match filter {
                    Some(outer) => f.clone().intersect(outer.clone())?,
                    None => f.clone(),
                };
                flat(child, Some(&f), out)?;
            }
        }
        (_, Some(f)) => out.push((f.clone(), tree.clone())),
        (_, None) => {}
    }
    Ok(())
}

/// The tree with one loop a member, split where its children run one after the other at each point.
fn split_loops(
    site: &Site,
    tree: &Tree,
    domain: &isl::UnionSet,
    path: &mut Vec<isl::UnionPwAff>,
) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(_, child) => split_loops(site, child, domain, path)?,
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (f, child) in children {
                let inside = domain.clone().intersect(f.clone())?;
                out.push((f.clone(), split_loops(site, child, &inside, path)?));
            }
            Tree::Sequence(out)
        }
        Tree::Band(b) if b.members.len() > 1 => {
            let mut child = (*b.child).clone();
            for m in b.members.iter().rev() {
                child = child.under(vec![m.clone()]);
            }
            split_loops(site, &child, domain, path)?
        }
        Tree::Band(b) => {
            if let Some(parts) = parts(site, b, domain, path)? {
                let mut out = Vec::new();
                for (f, part) in parts {
                    let inside = domain.clone().intersect(f.clone())?;
                    // A part may hold a loop only if it is another one than before.
                    let part = match &part {
                        Tree::Band(own) => {
                            path.extend(own.members.iter().cloned());
                            let child = split_loops(site, &own.child, &inside, path)?;
                            path.truncate(path.len() - own.members.len());
                            child.under(own.members.clone())
                        }
                        other => other.clone(),
                    };
                    out.push((f, part));
                }
                return Ok(Tree::Sequence(out));
            }
            path.extend(b.members.iter().cloned());
            let child = split_loops(site, &b.child, domain, path)?;
            path.truncate(path.len() - b.members.len());
            child.under(b.members.clone())
        }
    })
}

/// The parts of a loop in their order, if they have one at each point.
fn parts(
    site: &Site,
    band: &Band,
    domain: &isl::UnionSet,
    path: &[isl::UnionPwAff],
) -> Result<Option<Vec<(isl::UnionSet, Tree)>>> {
    let [member] = band.members.as_slice() else { return Ok(None) };
    let mut children = Vec::new();
    flat(&band.child, None, &mut children)?;
    if children.len() < 2 || children.len() > MAX_CHILDREN {
        return Ok(None);
    }
    let mut times = Vec::new();
    let mut kept = Vec::new();
    for (f, child) in children {
        let inside = domain.clone().intersect(f.clone())?;
        if inside.is_empty()? {
            continue;
        }
        match iterations(site, &inside, path, member)? {
            Some(t) => times.push(t),
            None => return Ok(None),
        }
        kept.push((f, child));
    }
    // Whether all of a child runs before all of another, at each point; `strictly` where the text has them
    // the other way round.
    let ctx = domain.context();
    let before = |a: usize, b: usize| -> Result<bool> {
        let pairs = times[a].clone().reverse()?.apply_range(times[b].clone())?;
        let order = if a < b { "{ [s] -> [t] : s <= t }" } else { "{ [s] -> [t] : s < t }" };
        Ok(pairs.is_subset(&isl::Map::read(ctx, order)?)?)
    };
    let mut order: Vec<usize> = Vec::new();
    for i in 0..kept.len() {
        let mut at = order.len();
        while at > 0 && !before(order[at - 1], i)? {
            at -= 1;
        }
        order.insert(at, i);
    }
    for (p, a) in order.iter().enumerate() {
        for b in &order[p + 1..] {
            if !before(*a, *b)? {
                return Ok(None);
            }
        }
    }
    let mut out = Vec::new();
    for i in order {
        let (f, child) = kept[i].clone();
        let single = times[i].is_single_valued()?;
        out.push((f, if single { child } else { child.under(vec![member.clone()]) }));
    }
    Ok(Some(out))
}

/// The tree with shifted loops.
fn shift_loops(
    scop: &Scop,
    site: &Site,
    tree: &Tree,
    domain: &isl::UnionSet,
    path: &mut Vec<isl::UnionPwAff>,
) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(_, child) => shift_loops(scop, site, child, domain, path)?,
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (f, child) in children {
                let inside = domain.clone().intersect(f.clone())?;
                out.push((f.clone(), shift_loops(scop, site, child, &inside, path)?));
            }
            Tree::Sequence(out)
        }
        Tree::Band(b) => {
            let mut members = Vec::new();
            for m in &b.members {
                let m = shift(scop, site, domain, path, m)?;
                path.push(m.clone());
                members.push(m);
            }
            let child = shift_loops(scop, site, &b.child, domain, path)?;
            path.truncate(path.len() - members.len());
            child.under(members)
        }
    })
}

fn shift(
    scop: &Scop,
    site: &Site,
    domain: &isl::UnionSet,
    path: &[isl::UnionPwAff],
    member: &isl::UnionPwAff,
) -> Result<isl::UnionPwAff> {
    let n = site.members.len();
    let at = n + path.len();
    let members: Vec<_> = path.iter().chain([member]).cloned().collect();
    let Some(rows) = reads(scop, site, domain, &members)? else { return Ok(member.clone()) };
    let mixes = |inputs: &[i64]| inputs[at] != 0 && inputs[..n].iter().any(|c| *c != 0);
    let Some(mixed) = rows.iter().find(|r| mixes(&r.inputs)) else { return Ok(member.clone()) };
    let a = mixed.inputs[at];
    if mixed.inputs[..n].iter().any(|c| c % a != 0) {
        return Ok(member.clone());
    }
    let by: Vec<i64> = mixed.inputs[..n].iter().map(|c| c / a).collect();
    let plain = |r: &Row| {
        let mut inputs = r.inputs.clone();
        for (i, c) in inputs.iter_mut().zip(&by) {
            *i -= c * r.inputs[at];
        }
        !mixes(&inputs)
    };
    if !rows.iter().all(plain) {
        return Ok(member.clone());
    }
    let terms: Vec<_> = by.iter().copied().zip(&site.members).filter(|(c, _)| *c != 0).collect();
    let d = if a == 1 && mixed.params.is_empty() { mixed.constant } else { 0 };
    shifted(member, &terms, d, domain)
}

/// The site with members and loops that are defined everywhere, if each statement is in one place of the tree
/// and all are affine.
fn total(site: Site) -> Result<Site> {
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let mut names = BTreeSet::new();
    for leaf in &found {
        for set in leaf.domain.sets()? {
            if !set.is_empty()? && !names.insert(set.tuple_name()?) {
                return Ok(site);
            }
        }
    }
    let mut members = Vec::new();
    for m in &site.members {
        match everywhere(m, &site.domain)? {
            Some(m) => members.push(m),
            None => return Ok(site),
        }
    }
    Ok(match total_tree(&site.inner, &site.domain)? {
        Some(inner) => Site { members, inner, ..site },
        None => site,
    })
}

fn total_tree(tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
    Ok(Some(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(_, child) => return total_tree(child, domain),
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (f, child) in children {
                let inside = domain.clone().intersect(f.clone())?;
                let mut universe = isl::UnionSet::empty(domain.context())?;
                for set in inside.sets()? {
                    if !set.is_empty()? {
                        universe = universe.add_set(isl::Set::universe(set.space()?)?)?;
                    }
                }
                if universe.is_empty()? {
                    continue;
                }
                let Some(child) = total_tree(child, &inside)? else { return Ok(None) };
                out.push((universe, child));
            }
            Tree::Sequence(out)
        }
        Tree::Band(b) => {
            let mut members = Vec::new();
            for m in &b.members {
                match everywhere(m, domain)? {
                    Some(m) => members.push(m),
                    None => return Ok(None),
                }
            }
            let Some(child) = total_tree(&b.child, domain)? else { return Ok(None) };
            child.under(members)
        }
    }))
}

/// A member as one affine function for each statement of `domain`.
fn everywhere(member: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<Option<isl::UnionPwAff>> {
    let mut out: Option<isl::UnionPwAff> = None;
    for set in domain.sets()? {
        if set.is_empty()? {
            continue;
        }
        let universe = isl::Set::universe(set.space()?)?;
        let Some(map) = functions(std::slice::from_ref(member), &universe)? else { return Ok(None) };
        let pieces = isl::PwMultiAff::from_map(map)?.at(0)?.coalesce()?.pieces()?;
        let [(_, f)] = pieces.as_slice() else { return Ok(None) };
        if f.dim(isl::DimType::Div)? > 0 {
            return Ok(None);
        }
        let f = isl::UnionPwAff::from_pw_aff(isl::PwAff::from_aff(f.clone())?)?;
        out = Some(match out {
            Some(all) => all.union_add(f)?,
            None => f,
        });
    }
    Ok(out)
}
