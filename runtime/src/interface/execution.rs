//! One execution: from begin, over launches, to end.

use std::ffi::c_void;

use super::guarded;
use super::residency::frame;
use crate::activation::Activation;
use crate::base::abi::{Array, PartRange, Scop};
use crate::base::caller::{Inside, fatal, set_errno};
use crate::base::error;
use crate::base::error::Error;
use crate::execution;
use crate::execution::{Run, late};
use crate::process::registry::State;
use crate::process::{is_unwatched, registry};

/// `pollyrs_rt_begin`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_begin(
    scop: *const Scop,
    work: f64,
    arrays: *const Array,
    n_arrays: u32,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { start(None, scop, work, arrays, n_arrays) }
}

/// `pollyrs_rt_begin_held`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_begin_held(
    slot: *mut *mut c_void,
    scop: *const Scop,
    work: f64,
    arrays: *const Array,
    n_arrays: u32,
) -> *mut c_void {
    if Inside::interrupted() {
        return std::ptr::null_mut();
    }
    let inside = Inside::enter();
    // SAFETY: a slot of the caller's that is NULL at first, used by one thread, and the frame's activation is
    // under way.
    let activation = unsafe { slot.as_mut().map(|slot| frame(slot).activation()) };
    drop(inside);
    let activation = activation.filter(|_| registry::config().compare.is_none());
    // SAFETY: the caller's promise.
    unsafe { start(activation, scop, work, arrays, n_arrays) }
}

/// # Safety
/// As the header says for both ways to begin.
unsafe fn start(
    activation: Option<&mut Activation>,
    scop: *const Scop,
    work: f64,
    arrays: *const Array,
    n_arrays: u32,
) -> *mut c_void {
    if Inside::interrupted() {
        return std::ptr::null_mut();
    }
    let _inside = Inside::enter();
    let begun = guarded(|| {
        // SAFETY: a descriptor lives as long as the program.
        let scop = unsafe { scop.as_ref() }.ok_or_else(|| Error::Descriptor("NULL".into()))?;
        let arrays = if arrays.is_null() || n_arrays == 0 {
            &[]
        } else {
            // SAFETY: the caller's promise.
            unsafe { std::slice::from_raw_parts(arrays, n_arrays as usize) }
        };
        // SAFETY: the caller's promise.
        unsafe { execution::begin(registry::config(), scop, work, arrays, activation) }
    });
    match begun {
        Ok(run) => Box::into_raw(run).cast(),
        Err(error) => {
            // SAFETY: as above.
            if let Some(state) = unsafe { scop.as_ref() }.and_then(registry::state) {
                note_refusal(state, &error);
            }
            error::set_last(error);
            std::ptr::null_mut()
        }
    }
}

/// After a refusal that will be the answer to all executions no more of them need to ask.
pub(super) fn note_refusal(state: &State, error: &Error) {
    let lasts = matches!(error, Error::DeviceOff | Error::Never | Error::NoCuda(_));
    // The first of them is in the profile; a program may have millions.
    let enough = matches!(error, Error::Enough { .. });
    // All ranks ask the same.
    let shares = registry::config().job.shares();
    let lasts = (lasts && is_unwatched() || enough) && !shares;
    if lasts {
        state.never_ask();
    }
}

/// `pollyrs_rt_launch`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_launch(run: *mut c_void, kernel: u32, blocks: u64, scalars: *const u64) {
    // SAFETY: NULL or a run of this library that one thread uses.
    let Some(run) = (unsafe { run.cast::<Run>().as_mut() }) else { return };
    let _inside = Inside::enter();
    let launched = guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { run.launch(kernel, blocks, scalars) };
        Ok(())
    });
    if let Err(error) = launched {
        run.fail(error);
    }
}

/// `pollyrs_rt_slices`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_slices(run: *mut c_void, kernel: u32, units: u64) -> u64 {
    let _inside = Inside::enter();
    // SAFETY: NULL or a run of this library that one thread uses.
    unsafe { run.cast::<Run>().as_mut() }.map_or(1, |run| run.slices(kernel, units))
}

