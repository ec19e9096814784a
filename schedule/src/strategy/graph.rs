//! Graphs of tiles: where launches in a loop depend on each other, the elements that they write may be cut
//! into tiles, each of which is a *task* of one launch. A block claims the next task from a counter, runs all
//! that writes to its tile, and waits for the tasks whose tiles it reads ([`super::GRAPH`]; flags between
//! tiles: Song, YarKhan, Dongarra, "Dynamic task scheduling for linear algebra algorithms on
//! distributed-memory multicore systems", SC 2009).
//!
//! ```text
//! for k                                   task (I, J): for each tile K of k, in order
//!   S0[k]: a[k][k]                          wait for the tasks whose tiles step K reads
//!   for i: S1[k, i]: a[i][k]                K < J:  for i, j (threads): for k in K: S2        coarse: no thread needs another one's values
//!   for i, j: S2[k, i, j]: a[i][j]          K = J:  for k in K: S0; S1; S2, a barrier each    fine: as the host's loop
//! ```
//! Each element gets its values from one task, in the order of the loop around, so that results are the
//! program's to the last bit.
//!
//! # Invariants
//! - Along each coordinate of a tile no dependence goes backwards. So the sum of the coordinates, which is
//!   the first coordinate of a task, rises from a task to one that depends on it: tasks that are claimed in
//!   lexicographic order wait for tasks that were claimed before.
//! - Dependences within a task go from one step `K` to the same or a later one. Where one joins two threads
//!   in the same step, that step is fine.

use super::marks::{EITHER, GRAPH, KERNEL, NEST, ROWS, SERIAL};
use super::node::{chain, equal_at, mark, nonnegative};
use crate::tree::{Band, ScheduleTree, Tree, member_map, members_mupa};
use crate::{Dependences, Result, budgeted, is_quota, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};

/// Elements of a tile along each of so many dimensions, and iterations of the loop around in a step: with two
/// dimensions a step has as much arithmetic as hides a flag's way from block to block (0.56 µs on an H100).
pub(crate) const TILE: i64 = 64;
/// Dimensions of a tile.
const MOST: usize = 2;
/// isl operations for the search.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 4;

/// The tree, with both forms of loops of launches that may be graphs.
pub(crate) fn joined(scop: &Scop, deps: &Dependences, tree: ScheduleTree) -> Result<ScheduleTree> {
    let known = known(scop)?;
    let node = Node { scop, deps: deps.all(scop)?.intersect_params(known.clone())? };
    let domain = tree.domain.clone().intersect_params(known)?;
    let found = budgeted(&scop.ctx, "graphs of tiles", BUDGET, || {
        let root = walk(&node, &domain, &tree.root)?;
        let Some(other) = other_form(&root) else { return Ok(root) };
        let as_it_is = match other {
            Tree::Band(b) if b.child.has_mark(KERNEL) => graph(&node, &domain, other)?,
            _ => None,
        };
        let as_it_is =
            as_it_is.filter(|graph| matches!(graph, Tree::Mark(_, graph) if has_coarse_steps(graph)));
        let found = match as_it_is {
            Some(graph) => Some(graph),
            None => turned(&node, deps, &domain)?,
        };
        Ok(match found {
            Some(graph) => {
                let forms = vec![(domain.clone(), graph), (domain.clone(), other.clone())];
                Tree::Sequence(forms).marked(EITHER)
            }
            None => root,
        })
    });
    match found {
        Ok(root) => Ok(ScheduleTree { root, ..tree }),
        Err(e) if is_quota(&e) => Ok(tree),
        Err(e) => Err(e),
    }
}

/// What a subtree is under.
struct Node<'a> {
    scop: &'a Scop,
    /// Dependences that no loop around carries.
    deps: isl::UnionMap,
}

fn walk(node: &Node, domain: &isl::UnionSet, tree: &Tree) -> Result<Tree> {
    Ok(match tree {
        Tree::Band(b) if b.child.has_mark(KERNEL) => {
            if let Some(graph) = graph(node, domain, tree)? {
                let forms = vec![(domain.clone(), graph), (domain.clone(), tree.clone())];
                return Ok(Tree::Sequence(forms).marked(EITHER));
            }
            let deps = node.deps.clone().eq_at(members_mupa(&b.members)?)?;
            let child = walk(&Node { deps, ..*node }, domain, &b.child)?;
            Tree::Band(Band { child: Box::new(child), ..b.clone() })
        }
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (filter, child) in children {
                let inside = domain.clone().intersect(filter.clone())?;
                out.push((filter.clone(), walk(node, &inside, child)?));
            }
            Tree::Sequence(out)
        }
        other => other.clone(),
    })
}

