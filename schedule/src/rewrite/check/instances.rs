//! What the proofs of several kinds of rewritings ask: instances of a statement by their outer iterators,
//! dependences through one array, orders against the rest of the program.

use super::Check;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, ArrayKind, Statement};

impl Check<'_> {
    /// Whether there is a cell in which a NaN among values can be reported.
    pub(super) fn reports_numbers(&self) -> bool {
        self.new.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. }))
    }

    /// `{ S[...] -> S[...] : d before d' }` among instances with the same first `outer` iterators.
    pub(super) fn later(&self, s: &Statement, outer: u32) -> Result<isl::UnionMap> {
        let (n, name) = (s.domain.dim(isl::DimType::Set)?, &s.name);
        let tuple = |v: &str| (0..n).map(|d| format!("{v}{d}")).collect::<Vec<_>>().join(",");
        let mut text = format!("{{ {name}[{}] -> {name}[{}] : ", tuple("x"), tuple("y"));
        for d in outer..n {
            let equal: String = (0..d).map(|e| format!("x{e} = y{e} and ")).collect();
            text += &format!("({equal}x{d} < y{d}){}", if d + 1 < n { " or " } else { " }" });
        }
        let pairs = isl::UnionMap::read(&self.old.ctx, &text)?;
        let own = self.all_of(s)?;
        Ok(pairs.intersect_domain(own.clone())?.intersect_range(own)?)
    }

    /// Its instances.
    pub(super) fn all_of(&self, s: &Statement) -> Result<isl::UnionSet> {
        Ok(isl::UnionSet::from_set(s.domain.clone().intersect_params(self.known.clone())?)?)
    }

    /// `{ S[o, ...] -> [o] }`
    pub(super) fn key(&self, s: &Statement, outer: u32) -> Result<isl::UnionMap> {
        let n = s.domain.dim(isl::DimType::Set)?;
        let names: Vec<_> = (0..n).map(|d| format!("x{d}")).collect();
        let text =
            format!("{{ {}[{}] -> [{}] }}", s.name, names.join(","), names[..outer as usize].join(","));
        Ok(isl::UnionMap::read(&self.old.ctx, &text)?.intersect_domain(self.all_of(s)?)?)
    }

    /// Whether every order of others against the updates `s_old` of an array is kept against what is applied
    /// with the same outer iterators: `to_rest` is `{ S -> R }`.
    pub(super) fn stays_around(
        &mut self,
        array: ArrayId,
        s_old: &isl::UnionSet,
        to_rest: &isl::UnionMap,
        rest: &str,
    ) -> Result<()> {
        let time = self.time.clone().intersect_domain(self.new.schedule.domain()?)?;
        let accesses = self.old.accesses(|_, a| a.array == array)?;
        let around =
            accesses.clone().apply_range(accesses.reverse()?)?.intersect(self.old_deps.all(self.old)?)?;
        let outside = |pairs: isl::UnionMap, own: isl::UnionMap| -> Result<isl::UnionMap> {
            let mut pairs = pairs.subtract(own)?;
            // What has other iterators now looks at the cells of parts.
            for s in self.made.instances.keys() {
                let own =
                    isl::UnionSet::from_set(isl::Set::universe(self.old.statements[s.0].domain.space()?)?)?;
                let inside = pairs.clone().intersect_domain(own.clone())?.intersect_range(s_old.clone())?;
                let behind = pairs.clone().intersect_range(own)?.intersect_domain(s_old.clone())?;
                pairs = pairs.subtract(inside)?.subtract(behind)?;
            }
            Ok(pairs)
        };
        let leave = around.clone().intersect_domain(s_old.clone())?;
        let leave = outside(leave, around.clone().intersect_range(s_old.clone())?)?;
        let enter = around.clone().intersect_range(s_old.clone())?;
        let enter = outside(enter, around.intersect_domain(s_old.clone())?)?;
        let kept = leave.apply_domain(to_rest.clone())?.union(enter.apply_range(to_rest.clone())?)?;
        let all = kept.clone().domain()?.union(kept.clone().range()?)?;
        let stays = all.is_subset(&time.domain()?)? && self.forward(&kept)?;
        self.report(stays, || format!("another statement moved past {rest}"));
        Ok(())
    }

    /// `{ writer -> [reader -> cell] }` through one array.
    pub(super) fn tagged(&self, deps: &crate::Dependences, name: &str) -> Result<isl::UnionMap> {
        let mut flow = isl::UnionMap::empty(&self.old.ctx)?;
        for m in deps.tagged_flow.maps()? {
            if m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?.as_deref() == Some(name) {
                flow = flow.add_map(m)?;
            }
        }
        Ok(flow.intersect_params(self.known.clone())?)
    }

    /// `{ reader -> cell }` of one array that nothing wrote before.
    pub(super) fn unseen(&self, deps: &crate::Dependences, name: &str) -> Result<isl::UnionMap> {
        let mut reads = isl::UnionMap::empty(&self.old.ctx)?;
        for m in deps.no_source.maps()? {
            if m.tuple_name(isl::DimType::Out)?.as_deref() == Some(name) {
                reads = reads.add_map(m)?;
            }
        }
        Ok(reads.intersect_params(self.known.clone())?)
    }
}
