//! Subregions: control flow that depends on data, taken into a statement whole.
//!
//! **Problem.** `if (x[i] == y[j]) a = ...; else b = ...;` and `while (z < 4) z = z * z + c;` have no affine
//! description. Polly calls the single-entry single-exit regions around them non-affine subregions and makes
//! each one statement; so do we, where the region lies in an affine loop. Its blocks have the iterations of
//! the block in front, the *head*; what it reads and writes is what it may touch, as far as that can be
//! bounded; values that leave it are values of the statement.
//!
//! **What an access may touch.** An access in a loop of the subregion has that loop's counter as a further
//! dimension, bounded by the least bound that scalar evolution finds for the loop; conditions that are affine
//! after all restrict it as they would outside. Projected on the iterations of the statement this is the
//! access relation. An address that depends on a counter without bound, or on data, is refused.
//!
//! **Invariants.** Subregions are disjoint and contain no head. No loop of a subregion whose iterations can
//! be counted stores to memory, but for a single one beneath a branch: what may be parallel stays visible to
//! the scheduler as loops of the model, and a convergence loop around a stencil is no statement. If the
//! single one was the parallel loop, the caller tries again without
//! ([`crate::DetectOptions::counted_stores`]).
//!
//! **Example.** `for (i) { x = B[i]; k = 0; while (k < n && x > 1) { x *= C[k]; k++; } A[i] = k; }` is
//! ```text
//! S0[i]: read B[i]; may-read C[k] for 0 <= k < n; writes the cells of x and k
//! S1[i]: must-write A[i]
//! ```

mod spread;

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::{Flow, Subregion, lift};
use crate::base::found::WIDE_BOUND;
use crate::base::instructions::is_check;
use crate::base::ir::{self, Block, Op, Value};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{Analyses, LoopId, ScevKind};
use pollyrs_scop::{Access, AccessKind, AccessValue, RejectReason, Statement, SubregionLoop};
use std::collections::{BTreeMap, BTreeSet};

/// Larger subregions are given up: each is cloned into every kernel that runs its statement.
const MAX_BLOCKS: usize = 64;
/// The iterations that reach a block are taken to be all where they have more pieces than this.
const MAX_PIECES: u32 = 8;
/// Conditions are looked into this deep.
const MAX_DEPTH: u32 = 8;

/// For the model.
pub(crate) fn describe(s: &Subregion, an: &Analyses<'_>) -> pollyrs_scop::Subregion {
    let handle = |b: &Block| ir::handle_of_block(*b);
    let blocks = |l: &LoopId| an.loops()[l.0].blocks.clone();
    pollyrs_scop::Subregion {
        head: handle(&s.head),
        blocks: s.blocks.iter().map(handle).collect(),
        exit: handle(&s.exit),
        loops: s
            .loops
            .iter()
            .map(|l| SubregionLoop {
                header: handle(&an.loops()[l.0].header),
                blocks: blocks(l).iter().map(handle).collect(),
                spread: spread::spread(an.loops()[l.0].header, &blocks(l)),
            })
            .collect(),
    }
}

