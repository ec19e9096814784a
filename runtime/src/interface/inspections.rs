//! What is looked at before an execution: tables of rows, and the ranges of subscripts that data chooses.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use super::execution::note_refusal;
use super::residency::{pollyrs_rt_holds, with_frame};
use crate::activation::Activation;
use crate::activation::asked;
use crate::base::abi::INSPECT_FIRST;
use crate::base::caller::{Errno, Inside};
use crate::base::config::{DeviceChoice, Offload};
use crate::base::error;
use crate::cost::inspections;
use crate::cost::lists::{self, Question};
use crate::memory::grouped::{self, Groups, Lists};
use crate::memory::row_table::{self, Rows};
use crate::memory::{between, inspect};
use crate::process::registry;
use crate::residency::Found;

/// `pollyrs_rt_rows`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_rows(first: *const c_void, last: *const c_void, step: i64, unit: i64) -> Rows {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    noted(row_table::look(first, last, step, unit), (first, last, step), unit)
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
) -> Rows {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    let rows = row_table::anywhere(first, last, (step, unit), (low, high));
    noted(rows, (first, last, step), unit)
}

/// `POLLYRS_RT_CHECK`: where there may be other things between the rows of a table.
fn noted(rows: Rows, (first, last, step): (*const c_void, *const c_void, i64), unit: i64) -> Rows {
    if registry::config().check.copies
        && let Some(steps) = (last.addr() as u64).wrapping_sub(first.addr() as u64).checked_div(step as u64)
    {
        between::note(rows, steps.saturating_add(1), unit);
    }
    rows
}

/// `pollyrs_rt_row_length`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_row_length(
    first: *const c_void,
    last: *const c_void,
    step: i64,
    behind: i64,
) -> i64 {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    row_table::length(first, last, step, behind)
}

/// `pollyrs_rt_common_length`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_common_length(first: *const c_void, last: *const c_void, step: i64) -> i64 {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    row_table::common(first, last, step)
}

/// `pollyrs_rt_most`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_most(first: *const c_void, last: *const c_void, step: i64, bytes: i64) -> i64 {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
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
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    i64::from(row_table::leave((first, last, step), (low, high), (begin, end)))
}

/// `pollyrs_rt_grouped`.
///
/// # Safety
/// As the header says: the loop reads all integers of the lists in any case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_grouped(
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    d: *const c_void,
    step: i64,
    distance: i64,
    inner: i64,
    times: i64,
    kind: i64,
) -> *const Groups {
    // SAFETY: the caller's promise.
    unsafe { pollyrs_rt_places(a, b, c, d, step, distance, inner, times, kind, 1) }
}

/// `pollyrs_rt_places`. (A host loop may ask for a few integers a million times, so that what they are worth
/// comes first.)
///
/// # Safety
/// As for [`pollyrs_rt_grouped`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_places(
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    d: *const c_void,
    step: i64,
    distance: i64,
    inner: i64,
    times: i64,
    kind: i64,
    work: i64,
) -> *const Groups {
    let all = [a, b, c, d].map(|list| list.addr());
    let lists = all.iter().take_while(|list| **list != 0).count();
    let integers = times.saturating_mul(inner).saturating_mul(lists as i64);
    if times <= 0 || lists::is_little(integers.saturating_mul(work), least()) {
        return grouped::none();
    }
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    let list = (a as u64, integers.saturating_mul(kind & 15));
    let config = registry::config();
    let mut question = Question::new(list, (integers as f64, work as f64), registry::rates());
    // SAFETY: the caller's promise.
    let lists = unsafe { Lists::new(all, [step, distance, inner, times, kind]) };
    let found = inspections::timed(|| grouped::groups(config, &lists, |step| question.may(config, step)));
    question.ends(found != grouped::none());
    found
}

/// [`lists::least`] of this process. (What a question computes of it raises no floating-point exception.)
fn least() -> i64 {
    static LEAST: OnceLock<i64> = OnceLock::new();
    *LEAST.get_or_init(|| {
        let (_errno, _inside) = (Errno::kept(), Inside::enter());
        lists::least(registry::config(), registry::rates())
    })
}

