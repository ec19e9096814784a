//! Carried updates of a task ([`pollyrs_schedule::Carried`]): a thread has some elements of the tile in
//! registers, from the first of the update's steps to the last one that an element has.
//!
//! ```text
//! if t is a time of the update
//!   if t is the first one: acc = home[elements of the thread]; last[..] = when each is stored, if ever
//!   acc = S(acc, operands of t)
//!   home[element] = acc, for elements whose last time is t
//! ```
//! A thread has each `p`-th row and each `q`-th column, where the block has `p × q` threads: those of a warp
//! are neighbours in a row. All elements of the tile are computed at each time: what comes of those that have
//! no instance, or none any more, is never stored.

use crate::affine::expr::{ExprEmitter, iterator_name, parameterize, parameterize_set, pw_aff_expr};
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::storage::Element;
use crate::staged::boxes;
use crate::staged::registers::{IN_WORD, Registers};
use crate::staged::state::KernelBuilder;
use crate::statement::emit::{emit_stored, what};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE, LLVMIntSLE};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_isl as isl;
use pollyrs_schedule::{Carried, MOST_TIMES, Operand, Param};
use pollyrs_scop::{AccessValue, ArrayId, Statement};
use std::collections::BTreeMap;

/// Elements along each coordinate of a tile.
const TILE: i64 = 64;

/// The byte of an element that is never stored.
const NEVER: i64 = 0xff;
const _: () = assert!(MOST_TIMES < NEVER);

/// A step.
struct Now<'a, 'e> {
    c: &'a Carried,
    s: &'a Statement,
    emit: ExprEmitter<'e>,
    time: Value,
    first: Value,
    /// The coordinates of the thread's rows and of its columns.
    at: [Vec<Value>; 2],
    registers: Registers,
}

/// Emits step `step`, the coordinates.
pub(crate) fn emit(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    number: usize,
    step: &[Value],
) -> Result<()> {
    let ir = k.ir;
    let kernel = k.kernel();
    let Some(c) = kernel.carried().iter().find(|c| c.number == number) else {
        return internal(format!("there is no carried update {number}"));
    };
    let (Some(tile), Some(time)) = (step.first(), step.get(c.time)) else {
        return internal("a carried update without a time");
    };
    let mut emit = emit.clone();
    emit.names.insert(Param::Step.to_string(), *tile);
    let context = kernel.context.clone().params()?;
    let bound = |f: isl::PwAff| emit.emit_int(&pw_aff_expr(&f, Some(&context))?);
    let some = c.times.clone().params()?.gist(context.clone())?.coalesce()?;
    let there = emit.emit_set(&some)?;
    let (first, last) = (bound(c.times.clone().dim_min(0)?)?, bound(c.times.clone().dim_max(0)?)?);
    let inside = ir.and(ir.icmp(LLVMIntSLE, first, *time), ir.icmp(LLVMIntSLE, *time, last));
    let none = k.unless(ir.not(ir.and(there, inside)));
    let [p, q] = sizes(k)?;
    let registers = registers(k, c)?;
    let s = &k.scop.statements[c.statement.0];
    let loaded = k.unless(ir.icmp(LLVMIntNE, *time, first));
    take_rows(k, &registers, array_of(s, c), [p, q])?;
    let mut now = Now { c, s, emit, time: *time, first, at: Default::default(), registers };
    now.at = coordinates(k, &now, [p, q])?;
    load(k, &now)?;
    ir.br(loaded);
    ir.at_end(loaded);
    now.at = coordinates(k, &now, [p, q])?;
    compute(k, &now)?;
    store(k, &now)?;
    ir.br(none);
    ir.at_end(none);
    Ok(())
}

fn array_of(s: &Statement, c: &Carried) -> ArrayId {
    s.accesses[c.write].array
}

/// In the first step: how far the thread's first row and column are from the corner: those of the tile that
/// have the thread's number as their remainder, like in [`pollyrs_schedule::MappedKernel::thread_map`].
///
/// The optimizer is not told what they are: it would keep what comes of them for each element from one task's
/// step to the next, and products have no register to spare.
fn take_rows(k: &KernelBuilder<'_>, registers: &Registers, array: ArrayId, [p, q]: [i64; 2]) -> Result<()> {
    let ir = k.ir;
    let Some(task) = &k.task else { return internal("a carried update of a block that is no task") };
    let thread = ir.zext(task.thread, ir.i64_type());
    let threads = [(ir.udiv(thread, ir.int(q)), p), (ir.urem(thread, ir.int(q)), q)];
    let corner = boxes::corner(k, array)?;
    for (((thread, n), corner), slot) in threads.into_iter().zip(corner).zip(registers.ahead) {
        // Sizes are powers of two: the remainder of what may be negative.
        let ahead = ir.and(ir.sub(thread, corner), ir.int(n - 1));
        ir.store(k.opaque(ahead), slot);
    }
    Ok(())
}

