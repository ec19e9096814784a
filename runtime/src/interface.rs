//! The functions of `include/pollyrs_rt.h`: each takes what generated code hands over, and lets no panic out.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::base::abi::{self, ALL, Array, EmuThread, PartRange, REASON_RUNTIME, Scop};
use crate::base::caller::{Errno, Inside, fatal, set_errno};
use crate::base::config::Offload;
use crate::base::error::{self, Error};
use crate::base::why;
use crate::cost::inspections;
use crate::emulated::blocks;
use crate::execution::{self, Run, late};
use crate::hold::Hold;
use crate::hold::asked;
use crate::hold::frame::Frame;
use crate::memory::{inspect, row_table};
use crate::process::original::{self, Original, Whose};
use crate::process::{compare, is_unwatched, nvtx, profile, registry};
use crate::residency::{Found, Strip};

/// Runs `body`; a panic becomes an error, and `errno` stays.
fn guarded<T>(body: impl FnOnce() -> error::Result<T>) -> error::Result<T> {
    let _errno = Errno::kept();
    let _inside = Inside::enter();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(Error::Internal(text.unwrap_or_default()))
        }
    }
}

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
    // SAFETY: a slot of the caller's that is NULL at first.
    let hold = unsafe { slot.as_mut() }.map(|slot| {
        // SAFETY: used by one thread, and the frame's activation is under way.
        unsafe { frame(slot).hold() }
    });
    drop(inside);
    let hold = hold.filter(|_| registry::config().compare.is_none());
    // SAFETY: the caller's promise.
    unsafe { start(hold, scop, work, arrays, n_arrays) }
}

/// # Safety
/// As the header says for both ways to begin.
unsafe fn start(
    hold: Option<&mut Hold>,
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
        unsafe { execution::begin(registry::config(), scop, work, arrays, hold) }
    });
    match begun {
        Ok(run) => Box::into_raw(run).cast(),
        Err(error) => {
            // SAFETY: as above.
            unsafe { note_refusal(scop.as_ref(), &error) };
            error::set_last(error);
            std::ptr::null_mut()
        }
    }
}

/// After a refusal that will be the answer to all executions no more of them need to ask.
fn note_refusal(scop: Option<&'static Scop>, error: &Error) {
    let lasts = matches!(error, Error::DeviceOff | Error::Never | Error::NoCuda(_));
    // All ranks ask the same.
    let lasts = lasts && !registry::config().job.shares();
    if let Some(state) = scop.filter(|_| lasts && is_unwatched()).and_then(registry::state) {
        state.never_ask();
    }
}

/// The frame in a slot, made if it is the first.
///
/// # Safety
/// NULL or made here.
unsafe fn frame(slot: &mut *mut c_void) -> &mut Frame {
    if slot.is_null() {
        *slot = Box::into_raw(Box::new(Frame::outermost())).cast();
    }
    // SAFETY: the caller's promise.
    unsafe { &mut *slot.cast::<Frame>() }
}

/// What `body` does with the frame in a slot, where there is one. Results are at stake: no panic can be
/// survived.
///
/// # Safety
/// A slot of the caller's.
unsafe fn with_frame(slot: *mut *mut c_void, body: impl FnOnce(&mut Frame)) {
    // SAFETY: NULL or made by `frame`, and used by one thread.
    let frame = unsafe { slot.as_ref().and_then(|frame| frame.cast::<Frame>().as_mut()) };
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
    // SAFETY: the caller's promise.
    unsafe { with_frame(slot, |frame| frame.hold().release(registry::config(), read, write)) };
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
    let strip = Strip::new(start.addr() as u64, bytes, step, times);
    let config = registry::config();
    // SAFETY: the caller's promise.
    unsafe {
        with_frame(slot, |frame| match &strip {
            Some(strip) => frame.hold().access(config, strip, write),
            None => frame.hold().release(config, ALL, write),
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
    unsafe { with_frame(slot, |frame| frame.hold().discard(registry::config(), dead)) };
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

/// `pollyrs_rt_rows`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_rows(
    first: *const c_void,
    last: *const c_void,
    step: i64,
    unit: i64,
) -> row_table::Rows {
    let _errno = Errno::kept();
    row_table::look(first, last, step, unit)
}

/// `pollyrs_rt_rows_anywhere`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_rows_anywhere(
    first: *const c_void,
    last: *const c_void,
    step: i64,
    unit: i64,
    low: i64,
    high: i64,
) -> row_table::Rows {
    let _errno = Errno::kept();
    row_table::anywhere(first, last, (step, unit), (low, high))
}

/// `pollyrs_rt_row_length`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_row_length(
    first: *const c_void,
    last: *const c_void,
    step: i64,
    behind: i64,
) -> i64 {
    let _errno = Errno::kept();
    row_table::length(first, last, step, behind)
}

/// `pollyrs_rt_common_length`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_common_length(first: *const c_void, last: *const c_void, step: i64) -> i64 {
    let _errno = Errno::kept();
    row_table::common(first, last, step)
}

