//! Loops of subregions whose iterations may be computed side by side ([`pollyrs_scop::Spread`]).
//!
//! **Problem.** `for (k = ptr[i]; k < ptr[i + 1]; k++) s += val[k] * x[col[k]];` is a loop of a statement,
//! which one thread runs: neighbouring threads load what is a row apart. The loads and the products of all
//! iterations are independent of each other, though, and the order of the sum is kept if somebody adds them
//! up in it.
//!
//! **Approach.** A loop of one block that stores nothing is left when a value that counts by one gets to an
//! end that is known ahead. Its other PHIs are handed on from iteration to iteration: what is computed from
//! these needs them in the program's order, all else does not. No instruction of the former kind may load or
//! fail, as it runs where other threads loaded; and of values that only an iteration has, none may be used
//! behind the loop.
//!
//! **Invariant.** The iterations that are computed are those of the program: their number is `end - start` in
//! the type that counts, which is not zero, because the loop is left behind its first iteration at the
//! earliest.

use crate::base::ir::{self, Block, Op, Value, flags, handle, identity};
use inkwell::llvm_sys::LLVMFastMathAllowReassoc;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use pollyrs_scop::{LoopCarried, Spread, UpdateOp, ValueHandle};
use std::collections::BTreeSet;

/// Larger blocks are left alone: what is handed on runs in each lane.
const MAX_INSTRUCTIONS: usize = 96;
/// Values that are handed on.
const MAX_LOOP_CARRIED: usize = 8;

/// How the iterations of a loop are spread, if they can be.
pub(crate) fn spread(header: Block, blocks: &[Block]) -> Option<Spread> {
    let all = ir::instructions(header);
    if blocks != [header] || all.len() > MAX_INSTRUCTIONS {
        return None;
    }
    let inside = |v: Value| ir::parent(v) == Some(header);
    let (phis, rest): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|v| ir::opcode(*v) == Some(Op::LLVMPHI));
    let mut counting = Vec::new();
    let mut carried = Vec::new();
    for phi in &phis {
        let (next, _) = ir::incoming(*phi).into_iter().find(|(_, from)| *from == header)?;
        match step(*phi, next) {
            Some(step) => counting.push((handle(*phi), handle(next), step)),
            None if ir::computable(*phi) => carried.push((*phi, next)),
            None => return None,
        }
    }
    let end = end(header, &mut counting, inside)?;
    if carried.len() > MAX_LOOP_CARRIED {
        return None;
    }
    let mut after: BTreeSet<Value> = carried.iter().map(|(phi, _)| *phi).collect();
    let mut ordered = Vec::new();
    let mut loads = 0;
    for v in &rest {
        if ir::terminator(header) == Some(*v) {
            continue;
        }
        let depends = ir::operands(*v).iter().any(|o| after.contains(o));
        let fine = match ir::opcode(*v)? {
            Op::LLVMLoad => !depends && ir::is_simple_access(*v),
            Op::LLVMStore => false,
            Op::LLVMCall => ir::is_intrinsic(*v) && is_pure_call(*v),
            _ => !depends || is_pure(*v),
        };
        if !fine {
            return None;
        }
        loads += usize::from(ir::opcode(*v) == Some(Op::LLVMLoad));
        if depends {
            after.insert(*v);
            ordered.push(handle(*v));
        }
    }
    let leaves = |v: Value| ir::uses(v).into_iter().any(|(user, _)| !inside(user));
    let told = |v: &Value| {
        carried.iter().any(|(_, next)| next == v)
            || counting.iter().any(|(phi, next, _)| [*phi, *next].contains(&handle(*v)))
    };
    if loads == 0 || phis.iter().chain(&rest).any(|v| leaves(*v) && !told(v)) {
        return None;
    }
    let carried = carried
        .iter()
        .map(|(phi, next)| LoopCarried {
            phi: handle(*phi),
            next: handle(*next),
            regrouped: regrouped(*phi, *next, &after, inside),
        })
        .collect();
    Some(Spread { counting, end, loop_carried: carried, after: ordered })
}

/// By how much `next` is larger than a PHI, a constant.
fn step(phi: Value, next: Value) -> Option<i64> {
    if ir::opcode(next) != Some(Op::LLVMAdd) || ir::int_bits(phi).is_none_or(|bits| bits > 64) {
        return None;
    }
    match [ir::operand(next, 0), ir::operand(next, 1)] {
        [a, b] if a == phi => ir::constant_int(b),
        [a, b] if b == phi => ir::constant_int(a),
        _ => None,
    }
}

