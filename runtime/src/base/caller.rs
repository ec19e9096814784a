//! What the program that calls the library must find as it left it: its `errno`, and its locks where a signal handler interrupts a call.

use std::cell::Cell;
use std::io::Write;

/// Ends the program with a message.
pub fn fatal(text: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "pollyrs: fatal: {text}");
    std::process::abort()
}

/// The program's `errno`: what the library calls may set it, the loops in its place did not.
pub struct Errno(std::ffi::c_int);

impl Errno {
    pub fn kept() -> Errno {
        // SAFETY: the C library's, valid for the thread's life.
        Errno(unsafe { *__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *__errno_location() = self.0 };
    }
}

unsafe extern "C" {
    fn __errno_location() -> *mut std::ffi::c_int;
}

/// C's number for a result that is out of range.
pub const ERANGE: std::ffi::c_int = 34;

pub fn errno_address() -> u64 {
    // SAFETY: gives the address of the thread's variable.
    unsafe { __errno_location() as u64 }
}

/// Sets the program's `errno`.
pub fn set_errno(number: std::ffi::c_int) {
    // SAFETY: the C library's, valid for the thread's life.
    unsafe { *__errno_location() = number };
}

/// Calls of the library that the thread is in.
///
/// A signal handler may have loops of its own. If it interrupts the library, the locks and the allocator may be in use by the very thread
/// that the handler runs on, so its loops begin no execution: they run as they are, and nothing is reported.
pub struct Inside;

thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });

impl Inside {
    pub fn enter() -> Inside {
        CALLS.with(|calls| calls.set(calls.get() + 1));
        Inside
    }

    /// Whether a signal handler interrupted the library.
    pub fn interrupted() -> bool {
        CALLS.with(|calls| calls.get() > 0)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CALLS.with(|calls| calls.set(calls.get() - 1));
    }
}
