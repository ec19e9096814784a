//! Updates of a task ([`pollyrs_schedule::Update`]) as products: each thread has some points in registers,
//! operands come in strips by shared memory.
//!
//! ```text
//! acc = home[points of the thread]
//! load the operands of the first strip
//! for each strip of 16 times
//!   barrier; store them to the operand tiles; barrier; load those of the next strip
//!   for t in the strip: acc = S(acc, operand tiles)
//! home[points] = acc, where there are such points
//! ```
//! Two coordinates: a thread has 4 × 4 neighbouring points of 64 × 64, with 256 threads; one coordinate: a
//! point of 64 with 64 threads. What would be beyond the points or times takes the last ones; what comes of
//! points that there are not is thrown away.

use crate::affine::expr::{ExprEmitter, iterator_name, parameterize, parameterize_set, pw_aff_expr};
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::builder::alignment;
use crate::staged::state::KernelBuilder;
use crate::staged::{boxes, carried};
use crate::statement::emit::{emit_stored, what};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntSGE, LLVMIntSGT, LLVMIntSLT};
use pollyrs_isl as isl;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::{Operand, Param, Update};
use pollyrs_scop::{AccessValue, ArrayId};
use std::collections::BTreeMap;

/// Times of a strip.
const STRIP: i64 = 16;
/// Points of a tile along each coordinate.
const TILE: i64 = 64;
/// Elements from a row of an operand tile to the next: rows begin at multiples of 16 bytes, and threads that
/// store a column are in different banks.
const PITCH: i64 = TILE + 4;
/// Points of a thread along each of two coordinates.
const POINTS: i64 = 4;

/// An operand while its update is emitted.
struct OperandTile<'u> {
    operand: &'u Operand,
    array: ArrayId,
    /// In shared memory, in bytes.
    start: i64,
    ty: Type,
    bytes: i64,
    align: u32,
    /// Elements that a thread copies in a strip.
    each: i64,
    /// Whether neighbouring threads copy neighbouring times.
    by_time: bool,
    /// The first and last coordinate of points, and where those of the tile begin.
    range: Option<[Value; 3]>,
    /// What was loaded.
    slots: Vec<Value>,
    subscripts: Vec<isl::AstExpr>,
}

struct Points<'e> {
    emit: ExprEmitter<'e>,
    thread: Value,
    /// Coordinates in the tile of the thread's first point, and points along each.
    first: Vec<Value>,
    number: Vec<i64>,
    corner: Vec<Value>,
    times: [Value; 2],
}

/// Emits an update in step `step`.
pub(crate) fn emit(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    number: usize,
    step: Value,
) -> Result<()> {
    let kernel = k.kernel();
    let Some(u) = kernel.updates().iter().find(|u| u.number == number) else {
        return internal(format!("there is no update {number}"));
    };
    let ir = k.ir;
    let mut known = emit.clone();
    known.names.insert(Param::Step.to_string(), step);
    let context = k.kernel().context.clone().params()?;
    let some = u.points.clone().params()?.intersect(u.times.clone().params()?)?.gist(context)?.coalesce()?;
    let none = k.unless(ir.not(known.emit_set(&some)?));
    carried::forget(k);
    let p = points(k, emit, u, step)?;
    let operand_tiles = operand_tiles(k, &p, u)?;
    let cells = cells(k, &p, u)?;
    let inverse = isl::PwMultiAff::from_map(u.place.clone().reverse()?)?;
    let mut iterators = Vec::new();
    for d in 0..u.place.dim(isl::DimType::In)? as i32 {
        iterators.push(pw_aff_expr(&parameterize(&inverse.at(d)?)?, None)?);
    }
    strips(k, &Product { u, p: &p, operand_tiles: &operand_tiles, cells: &cells, iterators: &iterators })?;
    for cell in &cells {
        store_home(k, &p, u, cell)?;
    }
    ir.br(none);
    ir.at_end(none);
    Ok(())
}

