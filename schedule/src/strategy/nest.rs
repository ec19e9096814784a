//! Nests: where loops are parallel around loops that are not, and parallel loops are beneath those, an
//! iteration of the outer ones may be a block that runs the middle ones by itself, with a barrier where there
//! would be a launch ([`super::NEST`]).
//!
//! ```text
//! for b (parallel)             block b
//!   for k (sequential)           for k
//!     for i (parallel)             thread i mod p: its i; barrier
//! ```
//! Beneath the outer loops everything is placed once more, for a block: distribution, interchange,
//! wavefronts, what one thread runs. Both forms are kept ([`super::EITHER`]): which one is faster depends on
//! sizes, which are known at run time. Many small systems are blocks, a few large ones launches.
//!
//! # Invariants
//! - The outer members are coincident, so no dependence joins two blocks.
//! - Dependences of a block are carried by its loops and sequences, that is, go from one step to a later one,
//!   or stay in one thread.
//! - No nest is in another one. Of a loop and one around it, the outer one gets the nest.

use super::marks::{EITHER, KERNEL, NEST};
use super::node::{Node, Plan};
use super::place::plan_chain;
use crate::tree::{Band, Tree};
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;

/// Fewer blocks leave most of a device idle, whatever the sizes.
const FEW: f64 = 16.0;
/// A kernel without launches of its own must be estimated to take so many times longer: its loops run in
/// threads that do not wait.
const CLEARLY: f64 = 2.0;
/// isl operations for the search.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 8;

/// `plan`, or both it and a nest of the same loops.
pub(super) fn joined(
    node: &Node,
    members: &[isl::UnionPwAff],
    flags: &[bool],
    child: &Tree,
    plan: Plan,
) -> Result<Plan> {
    let sequential = flags.iter().any(|f| !f) || child.depth() > 0;
    if !flags.iter().any(|f| *f) || !sequential {
        return Ok(plan);
    }
    let found = budgeted(node.domain.context(), "nests", BUDGET, || nest(node, members, flags, child));
    let (nest, cost) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(plan),
        Err(e) if is_quota(&e) => return Ok(plan),
        Err(e) => return Err(e),
    };
    // Launches in a loop may take long only because they are launches.
    let launches = without(&plan.tree);
    if !has_loop(&launches) && CLEARLY * cost > plan.cost {
        return Ok(plan);
    }
    let forms = vec![(node.domain.clone(), nest), (node.domain.clone(), launches)];
    let tree = Tree::Sequence(forms).marked(EITHER);
    // Other orders and rewritings are searched for as if there were no nest: kernels that they make parallel
    // may get tiles, which the estimate does not know.
    Ok(Plan { tree, cost: plan.cost, parallel: true, serial: false })
}

/// The coincident members as blocks, and what they take; `None` if a block has no loop of steps with threads.
fn nest(
    node: &Node,
    members: &[isl::UnionPwAff],
    flags: &[bool],
    child: &Tree,
) -> Result<Option<(Tree, f64)>> {
    let part = |coincident: bool| {
        let part = members.iter().zip(flags).filter(move |(_, f)| **f == coincident);
        part.map(|(m, _)| m.clone()).collect::<Vec<_>>()
    };
    let (outer, rest) = (part(true), part(false));
    let mut blocks = 1.0;
    for m in &outer {
        blocks *= node.model.extent(m, &node.domain)?;
    }
    if blocks < FEW {
        return Ok(None);
    }
    let inside = Node { trips: node.trips * blocks, block: true, ..node.clone() };
    let block = plan_chain(&inside, &rest, child, true)?;
    if !block.parallel || !has_loop(&block.tree) {
        return Ok(None);
    }
    let cost = node.model.blocks(blocks, block.cost, node.instances()?);
    let band = Band {
        coincident: vec![true; outer.len()],
        members: outer,
        permutable: true,
        child: Box::new(block.tree),
    };
    Ok(Some((Tree::Band(band).marked(NEST), cost)))
}

