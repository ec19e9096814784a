//! Calls that set `errno` on the host, and checks that fail.
//!
//! **Problem.** The C library's `exp` sets `errno` where the result is too large or too small, `sqrt` where
//! the argument is below zero. A kernel has no `errno`. It looks at arguments and result instead, and stores
//! to a byte of the SCoP's fault cell: to the second one where the call surely sets `ERANGE`, to the fifth
//! one where it does so or nothing, to the first one where it may do anything else. If all that happened is
//! the first of these, or also the second one, the results count, and the run-time library sets `errno`;
//! otherwise it drops what the device computed, and the original loop sets `errno` as it would have. (So it
//! does for all domain errors: their results are NaNs, whose signs the device does not keep.)
//!
//! A check that depends on what the loop computes (`if (w <= 0) exit(1)`) sets a byte of the same cell where
//! it fails.
//!
//! **Invariants.** Whatever may set `errno` is reported. A thread notes what it has to report in a register
//! for each byte, and stores it behind its last instance: a store or a branch for each call would keep loads
//! and the arithmetic of other points from being moved past it. What a comparison or two don't tell is found
//! out in a block that is seldom entered.
//!
//! **Example.** `y = expf(x)` becomes
//! ```text
//! y = expf(x);
//! range |= (x < -103.3f || x > 88.7f) && |x| < inf;
//! ...
//! if (range) fault[1] = 1;                   // the thread's end
//! ```

mod rules;

use crate::ir::builder::Ir;
use crate::ir::calls::errno_attribute;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::math::{Precision, nearest_integer, split};
use crate::kernel::builder::KernelBuilder;
use crate::statement::errno::rules::{End, Outcome, Rule};
use LLVMRealPredicate::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};

/// The byte of the fault cell that a call for which the original loop has to run again sets
/// (runtime/include/pollyrs_rt.h).
const AGAIN_BYTE: i64 = 0;
/// The byte of the fault cell that a call which sets `ERANGE` sets.
const RANGE_BYTE: i64 = 1;
/// The byte that a check which fails sets.
const CHECK_BYTE: i64 = 2;
/// The byte that a NaN among values whose order then matters sets.
const NAN_BYTE: i64 = 3;
/// The byte that a call which sets `ERANGE` or nothing sets.
const PERHAPS_BYTE: i64 = 4;

/// Whether something in the loop may look at `errno`, so that only the original loop can set it.
fn is_looked_at(call: Value) -> bool {
    errno_attribute(call).is_some_and(|found| !found.is_empty())
}

/// The SCoP's fault cell.
pub(crate) fn cell(scop: &Scop) -> Result<ArrayId> {
    match scop.arrays.iter().position(|a| matches!(a.kind, ArrayKind::Fault { .. })) {
        Some(at) => Ok(ArrayId(at)),
        None => internal("something may be reported, and there is no fault cell"),
    }
}

/// Behind the call `result = name(args)` of the kernel, a copy of the host's `call`: the report of what it
/// does to `errno`.
pub(crate) fn report<S>(
    k: &mut KernelBuilder<'_, S>,
    call: Value,
    name: &str,
    result: Value,
    args: &[Value],
) -> Result<()> {
    let ty = args[0].ty();
    // Flags may make a result poison; to branch on it is no undefined behaviour then.
    let mut test = Test { ir: k.ir, module: k.module, ty, x: args[0], y: args.get(1).copied(), r: None };
    let Some((base, precision)) = split(name).find(|(base, precision)| {
        *precision == test.precision() && (rules::of_one_argument(base).is_some() || FURTHER.contains(base))
    }) else {
        return internal(format!("when {name} sets errno is not known"));
    };
    let ir = k.ir;
    let rule = rules::of_one_argument(base);
    // What a rule finds are a few comparisons; what else there is to find out is for what is suspicious.
    let (found, next) = match &rule {
        Some(rule) => (test.outcome(rule, precision), None),
        None => {
            test.r = Some(ir.freeze(result));
            let suspect = test.is_suspicious(base, precision)?;
            // Where it does not count, the arguments may be no values.
            let suspect = k.counts.map_or(suspect, |counts| ir.select(counts, suspect, ir.bool(false)));
            let function = ir.block().function();
            let [closer, next] = ["suspicious", "fine"].map(|name| ir.append_block(function, name));
            ir.cond_br(suspect, closer, next);
            ir.at_end(closer);
            (test.outcome_of(base, precision)?, Some(next))
        }
    };
    let Found { range, perhaps, again } = found;
    let found = match is_looked_at(call) {
        true => vec![(AGAIN_BYTE, ir.or(ir.or(range, perhaps), again))],
        false => vec![(AGAIN_BYTE, again), (RANGE_BYTE, range), (PERHAPS_BYTE, perhaps)],
    };
    for (byte, found) in found {
        note(k, byte, found)?;
    }
    if let Some(next) = next {
        ir.br(next);
        ir.at_end(next);
    }
    Ok(())
}