/// A point of the thread.
struct Cell {
    /// Its number along each coordinate, and the coordinate in the tile.
    at: Vec<(i64, Value)>,
    home: Value,
    /// What it holds meanwhile.
    slot: Value,
}

/// What the points of a thread are computed from.
struct Product<'a, 'e> {
    u: &'a Update,
    p: &'a Points<'e>,
    operand_tiles: &'a [OperandTile<'a>],
    cells: &'a [Cell],
    /// The statement's iterators as functions of point and time.
    iterators: &'a [isl::AstExpr],
}

/// The points of the thread, and what they hold.
fn cells(k: &mut KernelBuilder<'_>, p: &Points<'_>, u: &Update) -> Result<Vec<Cell>> {
    let ir = k.ir;
    let s = &k.scop.statements[u.statement.0];
    let array = k.scop.array(s.accesses[u.write].array);
    let ty = llvm_elem(ir, array.elem);
    let mut places = vec![vec![]];
    for d in 0..p.first.len() {
        let along = |n: i64| ir.add(p.corner[d], ir.add(p.first[d], ir.int(n)));
        places = places
            .into_iter()
            .flat_map(|at: Vec<(i64, Value)>| {
                (0..p.number[d]).map(move |n| [at.clone(), vec![(n, along(n))]].concat())
            })
            .collect();
    }
    let mut cells = Vec::new();
    for at in places {
        let subscripts: Vec<_> = at.iter().map(|(_, s)| *s).collect();
        let home = boxes::at_home(k, array_of(k, u), &subscripts)?;
        let slot = k.at_entry(|| Ok(ir.alloca(ty, "point")))?;
        ir.note_spare(&what(s), &array.display);
        let v = ir.load_aligned(ty, home, array.elem.bytes());
        ir.store_aligned(v, slot, array.elem.bytes());
        cells.push(Cell { at, home, slot });
    }
    Ok(cells)
}

/// The loop over strips of times, whose operands are loaded one strip ahead.
fn strips(k: &mut KernelBuilder<'_>, product: &Product<'_, '_>) -> Result<()> {
    let Product { p, operand_tiles, .. } = *product;
    let ir = k.ir;
    let function = ir.block().function();
    let block = |name: &str| ir.append_block(function, name);
    let (head, whole, part, next, after) =
        (block("strip"), block("strip.whole"), block("strip.part"), block("strip.next"), block("strips.end"));
    let [first, last] = p.times;
    load(k, p, operand_tiles, first)?;
    let before = ir.block();
    ir.br(head);
    ir.at_end(head);
    let t0 = ir.phi(ir.i64_type(), &[(first, before)]);
    if !planted("update-barrier") {
        k.abstract_call(BARRIER, ir.void_type());
    }
    store(k, p, operand_tiles)?;
    k.abstract_call(BARRIER, ir.void_type());
    let behind = ir.add(t0, ir.int(STRIP));
    load(k, p, operand_tiles, behind)?;
    let left = ir.add(ir.sub(last, t0), ir.int(1));
    let decided = ir.block();
    ir.cond_br(ir.icmp(LLVMIntSLT, left, ir.int(STRIP)), part, whole);

    ir.at_end(whole);
    for n in 0..STRIP {
        compute(k, product, t0, ir.int(n))?;
    }
    ir.br(next);
    ir.at_end(part);
    let n = ir.phi(ir.i64_type(), &[(ir.int(0), decided)]);
    compute(k, product, t0, n)?;
    let following = ir.add(n, ir.int(1));
    ir.add_incoming(n, following, ir.block());
    ir.cond_br(ir.icmp(LLVMIntSLT, following, left), part, next);
    ir.at_end(next);
    ir.add_incoming(t0, behind, next);
    ir.cond_br(ir.icmp(LLVMIntSGT, behind, last), after, head);
    ir.at_end(after);
    Ok(())
}

