//! Updates of a cell that may be regrouped: sums, products, minima, maxima and bit operations.
//!
//! # What the IR allows
//! - Integer `add`, `mul`, `and`, `or`, `xor` and the intrinsics `smin`, `smax`, `umin`, `umax` are
//!   associative and commutative; whoever regroups sums and products has to drop `nsw` and `nuw`, since a
//!   partial result may wrap where the whole does not.
//! - `fadd` and `fmul` need the flag `reassoc`. The identity of `fadd` is -0.0, which keeps +0.0 and -0.0 as
//!   they are.
//! - `llvm.minnum` and `llvm.maxnum` give the other operand for a NaN and either zero for two zeros: any
//!   order is one of the results that the program allows. Their identity is a NaN, since with any other a
//!   part that has NaNs alone would lose them; with `nnan` an infinity.
//! - `select(fcmp(value > cell), value, cell)` without any flag: the comparison is false for a NaN, so the
//!   values that are NaN are passed over, and a cell that is one stays. Among equal values (zeros of both
//!   signs) the first stays, or with `>=` the last one; so it is associative, but commutes only where no
//!   value is -0.0: absolute values, squares. Its identity is the infinity that nothing is below. The form
//!   that keeps the cell where the comparison holds (`cell > value ? cell : value`, C's usual `MAX` and what
//!   flang makes of `max`) takes a NaN for the cell and then anything for the NaN. That is not associative,
//!   so that no value may be a NaN ([`Reduction::numbers`]): the device reports one, and the original loop
//!   runs.
//! - `value > cell || cell is no number && value is one`, of Fortran's `maxval`: the same, but that a cell
//!   that is a NaN goes. Its identity is a NaN, which stays in no cell: where all values are NaNs, the first
//!   one does.
//!
//! # Minima with their place
//! Of `if (x < m) { m = x; k = i; }` the cell `k` takes its value where `m` does ([`companions`]). The pair
//! is an update of its own kind, which keeps its order: of equal values the first one counts, or with `<=`
//! the last one. A part begins with the identity beside any place. That place must never come to light where
//! a part is applied to the cell:
//! - A comparison that is strict, and false for a NaN, does not take the identity: nothing is below infinity.
//!   (Nor does it in a part; but what is no less than infinity is below no cell either.)
//! - Of integers, and of numbers that are no NaN, the first value of a part is taken by a comparison that is
//!   not strict: none is above the identity. No part is empty, so that each holds the place of a value. NaNs
//!   are reported ([`Reduction::numbers`]), unless the program's flags exclude them.
//! - That of Fortran's `maxloc` takes any number for the identity, a NaN, and never a NaN.
//!
//! A comparison that is strict and takes NaNs (`!(x >= m)`) is none of these: with a NaN in `m` it would take
//! the identity.
//!
//! # Example
//! `s += A[i] * B[i]` with `-ffast-math`: value `A[i] * B[i]`, update `[fadd]`, identity -0.0, commutative.

use crate::base::ir::{self, Op, Value, flags};
use crate::values::operations::{Choice, Operation, Start, operation, taken};
use inkwell::llvm_sys::LLVMFastMathAllowReassoc;
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, Cell, ElemType, Reduction, Running, Scop, Statement, ValueHandle,
};

