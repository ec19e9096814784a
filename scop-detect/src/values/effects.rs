//! What a region does, effect by effect: stores, and writes of the cells through which values cross blocks.
//!
//! **Problem.** Polly's statement is a basic block. Finer statements schedule better, so here every *effect*
//! starts out as a statement of its own: one store or one cell write with the operand tree it needs from its
//! block. Only effects that cannot be told apart (a load of one lies before a store of the other to the same
//! array) are kept together, see [`crate::values::statements`].
//!
//! Operands are resolved in this order: literals and values from outside the region; integers that are affine
//! in the loop counters (synthesised, whatever they were computed from); instructions of the same block;
//! cheap trees of other blocks, with loads of arrays that the region never writes ("operand tree
//! forwarding"); PHIs and everything else through cells.
//!
//! **Invariant.** The set of effects is closed: every cell an effect reads has the effects that write it.

use crate::base::builder::{Builder, Given};
use crate::base::fail::Fail;
use crate::base::flow::Flow;
use crate::base::instructions::{check_effects, is_ignored};
use crate::base::ir::{self, Block, Op, Value};
use crate::base::place::Place;
use crate::base::scalars::{Cell, CellKind};
use crate::memory::raw::base_of;
use isl::Set;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr};
use pollyrs_scop::RejectReason;
use std::collections::{BTreeMap, BTreeSet};

/// What an effect writes.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    Store(Value),
    /// A value to a cell (index into [`Effects::cells`]).
    Cell(Value, usize),
    /// The stores of a subregion (index into [`Flow::subregions`]), and the cells of [`Effect::outs`].
    Subregion(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub block: Block,
    /// Order within the block.
    pub at: usize,
    pub out: Out,
    /// Values of a subregion that are written to cells when it has run.
    pub outs: Vec<(Value, usize)>,
    pub loops: Vec<LoopId>,
    /// Unnamed; one dimension for each of `loops`.
    pub domain: Set,
    /// Runs in every execution of the block; only such effects can be kept together.
    pub whole: bool,
    /// The block behind, for the value of one of its PHIs: the effect runs where control goes there.
    pub edge: Option<Block>,
    /// Runs behind all loops.
    pub behind: bool,
    /// Instructions to execute, by position.
    pub tree: BTreeMap<(usize, usize), Value>,
    /// Cells read: SSA value and cell.
    pub reads: Vec<(Value, usize)>,
    /// Values read from where a store of the block has put them: value and store.
    pub stored: Vec<(Value, Value)>,
    /// Synthesised integers.
    pub synthesized: Vec<(Value, ScevExpr)>,
    pub done: BTreeSet<Value>,
}

#[derive(Default)]
pub(crate) struct Effects {
    pub effects: Vec<Effect>,
    pub cells: Vec<Cell>,
    /// Values from outside, in the order found.
    pub invariants: Vec<Value>,
    /// Base pointers that the region stores to.
    pub written: BTreeSet<Value>,
    index: BTreeMap<(Value, bool, usize), usize>,
    /// Cells whose writers are still to be made.
    pending: Vec<usize>,
}

impl Effect {
    /// The numbers of the cells that it reads and writes.
    pub fn cells_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        let out = match &mut self.out {
            Out::Cell(_, c) => Some(c),
            _ => None,
        };
        out.into_iter().chain(self.reads.iter_mut().chain(&mut self.outs).map(|(_, c)| c))
    }
}

