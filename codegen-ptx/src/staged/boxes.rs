//! Homes and stages of a task ([`pollyrs_schedule::TaskMemory`]): boxes of arrays in shared memory while the
//! block runs.
//!
//! ```text
//! for e in thread, thread + threads, ..: if A[corner + e] is copied: box[e] = A[corner + e]
//! S, of an access that is of the block's own tile:          home[s - corner]
//!    of one that is not:                                    stage[s - corner], else A[s]
//!    of one that is in some tiles, or for some instances:   what a condition says
//! ```
//! All loads of a group of copies are on their way before the first store: where an element is not copied,
//! the first that is stands in.

use crate::affine::expr::{parameterize_set, pw_aff_expr};
use crate::affine::sums::Sum;
use crate::affine::unroll_jam;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{BARRIER, SHARED};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::builder::alignment;
use crate::kernel::storage::Element;
use crate::staged::groups;
use crate::staged::registers::Registers;
use crate::staged::state::KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLT, LLVMIntULT};
use pollyrs_isl as isl;
use pollyrs_schedule::TileBox;
use pollyrs_scop::{AccessKind, ArrayId, StmtId};
use std::collections::BTreeMap;

/// Alignment of boxes and operand tiles, in bytes.
pub(crate) const ALIGN: u32 = 16;
/// Copies of a thread at once.
const GROUP: i64 = 8;

/// Where an access finds its element.
#[derive(Clone, Copy, Debug)]
enum Side {
    Home,
    Other,
    /// At home if it holds, the same for the whole block.
    Whole(Value),
    /// By the element.
    Each,
}

struct Place {
    array: ArrayId,
    start: u32,
    strides: Vec<u32>,
    size: Vec<u32>,
    corner: Vec<Value>,
}

/// The boxes of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct Boxes {
    homes: Vec<Place>,
    stages: Vec<Place>,
    shared: Option<Value>,
    sides: BTreeMap<(StmtId, usize), Side>,
    /// What a thread has of carried updates, by their numbers.
    pub carried: BTreeMap<usize, Registers>,
    /// Behind all boxes, in bytes.
    pub end: u32,
    /// With what updates copy.
    pub shared_bytes: u32,
}

/// Whether all updates can be products: nothing in them can fail, or is a function that may set an error, for
/// points that there are not.
pub(crate) fn are_updates(k: &KernelBuilder<'_>) -> bool {
    let speculates = |id: StmtId| {
        let s = &k.scop.statements[id.0];
        s.body.iter().all(|i| groups::speculates(host_value(*i)))
    };
    let updates = k.kernel().updates().iter().map(|u| u.statement);
    updates.chain(k.kernel().carried().iter().map(|c| c.statement)).all(speculates)
}

fn place(k: &KernelBuilder<'_>, b: &TileBox, end: &mut u32) -> Result<Place> {
    let start = *end;
    *end = (start + b.elements() * k.scop.array(b.array).elem.bytes()).next_multiple_of(ALIGN);
    let mut corner = Vec::new();
    for d in 0..b.size.len() {
        let f = b.corner.clone().dim_min(d as i32)?;
        let context = k.kernel().context.clone().params()?;
        corner.push(k.emit.emit_int(&pw_aff_expr(&f, Some(&context))?)?);
    }
    Ok(Place { array: b.array, start, strides: b.strides(), size: b.size.clone(), corner })
}

/// `[params, _h*, _b*] -> { S[i] }`: instances of the block, of those that are no updates.
fn of_block(k: &KernelBuilder<'_>) -> Result<isl::UnionSet> {
    let b: Vec<_> = k.kernel().grid.iter().map(|g| g.param.as_str()).collect();
    let x: Vec<_> = (0..b.len()).map(|d| format!("x{d}")).collect();
    let equal: Vec<_> = x.iter().zip(&b).map(|(x, b)| format!("{x} = {b}")).collect();
    let text = format!("[{}] -> {{ [{}] : {} }}", b.join(", "), x.join(", "), equal.join(" and "));
    let here = isl::UnionSet::read(k.kernel().domain.context(), &text)?;
    let tile = k.kernel().tile_map.clone().intersect_range(here)?.domain()?;
    let mut all = k.kernel().domain.clone().intersect(tile)?;
    for u in k.kernel().updates().iter().filter(|_| are_updates(k)) {
        all = all.subtract(u.instances.clone())?;
    }
    Ok(all)
}

