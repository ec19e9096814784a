//! Loops over strips: the operands of coming strips are on their way while a strip is computed.
//!
//! ```text
//! if the first strip is whole
//!   whole strips: through registers (below), or as operations of warps by copies that no thread waits for ([`super::stages`])
//! for each strip that is left: load; barrier; store to buffers 0; barrier; compute
//! ```
//! From the first strip on that has not all its iterations, strips are filled and computed one after the
//! other.

use crate::affine::expr::ExprEmitter;
use crate::affine::nodes::{constant_step, last_value, tuple_of};
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ops::mma;
use crate::tiled::product::Fragments;
use crate::tiled::stages::Products;
use crate::tiled::state::KernelBuilder;
use crate::tiled::walk::{
    barrier_after, barrier_before, enter, fill, join, only_statement, part, straight, walk_for, whole_strip,
};
use crate::tiled::{chunks, copy};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use pollyrs_isl as isl;
use pollyrs_isl::{AstExpr, AstNode, AstNodeType};

/// The body of a loop over strips: a copy, and a loop of statements that reads its buffers.
pub(super) struct Strips {
    pub operand_tile: usize,
    args: Vec<AstExpr>,
    pub inner: AstNode,
}

impl Strips {
    pub fn find(k: &mut KernelBuilder<'_>, node: &AstNode) -> Result<Option<Strips>> {
        let body = node.for_body()?;
        if body.node_type()? != AstNodeType::Block {
            return Ok(None);
        }
        let children = body.block_children()?.to_vec()?;
        let [copy, inner] = children.as_slice() else { return Ok(None) };
        if copy.node_type()? != AstNodeType::User
            || inner.node_type()? != AstNodeType::For
            || inner.for_is_degenerate()?
            || constant_step(inner)? != 1
            || !straight(&inner.for_body()?)?
        {
            return Ok(None);
        }
        let (call, tuple) = (copy.user_expr()?, tuple_of(copy)?);
        let operand_tiles = &k.storage.tiling.operand_tiles;
        let Some(operand_tile) = operand_tiles.iter().position(|p| Some(p.name) == tuple) else {
            return Ok(None);
        };
        if i64::from(operand_tiles[operand_tile].strip) != constant_step(node)? {
            return Ok(None);
        }
        let args = (1..call.n_arg()?).map(|i| call.arg(i as i32)).collect::<isl::Result<Vec<_>>>()?;
        Ok(Some(Strips { operand_tile, args, inner: inner.clone() }))
    }

    /// The arguments of the copy where the loop's iterator `name` is `value`.
    pub fn args_at(&self, emit: &mut ExprEmitter<'_>, name: &str, value: Value) -> Result<Vec<Value>> {
        emit.names.insert(name.to_string(), value);
        self.args.iter().map(|a| emit.emit_int(a)).collect()
    }

    /// The first iteration of the strip there, and whether the strip has all its iterations.
    pub fn extent(
        &self,
        k: &mut KernelBuilder<'_>,
        emit: &mut ExprEmitter<'_>,
        name: &str,
        value: Value,
    ) -> Result<(Value, Value)> {
        let strip = k.storage.tiling.operand_tiles[self.operand_tile].strip;
        emit.names.insert(name.to_string(), value);
        let first = emit.emit_int(&self.inner.for_init()?)?;
        let last = last_value(k.ir, emit, &self.inner.for_iterator()?, &self.inner.for_cond()?)?;
        let whole = k.ir.icmp(LLVMIntEQ, k.ir.sub(last, first), k.ir.int(i64::from(strip) - 1));
        Ok((first, whole))
    }
}

/// A loop over strips in the code: the iterator `name` goes from `init` by `step` to at most `last`.
pub(super) struct Span {
    pub name: String,
    pub init: Value,
    pub step: i64,
    pub last: Value,
    /// The arguments of the first copy.
    pub first: Vec<Value>,
}

