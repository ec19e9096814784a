//! The original loop, where it runs in place of a device.

use std::ffi::{CStr, c_char, c_void};
use std::time::Instant;

use super::guarded;
use super::residency::with_frame;
use crate::activation::Activation;
use crate::base::abi::{REASON_RUNTIME, Scop};
use crate::base::caller::{Inside, fatal};
use crate::base::config::Offload;
use crate::base::{abi, error, why};
use crate::cost::inspections;
use crate::process::original::{Original, Whose};
use crate::process::{compare, is_unwatched, nvtx, original, profile, registry};

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
        let estimated = if refused { inspections::refused() } else { estimated };
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
        with_frame(slot, Activation::is_idle, |frame| {
            frame.activation().let_go(registry::config(), abi::ALL, abi::ALL)
        });
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