/// What a graph in another order would be the other form of: a kernel whose threads have loops, launches of
/// which there is a graph that waits in all its steps, or what a nest is the other form of: the tiles of one
/// system keep a device busy as many systems do.
fn other_form(root: &Tree) -> Option<&Tree> {
    match root {
        Tree::Mark(m, child) if m == EITHER => match &**child {
            Tree::Sequence(forms) => match &forms[..] {
                [(_, Tree::Mark(m, graph)), (_, launches)] if m == GRAPH => {
                    (!has_coarse_steps(graph)).then_some(launches)
                }
                [_, (_, launches)] => Some(launches),
                _ => None,
            },
            _ => None,
        },
        Tree::Mark(m, child) if m == KERNEL => match &**child {
            Tree::Band(b) if b.child.depth() > 0 => Some(root),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a task has steps in which no thread needs another one's values.
fn has_coarse_steps(graph: &Tree) -> bool {
    match graph {
        Tree::Band(b) => has_coarse_steps(&b.child),
        Tree::Sequence(parts) => parts.iter().any(|(_, part)| !matches!(part, Tree::Band(_))),
        _ => false,
    }
}

/// A graph in the order of isl's scheduler, of what is parallel around loops that are not, as a triangular
/// system with many right-hand sides: the first loop that is not parallel is around all others, and one
/// iteration of it is a launch for each statement.
fn turned(node: &Node, deps: &Dependences, domain: &isl::UnionSet) -> Result<Option<Tree>> {
    // Elements are read by others' instances, and statements have a loop more than they have.
    let Some(elements) = owners(node.scop, domain, &node.deps)? else { return Ok(None) };
    let (mut waits, mut loops) = (false, 0);
    for e in &elements {
        waits |= !super::coincident(&node.deps, e)?;
    }
    for set in domain.sets()? {
        loops = loops.max(set.dim(isl::DimType::Set)? as usize);
    }
    if !waits || elements.len() != MOST || loops <= elements.len() {
        return Ok(None);
    }
    let order = match super::isl_schedule(node.scop, deps) {
        Err(e) if super::gives_up(&e) => return Ok(None),
        other => other?,
    };
    let (mut members, child) = chain(&order.root);
    let mut time = None;
    for (n, m) in members.iter().enumerate() {
        if time.is_none() && !super::coincident(&node.deps, m)? {
            time = Some(n);
        }
    }
    let Some(time) = time.filter(|_| child.depth() == 0) else { return Ok(None) };
    let time = members.remove(time);
    let inside = equal_at(&node.deps, &time)?;
    // Statements, each behind those that it depends on in the same step.
    let (mut left, mut launches) = (domain.sets()?, Vec::new());
    while !left.is_empty() {
        let mut next = None;
        for (n, set) in left.iter().enumerate() {
            let mut free = true;
            for other in left.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, other)| other) {
                let from = inside.clone().intersect_domain(isl::UnionSet::from_set(other.clone())?)?;
                free &= from.intersect_range(isl::UnionSet::from_set(set.clone())?)?.is_empty()?;
            }
            if free && next.is_none() {
                next = Some(n);
            }
        }
        let Some(next) = next else { return Ok(None) };
        let own = isl::UnionSet::from_set(left.remove(next))?;
        let within = inside.clone().intersect_domain(own.clone())?.intersect_range(own.clone())?;
        let mut parallel = Vec::new();
        for m in &members {
            let m = m.clone().intersect_domain(own.clone().universe()?)?;
            if !super::coincident(&within, &m)? {
                return Ok(None);
            }
            parallel.push(m);
        }
        launches.push((own.universe()?, mark(parallel, Tree::Leaf)));
    }
    let tree = Tree::Band(Band {
        members: vec![time],
        permutable: false,
        coincident: vec![false],
        child: Box::new(Tree::Sequence(launches)),
    });
    graph(node, domain, &tree)
}

/// What would be a launch.
struct Leaf {
    domain: isl::UnionSet,
    /// The loops around, of the tree that becomes a graph.
    loops: Vec<isl::UnionPwAff>,
    members: Vec<isl::UnionPwAff>,
    /// What a thread runs.
    inner: Tree,
}

/// The leaves beneath a tree of launches; false if there is something else among them.
fn leaves(
    tree: &Tree,
    domain: &isl::UnionSet,
    loops: &[isl::UnionPwAff],
    out: &mut Vec<Leaf>,
) -> Result<bool> {
    let mut leaf = |members: &[isl::UnionPwAff], inner: &Tree| {
        out.push(Leaf {
            domain: domain.clone(),
            loops: loops.to_vec(),
            members: members.to_vec(),
            inner: inner.clone(),
        });
    };
    match tree {
        Tree::Mark(m, child) if m == KERNEL => match &**child {
            Tree::Band(b) => leaf(&b.members, &b.child),
            _ => return Ok(false),
        },
        Tree::Mark(m, child) if m == SERIAL => leaf(&[], child),
        Tree::Leaf => leaf(&[], &Tree::Leaf),
        Tree::Mark(m, _) if m == EITHER || m == NEST || m == ROWS => return Ok(false),
        Tree::Mark(_, child) => return leaves(child, domain, loops, out),
        Tree::Band(b) => {
            let loops = [loops, &b.members].concat();
            return leaves(&b.child, domain, &loops, out);
        }
        Tree::Sequence(children) => {
            for (filter, child) in children {
                let inside = domain.clone().intersect(filter.clone())?;
                if !inside.is_empty()? && !leaves(child, &inside, loops, out)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// A loop of launches as a graph, if it can be one.
fn graph(node: &Node, domain: &isl::UnionSet, tree: &Tree) -> Result<Option<Tree>> {
    let Tree::Band(b) = tree else { return Ok(None) };
    let Some(time) = b.members.first() else { return Ok(None) };
    let mut found = Vec::new();
    if !leaves(tree, domain, &[], &mut found)? {
        return Ok(None);
    }
    let deps = node.deps.clone().intersect_domain(domain.clone())?.intersect_range(domain.clone())?;
    let Some(elements) = owners(node.scop, domain, &deps)? else { return Ok(None) };
    for leaf in &mut found {
        *leaf = by_element(leaf, &elements)?;
    }
    let (mut tiles, mut waits, mut alone) = (Vec::new(), false, None);
    for e in elements {
        let back = e.clone().scale(isl::Val::int(domain.context(), -1)?)?;
        let Some(e) = [e, back].into_iter().find(|e| nonnegative(&deps, e).unwrap_or(false)) else {
            continue;
        };
        waits |= !super::coincident(&deps, &e)?;
        tiles.push(tile(&e)?);
        alone = Some(e);
    }
    if !waits || tiles.len() > MOST || !is_loop_of(time, domain)? {
        return Ok(None);
    }
    if let (Some(e), 1) = (alone, tiles.len())
        && is_of_iteration(&e, time, domain)?
    {
        return Ok(None);
    }
    let mut sum = tiles[0].clone();
    for t in &tiles[1..] {
        sum = sum.add(t.clone())?;
    }
    let mut task = vec![sum];
    task.extend(tiles[..tiles.len() - 1].iter().cloned());
    let step = tile(&time.clone().intersect_domain(domain.clone().universe()?)?)?;
    let place = members_mupa(&[task.as_slice(), std::slice::from_ref(&step)].concat())?;

    // Where a step joins threads. A thread has the same elements in all iterations of the loop around,
    // whatever the members of the launch are.
    let mut joined = deps.clone().eq_at(place.clone())?;
    for leaf in &found {
        let own =
            joined.clone().intersect_domain(leaf.domain.clone())?.intersect_range(leaf.domain.clone())?;
        let own = if leaf.members.is_empty() { own } else { own.eq_at(members_mupa(&leaf.members)?)? };
        joined = joined.subtract(own)?;
    }
    let all = place.clone();
    let place = isl::UnionMap::from_multi_union_pw_aff(place)?.intersect_domain(domain.clone())?;
    let ends = joined.clone().domain()?.union(joined.range()?)?;
    let mut fine = isl::UnionSet::empty(domain.context())?;
    for set in ends.apply(place.clone())?.sets()? {
        // Also where the program's sizes leave one iteration of a step, which joins nothing: fewer cases.
        let params = set.dim(isl::DimType::Param)?;
        let set = set.remove_divs()?.drop_constraints_involving_dims(isl::DimType::Param, 0, params)?;
        fine = fine.add_set(set.coalesce()?)?;
    }
    let fine = place.intersect_range(fine.coalesce()?)?.domain()?.coalesce()?;
    let coarse = domain.clone().subtract(fine.clone())?.coalesce()?;
    let mut parts = Vec::new();
    for leaf in found {
        for part in apart(&leaf.domain.clone().intersect(coarse.clone())?.coalesce()?, &deps, &all)? {
            let own = |ms: &[isl::UnionPwAff]| -> Result<Vec<isl::UnionPwAff>> {
                Ok(ms
                    .iter()
                    .map(|m| m.clone().intersect_domain(part.clone().universe()?))
                    .collect::<isl::Result<_>>()?)
            };
            let inner = only(&leaf.inner, &part)?.under(own(&leaf.loops)?);
            let tree = match leaf.members.is_empty() {
                true => inner.marked(SERIAL),
                false => mark(own(&leaf.members)?, inner),
            };
            parts.push((part, tree));
        }
    }
    for part in kinds(&fine, &tiles)? {
        let own = only(tree, &part)?;
        parts.push((part, own));
    }
    let steps = Band {
        members: vec![step],
        permutable: false,
        coincident: vec![false],
        child: Box::new(Tree::Sequence(parts)),
    };
    let n = task.len();
    let band = Band {
        members: task,
        permutable: false,
        coincident: vec![false; n],
        child: Box::new(Tree::Band(steps)),
    };
    Ok(Some(Tree::Band(band).marked(GRAPH)))
}

/// Parts of a domain by kinds of tiles: which statements they have instances of. A kind has its steps at one
/// place of the loop around mostly, which code for all kinds at once would look for in all iterations.
fn kinds(domain: &isl::UnionSet, tiles: &[isl::UnionPwAff]) -> Result<Vec<isl::UnionSet>> {
    if domain.is_empty()? {
        return Ok(Vec::new());
    }
    let tile = isl::UnionMap::from_multi_union_pw_aff(members_mupa(tiles)?)?;
    let tile = tile.intersect_domain(domain.clone())?;
    let mut kinds = vec![tile.clone().range()?.universe()?];
    for statement in domain.sets()? {
        let mut with = isl::UnionSet::empty(domain.context())?;
        for set in isl::UnionSet::from_set(statement)?.apply(tile.clone())?.sets()? {
            // Not by sizes, as above.
            let params = set.dim(isl::DimType::Param)?;
            let set = set.remove_divs()?.drop_constraints_involving_dims(isl::DimType::Param, 0, params)?;
            with = with.add_set(set.coalesce()?)?;
        }
        let mut split = Vec::new();
        for kind in kinds {
            split.push(kind.clone().intersect(with.clone())?.coalesce()?);
            split.push(kind.subtract(with.clone())?.coalesce()?);
        }
        kinds = split;
    }
    let mut out = Vec::new();
    for kind in kinds {
        let part = tile.clone().intersect_range(kind)?.domain()?.coalesce()?;
        if !part.is_empty()? {
            out.push(part);
        }
    }
    Ok(out)
}

/// A leaf whose members are the subscripts of the elements that it writes, if these tell its instances apart
/// as well.
fn by_element(leaf: &Leaf, elements: &[isl::UnionPwAff]) -> Result<Leaf> {
    let (members, loops) = (leaf.members.clone(), leaf.loops.clone());
    let mut out = Leaf { domain: leaf.domain.clone(), loops, members, inner: leaf.inner.clone() };
    if leaf.members.len() != elements.len() {
        return Ok(out);
    }
    let filter = leaf.domain.clone().universe()?;
    let own = |e: &isl::UnionPwAff| e.clone().intersect_domain(filter.clone());
    let own = elements.iter().map(own).collect::<isl::Result<Vec<_>>>()?;
    let mut apart = true;
    let all = members_mupa(&[own.as_slice(), &leaf.loops].concat())?;
    for map in isl::UnionMap::from_multi_union_pw_aff(all)?.intersect_domain(leaf.domain.clone())?.maps()? {
        apart &= map.is_injective()?;
    }
    let inner = leaf.inner.depth();
    if apart && inner == 0 {
        out.members = own;
    }
    Ok(out)
}

/// Parts of a leaf that a thread may run one after the other in each step of a task: a statement each, if no
/// dependence joins two of them there.
fn apart(
    domain: &isl::UnionSet,
    deps: &isl::UnionMap,
    place: &isl::MultiUnionPwAff,
) -> Result<Vec<isl::UnionSet>> {
    let sets = domain.sets()?;
    let inside = deps.clone().intersect_domain(domain.clone())?.intersect_range(domain.clone())?;
    for map in inside.eq_at(place.clone())?.maps()? {
        if map.tuple_name(isl::DimType::In)? != map.tuple_name(isl::DimType::Out)? {
            return Ok(vec![domain.clone()]);
        }
    }
    let mut out = Vec::new();
    for set in sets {
        if !set.is_empty()? {
            out.push(isl::UnionSet::from_set(set)?);
        }
    }
    Ok(out)
}

/// What of a tree is for a domain.
fn only(tree: &Tree, domain: &isl::UnionSet) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(m, child) => only(child, domain)?.marked(m),
        Tree::Band(b) => Tree::Band(Band { child: Box::new(only(&b.child, domain)?), ..b.clone() }),
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (filter, child) in children {
                let inside = domain.clone().intersect(filter.clone())?;
                if !inside.is_empty()? {
                    out.push((filter.clone(), only(child, &inside)?));
                }
            }
            match out.len() {
                1 => out.remove(0).1,
                _ => Tree::Sequence(out),
            }
        }
    })
}

/// Whether all that an iteration of the loop around writes is at one value of a coordinate, as where all
/// states of a time loop are kept: each task would be some iterations as a whole, and wait for the one
/// before.
fn is_of_iteration(e: &isl::UnionPwAff, time: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<bool> {
    let map = |m: &isl::UnionPwAff| -> Result<isl::UnionMap> {
        let m = members_mupa(std::slice::from_ref(m))?;
        Ok(isl::UnionMap::from_multi_union_pw_aff(m)?.intersect_domain(domain.clone())?)
    };
    Ok(map(time)?.reverse()?.apply_range(map(e)?)?.is_single_valued()?)
}

/// Whether a member is one loop of each statement, and none that several are mixed in.
fn is_loop_of(time: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<bool> {
    for map in member_map(time)?.intersect_domain(domain.clone())?.maps()? {
        let rows = super::linear(&map)?;
        if !rows.iter().all(|row| row.iter().filter(|c| **c != 0.0).count() <= 1) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `{ S[i] -> [floor(v / TILE)] }`
fn tile(member: &isl::UnionPwAff) -> Result<isl::UnionPwAff> {
    let size = isl::Val::int(member.context(), TILE)?;
    Ok(member.clone().scale_down(size)?.floor()?)
}

/// The element that an instance writes, by its subscripts: `{ S[i] -> [s] }` each. Statements that write
/// scalars alone belong to whoever needs the scalar. `None` if there is no such element, or not of as many
/// subscripts everywhere.
fn owners(scop: &Scop, domain: &isl::UnionSet, deps: &isl::UnionMap) -> Result<Option<Vec<isl::UnionPwAff>>> {
    let (mut known, mut left) = (Vec::new(), Vec::new());
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
            return Ok(None);
        };
        let writes: Vec<_> = s
            .accesses
            .iter()
            .filter(|a| a.kind != AccessKind::Read && scop.array(a.array).is_memory())
            .collect();
        if !s.is_plain() {
            return Ok(None);
        }
        match writes[..] {
            [] => left.push(set),
            [w] if w.kind == AccessKind::MustWrite && w.relation.is_single_valued()? => {
                known.push(w.relation.clone().intersect_domain(set)?.reset_tuple_id(isl::DimType::Out)?);
            }
            _ => return Ok(None),
        }
    }
    let Some(dims) = known.first().map(|m| m.dim(isl::DimType::Out)).transpose()? else { return Ok(None) };
    while !left.is_empty() {
        let before = left.len();
        let mut still = Vec::new();
        for set in left {
            let mut owner = None;
            for target in &known {
                let from = deps.clone().intersect_domain(isl::UnionSet::from_set(set.clone())?)?;
                let to = from.apply_range(isl::UnionMap::from_map(target.clone())?)?;
                for map in to.maps()? {
                    if map.is_single_valued()? && set.is_subset(&map.clone().domain()?)? {
                        owner = Some(map.coalesce()?);
                    }
                }
            }
            match owner {
                Some(map) => known.push(map),
                None => still.push(set),
            }
        }
        left = still;
        if left.len() == before {
            return Ok(None);
        }
    }
    let mut out: Vec<isl::UnionPwAff> = Vec::new();
    for map in known {
        if map.dim(isl::DimType::Out)? != dims {
            return Ok(None);
        }
        let f = isl::PwMultiAff::from_map(map)?;
        for d in 0..dims as usize {
            let f = isl::UnionPwAff::from_pw_aff(f.at(d as i32)?)?;
            match out.get_mut(d) {
                Some(all) => *all = all.clone().union_add(f)?,
                None => out.push(f),
            }
        }
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests;
