//! Index-set splitting (Griebl, Feautrier, Lengauer, "Index set splitting", IJPP 2000): where a statement
//! reads, in some of its instances, the very element that it writes, these instances are a hyperplane on
//! whose two sides the dependences differ.
//!
//! **Argument.** A leaf with one statement becomes a sequence of the statement's parts. Under the same loops
//! every instance is alone in its iteration, so the order of the parts does not matter there and the order of
//! the program is unchanged; but the placement can now distribute the loops over the parts.
//!
//! # Example
//! Floyd-Warshall, `for k, i, j: P[i][j] = min(P[i][j], P[i][k] + P[k][j])`: for a fixed `k` the row `i = k`
//! and the column `j = k` are written and read by all others, and no loop is parallel. The hyperplanes are
//! `j = k` and `i = k`; of the nine parts none depends on itself, and those before, on and behind the row and
//! column are ordered.

use crate::Result;
use crate::tree::{ScheduleTree, Tree};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop, Statement};

/// Each hyperplane triples the parts.
const MAX_HYPERPLANES: usize = 2;

/// The tree with split statements; `None` if there is nothing to split.
pub fn split(scop: &Scop, tree: &ScheduleTree) -> Result<Option<ScheduleTree>> {
    let mut any = false;
    let root = split_tree(scop, &tree.root, &tree.domain, &mut any)?;
    Ok(any.then(|| ScheduleTree { domain: tree.domain.clone(), root }))
}

fn split_tree(scop: &Scop, tree: &Tree, domain: &isl::UnionSet, any: &mut bool) -> Result<Tree> {
    Ok(match tree {
        Tree::Mark(m, c) => split_tree(scop, c, domain, any)?.marked(m),
        Tree::Band(b) => {
            let mut b = b.clone();
            b.child = Box::new(split_tree(scop, &b.child, domain, any)?);
            Tree::Band(b)
        }
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (f, c) in children {
                let inside = domain.clone().intersect(f.clone())?;
                out.push((f.clone(), split_tree(scop, c, &inside, any)?));
            }
            Tree::Sequence(out)
        }
        Tree::Leaf => {
            let sets = domain.sets()?;
            let [set] = sets.as_slice() else { return Ok(Tree::Leaf) };
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((_, stmt)) = scop.statement_named(&name) else { return Ok(Tree::Leaf) };
            let parts = parts(scop, stmt, set)?;
            if parts.len() < 2 {
                return Ok(Tree::Leaf);
            }
            *any = true;
            let filter = |p: isl::Set| -> Result<_> { Ok((isl::UnionSet::from_set(p)?, Tree::Leaf)) };
            Tree::Sequence(parts.into_iter().map(filter).collect::<Result<Vec<_>>>()?)
        }
    })
}

/// The non-empty parts of a statement's instances, as disjoint sets that cover them.
fn parts(scop: &Scop, stmt: &Statement, domain: &isl::Set) -> Result<Vec<isl::Set>> {
    let mut parts = vec![isl::Set::universe(domain.space()?)?];
    for h in hyperplanes(scop, stmt, domain)? {
        let h = isl::PwAff::from_aff(h)?;
        let sides = [h.clone().neg()?.pos_set()?, h.clone().zero_set()?, h.pos_set()?];
        let mut finer = Vec::new();
        for p in parts {
            for s in &sides {
                let part = p.clone().intersect(s.clone())?;
                if !part.is_disjoint(domain)? {
                    finer.push(part);
                }
            }
        }
        parts = finer;
    }
    Ok(parts)
}

/// Where the statement reads what it writes in the same instance: functions of the iteration that are zero
/// there, and not everywhere.
fn hyperplanes(scop: &Scop, stmt: &Statement, domain: &isl::Set) -> Result<Vec<isl::Aff>> {
    let mut out: Vec<isl::Aff> = Vec::new();
    for w in stmt.accesses.iter().filter(|a| a.kind != AccessKind::Read) {
        for r in stmt.accesses.iter().filter(|a| a.kind == AccessKind::Read && a.array == w.array) {
            if !scop.array(w.array).is_memory() {
                continue;
            }
            let same = w.relation.clone().apply_range(r.relation.clone().reverse()?)?;
            let same = same.intersect(domain.clone().identity()?)?.domain()?;
            if same.is_empty()? || domain.is_subset(&same)? {
                continue;
            }
            for c in same.gist(domain.clone())?.affine_hull()?.constraints()? {
                let dims = domain.dim(isl::DimType::Set)?;
                if !c.is_equality()?
                    || !c.involves_dims(isl::DimType::Set, 0, dims)?
                    || c.dim(isl::DimType::Div)? > 0
                {
                    continue;
                }
                let h = c.aff()?;
                let mut known = false;
                for o in &out {
                    known |= o.plain_is_equal(&h)? || o.plain_is_equal(&h.clone().neg()?)?;
                }
                if !known && out.len() < MAX_HYPERPLANES {
                    out.push(h);
                }
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{kernel, scop};

    fn leaves(tree: &Tree) -> usize {
        match tree {
            Tree::Leaf => 1,
            Tree::Mark(_, c) => leaves(c),
            Tree::Band(b) => leaves(&b.child),
            Tree::Sequence(cs) => cs.iter().map(|c| leaves(&c.1)).sum(),
        }
    }

    fn split_leaves(s: &Scop) -> Option<usize> {
        split(s, &ScheduleTree::from_isl(&s.schedule).unwrap()).unwrap().map(|t| leaves(&t.root))
    }

    #[test]
    fn splits_only_where_the_element_is_its_own() {
        assert_eq!(split_leaves(&kernel("floyd-warshall")), Some(9));
        assert_eq!(split_leaves(&kernel("gemm")), None);
        assert_eq!(split_leaves(&kernel("seidel-2d")), None);
        let transposed =
            "param n; array A n n; for i : 0 <= i < n { for j : 0 <= j < n { S0 : A[i,j] = A[j,i]; } }";
        assert_eq!(split_leaves(&scop(transposed)), Some(3));
    }
}
