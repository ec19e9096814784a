//! Sums and products that the program lets be regrouped by a pragma of their loop.
//!
//! **Problem.** Without `-fassociative-math` a floating-point sum keeps its order. But
//! `#pragma clang loop vectorize(enable)` and `#pragma omp simd reduction(+:s)`, which are
//! `llvm.loop.vectorize.enable` in the IR, let LLVM's vectoriser regroup the reductions of their loop, which
//! is what its own remark advises (`LoopVectorizeHints::allowReordering`).
//!
//! **Approach.** In the working copy, the updates of such a reduction get the flag `reassoc`: where clang
//! would regroup, so does the device.
//!
//! **Invariants.** What gets the flag is a reduction as the vectoriser has them: a PHI of the loop's header
//! whose value comes back through sums alone, or products alone, possibly past branches and selections, and
//! nothing else in the loop sees a partial result. The pragma of one loop permits nothing in others.
//!
//! Example: `%s = phi double [0.0, %entry], [%t, %latch]`, `%t = fadd double %s, %x`: `%t` gets the flag.

use inkwell::llvm_sys::LLVMFastMathAllowReassoc;
use inkwell::llvm_sys::LLVMOpcode::{self, LLVMFAdd, LLVMFMul, LLVMFSub};
use inkwell::llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{LoopData, Session, ShimError};
use std::collections::BTreeSet;

const PROPERTY: &str = "llvm.loop.vectorize.enable";

/// Marks the reductions of `f` that may be regrouped. Returns whether there is one.
pub fn mark(session: &Session, f: Value) -> Result<bool, ShimError> {
    if !f.blocks().into_iter().any(permits) {
        return Ok(false);
    }
    let updates: Vec<Value> = {
        let analyses = session.analyses(f)?;
        let loops = analyses.loops().iter().filter(|l| l.latch.is_some_and(permits));
        loops.flat_map(reductions).collect()
    };
    for u in &updates {
        u.set_fast_math_flags(u.fast_math_flags() | LLVMFastMathAllowReassoc);
    }
    Ok(!updates.is_empty())
}

/// Whether the loop whose latch a block is has the property.
fn permits(latch: Block) -> bool {
    let Some(end) = latch.terminator() else { return false };
    let Some(properties) = end.metadata(end.context().kind("llvm.loop")) else { return false };
    let enables = |p: Value| match p.node_operands()[..] {
        [Some(name), Some(value)] => {
            name.node_text().as_deref() == Some(PROPERTY)
                && value.is_constant()
                && value.constant_unsigned() == Some(1)
        }
        _ => false,
    };
    properties.node_operands().into_iter().flatten().filter(|p| *p != properties).any(enables)
}

/// The updates of the reductions of a loop.
fn reductions(l: &LoopData) -> Vec<Value> {
    let inside: BTreeSet<Block> = l.blocks.iter().copied().collect();
    let phis = l.header.instructions().into_iter().take_while(|i| i.is_phi());
    phis.filter_map(|phi| chain(phi, l, &inside)).flatten().collect()
}

/// The sums, or the products, by which the value of a PHI comes back to it; `None` if it comes otherwise.
fn chain(phi: Value, l: &LoopData, inside: &BTreeSet<Block>) -> Option<Vec<Value>> {
    if ![LLVMFloatTypeKind, LLVMDoubleTypeKind].contains(&phi.ty().kind()) {
        return None;
    }
    let is_inside = |v: Value| v.is_instruction() && inside.contains(&v.block());
    // What is computed from the PHI, in the loop: all of it belongs to the reduction.
    let (mut members, mut next) = (BTreeSet::from([phi]), vec![phi]);
    let mut updates = Vec::new();
    while let Some(v) = next.pop() {
        for user in v.users().into_iter().filter(|u| is_inside(*u)) {
            if members.insert(user) {
                next.push(user);
            }
        }
    }
    let comes_back = |v: Value| v != phi && members.contains(&v);
    let last = phi.incoming().into_iter().find(|(_, from)| Some(*from) == l.latch).map(|(v, _)| v);
    let last = last.filter(|v| comes_back(*v))?;
    for m in members.iter().copied().filter(|m| *m != phi) {
        let own: Vec<u32> = (0..m.operand_count()).filter(|n| members.contains(&m.operand(*n))).collect();
        // A value of the iteration before, or one that is not the whole.
        let is_old = m.is_phi() && m.block() == l.header;
        let is_seen = m != last && !m.users().into_iter().all(is_inside);
        if is_old || is_seen {
            return None;
        }
        match step(m, &own)? {
            Step::Passes => {}
            Step::Updates => updates.push(m),
        }
    }
    let kind = |v: &Value| if v.is_call() { LLVMFAdd } else { sum_of(v.opcode()) };
    let one_kind = updates.windows(2).all(|pair| kind(&pair[0]) == kind(&pair[1]));
    one_kind.then_some(updates)
}