/// Fills what is there from the beginning, ahead of all instances.
pub(crate) fn begin(k: &mut KernelBuilder<'_>) -> Result<()> {
    let kernel = k.kernel();
    let Some(task) = kernel.task().filter(|t| !t.homes.is_empty()) else { return Ok(()) };
    let mut end = k.storage.windows.shared_bytes.next_multiple_of(ALIGN);
    let mut boxes = Boxes { shared: Some(k.abstract_call(SHARED, k.ir.ptr_type())), ..Boxes::default() };
    for h in &task.homes {
        boxes.homes.push(place(k, &h.at, &mut end)?);
    }
    for s in task.stages.iter().filter(|_| are_updates(k)) {
        boxes.stages.push(place(k, &s.at, &mut end)?);
    }
    (boxes.end, boxes.shared_bytes) = (end, end);
    let context = kernel.context.clone().params()?;
    let instances = of_block(k)?.intersect_params(context.clone())?;
    for (id, s) in k.scop.statements.iter().enumerate() {
        let own = instances.extract_set(s.domain.space()?)?;
        for (n, a) in s.accesses.iter().enumerate() {
            let Some(h) = task.homes.iter().find(|h| h.at.array == a.array) else {
                if boxes.stages.iter().any(|p| p.array == a.array) {
                    boxes.sides.insert((StmtId(id), n), Side::Other);
                }
                continue;
            };
            let cells = h.at.cells(&k.scop.array(a.array).name)?;
            let touched = a.relation.clone().intersect_domain(own.clone())?;
            let here = touched.clone().intersect_range(cells)?.domain()?.coalesce()?;
            let there = own.clone().subtract(here.clone())?.coalesce()?;
            let side = if there.is_empty()? {
                Side::Home
            } else if here.is_empty()? {
                Side::Other
            } else {
                let (home, other) = (here.params()?.coalesce()?, there.params()?);
                match home.is_disjoint(&other)? {
                    true => {
                        let known = home.clone().union(other)?;
                        let home = home.gist(known)?.gist(context.clone())?.coalesce()?;
                        Side::Whole(k.emit.emit_set(&home)?)
                    }
                    false => Side::Each,
                }
            };
            if a.kind != AccessKind::Read && !matches!(side, Side::Home) {
                return internal(format!("{} writes what is not at home", s.name));
            }
            boxes.sides.insert((StmtId(id), n), side);
        }
    }
    k.storage.boxes = boxes;
    for (i, h) in task.homes.iter().enumerate() {
        fill(k, (true, i), &h.at.copied)?;
    }
    let early = task.stages.iter().enumerate().filter(|(i, s)| s.early && *i < k.storage.boxes.stages.len());
    for (i, s) in early.collect::<Vec<_>>() {
        fill(k, (false, i), &s.at.copied)?;
    }
    k.has_barrier = true;
    k.abstract_call(BARRIER, k.ir.void_type());
    Ok(())
}

/// Fills the stages whose elements others write.
pub(crate) fn stages(k: &mut KernelBuilder<'_>) -> Result<()> {
    let stages = k.kernel().task().map_or(&[][..], |t| &t.stages);
    for (i, s) in stages.iter().enumerate() {
        if !s.early && i < k.storage.boxes.stages.len() {
            fill(k, (false, i), &s.at.copied)?;
        }
    }
    Ok(())
}

