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
use inkwell::llvm_sys::{
    LLVMFastMathAllowReassoc, LLVMFastMathNoInfs, LLVMFastMathNoNaNs, LLVMFastMathNoSignedZeros,
    LLVMIntPredicate, LLVMRealPredicate,
};
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

/// What combines cell and value.
struct Operation {
    value: Value,
    /// From the cell to the result.
    instructions: Vec<Value>,
    identity: Value,
    commutative: bool,
    /// As [`Reduction::numbers`].
    numbers: bool,
    /// Of minima and maxima.
    choice: Option<Choice>,
}

/// How a minimum or maximum tells that the value takes the cell's place.
#[derive(Clone, Copy)]
enum Choice {
    /// By this condition, where it holds or where it does not.
    Condition { condition: Value, holds: bool, start: Start },
    /// By itself: any comparison of value and cell tells the same. Of integers, or of floating-point numbers
    /// that are no NaNs.
    Either { larger: bool, unsigned: bool },
}

/// What keeps the place that a part begins with from coming to light.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// The identity is never taken, or there is no part without a value that is.
    Hidden,
    /// So it is where no value is a NaN.
    HiddenOfNumbers,
    /// Nothing does.
    Seen,
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

/// What `new`, a selection, takes for the value `kept` where the choice is for the value, and the comparison
/// that tells so if it is none of the choice's own.
fn taken(
    new: Value,
    kept: Value,
    choice: Choice,
    (value, old): (Value, Value),
) -> Option<(Value, Option<Value>)> {
    let (condition, yes, no) = (ir::operand(new, 0), ir::operand(new, 1), ir::operand(new, 2));
    let (other, holds) = match (yes == kept, no == kept) {
        (false, true) => (yes, true),
        (true, false) => (no, false),
        _ => return None,
    };
    match choice {
        Choice::Condition { condition: own, holds: wanted, .. } => {
            (condition == own && holds == wanted).then_some((other, None))
        }
        Choice::Either { larger, unsigned } => {
            let (greater, sign) = compared(condition, (value, old))?;
            let right = sign.is_none_or(|s| s == unsigned) && (greater == holds) == larger;
            right.then_some((other, Some(condition)))
        }
    }
}

