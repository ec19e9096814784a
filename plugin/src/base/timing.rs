//! Where compile time goes: `-mllvm -pollyrs-time` prints a table at the end of the module.
//!
//! Phases do not nest; what is in none of them (walking the module, remarks) is not counted. Times are processor times of the
//! threads (for ptxas, wall-clock times). They vary from run to run, so nothing else may depend on them: budgets count operations.
//!
//! ```text
//! pollyrs: time in ms (calls) for x.c
//!      12.1 (     3) detection
//!       4.0 (     1) dependences
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};
use std::fmt::Write;
use std::time::Duration;

unsafe extern "C" {
    /// Of the C library.
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
}

#[repr(C)]
#[derive(Default)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: c_long,
}

/// The processor time that this thread has used.
pub fn now() -> Duration {
    /// Linux's `CLOCK_THREAD_CPUTIME_ID`.
    const THREAD: c_int = 3;
    let mut t = TimeSpec::default();
    // SAFETY: a place for the result; where the clock does not exist it stays zero.
    unsafe { clock_gettime(THREAD, &mut t) };
    Duration::new(t.seconds as u64, t.nanoseconds as u32)
}

/// What is timed, in the order in which it runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Copies,
    Canonicalise,
    Analyses,
    Detection,
    Dependences,
    Schedule,
    Mapping,
    Check,
    Kernels,
    Device,
    Ptx,
    Ptxas,
    Estimates,
    Emulated,
    Host,
    Verification,
    Adoption,
}

impl Phase {
    fn label(self) -> &'static str {
        match self {
            Phase::Copies => "copies and inlining",
            Phase::Canonicalise => "canonicalisation",
            Phase::Analyses => "analyses",
            Phase::Detection => "detection",
            Phase::Dependences => "dependences",
            Phase::Schedule => "schedule",
            Phase::Mapping => "mapping",
            Phase::Check => "check",
            Phase::Kernels => "kernels",
            Phase::Device => "device kernels",
            Phase::Ptx => "ptx",
            Phase::Ptxas => "ptxas",
            Phase::Estimates => "footprints and work",
            Phase::Emulated => "emulated kernels",
            Phase::Host => "host code",
            Phase::Verification => "verification",
            Phase::Adoption => "adoption",
        }
    }
}

/// Totals by phase of one run of the plugin.
pub struct Timer {
    on: bool,
    totals: RefCell<BTreeMap<Phase, (u32, Duration)>>,
}

impl Timer {
    /// A timer that is off costs a branch a call.
    pub fn new(on: bool) -> Timer {
        Timer { on, totals: RefCell::default() }
    }

    /// Runs `f`, as part of `phase`.
    pub fn time<T>(&self, phase: Phase, f: impl FnOnce() -> T) -> T {
        if !self.on {
            return f();
        }
        let start = now();
        let result = f();
        self.add(phase, now().saturating_sub(start));
        result
    }

    /// Adds what another thread or program has spent on `phase`.
    pub fn add(&self, phase: Phase, elapsed: Duration) {
        if self.on {
            let mut totals = self.totals.borrow_mut();
            let (calls, total) = totals.entry(phase).or_default();
            *calls += 1;
            *total += elapsed;
        }
    }

    /// The table, if anything was timed.
    pub fn report(&self, module: &str) -> Option<String> {
        let totals = self.totals.borrow();
        if totals.is_empty() {
            return None;
        }
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let mut text = format!("pollyrs: time in ms (calls) for {module}\n");
        for (phase, (calls, total)) in totals.iter() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:10.1} ({calls:6}) {}", ms(*total), phase.label());
        }
        let sum: Duration = totals.values().map(|(_, d)| *d).sum();
        let _ = writeln!(text, "{:10.1}          in all", ms(sum));
        Some(text)
    }
}
