//! The finished [`Scop`]: what is checked at run time, and everything tidied.
//!
//! **Invariants.** All sets and functions of the result are over one list of parameters, and nothing depends
//! on a parameter that is not in it. No assumption is implied by the context and the others.

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, block_location, loc};
use crate::base::found::{Draft, ParamEntry, Rounded};
use crate::base::ir::{self, Value, handle};
use crate::memory::inspect::Looked;
use crate::memory::roundings::RoundedFrom;
use crate::values::schedule::original_schedule;
use isl::{DimType, Map, PwAff, Set, Space};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::LoopId;
use pollyrs_scop::*;
use std::collections::BTreeMap;

/// A parameter of the model.
fn param(p: &ParamEntry) -> Param {
    Param {
        name: p.name.clone(),
        display: p.display.clone(),
        bits: p.bits,
        // SAFETY: an expression of these analyses.
        scev: unsafe { ScevHandle::new(p.scev.handle.address()) },
        inspected: p.inspected,
    }
}

/// Why a model is not taken that the verifier refuses.
fn not_valid(e: VerifyError, scop: &Scop) -> RejectReason {
    let stage = "detection".to_string();
    match e {
        VerifyError::Inspection(name) => {
            let named = scop.arrays.iter().find(|a| a.name == name);
            let display = named.map_or(name.as_str(), |a| &a.display);
            let blocker = format!("elements of {display}, which the loop writes as well");
            RejectReason::Subscript { array: "another array".into(), blocker }
        }
        VerifyError::Isl(isl::Error::Quota) => RejectReason::Budget { stage },
        e => RejectReason::Internal { stage, message: e.to_string() },
    }
}

/// A statement over the parameters of `space`, its accesses without pieces that are never executed.
fn tidy_statement(s: &mut Statement, space: &Space, context: &Set) -> isl::Result<()> {
    s.domain = tidy_set(s.domain.clone(), space)?;
    for a in &mut s.accesses {
        a.relation = tidy_map(a.relation.clone(), space)?;
        // Pieces for iterations that are never executed.
        if a.within.is_none() && a.relation.n_basic_map()? > 1 {
            let inside = a.relation.clone().intersect_domain(s.domain.clone())?;
            let inside = inside.coalesce()?.gist_domain(s.domain.clone())?;
            if inside.is_single_valued()? {
                a.relation = inside;
            }
        }
        // Pieces that meet only where the context does not hold.
        if a.within.is_none() && !a.relation.is_single_valued()? {
            let domain = s.domain.clone().intersect_params(context.clone())?;
            let inside = a.relation.clone().intersect_domain(domain)?.coalesce()?;
            if inside.is_single_valued()? {
                a.relation = inside;
            }
        }
        if let Some(w) = &mut a.within {
            w.relation = tidy_map(w.relation.clone(), space)?;
        }
        if let Some(place) = &mut a.place {
            *place = tidy_map(place.clone(), space)?;
        }
    }
    for f in &mut s.synthesized {
        f.function = tidy_function(f.function.clone(), space)?;
    }
    Ok(())
}

/// Arrays over the parameters of `space`.
fn tidy_arrays(arrays: &mut [Array], space: &Space) -> isl::Result<()> {
    for a in arrays {
        for f in a.sizes.iter_mut().flatten().chain(&mut a.shift) {
            *f = tidy_value(f, space)?;
        }
        if let Some(apart) = &mut a.apart {
            *apart = tidy_set(apart.clone(), space)?;
        }
    }
    Ok(())
}

/// Rows that another array's condition keeps apart do not overlap.
fn settle_overlaps(arrays: &mut [Array], known: &Set) -> isl::Result<()> {
    for a in arrays {
        a.apart = match a.apart.take() {
            Some(apart) if !known.is_subset(&apart)? => Some(apart.gist(known.clone())?),
            _ => None,
        };
    }
    Ok(())
}

/// A function of the parameters.
fn tidy_value(f: &PwAff, space: &Space) -> isl::Result<PwAff> {
    let f = tidy_function(f.clone(), space)?;
    if f.domain_space()?.is_params()? { Ok(f) } else { f.project_domain_on_params() }
}

