//! The code of a tiling's AST: statements once for each point of the thread, copies once for the block, loops
//! over strips with two sets of buffers.

use crate::affine::expr::{ExprEmitter, iterator_name};
use crate::affine::nodes::{constant_step, last_value, tuple_of};
use crate::ir::error::Result;
use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::ops::pinned::pinned;
use crate::tiled::pipeline::{Strips, pipeline};
use crate::tiled::state::{Buffer, KernelBuilder, at_point, computes, points, register, running};
use crate::tiled::{copy, guard, prefetch, product, slide};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use pollyrs_isl as isl;
use pollyrs_isl::{AstExpr, AstNode, AstNodeType};
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::{Tuple, UNROLLED};
use pollyrs_scop::{AccessKind, ArrayId};
use std::collections::BTreeSet;

/// What follows runs in threads with points only, until [`join`]; `None` if it does already, or if all
/// threads have points.
pub(super) fn part(k: &mut KernelBuilder<'_>, function: Value) -> Result<Option<Block>> {
    let t = &mut k.storage;
    let tiling = t.tiling;
    if t.cursor.apart {
        return Ok(None);
    }
    let Some(computes) = computes(k, tiling)? else { return Ok(None) };
    let ir = k.ir;
    let (own, after) = (ir.append_block(function, "compute"), ir.append_block(function, "computed"));
    ir.cond_br(computes, own, after);
    ir.at_end(own);
    k.storage.cursor.apart = true;
    Ok(Some(after))
}

pub(super) fn join(k: &mut KernelBuilder<'_>, after: Block) -> Result<()> {
    k.ir.br(after);
    k.ir.at_end(after);
    k.storage.cursor.apart = false;
    Ok(())
}

/// Whether a copy is beneath a node.
fn copies(node: &AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if copies(&child)? {
                    return Ok(true);
                }
            }
            false
        }
        AstNodeType::Mark => copies(&node.mark_node()?)?,
        AstNodeType::If => copies(&node.if_then()?)? || (node.if_has_else()? && copies(&node.if_else()?)?),
        AstNodeType::For => copies(&node.for_body()?)?,
        AstNodeType::User => matches!(tuple_of(node)?, Some(Tuple::Copy(_))),
    })
}

/// The statement or copy of a node, and its arguments.
fn user(node: &AstNode) -> Result<(String, Vec<AstExpr>)> {
    let call = node.user_expr()?;
    let args = (1..call.n_arg()?).map(|i| call.arg(i as i32)).collect::<isl::Result<Vec<_>>>()?;
    Ok((call.arg(0)?.id()?.name(), args))
}

/// The operand tile that is filled last beneath a node, and the arguments of its copy, if no loop is around
/// it.
fn last_fill(k: &mut KernelBuilder<'_>, node: &AstNode) -> Result<Option<(usize, Vec<AstExpr>)>> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            let mut last = None;
            for child in node.block_children()?.to_vec()? {
                last = last_fill(k, &child)?.or(last);
            }
            last
        }
        AstNodeType::Mark => last_fill(k, &node.mark_node()?)?,
        AstNodeType::If | AstNodeType::For => None,
        AstNodeType::User => {
            let (name, args) = user(node)?;
            let operand_tile =
                k.storage.tiling.operand_tiles.iter().position(|p| Some(p.name) == Tuple::of(&name));
            operand_tile.map(|at| (at, args))
        }
    })
}

/// Longer strips (powers of two) run in a loop over so many iterations.
const MAX_UNROLLED: u32 = 16;
/// Registers for what is read from buffers ahead of its iterations, and their bytes.
const MAX_WORDS: u32 = 32;
const WORD: u32 = 4;
/// The same for products.
const MAX_POINTS: u32 = 4;