/// `pollyrs_rt_worth`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_worth(cache: Option<&'static AtomicU64>, work: f64, n_kernels: u32) -> i32 {
    worth(cache, (work, n_kernels), false)
}

/// `pollyrs_rt_worth_held`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_worth_held(
    slot: *mut *mut c_void,
    cache: Option<&'static AtomicU64>,
    work: f64,
    n_kernels: u32,
) -> i32 {
    // SAFETY: the caller's promise.
    let holds = unsafe { pollyrs_rt_holds(slot) } != 0;
    worth(cache, (work, n_kernels), holds)
}

fn worth(cache: Option<&'static AtomicU64>, asked: (f64, u32), holds: bool) -> i32 {
    // (What may not ask finds out when it begins.)
    let Some(cache) = cache.filter(|_| !Inside::interrupted()) else { return 1 };
    let _errno = Errno::kept();
    let _inside = Inside::enter();
    let state = registry::state_of(cache);
    let worth = inspections::worth(registry::config(), &state.learned, asked, registry::rates(), holds);
    match worth {
        Ok(()) => 1,
        Err(error) => {
            note_refusal(state, &error);
            error::set_last(error);
            0
        }
    }
}

/// `pollyrs_rt_wanted`.
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_wanted() -> i64 {
    let config = registry::config();
    i64::from(config.offload != Offload::Never && config.device != DeviceChoice::Off)
}

/// `pollyrs_rt_inspect`. (What is looked at need not be there.)
#[unsafe(no_mangle)]
pub extern "C" fn pollyrs_rt_inspect(
    start: *const c_void,
    rows: &inspect::Rows,
    element_bytes: u32,
    ends: &mut MaybeUninit<[i64; 2]>,
) -> i32 {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    let look = || inspections::timed(|| inspect::gathered(start, rows, element_bytes));
    answer(if is_worth(start, rows) { look() } else { Err(error::Error::Unreadable) }, ends)
}

/// Whether an inspection is worth its time.
fn is_worth(start: *const c_void, rows: &inspect::Rows) -> bool {
    let bytes = rows.counts.iter().fold(rows.bytes, |all, n| all.saturating_mul(*n));
    inspections::is_worth(registry::config(), (start as u64, bytes))
}

/// What an inspection found, for the program.
fn answer(found: error::Result<(i64, i64)>, ends: &mut MaybeUninit<[i64; 2]>) -> i32 {
    let (seen, found) = match found {
        Ok((low, high)) => (1, [low, high]),
        Err(_) => {
            // The original loop runs, and will do so again if nothing changes.
            inspections::settle(true);
            (0, [0, 0])
        }
    };
    ends.write(found);
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
    rows: &inspect::Rows,
    element_bytes: u32,
    ends: &mut MaybeUninit<[i64; 2]>,
) -> i32 {
    let (_errno, _inside) = (Errno::kept(), Inside::enter());
    if what & INSPECT_FIRST != 0 {
        asked::begin(cache as usize);
    }
    let worth = is_worth(start, rows);
    let (question, mask) = ((start as u64, rows.words(), element_bytes), what & !INSPECT_FIRST);
    let part = rows.span(start);
    let look = || {
        let ends = inspections::timed(|| inspect::gathered(start, rows, element_bytes))?;
        if let Some(part) = part {
            asked::keep(cache as usize, Found { part, question, mask, ends });
        }
        Ok(ends)
    };
    let mut found = (!worth).then_some(Err(error::Error::Unreadable));
    if let Some(part) = part.filter(|_| worth) {
        // SAFETY: the caller's promise.
        unsafe {
            with_frame(slot, Activation::is_idle, |frame| {
                found = Some(frame.activation().inspect(registry::config(), (part, question, mask), look));
            });
        }
    }
    answer(found.unwrap_or_else(look), ends)
}
