//! Accesses of an instance that a team of threads runs together ([`pollyrs_schedule::Mode::Team`]).
//!
//! ```text
//! %v = load %y        what the kernel writes: the first thread loads and passes the value
//! store %v, %y        the first thread alone
//! ```
//! What nobody writes all of them load, from one address.

use crate::ir::error::Result;
use crate::ir::intrinsics::THREAD_ID;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::plan::is_private;
use crate::ops::shuffle;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use pollyrs_scop::{Access, AccessKind};

/// The number of the thread in its team, an `i32`.
pub(super) fn lane<S>(k: &KernelBuilder<'_, S>) -> Value {
    k.abstract_call(THREAD_ID[0], k.ir.int_type(32))
}

/// Whether the first thread of a team alone may access what `a` does.
pub(super) fn is_of_first<S>(k: &KernelBuilder<'_, S>, a: &Access) -> bool {
    let writes = |o: &Access| o.kind != AccessKind::Read && o.array == a.array;
    k.launch.team > 1 && !is_private(k, a) && k.scop.statements.iter().flat_map(|s| &s.accesses).any(writes)
}

/// The value that `load` gives the first thread, for all.
pub(super) fn loaded<'k, S>(
    k: &mut KernelBuilder<'k, S>,
    a: &Access,
    ty: Type,
    load: impl FnOnce(&mut KernelBuilder<'k, S>) -> Result<Value>,
) -> Result<Value> {
    if !is_of_first(k, a) {
        return load(k);
    }
    k.has_barrier = true;
    let (function, nothing) = (k.ir.block().function(), ty.zero());
    let (first, all) = (k.ir.append_block(function, "first"), k.ir.append_block(function, "all"));
    let before = k.ir.block();
    let is_first = k.ir.icmp(LLVMIntEQ, lane(k), k.ir.int32(0));
    k.ir.cond_br(is_first, first, all);
    k.ir.at_end(first);
    let own = load(k)?;
    let end = k.ir.block();
    k.ir.br(all);
    k.ir.at_end(all);
    let value = k.ir.phi(ty, &[(own, end), (nothing, before)]);
    shuffle::of_team(k, value, k.ir.int32(0))
}

/// Goes on where only the first thread is; the result is where all meet again, if this is a team's.
pub(super) fn first_only<S>(k: &KernelBuilder<'_, S>, a: &Access) -> Option<Block> {
    is_of_first(k, a).then(|| k.unless(k.ir.icmp(LLVMIntNE, lane(k), k.ir.int32(0))))
}

/// The end of what only the first thread does.
pub(super) fn meet<S>(k: &KernelBuilder<'_, S>, after: Option<Block>) {
    if let Some(after) = after {
        k.ir.br(after);
        k.ir.at_end(after);
    }
}
