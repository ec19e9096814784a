//! Register promotion (Cooper and Lu, PLDI 1997): the cell that an innermost sequential loop of a thread
//! updates stays in a register.
//!
//! ```text
//! for k  S0: b[i] -= a[i][k] * b[k]        r = b[i];  for k  r -= a[i][k] * b[k];  b[i] = r
//! ```
//! LLVM does so by itself where the array is not accessed in the loop otherwise; that `b[k]` is another cell
//! than `b[i]` follows from the bounds of the loop, which only the polyhedral model has. With the store gone,
//! loads of later iterations need not wait for it.

use super::site::Site;
use crate::Result;
use crate::mapped::Promotion;
use crate::names::Mark;
use crate::tree::{Band, Tree, members_mupa};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, AccessValue, ArrayId, Scop, StmtId};

/// The thread's loops with a mark above each innermost one that leaves a cell in a register, numbered from
/// `from`, and what the marks say. `above` are the members that are fixed for them: those of the launch and
/// of the thread.
pub(super) fn promote(
    scop: &Scop,
    site: &Site,
    domain: &isl::UnionSet,
    private: &[ArrayId],
    from: usize,
) -> Result<(Tree, Vec<Promotion>)> {
    let path: Vec<_> = site.host.iter().chain(&site.members).cloned().collect();
    let mut p = Promoter { scop, private, from, found: Vec::new() };
    let tree = p.walk(site.inner.clone(), domain, path)?;
    Ok((tree, p.found))
}

struct Promoter<'a> {
    scop: &'a Scop,
    private: &'a [ArrayId],
    from: usize,
    found: Vec<Promotion>,
}

impl Promoter<'_> {
    fn walk(&mut self, tree: Tree, domain: &isl::UnionSet, mut path: Vec<isl::UnionPwAff>) -> Result<Tree> {
        Ok(match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child) => Tree::Mark(name, Box::new(self.walk(*child, domain, path)?)),
            Tree::Sequence(children) => {
                let mut out = Vec::new();
                for (filter, child) in children {
                    let part = domain.clone().intersect(filter.clone())?;
                    out.push((filter, self.walk(child, &part, path.clone())?));
                }
                Tree::Sequence(out)
            }
            Tree::Band(mut b) if matches!(*b.child, Tree::Leaf) => {
                let Some(last) = b.members.pop() else { return Ok(Tree::Band(b)) };
                path.extend(b.members.iter().cloned());
                let found = self.cell(domain, &path)?;
                let Some((statement, accesses)) = found else {
                    b.members.push(last);
                    return Ok(Tree::Band(b));
                };
                let mark = Mark::Promoted(self.from + self.found.len());
                self.found.push(Promotion { mark, statement, accesses });
                let coincident = b.coincident.pop().unwrap_or(false);
                let inner = Tree::Band(Band {
                    members: vec![last],
                    permutable: b.permutable,
                    coincident: vec![coincident],
                    child: Box::new(Tree::Leaf),
                });
                let inner = inner.marked(mark);
                if b.members.is_empty() { inner } else { Tree::Band(Band { child: Box::new(inner), ..b }) }
            }
            Tree::Band(b) => {
                path.extend(b.members.iter().cloned());
                let child = Box::new(self.walk(*b.child, domain, path)?);
                Tree::Band(Band { child, ..b })
            }
        })
    }

    /// The statement that alone is in `domain`, and its accesses to a cell that is the same wherever the
    /// members of `path` are.
    fn cell(&self, domain: &isl::UnionSet, path: &[isl::UnionPwAff]) -> Result<Option<(StmtId, Vec<usize>)>> {
        let sets = domain.sets()?;
        let [set] = &sets[..] else { return Ok(None) };
        let Some((id, s)) = self.scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
            return Ok(None);
        };
        if !s.is_plain() || path.is_empty() {
            return Ok(None);
        }
        let is = |at: usize, array: ArrayId| s.accesses[at].array == array;
        for w in &s.accesses {
            let array = self.scop.array(w.array);
            let of_array: Vec<_> = (0..s.accesses.len()).filter(|at| is(*at, w.array)).collect();
            let plain = |at: &usize| matches!(s.accesses[*at].value, AccessValue::Instruction(_));
            if w.kind != AccessKind::MustWrite
                || !array.is_memory()
                || self.private.contains(&w.array)
                || of_array.len() < 3
                || !of_array.iter().all(plain)
            {
                continue;
            }
            let (mut same, mut others) = (Vec::new(), Vec::new());
            let cell = w.relation.clone().intersect_domain(set.clone())?;
            for at in of_array {
                let relation = s.accesses[at].relation.clone().intersect_domain(set.clone())?;
                if relation.is_equal(&cell)? { same.push(at) } else { others.push(relation) }
            }
            let reads = same.iter().any(|at| s.accesses[*at].kind == AccessKind::Read);
            if !reads || others.is_empty() {
                continue;
            }
            let run = isl::UnionMap::from_multi_union_pw_aff(members_mupa(path)?)?
                .intersect_domain(domain.clone())?
                .reverse()?;
            let cells = run.clone().apply_range(isl::UnionMap::from_map(cell)?)?;
            if !cells.is_single_valued()? {
                continue;
            }
            let mut disjoint = true;
            for other in others {
                let touched = run.clone().apply_range(isl::UnionMap::from_map(other)?)?;
                disjoint = disjoint && touched.is_disjoint(&cells)?;
            }
            if disjoint {
                return Ok(Some((id, same)));
            }
        }
        Ok(None)
    }
}
