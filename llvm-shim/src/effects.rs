//! What is known of single calls, definitions and values, without analyses of a function.

use crate::ir::Value;
use crate::sys;
use std::ops::{BitOr, BitOrAssign};

/// Reads and writes of some memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    pub read: bool,
    pub write: bool,
}

impl Touch {
    pub const NONE: Touch = Touch { read: false, write: false };
    pub const READ: Touch = Touch { read: true, write: false };
    pub const WRITE: Touch = Touch { read: false, write: true };
    pub const BOTH: Touch = Touch { read: true, write: true };

    pub(crate) fn from_bits(bits: u32) -> Touch {
        Touch { read: bits & 1 != 0, write: bits & 2 != 0 }
    }

    pub fn any(self) -> bool {
        self.read || self.write
    }

    /// What both admit.
    pub fn and(self, other: Touch) -> Touch {
        Touch { read: self.read && other.read, write: self.write && other.write }
    }
}

impl BitOr for Touch {
    type Output = Touch;

    fn bitor(self, other: Touch) -> Touch {
        Touch { read: self.read || other.read, write: self.write || other.write }
    }
}

impl BitOrAssign for Touch {
    fn bitor_assign(&mut self, other: Touch) {
        *self = *self | other;
    }
}

/// What the attributes of a call and its callee promise.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CallFacts {
    pub no_throw: bool,
    /// It does not order this thread's accesses with another's.
    pub no_sync: bool,
    /// What is reached through pointer arguments.
    pub arguments: Touch,
    /// Memory of the program that is reached in another way; `errno` is none.
    pub other: Touch,
    /// A library function's name means that function.
    pub builtin: bool,
    pub bundles: bool,
}

/// `call`: a call or an invoke.
pub fn call_facts(call: Value) -> CallFacts {
    let bits = sys::prs_call_facts(call.as_call());
    CallFacts {
        no_throw: bits & 1 != 0,
        no_sync: bits & 2 != 0,
        arguments: Touch::from_bits(bits >> 2),
        other: Touch::from_bits(bits >> 4),
        builtin: bits & 64 != 0,
        bundles: bits & 128 != 0,
    }
}

/// What a call may do through one of its arguments, by the argument's attributes.
///
/// # Panics
/// For an argument that it has not.
pub fn argument_effect(call: Value, index: u32) -> Touch {
    assert!(index < call.argument_count(), "no argument {index} of {}", call.text());
    Touch::from_bits(sys::prs_argument_effect(call.as_call(), index))
}

/// Whether copies of a pointer may be left behind when its function returns, as far as calls' attributes
/// tell.
pub fn may_be_captured(pointer: Value) -> bool {
    sys::prs_may_be_captured(pointer)
}

/// Notes at a call that an argument, a pointer, is not captured.
///
/// # Panics
/// For an argument that it has not.
pub fn note_not_captured(call: Value, index: u32) {
    assert!(index < call.argument_count(), "no argument {index} of {}", call.text());
    sys::prs_note_not_captured(call.as_call(), index)
}

/// The function that a call or an invoke runs, where that is certain.
pub fn callee(call: Value) -> Option<Value> {
    sys::prs_callee(call.as_call())
}

/// Whether `f` has a body, and it is the one that runs.
pub fn is_final(f: Value) -> bool {
    sys::prs_is_final(f.as_function())
}

pub fn does_not_throw(f: Value) -> bool {
    sys::prs_does_not_throw(f.as_function())
}

/// Whether `v` is the result of a call that returns memory which nothing else points into.
pub fn is_new_memory(v: Value) -> bool {
    sys::prs_is_new_memory(v)
}

/// A floating-point value that is -0.0 in no execution.
pub fn never_negative_zero(v: Value) -> bool {
    v.parent().is_some() && sys::prs_never_negative_zero(v)
}

/// All values that `p` may be an offset from: `p` itself where nothing more is known.
pub fn underlying_objects(p: Value) -> Vec<Value> {
    sys::collect(|into| sys::prs_underlying_objects(p, into, sys::push))
}
