//! Kernels in which a thread computes a block of points side by side ([`Tiling`]).
//!
//! The code follows the AST of the tiling's schedule, whose loops and conditions are the same for all points: a statement is emitted once for
//! each point of the thread, a copy once for the block.
//! ```text
//! v[p] = min(tile b + vector (t + threads (p / vector)) + p mod vector, max)
//! register[p] = A[cell(v[p])]                    all points
//! for k0 by strip
//!   _copy0(k0): loads; barrier; stores to shared memory; barrier
//!   for k: S(v[p], k)                            all points, reading registers and shared memory
//! A[cell(v[p])] = register[p]                    points inside the box
//! ```
//!
//! # Invariants
//! - Barriers are reached by all threads: nothing around them depends on the thread, see [`uniform`].
//! - A point outside the box repeats a point of the box (`min`), in its own registers, and reads what that point reads: copies clamp the
//!   subscripts that follow the point in the same way. Its registers are not stored.
//! - The cells of a point are elements of small arrays with constant index, which the optimizer turns into registers.

use crate::ast_expr::ExprEmitter;
use crate::error::{Result, internal};
use crate::kernel::{BARRIER, KernelBuilder, SHARED, llvm_elem};
use crate::llvm::*;
use crate::statement::emit_statement;
use crate::walk::last_value;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE, LLVMIntULT};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::{self as isl, AstExpr, AstExprType, AstNode, AstNodeType};
use pollyrs_schedule::{Panel, RegisterCell, SharedGroup, Tiling};
use pollyrs_scop::{ArrayId, StmtId};
use std::collections::BTreeMap;

/// Alignment that vector accesses of shared memory need.
const VECTOR_BYTES: u32 = 16;

/// One dimension of the points of a thread, by number.
struct Coordinate {
    /// Counted from the tile's start.
    local: Vec<LLVMValueRef>,
    /// In the box.
    value: Vec<LLVMValueRef>,
    /// Whether the point itself is in the box.
    inside: Vec<LLVMValueRef>,
}

/// The state while the points of a thread are emitted.
pub(crate) struct Tiled<'a> {
    tiling: &'a Tiling,
    coordinates: Vec<Coordinate>,
    /// An array with a cell for each point.
    cells: BTreeMap<ArrayId, LLVMValueRef>,
    /// The number of the point along each dimension.
    point: Vec<usize>,
    /// The buffers in force: panel, and for each group its byte offset and smallest subscripts.
    buffers: Vec<(usize, usize, u32, Vec<LLVMValueRef>)>,
    pub shared_bytes: u32,
}

/// The AST of the tiling, whose loops and conditions are the same in all threads and points.
pub(crate) fn ast(tiling: &Tiling) -> Result<AstNode> {
    let build = isl::AstBuild::from_context(tiling.context.clone().params()?)?;
    let node = build.node_from_schedule(tiling.schedule.clone())?;
    if uniform(&node)? { Ok(node) } else { internal("a loop that is not the same at all points of a tile") }
}

/// Whether no loop and no condition mentions a point.
fn uniform(node: &AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if !uniform(&child)? {
                    return Ok(false);
                }
            }
            true
        }
        AstNodeType::Mark => uniform(&node.mark_node()?)?,
        AstNodeType::If => {
            free_of_points(&node.if_cond()?)?
                && uniform(&node.if_then()?)?
                && (!node.if_has_else()? || uniform(&node.if_else()?)?)
        }
        AstNodeType::For => {
            free_of_points(&node.for_init()?)?
                && (node.for_is_degenerate()? || free_of_points(&node.for_cond()?)?)
                && uniform(&node.for_body()?)?
        }
        AstNodeType::User => {
            let call = node.user_expr()?;
            let copy = call.arg(0)?.id()?.name().starts_with(COPY);
            let mut ok = true;
            for i in 1..call.n_arg()? as i32 {
                ok &= !copy || free_of_points(&call.arg(i)?)?;
            }
            ok
        }
    })
}