/// All strips of a loop.
pub(super) fn pipeline<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
    strips: &Strips,
) -> Result<()> {
    let ir = k.ir;
    let name = node.for_iterator()?.id()?.name();
    let outer = emit.names.get(&name).copied();
    let init = emit.emit_int(&node.for_init()?)?;
    let step = constant_step(node)?;
    let last = last_value(ir, emit, &node.for_iterator()?, &node.for_cond()?)?;
    let tiling = k.storage.tiling;
    let operand_tile = &tiling.operand_tiles[strips.operand_tile];
    let block = |name: &str| ir.append_block(function, name);
    let (some, first) = (block("strips"), block("firststrip"));
    let (left, rest, after) = (block("left"), block("reststrip"), block("endstrips"));
    ir.cond_br(ir.icmp(LLVMIntSLE, init, last), some, after);

    ir.at_end(some);
    let end = ir.add(init, ir.mul(ir.udiv(ir.sub(last, init), ir.int(step)), ir.int(step)));
    let (_, whole) = strips.extent(k, emit, &name, end)?;
    let end = ir.select(whole, end, ir.sub(end, ir.int(step)));
    let (_, whole) = strips.extent(k, emit, &name, init)?;
    let [at_first, at_second, at_end] = [
        strips.args_at(emit, &name, init)?,
        strips.args_at(emit, &name, ir.add(init, ir.int(step)))?,
        strips.args_at(emit, &name, end)?,
    ];
    let ends = [at_first.as_slice(), &at_second, &at_end];
    let span = Span { name: name.clone(), init, step, last, first: at_first.clone() };
    let products = tiling.stages > 1
        && operand_tile.strip.is_multiple_of(mma::DEPTH)
        && operand_tile.strip > mma::DEPTH
        && chunks::fit(k, operand_tile);
    let stream = if products { None } else { Some(copy::Stream::new(k, emit, operand_tile, ends)?) };
    ir.cond_br(whole, first, left);
    let mut arms = vec![(init, ir.block())];
    ir.at_end(first);
    // As operations of a warp, where the target has them.
    if products && let Some((statement, args)) = only_statement(&strips.inner.for_body()?)? {
        enter(k, emit, strips.operand_tile, &at_first, ir.int(0), 2)?;
        if let Some(fragments) = Fragments::new(k, &statement, &args)? {
            let (warp, alone) = (block("fragments"), block("points"));
            ir.cond_br(mma::available(k), warp, alone);
            ir.at_end(warp);
            let chunks = &chunks::Chunks::new(k, emit, operand_tile, ends)?;
            let products = Products { strips, span: &span, chunks, fragments: &fragments, function };
            arms.push(products.whole_strips(k, emit, left)?);
            ir.at_end(alone);
        }
    }
    let stream = match stream {
        Some(stream) => stream,
        None => copy::Stream::new(k, emit, operand_tile, ends)?,
    };
    arms.push(whole_strips(k, function, emit, (strips, &span), &stream, left)?);

    ir.at_end(left);
    let value = ir.phi(ir.i64_type(), &arms);
    ir.cond_br(ir.icmp(LLVMIntSLE, value, last), rest, after);
    ir.at_end(rest);
    emit.names.insert(name.clone(), value);
    fill(k, function, emit, strips.operand_tile, &strips.args)?;
    let own = part(k, function)?;
    walk_for(k, function, emit, &strips.inner, true)?;
    own.map_or(Ok(()), |after| join(k, after))?;
    k.storage.cursor.loaded.clear();
    ir.add_incoming(value, ir.add(value, ir.int(step)), ir.block());
    ir.br(left);
    ir.at_end(after);
    match outer {
        Some(v) => emit.names.insert(name, v),
        None => emit.names.remove(&name),
    };
    Ok(())
}

