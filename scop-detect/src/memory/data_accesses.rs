//! Accesses to elements that data chooses, once it is known by which values
//! ([`crate::memory::data_subscripts`]): for which iterations and values they are made, and whether these
//! bound them.

use crate::base::builder::{Builder, Found, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::found::FoundSubscript;
use crate::base::ir::{self, Value};
use crate::base::place::Place;
use crate::memory::raw::{OUTER_POINTER, Raw};
use isl::{DimType, Set};
use pollyrs_delinearize::Symbol;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::ScevKind;
use pollyrs_scop::RejectReason;

/// Values of a subscript are looked into this deep.
const MAX_DEPTH: u32 = 6;
/// Branches before an access.
const MAX_BRANCHES: usize = 64;

/// What came of a trial ([`Builder::trial`]).
pub(crate) enum Trial {
    Works,
    Refused(RejectReason),
}

impl Trial {
    pub fn works(&self) -> bool {
        matches!(self, Trial::Works)
    }

    /// Whether a subscript is in the way: data may choose the element.
    pub fn wants_subscript(&self) -> bool {
        matches!(self, Trial::Refused(RejectReason::Subscript { .. })) && !self.leads_elsewhere()
    }

    /// Whether the pointer moves with a loop that is not around the access, of which no choice of data says
    /// anything.
    pub fn leads_elsewhere(&self) -> bool {
        matches!(self, Trial::Refused(RejectReason::Subscript { blocker, .. }) if blocker == OUTER_POINTER)
    }
}

impl Builder<'_> {
    /// Whether `f` works, or why not; nothing that it assumes is kept. What ends the search is an error.
    pub fn trial<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Fail>) -> Result<Trial, Fail> {
        let before = self.assumed.clone();
        let r = f(self);
        self.assumed = before;
        match r {
            Err(e) if matches!(e.reason, RejectReason::Budget { .. } | RejectReason::Internal { .. }) => {
                Err(e)
            }
            Err(e) => Ok(Trial::Refused(e.reason)),
            Ok(_) => Ok(Trial::Works),
        }
    }

    /// The offset of a load or store from its base, for the iterations of `place` and the values that data
    /// chooses.
    pub fn data_dependent_access(
        &mut self,
        flow: &Flow,
        inst: Value,
        base: Value,
        place: Place,
    ) -> Result<Raw, Fail> {
        let chosen = self.found.data_subscripts.get(&inst).cloned().unwrap_or_default();
        if chosen.is_empty() && !self.found.counted_accesses.contains(&inst) {
            let place = self.found.without_wide_loops(place)?;
            return self.raw_access(inst, base, place);
        }
        let runs = place.domain.clone().params()?.intersect(self.context.clone())?;
        let mut whole = place.clone();
        for c in chosen {
            // { [i, earlier values, v] }
            let own = self.values_of_subscript(flow, &c, &place)?;
            let own = own.insert_dims(DimType::Set, place.dims() as u32, whole.values.len() as u32)?;
            whole.domain = whole.domain.add_dims(DimType::Set, 1)?.intersect(own)?;
            whole.values.push(c);
        }
        match self.counted(flow, &whole)? {
            Some(domain) => whole.domain = domain,
            None if whole.loops.iter().any(|l| self.found.wide_loops.contains(l)) => {
                let blocker = "the bound of a loop".to_string();
                return Err(Fail::at(RejectReason::Subscript { array: self.name_of(base), blocker }, inst));
            }
            None => {}
        }
        whole.domain = self.reached(inst, &whole)?;
        let raw = self.raw_access(inst, base, whole)?;
        let domain = self.extended_domain(&raw)?;
        let (mut open, mut at) = (runs.is_disjoint(&self.assumed.set)?, None);
        for symbol in raw.offset.symbols() {
            let Symbol::Iter(d) = symbol else { continue };
            // By the iteration alone: another value that data chooses is no bound.
            let (first, last) = (place.dims().max(d + 1), domain.dim(DimType::Set)?);
            let mut own = domain.clone().project_out(DimType::Set, first as u32, last - first as u32)?;
            if let Some(before) = d.checked_sub(place.dims()) {
                own = own.project_out(DimType::Set, place.dims() as u32, before as u32)?;
            }
            let d0 = d.min(place.dims()) as u32;
            let both =
                own.dim_has_lower_bound(DimType::Set, d0)? && own.dim_has_upper_bound(DimType::Set, d0)?;
            open |= !both;
            at = at.or(d.checked_sub(place.dims()).filter(|_| !both));
        }
        if open {
            let c = at.and_then(|k| raw.place.values.get(k)).or(raw.place.values.first());
            let blocker = c.map_or_else(String::new, |c| self.describe(&c.scev));
            return Err(Fail::at(RejectReason::Subscript { array: self.name_of(base), blocker }, inst));
        }
        Ok(raw)
    }

    /// What a chosen value may be, if it is used.
    fn values_of_subscript(&mut self, flow: &Flow, c: &FoundSubscript, place: &Place) -> Result<Set, Fail> {
        let outer = std::mem::replace(&mut self.mode.assuming, c.assuming);
        let own = self.values_if_used(flow, c, place);
        self.mode.assuming = outer;
        own
    }

    fn values_if_used(&mut self, flow: &Flow, c: &FoundSubscript, place: &Place) -> Result<Set, Fail> {
        if let ScevKind::ZeroExtend(x) = &c.scev.kind
            && ir::is_extension_of_natural(c.value)
        {
            // One that is negative is of no use: it would be poison.
            let own = self.values(flow, x, place, MAX_DEPTH)?;
            if self.is_inspected(&own)? {
                let zero = isl::Val::int(&self.given.ctx, 0)?;
                return Ok(own.lower_bound_val(DimType::Set, place.dims() as u32, zero)?);
            }
        }
        self.values(flow, &c.scev, place, MAX_DEPTH)
    }

    /// The iterations and values of `place` for which control may get to an instruction: what the branches
    /// before it in its iteration say of the values.
    pub fn reached(&mut self, inst: Value, place: &Place) -> Result<Set, Fail> {
        let mut reached = place.domain.clone();
        let own = ir::parent(inst).and_then(|b| self.given.an.innermost_loop(b));
        // Scalar evolution sees values of a loop without a bound as they are behind the loop.
        if own.filter(|l| self.given.inside(*l)) != place.loops.last().copied() {
            return Ok(reached);
        }
        for (c, holds) in self.given.branches_before(inst) {
            match self.known_condition(c, place)? {
                Some(known) if holds => reached = reached.intersect(known)?,
                Some(known) => reached = reached.subtract(known)?,
                None => {}
            }
        }
        Ok(reached.coalesce()?)
    }

    /// Where a condition holds, if that can be told; what it needs to be assumed of parameters must leave
    /// something to execute.
    fn known_condition(&mut self, c: Value, place: &Place) -> Result<Option<Set>, Fail> {
        let before = self.assumed.clone();
        let found = match self.condition(c, place) {
            Ok(holds) if !place.domain.clone().params()?.is_disjoint(&self.assumed.set)? => {
                return Ok(Some(holds));
            }
            Ok(_) | Err(Stop::Blocker(_)) => Ok(None),
            Err(Stop::Isl(e)) => Err(e.into()),
        };
        self.assumed = before;
        found
    }
}