/// Stores what was written, behind all instances.
pub(crate) fn end(k: &mut KernelBuilder<'_>) -> Result<()> {
    let homes = k.kernel().task().map_or(&[][..], |t| &t.homes);
    if k.storage.boxes.homes.is_empty() {
        return Ok(());
    }
    k.abstract_call(BARRIER, k.ir.void_type());
    for (i, h) in homes.iter().enumerate() {
        let stored = &h.stored;
        elements(k, (true, i), |k, group| {
            let array = k.scop.array(k.storage.boxes.homes[i].array);
            let (ty, align) = (llvm_elem(k.ir, array.elem), alignment(k, k.storage.boxes.homes[i].array));
            let mut values = Vec::new();
            for e in &group {
                k.ir.note_spare("a copy from shared memory", &array.display);
                values.push(k.ir.load_aligned(ty, e.shared, array.elem.bytes()));
            }
            for (e, v) in group.iter().zip(values) {
                let holds = is_in(k, stored, e)?;
                let to = in_memory(k, k.storage.boxes.homes[i].array, &e.subscripts)?;
                let after = k.unless(k.ir.not(holds));
                k.ir.note("a copy from shared memory", &array.display);
                k.ir.store_aligned(v, to, align);
                k.ir.br(after);
                k.ir.at_end(after);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// An element of a box.
struct Cell {
    shared: Value,
    subscripts: Vec<Value>,
    /// Whether it is one of the box, where there are fewer than threads.
    exists: Option<Value>,
}

/// Whether an element is in a set `[params] -> { A[s] }`.
fn is_in(k: &KernelBuilder<'_>, set: &isl::Set, e: &Cell) -> Result<Value> {
    let mut emit = k.emit.clone();
    for (d, s) in e.subscripts.iter().enumerate() {
        emit.names.insert(crate::affine::expr::iterator_name(d as u32), *s);
    }
    let holds = emit.emit_set(&parameterize_set(set)?)?;
    Ok(e.exists.map_or(holds, |exists| k.ir.and(holds, exists)))
}

/// Emits a loop in which a thread gets its elements of a box, some at once.
fn elements(
    k: &mut KernelBuilder<'_>,
    (home, index): (bool, usize),
    mut body: impl FnMut(&mut KernelBuilder<'_>, Vec<Cell>) -> Result<()>,
) -> Result<()> {
    let ir = k.ir;
    let Some(task) = &k.task else { return internal("boxes without a task") };
    let thread = ir.zext(task.thread, ir.i64_type());
    let threads: i64 = k.kernel().block.iter().map(|b| i64::from(b.size)).product();
    let boxes = &k.storage.boxes;
    let Some(shared) = boxes.shared else { return internal("boxes without shared memory") };
    let p = if home { &boxes.homes[index] } else { &boxes.stages[index] };
    let bytes = i64::from(k.scop.array(p.array).elem.bytes());
    let total: i64 = p.size.iter().map(|s| i64::from(*s)).product();
    let each = (total + threads - 1) / threads;
    let group = each.min(GROUP);
    let turns = (each + group - 1) / group;
    let exact = turns * group * threads == total;
    let (size, strides, corner, start) =
        (p.size.clone(), p.strides.clone(), p.corner.clone(), i64::from(p.start));
    let cell = |number: Value| {
        let (mut rest, mut offset) = (number, ir.int(start));
        let mut subscripts = vec![ir.int(0); size.len()];
        for d in (0..size.len()).rev() {
            let s = ir.int(i64::from(size[d]));
            let at = if d == 0 { rest } else { ir.urem(rest, s) };
            rest = if d == 0 { rest } else { ir.udiv(rest, s) };
            offset = ir.add(offset, ir.mul(at, ir.int(i64::from(strides[d]) * bytes)));
            subscripts[d] = ir.add(corner[d], at);
        }
        let exists = (!exact).then(|| ir.icmp(LLVMIntSLT, number, ir.int(total)));
        if let Some(exists) = exists {
            offset = ir.select(exists, offset, ir.int(start));
        }
        Cell { shared: ir.byte_offset(shared, offset), subscripts, exists }
    };
    counted(k, turns, |k, turn| {
        let first = ir.add(thread, ir.mul(turn, ir.int(group * threads)));
        let cells = (0..group).map(|n| cell(ir.add(first, ir.int(n * threads)))).collect();
        body(k, cells)
    })
}

/// Emits a loop of so many iterations, at least one.
pub(crate) fn counted(
    k: &mut KernelBuilder<'_>,
    iterations: i64,
    body: impl FnOnce(&mut KernelBuilder<'_>, Value) -> Result<()>,
) -> Result<()> {
    let ir = k.ir;
    if iterations <= 1 {
        return body(k, ir.int(0));
    }
    let function = ir.block().function();
    let (head, after) = (ir.append_block(function, "turns"), ir.append_block(function, "turned"));
    let before = ir.block();
    ir.br(head);
    ir.at_end(head);
    let counter = ir.phi(ir.i64_type(), &[]);
    body(k, counter)?;
    let next = ir.add(counter, ir.int(1));
    ir.add_incoming(counter, ir.int(0), before);
    ir.add_incoming(counter, next, ir.block());
    ir.cond_br(ir.icmp(LLVMIntEQ, next, ir.int(iterations)), after, head);
    ir.at_end(after);
    Ok(())
}

/// Copies a set of elements to a box.
fn fill(k: &mut KernelBuilder<'_>, which: (bool, usize), copied: &isl::Set) -> Result<()> {
    if copied.is_empty()? {
        return Ok(());
    }
    let id =
        if which.0 { k.storage.boxes.homes[which.1].array } else { k.storage.boxes.stages[which.1].array };
    let array = k.scop.array(id);
    let (ty, align) = (llvm_elem(k.ir, array.elem), alignment(k, id));
    let context = k.kernel().context.clone().params()?;
    let some = copied.clone().params()?.gist(context)?.coalesce()?;
    let some = k.emit.emit_set(&some)?;
    let skipped = k.unless(k.ir.not(some));
    let first = isl::PwMultiAff::from_set(copied.clone().lexmin()?)?;
    let mut stand_in = Vec::new();
    for d in 0..array.dims() {
        stand_in.push(k.emit.emit_int(&pw_aff_expr(&first.at(d as i32)?, None)?)?);
    }
    elements(k, which, |k, group| {
        let (mut values, mut copies) = (Vec::new(), Vec::new());
        for e in &group {
            let holds = is_in(k, copied, e)?;
            let subscripts: Vec<_> =
                e.subscripts.iter().zip(&stand_in).map(|(s, other)| k.ir.select(holds, *s, *other)).collect();
            let from = in_memory(k, id, &subscripts)?;
            k.ir.note("a copy to shared memory", &array.display);
            values.push(k.ir.load_aligned(ty, from, align));
            copies.push(holds);
        }
        for ((e, v), holds) in group.iter().zip(values).zip(copies) {
            let after = k.unless(k.ir.not(holds));
            k.ir.note("a copy to shared memory", &array.display);
            k.ir.store_aligned(v, e.shared, array.elem.bytes());
            k.ir.br(after);
            k.ir.at_end(after);
        }
        Ok(())
    })?;
    k.ir.br(skipped);
    k.ir.at_end(skipped);
    Ok(())
}

/// The address of an element in its array's memory.
pub(crate) fn in_memory(k: &mut KernelBuilder<'_>, id: ArrayId, subscripts: &[Value]) -> Result<Value> {
    let Some(base) = k.arrays.get(&id).copied() else { return internal("a box without an array") };
    let Some((first, rest)) = subscripts.split_first() else { return Ok(base) };
    let mut offset = *first;
    for (d, s) in rest.iter().enumerate() {
        let size = k.size(id, d + 1)?;
        offset = k.ir.add(k.ir.mul(offset, size), *s);
    }
    let elem = llvm_elem(k.ir, k.scop.array(id).elem);
    Ok(k.ir.element(elem, base, offset))
}

/// The offset in shared memory of an element of a box: that of the first one of those that a thread has
/// together, and what it is further ([`unroll_jam`]).
fn offset(k: &KernelBuilder<'_>, p: &Place, subscripts: &[Value]) -> (Value, Sum) {
    let bytes = i64::from(k.scop.array(p.array).elem.bytes());
    let mut at = Sum::number(i64::from(p.start));
    for ((s, corner), stride) in subscripts.iter().zip(&p.corner).zip(&p.strides) {
        let stride = i64::from(*stride) * bytes;
        at = at.plus(&k.emit.sum_of(*s), stride).plus(&k.emit.sum_of(*corner), -stride);
    }
    let (shift, first) = at.divided(unroll_jam::is_shift);
    (added(k, &first), shift)
}

fn added(k: &KernelBuilder<'_>, sum: &Sum) -> Value {
    let (sum, number) = sum.emit(k.ir);
    k.ir.add(sum, k.ir.int(number))
}

/// The address of an element of a home.
pub(crate) fn at_home(k: &KernelBuilder<'_>, id: ArrayId, subscripts: &[Value]) -> Result<Value> {
    let boxes = &k.storage.boxes;
    match (boxes.homes.iter().find(|p| p.array == id), boxes.shared) {
        (Some(p), Some(shared)) => {
            let (first, shift) = offset(k, p, subscripts);
            Ok(k.ir.byte_offset(shared, k.ir.add(first, added(k, &shift))))
        }
        _ => internal("an array without a home"),
    }
}

/// The corner of an array's home.
pub(crate) fn corner(k: &KernelBuilder<'_>, id: ArrayId) -> Result<Vec<Value>> {
    match k.storage.boxes.homes.iter().find(|p| p.array == id) {
        Some(p) => Ok(p.corner.clone()),
        None => internal("an array without a home"),
    }
}

/// The shared memory of the block.
pub(crate) fn shared(k: &KernelBuilder<'_>) -> Result<Value> {
    k.storage.boxes.shared.map_or_else(|| internal("no shared memory"), Ok)
}

/// Where an element that is in a box is in shared memory, in bytes.
pub(crate) fn offset_in_box(k: &KernelBuilder<'_>, e: &Element<'_>) -> Result<Value> {
    let boxes = &k.storage.boxes;
    let subscripts = e.subscripts()?;
    let of = |all: &[Place]| {
        let place = all.iter().find(|p| p.array == e.array)?;
        let (first, shift) = offset(k, place, &subscripts);
        Some(k.ir.add(first, added(k, &shift)))
    };
    let at_home = match boxes.sides.get(&(e.statement, e.access)) {
        Some(Side::Home) => k.ir.bool(true),
        Some(Side::Other) => k.ir.bool(false),
        Some(Side::Whole(c)) => *c,
        Some(Side::Each) => inside(k, e.array, &subscripts),
        None => return internal("an element without a side"),
    };
    match (of(&boxes.homes), of(&boxes.stages)) {
        (Some(own), Some(other)) => Ok(k.ir.select(at_home, own, other)),
        (Some(one), None) | (None, Some(one)) => Ok(one),
        (None, None) => internal("an element without a box"),
    }
}

/// How much further in shared memory an element is whose subscripts differ by numbers from those of another
/// one in the same box, in bytes. `None`: they do not, or boxes of the array have rows of several lengths.
pub(crate) fn further(
    k: &KernelBuilder<'_>,
    id: ArrayId,
    from: &[Value],
    subscripts: &[Value],
) -> Option<i64> {
    let boxes = k.storage.boxes.homes.iter().chain(&k.storage.boxes.stages);
    let mut strides = boxes.filter(|p| p.array == id).map(|p| &p.strides);
    let all = strides.next()?;
    if strides.any(|other| other != all) {
        return None;
    }
    let mut offset = 0;
    for ((s, o), stride) in subscripts.iter().zip(from).zip(all) {
        let further = k.emit.sum_of(*s).plus(&k.emit.sum_of(*o), -1).constant()?;
        offset += further * i64::from(*stride);
    }
    Some(offset * i64::from(k.scop.array(id).elem.bytes()))
}

/// Whether an element is at its array's home.
fn inside(k: &KernelBuilder<'_>, id: ArrayId, subscripts: &[Value]) -> Value {
    let Some(p) = k.storage.boxes.homes.iter().find(|p| p.array == id) else { return k.ir.bool(false) };
    let mut all = k.ir.bool(true);
    for ((s, corner), size) in subscripts.iter().zip(&p.corner).zip(&p.size) {
        let inside = k.ir.icmp(LLVMIntULT, k.ir.sub(*s, *corner), k.ir.int(i64::from(*size)));
        all = k.ir.and(all, inside);
    }
    all
}

/// The address of an element, if it may be in a box.
pub(crate) fn address(k: &mut KernelBuilder<'_>, e: &Element<'_>) -> Result<Option<Value>> {
    let Some(side) = k.storage.boxes.sides.get(&(e.statement, e.access)).copied() else { return Ok(None) };
    let boxes = &k.storage.boxes;
    let stage = boxes.stages.iter().position(|p| p.array == e.array);
    let home = boxes.homes.iter().position(|p| p.array == e.array);
    if matches!(side, Side::Other) && stage.is_none() {
        return Ok(None);
    }
    let (subscripts, shared) = (e.subscripts()?, shared(k)?);
    let other = stage.map(|i| offset(k, &k.storage.boxes.stages[i], &subscripts));
    let own = home.map(|i| offset(k, &k.storage.boxes.homes[i], &subscripts));
    let at_home = match (side, home) {
        (Side::Home, _) => None,
        (Side::Other, _) => Some(k.ir.bool(false)),
        (Side::Whole(c), _) => Some(c),
        (Side::Each, Some(_)) => Some(inside(k, e.array, &subscripts)),
        (Side::Each, None) => return internal("an array without a home"),
    };
    let at =
        |(first, shift): &(Value, Sum)| k.ir.byte_offset(k.ir.byte_offset(shared, *first), added(k, shift));
    Ok(Some(match (at_home, own, other) {
        (None, Some(own), _) => at(&own),
        (Some(_), None, Some(other)) => at(&other),
        // The boxes of an array have rows of the same length.
        (Some(c), Some((own, shift)), Some((other, same))) if shift == same => {
            at(&(k.ir.select(c, own, other), shift))
        }
        (Some(c), Some(own), Some(other)) => k.ir.select(c, at(&own), at(&other)),
        (Some(c), Some(own), None) => {
            let own = at(&own);
            let memory = in_memory(k, e.array, &subscripts)?;
            k.ir.select(c, own, memory)
        }
        _ => return internal("an element without a place"),
    }))
}