/// For the host's call of [`pollyrs_llvm_shim::CHECK`] with `condition`: the report of a condition that does
/// not hold.
pub(crate) fn report_check<S>(k: &mut KernelBuilder<'_, S>, condition: Value) -> Result<()> {
    report_unless(k, condition, CHECK_BYTE)
}

/// The report of a floating-point number that is a NaN.
pub(crate) fn report_nan<S>(k: &mut KernelBuilder<'_, S>, v: Value) -> Result<()> {
    let number = k.ir.fcmp(LLVMRealORD, v, v);
    report_unless(k, number, NAN_BYTE)
}

fn report_unless<S>(k: &mut KernelBuilder<'_, S>, condition: Value, byte: i64) -> Result<()> {
    note(k, byte, k.ir.not(condition))
}

/// Notes in a register of the thread that it reports a byte of the fault cell, if `found` holds.
fn note<S>(k: &mut KernelBuilder<'_, S>, byte: i64, found: Value) -> Result<()> {
    let ir = k.ir;
    if found.constant_int() == Some(0) {
        return Ok(());
    }
    let register = match k.reports.get(&byte) {
        Some(register) => *register,
        None => {
            let register = k.at_entry(|| {
                let register = ir.alloca(ir.bool(false).ty(), "reported");
                ir.store(ir.bool(false), register);
                Ok(register)
            })?;
            k.reports.insert(byte, register);
            register
        }
    };
    // Where it does not count, the arguments may be no values. What is poison on the device only belongs to
    // iterations that the program does not get to.
    let found = k.counts.map_or(found, |counts| ir.select(counts, found, ir.bool(false)));
    let sofar = ir.load(found.ty(), register);
    ir.store(ir.or(sofar, ir.freeze(found)), register);
    Ok(())
}

/// At the end of a thread: what it has to report goes to the fault cell.
pub(crate) fn store<S>(k: &KernelBuilder<'_, S>) -> Result<()> {
    let ir = k.ir;
    for (byte, register) in &k.reports {
        let Some(cell) = k.arrays.get(&cell(k.scop)?).copied() else {
            return internal("the fault cell is no argument of the kernel");
        };
        let function = ir.block().function();
        let [fault, next] = ["fault", "end"].map(|name| ir.append_block(function, name));
        ir.cond_br(ir.load(ir.bool(false).ty(), *register), fault, next);
        ir.at_end(fault);
        set(ir, cell, ir.int(*byte));
        ir.br(next);
        ir.at_end(next);
    }
    Ok(())
}

/// Sets a byte of the fault cell. Several threads may do so at once.
fn set(ir: &Ir, cell: Value, byte: Value) {
    let store = ir.store(ir.i8_type().int(1, false), ir.byte_offset(cell, byte));
    store.set_alignment(1);
    store.set_ordering(LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
}

/// The other functions.
const FURTHER: [&str; 11] =
    ["atan2", "fdim", "fmod", "hypot", "ldexp", "llrint", "llround", "lrint", "lround", "pow", "remainder"];

/// What a call does to `errno`: one of these at most.
struct Found {
    /// It sets `ERANGE`.
    range: Value,
    /// `ERANGE` or nothing.
    perhaps: Value,
    /// The original loop has to find out.
    again: Value,
}

/// Conditions on the arguments `x` and `y` of a call and on its result `r`.
struct Test<'a> {
    ir: &'a Ir,
    module: Module,
    /// The type of `x`, and of most results.
    ty: Type,
    x: Value,
    y: Option<Value>,
    r: Option<Value>,
}

