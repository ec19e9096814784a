//! Who accesses what, as generated code says it.

use std::ffi::{CStr, c_char};

/// `PollyrsEmuSite`: who accesses what.
#[derive(Debug)]
#[repr(C)]
pub struct Site {
    pub(super) what: *const c_char,
    pub(super) array: *const c_char,
    pub(super) bytes: u32,
    pub(super) flags: u32,
    pub(super) argument: u32,
    pub(super) granule: u32,
}

/// `PollyrsEmuSite::flags`: a load whose value may be thrown away. One that races with a write has no defined
/// value, and is no mistake unless this value is used.
pub(super) const MAY_BE_UNUSED: u32 = 2;
/// A store that combines with what is there, as one operation: in any order with others of its kind.
pub(super) const UPDATE: u32 = 4;
/// A store that gives elements which the program leaves alone the values that they have: tiles of fused steps
/// write whole rows between the borders of all steps.
pub(super) const MAY_KEEP: u32 = 8;

/// From this bit on: the logarithm of what the address has to be a multiple of.
const MULTIPLE: u32 = 8;

/// `PollyrsEmuSite::argument` of shared memory.
pub(super) const SHARED_MEMORY: u32 = u32::MAX;
/// Where it may be of any array, or of shared memory.
pub(super) const ANY_ARRAY: u32 = u32::MAX - 1;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::size_of::<Site>() == 32 && std::mem::offset_of!(Site, granule) == 28);

pub(super) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: a text of the program's constants.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Site {
    pub(super) fn what(&self) -> String {
        text(self.what)
    }

    /// What the address has to be a multiple of.
    pub(super) fn multiple(&self) -> u64 {
        1 << (self.flags >> MULTIPLE).min(63)
    }
}
