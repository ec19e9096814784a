//! Loop fusion for memory traffic (Kennedy and McKinley, "Maximizing loop parallelism and improving data
//! locality via loop fusion and distribution", LCPC 1993): neighbouring kernels become one where each thread
//! finds what it needs in its own registers.
//!
//! Kernels of a sequence are taken in order; each joins the last one before it that it may, past such as it
//! does not depend on. Two kernels may be one if
//! 1. they have as many members, and what a thread runs has no loops: products, sums and filters have tiles
//!    of their own; nor are they parts of one statement, which are rows, columns and boxes;
//! 2. with the second one's members moved by constants, all of them are coincident for the dependences
//!    between the two;
//! 3. the box around both has no more points than twice the instances of each statement in it, on average.
//!
//! The members are moved so that dependences, or else accesses to the same array, have distance zero.
//!
//! # Cost
//! ```text
//! gain   a launch + bytes of elements that both touch / BANDWIDTH
//! loss   points of the box without an instance · INSTANCE
//! ```
//! Bytes are those of boxes around the exact footprints at the sizes of the model. A kernel with more
//! accesses than [`MAX_ACCESSES`] would hide less latency, for the registers that it needs.
//!
//! # Example
//! `for i: b[i] = 2 a[i]; for i: c[i] = b[i] b[i]` are two launches, which move four arrays. As one, `b[i]`
//! is still in a register when it is squared: three.

use super::cost::{BARRIER, INSTANCE, LAUNCH, volume};
use super::marks::KERNEL;
use super::node::{Node, Plan, Search, coincident, mark};
use crate::tree::{Tree, member_map};
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Within};
use std::collections::BTreeMap;

/// Bytes in a nanosecond: the memory of a current data-centre GPU.
const BANDWIDTH: f64 = 3000.0;
/// Kernels with more accesses to memory are not made.
pub(super) const MAX_ACCESSES: usize = 24;
/// Statements that read so many elements of one array have tiles that share them between neighbours.
const WINDOW: usize = 5;
/// The same where the second kernel needs what the first one computes: it doesn't go through memory then,
/// which is more than neighbours share.
const WINDOW_OF_PRODUCER: usize = 9;
/// Points of a box for each instance, at most.
const LOOSE: f64 = 2.0;
/// Kernels that a kernel may go past.
const REACH: usize = 4;
/// isl operations for a sequence.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 8;

/// A kernel without loops in its threads.
struct Flat {
    members: Vec<isl::UnionPwAff>,
    child: Tree,
}

/// The plans of a sequence, in order, with kernels made one.
pub(super) fn fused(node: &Node, plans: Vec<(isl::UnionSet, Plan)>) -> Result<Vec<(isl::UnionSet, Plan)>> {
    if node.search != Search::Fused
        || plans.len() < 2
        || !plans.windows(2).any(|w| flat(&w[0].1.tree).is_some() && flat(&w[1].1.tree).is_some())
    {
        return Ok(plans);
    }
    let copy = plans.iter().map(|(f, p)| (f.clone(), p.copy())).collect();
    match budgeted(node.domain.context(), "fusion", BUDGET, || greedy(node, copy)) {
        Err(e) if is_quota(&e) => Ok(plans),
        other => other,
    }
}

fn greedy(node: &Node, plans: Vec<(isl::UnionSet, Plan)>) -> Result<Vec<(isl::UnionSet, Plan)>> {
    let mut out: Vec<(isl::UnionSet, Plan)> = Vec::new();
    for next in plans {
        let mut joined = None;
        for at in (out.len().saturating_sub(REACH)..out.len()).rev() {
            joined = pair(node, &out[at], &next)?.map(|both| (at, both));
            let between = node.deps.clone().intersect_domain(out[at].0.clone())?;
            if joined.is_some() || !between.intersect_range(next.0.clone())?.is_empty()? {
                break;
            }
        }
        match joined {
            Some((at, both)) => out[at] = both,
            None => out.push(next),
        }
    }
    Ok(out)
}