impl Test<'_> {
    fn precision(&self) -> Precision {
        let kind = self.ty.kind();
        if kind == LLVMTypeKind::LLVMFloatTypeKind { Precision::Single } else { Precision::Double }
    }

    fn real(&self, value: f64) -> Value {
        self.ty.real(value)
    }

    fn compare(&self, p: LLVMRealPredicate, a: Value, b: Value) -> Value {
        self.ir.fcmp(p, a, b)
    }

    fn is(&self, p: LLVMRealPredicate, a: Value, limit: f64) -> Value {
        self.compare(p, a, self.real(limit))
    }

    fn magnitude(&self, v: Value) -> Value {
        let name = match self.precision() {
            Precision::Single => "llvm.fabs.f32",
            Precision::Double => "llvm.fabs.f64",
        };
        let ty = self.ty.function(&[self.ty]);
        self.ir.call_function(self.module.declare(name, ty), &[v])
    }

    fn is_infinite(&self, v: Value) -> Value {
        self.is(LLVMRealOEQ, self.magnitude(v), f64::INFINITY)
    }

    fn is_finite(&self, v: Value) -> Value {
        self.is(LLVMRealOLT, self.magnitude(v), f64::INFINITY)
    }

    /// The least normal number and the greatest number.
    fn normal(&self) -> (f64, f64) {
        match self.precision() {
            Precision::Single => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
            Precision::Double => (f64::MIN_POSITIVE, f64::MAX),
        }
    }

    /// The value that the ends of a rule are about.
    fn measured(&self, rule: &Rule) -> Value {
        if rule.magnitude { self.magnitude(self.x) } else { self.x }
    }

    fn beyond(&self, end: &End, below: bool, v: Value, precision: Precision) -> Value {
        let predicate = match (below, end.or_equal) {
            (true, false) => LLVMRealOLT,
            (true, true) => LLVMRealOLE,
            (false, false) => LLVMRealOGT,
            (false, true) => LLVMRealOGE,
        };
        self.is(predicate, v, end.limit(precision))
    }

    /// What a function of one argument does.
    fn outcome(&self, rule: &Rule, precision: Precision) -> Found {
        let ir = self.ir;
        let v = self.measured(rule);
        // What no end has is the constant.
        let of = |outcome| {
            let mut found = ir.bool(false);
            let ends = rule.below.iter().rev().map(|end| (end, true));
            let ends = ends.chain(rule.above.iter().rev().map(|end| (end, false)));
            if !ends.clone().any(|(end, _)| end.outcome == outcome) {
                return found;
            }
            for (end, below) in ends {
                let here = self.beyond(end, below, v, precision);
                found = ir.select(here, ir.bool(end.outcome == outcome), found);
            }
            if rule.infinite { found } else { ir.and(found, self.is_finite(self.x)) }
        };
        let [range, mut perhaps, again] = [Outcome::Range, Outcome::Perhaps, Outcome::Again].map(of);
        if rule.tiny {
            let small = self.is(LLVMRealOLT, self.magnitude(self.x), self.normal().0);
            perhaps = ir.or(perhaps, ir.and(small, self.is(LLVMRealONE, self.x, 0.0)));
        }
        Found { range, perhaps, again }
    }

    fn result(&self) -> Result<Value> {
        self.r.map_or_else(|| internal("a result is missing"), Ok)
    }

    fn second(&self) -> Result<Value> {
        self.y.map_or_else(|| internal("an argument is missing"), Ok)
    }

    /// Whether another function may set `errno`.
    fn is_suspicious(&self, base: &str, precision: Precision) -> Result<Value> {
        let r = self.result()?;
        let (least, greatest) = self.normal();
        Ok(match base {
            // An operand that is no number, or none that the remainder is defined for.
            "fmod" | "remainder" => self.compare(LLVMRealUNO, r, r),
            "atan2" => self.is(LLVMRealOLT, self.magnitude(r), least),
            "fdim" => self.is_infinite(r),
            // No result between the two lies near to where rounding could make it infinite or zero.
            "pow" => {
                let (low, high) = match precision {
                    Precision::Single => (2f64.powi(-140), greatest * (1.0 - 2f64.powi(-18))),
                    Precision::Double => (2f64.powi(-1060), greatest * (1.0 - 2f64.powi(-40))),
                };
                let size = self.magnitude(r);
                self.ir.or(self.is(LLVMRealULT, size, low), self.is(LLVMRealUGT, size, high))
            }
            "hypot" => {
                let high = greatest * (1.0 - 2f64.powi(-18));
                self.ir.or(self.is(LLVMRealOLT, r, least), self.is(LLVMRealOGT, r, high))
            }
            "ldexp" => {
                let size = self.magnitude(r);
                self.ir.or(self.is(LLVMRealOLE, size, 0.0), self.is(LLVMRealOGE, size, f64::INFINITY))
            }
            // Not surely an integer of the result's type.
            _ if nearest_integer(base).is_some() => {
                let bits = r.ty().int_width().unwrap_or(64);
                self.is(LLVMRealUGE, self.magnitude(self.x), 2f64.powi(bits as i32 - 1) - 1.0)
            }
            _ => return internal(format!("when {base} sets errno is not known")),
        })
    }

    fn outcome_of(&self, base: &str, precision: Precision) -> Result<Found> {
        let ir = self.ir;
        let never = ir.bool(false);
        if nearest_integer(base).is_some() {
            return Ok(Found { range: never, perhaps: never, again: ir.bool(true) });
        }
        let (x, y, r) = (self.x, self.second()?, self.result()?);
        let again = |again| Found { range: never, perhaps: never, again };
        let perhaps = |perhaps| Found { range: never, perhaps, again: never };
        let range = |range| Found { range, perhaps: never, again: never };
        Ok(match base {
            "fmod" | "remainder" => again(self.compare(LLVMRealORD, x, y)),
            "atan2" => {
                let zero = self.is(LLVMRealOEQ, x, 0.0);
                perhaps(ir.and(ir.not(zero), self.is_finite(y)))
            }
            "fdim" => perhaps(ir.and(self.is_finite(x), self.is_finite(y))),
            "hypot" => {
                let finite = ir.and(self.is_finite(x), self.is_finite(y));
                perhaps(ir.and(finite, self.is(LLVMRealONE, r, 0.0)))
            }
            "ldexp" => {
                let (finite, zero) = (self.is_finite(x), self.is(LLVMRealOEQ, x, 0.0));
                range(ir.and(finite, ir.not(zero)))
            }
            "pow" => self.power(x, y, r, precision),
            _ => return internal(format!("when {base} sets errno is not known")),
        })
    }

    /// Of `pow(x, y)` that is no number, or nearly infinite or zero: `y * log2(|x|)` tells how far off it is.
    fn power(&self, x: Value, y: Value, r: Value, precision: Precision) -> Found {
        let ir = self.ir;
        let finite = ir.and(self.is_finite(x), self.is_finite(y));
        let domain = self.compare(LLVMRealUNO, r, r);
        let zero = self.is(LLVMRealOEQ, x, 0.0);
        let pole = ir.and(zero, self.is_infinite(r));
        let double = ir.double_type();
        let wide = |v| match precision {
            Precision::Single => ir.cast(LLVMOpcode::LLVMFPExt, v, double),
            Precision::Double => v,
        };
        let log2 = self.module.declare("log2", double.function(&[double]));
        for a in ["nounwind", "willreturn", "memory"] {
            log2.add_attribute(FUNCTION, a, 0);
        }
        let log2 = ir.call_function(log2, &[wide(self.magnitude(x))]);
        let exponent = ir.binary(LLVMOpcode::LLVMFMul, wide(y), log2);
        let is = |p, limit| self.compare(p, exponent, double.real(limit));
        // The library says that `powf` underflows from half of the least number on; of `pow` it is results
        // that are zero.
        let (top, bottom) = match precision {
            Precision::Single => (128.0, -149.0),
            Precision::Double => (1024.0, -1075.0),
        };
        const MARGIN: f64 = 0.001;
        let out = ir.or(is(LLVMRealOGT, top + MARGIN), is(LLVMRealOLT, bottom - MARGIN));
        let fine = ir.and(is(LLVMRealOLT, top - MARGIN), is(LLVMRealOGT, bottom + MARGIN));
        let nonzero = ir.and(finite, ir.not(ir.or(zero, domain)));
        let range = ir.and(finite, ir.or(pole, ir.and(nonzero, out)));
        let near = ir.and(nonzero, ir.not(ir.or(out, fine)));
        let number = self.compare(LLVMRealORD, x, y);
        Found { range, perhaps: near, again: ir.and(domain, number) }
    }
}
