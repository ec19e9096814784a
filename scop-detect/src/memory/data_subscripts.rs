//! Elements that data chooses: `table[in[i]]`, `x[i * n + best]`, `image[min(max(y, 0), h - 1) * w + x]` for
//! a `y` computed from numbers.
//!
//! **Problem.** Such a subscript is no function of the iteration. Where the values that it may have are
//! bounded, a load touches one of a known set of elements: the model takes all of them for read
//! ([`Access::relation`](pollyrs_scop::Access)), and the device computes which it is.
//!
//! **Which values.** The smallest parts of an address that are not affine become dimensions of the place of
//! evaluation, where what is made of them is bounded (`min(max(y, 0), h - 1)`, also where LLVM multiplies
//! into the arms of a selection), or else the largest parts that are bounded. Each is restricted to what its
//! value may be: by a narrow type (`unsigned char`), a mask or remainder, minima and maxima with affine
//! bounds, and choices (PHIs, selects) among values of such sets. A PHI at the head of a loop has values from
//! iterations before: of what its sources depend on, the loop and those inside it are projected out.
//!
//! **Invariants.** Only loads, and stores of updates in any order ([`crate::memory::updates`]) or to elements
//! that are proved to be different ([`crate::memory::scatters`], [`crate::memory::appends`]): others would
//! order all iterations. A set holds whatever the data is. The value is an instruction before the load, so
//! that the statement can have it.
//!
//! **Example.** `for (j = 1; j < n; j++) if (x[j] > x[best]) best = j;` reads `x[v]`, `0 <= v < n`, as `best`
//! is 0 or an earlier `j`.

use crate::base::builder::{Builder, Given};
use crate::base::fail::Fail;
use crate::base::flow::Flow;
use crate::base::found::FoundSubscript;
use crate::base::ir::{self, Block, Op, Value};
use crate::base::place::Place;
use crate::memory::choices::{divisor, is_bounded};
use crate::memory::data_accesses::Trial;
use crate::memory::raw::base_of;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use std::collections::BTreeSet;

/// Expressions, and choices among choices, are looked into this deep.
const MAX_DEPTH: u32 = 6;
/// Values that an address is computed from, and branches before it.
const MAX_VALUES: usize = 64;

/// A way to find what an address is made of.
#[derive(Clone, Copy)]
struct Try {
    /// The smallest parts that are not affine, or the largest ones that are bounded.
    smallest: bool,
    /// See [`Mode::inspecting`](crate::base::builder::Mode), [`Mode::assuming`](crate::base::builder::Mode),
    /// [`Mode::by_type`](crate::base::builder::Mode).
    inspecting: bool,
    assuming: bool,
    by_type: bool,
}

/// What needs the least comes first; the ends of a type reach beyond most tables.
const TRIES: [Try; 8] = {
    let first = Try { smallest: true, inspecting: false, assuming: false, by_type: false };
    let looks = Try { inspecting: true, ..first };
    [
        first,
        Try { smallest: false, ..first },
        Try { assuming: true, ..first },
        looks,
        Try { smallest: false, ..looks },
        Try { by_type: true, ..first },
        Try { smallest: false, by_type: true, ..first },
        Try { by_type: true, ..looks },
    ]
};

