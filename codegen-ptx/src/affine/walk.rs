//! isl AST nodes to control flow: the same walk serves the host plan and the kernels.
//!
//! A loop is emitted rotated, behind a guard, and counts so that scalar evolution knows its trip count
//! exactly without any `nsw` claim, since no isl bound proves that `last + step` fits 64 bits:
//!
//! ```text
//!       br (init <= last), body, after
//! body: i = phi [init], [i + 1]; ...; br (i == last), after, body                                      step 1
//! body: k = phi [0], [k + 1]; i = init + k*step; ...; br (k == (last - init) / step), after, body      other steps
//! ```

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::affine::nodes;
pub use crate::affine::nodes::{Event, UserFn};
use crate::affine::nodes::{emit_user, last_value};
use crate::affine::unroll_jam;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ir::marks;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use pollyrs_isl::{AstExprType, AstNode, AstNodeType};
use pollyrs_schedule::Mark;
use pollyrs_schedule::planted::planted;

/// The group of nodes that begins a list: such a group is emitted twice, with calls of [`UserFn`] for
/// [`Event::First`], [`Event::Again`] and [`Event::End`] ahead of both and behind (see also
/// [`Group::exactly`]).
pub type GroupFn<'f> = dyn Fn(&[AstNode]) -> Result<Group, CodegenError> + 'f;

/// See [`GroupFn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Nodes; none where no group begins.
    pub len: usize,
    /// The first time, all user nodes are reached, whatever the conditions around them say; each comes behind
    /// a call for [`Event::Where`] with the value of these. The second time each has a branch of its own,
    /// which may become a predicate ([`predicate`]). There is no loop in the group.
    pub flat: bool,
    /// In between there is a call for [`Event::Exactly`]. If it gives a block, the group is emitted where
    /// the builder is then, once more as the first time, and goes on in that block.
    pub exactly: bool,
    /// Of a node with the mark [`Mark::Together`]: rows and columns of its nest that are a group
    /// ([`unroll_jam`]), if that is more than one instance.
    pub at_once: [u32; 2],
}

/// Emits `node` at the builder's position, which is afterwards behind it.
pub fn emit_ast<'e>(
    ir: &Ir,
    function: Value,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
) -> Result<(), CodegenError> {
    emit_in_groups(ir, function, expr, node, user, &|_| Ok(Group::default()))
}

/// [`emit_ast`] with groups in its blocks.
pub fn emit_in_groups<'e>(
    ir: &Ir,
    function: Value,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
    groups: &GroupFn<'_>,
) -> Result<(), CodegenError> {
    match node.node_type()? {
        AstNodeType::Block => {
            let mut joins = Vec::new();
            let children = node.block_children()?.to_vec()?;
            let mut rest = &children[..];
            while let Some((child, behind)) = rest.split_first() {
                let found = groups(rest)?;
                let (group, after) = rest.split_at(found.len.min(rest.len()));
                if !group.is_empty() {
                    for pass in [Event::First, Event::Exactly, Event::Again] {
                        if pass == Event::Exactly && !found.exactly {
                            continue;
                        }
                        let join = user(expr, pass, &[])?;
                        if pass == Event::Exactly && join.is_none() {
                            continue;
                        }
                        for child in group {
                            let stores = (pass == Event::Again).then_some(function);
                            match found.flat {
                                true => emit_flat(ir, expr, child, (ir.bool(true), stores), user)?,
                                false => emit_ast(ir, function, expr, child, user)?,
                            }
                        }
                        if let Some(join) = join {
                            ir.br(join);
                            ir.at_end(join);
                        }
                    }
                    user(expr, Event::End, &[])?;
                    rest = after;
                    continue;
                }
                match child.node_type()? {
                    AstNodeType::User => joins.extend(emit_user(expr, child, user)?),
                    _ => emit_in_groups(ir, function, expr, child, user, groups)?,
                }
                rest = behind;
            }
            for join in joins.into_iter().rev() {
                ir.br(join);
                ir.at_end(join);
            }
            Ok(())
        }
        AstNodeType::Mark => {
            let (mark, child) = (Mark::of(&node.mark_id()?.name()), node.mark_node()?);
            // All of it was done by the node ahead.
            if let Some(Mark::Update(_) | Mark::Carried(_)) = mark {
                return Ok(());
            }
            if mark == Some(Mark::Together)
                && let Some(nest) = unroll_jam::nest(&child)?
            {
                let at_once = groups(std::slice::from_ref(node))?.at_once;
                if at_once.iter().product::<u32>() > 1 {
                    return unroll_jam::emit(ir, function, expr, (&nest, at_once), user);
                }
            }
            match mark {
                Some(Mark::Promoted(_)) if nodes::is_plain_loop(&child)? => {
                    emit_for(ir, function, expr, (&child, mark), user, groups)
                }
                _ => emit_in_groups(ir, function, expr, &child, user, groups),
            }
        }
        AstNodeType::If => emit_if(ir, function, expr, node, user, groups),
        AstNodeType::For => emit_for(ir, function, expr, (node, None), user, groups),
        AstNodeType::User => {
            if let Some(join) = emit_user(expr, node, user)? {
                ir.br(join);
                ir.at_end(join);
            }
            Ok(())
        }
    }
}

