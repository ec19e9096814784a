//! What the plugin tells, through `tracing`: of its work, where `-mllvm -pollyrs-log=debug` (or `info`, or
//! `pollyrs::attempt=debug`, and more of these joined by commas) prints it on standard error, a line for each
//! event behind the function or SCoP that it is about; and what it was asked for: values of stages, times,
//! statistics, tiles and choices, which are printed as they are ([`answer`]).
//!
//! ```text
//! pollyrs: kernel_2mm: the plan does not hold plan=Tiles setback=NoMapping
//! ```
//!
//! # Invariants
//! - Who listens is set for one run and its threads, never for the process: rustc runs several
//!   code-generation threads, and the host may have a subscriber of its own.
//! - Nothing depends on whether anybody listens.
//! - No other module prints.

use crate::base::options::Options;
use crate::base::stage::Stage;
use crate::base::statistics::{STATISTICS, Totals};
use crate::base::timing::{STAGES, Times};
use std::fmt;
use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The target of the spans of functions and SCoPs, whose only field is their name.
pub const PLACE: &str = "pollyrs::place";

/// The target of what is printed as it is.
const ANSWERS: &str = "pollyrs::answer";

/// Prints what was asked for.
pub fn answer(value: impl fmt::Display) {
    tracing::info!(target: ANSWERS, "{value}");
}

/// Whether a run of a stage has something to print as it is; proofs that find a bug that is planted have.
fn is_asked(stage: Stage, options: &Options) -> bool {
    let planted = cfg!(feature = "planted");
    planted
        || stage != Stage::Run
        || options.time
        || options.stats
        || options.show_tiles
        || options.show_choices
}

/// What is added up in a run, where it is asked for.
#[derive(Clone, Default)]
pub struct Sums {
    pub times: Option<Times>,
    pub totals: Option<Totals>,
}

/// Runs `f` with the listeners that the stage and the options ask for.
pub fn listening<T>(stage: Stage, options: &Options, f: impl FnOnce(&Sums) -> T) -> T {
    let sums = Sums { times: options.time.then(Times::default), totals: options.stats.then(Totals::default) };
    let (log, asked) = (filter(options), is_asked(stage, options));
    if !asked && log.is_none() {
        return f(&sums);
    }
    let stages = Targets::new().with_target(STAGES, LevelFilter::INFO);
    let answers = asked.then(|| Answers.with_filter(Targets::new().with_target(ANSWERS, LevelFilter::INFO)));
    let lines = log.map(|filter| {
        tracing_subscriber::fmt::layer().event_format(Lines).with_writer(std::io::stderr).with_filter(filter)
    });
    let timed = sums.times.clone().map(|t| t.with_filter(stages));
    let counts = Targets::new().with_target(STATISTICS, LevelFilter::INFO);
    let counted = sums.totals.clone().map(|t| t.with_filter(counts));
    let dispatch = Dispatch::new(Registry::default().with(timed).with(counted).with(lines).with(answers));
    dispatcher::with_default(&dispatch, || f(&sums))
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
    let places = filter.with_target(PLACE, LevelFilter::TRACE);
    let off = [STAGES, STATISTICS, ANSWERS].into_iter();
    Some(off.fold(places, |all, target| all.with_target(target, LevelFilter::OFF)))
}

/// Prints the text of each event, and nothing else.
struct Answers;

impl<S: Subscriber> Layer<S> for Answers {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Printer);
    }
}

struct Printer;

impl Visit for Printer {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // The text as it is.
            eprintln!("{value:?}");
        }
    }
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