pub(super) fn walk<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
) -> Result<()> {
    let ir = k.ir;
    if !copies(node)?
        && let Some(after) = part(k, function)?
    {
        walk(k, function, emit, node)?;
        return join(k, after);
    }
    match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                walk(k, function, emit, &child)?;
            }
            Ok(())
        }
        AstNodeType::Mark => walk(k, function, emit, &node.mark_node()?),
        AstNodeType::If => {
            let (then, after) = (ir.append_block(function, "then"), ir.append_block(function, "endif"));
            let other = if node.if_has_else()? { ir.append_block(function, "else") } else { after };
            ir.cond_br(emit.emit_bool(&node.if_cond()?)?, then, other);
            ir.at_end(then);
            walk(k, function, emit, &node.if_then()?)?;
            ir.br(after);
            if node.if_has_else()? {
                ir.at_end(other);
                walk(k, function, emit, &node.if_else()?)?;
                ir.br(after);
            }
            ir.at_end(after);
            // Where the loop behind a copy is empty just when the condition does not hold, isl puts the copy
            // alone under it: the buffers are in force behind the branch as well.
            match last_fill(k, &node.if_then()?)? {
                Some((at, args)) if !node.if_has_else()? || !copies(&node.if_else()?)? => {
                    let args = args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
                    enter(k, emit, at, &args, ir.int(0), 1)
                }
                _ => Ok(()),
            }
        }
        AstNodeType::For => walk_for(k, function, emit, node, false),
        AstNodeType::User => {
            let (name, args) = user(node)?;
            let tiling = k.storage.tiling;
            if let Some(at) = tiling.operand_tiles.iter().position(|p| Some(p.name) == Tuple::of(&name)) {
                return fill(k, function, emit, at, &args);
            }
            for point in running(k)? {
                let emit = at_point(k, emit, &point)?;
                let iterators = args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
                guard::emit_guarded(k, function, &emit, &name, &iterators)?;
            }
            Ok(())
        }
    }
}

/// Fills the buffers of an operand tile: all threads load, then wait until the buffers are free, store, and
/// wait for each other.
pub(super) fn fill(
    k: &mut KernelBuilder<'_>,
    function: Value,
    emit: &ExprEmitter<'_>,
    at: usize,
    args: &[AstExpr],
) -> Result<()> {
    let operand_tile = &k.storage.tiling.operand_tiles[at];
    let args = args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
    let values = copy::clamped(k, emit, operand_tile, &args)?;
    barrier_before(k);
    let first = k.ir.int(0);
    copy::store(k, function, operand_tile, &values, first)?;
    barrier_after(k);
    enter(k, emit, at, &args, first, 1)
}

/// Makes the buffers that start `offset` bytes into shared memory those in force; there are `copies` of them.
pub(super) fn enter(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    at: usize,
    args: &[Value],
    offset: Value,
    copies: u32,
) -> Result<()> {
    let operand_tile = &k.storage.tiling.operand_tiles[at];
    let (starts, bytes) = copy::layout(k, operand_tile);
    let mut buffers = Vec::new();
    for (group, (g, start)) in operand_tile.groups.iter().zip(starts).enumerate() {
        let start = k.ir.add(offset, k.ir.int(start.into()));
        buffers.push(Buffer { operand_tile: at, group, start, lower: copy::smallest(emit, g, args)? });
    }
    let t = &mut k.storage;
    t.cursor.buffers = buffers;
    t.cursor.args = args.to_vec();
    t.cursor.loaded.clear();
    let bytes = if planted("shared-bytes") { bytes / 2 } else { bytes };
    t.shared_bytes = t.shared_bytes.max(copies * bytes);
    // Chunks fill buffers for operations of warps only.
    if t.cursor.places.is_none() {
        t.plain_shared_bytes = t.plain_shared_bytes.max(copies * bytes);
    }
    Ok(())
}

/// Between the last reads of buffers and their next contents.
pub(super) fn barrier_before(k: &mut KernelBuilder<'_>) {
    if !planted("barrier-before") {
        barrier(k);
    }
}

/// Between the contents of buffers and their reads.
pub(super) fn barrier_after(k: &mut KernelBuilder<'_>) {
    if !planted("barrier-after") {
        barrier(k);
    }
}

pub(super) fn barrier(k: &mut KernelBuilder<'_>) {
    k.has_barrier = true;
    k.abstract_call(BARRIER, k.ir.void_type());
}