impl Builder<'_> {
    pub fn finish(
        mut self,
        (name, function): (String, String),
        mut drafts: Vec<Draft>,
        mut arrays: Vec<Array>,
        appends: Vec<Append>,
        invariants: &[Value],
    ) -> Result<Scop, Fail> {
        let alias_checks = self.alias_checks(&drafts, &arrays);
        let invariant_loads = self.invariant_loads(&stores(&drafts, &arrays));
        self.assumed.all = self.needed_assumptions()?;
        self.refuse_trivial(&drafts)?;
        let mut looked = self.looked_at(&drafts, &arrays)?;
        let mut rounded = self.found.rounded_from(&drafts, &arrays)?;
        let known = self.known_at_run_time()?;
        for d in &mut drafts {
            d.statement.domain = assumed_domain(d.statement.domain.clone(), &known)?;
        }
        settle_overlaps(&mut arrays, &known)?;
        self.drop_unused(&drafts, &arrays, &mut looked, &mut rounded)?;
        let space = Space::params_named(&self.given.ctx, self.params.iter().map(|p| p.name.as_str()))?;
        let (known, context) = (tidy_set(known, &space)?, tidy_set(self.context.clone(), &space)?);
        for d in &mut drafts {
            tidy_statement(&mut d.statement, &space, &context)?;
        }
        tidy_arrays(&mut arrays, &space)?;
        self.given.join_cells(&mut drafts, &mut arrays, &known);
        for d in &mut drafts {
            d.statement.reduction = crate::values::reductions::recognise(&d.statement, &arrays)?;
            let total = crate::values::reductions::running(&d.statement, &arrays)?;
            let moves = |r: &Running| -> isl::Result<bool> {
                let [read, write] =
                    [r.update.read, r.update.write].map(|n| &d.statement.accesses[n].relation);
                Ok(!read.is_equal(write)?)
            };
            if let Some(r) = total
                && (d.statement.reduction.is_none() || moves(&r)?)
            {
                d.statement.running = Some(r);
            }
        }
        let schedule = original_schedule(&self.given.ctx, &drafts)?;
        let reordered = self.given.reordered(&drafts);
        let statements: Vec<Statement> = drafts.into_iter().map(|d| d.statement).collect();
        let in_place = self.given.in_place(&alias_checks, &arrays, &statements, &schedule, &known);
        self.given.check_numbers(&rounded, &arrays, &statements, (&schedule, &known))?;
        let loops: Vec<_> = (0..self.given.an.loops().len())
            .filter(|l| self.given.inside(LoopId(*l)))
            .map(|l| self.given.an.loops()[l].location.clone().map(loc))
            .collect();
        let location = loops.first().cloned().flatten().or_else(|| block_location(self.given.region.entry));
        let mut assumptions = std::mem::take(&mut self.assumed.all);
        for a in &mut assumptions {
            a.set = tidy_set(a.set.clone(), &space)?;
        }
        let mut ranges = std::mem::take(&mut self.assumed.products);
        for r in &mut ranges {
            r.executed = tidy_set(r.executed.clone(), &space)?;
            for f in r.terms.iter_mut().flat_map(ProductTerm::functions_mut) {
                *f = tidy_value(f, &space)?;
            }
        }
        let roundings = self.roundings(rounded, &looked, &space)?;
        let inspections = self.inspections(looked, &space)?;
        let promised = self.found.promised.iter().copied().collect();
        // (Whether one array may stand for two was asked of the model's order only.)
        let in_place = if reordered.is_empty() && !self.given.is_grouped() { in_place } else { Vec::new() };
        let scop = Scop {
            name,
            function,
            location,
            params: self.params.iter().map(param).collect(),
            context: tidy_set(self.context.clone(), &space)?,
            assumptions,
            ranges,
            invariants: invariants
                .iter()
                .map(|v| Invariant { value: handle(*v), display: self.name_of(*v) })
                .collect(),
            arrays,
            statements,
            schedule,
            region: self.given.handles(),
            alias_checks,
            in_place,
            invariant_loads,
            inspections,
            roundings,
            appends,
            promised,
            reordered,
            long: false,
            loops,
            ctx: self.given.ctx.clone(),
        };
        verify(&scop).map_err(|e| Fail { reason: not_valid(e, &scop), block: None, location: None })?;
        Ok(scop)
    }

    /// The inspections whose parameters are left.
    fn inspections(&self, looked: Vec<Looked>, space: &Space) -> isl::Result<Vec<Inspection>> {
        let number = |name: &str| self.params.iter().position(|p| p.name == name);
        let mut inspections = Vec::new();
        for l in looked {
            let (Some(low), Some(high)) = (number(&l.low), number(&l.high)) else { continue };
            let elements = tidy_set(l.elements, space)?;
            let Looked { array, display, unsigned, distinct, .. } = l;
            inspections.push(Inspection { array, elements, low, high, unsigned, distinct, display });
        }
        Ok(inspections)
    }

    /// The roundings whose parameters are left, behind those inspections that are.
    fn roundings(
        &self,
        rounded: Vec<RoundedFrom>,
        looked: &[Looked],
        space: &Space,
    ) -> isl::Result<Vec<Rounding>> {
        let number = |name: &str| self.params.iter().position(|p| p.name == name);
        let mut roundings = Vec::new();
        for RoundedFrom { rounding, mut terms } in rounded {
            let (Some(low), Some(high)) = (number(&rounding.low), number(&rounding.high)) else { continue };
            for t in &mut terms {
                match &mut t.kind {
                    TermKind::Count { low, high } => {
                        *low = tidy_value(low, space)?;
                        *high = tidy_value(high, space)?;
                    }
                    TermKind::Memory { elements, .. } => *elements = tidy_set(elements.clone(), space)?,
                    _ => {}
                }
            }
            let first = &self.found.inspections[..rounding.behind];
            let behind = looked.iter().filter(|l| first.iter().any(|i| i.low == l.low)).count();
            let Rounded { bits, signed, saturates, display, .. } = rounding;
            roundings.push(Rounding { terms, bits, signed, saturates, low, high, behind, display });
        }
        Ok(roundings)
    }

    /// Pairs of arrays of which one is written and whose accesses may touch the same memory, whatever their
    /// types. (Parts of one allocation are such a pair, too.)
    fn alias_checks(&self, drafts: &[Draft], arrays: &[Array]) -> Vec<(ArrayId, ArrayId)> {
        let base = |a: usize| match arrays[a].kind {
            ArrayKind::Memory { base } => Some(ir::value(base)),
            _ => None,
        };
        let mut touching: Vec<Vec<(Value, bool)>> = vec![Vec::new(); arrays.len()];
        for a in drafts.iter().flat_map(|d| &d.statement.accesses) {
            if let AccessValue::Instruction(v) = a.value {
                touching[a.array.0].push((ir::value(v), a.kind != AccessKind::Read));
            }
        }
        let mut pairs = Vec::new();
        for a in 0..arrays.len() {
            for b in a + 1..arrays.len() {
                let (Some(p), Some(q)) = (base(a), base(b)) else { continue };
                let clash = touching[a].iter().any(|(x, wx)| {
                    let with = |(y, wy): &(Value, bool)| {
                        (*wx || *wy)
                            && !self.found.in_other_bytes(*x, *y)
                            && self.given.an.may_alias_accesses((p, Some(*x)), (q, Some(*y)))
                    };
                    touching[b].iter().any(with)
                });
                if clash {
                    pairs.push((ArrayId(a), ArrayId(b)));
                }
            }
        }
        pairs
    }

    /// The assumptions without those that the context and the others imply.
    fn needed_assumptions(&mut self) -> Result<Vec<Assumption>, Fail> {
        let mut all = std::mem::take(&mut self.assumed.all);
        let mut i = 0;
        while i < all.len() {
            let mut others = self.context.clone();
            for (j, a) in all.iter().enumerate() {
                if j != i {
                    others = others.intersect(a.set.clone())?;
                }
            }
            if others.is_subset(&all[i].set)? {
                all.remove(i);
            } else {
                i += 1;
            }
        }
        Ok(all)
    }

    /// Removes parameters that nothing mentions (they came from conditions before the region), and
    /// inspections whose values bound nothing.
    fn drop_unused(
        &mut self,
        drafts: &[Draft],
        arrays: &[Array],
        looked: &mut Vec<Looked>,
        rounded: &mut Vec<RoundedFrom>,
    ) -> Result<(), Fail> {
        // What depends on another one may be dropped first.
        let mut before = usize::MAX;
        while looked.len() + rounded.len() < before {
            before = looked.len() + rounded.len();
            for n in (0..rounded.len()).rev() {
                let mut used = false;
                for end in [rounded[n].rounding.low.clone(), rounded[n].rounding.high.clone()] {
                    used |=
                        self.is_mentioned(&end, drafts, arrays, (looked.as_slice(), &rounded[n + 1..]))?;
                }
                if !used {
                    rounded.remove(n);
                }
            }
            for n in (0..looked.len()).rev() {
                let mut used = looked[n].distinct;
                for end in [looked[n].low.clone(), looked[n].high.clone()] {
                    used |=
                        self.is_mentioned(&end, drafts, arrays, (&looked[n + 1..], rounded.as_slice()))?;
                }
                if !used {
                    looked.remove(n);
                }
            }
        }
        let mut kept = Vec::new();
        for (index, p) in std::mem::take(&mut self.params).into_iter().enumerate() {
            let is_end = |low: &str, high: &str| low == p.name || high == p.name;
            let found = looked.iter().any(|l| is_end(&l.low, &l.high))
                || rounded.iter().any(|r| is_end(&r.rounding.low, &r.rounding.high));
            if self.tied.contains(&index)
                || found
                || self.is_mentioned(&p.name, drafts, arrays, (looked.as_slice(), rounded.as_slice()))?
            {
                if p.inspected && !found {
                    let reason = RejectReason::Subscript { array: p.display.clone(), blocker: p.display };
                    return Err(Fail::new(reason, self.given.region.entry));
                }
                kept.push(p);
                continue;
            }
            let id = isl::Id::new(&self.given.ctx, &p.name)?;
            let at = self.context.find_dim_by_id(DimType::Param, &id)?;
            if at >= 0 {
                self.context = self.context.clone().project_out(DimType::Param, at as u32, 1)?;
            }
            for a in &mut self.assumed.all {
                let at = a.set.find_dim_by_id(DimType::Param, &id)?;
                if at >= 0 {
                    a.set = a.set.clone().project_out(DimType::Param, at as u32, 1)?;
                }
            }
        }
        self.params = kept;
        Ok(())
    }

    /// Whether anything of the model depends on a parameter.
    fn is_mentioned(
        &mut self,
        name: &str,
        drafts: &[Draft],
        arrays: &[Array],
        (looked, rounded): (&[Looked], &[RoundedFrom]),
    ) -> Result<bool, Fail> {
        let id = isl::Id::new(&self.given.ctx, name)?;
        let in_set = |s: &isl::Set| -> isl::Result<bool> {
            let at = s.find_dim_by_id(DimType::Param, &id)?;
            Ok(at >= 0 && s.involves_dims(DimType::Param, at as u32, 1)?)
        };
        let in_pwa = |f: &PwAff| -> isl::Result<bool> {
            let at = f.space()?.find_dim_by_id(DimType::Param, &id)?;
            Ok(at >= 0 && f.involves_dims(DimType::Param, at as u32, 1)?)
        };
        let mut used = false;
        for r in &mut self.assumed.products {
            used |= in_set(&r.executed)?;
            for f in r.terms.iter_mut().flat_map(ProductTerm::functions_mut) {
                used |= in_pwa(f)?;
            }
        }
        let assumed = self.assumed.all.iter().map(|a| &a.set).chain(looked.iter().map(|l| &l.elements));
        for set in assumed.chain(arrays.iter().filter_map(|a| a.apart.as_ref())) {
            used |= in_set(set)?;
        }
        for a in arrays.iter().flat_map(|a| a.sizes.iter().flatten().chain(&a.shift)) {
            used |= in_pwa(a)?;
        }
        for t in rounded.iter().flat_map(|r| &r.terms) {
            match &t.kind {
                TermKind::Count { low, high } => used |= in_pwa(low)? || in_pwa(high)?,
                TermKind::Memory { elements, .. } => used |= in_set(elements)?,
                _ => {}
            }
        }
        for s in drafts.iter().map(|d| &d.statement) {
            used |= in_set(&s.domain)?;
            for f in &s.synthesized {
                used |= in_pwa(&f.function)?;
            }
            let all = |a: &'_ Access| {
                let within = a.within.as_ref().map(|w| w.relation.clone());
                [Some(a.relation.clone()), within, a.place.clone()]
            };
            for relation in s.accesses.iter().flat_map(all) {
                let Some(relation) = relation else { continue };
                let at = relation.find_dim_by_id(DimType::Param, &id)?;
                used |= at >= 0 && relation.involves_dims(DimType::Param, at as u32, 1)?;
            }
        }
        Ok(used)
    }

    /// The context and those assumptions that are one polyhedron.
    fn known_at_run_time(&self) -> Result<Set, Fail> {
        let mut known = self.context.clone();
        for a in &self.assumed.all {
            if a.set.n_basic_set()? == 1 {
                known = known.intersect(a.set.clone())?;
            }
        }
        Ok(known.coalesce()?)
    }
}

