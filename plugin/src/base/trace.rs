//! What the plugin tells of its work, through `tracing`: `-mllvm -pollyrs-log=debug` (or `info`, or
//! `pollyrs::attempt=debug`, and more of these joined by commas) prints it on standard error, a line for each
//! event behind the function or SCoP that it is about.
//!
//! ```text
//! pollyrs: kernel_2mm: the plan does not hold plan=Tiles setback=NoMapping
//! ```
//!
//! # Invariants
//! - Who listens is set for one run and its threads, never for the process: rustc runs several
//!   code-generation threads, and the host may have a subscriber of its own.
//! - Nothing depends on whether anybody listens.

use crate::base::options::Options;
use crate::base::timing::{STAGES, Times};
use std::fmt;
use tracing::dispatcher::{self, Dispatch};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The target of the spans of functions and SCoPs, whose only field is their name.
pub const PLACE: &str = "pollyrs::place";

/// Runs `f` with the listeners that the options ask for; the times of its stages, where they are asked for.
pub fn listening<T>(options: &Options, f: impl FnOnce() -> T) -> (T, Option<Times>) {
    let times = options.time.then(Times::default);
    let log = filter(options);
    if times.is_none() && log.is_none() {
        return (f(), None);
    }
    let stages = Targets::new().with_target(STAGES, LevelFilter::INFO);
    let lines = log.map(|filter| {
        tracing_subscriber::fmt::layer().event_format(Lines).with_writer(std::io::stderr).with_filter(filter)
    });
    let dispatch =
        Dispatch::new(Registry::default().with(times.clone().map(|t| t.with_filter(stages))).with(lines));
    (dispatcher::with_default(&dispatch, f), times)
}

/// Who listens to this thread, for a thread that works for it.
pub fn listener() -> Dispatch {
    dispatcher::get_default(Dispatch::clone)
}

/// What is printed; `verbose` asks for what was done.
fn filter(options: &Options) -> Option<Targets> {
    let filter = match (&options.log, options.verbose) {
        (Some(filter), _) => filter.clone(),
        (None, true) => Targets::new().with_target("pollyrs", LevelFilter::INFO),
        (None, false) => return None,
    };
    // The place is part of each line.
    Some(filter.with_target(PLACE, LevelFilter::TRACE).with_target(STAGES, LevelFilter::OFF))
}

/// Lines without times and levels: tests compare them.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        line.write_str("pollyrs: ")?;
        let place =
            context.event_scope().into_iter().flatten().find(|span| span.metadata().target() == PLACE);
        if let Some(place) = place
            && let Some(name) = place.extensions().get::<FormattedFields<N>>()
        {
            write!(line, "{name}: ")?;
        }
        context.field_format().format_fields(line.by_ref(), event)?;
        writeln!(line)
    }
}