/// Whether a comparison of a value with a cell says that the value is larger, or that it is smaller, be it or
/// equal; and of integers whether they are unsigned. Floating-point numbers must be no NaNs.
fn compared(compare: Value, (value, old): (Value, Value)) -> Option<(bool, Option<bool>)> {
    use LLVMIntPredicate::*;
    use LLVMRealPredicate::*;
    let op = ir::opcode(compare)?;
    if !matches!(op, Op::LLVMICmp | Op::LLVMFCmp) {
        return None;
    }
    let (a, b) = (ir::operand(compare, 0), ir::operand(compare, 1));
    let value_first = match ((a, b) == (value, old), (a, b) == (old, value)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let (greater, unsigned) = if op == Op::LLVMICmp {
        match compare.icmp_predicate() {
            LLVMIntSGT | LLVMIntSGE => (true, Some(false)),
            LLVMIntSLT | LLVMIntSLE => (false, Some(false)),
            LLVMIntUGT | LLVMIntUGE => (true, Some(true)),
            LLVMIntULT | LLVMIntULE => (false, Some(true)),
            _ => return None,
        }
    } else {
        if flags(compare) & LLVMFastMathNoNaNs == 0 {
            return None;
        }
        match compare.fcmp_predicate() {
            LLVMRealOGT | LLVMRealOGE | LLVMRealUGT | LLVMRealUGE => (true, None),
            LLVMRealOLT | LLVMRealOLE | LLVMRealULT | LLVMRealULE => (false, None),
            _ => return None,
        }
    };
    Some((greater == value_first, unsigned))
}

/// Whether two values are chosen by one comparison, of which one is the minimum or maximum of what is
/// compared: a minimum and its place.
pub(crate) fn chosen_together(a: Value, b: Value) -> bool {
    let compared = |v: Value| {
        let of = match ir::opcode(v)? {
            Op::LLVMSelect => ir::operand(v, 0),
            Op::LLVMCall if ir::is_intrinsic(v) => v,
            _ => return None,
        };
        let pair = match ir::opcode(of)? {
            Op::LLVMCall => ir::call_args(of),
            Op::LLVMICmp | Op::LLVMFCmp => vec![ir::operand(of, 0), ir::operand(of, 1)],
            _ => Vec::new(),
        };
        Some((of, pair))
    };
    let extremum = |v: Value, pair: &[Value]| match ir::opcode(v) {
        Some(Op::LLVMCall) => pair.len() == 2,
        _ => pair.len() != 2 || pair.contains(&ir::operand(v, 1)) && pair.contains(&ir::operand(v, 2)),
    };
    let (Some((p, x)), Some((q, y))) = (compared(a), compared(b)) else { return false };
    let same = p == q
        || x.len() == 2 && y.len() == 2 && x.iter().all(|v| y.contains(v)) && y.iter().all(|v| x.contains(v));
    same && (extremum(a, &x) || extremum(b, &y))
}

/// How `new` comes from `old`.
fn operation(new: Value, old: Value) -> Option<Operation> {
    let ty = ir::type_of(new);
    // The match arms know whether it is a type of integers or of floating-point numbers.
    let (int, all_ones, real) = (|v: u64| ty.int(v, false), || ty.all_ones(), |v: f64| ty.real(v));
    let two = |a: Value, b: Value| match (a == old, b == old) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ => None,
    };
    let done = |value: Value, identity: Value| {
        let choice = None;
        Some(Operation {
            value,
            instructions: vec![new],
            identity,
            commutative: true,
            numbers: false,
            choice,
        })
    };
    let op = ir::opcode(new)?;
    match op {
        Op::LLVMAdd | Op::LLVMOr | Op::LLVMXor => {
            done(two(ir::operand(new, 0), ir::operand(new, 1))?, int(0))
        }
        Op::LLVMMul => done(two(ir::operand(new, 0), ir::operand(new, 1))?, int(1)),
        Op::LLVMAnd => done(two(ir::operand(new, 0), ir::operand(new, 1))?, all_ones()),
        Op::LLVMFAdd | Op::LLVMFMul if flags(new) & LLVMFastMathAllowReassoc != 0 => {
            let identity = real(if op == Op::LLVMFAdd { -0.0 } else { 1.0 });
            done(two(ir::operand(new, 0), ir::operand(new, 1))?, identity)
        }
        Op::LLVMCall if ir::is_intrinsic(new) => {
            let args = ir::call_args(new);
            let [a, b] = args.as_slice() else { return None };
            let name = ir::name(ir::callee(new)?);
            let value = two(*a, *b)?;
            let bits = ir::int_bits(new);
            let identity = match (name.split('.').nth(1)?, bits) {
                ("smax", Some(bits)) => int(1 << (bits.min(64) - 1)),
                ("smin", Some(bits)) => int((1 << (bits.min(64) - 1)) - 1),
                ("umax", Some(_)) => int(0),
                ("umin", Some(_)) => all_ones(),
                ("maxnum", None) if flags(new) & LLVMFastMathNoNaNs != 0 => real(least(new, ty)?),
                ("minnum", None) if flags(new) & LLVMFastMathNoNaNs != 0 => real(-least(new, ty)?),
                ("maxnum" | "minnum", None) => real(f64::NAN),
                _ => return None,
            };
            let (larger, unsigned) = (name.contains("max"), name.contains(".u"));
            let total = bits.is_some() || flags(new) & LLVMFastMathNoNaNs != 0;
            let choice = total.then_some(Choice::Either { larger, unsigned });
            done(value, identity).map(|found| Operation { choice, ..found })
        }
        Op::LLVMSelect => select(new, old),
        _ => None,
    }
}

