//! What is known of a block's counters while the code of its threads is emitted
//! ([`counters`](super::counters)).

use crate::ir::llvm::*;
use pollyrs_scop::{ArrayId, UpdateOp};

/// The counters of one array.
pub(super) struct Counted {
    pub(super) array: ArrayId,
    /// In bytes.
    pub(super) start: u32,
    /// The smallest subscripts, and how many there are along each dimension.
    pub(super) first: Vec<Value>,
    pub(super) size: Vec<Value>,
    /// Whether there are counters for all elements.
    pub(super) fits: Value,
    /// How many there are: none if they don't fit.
    pub(super) elements: Value,
    pub(super) op: UpdateOp,
    pub(super) identity: Value,
}

/// The counters of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct AllCounters {
    pub(super) list: Vec<Counted>,
    /// The block's shared memory, and the thread's linear number.
    pub(super) at: Option<(Value, Value)>,
    pub shared_bytes: u32,
}
