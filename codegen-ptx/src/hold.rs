//! Code for arrays that stay on the device between the SCoPs of a function (`pollyrs_rt_begin_held` and its like).
//!
//! ```text
//! entry:    hold = alloca ptr; *hold = NULL
//! a SCoP:   run = pollyrs_rt_begin_held(hold, ...)            the host plan
//! between:  pollyrs_rt_release(hold, read, write)             before what may touch an object
//!           pollyrs_rt_leave(hold)                            before what may do anything, and before exits
//! ```

use crate::ir::{Ir, module_context};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

/// Objects that have a bit of their own in `PollyrsArray.flags`.
pub const MAX_OBJECTS: usize = 24;
/// `POLLYRS_ALL`.
pub const ALL_OBJECTS: u32 = u32::MAX;

/// `POLLYRS_ARRAY_HELD` and `POLLYRS_ARRAY_MASK_SHIFT`.
const HELD: u32 = 32;
const MASK_SHIFT: u32 = 8;

/// The arrays of a SCoP that may stay on the device.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// From [`hold_slot`].
    pub slot: LLVMValueRef,
    /// The objects that each may belong to, a bit each.
    pub masks: &'a BTreeMap<ArrayId, u32>,
}

impl Held<'_> {
    /// What to add to the flags of an array.
    pub(crate) fn flags(&self, array: ArrayId) -> u32 {
        self.masks.get(&array).map_or(0, |mask| HELD | mask << MASK_SHIFT)
    }
}

/// Before an instruction: objects of `read` are about to be read, those of `write` to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    pub before: LLVMValueRef,
    pub read: u32,
    pub write: u32,
}

impl Release {
    /// Nothing may stay.
    pub fn leaves(&self) -> bool {
        self.write == ALL_OBJECTS
    }
}

/// The slot for a function's hold.
///
/// # Safety
/// A live function with a body, of which no analyses are in use.
pub unsafe fn hold_slot(function: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the caller's promise.
    let (module, first) =
        unsafe { (LLVMGetGlobalParent(function), LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function))) };
    let ir = Ir::new(module_context(module));
    ir.before(first);
    let slot = ir.alloca(ir.ptr_type(), "pollyrs.hold");
    ir.store(ir.null(), slot);
    slot
}

/// # Safety
/// `slot` is from [`hold_slot`], the instructions are live and of the same function.
pub unsafe fn emit_releases(function: LLVMValueRef, slot: LLVMValueRef, releases: &[Release]) {
    // SAFETY: the caller's promise.
    let module = unsafe { LLVMGetGlobalParent(function) };
    let ir = Ir::new(module_context(module));
    let (ptr, i32) = (ir.ptr_type(), ir.i32_type());
    for release in releases {
        ir.before(release.before);
        if release.leaves() {
            let leave = ir.declare(module, "pollyrs_rt_leave", ir.void_type(), &[ptr]);
            ir.call(ir.void_type(), leave, &[slot]);
        } else {
            let name = "pollyrs_rt_release";
            let give = ir.declare(module, name, ir.void_type(), &[ptr, i32, i32]);
            ir.call(ir.void_type(), give, &[slot, ir.int32(release.read), ir.int32(release.write)]);
        }
    }
}