/// Whole strips with two sets of buffers: the next strip's operands are loaded into registers before a strip
/// is computed, and stored behind it into the buffers that the strip did not read.
/// ```text
/// load strip 0; barrier; store to buffers 0; barrier
/// for each whole strip
///   if the next one is whole: load it
///   compute
///   if the next one is whole: store it to the other buffers
///   barrier
/// ```
/// **Argument.** The arrays are not written in this launch, so that a load may come as early as it likes. A
/// store meets no read of its buffers: they were read in the strip before, and a barrier is between. A strip
/// reads its buffers after the barrier that ends the strip in which they were filled.
///
/// Ends in a branch to `left`; the result is the first strip that is left, and the block that the branch is
/// in.
fn whole_strips<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    (strips, span): (&Strips, &Span),
    stream: &copy::Stream,
    left: Block,
) -> Result<(Value, Block)> {
    let ir = k.ir;
    let Span { name, init, step, last, first } = span;
    let operand_tile = &k.storage.tiling.operand_tiles[strips.operand_tile];
    let (_, bytes) = copy::layout(k, operand_tile);
    let block = |name: &str| ir.append_block(function, name);
    let body = block("strip");
    let values = stream.load(k, function, emit, operand_tile, &stream.addresses, first)?;
    // Others may still be reading the buffers for another loop.
    barrier_before(k);
    stream.store(k, function, operand_tile, &values, ir.int(0))?;
    barrier_after(k);
    let before = ir.block();
    ir.br(body);

    ir.at_end(body);
    let (value, offset) = (ir.phi(ir.i64_type(), &[]), ir.phi(ir.i64_type(), &[]));
    let mut phis = vec![(value, *init), (offset, ir.int(0))];
    let mut addresses = Vec::new();
    for (group, step) in stream.addresses.iter().zip(&stream.steps) {
        let mut next = Vec::new();
        for start in group {
            let address = ir.phi(ir.ptr_type(), &[]);
            phis.push((address, *start));
            next.push((address, *step));
        }
        addresses.push(next);
    }
    let next = ir.add(value, ir.int(*step));
    let (_, whole) = strips.extent(k, emit, name, next)?;
    let more = ir.and(ir.icmp(LLVMIntSLE, next, *last), whole);
    let addresses: Vec<Vec<_>> = addresses
        .into_iter()
        .map(|g| g.into_iter().map(|(address, step)| ir.byte_offset(address, step)).collect())
        .collect();
    let (fetch, compute) = (block("fetch"), block("compute"));
    ir.cond_br(more, fetch, compute);
    ir.at_end(fetch);
    let args = strips.args_at(emit, name, next)?;
    let fetched = stream.load(k, function, emit, operand_tile, &addresses, &args)?;
    let fetched_in = ir.block();
    ir.br(compute);
    ir.at_end(compute);
    let mut values = Vec::new();
    for v in fetched {
        let ty = v.ty();
        values.push(ir.phi(ty, &[(copy::poison(ty), body), (v, fetched_in)]));
    }
    let args = strips.args_at(emit, name, value)?;
    enter(k, emit, strips.operand_tile, &args, offset, 2)?;
    let (start, _) = strips.extent(k, emit, name, value)?;
    let own = part(k, function)?;
    whole_strip(k, function, emit, &strips.inner, operand_tile.strip, start)?;
    own.map_or(Ok(()), |after| join(k, after))?;
    let other = ir.sub(ir.int(bytes.into()), offset);
    let (put, done) = (block("put"), block("endstrip"));
    ir.cond_br(more, put, done);
    ir.at_end(put);
    stream.store(k, function, operand_tile, &values, other)?;
    ir.br(done);
    ir.at_end(done);
    barrier_after(k);
    k.storage.cursor.loaded.clear();
    let again = [next, other].into_iter().chain(addresses.into_iter().flatten());
    for ((phi, start), again) in phis.into_iter().zip(again) {
        ir.add_incoming(phi, start, before);
        ir.add_incoming(phi, again, done);
    }
    ir.cond_br(more, body, left);
    Ok((next, done))
}
