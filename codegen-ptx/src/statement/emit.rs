//! One statement instance: its body cloned from the host, its memory accesses rebuilt from the access
//! relations.
//!
//! # Invariants
//! - The order is: cells of scalars and PHIs are read, the body runs in program order, its subregion last,
//!   cells are written.
//! - Nothing of the clone refers to the host module. Metadata is dropped (it talks about the host's memory
//!   and profile); `nsw`, `nuw`, `exact` and fast-math flags stay (they are the program's semantics),
//!   attributes of calls do not.
//! - What the device cannot run is refused before anything is cloned.

use crate::affine::expr::{ExprEmitter, iterator_name};
use crate::ir::calls;
use crate::ir::error::{Result, internal, unsupported};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::builder::{KernelBuilder, invariant};
use crate::kernel::plan::{Plan, plan};
use crate::kernel::storage::{Element, Storage, Stored};
use crate::ops::{load_hoisting, updates};
use crate::statement::cell::{cell_align, cell_type, scalar_size};
use crate::statement::{call, errno, inner, subregion, team};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_scop::{Access, AccessKind, AccessValue, Statement, StmtId};
use std::collections::BTreeMap;

/// The values of one instance.
pub(crate) struct Instance<'p> {
    /// Name and place of the statement, for reports.
    what: String,
    id: StmtId,
    pub(super) plan: Plan,
    pub(super) emit: ExprEmitter<'p>,
    /// Values read, cloned and computed so far, by host value.
    pub values: BTreeMap<usize, Value>,
    /// Of the loops of the subregion that are being emitted, by index.
    pub counters: BTreeMap<usize, Value>,
    /// Instructions of a regrouped reduction: a partial sum may wrap where the program's sums do not.
    pub(super) wraps: Vec<usize>,
}

/// The instructions of a statement's update if it was regrouped.
fn wraps(s: &Statement) -> Vec<usize> {
    let update = s.reduction.iter().filter(|r| r.regrouped).flat_map(|r| &r.update);
    update.chain(s.updates.iter().flat_map(|u| &u.chain)).map(|v| v.address()).collect()
}

/// Whether kernels report values of the statement's update that are NaNs.
pub(crate) fn reports_nan(s: &Statement) -> bool {
    s.reduction.as_ref().is_some_and(|r| r.regrouped && r.numbers)
}

/// How reports name a statement.
pub(crate) fn what(s: &Statement) -> String {
    s.location.as_ref().map_or_else(|| s.name.clone(), |l| format!("{} ({l})", s.name))
}

/// An instance of a statement, of which nothing is emitted yet.
fn instance<'k, 'p, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    emit: &ExprEmitter<'p>,
    id: StmtId,
    iterators: &[Value],
) -> Result<Instance<'p>> {
    let statement = &k.scop.statements[id.0];
    let plan = plan(k, id, statement)?;
    if plan.dims != iterators.len() {
        return internal(format!("{} has {} dimensions, not {}", statement.name, plan.dims, iterators.len()));
    }
    let mut emit = emit.clone();
    for (d, v) in iterators.iter().enumerate() {
        emit.names.insert(iterator_name(d as u32), *v);
    }
    Ok(Instance {
        what: what(statement),
        id,
        plan,
        emit,
        values: BTreeMap::new(),
        counters: BTreeMap::new(),
        wraps: wraps(statement),
    })
}

