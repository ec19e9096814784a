//! Executions that are too small for any device: the original loop runs at once.
//!
//! Problem: checks, a description of the arrays and calls of the run-time library take some 150 ns, which is
//! twenty times what the inner loops of many functions take. Approach: the library writes down, for each
//! SCoP, up to how much work the original loop was seen to be done before a device could begin; that comes
//! first.
//!
//! ```text
//! check:   known = load cache                                 0, as long as the library knows nothing → ask
//! limit:   work <= *known ?                                                                        no → ask
//! held:    pollyrs_rt_holds(hold) == 0 ?                      in a function with a hold            no → ask
//!          → host, which reports nothing
//! ask:     the checks
//! ```
//!
//! # Invariant
//! The original loop may always run, so nothing here has to be right for it; but where arrays may be on the
//! device they come back first.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

/// Emits the comparison where `ir` stands, and goes on behind it in a new block. The result is the block that
/// leads to `host`. `cache` is the SCoP's, `work` a double, `hold` the function's slot.
pub(crate) fn emit(
    ir: &Ir,
    function: Value,
    (cache, work): (Value, Value),
    hold: Option<Value>,
    host: Block,
) -> Block {
    let shared = |pointer| {
        let word = ir.load(ir.i64_type(), pointer);
        word.set_ordering(LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
        word.set_alignment(8);
        word
    };
    let (limit, ask) = (ir.append_block(function, "pollyrs.limit"), ir.append_block(function, "pollyrs.ask"));
    let known = shared(cache);
    ir.cond_br(ir.icmp(LLVMIntPredicate::LLVMIntNE, known, ir.int(0)), limit, ask);
    ir.at_end(limit);
    let most = shared(ir.cast(LLVMOpcode::LLVMIntToPtr, known, ir.ptr_type()));
    let most = ir.cast(LLVMOpcode::LLVMBitCast, most, ir.double_type());
    let small = ir.fcmp(LLVMRealPredicate::LLVMRealOLE, work, most);
    if let Some(hold) = hold {
        let held = ir.append_block(function, "pollyrs.held");
        ir.cond_br(small, held, ask);
        ir.at_end(held);
        let module = function.module();
        let holds = ir.declare(module, "pollyrs_rt_holds", ir.i32_type(), &[ir.ptr_type()]);
        let holds = ir.call(ir.i32_type(), holds, &[hold]);
        ir.cond_br(ir.icmp(LLVMIntPredicate::LLVMIntEQ, holds, ir.int32(0)), host, ask);
    } else {
        ir.cond_br(small, host, ask);
    }
    let alone = ir.block();
    ir.at_end(ask);
    alone
}
