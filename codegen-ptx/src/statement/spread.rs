//! Loops of a subregion whose iterations the threads of a team compute side by side
//! ([`pollyrs_scop::Spread`]).
//!
//! ```text
//! turn:     base = 0, 4 L, ...: iterations base .. base + 4 L, as long as there are so many       (L threads)
//!   own:    the loads, and what an iteration computes alone, of base + lane, base + L + lane, ...; of what may be regrouped, the thread's part
//!           for j in base, base + 1, ...: what is handed on, from the values of the lane that has them, in every thread
//! turn:     the same for iterations base .. base + L, of which some need not be there
//! done:     the parts of what may be regrouped, from thread to thread
//! ```
//!
//! # Invariants
//! - What is handed on is the same in all threads at every `j`, and what the program has there.
//! - All threads of a team are in the same block: `base`, `count` and what is handed on are the same in all
//!   of them. Where there is no iteration for a thread, it loads what the last one does.
//! - A product that is added to what is handed on is fused, in order, where the host fuses it; where the host
//!   does not, the product is computed alone, and one value is passed in place of two.
//! - Regrouped integers may wrap where the program's do not: their updates have no `nsw` and `nuw`.

use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::ops::shuffle;
use crate::statement::emit::{Instance, emit_instruction, resolve};
use crate::statement::team::lane;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_schedule::planted::planted;
use pollyrs_scop::{LoopCarried, Spread, Statement, UpdateOp, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations whose values are passed at once.
const AT_ONCE: u32 = 4;
/// Iterations of a thread in a round, where all of them are there.
const ROUNDS: u32 = 4;

/// A host PHI with its copy, which gets its values from outside of the loop later.
pub(super) type Entered = (Value, Value);

/// The loop that is emitted: its number in the subregion, and its instructions in program order, but for
/// PHIs.
pub(super) struct Loop<'a> {
    pub at: usize,
    pub spread: &'a Spread,
    pub body: Vec<Value>,
    pub exit: Block,
}

/// Emits the loop from its block on, in which the builder is, to the branch out of it. The result are the
/// PHIs of the first iteration.
pub(super) fn emit<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    l: &Loop<'_>,
) -> Result<Vec<Entered>> {
    let ir = k.ir;
    k.has_barrier = true;
    let spread = l.spread;
    let Some((counter, _, 1)) = spread.counting.first().copied() else {
        return internal("a loop that nothing counts");
    };
    let mut entered = Vec::new();
    for v in spread.counting.iter().map(|c| c.0).chain(spread.loop_carried.iter().map(|c| c.phi)) {
        let phi = host_value(v);
        entered.push((phi, ir.phi(phi.ty(), &[])));
    }
    let first = |v: ValueHandle| match entered.iter().find(|(phi, _)| phi.address() == v.address()) {
        Some((_, copy)) => Ok(*copy),
        None => internal("a value that no iteration begins with"),
    };
    let (start, end) = (first(counter)?, resolve(k, n, host_value(spread.end))?);
    let wide = |v: Value| if v.ty().int_width() == Some(64) { v } else { ir.zext(v, ir.i64_type()) };
    let count = wide(ir.binary(LLVMOpcode::LLVMSub, end, start));
    let lane = lane(k);
    let counting = spread.counting.iter().map(|(phi, _, step)| Ok((phi.address(), first(*phi)?, *step)));
    let of = Shared {
        l,
        count,
        lane,
        counting: counting.collect::<Result<_>>()?,
        needed: needed(spread, &l.body)?,
        team: ir.int(k.launch.team.into()),
    };

    // What is handed on at the beginning: of what may be regrouped, the first thread goes on from it.
    let is_first = ir.icmp(LLVMIntEQ, lane, ir.int32(0));
    let mut handed = Vec::new();
    for c in &spread.loop_carried {
        let value = first(c.phi)?;
        handed.push(match &c.regrouped {
            Some((_, identity)) => ir.select(is_first, value, host_value(*identity)),
            None => value,
        });
    }
    // Whole rounds, in which many loads are on their way at once, then what is left.
    let base = rounds(k, n, s, &of, (ir.int(0), ROUNDS), &mut handed)?;
    rounds(k, n, s, &of, (base, 0), &mut handed)?;

    for (c, v) in spread.loop_carried.iter().zip(handed) {
        let v = match &c.regrouped {
            Some((op, _)) => combined(k, *op, v, lane)?,
            None => v,
        };
        n.values.remove(&c.phi.address());
        n.values.insert(c.next.address(), v);
    }
    for ((phi, from, step), (_, following, _)) in of.counting.iter().zip(&spread.counting) {
        n.values.insert(*phi, counted(k, *from, ir.sub(count, ir.int(1)), *step));
        n.values.insert(following.address(), counted(k, *from, count, *step));
    }
    ir.br(l.exit);
    Ok(entered)
}

