//! Why an execution stays on the host: the library's one error type.
//!
//! An error is data that is cheap to make and to keep, since a program may ask for the device a million times
//! in vain; its text is only formatted for the profile.

use std::cell::RefCell;
use std::sync::Arc;

use crate::base::faults::Operation;
use crate::base::size::Size;

/// Why the original loop runs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("offloading is switched off (POLLYRS_RT_DEVICE=off)")]
    DeviceOff,
    #[error("offloading is switched off (POLLYRS_RT_OFFLOAD=never)")]
    Never,
    #[error("{most} executions were offloaded, and no more are wanted (POLLYRS_RT_OFFLOAD=always:{most})")]
    Enough { most: u64 },
    #[error("not worth a transfer: estimated {device_ms:.3} ms on the device, {host_ms:.3} ms on the host")]
    NotWorthIt { device_ms: f64, host_ms: f64, size: Size },
    #[error(
        "about the same on both sides, and the original loop is not known well: estimated {device_ms:.3} ms on the device, {host_ms:.3} ms on the host"
    )]
    Doubtful { device_ms: f64, host_ms: f64, size: Size },
    #[error(
        "executions that come together took less on the host: estimated {device_ms:.3} ms on the device, {host_ms:.3} ms on the host"
    )]
    Together { device_ms: f64, host_ms: f64, size: Size },
    #[error(
        "not yet worth starting the driver, some {price_ms:.0} ms: estimated gains so far, this one included, {gains_ms:.3} ms"
    )]
    NotYetStarted { gains_ms: f64, price_ms: f64, host_ms: f64, size: Size },
    #[error(
        "starting the driver, some {price_ms:.0} ms, could cost more than a twentieth of the time that the process has run, {age_ms:.0} ms"
    )]
    TooYoung { age_ms: f64, price_ms: f64, host_ms: f64, size: Size },
    #[error("not yet worth loading the code: estimated gain {gain_ms:.3} ms")]
    NotYetLoaded { gain_ms: f64, host_ms: f64, size: Size },
    #[error(
        "inspections for executions that stayed on the host took as long as this one may lose by another"
    )]
    Inspected { host_ms: f64, size: Size },
    #[error("given up on the device after {after_ms:.3} ms: estimated {host_ms:.3} ms on the host")]
    GivenUp { after_ms: f64, host_ms: f64, size: Size },
    #[error(
        "the program was compiled for version {found} of the run-time library's interface, this is version {own}"
    )]
    Version { found: u32, own: u32 },
    #[error("inconsistent SCoP descriptor: {0}")]
    Descriptor(String),
    #[error("no CUDA device: {0}")]
    NoCuda(Arc<str>),
    #[error("the process was forked after the CUDA driver had been started")]
    Forked,
    #[error("the CUDA device failed earlier in this process: {0}")]
    DeviceLost(Arc<str>),
    #[error("no device code for {device} (sm_{arch}) in the program")]
    NoImage { device: String, arch: u32 },
    #[error("a block needs {bytes} bytes of shared memory, {device} has {limit}")]
    SharedMemory { bytes: u32, device: String, limit: u32 },
    #[error("{call} failed with error {code} ({name}){detail}")]
    Driver { call: &'static str, code: i32, name: String, detail: String },
    #[error("device code for sm_{arch} was refused: {cause}")]
    Refused { arch: u32, cause: Box<Error> },
    #[error("kernel {0} was not compiled for the emulated device")]
    NotEmulated(String),
    #[error("not enough memory on the device for {bytes} bytes")]
    OutOfMemory { bytes: u64 },
    #[error("the arrays have {bytes} bytes together, the device {memory}")]
    TooLarge { bytes: u64, memory: u64 },
    #[error("kernel {kernel} can't be launched: {cause}")]
    Launch { kernel: String, cause: &'static str },
    #[error("memory that the loop may not access is not readable")]
    Unreadable,
    #[error("two integers that have to be different are equal")]
    Repeated,
    #[error("the stack is too small for calls of the driver, or none of the thread's own")]
    SmallStack,
    #[error("a function of the program would set errno")]
    Fault,
    #[error("a check in the loop failed, which ends it")]
    Check,
    #[error("a value is a NaN, of which the order of a minimum or maximum decides")]
    Nan,
    #[error("floating-point exceptions trap in this thread (feenableexcept)")]
    Traps,
    #[error("errno lies in an array")]
    Errno,
    #[error("{a} and {b} overlap, which the compiler's checks did not find")]
    Overlap { a: Arc<str>, b: Arc<str> },
    #[error("rows of {a} that are written share memory with other rows or {b}")]
    SharedRows { a: Arc<str>, b: Arc<str> },
    #[error("the rows of a table were looked for too long ago")]
    Forgotten,
    #[error("results in rows of tables are not compared")]
    Incomparable,
    #[error("{a} and {b} are one memory at two addresses")]
    OneMemory { a: Arc<str>, b: Arc<str> },
    #[error("an array overlaps another one, of which earlier results are still on the device")]
    Awaited,
    #[error("the device's results are compared with the original loop's")]
    Compared,
    #[error("rank {0} of the job runs the original loop")]
    Elsewhere(usize),
    #[error("ranks of the job would touch different ranges of memory")]
    DifferentRanges,
    #[error("the ranks of the job went different ways")]
    Parted,
    #[error("too little work to share with other ranks: {work} instances")]
    TooLittle { work: f64 },
    #[error("injected fault: {operation} {count}")]
    Injected { operation: Operation, count: u64 },
    #[error("internal error of the run-time library: {0}")]
    Internal(String),
}

pub type Result<T> = std::result::Result<T, Error>;

thread_local! {
    static LAST: RefCell<Option<Error>> = const { RefCell::new(None) };
}

impl Error {
    /// What the original loop is estimated to take, and at what size, where that was the reason.
    pub fn host_seconds(&self) -> Option<(f64, Size)> {
        match self {
            Error::NotWorthIt { host_ms, size, .. }
            | Error::Doubtful { host_ms, size, .. }
            | Error::Together { host_ms, size, .. }
            | Error::NotYetStarted { host_ms, size, .. }
            | Error::TooYoung { host_ms, size, .. }
            | Error::NotYetLoaded { host_ms, size, .. }
            | Error::Inspected { host_ms, size }
            | Error::GivenUp { host_ms, size, .. } => Some((host_ms * 1e-3, *size)),
            _ => None,
        }
    }
}

/// [`Error::host_seconds`] of this thread's last error.
pub fn last_host_seconds() -> Option<(f64, Size)> {
    LAST.try_with(|last| last.borrow().as_ref().and_then(Error::host_seconds)).ok().flatten()
}

/// Keeps `error` as this thread's answer to `POLLYRS_REASON_RUNTIME`.
pub fn set_last(error: Error) {
    // While the thread's locals are being destroyed the reason is lost, nothing else.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(error));
}

/// The text for `POLLYRS_REASON_RUNTIME`.
pub fn last_text() -> String {
    let text = LAST.try_with(|last| last.borrow().as_ref().map(Error::to_string));
    text.ok().flatten().unwrap_or_else(|| "unknown".to_string())
}
