//! isl AST nodes to control flow: the same walk serves the host plan and the kernels.
//!
//! A loop is emitted in rotated form, the condition before the first iteration and after each:
//!
//! ```text
//!       br (cond(init)), body, after
//! body: i = phi [init, before], [i + inc, latch]
//!       ...
//!       br (cond(i + inc)), body, after
//! ```

use crate::CodegenError;
use crate::ast_expr::ExprEmitter;
use crate::ir::Ir;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::{AstExprType, AstNode, AstNodeType, AstOp};

/// What to do at a user node: the emitter, the tuple's name, the values of its dimensions.
pub type UserFn<'f, 'e> =
    dyn FnMut(&mut ExprEmitter<'e>, &str, &[LLVMValueRef]) -> Result<(), CodegenError> + 'f;

/// Emits `node` at the builder's position, which is afterwards behind it.
pub fn emit_ast<'e>(
    ir: &Ir,
    function: LLVMValueRef,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
) -> Result<(), CodegenError> {
    match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                emit_ast(ir, function, expr, &child, user)?;
            }
            Ok(())
        }
        AstNodeType::Mark => emit_ast(ir, function, expr, &node.mark_node()?, user),
        AstNodeType::If => emit_if(ir, function, expr, node, user),
        AstNodeType::For => emit_for(ir, function, expr, node, user),
        AstNodeType::User => {
            let call = node.user_expr()?;
            if call.expr_type()? != AstExprType::Op || call.op()? != AstOp::Call {
                return Err(CodegenError::Internal("a user node is not a call".into()));
            }
            let name = call.arg(0)?.id()?.name();
            let mut args = Vec::new();
            for i in 1..call.n_arg()? {
                args.push(expr.emit_int(&call.arg(i as i32)?)?);
            }
            user(expr, &name, &args)
        }
    }
}

fn emit_if<'e>(
    ir: &Ir,
    function: LLVMValueRef,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
) -> Result<(), CodegenError> {
    let cond = expr.emit_bool(&node.if_cond()?)?;
    let then = ir.append_block(function, "then");
    let after = ir.append_block(function, "endif");
    let has_else = node.if_has_else()?;
    let other = if has_else { ir.append_block(function, "else") } else { after };
    ir.cond_br(cond, then, other);
    ir.at_end(then);
    emit_ast(ir, function, expr, &node.if_then()?, user)?;
    ir.br(after);
    if has_else {
        ir.at_end(other);
        emit_ast(ir, function, expr, &node.if_else()?, user)?;
        ir.br(after);
    }
    ir.at_end(after);
    Ok(())
}

fn emit_for<'e>(
    ir: &Ir,
    function: LLVMValueRef,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
) -> Result<(), CodegenError> {
    let name = node.for_iterator()?.id()?.name();
    let init = expr.emit_int(&node.for_init()?)?;
    let outer = expr.names.insert(name.clone(), init);
    if node.for_is_degenerate()? {
        emit_ast(ir, function, expr, &node.for_body()?, user)?;
    } else {
        let body = ir.append_block(function, "loop");
        let after = ir.append_block(function, "endloop");
        let enter = expr.emit_bool(&node.for_cond()?)?;
        let before = ir.block();
        ir.cond_br(enter, body, after);
        ir.at_end(body);
        let i = ir.phi(ir.i64_type(), &[(init, before)]);
        expr.names.insert(name.clone(), i);
        emit_ast(ir, function, expr, &node.for_body()?, user)?;
        let step = expr.emit_int(&node.for_inc()?)?;
        let next = ir.add(i, step);
        expr.names.insert(name.clone(), next);
        let again = expr.emit_bool(&node.for_cond()?)?;
        ir.add_incoming(i, next, ir.block());
        ir.cond_br(again, body, after);
        ir.at_end(after);
    }
    match outer {
        Some(v) => expr.names.insert(name, v),
        None => expr.names.remove(&name),
    };
    Ok(())
}