/// What all rounds of a loop have in common.
struct Shared<'l> {
    l: &'l Loop<'l>,
    count: Value,
    lane: Value,
    /// PHIs that count, their first values, and steps.
    counting: Vec<(usize, Value, i64)>,
    needed: Needed,
    /// The number of threads.
    team: Value,
}

/// A loop of rounds from iteration `base` on, each of so many iterations a thread; of one at most, some of
/// which need not be there, if the number is 0. The result is the iteration behind the last round.
fn rounds<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    of: &Shared<'_>,
    (base, each): (Value, u32),
    handed: &mut [Value],
) -> Result<Value> {
    let ir = k.ir;
    let spread = of.l.spread;
    let function = ir.block().function();
    let [turn, own, done] = ["turn", "own", "done"].map(|name| ir.append_block(function, name));
    let before = ir.block();
    ir.br(turn);
    ir.at_end(turn);
    let base = ir.phi(ir.i64_type(), &[(base, before)]);
    let phis: Vec<Value> = handed.iter().map(|v| ir.phi(v.ty(), &[(*v, before)])).collect();
    let following = ir.add(base, ir.int((each.max(1) * k.launch.team).into()));
    let more = match each {
        0 => ir.icmp(LLVMIntULT, base, of.count),
        _ => ir.icmp(LLVMIntULE, following, of.count),
    };
    ir.cond_br(more, own, done);

    ir.at_end(own);
    let mut now = phis.clone();
    let bound = if planted("team-rest") { ir.add(of.count, ir.int(1)) } else { of.count };
    let mut values = Vec::new();
    for at in 0..each.max(1) {
        let iteration =
            ir.add(ir.add(base, ir.int((at * k.launch.team).into())), ir.zext(of.lane, ir.i64_type()));
        let there = (each == 0).then(|| ir.icmp(LLVMIntULT, iteration, bound));
        // Beyond the last iteration a thread loads what that one does.
        let last = ir.sub(of.count, ir.int(1));
        let iteration = match there {
            Some(there) => ir.select(there, iteration, last),
            None => iteration,
        };
        values.push(alone(k, n, s, of, (iteration, there), &mut now)?);
    }
    let in_order = spread.loop_carried.iter().any(|c| c.regrouped.is_none());
    for values in values.iter().filter(|_| in_order) {
        let left = match each {
            0 => {
                let left = ir.sub(bound, base);
                ir.select(ir.icmp(LLVMIntULT, left, of.team), left, of.team)
            }
            _ => of.team,
        };
        one_by_one(k, n, s, (of, values), ir.trunc(left, ir.i32_type()), &mut now)?;
    }
    let end = ir.block();
    ir.br(turn);
    ir.add_incoming(base, following, end);
    for (phi, v) in phis.iter().zip(&now) {
        ir.add_incoming(*phi, *v, end);
    }
    ir.at_end(done);
    handed.copy_from_slice(&phis);
    Ok(base)
}

/// What an iteration computes alone: the values that are handed to others, by host value. Of what may be
/// regrouped the thread's part goes on, if the iteration is `there`.
fn alone<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    of: &Shared<'_>,
    (iteration, there): (Value, Option<Value>),
    handed: &mut [Value],
) -> Result<Vec<(usize, Value)>> {
    let ir = k.ir;
    let spread = of.l.spread;
    n.counters.insert(of.l.at, iteration);
    for (phi, from, step) in &of.counting {
        n.values.insert(*phi, counted(k, *from, iteration, *step));
    }
    let after: BTreeSet<usize> = spread.after.iter().map(|v| v.address()).collect();
    for i in of.l.body.iter().filter(|i| !after.contains(&i.address())) {
        emit_instruction(k, n, s, *i)?;
    }
    let mut values = Vec::new();
    for v in &of.needed.values {
        values.push((v.address(), resolve(k, n, *v)?));
    }
    for i in &of.needed.products {
        let [a, b] = [0, 1].map(|at| i.operand(at));
        let (a, b) = (resolve(k, n, a)?, resolve(k, n, b)?);
        values.push((i.address(), ir.binary(LLVMOpcode::LLVMFMul, a, b)));
    }
    for (c, v) in spread.loop_carried.iter().zip(handed).filter(|(c, _)| c.regrouped.is_some()) {
        n.values.insert(c.phi.address(), *v);
        n.wraps.push(c.next.address());
        emit_instruction(k, n, s, host_value(c.next))?;
        let part = resolve(k, n, host_value(c.next))?;
        *v = there.map_or(part, |there| ir.select(there, part, *v));
    }
    Ok(values)
}

