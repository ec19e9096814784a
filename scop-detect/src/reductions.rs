//! Updates of a cell that may be regrouped: sums, products, minima, maxima and bit operations.
//!
//! # What the IR allows
//! - Integer `add`, `mul`, `and`, `or`, `xor` and the intrinsics `smin`, `smax`, `umin`, `umax` are associative and commutative; whoever regroups
//!   sums and products has to drop `nsw` and `nuw`, since a partial result may wrap where the whole does not.
//! - `fadd` and `fmul` need the flag `reassoc`. The identity of `fadd` is -0.0, which keeps +0.0 and -0.0 as they are.
//! - `llvm.minnum` and `llvm.maxnum` give the other operand for a NaN and either zero for two zeros: any order is one of the results that the
//!   program allows. Their identity is a NaN, since with any other a part that has NaNs alone would lose them; with `nnan` an infinity.
//! - `select(fcmp(value > cell), value, cell)` without any flag: the comparison is false for a NaN, so the values that are NaN are passed over, and
//!   a cell that is one stays. Among equal values (zeros of both signs) the first stays, or with `>=` the last one; so it is
//!   associative, but commutes only where no value is -0.0: absolute values, squares. Its identity is the infinity that nothing is below. The form that keeps the cell where the
//!   comparison holds (`cell > value ? cell : value`, C's usual `MAX` and what flang makes of `max`) takes a NaN for the cell and then anything for the NaN.
//!   That is not associative, so that no value may be a NaN ([`Reduction::numbers`]): the device reports one, and the original loop runs.
//! - `value > cell || cell is no number && value is one`, of Fortran's `maxval`: the same, but that a cell that is a NaN goes. Its identity is a NaN, which
//!   stays in no cell: where all values are NaNs, the first one does.
//!
//! # Example
//! `s += A[i] * B[i]` with `-ffast-math`: value `A[i] * B[i]`, update `[fadd]`, identity -0.0, commutative.

use crate::ir::{self, Op, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{
    LLVMFastMathAllowReassoc, LLVMFastMathNoInfs, LLVMFastMathNoNaNs, LLVMFastMathNoSignedZeros,
    LLVMRealPredicate,
};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ElemType, Reduction, Scop, Statement, ValueHandle,
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
                && let Some(found) = update(s, (read, r), (write, w), arrays[w.array.0].elem)
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
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

/// What the source calls a cell into which floating-point numbers are summed up, or multiplied, in the program's order: the flags that would let
/// the updates be regrouped are all that is missing. `None` if there is none.
pub fn ordered_sum(scop: &Scop) -> isl::Result<Option<String>> {
    let ordered = |t: &Total<'_>| {
        let floating = !matches!(ir::opcode(t.new), Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul));
        floating && t.statement.reduction.is_none() && flags(t.new) & LLVMFastMathAllowReassoc == 0
    };
    Ok(totals(scop)?.iter().find(|t| ordered(t)).map(|t| scop.array(t.cell.array).display.clone()))
}

/// What the source calls a sum or product of which each iteration stores what it is so far (a prefix sum), so that no flag lets it be regrouped.
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
        AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => Some(v.0 as Value),
        AccessValue::ScalarWrite(_) => None,
    }
}

