//! What stays on the device between executions, and the frames of functions that know of it.

use std::ffi::c_void;

use super::guarded;
use crate::activation::frame::Frame;
use crate::base::abi::ALL;
use crate::base::caller::{Inside, fatal};
use crate::process::registry;
use crate::residency::Strip;

/// The frame in a slot, made if it is the first.
///
/// # Safety
/// NULL or made here.
pub(super) unsafe fn frame(slot: &mut *mut c_void) -> &mut Frame {
    if slot.is_null() {
        *slot = Box::into_raw(Box::new(Frame::outermost())).cast();
    }
    // SAFETY: the caller's promise.
    unsafe { &mut *slot.cast::<Frame>() }
}

/// What `body` does with the frame in a slot, where there is one. Results are at stake: no panic can be
/// survived.
///
/// `touched`: nothing is to be done where the hold ignores that the program touches these objects
/// ([`crate::activation::Activation::ignores`]). Loops of the host may ask for each element, so this
/// comes first.
///
/// # Safety
/// A slot of the caller's.
pub(super) unsafe fn with_frame(slot: *mut *mut c_void, touched: Option<u32>, body: impl FnOnce(&mut Frame)) {
    // SAFETY: NULL or made by `frame`, used by one thread, and the frame's activation is under way.
    let frame = unsafe {
        let frame = slot.as_ref().and_then(|frame| frame.cast::<Frame>().as_mut());
        frame.filter(|frame| !touched.is_some_and(|touched| frame.ignores(touched)))
    };
    let Some(frame) = frame else { return };
    let done = guarded(|| {
        body(frame);
        Ok(())
    });
    if let Err(error) = done {
        fatal(&format!("while results came back: {error}"));
    }
}

/// Takes the frame out of a slot.
///
/// # Safety
/// A slot of the caller's.
unsafe fn take_frame(slot: *mut *mut c_void, body: impl FnOnce(Frame)) {
    let _inside = Inside::enter();
    // SAFETY: NULL or made by `frame`, and used by one thread.
    let Some(slot) = (unsafe { slot.as_mut() }).filter(|slot| !slot.is_null()) else { return };
    // SAFETY: as above.
    let taken = unsafe { Box::from_raw(slot.cast::<Frame>()) };
    *slot = std::ptr::null_mut();
    let done = guarded(|| {
        body(*taken);
        Ok(())
    });
    if let Err(error) = done {
        fatal(&format!("while results came back: {error}"));
    }
}

/// `pollyrs_rt_release`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_release(slot: *mut *mut c_void, read: u32, write: u32) {
    // What is read lessens what was missed.
    let touched = Some(read | write);
    // SAFETY: the caller's promise.
    unsafe { with_frame(slot, touched, |frame| frame.activation().release(registry::config(), read, write)) };
}

/// `pollyrs_rt_access`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_access(
    slot: *mut *mut c_void,
    start: *const c_void,
    bytes: u64,
    step: i64,
    times: u64,
    write: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with_frame(slot, Some(write), |frame| {
            let (config, strip) = (registry::config(), Strip::new(start.addr() as u64, bytes, step, times));
            match &strip {
                Some(strip) => frame.activation().access(config, strip, write),
                None => frame.activation().release(config, ALL, write),
            }
        });
    }
}

/// `pollyrs_rt_holds`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_holds(slot: *mut *mut c_void) -> i32 {
    // SAFETY: NULL, or a slot of the caller's that is NULL or made by `frame`, and used by one thread.
    unsafe {
        let frame = slot.as_ref().and_then(|frame| frame.cast::<Frame>().as_ref());
        i32::from(frame.is_some_and(|frame| frame.holds()))
    }
}

/// `pollyrs_rt_discard`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_discard(slot: *mut *mut c_void, dead: u32) {
    // SAFETY: the caller's promise.
    unsafe { with_frame(slot, None, |frame| frame.activation().discard(registry::config(), dead)) };
}

/// `pollyrs_rt_leave`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_leave(slot: *mut *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { take_frame(slot, |frame| frame.leave(registry::config())) };
}

/// `pollyrs_rt_enter`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_enter(
    slot: *mut *mut c_void,
    lender: *mut *mut c_void,
) -> *mut *mut c_void {
    // SAFETY: the caller's promise.
    let (Some(own), Some(lender)) = (unsafe { slot.as_mut() }, unsafe { lender.as_mut() }) else {
        return std::ptr::null_mut();
    };
    if !Inside::interrupted() {
        let _inside = Inside::enter();
        // SAFETY: the caller's promise.
        *own = Box::into_raw(Box::new(unsafe { frame(lender) }.inner())).cast();
    }
    slot
}

/// `pollyrs_rt_return`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_return(slot: *mut *mut c_void, n: u32, known: *const u32) {
    let known = if known.is_null() {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(known, n as usize) }
    };
    // SAFETY: the caller's promise.
    unsafe { take_frame(slot, |frame| frame.give_back(registry::config(), known)) };
}
