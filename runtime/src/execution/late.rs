//! Kernels whose machine code the program does not have: the driver compiles them while others do their work.
//!
//! Problem: assembling the tiles of a loop nest takes a second, in each build of a file, whether the nest
//! ever runs or not. Approach: the program has machine code of plain kernels, and the PTX of all. Executions
//! launch plain kernels until a thread in the background has loaded the rest, which it begins once executions
//! without it have taken as long as the driver's compiler takes: what hardly runs is never compiled. The
//! driver holds a lock while it compiles, so that other calls of it wait all the same
//! (`bench/notes/023-driver-compiled-code.md`); the host's own work goes on. The driver keeps what it
//! compiled (`bench/notes/023-driver-compiled-code.md`), so that the next process has it in some
//! milliseconds.
//!
//! Invariants:
//!
//! * what was there once is there from then on: compiled code asks ahead of an execution, and launches what
//!   it was told of;
//! * no thread is left when the process ends: the driver's compiler would run in a library that is being
//!   taken apart.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::JoinHandle;

use crate::base::abi::{IMAGE_PTX, Scop};
use crate::base::config::{Config, DeviceChoice, LateKernels, Offload};
use crate::base::stack;
use crate::device::code::ModuleSlot;
use crate::gpu::crew::{BlockedSignals, stay_loaded};
use crate::gpu::cuda::Device;
use crate::process::registry;

/// Seconds that the driver takes to compile a byte of PTX: 0.74 for the 252 KB of a product of matrices
/// (`bench/notes/023-driver-compiled-code.md`).
const BYTE: f64 = 3e-6;
/// Seconds that an instance takes in a plain kernel, at the least: of an execution that is sure to take as
/// long as compiling, the beginning waits.
const INSTANCE: f64 = 1e-11;

thread_local! {
    static LAST: Cell<bool> = const { Cell::new(false) };
}

/// Whether the kernels of `scop` that may be late are not there for the thread's next execution.
pub fn are_late(config: &'static Config, scop: &'static Scop, work: f64) -> bool {
    let late = ask(config, scop, work);
    // While the thread's locals are being destroyed the profile says nothing of it.
    let _ = LAST.try_with(|last| last.set(late));
    late
}

fn ask(config: &'static Config, scop: &'static Scop, work: f64) -> bool {
    let Some(state) = registry::state(scop) else { return true };
    let slot = &state.module;
    match config.device {
        _ if config.offload == Offload::Never => return true,
        DeviceChoice::Off => return true,
        // As if the compilation took one execution.
        DeviceChoice::Emulated => {
            return match config.late {
                LateKernels::Now => false,
                LateKernels::Never => true,
                LateKernels::Auto | LateKernels::Soon => !slot.late.begun.swap(true, Ordering::Relaxed),
            };
        }
        DeviceChoice::Auto | DeviceChoice::Cuda => {}
    }
    if config.late == LateKernels::Never || !stack::has_room() {
        return true;
    }
    let seconds = compiling(scop);
    let waits = config.late == LateKernels::Now || work * INSTANCE >= seconds;
    if !waits && !registry::cuda_started() {
        return true;
    }
    let Ok(devices) = registry::cuda_devices(config) else { return true };
    if devices.iter().all(|device| device.is_complete(slot)) {
        return false;
    }
    let due = slot.late.waited.load(Ordering::Relaxed) as f64 * 1e-6 >= seconds;
    if (waits || due || config.late == LateKernels::Soon) && !slot.late.begun.swap(true, Ordering::Relaxed) {
        match waits {
            true => load(&devices, scop, slot, config),
            false => load_beside(devices.clone(), scop, slot, config),
        }
    }
    !devices.iter().all(|device| device.is_complete(slot))
}

/// What the driver's compiler takes at most.
fn compiling(scop: &Scop) -> f64 {
    let texts = scop.images().iter().filter(|image| image.kind == IMAGE_PTX);
    texts.map(|image| image.bytes).max().unwrap_or(0) as f64 * BYTE
}

/// An execution that began after [`are_late`] took `seconds` on the device. The result says why kernels were
/// late in it, if they were.
pub fn took(scop: &Scop, seconds: f64) -> Option<String> {
    let late = scop.has_late() && LAST.try_with(Cell::get).unwrap_or(false);
    let slot = &registry::state(scop).filter(|_| late)?.module;
    slot.late.took(seconds);
    Some(slot.late.said())
}

fn load(devices: &[&'static Device], scop: &Scop, slot: &ModuleSlot, config: &Config) {
    let mut missing = devices.iter().filter(|device| !device.is_complete(slot));
    if let Err(error) = missing.try_for_each(|device| device.complete(scop, slot, config)) {
        slot.late.refuse(error);
    }
}

static LOADING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

fn load_beside(
    devices: Vec<&'static Device>,
    scop: &'static Scop,
    slot: &'static ModuleSlot,
    config: &'static Config,
) {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: a C function of the process; the handler has the right type and lives as long as this
        // library.
        unsafe { atexit(wait) };
    });
    stay_loaded();
    let _blocked = BlockedSignals::new();
    let loading = move || load(&devices, scop, slot, config);
    // Without a thread plain kernels stay.
    if let Ok(thread) = std::thread::Builder::new().name("pollyrs-late".into()).spawn(loading) {
        LOADING.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
}

extern "C" fn wait() {
    // In a forked child the threads are not there.
    if !registry::owns_cuda() {
        return;
    }
    let Ok(mut loading) = LOADING.try_lock() else { return };
    for thread in loading.drain(..) {
        // What became of it is in the slot.
        let _ = thread.join();
    }
}
