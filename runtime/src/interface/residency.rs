//! What stays on the device between executions, and the frames of functions that know of it.

use std::ffi::c_void;

use super::guarded;
use crate::activation::Activation;
use crate::activation::frame::Frame;
use crate::base::abi::ALL;
use crate::base::caller::{Inside, fatal};
use crate::process::registry;
use crate::residency::Strip;

/// In a slot, beside the address of the slot of the activation that lent its hold: nothing in this one has
/// asked for a frame yet. Most functions that are called with a hold return without, so that calls of small
/// ones allocate nothing. A slot that is lent from is NULL or has a frame: [`pollyrs_rt_enter`] sees to that.
const LENT: usize = 1;

/// The slot of the lender, if nothing has asked for a frame of this one.
fn lender(slot: *mut c_void) -> Option<*mut *mut c_void> {
    (slot.addr() & LENT != 0).then(|| slot.map_addr(|address| address & !LENT).cast())
}

/// Puts a frame into a slot.
fn put(slot: &mut *mut c_void, frame: Frame) -> &mut Frame {
    let frame = Box::leak(Box::new(frame));
    *slot = std::ptr::from_mut(frame).cast();
    frame
}

/// The frame in a slot, made if it is the first.
///
/// # Safety
/// NULL, or made here or by [`pollyrs_rt_enter`]; the activation that lent its hold is under way.
pub(super) unsafe fn frame(slot: &mut *mut c_void) -> &mut Frame {
    // SAFETY: the caller's promise.
    unsafe {
        match lender(*slot) {
            Some(lender) => put(slot, frame(&mut *lender).inner()),
            None if slot.is_null() => put(slot, Frame::outermost()),
            None => &mut *slot.cast::<Frame>(),
        }
    }
}

/// The frame by which an activation knows of a hold: its own, else that of the activation that lent the hold.
///
/// # Safety
/// As for [`frame`].
unsafe fn nearest<'a>(slot: *mut *mut c_void) -> Option<&'a Frame> {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = *slot.as_ref()?;
        let slot = lender(slot).map_or(slot, |lender| *lender);
        slot.cast::<Frame>().as_ref()
    }
}

/// What `body` does with the frame in a slot, where there is a hold that does not say that there is `nothing`
/// to do. Results are at stake: no panic can be survived. (Loops of the host may ask for each element, so
/// this comes first.)
///
/// # Safety
/// A slot of the caller's.
pub(super) unsafe fn with_frame(
    slot: *mut *mut c_void,
    nothing: impl FnOnce(&Activation) -> bool,
    body: impl FnOnce(&mut Frame),
) {
    // SAFETY: NULL or made here, used by one thread, and the frame's activation is under way.
    let (frame, _inside) = unsafe {
        if nearest(slot).is_none_or(|frame| nothing(frame.shared())) {
            return;
        }
        let inside = Inside::enter();
        (frame(&mut *slot), inside)
    };
    let done = guarded(|| {
        body(frame);
        Ok(())
    });
    if let Err(error) = done {
        fatal(&format!("while results came back: {error}"));
    }
}

/// Takes the frame out of a slot. With `all`, `body` asks for what others than the activation have on the
/// device as well: then one that nothing has asked for counts, too.
///
/// # Safety
/// A slot of the caller's.
unsafe fn take_frame(slot: *mut *mut c_void, all: bool, body: impl FnOnce(Frame)) {
    // SAFETY: NULL or made here, and used by one thread.
    let Some(slot) = (unsafe { slot.as_mut() }) else { return };
    let own = std::mem::replace(slot, std::ptr::null_mut());
    // (The short way of small functions, which a loop calls a million times.)
    if own.is_null() || !all && lender(own).is_some() {
        return;
    }
    let _inside = Inside::enter();
    let taken = match lender(own) {
        // SAFETY: made by `put`.
        None => *unsafe { Box::from_raw(own.cast::<Frame>()) },
        // SAFETY: the activation that lent its hold is under way.
        Some(lender) => match unsafe { nearest(lender) } {
            Some(frame) => frame.inner(),
            None => return,
        },
    };
    let done = guarded(|| {
        body(taken);
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
    let nothing = |hold: &Activation| hold.ignores(read | write);
    // SAFETY: the caller's promise.
    unsafe { with_frame(slot, nothing, |frame| frame.activation().release(registry::config(), read, write)) };
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
        with_frame(
            slot,
            |hold| hold.ignores(write),
            |frame| {
                let (config, strip) =
                    (registry::config(), Strip::new(start.addr() as u64, bytes, step, times));
                match &strip {
                    Some(strip) => frame.activation().access(config, strip, write),
                    None => frame.activation().release(config, ALL, write),
                }
            },
        );
    }
}

/// `pollyrs_rt_holds`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_holds(slot: *mut *mut c_void) -> i32 {
    // SAFETY: NULL, or a slot of the caller's that is NULL or made here, and used by one thread.
    unsafe { i32::from(nearest(slot).is_some_and(|frame| frame.shared().holds())) }
}

/// `pollyrs_rt_discard`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_discard(slot: *mut *mut c_void, dead: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        with_frame(slot, Activation::is_idle, |frame| frame.activation().discard(registry::config(), dead))
    };
}

/// `pollyrs_rt_leave`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_leave(slot: *mut *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { take_frame(slot, true, |frame| frame.leave(registry::config())) };
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
    let (Some(own), Some(lender)) = (unsafe { (slot.as_mut(), lender.as_mut()) }) else {
        return std::ptr::null_mut();
    };
    if !Inside::interrupted() {
        // Of lenders in a row only the last one has no frame, so that questions have a short way.
        if self::lender(*lender).is_some() {
            let _inside = Inside::enter();
            // SAFETY: the caller's promise.
            unsafe { frame(lender) };
        }
        *own = std::ptr::from_mut(lender).map_addr(|address| address | LENT).cast();
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
    unsafe { take_frame(slot, false, |frame| frame.give_back(registry::config(), known)) };
}
