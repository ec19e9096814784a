//! The rule for a statement `S` of the original that became two, `S` and `V`, which is new.
//!
//! 1. *Form.* Both have the instructions of `S`, and `V[i]` the accesses and integers of `S[i]`.
//! 2. *Instances.* Each instance of the original `S` is one of either, and of one only.
//! 3. *Order.* Every dependence of the original is kept, with `S` or `V` in place of `S` (rule 2 of the
//!    module above), and each instance has one place in the new order, which has no others.
//!
//! No array is new, so each read sees the write that it saw.

use super::Check;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{Statement, StmtId};

impl Check<'_> {
    pub(super) fn is_divided(&self, n: usize) -> bool {
        self.made.versions.iter().any(|(s, _)| s.0 == n)
    }

    /// By divided statement: its tuple, and `{ S[i] -> S[i]; S[i] -> V[i] }` of those that there are.
    pub(super) fn divisions(&self) -> Result<Vec<(isl::UnionSet, isl::UnionMap)>> {
        let mut out = Vec::new();
        for (s, v) in &self.made.versions {
            let (Some(s), Some(v)) = (self.new.statements.get(s.0), self.new.statements.get(v.0)) else {
                continue;
            };
            let stays = s.domain.clone().identity()?;
            let goes = view(s, v)?.intersect_domain(v.domain.clone())?.reverse()?;
            let both = isl::UnionMap::from_map(stays)?.add_map(goes)?;
            out.push((isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?, both));
        }
        Ok(out)
    }

    pub(super) fn divided(&mut self) -> Result<()> {
        let [(s, v)] = self.made.versions.as_slice() else {
            self.report(self.made.versions.is_empty(), || "two statements were divided at once".into());
            return Ok(());
        };
        let rest =
            self.made.instances.is_empty() && self.made.scans.is_empty() && self.made.loop_carried.is_empty();
        let counts = self.new.statements.len() == self.old.statements.len() + 1
            && v.0 == self.old.statements.len()
            && self.new.arrays.len() == self.old.arrays.len();
        let holds = rest && counts && self.same(*s, *v)?;
        self.report(holds, || "a divided statement of another form".into());
        if !holds {
            return Ok(());
        }
        let mut all = isl::UnionSet::empty(&self.old.ctx)?;
        for s in &self.new.statements {
            all = all.add_set(s.domain.clone())?;
        }
        let (all, timed) = (
            all.intersect_params(self.known.clone())?,
            self.new.schedule.domain()?.intersect_params(self.known.clone())?,
        );
        let once = all.is_equal(&timed)? && all.is_subset(&self.time.clone().domain()?)?;
        self.report(once, || "the new order has other instances".into());
        Ok(())
    }

    /// Parts 1 and 2.
    fn same(&self, s: StmtId, v: StmtId) -> Result<bool> {
        let (Some(old), Some(first), Some(second)) =
            (self.old.statements.get(s.0), self.new.statements.get(s.0), self.new.statements.get(v.0))
        else {
            return Ok(false);
        };
        let back = view(old, second)?;
        let other = second.domain.clone().apply(back.clone())?;
        let mut same = first.name == old.name
            && first.domain.is_disjoint(&other)?
            && first.domain.clone().union(other)?.is_equal(&old.domain)?;
        for (new, view) in [(first, isl::Set::universe(old.domain.space()?)?.identity()?), (second, back)] {
            same &= new.reduction == old.reduction
                && new.running == old.running
                && new.updates.is_empty()
                && old.updates.is_empty()
                && new.subregion.is_none()
                && old.subregion.is_none()
                && new.body == old.body
                && new.accesses.len() == old.accesses.len()
                && new.synthesized.len() == old.synthesized.len();
            for (x, y) in old.accesses.iter().zip(&new.accesses) {
                same &= (x.kind, x.array, x.value) == (y.kind, y.array, y.value)
                    && x.within.is_none()
                    && y.within.is_none()
                    && x.place.is_none()
                    && y.place.is_none()
                    && view.clone().apply_range(x.relation.clone())?.is_equal(&y.relation)?;
            }
            for (x, y) in old.synthesized.iter().zip(&new.synthesized) {
                let wanted = view.clone().apply_range(isl::Map::from_pw_aff(x.function.clone())?)?;
                same &= x.value == y.value && isl::Map::from_pw_aff(y.function.clone())?.is_equal(&wanted)?;
            }
        }
        Ok(same)
    }
}

/// `{ V[i] -> S[i] }`
fn view(s: &Statement, v: &Statement) -> Result<isl::Map> {
    let same = isl::Set::universe(s.domain.space()?)?.identity()?;
    Ok(same.set_tuple_name(isl::DimType::In, &v.name)?)
}
