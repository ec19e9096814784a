//! Which functions are looked at, in which order: what one leaves on the device another may use, if their
//! caller knows both.

use crate::ir::{functions, is_call, size};
use pollyrs_llvm_shim::ir::{Block, Module, Value};
use pollyrs_llvm_shim::{self as shim, Session};
use std::collections::{BTreeMap, BTreeSet};

/// Functions without loops that have more instructions are not looked at.
const MAX_CARRIER: u64 = 5_000;

/// Functions with loops, and those that call several of such or of their like: what one leaves on the device
/// the next may use.
pub fn carriers(session: &Session, module: Module, hold: bool) -> BTreeSet<Value> {
    let all = functions(module);
    let mut found: BTreeSet<Value> = all.iter().copied().filter(|f| session.has_loops(*f)).collect();
    for f in all {
        if !hold || found.contains(&f) || size(f) > MAX_CARRIER {
            continue;
        }
        let calls = callees(f).filter(|callee| *callee != f && found.contains(callee)).count();
        if calls > 1 {
            found.insert(f);
        }
    }
    found
}

/// Functions and their working copies, each behind those that it calls: callers have to know what their
/// callees can do with a hold.
pub fn callees_first(copies: &[(Value, Value)]) -> Vec<(Value, Value)> {
    let number: BTreeMap<Value, usize> = copies.iter().enumerate().map(|(n, (f, _))| (*f, n)).collect();
    // In program order: addresses decide nothing.
    let numbers = |n: usize| -> Vec<usize> {
        // What was inlined into the copy is looked at by itself first: it is smaller, and budgets last for
        // it.
        let (f, clone) = copies[n];
        callees(clone).chain(callees(f)).filter_map(|f| number.get(&f).copied()).collect()
    };
    let mut seen = vec![false; copies.len()];
    let mut order = Vec::new();
    for root in 0..copies.len() {
        let mut path: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(n) = next.filter(|n| !std::mem::replace(&mut seen[*n], true)) {
                path.push((n, numbers(n).into_iter()));
            }
            let Some((n, rest)) = path.last_mut() else { break };
            next = rest.next();
            if next.is_none() {
                order.push(copies[*n]);
                path.pop();
            }
        }
    }
    order
}

/// The functions that `f` calls directly, in program order.
fn callees(f: Value) -> impl Iterator<Item = Value> {
    calls(f).filter_map(shim::callee)
}

/// The calls and invokes in `f`, in program order.
pub fn calls(f: Value) -> impl Iterator<Item = Value> {
    f.blocks().into_iter().flat_map(Block::instructions).filter(|i| is_call(*i))
}

/// Whether some other function calls `f`, and may lend it its hold. `clone`: its working copy.
pub fn is_called(f: Value, clone: Value) -> bool {
    shim::can_extend(f) && has_callers(f, clone)
}

/// Whether others than the function and its working copy call it.
pub fn has_callers(f: Value, clone: Value) -> bool {
    f.users().into_iter().any(|user| {
        is_call(user) && shim::callee(user) == Some(f) && ![f, clone].contains(&user.block().function())
    })
}
