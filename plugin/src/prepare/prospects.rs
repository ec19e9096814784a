//! Whether a function may have a loop for the device: asked before anything expensive is done.
//!
//! Problem: most functions of most programs have loops that no device will ever run. They walk along lists,
//! call functions of other files, or run eight times. To bring such a function into canonical form and to
//! search it costs a quarter of what the rest of the compiler does with it.
//!
//! A loop is *blocked* if one of its blocks has a call that stays a call, or if it follows links from record
//! to record: no SCoP has such a block, so none has a loop around it. A function has no prospects if each of
//! its innermost loops is blocked, or else bounded so that all such loops together have fewer instructions to
//! execute than a SCoP needs statement instances ([`crate::search::worth`]).
//!
//! **Invariants.** The answer is the same whether or not anybody reads remarks; where somebody does, the
//! search takes place all the same, for the reasons that it gives. What it finds in spite of the answer is
//! refused; where all loops are blocked, that is an internal error.
//!
//! **Example.** `for (n = list; n; n = n->next) for (i = 0; i < 8; ++i) sum +=
//! n->marks[i];`: the outer loop is blocked, the inner one runs 8 times.

use crate::base::error::PluginError;
use crate::ir::is_call;
use pollyrs_llvm_shim::ir::Value;
use pollyrs_llvm_shim::{PlainLoop, Session, callee};
use pollyrs_scop::{RejectReason, Rejection, Scop};

/// Whether `clone`, whose local variables are values, may have a SCoP of at least `least` statement
/// instances: `None` if so, else the most instructions that loops outside of blocked ones run.
///
/// # Errors
/// Analyses of `clone` live.
pub fn without(session: &Session, clone: Value, least: u64) -> Result<Option<u64>, PluginError> {
    let mut work = 0u64;
    let loops = session.loops(clone)?;
    let blocked = blocked(session, &loops);
    // Instructions of a loop and of those inside of it, each time that it is entered.
    let mut inside: Vec<u64> = loops.iter().map(own_instructions).collect();
    for at in (0..loops.len()).rev().filter(|at| !blocked[*at]) {
        if work >= least {
            break;
        }
        let all = inside[at].saturating_mul(session.most_iterations(&loops[at]).unwrap_or(u64::MAX));
        match loops[at].parent {
            Some(parent) if !blocked[parent] => inside[parent] = inside[parent].saturating_add(all),
            _ => work = work.saturating_add(all),
        }
    }
    Ok((work < least).then_some(work))
}

/// For each loop, whether it is part of no SCoP.
fn blocked(session: &Session, loops: &[PlainLoop]) -> Vec<bool> {
    let mut blocked = vec![false; loops.len()];
    for (at, l) in loops.iter().enumerate().rev() {
        let calls = || l.blocks.iter().flat_map(|b| b.instructions()).filter(|i| is_call(*i));
        if blocked[at] || session.follows_links(l) || calls().any(|c| session.stays_a_call(c)) {
            blocked[at] = true;
            if let Some(parent) = l.parent {
                blocked[parent] = true;
            }
        }
    }
    blocked
}

/// Copies and fillings in a loop become loops; those outside of loops are worth it beside other loops only.
fn own_instructions(l: &PlainLoop) -> u64 {
    let of = |i: Value| match callee_of(i) {
        Some(f) if is_block_of_memory(f) => length(i),
        _ => 1,
    };
    l.blocks.iter().flat_map(|b| b.instructions()).fold(0, |sum: u64, i| sum.saturating_add(of(i)))
}

fn callee_of(i: Value) -> Option<Value> {
    if is_call(i) { callee(i) } else { None }
}

fn is_block_of_memory(f: Value) -> bool {
    let name = f.name();
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|stem| name.starts_with(stem))
}

/// Bytes that an intrinsic copies or fills, at most.
fn length(call: Value) -> u64 {
    call.operand(2).constant_unsigned().unwrap_or(u64::MAX)
}

/// The reason for a SCoP in a function that was said to have no prospects, and would be missed if nobody
/// asked for remarks: `most` instructions run in it, as far as ranges of values tell, or there was no loop
/// for it.
pub fn refusal(scop: &Scop, most: u64) -> Rejection {
    let reason = match most {
        0 => RejectReason::Internal {
            stage: "the look at prospects".into(),
            message: "a loop was found in a function without any".into(),
        },
        instances => RejectReason::LittleWork { instances },
    };
    let (function, location) = (scop.function.clone(), scop.location.clone());
    Rejection { reason, function, loop_location: location.clone(), location, depth: 0 }
}
