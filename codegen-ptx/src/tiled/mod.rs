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
//! - A point outside the box computes with zeros, or repeats a point of the box where a division might trap, in its own registers, and reads
//!   elements that the launch reads: copies clamp subscripts. Its registers are not stored.
//! - Where a tile's points run what only some of them have, a guard decides: as a branch, or by keeping the old value of the register where all
//!   that the statement reads is in registers and buffers ([`guard`]).
//! - Threads that only help to copy ([`Tiling::helpers`]) skip everything else, and reach the same barriers.
//! - The cells of a point are elements of small arrays with constant index, which the optimizer turns into registers.

use crate::ast_expr::ExprEmitter;
use crate::axes::{axes, helper_axis};
use crate::cell::type_of;
use crate::error::{Result, internal};
use crate::kernel::{KernelBuilder, SHARED, THREAD_ID, llvm_elem};
use crate::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::{self as isl, AstExpr, AstExprType, AstNode, AstNodeType};
use pollyrs_schedule::Tiling;
use pollyrs_scop::{ArrayId, StmtId};
use std::collections::BTreeMap;

/// Alignment that vector accesses of shared memory need.
const VECTOR_BYTES: u32 = 16;
const WARP: u32 = 32;

/// One dimension of the points of a thread, by number.
struct Coordinate {
    /// Counted from the tile's start.
    local: Vec<LLVMValueRef>,
    /// How far that is from the first point's.
    steps: Vec<u32>,
    /// Of the point itself.
    plain: Vec<LLVMValueRef>,
    /// In the box.
    value: Vec<LLVMValueRef>,
    /// Whether the point itself is in the box.
    inside: Vec<LLVMValueRef>,
    /// Whether the whole tile is in the box.
    full: LLVMValueRef,
}

/// A subscript in a buffer, counted from the buffer's first one.
enum Local<'c> {
    /// That of a point, by its number along a dimension.
    Point(&'c Coordinate, usize),
    Value(LLVMValueRef),
}

impl Local<'_> {
    fn value(&self) -> LLVMValueRef {
        match self {
            Local::Point(c, p) => c.local[*p],
            Local::Value(v) => *v,
        }
    }
}

/// A buffer in force.
struct Buffer {
    panel: usize,
    group: usize,
    /// Where it starts in shared memory, in bytes.
    start: LLVMValueRef,
    /// The smallest subscripts in it.
    lower: Vec<LLVMValueRef>,
}

/// An element of a buffer, as a key: the block of the load, the buffer, and by dimension the number of a point or a value.
type Element = (usize, usize, Vec<(bool, usize)>);

/// The state while the points of a thread are emitted.
pub(crate) struct Tiled<'a> {
    tiling: &'a Tiling,
    coordinates: Vec<Coordinate>,
    /// An array with a cell for each point.
    cells: BTreeMap<ArrayId, LLVMValueRef>,
    /// The number of the point along each dimension.
    point: Vec<usize>,
    buffers: Vec<Buffer>,
    /// Where the elements of the buffers in force are, if chunks fill them.
    places: Option<chunks::Places>,
    /// What was loaded from the buffers in force, so that all points that use an element share one load.
    loaded: BTreeMap<Element, LLVMValueRef>,
    pub shared_bytes: u32,
    /// What of it is needed without operations of warps.
    pub plain_shared_bytes: u32,
    /// Whether operations of warps are in the code.
    pub products: bool,
    /// Whether the code being emitted runs in threads with points only.
    apart: bool,
    /// By statement: where its instances exist.
    guards: BTreeMap<StmtId, AstExpr>,
    /// Whether guards are known to hold.
    unguarded: bool,
    /// Registers keep their old value where this is false.
    pub keep: Option<LLVMValueRef>,
    /// The arguments of the copy that filled the buffers in force.
    args: Vec<LLVMValueRef>,
    /// Whether the code is that of threads all of whose points are in the box ([`Tiling::unrolled`]).
    whole: bool,
}

impl Tiled<'_> {
    /// What is asked for next of the buffers in force is of fragments, or is not.
    fn of_fragments(&mut self, yes: bool) {
        if let Some(places) = &mut self.places {
            places.fragments = yes;
        }
    }
}