/// All user nodes of a node without loops, one after the other; those that store, in a function, each behind
/// a branch with its conditions.
fn emit_flat<'e>(
    ir: &Ir,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    (condition, stores): (Value, Option<Value>),
    user: &mut UserFn<'_, 'e>,
) -> Result<(), CodegenError> {
    match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                emit_flat(ir, expr, &child, (condition, stores), user)?;
            }
        }
        AstNodeType::Mark => emit_flat(ir, expr, &node.mark_node()?, (condition, stores), user)?,
        AstNodeType::If => {
            let holds = expr.emit_bool(&node.if_cond()?)?;
            emit_flat(ir, expr, &node.if_then()?, (ir.and(condition, holds), stores), user)?;
            if node.if_has_else()? {
                let not = ir.and(condition, ir.not(holds));
                emit_flat(ir, expr, &node.if_else()?, (not, stores), user)?;
            }
        }
        AstNodeType::For => return Err(CodegenError::Internal("a loop in a group".into())),
        AstNodeType::User => {
            let mut after = None;
            match stores {
                None => {
                    user(expr, Event::Where, &[condition])?;
                }
                // Where it always happens, its stores may wait for others.
                Some(_) if is_true(condition) => {}
                Some(function) => {
                    let then = ir.append_block(function, "happens");
                    let join = ir.append_block(function, "happened");
                    marks::mark(ir, ir.cond_br(condition, then, join));
                    ir.at_end(then);
                    after = Some(join);
                }
            }
            if emit_user(expr, node, user)?.is_some() {
                return Err(CodegenError::Internal("a stage in a group".into()));
            }
            if let Some(after) = after {
                ir.br(after);
                ir.at_end(after);
            }
        }
    }
    Ok(())
}

fn emit_if<'e>(
    ir: &Ir,
    function: Value,
    expr: &mut ExprEmitter<'e>,
    node: &AstNode,
    user: &mut UserFn<'_, 'e>,
    groups: &GroupFn<'_>,
) -> Result<(), CodegenError> {
    let cond = expr.emit_bool(&node.if_cond()?)?;
    let then = ir.append_block(function, "then");
    let after = ir.append_block(function, "endif");
    let has_else = node.if_has_else()?;
    let other = if has_else { ir.append_block(function, "else") } else { after };
    ir.cond_br(cond, then, other);
    // What a user node gives a name ends where its block of the AST does.
    let names = expr.names.clone();
    ir.at_end(then);
    emit_in_groups(ir, function, expr, &node.if_then()?, user, groups)?;
    ir.br(after);
    expr.names.clone_from(&names);
    if has_else {
        ir.at_end(other);
        emit_in_groups(ir, function, expr, &node.if_else()?, user, groups)?;
        ir.br(after);
        expr.names = names;
    }
    ir.at_end(after);
    Ok(())
}

/// A loop; with a mark, [`UserFn`] is called with the mark for the first instance ahead of the iterations, if
/// there are any, and with [`Event::Done`] behind them.
fn emit_for<'e>(
    ir: &Ir,
    function: Value,
    expr: &mut ExprEmitter<'e>,
    (node, mark): (&AstNode, Option<Mark>),
    user: &mut UserFn<'_, 'e>,
    groups: &GroupFn<'_>,
) -> Result<(), CodegenError> {
    let name = node.for_iterator()?.id()?.name();
    let init = expr.emit_int(&node.for_init()?)?;
    let run = |expr: &mut ExprEmitter<'e>, value: Value, user: &mut UserFn<'_, 'e>| {
        let outer = expr.names.clone();
        expr.names.insert(name.clone(), value);
        emit_in_groups(ir, function, expr, &node.for_body()?, user, groups)?;
        expr.names = outer;
        Ok(())
    };
    if node.for_is_degenerate()? {
        return run(expr, init, user);
    }
    let step = match node.for_inc()? {
        e if e.expr_type()? == AstExprType::Int => e.int()?.to_i64().unwrap_or(0),
        _ => 0,
    };
    if step < 1 {
        return Err(CodegenError::Internal("a loop whose step is not a positive constant".into()));
    }
    let last = last_value(ir, expr, &node.for_iterator()?, &node.for_cond()?)?;
    let last = if planted("last-iteration") { ir.sub(last, ir.int(1)) } else { last };
    let end = if step == 1 { last } else { ir.udiv(ir.sub(last, init), ir.int(step)) };
    let body = ir.append_block(function, "loop");
    let after = ir.append_block(function, "endloop");
    let (mut start_block, mut exit) = (body, after);
    if mark.is_some() {
        start_block = ir.append_block(function, "promote");
        exit = ir.append_block(function, "promoted");
    }
    ir.cond_br(ir.icmp(LLVMIntSLE, init, last), start_block, after);
    let mut before = ir.block();
    if let Some(mark) = mark {
        ir.at_end(start_block);
        let outer = expr.names.clone();
        expr.names.insert(name.clone(), init);
        let instance = nodes::instance(expr, &node.for_body()?)?;
        user(expr, Event::Promoted(mark), &instance)?;
        expr.names = outer;
        ir.br(body);
        before = ir.block();
    }
    ir.at_end(body);
    let counter = ir.phi(ir.i64_type(), &[]);
    let (start, value) =
        if step == 1 { (init, counter) } else { (ir.int(0), ir.add(init, ir.mul(counter, ir.int(step)))) };
    run(expr, value, user)?;
    let next = ir.add(counter, ir.int(1));
    ir.add_incoming(counter, start, before);
    ir.add_incoming(counter, next, ir.block());
    ir.cond_br(ir.icmp(LLVMIntEQ, counter, end), exit, body);
    if mark.is_some() {
        ir.at_end(exit);
        user(expr, Event::Done, &[])?;
        ir.br(after);
    }
    ir.at_end(after);
    Ok(())
}
