//! Barriers in the code of a kernel with steps (`MappedKernel::steps`): the checker proves that all threads of a block meet at the same ones; here
//! it is seen that the loops and conditions which isl makes of the schedule are the same for them, as `bar.sync` needs.

use crate::Result;
use pollyrs_isl as isl;

/// Whether no loop and no condition around a barrier mentions a thread: then all threads of a block meet at the same one, as `bar.sync` needs.
pub(crate) fn same_barriers(node: &isl::AstNode) -> Result<bool> {
    let all = |nodes: Vec<isl::AstNode>| -> Result<bool> {
        for n in &nodes {
            if !same_barriers(n)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    if !has_barrier(node)? {
        return Ok(true);
    }
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => all(node.block_children()?.to_vec()?)?,
        isl::AstNodeType::Mark => same_barriers(&node.mark_node()?)?,
        isl::AstNodeType::User => true,
        isl::AstNodeType::If => {
            let mut children = vec![node.if_then()?];
            if node.if_has_else()? {
                children.push(node.if_else()?);
            }
            !mentions_thread(&node.if_cond()?)? && all(children)?
        }
        isl::AstNodeType::For => {
            !mentions_thread(&node.for_init()?)?
                && (node.for_is_degenerate()? || !mentions_thread(&node.for_cond()?)?)
                && same_barriers(&node.for_body()?)?
        }
    })
}

fn has_barrier(node: &isl::AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if has_barrier(&child)? {
                    return Ok(true);
                }
            }
            false
        }
        isl::AstNodeType::Mark => has_barrier(&node.mark_node()?)?,
        isl::AstNodeType::If => {
            has_barrier(&node.if_then()?)? || node.if_has_else()? && has_barrier(&node.if_else()?)?
        }
        isl::AstNodeType::For => has_barrier(&node.for_body()?)?,
        isl::AstNodeType::User => {
            node.user_expr()?.arg(0)?.id()?.name().starts_with(pollyrs_schedule::BARRIER)
        }
    })
}

/// Whether an expression depends on the thread. Iterators are named `c0`, `c1`, ...; of those around a barrier none does.
fn mentions_thread(e: &isl::AstExpr) -> Result<bool> {
    Ok(match e.expr_type()? {
        isl::AstExprType::Int => false,
        isl::AstExprType::Id => e.id()?.name().starts_with("_t"),
        isl::AstExprType::Op => {
            for i in 0..e.n_arg()? as i32 {
                if mentions_thread(&e.arg(i)?)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}
