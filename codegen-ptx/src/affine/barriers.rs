//! Barriers in the code of a kernel with steps (`pollyrs_schedule::Steps`): the checker proves that all
//! threads of a block meet at the same ones; here it is seen that the loops and conditions which isl makes of
//! the schedule are the same for them, as `bar.sync` needs, and what lies between two of them.

use crate::Result;
use crate::affine::nodes::tuple_of;
use pollyrs_isl as isl;
use pollyrs_schedule::{Param, Tuple};
use std::collections::BTreeSet;

/// Whether no loop and no condition around a barrier mentions a thread: then all threads of a block meet at
/// the same one, as `bar.sync` needs.
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

/// Names of user nodes, `(a, b)` and `(b, a)`, that a thread may reach without a barrier between them, so
/// that other threads may be at the one while it is at the other.
pub(crate) type Meetings = BTreeSet<(String, String)>;

/// The meetings of a kernel's code, whatever its conditions say.
pub(crate) fn meetings(node: &isl::AstNode) -> Result<Meetings> {
    let mut found = Meetings::new();
    since_barrier(node, BTreeSet::new(), &mut found)?;
    Ok(found)
}

/// The names reached since the last barrier, behind `node`, of those ahead of it.
fn since_barrier(
    node: &isl::AstNode,
    before: BTreeSet<String>,
    found: &mut Meetings,
) -> Result<BTreeSet<String>> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            let mut names = before;
            for child in node.block_children()?.to_vec()? {
                names = since_barrier(&child, names, found)?;
            }
            names
        }
        isl::AstNodeType::Mark => since_barrier(&node.mark_node()?, before, found)?,
        // Groups compute both branches, one after the other (`walk::Group::flat`).
        isl::AstNodeType::If => {
            let mut names = since_barrier(&node.if_then()?, before.clone(), found)?;
            names.extend(before);
            if node.if_has_else()? {
                let other = since_barrier(&node.if_else()?, names.clone(), found)?;
                names.extend(other);
            }
            names
        }
        // From one iteration to the next, or around the loop.
        isl::AstNodeType::For => {
            let body = node.for_body()?;
            let mut names = since_barrier(&body, before.clone(), found)?;
            names.extend(before);
            let again = since_barrier(&body, names.clone(), found)?;
            names.extend(again);
            names
        }
        isl::AstNodeType::User => {
            let name = node.user_expr()?.arg(0)?.id()?.name();
            if Tuple::of(&name) == Some(Tuple::Barrier) {
                return Ok(BTreeSet::new());
            }
            let mut names = before;
            names.insert(name.clone());
            for other in &names {
                found.insert((name.clone(), other.clone()));
                found.insert((other.clone(), name.clone()));
            }
            names
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
            // The threads of a block have an update together.
            matches!(tuple_of(node)?, Some(Tuple::Barrier | Tuple::Fill | Tuple::Update(_)))
        }
    })
}

/// Whether an expression depends on the thread. Iterators are named `c0`, `c1`, ...; of those around a
/// barrier none does.
fn mentions_thread(e: &isl::AstExpr) -> Result<bool> {
    Ok(match e.expr_type()? {
        isl::AstExprType::Int => false,
        isl::AstExprType::Id => matches!(Param::of(&e.id()?.name()), Some(Param::Thread(_))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_meet_unless_a_barrier_is_on_every_path() {
        for (text, meet) in [
            ("{ S[] -> [0]; R[] -> [1] }", true),
            ("{ S[] -> [0]; _barrier[] -> [1]; R[] -> [2] }", false),
            // Around a loop.
            (
                "{ S[i] -> [i, 0] : 0 <= i < 9; _barrier[i] -> [i, 1] : 0 <= i < 9; R[i] -> [i, 2] : 0 <= i < 9 }",
                true,
            ),
            (
                "{ S[i] -> [i, 0] : 0 <= i < 9; _barrier[i] -> [i, 1] : 0 <= i < 9; R[i] -> [i, 2] : 0 <= i < 9;
                   _barrier[i, 0] -> [i, 3] : 0 <= i < 9 }",
                false,
            ),
            // Not all executions have the barrier: alone under its condition, in a loop that may have no
            // iteration, and with what comes ahead of it.
            ("[n] -> { S[] -> [0]; _barrier[] -> [1] : n > 5; R[] -> [2] }", true),
            ("[n] -> { S[] -> [0, 0]; _barrier[i] -> [1, i] : 0 <= i < n; R[] -> [2, 0] }", true),
            ("[n] -> { S[] -> [0, 0] : n > 5; _barrier[] -> [0, 1] : n > 5; R[] -> [1, 0] }", false),
        ] {
            let ctx = isl::Context::new();
            let context = isl::Set::read(&ctx, "{ : }").unwrap();
            let map = isl::UnionMap::read(&ctx, text).unwrap();
            let tree = isl::AstBuild::from_context(context).unwrap().node_from_schedule_map(map).unwrap();
            let found = meetings(&tree).unwrap();
            let has = |a: &str, b: &str| found.contains(&(a.to_owned(), b.to_owned()));
            assert_eq!((has("S", "R"), has("R", "S")), (meet, meet), "{text}\n{tree}");
            assert!(has("S", "S"), "{text}");
        }
    }
}