/// `pollyrs_rt_most`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_most(first: *const c_void, last: *const c_void, step: i64, bytes: i64) -> i64 {
    let _errno = Errno::kept();
    row_table::most(first, last, step, bytes)
}

/// `pollyrs_rt_rows_leave`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_rows_leave(
    first: *const c_void,
    last: *const c_void,
    step: i64,
    low: i64,
    high: i64,
    begin: *const c_void,
    end: *const c_void,
) -> i64 {
    let _errno = Errno::kept();
    i64::from(row_table::leave((first, last, step), (low, high), (begin, end)))
}

/// `pollyrs_rt_inspect`.
///
/// # Safety
/// As the header says: `rows` and `ends` are valid; what is looked at need not be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_inspect(
    start: *const c_void,
    rows: *const inspect::Rows,
    element_bytes: u32,
    ends: *mut [i64; 2],
) -> i32 {
    let _errno = Errno::kept();
    // SAFETY: the caller's promise.
    unsafe {
        let look = || inspections::timed(|| inspect::gathered(start, &*rows, element_bytes));
        answer(if is_worth(start, &*rows) { look() } else { Err(error::Error::Unreadable) }, ends)
    }
}

/// Whether an inspection is worth its time.
fn is_worth(start: *const c_void, rows: &inspect::Rows) -> bool {
    let bytes = rows.counts.iter().fold(rows.bytes, |all, n| all.saturating_mul(*n));
    inspections::is_worth(registry::config(), (start as u64, bytes))
}

/// What an inspection found, for the program.
///
/// # Safety
/// `ends` is valid.
unsafe fn answer(found: error::Result<(i64, i64)>, ends: *mut [i64; 2]) -> i32 {
    let (seen, found) = match found {
        Ok((low, high)) => (1, [low, high]),
        Err(_) => {
            // The original loop runs, and will do so again if nothing changes.
            inspections::settle(true);
            (0, [0, 0])
        }
    };
    // SAFETY: the caller's promise.
    unsafe { ends.write(found) };
    seen
}

/// `pollyrs_rt_inspect_held`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_inspect_held(
    slot: *mut *mut c_void,
    cache: *const c_void,
    what: u32,
    start: *const c_void,
    rows: *const inspect::Rows,
    element_bytes: u32,
    ends: *mut [i64; 2],
) -> i32 {
    let _errno = Errno::kept();
    // SAFETY: the caller's promise.
    let rows = unsafe { &*rows };
    if what & asked::FIRST != 0 {
        asked::begin(cache as usize);
    }
    if !is_worth(start, rows) {
        // SAFETY: the caller's promise.
        return unsafe { answer(Err(error::Error::Unreadable), ends) };
    }
    let (question, mask) = ((start as u64, rows.words(), element_bytes), what & !asked::FIRST);
    let part = rows.span(start);
    let look = || {
        let ends = inspections::timed(|| inspect::gathered(start, rows, element_bytes))?;
        if let Some(part) = part {
            asked::keep(cache as usize, Found { part, question, mask, ends });
        }
        Ok(ends)
    };
    let mut found = None;
    if let Some(part) = part {
        // SAFETY: the caller's promise.
        unsafe {
            with_frame(slot, |frame| {
                found = Some(frame.hold().inspect(registry::config(), (part, question, mask), look));
            });
        }
    }
    // SAFETY: the caller's promise.
    unsafe { answer(found.unwrap_or_else(look), ends) }
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

/// `pollyrs_rt_sides`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_sides(left: i64, right: i64) {
    why::keep(left, right);
}

