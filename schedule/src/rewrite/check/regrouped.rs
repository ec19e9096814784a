//! The rule for updates that were regrouped: one statement `S` of the original is `S'` (with other iterators
//! and a cell `P` of its own for each part), a statement that sets each `P` to the identity, and a statement
//! `R` that applies the update to the original cell `X` with each `P`.
//!
//! 1. *Form.* `S'` has the instances of `S`, one for one, with the same body, accesses and integers, but that
//!    it updates `P` and not `X`. The start only stores the identity; `R` only runs the instructions of the
//!    update with the original accesses of `X`. No other statement touches `P`.
//! 2. *Original chains.* The flow of `S` to itself through the cell of `X` that it updates joins consecutive
//!    instances among those with the same first iterators `o`, and only the last one of a chain is seen by
//!    anything else, be it another operand of `S`, which is never the updated cell.
//! 3. *Parts.* Each `P` is set once for each `o`, before it is read; the flow of `S'` to itself through `P`
//!    joins its instances into one path for each `P` and `o`, which ends at the one `R` that reads this `P`
//!    and has this `o`. The instances of one path have the `o` of their `R`.
//! 4. *Rest.* The flow of `R` to itself through `X` joins consecutive instances of the same `o`; what the
//!    first one reads, and what sees the last one, is what the first of the original chain reads and what
//!    sees its last, and every order of other statements against the chain is kept.
//! 5. *Operands.* Where operands of `S` are other cells of `X`, those of `S'` see the same: a statement
//!    outside, the end of a chain (of `S`, now of `R`), or what the memory held before.
//! 6. *Order.* If the operation does not commute: of two instances of a chain, the earlier one stays the
//!    earlier one in its part, or its part is applied earlier.
//!
//! 7. *Companions.* An update may have several cells `X`, which it changes together, each with a `P` of its
//!    own: all of the above holds of each of them, with the same `o`, and the cells of one part have the same
//!    subscripts in each `P`, so that their paths are the same.
//!
//! Each value of `X` that others see is then the original first value updated by the same values, grouped by
//! parts (and, only if the operation commutes, in another order).

mod chains;
mod form;

use super::Check;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, ArrayKind, Reduction, Statement};

/// A statement that was regrouped, and the two that belong to it.
struct Regrouped<'a> {
    /// `S`, `S'`, the one that sets the parts, and `R`.
    old: &'a Statement,
    new: &'a Statement,
    start: &'a Statement,
    rest: &'a Statement,
    /// The update of `S`.
    update: &'a Reduction,
    /// `{ S' -> S }`
    view: &'a isl::Map,
}

impl Check<'_> {
    /// The arrays of partial results, one for each cell of the update.
    pub(super) fn partial(&self) -> Vec<ArrayId> {
        if !self.made.scans.is_empty() {
            return self.running();
        }
        let Some(s) = self.made.instances.keys().next().map(|id| &self.new.statements[id.0]) else {
            return vec![];
        };
        let cells = s.reduction.iter().flat_map(Reduction::cells);
        let arrays = cells.filter_map(|c| Some(s.accesses.get(c.write)?.array));
        arrays.filter(|a| self.is_new(*a)).collect()
    }

    /// Whether there is a cell in which a NaN among values can be reported.
    pub(super) fn reports_numbers(&self) -> bool {
        self.new.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. }))
    }

    /// Rule 6 of the module above.
    pub(super) fn regrouped(&mut self) -> Result<()> {
        if !self.made.scans.is_empty() {
            return self.scanned();
        }
        let Some((id, view)) = self.made.instances.iter().next() else { return Ok(()) };
        self.report(self.made.instances.len() == 1, || "two statements were regrouped at once".into());
        let Some(regrouped) = self.form(*id, view)? else {
            self.report(false, || "a regrouped statement of another form".into());
            return Ok(());
        };
        let mut outer = None;
        for (n, cell) in regrouped.update.cells().into_iter().enumerate() {
            let own = self.chains(&regrouped, n, cell)?;
            self.report(n == 0 || own == outer, || "cells of one update have different chains".into());
            outer = own;
        }
        Ok(())
    }

    /// `{ S[...] -> S[...] : d before d' }` among instances with the same first `outer` iterators.
    fn later(&self, s: &Statement, outer: u32) -> Result<isl::UnionMap> {
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