/// All points of the thread at the time `n` of the strip from `t0` on.
fn compute(k: &mut KernelBuilder<'_>, product: &Product<'_, '_>, t0: Value, n: Value) -> Result<()> {
    let Product { u, p, operand_tiles, cells, iterators } = *product;
    let ir = k.ir;
    let s = &k.scop.statements[u.statement.0];
    let elem = k.scop.array(s.accesses[u.write].array).elem;
    let ty = llvm_elem(ir, elem);
    let t = ir.add(t0, n);
    let values = operand_tiles
        .iter()
        .map(|operand_tile| operand(k, p, operand_tile, n))
        .collect::<Result<Vec<_>>>()?;
    for Cell { at, slot, .. } in cells {
        let mut emit = p.emit.clone();
        for (d, (_, s)) in at.iter().enumerate() {
            emit.names.insert(iterator_name(d as u32), *s);
        }
        emit.names.insert(iterator_name(p.first.len() as u32), t);
        let instance = iterators.iter().map(|e| emit.emit_int(e)).collect::<Result<Vec<_>>>()?;
        let mut given = BTreeMap::new();
        let mut give = |access: usize, v: Value| match s.accesses[access].value {
            AccessValue::Instruction(i) => {
                given.insert(i.address(), v);
                Ok(())
            }
            _ => internal("an access of an update that is no instruction"),
        };
        for (operand_tile, values) in operand_tiles.iter().zip(&values) {
            let n = operand_tile.operand.along.map_or(0, |d| at[d].0 as usize);
            give(operand_tile.operand.access, values[n])?;
        }
        let held = ir.load_aligned(ty, *slot, elem.bytes());
        for read in &u.reads {
            give(*read, held)?;
        }
        let v = emit_stored(k, &p.emit, u.statement, u.write, &instance, given)?;
        ir.store_aligned(v, *slot, elem.bytes());
    }
    Ok(())
}

/// What a point holds goes to its home, if there is such a point.
fn store_home(k: &mut KernelBuilder<'_>, p: &Points<'_>, u: &Update, cell: &Cell) -> Result<()> {
    let ir = k.ir;
    let s = &k.scop.statements[u.statement.0];
    let array = k.scop.array(s.accesses[u.write].array);
    let mut emit = p.emit.clone();
    for (d, (_, s)) in cell.at.iter().enumerate() {
        emit.names.insert(iterator_name(d as u32), *s);
    }
    let exists = emit.emit_set(&parameterize_set(&u.points)?)?;
    let v = ir.load_aligned(llvm_elem(ir, array.elem), cell.slot, array.elem.bytes());
    let stored = k.unless(ir.not(exists));
    ir.note(&what(s), &array.display);
    ir.store_aligned(v, cell.home, array.elem.bytes());
    ir.br(stored);
    ir.at_end(stored);
    Ok(())
}

fn array_of(k: &KernelBuilder<'_>, u: &Update) -> ArrayId {
    k.scop.statements[u.statement.0].accesses[u.write].array
}

fn points<'e>(k: &KernelBuilder<'_>, emit: &ExprEmitter<'e>, u: &Update, step: Value) -> Result<Points<'e>> {
    let ir = k.ir;
    let Some(task) = &k.task else { return internal("an update of a block that is no task") };
    let thread = ir.zext(task.thread, ir.i64_type());
    let mut emit = emit.clone();
    emit.names.insert(Param::Step.to_string(), step);
    let corner = boxes::corner(k, array_of(k, u))?;
    let (first, number) = match corner.len() {
        1 => (vec![thread], vec![1]),
        2 => {
            let across = ir.int(TILE / POINTS);
            let at = [ir.udiv(thread, across), ir.urem(thread, across)];
            (at.map(|v| ir.mul(v, ir.int(POINTS))).to_vec(), vec![POINTS; 2])
        }
        n => return internal(format!("an update of {n} coordinates")),
    };
    let context = k.kernel().context.clone().params()?;
    let bound = |f: isl::PwAff| emit.emit_int(&pw_aff_expr(&f, Some(&context))?);
    let times = [bound(u.times.clone().dim_min(0)?)?, bound(u.times.clone().dim_max(0)?)?];
    Ok(Points { emit, thread, first, number, corner, times })
}