/// The coordinates of the thread's rows and columns.
fn coordinates(k: &KernelBuilder<'_>, now: &Now<'_, '_>, sizes: [i64; 2]) -> Result<[Vec<Value>; 2]> {
    let ir = k.ir;
    let corner = boxes::corner(k, array_of(now.s, now.c))?;
    let mut at = [Vec::new(), Vec::new()];
    for (((n, corner), slot), at) in sizes.into_iter().zip(corner).zip(now.registers.ahead).zip(&mut at) {
        let ahead = ir.load(ir.i64_type(), slot);
        at.extend((0..TILE / n).map(|i| k.emit.plus(corner, k.emit.beside(ahead, i * n))));
    }
    Ok(at)
}

/// Ahead of all instances: the registers of all carried updates.
pub(crate) fn begin(k: &mut KernelBuilder<'_>) -> Result<()> {
    let kernel = k.kernel();
    for c in kernel.carried().iter().filter(|_| boxes::are_updates(k)).collect::<Vec<_>>() {
        registers(k, c)?;
    }
    Ok(())
}

/// Where nothing of carried updates is needed any more, or yet: the optimizer does not see that each begins
/// with loads, and would keep registers for them.
pub(crate) fn forget(k: &KernelBuilder<'_>) {
    let ir = k.ir;
    let none = |bits: u32| ir.trunc(ir.int(0), ir.int_type(bits));
    for (number, r) in &k.storage.boxes.carried {
        let Some(c) = k.kernel().carried().iter().find(|c| c.number == *number) else { continue };
        let elem = k.scop.array(array_of(&k.scop.statements[c.statement.0], c)).elem;
        let ty = llvm_elem(ir, elem);
        let bits = ir.int_type(8 * elem.bytes());
        let zero = ir.cast(LLVMOpcode::LLVMBitCast, ir.trunc(ir.int(0), bits), ty);
        for slot in r.values.iter().flatten() {
            ir.store(zero, *slot);
        }
        for slot in r.last.iter().flatten() {
            ir.store(none(32), *slot);
        }
        for slot in r.stored.iter().chain(&r.ahead).chain(&r.operands).chain([&r.home]) {
            ir.store(ir.int(0), *slot);
        }
    }
}

/// The sizes of the block, which divide those of a tile.
fn sizes(k: &KernelBuilder<'_>) -> Result<[i64; 2]> {
    let sizes: Vec<i64> = k.kernel().block.iter().map(|b| i64::from(b.size)).collect();
    let [p, q] = sizes[..] else { return internal("a carried update of a block of one dimension") };
    match [p, q].iter().any(|n| !(1..=TILE).contains(n) || TILE % n != 0) {
        true => internal("a carried update in a block whose sizes do not divide a tile's"),
        false => Ok([p, q]),
    }
}

/// What the thread has, the same wherever the update is emitted.
fn registers(k: &mut KernelBuilder<'_>, c: &Carried) -> Result<Registers> {
    let [rows, columns] = sizes(k)?.map(|n| (TILE / n) as usize);
    if let Some(r) = k.storage.boxes.carried.get(&c.number) {
        return Ok(r.clone());
    }
    let ir = k.ir;
    let ty = llvm_elem(ir, k.scop.array(k.scop.statements[c.statement.0].accesses[c.write].array).elem);
    let slots = |n: usize, ty: Type, name: &str| -> Result<Vec<Value>> {
        (0..n).map(|_| k.at_entry(|| Ok(ir.alloca(ty, name)))).collect()
    };
    let mut values = Vec::new();
    for _ in 0..rows {
        values.push(slots(columns, ty, "carried")?);
    }
    let stored = slots(columns, ir.i64_type(), "stored")?;
    let mut last = Vec::new();
    for _ in 0..columns {
        last.push(slots(rows.div_ceil(IN_WORD), ir.int_type(32), "last")?);
    }
    let [row, column, home] = slots(3, ir.i64_type(), "ahead")?[..] else {
        return internal("three slots are not three");
    };
    let operands = slots(c.operands.len(), ir.i64_type(), "operand")?;
    let r = Registers { values, stored, last, ahead: [row, column], home, operands };
    k.storage.boxes.carried.insert(c.number, r.clone());
    Ok(r)
}

