//! The sine and the cosine of one float by one function.
//!
//! **Problem.** Rotations, waves and Fourier sums take both of one angle. Each function reduces the angle to
//! an octant first, which is most of its work, with a loop of its own for large angles, so that LLVM cannot
//! share what both do. (That loop is a call in the functions of doubles, which LLVM shares.)
//!
//! **Solution.** libdevice's `sincosf` has the reduction once, and the same polynomials behind it: its
//! results are those of `sinf` and `cosf`, bit for bit, for all floats.
//!
//! # Example
//! `a = __nv_sinf(x); ...; b = __nv_cosf(x)` becomes `__nv_sincosf(x, &s, &c); a = s; ...; b = c`.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ops::roots;
use std::collections::BTreeMap;

/// Sine, cosine, and both.
const FUNCTIONS: [&str; 3] = ["__nv_sinf", "__nv_cosf", "__nv_sincosf"];

/// The calls for one number in a block, in their order: of sines, of cosines.
type Calls = [Vec<Value>; 2];

/// Whether a module has both functions.
pub(crate) fn may_join(module: Module) -> bool {
    FUNCTIONS[..2].iter().all(|name| module.function(name).is_some())
}

/// Joins the calls of a module for one value that stand in one block; the function that it needs in addition,
/// if any.
pub(crate) fn join(module: Module) -> Option<&'static str> {
    let [sine, cosine, both] = FUNCTIONS;
    let found = pairs([module.function(sine)?, module.function(cosine)?]);
    let needed = (!found.is_empty()).then_some(both);
    found.into_iter().for_each(|calls| replace(module, both, calls));
    needed
}

/// The calls of both functions for one number, block by block.
fn pairs(functions: [Value; 2]) -> Vec<Calls> {
    let mut out = Vec::new();
    let callers: Vec<Value> = functions[0].calls().into_iter().map(|c| c.block().function()).collect();
    for (at, function) in callers.iter().enumerate() {
        if callers[..at].contains(function) {
            continue;
        }
        for block in function.blocks() {
            let (mut calls, mut order) = (BTreeMap::<Value, Calls>::new(), Vec::new());
            for i in block.instructions().into_iter().filter(|i| i.is_call()) {
                let Some(which) = functions.iter().position(|f| *f == i.callee()) else { continue };
                let of = i.operand(0);
                calls.entry(of).or_insert_with(|| {
                    order.push(of);
                    Calls::default()
                })[which]
                    .push(i);
            }
            let both = |of| calls.remove(&of).filter(|c| c.iter().all(|calls| !calls.is_empty()));
            out.extend(order.into_iter().filter_map(both));
        }
    }
    out
}

/// One call in front of the first one.
fn replace(module: Module, both: &str, calls: Calls) {
    let [sine, cosine] = [calls[0][0], calls[1][0]];
    let instructions = sine.block().instructions();
    let Some(first) = instructions.into_iter().find(|i| *i == sine || *i == cosine) else { return };
    let ir = Ir::new(module.context());
    let ty = first.ty();
    ir.at_start(first.block().function().entry());
    let cells = ["sine", "cosine"].map(|name| ir.alloca(ty, name));
    ir.before(first);
    let signature = ir.void_type().function(&[ty, ir.ptr_type(), ir.ptr_type()]);
    ir.call_function(module.declare(both, signature), &[first.operand(0), cells[0], cells[1]]);
    let values = cells.map(|cell| ir.load(ty, cell));
    for (calls, value) in calls.iter().zip(values) {
        for call in calls {
            roots::put(*call, value);
        }
    }
}
