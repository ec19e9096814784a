//! For the tests of this crate: expressions as functions that can be run.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use pollyrs_isl as isl;

/// What to evaluate.
#[derive(Clone, Copy, Debug)]
pub enum Expression<'e> {
    PwAff(&'e isl::PwAff),
    /// 1 for members.
    Set(&'e isl::Set),
}

/// Adds `i64 eval(i64 params...)`.
///
/// # Safety
/// `module` is live and has no function `eval`.
pub unsafe fn add_evaluator(module: Module, params: &[&str], expression: Expression<'_>) -> Result<()> {
    let ir = Ir::new(module.context());
    let f = module.declare("eval", ir.i64_type().function(&vec![ir.i64_type(); params.len()]));
    ir.at_end(ir.append_block(f, ""));
    let names = params.iter().enumerate().map(|(i, p)| (p.to_string(), f.param(i as u32)));
    let emit = ExprEmitter::new(&ir, names.collect());
    let value = match expression {
        Expression::PwAff(f) => emit.emit_pw_aff(f)?,
        Expression::Set(s) => ir.zext(emit.emit_set(s)?, ir.i64_type()),
    };
    ir.ret(value);
    Ok(())
}
