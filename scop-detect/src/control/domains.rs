//! Iteration domains: which iterations of the loops around a block execute it.
//!
//! **Problem.** Propagate sets along the acyclic condensation of the region. A loop with the exact
//! backedge-taken count `b` adds the dimension `0 <= i <= b`; a conditional branch splits; after a loop the
//! domain is that of its entry, because a loop with a computable count ends. Only one block may leave a loop,
//! and it must run in every iteration; what comes after the test in the same iteration runs for `i < b` only.
//!
//! **Example.** `for (i = 0; i < n; i++) if (i > 5) S;` has the domain `{ S[i] : 6 <= i <= n - 1 }`: the
//! guard `n > 0` of the rotated loop, the count `n - 1`, and the condition.

use crate::base::blame::{several_exits, throws};
use crate::base::builder::{Builder, Given};
use crate::base::cfg::program_order;
use crate::base::fail::{Fail, Stop};
use crate::base::flow::{Flow, lift};
use crate::base::instructions::{is_check, terminator_reason};
use crate::base::ir::{self, Block, Op, Value};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set, Space};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::RejectReason;
use std::collections::{BTreeMap, BTreeSet};

/// Domains of more pieces than this are given up.
const MAX_PIECES: u32 = 32;

impl Builder<'_> {
    pub fn flow(&mut self) -> Result<Flow, Fail> {
        let region = self.given.region;
        let order = {
            let inside = |l: LoopId| self.given.inside(l);
            program_order(self.given.cfg, self.given.an, region, &inside)
                .ok_or_else(|| Fail::new(RejectReason::ControlFlow, region.entry))?
        };
        let mut flow = Flow {
            loops: order.iter().map(|b| (*b, self.given.loops_of(*b))).collect(),
            order: order.clone(),
            domains: BTreeMap::new(),
            entered: BTreeMap::new(),
            edges: BTreeMap::new(),
            subregions: Vec::new(),
            within: BTreeMap::new(),
        };
        for b in order {
            if flow.within.contains_key(&b) || self.found.excluded.contains(&b) {
                continue;
            }
            let mut before = (self.assumed.set.clone(), self.assumed.all.clone());
            let mut visited = self.enter(&mut flow, b);
            if visited.is_ok() {
                // A subregion lies behind its head: the checks of the head are none of its own and have to be
                // modelled.
                self.checks(&flow, b)?;
                before = (self.assumed.set.clone(), self.assumed.all.clone());
                visited = self.split(&mut flow, b);
            }
            if let Err(why) = visited {
                // What was assumed for the step that failed is of no use.
                (self.assumed.set, self.assumed.all) = before;
                self.subregion(&mut flow, b, &why)?.ok_or(why)?;
            }
        }
        let within = &flow.within;
        flow.order.retain(|b| !within.contains_key(b) && !self.found.excluded.contains(b));
        Ok(flow)
    }

    fn enter(&mut self, flow: &mut Flow, b: Block) -> Result<(), Fail> {
        let d = self.block_domain(flow, b)?;
        if d.n_basic_set()? > MAX_PIECES {
            return Err(Fail::new(RejectReason::Budget { stage: "domains".into() }, b));
        }
        flow.domains.insert(b, d);
        Ok(())
    }

    fn block_domain(&mut self, flow: &mut Flow, b: Block) -> Result<Set, Fail> {
        let loops = flow.loops[&b].clone();
        let headed = loops.last().copied().filter(|l| self.given.an.loops()[l.0].header == b);
        let outer = loops.len() - usize::from(headed.is_some());
        let mut from_outside =
            if b == self.given.region.entry { Some(self.given.universe(outer)?) } else { None };
        if headed.is_none()
            && let Some(d) = self
                .given
                .cfg
                .idom(b)
                .filter(|d| self.given.contains(*d) && flow.loops.get(d) == Some(&loops))
            && self.given.cfg.ipdom(d) == Some(b)
        {
            // `b` runs whenever its dominator does.
            return Ok(flow.domains[&d].clone());
        }
        let preds: Vec<Block> =
            self.given.cfg.predecessors(b).into_iter().map(|p| flow.representative(p)).collect();
        let mut seen = BTreeSet::new();
        for p in preds.into_iter().filter(|p| seen.insert(*p)) {
            let back = headed.is_some_and(|l| self.given.an.loops()[l.0].blocks.contains(&p));
            if !self.given.contains(p) || back || self.found.excluded.contains(&p) {
                continue;
            }
            let edge = self.given.edge_domain(flow, p, b)?;
            from_outside = Some(match from_outside {
                None => edge,
                Some(d) => d.union(edge)?,
            });
        }
        let domain = from_outside.ok_or_else(|| Fail::new(RejectReason::ControlFlow, b))?.coalesce()?;
        match headed {
            None => Ok(domain),
            Some(l) => {
                let entered = self.enter_loop(flow, l, domain, &loops[..outer]);
                entered.map_err(|f| self.given.ended_early(l).filter(|_| is_bound(&f.reason)).unwrap_or(f))
            }
        }
    }

    /// The iterations of `from` itself in which its edge to `to` is taken; for an edge out of loops the last
    /// iteration.
    pub fn taken(&mut self, flow: &Flow, from: Block, to: Block) -> Result<Set, Fail> {
        let mut d = match flow.edges.get(&(from, to)) {
            Some(d) => d.clone(),
            None => {
                flow.domains.get(&from).ok_or_else(|| Fail::new(RejectReason::ControlFlow, from))?.clone()
            }
        };
        let to_loops = self.given.loops_of(to);
        let from_loops = &flow.loops[&from];
        for (dim, l) in from_loops.iter().enumerate() {
            if !to_loops.contains(l) {
                let count = lift(flow.entered[l].1.clone(), from_loops.len() - dim)?;
                let last = self.counter(dim, &d)?.eq_set(count)?;
                d = d.intersect(last)?;
            }
        }
        Ok(d)
    }

    fn counter(&self, dim: usize, like: &Set) -> isl::Result<PwAff> {
        let ls = isl::LocalSpace::from_space(like.space()?)?;
        PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, dim as u32)?)
    }

    fn enter_loop(
        &mut self,
        flow: &mut Flow,
        l: LoopId,
        entered: Set,
        outer: &[LoopId],
    ) -> Result<Set, Fail> {
        let data = &self.given.an.loops()[l.0];
        let header = data.header;
        let [exiting] = data.exiting[..] else { return Err(several_exits(self.given.an, l, header)) };
        let latch = data.latch.ok_or_else(|| Fail::new(RejectReason::ControlFlow, header))?;
        if !self.given.an.dominates(exiting, latch) || self.given.an.innermost_loop(exiting) != Some(l) {
            return Err(several_exits(self.given.an, l, exiting));
        }
        let inst = exiting.end();
        if ir::branch_condition(exiting).is_none() {
            return Err(Fail::new(terminator_reason(inst), exiting));
        }
        let place = Place::new(outer.to_vec(), entered.clone(), Some(inst));
        let count = self.given.an.backedge_taken_count(l);
        let bound = |blocker| RejectReason::LoopBound { blocker };
        let before = (self.assumed.set.clone(), self.assumed.all.clone(), self.assumed.products.clone());
        let mut count = match count.kind {
            ScevKind::CouldNotCompute => self.count_left_open(exiting, l, &place).transpose(),
            _ => Some(self.count_by_steps(exiting, l, &count, &place)),
        };
        if matches!(count, None | Some(Err(Stop::Blocker(_)))) {
            let failed = (self.assumed.set.clone(), self.assumed.all.clone(), self.assumed.products.clone());
            (self.assumed.set, self.assumed.all, self.assumed.products) = before;
            let found = match self.count_by_distance(exiting, l, &place) {
                Ok(None) => self.by_ends(exiting, l, &place),
                found => found,
            };
            match found {
                Ok(Some(found)) => count = Some(Ok(found)),
                Err(Stop::Isl(e)) => count = Some(Err(e.into())),
                Ok(None) | Err(Stop::Blocker(_)) => {
                    (self.assumed.set, self.assumed.all, self.assumed.products) = failed
                }
            }
        }
        let Some(count) = count else {
            return Err(Fail::at(bound(self.bound_blocker(exiting, l)), inst));
        };
        let count = count.map_err(|s| s.fail(inst, bound))?;
        let dim = outer.len();
        let domain = entered.clone().add_dims(DimType::Set, 1)?;
        let i = self.counter(dim, &domain)?;
        let upper = lift(count.clone(), 1)?;
        let domain = domain.intersect(i.clone().nonneg_set()?)?.intersect(i.le_set(upper)?)?;
        flow.entered.insert(l, (entered, count));
        let domain = self.with_quotients(domain).map_err(|s| s.fail(inst, bound))?;
        Ok(domain.coalesce()?)
    }

    /// What keeps a loop's count from being computed: the first non-affine operand of its exit test.
    fn bound_blocker(&self, exiting: Block, l: LoopId) -> String {
        let Some(cond) = ir::branch_condition(exiting) else { return "an unusual exit".into() };
        let blocker = self.given.varying_operand(cond, l, 4).or_else(|| self.given.product_of(cond, l));
        let Some(v) = blocker else { return "the exit test".to_string() };
        match &self.given.an.scev(v, Some(l)).kind {
            ScevKind::AddRec { operands, .. }
                if !operands.iter().skip(1).all(|s| matches!(s.kind, ScevKind::Constant(_))) =>
            {
                let steps: Vec<String> = operands.iter().skip(1).map(|s| self.describe(s)).collect();
                format!("the step of {}, {}", self.name_of(v), steps.join(", "))
            }
            _ => self.name_of(v),
        }
    }

    /// Records where the edges out of `b` are taken.
    fn split(&mut self, flow: &mut Flow, b: Block) -> Result<(), Fail> {
        let Some(t) = ir::terminator(b) else { return Err(Fail::new(RejectReason::ControlFlow, b)) };
        if ir::opcode(t) != Some(Op::LLVMBr) {
            return Err(Fail::at(terminator_reason(t), t));
        }
        let succs = ir::successors(b);
        let (Some(cond), [yes, no]) = (ir::branch_condition(b), &succs[..]) else { return Ok(()) };
        let (yes, no) = (*yes, *no);
        let loops = flow.loops[&b].clone();
        if yes == no {
            return Ok(());
        }
        if let Some(l) = loops.last().copied()
            && self.given.an.loops()[l.0].exiting.contains(&b)
        {
            // The loop's own test: the way on inside the iteration is taken in all but the last one.
            let data = &self.given.an.loops()[l.0];
            let on = if data.blocks.contains(&yes) { yes } else { no };
            if on != data.header {
                let domain = flow.domains[&b].clone();
                let i = self.counter(loops.len() - 1, &domain)?;
                let count = lift(flow.entered[&l].1.clone(), 1)?;
                flow.edges.insert((b, on), domain.intersect(i.lt_set(count)?)?);
            }
            return Ok(());
        }
        let place = flow.place(b, Some(t))?;
        let taken = self
            .condition(cond, &place)
            .map_err(|s| s.fail(t, |blocker| RejectReason::Condition { blocker }))?;
        let domain = place.domain.clone();
        let known = self.known()?;
        let simple = |s: Set, side: &Set| -> isl::Result<Set> {
            s.gist(side.clone().intersect_params(known.clone())?)?.intersect(side.clone())?.coalesce()
        };
        flow.edges.insert((b, yes), simple(domain.clone().intersect(taken.clone())?, &domain)?);
        flow.edges.insert((b, no), simple(domain.clone().subtract(taken)?, &domain)?);
        Ok(())
    }

    /// Adds to the context what the branches on the way to the region's entry guarantee.
    pub fn facts_at_entry(&mut self) -> Result<(), Fail> {
        let mut below = self.given.region.entry;
        while let Some(b) = self.given.cfg.idom(below) {
            let succs = self.given.cfg.successors(b);
            let side = succs
                .iter()
                .position(|s| *s == below || self.given.an.dominates(*s, self.given.region.entry));
            below = b;
            let (Some(cond), Some(side), 2) = (ir::branch_condition(b), side, succs.len()) else { continue };
            // A test inside a loop that ended before the region says nothing that holds afterwards.
            let around = self
                .given
                .an
                .innermost_loop(b)
                .is_none_or(|l| self.given.an.loops()[l.0].blocks.contains(&self.given.region.entry));
            if self.given.cfg.predecessors(succs[side]).len() != 1 || !around {
                continue;
            }
            let place = self.given.before_region(None)?;
            let fact = self.strictly(|me| me.condition(cond, &place));
            let set = match fact {
                Ok(s) if side == 0 => s,
                Ok(s) => s.complement()?,
                Err(Stop::Blocker(_)) => continue,
                Err(Stop::Isl(e)) => return Err(e.into()),
            };
            let mut set = set.params()?;
            let involved = self.involved(&set)?;
            // One of several conditions on different parameters makes no assumption simpler: each case of
            // it would be a case of all that follows.
            if involved.len() > 1 && set.n_basic_set()? > 1 {
                let hull = Set::from_basic_set(set.clone().simple_hull()?)?;
                self.guards.push(std::mem::replace(&mut set, hull));
            }
            let context = self.context.clone().intersect(set)?.coalesce()?;
            // A contradiction means dead code; more than a few pieces cost more than they help.
            if context.n_basic_set()? <= 4 && !context.is_empty()? {
                self.context = context;
                if involved.len() > 1 {
                    self.tied.extend(involved.into_iter().filter(|p| self.params[*p].bits == 64));
                }
            }
        }
        Ok(())
    }
}

