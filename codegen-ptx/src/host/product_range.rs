//! The host's check of a [`ProductRange`].
//!
//! **Invariant.** Sums and products are those of the model's integers or the check fails: each operation
//! reports its overflow. What is computed from garbage, where an earlier check of the conjunction failed, is
//! not looked at.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE;
use pollyrs_scop::{ProductRange, Scop};

/// Whether a polynomial stays in its range, false if computing it overflows 64 bits; and its bounds, or
/// nonsense then.
pub(crate) struct Emitted {
    pub holds: Value,
    /// Whether computing the bounds overflows.
    pub bad: Value,
    pub least: Value,
    pub most: Value,
}

/// Emits the check.
pub(crate) fn emit(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    scop: &Scop,
    r: &ProductRange,
) -> Result<Emitted, CodegenError> {
    let mut bad = ir.bool(false);
    let mut op = |name: &str, a, b| {
        let (v, overflow) = ir.with_overflow(name, a, b);
        bad = ir.or(bad, overflow);
        v
    };
    let (mut least, mut most) = (ir.int(0), ir.int(0));
    for t in &r.terms {
        let mut coefficient = None;
        for (number, factors) in &t.coefficient {
            let mut product = ir.int(*number);
            for f in factors {
                product = op("smul", expr.emit_pw_aff(f)?, product);
            }
            coefficient = Some(match coefficient {
                Some(sum) => op("sadd", sum, product),
                None => product,
            });
        }
        let coefficient = coefficient.unwrap_or(ir.int(0));
        let (low, high) = match &t.between {
            Some((low, high)) => {
                let (a, b) = (expr.emit_pw_aff(low)?, expr.emit_pw_aff(high)?);
                let (a, b) = (op("smul", coefficient, a), op("smul", coefficient, b));
                (ir.smin(a, b), ir.smax(a, b))
            }
            None => (coefficient, coefficient),
        };
        least = op("sadd", low, least);
        most = op("sadd", high, most);
    }
    least = op("sadd", least, ir.int(r.offsets.0));
    most = op("sadd", most, ir.int(r.offsets.1));
    let inside = ir.and(ir.icmp(LLVMIntSLE, ir.int(r.low), least), ir.icmp(LLVMIntSLE, most, ir.int(r.high)));
    let holds = ir.and(inside, ir.not(bad));
    let idle = ir.not(expr.emit_set(&r.executed.clone().gist(scop.context.clone())?)?);
    Ok(Emitted { holds: ir.or(holds, idle), bad, least, most })
}