/// The address of an element at home.
fn home(k: &KernelBuilder<'_>, now: &Now<'_, '_>, row: usize, column: usize) -> Result<Value> {
    let at = |row: usize, column: usize| [now.at[0][row], now.at[1][column]];
    let Some(further) = boxes::further(k, array_of(now.s, now.c), &at(0, 0), &at(row, column)) else {
        return internal("a home with rows of several lengths");
    };
    let first = k.ir.load(k.ir.i64_type(), now.registers.home);
    Ok(k.ir.byte_offset(boxes::shared(k)?, k.ir.add(first, k.ir.int(further))))
}

/// In the first step: elements, and when they are stored.
fn load(k: &mut KernelBuilder<'_>, now: &Now<'_, '_>) -> Result<()> {
    let ir = k.ir;
    let array = k.scop.array(now.s.accesses[now.c.write].array);
    let ty = llvm_elem(ir, array.elem);
    let subscript = |d: usize| Ok(now.at[d][0]);
    let (statement, access, dims) = (now.c.statement, now.c.write, array.dims());
    let element = Element { statement, access, array: array_of(now.s, now.c), dims, subscript: &subscript };
    ir.store(boxes::offset_in_box(k, &element)?, now.registers.home);
    for (o, slot) in now.c.operands.iter().zip(&now.registers.operands) {
        let subscripts = subscripts(k, now, o, 0, now.time)?;
        let (access, array) = (o.access, now.s.accesses[o.access].array);
        let (subscript, dims) = (|d: usize| Ok(subscripts[d]), subscripts.len());
        let element = Element { statement, access, array, dims, subscript: &subscript };
        ir.store(boxes::offset_in_box(k, &element)?, *slot);
    }
    let by_element = isl::Map::read(now.c.points.context(), "{ [a, b, t] -> [[a, b] -> [t]] }")?;
    let times = now.c.points.clone().apply(by_element)?.unwrap()?;
    let homes = k.kernel().task().map_or(&[][..], |t| &t.homes);
    let Some(own) = homes.iter().find(|h| h.at.array == now.s.accesses[now.c.write].array) else {
        return internal("a carried update of an array without a home");
    };
    // All elements are of the tile.
    let tile = own.at.cells(&array.name)?.reset_tuple_id()?;
    let exists = parameterize_set(&times.clone().domain()?.gist(tile.clone())?.coalesce()?)?;
    let last = isl::PwMultiAff::from_map(times.lexmax()?)?.at(0)?.gist(tile)?.coalesce()?;
    let last = pw_aff_expr(&parameterize(&last)?, None)?;
    for (column, stored) in now.registers.stored.iter().enumerate() {
        let mut bits = ir.int(0);
        let mut words = vec![ir.int(0); now.registers.last[column].len()];
        for (row, values) in now.registers.values.iter().enumerate() {
            let from = home(k, now, row, column)?;
            ir.note_spare(&what(now.s), &array.display);
            let v = ir.load_aligned(ty, from, array.elem.bytes());
            ir.store(v, values[column]);
            let mut emit = now.emit.clone();
            for (d, n) in [row, column].into_iter().enumerate() {
                emit.names.insert(iterator_name(d as u32), now.at[d][n]);
            }
            let is = emit.emit_set(&exists)?;
            let at = ir.sub(emit.emit_int(&last)?, now.first);
            // A shift by what there is not would be poison.
            let at = ir.select(is, at, ir.int(0));
            bits = ir.or(bits, ir.shl(ir.zext(is, ir.i64_type()), at));
            let byte = ir.select(is, at, ir.int(NEVER));
            let word = &mut words[row / IN_WORD];
            *word = ir.or(*word, ir.shl(byte, ir.int(shift_of(row))));
        }
        ir.store(bits, *stored);
        for (word, slot) in words.into_iter().zip(&now.registers.last[column]) {
            ir.store(ir.trunc(word, ir.int_type(32)), *slot);
        }
    }
    Ok(())
}

/// Where the byte of a row is in its word.
fn shift_of(row: usize) -> i64 {
    8 * (row % IN_WORD) as i64
}

