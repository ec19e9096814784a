//! Rows that a block has to itself: reductions along a row and what uses their results, one after the other,
//! in one launch.
//!
//! ```text
//! for i  { m = max over j x[i][j];  for j y[i][j] = exp(x[i][j] - m);  s = sum over j y[i][j];  for j y[i][j] /= s }
//! ```
//! are four launches, each of which reads or writes whole matrices. A block of a few rows copies them to
//! shared memory once, runs the four as steps with a barrier behind each, and stores results:
//! [`super::ROWS`].
//!
//! # Which
//! Consecutive kernels `K0 .. Kn` of the launches' sequence, where
//! 1. the first members of all, as one, are coincident: no dependence joins two rows;
//! 2. some have one member and loops beneath that aren't nested (reductions in order, one thread a row), some
//!    two and no loop, or a loop that adds up a part of a row ([`crate::rewrite`]: a thread a part);
//! 3. there is an array of rows: of two dimensions, the first subscript the row plus a constant, the second
//!    from 0 to less than [`COLUMNS`], and it is read by a reduction or touched by several of the kernels.
//!
//! Sizes are known at run time: shorter and longer rows, and few of them, are launched kernel by kernel.

use super::marks::{KERNEL, ROWS};
use super::node::{Node, Search, coincident};
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, AccessValue, ArrayId, Scop, Within};

/// Elements of a row in shared memory, at most.
pub(crate) const COLUMNS: i64 = 1024;
/// Shorter rows leave most threads of a block without work.
const LEAST_COLUMNS: i64 = 128;
/// Fewer rows leave most of a device idle.
const LEAST_ROWS: i64 = 128;
/// Bytes of shared memory of a block: three share a multiprocessor.
const BYTES: i64 = 72 * 1024;
/// Rows of a block: a thread adds each up, so that fewer leave too much of the time to that.
const MOST_ROWS: i64 = 16;
const FEWEST_ROWS: i64 = 4;
/// isl operations.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 8;

/// An array of rows in some kernels.
pub(crate) struct Rows {
    pub array: ArrayId,
    /// The first subscript is the row plus this.
    pub ahead: i64,
    /// The second one's values: `[params] -> { [s] }`.
    pub columns: isl::Set,
}

/// What is launched, and its instances.
struct Leaf {
    filter: isl::UnionSet,
    domain: isl::UnionSet,
    tree: Tree,
    row: isl::UnionPwAff,
    /// One member, and loops.
    reduces: bool,
}

/// Rows of a block for arrays of these.
pub(crate) fn rows_of_block(scop: &Scop, arrays: &[Rows]) -> Option<i64> {
    let bytes: i64 = arrays.iter().map(|r| i64::from(scop.array(r.array).elem.bytes())).sum();
    // A column more keeps the rows in different banks.
    let fit = BYTES / (bytes.max(1) * (COLUMNS + 1));
    let rows = [MOST_ROWS, MOST_ROWS / 2, FEWEST_ROWS].into_iter().find(|r| *r <= fit);
    rows.filter(|_| !arrays.is_empty())
}

/// The tree, with kernels that blocks of rows run in one launch where sizes allow it.
pub(super) fn joined(node: &Node, tree: Tree) -> Result<Tree> {
    if node.search != Search::Fused || !matches!(tree, Tree::Sequence(_)) {
        return Ok(tree);
    }
    match budgeted(node.domain.context(), "rows", BUDGET, || with_rows(node, &tree)) {
        Ok(Some(new)) => Ok(new),
        Ok(None) => Ok(tree),
        Err(e) if is_quota(&e) => Ok(tree),
        Err(e) => Err(e),
    }
}

fn with_rows(node: &Node, tree: &Tree) -> Result<Option<Tree>> {
    let mut parts = Vec::new();
    flatten(tree, &node.domain, &mut parts)?;
    let (mut out, mut any, mut at) = (Vec::new(), false, 0);
    while at < parts.len() {
        let run = run(node, &parts[at..])?;
        let split = if run.len() > 1 { split(node, &run)? } else { None };
        match split {
            Some(children) => {
                any = true;
                at += run.len();
                out.extend(children);
            }
            None => {
                out.push((parts[at].0.clone(), parts[at].1.clone()));
                at += 1;
            }
        }
    }
    Ok(any.then_some(Tree::Sequence(out)))
}

/// The children of nested sequences in one.
fn flatten(tree: &Tree, filter: &isl::UnionSet, out: &mut Vec<(isl::UnionSet, Tree)>) -> Result<()> {
    match tree {
        Tree::Sequence(children) => {
            for (f, child) in children {
                flatten(child, &filter.clone().intersect(f.clone())?, out)?;
            }
        }
        other => out.push((filter.clone(), other.clone())),
    }
    Ok(())
}

