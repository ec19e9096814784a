//! What is known of a block's counters while the code of its threads is emitted
//! ([`counters`](super::counters)).

use inkwell::llvm_sys::prelude::*;
use pollyrs_scop::{ArrayId, UpdateOp};

/// The counters of one array.
pub(super) struct Counted {
    pub(super) array: ArrayId,
    /// In bytes.
    pub(super) start: u32,
    /// The smallest subscripts, and how many there are along each dimension.
    pub(super) first: Vec<LLVMValueRef>,
    pub(super) size: Vec<LLVMValueRef>,
    /// Whether there are counters for all elements.
    pub(super) fits: LLVMValueRef,
    /// How many there are: none if they don't fit.
    pub(super) elements: LLVMValueRef,
    pub(super) op: UpdateOp,
    pub(super) identity: LLVMValueRef,
}

/// The counters of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct AllCounters {
    pub(super) list: Vec<Counted>,
    /// The block's shared memory, and the thread's linear number.
    pub(super) at: Option<(LLVMValueRef, LLVMValueRef)>,
    pub shared_bytes: u32,
}