/// What the value that the loop's branch looks at is behind the last iteration; it becomes the first of those
/// that count.
fn end(
    header: Block,
    counting: &mut [(ValueHandle, ValueHandle, i64)],
    inside: impl Fn(Value) -> bool,
) -> Option<ValueHandle> {
    let condition = ir::branch_condition(header)?;
    if ir::opcode(condition) != Some(Op::LLVMICmp) || !inside(condition) {
        return None;
    }
    let successors = ir::successors(header);
    let [yes, no] = successors[..] else { return None };
    match ir::icmp_predicate(condition) {
        LLVMIntNE if yes == header && no != header => {}
        LLVMIntEQ if no == header && yes != header => {}
        _ => return None,
    }
    let [a, b] = [ir::operand(condition, 0), ir::operand(condition, 1)];
    let at =
        counting.iter().position(|(_, next, step)| *step == 1 && [handle(a), handle(b)].contains(next))?;
    let end = if counting[at].1 == handle(a) { b } else { a };
    counting.swap(0, at);
    (!inside(end)).then(|| handle(end))
}

/// Instructions that any thread may run on any values.
fn is_pure(v: Value) -> bool {
    use Op::*;
    matches!(
        ir::opcode(v),
        Some(
            LLVMAdd
                | LLVMSub
                | LLVMMul
                | LLVMAnd
                | LLVMOr
                | LLVMXor
                | LLVMShl
                | LLVMLShr
                | LLVMAShr
                | LLVMFAdd
                | LLVMFSub
                | LLVMFMul
                | LLVMFDiv
                | LLVMFNeg
                | LLVMICmp
                | LLVMFCmp
                | LLVMSelect
                | LLVMTrunc
                | LLVMZExt
                | LLVMSExt
                | LLVMFPTrunc
                | LLVMFPExt
                | LLVMSIToFP
                | LLVMUIToFP
        )
    )
}

fn is_pure_call(v: Value) -> bool {
    let name = ir::callee(v).map(ir::name).unwrap_or_default();
    matches!(
        name.split('.').nth(1),
        Some(
            "fmuladd"
                | "fma"
                | "minnum"
                | "maxnum"
                | "smin"
                | "smax"
                | "umin"
                | "umax"
                | "fabs"
                | "abs"
                | "sqrt"
        )
    )
}

/// The operation that combines two results of an update whose order does not matter, and the constant to
/// begin with.
fn regrouped(
    phi: Value,
    next: Value,
    after: &BTreeSet<Value>,
    inside: impl Fn(Value) -> bool,
) -> Option<(UpdateOp, ValueHandle)> {
    let alone = |v: Value| !after.contains(&v);
    let only = |v: Value, user: Value| ir::uses(v).into_iter().all(|(u, _)| u == user || !inside(u));
    if !inside(next) || !only(phi, next) || !only(next, phi) {
        return None;
    }
    let reassoc = flags(next) & LLVMFastMathAllowReassoc != 0;
    let arg = |i| ir::operand(next, i);
    let either = || (arg(0) == phi && alone(arg(1))) || (arg(1) == phi && alone(arg(0)));
    let op = match ir::opcode(next)? {
        Op::LLVMAdd if either() => UpdateOp::Add,
        Op::LLVMSub if arg(0) == phi && alone(arg(1)) => UpdateOp::Add,
        Op::LLVMAnd if either() => UpdateOp::And,
        Op::LLVMOr if either() => UpdateOp::Or,
        Op::LLVMXor if either() => UpdateOp::Xor,
        Op::LLVMFAdd if reassoc && either() => UpdateOp::FAdd,
        Op::LLVMFSub if reassoc && arg(0) == phi && alone(arg(1)) => UpdateOp::FAdd,
        Op::LLVMCall => {
            let name = ir::callee(next).map(ir::name)?;
            match name.split('.').nth(1) {
                Some("fmuladd" | "fma") if reassoc && arg(2) == phi && alone(arg(0)) && alone(arg(1)) => {
                    UpdateOp::FAdd
                }
                Some("smin") if either() => UpdateOp::SMin,
                Some("smax") if either() => UpdateOp::SMax,
                Some("umin") if either() => UpdateOp::UMin,
                Some("umax") if either() => UpdateOp::UMax,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((op, handle(identity(op, next))))
}