fn leaf(node: &Node, (filter, tree): &(isl::UnionSet, Tree)) -> Result<Option<Leaf>> {
    let Tree::Mark(name, band) = tree else { return Ok(None) };
    let Tree::Band(b) = &**band else { return Ok(None) };
    let depth = b.child.depth();
    let reduces = b.members.len() <= 2 && depth == 1;
    let maps = b.members.len() <= 2 && depth == 0;
    if name != KERNEL || !(reduces || maps) {
        return Ok(None);
    }
    let domain = node.domain.clone().intersect(filter.clone())?;
    if reduces && b.members.len() == 2 && !are_parts(node.model.scop, &domain)? {
        return Ok(None);
    }
    for (id, _) in node.model.weights(&domain)? {
        if !node.model.scop.statements[id.0].is_plain() {
            return Ok(None);
        }
    }
    let row = b.members[0].clone().intersect_domain(filter.clone().universe()?)?;
    Ok(Some(Leaf { filter: filter.clone(), domain, tree: tree.clone(), row, reduces }))
}

/// Whether all loops beneath rows and columns add up parts of reductions, and not of running totals, which go
/// through the parts once more.
fn are_parts(scop: &Scop, domain: &isl::UnionSet) -> Result<bool> {
    for s in scop.statements.iter().filter(|s| s.running.is_some()) {
        if s.domain.dim(isl::DimType::Set)? > 2 {
            return Ok(false);
        }
    }
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
            return Ok(false);
        };
        let regrouped = s.reduction.as_ref().is_some_and(|r| r.regrouped);
        if set.dim(isl::DimType::Set)? > 2 && !regrouped {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The instances beneath marks of rows, if there are any.
pub(crate) fn instances_of_rows(tree: &ScheduleTree) -> Result<Option<isl::UnionSet>> {
    fn beneath(tree: &Tree, domain: &isl::UnionSet) -> Result<isl::UnionSet> {
        let mut out = isl::UnionSet::empty(domain.context())?;
        match tree {
            Tree::Leaf => {}
            Tree::Mark(name, _) if name == ROWS => out = domain.clone(),
            Tree::Mark(_, child) => out = beneath(child, domain)?,
            Tree::Band(b) => out = beneath(&b.child, domain)?,
            Tree::Sequence(children) => {
                for (filter, child) in children {
                    out = out.union(beneath(child, &domain.clone().intersect(filter.clone())?)?)?;
                }
            }
        }
        Ok(out)
    }
    let found = beneath(&tree.root, &tree.domain)?;
    Ok((!found.is_empty()?).then_some(found))
}

/// The longest run of kernels from the first on whose first members are coincident as one.
fn run(node: &Node, parts: &[(isl::UnionSet, Tree)]) -> Result<Vec<Leaf>> {
    let mut out: Vec<Leaf> = Vec::new();
    for part in parts {
        let Some(next) = leaf(node, part)? else { break };
        let (mut row, mut all) = (next.row.clone(), next.domain.clone());
        // One statement in several kernels would be two rows at once.
        let mut apart = true;
        for l in &out {
            apart &= l.filter.clone().universe()?.is_disjoint(&next.filter.clone().universe()?)?;
            row = row.union_add(l.row.clone())?;
            all = all.union(l.domain.clone())?;
        }
        let deps = node.deps.clone().intersect_domain(all.clone())?.intersect_range(all)?;
        if !apart || !coincident(&deps, &row)? {
            break;
        }
        out.push(next);
    }
    Ok(out)
}

/// For sizes with rows that fit, blocks of rows; for others the kernels.
fn split(node: &Node, run: &[Leaf]) -> Result<Option<Vec<(isl::UnionSet, Tree)>>> {
    let scop = node.model.scop;
    // (Parts alone gain nothing by rows in shared memory: those of running totals, say.)
    let plain = |b: &Tree| matches!(b, Tree::Band(b) if b.members.len() == 2 && b.child.depth() == 0);
    let wide = |l: &Leaf| matches!(&l.tree, Tree::Mark(_, b) if plain(b));
    if !run.iter().any(|l| l.reduces) || !run.iter().any(wide) {
        return Ok(None);
    }
    let mut row: Option<isl::UnionPwAff> = None;
    let mut all = isl::UnionSet::empty(node.domain.context())?;
    for l in run {
        row = Some(match row {
            Some(row) => row.union_add(l.row.clone())?,
            None => l.row.clone(),
        });
        all = all.union(l.domain.clone())?;
    }
    let Some(row) = row else { return Ok(None) };
    let domains: Vec<_> = run.iter().map(|l| (l.domain.clone(), l.reduces)).collect();
    let found = arrays(scop, &domains, &row)?;
    let Some(rows) = rows_of_block(scop, &found) else { return Ok(None) };
    let Some(fit) = sizes(&found, &row, &all)? else { return Ok(None) };
    let fit = fit.coalesce()?;
    let inside = all.clone().intersect_params(fit.clone())?;
    if inside.is_empty()? {
        return Ok(None);
    }
    let size = isl::Val::int(node.domain.context(), rows)?;
    let mut block = isl::UnionPwAff::empty(all.space()?)?;
    for map in member_map(&row)?.maps()? {
        let f = isl::PwMultiAff::from_map(map)?.at(0)?;
        let f = f.scale_down(size.clone())?.floor()?;
        block = block.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
    }
    let steps = run.iter().map(|l| (l.filter.clone(), l.tree.clone())).collect();
    let band = Band {
        members: vec![block],
        permutable: true,
        coincident: vec![true],
        child: Box::new(Tree::Sequence(steps)),
    };
    let mut out = vec![(inside, Tree::Band(band).marked(ROWS))];
    let others = fit.complement()?;
    for l in run {
        let rest = l.domain.clone().intersect_params(others.clone())?;
        if !rest.is_empty()? {
            out.push((rest, l.tree.clone()));
        }
    }
    Ok(Some(out))
}

/// `[params] -> { : rows are of a length that fits, and not few }`
fn sizes(found: &[Rows], row: &isl::UnionPwAff, all: &isl::UnionSet) -> Result<Option<isl::Set>> {
    let constant = |v: i64| isl::Val::int(all.context(), v);
    let mut fit: Option<isl::Set> = None;
    let mut longest: Option<isl::PwAff> = None;
    for r in found {
        let last = r.columns.clone().dim_max(0)?.coalesce()?;
        let most = last.clone().add_constant(constant(1 - COLUMNS)?)?;
        let fits = most.neg()?.nonneg_set()?;
        fit = Some(match fit {
            Some(f) => f.intersect(fits)?,
            None => fits,
        });
        longest = Some(match longest {
            Some(l) => l.union_max(last)?,
            None => last,
        });
    }
    let (Some(fit), Some(longest)) = (fit, longest) else { return Ok(None) };
    let long = longest.add_constant(constant(1 - LEAST_COLUMNS)?)?.nonneg_set()?;
    let values = isl::Set::from_union_set(all.clone().apply(member_map(row)?)?)?.coalesce()?;
    let many = values.clone().dim_max(0)?.sub(values.dim_min(0)?)?;
    let many = many.add_constant(constant(1 - LEAST_ROWS)?)?.nonneg_set()?;
    Ok(Some(fit.intersect(long)?.intersect(many)?.params()?))
}

/// The arrays of rows in kernels of these domains, of which reductions are marked.
pub(crate) fn arrays(
    scop: &Scop,
    kernels: &[(isl::UnionSet, bool)],
    row: &isl::UnionPwAff,
) -> Result<Vec<Rows>> {
    let mut all = isl::UnionSet::empty(&scop.ctx)?;
    for (domain, _) in kernels {
        all = all.union(domain.clone())?;
    }
    let rows = member_map(row)?.intersect_domain(all.clone())?.reverse()?;
    let mut out = Vec::new();
    for id in (0..scop.arrays.len()).map(ArrayId) {
        let array = scop.array(id);
        if !array.is_memory() || array.dims() != 2 || !is_plain(scop, id, &all)? {
            continue;
        }
        let touched = scop.accesses(|_, a| a.array == id)?;
        let read = scop.accesses(|_, a| a.array == id && a.kind == AccessKind::Read)?;
        let (mut users, mut reduced) = (0, false);
        for (domain, reduces) in kernels {
            users += usize::from(!touched.clone().intersect_domain(domain.clone())?.is_empty()?);
            reduced |= *reduces && !read.clone().intersect_domain(domain.clone())?.is_empty()?;
        }
        if users < 2 && !reduced {
            continue;
        }
        // { [row] -> [s] }
        let of = |d: u32| -> Result<isl::UnionMap> {
            let text = format!("{{ {}[s0, s1] -> [s{d}] }}", array.name);
            let accesses = touched.clone().intersect_domain(all.clone())?;
            let subscripts = accesses.apply_range(isl::UnionMap::read(&scop.ctx, &text)?)?;
            Ok(rows.clone().apply_range(subscripts)?)
        };
        let ahead = isl::Set::from_union_set(of(0)?.deltas()?)?.coalesce()?;
        let Some(ahead) = ahead.plain_get_val_if_fixed(isl::DimType::Set, 0)?.to_i64() else { continue };
        let columns = isl::Set::from_union_set(of(1)?.range()?)?.coalesce()?;
        let negative = isl::Set::read(&scop.ctx, "{ [s] : s < 0 }")?;
        if !columns.is_disjoint(&negative)? || !columns.dim_has_upper_bound(isl::DimType::Set, 0)? {
            continue;
        }
        out.push(Rows { array: id, ahead, columns });
    }
    Ok(out)
}

/// Whether all accesses of a domain to an array are loads, also of what was stored before, and stores of
/// single elements.
fn is_plain(scop: &Scop, id: ArrayId, domain: &isl::UnionSet) -> Result<bool> {
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
            return Ok(false);
        };
        for a in s.accesses.iter().filter(|a| a.array == id) {
            let once = a.within.as_ref().is_none_or(Within::is_function);
            let plain = matches!(a.value, AccessValue::Instruction(_) | AccessValue::ScalarRead(_));
            if !once || !plain || !a.relation.is_single_valued()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