/// What an instruction does with a partial result.
enum Step {
    Passes,
    Updates,
}

/// The step of an instruction whose operands `own` are partial results; `None`: it looks at one otherwise.
fn step(v: Value, own: &[u32]) -> Option<Step> {
    if v.is_phi() {
        return Some(Step::Passes);
    }
    if v.is_call() {
        // The sum of llvm.fmuladd.
        let is_sum = v.callee().is_function() && v.callee().name().starts_with("llvm.fmuladd.");
        return (is_sum && *own == [2]).then_some(Step::Updates);
    }
    match v.opcode() {
        LLVMOpcode::LLVMSelect if !own.contains(&0) => Some(Step::Passes),
        LLVMFAdd | LLVMFMul if own.len() == 1 => Some(Step::Updates),
        LLVMFSub if *own == [0] => Some(Step::Updates),
        _ => None,
    }
}

/// Differences are sums.
fn sum_of(op: LLVMOpcode) -> LLVMOpcode {
    if op == LLVMFSub { LLVMFAdd } else { op }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_function;

    /// A loop over `x`, with or without the property: `body` computes `%t` from the partial result `%s`.
    fn program(body: &str, property: &str) -> String {
        format!(
            "declare double @llvm.fmuladd.f64(double, double, double)\n\
             define double @f(ptr %a, i64 %n, i1 %c) {{\n\
             entry:\n  br label %l\n\
             l:\n  %i = phi i64 [ 0, %entry ], [ %next, %l ]\n  %s = phi double [ 1.0, %entry ], [ %t, %l ]\n\
             \x20 %p = getelementptr double, ptr %a, i64 %i\n  %x = load double, ptr %p\n  {body}\n\
             \x20 %next = add i64 %i, 1\n  %done = icmp eq i64 %next, %n\n\
             \x20 br i1 %done, label %end, label %l, !llvm.loop !0\n\
             end:\n  ret double %t\n}}\n\
             !0 = distinct !{{!0, !1}}\n!1 = !{{{property}}}\n"
        )
    }

    #[test]
    fn reductions_of_loops_with_the_pragma() {
        let on = "!\"llvm.loop.vectorize.enable\", i1 true";
        let table = [
            ("%t = fadd double %s, %x", on, true),
            ("%t = fsub double %s, %x", on, true),
            ("%t = fmul double %x, %s", on, true),
            ("%t = call double @llvm.fmuladd.f64(double %x, double %x, double %s)", on, true),
            ("%u = fadd double %s, %x\n  %t = select i1 %c, double %u, double %s", on, true),
            ("%u = fadd double %s, %x\n  %t = fsub double %u, 2.0", on, true),
            // Not without the pragma, nor where it says no.
            ("%t = fadd double %s, %x", "!\"llvm.loop.mustprogress\"", false),
            ("%t = fadd double %s, %x", "!\"llvm.loop.vectorize.enable\", i1 false", false),
            // No reductions: of two kinds, turned around, looked at, doubled, a factor, not the last value.
            ("%u = fadd double %s, %x\n  %t = fmul double %u, %x", on, false),
            ("%t = fsub double %x, %s", on, false),
            ("%t = fadd double %s, %x\n  store double %t, ptr %p", on, false),
            ("%t = fadd double %s, %s", on, false),
            ("%t = call double @llvm.fmuladd.f64(double %s, double %x, double %x)", on, false),
            ("%d = fcmp ogt double %s, %x\n  %t = select i1 %d, double %s, double %x", on, false),
            ("%t = fadd double %x, %x\n  %u = fadd double %s, %x", on, false),
            ("%u = fadd double %s, %x\n  %t = fadd double %u, %u", on, false),
        ];
        for (body, property, want) in table {
            with_function(&program(body, property), |session, f| {
                assert_eq!(mark(session, f).unwrap(), want, "{body} {property}");
                let flagged = f.instructions().into_iter().any(|i| {
                    i.may_have_fast_math_flags() && i.fast_math_flags() & LLVMFastMathAllowReassoc != 0
                });
                assert_eq!(flagged, want, "{body} {property}");
            });
        }
    }
}