/// Emits one instance of the statement `name`.
pub(crate) fn emit_statement<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    emit: &ExprEmitter<'_>,
    name: &str,
    iterators: &[Value],
) -> Result<()> {
    let scop = k.scop;
    let Some((id, statement)) = scop.statement_named(name) else {
        return internal(format!("unknown statement {name}"));
    };
    let mut instance = instance(k, emit, id, iterators)?;
    for (i, a) in statement.accesses.iter().enumerate() {
        if let AccessValue::ScalarRead(v) = a.value {
            let read = read_cell(k, &mut instance, id, i, a, host_value(v))?;
            instance.values.insert(v.address(), read);
        }
    }
    let within = |i: pollyrs_scop::ValueHandle| match &statement.subregion {
        Some(r) => r.blocks.iter().any(|b| b.address() == subregion::block_of(i)),
        None => false,
    };
    let only_stores = S::only_stores(k);
    for i in statement.body.iter().filter(|i| !within(**i)) {
        if !only_stores || calls::is_store(host_value(*i)) {
            emit_instruction(k, &mut instance, statement, host_value(*i))?;
        }
    }
    if let Some(r) = &statement.subregion {
        subregion::emit(k, &mut instance, statement, r)?;
    }
    let mut writes = Vec::new();
    for (i, a) in statement.accesses.iter().enumerate() {
        if let AccessValue::ScalarWrite(v) = a.value {
            writes.push((i, a, resolve(k, &mut instance, host_value(v))?));
        }
    }
    for (i, a, v) in writes {
        write_cell(k, &mut instance, i, a, v)?;
    }
    Ok(())
}

/// The address of the element that access number `index` of one instance touches, and the alignment that the
/// access claims.
pub(crate) fn cell_of<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    emit: &ExprEmitter<'_>,
    (id, index): (StmtId, usize),
    iterators: &[Value],
) -> Result<(Value, u32)> {
    let scop = k.scop;
    let statement = &scop.statements[id.0];
    let mut instance = instance(k, emit, id, iterators)?;
    let access = &statement.accesses[index];
    let bytes = scop.array(access.array).elem.bytes();
    let align = match access.value {
        AccessValue::Instruction(i) => host_value(i).alignment().min(bytes),
        _ => return internal("a promoted access that is no instruction"),
    };
    let at = address(k, &mut instance, index, access)?;
    Ok((at, align))
}

/// Emits what one instance of a statement needs for the value `v` of its body, and gives this value.
pub(crate) fn emit_operand<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    emit: &ExprEmitter<'_>,
    id: StmtId,
    iterators: &[Value],
    v: Value,
) -> Result<Value> {
    let scop = k.scop;
    let statement = &scop.statements[id.0];
    let mut needed = vec![v.address()];
    for i in statement.body.iter().rev() {
        if needed.contains(&i.address()) {
            let count = host_value(*i).operand_count();
            needed.extend((0..count).map(|o| host_value(*i).operand(o).address()));
        }
    }
    let mut instance = instance(k, emit, id, iterators)?;
    for i in statement.body.iter().filter(|i| needed.contains(&i.address())) {
        emit_instruction(k, &mut instance, statement, host_value(*i))?;
    }
    resolve(k, &mut instance, v)
}

/// Emits one instance of the statement without its stores, and gives the value that access number `write`
/// would store. `given` are the values of loads, by host value; the other loads read memory. Whatever is
/// given, nothing traps. What may set `errno` needs [`KernelBuilder::counts`].
pub(crate) fn emit_stored<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    emit: &ExprEmitter<'_>,
    id: StmtId,
    write: usize,
    iterators: &[Value],
    given: BTreeMap<usize, Value>,
) -> Result<Value> {
    use LLVMOpcode::{LLVMSDiv, LLVMSRem, LLVMStore, LLVMUDiv, LLVMURem};
    let scop = k.scop;
    let statement = &scop.statements[id.0];
    if !statement.is_plain() {
        return unsupported("what depends on data at points that the program does not compute");
    }
    let mut instance = instance(k, emit, id, iterators)?;
    instance.values = given;
    let store = statement.accesses.get(write).map(|a| a.value);
    for i in &statement.body {
        let value = host_value(*i);
        if instance.values.contains_key(&i.address()) {
            continue;
        }
        match value.opcode() {
            LLVMStore if store == Some(AccessValue::Instruction(*i)) => {
                return resolve(k, &mut instance, value.operand(0));
            }
            LLVMStore => {}
            LLVMOpcode::LLVMCall if calls::is_check(value) => {
                return unsupported("a check that may fail, at points that the program does not compute");
            }
            LLVMOpcode::LLVMCall if calls::may_be_set(value) && k.counts.is_none() => {
                let called = value.callee().name();
                return unsupported(format!(
                    "{called}, which may set errno (-fno-math-errno), at points that the program does not compute"
                ));
            }
            LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem if !divides_all(value.operand(1)) => {
                return unsupported("a division of integers at points that the program does not compute");
            }
            _ => emit_instruction(k, &mut instance, statement, value)?,
        }
    }
    internal(format!("{} stores nothing", statement.name))
}