/// All iterations of a strip from `start` on: without guards where these hold.
pub(super) fn whole_strip<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    inner: &AstNode,
    strip: u32,
    start: Value,
) -> Result<()> {
    let t = &mut k.storage;
    let operand_tile = t.cursor.buffers.last().map(|b| &t.tiling.operand_tiles[b.operand_tile]);
    let Some((full, without)) = operand_tile.and_then(|p| Some((p.full.as_ref()?, &p.without))) else {
        return unrolled(k, function, emit, inner, strip, start);
    };
    let ir = k.ir;
    let block = |name: &str| ir.append_block(function, name);
    let after = block("endpoints");
    let cases =
        std::iter::once((full, &[][..])).chain(without.iter().map(|w| (&w.strips, &w.statements[..])));
    for (strips, statements) in cases {
        if strips.is_empty()? {
            continue;
        }
        let (all, other) = (block("allpoints"), block("somepoints"));
        ir.cond_br(holds(k, emit, strips)?, all, other);
        ir.at_end(all);
        k.storage.cursor.unguarded = true;
        k.storage.cursor.without = statements.to_vec();
        unrolled(k, function, emit, inner, strip, start)?;
        k.storage.cursor.unguarded = false;
        k.storage.cursor.without.clear();
        ir.br(after);
        ir.at_end(other);
        k.storage.cursor.loaded.clear();
    }
    guarded(k, function, emit, inner, strip, start)?;
    ir.br(after);
    ir.at_end(after);
    k.storage.cursor.loaded.clear();
    Ok(())
}

/// Whether the copy that filled the buffers in force is in a set.
pub(super) fn holds(k: &mut KernelBuilder<'_>, emit: &ExprEmitter<'_>, set: &isl::Set) -> Result<Value> {
    let mut names = emit.clone();
    for (d, v) in k.storage.cursor.args.iter().enumerate() {
        names.names.insert(iterator_name(d as u32), *v);
    }
    names.emit_bool(&guard::condition(set)?)
}

/// All iterations of a strip from `start` on, in a loop, with guards.
pub(super) fn guarded<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    inner: &AstNode,
    strip: u32,
    start: Value,
) -> Result<()> {
    let ir = k.ir;
    let (body, after, before) =
        (ir.append_block(function, "guarded"), ir.append_block(function, "endguarded"), ir.block());
    ir.br(body);
    ir.at_end(body);
    let name = inner.for_iterator()?.id()?.name();
    let counter = ir.phi(ir.i64_type(), &[(start, before)]);
    let outer = emit.names.insert(name.clone(), counter);
    walk(k, function, emit, &inner.for_body()?)?;
    match outer {
        Some(v) => emit.names.insert(name, v),
        None => emit.names.remove(&name),
    };
    let next = ir.add(counter, ir.int(1));
    ir.add_incoming(counter, next, ir.block());
    ir.cond_br(ir.icmp(LLVMIntEQ, next, ir.add(start, ir.int(strip.into()))), after, body);
    ir.at_end(after);
    k.storage.cursor.loaded.clear();
    Ok(())
}

/// All iterations of a strip from `start` on, unrolled: its buffers are read at constant distances.
fn unrolled<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    inner: &AstNode,
    strip: u32,
    start: Value,
) -> Result<()> {
    let ir = k.ir;
    let name = inner.for_iterator()?.id()?.name();
    let body = inner.for_body()?;
    let outer = emit.names.get(&name).copied();
    let after = ir.append_block(function, "endwhole");
    let tiling = k.storage.tiling;
    // Products run by points only where the target has no tensor cores: compile time counts there.
    let (ahead, twice) = side_by_side(k)?;
    let part = match () {
        () if tiling.helpers > 1 => ahead.min(strip),
        () if tiling.products && strip.is_multiple_of(MAX_POINTS) => MAX_POINTS,
        () => strip,
    };
    if part == strip {
        for i in 0..strip {
            emit.names.insert(name.clone(), ir.add(start, ir.int(i.into())));
            walk(k, function, emit, &body)?;
        }
        ir.br(after);
    } else {
        let (block, before) = (ir.append_block(function, "part"), ir.block());
        ir.br(block);
        ir.at_end(block);
        let counter = ir.phi(ir.i64_type(), &[(ir.int(0), before)]);
        let first = ir.add(start, counter);
        for i in 0..part {
            emit.names.insert(name.clone(), ir.add(first, ir.int(i.into())));
            walk(k, function, emit, &body)?;
        }
        let (next, end) = (ir.add(counter, ir.int(part.into())), ir.int(strip.into()));
        let alone = tiling.helpers > 1 && ir.block() == block;
        if alone {
            prefetch::operands(
                ir,
                &prefetch::Loop { before, body: block, counter, step: part, end: strip, twice },
            );
        }
        ir.add_incoming(counter, next, ir.block());
        let branch = ir.cond_br(ir.icmp(LLVMIntEQ, next, end), after, block);
        if alone {
            match twice {
                true => {
                    hint_loops(function, "llvm.loop.unroll.count", Some(ir.int32(2)), |end| end == branch)
                }
                false => hint_loops(function, "llvm.loop.unroll.disable", None, |end| end == branch),
            }
        }
        k.storage.cursor.loaded.clear();
    }
    ir.at_end(after);
    settle(k, &body)?;
    match outer {
        Some(v) => emit.names.insert(name, v),
        None => emit.names.remove(&name),
    };
    Ok(())
}

