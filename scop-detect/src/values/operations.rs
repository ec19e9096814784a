//! How an update's new value comes from the old one: sums and products, minima and maxima, and what is chosen
//! beside them.

use crate::base::ir::{self, Op, Value, flags};
use inkwell::llvm_sys::{
    LLVMFastMathAllowReassoc, LLVMFastMathNoInfs, LLVMFastMathNoNaNs, LLVMFastMathNoSignedZeros,
    LLVMIntPredicate, LLVMRealPredicate,
};
use pollyrs_scop::ElemType;

/// What combines cell and value.
pub(crate) struct Operation {
    pub value: Value,
    /// From the cell to the result.
    pub instructions: Vec<Value>,
    pub identity: Value,
    pub commutative: bool,
    /// As [`pollyrs_scop::Reduction::numbers`].
    pub numbers: bool,
    /// Of minima and maxima.
    pub choice: Option<Choice>,
}

/// How a minimum or maximum tells that the value takes the cell's place.
#[derive(Clone, Copy)]
pub(crate) enum Choice {
    /// By this condition, where it holds or where it does not.
    Condition { condition: Value, holds: bool, start: Start },
    /// By itself: any comparison of value and cell tells the same. Of integers, or of floating-point numbers
    /// that are no NaNs.
    Either { larger: bool, unsigned: bool },
}

/// What keeps the place that a part begins with from coming to light.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Start {
    /// The identity is never taken, or there is no part without a value that is.
    Hidden,
    /// So it is where no value is a NaN.
    HiddenOfNumbers,
    /// Nothing does.
    Seen,
}

/// What `new`, a selection, takes for the value `kept` where the choice is for the value, and the comparison
/// that tells so if it is none of the choice's own.
pub(crate) fn taken(
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
pub(crate) fn compared(compare: Value, (value, old): (Value, Value)) -> Option<(bool, Option<bool>)> {
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
pub(crate) fn operation(new: Value, old: Value) -> Option<Operation> {
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
pub(crate) fn select(new: Value, old: Value) -> Option<Operation> {
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
pub(crate) fn over_numbers(condition: Value, value: Value, cell: Value) -> Option<Vec<Value>> {
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
pub(crate) fn least(v: Value, ty: ir::Type) -> Option<f64> {
    Some(if flags(v) & LLVMFastMathNoInfs != 0 { -largest(ty)? } else { f64::NEG_INFINITY })
}

/// The largest finite value of a type.
pub(crate) fn largest(ty: ir::Type) -> Option<f64> {
    match ir::elem_type(ty)? {
        ElemType::F32 => Some(f64::from(f32::MAX)),
        ElemType::F64 => Some(f64::MAX),
        _ => None,
    }
}
