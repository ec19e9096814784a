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
use crate::base::builder::Builder;
use crate::base::cfg::program_order;
use crate::base::fail::{Fail, Stop};
use crate::base::flow::{Flow, lift};
use crate::base::instructions::{is_check, terminator_reason};
use crate::base::ir::{self, Block, Op, Pred, Value};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set, Space, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::{BTreeMap, BTreeSet};

/// Domains of more pieces than this are given up.
const MAX_PIECES: u32 = 32;

impl Builder<'_> {
    pub fn flow(&mut self) -> Result<Flow, Fail> {
        let region = self.given.region;
        let order = {
            let inside = |l: LoopId| self.inside(l);
            program_order(self.given.cfg, self.given.an, region, &inside)
                .ok_or_else(|| Fail::new(RejectReason::ControlFlow, region.entry))?
        };
        let mut flow = Flow {
            loops: order.iter().map(|b| (*b, self.loops_of(*b))).collect(),
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

    pub fn place(&self, flow: &Flow, b: Block, inst: Option<Value>) -> Result<Place, Fail> {
        let missing = || Fail::new(RejectReason::ControlFlow, b);
        let loops = flow.loops.get(&b).ok_or_else(missing)?.clone();
        Ok(Place::new(loops, flow.domains.get(&b).ok_or_else(missing)?.clone(), inst))
    }

    fn universe(&self, dims: usize) -> isl::Result<Set> {
        Set::universe(Space::set_alloc(&self.given.ctx, 0, dims as u32)?)
    }

    fn block_domain(&mut self, flow: &mut Flow, b: Block) -> Result<Set, Fail> {
        let loops = flow.loops[&b].clone();
        let headed = loops.last().copied().filter(|l| self.given.an.loops()[l.0].header == b);
        let outer = loops.len() - usize::from(headed.is_some());
        let mut from_outside = if b == self.given.region.entry { Some(self.universe(outer)?) } else { None };
        if headed.is_none()
            && let Some(d) =
                self.given.cfg.idom(b).filter(|d| self.contains(*d) && flow.loops.get(d) == Some(&loops))
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
            if !self.contains(p) || back || self.found.excluded.contains(&p) {
                continue;
            }
            let edge = self.edge_domain(flow, p, b)?;
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
                entered.map_err(|f| self.ended_early(l).filter(|_| is_bound(&f.reason)).unwrap_or(f))
            }
        }
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

    /// The iterations of `from` itself in which its edge to `to` is taken; for an edge out of loops the last
    /// iteration.
    pub fn taken(&mut self, flow: &Flow, from: Block, to: Block) -> Result<Set, Fail> {
        let mut d = match flow.edges.get(&(from, to)) {
            Some(d) => d.clone(),
            None => {
                flow.domains.get(&from).ok_or_else(|| Fail::new(RejectReason::ControlFlow, from))?.clone()
            }
        };
        let to_loops = self.loops_of(to);
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
            match self.count_by_distance(exiting, l, &place) {
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

    /// A loop that counts plainly, from one pointer to another, say, but may throw or end the program before:
    /// then the count is not all that ends it, and what is thrown might change whatever is in memory, sizes
    /// and pointers among it.
    fn ended_early(&self, l: LoopId) -> Option<Fail> {
        let data = &self.given.an.loops()[l.0];
        let plain = |v: &Value| match &self.given.an.scev(*v, Some(l)).kind {
            ScevKind::AddRec { operands, .. } => {
                matches!(operands[1..], [ScevExpr { kind: ScevKind::Constant(_), .. }])
            }
            _ => ir::parent(*v).is_none_or(|b| !data.blocks.contains(&b)),
        };
        let counts = |b: &Block| ir::branch_condition(*b).is_some_and(|c| ir::operands(c).iter().all(plain));
        let checked = || data.blocks.iter().flat_map(|b| ir::instructions(*b)).find(|v| is_check(*v));
        let at = match &data.exiting[..] {
            [exiting] if counts(exiting) => throws(self.given.an, l).or_else(checked),
            _ => throws(self.given.an, l),
        };
        at.map(|at| Fail::at(RejectReason::Throw, at))
    }

    /// What keeps a loop's count from being computed: the first non-affine operand of its exit test.
    fn bound_blocker(&self, exiting: Block, l: LoopId) -> String {
        let Some(cond) = ir::branch_condition(exiting) else { return "an unusual exit".into() };
        let blocker = self.varying_operand(cond, l, 4).or_else(|| self.product_of(cond, l));
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

    /// The side of an exit test that is more than an affine function of the counter: `p * p` of `p * p < n`.
    fn product_of(&self, cond: Value, l: LoopId) -> Option<Value> {
        let inside =
            |v: &Value| ir::parent(*v).is_some_and(|b| self.given.an.loops()[l.0].blocks.contains(&b));
        let affine = |v: &Value| {
            matches!(self.given.an.scev(*v, Some(l)).kind, ScevKind::AddRec { .. })
                && ir::opcode(*v) == Some(Op::LLVMPHI)
        };
        ir::operands(cond).into_iter().find(|v| inside(v) && !affine(v))
    }

    fn varying_operand(&self, v: Value, l: LoopId, depth: u32) -> Option<Value> {
        let block = ir::parent(v)?;
        if !self.given.an.loops()[l.0].blocks.contains(&block) {
            return None;
        }
        match ir::opcode(v)? {
            Op::LLVMLoad | Op::LLVMCall | Op::LLVMFCmp => Some(v),
            Op::LLVMPHI => matches!(
                self.given.an.scev(v, Some(l)).kind,
                ScevKind::Unknown(_) | ScevKind::CouldNotCompute
            )
            .then_some(v),
            _ if depth == 0 => Some(v),
            _ => ir::operands(v).into_iter().find_map(|o| self.varying_operand(o, l, depth - 1)),
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
        let place = self.place(flow, b, Some(t))?;
        let taken = self
            .condition(cond, &place)
            .map_err(|s| s.fail(t, |blocker| RejectReason::Condition { blocker }))?;
        let domain = place.domain.clone();
        let known = self.context.clone().intersect(self.assumed.set.clone())?;
        let simple = |s: Set, side: &Set| -> isl::Result<Set> {
            s.gist(side.clone().intersect_params(known.clone())?)?.intersect(side.clone())?.coalesce()
        };
        flow.edges.insert((b, yes), simple(domain.clone().intersect(taken.clone())?, &domain)?);
        flow.edges.insert((b, no), simple(domain.clone().subtract(taken)?, &domain)?);
        Ok(())
    }

    /// The iterations of `place` in which the i1 value `c` is true.
    pub fn condition(&mut self, c: Value, place: &Place) -> Result<Set, Stop> {
        let blocked = |me: &Self| Err(Stop::Blocker(me.condition_name(c)));
        if let Some(v) = ir::constant_int(c) {
            return Ok(if v != 0 { Set::universe(place.space()?)? } else { Set::empty(place.space()?)? });
        }
        let arg = |i| ir::operand(c, i);
        let inside =
            |me: &Self| ir::opcode(c).is_some() && (me.defined_inside(c) || ir::int_bits(c) == Some(1));
        match ir::opcode(c) {
            Some(Op::LLVMICmp) if !ir::is_pointer(arg(0)) => self.comparison(c, place),
            Some(Op::LLVMICmp) if matches!(ir::icmp_predicate(c), Pred::LLVMIntEQ | Pred::LLVMIntNE) => {
                let scope = self.scope(c, place);
                let (a, b) = (self.given.an.scev(arg(0), scope), self.given.an.scev(arg(1), scope));
                match self.equal(&a, &b, place)? {
                    Some(equal) if ir::icmp_predicate(c) == Pred::LLVMIntEQ => Ok(equal),
                    Some(equal) => Ok(equal.complement()?),
                    None => blocked(self),
                }
            }
            Some(Op::LLVMAnd) => {
                Ok(self.condition(arg(0), place)?.intersect(self.condition(arg(1), place)?)?)
            }
            Some(Op::LLVMOr) => Ok(self.condition(arg(0), place)?.union(self.condition(arg(1), place)?)?),
            Some(Op::LLVMXor) => {
                let (a, b) = (self.condition(arg(0), place)?, self.condition(arg(1), place)?);
                Ok(a.clone().subtract(b.clone())?.union(b.subtract(a)?)?)
            }
            Some(Op::LLVMSelect) => {
                let s = self.condition(arg(0), place)?;
                // The arm that is not selected may be poison: it is only looked at where it is selected.
                let then = Place { domain: place.domain.clone().intersect(s.clone())?, ..place.clone() };
                let other = Place { domain: place.domain.clone().subtract(s.clone())?, ..place.clone() };
                let (a, b) = (self.condition(arg(1), &then)?, self.condition(arg(2), &other)?);
                Ok(a.intersect(s.clone())?.union(b.subtract(s)?)?)
            }
            Some(Op::LLVMFreeze) => self.condition(arg(0), place),
            Some(Op::LLVMTrunc) if inside(self) => {
                let x = self.given.an.scev(arg(0), self.scope(c, place));
                let x = self.congruent(&x, place)?.pwa;
                let odd = x.modulo(Val::int(&self.given.ctx, 2)?)?;
                Ok(odd.eq_set(self.constant(1, place)?)?)
            }
            _ => blocked(self),
        }
    }

    pub fn condition_name(&self, c: Value) -> String {
        match ir::opcode(c) {
            Some(Op::LLVMICmp | Op::LLVMFCmp | Op::LLVMTrunc) => ir::operands(c)
                .into_iter()
                .filter(|o| !ir::is_constant(*o))
                // What differs from iteration to iteration, rather than what it is compared with.
                .min_by_key(|o| !self.defined_inside(*o))
                .map_or_else(|| self.name_of(c), |o| self.name_of(o)),
            // What conditions are joined of: the first one that is more than a constant.
            Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor | Op::LLVMSelect | Op::LLVMFreeze) => ir::operands(c)
                .into_iter()
                .find(|o| !ir::is_constant(*o) && ir::int_bits(*o) == Some(1))
                .map_or_else(|| self.name_of(c), |o| self.condition_name(o)),
            _ => self.name_of(c),
        }
    }

    fn comparison(&mut self, c: Value, place: &Place) -> Result<Set, Stop> {
        let scope = self.scope(c, place);
        let (a, b) =
            (self.given.an.scev(ir::operand(c, 0), scope), self.given.an.scev(ir::operand(c, 1), scope));
        let pred = ir::icmp_predicate(c);
        if matches!(a.kind, ScevKind::CouldNotCompute) || matches!(b.kind, ScevKind::CouldNotCompute) {
            return Err(Stop::Blocker(self.condition_name(c)));
        }
        if matches!(pred, Pred::LLVMIntUGT | Pred::LLVMIntUGE | Pred::LLVMIntULT | Pred::LLVMIntULE) {
            return self.unsigned_comparison(pred, &a, &b, place);
        }
        let zero = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(0));
        if matches!(pred, Pred::LLVMIntEQ | Pred::LLVMIntNE) && zero(&b) {
            let all_zero = self.is_zero(ir::operand(c, 0), place)?;
            return Ok(if pred == Pred::LLVMIntEQ { all_zero } else { all_zero.complement()? });
        }
        let minus_one = matches!(b.kind, ScevKind::Constant(-1));
        if let Some(Op::LLVMOr | Op::LLVMAnd | Op::LLVMXor) = ir::opcode(ir::operand(c, 0))
            && ((pred == Pred::LLVMIntSLT && zero(&b)) || (pred == Pred::LLVMIntSGT && minus_one))
        {
            let negative = self.is_negative(ir::operand(c, 0), place)?;
            return Ok(if pred == Pred::LLVMIntSLT { negative } else { negative.complement()? });
        }
        let before = (self.assumed.set.clone(), self.assumed.all.clone());
        let both = self.exact(&a, place).and_then(|x| Ok((x, self.exact(&b, place)?)));
        let (x, y) = match both {
            Err(Stop::Blocker(_)) if matches!(pred, Pred::LLVMIntEQ | Pred::LLVMIntNE) => {
                (self.assumed.set, self.assumed.all) = before;
                let equal = self.equal(&a, &b, place)?.ok_or(Stop::Blocker(self.condition_name(c)))?;
                return Ok(if pred == Pred::LLVMIntEQ { equal } else { equal.complement()? });
            }
            Err(Stop::Blocker(why)) => {
                let failed = (self.assumed.set.clone(), self.assumed.all.clone());
                (self.assumed.set, self.assumed.all) = before;
                return match self.compared_by_distance(pred, (&a, &b), place) {
                    Ok(Some(found)) => Ok(found),
                    Err(Stop::Isl(e)) => Err(e.into()),
                    Ok(None) | Err(Stop::Blocker(_)) => {
                        (self.assumed.set, self.assumed.all) = failed;
                        Err(Stop::Blocker(why))
                    }
                };
            }
            both => both?,
        };
        Ok(match pred {
            Pred::LLVMIntEQ => x.eq_set(y)?,
            Pred::LLVMIntNE => x.ne_set(y)?,
            Pred::LLVMIntSGT => x.gt_set(y)?,
            Pred::LLVMIntSGE => x.ge_set(y)?,
            Pred::LLVMIntSLT => x.lt_set(y)?,
            _ => x.le_set(y)?,
        })
    }

    /// Where `a` and `b` are equal, by their difference: it may be affine where neither of them is, as of the
    /// two ends of a row, `i * m` and `(i + 1) * m`. `None` if it is not affine either.
    fn equal(&mut self, a: &ScevExpr, b: &ScevExpr, place: &Place) -> Result<Option<Set>, Stop> {
        // A guard in front of all loops is better left outside: what stands beside it was computed by the
        // loop before.
        if place.loops.is_empty() {
            return Ok(None);
        }
        let null = |e: &ScevExpr| match e.kind {
            ScevKind::Constant(0) => true,
            ScevKind::Unknown(v) => e.is_pointer && ir::is_null_or_undef(v),
            _ => false,
        };
        let difference = match (b.is_pointer && null(a), a.is_pointer && null(b)) {
            (true, _) => self.given.an.not_null(b.handle),
            (_, true) => self.given.an.not_null(a.handle),
            _ => self.given.an.difference(a.handle, b.handle),
        };
        if difference.kind == ScevKind::CouldNotCompute {
            return Ok(None);
        }
        match self.exact(&difference, place) {
            Ok(d) => Ok(Some(d.eq_set(self.constant(0, place)?)?)),
            Err(Stop::Blocker(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// The loop in whose iterations operands of `v` are asked for: the innermost of the place, or what lies
    /// around the region. (Without a loop, scalar evolution would give their values after all loops.)
    pub fn scope(&self, v: Value, place: &Place) -> Option<LoopId> {
        place.loops.last().copied().or_else(|| ir::parent(v).and_then(|b| self.given.an.innermost_loop(b)))
    }

    /// Where `v` is zero. LLVM joins comparisons: `x == 0 && y == n` becomes `(x | (y ^ n)) == 0`.
    fn is_zero(&mut self, v: Value, place: &Place) -> Result<Set, Stop> {
        let arg = |i| ir::operand(v, i);
        let scope = self.scope(v, place);
        let whole = self.given.an.scev(v, scope);
        match ir::opcode(v) {
            // An addition in disguise is left to scalar evolution.
            Some(Op::LLVMOr) if matches!(whole.kind, ScevKind::Unknown(_)) => {
                Ok(self.is_zero(arg(0), place)?.intersect(self.is_zero(arg(1), place)?)?)
            }
            Some(Op::LLVMXor) if !ir::is_constant(arg(1)) || matches!(whole.kind, ScevKind::Unknown(_)) => {
                let (a, b) = (self.given.an.scev(arg(0), scope), self.given.an.scev(arg(1), scope));
                Ok(self.exact(&a, place)?.eq_set(self.exact(&b, place)?)?)
            }
            _ => Ok(self.exact(&whole, place)?.eq_set(self.constant(0, place)?)?),
        }
    }

    /// Where `v` is negative: the sign of `x | y` is that of either, the sign of `x & y` that of both, and
    /// `x ^ y` is negative where they differ (Fortran's `modulo` asks that).
    fn is_negative(&mut self, v: Value, place: &Place) -> Result<Set, Stop> {
        let arg = |i| ir::operand(v, i);
        let scope = self.scope(v, place);
        let whole = self.given.an.scev(v, scope);
        let unseen = matches!(whole.kind, ScevKind::Unknown(_));
        match ir::opcode(v) {
            Some(Op::LLVMOr) if unseen => {
                Ok(self.is_negative(arg(0), place)?.union(self.is_negative(arg(1), place)?)?)
            }
            Some(Op::LLVMAnd) if unseen => {
                Ok(self.is_negative(arg(0), place)?.intersect(self.is_negative(arg(1), place)?)?)
            }
            Some(Op::LLVMXor) if unseen => {
                let (a, b) = (self.is_negative(arg(0), place)?, self.is_negative(arg(1), place)?);
                Ok(a.clone().subtract(b.clone())?.union(b.subtract(a)?)?)
            }
            _ => Ok(self.exact(&whole, place)?.lt_set(self.constant(0, place)?)?),
        }
    }

    /// With `y >= 0`, `x <u y` is `0 <= x < y`: exact whatever the sign of `x`. Only the larger side needs an
    /// assumption.
    fn unsigned_comparison(
        &mut self,
        pred: Pred,
        a: &ScevExpr,
        b: &ScevExpr,
        place: &Place,
    ) -> Result<Set, Stop> {
        let (small, large, strict) = match pred {
            Pred::LLVMIntULT => (a, b, true),
            Pred::LLVMIntULE => (a, b, false),
            Pred::LLVMIntUGT => (b, a, true),
            _ => (b, a, false),
        };
        let zero = self.constant(0, place)?;
        let less = |x: PwAff, y: PwAff| if strict { x.lt_set(y) } else { x.le_set(y) };
        // Numbers below zero are above all others, in their own order: `n - 3 <u -2` says that `n` is neither
        // 1 nor 2.
        let below_zero = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(c) if c < 0);
        if let ScevKind::Constant(_) = small.kind {
            if below_zero(small) {
                let (c, x) = (self.exact(small, place)?, self.exact(large, place)?);
                return Ok(less(c, x.clone())?.intersect(x.lt_set(zero)?)?);
            }
            // `C <u x`: also true for negative x.
            let (c, x) = (self.unsigned(small, place)?, self.exact(large, place)?);
            return Ok(less(c, x.clone())?.union(x.lt_set(zero)?)?);
        }
        if below_zero(large) {
            let (x, c) = (self.exact(small, place)?, self.exact(large, place)?);
            return Ok(less(x.clone(), c)?.union(x.ge_set(zero)?)?);
        }
        let y = self.unsigned(large, place)?;
        let x = self.exact(small, place)?;
        Ok(less(x.clone(), y)?.intersect(x.ge_set(zero)?)?)
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
            let place = self.before_region(None)?;
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
                set = Set::from_basic_set(set.simple_hull()?)?;
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

    /// The parameters that `set` depends on.
    pub fn involved(&self, set: &Set) -> isl::Result<Vec<usize>> {
        let mut all = Vec::new();
        for (i, p) in self.params.iter().enumerate() {
            let at = set.find_dim_by_id(DimType::Param, &isl::Id::new(&self.given.ctx, &p.name)?)?;
            if at >= 0 && set.involves_dims(DimType::Param, at as u32, 1)? {
                all.push(i);
            }
        }
        Ok(all)
    }

    /// Records a condition that must hold for the model, as an assumption of kind `kind`.
    pub fn require(
        &mut self,
        kind: AssumptionKind,
        good: Set,
        at: Value,
        note: &str,
        why: RejectReason,
    ) -> Result<(), Fail> {
        self.assume_params(kind, good, Some(at), note).map_err(|s| s.fail(at, |_| why))
    }
}

fn is_bound(reason: &RejectReason) -> bool {
    matches!(reason, RejectReason::LoopBound { .. })
}
