//! Integers loaded from memory whose values nothing in the code bounds: the `idx[i]` of `x[idx[i]]`.
//!
//! **Problem.** What such a subscript may be is in the data. The host can look: it finds the least and the
//! largest of all integers that the loads may load, before the SCoP runs, and these are parameters,
//! `idx_min <= idx[i] <= idx_max`. Then the load is one of [`crate::memory::data_subscripts`]'s, with bounds
//! that are parameters, and all else (shapes, overlaps, overflow) is assumed and checked as for any
//! parameter.
//!
//! **Invariants.** Inspected memory is not written by the SCoP: not under the same base (refused here), nor
//! under another one (the touched ranges of arrays that may overlap are compared before the launch). What a
//! pair of `in_place` arrays has in common is read before it is written, so its values are those from before,
//! too. The elements that are looked at are all that statements may load; they depend on what was inspected
//! before only.
//!
//! Where a list gives elements that are stored to, no two of its integers may be equal
//! ([`crate::memory::scatters`]).
//!
//! **Example.** `for (i) y[i] = x[a[b[i]]];` inspects `{ b[i] : 0 <= i < n }`, then
//! `{ a[j] : b_min <= j <= b_max }`, and reads `{ x[k] : a_min <= k <= a_max }`.

use crate::base::builder::Builder;
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::found::{Draft, Inspected, ParamEntry, WIDE_BOUND};
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use crate::memory::raw::base_of;
use isl::{DimType, Set};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, AccessValue, Array, ArrayId, AssumptionKind, RejectReason};
use std::collections::BTreeSet;

/// Inspections of one region. More values than this are hardly worth their parameters.
const MAX_INSPECTIONS: usize = 8;
/// Values that a check is computed from.
const MAX_CONDITION: usize = 64;

/// What is looked at, before parameters have their final numbers.
pub(crate) struct Looked {
    pub array: ArrayId,
    pub elements: Set,
    pub low: String,
    pub high: String,
    pub display: String,
    pub unsigned: bool,
    pub distinct: bool,
}