/// Whether a quotient by this number exists for each dividend. (That of the least number by -1 does not.)
fn divides_all(divisor: Value) -> bool {
    divisor.constant_int().is_some_and(|d| d != 0 && d != -1)
}

/// The address of the element that access number `index` touches, in its window if the array has one.
fn address<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    index: usize,
    a: &Access,
) -> Result<Value> {
    let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[index][d]);
    match S::address(k, &element(n, index, a, &subscript))? {
        Some(at) => Ok(at),
        None => in_memory(k, n, index, a),
    }
}

/// What an access is of, for the kernel's storage.
fn element<'e>(
    n: &Instance<'_>,
    access: usize,
    a: &Access,
    subscript: &'e dyn Fn(usize) -> Result<Value>,
) -> Element<'e> {
    Element { statement: n.id, access, array: a.array, dims: n.plan.subscripts[access].len(), subscript }
}

/// The address in the array's memory.
fn in_memory<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    index: usize,
    a: &Access,
) -> Result<Value> {
    let Some(base) = k.arrays.get(&a.array).copied() else {
        return internal(format!("{} is not an array of the kernel", k.scop.array(a.array).name));
    };
    if n.plan.subscripts[index].is_empty() {
        return Ok(base);
    }
    inner::name(k, n, a)?;
    let subscripts = &n.plan.subscripts[index];
    // Row-major (Horner): ((s0 * size1) + s1) * size2 + s2. Numbers are added up apart: so neighbours share
    // the rest, and the distances between them are the same for all points. Modulo 2^64 the sum is the same.
    let (mut offset, mut shift) = n.emit.emit_apart(&subscripts[0])?;
    let mut far = k.ir.int(shift);
    for (d, s) in subscripts.iter().enumerate().skip(1) {
        let size = k.size(a.array, d)?;
        let (value, number) = n.emit.emit_apart(s)?;
        offset = k.ir.add(k.ir.mul(offset, size), value);
        if shift != 0 {
            far = k.ir.mul(far, size);
        }
        far = k.ir.add(far, k.ir.int(number));
        shift |= number;
    }
    let elem = llvm_elem(k.ir, k.scop.array(a.array).elem);
    let at = k.ir.element(elem, base, offset);
    Ok(if shift == 0 { at } else { k.ir.element(elem, at, far) })
}

fn read_cell<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    id: StmtId,
    at: usize,
    a: &Access,
    v: Value,
) -> Result<Value> {
    let bytes = k.scop.array(a.array).elem.bytes();
    let ty = v.ty();
    let wide = cell_type(k, ty, bytes)?;
    let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[at][d]);
    let narrow = |k: &KernelBuilder<'k, S>, read: Value| if wide == ty { read } else { k.ir.trunc(read, ty) };
    if let Some(v) = S::loaded(k, &element(n, at, a, &subscript), wide)? {
        return Ok(narrow(k, v));
    }
    let from = address(k, n, at, a)?;
    let what = n.what.clone();
    let read = team::loaded(k, a, wide, |k| {
        k.ir.note(&what, &k.scop.array(a.array).display);
        let read = k.ir.load_aligned(wide, from, cell_align(k, a, v));
        load_hoisting::mark(k, (id, at), read);
        Ok(read)
    })?;
    Ok(narrow(k, read))
}