/// `from + number * step`, in the type of `from`.
fn counted<S>(k: &KernelBuilder<'_, S>, from: Value, number: Value, step: i64) -> Value {
    let ty = from.ty();
    let number = if ty.int_width() == Some(64) { number } else { k.ir.trunc(number, ty) };
    let step = ty.int(step as u64, true);
    k.ir.add(from, k.ir.mul(number, step))
}

/// What the instructions in the program's order need of an iteration, by host value, each once, in the order
/// in which they ask for it.
struct Needed {
    values: Vec<Value>,
    /// Products that are added to what is handed on, where the host does not fuse the two.
    products: Vec<Value>,
}

/// Adds what is not there.
fn once(list: &mut Vec<Value>, values: impl IntoIterator<Item = Value>) {
    for v in values {
        if !list.contains(&v) {
            list.push(v);
        }
    }
}

fn needed(spread: &Spread, body: &[Value]) -> Result<Needed> {
    let after: BTreeSet<usize> = spread.after.iter().map(|v| v.address()).collect();
    let phis: BTreeSet<usize> = spread.loop_carried.iter().map(|c| c.phi.address()).collect();
    let alone = |v: Value| !after.contains(&v.address()) && !phis.contains(&v.address());
    // (What comes from elsewhere is known in front of the loop.)
    let inside =
        |v: Value| body.contains(&v) || spread.counting.iter().any(|(phi, ..)| phi.address() == v.address());
    let mut out = Needed { values: Vec::new(), products: Vec::new() };
    for i in body.iter().filter(|i| alone(**i)) {
        if i.operands().into_iter().any(|o| !alone(o)) {
            return internal("an iteration that needs another one");
        }
    }
    for i in ordered(spread) {
        let arguments = arguments(i);
        if is_apart(i) && alone(arguments[0]) && alone(arguments[1]) && !alone(arguments[2]) {
            once(&mut out.products, [i]);
        } else {
            once(&mut out.values, arguments.into_iter().filter(|v| alone(*v) && inside(*v)));
        }
    }
    let handed = spread.loop_carried.iter().filter(|c| c.regrouped.is_none()).map(|c| host_value(c.next));
    once(&mut out.values, handed.filter(|v| alone(*v) && inside(*v)));
    Ok(out)
}

/// The instructions that need what is handed on in the program's order.
fn ordered(spread: &Spread) -> Vec<Value> {
    let regrouped =
        |v: &ValueHandle| spread.loop_carried.iter().any(|c| c.regrouped.is_some() && c.next == *v);
    spread.after.iter().filter(|v| !regrouped(v)).map(|v| host_value(*v)).collect()
}

/// The operands of an instruction without the function that it calls.
fn arguments(i: Value) -> Vec<Value> {
    let count = match i.opcode() {
        LLVMOpcode::LLVMCall => i.argument_count(),
        _ => i.operand_count(),
    };
    (0..count).map(|o| i.operand(o)).collect()
}

/// Whether this is a product and a sum that may be fused, and are not on the host.
fn is_apart(i: Value) -> bool {
    i.opcode() == LLVMOpcode::LLVMCall
        && i.callee().name().starts_with("llvm.fmuladd.")
        && !i.parent().is_some_and(|block| host_fuses(block.function()))
}

/// Whether the host has fused instructions in a function: on x86 where its features say so, elsewhere always.
fn host_fuses(f: Value) -> bool {
    let features = f.string_attribute("target-features").unwrap_or_default();
    let fused = ["+fma", "+fma4", "+avx512f"];
    !f.module().target().starts_with("x86_64") || features.split(',').any(|feature| fused.contains(&feature))
}