impl Builder<'_> {
    /// Fills in [`Found::data_subscripts`](crate::base::builder::Found).
    pub fn find_data_subscripts(&mut self, flow: &Flow) -> Result<(), Fail> {
        let within = flow.subregions.iter().flat_map(|s| s.blocks.iter().copied());
        let blocks: Vec<Block> = flow.order.iter().copied().chain(within).collect();
        for load in blocks.into_iter().flat_map(ir::instructions) {
            if ir::opcode(load) != Some(Op::LLVMLoad) {
                if ir::opcode(load) == Some(Op::LLVMStore) {
                    self.find_update(load);
                    self.find_listed(flow, load)?;
                }
                continue;
            }
            let (Ok(base), Some(place)) = (base_of(self, load), flow.place_of(load)) else { continue };
            let scope = ir::parent(load).and_then(|p| self.given.an.innermost_loop(p));
            let e = self.given.an.scev(ir::address(load).unwrap_or(load), scope);
            if !self.given.has_unknown(&e) {
                self.count_access(flow, load, base, &place)?;
                continue;
            }
            if !self.trial(|me| me.raw_access(load, base, place.clone()))?.wants_subscript() {
                continue;
            }
            // What needs the least comes first; the ends of a type reach beyond most tables.
            let mut found = false;
            self.mode.narrow = false;
            for how in TRIES {
                found = found
                    || (self.mode.narrow || !how.by_type)
                        && self.try_subscripts(flow, (load, base, &e), &place, how)?;
            }
        }
        Ok(())
    }

    /// Takes the parts of the address `e` of a load that are found in a way for values that data chooses, if
    /// its element is bounded then.
    fn try_subscripts(
        &mut self,
        flow: &Flow,
        (load, base, e): (Value, Value, &ScevExpr),
        place: &Place,
        how: Try,
    ) -> Result<bool, Fail> {
        let mut found = Vec::new();
        (self.mode.by_type, self.mode.inspecting, self.mode.assuming) =
            (how.by_type, how.inspecting, how.assuming);
        let parts = match how.smallest {
            true => self.unknown_parts(flow, load, e, place, &mut found),
            false => self.bounded_parts(flow, load, e, place, &mut found),
        };
        (self.mode.inspecting, self.mode.assuming) = (false, false);
        parts?;
        let mut fine = !found.is_empty();
        if fine {
            found.iter_mut().for_each(|c| c.assuming = how.assuming);
            self.found.data_subscripts.insert(load, found);
            self.mode.inspecting = how.inspecting;
            let bounded = self.trial(|me| me.data_dependent_access(flow, load, base, place.clone()));
            self.mode.inspecting = false;
            fine = bounded?.works();
            if !fine {
                self.found.data_subscripts.remove(&load);
            }
        }
        self.mode.by_type = true;
        Ok(fine)
    }

    /// The same for a store, if an inspected integer or a count alone chooses its element.
    fn find_listed(&mut self, flow: &Flow, store: Value) -> Result<(), Fail> {
        let (Ok(base), Some(place)) = (base_of(self, store), flow.place_of(store)) else {
            return Ok(());
        };
        let scope = ir::parent(store).and_then(|p| self.given.an.innermost_loop(p));
        let e = self.given.an.scev(ir::address(store).unwrap_or(store), scope);
        if self.found.data_subscripts.contains_key(&store) || !self.given.has_unknown(&e) {
            return Ok(());
        }
        let plainly = self.trial(|me| me.raw_access(store, base, place.clone()))?;
        if let Trial::Refused(reason) = &plainly
            && plainly.leads_elsewhere()
            && self.runs(&place)?
        {
            // It would be refused when all else is known.
            return Err(Fail::at(reason.clone(), store));
        }
        if !plainly.wants_subscript() {
            return Ok(());
        }
        let mut found = Vec::new();
        self.mode.inspecting = true;
        self.unknown_parts(flow, store, &e, &place, &mut found)?;
        if found.is_empty() {
            self.bounded_parts(flow, store, &e, &place, &mut found)?;
        }
        let mut fine = found.len() == 1;
        if fine {
            found.iter_mut().for_each(|c| self.given.choose_count(c));
            self.found.data_subscripts.insert(store, found);
            fine = self.trial(|me| me.data_dependent_access(flow, store, base, place.clone()))?.works()
                && (self.found.listed(store).is_some() || self.appends(store).is_some());
        }
        self.mode.inspecting = false;
        if !fine {
            self.found.data_subscripts.remove(&store);
            // A sum that keeps its order would be refused when all else is known.
            if let Trial::Refused(reason) = plainly
                && self.found.updates.get(&store).is_some_and(|sum| sum.ordered)
                && self.runs(&place)?
            {
                return Err(self.no_update(store, Fail::at(reason, store)));
            }
        }
        Ok(())
    }

    /// Whether control ever gets to a place.
    fn runs(&self, place: &Place) -> isl::Result<bool> {
        Ok(!place.domain.clone().intersect_params(self.context.clone())?.is_empty()?)
    }

    /// Whether `e` multiplies by numbers only.
    fn is_sum(&self, e: &ScevExpr) -> bool {
        let number = |o: &ScevExpr| matches!(o.kind, ScevKind::Constant(_));
        match &e.kind {
            ScevKind::Mul(ops) => {
                ops.iter().filter(|o| !number(o)).count() == 1 && ops.iter().all(|o| self.is_sum(o))
            }
            _ => e.operands().into_iter().all(|o| self.is_sum(o)),
        }
    }

    /// The smallest parts of `e` that are not affine, of whatever value: what is made of them (minima,
    /// maxima, selections) bounds them.
    fn unknown_parts(
        &mut self,
        flow: &Flow,
        load: Value,
        e: &ScevExpr,
        place: &Place,
        found: &mut Vec<FoundSubscript>,
    ) -> Result<(), Fail> {
        if self.given.is_settled(e, found) {
            return Ok(());
        }
        if !e.is_pointer && self.affine(e, place)?.is_some() {
            return Ok(());
        }
        let whole = match &e.kind {
            ScevKind::Unknown(v) if self.given.is_selection(*v) => {
                let scope = self.given.scope(*v, place);
                let mut parts = Vec::new();
                if compared(ir::operand(*v, 0), &mut parts, MAX_DEPTH) {
                    parts.extend([ir::operand(*v, 1), ir::operand(*v, 2)]);
                    for p in parts {
                        let p = self.given.an.scev(p, scope);
                        self.unknown_parts(flow, load, &p, place, found)?;
                    }
                    return Ok(());
                }
                true
            }
            ScevKind::Unknown(_) => true,
            ScevKind::ZeroExtend(x) => {
                matches!(&x.kind, ScevKind::Unknown(v) if !self.given.is_selection(*v))
            }
            // A sum that may wrap is a value like any other; products are left to what is known of their
            // factors.
            ScevKind::Add(_) | ScevKind::Mul(_) => {
                let wraps = !e.is_pointer && e.bits <= 32 && !e.nsw && self.is_sum(e);
                divisor(e).is_some() || wraps && !self.never_wraps_here(e)
            }
            _ => false,
        };
        if !whole {
            return (e.operands().into_iter())
                .try_for_each(|o| self.unknown_parts(flow, load, o, place, found));
        }
        // Numbers of 64 bits that may be any could wrap where they are computed with.
        let wide = e.bits > 32 && !matches!(e.kind, ScevKind::ZeroExtend(_));
        if wide && !is_bounded(&self.values(flow, e, place, MAX_DEPTH)?)? {
            return self.bounded_parts(flow, load, e, place, found);
        }
        match self.given.computed(load, e) {
            Some(c) => {
                found.push(c);
                Ok(())
            }
            // A sum that scalar evolution has put together, where wrapping may not matter.
            None => {
                (e.operands().into_iter()).try_for_each(|o| self.unknown_parts(flow, load, o, place, found))
            }
        }
    }

    /// The largest parts of `e` that are bounded, and not affine.
    fn bounded_parts(
        &mut self,
        flow: &Flow,
        load: Value,
        e: &ScevExpr,
        place: &Place,
        found: &mut Vec<FoundSubscript>,
    ) -> Result<(), Fail> {
        if self.given.is_settled(e, found) {
            return Ok(());
        }
        if !e.is_pointer && e.bits <= 64 {
            if self.affine(e, place)?.is_some() {
                return Ok(());
            }
            if let Some(c) = self.given.computed(load, e)
                && is_bounded(&self.values(flow, e, place, MAX_DEPTH)?)?
            {
                found.push(c);
                return Ok(());
            }
        }
        e.operands().into_iter().try_for_each(|o| self.bounded_parts(flow, load, o, place, found))
    }
}

