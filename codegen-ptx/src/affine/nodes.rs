//! Nodes of isl's AST: user nodes and bounds of loops as code, and loops of which each iteration runs one
//! instance: a cell may stay in a register while they run.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use pollyrs_isl::{AstExpr, AstExprType, AstNode, AstNodeType, AstOp};

/// What to do at a user node: the emitter, the tuple's name, the values of its dimensions. It may give a
/// block in which the code behind the block of the AST that the node is in goes on: what follows in that one
/// is left where the builder is.
pub type UserFn<'f, 'e> = dyn FnMut(&mut ExprEmitter<'e>, &str, &[Value]) -> Result<Option<Block>> + 'f;

/// Names for [`UserFn`] of what comes ahead of groups, between their passes and behind them
/// ([`GroupFn`](crate::affine::walk::GroupFn)).
pub const FIRST: &str = "_first";
pub const EXACTLY: &str = "_exactly";
pub const AGAIN: &str = "_again";
pub const END: &str = "_end";
pub const WHERE: &str = "_where";

/// The call of [`UserFn`] behind the loop.
pub(crate) const DONE: &str = "_promoted";

/// The one user node that each iteration of a loop's body reaches.
pub(crate) fn only_user(body: &AstNode) -> Result<Option<AstNode>> {
    Ok(match body.node_type()? {
        AstNodeType::User => Some(body.clone()),
        AstNodeType::Mark => only_user(&body.mark_node()?)?,
        AstNodeType::Block => match &body.block_children()?.to_vec()?[..] {
            [one] => only_user(one)?,
            _ => None,
        },
        AstNodeType::For | AstNodeType::If => None,
    })
}

/// Whether a node is a loop of which each iteration runs an instance.
pub(crate) fn is_plain_loop(node: &AstNode) -> Result<bool> {
    Ok(node.node_type()? == AstNodeType::For
        && !node.for_is_degenerate()?
        && only_user(&node.for_body()?)?.is_some())
}

/// The iterators of the instance in the body of such a loop.
pub(crate) fn instance(expr: &ExprEmitter<'_>, body: &AstNode) -> Result<Vec<Value>> {
    let Some(user) = only_user(body)? else { return internal("a promoted cell without an instance") };
    let call = user.user_expr()?;
    if call.expr_type()? != AstExprType::Op || call.op()? != AstOp::Call {
        return Err(CodegenError::Internal("a user node is not a call".into()));
    }
    (1..call.n_arg()?).map(|i| expr.emit_int(&call.arg(i as i32)?)).collect()
}

/// Calls [`UserFn`] for a user node.
pub(crate) fn emit_user<'e>(
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
) -> Result<Option<Block>> {
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

/// The largest value that `cond` allows. isl's option `atomic_upper_bound` makes every condition `i <= e` or
/// `i < e`.
pub(crate) fn last_value(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    iterator: &AstExpr,
    cond: &AstExpr,
) -> Result<Value> {
    if cond.expr_type()? == AstExprType::Op && matches!(cond.op()?, AstOp::Le | AstOp::Lt) {
        let left = cond.arg(0)?;
        if left.expr_type()? == AstExprType::Id && left.id()?.name() == iterator.id()?.name() {
            let bound = expr.emit_int(&cond.arg(1)?)?;
            return Ok(if cond.op()? == AstOp::Lt { ir.sub(bound, ir.int(1)) } else { bound });
        }
    }
    Err(CodegenError::Internal(format!("the loop condition {cond} is not a bound of {iterator}")))
}
