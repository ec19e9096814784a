//! Roundings: between which two integers numbers are rounded, computed by the host before a launch.
//!
//! Each term is a pair of numbers between which it lies, and whether it may be something else: a NaN, or what
//! is made of an infinite number. Operations round to the nearest number and are monotone in each operand, so
//! the ends of a result are among the results of ends, in the arithmetic that the program and the device use.
//!
//! # Invariants
//! - What may be something else reaches from one infinity to the other, so that no operation has to ask.
//! - An end that is refused is not converted to an integer: a check stands before.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::abi::INSPECT_NUMBERS;
use crate::host::checks::{Check, Gate};
use crate::host::inspect::{Asked, Looks};
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMRealPredicate::*;
use pollyrs_scop::{NumberOp, Rounding, Term, TermKind};

/// Between which numbers a term is, and whether it may be none between them.
#[derive(Clone, Copy)]
struct Ends {
    low: Value,
    high: Value,
    odd: Value,
}

impl Gate<'_> {
    /// The least and the largest integer, as `i64`.
    pub(super) fn round(
        &mut self,
        expr: &mut ExprEmitter<'_>,
        looks: &mut Looks<'_>,
        r: &Rounding,
    ) -> Result<(Value, Value), CodegenError> {
        let mut all: Vec<Ends> = Vec::new();
        for t in &r.terms {
            let made = self.term(expr, looks, r, t, &all)?;
            all.push(made);
        }
        let last = *all.last().ok_or(CodegenError::Internal("a rounding without terms".into()))?;
        let n = Numbers { ir: self.ir, single: false };
        let ends = n.wide(last);
        // As far as a signed integer goes: it is read as one. Numbers of 64 bits are checked like parameters.
        let power = |bits: u32| f64::from(2).powi(bits as i32);
        let (least, most) = match r.signed {
            true => (-power(r.bits - 1), power(r.bits - 1)),
            false => (0.0, power(r.bits - 1)),
        };
        let ends = match r.saturates {
            // (Some integer in between stands for a NaN.)
            true => {
                let last = if r.bits == 64 { power(62) } else { most - 1.0 };
                let first = if r.bits == 64 && r.signed { -power(62) } else { least };
                let inside = |v| n.smaller(n.larger(v, n.number(first)), n.number(last));
                // What is too large for a signed integer is one that is read as negative.
                let fits = match r.signed || r.bits == 64 {
                    true => self.ir.bool(true),
                    false => self.ir.fcmp(LLVMRealOLE, ends.high, n.number(last)),
                };
                let text = format!("{} is rounded from numbers that are too large", r.display);
                self.pass(expr, vec![Check::plain(fits, text)])?;
                Ends { low: inside(ends.low), high: inside(ends.high), ..ends }
            }
            false => {
                let ir = self.ir;
                let above = ir.fcmp(LLVMRealOGE, ends.low, n.number(least));
                let below = ir.fcmp(LLVMRealOLT, ends.high, n.number(most));
                let fits = ir.and(ir.and(above, below), ir.not(ends.odd));
                let text =
                    format!("{} is rounded from numbers that may be too large, or not a number", r.display);
                self.pass(expr, vec![Check::plain(fits, text)])?;
                ends
            }
        };
        let [low, high] = [ends.low, ends.high].map(|v| self.ir.cast(LLVMFPToSI, v, self.ir.i64_type()));
        let ordered = self.ir.icmp(inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE, low, high);
        let text = format!("nothing is known of what {} is rounded from", r.display);
        self.pass(expr, vec![Check::plain(ordered, text)])?;
        Ok((low, high))
    }

    fn term(
        &mut self,
        expr: &mut ExprEmitter<'_>,
        looks: &mut Looks<'_>,
        r: &Rounding,
        t: &Term,
        all: &[Ends],
    ) -> Result<Ends, CodegenError> {
        let ir = self.ir;
        let n = Numbers { ir, single: t.single };
        let at = |x: usize| {
            all.get(x).copied().ok_or_else(|| CodegenError::Internal("a term of a later one".into()))
        };
        Ok(match &t.kind {
            TermKind::Any => n.any(),
            TermKind::Known(v) => {
                let v = ir.freeze(host_value(*v));
                n.settled(v, v, ir.bool(false))
            }
            TermKind::Count { low, high } => {
                let low = ir.freeze(expr.emit_pw_aff(low)?);
                let high = ir.freeze(expr.emit_pw_aff(high)?);
                let [low, high] = [low, high].map(|v| ir.cast(LLVMSIToFP, v, n.ty()));
                n.settled(low, high, ir.bool(false))
            }
            TermKind::Memory { array, .. } => {
                let found = looks.boxes.next();
                let asked = Asked { array: *array, flags: INSPECT_NUMBERS, display: &r.display, found };
                let (low, high) = self.look(expr, looks, &asked)?;
                let [low, high] = [low, high].map(|bits| n.narrow(ir.bit_cast(bits, ir.double_type())));
                n.settled(low, high, ir.bool(false))
            }
            TermKind::AtMost { of, bound, ordered } => {
                let (x, b) = (at(*of)?, at(*bound)?);
                n.within(x, Ends { high: n.smaller(x.high, b.high), ..x }, *ordered)
            }
            TermKind::AtLeast { of, bound, ordered } => {
                let (x, b) = (at(*of)?, at(*bound)?);
                n.within(x, Ends { low: n.larger(x.low, b.low), ..x }, *ordered)
            }
            TermKind::Made(NumberOp::Mul { fused }, of) if of[..] == [of[0]; 2] => {
                n.square(at(of[0])?, *fused)
            }
            TermKind::Made(op, of) => {
                let of = of.iter().map(|x| at(*x)).collect::<Result<Vec<_>, _>>()?;
                match of[..] {
                    [a] => n.unary(*op, a),
                    [a, b] => n.binary(*op, a, b),
                    _ => return Err(CodegenError::Internal("an operation on more numbers than two".into())),
                }
            }
        })
    }
}