fn flat(tree: &Tree) -> Option<Flat> {
    let Tree::Mark(name, band) = tree else { return None };
    let Tree::Band(b) = &**band else { return None };
    let plain = name == KERNEL && b.child.depth() == 0;
    plain.then(|| Flat { members: b.members.clone(), child: (*b.child).clone() })
}

/// Both kernels as one, if they may be one and it pays.
fn pair(
    node: &Node,
    (first_filter, first): &(isl::UnionSet, Plan),
    (second_filter, second): &(isl::UnionSet, Plan),
) -> Result<Option<(isl::UnionSet, Plan)>> {
    let (Some(a), Some(b)) = (flat(&first.tree), flat(&second.tree)) else { return Ok(None) };
    let apart = first_filter.clone().universe()?.is_disjoint(&second_filter.clone().universe()?)?;
    if a.members.len() != b.members.len() || !apart {
        return Ok(None);
    }
    let own = |f: &isl::UnionSet| node.domain.clone().intersect(f.clone());
    let (first_domain, second_domain) = (own(first_filter)?, own(second_filter)?);
    let both = first_domain.clone().union(second_domain.clone())?;
    if accesses(node, &both)? > MAX_ACCESSES {
        return Ok(None);
    }
    let deps =
        node.deps.clone().intersect_domain(first_domain.clone())?.intersect_range(second_domain.clone())?;
    let window = if deps.is_empty()? { WINDOW } else { WINDOW_OF_PRODUCER };
    if has_window(node, &both, window)? {
        return Ok(None);
    }
    let pairs =
        if deps.is_empty()? { same_elements(node, &first_domain, &second_domain)? } else { deps.clone() };
    let mut members = Vec::new();
    for (m, n) in a.members.iter().zip(&b.members) {
        let m = m.clone().intersect_domain(first_filter.clone())?;
        let n = n.clone().intersect_domain(second_filter.clone())?;
        let moved = match distance(&pairs, &m, &n)? {
            Some(d) if d != 0 => n.add(constant(&second_domain, -d)?)?,
            _ => n,
        };
        let member = m.union_add(moved)?;
        if !coincident(&deps, &member)? {
            return Ok(None);
        }
        members.push(member);
    }
    let mut points = 1.0;
    for m in &members {
        points *= node.model.extent(m, &both)?;
    }
    let (mut instances, mut statements, mut most) = (0.0_f64, 0.0, 0.0_f64);
    for (_, n) in node.model.weights(&both)? {
        (instances, statements, most) = (instances + n, statements + 1.0, most.max(n));
    }
    // The loops around are not among the members.
    let (instances, most) = (instances / node.trips, most / node.trips);
    if points * statements > LOOSE * instances {
        return Ok(None);
    }
    let launch = if node.block { BARRIER } else { LAUNCH };
    let gain = launch + shared_bytes(node, &first_domain, &second_domain)? / node.trips / BANDWIDTH;
    let loss = (points - most).max(0.0) * INSTANCE;
    if loss >= gain {
        return Ok(None);
    }
    let mut children = Vec::new();
    for (filter, child) in [(first_filter, a.child), (second_filter, b.child)] {
        match child {
            Tree::Sequence(inner) => children.extend(inner),
            other => children.push((filter.clone(), other)),
        }
    }
    let tree = mark(members, Tree::Sequence(children));
    let cost = (first.cost + second.cost - gain + loss).max(launch);
    let filter = first_filter.clone().union(second_filter.clone())?;
    Ok(Some((filter, Plan { tree, cost, parallel: true, serial: false })))
}

/// Accesses to memory of the statements of a domain.
pub(super) fn accesses(node: &Node, domain: &isl::UnionSet) -> Result<usize> {
    let mut n = 0;
    for (id, _) in node.model.weights(domain)? {
        let s = &node.model.scop.statements[id.0];
        n += s.accesses.iter().filter(|a| node.model.scop.array(a.array).is_memory()).count();
    }
    Ok(n)
}

