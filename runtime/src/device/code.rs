//! What is kept of a SCoP's code on a device.

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::error::{Error, Result};
use crate::driver::Handle;

/// A loaded module: its kernels in the order of the SCoP's.
pub struct Module {
    pub functions: Vec<Function>,
    /// It has the kernels that may be late.
    pub complete: bool,
}

/// A kernel of a loaded module.
pub struct Function {
    /// NULL: the module does not have it.
    pub handle: Handle,
    /// Shared memory that a launch asks for.
    pub shared_bytes: c_uint,
}

/// What is kept for a SCoP.
#[derive(Default)]
pub struct ModuleSlot {
    /// By the number of the device: a module, or the refusal.
    modules: Mutex<BTreeMap<usize, Result<&'static Module>>>,
    pub late: Late,
}

impl ModuleSlot {
    pub fn modules(&self) -> MutexGuard<'_, BTreeMap<usize, Result<&'static Module>>> {
        // A panic elsewhere leaves the table as it is.
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way of kernels that may be late.
#[derive(Default)]
pub struct Late {
    /// Somebody loads them, has loaded them, or has failed.
    pub begun: AtomicBool,
    /// Microseconds that executions without them took.
    pub waited: AtomicU64,
    /// Why they never come.
    refusal: Mutex<Option<Error>>,
}

impl Late {
    /// An execution without them took `seconds`.
    pub fn took(&self, seconds: f64) {
        self.waited.fetch_add((seconds * 1e6) as u64, Ordering::Relaxed);
    }

    pub fn refuse(&self, error: Error) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// For the profile.
    pub fn said(&self) -> String {
        match &*self.refusal.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => error.to_string(),
            None if self.begun.load(Ordering::Relaxed) => "being compiled".to_owned(),
            None => "not compiled yet".to_owned(),
        }
    }
}