fn free_of_points(e: &AstExpr) -> Result<bool> {
    Ok(match e.expr_type()? {
        AstExprType::Int => true,
        AstExprType::Id => !e.id()?.name().starts_with("_v"),
        AstExprType::Op => {
            for i in 0..e.n_arg()? as i32 {
                if !free_of_points(&e.arg(i)?)? {
                    return Ok(false);
                }
            }
            true
        }
    })
}

const COPY: &str = "_copy";

/// Emits the kernel's body in front of its return.
pub(crate) fn emit<'a>(
    k: &mut KernelBuilder<'a>,
    function: LLVMValueRef,
    tiling: &'a Tiling,
    tree: &AstNode,
    private: &[ArrayId],
) -> Result<()> {
    let coordinates = k.at_entry(|| coordinates(k, tiling, false))?;
    let points: usize = tiling.dims.iter().map(|d| d.points as usize).product();
    let mut cells = BTreeMap::new();
    k.at_entry(|| {
        for id in private.iter().chain(tiling.registers.iter().map(|r| &r.array)) {
            let elem = k.scop.array(*id).elem;
            // SAFETY: live context; a sized type and a constant number of elements.
            let cell = unsafe {
                let ty = LLVMArrayType2(llvm_elem(k.ir, elem), points as u64);
                let cell = LLVMBuildAlloca(k.ir.raw(), ty, EMPTY);
                LLVMSetAlignment(cell, elem.bytes());
                cell
            };
            cells.insert(*id, cell);
        }
        Ok(())
    })?;
    k.tiled = Some(Tiled {
        tiling,
        coordinates,
        cells,
        point: vec![0; tiling.dims.len()],
        buffers: Vec::new(),
        shared_bytes: 0,
    });
    for r in &tiling.registers {
        transfer(k, function, r, true)?;
    }
    let mut names = k.emit.clone();
    walk(k, function, &mut names, tree)?;
    // Addresses of a hundred cells would otherwise stay in registers from the loads to the stores.
    let again = self::coordinates(k, tiling, true)?;
    state(k)?.coordinates = again;
    for r in &tiling.registers {
        transfer(k, function, r, false)?;
    }
    Ok(())
}

/// The coordinates of a thread's points; `hidden` from the optimizer, they are computed anew and not kept from the last time.
fn coordinates(k: &KernelBuilder<'_>, tiling: &Tiling, hidden: bool) -> Result<Vec<Coordinate>> {
    let ir = k.ir;
    let mut out = Vec::new();
    for ((d, g), b) in tiling.dims.iter().zip(&k.kernel.grid).zip(&k.kernel.block) {
        let (Some(block), Some(thread)) = (k.emit.names.get(&g.param), k.emit.names.get(&b.param)) else {
            return internal("a tile without coordinates");
        };
        let tile = i64::from(b.size * d.points);
        let hide = |v: LLVMValueRef| if hidden { k.opaque(v) } else { v };
        let start = hide(ir.mul(*block, ir.int(tile)));
        let max = k
            .emit
            .emit_int(&crate::ast_expr::pw_aff_expr(&d.max, Some(&k.kernel.context.clone().params()?))?)?;
        let first = hide(ir.mul(*thread, ir.int(d.vector.into())));
        let min = k
            .emit
            .emit_int(&crate::ast_expr::pw_aff_expr(&d.min, Some(&k.kernel.context.clone().params()?))?)?;
        let mut c = Coordinate { local: vec![], value: vec![], inside: vec![] };
        for p in 0..d.points {
            let step = p / d.vector * d.vector * b.size + p % d.vector;
            let local = ir.add(first, ir.int(step.into()));
            let v = ir.add(start, local);
            let above = ir.icmp(LLVMIntSLE, min, v);
            let below = ir.icmp(LLVMIntSLE, v, max);
            c.local.push(local);
            c.value.push(ir.select(below, ir.select(above, v, min), max));
            c.inside.push(ir.and(above, below));
        }
        out.push(c);
    }
    Ok(out)
}