/// What `left` iterations hand on, one after the other.
fn one_by_one<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    of: (&Shared<'_>, &[(usize, Value)]),
    left: Value,
    handed: &mut [Value],
) -> Result<()> {
    let ir = k.ir;
    let function = ir.block().function();
    let some = ir.int32(AT_ONCE);
    let whole = ir.mul(ir.udiv(left, some), some);
    let mut from = ir.int32(0);
    for (end, each) in [(whole, AT_ONCE), (left, 1)] {
        let [head, body, behind] = ["next", "step", "stepped"].map(|name| ir.append_block(function, name));
        let before = ir.block();
        ir.br(head);
        ir.at_end(head);
        let j = ir.phi(ir.i32_type(), &[(from, before)]);
        let phis: Vec<Value> = handed.iter().map(|v| ir.phi(v.ty(), &[(*v, before)])).collect();
        ir.cond_br(ir.icmp(LLVMIntULT, j, end), body, behind);
        ir.at_end(body);
        let mut now = phis.clone();
        for at in 0..each {
            step(k, n, s, of, ir.add(j, ir.int32(at)), &mut now)?;
        }
        let last = ir.block();
        ir.add_incoming(j, ir.add(j, ir.int32(each)), last);
        for (phi, v) in phis.iter().zip(&now) {
            ir.add_incoming(*phi, *v, last);
        }
        ir.br(head);
        ir.at_end(behind);
        handed.copy_from_slice(&phis);
        from = j;
    }
    Ok(())
}

/// What the iteration of lane `j` hands on.
fn step<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    (of, own): (&Shared<'_>, &[(usize, Value)]),
    j: Value,
    handed: &mut [Value],
) -> Result<()> {
    let spread = of.l.spread;
    let mut products = BTreeMap::new();
    for (v, value) in own {
        let passed = shuffle::of_team(k, *value, j)?;
        match of.needed.products.iter().any(|p| p.address() == *v) {
            true => products.insert(*v, passed),
            false => n.values.insert(*v, passed),
        };
    }
    let in_order = |c: &&LoopCarried| c.regrouped.is_none();
    for (c, v) in spread.loop_carried.iter().zip(handed.iter()).filter(|(c, _)| in_order(c)) {
        n.values.insert(c.phi.address(), *v);
    }
    for i in ordered(spread) {
        match products.get(&i.address()) {
            Some(product) => {
                let sum = resolve(k, n, i.operand(2))?;
                n.values.insert(i.address(), k.ir.binary(LLVMOpcode::LLVMFAdd, *product, sum));
            }
            None => emit_instruction(k, n, s, i)?,
        }
    }
    for (c, v) in spread.loop_carried.iter().zip(handed.iter_mut()).filter(|(c, _)| in_order(c)) {
        *v = resolve(k, n, host_value(c.next))?;
    }
    Ok(())
}

/// The parts of all threads, combined.
fn combined<S>(k: &KernelBuilder<'_, S>, op: UpdateOp, part: Value, lane: Value) -> Result<Value> {
    let ir = k.ir;
    let mut all = part;
    let mut away = k.launch.team / 2;
    while away > 0 {
        let other = shuffle::of_team(k, all, ir.binary(LLVMOpcode::LLVMXor, lane, ir.int32(away)))?;
        let less = |p| ir.select(ir.icmp(p, all, other), all, other);
        all = match op {
            UpdateOp::Add => ir.binary(LLVMOpcode::LLVMAdd, all, other),
            UpdateOp::And => ir.binary(LLVMOpcode::LLVMAnd, all, other),
            UpdateOp::Or => ir.binary(LLVMOpcode::LLVMOr, all, other),
            UpdateOp::Xor => ir.binary(LLVMOpcode::LLVMXor, all, other),
            UpdateOp::FAdd => ir.binary(LLVMOpcode::LLVMFAdd, all, other),
            UpdateOp::SMin => less(LLVMIntSLT),
            UpdateOp::SMax => less(LLVMIntSGT),
            UpdateOp::UMin => less(LLVMIntULT),
            UpdateOp::UMax => less(LLVMIntUGT),
        };
        away /= 2;
    }
    Ok(all)
}