/// Iterations of a strip that run side by side where most threads only help, of what the buffers in force
/// hold; and whether there are registers for the operands of twice as many.
fn side_by_side(k: &mut KernelBuilder<'_>) -> Result<(u32, bool)> {
    let scop = k.scop;
    let t = &mut k.storage;
    let groups = t.cursor.buffers.iter().map(|b| &t.tiling.operand_tiles[b.operand_tile].groups[b.group]);
    let words: u32 = groups.map(|g| scop.array(g.array).elem.bytes().div_ceil(WORD)).sum();
    let fit = MAX_WORDS / words.max(1);
    let part = 1 << fit.clamp(1, MAX_UNROLLED).ilog2();
    Ok((part, 2 * part <= fit))
}

/// Values that wait for another one of their point ([`product::waits`]) are computed before what follows, see
/// [`crate::ops::pinned`]. LLVM leaves sums of products of what several points read where they are.
fn settle(k: &mut KernelBuilder<'_>, body: &AstNode) -> Result<()> {
    let mut names = Vec::new();
    instances(body, &mut names)?;
    let statements = names.iter().filter_map(|n| k.scop.statement_named(n)).map(|(_, s)| s);
    let waiting = statements.filter(|s| product::waits(s, true)).flat_map(|s| &s.accesses);
    let written: BTreeSet<ArrayId> =
        waiting.filter(|a| a.kind != AccessKind::Read).map(|a| a.array).collect();
    let tiling = k.storage.tiling;
    for array in written {
        let elem = k.scop.array(array).elem;
        let ty = llvm_elem(k.ir, elem);
        for point in points(tiling) {
            k.storage.cursor.point = point;
            let Some(register) = register(k, array)? else { continue };
            let value = pinned(k.ir, k.ir.load_aligned(ty, register, elem.bytes()));
            k.ir.store_aligned(value, register, elem.bytes());
        }
    }
    Ok(())
}

/// The statements beneath a node that is [`straight`].
fn instances(node: &AstNode, names: &mut Vec<String>) -> Result<()> {
    match node.node_type()? {
        AstNodeType::Block => node.block_children()?.to_vec()?.iter().try_for_each(|c| instances(c, names)),
        AstNodeType::Mark => instances(&node.mark_node()?, names),
        AstNodeType::User => {
            names.push(user(node)?.0);
            Ok(())
        }
        AstNodeType::If | AstNodeType::For => Ok(()),
    }
}

/// The statement that is all of a loop's body, and its arguments.
pub(super) fn only_statement(node: &AstNode) -> Result<Option<(String, Vec<AstExpr>)>> {
    if node.node_type()? == AstNodeType::User { user(node).map(Some) } else { Ok(None) }
}

/// Whether only instances of statements are beneath a node.
pub(super) fn straight(node: &AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if !straight(&child)? {
                    return Ok(false);
                }
            }
            true
        }
        AstNodeType::Mark => straight(&node.mark_node()?)?,
        AstNodeType::User => !matches!(tuple_of(node)?, Some(Tuple::Copy(_))),
        AstNodeType::If | AstNodeType::For => false,
    })
}