fn operand_tiles<'u>(
    k: &mut KernelBuilder<'_>,
    p: &Points<'_>,
    u: &'u Update,
) -> Result<Vec<OperandTile<'u>>> {
    let ir = k.ir;
    let threads: i64 = k.kernel().block.iter().map(|b| i64::from(b.size)).product();
    let context = k.kernel().context.clone().params()?;
    let s = &k.scop.statements[u.statement.0];
    let mut start = i64::from(k.storage.boxes.end);
    let mut out = Vec::new();
    for o in &u.operands {
        let id = s.accesses[o.access].array;
        let array = k.scop.array(id);
        let (ty, bytes) = (llvm_elem(ir, array.elem), i64::from(array.elem.bytes()));
        let bound = |f: isl::PwAff| p.emit.emit_int(&pw_aff_expr(&f, Some(&context))?);
        let range = match o.along {
            Some(d) => {
                let (first, last) =
                    (u.points.clone().dim_min(d as i32)?, u.points.clone().dim_max(d as i32)?);
                Some([bound(first)?, bound(last)?, p.corner[d]])
            }
            None => None,
        };
        let f = isl::PwMultiAff::from_map(o.element.clone())?;
        let mut subscripts = Vec::new();
        for d in 0..array.dims() as i32 {
            subscripts.push(pw_aff_expr(&parameterize(&f.at(d)?)?, None)?);
        }
        // Neighbours in memory follow the last subscript.
        let by_time = match array.dims().checked_sub(1) {
            Some(d) if o.along.is_some() => {
                let along = f.at(d as i32)?;
                along.involves_dims(isl::DimType::In, 1, 1)?
                    && !along.involves_dims(isl::DimType::In, 0, 1)?
            }
            _ => true,
        };
        let elements = if o.along.is_some() { TILE * STRIP } else { STRIP };
        let each = (elements + threads - 1) / threads;
        let mut slots = Vec::new();
        for _ in 0..each {
            slots.push(k.at_entry(|| Ok(ir.alloca(ty, "operand")))?);
        }
        out.push(OperandTile {
            operand: o,
            array: id,
            start,
            ty,
            bytes,
            align: alignment(k, id),
            each,
            by_time,
            range,
            slots,
            subscripts,
        });
        let size = if o.along.is_some() { PITCH * STRIP } else { STRIP };
        start += i64::from(((size * bytes) as u32).next_multiple_of(boxes::ALIGN));
    }
    k.storage.boxes.shared_bytes = k.storage.boxes.shared_bytes.max(start as u32);
    Ok(out)
}

/// The point and the time, from the first of the strip, of element number `n` that a thread copies.
fn copied(
    k: &KernelBuilder<'_>,
    p: &Points<'_>,
    operand_tile: &OperandTile<'_>,
    n: i64,
) -> Result<[Value; 2]> {
    let ir = k.ir;
    let threads: i64 = k.kernel().block.iter().map(|b| i64::from(b.size)).product();
    let number = ir.add(p.thread, ir.int(n * threads));
    let across = ir.int(if operand_tile.by_time { STRIP } else { TILE });
    let (slow, fast) = (ir.udiv(number, across), ir.urem(number, across));
    Ok(if operand_tile.by_time { [slow, fast] } else { [fast, slow] })
}