/// Arithmetic in a type of numbers.
struct Numbers<'a> {
    ir: &'a Ir,
    single: bool,
}

impl Numbers<'_> {
    fn ty(&self) -> Type {
        if self.single { self.ir.float_type() } else { self.ir.double_type() }
    }

    fn number(&self, v: f64) -> Value {
        self.ty().real(v)
    }

    fn any(&self) -> Ends {
        let (low, high) = (self.number(f64::NEG_INFINITY), self.number(f64::INFINITY));
        Ends { low, high, odd: self.ir.bool(true) }
    }

    fn smaller(&self, a: Value, b: Value) -> Value {
        self.ir.select(self.ir.fcmp(LLVMRealOLT, b, a), b, a)
    }

    fn larger(&self, a: Value, b: Value) -> Value {
        self.ir.select(self.ir.fcmp(LLVMRealOGT, b, a), b, a)
    }

    /// Ends that were computed: `odd` says that they mean nothing, and so does a NaN.
    fn settled(&self, low: Value, high: Value, odd: Value) -> Ends {
        let ir = self.ir;
        let odd = ir.or(odd, ir.fcmp(LLVMRealUNO, low, high));
        let any = self.any();
        Ends { low: ir.select(odd, any.low, low), high: ir.select(odd, any.high, high), odd }
    }

    /// `x`, of which a condition is known to hold; `ordered`: only of numbers.
    fn within(&self, x: Ends, inside: Ends, ordered: bool) -> Ends {
        let ir = self.ir;
        if ordered {
            // What was made of an infinite number is one that the condition speaks of, too.
            return Ends { odd: ir.bool(false), ..inside };
        }
        Ends {
            low: ir.select(x.odd, x.low, inside.low),
            high: ir.select(x.odd, x.high, inside.high),
            odd: x.odd,
        }
    }

    /// Whether an operation may make a NaN of an infinite operand, or has one that is odd.
    fn unusual(&self, of: &[Ends]) -> Value {
        let ir = self.ir;
        of.iter().fold(ir.bool(false), |all, x| {
            let low = ir.fcmp(LLVMRealULE, x.low, self.number(f64::NEG_INFINITY));
            let high = ir.fcmp(LLVMRealUGE, x.high, self.number(f64::INFINITY));
            ir.or(all, ir.or(x.odd, ir.or(low, high)))
        })
    }

    fn call(&self, base: &str, v: Value) -> Value {
        let ty = self.ty();
        let name = format!("llvm.{base}.{}", if self.single { "f32" } else { "f64" });
        let f = self.ir.declare(self.ir.block().function().module(), &name, ty, &[ty]);
        self.ir.call(ty, f, &[v])
    }

    /// In double precision.
    fn wide(&self, x: Ends) -> Ends {
        let double = self.ir.double_type();
        let widen = |v: Value| if v.ty() == double { v } else { self.ir.cast(LLVMFPExt, v, double) };
        Ends { low: widen(x.low), high: widen(x.high), ..x }
    }

    /// A double in the type at hand, to the nearest.
    fn narrow(&self, v: Value) -> Value {
        if self.single { self.ir.cast(LLVMFPTrunc, v, self.ty()) } else { v }
    }

    fn unary(&self, op: NumberOp, x: Ends) -> Ends {
        let ir = self.ir;
        let each = |base: &str| self.settled(self.call(base, x.low), self.call(base, x.high), x.odd);
        match op {
            NumberOp::Neg => Ends { low: ir.fneg(x.high), high: ir.fneg(x.low), ..x },
            NumberOp::Abs => {
                let (a, b) = (self.call("fabs", x.low), self.call("fabs", x.high));
                let zero = self.number(0.0);
                let across = ir.and(ir.fcmp(LLVMRealOLE, x.low, zero), ir.fcmp(LLVMRealOGE, x.high, zero));
                let low = ir.select(across, zero, self.smaller(a, b));
                // (What may be a NaN reaches from one infinity to the other.)
                self.settled(low, self.larger(a, b), x.odd)
            }
            NumberOp::Sqrt => {
                let odd = ir.or(x.odd, ir.fcmp(LLVMRealULT, x.low, self.number(0.0)));
                // (A root of a negative number is not asked for.)
                let [a, b] = [x.low, x.high].map(|v| self.larger(v, self.number(0.0)));
                self.settled(self.call("sqrt", a), self.call("sqrt", b), odd)
            }
            NumberOp::Convert => {
                let wide = self.wide(x);
                self.settled(self.narrow(wide.low), self.narrow(wide.high), x.odd)
            }
            NumberOp::Floor => each("floor"),
            NumberOp::Ceil => each("ceil"),
            NumberOp::Truncate => each("trunc"),
            NumberOp::Nearest { even: true } => each("rint"),
            NumberOp::Nearest { even: false } => each("round"),
            _ => self.any(),
        }
    }

    fn binary(&self, op: NumberOp, a: Ends, b: Ends) -> Ends {
        let ir = self.ir;
        let odd = self.unusual(&[a, b]);
        match op {
            NumberOp::Add => {
                self.settled(ir.binary(LLVMFAdd, a.low, b.low), ir.binary(LLVMFAdd, a.high, b.high), odd)
            }
            NumberOp::Sub => {
                self.settled(ir.binary(LLVMFSub, a.low, b.high), ir.binary(LLVMFSub, a.high, b.low), odd)
            }
            NumberOp::Mul { fused } => {
                let x = self.corners(LLVMFMul, a, b, odd);
                if fused { self.moved(x) } else { x }
            }
            NumberOp::Div => {
                let zero = self.number(0.0);
                let apart = ir.or(ir.fcmp(LLVMRealOGT, b.low, zero), ir.fcmp(LLVMRealOLT, b.high, zero));
                self.corners(LLVMFDiv, a, b, ir.or(odd, ir.not(apart)))
            }
            // A NaN makes the other one the result: it is between the ends of one that may be anything, too.
            NumberOp::Min => {
                let (low, high) = (self.smaller(a.low, b.low), self.smaller(a.high, b.high));
                Ends { low, high, odd: ir.and(a.odd, b.odd) }
            }
            NumberOp::Max => {
                let (low, high) = (self.larger(a.low, b.low), self.larger(a.high, b.high));
                Ends { low, high, odd: ir.and(a.odd, b.odd) }
            }
            NumberOp::Choice => {
                self.settled(self.smaller(a.low, b.low), self.larger(a.high, b.high), ir.or(a.odd, b.odd))
            }
            _ => self.any(),
        }
    }

    fn square(&self, x: Ends, fused: bool) -> Ends {
        let x = self.unary(NumberOp::Abs, x);
        let odd = self.unusual(&[x]);
        let [low, high] = [x.low, x.high].map(|v| self.ir.binary(LLVMFMul, v, v));
        let x = self.settled(low, high, odd);
        if !fused {
            return x;
        }
        // (No rounding makes a square negative.)
        let moved = self.moved(x);
        Ends { low: self.larger(moved.low, self.number(0.0)), ..moved }
    }

    /// The ends of what is monotone in each operand, one way or the other.
    fn corners(&self, op: inkwell::llvm_sys::LLVMOpcode, a: Ends, b: Ends, odd: Value) -> Ends {
        let ir = self.ir;
        let pairs = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        let all = pairs.map(|(x, y)| ir.binary(op, x, y));
        let odd = all.iter().fold(odd, |odd, v| ir.or(odd, ir.fcmp(LLVMRealUNO, *v, *v)));
        let low = all[1..].iter().fold(all[0], |x, y| self.smaller(x, *y));
        let high = all[1..].iter().fold(all[0], |x, y| self.larger(x, *y));
        self.settled(low, high, odd)
    }

    /// Ends that are further apart by more than what rounding moved them.
    fn moved(&self, x: Ends) -> Ends {
        let ir = self.ir;
        let (step, least) = match self.single {
            true => (f64::from(f32::EPSILON), f64::from(f32::from_bits(1))),
            false => (f64::EPSILON, f64::from_bits(1)),
        };
        let far = |v| {
            let part = ir.binary(LLVMFMul, self.call("fabs", v), self.number(step));
            ir.binary(LLVMFAdd, part, self.number(least))
        };
        let low = ir.binary(LLVMFSub, x.low, far(x.low));
        self.settled(low, ir.binary(LLVMFAdd, x.high, far(x.high)), x.odd)
    }
}