impl Given<'_> {
    /// Nests over points that the program runs through tile by tile.
    fn reordered(&self, drafts: &[Draft]) -> Vec<Reordered> {
        let mut nests: BTreeMap<usize, Reordered> = BTreeMap::new();
        for (n, d) in drafts.iter().enumerate() {
            let Some(first) = d.loops.iter().position(|l| self.an.loops()[l.0].points) else {
                continue;
            };
            // Where the mark of the last one is gone, all may have been in another order.
            let last = d.loops.iter().rposition(|l| self.an.loops()[l.0].last_of_points);
            let last = last.filter(|l| *l >= first).unwrap_or(d.loops.len() - 1);
            let statements = Vec::new();
            let nest = nests.entry(d.loops[first].0).or_insert(Reordered { first, last, statements });
            nest.last = nest.last.max(last);
            nest.statements.push(StmtId(n));
        }
        nests.into_values().collect()
    }

    /// Whether it has a nest that goes through sums place by place, or has columns outside, which the program
    /// does not.
    fn is_grouped(&self) -> bool {
        let grouped = |l: &LoopId| self.inside(*l) && self.an.loops()[l.0].grouped;
        (0..self.an.loops().len()).map(LoopId).any(|l| grouped(&l))
    }

    /// The region, its blocks in reverse postorder.
    fn handles(&self) -> Region {
        let block = |b: &ir::Block| ir::handle_of_block(*b);
        let mut blocks: Vec<_> = self.region.blocks.iter().collect();
        blocks.sort_by_key(|b| self.cfg.id(**b));
        Region {
            entry: block(&self.region.entry),
            exit: block(&self.region.exit),
            blocks: blocks.into_iter().map(block).collect(),
        }
    }
}