/// A loop; `partial` if it is known to be a strip without all its iterations.
pub(super) fn walk_for<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
    partial: bool,
) -> Result<()> {
    let ir = k.ir;
    let name = node.for_iterator()?.id()?.name();
    let init = emit.emit_int(&node.for_init()?)?;
    let body_node = node.for_body()?;
    let run = |k: &mut KernelBuilder<'a>, emit: &mut ExprEmitter<'a>, value: Value| -> Result<()> {
        let outer = emit.names.insert(name.clone(), value);
        walk(k, function, emit, &body_node)?;
        match outer {
            Some(v) => emit.names.insert(name.clone(), v),
            None => emit.names.remove(&name),
        };
        Ok(())
    };
    if node.for_is_degenerate()? {
        return run(k, emit, init);
    }
    if let Some(strips) = Strips::find(k, node)? {
        return pipeline(k, function, emit, node, &strips);
    }
    let step = constant_step(node)?;
    let last = last_value(ir, emit, &node.for_iterator()?, &node.for_cond()?)?;
    if k.storage.cursor.whole
        && let (Some(first), Some(last)) = (init.constant_int(), last.constant_int())
    {
        for value in (first..=last).step_by(step as usize) {
            run(k, emit, ir.int(value))?;
        }
        return Ok(());
    }
    let after = ir.append_block(function, "endloop");
    if let Some(dim) = slide::along(k, node)? {
        slide::rows(k, function, emit, node, &slide::Rows { dim, init, last, after })?;
    }
    // A whole strip is unrolled.
    let t = &mut k.storage;
    let strip = t.cursor.buffers.last().map(|b| t.tiling.operand_tiles[b.operand_tile].strip);
    if let Some(strip) = strip
        && !partial
        && step == 1
        && straight(&node.for_body()?)?
    {
        let (whole, part) = (ir.append_block(function, "strip"), ir.append_block(function, "rest"));
        ir.cond_br(ir.icmp(LLVMIntEQ, ir.sub(last, init), ir.int(i64::from(strip) - 1)), whole, part);
        ir.at_end(whole);
        whole_strip(k, function, emit, node, strip, init)?;
        ir.br(after);
        ir.at_end(part);
    }
    // Iterations side by side share what they load; those that are left run one by one.
    let mut init = init;
    if k.storage.cursor.whole && step == 1 && straight(&body_node)? {
        let part = i64::from(UNROLLED);
        let (several, rest, before) =
            (ir.append_block(function, "several"), ir.append_block(function, "rest"), ir.block());
        let needed = if planted("rest") { 0 } else { part - 1 };
        let fits = |v: Value| ir.icmp(LLVMIntSLE, ir.add(v, ir.int(needed)), last);
        ir.cond_br(fits(init), several, rest);
        ir.at_end(several);
        let counter = ir.phi(ir.i64_type(), &[(init, before)]);
        for i in 0..part {
            let value = k.emit.beside(counter, i);
            run(k, emit, value)?;
        }
        let (next, end) = (ir.add(counter, ir.int(part)), ir.block());
        ir.add_incoming(counter, next, end);
        ir.cond_br(fits(next), several, rest);
        ir.at_end(rest);
        init = ir.phi(ir.i64_type(), &[(init, before), (next, end)]);
    }
    let end = if step == 1 { last } else { ir.udiv(ir.sub(last, init), ir.int(step)) };
    let body = ir.append_block(function, "loop");
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntSLE, init, last), body, after);
    ir.at_end(body);
    let counter = ir.phi(ir.i64_type(), &[]);
    let (start, value) =
        if step == 1 { (init, counter) } else { (ir.int(0), ir.add(init, ir.mul(counter, ir.int(step)))) };
    run(k, emit, value)?;
    ir.add_incoming(counter, start, before);
    ir.add_incoming(counter, ir.add(counter, ir.int(1)), ir.block());
    ir.cond_br(ir.icmp(LLVMIntEQ, counter, end), after, body);
    ir.at_end(after);
    Ok(())
}