/// All points of a thread, the last dimension fastest.
fn points(tiling: &Tiling) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for d in &tiling.dims {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| (0..d.points as usize).map(move |i| [p.as_slice(), &[i]].concat()))
            .collect();
    }
    all
}

fn state<'k, 'a>(k: &'k mut KernelBuilder<'a>) -> Result<&'k mut Tiled<'a>> {
    match &mut k.tiled {
        Some(t) => Ok(t),
        None => internal("no tiling"),
    }
}

/// `emit` with the coordinates of a point.
fn at_point<'e>(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'e>,
    point: &[usize],
) -> Result<ExprEmitter<'e>> {
    let t = state(k)?;
    t.point = point.to_vec();
    let mut emit = emit.clone();
    for ((d, c), p) in t.tiling.dims.iter().zip(&t.coordinates).zip(point) {
        emit.names.insert(d.param.clone(), c.value[*p]);
    }
    Ok(emit)
}

/// Loads the registers of an array, or stores those of points in the box.
fn transfer(k: &mut KernelBuilder<'_>, function: LLVMValueRef, r: &RegisterCell, load: bool) -> Result<()> {
    let ir = k.ir;
    let Some(base) = k.arrays.get(&r.array).copied() else {
        return internal("a register without an array");
    };
    let tiling = state(k)?.tiling;
    // [v] as parameters.
    let used = r.cell.clone().domain()?;
    let mut subscripts = Vec::new();
    let f = isl::PwMultiAff::from_map(r.cell.clone())?;
    for d in 0..k.scop.array(r.array).dims() as i32 {
        let p = bind(f.at(d)?, tiling)?;
        subscripts.push(crate::ast_expr::pw_aff_expr(&p, Some(&tiling.context.clone().params()?))?);
    }
    let runs = used.params()?.gist_params(tiling.context.clone().params()?)?;
    let emit = k.emit.clone();
    let condition = emit.emit_set(&runs)?;
    let (then, after) = (ir.append_block(function, "cells"), ir.append_block(function, "endcells"));
    ir.cond_br(condition, then, after);
    ir.at_end(then);
    let elem = k.scop.array(r.array).elem;
    let ty = llvm_elem(ir, elem);
    for point in points(tiling) {
        let emit = at_point(k, &emit, &point)?;
        let mut offset = None;
        for (d, s) in subscripts.iter().enumerate() {
            let s = emit.emit_int(s)?;
            offset = Some(match offset {
                None => s,
                Some(o) => {
                    let size = k.size(r.array, d)?;
                    ir.add(ir.mul(o, size), s)
                }
            });
        }
        let cell = match offset {
            Some(o) => ir.element(ty, base, o),
            None => base,
        };
        let Some(register) = register(k, r.array)? else { return internal("no register") };
        if load {
            ir.store_aligned(ir.load_aligned(ty, cell, 1.max(alignment(k, r.array))), register, elem.bytes());
            continue;
        }
        let mut inside = ir.bool(true);
        for (c, p) in state(k)?.coordinates.iter().zip(&point) {
            inside = ir.and(inside, c.inside[*p]);
        }
        let (own, next) = (ir.append_block(function, "own"), ir.append_block(function, "next"));
        ir.cond_br(inside, own, next);
        ir.at_end(own);
        let v = ir.load_aligned(ty, register, elem.bytes());
        ir.store_aligned(v, cell, alignment(k, r.array));
        ir.br(next);
        ir.at_end(next);
    }
    ir.br(after);
    ir.at_end(after);
    Ok(())
}

/// The alignment that all accesses of the program claim for an array's elements.
fn alignment(k: &KernelBuilder<'_>, id: ArrayId) -> u32 {
    let array = k.scop.array(id);
    let mut align = array.elem.bytes();
    if !array.is_memory() {
        return align;
    }
    for s in &k.scop.statements {
        for a in s.accesses.iter().filter(|a| a.array == id) {
            if let pollyrs_scop::AccessValue::Instruction(i) = a.value {
                // SAFETY: a load or store of the host.
                align = align.min(unsafe { LLVMGetAlignment(i.0 as LLVMValueRef) });
            }
        }
    }
    align
}

