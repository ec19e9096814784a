//! A thread of a kernel.

use std::ffi::c_void;

use super::Checker;
use crate::base::abi::EmuThread;
use crate::emulated::tasks::Tasks;

/// What kernels are called with: their ABI's descriptor, and behind it what is the library's own.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    pub abi: EmuThread,
    pub linear: u32,
    /// NULL: blocks do not wait for each other.
    pub tasks: *const Tasks,
    /// NULL: nothing is checked.
    pub checker: *mut Checker,
    /// The barrier that the thread waits at.
    pub barrier: *const c_void,
    /// What it shows to the others of its warp, in turns: one of them may be a shuffle ahead.
    pub shown: [u64; 2],
    /// Shuffles so far.
    pub shuffles: u32,
}

/// The x, y, z of a linear thread index; x varies fastest.
pub fn thread_index(linear: u64, block: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = block.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}
