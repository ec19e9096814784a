//! What the process keeps between executions: its settings, the CUDA device, and a state for each SCoP.
//!
//! Invariants:
//!
//! * everything is made at its first use, once, whatever number of threads ask;
//! * the CUDA device belongs to the process that started it. A forked child inherits the memory but not the
//!   driver's threads and mappings: it must not touch the device, nor wait for a start that was under way in
//!   the parent.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::base::abi::Scop;
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::cost::machine;
use crate::cost::{self, Learned, Rates};
use crate::device::code::ModuleSlot;
use crate::gpu::cuda::Device;

static CONFIG: OnceLock<Config> = OnceLock::new();
static CUDA: OnceLock<Result<Device>> = OnceLock::new();
/// The process that started CUDA, or began to; 0: none. (A process never has the number 0.)
static CUDA_PROCESS: AtomicU32 = AtomicU32::new(0);

/// The settings of this process. What is wrong with them is told with the first use.
pub fn config() -> &'static Config {
    CONFIG.get_or_init(|| {
        let config = Config::from_environment();
        for complaint in &config.complaints {
            // A program without a standard error goes on.
            let _ = writeln!(std::io::stderr(), "pollyrs: {complaint}");
        }
        config
    })
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
    let open = || {
        let start = Instant::now();
        let device = Device::open(config)?;
        machine::calibrate(config, &device, start.elapsed().as_secs_f64());
        Ok(device)
    };
    CUDA.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The CUDA devices that share launches: the one of this process first.
pub fn cuda_devices(config: &Config) -> Result<Vec<&'static Device>> {
    static OTHERS: OnceLock<Vec<Device>> = OnceLock::new();
    let first = cuda(config)?;
    if config.devices.of_cuda(usize::MAX) == 1 {
        return Ok(vec![first]);
    }
    let others = OTHERS.get_or_init(|| first.open_others(config));
    Ok(std::iter::once(first).chain(others.iter().filter(|device| !device.is_lost())).collect())
}

/// Whether this process has a CUDA device, or knows that there is none: asking costs nothing any more.
pub fn cuda_started() -> bool {
    CUDA.get().is_some()
}

/// Whether this process, not one that it was forked from, began to start CUDA.
pub fn owns_cuda() -> bool {
    CUDA_PROCESS.load(Ordering::Acquire) == std::process::id()
}

/// What is kept for a SCoP. Compiled code reads the first word, a double: executions with no more work than
/// this don't ask, if nothing is held.
#[derive(Default)]
#[repr(C)]
pub struct State {
    small: AtomicU64,
    pub module: ModuleSlot,
    pub learned: Learned,
    /// Executions that were wanted on the device because they are among the first ones.
    wanted: AtomicU64,
}

impl State {
    /// No execution needs to ask.
    pub fn never_ask(&self) {
        self.small.store(f64::INFINITY.to_bits(), Ordering::Relaxed);
    }

    /// Whether this execution is among the first `most` that ask.
    pub fn is_among(&self, most: u64) -> bool {
        let next = |wanted| (wanted < most).then_some(wanted + 1);
        self.wanted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    /// An execution of the original loop took `seconds`.
    pub fn host_took(&self, seconds: f64, work: f64) {
        let small = f64::from_bits(self.small.load(Ordering::Relaxed));
        if small == f64::INFINITY {
            return;
        }
        let now = match seconds < cost::TINY {
            true => small.max(work),
            false if work <= small => work / 2.0,
            false => small,
        };
        if now != small {
            self.small.store(now.to_bits(), Ordering::Relaxed);
        }
    }
}

/// The SCoP's state, kept through the descriptor's cache; None if the descriptor has no place for it.
pub fn state(scop: &Scop) -> Option<&'static State> {
    scop.cache().map(state_of)
}

/// The state that is kept through a descriptor's cache.
pub fn state_of(cache: &'static AtomicU64) -> &'static State {
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
    unsafe { &*(known as *const State) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_executions_do_not_ask() {
        let state = State::default();
        let small = |state: &State| {
            // As compiled code reads it.
            let first = std::ptr::from_ref(state).cast::<f64>();
            // SAFETY: the first field has this size and any bits.
            unsafe { first.read() }
        };
        assert_eq!(small(&state), 0.0);
        let table = [
            (1e-6, 400.0, 400.0),
            (1e-7, 40.0, 400.0),
            (5e-6, 500.0, 500.0),
            (15e-6, 800.0, 500.0), // longer, and more
            (15e-6, 450.0, 225.0), // was too much
            (1e-6, f64::NAN, 225.0),
        ];
        for (seconds, work, expected) in table {
            state.host_took(seconds, work);
            assert_eq!(small(&state), expected, "{seconds} {work}");
        }
        state.never_ask();
        assert_eq!(small(&state), f64::INFINITY);
    }
}