/// Loads a thread's part of the operands of the strip that begins at time `t0`.
fn load(
    k: &mut KernelBuilder<'_>,
    p: &Points<'_>,
    operand_tiles: &[OperandTile<'_>],
    t0: Value,
) -> Result<()> {
    let ir = k.ir;
    for operand_tile in operand_tiles {
        for n in 0..operand_tile.each {
            let [point, time] = copied(k, p, operand_tile, n)?;
            let t = ir.smin(ir.add(t0, time), p.times[1]);
            let mut emit = p.emit.clone();
            let mut names = Vec::new();
            if let Some([first, last, corner]) = operand_tile.range {
                names.push(ir.smin(ir.smax(ir.add(corner, point), first), last));
            }
            names.push(t);
            for (d, v) in names.into_iter().enumerate() {
                emit.names.insert(iterator_name(d as u32), v);
            }
            let subscripts =
                operand_tile.subscripts.iter().map(|e| emit.emit_int(e)).collect::<Result<Vec<_>>>()?;
            let from = boxes::in_memory(k, operand_tile.array, &subscripts)?;
            ir.note("a copy to shared memory", &k.scop.array(operand_tile.array).display);
            let v = ir.load_aligned(operand_tile.ty, from, operand_tile.align);
            ir.store_aligned(v, operand_tile.slots[n as usize], operand_tile.bytes as u32);
        }
    }
    Ok(())
}

/// Stores what was loaded to the operand tiles.
fn store(k: &mut KernelBuilder<'_>, p: &Points<'_>, operand_tiles: &[OperandTile<'_>]) -> Result<()> {
    let ir = k.ir;
    let shared = boxes::shared(k)?;
    for operand_tile in operand_tiles {
        let pitch = ir.int(if operand_tile.operand.along.is_some() { PITCH } else { 1 });
        for n in 0..operand_tile.each {
            let [point, time] = copied(k, p, operand_tile, n)?;
            let v =
                ir.load_aligned(operand_tile.ty, operand_tile.slots[n as usize], operand_tile.bytes as u32);
            let few = operand_tile.operand.along.is_none();
            let after = few.then(|| k.unless(ir.icmp(LLVMIntSGE, p.thread, ir.int(STRIP))));
            let at = if few { time } else { ir.add(ir.mul(time, pitch), point) };
            let offset = ir.add(ir.int(operand_tile.start), ir.mul(at, ir.int(operand_tile.bytes)));
            ir.note("a copy to shared memory", &k.scop.array(operand_tile.array).display);
            ir.store_aligned(v, ir.byte_offset(shared, offset), operand_tile.bytes as u32);
            if let Some(after) = after {
                ir.br(after);
                ir.at_end(after);
            }
        }
    }
    Ok(())
}

/// What an operand is for the thread's points along its coordinate, at time `n` of the strip.
fn operand(
    k: &KernelBuilder<'_>,
    p: &Points<'_>,
    operand_tile: &OperandTile<'_>,
    n: Value,
) -> Result<Vec<Value>> {
    let ir = k.ir;
    let shared = boxes::shared(k)?;
    ir.note("an operand in shared memory", &k.scop.array(operand_tile.array).display);
    let (at, number) = match operand_tile.operand.along {
        Some(d) => (ir.add(ir.mul(n, ir.int(PITCH)), p.first[d]), p.number[d]),
        None => (n, 1),
    };
    let offset = ir.add(ir.int(operand_tile.start), ir.mul(at, ir.int(operand_tile.bytes)));
    let from = ir.byte_offset(shared, offset);
    let width = (i64::from(boxes::ALIGN) / operand_tile.bytes).clamp(1, number);
    let mut out = Vec::new();
    for first in (0..number).step_by(width as usize) {
        let from = ir.byte_offset(from, ir.int(first * operand_tile.bytes));
        if width == 1 {
            out.push(ir.load_aligned(operand_tile.ty, from, operand_tile.bytes as u32));
            continue;
        }
        let v = ir.load_aligned(
            ir.vector_type(operand_tile.ty, width as u32),
            from,
            (width * operand_tile.bytes) as u32,
        );
        out.extend((0..width as u32).map(|i| ir.extract(v, i)));
    }
    Ok(out)
}
