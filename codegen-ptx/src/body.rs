//! isl's AST as control flow.
//!
//! A loop is emitted rotated, behind a guard, and counts so that scalar evolution knows its trip count exactly without any
//! `nsw` claim, since no isl bound proves that `last + step` fits 64 bits:
//! ```text
//!       guard = init <= last;  br guard, body, exit
//! body: i = phi [init], [i + 1]; ...; br (i == last), exit, body                        step 1
//! body: k = phi [0], [k + 1]; i = init + k*step; ...; br (k == (last - init) / step), exit, body    any other step
//! ```

use crate::error::{Result, internal};
use crate::kernel::{BARRIER, KernelBuilder};
use crate::statement::emit_statement;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use inkwell::llvm_sys::core::LLVMVoidTypeInContext;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use pollyrs_isl::{AstExpr, AstExprType, AstNode, AstNodeType, AstOp};

/// Emits a node at the builder's position and leaves the builder behind it.
pub(crate) fn emit_node(k: &mut KernelBuilder, node: &AstNode) -> Result<()> {
    match node.node_type()? {
        AstNodeType::For => emit_for(k, node),
        AstNodeType::If => emit_if(k, node),
        AstNodeType::Block => node.block_children()?.to_vec()?.iter().try_for_each(|n| emit_node(k, n)),
        AstNodeType::Mark => emit_node(k, &node.mark_node()?),
        AstNodeType::User => emit_user(k, &node.user_expr()?),
    }
}

fn emit_for(k: &mut KernelBuilder, node: &AstNode) -> Result<()> {
    let iterator = node.for_iterator()?.id()?.name();
    let init = k.emit.emit_int(&node.for_init()?)?;
    if node.for_is_degenerate()? {
        return with_iterator(k, iterator, init, node);
    }
    let ir = k.ir;
    let step = match node.for_inc()? {
        e if e.expr_type()? == AstExprType::Int => e.int()?.to_i64().unwrap_or(0),
        _ => 0,
    };
    if step < 1 {
        return internal("a loop whose step is not a positive constant");
    }
    let last = last_value(k, &iterator, &node.for_cond()?)?;
    let backedges = if step == 1 { last } else { ir.udiv(ir.sub(last, init), ir.int(step)) };
    let (before, body, exit) = (ir.block(), ir.new_block(), ir.new_block());
    ir.cond_br(ir.icmp(LLVMIntSLE, init, last), body, exit);

    ir.at_end(body);
    let counter = ir.phi(ir.i64_type(), &[]);
    let (start, value) =
        if step == 1 { (init, counter) } else { (ir.int(0), ir.add(init, ir.mul(counter, ir.int(step)))) };
    with_iterator(k, iterator, value, node)?;
    let latch = ir.block();
    let next = ir.add(counter, ir.int(1));
    ir.add_incoming(counter, start, before);
    ir.add_incoming(counter, next, latch);
    ir.cond_br(ir.icmp(LLVMIntEQ, counter, backedges), exit, body);
    ir.at_end(exit);
    Ok(())
}

fn with_iterator(k: &mut KernelBuilder, name: String, value: LLVMValueRef, node: &AstNode) -> Result<()> {
    let outer = k.emit.names.insert(name.clone(), value);
    emit_node(k, &node.for_body()?)?;
    match outer {
        Some(v) => k.emit.names.insert(name, v),
        None => k.emit.names.remove(&name),
    };
    Ok(())
}

/// The largest value that `cond` allows. isl's option `atomic_upper_bound` makes every condition `i <= e` or `i < e`.
fn last_value(k: &KernelBuilder, iterator: &str, cond: &AstExpr) -> Result<LLVMValueRef> {
    if cond.expr_type()? == AstExprType::Op && matches!(cond.op()?, AstOp::Le | AstOp::Lt) {
        let left = cond.arg(0)?;
        if left.expr_type()? == AstExprType::Id && left.id()?.name() == iterator {
            let bound = k.emit.emit_int(&cond.arg(1)?)?;
            let strict = cond.op()? == AstOp::Lt;
            return Ok(if strict { k.ir.sub(bound, k.ir.int(1)) } else { bound });
        }
    }
    internal(format!("the loop condition {cond} is not a bound of {iterator}"))
}

fn emit_if(k: &mut KernelBuilder, node: &AstNode) -> Result<()> {
    let ir = k.ir;
    let cond = k.emit.emit_bool(&node.if_cond()?)?;
    let has_else = node.if_has_else()?;
    let (then, end) = (ir.new_block(), ir.new_block());
    let otherwise = if has_else { ir.new_block() } else { end };
    ir.cond_br(cond, then, otherwise);
    ir.at_end(then);
    emit_node(k, &node.if_then()?)?;
    ir.br(end);
    if has_else {
        ir.at_end(otherwise);
        emit_node(k, &node.if_else()?)?;
        ir.br(end);
    }
    ir.at_end(end);
    Ok(())
}

fn emit_user(k: &mut KernelBuilder, call: &AstExpr) -> Result<()> {
    if call.expr_type()? != AstExprType::Op || call.op()? != AstOp::Call {
        return internal(format!("{call} is not a statement instance"));
    }
    let name = call.arg(0)?.id()?.name();
    if name.starts_with("_barrier") {
        k.has_barrier = true;
        // SAFETY: live context.
        let void = unsafe { LLVMVoidTypeInContext(k.ir.ctx) };
        k.abstract_call(BARRIER, void)?;
        return Ok(());
    }
    let iterators =
        (1..call.n_arg()? as i32).map(|i| k.emit.emit_int(&call.arg(i)?)).collect::<Result<Vec<_>>>()?;
    emit_statement(k, &name, &iterators)
}
