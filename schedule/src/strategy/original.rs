//! The program's own order, annotated: which members are coincident and which adjacent bands form one
//! permutable band.

use super::node::{chain, coincident, equal_at, nonnegative};
use crate::tree::{Band, ScheduleTree, Tree};
use crate::{Dependences, Result, budgeted};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The tree of the original order. Nested bands are joined as long as every dependence that reaches the first
/// one has a non-negative distance along all members; coincidence is against the dependences that reach the
/// joined band.
pub fn original(scop: &Scop, deps: &Dependences) -> Result<ScheduleTree> {
    budgeted(&scop.ctx, "scheduling", crate::DEFAULT_BUDGET, || {
        let tree = ScheduleTree::from_isl(&scop.schedule)?;
        let all = deps.all(scop)?;
        Ok(ScheduleTree { root: annotate(&tree.root, &all)?, domain: tree.domain })
    })
}

fn annotate(tree: &Tree, deps: &isl::UnionMap) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(m, c) => annotate(c, deps)?.marked(m),
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (f, c) in children {
                let inside = deps.clone().intersect_domain(f.clone())?.intersect_range(f.clone())?;
                out.push((f.clone(), annotate(c, &inside)?));
            }
            Tree::Sequence(out)
        }
        Tree::Band(_) => {
            let (chain, child) = chain(tree);
            let mut rest = chain.as_slice();
            let mut bands = Vec::new();
            let mut active = deps.clone();
            while let Some(first) = rest.first() {
                let mut n = 1;
                let permutable = nonnegative(&active, first)?;
                while permutable && n < rest.len() && nonnegative(&active, &rest[n])? {
                    n += 1;
                }
                let members = rest[..n].to_vec();
                let flags = members.iter().map(|m| coincident(&active, m)).collect::<Result<Vec<_>>>()?;
                for m in &members {
                    active = equal_at(&active, m)?;
                }
                bands.push((members, flags, permutable));
                rest = &rest[n..];
            }
            let mut out = annotate(child, &active)?;
            for (members, coincident, permutable) in bands.into_iter().rev() {
                out = Tree::Band(Band { members, permutable, coincident, child: Box::new(out) });
            }
            out
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kernel;

    fn flags(tree: &Tree, out: &mut Vec<(bool, Vec<bool>)>) {
        match tree {
            Tree::Leaf => {}
            Tree::Mark(_, c) => flags(c, out),
            Tree::Sequence(cs) => cs.iter().for_each(|(_, c)| flags(c, out)),
            Tree::Band(b) => {
                out.push((b.permutable, b.coincident.clone()));
                flags(&b.child, out);
            }
        }
    }

    fn flags_of(name: &str) -> Vec<(bool, Vec<bool>)> {
        let s = kernel(name);
        let tree = original(&s, &crate::dependences(&s).unwrap()).unwrap();
        let mut out = vec![];
        flags(&tree.root, &mut out);
        out
    }

    #[test]
    fn coincidence_and_permutability() {
        let t = true;
        let f = false;
        assert_eq!(flags_of("gemm"), vec![(t, vec![t]), (t, vec![t]), (t, vec![f, t])]);
        assert_eq!(flags_of("jacobi-2d"), vec![(t, vec![f]), (t, vec![t, t]), (t, vec![t, t])]);
        // j has distance -1 for a dependence with distance 0 along s and 1 along i.
        assert_eq!(flags_of("seidel-2d"), vec![(t, vec![f]), (t, vec![f]), (t, vec![f])]);
        assert_eq!(flags_of("conv2d"), vec![(t, vec![t, t]), (t, vec![f]), (t, vec![f])]);
    }
}
