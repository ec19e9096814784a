//! What kernels call where targets differ, and what the emulated device's code calls for it.
//!
//! Kernel IR has calls of these functions (`pollyrs.…`); [`crate::device`] replaces them, by instructions of
//! PTX or by calls of the run-time library.

use crate::ir::llvm::*;

pub(crate) const BLOCK_ID: &str = "pollyrs.block_id";
pub(crate) const THREAD_ID: [&str; 3] = ["pollyrs.thread_id.x", "pollyrs.thread_id.y", "pollyrs.thread_id.z"];
pub(crate) const BARRIER: &str = "pollyrs.barrier";

/// Asks the cache for the line at an address in global memory.
pub(crate) const PREFETCH: &str = "pollyrs.prefetch";

/// The identity of `i64`, which nothing looks through.
pub(crate) const OPAQUE: &str = "pollyrs.opaque";

/// The block's shared memory, `KernelInfo::shared_bytes` of it: a generic pointer.
pub(crate) const SHARED: &str = "pollyrs.shared";

/// The run-time library's barrier.
pub(crate) const EMU_BARRIER: &str = "pollyrs_rt_emu_barrier";

/// The thread descriptor of the kernel that a call is in.
pub(crate) fn thread_of(call: Value) -> Value {
    call.block().function().param(0)
}

/// The run-time library's.
pub(crate) const EMU_SHUFFLE: &str = "pollyrs_rt_emu_shuffle";
pub(crate) const EMU_PASS: &str = "pollyrs_rt_emu_pass";

pub(crate) const CHUNK: &str = "pollyrs.async.chunk";
