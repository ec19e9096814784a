//! The new statements of a reduction that was cut, put into the schedule: start and parts under one loop over
//! the parts, the rest behind it.

use crate::rewrite::parts;
use crate::tree::{Band, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::Statement;

/// Puts the new statements into the schedule.
pub(super) struct Graft {
    /// The position of the iterator at which the reduction is cut, and its instances.
    pub at: u32,
    pub all: isl::UnionSet,
    /// Instances of other statements that access the cell.
    pub users: isl::UnionSet,
    /// Start, parts and rest: `{ X[...] -> S[...] }`, the old instances that each new one stands for.
    pub views: Vec<(String, isl::Map)>,
    /// Start and rest.
    pub statements: Vec<Statement>,
    pub new: Statement,
    pub single: bool,
}

impl Graft {
    /// The tree with the new statements; `None` if the loop to be cut is not found.
    pub fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
        Ok(match tree {
            Tree::Leaf => None,
            Tree::Mark(_, c) => self.tree(c, domain)?,
            Tree::Sequence(children) => {
                let (mut out, mut any) = (Vec::new(), false);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    let own = !inside.is_disjoint(&self.all)?;
                    match (own && !any).then(|| self.tree(child, &inside)).transpose()? {
                        Some(None) => return Ok(None),
                        Some(Some(t)) => {
                            out.push((self.filter(filter)?, t));
                            any = true;
                        }
                        // Two subtrees with instances of the reduction.
                        None if own => return Ok(None),
                        None => out.push((filter.clone(), child.clone())),
                    }
                }
                any.then_some(Tree::Sequence(out))
            }
            Tree::Band(b) => {
                for (i, m) in b.members.iter().enumerate() {
                    if !self.cuts(m, domain)? {
                        continue;
                    }
                    let others = domain.clone().subtract(self.all.clone())?;
                    let more: Vec<_> = b.members[i + 1..].to_vec();
                    let inner = parts::restricted(&b.child, &self.all)?.under(more);
                    let mut cut = self.parts(m, inner)?;
                    if !others.is_empty()? {
                        // What else the loop runs gets a loop of its own, ahead, or behind where it looks at
                        // the cell.
                        let alone = b.child.as_ref().clone().under(b.members[i..].to_vec());
                        let own = self.filter(&domain.clone().intersect(self.all.clone())?)?;
                        let behind = others.clone().intersect(self.users.clone())?;
                        let ahead = others.subtract(behind.clone())?;
                        let mut parts = Vec::new();
                        for (filter, tree) in [(ahead, None), (own, Some(cut)), (behind, None)] {
                            let tree = tree.map_or_else(|| parts::restricted(&alone, &filter), Ok)?;
                            if !filter.is_empty()? {
                                parts.push((filter, tree));
                            }
                        }
                        cut = Tree::Sequence(parts);
                    }
                    let mut above = Vec::new();
                    for m in &b.members[..i] {
                        above.push(self.member(m)?);
                    }
                    return Ok(Some(cut.under(above)));
                }
                let Some(child) = self.tree(&b.child, domain)? else { return Ok(None) };
                let members = b.members.iter().map(|m| self.member(m)).collect::<Result<Vec<_>>>()?;
                Some(Tree::Band(Band { members, child: Box::new(child), ..b.clone() }))
            }
        })
    }

    /// Whether the member is the iterator at which the reduction is cut, for the instances of `domain`.
    fn cuts(&self, m: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<bool> {
        let own = self.all.clone().intersect(domain.clone())?;
        let wanted = parts::members(&isl::Set::from_union_set(self.all.clone())?)?;
        let wanted = member_map(&wanted[self.at as usize])?.intersect_domain(own.clone())?;
        Ok(member_map(m)?.intersect_domain(own)?.is_equal(&wanted)?)
    }

    fn filter(&self, filter: &isl::UnionSet) -> Result<isl::UnionSet> {
        let own = filter.clone().intersect(self.all.clone())?;
        let mut out = filter.clone().subtract(self.all.clone())?;
        for (_, view) in &self.views {
            let seen = own.clone().apply(isl::UnionMap::from_map(view.clone().reverse()?)?)?;
            out = out.union(seen)?;
        }
        Ok(out.coalesce()?)
    }

    /// A member above the cut, which depends on outer iterators only, on the new statements.
    fn member(&self, m: &isl::UnionPwAff) -> Result<isl::UnionPwAff> {
        let maps = member_map(m)?;
        let own = maps.clone().intersect_domain(self.all.clone())?;
        let others = maps.clone().domain()?.subtract(self.all.clone())?;
        let mut out = m.clone().intersect_domain(others)?;
        for (_, view) in &self.views {
            let seen = isl::UnionMap::from_map(view.clone())?.apply_range(own.clone())?;
            let seen = isl::Map::from_union_map(seen)?.coalesce()?;
            if !seen.is_single_valued()? {
                return Err(ScheduleError::Unsupported(
                    "a loop around a reduction that depends on the reduction",
                ));
            }
            let f = isl::PwMultiAff::from_map(seen)?.at(0)?;
            out = out.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
        }
        Ok(out)
    }

    /// What replaces the loop that is cut; `inner` is what it ran.
    fn parts(&self, cut: &isl::UnionPwAff, inner: Tree) -> Result<Tree> {
        let [start, rest] = self.statements.as_slice() else {
            return Err(ScheduleError::Unsupported("a reduction without parts"));
        };
        let at = self.at as usize;
        let part = |s: &Statement| -> Result<isl::UnionPwAff> { Ok(parts::members(&s.domain)?[at].clone()) };
        let tuple = |s: &Statement| -> Result<isl::UnionSet> {
            Ok(isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?)
        };
        let own =
            if self.single { part(&self.new)? } else { cut.clone().intersect_domain(self.all.clone())? };
        let inner = if self.single {
            Tree::Leaf.under(vec![parts::members(&self.new.domain)?[at + 1].clone()])
        } else {
            inner
        };
        let side = Tree::Sequence(vec![(tuple(start)?, Tree::Leaf), (tuple(&self.new)?, inner)]);
        let side = side.under(vec![own.union_add(part(start)?)?]);
        let both = tuple(start)?.union(tuple(&self.new)?)?;
        Ok(Tree::Sequence(vec![(both, side), (tuple(rest)?, Tree::Leaf.under(vec![part(rest)?]))]))
    }
}
