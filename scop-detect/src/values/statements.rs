//! Effects grouped into statements.
//!
//! Within a block, an effect joins an earlier one when running after it would change what it reads: a load of
//! its tree comes before a store of the earlier effect to the same array, or it reads a cell that the earlier
//! one writes. A minimum and its place, which one comparison chooses, are one statement as well: only
//! together can they be regrouped. Arrays with different bases do not overlap (proved, or checked at run
//! time), so only equal bases count.
//!
//! **Example.** `x = A[i]; A[i] = B[i]; B[i] = x;` is one statement; `A[i] = C[i]; B[i] = C[i];` are two.

use crate::base::builder::Builder;
use crate::base::fail::{Fail, block_location, value_location};
use crate::base::flow::{Flow, Subregion};
use crate::base::found::{Draft, FoundSubscript};
use crate::base::ir::{self, Op, Value, handle};
use crate::base::place::Place;
use crate::base::scalars::{Cell, CellKind};
use crate::control::subregions::describe;
use crate::memory::raw::{Raw, base_of};
use crate::memory::subscripts::Subscripts;
use crate::values::effects::{Effect, Effects, Out};
use isl::{DimType, Map, PwAff};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr};
use pollyrs_scop::*;
use std::collections::{BTreeMap, BTreeSet};

/// Effects that run as one statement.
struct Group {
    effects: Vec<Effect>,
    init: bool,
}

impl Group {
    /// The subregion among the effects; there is one at most, as each has a head of its own.
    fn subregion(&self) -> Option<usize> {
        self.effects.iter().find_map(|e| match e.out {
            Out::Subregion(k) => Some(k),
            _ => None,
        })
    }
}

/// Whose access it is: the statement, and the value that it reads where the instruction has stored it.
#[derive(Clone, Copy)]
struct Owner {
    draft: usize,
    stored: Option<Value>,
}

/// A base, and what accesses it.
type OfBase = (Value, Vec<(Owner, Raw)>);

