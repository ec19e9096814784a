//! Numbers that share a register.
//!
//! **Problem.** Calling conventions pass `struct { int rows, columns; }` as one number of 64 bits, and copies
//! of structures load one: `columns` is `v >> 32` and `rows` is `v` without its upper half. As functions of
//! `v` they would be nothing of use: a row of `v` elements, and a `v` beyond what is believed of sizes.
//!
//! The run-time library reads whole words for the program: an integer in one is the word, shifted down by
//! where it lies, and truncated; what lies beside it in memory is in the bits above.
//!
//! Of a choice of 64 bits of which only the lower half is looked at, LLVM keeps that of its numbers: -4, the
//! lower bound of a Fortran array, is 4294967292.
//!
//! **Decision.** A number whose lower and upper bits are both taken out by themselves, or one that is shifted
//! down by so many bits as the program says, stands for none of its own: each part is a parameter. So is the
//! lower half of a choice with such a number. Other truncations stay congruent to what they are taken of,
//! such as `(int) n`.

use crate::base::builder::{Given, scaled};
use crate::base::ir::{self, Op, Value};
use pollyrs_llvm_shim::{ScevExpr, ScevKind};

impl Given<'_> {
    /// The parameter that `e` is: a part of a number that holds several. `None` for other expressions.
    pub(crate) fn part(&self, e: &ScevExpr) -> Option<ScevExpr> {
        let taken = match &e.kind {
            ScevKind::Truncate(x) => lower(x, e.bits).is_some() || upper(x, e.bits),
            ScevKind::UDiv(..) => upper(e, 1),
            _ => false,
        };
        (taken && matches!(e.bits, 8 | 16 | 32 | 64) && self.is_invariant(e)).then(|| e.clone())
    }

    /// The parameter of 32 bits for a number that the program reads without sign.
    pub(crate) fn without_sign(&self, e: &ScevExpr) -> Option<ScevExpr> {
        let wide =
            (is_read_unsigned(e) && self.is_invariant(e)).then(|| self.an.zero_extended(e.handle, 32))?;
        (wide.kind != ScevKind::CouldNotCompute).then_some(wide)
    }

    /// The same of two numbers that are compared, of which one may be a constant.
    pub(crate) fn both_without_sign(&self, a: &ScevExpr, b: &ScevExpr) -> Option<(ScevExpr, ScevExpr)> {
        let wide = |e: &ScevExpr| match e.kind {
            ScevKind::Constant(c) => {
                let kind = ScevKind::Constant(c & ((1 << e.bits) - 1));
                Some(ScevExpr { kind, ..e.clone() })
            }
            _ => self.without_sign(e),
        };
        let constant = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(_));
        (!(constant(a) && constant(b)) && a.bits <= 16).then(|| Some((wide(a)?, wide(b)?)))?
    }

    /// The terms of a narrowed sum with such a choice, each narrowed by itself, with its factor.
    pub(crate) fn narrowed_terms(&self, x: &ScevExpr, e: &ScevExpr) -> Option<Vec<(i128, ScevExpr)>> {
        let ScevKind::Add(ops) = &x.kind else { return None };
        let lost =
            |o: &ScevExpr| matches!(scaled(o).1.kind, ScevKind::Unknown(v) if loses_sign(v, e.bits, CHOICES));
        if !ops.iter().any(lost) {
            return None;
        }
        let narrow = |o: &ScevExpr| {
            let (times, x) = scaled(o);
            let term = self.an.sum(&[(x.handle, 1), (e.handle, 0)]);
            (term.kind != ScevKind::CouldNotCompute).then_some((times, term))
        };
        ops.iter().map(narrow).collect()
    }

    /// The signed number that `e` is, but for its sign: of `(int) n` that is known not to be negative LLVM
    /// keeps 31 bits. They are equal where it is not negative.
    pub(crate) fn with_sign(&self, e: &ScevExpr) -> Option<ScevExpr> {
        let ScevKind::Truncate(x) = &e.kind else { return None };
        let ScevKind::Unknown(v) = x.kind else { return None };
        if !matches!(e.bits, 7 | 15 | 31) || self.defined_inside(v) {
            return None;
        }
        let narrowed = ir::uses(v).into_iter().map(|(user, _)| user).find(|user| {
            ir::opcode(*user) == Some(Op::LLVMTrunc) && ir::int_bits(*user) == Some(e.bits + 1)
        })?;
        Some(self.an.scev(narrowed, None))
    }
}

