//! What is kept of a SCoP's code on a device.

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::Mutex;

use crate::base::error::Result;
use crate::driver::Handle;

/// A loaded module: its kernels in the order of the SCoP's.
pub struct Module {
    pub functions: Vec<Function>,
}

/// A kernel of a loaded module.
pub struct Function {
    pub handle: Handle,
    /// Shared memory that a launch asks for.
    pub shared_bytes: c_uint,
}

/// What is kept for a SCoP, by the number of the device: a module, or the refusal.
pub type ModuleSlot = Mutex<BTreeMap<usize, Result<&'static Module>>>;