impl Builder<'_> {
    /// What comes before the model. Whether versions of loops are left out of it.
    pub fn begin(&mut self, without_versions: bool) -> Result<bool, Fail> {
        self.given.check_exit()?;
        self.given.check_instructions()?;
        self.facts_at_entry()?;
        Ok(without_versions && self.leave_out_versions()?)
    }

    /// The SCoP of the region, or why it is none.
    pub fn build(mut self, name: String, function: String) -> Result<Scop, Fail> {
        let flow = self.flow()?;
        let mut fx = self.effects(&flow)?;
        self.join_phis(&flow, &mut fx);
        let groups = self.groups(&flow, fx.effects.clone(), &fx.cells)?;
        let mut arrays = Vec::new();
        let mut drafts = Vec::new();
        for (n, g) in groups.iter().enumerate() {
            drafts.push(self.draft(&flow, format!("S{n}"), g)?);
        }
        self.memory(&flow, &groups, &mut drafts, &mut arrays)?;
        let cells = self.cells(&flow, &fx, &mut arrays)?;
        self.cell_accesses(&groups, &cells, &arrays, &mut drafts)?;
        if drafts.is_empty() {
            return Err(Fail::new(
                RejectReason::NoParallelism { values: Vec::new(), chooser: None },
                self.given.region.entry,
            ));
        }
        self.fault(&flow, &groups, &mut arrays)?;
        let appends = self.totals_of_appends(|count, next| total_of(&groups, count, next))?;
        self.assume_spans()?;
        self.finish((name, function), drafts, arrays, appends, &fx.invariants)
    }

    /// The cell in which kernels report calls that set `errno` and checks that fail. Each such call must run
    /// on the device whenever the program runs it: its result may be of no use to any statement, or of use in
    /// some iterations only.
    fn fault(&mut self, flow: &Flow, groups: &[Group], arrays: &mut Vec<Array>) -> Result<(), Fail> {
        let (mut any, mut leaves) = (false, false);
        for b in self.given.region.blocks.difference(&self.found.excluded) {
            for call in ir::instructions(*b).into_iter().filter(|v| self.found.reports(*v)) {
                if !flow.domains.contains_key(b) {
                    return Err(Fail::at(crate::base::instructions::call_reason(call), call));
                }
                any = true;
                if self.found.reported.contains(&call) {
                    // Where the check fails, what is computed from the data that it looks at may be anything:
                    // no address may depend on that.
                    if !self.goes_by_lists_alone(ir::operand(call, 0)) {
                        let blocker = self.condition_name(ir::operand(call, 0));
                        let obstacle = "a subscript depends on data".to_string();
                        return Err(Fail::at(RejectReason::CheckBeside { blocker, obstacle }, call));
                    }
                    leaves = true;
                }
                let missed = self.uncovered(flow, groups.iter().flat_map(|g| &g.effects), *b, call)?;
                if !missed.is_empty()? {
                    return Err(Fail::at(crate::base::instructions::call_reason(call), call));
                }
            }
        }
        if any {
            let name = self.fresh_name("errno", "fault");
            let display = if leaves { "the flag of checks" } else { "the errno flag" }.to_string();
            arrays.push(Array {
                name,
                display,
                elem: ElemType::Int(64),
                sizes: Vec::new(),
                kind: ArrayKind::Fault { leaves },
                shift: None,
                apart: None,
            });
        }
        Ok(())
    }

    fn groups(&self, flow: &Flow, effects: Vec<Effect>, cells: &[Cell]) -> Result<Vec<Group>, Fail> {
        let order: BTreeMap<_, _> = flow.order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let is_init = |e: &Effect| e.behind || e.loops.len() < flow.loops[&e.block].len();
        let mut sorted = Vec::new();
        for e in effects {
            if !e.domain.clone().intersect_params(self.context.clone())?.is_empty()? {
                sorted.push(e);
            }
        }
        sorted.sort_by_key(|e| (e.behind, !is_init(e), order.get(&e.block).copied(), e.at));
        let mut groups: Vec<Group> = Vec::new();
        let mut rest = sorted.into_iter().peekable();
        while let Some(first) = rest.next() {
            let (block, init) = (first.block, is_init(&first));
            let mut all = vec![first];
            while !init && rest.peek().is_some_and(|e| e.block == block && !is_init(e)) {
                all.extend(rest.next());
            }
            // start[j]: the first effect that must stay together with j.
            let mut cuts: Vec<usize> = (0..all.len()).collect();
            for j in 0..all.len() {
                for i in (0..j).rev() {
                    let pair = all[i..=j].iter().all(|e| e.whole) && is_pair(&all[i], &all[j]);
                    if pair || self.disturbs(&all[i], &all[j], cells)? {
                        cuts.iter_mut().take(j + 1).skip(i).for_each(|c| *c = (*c).min(i));
                    }
                }
            }
            for (j, e) in all.into_iter().enumerate() {
                let joined = cuts[j] < j;
                match groups.last_mut() {
                    Some(g) if joined => {
                        if !e.whole || !g.effects.iter().all(|o| o.whole) {
                            return Err(Fail::new(RejectReason::ControlFlow, block));
                        }
                        g.effects.push(e);
                    }
                    _ => groups.push(Group { effects: vec![e], init }),
                }
            }
        }
        Ok(groups)
    }

    /// Whether `late`, run after `early`, would read something that `early` overwrites.
    fn disturbs(&self, early: &Effect, late: &Effect, cells: &[Cell]) -> Result<bool, Fail> {
        // (What reads the cell of a value does so behind the value.)
        let again = |c: &usize| cells[*c].kind == CellKind::Phi;
        let written = |c: &usize| {
            matches!(early.out, Out::Cell(_, own) if own == *c) && again(c)
                || early.outs.iter().any(|(_, own)| own == c)
        };
        if late.reads.iter().any(|(_, c)| written(c)) {
            return Ok(true);
        }
        let stores: Vec<Value> = match early.out {
            // (A check stores nothing.)
            Out::Store(s) => Vec::from_iter((ir::opcode(s) == Some(Op::LLVMStore)).then_some(s)),
            Out::Cell(..) => Vec::new(),
            Out::Subregion(_) => {
                early.tree.values().copied().filter(|v| ir::opcode(*v) == Some(Op::LLVMStore)).collect()
            }
        };
        for s in stores {
            let (base, at) = (base_of(self, s)?, self.given.cfg.position(s));
            for (p, v) in &late.tree {
                if ir::opcode(*v) == Some(Op::LLVMLoad) && *p < at && base_of(self, *v)? == base {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn draft(&mut self, flow: &Flow, name: String, g: &Group) -> Result<Draft, Fail> {
        let e = &g.effects[0];
        let place = Place::new(e.loops.clone(), e.domain.clone(), None);
        let mut tree: BTreeMap<(usize, usize), Value> = BTreeMap::new();
        let mut integers: BTreeMap<(usize, usize), (Value, ScevExpr)> = BTreeMap::new();
        for e in &g.effects {
            tree.extend(e.tree.iter().map(|(p, v)| (*p, *v)));
            if let Out::Store(s) = e.out {
                tree.insert(self.given.cfg.position(s), s);
            }
            integers
                .extend(e.synthesized.iter().map(|(v, s)| (self.given.cfg.position(*v), (*v, s.clone()))));
        }
        let id = isl::Id::new(&self.given.ctx, &name)?;
        let mut synthesized = Vec::new();
        for (_, (v, s)) in integers {
            let f = self.congruent(&s, &place).map_err(|s| {
                s.fail(v, |b| RejectReason::Subscript { array: "a value".into(), blocker: b })
            })?;
            let known = place.domain.clone().intersect_params(self.context.clone())?;
            let function = f.pwa.gist(known)?.coalesce()?.set_tuple_id(DimType::In, id.clone())?;
            synthesized.push(Synthesized { value: handle(v), function });
        }
        let anchor = tree.values().rev().find_map(|v| value_location(*v));
        let statement = Statement {
            domain: e.domain.clone().coalesce()?.remove_redundancies()?.set_tuple_id(id)?,
            accesses: Vec::new(),
            body: tree.values().map(|v| handle(*v)).collect(),
            synthesized,
            reduction: None,
            updates: Vec::new(),
            running: None,
            subregion: g.subregion().map(|k| describe(&flow.subregions[k], self.given.an)),
            location: anchor.or_else(|| block_location(e.block)),
            name: name.clone(),
        };
        debug_assert!(!g.init || e.loops.is_empty());
        Ok(Draft { name, loops: e.loops.clone(), statement })
    }

    /// Adds memory arrays and the accesses to them.
    fn memory(
        &mut self,
        flow: &Flow,
        groups: &[Group],
        drafts: &mut [Draft],
        arrays: &mut Vec<Array>,
    ) -> Result<(), Fail> {
        let mut chosen = Vec::new();
        for (base, found) in self.accesses_by_base(flow, groups, drafts)? {
            let (owners, raws): (Vec<Owner>, Vec<Raw>) = found.into_iter().unzip();
            for (k, subs, id) in self.subscripts(base, &raws, arrays)? {
                let (owner, raw) = (&owners[k], &raws[k]);
                if !raw.place.values.is_empty() {
                    let (instruction, place, subs) = (raw.inst, raw.place.clone(), subs.clone());
                    chosen.push(Subscripts { draft: owner.draft, instruction, place, subs });
                }
                let draft = &mut drafts[owner.draft];
                let relation = self.relation(&draft.name, &raw.place, subs, &arrays[id.0].name)?;
                let inner = groups[owner.draft].subregion().map(|k| &flow.subregions[k]);
                let access = access(owner, raw, draft, inner, (id, relation))?;
                draft.statement.accesses.push(access);
            }
        }
        if let Some(store) = self.add_updates(drafts, arrays) {
            return Err(self.not_apart(flow, store));
        }
        if let Some(store) = self.add_places(drafts, arrays, &chosen)? {
            return Err(self.not_apart(flow, store));
        }
        for (d, g) in drafts.iter_mut().zip(groups) {
            if let Some(k) = g.subregion() {
                self.given.find_certain(&flow.subregions[k], &mut d.statement)?;
            }
        }
        // Program order within each statement, whatever array comes first.
        for d in drafts {
            d.statement.accesses.sort_by_key(|a| match a.value {
                AccessValue::Instruction(v) => self.given.cfg.position(ir::value(v)),
                _ => (usize::MAX, 0),
            });
        }
        Ok(())
    }

    /// What accesses memory, by base, in the order of their first access.
    fn accesses_by_base(
        &mut self,
        flow: &Flow,
        groups: &[Group],
        drafts: &[Draft],
    ) -> Result<Vec<OfBase>, Fail> {
        let mut bases: Vec<OfBase> = Vec::new();
        for (n, g) in groups.iter().enumerate() {
            let e = &g.effects[0];
            let body = drafts[n].statement.body.iter().map(|h| (None, ir::value(*h)));
            let stored = g.effects.iter().flat_map(|e| &e.stored).map(|(v, store)| (Some(*v), *store));
            let all: Vec<_> = body.filter(|(_, v)| ir::address(*v).is_some()).chain(stored).collect();
            for (stored, v) in all {
                let base = base_of(self, v)?;
                let place = match g.subregion().and_then(|k| flow.subregions[k].place(v)) {
                    Some(within) => within,
                    None => Place::new(e.loops.clone(), e.domain.clone(), Some(v)),
                };
                let raw =
                    self.data_dependent_access(flow, v, base, place).map_err(|f| self.no_update(v, f))?;
                let own = (Owner { draft: n, stored }, raw);
                match bases.iter_mut().find(|(b, _)| *b == base) {
                    Some((_, found)) => found.push(own),
                    None => bases.push((base, vec![own])),
                }
            }
        }
        Ok(bases)
    }

    /// Adds the arrays at a base: by access, in order, its subscripts and its array.
    fn subscripts(
        &mut self,
        base: Value,
        raws: &[Raw],
        arrays: &mut Vec<Array>,
    ) -> Result<Vec<(usize, Vec<PwAff>, ArrayId)>, Fail> {
        let mut accesses = Vec::new();
        for part in self.arrays_of(base, raws)? {
            let display = self.name_of(base);
            let name = self.fresh_name(&display, "M");
            let id = ArrayId(arrays.len());
            arrays.push(Array {
                name,
                display,
                elem: part.shaped.elem,
                sizes: part.shaped.sizes,
                kind: ArrayKind::Memory { base: handle(base) },
                shift: part.shift,
                apart: part.shaped.apart,
            });
            let own = part.accesses.into_iter().zip(part.shaped.subscripts);
            accesses.extend(own.map(|(k, subs)| (k, subs, id)));
        }
        accesses.sort_by_key(|a| a.0);
        Ok(accesses)
    }

    /// `{ stmt[i] -> array[subscripts] }`
    fn relation(&self, stmt: &str, place: &Place, subs: Vec<PwAff>, array: &str) -> isl::Result<Map> {
        let universe = isl::Set::universe(place.space()?)?;
        let mut m: Option<Map> = None;
        for s in subs {
            let s = Map::from_pw_aff(s.reset_tuple_id(DimType::In)?)?;
            m = Some(match m {
                None => s,
                Some(m) => m.flat_range_product(s)?,
            });
        }
        let m = match m {
            Some(m) => m,
            None => Map::from_domain(universe)?,
        };
        m.coalesce()?.set_tuple_name(DimType::In, stmt)?.set_tuple_name(DimType::Out, array)
    }

    /// Adds an array for each cell; the index of each.
    fn cells(&mut self, flow: &Flow, fx: &Effects, arrays: &mut Vec<Array>) -> Result<Vec<ArrayId>, Fail> {
        let mut ids = Vec::new();
        for c in &fx.cells {
            let display = self.name_of(c.value);
            let known = pollyrs_llvm_shim::source_name(c.value).unwrap_or_default();
            let name = self.fresh_name(&known, if c.kind == CellKind::Phi { "phi" } else { "val" });
            let value = handle(c.value);
            let kind = match c.kind {
                CellKind::Scalar => ArrayKind::Scalar { value, live_out: c.live_out },
                CellKind::Phi => ArrayKind::Phi { phi: value, live_out: c.live_out },
            };
            let sizes = self.cell_sizes(flow, c)?.into_iter().map(Some).collect();
            ids.push(ArrayId(arrays.len()));
            arrays.push(Array { name, display, elem: c.elem, sizes, kind, shift: None, apart: None });
        }
        Ok(ids)
    }

    fn cell_accesses(
        &mut self,
        groups: &[Group],
        ids: &[ArrayId],
        arrays: &[Array],
        drafts: &mut [Draft],
    ) -> Result<(), Fail> {
        for (n, g) in groups.iter().enumerate() {
            let e = &g.effects[0];
            let place = Place::new(e.loops.clone(), e.domain.clone(), None);
            let mut reads = Vec::new();
            let mut writes = Vec::new();
            for e in &g.effects {
                for (v, c) in &e.reads {
                    if !reads.contains(&(*v, *c)) {
                        reads.push((*v, *c));
                    }
                }
                if let Out::Cell(v, c) = e.out {
                    writes.push((v, c));
                }
                writes.extend(&e.outs);
            }
            let tagged =
                reads.into_iter().map(|(v, c)| (AccessKind::Read, AccessValue::ScalarRead(handle(v)), c));
            let tagged = tagged.chain(
                writes
                    .into_iter()
                    .map(|(v, c)| (AccessKind::MustWrite, AccessValue::ScalarWrite(handle(v)), c)),
            );
            for (kind, value, c) in tagged {
                let array = &arrays[ids[c].0];
                let mut subs = Vec::new();
                for d in 0..array.dims() {
                    let ls = isl::LocalSpace::from_space(place.space()?)?;
                    subs.push(PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, d as u32)?)?);
                }
                let relation = self.relation(&drafts[n].name, &place, subs, &array.name)?;
                drafts[n].statement.accesses.push(Access::new(kind, ids[c], relation, value));
            }
        }
        Ok(())
    }
}

/// The statement that gives the PHI `count` at the head of a loop its next value, in the cell that a copy of
/// it is read from.
fn total_of(groups: &[Group], count: Value, next: Value) -> Option<StmtId> {
    let all = || groups.iter().enumerate().flat_map(|(n, g)| g.effects.iter().map(move |e| (n, e)));
    let mut cells = BTreeSet::new();
    for (_, e) in all().filter(|(_, e)| matches!(e.out, Out::Cell(v, _) if v == count)) {
        cells.extend(e.reads.iter().filter(|(v, _)| *v == count).map(|(_, c)| *c));
    }
    let writes = |e: &Effect| matches!(e.out, Out::Cell(v, c) if v == next && cells.contains(&c));
    let mut found = all().filter(|(_, e)| writes(e) && !e.loops.is_empty());
    match (found.next(), found.next()) {
        (Some((n, _)), None) => Some(StmtId(n)),
        _ => None,
    }
}

/// Whether two effects are a minimum or maximum and its place.
fn is_pair(early: &Effect, late: &Effect) -> bool {
    let value = |e: &Effect| match e.out {
        Out::Cell(v, _) => Some(v),
        Out::Store(s) => ir::is_kept(s).then(|| ir::operand(s, 0)),
        Out::Subregion(_) => None,
    };
    value(early).zip(value(late)).is_some_and(|(a, b)| crate::values::operations::chosen_together(a, b))
}

/// An access of a statement. `inner`: the subregion that the statement is.
fn access(
    owner: &Owner,
    raw: &Raw,
    draft: &Draft,
    inner: Option<&Subregion>,
    (id, relation): (ArrayId, Map),
) -> Result<Access, Fail> {
    if let Some(v) = owner.stored {
        return Ok(Access::new(AccessKind::Read, id, relation, AccessValue::ScalarRead(handle(v))));
    }
    // What the program stores under a condition is stored on the device in any case, perhaps as it was.
    let kept = ir::is_kept(raw.inst);
    let conditional = ir::is_conditional_store(raw.inst) && !kept;
    let kind = match ir::opcode(raw.inst) {
        Some(Op::LLVMStore) if conditional => AccessKind::MayWrite,
        Some(Op::LLVMStore) => AccessKind::MustWrite,
        _ => AccessKind::Read,
    };
    let mut access = Access::new(kind, id, relation, AccessValue::Instruction(handle(raw.inst)));
    // (Flattened only where the element is accessed in any case.)
    access.certain |= conditional;
    access.certain &= !kept;
    let inner = inner.filter(|s| s.place(raw.inst).is_some());
    if inner.is_some() || !raw.place.values.is_empty() {
        let loops = inner.map_or(&[][..], |s| &s.loops);
        access = may_access(access, draft, loops, &raw.place)?;
    }
    Ok(access)
}

/// The access that touches what `access` does in the iterations of `place`, where control gets there, and for
/// the values that data may choose.
fn may_access(access: Access, draft: &Draft, loops: &[LoopId], place: &Place) -> Result<Access, Fail> {
    let outer = draft.loops.len();
    let inner = &place.loops[outer..];
    let counters = inner.iter().filter_map(|l| loops.iter().position(|o| o == l)).collect();
    let values = place.values.iter().map(FoundSubscript::describe).collect();
    let more = place.dims() - outer;
    let reached = place.domain.clone().set_tuple_name(&draft.name)?;
    let touched = access.relation.clone().intersect_domain(reached)?;
    // Cases of a clamped value are told apart only where the values may be.
    let relation = match access.relation.is_single_valued()? {
        true => access.relation,
        false => anywhere(touched.clone().coalesce()?)?,
    };
    let touched = touched.project_out(DimType::In, outer as u32, more as u32)?;
    Ok(Access {
        kind: if access.kind == AccessKind::Read { AccessKind::Read } else { AccessKind::MayWrite },
        relation: touched.coalesce()?.set_tuple_name(DimType::In, &draft.name)?,
        certain: false,
        within: Some(Within { counters, values, relation }),
        ..access
    })
}

/// A relation that has the first element for all that it is not defined for.
fn anywhere(relation: Map) -> isl::Result<Map> {
    let missing = relation.clone().domain()?.complement()?;
    let mut first = isl::Set::universe(relation.clone().range()?.space()?)?;
    for d in 0..first.dim(DimType::Set)? {
        first = first.fix_val(DimType::Set, d, isl::Val::int(relation.context(), 0)?)?;
    }
    relation.union(Map::from_domain_and_range(missing, first)?)
}
