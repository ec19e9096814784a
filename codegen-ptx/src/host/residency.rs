//! Code for arrays that stay on the device between the SCoPs of a function (`pollyrs_rt_begin_held` and its
//! like).
//!
//! ```text
//! entry:    hold = alloca ptr; *hold = NULL
//! a SCoP:   run = pollyrs_rt_begin_held(hold, ...)            the host plan
//! between:  pollyrs_rt_release(hold, read, write)             before what may touch an object
//!           pollyrs_rt_access(hold, start, bytes, step, times, write)  in place of that, where it is known
//!           pollyrs_rt_discard(hold, dead)                    before an object is freed, and then its release
//!           pollyrs_rt_leave(hold)                            before what may do anything, and before exits
//! ```
//!
//! In a function that may work with its caller's hold:
//!
//! ```text
//! entry:    lent = pollyrs_rt_enter(hold, NULL)               lent is hold, or NULL if nothing was lent
//! returns:  pollyrs_rt_return(lent, n, NULL)
//! ```
//!
//! A function that is called with a hold gets two more parameters (`Session::extend`), which take the place
//! of both NULLs: the caller's slot, and a table of what the function's objects are to the caller
//! ([`known_table`]).

pub use crate::host::abi::ALL_OBJECTS;
use crate::host::abi::{HELD, MASK_SHIFT};
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

const ENTER: &str = "pollyrs_rt_enter";
const RETURN: &str = "pollyrs_rt_return";

/// Objects that have a bit of their own in `PollyrsArray.flags`.
pub const MAX_OBJECTS: usize = 32 - MASK_SHIFT as usize;

/// The arrays of a SCoP that may stay on the device.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// From [`residency_slot`].
    pub slot: Value,
    /// The objects that each may belong to, a bit each.
    pub masks: &'a BTreeMap<ArrayId, u32>,
}

impl Held<'_> {
    /// What to add to the flags of an array.
    pub(crate) fn flags(&self, array: ArrayId) -> u32 {
        self.masks.get(&array).map_or(0, |mask| HELD | mask << MASK_SHIFT)
    }
}

/// Before an instruction: objects of `read` are about to be read, those of `write` to be written, and those
/// of `dead` to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Live while the function is rewritten.
    pub before: Value,
    pub read: u32,
    pub write: u32,
    pub dead: u32,
    /// `before` is a load or store, which accesses its own bytes alone.
    pub look: bool,
    /// Behind `before` a loop reads so many bytes in each iteration, and nothing else of `read`.
    pub strip: Option<Strip>,
}

/// What a loop reads: bytes at `start`, and `times` more of them, `step` bytes from one to the next. Values
/// that are computed where the loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    pub start: Value,
    pub step: Value,
    pub times: Value,
    pub bytes: u64,
}

impl Release {
    /// Nothing stays.
    pub fn all(before: Value) -> Release {
        Release { read: ALL_OBJECTS, write: ALL_OBJECTS, ..Release::none(before) }
    }

    /// Everything may stay.
    pub fn none(before: Value) -> Release {
        Release { before, read: 0, write: 0, dead: 0, look: false, strip: None }
    }

    /// Nothing may stay.
    pub fn leaves(&self) -> bool {
        self.write == ALL_OBJECTS
    }
}

/// How a function works with the hold of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borrowing {
    /// Its objects.
    pub objects: u32,
    /// It has a hold of its own where none is lent.
    pub own: bool,
}

/// The slot for a function's hold.
/// `function` has a body, and no analyses of it are in use.
pub fn residency_slot(function: Value, borrowing: Option<Borrowing>) -> Value {
    let (module, first) = (function.module(), function.entry());
    let ir = Ir::new(module.context());
    ir.at_start(first);
    let slot = ir.alloca(ir.ptr_type(), "pollyrs.hold");
    ir.store(ir.null(), slot);
    let Some(borrowing) = borrowing else { return slot };
    let ptr = ir.ptr_type();
    let enter = ir.declare(module, ENTER, ptr, &[ptr, ptr]);
    let lent = ir.call(ptr, enter, &[slot, ir.null()]);
    if borrowing.own { slot } else { lent }
}

/// A constant with a caller's masks for the objects of a function.
pub fn known_table(module: Module, known: &[u32]) -> Value {
    // SAFETY: the caller's promise.
    let ir = Ir::new(module.context());
    let masks: Vec<Value> = known.iter().map(|mask| ir.int32(*mask)).collect();
    module.add_private_constant("pollyrs.known", ir.i32_type().array(&masks))
}

/// The functions whose last arguments become a function's new parameters; NULL where the module calls none.
pub fn placeholders(module: Module) -> (Option<Value>, Option<Value>) {
    (module.function(ENTER), module.function(RETURN))
}

/// `slot` is from [`residency_slot`] with the same `borrowing`; the instructions are of the same function.
pub fn emit_releases(function: Value, slot: Value, releases: &[Release], borrowing: Option<Borrowing>) {
    let module = function.module();
    let ir = Ir::new(module.context());
    let (ptr, i32) = (ir.ptr_type(), ir.i32_type());
    for release in releases {
        let before = release.before;
        ir.before(before);
        let returns = before.opcode() == LLVMOpcode::LLVMRet;
        if let Some(borrowing) = borrowing.filter(|_| returns) {
            let give = ir.declare(module, RETURN, ir.void_type(), &[ptr, i32, ptr]);
            ir.call(ir.void_type(), give, &[slot, ir.int32(borrowing.objects), ir.null()]);
            continue;
        }
        if release.look || release.strip.is_some() {
            access(&ir, module, slot, release, before);
            continue;
        }
        if release.dead != 0 {
            let discard = ir.declare(module, "pollyrs_rt_discard", ir.void_type(), &[ptr, i32]);
            ir.call(ir.void_type(), discard, &[slot, ir.int32(release.dead)]);
        }
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

/// A load or store, or a loop, says which bytes it accesses.
fn access(ir: &Ir, module: Module, slot: Value, release: &Release, before: Value) {
    let (ptr, i32, i64) = (ir.ptr_type(), ir.i32_type(), ir.i64_type());
    let name = "pollyrs_rt_access";
    let access = ir.declare(module, name, ir.void_type(), &[ptr, ptr, i64, i64, i64, i32]);
    let whole = |v: Value| if v.ty() == i64 { v } else { ir.zext(v, i64) };
    let (start, bytes, step, times) = match (release.strip, before.opcode()) {
        (Some(strip), _) => (strip.start, strip.bytes, strip.step, whole(strip.times)),
        (None, LLVMOpcode::LLVMLoad) => {
            (before.operand(0), module.store_size(before.ty()), ir.int(0), ir.int(0))
        }
        _ => (before.operand(1), module.store_size(before.operand(0).ty()), ir.int(0), ir.int(0)),
    };
    let bytes = ir.int(bytes as i64);
    ir.call(ir.void_type(), access, &[slot, start, bytes, step, times, ir.int32(release.write)]);
}
