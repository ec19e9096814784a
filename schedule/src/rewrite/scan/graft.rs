//! The new statements of running totals that were cut, put into the schedule: what the loop waits for, the
//! sums of the parts, what each part begins with, the parts, and what waits for the loop.

use super::Groups;
use crate::planted::planted;
use crate::rewrite::made::Scanned;
use crate::rewrite::parts;
use crate::tree::{Band, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{Scop, Statement, StmtId};
use std::collections::{BTreeMap, BTreeSet};

/// Puts the new statements into the schedule.
pub(super) struct Graft<'a> {
    pub scop: &'a Scop,
    pub new: &'a Scop,
    /// The position of the iterator at which the loop is cut.
    pub at: u32,
    pub groups: &'a Groups,
    pub views: &'a BTreeMap<StmtId, isl::Map>,
    pub scans: &'a [Scanned],
}

impl Graft<'_> {
    /// New statements with the old instances that each one stands for: `{ X[...] -> S[...] }`.
    fn stand_ins(&self, all: bool) -> Result<Vec<isl::Map>> {
        let mut out: Vec<_> = self.views.values().cloned().collect();
        for scan in self.scans.iter().filter(|_| all) {
            let view = &self.views[&scan.total];
            for s in [scan.start, scan.sum, scan.before, scan.rest].map(|s| &self.new.statements[s.0]) {
                let mut wide =
                    isl::Set::universe(self.new.statements[scan.total.0].domain.space()?)?.identity()?;
                if s.domain.dim(isl::DimType::Set)? == self.at + 1 {
                    wide = wide.project_out(isl::DimType::In, self.at + 1, 1)?;
                }
                let map = wide.apply_range(view.clone())?.set_tuple_name(isl::DimType::In, &s.name)?;
                out.push(map.intersect_domain(s.domain.clone())?);
            }
        }
        Ok(out)
    }

    fn of(&self, group: &BTreeSet<usize>) -> Result<isl::UnionSet> {
        let mut all = isl::UnionSet::empty(&self.scop.ctx)?;
        for n in group {
            all = all.union(parts::all_of(&self.scop.statements[*n])?)?;
        }
        Ok(all)
    }

    /// The tree with the new statements; `None` if the loop to be cut is not found.
    pub fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
        let total = &self.scop.statements[self.scans[0].total.0];
        let own = parts::all_of(total)?;
        Ok(match tree {
            Tree::Leaf => None,
            Tree::Mark(_, c) => self.tree(c, domain)?,
            Tree::Sequence(children) => {
                let (mut out, mut any) = (Vec::new(), false);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    if any || inside.is_disjoint(&own)? {
                        out.push((filter.clone(), child.clone()));
                        continue;
                    }
                    let Some(t) = self.tree(child, &inside)? else { return Ok(None) };
                    out.push((self.filter(filter, true)?, t));
                    any = true;
                }
                any.then_some(Tree::Sequence(out))
            }
            Tree::Band(b) => {
                for (i, m) in b.members.iter().enumerate() {
                    if parts::counts(self.scop, m, total, self.at)? {
                        let above = b.members[..i].iter().map(|m| self.member(m, true));
                        let above = above.collect::<Result<Vec<_>>>()?;
                        return Ok(Some(self.cut(b, i)?.under(above)));
                    }
                }
                let Some(child) = self.tree(&b.child, domain)? else { return Ok(None) };
                let members = b.members.iter().map(|m| self.member(m, true)).collect::<Result<Vec<_>>>()?;
                Some(Tree::Band(Band { members, child: Box::new(child), ..b.clone() }))
            }
        })
    }

    /// What replaces the loop that is member `i` of a band.
    fn cut(&self, b: &Band, i: usize) -> Result<Tree> {
        let member = |s: &Statement, d: u32| -> Result<isl::UnionPwAff> {
            Ok(parts::members(&s.domain)?[d as usize].clone())
        };
        let mut out: Vec<(isl::UnionSet, Tree)> = Vec::new();
        let alone = |group: &BTreeSet<usize>| -> Result<(isl::UnionSet, Tree)> {
            let filter = self.of(group)?;
            let tree = b.child.as_ref().clone().under(b.members[i..].to_vec());
            Ok((filter.clone(), parts::restricted(&tree, &filter)?))
        };
        if !self.groups.ahead.is_empty() {
            out.push(alone(&self.groups.ahead)?);
        }
        // All sums are of one loop, and so is what is noted and applied, which is cut again.
        let (mut sums, mut rests) = (Vec::new(), Vec::new());
        for scan in self.scans {
            let [start, sum, before, rest] =
                [scan.start, scan.sum, scan.before, scan.rest].map(|s| &self.new.statements[s.0]);
            sums.push((start, Tree::Leaf));
            sums.push((sum, Tree::Leaf.under(vec![member(sum, self.at + 1)?])));
            let order = if planted("scan-start") { [rest, before] } else { [before, rest] };
            rests.extend(order.map(|s| (s, Tree::Leaf)));
        }
        for group in [sums, rests] {
            let (mut all, mut at) = (isl::UnionSet::empty(&self.scop.ctx)?, None::<isl::UnionPwAff>);
            let mut children = Vec::new();
            for (s, tree) in group {
                let m = member(s, self.at)?;
                at = Some(match at {
                    Some(at) => at.union_add(m)?,
                    None => m,
                });
                all = all.union(parts::all_of(s)?)?;
                children.push((parts::all_of(s)?, tree));
            }
            out.push((all, Tree::Sequence(children).under(at.into_iter().collect())));
        }
        // The runs, as the program has them.
        let core = self.of(&self.groups.core)?;
        let inner = parts::restricted(&b.child, &core)?.under(b.members[i + 1..].to_vec());
        let inner = self.viewed(&parts::restricted(&inner, &core)?)?;
        let mut loops: Vec<Option<isl::UnionPwAff>> = vec![None, None];
        for n in &self.groups.core {
            for (d, l) in loops.iter_mut().enumerate() {
                let m = member(&self.new.statements[*n], self.at + d as u32)?;
                *l = Some(match l.take() {
                    Some(l) => l.union_add(m)?,
                    None => m,
                });
            }
        }
        let mut filter = isl::UnionSet::empty(&self.scop.ctx)?;
        for n in &self.groups.core {
            filter = filter.union(parts::all_of(&self.new.statements[*n])?)?;
        }
        out.push((filter, inner.under(loops.into_iter().flatten().collect())));
        if !self.groups.behind.is_empty() {
            out.push(alone(&self.groups.behind)?);
        }
        Ok(Tree::Sequence(out))
    }

    /// The tree of the loop's body, for the new iterators.
    fn viewed(&self, tree: &Tree) -> Result<Tree> {
        Ok(match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child) => Tree::Mark(name.clone(), Box::new(self.viewed(child)?)),
            Tree::Band(b) => {
                let members = b.members.iter().map(|m| self.member(m, false)).collect::<Result<Vec<_>>>()?;
                Tree::Band(Band { members, child: Box::new(self.viewed(&b.child)?), ..b.clone() })
            }
            Tree::Sequence(children) => {
                let viewed = |(f, c): &(isl::UnionSet, Tree)| Ok((self.filter(f, false)?, self.viewed(c)?));
                Tree::Sequence(children.iter().map(viewed).collect::<Result<Vec<_>>>()?)
            }
        })
    }

    /// A filter of old instances as one of new ones, with the new statements where `all`.
    fn filter(&self, filter: &isl::UnionSet, all: bool) -> Result<isl::UnionSet> {
        let mut out = filter.clone().subtract(self.of(&self.groups.core)?)?;
        for view in self.stand_ins(all)? {
            out = out.union(filter.clone().apply(isl::UnionMap::from_map(view.reverse()?)?)?)?;
        }
        Ok(out.coalesce()?)
    }

    /// A member on old instances as one on new ones, with the new statements where `all`.
    fn member(&self, m: &isl::UnionPwAff, all: bool) -> Result<isl::UnionPwAff> {
        let maps = member_map(m)?;
        let others = maps.clone().domain()?.subtract(self.of(&self.groups.core)?)?;
        let mut out = m.clone().intersect_domain(others)?;
        for view in self.stand_ins(all)? {
            let seen = isl::UnionMap::from_map(view)?.apply_range(maps.clone())?;
            if seen.is_empty()? {
                continue;
            }
            let seen = isl::Map::from_union_map(seen)?.coalesce()?;
            if !seen.is_single_valued()? {
                return Err(ScheduleError::Unsupported("a loop around a running total that depends on it"));
            }
            let f = isl::PwMultiAff::from_map(seen)?.at(0)?;
            out = out.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
        }
        Ok(out)
    }
}