/// The update that the statement is, if it is one.
pub(crate) fn recognise(s: &Statement, arrays: &[Array]) -> isl::Result<Option<Reduction>> {
    if !s.is_plain() {
        return Ok(None);
    }
    for (write, w) in s.accesses.iter().enumerate().filter(|(_, a)| a.kind == AccessKind::MustWrite) {
        // The array may be read elsewhere, too: what that means is for the dependences to tell.
        let own = |a: &Access| a.array == w.array;
        if s.accesses.iter().enumerate().any(|(i, a)| i != write && own(a) && a.kind != AccessKind::Read) {
            continue;
        }
        for (read, r) in s.accesses.iter().enumerate() {
            if own(r)
                && read != write
                && r.relation.is_equal(&w.relation)?
                && let Some(found) = update(s, arrays, (read, r), (write, w))
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// The update of a cell that the statement is beside others which look at the cell as well, or that the next
/// instance may look at elsewhere than where it is written.
pub(crate) fn running(s: &Statement, arrays: &[Array]) -> isl::Result<Option<Running>> {
    if !s.is_plain() {
        return Ok(None);
    }
    // A cell that is no memory comes first: of `s += y[i]; y[i] = s` it is `s`.
    for (memory, moves) in [(false, false), (true, true), (true, false)] {
        if let Some(found) = running_in(s, arrays, (memory, moves))? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// [`running`], of a cell that is memory or not, and is read where it is written or elsewhere.
fn running_in(
    s: &Statement,
    arrays: &[Array],
    (memory, moves): (bool, bool),
) -> isl::Result<Option<Running>> {
    for (write, w) in s.accesses.iter().enumerate().filter(|(_, w)| w.kind == AccessKind::MustWrite) {
        let of_cell = |(n, a): &(usize, &Access)| *n != write && a.array == w.array;
        let others: Vec<_> = s.accesses.iter().enumerate().filter(of_cell).collect();
        if others.iter().any(|(_, a)| a.kind != AccessKind::Read) {
            continue;
        }
        if arrays[w.array.0].is_memory() != memory || !moves && others.len() != 1 {
            continue;
        }
        let elem = arrays[w.array.0].elem;
        for (read, r) in &others {
            if r.relation.is_equal(&w.relation)? == moves {
                continue;
            }
            if let Some(found) = total_through(s, elem, (*read, r), (write, w)) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// [`running`], of the cell that one access reads and another one writes.
fn total_through(
    s: &Statement,
    elem: ElemType,
    (read, r): (usize, &Access),
    (write, w): (usize, &Access),
) -> Option<Running> {
    let (old, new) = (loaded(r)?, stored(w)?);
    let found = operation(new, old)?;
    let inner: Vec<Value> = found.instructions.iter().copied().chain([old]).collect();
    let in_body = |v: Value| s.body.contains(&ir::handle(v));
    let held = ir::elem_type(ir::type_of(new)) == Some(elem);
    // What the value is computed from. (The cell itself is no instruction of the body where it is read ahead
    // of it.)
    let (mut needs, mut next, mut apart) = (Vec::new(), vec![found.value], true);
    while let Some(v) = next.pop() {
        apart &= !inner.contains(&v);
        if in_body(v) && !needs.contains(&v) {
            needs.push(v);
            next.extend(ir::operands(v));
        }
    }
    if !held || !apart || !found.instructions.iter().all(|i| in_body(*i)) {
        return None;
    }
    let in_order = |all: &[Value]| -> Vec<ValueHandle> {
        let handles = s.body.iter().filter(|b| all.contains(&ir::value(**b)));
        handles.copied().collect()
    };
    needs.extend(&found.instructions);
    let update = Reduction {
        read,
        write,
        value: ir::handle(found.value),
        identity: ir::handle(found.identity),
        update: in_order(&found.instructions),
        commutative: found.commutative,
        numbers: found.numbers,
        regrouped: false,
        companions: Vec::new(),
    };
    Some(Running { update, needs: in_order(&needs), stored: ir::handle(new) })
}

/// A cell that instances of a statement update by a sum or product of what was there before.
struct Total<'a> {
    statement: &'a Statement,
    cell: &'a Access,
    /// What the cell holds before and afterwards.
    old: Value,
    new: Value,
}

/// The cells of a SCoP that several instances add to, or multiply.
fn totals(scop: &Scop) -> isl::Result<Vec<Total<'_>>> {
    let mut found = Vec::new();
    for s in scop.statements.iter().filter(|s| s.is_plain()) {
        for w in s.accesses.iter().filter(|a| a.kind == AccessKind::MustWrite) {
            let own: Vec<_> = s.accesses.iter().filter(|a| a.array == w.array).collect();
            let Some(r) = own.iter().find(|a| a.kind == AccessKind::Read && own.len() == 2) else { continue };
            let (Some(old), Some(new)) = (loaded(r), stored(w)) else { continue };
            let adds = match ir::opcode(new) {
                Some(
                    Op::LLVMFAdd | Op::LLVMFSub | Op::LLVMFMul | Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul,
                ) => ir::operands(new).contains(&old),
                Some(Op::LLVMCall) if ir::is_intrinsic(new) => ir::call_args(new).get(2) == Some(&old),
                _ => false,
            };
            // A cell that several instances update.
            if adds
                && r.relation.is_equal(&w.relation)?
                && !w.relation.clone().intersect_domain(s.domain.clone())?.is_injective()?
            {
                found.push(Total { statement: s, cell: w, old, new });
            }
        }
    }
    Ok(found)
}

/// What the source calls a cell into which floating-point numbers are summed up, or multiplied, in the
/// program's order: the flags that would let the updates be regrouped are all that is missing. `None` if
/// there is none.
pub fn ordered_sum(scop: &Scop) -> isl::Result<Option<String>> {
    let ordered = |t: &Total<'_>| {
        let floating = !matches!(ir::opcode(t.new), Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul));
        let turned = ir::opcode(t.new) == Some(Op::LLVMFSub) && ir::operand(t.new, 1) == t.old;
        floating && !turned && t.statement.reduction.is_none() && flags(t.new) & LLVMFastMathAllowReassoc == 0
    };
    Ok(totals(scop)?.iter().find(|t| ordered(t)).map(|t| scop.array(t.cell.array).display.clone()))
}

/// What the source calls a sum or product of which each iteration stores what it is so far (a prefix sum).
pub fn running_total(scop: &Scop) -> isl::Result<Option<String>> {
    for t in totals(scop)? {
        let dims = t.statement.domain.dim(isl::DimType::Set)?;
        for s in &scop.statements {
            let stores = s.accesses.iter().any(|a| {
                let value = stored(a);
                a.array != t.cell.array
                    && a.kind == AccessKind::MustWrite
                    && (value == Some(t.new) || value == Some(t.old))
            });
            if stores && s.domain.dim(isl::DimType::Set)? == dims {
                return Ok(Some(scop.array(t.cell.array).display.clone()));
            }
        }
    }
    Ok(None)
}

/// The value that an access reads.
fn loaded(a: &Access) -> Option<Value> {
    match a.value {
        AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => Some(ir::value(v)),
        AccessValue::ScalarWrite(_) => None,
    }
}

/// The value that an access writes.
fn stored(a: &Access) -> Option<Value> {
    match a.value {
        AccessValue::Instruction(v) => Some(ir::operand(ir::value(v), 0)),
        AccessValue::ScalarWrite(v) => Some(ir::value(v)),
        AccessValue::ScalarRead(_) => None,
    }
}

fn update(
    s: &Statement,
    arrays: &[Array],
    (read, r): (usize, &Access),
    (write, w): (usize, &Access),
) -> Option<Reduction> {
    let elem = arrays[w.array.0].elem;
    let instruction = |a: &Access| match a.value {
        AccessValue::Instruction(v) => Some(v),
        _ => None,
    };
    let (old, new) = (loaded(r)?, stored(w)?);
    let in_body = |v: Value| s.body.contains(&ir::handle(v));
    // (Truth values are held in bytes.)
    let held = ir::elem_type(ir::type_of(new)) == Some(elem);
    let truth = ir::int_bits(new) == Some(1) && matches!(ir::opcode(new), Some(Op::LLVMAnd | Op::LLVMOr));
    if !in_body(new) || !held && !truth {
        return None;
    }
    let mut found = operation(new, old)?;
    let companions = companions(s, arrays, write, (&found, old));
    for c in &companions {
        found.instructions.extend(
            c.instructions.iter().filter(|i| !found.instructions.contains(*i)).copied().collect::<Vec<_>>(),
        );
    }
    if !companions.is_empty() {
        found.commutative = false;
        found.numbers |=
            matches!(found.choice, Some(Choice::Condition { start: Start::HiddenOfNumbers, .. }));
    }
    found.instructions.sort_by_key(|i| s.body.iter().position(|b| *b == ir::handle(*i)));
    if found.value == old || !found.instructions.iter().all(|i| in_body(*i)) {
        return None;
    }
    // Nothing else looks at the cell or at what becomes of it.
    let olds = companions.iter().filter_map(|c| loaded(&s.accesses[c.cell.read]));
    let inner: Vec<Value> = found.instructions.iter().copied().chain([old]).chain(olds).collect();
    let own = |n: usize| n == write || companions.iter().any(|c| c.cell.write == n);
    let moves: Vec<ValueHandle> = std::iter::once((read, write))
        .chain(companions.iter().map(|c| (c.cell.read, c.cell.write)))
        .flat_map(|(r, w)| [instruction(&s.accesses[r]), instruction(&s.accesses[w])])
        .flatten()
        .collect();
    for i in &s.body {
        let i_value = ir::value(*i);
        if found.instructions.contains(&i_value) || moves.contains(i) {
            continue;
        }
        if ir::operands(i_value).iter().any(|o| inner.contains(o)) {
            return None;
        }
    }
    let stores = moves.iter().filter(|v| ir::opcode(ir::value(**v)) == Some(Op::LLVMStore));
    let mut values = std::iter::once(found.value).chain(companions.iter().map(|c| ir::value(c.cell.value)));
    if stores.into_iter().any(|v| inner.contains(&ir::operand(ir::value(*v), 1)))
        || values.any(|v| inner.contains(&v))
    {
        return None;
    }
    for (n, a) in s.accesses.iter().enumerate() {
        if let AccessValue::ScalarWrite(v) = a.value
            && !own(n)
            && inner.contains(&ir::value(v))
        {
            return None;
        }
    }
    let handles = found.instructions.iter().map(|i| ir::handle(*i));
    let (stores, loads): (Vec<_>, Vec<_>) =
        moves.iter().copied().partition(|v| ir::opcode(ir::value(*v)) == Some(Op::LLVMStore));
    let whole = loads.into_iter().chain(handles).chain(stores).collect();
    Some(Reduction {
        read,
        write,
        value: ir::handle(found.value),
        identity: ir::handle(found.identity),
        update: whole,
        commutative: found.commutative,
        numbers: found.numbers,
        regrouped: false,
        companions: companions.into_iter().map(|c| c.cell).collect(),
    })
}

/// A further cell, and the instructions from it to what it becomes.
struct Companion {
    cell: Cell,
    instructions: Vec<Value>,
}

/// The cells that take a value where the minimum or maximum in `write` takes its own.
fn companions(
    s: &Statement,
    arrays: &[Array],
    write: usize,
    (main, old): (&Operation, Value),
) -> Vec<Companion> {
    let mut out: Vec<Companion> = Vec::new();
    let Some(choice) = main.choice else { return out };
    if matches!(choice, Choice::Condition { start: Start::Seen, .. }) {
        return out;
    }
    for (n, w) in
        s.accesses.iter().enumerate().filter(|(n, a)| *n != write && a.kind == AccessKind::MustWrite)
    {
        // An array of its own.
        let own: Vec<_> = s.accesses.iter().enumerate().filter(|(_, a)| a.array == w.array).collect();
        let [(i, _), (j, _)] = own.as_slice() else { continue };
        let read = i + j - n;
        let r = &s.accesses[read];
        if r.kind != AccessKind::Read || !r.relation.is_equal(&w.relation).unwrap_or(false) {
            continue;
        }
        let (Some(kept), Some(new)) = (loaded(r), stored(w)) else { continue };
        if ir::opcode(new) != Some(Op::LLVMSelect)
            || ir::elem_type(ir::type_of(new)) != Some(arrays[w.array.0].elem)
        {
            continue;
        }
        let Some((value, condition)) = taken(new, kept, choice, (main.value, old)) else { continue };
        // Cells of one value are the same in each part if they begin with the same.
        let same = value == main.value;
        let (constant, none) = (value.is_constant(), value.ty().zero());
        if constant || value == kept {
            continue;
        }
        let identity = if same { main.identity } else { none };
        let (value, identity) = (ir::handle(value), ir::handle(identity));
        let instructions = condition.into_iter().chain([new]).collect();
        out.push(Companion { cell: Cell { read, write: n, value, identity }, instructions });
    }
    out
}