/// `pollyrs_rt_launch_slice`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_launch_slice(
    run: *mut c_void,
    kernel: u32,
    blocks: u64,
    scalars: *const u64,
    needed: *const u64,
    done: *const u64,
) {
    // SAFETY: NULL or a run of this library that one thread uses.
    let Some(run) = (unsafe { run.cast::<Run>().as_mut() }) else { return };
    let _inside = Inside::enter();
    let launched = guarded(|| {
        let n = run.n_arrays();
        // SAFETY: the caller's promise.
        unsafe {
            let (needed, done) = (std::slice::from_raw_parts(needed, n), std::slice::from_raw_parts(done, n));
            run.launch_slice(kernel, blocks, scalars, needed, done);
        }
        Ok(())
    });
    if let Err(error) = launched {
        run.fail(error);
    }
}

/// `pollyrs_rt_parts`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_parts(run: *mut c_void, kernel: u32, units: u64) -> u64 {
    let _inside = Inside::enter();
    // SAFETY: NULL or a run of this library that one thread uses.
    unsafe { run.cast::<Run>().as_mut() }.map_or(0, |run| run.n_parts(kernel, units))
}

/// `pollyrs_rt_part`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_part(
    run: *mut c_void,
    blocks: u64,
    scalars: *const u64,
    n_ranges: u32,
    ranges: *const PartRange,
) {
    // SAFETY: NULL or a run of this library that one thread uses.
    let Some(run) = (unsafe { run.cast::<Run>().as_mut() }) else { return };
    let _inside = Inside::enter();
    let told = guarded(|| {
        let ranges = if ranges.is_null() || n_ranges == 0 {
            &[]
        } else {
            // SAFETY: the caller's promise.
            unsafe { std::slice::from_raw_parts(ranges, n_ranges as usize) }
        };
        // SAFETY: the caller's promise.
        unsafe { run.part(blocks, scalars, ranges) }
    });
    if let Err(error) = told {
        run.fail(error);
    }
}

/// `pollyrs_rt_launch_parts`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_launch_parts(run: *mut c_void) {
    // SAFETY: NULL or a run of this library that one thread uses.
    let Some(run) = (unsafe { run.cast::<Run>().as_mut() }) else { return };
    let _inside = Inside::enter();
    let launched = guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { run.launch_parts() };
        Ok(())
    });
    if let Err(error) = launched {
        run.fail(error);
    }
}

/// `pollyrs_rt_end`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_end(run: *mut c_void) -> i32 {
    if run.is_null() {
        return 1;
    }
    let _inside = Inside::enter();
    // SAFETY: a run of this library, given back once.
    let ended = guarded(|| unsafe { Box::from_raw(run.cast::<Run>()).end() });
    match ended {
        Ok(errno) => {
            if let Some(errno) = errno {
                set_errno(errno);
            }
            0
        }
        // Whether results had come back is not known.
        Err(Error::Internal(text)) => fatal(&format!("internal error while results came back: {text}")),
        Err(error) => {
            error::set_last(error);
            1
        }
    }
}

/// `pollyrs_rt_serial`. A descriptor lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_serial(scop: Option<&'static Scop>, additions: f64) {
    if Inside::interrupted() {
        return;
    }
    if let Some(state) = scop.filter(|scop| scop.understood()).and_then(registry::state) {
        state.learned.run_alone(additions);
    }
}

/// `pollyrs_rt_late`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_late(scop: *const Scop, work: f64) -> i32 {
    if Inside::interrupted() {
        return 1;
    }
    // SAFETY: a descriptor lives as long as the program.
    let scop = unsafe { scop.as_ref() }.filter(|scop| scop.understood());
    let late = guarded(|| Ok(scop.is_none_or(|scop| late::are_late(registry::config(), scop, work))));
    i32::from(late.unwrap_or(true))
}