/// A function of `[v]` as one of the parameters `_v0`, ...
fn bind(f: isl::PwAff, tiling: &Tiling) -> Result<isl::PwAff> {
    let mut f = f;
    for d in &tiling.dims {
        let at = f.dim(isl::DimType::Param)?;
        f = f.move_dims(isl::DimType::Param, at, isl::DimType::In, 0, 1)?;
        let id = isl::Id::new(f.context(), &d.param)?;
        f = f.set_dim_id(isl::DimType::Param, at, id)?;
    }
    Ok(f.project_domain_on_params()?)
}

/// The register of the current point for an array, if it has one.
pub(crate) fn register(k: &KernelBuilder<'_>, id: ArrayId) -> Result<Option<LLVMValueRef>> {
    let Some(t) = &k.tiled else { return Ok(None) };
    let Some(base) = t.cells.get(&id) else { return Ok(None) };
    let number = t.point.iter().zip(&t.tiling.dims).fold(0, |n, (p, d)| n * d.points as usize + p);
    let ty = llvm_elem(k.ir, k.scop.array(id).elem);
    Ok(Some(k.ir.element(ty, *base, k.ir.int(number as i64))))
}

/// The address in shared memory that an access of the current point reads, and its alignment; `None` if it reads the array. `subscript` gives
/// the value of a subscript.
pub(crate) fn shared(
    k: &KernelBuilder<'_>,
    statement: StmtId,
    access: usize,
    subscript: impl Fn(usize) -> Result<LLVMValueRef>,
) -> Result<Option<(LLVMValueRef, u32)>> {
    let Some(t) = &k.tiled else { return Ok(None) };
    for (panel, group, bytes, lower) in &t.buffers {
        let g = &t.tiling.panels[*panel].groups[*group];
        if !g.accesses.contains(&(statement, access)) {
            continue;
        }
        let ir = k.ir;
        let elem = k.scop.array(g.array).elem;
        let mut offset = ir.int(0);
        for (d, stride) in g.strides().into_iter().enumerate() {
            let local = match g.along[d] {
                Some(m) => t.coordinates[m].local[t.point[m]],
                None => ir.sub(subscript(d)?, lower[d]),
            };
            offset = ir.add(offset, ir.mul(local, ir.int(stride.into())));
        }
        // Whole vectors of points start at multiples of them, rows at multiples of 16 bytes.
        let mut align = elem.bytes();
        if let Some(fast) = g.order.last()
            && let Some(m) = g.along[*fast]
            && t.tiling.dims[m].vector * elem.bytes() >= VECTOR_BYTES
            && ((g.size[*fast] + g.padding) * elem.bytes()).is_multiple_of(VECTOR_BYTES)
            && (t.point[m] as u32 * elem.bytes()).is_multiple_of(VECTOR_BYTES)
        {
            align = VECTOR_BYTES;
        }
        let base = ir.byte_offset(k.abstract_call(SHARED, ir.ptr_type()), ir.int((*bytes).into()));
        return Ok(Some((ir.element(llvm_elem(ir, elem), base, offset), align)));
    }
    Ok(None)
}

fn walk<'a>(
    k: &mut KernelBuilder<'a>,
    function: LLVMValueRef,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
) -> Result<()> {
    let ir = k.ir;
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
            Ok(())
        }
        AstNodeType::For => walk_for(k, function, emit, node),
        AstNodeType::User => {
            let call = node.user_expr()?;
            let name = call.arg(0)?.id()?.name();
            let args = (1..call.n_arg()?).map(|i| call.arg(i as i32)).collect::<isl::Result<Vec<_>>>()?;
            let tiling = state(k)?.tiling;
            if let Some(at) = tiling.panels.iter().position(|p| p.name == name) {
                let args = args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
                return copy(k, function, emit, at, &tiling.panels[at], &args);
            }
            for point in points(tiling) {
                let emit = at_point(k, emit, &point)?;
                let iterators = args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
                emit_statement(k, &emit, &name, &iterators)?;
            }
            Ok(())
        }
    }
}