/// A placed tree without nests.
fn without(tree: &Tree) -> Tree {
    match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(m, child) => match &**child {
            Tree::Sequence(forms) if m == EITHER => {
                forms.last().map_or(Tree::Leaf, |(_, launches)| without(launches))
            }
            child => without(child).marked(m),
        },
        Tree::Band(b) => Tree::Band(Band { child: Box::new(without(&b.child)), ..b.clone() }),
        Tree::Sequence(children) => {
            Tree::Sequence(children.iter().map(|(f, c)| (f.clone(), without(c))).collect())
        }
    }
}

/// Whether a placed tree has a loop around a kernel: launches, or steps, that come again.
fn has_loop(tree: &Tree) -> bool {
    match tree {
        Tree::Leaf | Tree::Mark(..) => false,
        Tree::Band(b) => b.child.has_mark(KERNEL),
        Tree::Sequence(children) => children.iter().any(|(_, c)| has_loop(c)),
    }
}

#[cfg(test)]
mod tests {
    use crate::strategy::{EITHER, NEST};
    use crate::testing::scop;
    use crate::tree::Tree;

    #[test]
    fn nests_have_loops_of_steps() {
        let table = [
            // Many small systems.
            (
                "param m n; array A m n n;
                 for b : 0 <= b < m { for k : 0 <= k < n {
                   for i : k < i < n { S0 : A[b,i,k] = A[b,i,k], A[b,k,k]; }
                   for i : k < i < n { for j : k < j < n { S1 : A[b,i,j] = A[b,i,j], A[b,i,k], A[b,k,j]; } } } }",
                true,
            ),
            // Two arrays of lines, and a time loop for each line.
            (
                "param m n T; array A m n; array B m n;
                 for b : 0 <= b < m { for t : 0 <= t < T {
                   for i : 1 <= i < n - 1 { S0 : B[b,i] = A[b,i-1], A[b,i], A[b,i+1]; }
                   for i : 1 <= i < n - 1 { S1 : A[b,i] = B[b,i]; } } }",
                true,
            ),
            // In place: a block runs wavefronts.
            (
                "param m n; array V m n;
                 for b : 0 <= b < m { for t : 1 <= t < n { for i : 0 <= i < n - t { S0 : V[b,i] = V[b,i+1], V[b,i]; } } }",
                true,
            ),
            // Beneath the sequential loop nothing but a wavefront: the nest is around that loop.
            (
                "param m n; array D m n n;
                 for b : 0 <= b < m { for k : 0 <= k < n { for i : 0 <= i < n { for j : 0 <= j < n {
                   S0 : D[b,i,j] = D[b,i,j], D[b,i,k], D[b,k,j]; } } } }",
                true,
            ),
            // One system.
            (
                "param n; array A n n;
                 for k : 0 <= k < n {
                   for i : k < i < n { S0 : A[i,k] = A[i,k], A[k,k]; }
                   for i : k < i < n { for j : k < j < n { S1 : A[i,j] = A[i,j], A[i,k], A[k,j]; } } }",
                false,
            ),
            // Too few.
            (
                "param n; array A 3 n; array B 3 n;
                 for b : 0 <= b < 3 { for t : 0 <= t < n {
                   for i : 1 <= i < n - 1 { S0 : B[b,i] = A[b,i-1], A[b,i], A[b,i+1]; }
                   for i : 1 <= i < n - 1 { S1 : A[b,i] = B[b,i]; } } }",
                false,
            ),
            // Nothing parallel beneath the sequential loop, or no such loop.
            (
                "param n; array A n n; for i : 0 <= i < n { for j : 1 <= j < n { S0 : A[i,j] = A[i,j-1]; } }",
                false,
            ),
            (
                "param n; array A n n; array B n n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S0 : A[i,j] = B[j,i]; } }",
                false,
            ),
        ];
        for (text, nested) in table {
            let s = scop(text);
            let deps = crate::dependences(&s).unwrap();
            let tree = crate::schedule(&s, &deps, &Default::default()).map(|t| t.root);
            let found = match &tree {
                Ok(Tree::Mark(m, forms)) => m == EITHER && forms.has_mark(NEST),
                Ok(other) => {
                    assert!(!other.has_mark(NEST), "{text}");
                    false
                }
                Err(_) => false,
            };
            assert_eq!(found, nested, "{text}");
        }
    }
}
