//! The stages of a compilation as spans of `tracing`, and where compile time goes: `-mllvm -pollyrs-time`
//! prints a table at the end of the module.
//!
//! Stages do not nest; what is in none of them (walking the module, remarks) is not counted. Times are
//! processor times of the threads (of ptxas, which is another program, times on the clock). They vary from
//! run to run, so nothing else may depend on them: budgets count operations.
//!
//! ```text
//! pollyrs: time in ms (calls) for x.c
//!      12.1 (     3) detection
//!       4.0 (     1) dependences
//! ```

use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::span::Id;
use tracing::{Span, Subscriber, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

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
fn now() -> Duration {
    /// Linux's `CLOCK_THREAD_CPUTIME_ID`.
    const THREAD: c_int = 3;
    let mut t = TimeSpec::default();
    // SAFETY: a place for the result; where the clock does not exist it stays zero.
    unsafe { clock_gettime(THREAD, &mut t) };
    Duration::new(t.seconds as u64, t.nanoseconds as u32)
}

/// The target of the spans below.
pub const STAGES: &str = "pollyrs::stage";

macro_rules! phases {
    ($($phase:ident: $label:literal,)*) => {
        /// What is timed, in the order in which it runs.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Phase {
            $($phase,)*
        }

        impl Phase {
            const ALL: &[(Phase, &str)] = &[$((Phase::$phase, $label),)*];

            fn span(self) -> Span {
                match self {
                    $(Phase::$phase => info_span!(target: STAGES, $label),)*
                }
            }
        }
    };
}

phases! {
    Copies: "copies and inlining",
    Canonicalise: "canonicalisation",
    Analyses: "analyses",
    Detection: "detection",
    Dependences: "dependences",
    Schedule: "schedule",
    Mapping: "mapping",
    Check: "check",
    Kernels: "kernels",
    Device: "device kernels",
    Ptx: "ptx",
    Ptxas: "ptxas",
    Estimates: "footprints and work",
    Emulated: "emulated kernels",
    Host: "host code",
    Verification: "verification",
    Adoption: "adoption",
}

impl Phase {
    /// Runs `f` as a part of this phase. Costs a branch where nobody listens.
    pub fn time<T>(self, f: impl FnOnce() -> T) -> T {
        self.span().in_scope(f)
    }

    fn named(label: &str) -> Option<Phase> {
        Phase::ALL.iter().find(|(_, name)| *name == label).map(|(phase, _)| *phase)
    }

    fn label(self) -> &'static str {
        Phase::ALL.iter().find(|(phase, _)| *phase == self).map_or("", |(_, name)| name)
    }
}

/// Listens to the spans of all threads of one run of the plugin, and adds their times up.
#[derive(Clone, Default)]
pub struct Times(Arc<Mutex<BTreeMap<Phase, (u32, Duration)>>>);

/// When a span was entered.
struct Entered {
    processor: Duration,
    wall: Instant,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Times {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered { processor: now(), wall: Instant::now() });
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let Some(phase) = Phase::named(span.name()) else { return };
        let Some(start) = span.extensions_mut().remove::<Entered>() else { return };
        let elapsed = match phase {
            Phase::Ptxas => start.wall.elapsed(),
            _ => now().saturating_sub(start.processor),
        };
        self.add(phase, elapsed);
    }
}

impl Times {
    fn add(&self, phase: Phase, elapsed: Duration) {
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (calls, total) = totals.entry(phase).or_default();
        *calls += 1;
        *total += elapsed;
    }

    /// The table, if anything was timed.
    pub fn report(&self, module: &str) -> Option<String> {
        let totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
