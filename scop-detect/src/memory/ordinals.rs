//! Counts that elements are stored under ([`crate::memory::appends`]): PHIs that go up where something holds.

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::found::FoundSubscript;
use crate::base::ir::{self, Block, Op, Pred, Value};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;
use std::collections::BTreeSet;

/// A count goes up by no more in an iteration.
const MAX_STEP: i64 = 1 << 10;
/// Selections among the numbers that are added are looked into this deep, and conditions.
const MAX_DEPTH: u32 = 8;
/// Instructions that what is added is computed from.
const MAX_NEEDS: usize = 256;
/// Branches before a store in its iteration.
const MAX_BRANCHES: usize = 64;

/// A PHI that counts up.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    pub owner: LoopId,
    pub start: Value,
    /// Its value in the next iteration.
    pub next: Value,
    /// What is added in an iteration.
    pub added: Value,
    /// No more than this.
    pub most: i64,
}

impl Builder<'_> {
    /// What a count may be at `place`: `[params] -> { [i..., v] }`.
    pub fn counted_values(&mut self, phi: Value, place: &Place) -> Result<Option<Set>, Fail> {
        let Some(count) = self.given.count_of(phi) else { return Ok(None) };
        let Some(at) = place.loops.iter().position(|l| *l == count.owner) else { return Ok(None) };
        let outer = self.given.an.loops()[count.owner.0].parent;
        let start = self.given.an.scev(count.start, outer);
        let Some(start) = self.affine(&start, place)? else { return Ok(None) };
        match self.bounds_of(start, (at, count.most), ir::int_bits(phi).unwrap_or(64), place) {
            Ok(values) => Ok(Some(values)),
            Err(Stop::Blocker(_)) => Ok(None),
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// `{ [i..., v] : start <= v <= start + most i[at] }`, of a number that has so many bits.
    fn bounds_of(
        &mut self,
        start: PwAff,
        (at, most): (usize, i64),
        bits: u32,
        place: &Place,
    ) -> Result<Set, Stop> {
        let last = self.dim(at, place)?.scale(isl::Val::int(&self.given.ctx, most)?)?.add(start.clone())?;
        if bits < 64 {
            let beyond = last.clone().gt_set(self.constant((1 << (bits - 1)) - 1, place)?)?;
            self.assume(AssumptionKind::NoWrap, beyond, place, "a count of elements does not overflow")?;
        }
        let d = place.dims() as u32;
        let domain = place.domain.clone().add_dims(DimType::Set, 1)?;
        let extended = Place { domain, values: place.values.clone(), ..place.clone() };
        let v = self.dim(place.dims(), &extended)?;
        let (low, high) = (start.insert_dims(DimType::In, d, 1)?, last.insert_dims(DimType::In, d, 1)?);
        Ok(v.clone().ge_set(low)?.intersect(v.le_set(high)?)?.intersect(extended.domain)?)
    }

    /// The count that alone chooses the element of a store, and how much it goes up at least in an iteration
    /// that makes the store.
    pub fn appends(&self, store: Value) -> Option<(Value, i64)> {
        let [subscript] = &self.found.data_subscripts.get(&store)?[..] else { return None };
        let count = self.given.count_of(subscript.value)?;
        let block = ir::parent(store)?;
        // Once in an iteration.
        if self.given.an.innermost_loop(block) != Some(count.owner)
            || ir::opcode(store) != Some(Op::LLVMStore)
        {
            return None;
        }
        let known = self.given.conditions_before(block, count.owner);
        let (least, _) = between(count.added, &known, MAX_DEPTH)?;
        (least > 0).then_some((subscript.value, least))
    }
}

impl Given<'_> {
    /// The count that a PHI at the head of a loop of the region is.
    pub fn count_of(&self, phi: Value) -> Option<Count> {
        let block = ir::parent(phi).filter(|_| ir::opcode(phi) == Some(Op::LLVMPHI))?;
        let owner = self.an.innermost_loop(block).filter(|l| self.inside(*l))?;
        let data = &self.an.loops()[owner.0];
        if data.header != block || !ir::int_bits(phi).is_some_and(|b| (32..=64).contains(&b)) {
            return None;
        }
        let [(a, from), (b, _)] = ir::incoming(phi)[..] else { return None };
        let (start, next) = if data.blocks.contains(&from) { (b, a) } else { (a, b) };
        if ir::opcode(next) != Some(Op::LLVMAdd) {
            return None;
        }
        let added = match (ir::operand(next, 0) == phi, ir::operand(next, 1) == phi) {
            (true, false) => ir::operand(next, 1),
            (false, true) => ir::operand(next, 0),
            _ => return None,
        };
        let (least, most) = between(added, &[], MAX_DEPTH)?;
        if self.needs(added, phi) {
            return None;
        }
        // (What goes up by a number in each iteration is a counter.)
        (least >= 0 && most <= MAX_STEP && least < most).then_some(Count { owner, start, next, added, most })
    }

    /// Whether `v` is computed from `from` in the same iteration, or may be.
    fn needs(&self, v: Value, from: Value) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![v]);
        while let Some(v) = next.pop() {
            if v == from || seen.len() > MAX_NEEDS {
                return true;
            }
            if self.defined_inside(v) && ir::opcode(v) != Some(Op::LLVMPHI) && seen.insert(v) {
                next.extend(ir::operands(v));
            }
        }
        false
    }

    pub fn is_count(&self, e: &ScevExpr) -> bool {
        matches!(&e.kind, ScevKind::Unknown(v) if self.defined_inside(*v) && self.count_of(*v).is_some())
    }

    /// Of a count that is extended by zeros the count itself is the value.
    pub fn choose_count(&self, c: &mut FoundSubscript) {
        if ir::opcode(c.value) == Some(Op::LLVMZExt) && self.count_of(ir::operand(c.value, 0)).is_some() {
            (c.value, c.unsigned) = (ir::operand(c.value, 0), true);
        }
    }

    /// Conditions that hold, or don't, in an iteration of the loop that gets to `block`.
    fn conditions_before(&self, mut block: Block, l: LoopId) -> Vec<(Value, bool)> {
        let mut known = Vec::new();
        for _ in 0..MAX_BRANCHES {
            if self.an.loops()[l.0].header == block {
                break;
            }
            let before = self.cfg.predecessors(block);
            if let [only] = before[..]
                && let (Some(c), [yes, no]) = (ir::branch_condition(only), &ir::successors(only)[..])
                && yes != no
            {
                implied(c, *yes == block, &mut known, MAX_DEPTH);
            }
            let Some(next) = self.cfg.idom(block) else { break };
            block = next;
        }
        known
    }
}

