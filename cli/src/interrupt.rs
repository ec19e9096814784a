//! Interrupts from the keyboard: programs that a command runs end by them, the command itself writes what it
//! has.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// The status of a command that was interrupted, as shells have it.
pub const STATUS: u8 = 130;

const SIGINT: c_int = 2;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
}

extern "C" fn note(_: c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From here on an interrupt is noted, and does not end this process. Programs that are started do not
/// inherit that.
pub fn listen() {
    // SAFETY: a C function of the process; the handler only stores to an atomic variable.
    unsafe { signal(SIGINT, note) };
}

/// Whether there was one.
pub fn happened() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