fn write_cell<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    at: usize,
    a: &Access,
    v: Value,
) -> Result<()> {
    let bytes = k.scop.array(a.array).elem.bytes();
    let ty = v.ty();
    let wide = cell_type(k, ty, bytes)?;
    let to = address(k, n, at, a)?;
    let AccessValue::ScalarWrite(host) = a.value else { return internal("a cell written by an instruction") };
    let align = cell_align(k, a, host_value(host));
    let v = if wide == ty { v } else { k.ir.zext(v, wide) };
    let v = S::kept(k, v, to, align);
    let after = team::first_only(k, a);
    k.ir.note(&n.what, &k.scop.array(a.array).display);
    k.ir.store_aligned(v, to, align);
    team::meet(k, after);
    Ok(())
}

/// What a host value is in this instance.
pub(crate) fn resolve<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    v: Value,
) -> Result<Value> {
    let handle = v.address();
    if let Some(v) = n.values.get(&handle) {
        return Ok(*v);
    }
    if let Some(e) = n.plan.synthesized.get(&handle) {
        let ty = v.ty();
        let Some(width) = ty.int_width() else {
            return internal(format!("{} is synthesized but not an integer", v.text()));
        };
        let number = n.emit.emit_int(e)?;
        let value = match width {
            64 => number,
            0..64 => k.ir.trunc(number, ty),
            _ => k.ir.sext(number, ty),
        };
        n.values.insert(handle, value);
        return Ok(value);
    }
    if let Some(v) = invariant(k, v)? {
        return Ok(v);
    }
    if v.is_constant_int() || v.is_constant_real() {
        return Ok(v);
    }
    if v.is_undef() && scalar_size(k, v.ty()).is_ok() {
        return Ok(v);
    }
    if v.is_constant() {
        return unsupported(format!("the constant {}", v.text()));
    }
    internal(format!("{} is neither in the statement nor invariant", v.text()))
}

pub(crate) fn emit_instruction<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    i: Value,
) -> Result<()> {
    use LLVMOpcode::*;
    let opcode = i.opcode();
    if let Some(r) = s.reduction.as_ref().filter(|_| opcode == LLVMFCmp && reports_nan(s))
        && r.update.iter().any(|v| v.address() == i.address())
    {
        let value = resolve(k, n, host_value(r.value))?;
        errno::report_nan(k, value)?;
    }
    let result = match opcode {
        LLVMLoad | LLVMStore => emit_access(k, n, s, i, opcode)?,
        LLVMCall => call::emit(k, n, i)?,
        // An address; loads and stores get theirs from the access relations.
        LLVMGetElementPtr => None,
        // Settled: the other value need not be there.
        LLVMSelect if is_true(i.operand(0)) => Some(resolve(k, n, i.operand(1))?),
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr
        | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem
        | LLVMFNeg | LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
        | LLVMFPTrunc | LLVMFPExt | LLVMBitCast | LLVMICmp | LLVMFCmp | LLVMSelect | LLVMFreeze => {
            scalar_size(k, i.ty())?;
            Some(emit_clone(k, n, i)?)
        }
        // A part of the result of an arithmetic intrinsic (`{ i32, i1 }`).
        LLVMExtractValue => {
            scalar_size(k, i.ty())?;
            Some(emit_clone(k, n, i)?)
        }
        _ => return unsupported(format!("the instruction {}", i.text())),
    };
    if let Some(v) = result {
        n.values.insert(i.address(), v);
    }
    Ok(())
}

/// A copy of an instruction without memory or control effects. Operands are found first, so that a failure
/// leaves no copy behind that uses host values.
fn emit_clone<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    i: Value,
) -> Result<Value> {
    let count = i.operand_count();
    let operands = (0..count).map(|o| resolve(k, n, i.operand(o))).collect::<Result<Vec<_>>>()?;
    let copy = i.copy();
    for (o, v) in operands.into_iter().enumerate() {
        copy.set_operand(o as u32, v);
    }
    k.ir.put(copy);
    if n.wraps.contains(&i.address())
        && matches!(i.opcode(), LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul)
    {
        copy.forget_no_wrap();
    }
    if n.wraps.contains(&i.address()) && i.opcode() == LLVMOpcode::LLVMICmp {
        copy.forget_same_sign();
    }
    copy.metadata_kinds().into_iter().for_each(|kind| copy.set_metadata(kind, None));
    copy.forget_location();
    Ok(copy)
}

