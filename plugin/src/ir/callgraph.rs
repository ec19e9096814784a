//! Which functions are looked at, in which order: what one leaves on the device another may use, if their
//! caller knows both.

use crate::ir::{functions, instructions, size};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_llvm_shim::{self as shim, Session};
use std::collections::{BTreeMap, BTreeSet};

/// Functions without loops that have more instructions are not looked at.
const MAX_CARRIER: u64 = 5_000;

/// Functions with loops, and those that call several of such or of their like: what one leaves on the device
/// the next may use.
pub fn carriers(session: &Session, module: LLVMModuleRef, hold: bool) -> BTreeSet<usize> {
    let all = functions(module);
    let mut found: BTreeSet<usize> =
        all.iter().filter(|f| session.has_loops(**f)).map(|f| *f as usize).collect();
    for f in all {
        if !hold || found.contains(&(f as usize)) || size(f) > MAX_CARRIER {
            continue;
        }
        let calls = callees(f).filter(|callee| *callee != f && found.contains(&(*callee as usize))).count();
        if calls > 1 {
            found.insert(f as usize);
        }
    }
    found
}

/// Functions and their working copies, each behind those that it calls: callers have to know what their
/// callees can do with a hold.
pub fn callees_first(copies: &[(LLVMValueRef, LLVMValueRef)]) -> Vec<(LLVMValueRef, LLVMValueRef)> {
    let number: BTreeMap<usize, usize> =
        copies.iter().enumerate().map(|(n, (f, _))| (*f as usize, n)).collect();
    // In program order: addresses decide nothing.
    let numbers = |n: usize| -> Vec<usize> {
        // What was inlined into the copy is looked at by itself first: it is smaller, and budgets last for
        // it.
        let (f, clone) = copies[n];
        callees(clone).chain(callees(f)).filter_map(|f| number.get(&(f as usize)).copied()).collect()
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
fn callees(f: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    calls(f).filter_map(shim::callee)
}

/// The calls and invokes in `f`, in program order.
pub fn calls(f: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: a live function and its instructions.
    let blocks = unsafe { chain(LLVMGetFirstBasicBlock(f), |b| LLVMGetNextBasicBlock(b)) };
    let all = blocks.flat_map(instructions);
    // SAFETY: as above.
    all.filter(|i| unsafe { !LLVMIsACallInst(*i).is_null() || !LLVMIsAInvokeInst(*i).is_null() })
}

/// A list of LLVM's: `first` and what `next` says, up to NULL.
fn chain<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> impl Iterator<Item = *mut T> {
    let some = |p: *mut T| (!p.is_null()).then_some(p);
    std::iter::successors(some(first), move |p| some(next(*p)))
}

/// Whether some other function calls `f`, and may lend it its hold. `clone`: its working copy.
pub fn is_called(f: LLVMValueRef, clone: LLVMValueRef) -> bool {
    shim::can_extend(f) && has_callers(f, clone)
}

/// Whether others than the function and its working copy call it.
pub fn has_callers(f: LLVMValueRef, clone: LLVMValueRef) -> bool {
    // SAFETY: a live function and its uses.
    unsafe {
        chain(LLVMGetFirstUse(f), |u| LLVMGetNextUse(u)).map(|u| LLVMGetUser(u)).any(|user| {
            (!LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null())
                && shim::callee(user) == Some(f)
                && ![f, clone].contains(&LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)))
        })
    }
}
