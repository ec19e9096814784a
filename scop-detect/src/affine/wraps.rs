//! Which sums and products do not wrap, by flags of instructions.

use crate::base::builder::{Builder, Given};
use crate::base::ir;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};

impl Builder<'_> {
    /// Whether all instructions of the region that give the sum `e` say that it does not wrap. Scalar
    /// evolution drops what holds for an instruction only where its value is of use: the element of an
    /// access, and where it branches to, are.
    pub fn never_wraps_here(&mut self, e: &ScevExpr) -> bool {
        if !self.given.has_unknown(e) {
            return false;
        }
        if let Some(known) = self.memo.unwrapped.get(&e.handle) {
            return *known;
        }
        let mut found = false;
        let mut all = true;
        for v in self.given.region.blocks.iter().copied().flat_map(ir::instructions) {
            if ir::int_bits(v) != Some(e.bits) {
                continue;
            }
            let scope = ir::parent(v).and_then(|b| self.given.an.innermost_loop(b));
            if self.given.an.scev(v, scope).handle == e.handle {
                found = true;
                all &= ir::is_sum_without_wrap(v);
            }
        }
        self.memo.unwrapped.insert(e.handle, found && all);
        found && all
    }
}

impl Given<'_> {
    /// Whether the expression has a part that scalar evolution knows nothing of.
    pub fn has_unknown(&self, e: &ScevExpr) -> bool {
        match &e.kind {
            ScevKind::Unknown(v) => self.defined_inside(*v),
            _ => e.operands().into_iter().any(|o| self.has_unknown(o)),
        }
    }
}

/// Whether flags prove that no part of the polynomial expression wraps as a signed number. A flag of the
/// outermost operation alone says nothing about its operands. Conversions inside are checked on their own.
pub(crate) fn never_wraps(e: &ScevExpr) -> bool {
    match &e.kind {
        ScevKind::Add(o) | ScevKind::Mul(o) | ScevKind::AddRec { operands: o, .. } => {
            e.nsw && o.iter().all(never_wraps)
        }
        ScevKind::Truncate(_) => false,
        _ => true,
    }
}
