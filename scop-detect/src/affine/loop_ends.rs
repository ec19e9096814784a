//! How the test at the end of a loop is read.

use crate::base::builder::Given;
use crate::base::ir::{self, Block, Op, Pred, Value};
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};

/// A loop goes on while a counter of its own is less than `end`.
pub(crate) struct Below {
    pub first: ScevExpr,
    pub step: ScevExpr,
    pub end: ScevExpr,
    /// Of the counter's type.
    pub bits: u32,
    /// Whether the comparison is one of unsigned numbers.
    pub unsigned: bool,
}

impl Given<'_> {
    /// The comparison at the end of `exiting`, and the predicate with which it keeps the loop going. It may
    /// be one that an inner loop makes as well, handed on by PHI nodes, which scalar evolution does not look
    /// through.
    pub fn goes_on(&self, exiting: Block, l: LoopId) -> Option<(Value, Pred)> {
        let (mut test, yes) = (ir::branch_condition(exiting)?, ir::successors(exiting).first().copied()?);
        while ir::opcode(test) == Some(Op::LLVMPHI)
            && let [(only, _)] = ir::incoming(test)[..]
        {
            test = only;
        }
        if ir::opcode(test) != Some(Op::LLVMICmp) {
            return None;
        }
        let predicate = ir::icmp_predicate(test);
        if self.an.loops()[l.0].blocks.contains(&yes) {
            return Some((test, predicate));
        }
        Some((test, inverse(predicate)?))
    }

    /// The test at the end of `exiting`, where it is that a counter is less than something else.
    pub fn below(&self, exiting: Block, l: LoopId) -> Option<Below> {
        let (test, predicate) = self.goes_on(exiting, l)?;
        let (left, unsigned) = match predicate {
            Pred::LLVMIntSLT => (true, false),
            Pred::LLVMIntULT => (true, true),
            Pred::LLVMIntSGT => (false, false),
            Pred::LLVMIntUGT => (false, true),
            _ => return None,
        };
        let side = |i| self.an.scev(ir::operand(test, i), Some(l));
        let (counter, end) = if left { (side(0), side(1)) } else { (side(1), side(0)) };
        let ScevExpr { kind: ScevKind::AddRec { loop_id, operands }, bits, .. } = counter else {
            return None;
        };
        let [first, step] = <[ScevExpr; 2]>::try_from(operands).ok()?;
        (loop_id == l).then_some(Below { first, step, end, bits, unsigned })
    }
}

/// The predicate that holds where this one does not; `None` for those that no loop goes on by.
pub(crate) fn inverse(predicate: Pred) -> Option<Pred> {
    Some(match predicate {
        Pred::LLVMIntEQ => Pred::LLVMIntNE,
        Pred::LLVMIntSGE => Pred::LLVMIntSLT,
        Pred::LLVMIntSLE => Pred::LLVMIntSGT,
        Pred::LLVMIntUGE => Pred::LLVMIntULT,
        Pred::LLVMIntULE => Pred::LLVMIntUGT,
        _ => return None,
    })
}