/// The least and the largest number that an integer made of selections may be, where some conditions are
/// known.
fn between(v: Value, known: &[(Value, bool)], depth: u32) -> Option<(i64, i64)> {
    if let Some(c) = ir::constant_int(v) {
        return Some((c, c));
    }
    let depth = depth.checked_sub(1)?;
    match ir::opcode(v)? {
        Op::LLVMZExt if ir::int_bits(ir::operand(v, 0)) == Some(1) => {
            Some(truth(ir::operand(v, 0), known, depth).map_or((0, 1), |t| (i64::from(t), i64::from(t))))
        }
        Op::LLVMSelect if ir::int_bits(ir::operand(v, 0)) == Some(1) => {
            let arm = |i| between(ir::operand(v, i), known, depth);
            match truth(ir::operand(v, 0), known, depth) {
                Some(taken) => arm(if taken { 1 } else { 2 }),
                None => arm(1).zip(arm(2)).map(|((a, b), (c, d))| (a.min(c), b.max(d))),
            }
        }
        // What one of several ways gives.
        Op::LLVMPHI => {
            let all = ir::incoming(v).into_iter().map(|(x, _)| between(x, known, depth));
            let whole = all.reduce(|a, b| a.zip(b).map(|((a, b), (c, d))| (a.min(c), b.max(d)))).flatten()?;
            let is_more = known.iter().any(|(c, holds)| is_zero(*c, v) == Some(!holds));
            Some(if is_more && whole.0 == 0 { (1.min(whole.1), whole.1) } else { whole })
        }
        _ => None,
    }
}

/// Whether a condition tells that `v` is 0, or that it is not.
fn is_zero(c: Value, v: Value) -> Option<bool> {
    let compares = ir::opcode(c) == Some(Op::LLVMICmp)
        && ir::operand(c, 0) == v
        && ir::constant_int(ir::operand(c, 1)) == Some(0);
    match compares.then(|| ir::icmp_predicate(c))? {
        Pred::LLVMIntEQ => Some(true),
        Pred::LLVMIntNE => Some(false),
        _ => None,
    }
}

/// Whether a condition holds, if that is known.
fn truth(v: Value, known: &[(Value, bool)], depth: u32) -> Option<bool> {
    if let Some((_, holds)) = known.iter().find(|(c, _)| *c == v) {
        return Some(*holds);
    }
    if let Some(c) = ir::constant_int(v) {
        return Some(c != 0);
    }
    let depth = depth.checked_sub(1)?;
    let arg = |i| truth(ir::operand(v, i), known, depth);
    match ir::opcode(v)? {
        Op::LLVMXor => arg(0).zip(arg(1)).map(|(a, b)| a != b),
        Op::LLVMAnd => match (arg(0), arg(1)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Op::LLVMOr => match (arg(0), arg(1)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Op::LLVMSelect => match arg(0) {
            Some(taken) => arg(if taken { 1 } else { 2 }),
            None => arg(1).zip(arg(2)).filter(|(a, b)| a == b).map(|(a, _)| a),
        },
        Op::LLVMICmp => {
            // The same comparison, or its inverse, may be there twice.
            known.iter().find_map(|(c, holds)| compares_alike(v, *c).map(|same| same == *holds))
        }
        _ => None,
    }
}

/// Whether two comparisons of the same values tell the same, or the opposite.
fn compares_alike(a: Value, b: Value) -> Option<bool> {
    if ir::opcode(b) != Some(Op::LLVMICmp) || (0..2).any(|i| ir::operand(a, i) != ir::operand(b, i)) {
        return None;
    }
    let (p, q) = (ir::icmp_predicate(a), ir::icmp_predicate(b));
    let opposite = matches!((p, q), (Pred::LLVMIntEQ, Pred::LLVMIntNE) | (Pred::LLVMIntNE, Pred::LLVMIntEQ));
    (p == q).then_some(true).or(opposite.then_some(false))
}

/// Collects what follows from a condition that holds, or doesn't.
fn implied(c: Value, holds: bool, known: &mut Vec<(Value, bool)>, depth: u32) {
    known.push((c, holds));
    let Some(depth) = depth.checked_sub(1) else { return };
    let constant = |i| ir::constant_int(ir::operand(c, i)).map(|v| v != 0);
    let both = match ir::opcode(c) {
        Some(Op::LLVMXor) if constant(1) == Some(true) => {
            return implied(ir::operand(c, 0), !holds, known, depth);
        }
        Some(Op::LLVMAnd) if holds => [0, 1],
        Some(Op::LLVMOr) if !holds => [0, 1],
        Some(Op::LLVMSelect) if holds && constant(2) == Some(false) => [0, 1],
        Some(Op::LLVMSelect) if !holds && constant(1) == Some(true) => [0, 2],
        _ => return,
    };
    both.into_iter().for_each(|i| implied(ir::operand(c, i), holds, known, depth));
}