impl Found {
    /// What the load `v` needs to know its element, apart from the iteration.
    pub fn subscript_values(&self, v: Value) -> Vec<Value> {
        self.data_subscripts.get(&v).into_iter().flatten().map(|c| c.value).collect()
    }
}

impl Given<'_> {
    /// The conditions of branches before an instruction in its iteration, and whether each holds where it is
    /// executed.
    pub fn branches_before(&self, inst: Value) -> Vec<(Value, bool)> {
        let mut found = Vec::new();
        let Some(mut block) = ir::parent(inst) else { return found };
        let own = self.an.innermost_loop(block);
        for _ in 0..MAX_BRANCHES {
            let headed = own.is_some_and(|l| self.an.loops()[l.0].header == block);
            let before = self.cfg.predecessors(block);
            let next = match before[..] {
                _ if headed || block == self.region.entry => break,
                [one] => Some(one),
                _ => self.cfg.idom(block),
            };
            let Some(next) = next.filter(|b| self.contains(*b) && self.an.innermost_loop(*b) == own) else {
                break;
            };
            if before.len() == 1
                && let (Some(c), [yes, no]) = (ir::branch_condition(next), &ir::successors(next)[..])
                && yes != no
            {
                found.push((c, *yes == block));
            }
            block = next;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices of data are looked for where they may help: not for another obstacle than a subscript, and not
    /// where the pointer moves with a loop that is not around the access.
    #[test]
    fn only_subscripts_that_data_may_choose_are_searched() {
        let subscript = |blocker: &str| {
            Trial::Refused(RejectReason::Subscript { array: "a".into(), blocker: blocker.into() })
        };
        let table = [
            (Trial::Works, (false, false)),
            (subscript("a value loaded from memory"), (true, false)),
            (subscript(OUTER_POINTER), (false, true)),
            (Trial::Refused(RejectReason::LoopBound { blocker: OUTER_POINTER.into() }), (false, false)),
        ];
        for (trial, expected) in table {
            assert_eq!((trial.wants_subscript(), trial.leads_elsewhere()), expected);
        }
    }
}