/// All elements of the thread at this time.
fn compute(k: &mut KernelBuilder<'_>, now: &Now<'_, '_>) -> Result<()> {
    let ir = k.ir;
    let ty = llvm_elem(ir, k.scop.array(now.s.accesses[now.c.write].array).elem);
    let mut operands = Vec::new();
    for slot in now.c.operands.iter().zip(now.registers.operands.clone()) {
        operands.push(operand(k, now, slot)?);
    }
    let inverse = isl::PwMultiAff::from_map(now.c.place.clone().reverse()?)?;
    let mut iterators = Vec::new();
    for d in 0..now.c.place.dim(isl::DimType::In)? as i32 {
        iterators.push(pw_aff_expr(&parameterize(&inverse.at(d)?)?, None)?);
    }
    for (row, values) in now.registers.values.iter().enumerate() {
        for (column, slot) in values.iter().enumerate() {
            let mut emit = now.emit.clone();
            for (d, v) in [now.at[0][row], now.at[1][column], now.time].into_iter().enumerate() {
                emit.names.insert(iterator_name(d as u32), v);
            }
            let instance = iterators.iter().map(|e| emit.emit_int(e)).collect::<Result<Vec<_>>>()?;
            let mut given = BTreeMap::new();
            let mut give = |access: usize, v: Value| match now.s.accesses[access].value {
                AccessValue::Instruction(i) => {
                    given.insert(i.address(), v);
                    Ok(())
                }
                _ => internal("an access of a carried update that is no instruction"),
            };
            let held = ir.load(ty, *slot);
            for read in &now.c.reads {
                give(*read, held)?;
            }
            for (o, values) in now.c.operands.iter().zip(&operands) {
                let n = o.along.map_or(0, |d| [row, column][d]);
                give(o.access, values[n])?;
            }
            let v = emit_stored(k, &now.emit, now.c.statement, now.c.write, &instance, given)?;
            ir.store(v, *slot);
        }
    }
    Ok(())
}

/// The element of an operand for row or column `n` of the thread.
fn subscripts(
    k: &KernelBuilder<'_>,
    now: &Now<'_, '_>,
    o: &Operand,
    n: usize,
    time: Value,
) -> Result<Vec<Value>> {
    let f = isl::PwMultiAff::from_map(o.element.clone())?;
    let mut emit = now.emit.clone();
    let names = o.along.map(|d| now.at[d][n]).into_iter().chain([time]);
    for (d, v) in names.enumerate() {
        emit.names.insert(iterator_name(d as u32), v);
    }
    let dims = k.scop.array(now.s.accesses[o.access].array).dims() as i32;
    (0..dims).map(|d| emit.emit_int(&pw_aff_expr(&parameterize(&f.at(d)?)?, None)?)).collect()
}

/// What an operand is for the thread's rows, its columns, or all of its elements. Its first element is behind
/// that of the time before by a number.
fn operand(k: &mut KernelBuilder<'_>, now: &Now<'_, '_>, (o, slot): (&Operand, Value)) -> Result<Vec<Value>> {
    let ir = k.ir;
    let id = now.s.accesses[o.access].array;
    let array = k.scop.array(id);
    let further = |from: &[Value], to: &[Value]| match boxes::further(k, id, from, to) {
        Some(number) => Ok(number),
        None => internal("an operand of a carried update that is not an element's by numbers"),
    };
    let first = ir.load(ir.i64_type(), slot);
    let of_first = subscripts(k, now, o, 0, now.time)?;
    let mut out = Vec::new();
    for n in 0..o.along.map_or(1, |d| now.at[d].len()) {
        let offset = ir.add(first, ir.int(further(&of_first, &subscripts(k, now, o, n, now.time)?)?));
        let from = ir.byte_offset(boxes::shared(k)?, offset);
        ir.note_spare(&what(now.s), &array.display);
        out.push(ir.load_aligned(llvm_elem(ir, array.elem), from, array.elem.bytes()));
    }
    let next = subscripts(k, now, o, 0, now.emit.beside(now.time, 1))?;
    ir.store(ir.add(first, ir.int(further(&of_first, &next)?)), slot);
    Ok(out)
}

/// Elements that have had their last instance go home.
fn store(k: &mut KernelBuilder<'_>, now: &Now<'_, '_>) -> Result<()> {
    let ir = k.ir;
    let array = k.scop.array(now.s.accesses[now.c.write].array);
    let ty = llvm_elem(ir, array.elem);
    let at = ir.sub(now.time, now.first);
    let short = ir.trunc(at, ir.int_type(32));
    for (column, stored) in now.registers.stored.iter().enumerate() {
        let bits = ir.load(ir.i64_type(), *stored);
        let any = ir.and(ir.lshr(bits, at), ir.int(1));
        let after = k.unless(ir.icmp(LLVMIntEQ, any, ir.int(0)));
        let words: Vec<_> = now.registers.last[column].iter().map(|w| ir.load(ir.int_type(32), *w)).collect();
        for (row, values) in now.registers.values.iter().enumerate() {
            let number = |n: i64| ir.trunc(ir.int(n), ir.int_type(32));
            let byte = ir.and(ir.lshr(words[row / IN_WORD], number(shift_of(row))), number(NEVER));
            let next = k.unless(ir.icmp(LLVMIntNE, byte, short));
            let to = home(k, now, row, column)?;
            let v = ir.load(ty, values[column]);
            ir.note(&what(now.s), &array.display);
            ir.store_aligned(v, to, array.elem.bytes());
            ir.br(next);
            ir.at_end(next);
        }
        ir.br(after);
        ir.at_end(after);
    }
    Ok(())
}
