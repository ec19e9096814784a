//! Reductions of one loop, side by side.
//!
//! Each reduction that is cut into parts ([`crate::rewrite`]) is a chain of launches of its own: parts, parts
//! of these, the rest. A loop with a sum, a sum of squares and two extremes would be four such chains, each
//! of which reads the loop's arrays. Here launches of equal shape that do not depend on each other become
//! one, and so do their loops, so that each array is read once; what one thread runs at the ends shares a
//! launch, too.
//!
//! # Which
//! A launch joins an earlier one of its sequence where
//! 1. nothing between the two is what it depends on, nor, for kernels, the earlier one;
//! 2. both are kernels whose statements start or update partial results, with the same values of the members
//!    and of each loop beneath them, or both are what one thread runs;
//! 3. a kernel has no more than [`MAX_ACCESSES`] accesses to memory then.
//!
//! # Why the result is legal
//! Without a dependence between them, instances of the two kernels may run in any order; without one from
//! what is between, the second may run as early as the first.
//!
//! # Example
//! `for i { s += a[i]; m = max(m, a[i]); }` is five launches in place of eight: starts; partial sums with
//! partial maxima; twice parts of these; the ends of both.

use super::fuse::{MAX_ACCESSES, accesses};
use super::marks::{KERNEL, SERIAL};
use super::node::{Node, Search, equal_at, mark};
use crate::planted::planted;
use crate::tree::{Band, Tree, members_mupa};
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;

/// isl operations.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 8;

/// Launches and what is between them, with their instances.
type Steps = Vec<(isl::UnionSet, Tree)>;

/// The tree, with launches of partial results joined.
pub(super) fn joined(node: &Node, tree: Tree) -> Result<Tree> {
    let parts =
        node.model.scop.statements.iter().filter(|s| s.reduction.as_ref().is_some_and(|r| r.regrouped));
    if node.search != Search::Fused || parts.count() < 2 {
        return Ok(tree);
    }
    match budgeted(node.domain.context(), "fusion", BUDGET, || within(node, &tree)) {
        Err(e) if is_quota(&e) => Ok(tree),
        other => other,
    }
}

fn within(node: &Node, tree: &Tree) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf | Tree::Mark(..) => tree.clone(),
        Tree::Band(b) => {
            let mut deps = node.deps.clone();
            for m in &b.members {
                deps = equal_at(&deps, m)?;
            }
            let child = Box::new(within(&Node { deps, ..node.clone() }, &b.child)?);
            Tree::Band(Band { child, ..b.clone() })
        }
        Tree::Sequence(_) => {
            let mut steps = Steps::new();
            flatten(node, tree, &mut steps)?;
            let mut out = Steps::new();
            for step in steps {
                if let Some(step) = earlier(node, &mut out, step)? {
                    out.push(step);
                }
            }
            match out.len() {
                1 => out.swap_remove(0).1,
                _ => Tree::Sequence(out),
            }
        }
    })
}

/// The steps of a sequence, those of sequences in it among them.
fn flatten(node: &Node, tree: &Tree, out: &mut Steps) -> Result<()> {
    let Tree::Sequence(children) = tree else {
        out.push((node.domain.clone(), within(node, tree)?));
        return Ok(());
    };
    for (filter, child) in children {
        let inside = node.restricted(filter)?;
        if !inside.domain.is_empty()? {
            flatten(&inside, child, out)?;
        }
    }
    Ok(())
}

/// Joins a step with an earlier one; gives it back where it cannot be.
fn earlier(
    node: &Node,
    steps: &mut Steps,
    step: (isl::UnionSet, Tree),
) -> Result<Option<(isl::UnionSet, Tree)>> {
    let (domain, tree) = &step;
    let Tree::Mark(name, child) = tree else { return Ok(Some(step)) };
    let needed = node.deps.clone().intersect_range(domain.clone())?.domain()?;
    for (first, before) in steps.iter_mut().rev() {
        let depends = !planted("joined-parts") && !needed.is_disjoint(first)?;
        let Tree::Mark(other, into) = before else { return Ok(Some(step)) };
        let both = match name.as_str() {
            SERIAL if other == SERIAL => Some(Tree::Sequence(vec![
                (first.clone(), into.as_ref().clone()),
                (domain.clone(), child.as_ref().clone()),
            ])),
            KERNEL if other == KERNEL && !depends => kernel(node, (first, into), (domain, child))?,
            _ => None,
        };
        if let Some(both) = both {
            *before = if name == SERIAL { both.marked(SERIAL) } else { both };
            *first = first.clone().union(domain.clone())?;
            return Ok(None);
        }
        if depends {
            break;
        }
    }
    Ok(Some(step))
}

