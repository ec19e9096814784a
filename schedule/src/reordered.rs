//! Nests over points that the program runs through tile by tile.
//!
//! **Problem.** `for (t = 0; t < n; t += s) for (u = 0; u < m; u += s)` around loops over the points of a
//! tile has no affine domain where `s` is an argument. The model has the points in their own order instead,
//! row by row ([`pollyrs_scop::Reordered`]), and nothing may depend on which of the two orders it is.
//!
//! **What is proved.** Of two instances that are in a different order, one is before the other in some
//! dimension of the points and behind it in another one: tiles go up in every dimension, whatever their
//! size. So both orders are the same for whoever asks if no such two instances touch one element, one of
//! them by a write. All pairs count, not only those that a dataflow analysis leaves, but for cells that are
//! written and read by one point each: these are as good as local to it.
//!
//! **Example.** `b[j][i] += a[i][j]` touches each element in one point. What
//! `a[i][j] = a[i-1][j] + a[i][j-1]` computes is the same whatever the tiles are; of `a[i][j] = a[i-1][j+1]`
//! it is not: tiles of height 2 and width 1 have `a[1][0]` before `a[0][1]`.

use crate::base::{Result, budgeted, known};
use crate::dependences::Dependences;
use isl::DimType::{In, Out};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayKind, Reordered, Scop, Statement};
use std::collections::BTreeSet;

/// Whether the order of the model is as good as the program's in all nests of `scop`; with at most `budget`
/// isl operations.
pub fn keeps_order(scop: &Scop, deps: &Dependences, budget: u64) -> Result<bool> {
    if scop.reordered.is_empty() {
        return Ok(true);
    }
    budgeted(&scop.ctx, "the order of tiles", budget, || {
        for nest in &scop.reordered {
            if !in_any_order(scop, deps, nest)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

fn in_any_order(scop: &Scop, deps: &Dependences, nest: &Reordered) -> Result<bool> {
    let names: BTreeSet<&str> = nest.statements.iter().map(|s| scop.statements[s.0].name.as_str()).collect();
    let own = |s: &Statement| names.contains(s.name.as_str());
    for s in scop.statements.iter().filter(|s| own(s)) {
        if (s.domain.dim(isl::DimType::Set)? as usize) <= nest.last {
            return Ok(false);
        }
    }
    let handed_on = handed_on(scop, deps, nest, &names)?;
    let counts = |s: &Statement, a: &Access| {
        let array = scop.array(a.array);
        own(s) && (matches!(array.kind, ArrayKind::Memory { .. }) || handed_on.contains(&array.name))
    };
    let known = known(scop)?;
    let all = scop.ordered_accesses(counts)?.intersect_params(known.clone())?;
    let writes = scop.ordered_accesses(|s, a| a.kind != AccessKind::Read && counts(s, a))?;
    let pairs = writes.intersect_params(known)?.apply_range(all.reverse()?)?;
    for pair in pairs.maps()? {
        let pair = within_nest(pair, nest)?;
        for d in nest.first..=nest.last {
            for e in (nest.first..=nest.last).filter(|e| *e != d) {
                let (d, e) = (d as i32, e as i32);
                if !pair.clone().order_lt(In, d, Out, d)?.order_gt(In, e, Out, e)?.is_empty()? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Pairs of one execution of the nest.
fn within_nest(mut pair: isl::Map, nest: &Reordered) -> Result<isl::Map> {
    for d in 0..nest.first as i32 {
        pair = pair.equate(In, d, Out, d)?;
    }
    Ok(pair)
}

/// Cells with values that go from point to point, or into the nest, or out of it.
fn handed_on(
    scop: &Scop,
    deps: &Dependences,
    nest: &Reordered,
    own: &BTreeSet<&str>,
) -> Result<BTreeSet<String>> {
    let mut cells = BTreeSet::new();
    let is_own = |name: &Option<String>| name.as_deref().is_some_and(|n| own.contains(n));
    for m in deps.no_source.maps()? {
        if is_own(&m.tuple_name(In)?) {
            cells.extend(m.tuple_name(Out)?);
        }
    }
    for m in deps.tagged_flow.maps()? {
        let target = m.clone().range()?.unwrap()?;
        let (from, to) = (m.tuple_name(In)?, target.tuple_name(In)?);
        if !is_own(&from) && !is_own(&to) {
            continue;
        }
        let mut moves = !is_own(&from) || !is_own(&to);
        let pair = m.range_factor_domain()?;
        for d in 0..=nest.last as i32 {
            moves = moves
                || !pair.clone().order_lt(In, d, Out, d)?.is_empty()?
                || !pair.clone().order_gt(In, d, Out, d)?.is_empty()?;
        }
        if moves {
            cells.extend(target.tuple_name(Out)?);
        }
    }
    // What a source may be, and what it surely is, are the same only where each write is sure.
    for (s, a) in scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a))) {
        if own.contains(s.name.as_str()) && a.kind == AccessKind::MayWrite {
            cells.insert(scop.array(a.array).name.clone());
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependences::dependences;
    use crate::testing::scop;
    use pollyrs_scop::StmtId;

    /// Loops over the points of tiles of any height and width, and whether tiles may be forgotten.
    const NESTS: [(&str, bool); 8] = [
        ("S0 : B[j][i] = A[i][j];", true),
        ("S0 : A[i][j] = A[i][j];", true),
        ("S0 : A[i][j] = A[i-1][j];", true),
        ("S0 : A[i][j] = A[i-1][j-1];", true),
        // The element to the right of the row before.
        ("S0 : A[i][j] = A[i-1][j+1];", false),
        // The element on the other side of the diagonal.
        ("S0 : A[i][j] = A[j][i];", false),
        ("S0 : t[] = A[i][j]; S1 : B[i][j] = t[];", true),
        // A value that the point before left.
        ("S0 : B[i][j] = t[]; S1 : t[] = A[i][j];", false),
    ];

    #[test]
    fn tiles() {
        for (body, want) in NESTS {
            let mut s = scop(&format!(
                "param n; array A n n; array B n n; scalar t; for i : 1 <= i < n - 1 {{ for j : 1 <= j < n - 1 {{ {body} }} }}"
            ));
            let statements = (0..s.statements.len()).map(StmtId).collect();
            s.reordered = vec![Reordered { first: 0, last: 1, statements }];
            let d = dependences(&s).unwrap();
            assert_eq!(keeps_order(&s, &d, crate::DEFAULT_BUDGET).unwrap(), want, "{body}");
        }
    }

    #[test]
    fn of_one_execution() {
        let text = "param n; array A n n; for k : 0 <= k < n { for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S0 : A[i][j] = A[i][j+1]; } } }";
        let mut s = scop(text);
        let d = dependences(&s).unwrap();
        for (first, want) in [(1, true), (0, false)] {
            s.reordered = vec![Reordered { first, last: 2, statements: vec![StmtId(0)] }];
            assert_eq!(keeps_order(&s, &d, crate::DEFAULT_BUDGET).unwrap(), want, "{first}");
        }
    }
}
