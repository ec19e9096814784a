//! What the process keeps between executions: its settings, the CUDA device, and a state for each SCoP.
//!
//! Invariants:
//!
//! * everything is made at its first use, once, whatever number of threads ask;
//! * the CUDA device belongs to the process that started it. A forked child inherits the memory but not the driver's threads
//!   and mappings: it must not touch the device, nor wait for a start that was under way in the parent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::Scop;
use crate::config::Config;
use crate::cost::{Learned, Rates};
use crate::cuda::{Device, ModuleSlot};
use crate::error::{Error, Result};
use crate::machine;

static CONFIG: OnceLock<Config> = OnceLock::new();
static CUDA: OnceLock<Result<Device>> = OnceLock::new();
/// The process that started CUDA, or began to; 0: none. (A process never has the number 0.)
static CUDA_PROCESS: AtomicU32 = AtomicU32::new(0);

/// The settings of this process.
pub fn config() -> &'static Config {
    CONFIG.get_or_init(Config::from_environment)
}

/// The figures that this process decides by.
pub fn rates() -> &'static Rates {
    static RATES: OnceLock<Rates> = OnceLock::new();
    RATES.get_or_init(|| Rates::of(&machine::of_this_machine(config()), config().copy_threads))
}

/// The CUDA device of this process.
pub fn cuda(config: &Config) -> Result<&'static Device> {
    let own = std::process::id();
    if let Err(other) = CUDA_PROCESS.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire)
        && other != own
    {
        return Err(Error::Forked);
    }
    CUDA.get_or_init(|| Device::open(config)).as_ref().map_err(Clone::clone)
}

/// Whether this process has a CUDA device, or knows that there is none: asking costs nothing any more.
pub fn cuda_started() -> bool {
    CUDA.get().is_some()
}

/// What is kept for a SCoP.
#[derive(Default)]
pub struct State {
    pub module: ModuleSlot,
    pub learned: Learned,
}

/// The SCoP's state, kept through the descriptor's cache; None if the descriptor has no place for it.
pub fn state(scop: &Scop) -> Option<&'static State> {
    let cache = scop.cache()?;
    let mut known = cache.load(Ordering::Acquire);
    if known == 0 {
        let fresh: *mut State = Box::into_raw(Box::default());
        match cache.compare_exchange(0, fresh as u64, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => known = fresh as u64,
            Err(other) => {
                // SAFETY: another thread was faster; nobody else knows this box.
                drop(unsafe { Box::from_raw(fresh) });
                known = other;
            }
        }
    }
    // SAFETY: only this function sets the cache, to a box that is never freed.
    Some(unsafe { &*(known as *const State) })
}
