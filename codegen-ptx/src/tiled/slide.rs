//! Windows that move along a loop as they do along the points of a thread
//! ([`Tiling::slides`](pollyrs_schedule::Tiling)): row by row of what is read.
//!
//! Point `p` of a thread reads in iteration `t` what point `p + 1` reads in iteration `t - 1`. So the loop
//! runs over rows `r = t + p`, and each row is for all points that have an iteration there:
//! ```text
//! if the loop has as many iterations as the thread has points
//!   for s = 0 .. points - 2       row init + s, points 0 .. s
//!   for r = init + points - 1 .. last    row r, all points
//!   for s = 1 .. points - 1       row last + s, points s ..
//! else the loop as it stands
//! ```
//! **Argument.** Point `p` runs iterations `init ..= init + points - 2 - p` in the first part, from there to
//! `last - p` in the second and the rest in the third: each once, in order. Points do not depend on each
//! other: they have registers of their own, and read what nobody writes.
//!
//! # Example
//! `y[i][j] += x[i + p][j + q]`, `0 <= p, q < h`, eight points along `i`: `h + 7` rows of `h` loads in place
//! of `8 h`.

use crate::affine::expr::ExprEmitter;
use crate::affine::nodes::{constant_step, mentions};
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::tiled::state::{KernelBuilder, Row};
use crate::tiled::walk::{straight, walk};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE;
use pollyrs_isl::{AstNode, AstNodeType};
use pollyrs_schedule::planted::planted;

/// The dimension of the points along which the window of a loop moves; `None` if it is an ordinary loop.
pub(super) fn along(k: &mut KernelBuilder<'_>, node: &AstNode) -> Result<Option<usize>> {
    let t = &mut k.storage;
    let Some(depth) = t.tiling.slides.filter(|_| t.cursor.whole && t.cursor.row.is_none()) else {
        return Ok(None);
    };
    let name = node.for_iterator()?.id()?.name();
    if name != format!("c{depth}") || constant_step(node)? != 1 {
        return Ok(None);
    }
    let body = node.for_body()?;
    // Iterations that differ in the loops beneath have no rows.
    if straight(&body)? || steers(&body, &name)? {
        return Ok(None);
    }
    Ok(t.tiling.dims.iter().position(|d| d.points > 1 && d.vector == d.points))
}

/// Whether a loop's bound or a condition beneath a node mentions an iterator.
fn steers(node: &AstNode, name: &str) -> Result<bool> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if steers(&child, name)? {
                    return Ok(true);
                }
            }
            false
        }
        AstNodeType::Mark => steers(&node.mark_node()?, name)?,
        AstNodeType::If => {
            mentions(&node.if_cond()?, name)?
                || steers(&node.if_then()?, name)?
                || (node.if_has_else()? && steers(&node.if_else()?, name)?)
        }
        AstNodeType::For => {
            mentions(&node.for_init()?, name)?
                || (!node.for_is_degenerate()? && mentions(&node.for_cond()?, name)?)
                || steers(&node.for_body()?, name)?
        }
        AstNodeType::User => false,
    })
}

/// A loop from `init` to `last` whose window moves along a dimension, and the block behind it.
pub(super) struct Rows {
    pub dim: usize,
    pub init: Value,
    pub last: Value,
    pub after: Block,
}

/// The loop by rows; the builder is left where it has too few iterations.
pub(super) fn rows<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
    loops: &Rows,
) -> Result<()> {
    let ir = k.ir;
    let Rows { dim, init, last, after } = *loops;
    let points = k.storage.tiling.dims[dim].points as usize;
    let (name, body) = (node.for_iterator()?.id()?.name(), node.for_body()?);
    let mut row = |k: &mut KernelBuilder<'a>, at: Value, points: std::ops::Range<usize>| -> Result<()> {
        k.storage.cursor.row = Some(Row { name: name.clone(), at, dim, points });
        walk(k, function, emit, &body)?;
        k.storage.cursor.row = None;
        Ok(())
    };
    let block = |name: &str| ir.append_block(function, name);
    let (long, main, end, short) = (block("rows"), block("row"), block("lastrows"), block("fewrows"));
    let reach = if planted("rest") { 0 } else { points as i64 - 1 };
    let first = k.emit.beside(init, points as i64 - 1);
    ir.cond_br(ir.icmp(LLVMIntSLE, ir.add(init, ir.int(reach)), last), long, short);
    ir.at_end(long);
    for s in 0..points - 1 {
        let at = k.emit.beside(init, s as i64);
        row(k, at, 0..s + 1)?;
    }
    let before = ir.block();
    ir.br(main);
    ir.at_end(main);
    let counter = ir.phi(ir.i64_type(), &[(first, before)]);
    row(k, counter, 0..points)?;
    let next = ir.add(counter, ir.int(1));
    ir.add_incoming(counter, next, ir.block());
    ir.cond_br(ir.icmp(LLVMIntSLE, next, last), main, end);
    ir.at_end(end);
    for s in 1..points {
        let at = k.emit.beside(last, s as i64);
        row(k, at, s..points)?;
    }
    ir.br(after);
    ir.at_end(short);
    Ok(())
}
