//! Nodes of isl's AST: user nodes and bounds of loops as code, and loops of which each iteration runs one
//! instance: a cell may stay in a register while they run.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use pollyrs_isl::{AstExpr, AstExprType, AstNode, AstNodeType, AstOp};
use pollyrs_schedule::{Mark, Tuple};

/// What a [`UserFn`] is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// An instance of a statement, or a launch of a kernel, by its name.
    Instance(&'a str),
    /// What mapping has put between instances.
    Between(Tuple),
    /// Ahead of the first pass of a group ([`GroupFn`](crate::affine::walk::GroupFn)).
    First,
    /// Between its passes.
    Exactly,
    /// Ahead of the last pass.
    Again,
    /// Behind all passes.
    End,
    /// Ahead of each user node of a flat group, with the value of its conditions.
    Where,
    /// Ahead of a loop with a promoted cell, with the iterators of the first instance.
    Promoted(Mark),
    /// Behind this loop.
    Done,
}

/// What to do at a user node: the emitter, what it is, the values of its dimensions. It may give a
/// block in which the code behind the block of the AST that the node is in goes on: what follows in that one
/// is left where the builder is.
pub type UserFn<'f, 'e> = dyn FnMut(&mut ExprEmitter<'e>, Event<'_>, &[Value]) -> Result<Option<Block>> + 'f;

/// What a user node is.
pub(crate) fn event(name: &str) -> Event<'_> {
    Tuple::of(name).map_or(Event::Instance(name), Event::Between)
}

/// The tuple of a user node that is no instance.
pub(crate) fn tuple_of(node: &AstNode) -> Result<Option<Tuple>> {
    Ok(Tuple::of(&node.user_expr()?.arg(0)?.id()?.name()))
}

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
    user(expr, event(&name), &args)
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

/// Whether an expression has a name in it.
pub(crate) fn mentions(e: &AstExpr, name: &str) -> Result<bool> {
    Ok(match e.expr_type()? {
        AstExprType::Int => false,
        AstExprType::Id => e.id()?.name() == name,
        AstExprType::Op => {
            for i in 0..e.n_arg()? as i32 {
                if mentions(&e.arg(i)?, name)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}

/// The constant step of a loop.
pub(crate) fn constant_step(node: &AstNode) -> Result<i64> {
    let step = match node.for_inc()? {
        e if e.expr_type()? == AstExprType::Int => e.int()?.to_i64().unwrap_or(0),
        _ => 0,
    };
    if step < 1 {
        return internal("a loop whose step is not a positive constant");
    }
    Ok(step)
}
