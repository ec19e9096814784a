//! Metadata of branches that may become predicates ([`crate::ops::predicate`]).

use crate::ir::builder::Ir;
use crate::ir::llvm::*;

/// The kind of metadata of a branch that may become a predicate.
pub(crate) const KIND: &str = "pollyrs.predicate";

/// Says that a conditional branch goes around one access.
pub(crate) fn mark(ir: &Ir, branch: Value) {
    branch.set_metadata(kind(ir.ctx), Some(ir.ctx.node(&[])));
}

pub(crate) fn kind(ctx: Context) -> u32 {
    ctx.kind(KIND)
}
