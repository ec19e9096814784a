//! Owned snapshots of scalar evolution expressions.
//!
//! LLVM shares subexpressions; as a tree the same expression can be exponentially larger. A snapshot is cut
//! off at [`MAX_NODES`] nodes and then is `CouldNotCompute` as a whole: no affine subscript comes near that
//! size.

use crate::ir::{ScevHandle, Value};
use crate::{LoopId, sys};

/// Expression trees above this size are not delivered. An affine subscript of a tenfold loop nest with a
/// parametric stride in each dimension has about 150 nodes.
const MAX_NODES: usize = 4096;
/// Nesting above this depth is not delivered either: the walk recurses.
const MAX_DEPTH: usize = 256;

/// An expression with its type and no-wrap flags.
#[derive(Clone, Debug, PartialEq)]
pub struct ScevExpr {
    pub kind: ScevKind,
    pub handle: ScevHandle,
    /// Width of the integer type; the index width (64) for pointers; 0 for `CouldNotCompute`.
    pub bits: u32,
    pub is_pointer: bool,
    pub nuw: bool,
    pub nsw: bool,
}

/// The operator and its operands. Widths of operands equal the result's except for the four conversions, and
/// for pointer additions, whose integer operands have the index width.
#[derive(Clone, Debug, PartialEq)]
pub enum ScevKind {
    /// Signed value.
    Constant(i128),
    Unknown(Value),
    Add(Vec<ScevExpr>),
    Mul(Vec<ScevExpr>),
    UDiv(Box<ScevExpr>, Box<ScevExpr>),
    /// `{start,+,step,+,…}`: chain of recurrences of the loop.
    AddRec {
        loop_id: LoopId,
        operands: Vec<ScevExpr>,
    },
    ZeroExtend(Box<ScevExpr>),
    SignExtend(Box<ScevExpr>),
    Truncate(Box<ScevExpr>),
    SMax(Vec<ScevExpr>),
    UMax(Vec<ScevExpr>),
    SMin(Vec<ScevExpr>),
    UMin(Vec<ScevExpr>),
    /// `umin` that stops at the first zero operand: later operands may be poison then.
    SequentialUMin(Vec<ScevExpr>),
    PtrToInt(Box<ScevExpr>),
    VScale,
    CouldNotCompute,
}

impl ScevExpr {
    /// The expression that stands for "unknown to scalar evolution".
    pub fn could_not_compute() -> ScevExpr {
        ScevExpr {
            kind: ScevKind::CouldNotCompute,
            handle: ScevHandle::NONE,
            bits: 0,
            is_pointer: false,
            nuw: false,
            nsw: false,
        }
    }

    /// Operands in order.
    pub fn operands(&self) -> Vec<&ScevExpr> {
        match &self.kind {
            ScevKind::Constant(_) | ScevKind::Unknown(_) | ScevKind::VScale | ScevKind::CouldNotCompute => {
                Vec::new()
            }
            ScevKind::Add(ops)
            | ScevKind::Mul(ops)
            | ScevKind::AddRec { operands: ops, .. }
            | ScevKind::SMax(ops)
            | ScevKind::UMax(ops)
            | ScevKind::SMin(ops)
            | ScevKind::UMin(ops)
            | ScevKind::SequentialUMin(ops) => ops.iter().collect(),
            ScevKind::UDiv(a, b) => vec![a, b],
            ScevKind::ZeroExtend(a)
            | ScevKind::SignExtend(a)
            | ScevKind::Truncate(a)
            | ScevKind::PtrToInt(a) => vec![a],
        }
    }
}

pub(crate) fn snapshot(raw: &sys::RawAnalyses, handle: ScevHandle) -> ScevExpr {
    let mut budget = MAX_NODES;
    read(raw, handle, &mut budget, MAX_DEPTH).unwrap_or_else(ScevExpr::could_not_compute)
}

/// `None` when the budget or depth is exhausted or a part could not be computed.
fn read(raw: &sys::RawAnalyses, handle: ScevHandle, budget: &mut usize, depth: usize) -> Option<ScevExpr> {
    if handle.is_none() {
        return None;
    }
    *budget = budget.checked_sub(1)?;
    let depth = depth.checked_sub(1)?;
    let mut r = sys::ScevRecord::default();
    let mut operand_handles = Vec::new();
    // SAFETY: a handle of these analyses, of an expression.
    unsafe {
        sys::prs_scev_node(raw, handle, &mut r);
        sys::prs_scev_operands(raw, handle, &mut operand_handles, sys::push);
    }
    let mut operands = Vec::with_capacity(operand_handles.len());
    for h in operand_handles {
        operands.push(read(raw, h, budget, depth)?);
    }
    Some(ScevExpr {
        kind: kind(&r, operands)?,
        handle,
        bits: r.bits,
        is_pointer: r.flags & sys::FLAG_POINTER != 0,
        nuw: r.flags & sys::FLAG_NUW != 0,
        nsw: r.flags & sys::FLAG_NSW != 0,
    })
}

fn kind(r: &sys::ScevRecord, operands: Vec<ScevExpr>) -> Option<ScevKind> {
    let single = |mut ops: Vec<ScevExpr>| ops.pop().map(Box::new);
    Some(match r.kind {
        sys::SCEV_CONSTANT => ScevKind::Constant((i128::from(r.high) << 64) | i128::from(r.low)),
        sys::SCEV_UNKNOWN => ScevKind::Unknown(r.value?),
        sys::SCEV_ADD => ScevKind::Add(operands),
        sys::SCEV_MUL => ScevKind::Mul(operands),
        sys::SCEV_UDIV => {
            let [a, b] = <[ScevExpr; 2]>::try_from(operands).ok()?;
            ScevKind::UDiv(Box::new(a), Box::new(b))
        }
        sys::SCEV_ADD_REC if r.loop_id == sys::NONE => return None,
        sys::SCEV_ADD_REC => ScevKind::AddRec { loop_id: LoopId(r.loop_id), operands },
        sys::SCEV_ZERO_EXTEND => ScevKind::ZeroExtend(single(operands)?),
        sys::SCEV_SIGN_EXTEND => ScevKind::SignExtend(single(operands)?),
        sys::SCEV_TRUNCATE => ScevKind::Truncate(single(operands)?),
        sys::SCEV_SMAX => ScevKind::SMax(operands),
        sys::SCEV_UMAX => ScevKind::UMax(operands),
        sys::SCEV_SMIN => ScevKind::SMin(operands),
        sys::SCEV_UMIN => ScevKind::UMin(operands),
        sys::SCEV_SEQUENTIAL_UMIN => ScevKind::SequentialUMin(operands),
        sys::SCEV_PTR_TO_INT => ScevKind::PtrToInt(single(operands)?),
        sys::SCEV_VSCALE => ScevKind::VScale,
        sys::SCEV_COULD_NOT_COMPUTE.. => return None,
    })
}