/// The value that an access writes.
fn stored(a: &Access) -> Option<Value> {
    match a.value {
        AccessValue::Instruction(v) => Some(ir::operand(v.0 as Value, 0)),
        AccessValue::ScalarWrite(v) => Some(v.0 as Value),
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
}

fn update(
    s: &Statement,
    (read, r): (usize, &Access),
    (write, w): (usize, &Access),
    elem: ElemType,
) -> Option<Reduction> {
    let instruction = |a: &Access| match a.value {
        AccessValue::Instruction(v) => Some(v),
        _ => None,
    };
    let ((old, load), (new, store)) = ((loaded(r)?, instruction(r)), (stored(w)?, instruction(w)));
    let in_body = |v: Value| s.body.contains(&ValueHandle(v as usize));
    // (Truth values are held in bytes.)
    let held = ir::elem_type(ir::type_of(new)) == Some(elem);
    let truth = ir::int_bits(new) == Some(1) && matches!(ir::opcode(new), Some(Op::LLVMAnd | Op::LLVMOr));
    if !in_body(new) || !held && !truth {
        return None;
    }
    let mut found = operation(new, old)?;
    found.instructions.sort_by_key(|i| s.body.iter().position(|b| *b == ValueHandle(*i as usize)));
    if found.value == old || !found.instructions.iter().all(|i| in_body(*i)) {
        return None;
    }
    // Nothing else looks at the cell or at what becomes of it.
    let inner: Vec<Value> = found.instructions.iter().copied().chain([old]).collect();
    for i in &s.body {
        let i_value = i.0 as Value;
        if found.instructions.contains(&i_value) || Some(*i) == store || Some(*i) == load {
            continue;
        }
        if ir::operands(i_value).iter().any(|o| inner.contains(o)) {
            return None;
        }
    }
    if store.is_some_and(|v| inner.contains(&ir::operand(v.0 as Value, 1))) || inner.contains(&found.value) {
        return None;
    }
    for (n, a) in s.accesses.iter().enumerate() {
        if let AccessValue::ScalarWrite(v) = a.value
            && n != write
            && inner.contains(&(v.0 as Value))
        {
            return None;
        }
    }
    let handles = found.instructions.iter().map(|i| ValueHandle(*i as usize));
    Some(Reduction {
        read,
        write,
        value: ValueHandle(found.value as usize),
        identity: ValueHandle(found.identity as usize),
        update: load.into_iter().chain(handles).chain(store).collect(),
        commutative: found.commutative,
        numbers: found.numbers,
        regrouped: false,
    })
}

/// How `new` comes from `old`.
fn operation(new: Value, old: Value) -> Option<Operation> {
    let ty = ir::type_of(new);
    // SAFETY: constants of the value's type, which the match arms know to be an integer or a floating-point type.
    let (int, all_ones, real) =
        unsafe { (|v: u64| LLVMConstInt(ty, v, 0), || LLVMConstAllOnes(ty), |v: f64| LLVMConstReal(ty, v)) };
    let two = |a: Value, b: Value| match (a == old, b == old) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ => None,
    };
    let done = |value: Value, identity: Value| {
        Some(Operation { value, instructions: vec![new], identity, commutative: true, numbers: false })
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
            done(value, identity)
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
    // SAFETY: an `fcmp`.
    let predicate = unsafe { LLVMGetFCmpPredicate(compare) };
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
        // SAFETY: a floating-point type, since it is compared as one.
        let identity = unsafe { LLVMConstReal(ty, f64::NAN) };
        let commutative = pollyrs_llvm_shim::never_negative_zero(taken);
        let instructions = tests.into_iter().chain([condition, new]).collect();
        // (A cell that is kept by an unordered comparison would be no cell that a number replaces.)
        return (!takes_nan).then_some(Operation {
            value: taken,
            instructions,
            identity,
            commutative,
            numbers: false,
        });
    }
    let least = if both & LLVMFastMathNoInfs != 0 { -largest(ty)? } else { f64::NEG_INFINITY };
    // SAFETY: a floating-point type, since it is compared as one.
    let identity = unsafe { LLVMConstReal(ty, if larger { least } else { -least }) };
    let no_matter = both & LLVMFastMathNoNaNs != 0 && both & LLVMFastMathNoSignedZeros != 0;
    let commutative = no_matter || pollyrs_llvm_shim::never_negative_zero(taken);
    let numbers = takes_nan && both & LLVMFastMathNoNaNs == 0;
    Some(Operation { value: taken, instructions: vec![compare, new], identity, commutative, numbers })
}

/// The tests of `value > cell || cell != cell && value == value`, as of Fortran's `maxval`: the comparison, and what it is joined with.
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
        // SAFETY: an `fcmp`.
        let predicate = unsafe { LLVMGetFCmpPredicate(test) };
        let (a, b) = (ir::operand(test, 0), ir::operand(test, 1));
        // SAFETY: a live constant.
        let zero = unsafe { LLVMIsConstant(b) != 0 && LLVMIsNull(b) != 0 };
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
fn least(v: Value, ty: pollyrs_llvm_shim::LLVMTypeRef) -> Option<f64> {
    Some(if flags(v) & LLVMFastMathNoInfs != 0 { -largest(ty)? } else { f64::NEG_INFINITY })
}

/// The largest finite value of a type.
fn largest(ty: pollyrs_llvm_shim::LLVMTypeRef) -> Option<f64> {
    match ir::elem_type(ty)? {
        ElemType::F32 => Some(f64::from(f32::MAX)),
        ElemType::F64 => Some(f64::MAX),
        _ => None,
    }
}

/// The fast-math flags of a value that may have some.
fn flags(v: Value) -> u32 {
    // SAFETY: a live value; asked for flags only if it may have them.
    unsafe { if LLVMCanValueUseFastMathFlags(v) != 0 { LLVMGetFastMathFlags(v) } else { 0 } }
}
