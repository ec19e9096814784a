//! Counters of one run, as those of LLVM's `-stats`: `-mllvm -pollyrs-stats` prints them at the end of the
//! module. (LLVM's own are left out of usual builds of it.) Polly's list is the model: what was looked at,
//! what a model was made of, what became kernels; and what was refused, by the code of its remark.
//!
//! Each count is an event of `tracing`. It costs a branch where nobody listens.
//!
//! ```text
//! pollyrs: statistics for x.c
//!          2 functions looked at
//!          1 loop nests offloaded
//!          1 refusals PRS102
//! ```

use pollyrs_scop::Code;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The target of the events below.
pub const STATISTICS: &str = "pollyrs::statistic";

macro_rules! counters {
    ($($counter:ident: $label:literal,)*) => {
        /// What is counted, in the order of the table.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum Counter {
            $($counter,)*
        }

        const LABELS: &[&str] = &[$($label,)*];
    };
}

counters! {
    Functions: "functions looked at",
    Nests: "loop nests offloaded",
    Loops: "loops in them",
    Statements: "statements in them",
    Accesses: "accesses in them",
    Arrays: "arrays in memory",
    Private: "private scalars",
    Assumptions: "assumptions that are checked before an execution",
    Overlaps: "pairs of arrays that are checked for overlaps",
    Inspections: "inspections of values before an execution",
    Kernels: "kernels",
    Repeated: "kernels that a loop on the host launches",
    Fused: "loop nests with several time steps a launch",
    Cubins: "machine codes for a device",
    Texts: "PTX texts",
}

/// Behind the labels: a refusal, whose name is a code.
const REFUSAL: u64 = LABELS.len() as u64;

/// Adds `n`, which may be zero, to a counter.
pub fn count(counter: Counter, n: usize) {
    tracing::info!(target: STATISTICS, which = counter as u64, n = n as u64);
}

/// Adds one to the refusals with a code.
pub fn refused(code: Code) {
    tracing::info!(target: STATISTICS, which = REFUSAL + code as u64, n = 1u64);
}

/// Listens to the events of all threads of one run of the plugin, and adds them up.
#[derive(Clone, Default)]
pub struct Totals(Arc<Mutex<BTreeMap<u64, u64>>>);

#[derive(Default)]
struct Count {
    which: Option<u64>,
    n: u64,
}

impl Visit for Count {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "which" => self.which = Some(value),
            _ => self.n = value,
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl<S: Subscriber> Layer<S> for Totals {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut count = Count::default();
        event.record(&mut count);
        if let Some(which) = count.which {
            let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *totals.entry(which).or_default() += count.n;
        }
    }
}

impl Totals {
    /// The table; what is zero is left out, as LLVM does.
    pub fn report(&self, module: &str) -> String {
        let totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = format!("pollyrs: statistics for {module}");
        for (&which, n) in totals.iter().filter(|(_, n)| **n > 0) {
            let code = |code: &&Code| REFUSAL + **code as u64 == which;
            // Writing to a string cannot fail.
            let _ = match (LABELS.get(which as usize), Code::ALL.iter().find(code)) {
                (Some(label), _) => write!(text, "\n{n:10} {label}"),
                (None, Some(code)) => write!(text, "\n{n:10} refusals {code} ({})", code.name()),
                (None, None) => Ok(()),
            };
        }
        text
    }
}