/// The stores to memory: the array, its base, the instruction.
fn stores(drafts: &[Draft], arrays: &[Array]) -> Vec<(ArrayId, Value, Value)> {
    let accesses = drafts.iter().flat_map(|d| &d.statement.accesses).filter(|a| a.kind != AccessKind::Read);
    let store = |a: &Access| match (&arrays[a.array.0].kind, &a.value) {
        (ArrayKind::Memory { base }, AccessValue::Instruction(v)) => {
            Some((a.array, ir::value(*base), ir::value(*v)))
        }
        _ => None,
    };
    accesses.filter_map(store).collect()
}

/// Drops the parameters that `space` lacks (nothing depends on them) and orders the rest as in `space`.
fn tidy_set(mut s: isl::Set, space: &Space) -> isl::Result<isl::Set> {
    for p in strangers(&s.space()?, space)? {
        s = s.project_out(DimType::Param, p, 1)?;
    }
    s.align_params(space.clone())
}

fn tidy_map(mut m: Map, space: &Space) -> isl::Result<Map> {
    for p in strangers(&m.space()?, space)? {
        m = m.project_out(DimType::Param, p, 1)?;
    }
    m.align_params(space.clone())
}

fn tidy_function(mut f: PwAff, space: &Space) -> isl::Result<PwAff> {
    for p in strangers(&f.space()?, space)? {
        f = f.drop_dims(DimType::Param, p, 1)?;
    }
    f.align_params(space.clone())
}

/// Positions of parameters that `space` lacks, last first.
fn strangers(mine: &Space, space: &Space) -> isl::Result<Vec<u32>> {
    let mut found = Vec::new();
    for p in (0..mine.dim(DimType::Param)?).rev() {
        if space.find_dim_by_id(DimType::Param, &mine.dim_id(DimType::Param, p)?)? < 0 {
            found.push(p);
        }
    }
    Ok(found)
}

/// `domain` without what can't be while the assumptions hold: `{ S[i] : 0 <= i < n } or { S[0] : n < 0 }`,
/// from a loop that tests at its end, is the first part alone once `n >= 0` is checked.
fn assumed_domain(domain: Set, known: &Set) -> isl::Result<Set> {
    let inside = domain.clone().intersect_params(known.clone())?.coalesce()?;
    if inside.is_empty()? {
        return Ok(domain);
    }
    let inside = inside.gist_params(known.clone())?.coalesce()?;
    Ok(if inside.n_basic_set()? <= domain.n_basic_set()? { inside } else { domain })
}