impl Builder<'_> {
    /// The values of a load at `place`, between what an inspection finds: `[params] -> { [i..., v] }`. `None`
    /// if it can't be inspected, or isn't.
    pub fn inspected_values(&mut self, flow: &Flow, load: Value, place: &Place) -> Result<Option<Set>, Fail> {
        self.inspected_as(flow, (load, false), place)
    }

    /// The same of a load that the program extends without a sign.
    pub fn inspected_naturals(
        &mut self,
        flow: &Flow,
        load: Value,
        place: &Place,
    ) -> Result<Option<Set>, Fail> {
        self.inspected_as(flow, (load, true), place)
    }

    fn inspected_as(
        &mut self,
        flow: &Flow,
        (load, unsigned): (Value, bool),
        place: &Place,
    ) -> Result<Option<Set>, Fail> {
        let Some(n) = self.inspection(flow, load, unsigned)? else { return Ok(None) };
        let ends = (self.found.inspections[n].low.clone(), self.found.inspections[n].high.clone());
        self.between_ends(load, place, ends)
    }

    /// The values between two parameters, by their names.
    pub fn between_ends(
        &mut self,
        of: Value,
        place: &Place,
        (low, high): (String, String),
    ) -> Result<Option<Set>, Fail> {
        let domain = place.domain.clone().add_dims(DimType::Set, 1)?;
        let extended = Place { domain, values: place.values.clone(), ..place.clone() };
        let v = self.dim(place.dims(), &extended).map_err(|s| s.fail(of, not_inspected))?;
        let mut values = extended.domain.clone();
        for (name, above) in [(low, true), (high, false)] {
            let Some(index) = self.params.iter().position(|p| p.name == name) else { return Ok(None) };
            let bound = self.param_aff(index, extended.space()?)?;
            values = values.intersect(match above {
                true => v.clone().ge_set(bound)?,
                false => v.clone().le_set(bound)?,
            })?;
        }
        Ok(Some(values))
    }

    /// Which inspection looks at a load.
    fn inspection(&mut self, flow: &Flow, load: Value, unsigned: bool) -> Result<Option<usize>, Fail> {
        let same = |i: &Inspected| i.unsigned == unsigned && i.loads.contains(&load);
        if let Some(n) = self.found.inspections.iter().position(same) {
            return Ok(Some(n));
        }
        let Some(bits) = ir::int_bits(load).filter(|bits| matches!(bits, 8 | 16 | 32 | 64)) else {
            return Ok(None);
        };
        if !self.mode.inspecting || ir::opcode(load) != Some(Op::LLVMLoad) || !self.given.defined_inside(load)
        {
            return Ok(None);
        }
        let (Ok(base), Some(place)) = (base_of(self, load), flow.place_of(load)) else {
            return Ok(None);
        };
        // A load that chooses its own element is never known before.
        let inspecting = std::mem::replace(&mut self.mode.inspecting, false);
        let fine = self.trial(|me| me.data_dependent_access(flow, load, base, place));
        self.mode.inspecting = inspecting;
        if !fine?.works() {
            return Ok(None);
        }
        let member = ir::is_member(ir::address(load).unwrap_or(load));
        let own = self.inspected_by(load);
        // What numbers are rounded to is known behind some inspections only.
        let rounded = self.is_rounded(load);
        let known = |(n, i): (usize, &Inspected)| {
            let alike = i.base == base
                && (i.bits, i.unsigned) == (bits, unsigned)
                && !i.member
                && !member
                && !rounded;
            (alike && own.iter().all(|before| *before < n)).then_some(n)
        };
        if let Some(n) = self.found.inspections.iter().enumerate().find_map(known) {
            self.found.inspections[n].loads.push(load);
            return Ok(Some(n));
        }
        if self.found.inspections.len() >= MAX_INSPECTIONS {
            return Ok(None);
        }
        let display = self.name_of(base);
        let (low, high) = self.new_ends((load, unsigned), bits, &display)?;
        self.found.inspections.push(Inspected {
            base,
            bits,
            unsigned,
            member,
            loads: vec![load],
            low,
            high,
            display,
            distinct: false,
        });
        Ok(Some(self.found.inspections.len() - 1))
    }

    /// Two parameters of which the first is not above the second.
    pub fn new_ends(
        &mut self,
        of: (Value, bool),
        bits: u32,
        display: &str,
    ) -> Result<(String, String), Fail> {
        let (low, high) =
            (self.new_inspected(of, bits, "min", display)?, self.new_inspected(of, bits, "max", display)?);
        let space = isl::Space::params_named(&self.given.ctx, [low.as_str(), high.as_str()])?;
        let least = self.param_aff(self.params.len() - 2, space.clone())?;
        let largest = self.param_aff(self.params.len() - 1, space)?;
        self.context = self.context.clone().intersect(least.le_set(largest)?.params()?)?;
        Ok((low, high))
    }

    /// Whether the element of a load depends on an integer that is rounded from a number.
    fn is_rounded(&self, load: Value) -> bool {
        let (mut work, mut seen) = (self.found.subscript_values(load), BTreeSet::new());
        while let Some(v) = work.pop() {
            if self.found.roundings.iter().any(|r| r.value == v) {
                return true;
            }
            if self.given.defined_inside(v) && seen.insert(v) {
                match ir::opcode(v) {
                    Some(Op::LLVMLoad) => work.extend(self.found.subscript_values(v)),
                    _ => work.extend(ir::operands(v)),
                }
            }
        }
        false
    }

    /// Whether data chooses addresses by inspected integers alone, as they are, on which a check's condition
    /// does not depend: then addresses are where the host found them, whatever becomes of the check.
    pub fn goes_by_lists_alone(&self, condition: Value) -> bool {
        let is_listed = |v: &Value| self.found.inspections.iter().any(|i| i.loads.contains(v));
        let chosen = self.found.data_subscripts.values().flatten();
        let (mut work, mut seen) = (vec![condition], BTreeSet::new());
        let mut any = false;
        for c in chosen {
            any = true;
            if c.assuming || !is_listed(&c.value) {
                return false;
            }
        }
        while let Some(v) = work.pop() {
            if !any || !self.given.defined_inside(v) || !seen.insert(v) {
                continue;
            }
            if is_listed(&v) || seen.len() > MAX_CONDITION {
                return false;
            }
            work.extend(ir::operands(v));
        }
        true
    }

    /// The inspections that the element of a load depends on.
    fn inspected_by(&self, load: Value) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for c in self.found.data_subscripts.get(&load).into_iter().flatten() {
            let mut work = vec![c.value];
            while let Some(v) = work.pop() {
                match self.found.inspections.iter().position(|i| i.loads.contains(&v)) {
                    Some(n) if found.insert(n) => {
                        work.extend(
                            self.found.inspections[n]
                                .loads
                                .iter()
                                .flat_map(|l| self.found.subscript_values(*l)),
                        );
                    }
                    Some(_) => {}
                    None if self.given.defined_inside(v) && ir::opcode(v) != Some(Op::LLVMPHI) => {
                        work.extend(ir::operands(v));
                    }
                    None => {}
                }
            }
        }
        found
    }

    /// A parameter that is found by inspection.
    fn new_inspected(
        &mut self,
        (load, unsigned): (Value, bool),
        bits: u32,
        end: &str,
        array: &str,
    ) -> Result<String, Fail> {
        let name = self.fresh_name(&format!("{array}_{end}"), "inspected");
        let space = isl::Space::params_named(&self.given.ctx, [name.as_str()])?;
        let (low, high) = match bits {
            64 => (-WIDE_BOUND, WIDE_BOUND),
            bits if unsigned => (0, (1i64 << bits) - 1),
            bits => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        };
        let range = Set::universe(space)?
            .lower_bound_val(DimType::Param, 0, isl::Val::int(&self.given.ctx, low)?)?
            .upper_bound_val(DimType::Param, 0, isl::Val::int(&self.given.ctx, high)?)?;
        self.context = self.context.clone().intersect(range)?;
        let scope = ir::parent(load).and_then(|b| self.given.an.innermost_loop(b));
        let which = if end == "min" { "least" } else { "largest" };
        self.params.push(ParamEntry {
            name: name.clone(),
            display: format!("the {which} value of {array}"),
            bits: if unsigned { 2 * bits } else { bits },
            scev: self.given.an.scev(load, scope),
            inspected: true,
        });
        Ok(name)
    }

    /// Whether bounds are the ends of an inspection.
    pub fn is_inspected(&self, values: &Set) -> Result<bool, Fail> {
        let rounded = self.found.roundings.iter().flat_map(|r| [&r.low, &r.high]);
        for end in self.found.inspections.iter().flat_map(|i| [&i.low, &i.high]).chain(rounded) {
            let at = values.find_dim_by_id(DimType::Param, &isl::Id::new(&self.given.ctx, end)?)?;
            if at >= 0 && values.involves_dims(DimType::Param, at as u32, 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Values that are read as unsigned are not negative, which the host checks.
    pub fn assume_not_negative(&mut self, values: &Set, place: &Place, what: &str) -> Result<bool, Fail> {
        let mut extended = place.clone();
        extended.domain = values.clone();
        let negative = values.clone().upper_bound_val(
            DimType::Set,
            place.dims() as u32,
            isl::Val::int(&self.given.ctx, -1)?,
        )?;
        let note = format!("{what} is not negative");
        match self.assume(AssumptionKind::NonNegative, negative, &extended, &note) {
            Ok(()) => Ok(true),
            Err(Stop::Blocker(_)) => Ok(false),
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// What the inspections that anything depends on look at. Must be asked before anything is simplified by
    /// what is assumed of inspected values.
    pub fn looked_at(&self, drafts: &[Draft], arrays: &[Array]) -> Result<Vec<Looked>, Fail> {
        let accesses =
            || drafts.iter().flat_map(|d| d.statement.accesses.iter().map(move |a| (&d.statement.domain, a)));
        let mut all = Vec::new();
        for i in &self.found.inspections {
            let mut found: Option<(ArrayId, Set)> = None;
            for (domain, a) in accesses() {
                let AccessValue::Instruction(v) = a.value else { continue };
                let load = ir::value(v);
                if !i.loads.contains(&load) {
                    continue;
                }
                let own = a.relation.clone().intersect_domain(domain.clone())?.range()?;
                found = Some(match found {
                    None => (a.array, own),
                    // Parts of one allocation with different shapes.
                    Some((array, _)) if array != a.array => {
                        return Err(Fail::at(not_inspected(i.display.clone()), load));
                    }
                    Some((array, before)) => (array, before.union(own)?.coalesce()?),
                });
            }
            let Some((array, elements)) = found else { continue };
            for (domain, a) in accesses().filter(|(_, a)| a.kind != AccessKind::Read) {
                let other = &arrays[a.array.0];
                let clash = if a.array == array {
                    let written = a.relation.clone().intersect_domain(domain.clone())?.range()?;
                    !written.intersect_params(self.context.clone())?.is_disjoint(&elements)?
                } else {
                    other.same_place(&arrays[array.0])?
                };
                if clash {
                    let blocker = format!("{}, which the loop itself changes", i.display);
                    return Err(Fail::at(not_inspected(blocker), i.loads[0]));
                }
            }
            let (low, high) = (i.low.clone(), i.high.clone());
            all.push(Looked {
                array,
                elements,
                low,
                high,
                display: i.display.clone(),
                unsigned: i.unsigned,
                distinct: i.distinct,
            });
        }
        Ok(all)
    }
}

fn not_inspected(blocker: String) -> RejectReason {
    RejectReason::Subscript { array: "an array".into(), blocker }
}