impl Builder<'_> {
    pub fn effects(&mut self, flow: &Flow) -> Result<Effects, Fail> {
        self.find_data_subscripts(flow)?;
        let mut fx = Effects::default();
        let mut stores = Vec::new();
        let mut within = Vec::new();
        for b in &flow.order {
            for v in ir::instructions(*b) {
                if ir::opcode(v) == Some(Op::LLVMStore) {
                    stores.push(v);
                    let base = base_of(self, v)?;
                    fx.written.insert(base);
                }
            }
        }
        for (k, s) in flow.subregions.iter().enumerate() {
            let mut stores = Vec::new();
            for v in s.blocks.iter().flat_map(|b| ir::instructions(*b)) {
                if ir::opcode(v) == Some(Op::LLVMStore) {
                    stores.push(v);
                    let base = base_of(self, v)?;
                    fx.written.insert(base);
                }
            }
            within.push((k, stores));
        }
        for (k, stores) in within.into_iter().filter(|(_, s)| !s.is_empty()) {
            let mut e = self.subregion_effect(flow, &mut fx, k)?;
            for v in stores {
                e.tree.insert(self.given.cfg.position(v), v);
                self.read_count(flow, &mut fx, &mut e, v)?;
                for o in [ir::operand(v, 0)].into_iter().chain(self.found.subscript_values(v)) {
                    self.resolve(flow, &mut fx, &mut e, o)?;
                }
            }
            fx.effects.push(e);
        }
        for v in stores {
            let block = ir::parent(v).unwrap_or(self.given.region.entry);
            let place = flow.place(block, Some(v))?;
            let mut e = new_effect(block, self.given.cfg.position(v).1, Out::Store(v), &place, true);
            self.read_count(flow, &mut fx, &mut e, v)?;
            for o in [ir::operand(v, 0)].into_iter().chain(self.found.subscript_values(v)) {
                self.resolve(flow, &mut fx, &mut e, o)?;
            }
            fx.effects.push(e);
        }
        for b in &flow.order {
            for v in ir::instructions(*b) {
                if !self.found.reported.contains(&v) {
                    continue;
                }
                let place = flow.place(*b, Some(v))?;
                let mut e = new_effect(*b, self.given.cfg.position(v).1, Out::Store(v), &place, true);
                e.tree.insert(self.given.cfg.position(v), v);
                self.resolve(flow, &mut fx, &mut e, ir::operand(v, 0))?;
                fx.effects.push(e);
            }
        }
        for v in self.given.live_outs() {
            self.live_out(flow, &mut fx, v)?;
        }
        self.write_cells(flow, &mut fx)?;
        for k in 0..flow.subregions.len() {
            self.subregion_calls(flow, &mut fx, k)?;
        }
        for b in &flow.order {
            for v in ir::instructions(*b).into_iter().filter(|v| ir::may_set_errno(*v)) {
                if !self.uncovered(flow, &fx.effects, *b, v)?.is_empty()? {
                    // Nobody may want the result, but the call has to be made.
                    self.cell(flow, &mut fx, CellKind::Scalar, v, flow.loops[b].len())?;
                    self.write_cells(flow, &mut fx)?;
                }
            }
        }
        Ok(fx)
    }

    /// A subregion makes the calls in it, under its own conditions, if it does anything else or no other
    /// effect makes them.
    fn subregion_calls(&mut self, flow: &Flow, fx: &mut Effects, k: usize) -> Result<(), Fail> {
        let blocks = flow.subregions[k].blocks.iter();
        let calls: Vec<Value> =
            blocks.flat_map(|b| ir::instructions(*b)).filter(|v| self.found.reports(*v)).collect();
        let does = |e: &Effect| matches!(e.out, Out::Subregion(own) if own == k);
        let checks = calls.iter().any(|v| self.found.reported.contains(v));
        let mut needed = checks || fx.effects.iter().any(does);
        for call in if needed { &[][..] } else { &calls[..] } {
            let block = ir::parent(*call).filter(|b| flow.domains.contains_key(b));
            if let Some(b) = block {
                needed |= !self.uncovered(flow, &fx.effects, b, *call)?.is_empty()?;
            }
        }
        if !needed {
            return Ok(());
        }
        let mut e = self.subregion_effect(flow, fx, k)?;
        for call in calls {
            if self.found.reported.contains(&call) {
                e.tree.insert(self.given.cfg.position(call), call);
                self.resolve(flow, fx, &mut e, ir::operand(call, 0))?;
            } else {
                self.resolve(flow, fx, &mut e, call)?;
            }
        }
        fx.effects.push(e);
        self.write_cells(flow, fx)
    }

    /// Lets a store that is appended read its count from a copy, with a cell for each iteration.
    fn read_count(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        e: &mut Effect,
        store: Value,
    ) -> Result<(), Fail> {
        let Some((count, _)) = self.appends(store) else { return Ok(()) };
        let cell = self.cell(flow, fx, CellKind::Scalar, count, e.loops.len())?;
        e.done.insert(count);
        e.reads.retain(|(v, _)| *v != count);
        e.reads.push((count, cell));
        Ok(())
    }

    fn write_cells(&mut self, flow: &Flow, fx: &mut Effects) -> Result<(), Fail> {
        while let Some(c) = fx.pending.pop() {
            self.write_cell(flow, fx, c)?;
        }
        Ok(())
    }

    /// The iterations in which block `b` runs and no effect executes `v`, which is computed in it.
    pub(crate) fn uncovered<'e>(
        &self,
        flow: &Flow,
        effects: impl IntoIterator<Item = &'e Effect>,
        b: Block,
        v: Value,
    ) -> Result<Set, Fail> {
        let mut missed = flow.domains[&b].clone().intersect_params(self.context.clone())?;
        for e in effects {
            if e.loops == flow.loops[&b] && e.tree.values().any(|executed| *executed == v) {
                missed = missed.subtract(e.domain.clone())?;
            }
        }
        Ok(missed)
    }

    fn live_out(&mut self, flow: &Flow, fx: &mut Effects, v: Value) -> Result<(), Fail> {
        if ir::opcode(v) == Some(Op::LLVMCall) && is_ignored(v) {
            return Ok(());
        }
        let block = ir::parent(v).unwrap_or(self.given.region.entry);
        let join = ir::opcode(v) == Some(Op::LLVMPHI)
            && flow.loops.get(&block).is_some_and(Vec::is_empty)
            && self.affine_value(flow, v, block, &flow.domains[&block].clone())?.is_none();
        let kind = if join { CellKind::Phi } else { CellKind::Scalar };
        if let Some(phi) = self.given.handed_to(flow, v, 0).filter(|phi| *phi != v) {
            return self.copied_out(flow, fx, v, phi);
        }
        let cell = self.cell(flow, fx, kind, v, 0)?;
        fx.cells[cell].live_out = true;
        Ok(())
    }

    /// A value that a loop hands to its header's PHI stays in that one's cell: behind the loop it is copied
    /// from there. Else the last iteration would be a statement of its own that looks at the cell before the
    /// last update, which then could not be regrouped.
    fn copied_out(&mut self, flow: &Flow, fx: &mut Effects, v: Value, phi: Value) -> Result<(), Fail> {
        let block = ir::parent(v).unwrap_or(self.given.region.entry);
        let from = self.cell(flow, fx, CellKind::Phi, phi, 0)?;
        fx.cells.push(Cell { live_out: true, ..self.new_cell(flow, CellKind::Scalar, v, 0)? });
        let to = fx.cells.len() - 1;
        fx.index.insert((v, false, 0), to);
        let place = self.given.before_region(None)?;
        let runs = flow.domains[&block].clone().params()?;
        let place = Place { domain: place.domain.intersect_params(runs)?, ..place };
        let mut e = new_effect(block, 0, Out::Cell(v, to), &place, false);
        e.behind = true;
        e.done.insert(v);
        e.reads.push((v, from));
        fx.effects.push(e);
        Ok(())
    }

    pub fn cell(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        kind: CellKind,
        v: Value,
        depth: usize,
    ) -> Result<usize, Fail> {
        let key = (v, kind == CellKind::Phi, depth);
        if let Some(i) = fx.index.get(&key) {
            return Ok(*i);
        }
        fx.cells.push(self.new_cell(flow, kind, v, depth)?);
        fx.index.insert(key, fx.cells.len() - 1);
        fx.pending.push(fx.cells.len() - 1);
        Ok(fx.cells.len() - 1)
    }

    fn write_cell(&mut self, flow: &Flow, fx: &mut Effects, index: usize) -> Result<(), Fail> {
        let cell = fx.cells[index].clone();
        let block = ir::parent(cell.value).unwrap_or(self.given.region.entry);
        if let Some(k) = flow.within.get(&block).copied() {
            let mut e = self.subregion_effect(flow, fx, k)?;
            self.resolve(flow, fx, &mut e, cell.value)?;
            e.outs.push((cell.value, index));
            fx.effects.push(e);
            return Ok(());
        }
        if cell.kind == CellKind::Scalar {
            let place = flow.place(block, Some(cell.value))?;
            let whole = cell.loops.len() == place.loops.len();
            let place = Place { domain: self.last_of(&place.domain, cell.loops.len())?, ..place };
            let phi = ir::opcode(cell.value) == Some(Op::LLVMPHI);
            let at = if phi { 0 } else { self.given.cfg.position(cell.value).1 };
            let mut e = new_effect(block, at, Out::Cell(cell.value, index), &place, whole);
            self.resolve(flow, fx, &mut e, cell.value)?;
            fx.effects.push(e);
            return Ok(());
        }
        let headed = self.given.headed_loop(flow, block);
        let mut initial: Option<Value> = None;
        let mut done = BTreeSet::new();
        for (value, from) in ir::incoming(cell.value) {
            if self.found.excluded.contains(&from) {
                continue;
            }
            if let Some(k) = flow.subregion_edge(from, block) {
                // The subregion chooses among its edges.
                if done.insert(k) {
                    self.subregion_out(flow, fx, k, cell.value, index)?;
                }
                continue;
            }
            let value = self.given.origin(flow, value);
            if !self.given.contains(from) {
                // Only the first block is entered from outside; one value comes in, or the region is no good.
                if headed.is_none() || initial.is_some_and(|i| i != value) {
                    return Err(Fail::new(RejectReason::ControlFlow, block));
                }
                if initial.replace(value).is_none() {
                    let place = self.given.before_region(None)?;
                    let mut e = new_effect(block, 0, Out::Cell(value, index), &place, false);
                    self.resolve(flow, fx, &mut e, value)?;
                    // Before everything else.
                    fx.effects.insert(0, e);
                }
                continue;
            }
            let place = flow.place(from, ir::terminator(from))?;
            let back = headed.is_some_and(|l| self.given.an.loops()[l.0].blocks.contains(&from));
            let domain = if back { place.domain.clone() } else { self.taken(flow, from, block)? };
            let whole = back || domain.is_equal(&place.domain)?;
            let own = ir::parent(value) == Some(from) && ir::opcode(value) != Some(Op::LLVMPHI);
            let at = match (back, own) {
                (true, _) => usize::MAX,
                (false, true) => self.given.cfg.position(value).1,
                // The value is ready at the start; what the block itself assigns must not come between.
                (false, false) => 0,
            };
            let place = Place { domain, ..place };
            let mut e = new_effect(from, at, Out::Cell(value, index), &place, whole);
            e.edge = Some(block);
            self.resolve(flow, fx, &mut e, value)?;
            fx.effects.push(e);
        }
        Ok(())
    }

    /// The effect of a subregion, taken out of `fx`, or a new one with what steers it.
    fn subregion_effect(&mut self, flow: &Flow, fx: &mut Effects, k: usize) -> Result<Effect, Fail> {
        let is = |e: &Effect| matches!(e.out, Out::Subregion(own) if own == k);
        if let Some(at) = fx.effects.iter().position(is) {
            return Ok(fx.effects.remove(at));
        }
        let s = &flow.subregions[k];
        let place = flow.place(s.head, None)?;
        let at = ir::terminator(s.head).map_or(0, |t| self.given.cfg.position(t).1);
        let mut e = new_effect(s.head, at, Out::Subregion(k), &place, true);
        let conditions = s.head_condition().into_iter();
        for c in conditions.chain(s.blocks.iter().filter_map(|b| ir::branch_condition(*b))) {
            self.resolve(flow, fx, &mut e, c)?;
        }
        Ok(e)
    }

    /// Lets a subregion write the value that its edges give the PHI `p` behind it.
    fn subregion_out(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        k: usize,
        p: Value,
        cell: usize,
    ) -> Result<(), Fail> {
        let block = ir::parent(p).unwrap_or(self.given.region.entry);
        if block != flow.subregions[k].exit {
            return Err(Fail::new(RejectReason::ControlFlow, block));
        }
        let mut e = self.subregion_effect(flow, fx, k)?;
        for (value, from) in ir::incoming(p) {
            if flow.subregion_edge(from, block) == Some(k) {
                self.resolve(flow, fx, &mut e, value)?;
            }
        }
        e.outs.push((p, cell));
        fx.effects.push(e);
        Ok(())
    }
}

