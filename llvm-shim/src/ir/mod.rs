//! LLVM's IR by typed handles: a value, a block, a type, a module, a context, an expression.
//!
//! **Problem.** Handles of LLVM's C API are raw pointers, so each question about an instruction is `unsafe`,
//! and a call of the wrong kind of value is undefined behaviour.
//!
//! **Solution.** A handle is made from a raw one once, where somebody can promise that it is live. Questions
//! are safe then: each checks what LLVM would only assert. Asked for what a value cannot have, as the third
//! operand of two, they panic like an index out of bounds.
//!
//! **Invariants.**
//! - What a handle stands for lives, with its context, for as long as the handle is used. Constructors are
//!   `unsafe` because only their caller knows that, and so is everything that ends the life of something: to
//!   erase, to delete.
//! - Handles are plain addresses: they are copied, compared and sorted, and nothing follows from their order.
//! - Instructions that are made of operands of wrong types make a module that LLVM's verifier refuses.

mod block;
mod c;
mod expression;
mod global;
mod instruction;
mod module;
mod place;
mod types;
mod value;

pub use block::Block;
pub use expression::ScevHandle;
pub use module::Module;
pub use place::Place;
pub use types::{Context, Type};
pub(crate) use value::{Call, Function, Instruction};
pub use value::{FUNCTION, Value};

use inkwell::llvm_sys::core::LLVMDisposeMessage;
use std::ffi::{CStr, CString, c_char};

/// `text` as a C string; inner NULs (which LLVM names may not hold anyway) end it.
pub fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// A message that LLVM hands over; empty for none.
///
/// # Safety
/// Null, or a string of LLVM's that nobody else disposes of.
pub unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Bytes that LLVM owns, as text.
///
/// # Safety
/// As many bytes at `at`, or null.
unsafe fn text_at(at: *const c_char, length: usize) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise; the bytes are copied at once.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(at.cast(), length) }).into_owned()
}

/// A handle over a pointer to `$target`; `$what` says of what.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident = $raw:ident to $target:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(std::ptr::NonNull<inkwell::llvm_sys::$target>);

        impl $name {
            /// A handle of what `raw` points to.
            ///
            /// # Safety
            /// It lives, and so does its context, for as long as the handle or one that was got from it is
            /// used.
            ///
            /// # Panics
            /// For null.
            #[track_caller]
            pub unsafe fn new(raw: inkwell::llvm_sys::prelude::$raw) -> $name {
                // SAFETY: the caller's promise.
                let Some(handle) = (unsafe { $name::maybe(raw) }) else {
                    panic!("a handle of nothing")
                };
                handle
            }

            /// The same; `None` for null.
            ///
            /// # Safety
            /// As for a handle that is not null.
            pub unsafe fn maybe(raw: inkwell::llvm_sys::prelude::$raw) -> Option<$name> {
                std::ptr::NonNull::new(raw).map($name)
            }

            /// The handle of LLVM's C API.
            pub fn raw(self) -> inkwell::llvm_sys::prelude::$raw {
                self.0.as_ptr()
            }

            /// A number that tells it from others.
            pub fn address(self) -> usize {
                self.raw() as usize
            }
        }
    };
}
pub(crate) use handle;