fn emit_access<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    s: &Statement,
    i: Value,
    opcode: LLVMOpcode,
) -> Result<Option<Value>> {
    let plain = !i.is_volatile()
        && i.ordering() == inkwell::llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
    if !plain {
        return unsupported("a volatile or atomic access");
    }
    let is_load = opcode == LLVMOpcode::LLVMLoad;
    let found = s.accesses.iter().enumerate().find(|(_, a)| {
        a.value == AccessValue::Instruction(handle_of(i)) && (a.kind == AccessKind::Read) == is_load
    });
    let Some((at, access)) = found else {
        return internal(format!("{} has no access in {}", i.text(), s.name));
    };
    let bytes = k.scop.array(access.array).elem.bytes();
    let ty = (if is_load { i } else { i.operand(0) }).ty();
    if scalar_size(k, ty)? != bytes {
        return internal(format!("{} does not access one element of {bytes} bytes", i.text()));
    }
    let align = i.alignment().min(bytes);
    let display = &k.scop.array(access.array).display;
    if let Some(u) = s.update_of(access) {
        if is_load {
            return Ok(Some(host_value(u.identity)));
        }
        let v = resolve(k, n, i.operand(0))?;
        let to = in_memory(k, n, at, access)?;
        let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[at][d]);
        let Some((counted, counter)) = S::counter(k, &element(n, at, access, &subscript))? else {
            k.ir.note(&n.what, display);
            updates::emit(k.ir, u.op, to, v);
            return Ok(None);
        };
        let function = k.ir.block().function();
        let [inside, outside, after] =
            ["block.update", "update", "updated"].map(|name| k.ir.append_block(function, name));
        k.ir.cond_br(counted, inside, outside);
        for (block, address) in [(inside, counter), (outside, to)] {
            k.ir.at_end(block);
            k.ir.note(&n.what, display);
            updates::emit(k.ir, u.op, address, v);
            k.ir.br(after);
        }
        k.ir.at_end(after);
        return Ok(None);
    }
    if is_load {
        k.ir.note(&n.what, display);
        let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[at][d]);
        if let Some(v) = S::loaded(k, &element(n, at, access, &subscript), ty)? {
            return Ok(Some(v));
        }
        let from = address(k, n, at, access)?;
        let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[at][d]);
        let align = align.max(S::alignment(k, &element(n, at, access, &subscript))?);
        let load = team::loaded(k, access, ty, |k| {
            match S::is_spare(k) {
                true => k.ir.note_spare(&n.what, display),
                false => k.ir.note(&n.what, display),
            }
            let load = k.ir.load_aligned(ty, from, align);
            load_hoisting::mark(k, (n.id, at), load);
            Ok(load)
        })?;
        return Ok(Some(load));
    }
    let v = match S::only_stores(k) {
        true => None,
        false => Some(resolve(k, n, i.operand(0))?),
    };
    let Some(v) = S::value(k, ty, |_| v.map_or_else(|| internal("a value that is not kept"), Ok))? else {
        return Ok(None);
    };
    let to = address(k, n, at, access)?;
    let v = S::kept(k, v, to, align);
    let after = team::first_only(k, access);
    k.ir.note(&n.what, display);
    k.ir.store_aligned(v, to, align);
    team::meet(k, after);
    let subscript = |d: usize| n.emit.emit_int(&n.plan.subscripts[at][d]);
    S::finish(k, &n.emit, &element(n, at, access, &subscript), Stored { value: v, align, what: &n.what })?;
    Ok(None)
}