/// The AST of the tiling, whose loops and conditions are the same in all threads and points.
pub(crate) fn ast(tiling: &Tiling) -> Result<AstNode> {
    let build = isl::AstBuild::from_context(tiling.context.clone().params()?)?;
    let node = build.node_from_schedule(tiling.schedule.clone())?;
    if uniform(&node)? { Ok(node) } else { Err(crate::CodegenError::Divergent) }
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

mod cells;
mod chunks;
mod copy;
mod guard;
use cells::transfer;
use guard::divides;
pub use guard::divides_integers;
pub(crate) use guard::kept;
mod lanes;
pub(crate) mod lower;
mod order;
mod pipeline;
pub(crate) mod predicate;
pub(crate) use order::{GROUP_ROWS, in_groups, in_plane, threads};
pub(crate) mod product;
mod stages;
mod walk;

pub use product::{chained, products};

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
        places: None,
        loaded: BTreeMap::new(),
        shared_bytes: 0,
        plain_shared_bytes: 0,
        products: false,
        apart: false,
        guards: guard::conditions(tiling)?,
        unguarded: false,
        keep: None,
        args: Vec::new(),
        whole: false,
    });
    // Tiles without points leave: all threads of the block do.
    let leave = match &tiling.tiles {
        Some(tiles) => {
            let (work, leave) = (k.ir.append_block(function, "tile"), k.ir.append_block(function, "leave"));
            k.ir.cond_br(k.emit.emit_set(tiles)?, work, leave);
            k.ir.at_end(work);
            Some(leave)
        }
        None => None,
    };
    for r in &tiling.registers {
        transfer(k, function, r, true)?;
    }
    let mut names = k.emit.clone();
    if tiling.unrolled {
        if !tiling.panels.is_empty() {
            return internal("barriers where threads part");
        }
        let ir = k.ir;
        let (mut all, mut some) = (ir.bool(true), ir.bool(true));
        for c in &state(k)?.coordinates {
            // The same for all threads of the block.
            all = if c.plain.len() > 1 { ir.and(all, c.full) } else { all };
            some = ir.and(some, c.inside.iter().fold(ir.bool(false), |some, inside| ir.or(some, *inside)));
        }
        let block = |name: &str| k.ir.append_block(function, name);
        let (whole, rest, part, done) =
            (block("allpoints"), block("rest"), block("somepoints"), block("computed"));
        k.ir.cond_br(all, whole, rest);
        k.ir.at_end(rest);
        k.ir.cond_br(some, part, done);
        k.ir.at_end(whole);
        state(k)?.whole = true;
        names.all_apart = true;
        walk::walk(k, function, &mut names, tree)?;
        names.all_apart = false;
        state(k)?.whole = false;
        k.ir.br(done);
        k.ir.at_end(part);
        walk::walk(k, function, &mut names, tree)?;
        k.ir.br(done);
        k.ir.at_end(done);
    } else {
        walk::walk(k, function, &mut names, tree)?;
    }
    // Addresses of a hundred cells would otherwise stay in registers from the loads to the stores.
    let again = self::coordinates(k, tiling, true)?;
    state(k)?.coordinates = again;
    if divides(k) {
        // Points outside the box have read what other threads store now, if no copy with its barriers came between.
        walk::barrier(k);
    }
    for r in &tiling.registers {
        transfer(k, function, r, false)?;
    }
    if let Some(leave) = leave {
        k.ir.br(leave);
        k.ir.at_end(leave);
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
        let end = ir.add(start, ir.int(tile - 1));
        let full = ir.and(ir.icmp(LLVMIntSLE, min, start), ir.icmp(LLVMIntSLE, end, max));
        let mut c =
            Coordinate { local: vec![], steps: vec![], plain: vec![], value: vec![], inside: vec![], full };
        for p in 0..d.points {
            let step = p / d.vector * d.vector * b.size + p % d.vector;
            let local = ir.add(first, ir.int(step.into()));
            let v = match tiling.unrolled {
                true => k.emit.beside(ir.add(start, first), step.into()),
                false => ir.add(start, local),
            };
            let above = ir.icmp(LLVMIntSLE, min, v);
            let below = ir.icmp(LLVMIntSLE, v, max);
            c.local.push(local);
            c.steps.push(step);
            c.plain.push(v);
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
        emit.names
            .insert(d.param.clone(), if t.whole && c.plain.len() > 1 { c.plain[*p] } else { c.value[*p] });
    }
    Ok(emit)
}