/// Whether only instances of statements are beneath a node.
fn straight(node: &AstNode) -> Result<bool> {
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
        AstNodeType::User => !node.user_expr()?.arg(0)?.id()?.name().starts_with(COPY),
        AstNodeType::If | AstNodeType::For => false,
    })
}

fn walk_for<'a>(
    k: &mut KernelBuilder<'a>,
    function: LLVMValueRef,
    emit: &mut ExprEmitter<'a>,
    node: &AstNode,
) -> Result<()> {
    let ir = k.ir;
    let name = node.for_iterator()?.id()?.name();
    let init = emit.emit_int(&node.for_init()?)?;
    let body_node = node.for_body()?;
    let run = |k: &mut KernelBuilder<'a>, emit: &mut ExprEmitter<'a>, value: LLVMValueRef| -> Result<()> {
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
    let step = match node.for_inc()? {
        e if e.expr_type()? == AstExprType::Int => e.int()?.to_i64().unwrap_or(0),
        _ => 0,
    };
    if step < 1 {
        return internal("a loop whose step is not a positive constant");
    }
    let last = last_value(ir, emit, &node.for_iterator()?, &node.for_cond()?)?;
    let after = ir.append_block(function, "endloop");
    // A whole strip is unrolled: its buffers are read at constant distances.
    let t = state(k)?;
    let strip = t.buffers.last().map(|b| t.tiling.panels[b.0].strip);
    if let Some(strip) = strip
        && step == 1
        && straight(&node.for_body()?)?
    {
        let (whole, part) = (ir.append_block(function, "strip"), ir.append_block(function, "rest"));
        ir.cond_br(ir.icmp(LLVMIntEQ, ir.sub(last, init), ir.int(i64::from(strip) - 1)), whole, part);
        ir.at_end(whole);
        for i in 0..strip {
            run(k, emit, ir.add(init, ir.int(i.into())))?;
        }
        ir.br(after);
        ir.at_end(part);
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

/// Fills the buffers of a panel: all threads load, then wait until the buffers are free, store, and wait for each other.
fn copy(
    k: &mut KernelBuilder<'_>,
    function: LLVMValueRef,
    emit: &ExprEmitter<'_>,
    at: usize,
    panel: &Panel,
    args: &[LLVMValueRef],
) -> Result<()> {
    let ir = k.ir;
    let threads: u32 = k.kernel.block.iter().map(|b| b.size).product();
    let thread = k.at_entry(|| {
        let mut thread = ir.int(0);
        for b in &k.kernel.block {
            let Some(t) = k.emit.names.get(&b.param) else { return internal("a thread without coordinates") };
            thread = ir.add(ir.mul(thread, ir.int(b.size.into())), *t);
        }
        Ok(thread)
    })?;
    let mut buffers = Vec::new();
    let mut bytes = 0_u32;
    let mut stores = Vec::new();
    for (number, g) in panel.groups.iter().enumerate() {
        let elem = k.scop.array(g.array).elem;
        bytes = bytes.next_multiple_of(VECTOR_BYTES);
        let lower = lower(emit, g, args)?;
        let align = alignment(k, g.array);
        let elements: u32 = g.size.iter().product();
        for round in 0..elements.div_ceil(threads) {
            let element = ir.add(thread, ir.int((round * threads).into()));
            let partial = (round + 1) * threads > elements;
            let moved = move_element(
                k,
                emit,
                g,
                &lower,
                element,
                bytes,
                align,
                partial.then_some((function, elements)),
            )?;
            stores.push((moved, elem.bytes(), partial.then_some((element, elements))));
        }
        buffers.push((at, number, bytes, lower));
        bytes += g.elements() * elem.bytes();
    }
    let barrier = |k: &mut KernelBuilder<'_>| {
        k.has_barrier = true;
        k.abstract_call(BARRIER, k.ir.void_type());
    };
    barrier(k);
    for ((value, to), align, partial) in stores {
        match partial {
            None => ir.store_aligned(value, to, align),
            Some((element, elements)) => {
                let (own, next) = (ir.append_block(function, "own"), ir.append_block(function, "next"));
                ir.cond_br(ir.icmp(LLVMIntULT, element, ir.int(elements.into())), own, next);
                ir.at_end(own);
                ir.store_aligned(value, to, align);
                ir.br(next);
                ir.at_end(next);
            }
        }
    }
    barrier(k);
    let t = state(k)?;
    t.buffers = buffers;
    t.shared_bytes = t.shared_bytes.max(bytes);
    Ok(())
}

/// The smallest subscripts of a buffer.
fn lower(emit: &ExprEmitter<'_>, g: &SharedGroup, args: &[LLVMValueRef]) -> Result<Vec<LLVMValueRef>> {
    let mut emit = emit.clone();
    for (d, v) in args.iter().enumerate() {
        emit.names.insert(crate::ast_expr::iterator_name(d as u32), *v);
    }
    g.lower
        .iter()
        .map(|f| emit.emit_int(&crate::ast_expr::pw_aff_expr(&crate::ast_expr::parameterize(f)?, None)?))
        .collect()
}

/// Loads one element of a buffer from the array: the value and where it goes. The last element stands in for those beyond the buffer.
#[allow(clippy::too_many_arguments)]
fn move_element(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    g: &SharedGroup,
    lower: &[LLVMValueRef],
    element: LLVMValueRef,
    offset: u32,
    align: u32,
    partial: Option<(LLVMValueRef, u32)>,
) -> Result<(LLVMValueRef, LLVMValueRef)> {
    let ir = k.ir;
    let mut rest = element;
    if let Some((_, elements)) = partial {
        let last = ir.int(i64::from(elements) - 1);
        rest = ir.select(ir.icmp(LLVMIntSLE, rest, last), rest, last);
    }
    // Neighbouring threads load neighbouring elements of the array.
    let mut local = vec![ir.int(0); g.size.len()];
    for (d, size) in g.size.iter().enumerate().rev() {
        local[d] = ir.urem(rest, ir.int((*size).into()));
        rest = ir.udiv(rest, ir.int((*size).into()));
    }
    let mut from = ir.int(0);
    let mut to = ir.int(0);
    for (d, stride) in g.strides().into_iter().enumerate() {
        let (min, max) = &g.bounds[d];
        let context = k.kernel.context.clone().params()?;
        let (min, max) = (
            crate::ast_expr::pw_aff_expr(min, Some(&context))?,
            crate::ast_expr::pw_aff_expr(max, Some(&context))?,
        );
        let (min, max) = k.at_entry(|| Ok((k.emit.emit_int(&min)?, k.emit.emit_int(&max)?)))?;
        let s = ir.add(lower[d], local[d]);
        let s = ir.select(ir.icmp(LLVMIntSLE, s, max), s, max);
        let s = ir.select(ir.icmp(LLVMIntSLE, s, min), min, s);
        if d > 0 {
            from = ir.mul(from, k.size(g.array, d)?);
        }
        from = ir.add(from, s);
        to = ir.add(to, ir.mul(local[d], ir.int(stride.into())));
    }
    let _ = emit;
    let Some(base) = k.arrays.get(&g.array).copied() else { return internal("a buffer without an array") };
    let ty = llvm_elem(ir, k.scop.array(g.array).elem);
    let value = ir.load_aligned(ty, ir.element(ty, base, from), align);
    let start = ir.byte_offset(k.abstract_call(SHARED, ir.ptr_type()), ir.int(offset.into()));
    Ok((value, ir.element(ty, start, to)))
}
