//! What checked kernels call: `pollyrs_rt_emu_load` and its kin of `pollyrs_rt.h`. They find the running
//! execution's [`Checker`] behind the thread's descriptor.

use std::ffi::c_void;

use super::{Checker, Site, Thread};
use crate::base::abi::EmuThread;

/// Runs `body` with the thread's checker, if there is one.
///
/// # Safety
/// `thread` is what the running kernel was called with.
unsafe fn with<T>(thread: *const EmuThread, body: impl FnOnce(&mut Checker, &Thread) -> T) -> Option<T> {
    // SAFETY: `blocks` makes each descriptor as a `Thread`; the one host thread that runs checked kernels is
    // here.
    unsafe {
        let thread = &*thread.cast::<Thread>();
        thread.checker.as_mut().map(|checker| body(checker, thread))
    }
}

/// `pollyrs_rt_emu_load`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_load(
    thread: *const EmuThread,
    address: *const c_void,
    site: *const Site,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { with(thread, |c, t| c.access(t, address as u64, site, None)) }.unwrap_or(false).into()
}

/// `pollyrs_rt_emu_store`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_store(
    thread: *const EmuThread,
    address: *const c_void,
    site: *const Site,
    undefined: u32,
) {
    // SAFETY: the caller's promise.
    unsafe { with(thread, |c, t| c.access(t, address as u64, site, Some(undefined != 0))) };
}

/// `pollyrs_rt_emu_decide`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_decide(thread: *const EmuThread, site: *const Site, undefined: u32) {
    if undefined == 0 {
        return;
    }
    // SAFETY: the caller's promise; a constant of the program.
    unsafe {
        with(thread, |c, t| {
            if c.checks.init {
                c.uninitialised(
                    t,
                    &format!("{}: a condition or an address is computed from a value", (*site).what()),
                );
            }
        })
    };
}