/// Whether some statement reads several elements of one array, or in a loop of its own.
fn has_window(node: &Node, domain: &isl::UnionSet, window: usize) -> Result<bool> {
    for (id, _) in node.model.weights(domain)? {
        let mut reads: BTreeMap<ArrayId, usize> = BTreeMap::new();
        for a in &node.model.scop.statements[id.0].accesses {
            if !a.within.as_ref().is_none_or(Within::is_function) {
                return Ok(true);
            }
            if a.kind == AccessKind::Read {
                *reads.entry(a.array).or_default() += 1;
            }
        }
        if reads.values().any(|n| *n >= window) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `{ S[i] -> A[a] }` of the accesses to memory of a domain.
fn touched(node: &Node, domain: &isl::UnionSet) -> Result<isl::UnionMap> {
    let scop = node.model.scop;
    Ok(scop.accesses(|_, a| scop.array(a.array).is_memory())?.intersect_domain(domain.clone())?)
}

/// `{ S[i] -> T[j] }` for S in `first`, T in `second` that access an element both.
fn same_elements(node: &Node, first: &isl::UnionSet, second: &isl::UnionSet) -> Result<isl::UnionMap> {
    Ok(touched(node, first)?.apply_range(touched(node, second)?.reverse()?)?)
}

/// Bytes of the elements that both domains access.
fn shared_bytes(node: &Node, first: &isl::UnionSet, second: &isl::UnionSet) -> Result<f64> {
    let scop = node.model.scop;
    let shared = touched(node, first)?.range()?.intersect(touched(node, second)?.range()?)?;
    let mut bytes = 0.0;
    for set in shared.sets()? {
        let name = set.tuple_name()?.unwrap_or_default();
        if let Some(array) = scop.arrays.iter().find(|a| a.name == name) {
            bytes += volume(scop, &set)? * f64::from(array.elem.bytes());
        }
    }
    Ok(bytes)
}

/// How far `second` is ahead of `first` in all pairs, if that is a number.
fn distance(pairs: &isl::UnionMap, first: &isl::UnionPwAff, second: &isl::UnionPwAff) -> Result<Option<i64>> {
    let between =
        member_map(first)?.reverse()?.apply_range(pairs.clone())?.apply_range(member_map(second)?)?;
    let mut found = None;
    for set in between.deltas()?.sets()? {
        let d = set.plain_get_val_if_fixed(isl::DimType::Set, 0)?;
        match (d.to_i64(), found) {
            (Some(d), None) => found = Some(d),
            (Some(d), Some(other)) if d == other => {}
            _ => return Ok(None),
        }
    }
    Ok(found)
}

/// `{ S[i] -> d }` for all statements of a domain.
fn constant(domain: &isl::UnionSet, d: i64) -> Result<isl::UnionPwAff> {
    let mut all = isl::UnionPwAff::empty(domain.space()?)?;
    for set in domain.sets()? {
        let name = set.tuple_name()?.unwrap_or_default();
        let dims: Vec<_> = (0..set.dim(isl::DimType::Set)?).map(|i| format!("i{i}")).collect();
        let text = format!("{{ {name}[{}] -> [({d})] }}", dims.join(", "));
        all = all.union_add(isl::UnionPwAff::read(domain.context(), &text)?)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use crate::strategy::Scheduler;
    use crate::testing::scop;
    use crate::{MapOptions, ScheduleOptions};

    /// Launches with kernels made one, all proved, and without.
    fn launches(text: &str) -> [usize; 2] {
        let s = scop(text);
        let deps = crate::dependences(&s).unwrap();
        [true, false].map(|fuse| {
            let options = ScheduleOptions { scheduler: Scheduler::Original, fuse, ..Default::default() };
            let tree = crate::schedule(&s, &deps, &options).unwrap();
            let mapped =
                crate::map(&s, &deps, &tree, &MapOptions { tiling: None, ..Default::default() }).unwrap();
            assert!(crate::legality::check(&s, &deps, &mapped).unwrap().is_empty(), "{text}");
            mapped.kernels.len()
        })
    }

    #[test]
    fn kernels_become_one_where_distances_are_constant() {
        let table = [
            // At the same place.
            (
                "param n; array A n; array B n; array C n;
                 for i : 0 <= i < n { S0 : B[i] = A[i]; } for i : 0 <= i < n { S1 : C[i] = B[i], A[i]; }",
                [1, 2],
            ),
            // Loops that count from elsewhere.
            (
                "param n; array A n n; array B n n; array C n n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S0 : B[i,j] = A[i,j]; } }
                 for i : 0 <= i < n - 2 { for j : 0 <= j < n - 2 { S1 : C[i+1,j+1] = B[i+1,j+1]; } }",
                [1, 2],
            ),
            // Past a kernel of another shape.
            (
                "param n; array A n n; array B n n; array C n n; array x n; array y n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S0 : B[i,j] = A[i,j]; } }
                 for i : 0 <= i < n { S1 : y[i] = x[i]; }
                 for i : 0 <= i < n { for j : 0 <= j < n { S2 : C[i,j] = B[i,j]; } }",
                [2, 3],
            ),
            // Not past one that it depends on.
            (
                "param n; array A n n; array B n n; array C n n; array y n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S0 : B[i,j] = A[i,j]; } }
                 for i : 0 <= i < n { S1 : y[i] = B[i,0]; }
                 for i : 0 <= i < n { for j : 0 <= j < n { S2 : C[i,j] = B[i,j], y[j]; } }",
                [3, 3],
            ),
            // Neighbours' values.
            (
                "param n; array A n; array B n; array C n;
                 for i : 0 <= i < n { S0 : B[i] = A[i]; } for i : 1 <= i < n - 1 { S1 : C[i] = B[i-1], B[i+1]; }",
                [2, 2],
            ),
            // A neighbour's value that is overwritten.
            (
                "param n; array A n; array B n; array C n;
                 for i : 1 <= i < n { S0 : B[i] = A[i-1], A[i]; } for i : 0 <= i < n { S1 : A[i] = C[i]; }",
                [2, 2],
            ),
            // Turned.
            (
                "param n; array A n n; array B n n; array C n n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S0 : B[i,j] = A[i,j]; } }
                 for i : 0 <= i < n { for j : 0 <= j < n { S1 : C[i,j] = B[j,i]; } }",
                [2, 2],
            ),
            // A row and a column: the column's only member of more than one value is the row's.
            (
                "param n; array A n n;
                 for i : 0 <= i < 1 { for j : 0 <= j < n { S0 : A[i,j] = ; } }
                 for i : 0 <= i < n { for j : 0 <= j < 1 { S1 : A[i,j] = A[i,j]; } }",
                [1, 2],
            ),
            // Rows and columns: the box around both is mostly empty.
            (
                "param n; array A n n;
                 for i : 0 <= i < 2 { for j : 0 <= j < n { S0 : A[i,j] = ; } }
                 for i : 0 <= i < n { for j : 0 <= j < 2 { S1 : A[i,j] = A[i,j]; } }",
                [2, 2],
            ),
            // A loop over time around both.
            (
                "param n T; array A n; array B n; array C n;
                 for t : 0 <= t < T { for i : 0 <= i < n { S0 : B[i] = A[i]; } for i : 0 <= i < n { S1 : A[i] = C[i], B[i]; }
                   for i : 1 <= i < n - 1 { S2 : C[i] = A[i-1], A[i+1]; } }",
                [2, 3],
            ),
        ];
        for (text, expected) in table {
            assert_eq!(launches(text), expected, "{text}");
        }
    }
}
