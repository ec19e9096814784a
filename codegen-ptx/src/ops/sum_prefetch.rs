//! Sums in order over shared memory whose operands are prefetched.
//!
//! **Problem.** A thread adds up a row that its block has in shared memory. Additions of a sum in order wait
//! for each other, four cycles each, and a thread has nothing else to do. ptxas puts the loads of an unrolled
//! iteration first, so that the thread waits for all of them, then for all additions: two sums of a row of
//! 1024 floats took a third of the time of a layer norm.
//!
//! **Solution.** Loops of one block become pipelines by halves. The second half of an iteration's loads comes
//! first and arrives while the first half is added up; then come the loads of the next iteration's first
//! half, which arrive while the second one is:
//! ```text
//! before:  a = loads of the first half at the first iteration
//! loop:    b = loads of the second half;  add a;  a' = loads of the first half, an iteration on;  add b
//! ```
//! The last iteration has no next one: it loads its own first half again, which nobody uses.
//!
//! # Invariants
//! - Nothing in the loop writes to memory or waits for another thread, so that a load finds the same value
//!   wherever in the loop it stands, and an iteration or two ahead.
//! - Every address that is loaded from is one that the loop loads from anyway.
//! - Each half has registers of its own: what ptxas loads into a register that waits for its last use arrives
//!   late.
//! - Loops whose operands were prefetched before ([`crate::tiled::prefetch`]) stay.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ops::load_hoisting::{Hoisted, is_arithmetic, nature};
use crate::ops::walks::SHARED;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Loads of an iteration, at least: sixteen additions take as long as a load from shared memory, and there
/// are two halves.
const LEAST: usize = 16;

/// Prefetches operands of sums in all kernels of an optimized module.
pub(crate) fn load(module: Module) {
    for function in module.functions() {
        for block in function.blocks() {
            if let Some(l) = Loop::of(block) {
                l.load();
            }
        }
    }
}

/// A loop of one block that only computes and loads from shared memory.
struct Loop {
    body: Block,
    before: Block,
    /// Whether there is a next iteration: a value of the body, and what it has to be.
    condition: (Value, bool),
    /// In order.
    loads: Vec<Value>,
}

impl Loop {
    fn of(body: Block) -> Option<Loop> {
        let end = body.terminator()?;
        let successors = end.successors();
        if successors.len() != 2 || successors.iter().filter(|b| **b == body).count() != 1 {
            return None;
        }
        let all = body.instructions();
        let phis: Vec<_> = all.iter().copied().take_while(|i| i.is_phi()).collect();
        let others: BTreeSet<_> =
            phis.first()?.incoming().into_iter().map(|(_, b)| b).filter(|b| *b != body).collect();
        let before = match others.into_iter().collect::<Vec<_>>().as_slice() {
            [one] => *one,
            _ => return None,
        };
        let enters = before.terminator().is_some_and(|t| t.successors() == [body]);
        let inside = &all[phis.len()..all.len() - 1];
        if !enters || !inside.iter().all(|i| only_reads(*i)) {
            return None;
        }
        let loads: Vec<_> = inside.iter().copied().filter(|i| is_shared(*i)).collect();
        // (What waits for a phi is prefetched already.)
        let used_here = |load: &Value| {
            load.users().iter().all(|u| u.parent() == Some(body) && !u.is_phi() && !u.is_terminator())
        };
        let few = loads.len() < LEAST || longest(body, &phis, inside) < loads.len();
        if few || !loads.iter().all(used_here) {
            return None;
        }
        Some(Loop { body, before, condition: (end.operand(0), successors[0] == body), loads })
    }