impl Given<'_> {
    fn universe(&self, dims: usize) -> isl::Result<Set> {
        Set::universe(Space::set_alloc(&self.ctx, 0, dims as u32)?)
    }

    /// The iterations (of the loops around `to`) in which control goes from `from` to `to`. For an edge that
    /// leaves loops, the iterations that entered them.
    fn edge_domain(&mut self, flow: &Flow, from: Block, to: Block) -> Result<Set, Fail> {
        let (inner, outer) = (&flow.loops[&from], self.loops_of(to));
        // A header counts for its loop's surroundings here.
        let kept = inner.iter().take_while(|l| outer.contains(l)).count();
        if let Some(left) = inner.get(kept) {
            return match flow.entered.get(left) {
                Some((d, _)) => Ok(d.clone()),
                None => Err(Fail::new(RejectReason::ControlFlow, from)),
            };
        }
        Ok(match flow.edges.get(&(from, to)) {
            Some(d) => d.clone(),
            None => {
                flow.domains.get(&from).ok_or_else(|| Fail::new(RejectReason::ControlFlow, from))?.clone()
            }
        })
    }

    /// A loop that counts plainly, from one pointer to another, say, but may throw or end the program before:
    /// then the count is not all that ends it, and what is thrown might change whatever is in memory, sizes
    /// and pointers among it.
    fn ended_early(&self, l: LoopId) -> Option<Fail> {
        let data = &self.an.loops()[l.0];
        let plain = |v: &Value| match &self.an.scev(*v, Some(l)).kind {
            ScevKind::AddRec { operands, .. } => {
                matches!(operands[1..], [ScevExpr { kind: ScevKind::Constant(_), .. }])
            }
            _ => ir::parent(*v).is_none_or(|b| !data.blocks.contains(&b)),
        };
        let counts = |b: &Block| ir::branch_condition(*b).is_some_and(|c| ir::operands(c).iter().all(plain));
        let checked = || data.blocks.iter().flat_map(|b| ir::instructions(*b)).find(|v| is_check(*v));
        let at = match &data.exiting[..] {
            [exiting] if counts(exiting) => throws(self.an, l).or_else(checked),
            _ => throws(self.an, l),
        };
        at.map(|at| Fail::at(RejectReason::Throw, at))
    }

    /// The side of an exit test that is more than an affine function of the counter: `p * p` of `p * p < n`.
    fn product_of(&self, cond: Value, l: LoopId) -> Option<Value> {
        let inside = |v: &Value| ir::parent(*v).is_some_and(|b| self.an.loops()[l.0].blocks.contains(&b));
        let affine = |v: &Value| {
            matches!(self.an.scev(*v, Some(l)).kind, ScevKind::AddRec { .. })
                && ir::opcode(*v) == Some(Op::LLVMPHI)
        };
        ir::operands(cond).into_iter().find(|v| inside(v) && !affine(v))
    }

    fn varying_operand(&self, v: Value, l: LoopId, depth: u32) -> Option<Value> {
        let block = ir::parent(v)?;
        if !self.an.loops()[l.0].blocks.contains(&block) {
            return None;
        }
        match ir::opcode(v)? {
            Op::LLVMLoad | Op::LLVMCall | Op::LLVMFCmp => Some(v),
            Op::LLVMPHI => {
                matches!(self.an.scev(v, Some(l)).kind, ScevKind::Unknown(_) | ScevKind::CouldNotCompute)
                    .then_some(v)
            }
            _ if depth == 0 => Some(v),
            _ => ir::operands(v).into_iter().find_map(|o| self.varying_operand(o, l, depth - 1)),
        }
    }
}

fn is_bound(reason: &RejectReason) -> bool {
    matches!(reason, RejectReason::LoopBound { .. })
}
