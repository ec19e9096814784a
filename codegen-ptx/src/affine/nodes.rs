//! Loops of isl's AST of which each iteration runs one instance: a cell may stay in a register while they run.

use crate::affine::expr::ExprEmitter;
use crate::ir::error::{CodegenError, Result, internal};
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::{AstExprType, AstNode, AstNodeType, AstOp};

/// The call of [`UserFn`](crate::affine::walk::UserFn) behind the loop.
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
pub(crate) fn instance(expr: &ExprEmitter<'_>, body: &AstNode) -> Result<Vec<LLVMValueRef>> {
    let Some(user) = only_user(body)? else { return internal("a promoted cell without an instance") };
    let call = user.user_expr()?;
    if call.expr_type()? != AstExprType::Op || call.op()? != AstOp::Call {
        return Err(CodegenError::Internal("a user node is not a call".into()));
    }
    (1..call.n_arg()?).map(|i| expr.emit_int(&call.arg(i as i32)?)).collect()
}