/// The kernel of both bands, if they may be one.
fn kernel(
    node: &Node,
    (first, a): (&isl::UnionSet, &Tree),
    (second, b): (&isl::UnionSet, &Tree),
) -> Result<Option<Tree>> {
    let (Tree::Band(a), Tree::Band(b)) = (a, b) else { return Ok(None) };
    let both = first.clone().union(second.clone())?;
    if !are_parts(node, &both)? || accesses(node, &both)? > MAX_ACCESSES {
        return Ok(None);
    }
    let Some((members, child)) = bands((first, a), (second, b), &[])? else { return Ok(None) };
    Ok(Some(mark(members, child)))
}

/// Whether the statements of a domain start or update partial results.
fn are_parts(node: &Node, domain: &isl::UnionSet) -> Result<bool> {
    for (id, _) in node.model.weights(domain)? {
        let s = &node.model.scop.statements[id.0];
        let updates = s.reduction.as_ref().is_some_and(|r| r.regrouped);
        let starts = s.body.is_empty() && s.subregion.is_none();
        if !updates && !starts {
            return Ok(false);
        }
    }
    Ok(true)
}

type Joined = (Vec<isl::UnionPwAff>, Tree);

/// One band of both, beneath members that have been joined; `None` where their members have other values.
fn bands(
    (first, a): (&isl::UnionSet, &Band),
    (second, b): (&isl::UnionSet, &Band),
    above: &[(isl::UnionPwAff, isl::UnionPwAff)],
) -> Result<Option<Joined>> {
    if a.members.len() != b.members.len() {
        return Ok(None);
    }
    let mut around = above.to_vec();
    let mut members = Vec::new();
    for (m, n) in a.members.iter().zip(&b.members) {
        around.push((m.clone(), n.clone()));
        let own = m.clone().intersect_domain(first.clone())?;
        members.push(own.union_add(n.clone().intersect_domain(second.clone())?)?);
    }
    let (of_a, of_b): (Vec<_>, Vec<_>) = around.iter().cloned().unzip();
    if !values(first, &of_a)?.is_equal(&values(second, &of_b)?)? {
        return Ok(None);
    }
    let child = beneath((first, &a.child), (second, &b.child), &around)?;
    Ok(child.map(|c| (members, c)))
}

/// `{ [m0, m1, ...] }`
fn values(domain: &isl::UnionSet, members: &[isl::UnionPwAff]) -> Result<isl::UnionSet> {
    let all = isl::UnionMap::from_multi_union_pw_aff(members_mupa(members)?)?;
    Ok(all.intersect_domain(domain.clone())?.range()?)
}

/// One tree of both: loops beside loops, and what has none behind what has none.
fn beneath(
    (first, a): (&isl::UnionSet, &Tree),
    (second, b): (&isl::UnionSet, &Tree),
    above: &[(isl::UnionPwAff, isl::UnionPwAff)],
) -> Result<Option<Tree>> {
    if a.depth() == 0 && b.depth() == 0 {
        let mut all = leaves(first, a)?;
        all.extend(leaves(second, b)?);
        return Ok(Some(Tree::Sequence(all)));
    }
    match (a, b) {
        (Tree::Band(a), Tree::Band(b)) => {
            Ok(bands((first, a), (second, b), above)?.map(|(members, child)| child.under(members)))
        }
        (Tree::Sequence(a), Tree::Sequence(b)) if a.len() == b.len() => {
            let mut all = Vec::new();
            for ((f, a), (g, b)) in a.iter().zip(b) {
                let (f, g) = (first.clone().intersect(f.clone())?, second.clone().intersect(g.clone())?);
                let Some(both) = beneath((&f, a), (&g, b), above)? else { return Ok(None) };
                all.push((f.union(g)?, both));
            }
            Ok(Some(Tree::Sequence(all)))
        }
        _ => Ok(None),
    }
}

/// What a tree without loops runs, in order.
fn leaves(domain: &isl::UnionSet, tree: &Tree) -> Result<Steps> {
    match tree {
        Tree::Sequence(children) => {
            let mut all = Steps::new();
            for (filter, child) in children {
                all.extend(leaves(&domain.clone().intersect(filter.clone())?, child)?);
            }
            Ok(all)
        }
        other => Ok(vec![(domain.clone(), other.clone())]),
    }
}