/// `pollyrs_rt_host_begin`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_host_begin(scop: *const Scop, reason: u32) -> *mut c_void {
    if Inside::interrupted() {
        return std::ptr::null_mut();
    }
    let _inside = Inside::enter();
    let sides = why::take();
    let place = &raw const sides as usize;
    let begun = guarded(|| {
        // SAFETY: a descriptor lives as long as the program.
        let Some(scop) = (unsafe { scop.as_ref() }) else { return Ok(None) };
        let refused = reason != REASON_RUNTIME;
        let estimated = if reason == REASON_RUNTIME { error::last_host_seconds() } else { None };
        let times = |seconds| registry::state(scop).is_some_and(|state| state.learned.times(seconds));
        let estimated = estimated.filter(|&(seconds, _)| times(seconds)).map(|(_, size)| size);
        let reports = registry::config().reports();
        let text = || match reason {
            REASON_RUNTIME => error::last_text(),
            index if scop.understood() => {
                scop.reason(index).map_or_else(|| format!("reason {index}"), |text| why::filled(&text, sides))
            }
            index => format!("reason {index}"),
        };
        let compared = if reason == REASON_RUNTIME { compare::take(scop) } else { None };
        if registry::config().offload == Offload::Require && compared.is_none() {
            fatal(&format!(
                "{} does not run on a device, as POLLYRS_RT_OFFLOAD=require demands: {}",
                profile::title(scop),
                text()
            ));
        }
        if !reports && estimated.is_none() && compared.is_none() && !nvtx::is_watched() {
            return Ok(None);
        }
        let reason = reports.then(text);
        let range = nvtx::Range::open(|| format!("{}: on the host", profile::title(scop)));
        let whose = Whose::Scop(scop);
        Ok(Some(Original {
            whose,
            reason,
            refused,
            estimated,
            start: Instant::now(),
            compared,
            _range: range,
        }))
    });
    begun.ok().flatten().map_or(std::ptr::null_mut(), |original| original::begin(original, place))
}

/// `pollyrs_rt_host_begin_held`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_host_begin_held(
    slot: *mut *mut c_void,
    scop: *const Scop,
    reason: u32,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        with_frame(slot, |frame| frame.hold().let_go(registry::config(), abi::ALL, abi::ALL));
        pollyrs_rt_host_begin(scop, reason)
    }
}

/// `pollyrs_rt_host_end`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_host_end(host: *mut c_void) {
    if host.is_null() {
        return;
    }
    // A report that can't be made is lost; the results are not touched.
    let _ = guarded(|| {
        original::end(host);
        Ok(())
    });
}

/// `pollyrs_rt_kept_begin`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_kept_begin(
    function: *const c_char,
    at: *const c_char,
    reason: *const c_char,
) -> *mut c_void {
    if is_unwatched() || Inside::interrupted() {
        return std::ptr::null_mut();
    }
    let _inside = Inside::enter();
    let place = &raw const at as usize;
    let begun = guarded(|| {
        // SAFETY: texts of the program, which end with a zero.
        let [function, at, reason] =
            [function, at, reason].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        Ok(Original {
            whose: Whose::Kept(function, at),
            reason: registry::config().reports().then_some(reason),
            refused: true,
            estimated: None,
            start: Instant::now(),
            compared: None,
            _range: None,
        })
    });
    begun.map_or(std::ptr::null_mut(), |original| original::begin(original, place))
}

/// `pollyrs_rt_emu_fma`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_emu_fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// `pollyrs_rt_emu_shape`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_shape(
    run: *mut c_void,
    array: u32,
    dims: u32,
    size1: i64,
    size2: i64,
    size3: i64,
) {
    // SAFETY: NULL or a run of this library that one thread uses.
    if let Some(run) = unsafe { run.cast::<Run>().as_mut() } {
        run.shape(array as usize, dims as usize, [size1, size2, size3]);
    }
}

/// `pollyrs_rt_emu_barrier`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_barrier(thread: *const EmuThread) {
    // SAFETY: the caller's promise. Nothing here can panic, and a suspended thread is always resumed.
    unsafe { blocks::barrier(thread) }
}

/// `pollyrs_rt_emu_wait`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_wait(thread: *const EmuThread, block: u64) {
    // SAFETY: the caller's promise, as above.
    unsafe { blocks::wait(thread, block) }
}

/// `pollyrs_rt_emu_signal`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_signal(thread: *const EmuThread) {
    // SAFETY: the caller's promise, as above.
    unsafe { blocks::signal(thread) }
}

/// `pollyrs_rt_emu_shuffle`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_shuffle(thread: *const EmuThread, value: u64, away: i32) -> u64 {
    // SAFETY: the caller's promise, as above.
    unsafe { blocks::shuffle(thread, value, away) }
}

/// `pollyrs_rt_emu_pass`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_pass(
    thread: *const EmuThread,
    value: u64,
    lane: u32,
    lanes: u32,
) -> u64 {
    // SAFETY: the caller's promise, as above.
    unsafe { blocks::pass(thread, value, lane, lanes) }
}