/// Minima and maxima written as comparisons.
fn select(new: Value, old: Value) -> Option<Operation> {
    use LLVMRealPredicate::*;
    let (condition, taken, kept) = (ir::operand(new, 0), ir::operand(new, 1), ir::operand(new, 2));
    let numbers = over_numbers(condition, taken, old).filter(|_| kept == old);
    let compare = numbers.as_ref().map_or(condition, |n| n[0]);
    if ir::opcode(compare)? != Op::LLVMFCmp {
        return None;
    }
    // Whether the comparison tells that the value is taken, or that the cell is kept.
    let (value, takes) = match (taken == old, kept == old) {
        (false, true) => (taken, true),
        (true, false) => (kept, false),
        _ => return None,
    };
    let (a, b) = (ir::operand(compare, 0), ir::operand(compare, 1));
    let value_first = match ((a, b) == (value, old), (a, b) == (old, value)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let predicate = compare.fcmp_predicate();
    let (greater, ordered) = match predicate {
        LLVMRealOGT | LLVMRealOGE => (true, true),
        LLVMRealUGT | LLVMRealUGE => (true, false),
        LLVMRealOLT | LLVMRealOLE => (false, true),
        LLVMRealULT | LLVMRealULE => (false, false),
        _ => return None,
    };
    // Whether the value is taken where it is larger, and whether it is where either is a NaN.
    let (larger, takes_nan) = ((greater == value_first) == takes, ordered != takes);
    let taken = value;
    let both = flags(new) | flags(compare);
    let ty = ir::type_of(new);
    if let Some(tests) = numbers {
        // Whatever is no number is replaced by the first one that is, and replaces nothing.
        if both & LLVMFastMathNoNaNs != 0 {
            return None;
        }
        let identity = ty.real(f64::NAN);
        let commutative = pollyrs_llvm_shim::never_negative_zero(taken);
        let instructions = tests.into_iter().chain([condition, new]).collect();
        let choice = Some(Choice::Condition { condition, holds: true, start: Start::Hidden });
        // (A cell that is kept by an unordered comparison would be no cell that a number replaces.)
        return (!takes_nan).then_some(Operation {
            value: taken,
            instructions,
            identity,
            commutative,
            numbers: false,
            choice,
        });
    }
    let least = if both & LLVMFastMathNoInfs != 0 { -largest(ty)? } else { f64::NEG_INFINITY };
    let identity = ty.real(if larger { least } else { -least });
    let no_matter = both & LLVMFastMathNoNaNs != 0 && both & LLVMFastMathNoSignedZeros != 0;
    let commutative = no_matter || pollyrs_llvm_shim::never_negative_zero(taken);
    let may_be_nan = both & LLVMFastMathNoNaNs == 0;
    let numbers = takes_nan && may_be_nan;
    // Whether a value that equals the cell is taken.
    let or_equal = matches!(predicate, LLVMRealOGE | LLVMRealUGE | LLVMRealOLE | LLVMRealULE) == takes;
    let start = match (or_equal, takes_nan) {
        _ if flags(compare) & LLVMFastMathNoNaNs != 0 => Start::Hidden,
        (false, false) => Start::Hidden,
        (true, _) => Start::HiddenOfNumbers,
        (false, true) => Start::Seen,
    };
    let choice = Some(Choice::Condition { condition: compare, holds: takes, start });
    Some(Operation { value: taken, instructions: vec![compare, new], identity, commutative, numbers, choice })
}

/// The tests of `value > cell || cell != cell && value == value`, as of Fortran's `maxval`: the comparison,
/// and what it is joined with.
fn over_numbers(condition: Value, value: Value, cell: Value) -> Option<Vec<Value>> {
    use LLVMRealPredicate::*;
    let joined = |v: Value, plain: Op, constant: bool, at: u32| -> Option<[Value; 2]> {
        let op = ir::opcode(v)?;
        let logical =
            op == Op::LLVMSelect && ir::constant_int(ir::operand(v, at)).map(|c| c != 0) == Some(constant);
        (op == plain || logical)
            .then(|| [ir::operand(v, 0), ir::operand(v, if logical { 3 - at } else { 1 })])
    };
    // Whether `test` says that `of` is a number, or that it is none.
    let tells = |test: Value, of: Value, number: bool| {
        if ir::opcode(test) != Some(Op::LLVMFCmp) {
            return false;
        }
        let predicate = test.fcmp_predicate();
        let (a, b) = (ir::operand(test, 0), ir::operand(test, 1));
        let zero = b.is_null();
        let (any, same) = if number { (LLVMRealORD, LLVMRealOEQ) } else { (LLVMRealUNO, LLVMRealUNE) };
        a == of && (b == of && (predicate == any || predicate == same) || zero && predicate == any)
    };
    let either = joined(condition, Op::LLVMOr, true, 1)?;
    for (compare, both) in [(either[0], either[1]), (either[1], either[0])] {
        if let Some([a, b]) = joined(both, Op::LLVMAnd, false, 2) {
            for (none, some) in [(a, b), (b, a)] {
                if tells(none, cell, false) && tells(some, value, true) {
                    return Some(vec![compare, none, some, both]);
                }
            }
        }
    }
    None
}

/// What is not larger than any value of the type that the flags of `v` allow.
fn least(v: Value, ty: ir::Type) -> Option<f64> {
    Some(if flags(v) & LLVMFastMathNoInfs != 0 { -largest(ty)? } else { f64::NEG_INFINITY })
}

/// The largest finite value of a type.
fn largest(ty: ir::Type) -> Option<f64> {
    match ir::elem_type(ty)? {
        ElemType::F32 => Some(f64::from(f32::MAX)),
        ElemType::F64 => Some(f64::MAX),
        _ => None,
    }
}
