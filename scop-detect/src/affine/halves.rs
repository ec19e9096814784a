//! Numbers that share a register.
//!
//! **Problem.** Calling conventions pass `struct { int rows, columns; }` as one number of 64 bits, and copies
//! of structures load one: `columns` is `v >> 32` and `rows` is `v` without its upper half. As functions of
//! `v` they would be nothing of use: a row of `v` elements, and a `v` beyond what is believed of sizes.
//!
//! The run-time library reads whole words for the program: an integer in one is the word, shifted down by
//! where it lies, and truncated; what lies beside it in memory is in the bits above.
//!
//! **Decision.** A number whose lower and upper bits are both taken out by themselves, or one that is shifted
//! down by so many bits as the program says, stands for none of its own: each part is a parameter. Other
//! truncations stay congruent to what they are taken of, such as `(int) n`.

use crate::base::builder::Given;
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
    (is_shifted_down(v) || ir::uses(v).iter().any(above)).then_some(v)
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