impl Given<'_> {
    /// Whether nothing of an expression is to be found: it has no unknown part, or is found.
    fn is_settled(&self, e: &ScevExpr, found: &[FoundSubscript]) -> bool {
        !self.has_unknown(e) || found.iter().any(|c| c.scev.handle == e.handle)
    }

    /// The instruction from which the address of `load` is computed and that gives `e`.
    fn computed(&self, load: Value, e: &ScevExpr) -> Option<FoundSubscript> {
        let (inner, unsigned) = match &e.kind {
            ScevKind::ZeroExtend(x) => (Some(x.handle), true),
            ScevKind::SignExtend(x) => (Some(x.handle), false),
            _ => (None, false),
        };
        let scope = ir::parent(load).and_then(|p| self.an.innermost_loop(p));
        let (mut work, mut seen) = (vec![ir::address(load)?], BTreeSet::new());
        let mut narrower = None;
        while let Some(v) = work.pop() {
            if !self.defined_inside(v) || seen.len() >= MAX_VALUES || !seen.insert(v) {
                continue;
            }
            if ir::int_bits(v).is_some() {
                let own = self.an.scev(v, scope).handle;
                if own == e.handle {
                    return Some(FoundSubscript {
                        scev: e.clone(),
                        value: v,
                        unsigned: false,
                        assuming: false,
                    });
                }
                if Some(own) == inner {
                    narrower = Some(FoundSubscript { scev: e.clone(), value: v, unsigned, assuming: false });
                }
            }
            match ir::opcode(v) {
                Some(Op::LLVMLoad) => {}
                // Where a loop of a subregion begins is a value from before it.
                Some(Op::LLVMPHI) => {
                    let own = ir::parent(v).and_then(|b| self.an.innermost_loop(b).map(|l| (b, l)));
                    let Some((_, l)) =
                        own.filter(|(b, l)| self.an.loops()[l.0].header == *b && self.is_counted_by_data(*l))
                    else {
                        continue;
                    };
                    let blocks = &self.an.loops()[l.0].blocks;
                    let from = ir::incoming(v).into_iter().filter(|(_, b)| !blocks.contains(b));
                    work.extend(from.map(|(x, _)| x));
                }
                _ => work.extend(ir::operands(v)),
            }
        }
        narrower
    }
}

/// Collects what integers a condition compares; whether that is all it depends on.
fn compared(condition: Value, found: &mut Vec<Value>, depth: u32) -> bool {
    let all = ir::operands(condition);
    match ir::opcode(condition) {
        Some(Op::LLVMICmp) if all.iter().all(|o| ir::int_bits(*o).is_some()) => {
            found.extend(all);
            true
        }
        Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor | Op::LLVMSelect | Op::LLVMFreeze) if depth > 0 => {
            all.into_iter().all(|o| ir::constant_int(o).is_some() || compared(o, found, depth - 1))
        }
        _ => ir::constant_int(condition).is_some(),
    }
}