impl Given<'_> {
    /// Refuses regions with effects that the model lacks. Comes first, as it costs next to nothing.
    pub fn check_instructions(&self) -> Result<(), Fail> {
        let mut blocks: Vec<Block> = self.region.blocks.iter().copied().collect();
        blocks.sort_by_key(|b| self.cfg.id(*b));
        blocks.into_iter().flat_map(ir::instructions).try_for_each(check_effects)
    }

    /// The PHI at the head of the loop number `depth` around `v`, counted from the outside, to which its
    /// latch hands `v` last: what stays in the PHI's cell behind the loop.
    pub fn handed_to(&self, flow: &Flow, v: Value, depth: usize) -> Option<Value> {
        let own = flow.loops.get(&ir::parent(v)?)?;
        let data = &self.an.loops()[own.get(depth)?.0];
        // If the test comes before the latch, the last iteration writes nothing.
        if data.latch.is_none_or(|b| data.exiting != [b]) {
            return None;
        }
        let phis =
            ir::instructions(data.header).into_iter().take_while(|i| ir::opcode(*i) == Some(Op::LLVMPHI));
        let held = |p: &Value| ir::elem_type(ir::type_of(*p)).is_some() || ir::int_bits(*p) == Some(1);
        phis.filter(held).find(|p| {
            let last = ir::incoming(*p).into_iter().find(|(_, b)| Some(*b) == data.latch);
            v != *p && last.is_some_and(|(x, _)| self.origin(flow, x) == self.origin(flow, v))
        })
    }
}

fn new_effect(block: Block, at: usize, out: Out, place: &Place, whole: bool) -> Effect {
    Effect {
        block,
        at,
        out,
        outs: Vec::new(),
        loops: place.loops.clone(),
        domain: place.domain.clone(),
        whole,
        edge: None,
        behind: false,
        tree: BTreeMap::new(),
        reads: Vec::new(),
        stored: Vec::new(),
        synthesized: Vec::new(),
        done: BTreeSet::new(),
    }
}