    fn load(&self) {
        let ir = Ir::new(self.condition.0.context());
        let (first, second) = self.loads.split_at(self.loads.len() / 2);
        let phis: Vec<_> = self.body.instructions().into_iter().take_while(|i| i.is_phi()).collect();
        let Some(chain) = self.addresses(first) else { return };
        let Some(begin) = phis.last().map(|p| p.behind()) else { return };
        let mut hoisted = Hoisted::new(self.body, begin);
        // What the next iteration's addresses are computed from.
        let counters: Vec<_> = phis.iter().copied().filter(|p| chain.counters.contains(p)).collect();
        let next_of = |p: &Value| value_from(*p, self.body);
        let wanted: Vec<_> = counters.iter().map(next_of).chain([self.condition.0]).collect();
        if !second.iter().chain(&wanted).all(|v| hoisted.may_take(*v)) {
            return;
        }
        for v in second.iter().chain(&wanted) {
            hoisted.take(*v);
        }
        ir.before(self.before.end());
        let mut at_first: BTreeMap<_, _> =
            counters.iter().map(|p| (p.address(), value_from(*p, self.before))).collect();
        let entering: Vec<_> = first.iter().map(|l| again(&ir, &mut at_first, &chain, *l)).collect();
        let Some(middle) = self.middle(second[0]) else { return };
        ir.before(middle);
        let (condition, repeats) = self.condition;
        let mut at_next = BTreeMap::new();
        for p in &counters {
            let (next, same) = (next_of(p), *p);
            let (yes, no) = if repeats { (next, same) } else { (same, next) };
            at_next.insert(p.address(), ir.select(condition, yes, no));
        }
        let later: Vec<_> = first.iter().map(|l| again(&ir, &mut at_next, &chain, *l)).collect();
        ir.before(begin_of(self.body));
        for ((load, entering), later) in first.iter().zip(entering).zip(later) {
            let phi = ir.phi(load.ty(), &[(entering, self.before), (later, self.body)]);
            // SAFETY: the handle is not used any more.
            unsafe { load.replace(phi) };
        }
    }

    /// The first instruction that uses the second half.
    fn middle(&self, second: Value) -> Option<Value> {
        let users = second.users();
        self.body.instructions().into_iter().find(|i| users.contains(i))
    }

    /// What the addresses of these loads are computed from, if that is arithmetic.
    fn addresses(&self, loads: &[Value]) -> Option<Addresses> {
        let (mut counters, mut needed) = (BTreeSet::new(), BTreeSet::new());
        let mut open: Vec<_> = loads.iter().map(|l| l.operand(0)).collect();
        while let Some(v) = open.pop() {
            if v.parent() != Some(self.body) {
                continue;
            }
            if v.is_phi() {
                counters.insert(v);
            } else if !is_arithmetic(v) {
                return None;
            } else if needed.insert(v) {
                open.extend(v.operands());
            }
        }
        let inside = self.body.instructions().into_iter().filter(|i| needed.contains(i)).collect();
        Some(Addresses { counters, inside })
    }
}

/// What addresses are computed from in a loop.
struct Addresses {
    counters: BTreeSet<Value>,
    /// In order.
    inside: Vec<Value>,
}

/// The instruction in front of which phis of a block end.
fn begin_of(block: Block) -> Value {
    let all = block.instructions();
    all.iter().copied().find(|i| !i.is_phi()).unwrap_or(block.end())
}

/// The value of a phi where control comes from a block.
fn value_from(phi: Value, from: Block) -> Value {
    let found = phi.incoming().into_iter().find(|(_, b)| *b == from);
    found.map_or(phi, |(v, _)| v)
}

/// Whether an instruction writes to no memory and waits for nobody.
fn only_reads(i: Value) -> bool {
    use LLVMOpcode::*;
    match i.opcode() {
        LLVMLoad => !i.is_volatile() && i.ordering() == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
        LLVMCall => nature(i).0,
        LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMAlloca | LLVMVAArg => false,
        _ => true,
    }
}

fn is_shared(i: Value) -> bool {
    i.opcode() == LLVMOpcode::LLVMLoad && i.operand(0).ty().address_space() == Some(SHARED)
}

/// The instructions of an iteration that wait for each other: most of them from a number that the iteration
/// before has computed to what it hands on.
fn longest(body: Block, phis: &[Value], inside: &[Value]) -> usize {
    let number = |v: &Value| {
        matches!(v.ty().kind(), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
    };
    let mut length: BTreeMap<Value, usize> = phis.iter().copied().filter(number).map(|p| (p, 0)).collect();
    for i in inside {
        if let Some(most) = i.operands().iter().filter_map(|v| length.get(v)).max() {
            length.insert(*i, most + 1);
        }
    }
    let handed_on = phis.iter().filter(|p| number(p)).map(|p| value_from(*p, body));
    handed_on.filter_map(|v| length.get(&v).copied()).max().unwrap_or(0)
}

/// A copy of a load, with `known` values in place of those that its address is computed from.
fn again(ir: &Ir, known: &mut BTreeMap<usize, Value>, chain: &Addresses, load: Value) -> Value {
    for i in &chain.inside {
        if !known.contains_key(&i.address()) {
            let copy = ir.put_copy(*i, known);
            known.insert(i.address(), copy);
        }
    }
    ir.put_copy(load, known)
}
