//! What kernels call on the emulated device.

use std::ffi::c_void;

use crate::base::abi::EmuThread;
use crate::emulated::check::{Site, Thread};
use crate::emulated::threads;
use crate::execution::Run;

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
    unsafe { threads::barrier(thread) }
}

/// `pollyrs_rt_emu_barrier_at`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_barrier_at(thread: *const EmuThread, site: *const Site) {
    // SAFETY: the caller's promise; only this thread writes its own field.
    unsafe {
        (*thread.cast::<Thread>().cast_mut()).barrier = site.cast();
        threads::barrier(thread);
    }
}

/// `pollyrs_rt_emu_wait`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_wait(thread: *const EmuThread, block: u64) {
    // SAFETY: the caller's promise, as above.
    unsafe { threads::wait(thread, block) }
}

/// `pollyrs_rt_emu_signal`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_signal(thread: *const EmuThread) {
    // SAFETY: the caller's promise, as above.
    unsafe { threads::signal(thread) }
}

/// `pollyrs_rt_emu_shuffle`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pollyrs_rt_emu_shuffle(thread: *const EmuThread, value: u64, away: i32) -> u64 {
    // SAFETY: the caller's promise, as above.
    unsafe { threads::shuffle(thread, value, away) }
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
    unsafe { threads::pass(thread, value, lane, lanes) }
}