/// The number whose lowest `bits` bits `x` is asked for, if bits above them are taken out of it as well, or
/// may be of anything.
fn lower(x: &ScevExpr, bits: u32) -> Option<Value> {
    let ScevKind::Unknown(v) = x.kind else { return None };
    let above = |(user, _): &(Value, _)| shift(*user, v).is_some_and(|by| by >= bits);
    (is_shifted_down(v) || loses_sign(v, bits, CHOICES) || ir::uses(v).iter().any(above)).then_some(v)
}

/// Choices between choices are followed so far.
const CHOICES: u32 = 3;

/// Whether `v` is a choice with a number that is negative in the lowest `bits` bits, and that nothing is
/// above.
fn loses_sign(v: Value, bits: u32, depth: u32) -> bool {
    let chosen = match ir::opcode(v) {
        Some(Op::LLVMSelect) => vec![ir::operand(v, 1), ir::operand(v, 2)],
        Some(Op::LLVMPHI) => ir::incoming(v).into_iter().map(|(x, _)| x).collect(),
        Some(Op::LLVMFreeze) => vec![ir::operand(v, 0)],
        _ => return false,
    };
    let cut = |c: i64| (8..=32).contains(&bits) && (1 << (bits - 1)..1 << bits).contains(&c);
    chosen
        .into_iter()
        .any(|x| ir::constant_int(x).is_some_and(cut) || depth > 0 && loses_sign(x, bits, depth - 1))
}

/// Whether the program reads a number of 8 or 16 bits, which the region does not change, as one without
/// sign: a width in an `unsigned char`. Of what is loaded all loads count.
fn is_read_unsigned(e: &ScevExpr) -> bool {
    let ScevKind::Unknown(v) = e.kind else { return false };
    if !matches!(e.bits, 8 | 16) {
        return false;
    }
    let of = |v: Value| ir::uses(v).into_iter().map(|(user, _)| user);
    let mut same = vec![v];
    if ir::opcode(v) == Some(Op::LLVMLoad) {
        let is_load = |u: &Value| ir::opcode(*u) == Some(Op::LLVMLoad) && ir::int_bits(*u) == Some(e.bits);
        same.extend(of(ir::operand(v, 0)).filter(is_load));
    }
    let extends = |op| same.iter().any(|v| of(*v).any(|user| ir::opcode(user) == Some(op)));
    extends(Op::LLVMZExt) && !extends(Op::LLVMSExt)
}

/// Whether `v` is a number without so many of its lower bits as another number says.
fn is_shifted_down(v: Value) -> bool {
    let v = if ir::opcode(v) == Some(Op::LLVMFreeze) { ir::operand(v, 0) } else { v };
    ir::opcode(v) == Some(Op::LLVMLShr) && ir::constant_int(ir::operand(v, 1)).is_none()
}

/// Whether `x` is the upper part of a number of which also lower bits are used by themselves, and `bits` of
/// it are asked for.
fn upper(x: &ScevExpr, bits: u32) -> bool {
    let ScevKind::UDiv(v, by) = &x.kind else { return false };
    let (ScevKind::Unknown(v), ScevKind::Constant(by)) = (&v.kind, &by.kind) else { return false };
    let below = |(user, _): &(Value, _)| {
        let kept = match ir::opcode(*user) {
            Some(Op::LLVMTrunc) => ir::int_bits(*user),
            Some(Op::LLVMAnd) => ir::constant_int(ir::operand(*user, 1)).and_then(|mask| match mask {
                0.. => Some(64 - mask.leading_zeros()),
                _ => None,
            }),
            _ => None,
        };
        kept.is_some_and(|kept| kept < 64 && 1i128 << kept <= *by)
    };
    bits <= 64 && *by >= 1 << 8 && ir::uses(*v).iter().any(below)
}

/// By how many bits `user` shifts `v` down.
fn shift(user: Value, v: Value) -> Option<u32> {
    let down = matches!(ir::opcode(user), Some(Op::LLVMLShr | Op::LLVMAShr)) && ir::operand(user, 0) == v;
    down.then(|| ir::constant_int(ir::operand(user, 1)))?.and_then(|by| u32::try_from(by).ok())
}
