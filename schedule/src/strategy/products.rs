//! Products that a kernel hides: reuse that only a kernel of its own, with more of the loops, could have
//! tiles for.
//!
//! ```text
//! for i { for j { s[i][j] = sum over k a[i][k] * b[j][k];  m[i] = max(m[i], s[i][j]) }  … }
//! ```
//! As one kernel over `i`, each thread loads all of `b`, since the maximum keeps `j` in the thread.
//! Distributed, the product is a kernel over `i` and `j`, whose tiles ([`crate::mapping`]) load each element
//! once for many points: [`HIDDEN`] times as fast, or more.
//!
//! # What it costs
//! Values that were a thread's pass from kernel to kernel, so that a distribution pays only where what passes
//! is no larger than an array that the program has ([`fits`]): a nearest neighbour among all pairs would need
//! memory for all pairs.

use super::cost::Model;
use super::locality::{Movement, movements};
use super::node::Node;
use crate::Result;
use crate::tree::Tree;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Within};

/// How much longer a kernel with a product takes that has no tiles for it.
pub(super) const HIDDEN: f64 = 4.0;

/// Whether a kernel over `parallel`, whose threads run the loops `serial` around `child`, has a product that
/// tiles would need one of these loops for as well.
pub(super) fn hidden(
    node: &Node,
    parallel: &[isl::UnionPwAff],
    serial: &[isl::UnionPwAff],
    child: &Tree,
) -> Result<bool> {
    // Without a loop around the product's own, nothing is hidden.
    if serial.len() + child.depth() < 2 {
        return Ok(false);
    }
    let mut loops: Vec<_> = parallel.iter().chain(serial).cloned().collect();
    within(node.model, parallel.len(), &mut loops, &node.domain, child)
}

fn within(
    model: &Model,
    parallel: usize,
    loops: &mut Vec<isl::UnionPwAff>,
    domain: &isl::UnionSet,
    tree: &Tree,
) -> Result<bool> {
    match tree {
        Tree::Mark(_, child) => within(model, parallel, loops, domain, child),
        Tree::Band(b) => {
            let outer = loops.len();
            loops.extend(b.members.iter().cloned());
            let found = within(model, parallel, loops, domain, &b.child);
            loops.truncate(outer);
            found
        }
        Tree::Sequence(children) => {
            for (filter, child) in children {
                if loops.len() + child.depth() >= parallel + 2
                    && within(model, parallel, loops, &domain.clone().intersect(filter.clone())?, child)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Tree::Leaf if loops.len() < parallel + 2 => Ok(false),
        Tree::Leaf => {
            let (mut all, _) = movements(model, domain, loops)?;
            all.retain(|m| !m.writes && moves(m, loops.len() - 1));
            Ok(!reuse(&all, parallel) && reuse(&all, loops.len() - 1))
        }
    }
}

/// Whether a step along a loop moves an access.
fn moves(m: &Movement, l: usize) -> bool {
    m.steps[l].as_ref().is_some_and(|step| step.iter().any(|d| *d != 0.0))
}

/// Whether some access doesn't move along one of the first loops, and another one doesn't along a second one,
/// each along the other's.
fn reuse(all: &[Movement], loops: usize) -> bool {
    let along = |l: usize, k: usize| all.iter().any(|m| !moves(m, l) && moves(m, k));
    (0..loops).any(|l| (0..l).any(|k| along(l, k) && along(k, l)))
}

/// Whether what passes between groups of statements, and isn't in an array of the program, has no more
/// elements than some array that the program writes in the same iterations.
pub(super) fn fits(node: &Node, groups: &[isl::UnionSet]) -> Result<bool> {
    let scop = node.model.scop;
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if scop.array(id).is_memory() || scop.array(id).dims() == 0 {
            continue;
        }
        let all = scop.accesses(|_, a| a.array == id)?.intersect_domain(node.domain.clone())?;
        let mut users = 0;
        for group in groups {
            users += usize::from(!all.clone().intersect_domain(group.clone())?.is_empty()?);
        }
        if users < 2 {
            continue;
        }
        let cells = all.range()?;
        let mut small = false;
        for s in &scop.statements {
            let mine = scop.accesses(|t, a| t.name == s.name && a.array == id)?;
            if small || mine.is_empty()? || !cells.is_subset(&mine.range()?)? {
                continue;
            }
            for a in s.accesses.iter().filter(|a| a.kind != AccessKind::Read) {
                let plain = a.within.as_ref().is_none_or(Within::is_function);
                small |= plain && scop.array(a.array).is_memory() && a.relation.is_injective()?;
            }
        }
        if !small {
            return Ok(false);
        }
    }
    Ok(true)
}