impl Builder<'_> {
    /// Makes a subregion of what `block` could not be modelled with: the loop that it is the header of, or
    /// its branch. `None` if that is not possible.
    pub fn subregion(&mut self, flow: &mut Flow, block: Block, why: &Fail) -> Result<Option<()>, Fail> {
        let header = match &why.reason {
            RejectReason::Condition { .. } if flow.domains.contains_key(&block) => false,
            RejectReason::LoopBound { .. } | RejectReason::LoopExits { .. }
                if !flow.domains.contains_key(&block) =>
            {
                true
            }
            _ => return Ok(None),
        };
        let Some(found) =
            (if header { self.given.around_loop(flow, block) } else { self.given.behind_branch(block) })
        else {
            return Ok(None);
        };
        let Some(mut s) = self.acceptable(flow, found) else { return Ok(None) };
        self.reach(flow, &mut s)?;
        self.checks_within(&s)?;
        let index = flow.subregions.len();
        let (loops, domain) = (flow.loops[&s.head].clone(), flow.domains[&s.head].clone());
        for b in &s.blocks {
            flow.within.insert(*b, index);
            flow.loops.insert(*b, loops.clone());
            flow.domains.insert(*b, domain.clone());
        }
        flow.subregions.push(s);
        Ok(Some(()))
    }

    /// The rules of the module's documentation.
    fn acceptable(&self, flow: &Flow, s: Subregion) -> Option<Subregion> {
        let around = &flow.loops[&s.head];
        let fine = !around.is_empty()
            && s.blocks.len() <= MAX_BLOCKS
            && self.given.contains(s.exit)
            && self.given.loops_of(s.exit) == *around
            && !flow.within.contains_key(&s.exit);
        let whole =
            s.loops.iter().all(|l| self.given.an.loops()[l.0].blocks.iter().all(|b| s.blocks.contains(b)));
        let block = |b: &Block| {
            let inner = self.given.loops_of(*b).split_off(around.len());
            let stores = ir::instructions(*b).iter().any(|i| ir::opcode(*i) == Some(Op::LLVMStore));
            let branch = ir::terminator(*b).and_then(ir::opcode) == Some(Op::LLVMBr);
            let back = self.given.cfg.successors(*b).contains(&s.head);
            // Such a loop may be parallel. One of them beneath a branch is likely to be the short loop over
            // the parts of an element.
            let counted =
                |l: &LoopId| self.given.an.backedge_taken_count(*l).kind != ScevKind::CouldNotCompute;
            let counted = inner.last().is_some_and(counted);
            let short = || s.branches && inner.len() == 1 && self.given.counted_stores.allowed();
            branch
                && !back
                && self.given.contains(*b)
                && !self.found.excluded.contains(b)
                && !flow.within.contains_key(b)
                && !(counted && stores && !short())
        };
        (fine && whole && s.blocks.iter().all(block)).then_some(s)
    }

    /// Fills in `places`.
    fn reach(&mut self, flow: &Flow, s: &mut Subregion) -> Result<(), Fail> {
        let around = flow.loops[&s.head].clone();
        let start = flow.place(s.head, None)?;
        for b in s.blocks.clone() {
            let headed = self.given.an.innermost_loop(b).filter(|l| self.given.an.loops()[l.0].header == b);
            // The bounded loops around the block, without its own.
            let outside: Vec<LoopId> = match headed {
                Some(l) => match self.given.an.loops()[l.0].parent.filter(|p| s.loops.contains(p)) {
                    Some(p) => s.places[&self.given.an.loops()[p.0].header].loops.clone(),
                    None => around.clone(),
                },
                None => match self.given.an.innermost_loop(b).filter(|l| s.loops.contains(l)) {
                    Some(l) => s.places[&self.given.an.loops()[l.0].header].loops.clone(),
                    None => around.clone(),
                },
            };
            let mut domain: Option<Set> = None;
            for p in self.given.cfg.predecessors(b) {
                if headed.is_some_and(|l| self.given.an.loops()[l.0].blocks.contains(&p)) {
                    continue;
                }
                let from = if p == s.head { start.clone() } else { s.places[&p].clone() };
                let decides = p != s.head || s.branches;
                let taken = if decides { self.may_take(p, b, &from)? } else { from.domain.clone() };
                let extra = (from.loops.len() - outside.len()) as u32;
                let taken = taken.project_out(DimType::Set, outside.len() as u32, extra)?;
                domain = Some(match domain {
                    None => taken,
                    Some(d) => d.union(taken)?.coalesce()?,
                });
            }
            let domain = domain.ok_or_else(|| Fail::new(RejectReason::ControlFlow, b))?;
            let domain = if domain.n_basic_set()? > MAX_PIECES {
                start.domain.clone().add_dims(DimType::Set, (outside.len() - around.len()) as u32)?
            } else {
                domain
            };
            let mut place = Place::new(outside, domain, None);
            let bound = match headed {
                Some(l) => match self.bound(l, &place)? {
                    None if self.given.is_counted_by_data(l) => {
                        self.found.wide_loops.insert(l);
                        let most = self.constant(i128::from(WIDE_BOUND), &place);
                        Some(most.map_err(|s| {
                            s.fail(b.as_value(), |_| RejectReason::LoopExits { blocker: None })
                        })?)
                    }
                    bound => bound,
                },
                None => None,
            };
            if let (Some(l), Some(count)) = (headed, bound) {
                let dim = place.loops.len();
                let domain = place.domain.add_dims(DimType::Set, 1)?;
                let ls = isl::LocalSpace::from_space(domain.space()?)?;
                let i = PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, dim as u32)?)?;
                place.domain =
                    domain.intersect(i.clone().nonneg_set()?)?.intersect(i.le_set(lift(count, 1)?)?)?;
                place.loops.push(l);
            }
            s.places.insert(b, place);
        }
        Ok(())
    }

    /// An upper bound of a loop's backedge-taken count, where there is one that is affine.
    fn bound(&mut self, l: LoopId, place: &Place) -> Result<Option<PwAff>, Fail> {
        let bound = self.given.an.backedge_taken_bound(l);
        if bound.kind == ScevKind::CouldNotCompute {
            return Ok(None);
        }
        let before = (self.assumed.set.clone(), self.assumed.all.clone());
        match self.unsigned(&bound, place) {
            Ok(count) => Ok(Some(count)),
            Err(Stop::Blocker(_)) => {
                (self.assumed.set, self.assumed.all) = before;
                Ok(None)
            }
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// The iterations of `place` in which control may go from `from` to `to`.
    fn may_take(&mut self, from: Block, to: Block, place: &Place) -> Result<Set, Fail> {
        let succs = ir::successors(from);
        let (Some(cond), [yes, no]) = (ir::branch_condition(from), &succs[..]) else {
            return Ok(place.domain.clone());
        };
        // Scalar evolution sees values of a loop without a bound as they are behind the loop.
        if yes == no || self.given.an.innermost_loop(from) != place.loops.last().copied() {
            return Ok(place.domain.clone());
        }
        let may = self.may_hold(cond, *yes == to, place, MAX_DEPTH)?;
        Ok(place.domain.clone().intersect(may)?.coalesce()?)
    }

    /// The iterations in which `condition` may be `value`.
    fn may_hold(&mut self, condition: Value, value: bool, place: &Place, depth: u32) -> Result<Set, Fail> {
        let arg = |i| ir::operand(condition, i);
        let constant = |v: Value| ir::constant_int(v).map(|c| c != 0);
        let parts = match ir::opcode(condition) {
            Some(Op::LLVMAnd) => Some((arg(0), arg(1), true)),
            Some(Op::LLVMOr) => Some((arg(0), arg(1), false)),
            Some(Op::LLVMSelect) if constant(arg(2)) == Some(false) => Some((arg(0), arg(1), true)),
            Some(Op::LLVMSelect) if constant(arg(1)) == Some(true) => Some((arg(0), arg(2), false)),
            _ => None,
        };
        if let Some((a, b, and)) = parts.filter(|_| depth > 0) {
            let (a, b) =
                (self.may_hold(a, value, place, depth - 1)?, self.may_hold(b, value, place, depth - 1)?);
            return Ok(if and == value { a.intersect(b)? } else { a.union(b)? });
        }
        match self.strictly(|me| me.condition(condition, place)) {
            Ok(holds) if value => Ok(holds),
            Ok(holds) => Ok(holds.complement()?),
            Err(Stop::Blocker(_)) => Ok(Set::universe(place.space()?)?),
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// Checks (of bounds, assertions) must hold wherever the subregion may get to them.
    fn checks_within(&mut self, s: &Subregion) -> Result<(), Fail> {
        for b in &s.blocks {
            for call in ir::instructions(*b).into_iter().filter(|v| is_check(*v)) {
                let place = Place { inst: Some(call), ..s.places[b].clone() };
                let blocker = || RejectReason::Check { blocker: self.name_of(ir::operand(call, 0)) };
                if self.given.an.innermost_loop(*b) != place.loops.last().copied() {
                    return Err(Fail::at(blocker(), call));
                }
                self.check_or_report(call, &place, &[])?;
            }
        }
        Ok(())
    }
}

impl Given<'_> {
    fn around_loop(&self, flow: &Flow, header: Block) -> Option<Subregion> {
        let l = self.an.innermost_loop(header)?;
        let data = &self.an.loops()[l.0];
        let mut entries = self.cfg.predecessors(header).into_iter().filter(|p| !data.blocks.contains(p));
        let (Some(head), None) = (entries.next(), entries.next()) else { return None };
        // A loop behind another subregion or at the region's entry has no block of the model in front.
        if self.cfg.successors(head) != [header] || !self.contains(head) || flow.within.contains_key(&head) {
            return None;
        }
        let mut exit = self.cfg.ipdom(header)?;
        while data.blocks.contains(&exit) {
            exit = self.cfg.ipdom(exit)?;
        }
        let blocks = self.cfg.region(header, exit)?.blocks;
        self.new_subregion(head, exit, false, blocks)
    }

    fn behind_branch(&self, head: Block) -> Option<Subregion> {
        let exit = self.cfg.ipdom(head)?;
        let mut blocks = self.cfg.region(head, exit)?.blocks;
        blocks.remove(&head);
        self.new_subregion(head, exit, true, blocks)
    }

    fn new_subregion(
        &self,
        head: Block,
        exit: Block,
        branches: bool,
        blocks: BTreeSet<Block>,
    ) -> Option<Subregion> {
        let mut blocks: Vec<Block> = blocks.into_iter().collect();
        blocks.sort_by_key(|b| self.cfg.id(*b));
        let around = self.loops_of(head);
        let mut loops = Vec::new();
        for b in &blocks {
            let own = self.loops_of(*b);
            if !own.starts_with(&around) {
                return None;
            }
            for l in &own[around.len()..] {
                if !loops.contains(l) {
                    loops.push(*l);
                }
            }
        }
        Some(Subregion { head, exit, branches, blocks, loops, places: BTreeMap::new() })
    }

    /// Finds out which accesses of the statement's subregion happen in every execution: no way through it
    /// avoids the element.
    pub fn find_certain(&self, s: &Subregion, statement: &mut Statement) -> Result<(), Fail> {
        let mut at = Vec::new();
        for (i, a) in statement.accesses.iter().enumerate() {
            if let (Some(w), AccessValue::Instruction(v)) = (&a.within, a.value)
                && w.is_function()
                && let Some(b) = ir::parent(ir::value(v))
            {
                at.push((i, b));
            }
        }
        let mut certain = Vec::new();
        for (i, _) in &at {
            let a = &statement.accesses[*i];
            let kept =
                |a: &Access| matches!(a.value, AccessValue::Instruction(v) if ir::is_kept(ir::value(v)));
            if kept(a) {
                continue;
            }
            let (mut touching, mut storing) = (BTreeSet::new(), BTreeSet::new());
            for (j, b) in &at {
                let o = &statement.accesses[*j];
                let (Some(x), Some(y)) = (&a.within, &o.within) else { continue };
                if a.array == o.array && !kept(o) && (i == j || x.relation.is_equal(&y.relation)?) {
                    touching.insert(*b);
                    // A flattened store keeps what is there where its condition does not hold.
                    let may = matches!(o.value, AccessValue::Instruction(v)
                        if ir::is_conditional_store(ir::value(v)));
                    if o.kind != AccessKind::Read && !may {
                        storing.insert(*b);
                    }
                }
            }
            let stores = a.kind != AccessKind::Read;
            if !self.avoidable(s, &touching) {
                certain.push((*i, stores && !self.avoidable(s, &storing)));
            }
        }
        for (i, must_write) in certain {
            let a = &mut statement.accesses[i];
            a.certain = true;
            if let Some(w) = &a.within {
                a.relation = w.relation.clone();
            }
            if must_write {
                a.kind = AccessKind::MustWrite;
            }
        }
        Ok(())
    }

    /// Whether a way from the head to the exit leads past all of `blocks`.
    fn avoidable(&self, s: &Subregion, blocks: &BTreeSet<Block>) -> bool {
        let mut seen = BTreeSet::from([s.head]);
        let mut work = vec![s.head];
        while let Some(b) = work.pop() {
            for n in self.cfg.successors(b) {
                if n == s.exit {
                    return true;
                }
                if !blocks.contains(&n) && seen.insert(n) {
                    work.push(n);
                }
            }
        }
        false
    }
}