/// The alignment that all accesses of the program claim for an array's elements.
pub(crate) fn alignment(k: &KernelBuilder<'_>, id: ArrayId) -> u32 {
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

/// The register of the current point for an array, if it has one.
pub(crate) fn register(k: &KernelBuilder<'_>, id: ArrayId) -> Result<Option<LLVMValueRef>> {
    let Some(t) = &k.tiled else { return Ok(None) };
    let Some(base) = t.cells.get(&id) else { return Ok(None) };
    let number = t.point.iter().zip(&t.tiling.dims).fold(0, |n, (p, d)| n * d.points as usize + p);
    let ty = llvm_elem(k.ir, k.scop.array(id).elem);
    Ok(Some(k.ir.element(ty, *base, k.ir.int(number as i64))))
}

/// The value in shared memory that an access of the current point reads; `None` if it reads the array. `subscript` gives the value of a
/// subscript.
pub(crate) fn shared(
    k: &mut KernelBuilder<'_>,
    statement: StmtId,
    access: usize,
    ty: LLVMTypeRef,
    subscript: impl Fn(usize) -> Result<LLVMValueRef>,
) -> Result<Option<LLVMValueRef>> {
    let Some(t) = &k.tiled else { return Ok(None) };
    let groups = t.buffers.iter().map(|b| &t.tiling.panels[b.panel].groups[b.group]);
    let Some(at) = groups.into_iter().position(|g| g.accesses.contains(&(statement, access))) else {
        return Ok(None);
    };
    let b = &t.buffers[at];
    let g = &t.tiling.panels[b.panel].groups[b.group];
    let ir = k.ir;
    let subscripts = (0..g.size.len())
        .map(|d| if g.along[d].is_some() { Ok(None) } else { subscript(d).map(Some) })
        .collect::<Result<Vec<_>>>()?;
    let place = g.along.iter().zip(&subscripts).map(|(m, s)| match (m, s) {
        (Some(m), _) => (true, t.point[*m]),
        (None, s) => (false, s.map_or(0, |s| s as usize)),
    });
    let key = (ir.block() as usize, at, place.collect());
    if let Some(v) = t.loaded.get(&key).filter(|v| type_of(**v) == ty) {
        return Ok(Some(*v));
    }
    let bytes = k.scop.array(g.array).elem.bytes();
    let mut locals = Vec::new();
    for (d, s) in subscripts.iter().enumerate() {
        locals.push(match (g.along[d], s) {
            (Some(m), _) => Local::Point(&t.coordinates[m], t.point[m]),
            (None, Some(s)) => Local::Value(ir.sub(*s, b.lower[d])),
            (None, None) => return internal("a subscript that nothing gives"),
        });
    }
    let offset = match &t.places {
        Some(places) => places.offset(ir, b.group, &locals),
        None => (locals.iter().zip(g.strides()))
            .fold(ir.int(0), |sum, (l, stride)| ir.add(sum, ir.mul(l.value(), ir.int(stride.into())))),
    };
    // Whole vectors of points start at multiples of them, rows at multiples of 16 bytes. (The columns of fragments are no points.)
    let mut align = bytes;
    if t.places.is_none()
        && let Some(fast) = g.order.last()
        && let Some(m) = g.along[*fast]
        && !t.coordinates[m].plain.is_empty()
        && t.tiling.dims[m].vector * bytes >= VECTOR_BYTES
        && ((g.size[*fast] + g.padding) * bytes).is_multiple_of(VECTOR_BYTES)
        && (t.point[m] as u32 * bytes).is_multiple_of(VECTOR_BYTES)
    {
        align = VECTOR_BYTES;
    }
    let base = ir.byte_offset(k.abstract_call(SHARED, ir.ptr_type()), b.start);
    let v = ir.load_aligned(ty, ir.element(llvm_elem(ir, k.scop.array(g.array).elem), base, offset), align);
    state(k)?.loaded.insert(key, v);
    Ok(Some(v))
}

/// Whether the thread has points, where some only help.
fn computes(k: &KernelBuilder<'_>, tiling: &Tiling) -> Result<Option<LLVMValueRef>> {
    if tiling.helpers <= 1 {
        return Ok(None);
    }
    let ir = k.ir;
    let helper = helper(k)?;
    Ok(Some(ir.icmp(LLVMIntEQ, helper, ir.int32(0))))
}

/// The number of the thread among those for the same points.
fn helper(k: &KernelBuilder<'_>) -> Result<LLVMValueRef> {
    match THREAD_ID.get(helper_axis(k.kernel)?) {
        Some(axis) => Ok(k.abstract_call(axis, k.ir.int_type(32))),
        None => internal("helpers in a block of three dimensions"),
    }
}

/// The linear index of the thread in its block, an `i32`: neighbours in it are neighbours in a warp.
fn linear_thread(k: &KernelBuilder<'_>) -> Result<LLVMValueRef> {
    let ir = k.ir;
    let (mut linear, mut scale) = (ir.int32(0), 1);
    for (axis, b) in axes(k.kernel)?.into_iter().zip(&k.kernel.block).rev() {
        let Some(axis) = axis else { continue };
        let id = k.abstract_call(THREAD_ID[axis], ir.int_type(32));
        linear = ir.add(linear, ir.mul(id, ir.int32(scale)));
        scale *= b.size;
    }
    if k.kernel.tiling.as_ref().is_some_and(|t| t.helpers > 1) {
        linear = ir.add(linear, ir.mul(helper(k)?, ir.int32(scale)));
    }
    Ok(linear)
}
